// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * waker.c: tells a thread that waits in poll() to end.
 */
#include "waker.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "output.h"

int gprof_waker_begin(struct gprof_waker *w, struct gprof_error *e)
{
	int fds[2];

	*w = GPROF_WAKER_NONE;
	if (pipe2(fds, O_CLOEXEC | O_NONBLOCK))
		return gprof_error_set(e, errno, "cannot make a pipe (%s)", gprof_strerror(errno));
	gprof_own_fd_take(&w->ends[0], fds[0]);
	gprof_own_fd_take(&w->ends[1], fds[1]);
	return 0;
}

void gprof_waker_tell(struct gprof_waker *w)
{
	atomic_store(&w->told, true);
	/* A pipe that is empty takes a byte. */
	if (gprof_own_fd_is(&w->ends[0]) && gprof_own_fd_is(&w->ends[1]))
		gprof_output_write(w->ends[1].fd, "", 1);
}

bool gprof_waker_told(const struct gprof_waker *w)
{
	return atomic_load(&w->told);
}

void gprof_waker_end(struct gprof_waker *w)
{
	gprof_own_fd_close(&w->ends[0]);
	gprof_own_fd_close(&w->ends[1]);
}
