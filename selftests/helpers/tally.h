/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * tally.h: who was sampled how often, and whether the mappings that the kernel
 * told explain every address.
 */
#ifndef GPROF_TEST_TALLY_H
#define GPROF_TEST_TALLY_H

#include "reader.h"

#define TALLY_TASKS	4096

/* One program run of one task. */
struct tally_task {
	uint32_t tid;	/* thread id */
	struct gprof_process process;	/* the run; 0 where the sample has no stack */
	uint64_t samples;	/* samples of it */
	uint64_t weight;	/* what they stand for */
	uint64_t cpus;	/* bit n: some were taken on CPU n */
};

/**
 * struct tally_map - a mapping that a MAP record told
 * @process: whose
 * @exec_map_seq: stamp
 * @start: first address
 * @end: address after the last
 * @path: file
 */
struct tally_map {
	struct gprof_process process;
	uint32_t exec_map_seq;
	uint64_t start, end;
	char path[128];
};

struct tally {
	struct reader reader;
	struct tally_task tasks[TALLY_TASKS];
	unsigned int nr_tasks;
	struct tally_map *maps;
	unsigned int nr_maps;
	/* instructions in user mode, to be looked up in @maps at the end */
	struct { struct gprof_process process; uint32_t exec_map_seq; uint64_t ip; } *ips;
	unsigned int nr_ips;
	uint64_t kernel_addresses;	/* frames and data addresses in the kernel's half */
	uint64_t kernel_frames;		/* nr_kernel of all stacks, summed */
	uint64_t time_first, time_last;
};

int tally_init(struct tally *t, struct device *dev);
void tally_free(struct tally *t);

/* Samples of a thread, in all its program runs. */
uint64_t tally_of(const struct tally *t, uint32_t tid);
/* What they stand for. */
uint64_t tally_weight_of(const struct tally *t, uint32_t tid);
/* Samples of all tasks but these. */
uint64_t tally_of_others(const struct tally *t, const uint32_t *tids, unsigned int nr);
/* Program runs of a process. */
unsigned int tally_runs(const struct tally *t, uint32_t pid);
/* Is there a mapping of the process whose path ends so? */
bool tally_has_map(const struct tally *t, uint32_t pid, const char *end_of_path);
/* Sampled instructions that lie in no mapping of their process that was told. */
uint64_t tally_unexplained(const struct tally *t);

#endif
