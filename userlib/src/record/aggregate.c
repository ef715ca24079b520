// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * aggregate.c: decoded records, counted: stacks, tasks and samples, each once.
 */
#include "aggregate.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "profile/labels.h"

static uint64_t hash_process(uint64_t hash, const struct gprof_process *p)
{
	hash = gprof_hash_u64(hash, (uint64_t)p->pid << 32 | p->exec_id);
	return gprof_hash_u64(hash, p->start_ns);
}

static int read_python(struct gprof_builder *b, const struct gprof_stack *s)
{
	if (!(s->flags & GPROF_STACK_REC_F_PYTHON))
		return 0;
	return gprof_spaces_read_python(&b->spaces, &s->process,
					&b->stacks.frames[s->frames + s->nr_kernel], s->nr_user);
}

static int on_stack(void *ctx, const struct gprof_stack_rec *rec, uint32_t *handle)
{
	struct gprof_builder *b = ctx;
	size_t nr = b->stacks.nr;
	int err = gprof_stacks_add(&b->stacks, rec, handle);

	/* Now, while the process may be there yet, with the same mappings. */
	if (!err && b->stacks.nr > nr)
		err = read_python(b, &b->stacks.v[*handle]);
	return err;
}

int gprof_builder_read_python(struct gprof_builder *b)
{
	size_t i;
	int err = 0;

	for (i = 0; i < b->stacks.nr && !err; i++)
		err = read_python(b, &b->stacks.v[i]);
	return err;
}

static bool task_eq(const void *ctx, uint32_t index, const void *key)
{
	const struct gprof_task *a = &((const struct gprof_builder *)ctx)->tasks[index];
	const struct gprof_task *t = key;

	return a->tid == t->tid && a->comm == t->comm && gprof_same_run(&a->process, &t->process);
}

static uint64_t task_hash(const struct gprof_builder *b, const struct gprof_task *t)
{
	return gprof_hash_u64(hash_process(b->tasks_table.seed, &t->process),
			      (uint64_t)t->tid << 32 | t->comm);
}

static int on_task(void *ctx, const struct gprof_task_rec *rec, uint32_t *handle)
{
	struct gprof_builder *b = ctx;
	struct gprof_task task = {
		.process = rec->process,
		.tid = rec->tid,
		.comm = gprof_strings_add(&b->names, rec->comm,
					  strnlen(rec->comm, sizeof(rec->comm))),
	};
	uint64_t hash;

	gprof_spaces_describe(&b->spaces, &rec->process);
	if (task.comm == GPROF_NONE)
		return -ENOMEM;
	hash = task_hash(b, &task);
	*handle = gprof_table_find(&b->tasks_table, hash, task_eq, b, &task);
	if (*handle != GPROF_NONE)
		return 0;
	if (b->nr_tasks >= GPROF_NONE - 1 ||
	    gprof_grow(&b->tasks, &b->cap_tasks, b->nr_tasks + 1, sizeof(*b->tasks)) ||
	    gprof_table_insert(&b->tasks_table, hash, (uint32_t)b->nr_tasks))
		return -ENOMEM;
	task.own = gprof_labels_own(&task.process);
	b->tasks[b->nr_tasks] = task;
	*handle = (uint32_t)b->nr_tasks++;
	return 0;
}

static bool count_eq(const void *ctx, uint32_t index, const void *key)
{
	const struct gprof_count *a = &((const struct gprof_builder *)ctx)->counts[index];
	const struct gprof_count *c = key;

	return a->stack == c->stack && a->task == c->task && a->tid == c->tid &&
	       a->cpu == c->cpu && a->labels == c->labels && a->has_addr == c->has_addr &&
	       a->addr == c->addr && a->has_wait == c->has_wait && a->wait == c->wait &&
	       a->parallelism == c->parallelism && a->owner == c->owner &&
	       a->owner_comm == c->owner_comm && a->slice == c->slice;
}

static uint64_t count_hash(const struct gprof_builder *b, const struct gprof_count *c)
{
	uint64_t hash = b->counts_table.seed;

	hash = gprof_hash_u64(hash, (uint64_t)c->stack << 32 | c->task);
	hash = gprof_hash_u64(hash, (uint64_t)c->tid << 32 | c->cpu);
	hash = gprof_hash_u64(hash, (uint64_t)c->labels << 32 ^ c->addr);
	hash = gprof_hash_u64(hash, (uint64_t)c->parallelism << 32 | c->wait);
	if (c->slice)
		hash = gprof_hash_u64(hash, c->slice);
	return gprof_hash_u64(hash, (uint64_t)c->owner << 32 | c->owner_comm);
}

/* A context of on_labels(). */
struct label_query {
	struct gprof_builder *b;
	uint32_t labels;
};

static int on_labels(void *ctx, const char *text)
{
	struct label_query *t = ctx;

	t->labels = gprof_strings_add(&t->b->labels, text, strlen(text));
	return t->labels == GPROF_NONE ? -ENOMEM : 0;
}

/* The labels of a thread of this process. */
static int find_labels(struct gprof_builder *b, const struct gprof_decoded *s, uint32_t *labels)
{
	struct label_query t = { .b = b };
	int err = gprof_labels_at((pid_t)s->tid, s->time, on_labels, &t);

	*labels = t.labels;
	if (err != -ENODATA)
		return err;
	b->labels_forgotten++;
	return 0;
}

/* How a task was at one moment is told of no other sample. */
static int add_instant(struct gprof_builder *b, const struct gprof_decoded *s,
		       struct gprof_count *c)
{
	if (b->nr_instants >= GPROF_NONE - 1 || b->nr_counts >= GPROF_NONE - 1 ||
	    gprof_grow(&b->instants, &b->cap_instants, b->nr_instants + 1, sizeof(*b->instants)) ||
	    gprof_grow(&b->counts, &b->cap_counts, b->nr_counts + 1, sizeof(*b->counts)))
		return -ENOMEM;
	b->instants[b->nr_instants++] = (struct gprof_instant){ s->time, s->state };
	c->state = (uint32_t)b->nr_instants;
	c->cpu = s->state.cpu;
	b->counts[b->nr_counts++] = *c;
	return 0;
}

/* Saturated: no wait is that long. */
static uint64_t times(uint64_t value, uint64_t weight)
{
	uint64_t product;

	return __builtin_mul_overflow(value, weight, &product) ? UINT64_MAX : product;
}

static uint64_t plus(uint64_t a, uint64_t b)
{
	return a + b < a ? UINT64_MAX : a + b;
}

/* How the walk ended of which @stack came. */
static uint8_t end_of(const struct gprof_builder *b, uint32_t stack)
{
	unsigned int flags = stack == GPROF_NONE ? 0 : b->stacks.v[stack].flags;
	uint8_t end = GPROF_STACK_REC_END(flags);

	if (!(flags & GPROF_STACK_REC_F_TABLES))
		return GPROF_END_OTHER;
	if (end == GPROF_STACK_END_COMPLETE && flags & GPROF_STACK_REC_F_GUESSED)
		return GPROF_END_GUESSED;
	return end;
}

static int note_lock_wait(struct gprof_builder *b, const struct gprof_decoded *s, uint32_t index)
{
	unsigned int ended = GPROF_WAIT_ENDED(s->wait);
	const struct gprof_lock_wait wait = {
		.process = s->task != GPROF_NONE ? b->tasks[s->task].process :
						   (struct gprof_process){ .pid = s->tid },
		.addr = s->addr,
		.from = s->value < s->time ? s->time - s->value : 0,
		.to = s->time,
		.weight = s->weight,
		.count = index,
		.release = ended == GPROF_WAIT_ENDED_BY_TASK ||
			   ended == GPROF_WAIT_ENDED_BY_NOT_TARGET,
	};

	return b->lock_waits.on && s->has_addr ? gprof_lock_waits_note(&b->lock_waits, &wait) : 0;
}

static int note_sample(struct gprof_builder *b, const struct gprof_decoded *s, uint32_t index)
{
	int err = note_lock_wait(b, s, index);

	if (!err && s->live)
		err = gprof_live_samples_note(&b->live_samples, s->live, index);
	if (!err && s->live && b->lifetimes.on && GPROF_OBJECT_SLOT(s->live) < b->live_samples.max)
		err = gprof_lifetimes_note(&b->lifetimes, s, times(s->value, s->weight), index);
	return err;
}

static void on_repeat(void *ctx, uint32_t handle, uint64_t weight, uint64_t time)
{
	struct gprof_builder *b = ctx;

	b->counts[handle].samples++;
	b->ends[b->counts[handle].end]++;
	b->counts[handle].weight += weight;
	/* Those of another CPU may have been read before. */
	if (time < b->counts[handle].first)
		b->counts[handle].first = time;
	if (time > b->counts[handle].last)
		b->counts[handle].last = time;
}

/* Two neighbours are one from now on; their equal samples stay apart, and count as before. */
static int widen_slices(struct gprof_builder *b)
{
	size_t i;

	b->slice_ns *= 2;
	for (i = 0; i < b->nr_counts; i++)
		if (b->counts[i].slice)
			b->counts[i].slice = (b->counts[i].slice - 1) / 2 + 1;
	return gprof_builder_renumbered(b);
}

static int find_slice(struct gprof_builder *b, uint64_t time, uint32_t *slice)
{
	uint64_t since = time > b->slice_base ? time - b->slice_base : 0;
	int err = 0;

	while (!err && b->slice_ns && since / b->slice_ns >= GPROF_SLICES_MAX)
		err = widen_slices(b);
	if (b->slice_ns)
		*slice = (uint32_t)(since / b->slice_ns) + 1;
	return err;
}

static int on_sample(void *ctx, const struct gprof_decoded *s, uint32_t *handle)
{
	struct gprof_builder *b = ctx;
	struct gprof_count c = {
		.samples = 1,
		.weight = s->weight,
		.first = s->time,
		.last = s->time,
		.value = times(s->value, s->weight),
		.runnable = times(GPROF_WAIT_RUNNABLE_NS(s->wait), s->weight),
		.parallelism = s->parallelism,
		.stack = s->stack,
		.task = s->task,
		.tid = s->tid,
		.cpu = s->cpu,
		.wait = s->wait & ((1U << GPROF_WAIT_RUNNABLE_SHIFT) - 1),
		.has_addr = s->has_addr && (!b->lock_waits.on || b->lock_waits.keep_addr),
		.has_wait = s->has_wait,
	};
	bool own = s->task != GPROF_NONE && b->tasks[s->task].own && gprof_labels_used();
	uint64_t hash;
	uint32_t index;

	c.addr = c.has_addr ? s->addr : 0;

	if (s->time < b->from) {
		b->early++;
		return 0;
	}
	if (s->owner.tid) {
		c.owner = s->owner.tid;
		c.owner_comm = gprof_strings_add(&b->names, s->owner.comm,
						 strnlen(s->owner.comm, sizeof(s->owner.comm)));
		if (c.owner_comm == GPROF_NONE)
			return -ENOMEM;
	}
	if (own && find_labels(b, s, &c.labels))
		return -ENOMEM;
	if (s->flags & GPROF_SAMPLE_REC_F_STATE)
		return add_instant(b, s, &c);
	if (find_slice(b, s->time, &c.slice))
		return -ENOMEM;
	hash = count_hash(b, &c);
	index = gprof_table_find(&b->counts_table, hash, count_eq, b, &c);
	if (index != GPROF_NONE) {
		on_repeat(b, index, s->weight, s->time);
		b->counts[index].value = plus(b->counts[index].value, c.value);
		b->counts[index].runnable = plus(b->counts[index].runnable, c.runnable);
		*handle = own || c.slice ? GPROF_NONE : index;
		return note_sample(b, s, index);
	}
	if (b->nr_counts >= GPROF_NONE - 1 ||
	    gprof_grow(&b->counts, &b->cap_counts, b->nr_counts + 1, sizeof(*b->counts)) ||
	    gprof_table_insert(&b->counts_table, hash, (uint32_t)b->nr_counts))
		return -ENOMEM;
	c.end = end_of(b, c.stack);
	b->ends[c.end]++;
	b->counts[b->nr_counts] = c;
	*handle = own || c.slice ? GPROF_NONE : (uint32_t)b->nr_counts;
	return note_sample(b, s, (uint32_t)b->nr_counts++);
}

static int on_map(void *ctx, const struct gprof_map_rec *rec, const char *path)
{
	struct gprof_builder *b = ctx;

	return gprof_spaces_map(&b->spaces, rec, path);
}

const struct gprof_decode_ops gprof_builder_ops = {
	.stack = on_stack,
	.task = on_task,
	.sample = on_sample,
	.again = on_repeat,
	.map = on_map,
};

static void add_live(void *ctx, uint32_t count, const struct gprof_object_slot *slot)
{
	struct gprof_count *c = &((struct gprof_builder *)ctx)->counts[count];

	c->live_weight = plus(c->live_weight, slot->weight);
	c->live_value = plus(c->live_value, times(slot->value, slot->weight));
}

void gprof_builder_mark_live(struct gprof_builder *b, const struct gprof_object_table *t)
{
	size_t i;

	for (i = 0; i < b->nr_counts; i++)
		b->counts[i].live_weight = b->counts[i].live_value = 0;
	gprof_live_samples_scan(&b->live_samples, t, add_live, b, &b->unknown);
}

int gprof_builder_renumbered(struct gprof_builder *b)
{
	size_t i;
	int err = 0;

	gprof_table_clear(&b->counts_table);
	for (i = 0; i < b->nr_counts; i++)
		if (gprof_table_insert(&b->counts_table, count_hash(b, &b->counts[i]),
				       (uint32_t)i))
			err = -ENOMEM;
	return err;
}

int gprof_builder_keep_tasks(struct gprof_builder *b, uint32_t *numbers)
{
	struct gprof_table table;
	uint32_t nr = 0;
	size_t i;
	int err = 0;

	gprof_table_init(&table);
	table.seed = b->tasks_table.seed;
	for (i = 0; i < b->nr_tasks && !err; i++)
		if (numbers[i] != GPROF_NONE)
			err = gprof_table_insert(&table, task_hash(b, &b->tasks[i]), nr++);
	if (err) {
		gprof_table_free(&table);
		return err;
	}
	for (i = 0, nr = 0; i < b->nr_tasks; i++) {
		if (numbers[i] == GPROF_NONE)
			continue;
		b->tasks[nr] = b->tasks[i];
		numbers[i] = nr++;
	}
	b->nr_tasks = nr;
	gprof_table_free(&b->tasks_table);
	b->tasks_table = table;
	return 0;
}
