// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * builder.c: from decoded records to a profile.
 */
#include "builder.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "resolve_names.h"
#include "sample_labels.h"

/* Bytes of a program's mappings, approximately. */
#define SPACE_BYTES	(sizeof(struct gprof_space) + 16 * sizeof(struct gprof_vma))
/* Bytes of a file, approximately, with its path, twice, and its segments. */
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
	gprof_live_samples_free(&b->live_samples);
	gprof_lifetimes_free(&b->lifetimes);
	gprof_lock_waits_free(&b->lock_waits);
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
	       b->lock_waits.nr * sizeof(*b->lock_waits.v) + b->spaces.nr * SPACE_BYTES +
	       b->spaces.objects.nr * FILE_BYTES;
}

void gprof_builder_clear(struct gprof_builder *b)
{
	drop_profile(b);
	b->nr_counts = 0;
	b->nr_instants = 0;
	gprof_live_samples_free(&b->live_samples);
	gprof_lifetimes_free(&b->lifetimes);
	gprof_lock_waits_free(&b->lock_waits);
	memset(b->ends, 0, sizeof(b->ends));
	gprof_table_clear(&b->counts_table);
}

int gprof_builder_next(struct gprof_builder *b)
{
	uint32_t *numbers = malloc((b->nr_counts + 1) * sizeof(*numbers));
	size_t i, nr = 0;

	if (!numbers)
		return -ENOMEM;
	for (i = 0; i < b->nr_counts; i++)
		numbers[i] = b->counts[i].live_weight ? (uint32_t)nr++ : GPROF_NONE;
	if (gprof_lifetimes_renumber(&b->lifetimes, numbers, b->nr_counts)) {
		free(numbers);
		return -ENOMEM;
	}
	for (i = nr = 0; i < b->nr_counts; i++) {
		struct gprof_count *c = &b->counts[i];

		if (numbers[i] == GPROF_NONE)
			continue;
		b->counts[nr] = *c;
		b->counts[nr].samples = b->counts[nr].weight = b->counts[nr].value = 0;
		b->counts[nr++].runnable = 0;
	}
	gprof_live_samples_renumber(&b->live_samples, numbers);
	free(numbers);
	b->nr_counts = nr;
	b->nr_instants = 0;
	b->goes_on = true;
	memset(b->ends, 0, sizeof(b->ends));
	return gprof_builder_renumbered(b);
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
 * A weight divided by the number of running tasks. The rest of one sample goes to the next, in
 * @rest, in units of 1 / 2^32: so each value is within 1 of the exact one, and the sum within 1 of
 * the exact sum, however many there are and however little each stands for.
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

/*
 * The name of a process that was gone before its name was read: its first thread's where that was
 * sampled, else its file's. /proc/PID/comm, where it is read later, comes first.
 */
static int name_processes(struct gprof_builder *b)
{
	size_t i;
	int err = 0;

	for (i = 0; i < b->nr_tasks && !err; i++) {
		const struct gprof_task *t = &b->tasks[i];

		if (t->tid == t->process.pid)
			err = gprof_spaces_call(&b->spaces, &t->process, b->names.v[t->comm]);
	}
	for (i = 0; i < b->spaces.nr && !err; i++)
		err = gprof_spaces_call(&b->spaces, &b->spaces.v[i].id, NULL);
	return err;
}

static int by_stack(const void *a, const void *b)
{
	const struct gprof_count *x = *(const struct gprof_count *const *)a;
	const struct gprof_count *y = *(const struct gprof_count *const *)b;

	return x->stack < y->stack ? -1 : x->stack > y->stack;
}

/*
 * When the first one's stack was sampled for the first and the last time; those with it come in
 * a row. It may have been sampled for earlier profiles too.
 */
static void find_times(const struct gprof_count **order, size_t nr, struct gprof_stack *s)
{
	size_t i;

	s->time = order[0]->first;
	s->last = order[0]->last;
	for (i = 1; i < nr && order[i]->stack == order[0]->stack; i++) {
		if (order[i]->first < s->time)
			s->time = order[i]->first;
		if (order[i]->last > s->last)
			s->last = order[i]->last;
	}
}

static void move_wait(void *ctx, uint32_t count, int64_t ns)
{
	((struct gprof_builder *)ctx)->counts[count].value += (uint64_t)ns;
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
	if (!err)
		err = gprof_lock_waits_divide(&b->lock_waits, move_wait, b);
	if (!err)
		err = name_processes(b);
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
		int64_t values[10];
		size_t nr = 0;

		if (c->stack == GPROF_NONE) {
			err = gprof_resolve_none(r);
		} else if (!i || c->stack != last) {
			struct gprof_stack s = b->stacks.v[c->stack];

			find_times(&order[i], nr_order - i, &s);
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
		if (columns->over_time) {
			struct gprof_in_use part =
				gprof_lifetimes_part(&b->lifetimes, (uint32_t)(c - b->counts));

			values[nr++] = gprof_clamp(part.peak_weight);
			values[nr++] = gprof_clamp(part.peak_value);
			values[nr++] = gprof_clamp(part.brief);
			values[nr++] = (int64_t)(part.weight - part.marked_weight);
			values[nr++] = (int64_t)(part.value - part.marked_value);
			nr -= columns->grown_since_ns ? 0 : 2;
		}
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

static int add_columns_over_time(struct gprof_profile *p, const struct gprof_columns *columns)
{
	const char *const names[] = { "peak_objects", "peak_space", "temporary_objects",
				      "grown_objects", "grown_space" };
	size_t i, nr = columns->grown_since_ns ? 5 : 3;
	int err = 0;

	for (i = 0; i < nr && !err; i++)
		err = gprof_profile_add_column(p, names[i], strstr(names[i], "space") ?
					       columns->value_unit : columns->weight_unit);
	if (!err && columns->grown_since_ns)
		p->default_type = p->columns[p->nr_columns - 1].type;
	return err;
}

static int add_live_columns(struct gprof_profile *p, const struct gprof_columns *columns)
{
	int err = gprof_profile_add_column(p, columns->live_weight_type, columns->weight_unit);

	if (!err)
		err = gprof_profile_add_column(p, columns->live_value_type, columns->value_unit);
	if (!err)
		p->default_type = p->columns[p->nr_columns - 1].type;
	if (!err && columns->over_time)
		err = add_columns_over_time(p, columns);
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
	gprof_live_samples_renumber(&b->live_samples, numbers);
	free(numbers);
	return err;
}

/*
 * Frees the parts that the profile has copied, before it gets its names: both at once are the
 * most.
 */
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
	err = gprof_builder_read_python(b);
	if (!err)
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
