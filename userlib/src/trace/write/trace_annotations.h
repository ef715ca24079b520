/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * trace_annotations.h: annotations of programs, until they are written.
 *
 * A program knows its tasks by numbers of its own, which another program may have too, and
 * the next one of the same pid. In a trace each task has one that no other has.
 */
#ifndef GPROF_TRACE_ANNOTATIONS_H
#define GPROF_TRACE_ANNOTATIONS_H

#include <linux/gprof.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/table.h"

/* Tasks that are known at least, those that were heard of last; there may be twice as many. */
#define GPROF_TRACE_NOTES_TASKS	32768

/**
 * struct gprof_trace_annotation - an annotation
 * @what: GPROF_ANNOTATE_*; 0: the place is free
 * @process: that gave the number @task
 * @task: 0: none
 * @parent: likewise
 * @name: up to the first 0 byte
 * @text: likewise, in the same memory
 */
struct gprof_trace_annotation {
	uint32_t what;
	struct gprof_process process;
	uint64_t task;
	uint64_t parent;
	char *name;
	const char *text;
};

/**
 * struct gprof_trace_annotations_half - some tasks
 * @table: finds them
 * @v: they
 * @nr: how many
 * @cap: room
 */
struct gprof_trace_annotations_half {
	struct gprof_table table;
	struct gprof_trace_annotations_task *v;
	size_t nr;
	size_t cap;
};

/**
 * struct gprof_trace_annotations - annotations, and the tasks of programs
 * @v: annotations; the id is 1 + its place
 * @nr: places
 * @cap: room
 * @free: ids of free places
 * @nr_free: how many
 * @cap_free: room
 * @tasks: those that were heard of last, and those before them
 * @last_task: the largest number of a task in the trace
 */
struct gprof_trace_annotations {
	struct gprof_trace_annotation *v;
	size_t nr;
	size_t cap;
	uint64_t *free;
	size_t nr_free;
	size_t cap_free;
	struct gprof_trace_annotations_half tasks[2];
	uint64_t last_task;
};

void gprof_trace_annotations_init(struct gprof_trace_annotations *n);
void gprof_trace_annotations_free(struct gprof_trace_annotations *n);

/** gprof_trace_annotations_add() - keep one, of a valid record; 0 or -ENOMEM */
int gprof_trace_annotations_add(struct gprof_trace_annotations *n,
				const struct gprof_annotation_rec *rec, uint64_t *id);
/** gprof_trace_annotations_get() - until anything else is done with @n; NULL: no such id */
const struct gprof_trace_annotation *
gprof_trace_annotations_get(const struct gprof_trace_annotations *n, uint64_t id);
/** gprof_trace_annotations_drop() - it is not needed any more */
void gprof_trace_annotations_drop(struct gprof_trace_annotations *n, uint64_t id);

/**
 * gprof_trace_annotations_task() - number in the trace of a task of a program
 * @n: notes
 * @process: which program
 * @number: by which that knows it; 0: none, and nor is the result
 * @begins: it is a new one, even if the number is known
 * @id: result
 *
 * Of one that was not heard of for long it is another number than before.
 *
 * Return: 0 or -ENOMEM.
 */
int gprof_trace_annotations_task(struct gprof_trace_annotations *n,
				 const struct gprof_process *process, uint64_t number, bool begins,
				 uint64_t *id);

#endif /* GPROF_TRACE_ANNOTATIONS_H */
