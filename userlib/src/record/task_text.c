// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * task_text.c: states and stacks of tasks as text: each stack once, with its tasks or their
 * number.
 */
#include "task_text.h"

#include <errno.h>
#include <fcntl.h>
#include <gprof/task.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/table.h"

/* Functions in which all tasks wait are left out: as get_wchan() of the kernel. */
static const char *const waiting[] = {
	"__schedule", "schedule", "schedule_timeout", "schedule_timeout_interruptible",
	"schedule_timeout_killable", "schedule_timeout_uninterruptible", "schedule_timeout_idle",
	"schedule_preempt_disabled", "schedule_hrtimeout_range", "schedule_hrtimeout_range_clock",
	"schedule_hrtimeout", "io_schedule", "io_schedule_timeout", "context_switch",
	"__switch_to", "__switch_to_asm", "preempt_schedule", "preempt_schedule_common",
	"preempt_schedule_irq", "preempt_schedule_notrace", "__cond_resched", "schedule_idle",
	"rt_mutex_schedule", "schedule_rtlock",
};

static bool is_kernel(const struct gprof_frame *f)
{
	/* "[kernel.kallsyms]", and "[MODULE]" beyond the user's half. */
	return f->mapping[0] == '[' && f->address >> 63;
}

static const char *wait_channel(const struct gprof_frame *frames, size_t nr)
{
	size_t i, j;

	for (i = 0; i < nr && is_kernel(&frames[i]); i++) {
		for (j = 0; j < sizeof(waiting) / sizeof(waiting[0]); j++)
			if (!strcmp(frames[i].function, waiting[j]))
				break;
		if (j == sizeof(waiting) / sizeof(waiting[0]))
			return frames[i].function;
	}
	return NULL;
}

/* Names may hold anything; a terminal is not to obey them. Texts of profiles are UTF-8. */
static void put(FILE *f, const char *s)
{
	for (; *s; s++) {
		unsigned char c = (unsigned char)*s;

		if (c == 0xc2 && (unsigned char)s[1] < 0xa0) {
			fputc('?', f);
			s++;
		} else {
			fputc(c < 0x20 || c == 0x7f ? '?' : c, f);
		}
	}
}

static void put_place(FILE *f, const struct gprof_frame *frame)
{
	if (frame->file[0]) {
		put(f, frame->file);
		fprintf(f, ":%" PRId64, frame->line);
	} else {
		put(f, frame->mapping[0] ? frame->mapping : "?");
	}
}

static void put_duration(FILE *f, int64_t ns)
{
	if (ns < 1000000)
		fprintf(f, "%" PRId64 " us", ns / 1000);
	else if (ns < 1000000000)
		fprintf(f, "%.1f ms", (double)ns / 1e6);
	else
		fprintf(f, "%.2f s", (double)ns / 1e9);
}

/* ---- each stack once ---- */

/**
 * struct head - heading of a task
 * @next: of the next task with the same stack
 * @text: a line
 */
struct head {
	struct head *next;
	char text[];
};

/**
 * struct group - tasks with the same stack
 * @frames: it
 * @nr: how many
 * @tasks: how many
 * @heads: their headings; @last: the last of them
 */
struct group {
	const struct gprof_frame *frames;
	size_t nr;
	int64_t tasks;
	struct head *heads;
	struct head *last;
};

/**
 * struct groups - stacks, each once
 * @p: profile
 * @with_heads: each task is told
 * @v: stacks
 * @table: by their addresses
 * @total: tasks
 */
struct groups {
	const struct gprof_profile *p;
	bool with_heads;
	struct group *v;
	size_t nr_v;
	size_t cap_v;
	struct gprof_table table;
	int64_t total;
};

static int64_t number(const struct gprof_profile *p, const char *key)
{
	int64_t n = 0;

	gprof_profile_label(p, key, &n);
	return n;
}

static void put_head(FILE *f, const struct gprof_profile *p, const struct group *g)
{
	const char *state = gprof_profile_label(p, "state", NULL);
	const char *comm = gprof_profile_label(p, "comm", NULL);
	const char *channel = wait_channel(g->frames, g->nr);
	int64_t since = 0;

	fprintf(f, "task %" PRId64 " [%s", number(p, "tid"), state ? state : "?");
	if (gprof_profile_label(p, "since", &since)) {
		fputs(", ", f);
		put_duration(f, since);
	}
	fprintf(f, ", CPU %" PRId64, number(p, "cpu"));
	if (channel && state && strcmp(state, "running") && strcmp(state, "runnable")) {
		fputs(", ", f);
		put(f, channel);
	}
	fputs("]: ", f);
	put(f, comm ? comm : "?");
	fprintf(f, " (process %" PRId64 ")\n", number(p, "pid"));
}

/* Of the task that is being told. */
static int add_head(const struct groups *all, struct group *g)
{
	char *text = NULL;
	size_t len = 0;
	FILE *f = open_memstream(&text, &len);
	struct head *h = NULL;

	if (!f)
		return -ENOMEM;
	put_head(f, all->p, g);
	if (!fclose(f))
		h = calloc(1, sizeof(*h) + len + 1);
	if (h)
		memcpy(h->text, text, len);
	free(text);
	if (!h)
		return -ENOMEM;
	*(g->last ? &g->last->next : &g->heads) = h;
	g->last = h;
	return 0;
}

static bool same_stack(const void *ctx, uint32_t index, const void *key)
{
	const struct group *a = &((const struct groups *)ctx)->v[index], *b = key;
	size_t i;

	if (a->nr != b->nr)
		return false;
	for (i = 0; i < a->nr; i++)
		if (a->frames[i].address != b->frames[i].address ||
		    strcmp(a->frames[i].function, b->frames[i].function) ||
		    strcmp(a->frames[i].mapping, b->frames[i].mapping))
			return false;
	return true;
}

static int add_task(void *ctx, const struct gprof_frame *frames, size_t nr, const int64_t *values)
{
	struct groups *g = ctx;
	struct group one = { .frames = frames, .nr = nr, .tasks = values[0] };
	uint64_t hash = g->table.seed;
	struct gprof_frame *copy;
	uint32_t at;
	size_t i;

	for (i = 0; i < nr; i++)
		hash = gprof_hash_u64(hash, frames[i].address);
	g->total = gprof_sum(g->total, values[0]);
	at = gprof_table_find(&g->table, hash, same_stack, g, &one);
	if (at != GPROF_NONE) {
		g->v[at].tasks = gprof_sum(g->v[at].tasks, values[0]);
		return g->with_heads ? add_head(g, &g->v[at]) : 0;
	}
	copy = calloc(nr + 1, sizeof(*copy));
	if (!copy)
		return -ENOMEM;
	if (nr)
		memcpy(copy, frames, nr * sizeof(*copy));
	one.frames = copy;
	if (g->nr_v >= GPROF_NONE - 1 ||
	    gprof_grow(&g->v, &g->cap_v, g->nr_v + 1, sizeof(*g->v)) ||
	    gprof_table_insert(&g->table, hash, (uint32_t)g->nr_v)) {
		free(copy);
		return -ENOMEM;
	}
	g->v[g->nr_v++] = one;
	return g->with_heads ? add_head(g, &g->v[g->nr_v - 1]) : 0;
}

static int most_first(const void *pa, const void *pb)
{
	const struct group *a = pa, *b = pb;

	if (a->tasks != b->tasks)
		return a->tasks > b->tasks ? -1 : 1;
	return a->nr < b->nr ? 1 : a->nr > b->nr ? -1 : 0;
}

static void put_group(FILE *f, const struct group *g)
{
	size_t i;

	fprintf(f, "\n%" PRId64 " @", g->tasks);
	for (i = 0; i < g->nr; i++)
		if (!g->frames[i].inlined)
			fprintf(f, " %#" PRIx64, g->frames[i].address);
	fputc('\n', f);
	for (i = 0; i < g->nr; i++) {
		fprintf(f, "#\t%#" PRIx64 "\t", g->frames[i].address);
		put(f, g->frames[i].function);
		fputc('\t', f);
		put_place(f, &g->frames[i]);
		fputc('\n', f);
	}
}

static void put_traceback(FILE *f, const struct group *g)
{
	const struct head *h;
	size_t i;

	for (h = g->heads; h; h = h->next)
		fputs(h->text, f);
	for (i = 0; i < g->nr; i++) {
		fputs("    ", f);
		put(f, g->frames[i].function);
		fputs(g->frames[i].inlined ? " (inline)  " : "  ", f);
		put_place(f, &g->frames[i]);
		fprintf(f, "  %#" PRIx64 "\n", g->frames[i].address);
	}
	fputc('\n', f);
}

static void free_group(struct group *g)
{
	struct head *h;

	while ((h = g->heads)) {
		g->heads = h->next;
		free(h);
	}
	free((void *)g->frames);
}

/* Without a title it is a traceback. */
static int write_groups(const struct gprof_profile *p, FILE *f, const char *title)
{
	struct groups g = { .p = p, .with_heads = !title };
	size_t i;
	int err;

	gprof_table_init(&g.table);
	err = gprof_profile_each(p, add_task, &g);
	if (!err && title) {
		fprintf(f, "%s: total %" PRId64 "\n", title, g.total);
		if (g.nr_v)
			qsort(g.v, g.nr_v, sizeof(*g.v), most_first);
	}
	for (i = 0; i < g.nr_v; i++) {
		if (!err && title)
			put_group(f, &g.v[i]);
		else if (!err)
			put_traceback(f, &g.v[i]);
		free_group(&g.v[i]);
	}
	free(g.v);
	gprof_table_free(&g.table);
	return err;
}

/* Losses, above all; pprof and people take such lines for comments. */
static void put_comments(const struct gprof_profile *p, FILE *f)
{
	const char *text;
	size_t i;

	for (i = 0; (text = gprof_profile_comment(p, i)); i++) {
		fputs("# ", f);
		put(f, text);
		fputc('\n', f);
	}
	if (i)
		fputc('\n', f);
}

/* The same failure as of gprof_profile_write(): close() reports late errors. */
static int write_text(const struct gprof_profile *p, int fd, const char *title)
{
	int copy = fcntl(fd, F_DUPFD_CLOEXEC, 0), err;
	FILE *f = copy < 0 ? NULL : fdopen(copy, "w");

	if (!f) {
		err = -errno;
		if (copy >= 0)
			close(copy);
		return err;
	}
	put_comments(p, f);
	err = write_groups(p, f, title);
	if (ferror(f) && !err)
		err = -EIO;
	if (fclose(f) && (!err || err == -EIO))
		err = -errno;
	return err;
}

int gprof_stacks_write(const struct gprof_profile *p, int fd, const char *title)
{
	const struct gprof_value_type *types;
	int err;

	if (!gprof_profile_types(p, &types))
		return gprof_error_set(NULL, EINVAL, "the profile has no values");
	err = write_text(p, fd, title);
	if (err)
		gprof_error_set(NULL, -err, "the profile cannot be written as text (%s)",
				gprof_strerror(-err));
	return err;
}

int gprof_task_write(const struct gprof_profile *p, int fd, enum gprof_task_format format)
{
	const struct gprof_value_type *types;
	int err;

	if (!gprof_profile_types(p, &types))
		return gprof_error_set(NULL, EINVAL, "the profile has no values");
	switch (format) {
	case GPROF_TASK_FORMAT_PPROF:
		err = gprof_profile_write(p, fd);
		break;
	case GPROF_TASK_FORMAT_TEXT:
	case GPROF_TASK_FORMAT_TRACEBACK:
		err = write_text(p, fd, format == GPROF_TASK_FORMAT_TEXT ? "task profile" : NULL);
		break;
	default:
		return gprof_error_set(NULL, EINVAL, "%d is no format of stacks of tasks",
				       (int)format);
	}
	if (err)
		gprof_error_set(NULL, -err, "the stacks of tasks cannot be written (%s)",
				gprof_strerror(-err));
	return err;
}
