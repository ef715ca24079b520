// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * trace_naming.c: stacks of a trace that is recorded, from addresses to names.
 */
#include "trace_naming.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "record/resolve_names.h"
#include "symbol/mapped_file.h"
#include "symbol/process_files.h"

/* Bytes of an element, approximately, with its slot in a table and its text. */
#define STACK_BYTES	(sizeof(struct gprof_stack) + 2 * sizeof(struct gprof_table_slot))
#define MAP_BYTES	(2 * sizeof(struct gprof_vma))
#define LOCATION_BYTES	(sizeof(struct gprof_location) + 2 * sizeof(struct gprof_table_slot))
#define STRING_BYTES	(64 + 2 * sizeof(struct gprof_table_slot))

/**
 * struct named_stack - a stack of this generation
 * @id: in the writer, once it is named; 0: not named
 * @first: of its locations
 * @nr: how many; 0: no point of this generation has it
 * @time: of its first point
 * @last: of its last one; 0: it has none
 */
struct named_stack {
	uint64_t id;
	size_t first;
	size_t nr;
	uint64_t time;
	uint64_t last;
};

/**
 * struct name_batch - names for a generation
 * @all: by number of the stack
 * @order: numbers of those that are told
 * @nr_order: how many
 * @cap_order: room
 * @locations: of all of them
 * @nr_locations: how many
 * @cap_locations: room
 */
struct name_batch {
	struct named_stack *all;
	uint32_t *order;
	size_t nr_order;
	size_t cap_order;
	uint32_t *locations;
	size_t nr_locations;
	size_t cap_locations;
};

static int begin_names(struct gprof_trace_naming *n)
{
	struct gprof_profile *p = gprof_profile_new();

	if (!p)
		return -ENOMEM;
	n->profile = p;
	/* There is no main program whose mapping would have to be first. */
	return gprof_resolver_init(&n->resolver, p, &n->spaces, NULL);
}

static void end_names(struct gprof_trace_naming *n)
{
	if (n->profile)
		gprof_resolver_free(&n->resolver);
	gprof_profile_free(n->profile);
	n->profile = NULL;
}

int gprof_trace_naming_init(struct gprof_trace_naming *n)
{
	memset(n, 0, sizeof(*n));
	n->max = GPROF_TRACE_NAMES_MAX;
	gprof_stacks_init(&n->stacks);
	if (gprof_spaces_init(&n->spaces))
		return -ENOMEM;
	return begin_names(n);
}

void gprof_trace_naming_free(struct gprof_trace_naming *n)
{
	end_names(n);
	gprof_spaces_free(&n->spaces);
	gprof_stacks_free(&n->stacks);
	memset(n, 0, sizeof(*n));
}

int gprof_trace_naming_map(struct gprof_trace_naming *n, const struct gprof_map_rec *rec,
			   const char *path)
{
	n->maps++;
	return gprof_spaces_map(&n->spaces, rec, path);
}

/* A stack is of a point. */
static int note(struct name_batch *t, uint32_t number, uint64_t time)
{
	struct named_stack *named_stack = &t->all[number];

	if (!named_stack->last) {
		if (gprof_grow(&t->order, &t->cap_order, t->nr_order + 1, sizeof(*t->order)))
			return -ENOMEM;
		t->order[t->nr_order++] = number;
		named_stack->time = time;
	}
	if (time < named_stack->time)
		named_stack->time = time;
	if (time > named_stack->last)
		named_stack->last = time;
	return 0;
}

/* The locations of a stack, whose names may have to be found yet. */
static int locate(struct gprof_trace_naming *n, struct name_batch *t, uint32_t number)
{
	struct gprof_resolver *r = &n->resolver;
	struct gprof_stack s = n->stacks.v[number];
	int err;

	s.time = t->all[number].time;
	s.last = t->all[number].last;
	err = gprof_resolve_stack(r, &s, &n->stacks.frames[s.frames]);
	if (err)
		return err;
	if (gprof_grow(&t->locations, &t->cap_locations, t->nr_locations + r->nr_stack,
		       sizeof(*t->locations)))
		return -ENOMEM;
	memcpy(&t->locations[t->nr_locations], r->stack, r->nr_stack * sizeof(*r->stack));
	t->all[number].first = t->nr_locations;
	t->all[number].nr = r->nr_stack;
	t->nr_locations += r->nr_stack;
	return 0;
}

static struct gprof_trace_text text_of(const struct gprof_profile *p, uint32_t number)
{
	const char *s = p->strings.v[number];

	return (struct gprof_trace_text){ s, strlen(s) };
}

/* Leaf first; inlined functions come before their callers. */
static size_t make_frames(const struct gprof_profile *p, const uint32_t *locations, size_t nr,
			  struct gprof_trace_frame *frames)
{
	size_t i, j, made = 0;

	for (i = 0; i < nr; i++) {
		const struct gprof_location *l = &p->locations[locations[i]];

		for (j = 0; j < l->nr_lines && made < GPROF_TRACE_FRAMES_MAX; j++) {
			const struct gprof_line *line = &p->lines[l->lines + j];
			const struct gprof_function *f = &p->functions[line->function];

			frames[made++] = (struct gprof_trace_frame){
				.pc = l->address,
				.function = text_of(p, f->name),
				.file = text_of(p, f->filename),
				.line = line->line > 0 ? (uint64_t)line->line : 0,
			};
		}
	}
	return made;
}

static int write_names(struct gprof_trace_naming *n, struct name_batch *t,
		       struct gprof_trace_writer *w)
{
	struct gprof_trace_frame frames[GPROF_TRACE_FRAMES_MAX];
	size_t i;
	int err = gprof_resolver_name_new(&n->resolver);

	for (i = 0; i < t->nr_order && !err; i++) {
		struct named_stack *named_stack = &t->all[t->order[i]];
		size_t nr = make_frames(n->profile, &t->locations[named_stack->first],
					named_stack->nr, frames);

		err = gprof_trace_writer_stack(w, frames, nr, &named_stack->id);
	}
	return err;
}

int gprof_trace_naming_name(struct gprof_trace_naming *n, struct gprof_trace_writer *w,
			    struct gprof_trace_point *points, size_t nr)
{
	struct name_batch t = { .all = calloc(n->stacks.nr + 1, sizeof(*t.all)) };
	int err = t.all ? 0 : -ENOMEM;
	size_t i;

	/* Programs have gone on compiling. */
	gprof_spaces_generate_again(&n->spaces);
	for (i = 0; i < nr && !err; i++) {
		uint64_t stack = points[i].stack;

		if (stack > n->stacks.nr)
			points[i].stack = 0;
		else if (stack)
			err = note(&t, (uint32_t)stack - 1, points[i].time);
	}
	for (i = 0; i < t.nr_order && !err; i++)
		err = locate(n, &t, t.order[i]);
	if (!err)
		err = write_names(n, &t, w);
	for (i = 0; i < nr && !err; i++)
		if (points[i].stack)
			points[i].stack = t.all[points[i].stack - 1].id;
	free(t.all);
	free(t.order);
	free(t.locations);
	return err;
}

bool gprof_trace_naming_full(const struct gprof_trace_naming *n)
{
	const struct gprof_profile *p = n->profile;

	return n->stacks.cap * STACK_BYTES + n->stacks.cap_frames * sizeof(*n->stacks.frames) +
	       n->spaces.nr * sizeof(*n->spaces.v) + n->maps * MAP_BYTES +
	       p->nr_locations * LOCATION_BYTES + p->nr_lines * sizeof(*p->lines) +
	       p->nr_functions * LOCATION_BYTES + p->strings.nr * STRING_BYTES > n->max;
}

/**
 * struct keeping - which address spaces are kept
 * @needed: of all program runs, those whose stacks are kept
 * @i: the next one
 */
struct keeping {
	bool *needed;
	size_t i;
};

/* Living program runs, whose stacks are kept. */
static bool keep_space(void *ctx, const struct gprof_process *id)
{
	struct keeping *k = ctx;

	return k->needed[k->i++] || gprof_process_alive(id);
}

static int forget_spaces(struct gprof_trace_naming *n)
{
	struct keeping k = { .needed = calloc(n->spaces.nr + 1, sizeof(*k.needed)) };
	size_t i, j;
	int err;

	if (!k.needed)
		return -ENOMEM;
	for (i = 0; i < n->stacks.nr; i++) {
		struct gprof_space *space = gprof_spaces_find(&n->spaces,
							      &n->stacks.v[i].process);

		if (space)
			k.needed[space - n->spaces.v] = true;
	}
	err = gprof_spaces_keep(&n->spaces, keep_space, &k);
	if (!err) {
		gprof_resolver_need_files(&n->resolver);
		err = gprof_spaces_keep_files(&n->spaces);
	}
	free(k.needed);
	n->maps = 0;
	for (i = 0; i < n->spaces.nr; i++)
		for (j = 0; j < n->spaces.v[i].nr; j++)
			n->maps += n->spaces.v[i].readings[j].nr;
	return err;
}

int gprof_trace_naming_forget(struct gprof_trace_naming *n, uint32_t *numbers)
{
	struct gprof_resolver old = n->resolver;
	struct gprof_profile *profile = n->profile;
	int err = gprof_stacks_keep(&n->stacks, numbers);

	if (err)
		return err;
	n->forgotten++;
	err = forget_spaces(n);
	if (!err)
		err = begin_names(n);
	if (err) {
		n->resolver = old;
		n->profile = profile;
		return err;
	}
	/* The kernel has as many names as before. */
	err = gprof_resolver_kernel_of(&n->resolver, &old);
	gprof_resolver_free(&old);
	gprof_profile_free(profile);
	/* The needed part may be larger: then the rest is forgotten less often. */
	if (!err && gprof_trace_naming_full(n))
		n->max *= 2;
	return err;
}
