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
#include "fuzz_result.h"

struct fuzz *fuzz_new(uint64_t seed, uint64_t calls, uint64_t seconds);
void fuzz_free(struct fuzz *f);

/* Runs to the end in the calling process, with nothing left open. */
void fuzz_run(struct fuzz *f);

#endif
