/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * stacks.h: stacks as the kernel took them, each once.
 */
#ifndef GPROF_STACKS_H
#define GPROF_STACKS_H

#include <linux/gprof.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/table.h"

/** gprof_same_run() - are these one program run? */
static inline bool gprof_same_run(const struct gprof_process *a, const struct gprof_process *b)
{
	return a->pid == b->pid && a->exec_id == b->exec_id && a->start_ns == b->start_ns;
}

/**
 * struct gprof_stack - a stack as the kernel took it
 * @process: of the user addresses
 * @exec_map_seq: stamp of its mappings
 * @flags: GPROF_STACK_REC_F_*
 * @nr_kernel: kernel frames, which come first
 * @nr_user: user frames
 * @frames: index of the first, for the owner of the stack
 * @time: when it was first sampled; 0: not known
 * @last: and when for the last time
 */
struct gprof_stack {
	struct gprof_process process;
	uint32_t exec_map_seq;
	uint16_t flags;
	uint16_t nr_kernel;
	uint16_t nr_user;
	size_t frames;
	uint64_t time;
	uint64_t last;
};

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
