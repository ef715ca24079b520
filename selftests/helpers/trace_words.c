// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "trace_words.h"

#define TIDS	(1U << 22)

/* What is known of a CPU's ring where it is read. */
struct trace_words_cpu {
	uint8_t *named;
	uint32_t running;
	uint64_t time;
	uint64_t generations;
	uint64_t lost;
	size_t last;		/* word that may have a stack; SIZE_MAX: none */
	bool follows;
	bool wants_operand;
};

static void broken(struct trace_words *t, const char *what, const struct trace_word *w)
{
	if (!t->error[0])
		snprintf(t->error, sizeof(t->error),
			 "word %zu: %s (cpu %u, what %u, arg %u, tid %u, running %u)", t->nr, what,
			 w->cpu, w->what, w->arg, w->tid, w->running);
}

/* A generation, or losses, since the last word of this CPU? */
static void look_back(struct trace_words *t, struct trace_words_cpu *c)
{
	if (c->generations != t->reader.generations) {
		memset(c->named, 0, TIDS / 8);
		c->follows = false;
		c->last = TRACE_BEFORE;
	}
	if (c->lost != t->reader.lost_records)
		c->follows = false;
	c->generations = t->reader.generations;
	c->lost = t->reader.lost_records;
}

static void on_task(void *ctx, const struct gprof_task_rec *task)
{
	struct trace_words *t = ctx;
	struct trace_words_cpu *c = &t->cpus[t->cpu];

	look_back(t, c);
	c->named[task->tid / 8] |= 1 << task->tid % 8;
	t->names = realloc(t->names, (t->nr_names + 1) * sizeof(*t->names));
	t->names[t->nr_names++] = (struct trace_name){ *task, t->nr };
}

static bool is_named(const struct trace_words_cpu *c, uint32_t tid)
{
	return !tid || c->named[tid / 8] & 1 << tid % 8;
}

static bool names(const struct trace_word *w)
{
	return w->what == GPROF_TRACE_SWITCH || w->what == GPROF_TRACE_FORK ||
	       w->what == GPROF_TRACE_EXEC || w->what == GPROF_TRACE_RUNNING;
}

static bool has_operand(unsigned int what)
{
	return what == GPROF_TRACE_EXEC || what == GPROF_TRACE_MIGRATE ||
	       what == GPROF_TRACE_FAULT || what == GPROF_TRACE_FREQ;
}

static void check(struct trace_words *t, struct trace_words_cpu *c, const struct trace_word *w)
{
	if (c->wants_operand)
		broken(t, "an operand is missing", w);
	if (!c->follows && w->what != GPROF_TRACE_RUNNING)
		broken(t, "nobody has said who runs", w);
	if (names(w) && !is_named(c, w->tid))
		broken(t, "a task without a name", w);
	if (w->time < c->time)
		broken(t, "time goes back", w);
	if (w->what == GPROF_TRACE_SWITCH && w->arg & GPROF_TRACE_NOT_TARGET &&
	    (w->tid || c->running == TRACE_STRANGER))
		broken(t, "a stranger who should not be there", w);
	if (w->what == GPROF_TRACE_SWITCH && !(w->arg & GPROF_TRACE_NOT_TARGET) &&
	    w->tid == c->running)
		broken(t, "a switch to itself", w);
	if (w->what == GPROF_TRACE_SWITCH && (w->arg & 7) == GPROF_TRACE_PREV_IDLE && c->running)
		broken(t, "it was not the idle task", w);
	if (w->what == GPROF_TRACE_RUNNING && c->follows && !(w->arg & GPROF_TRACE_NOT_TARGET) &&
	    c->running < TRACE_STRANGER && w->tid != c->running)
		t->absences++;
	if (w->what == GPROF_TRACE_EXIT && w->tid != c->running)
		broken(t, "who does that does not run", w);
}

static void on_operand(struct trace_words *t, struct trace_words_cpu *c, uint64_t word)
{
	struct trace_word none = { .cpu = t->cpu };

	if (!c->wants_operand)
		broken(t, "an operand of nothing", &none);
	else
		t->words[t->nr - 1].operand = word >> GPROF_TRACE_OPERAND_SHIFT;
	c->wants_operand = false;
}

static void on_word(void *ctx, unsigned int cpu, uint64_t time, uint64_t word)
{
	struct trace_words *t = ctx;
	struct trace_words_cpu *c = &t->cpus[cpu];
	struct trace_word w = {
		.time = time, .cpu = cpu, .what = word >> GPROF_TRACE_ARG_BITS & 31,
		.arg = word & 15, .tid = word >> GPROF_TRACE_TID_SHIFT & (TIDS - 1),
		.running = c->running, .order = t->nr,
	};

	if (w.what >> 2 == GPROF_TRACE_WAIT >> 2) {
		w.reason = w.arg + 1;
		w.arg = (w.what & GPROF_TRACE_WAIT_BLOCKED ? GPROF_TRACE_PREV_BLOCKED :
							     GPROF_TRACE_PREV_SLEEPS) |
			(w.what & GPROF_TRACE_WAIT_NOT_TARGET ? GPROF_TRACE_NOT_TARGET : 0);
		w.what = GPROF_TRACE_SWITCH;
	}
	if (w.what == GPROF_TRACE_OPERAND) {
		on_operand(t, c, word);
		return;
	}
	look_back(t, c);
	check(t, c, &w);
	c->time = time;
	c->wants_operand = has_operand(w.what);
	if (w.what != GPROF_TRACE_RUNNING)
		c->last = t->nr;
	t->samples += w.what != GPROF_TRACE_RUNNING;
	if (w.what == GPROF_TRACE_SWITCH || w.what == GPROF_TRACE_RUNNING)
		c->running = w.arg & GPROF_TRACE_NOT_TARGET ? TRACE_STRANGER : w.tid;
	if (w.what == GPROF_TRACE_EXEC)
		c->running = w.tid;
	c->follows |= w.what == GPROF_TRACE_RUNNING;
	if (t->nr == t->room) {
		t->room = t->room ? 2 * t->room : 4096;
		t->words = realloc(t->words, t->room * sizeof(*t->words));
	}
	t->words[t->nr++] = w;
}

/* A stack belongs to the word before it, of the same task and the same instant. */
static void on_sample(void *ctx, const struct reader_sample *sample)
{
	struct trace_words *t = ctx;
	struct trace_words_cpu *c = &t->cpus[t->cpu];
	const struct trace_word none = { .cpu = t->cpu };
	const struct gprof_sample_rec *rec = sample->rec;
	struct trace_sample s = {
		.word = SIZE_MAX, .time = rec->time, .weight = sample->weight, .tid = rec->tid,
		.flags = rec->rec.flags,
	};

	look_back(t, c);
	if (c->wants_operand)
		broken(t, "a sample before an operand", &none);
	if (s.flags & GPROF_SAMPLE_REC_F_EVENT) {
		const struct trace_word *w = c->last < t->nr ? &t->words[c->last] : NULL;

		s.word = c->last;
		if (c->last == SIZE_MAX)
			broken(t, "a stack without a word", &none);
		if (w && (s.time < w->time || s.time - w->time >= GPROF_TRACE_TIME_UNIT))
			broken(t, "a stack of another instant", w);
		if (w && w->running < TRACE_STRANGER && w->running != s.tid &&
		    w->what != GPROF_TRACE_EXEC)
			broken(t, "a stack of another task", w);
		c->last = SIZE_MAX;
	}
	if (sample->stack) {
		s.stack = malloc(sample->stack->rec.size);
		memcpy(s.stack, sample->stack, sample->stack->rec.size);
	}
	t->samples++;
	t->taken = realloc(t->taken, (t->nr_taken + 1) * sizeof(*t->taken));
	t->taken[t->nr_taken++] = s;
}

static void on_fired(void *ctx, unsigned int cpu, const struct gprof_trigger_rec *rec)
{
	struct trace_words *t = ctx;

	t->marks = realloc(t->marks, (t->nr_marks + 1) * sizeof(*t->marks));
	t->marks[t->nr_marks++] = (struct trace_mark){ .rec = *rec, .cpu = cpu, .before = t->nr };
}

/* Who tells is who runs there. */
static void on_annotation(void *ctx, unsigned int cpu, const struct gprof_annotation_rec *rec)
{
	struct trace_words *t = ctx;
	uint32_t running = t->cpus[cpu].running;
	struct gprof_annotation_rec *copy = malloc(rec->rec.size);

	if (!*t->error && running != rec->tid)
		snprintf(t->error, sizeof(t->error), "CPU %u: %u annotates while %u runs", cpu,
			 rec->tid, running);
	memcpy(copy, rec, rec->rec.size);
	t->samples++;
	t->annotations = realloc(t->annotations, (t->nr_annotations + 1) * sizeof(*t->annotations));
	t->annotations[t->nr_annotations++] = (struct trace_annotation){ copy, cpu, t->nr };
}

int trace_words_init(struct trace_words *t, struct device *dev)
{
	int err;

	*t = (struct trace_words){ 0 };
	err = reader_init(&t->reader, dev);
	if (err)
		return err;
	t->reader.on_word = on_word;
	t->reader.on_task = on_task;
	t->reader.on_sample = on_sample;
	t->reader.on_fired = on_fired;
	t->reader.on_annotation = on_annotation;
	t->reader.ctx = t;
	t->cpus = calloc(dev->nr_cpus, sizeof(*t->cpus));
	for (unsigned int cpu = 0; cpu < dev->nr_cpus; cpu++) {
		t->cpus[cpu].named = calloc(1, TIDS / 8);
		t->cpus[cpu].running = TRACE_UNKNOWN;
		t->cpus[cpu].last = SIZE_MAX;
	}
	return 0;
}

void trace_words_free(struct trace_words *t)
{
	while (t->nr_taken)
		free(t->taken[--t->nr_taken].stack);
	free(t->taken);
	for (unsigned int cpu = 0; t->cpus && cpu < t->reader.dev->nr_cpus; cpu++)
		free(t->cpus[cpu].named);
	free(t->cpus);
	free(t->words);
	free(t->names);
	free(t->marks);
	while (t->nr_annotations)
		free(t->annotations[--t->nr_annotations].rec);
	free(t->annotations);
	if (t->reader.rings)
		reader_free(&t->reader);
	*t = (struct trace_words){ 0 };
}

int trace_words_read(struct trace_words *t)
{
	int64_t ret;

	for (t->cpu = 0; t->cpu < t->reader.dev->nr_cpus; t->cpu++) {
		struct trace_words_cpu *c = &t->cpus[t->cpu];

		/* What other rings have told since does not concern this one. */
		c->generations = t->reader.generations;
		c->lost = t->reader.lost_records;
		ret = reader_read_cpu(&t->reader, t->cpu);
		if (ret < 0)
			return ret;
		/* ... but what this one has told after its last word does. */
		look_back(t, c);
	}
	return 0;
}

int trace_words_snapshot(struct trace_words *t)
{
	struct device *dev = t->reader.dev;
	int64_t ret;

	trace_words_free(t);
	ret = trace_words_init(t, dev);
	if (ret)
		return ret;
	for (t->cpu = 0; t->cpu < dev->nr_cpus; t->cpu++) {
		t->cpus[t->cpu].generations = t->reader.generations;
		ret = reader_snapshot_cpu(&t->reader, t->cpu);
		if (ret < 0)
			return ret;
	}
	return 0;
}

static int by_time(const void *a, const void *b)
{
	const struct trace_word *p = a, *q = b;

	if (p->time != q->time)
		return p->time < q->time ? -1 : 1;
	return p->order < q->order ? -1 : 1;
}

void trace_words_sort(struct trace_words *t)
{
	qsort(t->words, t->nr, sizeof(*t->words), by_time);
}

size_t trace_words_count(const struct trace_words *t, unsigned int what, int tid)
{
	size_t i, n = 0;

	for (i = 0; i < t->nr; i++)
		n += t->words[i].what == what && (tid < 0 || t->words[i].tid == (uint32_t)tid);
	return n;
}

bool trace_words_named(const struct trace_words *t, uint32_t tid, const char *comm)
{
	for (size_t i = 0; i < t->nr_names; i++)
		if (t->names[i].rec.tid == tid && !strcmp(t->names[i].rec.comm, comm))
			return true;
	return false;
}
