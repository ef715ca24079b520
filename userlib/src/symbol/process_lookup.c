// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * process_lookup.c: the mapping at an address, by the readings of mappings.
 */
#include "process_lookup.h"

#include <linux/gprof.h>
#include <stdlib.h>

#define RELATIVES_MAX	256	/* processes that are looked at for one stack */

static int by_start(const void *a, const void *b)
{
	const struct gprof_vma *x = a, *y = b;

	return x->start < y->start ? -1 : x->start > y->start;
}

void gprof_reading_sort(struct gprof_reading *r)
{
	if (!r->sorted && r->nr)
		qsort(r->v, r->nr, sizeof(*r->v), by_start);
	r->sorted = true;
}

const struct gprof_vma *gprof_reading_vma(struct gprof_reading *r, uint64_t addr)
{
	size_t lo = 0, hi = r->nr;

	gprof_reading_sort(r);
	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (r->v[mid].start <= addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo && addr < r->v[lo - 1].end ? &r->v[lo - 1] : NULL;
}

/* How far a reading is from a time; a later one counts as farther. */
static uint64_t farness(const struct gprof_reading *r, uint64_t time)
{
	if (time >= r->time)
		return time <= r->last_time ? 0 : time - r->last_time;
	return r->time - time;
}

/* How much code there is by a stamp, and how often some of it was unmapped. */
static uint32_t code_of(uint32_t exec_map_seq)
{
	return exec_map_seq & ((1U << GPROF_EXEC_MAP_SEQ_UNMAPPED_SHIFT) - 1);
}

static uint32_t unmapped_of(uint32_t exec_map_seq)
{
	return exec_map_seq >> GPROF_EXEC_MAP_SEQ_UNMAPPED_SHIFT;
}

/* A reading with as much code, and with a mapping for each address. */
static struct gprof_reading *find_all(struct gprof_space *space, uint32_t exec_map_seq,
				      const uint64_t *addrs, size_t nr)
{
	size_t i, j;

	for (i = 0; i < space->nr; i++) {
		struct gprof_reading *r = &space->readings[i];

		if (code_of(r->exec_map_seq) != code_of(exec_map_seq))
			continue;
		for (j = 0; j < nr && gprof_reading_vma(r, addrs[j]); j++)
			;
		if (j == nr)
			return r;
	}
	return NULL;
}

/* Do both map the same part of the same file, or of none? Either may be NULL. */
static bool same_place(const struct gprof_vma *a, const struct gprof_vma *b)
{
	return a && b && a->object == b->object && a->path == b->path &&
	       (!a->object || a->start - a->offset == b->start - b->offset);
}

/* Was something else ever seen where a mapping has an address? */
static bool is_contested(struct gprof_space *space, const struct gprof_vma *vma, uint64_t addr)
{
	size_t i;

	for (i = 0; i < space->nr; i++) {
		const struct gprof_vma *other = gprof_reading_vma(&space->readings[i], addr);

		if (other && !same_place(vma, other))
			return true;
	}
	return false;
}

struct gprof_space *gprof_spaces_relative(struct gprof_spaces *s, const struct gprof_process *id,
					  uint32_t *exec_map_seq, const uint64_t *addrs, size_t nr)
{
	struct gprof_reading *r, *found = NULL;
	struct gprof_space *best = NULL;
	unsigned int tries = 0;
	size_t i;

	/* Parents are seen before their children, mostly not long before. */
	for (i = s->nr; i > 0 && tries < RELATIVES_MAX; i--) {
		struct gprof_space *space = &s->v[i - 1];

		if (space->id.exec_id != id->exec_id || space->id.start_ns > id->start_ns ||
		    !space->nr || (best && space->id.start_ns <= best->id.start_ns))
			continue;
		tries++;
		r = find_all(space, *exec_map_seq, addrs, nr);
		if (r) {
			best = space;
			found = r;
		}
	}
	for (i = 0; best && i < nr; i++)
		if (is_contested(best, gprof_reading_vma(found, addrs[i]), addrs[i]))
			return NULL;
	if (best)
		*exec_map_seq = found->exec_map_seq;
	return best;
}

/*
 * The mapping by readings with an unmap of code between them and the sample. The unmapped code had
 * been read, so the first reading behind may have a mapping that the last one before lacks. Where
 * mappings take turns, neither proves the state between.
 */
static const struct gprof_vma *vma_around(struct gprof_space *space, uint64_t time, uint64_t addr,
					  bool *changed)
{
	struct gprof_reading *before = NULL, *after = NULL;
	const struct gprof_vma *was = NULL, *is = NULL;
	size_t i;

	for (i = 0; i < space->nr; i++) {
		struct gprof_reading *r = &space->readings[i];

		if (r->time <= time && (!before || r->last_time > before->last_time))
			before = r;
		if (r->last_time > time && (!after || r->time < after->time))
			after = r;
	}
	if (before)
		was = gprof_reading_vma(before, addr);
	if (after)
		is = gprof_reading_vma(after, addr);
	if (is && (!was || same_place(was, is)) && !is_contested(space, is, addr))
		return is;
	*changed = was || is;
	return NULL;
}

const struct gprof_vma *gprof_space_vma(struct gprof_space *space, uint32_t exec_map_seq,
					uint64_t time, uint64_t addr, bool *changed)
{
	const struct gprof_vma *best = NULL;
	uint64_t best_far = 0;
	bool best_same = false, best_past = false, unused;
	size_t i;

	changed = changed ? changed : &unused;
	*changed = false;
	for (i = 0; i < space->nr; i++) {
		struct gprof_reading *r = &space->readings[i];
		bool same = r->exec_map_seq == exec_map_seq;
		bool past = r->time <= time;
		uint64_t far = farness(r, time);
		const struct gprof_vma *vma;

		if (unmapped_of(r->exec_map_seq) != unmapped_of(exec_map_seq))
			continue;
		/* The stamp decides first; with it, the reading before the sample. */
		if (best && (best_same != same ? best_same
			     : same && best_past != past ? best_past : best_far <= far))
			continue;
		vma = gprof_reading_vma(r, addr);
		if (!vma)
			continue;
		best = vma;
		best_same = same;
		best_past = past;
		best_far = far;
	}
	return best ? best : vma_around(space, time, addr, changed);
}
