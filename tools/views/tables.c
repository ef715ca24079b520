// SPDX-License-Identifier: GPL-2.0-only
/*
 * A trace of the host as tables, for databases: comma-separated values as RFC 4180 has
 * them, in UTF-8, with names of columns in the first line. Times are ns of CLOCK_MONOTONIC; what is
 * not known is empty.
 */
#include "tables.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/cmd.h"
#include "cli/digits.h"
#include "cli/output.h"
#include "cli/say.h"
#include "cli/text.h"
#include "lives.h"

enum { SWITCHES, WAKINGS, SYSCALLS, WAITS, THREADS, NR_TABLES };

static const struct {
	const char *name;
	const char *columns;
} tables[NR_TABLES] = {
	[SWITCHES] = { "switches.csv",
		       "time_ns,cpu,prev_tid,prev_comm,prev_state,next_tid,next_comm" },
	[WAKINGS] = { "wakings.csv", "time_ns,cpu,tid,comm,waker_tid,waker_comm" },
	[SYSCALLS] = { "syscalls.csv", "begin_ns,end_ns,tid,comm,name" },
	[WAITS] = { "waits.csv", "begin_ns,end_ns,tid,comm,reason,waker_tid,waker_comm,stack" },
	[THREADS] = { "threads.csv", "tid,comm,pid,first_ns,last_ns" },
};

/**
 * struct writing - the tables in the making
 * @lives: of the threads
 * @output: of each
 * @file: likewise
 * @path: likewise
 */
struct writing {
	struct lives lives;
	struct output output[NR_TABLES];
	FILE *file[NR_TABLES];
	char *path[NR_TABLES];
};

static void put(FILE *f, const char *s, size_t len)
{
	fwrite_unlocked(s, 1, len, f);
}

/* Behind a comma, but for the first of a line. */
static void put_first(FILE *f, int64_t number)
{
	char digits[DIGITS_MAX], *end = digits + sizeof(digits), *begin = digits_signed(end, number);

	put(f, begin, (size_t)(end - begin));
}

static void put_number(FILE *f, int64_t number)
{
	putc_unlocked(',', f);
	put_first(f, number);
}

/* Without its quotes. Names are any bytes, and databases take no text that is not UTF-8. */
static void put_quoted(FILE *f, const char *s)
{
	while (*s) {
		size_t plain = 0;

		while (s[plain] >= ' ' && s[plain] <= '~' && s[plain] != '"')
			plain++;
		put(f, s, plain);
		s += plain;
		if (*s == '"') {
			put(f, "\"\"", 2);
			s++;
		} else if (*s) {
			text_put(f, text_next(&s));
		}
	}
}

/* The quote before it; no spreadsheet takes what is in it for a formula. */
static void begin_quoted(FILE *f, const char *s)
{
	putc_unlocked('"', f);
	if (text_is_formula(s))
		putc_unlocked('\'', f);
}

static void put_text(FILE *f, const char *s)
{
	putc_unlocked(',', f);
	begin_quoted(f, s);
	put_quoted(f, s);
	putc_unlocked('"', f);
}

/* Of ours, that has nothing to be quoted. */
static void put_word(FILE *f, const char *s)
{
	putc_unlocked(',', f);
	put(f, s, strlen(s));
}

/* Its tid and name, in two columns, both empty for nobody. */
static void put_thread(FILE *f, const struct lives *v, uint32_t life)
{
	if (life == LIVES_NONE || life == LIVES_UNKNOWN) {
		put(f, ",,", 2);
		return;
	}
	put_number(f, LIVES_TID(v->all[life].id));
	put_text(f, lives_name(v, life));
}

static void put_stack(FILE *f, const struct lives *v, uint32_t stack)
{
	struct gprof_frame frames[GPROF_TRACE_FRAMES_MAX];
	size_t nr = trace_stacks_frames(&v->stacks, stack, frames);

	putc_unlocked(',', f);
	if (!nr)
		return;
	begin_quoted(f, frames[nr - 1].function);
	for (size_t i = nr; i-- > 0;) {
		put_quoted(f, frames[i].function);
		if (i)
			putc_unlocked(';', f);
	}
	putc_unlocked('"', f);
}

static void take_stretch(void *ctx, struct lives *v, const struct stretch *s)
{
	struct writing *w = ctx;
	FILE *f = w->file[WAITS];

	if (s->part == PART_CPU)
		return;
	/* Of one that is told of as it gets a CPU it is only said that it was ready. */
	if (s->cut && s->part == PART_RUNNABLE && s->begin == v->all[s->life].first)
		return;
	put_first(f, s->begin);
	put_number(f, s->end);
	put_thread(f, v, s->life);
	put_word(f, part_name(s->part));
	put_thread(f, v, s->part == PART_RUNNABLE || s->part == PART_THROTTLED ? LIVES_NONE :
		   s->waker);
	put_stack(f, v, s->stack);
	putc_unlocked('\n', f);
}

static void take_call(void *ctx, struct lives *v, uint32_t life, int64_t begin, int64_t end,
		      bool cut)
{
	struct writing *w = ctx;
	FILE *f = w->file[SYSCALLS];

	put_first(f, begin);
	if (cut)
		putc_unlocked(',', f);
	else
		put_number(f, end);
	put_thread(f, v, life);
	put_text(f, lives_text(v, v->all[life].call - 1));
	putc_unlocked('\n', f);
}

static void take_waking(void *ctx, struct lives *v, uint32_t life, uint32_t by, int64_t time,
			uint32_t stack, int64_t cpu)
{
	struct writing *w = ctx;
	FILE *f = w->file[WAKINGS];

	(void)stack;
	put_first(f, time);
	put_number(f, cpu);
	put_thread(f, v, life);
	put_thread(f, v, by);
	putc_unlocked('\n', f);
}

static const char *why_left(struct lives *v, uint32_t life)
{
	if (life == LIVES_NONE)
		return "";
	if (life == LIVES_UNKNOWN)
		return part_name(PART_UNTOLD);
	return v->all[life].state == GPROF_TRACE_GO_NOT_EXIST ? "dead" :
	       part_name(lives_part(v, &v->all[life]));
}

static void take_comes(void *ctx, struct lives *v, int64_t cpu, uint32_t left, uint32_t life,
		       int64_t time)
{
	struct writing *w = ctx;
	FILE *f = w->file[SWITCHES];

	if (cpu < 0)
		return;
	put_first(f, time);
	put_number(f, cpu);
	put_thread(f, v, left);
	put_word(f, why_left(v, left));
	put_thread(f, v, life);
	putc_unlocked('\n', f);
}

/* With the last name that each had. */
static void write_threads(struct writing *w)
{
	const struct lives *v = &w->lives;
	FILE *f = w->file[THREADS];

	for (uint32_t i = 0; i < lives_nr(v); i++) {
		const struct life *l = &v->all[i];

		if (!l->first)
			continue;
		put_first(f, LIVES_TID(l->id));
		put_text(f, lives_name(v, i));
		put_number(f, lives_pid(v, i));
		put_number(f, l->first);
		put_number(f, l->last);
		putc_unlocked('\n', f);
	}
}

static int open_tables(struct writing *w, const char *dir)
{
	int status = STATUS_OK;

	for (size_t i = 0; i < NR_TABLES; i++)
		w->output[i].fd = -1;
	if (mkdir(dir, 0777) && errno != EEXIST)
		return fail("%s cannot be made (%s)", dir, strerror(errno));
	for (size_t i = 0; i < NR_TABLES && status == STATUS_OK; i++) {
		w->path[i] = xprintf("%s/%s", dir, tables[i].name);
		status = output_open(&w->output[i], w->path[i]);
		if (status == STATUS_OK) {
			w->file[i] = output_stream(&w->output[i]);
			if (!w->file[i])
				return fail("%s: %s", w->path[i], strerror(errno));
			fprintf(w->file[i], "%s\n", tables[i].columns);
		}
	}
	return status;
}

static int close_tables(struct writing *w, int status)
{
	for (size_t i = 0; i < NR_TABLES; i++) {
		bool failed = w->file[i] && ferror(w->file[i]);

		if (w->file[i] && fclose(w->file[i]))
			failed = true;
		if (status == STATUS_OK && failed)
			status = fail("%s cannot be written (%s)", w->path[i], strerror(errno));
	}
	for (size_t i = 0; i < NR_TABLES; i++) {
		if (status == STATUS_OK)
			status = output_commit(&w->output[i]);
		output_discard(&w->output[i]);
		free(w->path[i]);
	}
	return status;
}

int tables_write(const char *file, const char *dir)
{
	struct writing w = {
		.lives.use = {
			.ctx = &w, .stretch = take_stretch, .call = take_call,
			.waking = take_waking, .comes = take_comes,
		},
	};
	int status = open_tables(&w, dir);

	if (status == STATUS_OK)
		status = lives_read(&w.lives, file);
	if (status == STATUS_OK) {
		write_threads(&w);
		lives_tell(&w.lives, file);
		lives_tell_calls(&w.lives, file, "lines in syscalls.csv");
	}
	status = close_tables(&w, status);
	lives_free(&w.lives);
	return status;
}
