// SPDX-License-Identifier: GPL-2.0-only
/*
 * Rollups of a store's profiles of ten minutes.
 */
#include "rollup_make.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "cli/cmd.h"
#include "cli/diag.h"
#include "memory_trim.h"
#include "item_make.h"
#include "store/rollup.h"
#include "store/time_range.h"

/* Equal items move from @all to the front of @some; how many. */
static size_t split_alike(struct time_range *all, struct item_name *some)
{
	const struct item_name first = all->items[0];
	size_t nr = 0, rest = 0;

	for (size_t i = 0; i < all->nr; i++) {
		if (rollup_alike(&first, &all->items[i]))
			some[nr++] = all->items[i];
		else
			all->items[rest++] = all->items[i];
	}
	all->nr = rest;
	return nr;
}

static bool is_made(const struct time_range *w, const struct item_name *n)
{
	for (size_t i = 0; i < w->nr_rollups; i++)
		if (rollup_alike(&w->rollups[i].name, n))
			return true;
	return false;
}

static struct item_name name_of(const struct time_range *some, uint64_t recorded_ns)
{
	struct item_name n = {
		.form = ITEM_ROLLUP, .start_ns = some->items[0].start_ns, .duration_ns = recorded_ns,
		.items = (uint32_t)some->nr, .first_id = UINT64_MAX,
	};

	strcpy(n.type, some->items[0].type);
	strcpy(n.host, some->items[0].host);
	for (size_t i = 0; i < some->nr; i++) {
		const struct item_name *item = &some->items[i];

		n.samples += item->samples;
		if (item->id < n.first_id)
			n.first_id = item->id;
		if (item->id > n.last_id)
			n.last_id = item->id;
	}
	return n;
}

/* An item that waits for an engine is renamed at any time, and may be missed. */
static bool all_kept(const struct time_range *some)
{
	for (size_t i = 0; i < some->nr; i++)
		if (some->items[i].state != ITEM_KEPT)
			return false;
	return true;
}

/* Those of one kind and host, sorted by time. */
static void make_one(struct store *s, const struct time_range *some)
{
	struct time_range_sum sum;
	struct item_name n;

	if (time_range_merge(some, NULL, &sum) != STATUS_OK)
		return;
	if (sum.merged && !sum.damaged) {
		n = name_of(some, sum.ns);
		item_put_rollup(s, sum.merged, &n);
	}
	gprof_profile_free(sum.merged);
}

/* Profiles alone, and those that begin in the ten minutes. */
static void leave_out_others(struct time_range *w)
{
	size_t nr = 0;

	for (size_t i = 0; i < w->nr; i++)
		if (w->items[i].form == ITEM_PROFILE && w->items[i].start_ns >= w->from_ns)
			w->items[nr++] = w->items[i];
	w->nr = nr;
}

void rollup_make(struct store *s, const char *dir, uint64_t when_ns)
{
	struct store_dir d = { .quiet = true };
	struct time_range w = {
		.dir = &d,
		.from_ns = rollup_begin(when_ns),
		.to_ns = rollup_begin(when_ns) + ROLLUP_NS,
	};
	struct time_range some = { .dir = &d };

	if (store_dir_open(&d, dir) != STATUS_OK)
		return;
	if (!time_range_scan(&w, NULL) && !w.bad) {
		leave_out_others(&w);
		some.items = xalloc(w.nr + 1, sizeof(*some.items));
		while (w.nr) {
			some.nr = split_alike(&w, some.items);
			if (some.nr > 1 && all_kept(&some) && !is_made(&w, &some.items[0]))
				make_one(s, &some);
		}
		free(some.items);
	}
	time_range_free(&w);
	store_dir_close(&d);
}

uint64_t rollups_step(struct rollups *r, uint64_t begun_ns)
{
	uint64_t begin = rollup_begin(begun_ns), before = r->begin_ns, cpu;

	if (!r->store || begin == before)
		return 0;
	r->begin_ns = begin;
	if (!before)
		return 0;
	cpu = clock_now_ns(CLOCK_THREAD_CPUTIME_ID);
	rollup_make(r->store, r->dir, before);
	memory_trim();
	r->last_ns = clock_now_ns(CLOCK_THREAD_CPUTIME_ID) - cpu;
	r->owed_ns += r->last_ns;
	return r->last_ns;
}

uint64_t rollups_pay(struct rollups *r, uint64_t elapsed_ns)
{
	uint64_t due =
		elapsed_ns < ROLLUP_NS ?
			(uint64_t)((double)r->last_ns * (double)elapsed_ns / (double)ROLLUP_NS) +
				1 :
			r->owed_ns;

	if (due > r->owed_ns)
		due = r->owed_ns;
	r->owed_ns -= due;
	return due;
}
