/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * live: sampled things that last, while they do: a table beside the rings, which user
 * space maps.
 *
 * A ring is a stream, and may lose records that do not fit; a thing that a kind must know for
 * sure has a slot here. The key by which it is found is the kernel's alone.
 */
#ifndef GPROF_LIVE_H
#define GPROF_LIVE_H

#include <linux/atomic.h>
#include <linux/cache.h>
#include <linux/compiler.h>
#include <linux/gprof.h>
#include <linux/hash.h>
#include <linux/types.h>

struct page;
struct vm_area_struct;

#define GPROF_LIVE_WAYS	7

/**
 * struct gprof_live_bucket - keys with the same hash
 * @keys: each the key of the thing in the slot; 0: free; 1: being freed
 * @beyond: keys with this hash that are in one of the next buckets
 */
struct gprof_live_bucket {
	atomic_long_t keys[GPROF_LIVE_WAYS];
	atomic_long_t beyond;
} ____cacheline_aligned;

/**
 * struct gprof_live - a table
 * @bits: of the number of buckets
 * @buckets: keys
 * @head: first page of the part that user space maps
 * @slots: values of the keys, in the same order; likewise
 * @pages: that mapping
 * @nr_pages: of it
 * @memory: the kernel's mapping of it
 */
struct gprof_live {
	unsigned int bits;
	struct gprof_live_bucket *buckets;
	struct gprof_live_head *head;
	struct gprof_live_slot *slots;
	struct page **pages;
	unsigned int nr_pages;
	void *memory;
};

u64 gprof_live_bytes(u32 slots);
u32 gprof_live_slots(const struct gprof_live *l);
u32 gprof_live_slots_for(u32 slots);
struct gprof_live *gprof_live_new(u32 slots);
void gprof_live_free(struct gprof_live *l);
void gprof_live_begin(struct gprof_live *l);
int gprof_live_mmap(struct gprof_live *l, struct vm_area_struct *vma);

u64 gprof_live_add(struct gprof_live *l, unsigned long key, u64 time, u64 value, u64 weight);
void gprof_live_remove(struct gprof_live *l, unsigned int at, unsigned long key);
void gprof_live_remove_at(struct gprof_live *l, unsigned int at);
void gprof_live_resize(struct gprof_live *l, unsigned int at, u64 value);
int gprof_live_find_beyond(const struct gprof_live *l, unsigned int home, unsigned long key);
void gprof_live_miss(struct gprof_live *l, u64 nr);
void gprof_live_leave_out(struct gprof_live *l);

static __always_inline unsigned int gprof_live_home(const struct gprof_live *l, unsigned long key)
{
	return (u64)key * GOLDEN_RATIO_64 >> (64 - l->bits);
}

/**
 * gprof_live_find() - where is it?
 * @l: table
 * @key: address of at least 2; nobody adds it, or removes it, meanwhile
 *
 * Most are in no table: each look is a comparison with memory, in one cache line.
 *
 * Context: Any.
 * Return: for gprof_live_remove(), or -1.
 */
static __always_inline int gprof_live_find(const struct gprof_live *l, unsigned long key)
{
	unsigned int home = gprof_live_home(l, key), i;
	const struct gprof_live_bucket *b = &l->buckets[home];

	for (i = 0; i < GPROF_LIVE_WAYS; i++) {
		if (unlikely(atomic_long_read(&b->keys[i]) == (long)key))
			return home * GPROF_LIVE_WAYS + i;
	}
	return unlikely(atomic_long_read(&b->beyond)) ? gprof_live_find_beyond(l, home, key) : -1;
}

#endif /* GPROF_LIVE_H */
