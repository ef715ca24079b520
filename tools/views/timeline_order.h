/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The order of a timeline's tracks: threads stand under their process, and the processes and
 * threads that ran longest come first.
 */
#ifndef TOOLS_VIEWS_TIMELINE_ORDER_H
#define TOOLS_VIEWS_TIMELINE_ORDER_H

#include <stddef.h>
#include <stdint.h>

#include "timeline.h"

/* As struct timeline_process' @pid: the threads of the kernel, which have no process. */
#define TIMELINE_KERNEL	0

/**
 * struct timeline_process - a process with a track
 * @pid: of it
 * @named_by: the thread that has its name
 * @cpu: time of its threads on CPUs, ns
 * @demand: likewise, or waiting for one
 * @rank: its place
 */
struct timeline_process {
	int64_t pid;
	uint32_t named_by;
	int64_t cpu;
	int64_t demand;
	uint32_t rank;
};

/* A thread with a track, and its process: a rank. */
struct timeline_row {
	uint32_t thread;
	uint32_t process;
};

/**
 * struct timeline_order - all zeroes to begin with
 * @rows: by process, and the busiest first
 * @nr: how many
 * @processes: by rank
 * @nr_processes: how many
 */
struct timeline_order {
	struct timeline_row *rows;
	size_t nr;
	struct timeline_process *processes;
	size_t nr_processes;
};

void timeline_order_make(struct timeline_order *o, const struct timeline *t);

void timeline_order_free(struct timeline_order *o);

#endif /* TOOLS_VIEWS_TIMELINE_ORDER_H */
