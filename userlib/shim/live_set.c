// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * live_set.c: addresses of sampled allocations that are live.
 *
 * An address has one owner, so that it is never added and removed at once; but a bucket is shared,
 * and changed by compare-exchange. Cells that many buckets share rule out most addresses before a
 * lookup in a bucket: they are counters, and small enough to stay in a cache.
 *
 * An address of a full bucket goes into one of the next few buckets; the full one counts those.
 * An address is even: one that is held is odd.
 */
#include "shim.h"
#include "base/system_call.h"

#include <sys/mman.h>
#include <sys/resource.h>

#define NEAR		8
#define WAYS		7
#define BITS_MAX	20	/* of buckets: as many addresses as a table can have, and more */
#define BITS_MIN	6
#define BITS_MASK	63	/* of an address of pages */
#define LIMIT_SHARE	16	/* of the program's memory limit */

/**
 * struct bucket - addresses with the same hash
 * @keys: addresses, or 0
 * @beyond: how many are in one of the next buckets
 */
struct bucket {
	uintptr_t keys[WAYS];
	uint64_t beyond;
};

uint16_t shim_cells[1 << SHIM_CELL_BITS];
static uintptr_t set;	/* buckets, once they are wanted, and the bits of their number */

static struct bucket *buckets_of(uintptr_t s)
{
	return (struct bucket *)(s & ~(uintptr_t)BITS_MASK);
}

static long size_of(unsigned int bits)
{
	return (long)(sizeof(struct bucket) << bits);
}

static uint16_t *cell_of(const void *p)
{
	return &shim_cells[shim_hash(p) >> (64 - SHIM_CELL_BITS)];
}

void shim_cell_mark(const void *p)
{
	__atomic_fetch_add(cell_of(p), 1, __ATOMIC_RELAXED);
}

/* A program that has a limit is not to come to it for us. */
static unsigned int bits_for_us(void)
{
	struct rlimit limit = { .rlim_cur = RLIM_INFINITY };
	unsigned int bits = BITS_MAX;

	gprof_syscall(SYS_prlimit64, 0, RLIMIT_AS, 0, (long)&limit, 0, 0);
	while (bits > BITS_MIN && (rlim_t)size_of(bits) > limit.rlim_cur / LIMIT_SHARE)
		bits--;
	return bits;
}

static uintptr_t get_set(void)
{
	uintptr_t s = __atomic_load_n(&set, __ATOMIC_ACQUIRE), none = 0;
	unsigned int bits;
	long p = -1;

	if (s)
		return s;
	for (bits = bits_for_us(); bits >= BITS_MIN; bits--) {
		p = gprof_syscall(SYS_mmap, 0, size_of(bits), PROT_READ | PROT_WRITE,
				  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
		if (p >= 0 || p < -4095)
			break;
	}
	/* Later, perhaps. */
	if (bits < BITS_MIN)
		return 0;
	s = (uintptr_t)p | bits;
	if (__atomic_compare_exchange_n(&set, &none, s, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
		return s;
	gprof_syscall(SYS_munmap, p, size_of(bits), 0, 0, 0, 0);
	return none;
}

static struct bucket *bucket_of(uintptr_t s, const void *p, unsigned int distance)
{
	unsigned int bits = s & BITS_MASK;

	return &buckets_of(s)[((shim_hash(p) >> (64 - bits)) + distance) & ((1UL << bits) - 1)];
}

/* Takes a place where there is @from, and leaves @to. */
static bool swap(struct bucket *b, uintptr_t from, uintptr_t to)
{
	int i;

	for (i = 0; i < WAYS; i++) {
		uintptr_t is = from;

		if (__atomic_load_n(&b->keys[i], __ATOMIC_RELAXED) == from &&
		    __atomic_compare_exchange_n(&b->keys[i], &is, to, false, __ATOMIC_RELAXED,
						__ATOMIC_RELAXED))
			return true;
	}
	return false;
}

/* @from, which has the place of @p, becomes @to: an address, held or not, or nothing. */
static bool change(const void *p, uintptr_t from, uintptr_t to)
{
	uintptr_t all = __atomic_load_n(&set, __ATOMIC_ACQUIRE);
	struct bucket *home;
	unsigned int distance;

	if (!all)
		return false;
	home = bucket_of(all, p, 0);
	if (swap(home, from, to))
		return true;
	if (!__atomic_load_n(&home->beyond, __ATOMIC_RELAXED))
		return false;
	for (distance = 1; distance < NEAR; distance++) {
		if (!swap(bucket_of(all, p, distance), from, to))
			continue;
		if (!to)
			__atomic_fetch_sub(&home->beyond, 1, __ATOMIC_RELAXED);
		return true;
	}
	return false;
}

static uintptr_t held(const void *p)
{
	return (uintptr_t)p | 1;
}

static void uncount(const void *p)
{
	__atomic_fetch_sub(cell_of(p), 1, __ATOMIC_RELAXED);
}

bool shim_set_add(const void *p)
{
	uintptr_t all = get_set();
	unsigned int distance;

	if (!all || (shim_may_be_sampled(p) && change(p, held(p), held(p))))
		return false;
	for (distance = 0; distance < NEAR; distance++) {
		if (!swap(bucket_of(all, p, distance), 0, (uintptr_t)p))
			continue;
		if (distance)
			__atomic_fetch_add(&bucket_of(all, p, 0)->beyond, 1, __ATOMIC_RELAXED);
		__atomic_fetch_add(cell_of(p), 1, __ATOMIC_RELAXED);
		return true;
	}
	return false;
}

bool shim_set_has(const void *p)
{
	return change(p, (uintptr_t)p, (uintptr_t)p);
}

bool shim_set_remove(const void *p)
{
	if (!change(p, (uintptr_t)p, 0))
		return false;
	uncount(p);
	return true;
}

bool shim_set_hold(const void *p)
{
	return change(p, (uintptr_t)p, held(p));
}

void shim_set_keep(const void *p)
{
	change(p, held(p), (uintptr_t)p);
}

void shim_set_drop(const void *p)
{
	/* After a fork in the middle there is none. */
	if (change(p, held(p), 0))
		uncount(p);
}

/* After a fork: there is no other thread. */
void shim_set_clear(void)
{
	size_t i;

	if (set)
		gprof_syscall(SYS_madvise, (long)buckets_of(set), size_of(set & BITS_MASK), MADV_DONTNEED,
			      0, 0, 0);
	for (i = 0; i < 1 << SHIM_CELL_BITS; i++)
		shim_cells[i] = 0;
	shim_boot_mark();
}
