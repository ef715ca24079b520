/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * patience.h: is what the calling thread makes still wanted?
 *
 * Names of a large program take seconds to find, and whoever has asked for them may go away
 * meanwhile. Loops over much ask here, at each turn, and give up with -ECONNABORTED; a thread
 * that nobody waits for is never told to.
 */
#ifndef GPROF_PATIENCE_H
#define GPROF_PATIENCE_H

#include <stdbool.h>
#include <stdint.h>

/**
 * struct gprof_patience - of who waits for this thread
 * @over: has it ended? NULL: never; asked ten times a second
 * @ctx: for @over
 * @next_ns: when it is asked again
 * @is_over: it has
 */
struct gprof_patience {
	bool (*over)(void *ctx);
	void *ctx;
	uint64_t next_ns;
	bool is_over;
};

/** gprof_patience_begin() - from now on, in this thread; @p lives until gprof_patience_end() */
void gprof_patience_begin(struct gprof_patience *p);
void gprof_patience_end(void);

/** gprof_patience_over() - has it ended? */
bool gprof_patience_over(void);

#endif /* GPROF_PATIENCE_H */
