/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * util_proc.h: processors that are taken from the program, as a trace goes on.
 */
#ifndef GPROF_UTIL_PROC_H
#define GPROF_UTIL_PROC_H

#include <stdbool.h>
#include <stddef.h>
#include <gprof/trace.h>
#include <gprof/utilization.h>

#include "base/table.h"

/**
 * struct gprof_util_procs - processors, and their holders
 * @flags: GPROF_UTIL_*: causes that count
 * @budget: of which all of this is taken
 * @taken: for each processor how many things have it; below 0 when an end was
 *	seen without its begin
 * @cap: room in @taken
 * @nr: how many processors there are
 * @nr_taken: how many have @taken above 0
 * @stopped: open ranges in which the world is stopped
 * @changes: counts the times that any of this changed
 * @news: processors whose change of @taken is not in a function yet, each once
 * @news_cap: room in it
 * @nr_news: how many
 * @is_news: for each processor whether it is one of them
 * @is_news_cap: room in it
 * @tasks: TASK_* for goroutines that assist or are background workers
 * @executing: 1 for goroutines that run or are in a system call, until @complete
 * @complete: a generation was read to its end, so all that is active is known
 */
struct gprof_util_procs {
	unsigned int flags;
	struct gprof_budget *budget;
	int64_t *taken;
	size_t cap;
	size_t nr;
	size_t nr_taken;
	int64_t stopped;
	uint64_t changes;
	uint32_t *news;
	size_t news_cap;
	size_t nr_news;
	bool *is_news;
	size_t is_news_cap;
	struct gprof_map64 tasks;
	struct gprof_map64 executing;
	bool complete;
};

void gprof_util_procs_init(struct gprof_util_procs *p, unsigned int flags,
			   struct gprof_budget *budget);
void gprof_util_procs_free(struct gprof_util_procs *p);

/** gprof_util_is_count() - does the event tell the number of processors? */
bool gprof_util_is_count(const struct gprof_trace_event *ev);

/** gprof_util_procs_resize() - there are @nr processors now; 0, -ENOMEM or -ERANGE */
int gprof_util_procs_resize(struct gprof_util_procs *p, uint64_t nr);

/**
 * gprof_util_procs_late() - is a range found to be active since the trace began?
 *
 * One that takes a processor, that is; to be asked before gprof_util_procs_event().
 */
bool gprof_util_procs_late(const struct gprof_util_procs *p, const struct gprof_trace_event *ev);

/** gprof_util_procs_event() - take an event into account; 0 or -ENOMEM */
int gprof_util_procs_event(struct gprof_util_procs *p, const struct gprof_trace_event *ev);

/** gprof_util_is_held() - has something else the processor? */
bool gprof_util_is_held(const struct gprof_util_procs *p, int64_t proc);

/** gprof_util_procs_noted() - no processor is news any more but those that @still says */
void gprof_util_procs_noted(struct gprof_util_procs *p, bool (*still)(void *ctx, uint32_t proc),
			    void *ctx);

/** gprof_util_assists() - is the goroutine within an assist that counts? */
bool gprof_util_assists(const struct gprof_util_procs *p, int64_t goroutine);

/** gprof_util_executes() - is a goroutine in this state on a processor, or in a syscall? */
bool gprof_util_executes(unsigned int state);

#endif /* GPROF_UTIL_PROC_H */
