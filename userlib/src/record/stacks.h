/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * stacks.h: stacks as the kernel took them, each once.
 */
#ifndef GPROF_STACKS_H
#define GPROF_STACKS_H

#include <linux/gprof.h>
#include <stddef.h>
#include <stdint.h>

#include "base/table.h"
#include "resolve.h"

/**
 * struct gprof_stacks - stacks
 * @v: they
 * @nr: how many
 * @cap: room
 * @frames: addresses of all of them
 * @nr_frames: how many
 * @cap_frames: room
 * @table: finds a stack by its frames; its budget, if any, is that of all the rest too
 */
struct gprof_stacks {
	struct gprof_stack *v;
	size_t nr;
	size_t cap;
	uint64_t *frames;
	size_t nr_frames;
	size_t cap_frames;
	struct gprof_table table;
};

void gprof_stacks_init(struct gprof_stacks *s);
void gprof_stacks_free(struct gprof_stacks *s);

/** gprof_stacks_add() - number of a stack, which is added when it is new; 0 or -ENOMEM */
int gprof_stacks_add(struct gprof_stacks *s, const struct gprof_stack_rec *rec, uint32_t *number);

/**
 * gprof_stacks_keep() - forget stacks, so that the others have new numbers
 * @s: stacks
 * @numbers: of each stack: GPROF_NONE: forget it; else gets its new number
 *
 * Return: 0 or -ENOMEM, all being left as it was.
 */
int gprof_stacks_keep(struct gprof_stacks *s, uint32_t *numbers);

#endif /* GPROF_STACKS_H */
