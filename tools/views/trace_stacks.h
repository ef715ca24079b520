/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Stacks of an execution trace, kept for longer than the generation that tells them.
 */
#ifndef TOOLS_TRACE_STACKS_H
#define TOOLS_TRACE_STACKS_H

#include <stddef.h>
#include <stdint.h>

#include <gprof/profile_builder.h>
#include <gprof/trace.h>

#include "cli/intern.h"

/**
 * struct trace_stacks - each stack and each frame once; all zeroes to begin with
 * @frames: line, function and file of each
 * @stacks: numbers of frames, leaf first; those of stacks count from 1
 * @known: by id in this generation: number, or 0
 * @nr_known: how many
 */
struct trace_stacks {
	struct intern frames;
	struct intern stacks;
	size_t *known;
	size_t nr_known;
};

/* trace_stacks_add() - number of the last event's stack @id; 0: it has no frames */
size_t trace_stacks_add(struct trace_stacks *s, const struct gprof_trace *trace, uint64_t id);

/* trace_stacks_generation() - ids mean others from now on */
void trace_stacks_generation(struct trace_stacks *s);

/**
 * trace_stacks_frames() - frames of a stack, by its number
 * @s: stacks
 * @number: of it
 * @frames: room for GPROF_TRACE_FRAMES_MAX; text is valid until the next trace_stacks_add()
 *
 * Return: how many.
 */
size_t trace_stacks_frames(const struct trace_stacks *s, size_t number,
			   struct gprof_frame *frames);

/* trace_stacks_copy() - number of a stack of @from in @to; 0: none, or 0 */
size_t trace_stacks_copy(struct trace_stacks *to, const struct trace_stacks *from, size_t number);

void trace_stacks_free(struct trace_stacks *s);

#endif /* TOOLS_TRACE_STACKS_H */
