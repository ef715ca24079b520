/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Where events of a trace of the host are missing: of a CPU, from its last event to the next. That
 * is known behind them, so that a trace is read once to find them, and again by a view that needs
 * them in time.
 */
#ifndef TOOLS_VIEWS_LOSSES_H
#define TOOLS_VIEWS_LOSSES_H

#include <stddef.h>
#include <stdint.h>

#include <gprof/trace.h>

#include "trace_metadata.h"

struct loss {
	int64_t begin;
	int64_t end;
	uint32_t cpu;
};

/**
 * struct losses - all of them; all zeroes to begin with
 * @metadata: gprof's notes of losses
 * @last: time of the last event of each CPU; 0: none
 * @nr_cpus: how many
 * @room_cpus: of @last
 * @first: time of the first event
 * @all: they, by their begin once all are found
 * @nr: how many
 * @room: of @all
 * @next: that was not yet asked for
 */
struct losses {
	struct trace_metadata metadata;
	int64_t *last;
	size_t nr_cpus;
	size_t room_cpus;
	int64_t first;
	struct loss *all;
	size_t nr;
	size_t room;
	size_t next;
};

/* losses_add_batch() - a batch of the trace, for struct gprof_trace_opts */
void losses_add_batch(struct losses *l, const struct gprof_trace_batch *batch);

/* losses_add_event() - an event of it, in order */
void losses_add_event(struct losses *l, const struct gprof_trace_event *ev);

/* losses_found() - the trace has ended; they are asked for from the first one on */
void losses_found(struct losses *l);

/* losses_before() - the next one that begins before a time, or NULL */
const struct loss *losses_before(struct losses *l, int64_t time);

void losses_free(struct losses *l);

#endif /* TOOLS_VIEWS_LOSSES_H */
