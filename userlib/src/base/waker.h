/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * waker.h: tells a thread that waits in poll() to end.
 *
 * A pipe, which unlike an eventfd can be told from any other. If the program has closed it the
 * thread is told all the same, and sees it when it looks next.
 */
#ifndef GPROF_WAKER_H
#define GPROF_WAKER_H

#include <stdatomic.h>
#include <stdbool.h>

#include "own_fd.h"

/**
 * struct gprof_waker - it
 * @ends: of the pipe; the first is to be polled for POLLIN
 * @told: the thread is to end
 */
struct gprof_waker {
	struct gprof_own_fd ends[2];
	atomic_bool told;
};

#define GPROF_WAKER_NONE \
	((struct gprof_waker){ .ends = { GPROF_OWN_FD_NONE, GPROF_OWN_FD_NONE } })

/** gprof_waker_begin() - make one; 0 or -errno */
int gprof_waker_begin(struct gprof_waker *w, struct gprof_error *e);

/** gprof_waker_tell() - from any thread */
void gprof_waker_tell(struct gprof_waker *w);

/** gprof_waker_told() - was it told? */
bool gprof_waker_told(const struct gprof_waker *w);

/** gprof_waker_end() - once the thread has ended, or never began */
void gprof_waker_end(struct gprof_waker *w);

#endif /* GPROF_WAKER_H */
