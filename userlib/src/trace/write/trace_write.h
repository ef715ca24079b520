/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * trace_write.h: the library's own interface of a trace writer: stacks that get their names later,
 * and the size of a whole trace so far.
 */
#ifndef GPROF_TRACE_WRITE_PRIVATE_H
#define GPROF_TRACE_WRITE_PRIVATE_H

#include <gprof/trace_write.h>

struct gprof_annotation_rec;

/**
 * struct gprof_trace_namer - makes stacks as a generation is cut, all at a time
 * @name: replaces each point's @stack, the caller's handle, by one of gprof_trace_writer_stack(),
 *	or 0; 0 or -errno, which fails the cut
 * @ctx: passed on
 */
struct gprof_trace_namer {
	int (*name)(void *ctx, struct gprof_trace_writer *w, struct gprof_trace_point *points,
		    size_t nr);
	void *ctx;
};

/** gprof_trace_writer_name_stacks() - from now on @stack of points is a number of @namer's */
void gprof_trace_writer_name_stacks(struct gprof_trace_writer *w,
				    const struct gprof_trace_namer *namer);

/** gprof_trace_writer_held_stacks() - show, and let change, those that wait for a namer */
void gprof_trace_writer_held_stacks(struct gprof_trace_writer *w,
				    void (*each)(void *ctx, uint64_t *stack), void *ctx);

/**
 * gprof_trace_writer_room() - where so many points may be written at once
 *
 * Return: their place until anything else is done with @w, or NULL: no memory, or it has
 * failed.
 */
struct gprof_trace_point *gprof_trace_writer_room(struct gprof_trace_writer *w, size_t nr);

/**
 * gprof_trace_writer_added() - take those that were written there
 * @w: writer
 * @nr: how many, 1 at least: of one CPU, in the order of their times, none of them a CPU sample
 *	and none with a stack, and each one that gprof_trace_writer_add() takes, but for these
 *	conditions
 *
 * Return: true, or false: nothing was taken, and each has to be added by itself.
 */
bool gprof_trace_writer_added(struct gprof_trace_writer *w, size_t nr);

/**
 * gprof_trace_writer_note() - an annotation, for a GPROF_TRACE_POINT_ANNOTATION
 * @w: writer
 * @rec: a record that makes sense
 * @id: result: the point's @arg
 *
 * Return: 0 or -ENOMEM.
 */
int gprof_trace_writer_note(struct gprof_trace_writer *w, const struct gprof_annotation_rec *rec,
			    uint64_t *id);

/** gprof_trace_writer_forget_note() - there is no point that has it */
void gprof_trace_writer_forget_note(struct gprof_trace_writer *w, uint64_t id);

/** gprof_trace_writer_of_another_time() - the clocks of now say nothing of the points */
void gprof_trace_writer_of_another_time(struct gprof_trace_writer *w);

/**
 * struct gprof_trace_whole - the beginning of a file that readers take
 * @bytes: of it
 * @generations: that are in it; where there is none, it is no trace
 */
struct gprof_trace_whole {
	uint64_t bytes;
	uint64_t generations;
};

/** gprof_trace_writer_whole() - size of a whole trace so far */
struct gprof_trace_whole gprof_trace_writer_whole(const struct gprof_trace_writer *w);

#endif /* GPROF_TRACE_WRITE_PRIVATE_H */
