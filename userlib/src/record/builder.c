// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * builder.c: from decoded records to a profile.
 */
#include "builder.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "profile/labels.h"
#include "resolve_names.h"
#include "sample_labels.h"

/* About what the mappings of a program take. */
#define SPACE_BYTES	(sizeof(struct gprof_space) + 16 * sizeof(struct gprof_vma))
/* About what a file takes with its path, twice, and its segments. */
#define FILE_BYTES	(sizeof(struct gprof_object) + 512)

int gprof_builder_init(struct gprof_builder *b)
{
	memset(b, 0, sizeof(*b));
	b->rest = 1ULL << 31;	/* sums are rounded to the nearest */
	gprof_stacks_init(&b->stacks);
	gprof_table_init(&b->tasks_table);
	gprof_table_init(&b->counts_table);
	if (gprof_spaces_init(&b->spaces) || gprof_strings_init(&b->names) ||
	    gprof_strings_init(&b->labels)) {
		gprof_builder_free(b);
		return -ENOMEM;
	}
	return 0;
}

static void drop_profile(struct gprof_builder *b)
{
	if (b->p)
		gprof_resolver_free(&b->r);
	gprof_profile_free(b->p);
	b->p = NULL;
}

void gprof_builder_free(struct gprof_builder *b)
{
	drop_profile(b);
	gprof_spaces_free(&b->spaces);
	gprof_strings_free(&b->names);
	gprof_strings_free(&b->labels);
	gprof_stacks_free(&b->stacks);
	gprof_lastings_free(&b->lasting);
	gprof_table_free(&b->tasks_table);
	gprof_table_free(&b->counts_table);
	free(b->tasks);
	free(b->counts);
	free(b->instants);
	memset(b, 0, sizeof(*b));
}

size_t gprof_builder_bytes(const struct gprof_builder *b)
{
	return b->stacks.nr * sizeof(*b->stacks.v) +
	       b->stacks.nr_frames * sizeof(*b->stacks.frames) +
	       b->nr_counts * sizeof(*b->counts) + b->nr_tasks * sizeof(*b->tasks) +
	       b->spaces.nr * SPACE_BYTES + b->spaces.objects.nr * FILE_BYTES;
}

void gprof_builder_clear(struct gprof_builder *b)
{
	drop_profile(b);
	b->nr_counts = 0;
	b->nr_instants = 0;
	gprof_lastings_free(&b->lasting);
	memset(b->ends, 0, sizeof(b->ends));
	gprof_table_clear(&b->counts_table);
}

int gprof_builder_next(struct gprof_builder *b)
{
	uint32_t *numbers = malloc((b->nr_counts + 1) * sizeof(*numbers));
	size_t i, nr = 0;

	if (!numbers)
		return -ENOMEM;
	for (i = 0; i < b->nr_counts; i++) {
		struct gprof_count *c = &b->counts[i];

		numbers[i] = c->live_weight ? (uint32_t)nr : GPROF_NONE;
		if (!c->live_weight)
			continue;
		b->counts[nr] = *c;
		b->counts[nr].samples = b->counts[nr].weight = b->counts[nr].value = 0;
		b->counts[nr++].runnable = 0;
	}
	gprof_lastings_renumber(&b->lasting, numbers);
	free(numbers);
	b->nr_counts = nr;
	b->nr_instants = 0;
	b->goes_on = true;
	memset(b->ends, 0, sizeof(b->ends));
	return gprof_builder_renumbered(b);
}

static uint64_t hash_process(uint64_t hash, const struct gprof_process *p)
{
	hash = gprof_hash_u64(hash, (uint64_t)p->pid << 32 | p->exec_id);
	return gprof_hash_u64(hash, p->start_ns);
}

static int take_stack(void *ctx, const struct gprof_stack_rec *rec, uint32_t *handle)
{
	struct gprof_builder *b = ctx;
	size_t nr = b->stacks.nr;
	int err = gprof_stacks_add(&b->stacks, rec, handle);

	/* Now, while the process may be there yet, and have what it had. */
	if (!err && b->stacks.nr > nr && rec->rec.flags & GPROF_STACK_REC_F_PYTHON)
		err = gprof_spaces_learn_python(&b->spaces, &rec->process,
						&b->stacks.frames[b->stacks.v[*handle].frames +
								  rec->nr_kernel],
						rec->nr_user);
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

static int take_task(void *ctx, const struct gprof_task_rec *rec, uint32_t *handle)
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
	       a->owner_comm == c->owner_comm;
}

static uint64_t count_hash(const struct gprof_builder *b, const struct gprof_count *c)
{
	uint64_t hash = b->counts_table.seed;

	hash = gprof_hash_u64(hash, (uint64_t)c->stack << 32 | c->task);
	hash = gprof_hash_u64(hash, (uint64_t)c->tid << 32 | c->cpu);
	hash = gprof_hash_u64(hash, (uint64_t)c->labels << 32 ^ c->addr);
	hash = gprof_hash_u64(hash, (uint64_t)c->parallelism << 32 | c->wait);
	return gprof_hash_u64(hash, (uint64_t)c->owner << 32 | c->owner_comm);
}

/* A context of take_labels(). */
struct taken {
	struct gprof_builder *b;
	uint32_t labels;
};

static int take_labels(void *ctx, const char *text)
{
	struct taken *t = ctx;

	t->labels = gprof_strings_add(&t->b->labels, text, strlen(text));
	return t->labels == GPROF_NONE ? -ENOMEM : 0;
}

/* What labels a thread of this process had. */
static int find_labels(struct gprof_builder *b, const struct gprof_decoded *s, uint32_t *labels)
{
	struct taken t = { .b = b };
	int err = gprof_labels_at((pid_t)s->tid, s->time, take_labels, &t);

	*labels = t.labels;
	if (err != -ENODATA)
		return err;
	b->labels_forgotten++;
	return 0;
}

/* How a task was at one moment is told of no other sample. */
static int take_instant(struct gprof_builder *b, const struct gprof_decoded *s,
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

/* As much as there is place for: nobody waits for that long. */
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

	return flags & GPROF_STACK_REC_F_TABLES ? GPROF_STACK_REC_END(flags) : GPROF_ENDS - 1;
}

static int note_live(struct gprof_builder *b, const struct gprof_decoded *s, uint32_t index)
{
	return s->live ? gprof_lastings_note(&b->lasting, s->live, index) : 0;
}

static void take_again(void *ctx, uint32_t handle, uint64_t weight, uint64_t time)
{
	struct gprof_builder *b = ctx;

	b->counts[handle].samples++;
	b->ends[b->counts[handle].end]++;
	b->counts[handle].weight += weight;
	/* Those of another CPU may have been read before. */
	if (time > b->counts[handle].last)
		b->counts[handle].last = time;
}

static int take_sample(void *ctx, const struct gprof_decoded *s, uint32_t *handle)
{
	struct gprof_builder *b = ctx;
	struct gprof_count c = {
		.addr = s->addr,
		.samples = 1,
		.weight = s->weight,
		.last = s->time,
		.value = times(s->value, s->weight),
		.runnable = times(GPROF_WAIT_RUNNABLE_NS(s->wait), s->weight),
		.parallelism = s->parallelism,
		.stack = s->stack,
		.task = s->task,
		.tid = s->tid,
		.cpu = s->cpu,
		.wait = s->wait & ((1U << GPROF_WAIT_RUNNABLE_SHIFT) - 1),
		.has_addr = s->has_addr,
		.has_wait = s->has_wait,
	};
	bool own = s->task != GPROF_NONE && b->tasks[s->task].own && gprof_labels_used();
	uint64_t hash;
	uint32_t index;

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
	if (s->stack != GPROF_NONE && (!b->stacks.v[s->stack].time ||
				       b->stacks.v[s->stack].time > s->time))
		b->stacks.v[s->stack].time = s->time;
	if (s->flags & GPROF_SAMPLE_REC_F_STATE)
		return take_instant(b, s, &c);
	hash = count_hash(b, &c);
	index = gprof_table_find(&b->counts_table, hash, count_eq, b, &c);
	if (index != GPROF_NONE) {
		take_again(b, index, s->weight, s->time);
		b->counts[index].value = plus(b->counts[index].value, c.value);
		b->counts[index].runnable = plus(b->counts[index].runnable, c.runnable);
		*handle = own ? GPROF_NONE : index;
		return note_live(b, s, index);
	}
	if (b->nr_counts >= GPROF_NONE - 1 ||
	    gprof_grow(&b->counts, &b->cap_counts, b->nr_counts + 1, sizeof(*b->counts)) ||
	    gprof_table_insert(&b->counts_table, hash, (uint32_t)b->nr_counts))
		return -ENOMEM;
	c.end = end_of(b, c.stack);
	b->ends[c.end]++;
	b->counts[b->nr_counts] = c;
	*handle = own ? GPROF_NONE : (uint32_t)b->nr_counts;
	return note_live(b, s, (uint32_t)b->nr_counts++);
}

static int take_map(void *ctx, const struct gprof_map_rec *rec, const char *path)
{
	struct gprof_builder *b = ctx;

	return gprof_spaces_map(&b->spaces, rec, path);
}

const struct gprof_decode_ops gprof_builder_ops = {
	.stack = take_stack,
	.task = take_task,
	.sample = take_sample,
	.again = take_again,
	.map = take_map,
};

static void add_live(void *ctx, uint32_t count, const struct gprof_live_slot *slot)
{
	struct gprof_count *c = &((struct gprof_builder *)ctx)->counts[count];

	c->live_weight = plus(c->live_weight, slot->weight);
	c->live_value = plus(c->live_value, times(slot->value, slot->weight));
}

void gprof_builder_look(struct gprof_builder *b, const struct gprof_live_table *t)
{
	size_t i;

	for (i = 0; i < b->nr_counts; i++)
		b->counts[i].live_weight = b->counts[i].live_value = 0;
	gprof_lastings_look(&b->lasting, t, add_live, b, &b->unknown);
}

/* The program run with most samples, of @pid where that is given. */
static const struct gprof_process *main_process(const struct gprof_builder *b, uint32_t pid)
{
	const struct gprof_process *best = NULL;
	uint64_t best_samples = 0;
	uint64_t *sums;
	size_t i;

	sums = calloc(b->spaces.nr + 1, sizeof(*sums));
	if (!sums)
		return NULL;
	for (i = 0; i < b->nr_counts; i++) {
		const struct gprof_count *c = &b->counts[i];
		struct gprof_space *space;
		const struct gprof_process *p;

		if (c->stack == GPROF_NONE || !b->stacks.v[c->stack].nr_user)
			continue;
		p = &b->stacks.v[c->stack].process;
		space = gprof_spaces_find((struct gprof_spaces *)&b->spaces, p);
		if (!space || (pid && p->pid != pid))
			continue;
		sums[space - b->spaces.v] += c->samples;
		if (sums[space - b->spaces.v] > best_samples) {
			best_samples = sums[space - b->spaces.v];
			best = &space->id;
		}
	}
	free(sums);
	return best;
}

/* The first and the last time at which a task was looked at. */
static void span_of(const struct gprof_builder *b, uint64_t *first, uint64_t *last)
{
	size_t i;

	*first = *last = b->instants[0].time;
	for (i = 1; i < b->nr_instants; i++) {
		if (b->instants[i].time < *first)
			*first = b->instants[i].time;
		if (b->instants[i].time > *last)
			*last = b->instants[i].time;
	}
}

/*
 * A weight divided by how many ran. What is left over of one sample goes to the next, in
 * @rest, in units of 1 / 2^32: so each value is within 1 of what it should be, and the sum
 * of all within 1 of theirs, however many there are and however little each stands for.
 */
static uint64_t divided(uint64_t weight, uint32_t running, uint64_t *rest)
{
	if (!running)
		running = 1;
	*rest += (weight % running << 32) / running;
	weight = weight / running + (*rest >> 32);
	*rest &= UINT32_MAX;
	return weight;
}

static int by_stack(const void *a, const void *b)
{
	const struct gprof_count *x = *(const struct gprof_count *const *)a;
	const struct gprof_count *y = *(const struct gprof_count *const *)b;

	return x->stack < y->stack ? -1 : x->stack > y->stack;
}

/* When the first one's stack was sampled for the last time; those with it come in a row. */
static uint64_t last_time(const struct gprof_count **order, size_t nr)
{
	uint64_t last = 0;
	size_t i;

	for (i = 0; i < nr && order[i]->stack == order[0]->stack; i++)
		if (order[i]->last > last)
			last = order[i]->last;
	return last;
}

/*
 * To the profile. @chosen: those counts alone, of which the ones that were not added are
 * unset; NULL: all.
 */
static int add_samples(struct gprof_builder *b, const struct gprof_columns *columns, bool *chosen)
{
	struct gprof_label labels[GPROF_SAMPLE_LABELS_MAX];
	const struct gprof_count **order;
	struct gprof_resolver *r = &b->r;
	struct gprof_profile *p = b->p;
	uint32_t keys[GPROF_SAMPLE_KEYS];
	uint32_t last = GPROF_NONE;
	size_t i, nr_order = 0, nr_labels = 0;
	int err = 0;

	if (b->nr_instants) {
		uint64_t end;

		span_of(b, &b->first_instant, &end);
		err = gprof_profile_commentf(p,
					     "each task was looked at by itself; all of them within "
					     "%.3f ms", (double)(end - b->first_instant) / 1e6);
		if (err)
			return err;
	}
	err = gprof_sample_keys(p, keys);
	if (err)
		return err;
	/* Stack by stack, so that each is resolved once. */
	order = calloc(b->nr_counts + 1, sizeof(*order));
	if (!order)
		return -ENOMEM;
	for (i = 0; i < b->nr_counts; i++)
		if (!chosen || chosen[i])
			order[nr_order++] = &b->counts[i];
	qsort(order, nr_order, sizeof(*order), by_stack);

	for (i = 0; i < nr_order && !err; i++) {
		const struct gprof_count *c = order[i];
		int64_t values[7];
		size_t nr = 0;

		if (c->stack == GPROF_NONE) {
			err = gprof_resolve_none(r);
		} else if (!i || c->stack != last) {
			struct gprof_stack s = b->stacks.v[c->stack];

			s.last = last_time(&order[i], nr_order - i);
			err = gprof_resolve_stack(r, &s, &b->stacks.frames[s.frames]);
			last = c->stack;
		}
		if (!err)
			err = gprof_sample_labels(b, c, keys, labels, &nr_labels);
		if (columns->count_type)
			values[nr++] = gprof_clamp(c->samples);
		values[nr++] = gprof_clamp(c->weight);
		if (columns->value_type)
			values[nr++] = gprof_clamp(c->value);
		if (columns->runnable_type)
			values[nr++] = gprof_clamp(c->runnable);
		if (columns->live_weight_type)
			values[nr++] = gprof_clamp(c->live_weight);
		if (columns->live_value_type)
			values[nr++] = gprof_clamp(c->live_value);
		if (columns->latency)
			values[nr++] = gprof_clamp(divided(c->weight, c->parallelism, &b->rest));
		if (!err)
			err = gprof_profile_add_sample(p, r->stack, r->nr_stack, labels, nr_labels,
						       values);
	}
	for (i -= !!err; err && chosen && i < nr_order; i++)
		chosen[order[i] - b->counts] = false;
	free(order);
	return err;
}

static int add_live_columns(struct gprof_profile *p, const struct gprof_columns *columns)
{
	int err = gprof_profile_add_column(p, columns->live_weight_type, columns->weight_unit);

	if (!err)
		err = gprof_profile_add_column(p, columns->live_value_type, columns->value_unit);
	if (!err)
		p->default_type = p->columns[p->nr_columns - 1].type;
	return err;
}

static int set_period(struct gprof_profile *p, const struct gprof_columns *columns)
{
	p->period_type.type = gprof_profile_text(p, columns->period_type);
	p->period_type.unit = gprof_profile_text(p, columns->period_unit);
	return p->period_type.type == GPROF_NONE || p->period_type.unit == GPROF_NONE ? -ENOMEM : 0;
}

static int add_columns(struct gprof_profile *p, const struct gprof_columns *columns)
{
	int err = 0;

	if (columns->count_type)
		err = gprof_profile_add_column(p, columns->count_type, "count");
	if (!err)
		err = gprof_profile_add_column(p, columns->weight_type, columns->weight_unit);
	if (!err) {
		p->period_type = p->columns[p->nr_columns - 1];
		p->default_type = p->period_type.type;
		p->period = gprof_clamp(columns->period);
	}
	if (!err && columns->value_type) {
		err = gprof_profile_add_column(p, columns->value_type, columns->value_unit);
		if (!err)
			p->default_type = p->columns[p->nr_columns - 1].type;
	}
	if (!err && columns->runnable_type)
		err = gprof_profile_add_column(p, columns->runnable_type, "nanoseconds");
	if (!err && columns->live_value_type)
		err = add_live_columns(p, columns);
	if (!err && columns->period_type)
		err = set_period(p, columns);
	if (!err && columns->latency)
		err = gprof_profile_add_column(p, "latency", columns->weight_unit);
	return err;
}

/* A profile without samples, unless there is one. */
static int begin_profile(struct gprof_builder *b, const struct gprof_columns *columns)
{
	int err;

	if (b->p)
		return 0;
	b->p = gprof_profile_new();
	if (!b->p)
		return -ENOMEM;
	err = gprof_resolver_init(&b->r, b->p, &b->spaces, main_process(b, columns->main_pid));
	if (!err)
		err = add_columns(b->p, columns);
	if (err)
		drop_profile(b);
	return err;
}

int gprof_builder_settle(struct gprof_builder *b, const struct gprof_columns *columns,
			 bool *settled)
{
	uint32_t *numbers = malloc((b->nr_counts + 1) * sizeof(*numbers));
	int err = numbers ? begin_profile(b, columns) : -ENOMEM;
	size_t i, nr = 0;

	if (err) {
		free(numbers);
		return err;
	}
	err = add_samples(b, columns, settled);
	for (i = 0; i < b->nr_counts; i++) {
		numbers[i] = settled[i] ? GPROF_NONE : (uint32_t)nr;
		if (!settled[i])
			b->counts[nr++] = b->counts[i];
	}
	b->nr_counts = nr;
	gprof_lastings_renumber(&b->lasting, numbers);
	free(numbers);
	return err;
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

/* What the profile has in its own way, before it gets its names: both at once are the most. */
static void forget_counted(struct gprof_builder *b)
{
	gprof_table_free(&b->counts_table);
	gprof_table_init(&b->counts_table);
	free(b->counts);
	b->counts = NULL;
	b->nr_counts = b->cap_counts = 0;
	gprof_stacks_free(&b->stacks);
	gprof_stacks_init(&b->stacks);
}

int gprof_builder_profile(struct gprof_builder *b, const struct gprof_columns *columns,
			  struct gprof_profile **result)
{
	bool begun = b->p;
	int err;

	if (!b->goes_on)
		gprof_spaces_describe_all(&b->spaces);
	err = begin_profile(b, columns);
	if (err)
		return err;
	/* Programs have gone on compiling since. */
	if (begun)
		gprof_spaces_generate_again(&b->spaces);
	err = add_samples(b, columns, NULL);
	gprof_profile_have_samples(b->p);
	if (b->last)
		forget_counted(b);
	if (!err)
		err = gprof_resolver_name(&b->r);
	if (err) {
		drop_profile(b);
		return err;
	}
	gprof_resolver_free(&b->r);
	*result = b->p;
	b->p = NULL;
	return 0;
}
