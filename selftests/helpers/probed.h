/* SPDX-License-Identifier: GPL-2.0-only */
/* probed.h: a recorder of what a program allocates itself, by probes, and what it has told. */
#ifndef GPROF_TEST_PROBED_H
#define GPROF_TEST_PROBED_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include "device.h"
#include "object_table.h"
#include "reader.h"

#define PROBED_SAMPLES_MAX	100000

/* A sample, as far as it is of interest. */
struct probed_sample {
	uint32_t tid;
	uint16_t nr_user;
	uint64_t value;
	uint64_t weight;
	uint64_t live;
	uint64_t leaf;
};

/* The recorder. */
struct probed {
	/* what it records: every byte; the caller sets the functions */
	struct gprof_alloc_params params;
	struct gprof_setup setup;	/* likewise, kind heap, of this process */
	struct device dev;	/* recorder */
	struct reader reader;	/* of @dev */
	struct gprof_stats st;	/* at the last STOP */
	const struct gprof_object_table_head *head;	/* table of what is live, or NULL */
	size_t head_size;	/* of @head, with its slots */
	struct probed_sample *told;	/* samples */
	unsigned int nr;	/* how many */
	int exe;	/* this program's file */
};

/* Where the file has what is at that address of ours; 0: nowhere. */
uint64_t probed_offset_of(const void *at);
/* Is what a process has there what the file has, and no breakpoint? */
bool probed_is_clean(pid_t pid, const void *at, int fd, uint64_t offset);

/* Each returns 0 or -errno. */
int probed_init(struct probed *p);
/* SETUP, with all that is mapped. */
int probed_prepare(struct probed *p);
/* STOP, and all that there is to read. */
/*
 * START. A busy host can keep a task from going on while it has its memory locked, for which START
 * is refused; then it is tried again, for two seconds.
 */
int probed_start(struct probed *p);
int probed_stop(struct probed *p);
void probed_free(struct probed *p);

/* Of samples of @tid (0: all) with that value: how many, and how many of them are live. */
struct probed_sum {
	uint64_t nr;
	uint64_t live;
	uint64_t weight;
	uint64_t without_user;
};

struct probed_sum probed_sum_of(const struct probed *p, pid_t tid, uint64_t value);

#endif
