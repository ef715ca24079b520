/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * cancel.h: is what the calling thread makes still wanted?
 *
 * Names of a large program take seconds to find, and whoever has asked for them may go away
 * meanwhile. Loops over much ask here, at each turn, and give up with -ECONNABORTED; a thread
 * that nobody waits for is never told to.
 */
#ifndef GPROF_CANCEL_H
#define GPROF_CANCEL_H

#include <stdbool.h>
#include <stdint.h>

/**
 * struct gprof_cancel - of who waits for this thread
 * @poll: has it ended? NULL: never; asked ten times a second
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

/** gprof_is_cancelled() - has it ended? */
bool gprof_is_cancelled(void);

#endif /* GPROF_CANCEL_H */
