// SPDX-License-Identifier: GPL-2.0-only
/*
 * Goroutines on threads.
 */
#include "joined.h"

#include <stdlib.h>
#include <string.h>

#include <gprof/trace.h>

#include "cli/say.h"

/* The function of whoever has told none. */
#define UNNAMED	"?"

void joined_add(struct joined_times *t, int64_t ns)
{
	t->nr++;
	t->ns += ns;
	if (ns > t->max)
		t->max = ns;
}

size_t joined_thread(struct joined *j, int64_t tid)
{
	uint32_t key = (uint32_t)tid;
	size_t nr = j->tids.nr, i = intern_add(&j->tids, &key, sizeof(key));

	if (i == nr) {
		j->threads = xgrow(j->threads, nr, &j->room_threads, sizeof(*j->threads));
		j->threads[i] = (struct joined_thread){
			.goroutine = JOINED_NOBODY, .gap = -1, .told = -1,
		};
	}
	return i;
}

struct joined_goroutine *joined_goroutine(struct joined *j, int64_t id)
{
	size_t nr = j->ids.nr, i = intern_add(&j->ids, &id, sizeof(id));

	if (i == nr) {
		j->goroutines = xgrow(j->goroutines, nr, &j->room_goroutines,
				      sizeof(*j->goroutines));
		j->goroutines[i] = (struct joined_goroutine){
			.row = JOINED_NOBODY, .thread = JOINED_NOBODY,
			.state = GPROF_TRACE_GO_UNDETERMINED,
		};
	}
	return &j->goroutines[i];
}

static size_t row_of(struct joined *j, const char *name)
{
	size_t nr = j->names.nr, i = intern_add(&j->names, name, strlen(name) + 1);

	if (i == nr) {
		j->rows = xgrow(j->rows, nr, &j->room_rows, sizeof(*j->rows));
		j->rows[i] = (struct joined_row){ 0 };
	}
	return i;
}

/* Of a goroutine whose function nobody has told yet, what it did so far is of "?". */
struct joined_row *joined_row_on(struct joined *j, size_t goroutine)
{
	struct joined_goroutine *g = &j->goroutines[goroutine];
	size_t row = g->row;

	if (row == JOINED_NOBODY) {
		g->unnamed = true;
		row = row_of(j, UNNAMED);
	}
	return &j->rows[row];
}

void joined_name(struct joined *j, struct joined_goroutine *g, const char *function)
{
	if (g->row != JOINED_NOBODY)
		return;
	g->row = row_of(j, function);
	j->rows[g->row].nr++;
}

static void settle(struct joined *j, struct joined_thread *t, int64_t time)
{
	if (t->goroutine != JOINED_NOBODY)
		joined_row_on(j, t->goroutine)->in[t->state] += time - t->since;
	t->since = time;
}

static void gap_ends(struct joined *j, size_t thread, int64_t time)
{
	struct joined_thread *t = &j->threads[thread];
	struct joined_row *r;
	size_t len;

	if (t->gap < 0)
		return;
	r = joined_row_on(j, t->goroutine);
	joined_add(&r->gaps[t->kind], time - t->gap);
	if (t->kind == JOINED_WAITED && t->faulted)
		joined_add(&r->fault, time - t->gap);
	if (!j->keep) {
		t->gap = -1;
		return;
	}
	j->gaps = xgrow(j->gaps, j->nr_gaps, &j->room_gaps, sizeof(*j->gaps));
	j->gaps[j->nr_gaps++] = (struct joined_interval){
		.goroutine = *(const int64_t *)intern_key(&j->ids, t->goroutine, &len),
		.tid = *(const uint32_t *)intern_key(&j->tids, thread, &len),
		.begin = t->gap, .end = time, .kind = t->kind,
	};
	t->gap = -1;
}

static bool is_off(const struct joined_thread *t)
{
	return t->state == JOINED_READY || t->state == JOINED_BLOCKED;
}

/* Both sides agree that a goroutine runs on a thread that does not. */
static void gap_begins(struct joined_thread *t, int64_t time)
{
	if (t->gap >= 0 || t->goroutine == JOINED_NOBODY || !is_off(t))
		return;
	t->gap = time;
	t->kind = t->state == JOINED_READY ? JOINED_DESCHEDULED : JOINED_WAITED;
}

/* Of what it told without a CPU; shortly before it has one again, or is known no more, is none. */
static void contradict(struct joined *j, struct joined_thread *t, int64_t time)
{
	j->wrong += t->before;
	if (t->told >= 0 && time - t->told > JOINED_SKEW_NS)
		j->wrong += t->nr_told;
	t->told = -1;
	t->nr_told = t->before = 0;
}

/* What is told of the kernel's delays is of the time that the runtime's are of. */
static void add_delay(const struct joined *j, struct joined_thread *t, int64_t time)
{
	int64_t begin = t->ready > j->begin ? t->ready : j->begin;

	if (time > begin)
		joined_add(&t->delay, time - begin);
}

static void list(struct joined *j, size_t thread)
{
	j->off = xgrow(j->off, j->nr_off, &j->room_off, sizeof(*j->off));
	j->off[j->nr_off++] = thread;
	j->threads[thread].listed = true;
}

void joined_state(struct joined *j, size_t thread, enum joined_on state, int64_t time)
{
	struct joined_thread *t = &j->threads[thread];
	bool off = is_off(t);

	if (state == t->state)
		return;
	settle(j, t, time);
	if (state == JOINED_ON_CPU)
		gap_ends(j, thread, time);
	/* Nor is it told how long that was. */
	if (state == JOINED_UNTOLD)
		t->gap = -1;
	if (!off)
		t->off = time;
	if (state == JOINED_READY)
		t->ready = time;
	if (t->state == JOINED_READY && state == JOINED_ON_CPU)
		add_delay(j, t, time);
	if (state == JOINED_ON_CPU || state == JOINED_UNTOLD) {
		contradict(j, t, time);
		t->faulted = false;
	}
	t->state = state;
	if (is_off(t) && !t->listed)
		list(j, thread);
	gap_begins(t, time);
}

/* Each thread costs something once for each time that it lost its CPU. */
void joined_lose(struct joined *j, int64_t time)
{
	while (j->nr_off) {
		size_t thread = j->off[--j->nr_off];

		j->threads[thread].listed = false;
		if (is_off(&j->threads[thread]))
			joined_state(j, thread, JOINED_UNTOLD, time);
	}
}

void joined_leave(struct joined *j, struct joined_goroutine *g, int64_t time)
{
	size_t thread = g->thread;

	if (thread == JOINED_NOBODY)
		return;
	settle(j, &j->threads[thread], time);
	gap_ends(j, thread, time);
	j->threads[thread].goroutine = JOINED_NOBODY;
	g->thread = JOINED_NOBODY;
}

void joined_come(struct joined *j, int64_t id, size_t thread, int64_t time)
{
	struct joined_goroutine *g = joined_goroutine(j, id);
	struct joined_thread *t = &j->threads[thread];

	if (g->thread == thread)
		return;
	joined_leave(j, g, time);
	if (t->goroutine != JOINED_NOBODY)
		joined_leave(j, &j->goroutines[t->goroutine], time);
	settle(j, t, time);
	t->goroutine = (size_t)(g - j->goroutines);
	g->thread = thread;
	/* Whoever comes has a CPU; a clock that says otherwise is not to begin a gap. */
}

void joined_dies(struct joined *j, struct joined_goroutine *g, int64_t time)
{
	joined_leave(j, g, time);
	if (g->unnamed)
		joined_name(j, g, UNNAMED);
	g->unnamed = false;
	g->state = GPROF_TRACE_GO_NOT_EXIST;
	j->nr_dead++;
}

void joined_tidy(struct joined *j)
{
	struct intern ids = { 0 };
	size_t nr = 0, len;

	if (j->nr_dead < JOINED_DEAD || j->nr_dead < j->ids.nr - j->nr_dead)
		return;
	for (size_t i = 0; i < j->ids.nr; i++) {
		const struct joined_goroutine g = j->goroutines[i];
		const void *id = intern_key(&j->ids, i, &len);

		if (g.state == GPROF_TRACE_GO_NOT_EXIST)
			continue;
		intern_add(&ids, id, len);
		if (g.thread != JOINED_NOBODY)
			j->threads[g.thread].goroutine = nr;
		j->goroutines[nr++] = g;
	}
	intern_free(&j->ids);
	j->ids = ids;
	j->nr_dead = 0;
}

void joined_check(struct joined *j, struct joined_thread *t, int64_t time)
{
	if (t->state == JOINED_UNTOLD)
		return;
	j->checked++;
	if (t->state == JOINED_ON_CPU || time - t->off <= JOINED_SKEW_NS)
		return;
	if (t->told < 0 || time - t->told > JOINED_SKEW_NS) {
		t->before += t->nr_told;
		t->nr_told = 0;
		t->told = time;
	}
	t->nr_told++;
}

void joined_end(struct joined *j, int64_t time)
{
	for (size_t i = 0; i < j->ids.nr; i++)
		joined_leave(j, &j->goroutines[i], time);
	for (size_t i = 0; i < j->ids.nr; i++)
		if (j->goroutines[i].unnamed)
			joined_name(j, &j->goroutines[i], UNNAMED);
	for (size_t i = 0; i < j->tids.nr; i++)
		contradict(j, &j->threads[i], time);
}

void joined_free(struct joined *j)
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
