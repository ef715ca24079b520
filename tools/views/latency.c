// SPDX-License-Identifier: GPL-2.0-only
/*
 * How long threads wait for a CPU: the tables of perf sched.
 *
 * A delay is from a waking, a creation or a preemption to running; in the lines of each
 * switch, as in perf sched timehist, it is that of wakings and creations alone.
 */
#include "latency.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../cmd.h"
#include "../say.h"
#include "../text.h"
#include "lives.h"

#define NS_US	1000
#define NS_S	1000000000
/* Widths in the lines of each switch. */
#define TASK_COLUMNS	30
#define MS_COLUMNS	9
#define TIME_COLUMNS	14
/* A longer one is written by itself. */
#define TASK_MAX	128
/* Of millions of lines. */
#define OUT_BYTES	(256U << 10)

/**
 * struct waiting - what a thread waited for CPUs
 * @ran: ns on them
 * @times: it came to one from waiting
 * @delay: ns of that
 * @max: the longest
 * @max_end: when that ended
 * @ready: since when it is runnable, in the stretch before running; 0: it is not
 * @ready_end: when that ended
 * @woken: it was woken or created before that
 * @out: when it left a CPU last; 0: not yet
 * @members: threads added up
 * @life: the first of them
 * @short_name: in the map, or 0
 * @task: as lines have it, where there were any
 * @task_len: bytes of it
 * @task_name: number of the name in it
 */
struct waiting {
	int64_t ran;
	int64_t times;
	int64_t delay;
	int64_t max;
	int64_t max_end;
	int64_t ready;
	int64_t ready_end;
	bool woken;
	int64_t out;
	uint32_t members;
	uint32_t life;
	uint32_t short_name;
	uint32_t task_name;
	size_t task_len;
	char *task;
};

/* What a CPU does, for the lines of each switch. */
struct on_cpu {
	uint32_t life;
	bool known;
	bool idle;
	int64_t since;		/* it idles */
	int64_t idled;		/* until when, before that */
};

struct latency {
	struct lives lives;
	enum latency_table table;
	struct waiting *all;
	size_t nr;
	size_t room;
	struct on_cpu *cpus;
	size_t nr_cpus;
	uint32_t short_names;
};

static struct waiting *of(struct latency *t, uint32_t life)
{
	while (t->nr <= life) {
		t->all = xgrow(t->all, t->nr, &t->room, sizeof(*t->all));
		t->all[t->nr] = (struct waiting){ .members = 1, .life = (uint32_t)t->nr };
		t->nr++;
	}
	return &t->all[life];
}

/* As "%*.*f" does, which most of the time would be spent in; returns what is behind it. */
static inline char *put_scaled(char *to, int64_t value, size_t decimals, size_t columns)
{
	uint64_t left = value > 0 ? (uint64_t)value : 0, scale = 1, whole, part;
	size_t digits = 1;

	for (size_t i = 0; i < decimals; i++)
		scale *= 10;
	whole = left / scale;
	part = left % scale;
	for (uint64_t n = whole; n >= 10; n /= 10)
		digits++;
	for (; columns > digits + 1 + decimals; columns--)
		*to++ = ' ';
	for (size_t i = digits; i-- > 0; whole /= 10)
		to[i] = (char)('0' + whole % 10);
	to += digits;
	*to++ = '.';
	for (size_t i = decimals; i-- > 0; part /= 10)
		to[i] = (char)('0' + part % 10);
	return to + decimals;
}

static void print_time(int64_t ns)
{
	char text[32];

	fwrite_unlocked(text, 1, (size_t)(put_scaled(text, ns / NS_US, 6, TIME_COLUMNS) - text),
			stdout);
}

static char *put_ms(char *to, int64_t ns)
{
	*to++ = ' ';
	*to++ = ' ';
	return put_scaled(to, (ns + NS_US / 2) / NS_US, 3, MS_COLUMNS);
}

static void print_line(int64_t time, int64_t cpu, const char *task, size_t len, int64_t off,
		       int64_t delay, int64_t ran)
{
	/* No number has more than 20 digits; names are those of tasks, mostly. */
	char text[512], *p = text;

	*p++ = ' ';
	p = put_scaled(p, time / NS_US, 6, TIME_COLUMNS);
	*p++ = ' ';
	*p++ = '[';
	if (cpu < 10) {
		memcpy(p, "000", 3);
		p[3] = (char)('0' + cpu);
		p += 4;
	} else {
		p += snprintf(p, 24, "%04" PRId64, cpu);
	}
	memcpy(p, "]  ", 3);
	p += 3;
	if (len <= TASK_MAX) {
		memcpy(p, task, len);
		p += len;
	} else {
		fwrite_unlocked(text, 1, (size_t)(p - text), stdout);
		fwrite_unlocked(task, 1, len, stdout);
		p = text;
	}
	p = put_ms(p, off);
	p = put_ms(p, delay);
	p = put_ms(p, ran);
	*p++ = '\n';
	fwrite_unlocked(text, 1, (size_t)(p - text), stdout);
}

/* "NAME[TID]" and blanks up to the next column, made once for each name that it has. */
static const char *task_of(const struct lives *v, struct waiting *w)
{
	const struct life *l = &v->all[w->life];
	char *plain, *safe;
	size_t len;

	if (w->task && w->task_name == l->name)
		return w->task;
	free(w->task);
	plain = xprintf("%s[%" PRId64 "]", lives_name(v, w->life), LIVES_TID(l->id));
	safe = text_safe(plain);
	len = text_columns(safe);
	w->task = xprintf("%s%*s", safe, len < TASK_COLUMNS ? (int)(TASK_COLUMNS - len) : 0, "");
	w->task_len = strlen(w->task);
	w->task_name = l->name;
	free(plain);
	free(safe);
	return w->task;
}

static void print_left(const struct lives *v, const struct stretch *s, struct waiting *w)
{
	bool ready = w->ready && w->ready_end == s->begin && w->woken;
	const char *task = task_of(v, w);

	print_line(s->end, v->all[s->life].cpu, task, w->task_len, w->out ? s->begin - w->out : 0,
		   ready ? s->begin - w->ready : 0, s->end - s->begin);
}

static void take_stretch(void *ctx, struct lives *v, const struct stretch *s)
{
	struct latency *t = ctx;
	struct waiting *w = of(t, s->life);

	if (s->part == PART_RUNNABLE || s->part == PART_THROTTLED) {
		if (s->cut)
			return;
		if (!w->ready || w->ready_end != s->begin) {
			w->ready = s->begin;
			w->woken = s->woken || !w->out;
		}
		w->ready_end = s->end;
		return;
	}
	/* From when on it was off, or ready, is not known behind that. */
	if (s->part == PART_LOST)
		w->out = w->ready = 0;
	if (s->part != PART_CPU)
		return;
	/* Who runs to the end of the trace has not left. */
	if (t->table == LATENCY_TIMEHIST && !v->over && !s->goes_on)
		print_left(v, s, w);
	w->ran += s->end - s->begin;
	w->out = s->end;
	if (w->ready && w->ready_end == s->begin) {
		w->times++;
		w->delay += s->begin - w->ready;
		if (s->begin - w->ready >= w->max) {
			w->max = s->begin - w->ready;
			w->max_end = s->begin;
		}
	}
	w->ready = 0;
}

static struct on_cpu *cpu_of(struct latency *t, int64_t cpu)
{
	if (cpu < 0)
		return NULL;
	if ((size_t)cpu >= t->nr_cpus) {
		struct on_cpu *cpus = xalloc((size_t)cpu + 1, sizeof(*cpus));

		if (t->nr_cpus)
			memcpy(cpus, t->cpus, t->nr_cpus * sizeof(*cpus));
		free(t->cpus);
		t->cpus = cpus;
		t->nr_cpus = (size_t)cpu + 1;
	}
	return &t->cpus[cpu];
}

/* A0 to Z9, and from the start again. */
static void print_short(uint32_t number)
{
	number = (number - 1) % 260;
	printf("%c%c", 'A' + number % 26, '0' + number / 26);
}

static void print_map(struct latency *t, const struct lives *v, int64_t cpu, uint32_t life,
		      int64_t time)
{
	bool fresh = life != LIVES_NONE && !of(t, life)->short_name;

	if (fresh)
		of(t, life)->short_name = ++t->short_names;
	fputs("  ", stdout);
	for (size_t i = 0; i < t->nr_cpus; i++) {
		const struct on_cpu *c = &t->cpus[i];

		putchar(i == (size_t)cpu ? '*' : ' ');
		if (!c->known)
			fputs("  ", stdout);
		else if (c->idle)
			fputs(". ", stdout);
		else
			print_short(of(t, c->life)->short_name);
		putchar(' ');
	}
	print_time(time);
	fputs(" secs ", stdout);
	if (fresh) {
		print_short(of(t, life)->short_name);
		fputs(" => ", stdout);
		text_plain(stdout, lives_name(v, life));
		printf(":%" PRId64, LIVES_TID(v->all[life].id));
	}
	putchar('\n');
}

static void take_comes(void *ctx, struct lives *v, int64_t cpu, uint32_t life, int64_t time)
{
	static const char idle[TASK_COLUMNS + 1] = "<idle>                        ";
	struct latency *t = ctx;
	struct on_cpu *c = cpu_of(t, cpu);

	if (!c)
		return;
	if (c->idle && t->table == LATENCY_TIMEHIST && life != LIVES_NONE)
		print_line(time, cpu, idle, TASK_COLUMNS, c->idled ? c->since - c->idled : 0, 0,
			   time - c->since);
	if (c->idle)
		c->idled = time;
	c->known = true;
	c->idle = life == LIVES_NONE;
	c->life = life;
	c->since = time;
	if (t->table == LATENCY_MAP)
		print_map(t, v, cpu, life, time);
}

/* Of all threads of a name the first stands for them. */
static void add_up(struct latency *t)
{
	struct intern names = { 0 };
	size_t nr = 0;

	for (size_t i = 0; i < t->nr; i++) {
		const struct waiting *w = &t->all[i];
		const char *name = lives_name(&t->lives, w->life);
		size_t at = intern_add(&names, name, strlen(name));
		struct waiting *sum = &t->all[at];

		if (at == nr) {
			t->all[nr++] = *w;
			continue;
		}
		sum->ran += w->ran;
		sum->times += w->times;
		sum->delay += w->delay;
		sum->members++;
		if (w->max > sum->max) {
			sum->max = w->max;
			sum->max_end = w->max_end;
		}
	}
	t->nr = nr;
	intern_free(&names);
}

static double average(const struct waiting *w)
{
	return w->times ? (double)w->delay / (double)w->times : 0;
}

static int longest_first(const void *pa, const void *pb)
{
	const struct waiting *a = pa, *b = pb;
	double one = average(a), other = average(b);

	if (one != other)
		return one < other ? 1 : -1;
	if (a->max != b->max)
		return a->max < b->max ? 1 : -1;
	return a->life < b->life ? -1 : a->life > b->life;
}

static void print_row(const struct latency *t, const struct waiting *w)
{
	const char *name = lives_name(&t->lives, w->life);
	int64_t number = w->members > 1 ? w->members : LIVES_TID(t->lives.all[w->life].id);
	char *task = xprintf(w->members > 1 ? "%s:(%" PRId64 ")" : "%s:%" PRId64, name, number);
	size_t len = strlen(task);

	fputs("  ", stdout);
	text_plain(stdout, task);
	printf("%*s", (int)(len < 23 ? 23 - len : 0), "");
	free(task);
	printf(" | %10.3f ms | %8" PRId64 " | avg:%9.3f ms | max:%9.3f ms | max start: ",
	       (double)w->ran / 1e6, w->times, average(w) / 1e6, (double)w->max / 1e6);
	print_time(w->max_end - w->max);
	fputs(" s | max end: ", stdout);
	print_time(w->max_end);
	puts(" s");
}

static void print_rows(const struct latency *t)
{
	int64_t ran = 0, times = 0;

	printf("  %-23s | %-13s | %-8s | %-16s | %-16s | %-27s | %s\n", "Task", "Runtime ms",
	       "Switches", "Avg delay ms", "Max delay ms", "Max delay start", "Max delay end");
	for (size_t i = 0; i < t->nr; i++) {
		if (!t->all[i].ran && !t->all[i].times)
			continue;
		print_row(t, &t->all[i]);
		ran += t->all[i].ran;
		times += t->all[i].times;
	}
	printf("  %-23s | %10.3f ms | %8" PRId64 " |\n", "TOTAL:", (double)ran / 1e6, times);
}

static void print_json(const struct latency *t)
{
	const char *comma = "";

	fputs("{\"threads\": [", stdout);
	for (size_t i = 0; i < t->nr; i++) {
		const struct waiting *w = &t->all[i];

		if (!w->ran && !w->times)
			continue;
		printf("%s\n {\"tid\": %" PRId64 ", \"comm\": ", comma,
		       LIVES_TID(t->lives.all[w->life].id));
		text_json(stdout, lives_name(&t->lives, w->life));
		printf(", \"runtime_ns\": %" PRId64 ", \"switches\": %" PRId64 ", \"delay_ns\": %"
		       PRId64 ", \"max_delay_ns\": %" PRId64 ", \"max_delay_end_ns\": %" PRId64 "}",
		       w->ran, w->times, w->delay, w->max, w->max_end);
		comma = ",";
	}
	puts("\n]}");
}

int latency_print(const char *file, enum latency_table table, bool threads, bool json)
{
	struct latency t = {
		.lives.use = { .ctx = &t, .stretch = take_stretch },
		.table = table,
	};
	int status;

	if (table != LATENCY_SUMMARY)
		t.lives.use.comes = take_comes;
	if (table != LATENCY_SUMMARY)
		setvbuf(stdout, NULL, _IOFBF, OUT_BYTES);
	if (table == LATENCY_TIMEHIST)
		printf("%15s %6s  %-30s  %9s  %9s  %9s\n%15s %6s  %-30s  %9s  %9s  %9s\n", "time",
		       "cpu", "task name[tid]", "wait time", "sch delay", "run time", "", "", "",
		       "(msec)", "(msec)", "(msec)");
	status = lives_read(&t.lives, file);
	if (status == STATUS_OK && table == LATENCY_SUMMARY) {
		if (!threads && !json)
			add_up(&t);
		if (t.nr)
			qsort(t.all, t.nr, sizeof(*t.all), longest_first);
		if (json)
			print_json(&t);
		else
			print_rows(&t);
	}
	if (status == STATUS_OK)
		status = finish_stdout();
	lives_free(&t.lives);
	for (size_t i = 0; i < t.nr; i++)
		free(t.all[i].task);
	free(t.all);
	free(t.cpus);
	return status;
}
