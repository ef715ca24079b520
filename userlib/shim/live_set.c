// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * live_set.c: addresses of what was sampled and not freed.
 *
 * Who has an address owns it, so that nothing is ever added and removed at once; but what
 * shares a bucket is taken by compare-exchange. Before it is looked for in a bucket, cells
 * that many buckets share tell of most that it is in none: they count, and are small enough
 * to stay in a cache.
 *
 * A bucket that is full gives way to the next ones, a few; it counts what is there.
 */
#include "shim.h"
#include "base/system_call.h"

#include <sys/mman.h>

#define NEAR	8
#define BUCKETS	(1UL << SHIM_SET_BITS)

/**
 * struct bucket - addresses with the same hash
 * @keys: addresses, or 0
 * @beyond: how many are in one of the next buckets
 */
struct bucket {
	uintptr_t keys[SHIM_SET_WAYS];
	uint64_t beyond;
};

uint16_t shim_cells[1 << SHIM_CELL_BITS];
static struct bucket *buckets;	/* once it is wanted; touched where it is used */

static uint16_t *cell_of(const void *p)
{
	return &shim_cells[shim_hash(p) >> (64 - SHIM_CELL_BITS)];
}

void shim_cell_mark(const void *p)
{
	__atomic_fetch_add(cell_of(p), 1, __ATOMIC_RELAXED);
}

static struct bucket *get_buckets(void)
{
	struct bucket *b = __atomic_load_n(&buckets, __ATOMIC_ACQUIRE), *none = NULL;
	long p;

	if (b)
		return b;
	p = gprof_syscall(SYS_mmap, 0, BUCKETS * sizeof(*b), PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (p < 0 && p > -4096)
		return NULL;
	b = (struct bucket *)p;
	if (__atomic_compare_exchange_n(&buckets, &none, b, false, __ATOMIC_ACQ_REL,
					__ATOMIC_ACQUIRE))
		return b;
	gprof_syscall(SYS_munmap, p, BUCKETS * sizeof(*b), 0, 0, 0, 0);
	return none;
}

static struct bucket *bucket_of(struct bucket *all, const void *p, unsigned int distance)
{
	return &all[((shim_hash(p) >> (64 - SHIM_SET_BITS)) + distance) & (BUCKETS - 1)];
}

/* Takes a place where there is @from, and leaves @to. */
static bool swap(struct bucket *b, uintptr_t from, uintptr_t to)
{
	int i;

	for (i = 0; i < SHIM_SET_WAYS; i++) {
		uintptr_t is = from;

		if (__atomic_load_n(&b->keys[i], __ATOMIC_RELAXED) == from &&
		    __atomic_compare_exchange_n(&b->keys[i], &is, to, false, __ATOMIC_RELAXED,
						__ATOMIC_RELAXED))
			return true;
	}
	return false;
}

bool shim_set_add(const void *p)
{
	struct bucket *all = get_buckets();
	unsigned int distance;

	for (distance = 0; all && distance < NEAR; distance++) {
		if (!swap(bucket_of(all, p, distance), 0, (uintptr_t)p))
			continue;
		if (distance)
			__atomic_fetch_add(&bucket_of(all, p, 0)->beyond, 1, __ATOMIC_RELAXED);
		__atomic_fetch_add(cell_of(p), 1, __ATOMIC_RELAXED);
		return true;
	}
	return false;
}

static bool find(const void *p, uintptr_t to)
{
	struct bucket *all = __atomic_load_n(&buckets, __ATOMIC_ACQUIRE), *home;
	unsigned int distance;

	if (!all)
		return false;
	home = bucket_of(all, p, 0);
	if (swap(home, (uintptr_t)p, to))
		return true;
	if (!__atomic_load_n(&home->beyond, __ATOMIC_RELAXED))
		return false;
	for (distance = 1; distance < NEAR; distance++) {
		if (!swap(bucket_of(all, p, distance), (uintptr_t)p, to))
			continue;
		if (!to)
			__atomic_fetch_sub(&home->beyond, 1, __ATOMIC_RELAXED);
		return true;
	}
	return false;
}

bool shim_set_has(const void *p)
{
	return find(p, (uintptr_t)p);
}

bool shim_set_remove(const void *p)
{
	if (!find(p, 0))
		return false;
	__atomic_fetch_sub(cell_of(p), 1, __ATOMIC_RELAXED);
	return true;
}

/* After a fork: nobody else is there. */
void shim_set_clear(void)
{
	size_t i;

	if (buckets)
		gprof_syscall(SYS_madvise, (long)buckets, BUCKETS * sizeof(*buckets), MADV_DONTNEED, 0,
			      0, 0);
	for (i = 0; i < 1 << SHIM_CELL_BITS; i++)
		shim_cells[i] = 0;
	shim_boot_mark();
}
