// SPDX-License-Identifier: GPL-2.0-only
/*
 * Goroutines on threads.
 */
#include "join_model.h"

#include <stdlib.h>
#include <string.h>

#include <gprof/trace.h>

#include "cli/diag.h"

/* The function of goroutines without one. */
#define UNNAMED	"?"

void join_add(struct join_times *t, int64_t ns)
{
	t->nr++;
	t->ns += ns;
	if (ns > t->max)
		t->max = ns;
}

size_t join_thread(struct join_model *j, int64_t tid)
{
	uint32_t key = (uint32_t)tid;
	size_t nr = j->tids.nr, i = intern_add(&j->tids, &key, sizeof(key));

	if (i == nr) {
		j->threads = xgrow(j->threads, nr, &j->room_threads, sizeof(*j->threads));
		j->threads[i] = (struct join_thread){
			.goroutine = JOIN_NOBODY,
			.gap = -1,
			.told = -1,
		};
	}
	return i;
}

struct join_goroutine *join_goroutine(struct join_model *j, int64_t id)
{
	size_t nr = j->ids.nr, i = intern_add(&j->ids, &id, sizeof(id));

	if (i == nr) {
		j->goroutines = xgrow(j->goroutines, nr, &j->room_goroutines,
				      sizeof(*j->goroutines));
		j->goroutines[i] = (struct join_goroutine){
			.row = JOIN_NOBODY,
			.thread = JOIN_NOBODY,
			.state = GPROF_TRACE_GO_UNDETERMINED,
		};
	}
	return &j->goroutines[i];
}

static size_t row_of(struct join_model *j, const char *name)
{
	size_t nr = j->names.nr, i = intern_add(&j->names, name, strlen(name) + 1);

	if (i == nr) {
		j->rows = xgrow(j->rows, nr, &j->room_rows, sizeof(*j->rows));
		j->rows[i] = (struct join_row){ 0 };
	}
	return i;
}

/* The time of a goroutine without a known function is of "?". */
struct join_row *join_row_on(struct join_model *j, size_t goroutine)
{
	struct join_goroutine *g = &j->goroutines[goroutine];
	size_t row = g->row;

	if (row == JOIN_NOBODY) {
		g->unnamed = true;
		row = row_of(j, UNNAMED);
	}
	return &j->rows[row];
}

void join_name(struct join_model *j, struct join_goroutine *g, const char *function)
{
	if (g->row != JOIN_NOBODY)
		return;
	g->row = row_of(j, function);
	j->rows[g->row].nr++;
}

static void settle(struct join_model *j, struct join_thread *t, int64_t time)
{
	if (t->goroutine != JOIN_NOBODY)
		join_row_on(j, t->goroutine)->in[t->state] += time - t->since;
	t->since = time;
}

static void gap_ends(struct join_model *j, size_t thread, int64_t time)
{
	struct join_thread *t = &j->threads[thread];
	struct join_row *r;
	size_t len;

	if (t->gap < 0)
		return;
	r = join_row_on(j, t->goroutine);
	join_add(&r->gaps[t->kind], time - t->gap);
	if (t->kind == JOIN_WAITED && t->faulted)
		join_add(&r->fault, time - t->gap);
	if (!j->keep) {
		t->gap = -1;
		return;
	}
	j->gaps = xgrow(j->gaps, j->nr_gaps, &j->room_gaps, sizeof(*j->gaps));
	j->gaps[j->nr_gaps++] = (struct join_interval){
		.goroutine = *(const int64_t *)intern_key(&j->ids, t->goroutine, &len),
		.tid = *(const uint32_t *)intern_key(&j->tids, thread, &len),
		.begin = t->gap, .end = time, .kind = t->kind,
	};
	t->gap = -1;
}

static bool is_off(const struct join_thread *t)
{
	return t->state == JOIN_READY || t->state == JOIN_BLOCKED;
}

/* Both sides agree that a goroutine runs on a thread that does not. */
static void gap_begins(struct join_thread *t, int64_t time)
{
	if (t->gap >= 0 || t->goroutine == JOIN_NOBODY || !is_off(t))
		return;
	t->gap = time;
	t->kind = t->state == JOIN_READY ? JOIN_DESCHEDULED : JOIN_WAITED;
}

/*
 * Events of a thread that had no CPU are wrong; those shortly before it gets one again, or before
 * its end, are not.
 */
static void contradict(struct join_model *j, struct join_thread *t, int64_t time)
{
	j->wrong += t->before;
	if (t->told >= 0 && time - t->told > JOIN_SKEW_NS)
		j->wrong += t->nr_told;
	t->told = -1;
	t->nr_told = t->before = 0;
}

/* The kernel's delays are of the same time as the runtime's. */
static void add_delay(const struct join_model *j, struct join_thread *t, int64_t time)
{
	int64_t begin = t->ready > j->begin ? t->ready : j->begin;

	if (time > begin)
		join_add(&t->delay, time - begin);
}

static void list(struct join_model *j, size_t thread)
{
	j->off = xgrow(j->off, j->nr_off, &j->room_off, sizeof(*j->off));
	j->off[j->nr_off++] = thread;
	j->threads[thread].listed = true;
}

void join_state(struct join_model *j, size_t thread, enum join_on state, int64_t time)
{
	struct join_thread *t = &j->threads[thread];
	bool off = is_off(t);

	if (state == t->state)
		return;
	settle(j, t, time);
	if (state == JOIN_ON_CPU)
		gap_ends(j, thread, time);
	/* Nor is it told how long that was. */
	if (state == JOIN_UNTOLD)
		t->gap = -1;
	if (!off)
		t->off = time;
	if (state == JOIN_READY)
		t->ready = time;
	if (t->state == JOIN_READY && state == JOIN_ON_CPU)
		add_delay(j, t, time);
	if (state == JOIN_ON_CPU || state == JOIN_UNTOLD) {
		contradict(j, t, time);
		t->faulted = false;
	}
	t->state = state;
	if (is_off(t) && !t->listed)
		list(j, thread);
	gap_begins(t, time);
}

/* Each thread costs something once for each time that it lost its CPU. */
void join_lose(struct join_model *j, int64_t time)
{
	while (j->nr_off) {
		size_t thread = j->off[--j->nr_off];

		j->threads[thread].listed = false;
		if (is_off(&j->threads[thread]))
			join_state(j, thread, JOIN_UNTOLD, time);
	}
}

void join_leave(struct join_model *j, struct join_goroutine *g, int64_t time)
{
	size_t thread = g->thread;

	if (thread == JOIN_NOBODY)
		return;
	settle(j, &j->threads[thread], time);
	gap_ends(j, thread, time);
	j->threads[thread].goroutine = JOIN_NOBODY;
	g->thread = JOIN_NOBODY;
}

void join_come(struct join_model *j, int64_t id, size_t thread, int64_t time)
{
	struct join_goroutine *g = join_goroutine(j, id);
	struct join_thread *t = &j->threads[thread];

	if (g->thread == thread)
		return;
	join_leave(j, g, time);
	if (t->goroutine != JOIN_NOBODY)
		join_leave(j, &j->goroutines[t->goroutine], time);
	settle(j, t, time);
	t->goroutine = (size_t)(g - j->goroutines);
	g->thread = thread;
	/* A thread that comes has a CPU; a contradiction of clocks is not to begin a gap. */
}

void join_dies(struct join_model *j, struct join_goroutine *g, int64_t time)
{
	join_leave(j, g, time);
	if (g->unnamed)
		join_name(j, g, UNNAMED);
	g->unnamed = false;
	g->state = GPROF_TRACE_GO_NOT_EXIST;
	j->nr_dead++;
}

void join_tidy(struct join_model *j)
{
	struct intern ids = { 0 };
	size_t nr = 0, len;

	if (j->nr_dead < JOIN_DEAD || j->nr_dead < j->ids.nr - j->nr_dead)
		return;
	for (size_t i = 0; i < j->ids.nr; i++) {
		const struct join_goroutine g = j->goroutines[i];
		const void *id = intern_key(&j->ids, i, &len);

		if (g.state == GPROF_TRACE_GO_NOT_EXIST)
			continue;
		intern_add(&ids, id, len);
		if (g.thread != JOIN_NOBODY)
			j->threads[g.thread].goroutine = nr;
		j->goroutines[nr++] = g;
	}
	intern_free(&j->ids);
	j->ids = ids;
	j->nr_dead = 0;
}

void join_check(struct join_model *j, struct join_thread *t, int64_t time)
{
	if (t->state == JOIN_UNTOLD)
		return;
	j->checked++;
	if (t->state == JOIN_ON_CPU || time - t->off <= JOIN_SKEW_NS)
		return;
	if (t->told < 0 || time - t->told > JOIN_SKEW_NS) {
		t->before += t->nr_told;
		t->nr_told = 0;
		t->told = time;
	}
	t->nr_told++;
}

void join_end(struct join_model *j, int64_t time)
{
	for (size_t i = 0; i < j->ids.nr; i++)
		join_leave(j, &j->goroutines[i], time);
	for (size_t i = 0; i < j->ids.nr; i++)
		if (j->goroutines[i].unnamed)
			join_name(j, &j->goroutines[i], UNNAMED);
	for (size_t i = 0; i < j->tids.nr; i++)
		contradict(j, &j->threads[i], time);
}

void join_free(struct join_model *j)
{
	free(j->threads);
	free(j->goroutines);
	free(j->off);
	free(j->rows);
	free(j->gaps);
	intern_free(&j->tids);
	intern_free(&j->ids);
	intern_free(&j->names);
}
