/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * counters.h: events that are counted and told as text, as -counters has it.
 */
#ifndef GPROF_COUNTERS_H
#define GPROF_COUNTERS_H

#include <gprof/count.h>

#include "base/error.h"

/**
 * struct gprof_counters - counters of a request
 * @counting: or NULL
 * @nr: events of it
 */
struct gprof_counters {
	struct gprof_counting *counting;
	size_t nr;
};

/**
 * gprof_counters_begin() - count from now on
 * @k: gets it, for gprof_counters_drop()
 * @list: events with commas between; those within "PMU/.../" belong to the event
 * @target: tasks or CPUs
 *
 * Return: 0 or -errno with gprof_error().
 */
int gprof_counters_begin(struct gprof_counters *k, const char *list,
			 const struct gprof_target *target);

/**
 * gprof_counters_end() - stop, and write a line for each event
 * @k: being counted
 * @fd: where to
 *
 * "COUNT EVENT", scaled up where the event was not counted all the time, which is told
 * behind it, as is a count without the kernel.
 *
 * Return: 0 or -errno with gprof_error().
 */
int gprof_counters_end(struct gprof_counters *k, int fd);

/** gprof_counters_drop() - end it, if it goes on */
void gprof_counters_drop(struct gprof_counters *k);

#endif /* GPROF_COUNTERS_H */
