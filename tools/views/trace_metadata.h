/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * gprof's own notes in a trace besides events: when cgroups were throttled, where events were
 * lost, and which threads are of one process. It comes ahead of the events of its generation, and
 * is applied in its time.
 */
#ifndef TOOLS_VIEWS_TRACE_METADATA_H
#define TOOLS_VIEWS_TRACE_METADATA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <gprof/trace.h>

/* No trace has more CPUs. */
#define METADATA_CPUS_MAX	8192

enum metadata_kind {
	METADATA_THROTTLED,   /* a cgroup has used up its time on the CPU */
	METADATA_UNTHROTTLED, /* one has got some more, from this CPU */
	METADATA_LOST,	      /* events of the CPU were lost before this */
};

/**
 * struct metadata_note - a note
 * @time: ns
 * @cpu: where
 * @kind: of it
 * @queue: of which cgroup, on which CPU: a number; 0: not known
 */
struct metadata_note {
	int64_t time;
	uint32_t cpu;
	enum metadata_kind kind;
	uint32_t queue;
};

/* A goroutine, and the pid of the process that it is a thread of. */
struct metadata_process {
	int64_t id;
	uint32_t pid;
};

/**
 * struct trace_metadata - notes that were not yet looked at; all zeroes to begin with
 * @notes: of this generation as a heap, the first at its head, and behind it those of the next
 * @nr: how many
 * @room: of @notes
 * @ripe: how many the heap has
 * @last: that was looked at
 * @processes: that were told of since metadata_generation()
 * @nr_processes: how many
 * @room_processes: of them
 */
struct trace_metadata {
	struct metadata_note *notes;
	size_t nr;
	size_t room;
	size_t ripe;
	struct metadata_note last;
	struct metadata_process *processes;
	size_t nr_processes;
	size_t room_processes;
};

/* metadata_add_batch() - for struct gprof_trace_opts; other batches are ignored */
void metadata_add_batch(struct trace_metadata *o, const struct gprof_trace_batch *batch);

/* metadata_generation() - one begins: all that is held is of it, or of before; @processes are taken */
void metadata_generation(struct trace_metadata *o);

const struct metadata_note *metadata_next(struct trace_metadata *o);

/* metadata_until() - the next one of up to @time, or NULL; until the next one */
static inline const struct metadata_note *metadata_until(struct trace_metadata *o, int64_t time)
{
	return o->ripe && o->notes[0].time <= time ? metadata_next(o) : NULL;
}

/* metadata_is_status() - is it a status at the begin of a generation, and no event on the CPU? */
static inline bool metadata_is_status(const struct gprof_trace_event *ev)
{
	return ev->kind == GPROF_TRACE_RANGE_ACTIVE ||
	       (ev->kind == GPROF_TRACE_STATE_TRANSITION &&
		(ev->transition.from == GPROF_TRACE_GO_UNDETERMINED ||
		 ev->transition.from == ev->transition.to));
}

/*
 * metadata_is_call() - a thread gets into a system call, or out of one, as Go's tools want it
 *
 * It has its CPU meanwhile, as before and behind. Of calls regions tell, which go on where a
 * thread waits within one; and the end of one is made up where a thread left its CPU unseen.
 */
static inline bool metadata_is_call(const struct gprof_trace_event *ev)
{
	return ev->kind == GPROF_TRACE_STATE_TRANSITION &&
	       ev->transition.resource.kind == GPROF_TRACE_RESOURCE_GOROUTINE &&
	       (ev->transition.from == GPROF_TRACE_GO_SYSCALL) !=
	       (ev->transition.to == GPROF_TRACE_GO_SYSCALL);
}

void metadata_free(struct trace_metadata *o);

#endif /* TOOLS_VIEWS_TRACE_METADATA_H */
