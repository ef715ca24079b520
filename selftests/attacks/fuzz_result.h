/* SPDX-License-Identifier: GPL-2.0-only */
/* fuzz_result.h: what a run of random calls has come to, for all that make them. */
#ifndef GPROF_TEST_FUZZ_RESULT_H
#define GPROF_TEST_FUZZ_RESULT_H

#include <stdint.h>

/* One run; memory that is shared with children. */
struct fuzz {
	uint64_t seed;	/* of all threads */
	uint64_t most_calls;	/* then they end; 0: no limit */
	/* the same; more until a recorder was started and a ledger drawn up */
	uint64_t most_seconds;
	uint64_t calls;	/* made so far */
	uint64_t refused;	/* that gave an error */
	uint64_t set_up;	/* recorders that were */
	uint64_t started;	/* times one was */
	uint64_t samples;	/* that honest readers have read */
	uint64_t events;	/* of traces, likewise */
	uint64_t interpreters;	/* of samples, those for which one was walked, or would have been */
	uint64_t told;	/* scheduler statistics that netlink gave */
	uint64_t ledgers;	/* that were drawn up */
	char error[512];	/* the first rule that was broken, or "" */
};

/* A rule was broken: the first one is told, and ends the run. */
__attribute__((format(printf, 2, 3)))
void fuzz_broken(struct fuzz *f, const char *format, ...);

static inline void fuzz_count(uint64_t *number)
{
	__atomic_fetch_add(number, 1, __ATOMIC_RELAXED);
}

#endif
