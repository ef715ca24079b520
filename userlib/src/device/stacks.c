// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * stacks.c: stacks as the kernel took them, each once.
 */
#include "stacks.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void gprof_stacks_init(struct gprof_stacks *s)
{
	memset(s, 0, sizeof(*s));
	gprof_table_init(&s->table);
}

void gprof_stacks_free(struct gprof_stacks *s)
{
	gprof_table_free(&s->table);
	free(s->v);
	free(s->frames);
	memset(s, 0, sizeof(*s));
}

/* The key of a stack. */
struct key {
	const struct gprof_process *process;
	uint32_t exec_map_seq;
	uint16_t flags;
	uint16_t nr_kernel;
	uint16_t nr_user;
	const void *frames;
};

static size_t frames_bytes(uint16_t nr_kernel, uint16_t nr_user)
{
	return ((size_t)nr_kernel + nr_user) * sizeof(uint64_t);
}

static bool stack_eq(const void *ctx, uint32_t index, const void *key)
{
	const struct gprof_stacks *all = ctx;
	const struct gprof_stack *s = &all->v[index];
	const struct key *k = key;

	return s->exec_map_seq == k->exec_map_seq && s->flags == k->flags &&
	       s->nr_kernel == k->nr_kernel && s->nr_user == k->nr_user &&
	       gprof_same_run(&s->process, k->process) &&
	       !memcmp(&all->frames[s->frames], k->frames, frames_bytes(s->nr_kernel, s->nr_user));
}

static uint64_t hash_of(const struct gprof_stacks *s, const struct key *k)
{
	uint64_t hash = gprof_hash_u64(s->table.seed,
				       (uint64_t)k->process->pid << 32 | k->process->exec_id);

	hash = gprof_hash_u64(hash, k->process->start_ns);
	hash = gprof_hash_u64(hash, (uint64_t)k->exec_map_seq << 32 | k->flags);
	return gprof_hash_bytes(hash, k->frames, frames_bytes(k->nr_kernel, k->nr_user));
}

int gprof_stacks_add(struct gprof_stacks *s, const struct gprof_stack_rec *rec, uint32_t *number)
{
	size_t nr = (size_t)rec->nr_kernel + rec->nr_user;
	const struct key key = {
		.process = &rec->process,
		.exec_map_seq = rec->exec_map_seq,
		.flags = rec->rec.flags,
		.nr_kernel = rec->nr_kernel,
		.nr_user = rec->nr_user,
		.frames = rec->frames,
	};
	uint64_t hash = hash_of(s, &key);

	*number = gprof_table_find(&s->table, hash, stack_eq, s, &key);
	if (*number != GPROF_NONE)
		return 0;
	if (s->nr >= GPROF_NONE - 1 ||
	    gprof_grow_within(s->table.budget, &s->v, &s->cap, s->nr + 1, sizeof(*s->v)) ||
	    gprof_grow_within(s->table.budget, &s->frames, &s->cap_frames, s->nr_frames + nr + 1,
			      sizeof(*s->frames)) ||
	    gprof_table_insert(&s->table, hash, (uint32_t)s->nr))
		return -ENOMEM;
	s->v[s->nr] = (struct gprof_stack){
		.process = rec->process,
		.exec_map_seq = rec->exec_map_seq,
		.flags = rec->rec.flags,
		.nr_kernel = rec->nr_kernel,
		.nr_user = rec->nr_user,
		.frames = s->nr_frames,
	};
	memcpy(&s->frames[s->nr_frames], rec->frames, nr * sizeof(*s->frames));
	s->nr_frames += nr;
	*number = (uint32_t)s->nr++;
	return 0;
}

/* A stack of another set, behind the others, without a check for an equal one. */
static int append(struct gprof_stacks *s, const struct gprof_stacks *from,
		  const struct gprof_stack *stack)
{
	const uint64_t *frames = &from->frames[stack->frames];
	size_t bytes = frames_bytes(stack->nr_kernel, stack->nr_user);
	const struct key key = {
		.process = &stack->process,
		.exec_map_seq = stack->exec_map_seq,
		.flags = stack->flags,
		.nr_kernel = stack->nr_kernel,
		.nr_user = stack->nr_user,
		.frames = frames,
	};

	if (gprof_grow(&s->v, &s->cap, s->nr + 1, sizeof(*s->v)) ||
	    gprof_grow(&s->frames, &s->cap_frames, s->nr_frames + bytes / sizeof(*s->frames) + 1,
		       sizeof(*s->frames)) ||
	    gprof_table_insert(&s->table, hash_of(s, &key), (uint32_t)s->nr))
		return -ENOMEM;
	s->v[s->nr] = *stack;
	s->v[s->nr++].frames = s->nr_frames;
	memcpy(&s->frames[s->nr_frames], frames, bytes);
	s->nr_frames += bytes / sizeof(*s->frames);
	return 0;
}

int gprof_stacks_keep(struct gprof_stacks *s, uint32_t *numbers)
{
	struct gprof_stacks kept;
	uint32_t nr = 0;
	size_t i;
	int err = 0;

	gprof_stacks_init(&kept);
	for (i = 0; i < s->nr && !err; i++)
		if (numbers[i] != GPROF_NONE)
			err = append(&kept, s, &s->v[i]);
	if (err) {
		gprof_stacks_free(&kept);
		return err;
	}
	for (i = 0; i < s->nr; i++)
		if (numbers[i] != GPROF_NONE)
			numbers[i] = nr++;
	gprof_stacks_free(s);
	*s = kept;
	return 0;
}
