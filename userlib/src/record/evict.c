// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * evict.c: long recordings free the program runs that are over.
 */
#include "evict.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "symbol/mapped_file.h"
#include "symbol/process_files.h"

void gprof_eviction_init(struct gprof_eviction *a)
{
	memset(a, 0, sizeof(*a));
	a->max = GPROF_EVICT_BYTES;
	gprof_map64_init(&a->over);
}

void gprof_eviction_free(struct gprof_eviction *a)
{
	gprof_map64_free(&a->over);
}

/* ---- program runs that are over ---- */

static uint64_t process_key(const struct gprof_eviction *a, const struct gprof_process *id)
{
	return gprof_hash_u64(gprof_hash_u64(a->over.seed, id->pid), id->start_ns);
}

static uint64_t run_key(const struct gprof_eviction *a, const struct gprof_process *id)
{
	return gprof_hash_u64(process_key(a, id), id->exec_id);
}

/* Certainly: a process that this one cannot see may live. */
static bool is_gone(const struct gprof_process *id)
{
	uint64_t ticks;

	if (!id->pid)
		return false;
	if (kill((pid_t)id->pid, 0) && errno == ESRCH)
		return true;
	return gprof_process_start(id->pid, &ticks) && !gprof_process_alive(id);
}

/**
 * struct marking - which program runs are over
 * @a: gets them
 * @newest: by process, how often it has executed a program at the most
 * @gone: by process, whether there is none any more
 */
struct marking {
	struct gprof_eviction *a;
	struct gprof_map64 newest;
	struct gprof_map64 gone;
};

static int visit_run(struct marking *m, const struct gprof_process *id)
{
	uint64_t key = process_key(m->a, id);
	uint32_t newest = gprof_map64_get(&m->newest, key);

	/* GPROF_NONE is none */
	if (newest != GPROF_NONE && newest >= id->exec_id)
		return 0;
	return gprof_map64_put(&m->newest, key, id->exec_id);
}

static int mark(struct marking *m, const struct gprof_process *id)
{
	uint64_t key = process_key(m->a, id);
	uint32_t newest = gprof_map64_get(&m->newest, key);
	uint32_t gone = gprof_map64_get(&m->gone, key);

	if (newest == GPROF_NONE || newest <= id->exec_id) {
		if (gone == GPROF_NONE) {
			gone = is_gone(id);
			if (gprof_map64_put(&m->gone, key, gone))
				return -ENOMEM;
		}
		if (!gone)
			return 0;
	}
	return gprof_map64_put(&m->a->over, run_key(m->a, id), 1);
}

/* Each program run that is known, some of them more than once. */
static int each_run(const struct gprof_builder *b, struct marking *m,
		    int (*fn)(struct marking *m, const struct gprof_process *id))
{
	size_t i;
	int err = 0;

	for (i = 0; i < b->stacks.nr && !err; i++)
		err = fn(m, &b->stacks.v[i].process);
	for (i = 0; i < b->nr_tasks && !err; i++)
		err = fn(m, &b->tasks[i].process);
	for (i = 0; i < b->spaces.nr && !err; i++)
		err = fn(m, &b->spaces.v[i].id);
	return err;
}

static int mark_over(struct gprof_eviction *a, const struct gprof_builder *b)
{
	struct marking m = { .a = a };
	int err;

	gprof_map64_clear(&a->over);
	gprof_map64_init(&m.newest);
	gprof_map64_init(&m.gone);
	err = each_run(b, &m, visit_run);
	if (!err)
		err = each_run(b, &m, mark);
	gprof_map64_free(&m.newest);
	gprof_map64_free(&m.gone);
	a->marked = !err;
	return err;
}

static bool is_over(const struct gprof_eviction *a, const struct gprof_process *id)
{
	return gprof_map64_get(&a->over, run_key(a, id)) != GPROF_NONE;
}

/* ---- and is forgotten ---- */

static const struct gprof_process *process_of(const struct gprof_builder *b,
					      const struct gprof_count *c)
{
	if (c->stack != GPROF_NONE)
		return &b->stacks.v[c->stack].process;
	return c->task != GPROF_NONE ? &b->tasks[c->task].process : NULL;
}

/* An object may outlive the process that allocated it, and is found by the number of its count. */
static int settle(const struct gprof_eviction *a, struct gprof_builder *b,
		  const struct gprof_columns *columns, const struct gprof_object_table *live)
{
	bool *settled = calloc(b->nr_counts + 1, sizeof(*settled));
	size_t i;
	int err;

	if (!settled)
		return -ENOMEM;
	gprof_live_samples_needed(&b->live_samples, live, settled);
	for (i = 0; i < b->nr_counts; i++) {
		struct gprof_count *c = &b->counts[i];
		const struct gprof_process *id = process_of(b, c);

		settled[i] = !settled[i] && id && is_over(a, id);
		/* It was at the last check. */
		if (settled[i])
			c->live_weight = c->live_value = 0;
	}
	err = gprof_builder_settle(b, columns, settled);
	free(settled);
	return err;
}

/**
 * struct numbers - new numbers of kept entries
 * @v: by the number before; GPROF_NONE: it is forgotten
 * @changed: they are known; before, needed entries are only marked
 */
struct numbers {
	uint32_t *v;
	bool changed;
};

static void visit_number(void *ctx, uint32_t *number)
{
	const struct numbers *n = ctx;

	if (*number == GPROF_NONE)
		return;
	if (n->changed)
		*number = n->v[*number];
	else
		n->v[*number] = 0;
}

/* All holders of numbers of stacks and of tasks. */
static void visit_stacks(struct gprof_builder *b, struct gprof_decoder *decoders, size_t nr,
			 struct numbers *n)
{
	size_t i;

	for (i = 0; i < b->nr_counts; i++)
		visit_number(n, &b->counts[i].stack);
	for (i = 0; i < nr; i++) {
		gprof_map64_each(&decoders[i].stacks, visit_number, n);
		visit_number(n, &decoders[i].next);
	}
}

static void visit_tasks(struct gprof_builder *b, struct gprof_decoder *decoders, size_t nr,
			struct numbers *n)
{
	size_t i;

	for (i = 0; i < b->nr_counts; i++)
		visit_number(n, &b->counts[i].task);
	for (i = 0; i < nr; i++)
		gprof_map64_each(&decoders[i].tasks, visit_number, n);
}

static int none_of(struct numbers *n, size_t nr)
{
	size_t i;

	*n = (struct numbers){ .v = malloc((nr + 1) * sizeof(*n->v)) };
	for (i = 0; n->v && i < nr; i++)
		n->v[i] = GPROF_NONE;
	return n->v ? 0 : -ENOMEM;
}

/* Names are those of tasks that may be forgotten now: then they are so the next time. */
static void visit_names(struct gprof_builder *b, struct numbers *n)
{
	size_t i;

	for (i = 0; i < b->nr_tasks; i++)
		visit_number(n, &b->tasks[i].comm);
	for (i = 0; i < b->nr_counts; i++)
		visit_number(n, &b->counts[i].owner_comm);
}

static void visit_labels(struct gprof_builder *b, struct numbers *n)
{
	size_t i;

	for (i = 0; i < b->nr_counts; i++)
		visit_number(n, &b->counts[i].labels);
}

/* Tables that find tasks and samples by these are to be renewed. */
static int forget_texts(struct gprof_builder *b, struct gprof_strings *texts,
			void (*visit_all)(struct gprof_builder *b, struct numbers *n))
{
	struct numbers n;
	int err = none_of(&n, texts->nr);

	if (err)
		return err;
	visit_all(b, &n);
	err = gprof_strings_keep(texts, n.v);
	n.changed = true;
	if (!err)
		visit_all(b, &n);
	free(n.v);
	return err;
}

static int forget_stacks(struct gprof_builder *b, struct gprof_decoder *decoders, size_t nr)
{
	struct numbers n;
	int err = none_of(&n, b->stacks.nr);

	if (err)
		return err;
	visit_stacks(b, decoders, nr, &n);
	err = gprof_stacks_keep(&b->stacks, n.v);
	n.changed = true;
	if (!err)
		visit_stacks(b, decoders, nr, &n);
	free(n.v);
	return err;
}

static int forget_tasks(struct gprof_builder *b, struct gprof_decoder *decoders, size_t nr)
{
	struct numbers n;
	int err = none_of(&n, b->nr_tasks);

	if (err)
		return err;
	visit_tasks(b, decoders, nr, &n);
	err = gprof_builder_keep_tasks(b, n.v);
	n.changed = true;
	if (!err)
		visit_tasks(b, decoders, nr, &n);
	free(n.v);
	return err;
}

/**
 * struct keeping - which address spaces are kept
 * @numbers: of each, by the index it had: GPROF_NONE: it is not; else gets its new one
 * @i: the next one
 * @nr: how many were kept
 */
struct keeping {
	uint32_t *numbers;
	size_t i;
	uint32_t nr;
};

static bool keep_space(void *ctx, const struct gprof_process *id)
{
	struct keeping *k = ctx;
	uint32_t *number = &k->numbers[k->i++];

	(void)id;
	if (*number == GPROF_NONE)
		return false;
	*number = k->nr++;
	return true;
}

/*
 * A child whose mappings were not read has those of its parent, which may be over before: each is
 * kept until the next time.
 */
static int forget_spaces(const struct gprof_eviction *a, struct gprof_builder *b)
{
	struct gprof_spaces *s = &b->spaces;
	struct keeping k = { .numbers = calloc(s->nr + 1, sizeof(*k.numbers)) };
	size_t i;
	int err;

	if (!k.numbers)
		return -ENOMEM;
	for (i = 0; i < s->nr; i++) {
		if (!is_over(a, &s->v[i].id))
			continue;
		if (s->v[i].over)
			k.numbers[i] = GPROF_NONE;
		s->v[i].over = true;
	}
	/* a task with a stack in a decoder's present generation may be sampled by it */
	for (i = 0; i < b->stacks.nr; i++) {
		struct gprof_space *space = gprof_spaces_find(s, &b->stacks.v[i].process);

		if (space)
			k.numbers[space - s->v] = 0;
	}
	err = gprof_spaces_keep(s, keep_space, &k);
	if (!err && b->p)
		gprof_resolver_spaces_kept(&b->r, k.numbers);
	free(k.numbers);
	return err;
}

/* A host that builds software has a file, and a name, of each program that it tries. */
static int forget_files(struct gprof_builder *b)
{
	if (b->p)
		gprof_resolver_need_files(&b->r);
	return gprof_spaces_keep_files(&b->spaces);
}

static int forget(struct gprof_eviction *a, struct gprof_builder *b,
		  const struct gprof_columns *columns, const struct gprof_object_table *live,
		  struct gprof_decoder *decoders, size_t nr)
{
	size_t i;
	int err = settle(a, b, columns, live), again;

	/* counts have other numbers */
	for (i = 0; i < nr; i++)
		gprof_decoder_forget(&decoders[i]);
	if (!err)
		err = forget_stacks(b, decoders, nr);
	if (!err)
		err = forget_texts(b, &b->names, visit_names);
	if (!err)
		err = forget_texts(b, &b->labels, visit_labels);
	if (!err)
		err = forget_tasks(b, decoders, nr);
	again = gprof_builder_renumbered(b);
	if (!err)
		err = again;
	if (!err)
		err = forget_spaces(a, b);
	if (!err)
		err = forget_files(b);
	a->marked = false;
	a->needed = gprof_builder_bytes(b);
	/* The needed part may be large: then checks are less frequent. */
	if (a->needed > a->max / 2)
		a->max = 2 * a->needed;
	return err;
}

/* Not by the present size: most of it may be over, and it grows from one profile to the next. */
void gprof_eviction_next(struct gprof_eviction *a)
{
	a->goes_on = true;
	a->max = 2 * a->needed;
	if (a->max < GPROF_EVICT_NEXT_BYTES)
		a->max = GPROF_EVICT_NEXT_BYTES;
}

int gprof_evict(struct gprof_eviction *a, struct gprof_builder *b,
		const struct gprof_columns *columns, const struct gprof_object_table *live,
		struct gprof_decoder *decoders, size_t nr)
{
	/* A count that is settled has no part in a peak that is still to come. */
	if (b->nr_instants || b->lifetimes.on)
		return 0;
	if (a->marked)
		return forget(a, b, columns, live, decoders, nr);
	return gprof_builder_bytes(b) > a->max ? mark_over(a, b) : 0;
}
