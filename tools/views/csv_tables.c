// SPDX-License-Identifier: GPL-2.0-only
/*
 * A trace of the host as tables, for databases: comma-separated values as RFC 4180 has them, in
 * UTF-8, with names of columns in the first line. Times are ns of CLOCK_MONOTONIC; an unknown
 * value is empty.
 */
#include "csv_tables.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/cmd.h"
#include "cli/digits.h"
#include "cli/output.h"
#include "cli/diag.h"
#include "cli/text.h"
#include "thread_spans.h"

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
 * @thread_spans: of the threads
 * @output: of each
 * @file: likewise
 * @path: likewise
 */
struct writing {
	struct thread_spans thread_spans;
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
	char digits[DIGITS_MAX], *end = digits + sizeof(digits),
				 *begin = digits_signed(end, number);

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

/* The quote before it; no spreadsheet takes the contents for a formula. */
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

/* Its tid and name, in two columns, both empty for no thread. */
static void put_thread(FILE *f, const struct thread_spans *v, uint32_t thread)
{
	if (thread == THREAD_NONE || thread == THREAD_UNKNOWN) {
		put(f, ",,", 2);
		return;
	}
	put_number(f, THREAD_TID(v->all[thread].id));
	put_text(f, thread_spans_name(v, thread));
}

static void put_stack(FILE *f, const struct thread_spans *v, uint32_t stack)
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

static void on_span(void *ctx, struct thread_spans *v, const struct span *s)
{
	struct writing *w = ctx;
	FILE *f = w->file[WAITS];

	if (s->state == THREAD_CPU)
		return;
	/* Of one that is told of as it gets a CPU it is only said that it was ready. */
	if (s->cut && s->state == THREAD_RUNNABLE && s->begin == v->all[s->thread].first)
		return;
	put_first(f, s->begin);
	put_number(f, s->end);
	put_thread(f, v, s->thread);
	put_word(f, thread_state_name(s->state));
	put_thread(f, v, s->state == THREAD_RUNNABLE || s->state == THREAD_THROTTLED ? THREAD_NONE :
		   s->waker);
	put_stack(f, v, s->stack);
	putc_unlocked('\n', f);
}

static void on_call(void *ctx, struct thread_spans *v, uint32_t thread, int64_t begin, int64_t end,
		    bool cut)
{
	struct writing *w = ctx;
	FILE *f = w->file[SYSCALLS];

	put_first(f, begin);
	if (cut)
		putc_unlocked(',', f);
	else
		put_number(f, end);
	put_thread(f, v, thread);
	put_text(f, thread_spans_text(v, v->all[thread].call - 1));
	putc_unlocked('\n', f);
}

static void on_waking(void *ctx, struct thread_spans *v, uint32_t thread, uint32_t by, int64_t time,
		      uint32_t stack, int64_t cpu)
{
	struct writing *w = ctx;
	FILE *f = w->file[WAKINGS];

	(void)stack;
	put_first(f, time);
	put_number(f, cpu);
	put_thread(f, v, thread);
	put_thread(f, v, by);
	putc_unlocked('\n', f);
}

static const char *why_left(struct thread_spans *v, uint32_t thread)
{
	if (thread == THREAD_NONE)
		return "";
	if (thread == THREAD_UNKNOWN)
		return thread_state_name(THREAD_NOT_RECORDED);
	return v->all[thread].state == GPROF_TRACE_GO_NOT_EXIST ?
		       "dead" :
		       thread_state_name(thread_spans_state(v, &v->all[thread]));
}

static void on_switch(void *ctx, struct thread_spans *v, int64_t cpu, uint32_t left,
		      uint32_t thread, int64_t time)
{
	struct writing *w = ctx;
	FILE *f = w->file[SWITCHES];

	if (cpu < 0)
		return;
	put_first(f, time);
	put_number(f, cpu);
	put_thread(f, v, left);
	put_word(f, why_left(v, left));
	put_thread(f, v, thread);
	putc_unlocked('\n', f);
}

/* With the last name that each had. */
static void write_threads(struct writing *w)
{
	const struct thread_spans *v = &w->thread_spans;
	FILE *f = w->file[THREADS];

	for (uint32_t i = 0; i < thread_spans_nr(v); i++) {
		const struct thread *l = &v->all[i];

		if (!l->first)
			continue;
		put_first(f, THREAD_TID(l->id));
		put_text(f, thread_spans_name(v, i));
		put_number(f, thread_spans_pid(v, i));
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

int csv_tables_write(const char *file, const char *dir)
{
	struct writing w = {
		.thread_spans.use = {
			.ctx = &w, .span = on_span, .call = on_call,
			.waking = on_waking, .cpu_switch = on_switch,
		},
	};
	int status = open_tables(&w, dir);

	if (status == STATUS_OK)
		status = thread_spans_read(&w.thread_spans, file);
	if (status == STATUS_OK) {
		write_threads(&w);
		thread_spans_report(&w.thread_spans, file);
		thread_spans_report_calls(&w.thread_spans, file, "lines in syscalls.csv");
	}
	status = close_tables(&w, status);
	thread_spans_free(&w.thread_spans);
	return status;
}
