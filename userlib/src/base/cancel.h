/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * cancel.h: cancellation of the calling thread's work.
 *
 * Names of a large program take seconds to find, and the client that asked for them may go away
 * meanwhile. Long loops ask here, at each turn, and give up with -ECONNABORTED; a thread without a
 * client is never cancelled.
 */
#ifndef GPROF_CANCEL_H
#define GPROF_CANCEL_H

#include <stdbool.h>
#include <stdint.h>

#define GPROF_CANCEL_STEPS	256	/* short turns of a loop between questions */

/**
 * struct gprof_cancel - the client that waits for this thread
 * @poll: has it gone? NULL: never; called ten times a second
 * @ctx: for @poll
 * @next_ns: when it is asked again
 * @is_cancelled: it has
 */
struct gprof_cancel {
	bool (*poll)(void *ctx);
	void *ctx;
	uint64_t next_ns;
	bool is_cancelled;
};

/** gprof_cancel_begin() - from now on, in this thread; @p lives until gprof_cancel_end() */
void gprof_cancel_begin(struct gprof_cancel *p);
void gprof_cancel_end(void);

/** gprof_is_cancelled() - has the client gone? */
bool gprof_is_cancelled(void);

#endif /* GPROF_CANCEL_H */
