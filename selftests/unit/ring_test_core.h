/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * ring_test_core.h: a producer with NMIs, and a check of what it wrote, over
 * the module's own buffer.c and dictionary.c.
 */
#ifndef GPROF_RING_TEST_CORE_H
#define GPROF_RING_TEST_CORE_H

#include "../../kmod/ring/buffer.h"
#include "../../kmod/ring/dictionary.h"

#include <linux/gprof.h>

#define CORE_STACKS	64	/* distinct stacks */
#define CORE_DEPTH	4	/* nesting: task, softirq, interrupt, NMI */
#define CORE_SLOTS	256
#define CORE_WORDS	2048

/* One "CPU". */
struct core {
	struct gprof_buffer b;	/* ring under test */
	struct gprof_dictionary d;	/* dictionary under test */
	local64_t slots[CORE_SLOTS];
	u64 arena[CORE_WORDS];
	u16 scrubbed;
	unsigned int depth;	/* producers that are active */
	u64 produced;	/* samples, as the test counts them */
	u64 behind;	/* samples whose time was taken before their generation began */
	u64 early;	/* those that say so */
	u64 seed;	/* state of the random numbers */
	unsigned int nmi_per_64k;	/* probability that an NMI comes at a shim_point() */
	/* one in so many samples is a word, where gprof_buffer_put() takes it; 0: none is */
	unsigned int words;
	u64 put;	/* how many were */
};

void core_init(struct core *c, u64 size, bool flight, u64 seed, unsigned int nmi_per_64k);
void core_produce(struct core *c);
void core_run_on(struct core *c);

/**
 * struct core_check - what a reader knows
 * @samples: good samples
 * @lost: samples that LOST records told
 * @told: LOST records
 * @generations: GENERATION records
 * @known: samples whose stack was known
 * @defined: bit n: stack n has id @ids[n] in this generation
 * @error: first violation, or NULL
 */
struct core_check {
	u64 samples;
	u64 lost;
	u64 told;
	u64 generations;
	u64 known;
	u32 last_inline;
	u64 last_generation;
	u32 stack_of[CORE_WORDS];
	const char *error;
};

void core_check_start(struct core_check *k);
u64 core_check_records(struct core_check *k, const char *data, u64 size, u64 pos, u64 head);
bool core_balances(const struct core *c, const struct core_check *k);

#endif /* GPROF_RING_TEST_CORE_H */
