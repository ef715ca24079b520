/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * fuzz.h: threads that make calls at random on shared recorders.
 *
 * A slot is a recorder that all threads know. Half of the slots are read honestly
 * (by whoever draws that, one at a time), and each time such a recorder is closed
 * its ledger is drawn up: produced = read + lost + overwritten. In the others the
 * tail is lied about, and only what no lie may touch is checked.
 */
#ifndef GPROF_TEST_FUZZ_H
#define GPROF_TEST_FUZZ_H

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
	uint64_t told;
	uint64_t ledgers;
	char error[512];
};

struct fuzz *fuzz_new(uint64_t seed, uint64_t calls, uint64_t seconds);
void fuzz_free(struct fuzz *f);

/* Runs to the end in the calling process, with nothing left open. */
void fuzz_run(struct fuzz *f);

#endif
