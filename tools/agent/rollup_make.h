/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * rollup_make: rollups of a store's profiles of ten minutes.
 */
#ifndef GPROF_TOOLS_AGENT_ROLLUP_MAKE_H
#define GPROF_TOOLS_AGENT_ROLLUP_MAKE_H

#include <stdint.h>

#include "store.h"

/**
 * rollup_make() - make those of the ten minutes that @when_ns is in, one for each kind and host
 * @s: store, which is written to
 * @dir: where it is
 * @when_ns: CLOCK_REALTIME
 *
 * There is none of a single profile, of one that cannot be read or waits for an engine, and of
 * profiles that have one already: rollups are optional. Memory is that of the sum, and of a
 * profile.
 */
void rollup_make(struct store *s, const char *dir, uint64_t when_ns);

/**
 * struct rollups - rollups as time goes on
 * @store: where; NULL: none are made
 * @dir: of it
 * @begin_ns: of the ten minutes that are recorded, CLOCK_REALTIME; 0: not known yet
 * @last_ns: CPU time that the last ones took
 * @owed_ns: ... of it and those before, that rollups_pay() has not returned yet
 */
struct rollups {
	struct store *store;
	const char *dir;
	uint64_t begin_ns;
	uint64_t last_ns;
	uint64_t owed_ns;
};

/*
 * rollups_step() - a profile is in the store, and the next one began at @begun_ns (CLOCK_REALTIME) or
 * later: make rollups if ten minutes were over then; their CPU time
 */
uint64_t rollups_step(struct rollups *r, uint64_t begun_ns);

/*
 * rollups_pay() - CPU time of rollups for an interval of @elapsed_ns: their cost is spread over
 * the ten minutes behind them.
 */
uint64_t rollups_pay(struct rollups *r, uint64_t elapsed_ns);

#endif /* GPROF_TOOLS_AGENT_ROLLUP_MAKE_H */
