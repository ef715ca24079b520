// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * code_map.c: generated code by address, where newer code may lie over older.
 *
 * Any number of functions may have been where one is now, within it, around it, or over its
 * end. They are passed once in the order of addresses; those that are begun and not known to
 * be over wait in a heap, the newest one on top.
 */
#include "code_map.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define LOOKED_MAX	4096	/* functions that one address may be searched in */
#define LOOKS_MAX	(512U << 20)	/* ... and all of them: about a second */

/**
 * struct waiting - functions that are begun
 * @v: all functions
 * @heap: indexes of those
 * @nr: how many
 */
struct waiting {
	const struct gprof_code *v;
	uint32_t *heap;
	size_t nr;
};

static int by_start(const void *a, const void *b)
{
	const struct gprof_code *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return x->age < y->age ? -1 : x->age > y->age;
}

static bool is_newer(const struct waiting *w, size_t a, size_t b)
{
	return w->v[w->heap[a]].age > w->v[w->heap[b]].age;
}

static void swap(struct waiting *w, size_t a, size_t b)
{
	uint32_t t = w->heap[a];

	w->heap[a] = w->heap[b];
	w->heap[b] = t;
}

static void push(struct waiting *w, size_t index)
{
	size_t at = w->nr++;

	w->heap[at] = (uint32_t)index;
	for (; at && is_newer(w, at, (at - 1) / 2); at = (at - 1) / 2)
		swap(w, at, (at - 1) / 2);
}

static void pop(struct waiting *w)
{
	size_t at = 0, child;

	w->heap[0] = w->heap[--w->nr];
	while ((child = 2 * at + 1) < w->nr) {
		if (child + 1 < w->nr && is_newer(w, child + 1, child))
			child++;
		if (!is_newer(w, child, at))
			break;
		swap(w, child, at);
		at = child;
	}
}

/* How many pieces there are; @out gets them, unless it is NULL. */
static size_t sweep(struct waiting *w, size_t nr, struct gprof_code *out)
{
	struct gprof_code piece = { 0 };
	size_t next = 0, made = 0;
	uint64_t at = 0;

	while (next < nr || w->nr) {
		if (!w->nr && w->v[next].start > at)
			at = w->v[next].start;
		while (next < nr && w->v[next].start <= at)
			push(w, next++);
		while (w->nr && w->v[w->heap[0]].end <= at)
			pop(w);
		if (!w->nr)
			continue;
		/* It goes on behind the newer code, or is a piece more. */
		if (!made || piece.age != w->v[w->heap[0]].age || piece.end != at) {
			piece = w->v[w->heap[0]];
			piece.start = at;
			made++;
		}
		piece.end = w->v[w->heap[0]].end;
		if (next < nr && w->v[next].start < piece.end)
			piece.end = w->v[next].start;
		at = piece.end;
		if (out)
			out[made - 1] = piece;
	}
	return made;
}

int gprof_code_settle(struct gprof_code **v, size_t *nr, size_t *cap, struct gprof_budget *memory)
{
	struct waiting w = { .v = *v };
	struct gprof_code *out = NULL;
	size_t made = 0;
	int err;

	if (!*nr)
		return 0;
	qsort(*v, *nr, sizeof(**v), by_start);
	err = gprof_budget_charge(memory, *nr * sizeof(*w.heap));
	if (err)
		return err;
	w.heap = calloc(*nr, sizeof(*w.heap));
	if (w.heap) {
		made = sweep(&w, *nr, NULL);
		err = gprof_budget_charge(memory, made * sizeof(*out));
		if (!err)
			out = calloc(made, sizeof(*out));
		if (out)
			sweep(&w, *nr, out);
		else if (!err)
			gprof_budget_uncharge(memory, made * sizeof(*out));
	}
	free(w.heap);
	gprof_budget_uncharge(memory, *nr * sizeof(*w.heap));
	if (!out)
		return -ENOMEM;
	free(*v);
	gprof_budget_uncharge(memory, *cap * sizeof(*out));
	*v = out;
	*nr = made;
	*cap = made;
	return 0;
}

/* How many functions begin at an address or before it. */
static size_t count_begun(const struct gprof_code *v, size_t nr, uint64_t addr)
{
	size_t lo = 0, hi = nr;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (v[mid].start <= addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

const struct gprof_code *gprof_code_find(const struct gprof_code *v, size_t nr, uint64_t addr)
{
	size_t begun = count_begun(v, nr, addr);

	return begun && addr < v[begun - 1].end ? &v[begun - 1] : NULL;
}

/* Says where they reach; false: none lies over another. */
static bool find_reaches(struct gprof_code_past *past)
{
	uint64_t reach = 0;
	bool over = false;
	size_t i;

	for (i = 0; i < past->nr; i++) {
		const uint64_t end = past->v[i].end;
		size_t above = i | (i + 1);

		over |= past->v[i].start < reach;
		if (end > reach)
			reach = end;
		/* Those it stands for beside itself have been here. */
		if (end > past->reach[i])
			past->reach[i] = end;
		if (above < past->nr && past->reach[i] > past->reach[above])
			past->reach[above] = past->reach[i];
	}
	return over;
}

int gprof_code_remember(struct gprof_code_past *past, const struct gprof_code *v, size_t nr,
			struct gprof_budget *memory)
{
	size_t bytes = nr * (sizeof(*past->v) + sizeof(*past->reach));
	int err = gprof_budget_charge(memory, bytes);

	memset(past, 0, sizeof(*past));
	if (err)
		return err;
	past->v = calloc(nr + 1, sizeof(*past->v));
	past->reach = calloc(nr + 1, sizeof(*past->reach));
	if (past->v && past->reach) {
		past->nr = nr;
		past->looks = LOOKS_MAX;
		if (nr)
			memcpy(past->v, v, nr * sizeof(*v));
		qsort(past->v, nr, sizeof(*past->v), by_start);
		if (find_reaches(past))
			return 0;
	} else {
		err = -ENOMEM;
	}
	gprof_code_past_free(past);
	gprof_budget_uncharge(memory, bytes);
	return err;
}

void gprof_code_past_free(struct gprof_code_past *past)
{
	free(past->v);
	free(past->reach);
	memset(past, 0, sizeof(*past));
}

/**
 * struct lying - code at an address
 * @oldest: of all
 * @was: the newest that was made by the first time
 * @at: ... by the last one
 * @came: one that was made between
 */
struct lying {
	const struct gprof_code *oldest, *was, *at, *came;
};

static const struct gprof_code *newer(const struct gprof_code *a, const struct gprof_code *b)
{
	return a && a->age > b->age ? a : b;
}

/* One more; false: the functions between have different names. */
static bool lies(struct lying *l, const struct gprof_code *code, uint64_t made, uint64_t from,
		 uint64_t to)
{
	if (!l->oldest || code->age < l->oldest->age)
		l->oldest = code;
	if (made <= from)
		l->was = newer(l->was, code);
	if (made <= to)
		l->at = newer(l->at, code);
	if (made <= from || made > to)
		return true;
	if (!l->came)
		l->came = code;
	return l->came->name == code->name;
}

const struct gprof_code *gprof_code_was(struct gprof_code_past *past, uint64_t addr,
					const uint64_t *made, uint64_t from, uint64_t to)
{
	size_t i = count_begun(past->v, past->nr, addr), looked = 0;
	struct lying l = { 0 };

	while (i) {
		const struct gprof_code *code = &past->v[i - 1];

		if (++looked > LOOKED_MAX || !past->looks)
			return NULL;
		past->looks--;
		if (past->reach[i - 1] <= addr) {
			i &= i - 1;
			continue;
		}
		i--;
		if (addr < code->end && !lies(&l, code, made[code->age], from, to))
			return NULL;
	}
	if (!l.was)
		l.was = l.oldest;
	if (!l.at)
		l.at = l.oldest;
	return l.came && l.came->name != l.was->name ? NULL : l.at;
}
