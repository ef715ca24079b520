// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * trace_annotations.c: annotations that wait to be written, and numbers for tasks.
 */
#include "trace_annotations.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Without gaps, so that its bytes can be compared. */
struct key {
	uint32_t pid;
	uint32_t exec_id;
	uint64_t start_ns;
	uint64_t number;
};

struct gprof_trace_annotations_task {
	struct key key;
	uint64_t id;
};

void gprof_trace_annotations_init(struct gprof_trace_annotations *n)
{
	memset(n, 0, sizeof(*n));
	gprof_table_init(&n->tasks[0].table);
	gprof_table_init(&n->tasks[1].table);
}

void gprof_trace_annotations_free(struct gprof_trace_annotations *n)
{
	size_t i;

	for (i = 0; i < n->nr; i++)
		free(n->v[i].name);
	free(n->v);
	free(n->free);
	for (i = 0; i < 2; i++) {
		gprof_table_free(&n->tasks[i].table);
		free(n->tasks[i].v);
	}
	memset(n, 0, sizeof(*n));
}

/* Both texts, each with a 0 behind it. */
static char *texts_of(const struct gprof_annotation_rec *rec)
{
	char *p = calloc(1, rec->name_size + rec->text_size + 2UL);

	if (!p)
		return NULL;
	memcpy(p, rec->text, rec->name_size);
	memcpy(p + rec->name_size + 1, rec->text + rec->name_size, rec->text_size);
	return p;
}

int gprof_trace_annotations_add(struct gprof_trace_annotations *n,
				const struct gprof_annotation_rec *rec, uint64_t *id)
{
	char *texts = texts_of(rec);
	int err = texts ? 0 : -ENOMEM;

	/* A place can always be given back. */
	if (!err && !n->nr_free)
		err = gprof_grow(&n->v, &n->cap, n->nr + 1, sizeof(*n->v));
	if (!err)
		err = gprof_grow(&n->free, &n->cap_free, n->nr + 1, sizeof(*n->free));
	if (err) {
		free(texts);
		return err;
	}
	*id = n->nr_free ? n->free[--n->nr_free] : ++n->nr;
	n->v[*id - 1] = (struct gprof_trace_annotation){
		.what = rec->rec.flags,
		.process = rec->process,
		.task = rec->task,
		.parent = rec->parent,
		.name = texts,
		.text = texts + rec->name_size + 1,
	};
	return 0;
}

const struct gprof_trace_annotation *
gprof_trace_annotations_get(const struct gprof_trace_annotations *n, uint64_t id)
{
	return id && id <= n->nr && n->v[id - 1].what ? &n->v[id - 1] : NULL;
}

void gprof_trace_annotations_drop(struct gprof_trace_annotations *n, uint64_t id)
{
	if (!gprof_trace_annotations_get(n, id))
		return;
	free(n->v[id - 1].name);
	n->v[id - 1] = (struct gprof_trace_annotation){ 0 };
	n->free[n->nr_free++] = id;
}

static bool same(const void *ctx, uint32_t index, const void *key)
{
	const struct gprof_trace_annotations_half *half = ctx;

	return !memcmp(&half->v[index].key, key, sizeof(struct key));
}

static struct gprof_trace_annotations_task *find(const struct gprof_trace_annotations_half *half,
						 const struct key *key)
{
	uint64_t hash = gprof_hash_bytes(half->table.seed, key, sizeof(*key));
	uint32_t i = gprof_table_find(&half->table, hash, same, half, key);

	return i == GPROF_NONE ? NULL : &half->v[i];
}

static int add(struct gprof_trace_annotations_half *half, const struct key *key, uint64_t id)
{
	uint64_t hash = gprof_hash_bytes(half->table.seed, key, sizeof(*key));
	int err = gprof_grow(&half->v, &half->cap, half->nr + 1, sizeof(*half->v));

	if (!err)
		err = gprof_table_insert(&half->table, hash, (uint32_t)half->nr);
	if (!err)
		half->v[half->nr++] = (struct gprof_trace_annotations_task){ *key, id };
	return err;
}

/* A program that begins tasks and never ends them must not take unbounded memory. */
static void forget_older(struct gprof_trace_annotations *n)
{
	struct gprof_trace_annotations_half older = n->tasks[1];

	n->tasks[1] = n->tasks[0];
	n->tasks[0] = older;
	gprof_table_clear(&n->tasks[0].table);
	n->tasks[0].nr = 0;
}

int gprof_trace_annotations_task(struct gprof_trace_annotations *n,
				 const struct gprof_process *process, uint64_t number, bool begins,
				 uint64_t *id)
{
	const struct key key = { process->pid, process->exec_id, process->start_ns, number };
	struct gprof_trace_annotations_task *t, *old;

	*id = 0;
	if (!number)
		return 0;
	t = find(&n->tasks[0], &key);
	if (t) {
		if (begins)
			t->id = ++n->last_task;
		*id = t->id;
		return 0;
	}
	old = find(&n->tasks[1], &key);
	*id = old && !begins ? old->id : ++n->last_task;
	if (n->tasks[0].nr == GPROF_TRACE_NOTES_TASKS)
		forget_older(n);
	return add(&n->tasks[0], &key, *id);
}
