// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * task_text.c: what tasks do, as text: each stack once, or each task with its stack.
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

/* Where everybody waits is not said of anybody: as get_wchan() of the kernel. */
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

static void put_frame(FILE *f, const struct gprof_frame *frame)
{
	put(f, frame->function);
	if (frame->inlined)
		fputs(" (inline)", f);
	fputs("\n\t", f);
	if (frame->file[0]) {
		put(f, frame->file);
		fprintf(f, ":%" PRId64, frame->line);
	} else {
		put(f, frame->mapping[0] ? frame->mapping : "?");
	}
	fprintf(f, " %#" PRIx64 "\n", frame->address);
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

/* ---- traceback ---- */

struct traceback {
	const struct gprof_profile *p;
	FILE *f;
};

static int64_t number(const struct gprof_profile *p, const char *key)
{
	int64_t n = 0;

	gprof_profile_label(p, key, &n);
	return n;
}

static int put_task(void *ctx, const struct gprof_frame *frames, size_t nr, const int64_t *values)
{
	const struct traceback *t = ctx;
	const char *state = gprof_profile_label(t->p, "state", NULL);
	const char *comm = gprof_profile_label(t->p, "comm", NULL);
	const char *channel = wait_channel(frames, nr);
	int64_t since = 0;
	size_t i;

	(void)values;
	fprintf(t->f, "task %" PRId64 " [%s", number(t->p, "tid"), state ? state : "?");
	if (gprof_profile_label(t->p, "since", &since)) {
		fputs(", ", t->f);
		put_duration(t->f, since);
	}
	fprintf(t->f, ", CPU %" PRId64, number(t->p, "cpu"));
	if (channel && state && strcmp(state, "running") && strcmp(state, "runnable")) {
		fputs(", ", t->f);
		put(t->f, channel);
	}
	fputs("]: ", t->f);
	put(t->f, comm ? comm : "?");
	fprintf(t->f, " (process %" PRId64 ")\n", number(t->p, "pid"));
	for (i = 0; i < nr; i++)
		put_frame(t->f, &frames[i]);
	fputc('\n', t->f);
	return 0;
}

/* ---- each stack once ---- */

struct group {
	const struct gprof_frame *frames;
	size_t nr;
	int64_t tasks;
};

/**
 * struct groups - stacks, each once
 * @v: stacks
 * @table: by their addresses
 * @total: tasks
 */
struct groups {
	struct group *v;
	size_t nr_v;
	size_t cap_v;
	struct gprof_table table;
	int64_t total;
};

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
	struct group one = { frames, nr, values[0] };
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
		return 0;
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
	return 0;
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
		if (g->frames[i].file[0]) {
			put(f, g->frames[i].file);
			fprintf(f, ":%" PRId64, g->frames[i].line);
		} else {
			put(f, g->frames[i].mapping);
		}
		fputc('\n', f);
	}
}

static int write_groups(const struct gprof_profile *p, FILE *f, const char *title)
{
	struct groups g = { 0 };
	size_t i;
	int err;

	gprof_table_init(&g.table);
	err = gprof_profile_each(p, add_task, &g);
	if (!err) {
		fprintf(f, "%s: total %" PRId64 "\n", title, g.total);
		if (g.nr_v)
			qsort(g.v, g.nr_v, sizeof(*g.v), most_first);
		for (i = 0; i < g.nr_v; i++)
			put_group(f, &g.v[i]);
	}
	for (i = 0; i < g.nr_v; i++)
		free((void *)g.v[i].frames);
	free(g.v);
	gprof_table_free(&g.table);
	return err;
}

static int write_traceback(const struct gprof_profile *p, FILE *f)
{
	struct traceback t = { p, f };

	return gprof_profile_each(p, put_task, &t);
}

/* What was lost, above all; pprof and people take such lines for what they are. */
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

/*
 * The same failure as of gprof_profile_write(): what fails late is told by the close.
 * Without a title it is a traceback.
 */
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
	err = title ? write_groups(p, f, title) : write_traceback(p, f);
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
