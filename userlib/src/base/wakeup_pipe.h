/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * wakeup_pipe.h: wakes up a thread in poll(), to end it.
 *
 * A pipe, which unlike an eventfd has an inode of its own. If the program has closed it, a flag is
 * set all the same, which the thread reads when it wakes up next.
 */
#ifndef GPROF_WAKEUP_PIPE_H
#define GPROF_WAKEUP_PIPE_H

#include <stdatomic.h>
#include <stdbool.h>

#include "own_fd.h"

/**
 * struct gprof_wakeup_pipe - it
 * @ends: of the pipe; the first is to be polled for POLLIN
 * @signalled: the thread is to end
 */
struct gprof_wakeup_pipe {
	struct gprof_own_fd ends[2];
	atomic_bool signalled;
};

#define GPROF_WAKEUP_PIPE_NONE	\
	((struct gprof_wakeup_pipe){ .ends = { GPROF_OWN_FD_NONE, GPROF_OWN_FD_NONE } })

/** gprof_wakeup_pipe_begin() - make one; 0 or -errno */
int gprof_wakeup_pipe_begin(struct gprof_wakeup_pipe *w, struct gprof_error *e);

/** gprof_wakeup_pipe_signal() - from any thread */
void gprof_wakeup_pipe_signal(struct gprof_wakeup_pipe *w);

/** gprof_wakeup_pipe_signalled() - was it signalled? */
bool gprof_wakeup_pipe_signalled(const struct gprof_wakeup_pipe *w);

/** gprof_wakeup_pipe_end() - once the thread has ended, or never began */
void gprof_wakeup_pipe_end(struct gprof_wakeup_pipe *w);

#endif /* GPROF_WAKEUP_PIPE_H */
