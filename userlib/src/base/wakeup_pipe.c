// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * wakeup_pipe.c: tells a thread that waits in poll() to end.
 */
#include "wakeup_pipe.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "fd_write.h"

int gprof_wakeup_pipe_begin(struct gprof_wakeup_pipe *w, struct gprof_error *e)
{
	int fds[2];

	*w = GPROF_WAKEUP_PIPE_NONE;
	if (pipe2(fds, O_CLOEXEC | O_NONBLOCK))
		return gprof_error_set(e, errno, "cannot make a pipe (%s)", gprof_strerror(errno));
	gprof_own_fd_adopt(&w->ends[0], fds[0]);
	gprof_own_fd_adopt(&w->ends[1], fds[1]);
	return 0;
}

void gprof_wakeup_pipe_signal(struct gprof_wakeup_pipe *w)
{
	atomic_store(&w->signalled, true);
	/* A pipe that is empty takes a byte. */
	if (gprof_own_fd_is(&w->ends[0]) && gprof_own_fd_is(&w->ends[1]))
		gprof_fd_write(w->ends[1].fd, "", 1);
}

bool gprof_wakeup_pipe_signalled(const struct gprof_wakeup_pipe *w)
{
	return atomic_load(&w->signalled);
}

void gprof_wakeup_pipe_end(struct gprof_wakeup_pipe *w)
{
	gprof_own_fd_close(&w->ends[0]);
	gprof_own_fd_close(&w->ends[1]);
}
