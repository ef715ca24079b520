/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * fuzz_result.h: what a run of random calls has come to, for all that make them.
 */
#ifndef GPROF_TEST_FUZZ_RESULT_H
#define GPROF_TEST_FUZZ_RESULT_H

#include <stdint.h>

/**
 * struct fuzz - one run; memory that is shared with children
 * @seed: of all threads
 * @most_calls: then they end; 0: no limit
 * @most_seconds: the same; more until a recorder was started and a ledger drawn up
 * @calls: made so far
 * @refused: that gave an error
 * @set_up: recorders that were
 * @started: times one was
 * @samples: that honest readers have read
 * @events: of traces, likewise
 * @interpreters: of samples, those for which one was walked, or would have been
 * @told: scheduler statistics that netlink gave
 * @ledgers: that were drawn up
 * @error: the first rule that was broken, or ""
 */
struct fuzz {
	uint64_t seed;
	uint64_t most_calls;
	uint64_t most_seconds;
	uint64_t calls;
	uint64_t refused;
	uint64_t set_up;
	uint64_t started;
	uint64_t samples;
	uint64_t events;
	uint64_t interpreters;
	uint64_t told;
	uint64_t ledgers;
	char error[512];
};

/* A rule was broken: the first one is told, and ends the run. */
__attribute__((format(printf, 2, 3)))
void fuzz_broken(struct fuzz *f, const char *format, ...);

static inline void fuzz_count(uint64_t *number)
{
	__atomic_fetch_add(number, 1, __ATOMIC_RELAXED);
}

#endif
