/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * object_table: sampled things that last, while they do: a table beside the rings, which user
 * space maps.
 *
 * A ring is a stream, and may lose records that do not fit; a thing that a kind must know for
 * sure has a slot here. The key by which it is found is the kernel's alone.
 */
#ifndef GPROF_OBJECT_TABLE_H
#define GPROF_OBJECT_TABLE_H

#include <linux/atomic.h>
#include <linux/cache.h>
#include <linux/compiler.h>
#include <linux/gprof.h>
#include <linux/hash.h>
#include <linux/types.h>

struct page;
struct vm_area_struct;

#define GPROF_OBJECT_TABLE_WAYS	7

/**
 * struct gprof_object_table_bucket - keys with the same hash
 * @keys: each the key of the thing in the slot; 0: free; 1: being freed
 * @beyond: keys with this hash that are in one of the next buckets
 */
struct gprof_object_table_bucket {
	atomic_long_t keys[GPROF_OBJECT_TABLE_WAYS];
	atomic_long_t beyond;
} ____cacheline_aligned;

/**
 * struct gprof_object_table - a table
 * @bits: of the number of buckets
 * @buckets: keys
 * @head: first page of the part that user space maps
 * @slots: values of the keys, in the same order; likewise
 * @pages: that mapping
 * @nr_pages: of it
 * @memory: the kernel's mapping of it
 */
struct gprof_object_table {
	unsigned int bits;
	struct gprof_object_table_bucket *buckets;
	struct gprof_object_table_head *head;
	struct gprof_object_slot *slots;
	struct page **pages;
	unsigned int nr_pages;
	void *memory;
};

u64 gprof_object_table_bytes(u32 slots);
u32 gprof_object_table_slots(const struct gprof_object_table *table);
u32 gprof_object_table_slots_for(u32 slots);
struct gprof_object_table *gprof_object_table_new(u32 slots);
void gprof_object_table_free(struct gprof_object_table *table);
void gprof_object_table_begin(struct gprof_object_table *table);
int gprof_object_table_mmap(struct gprof_object_table *table, struct vm_area_struct *vma);

u64 gprof_object_table_add(struct gprof_object_table *table, unsigned long key, u64 time, u64 value,
			   u64 weight, u64 *ended);
void gprof_object_table_remove(struct gprof_object_table *table, unsigned int at,
			       unsigned long key);
void gprof_object_table_remove_at(struct gprof_object_table *table, unsigned int at);
void gprof_object_table_resize(struct gprof_object_table *table, unsigned int at, u64 value);
int gprof_object_table_find_slow(const struct gprof_object_table *table, unsigned int home,
				 unsigned long key);
void gprof_object_table_count_unseen(struct gprof_object_table *table, u64 nr);
void gprof_object_table_count_full(struct gprof_object_table *table);

static __always_inline unsigned int gprof_object_table_home(const struct gprof_object_table *table,
							    unsigned long key)
{
	return (u64)key * GOLDEN_RATIO_64 >> (64 - table->bits);
}

/**
 * gprof_object_table_find() - where is it?
 * @table: table
 * @key: address of at least 2; nobody adds it, or removes it, meanwhile
 *
 * Most are in no table: each look is a comparison with memory, in one cache line.
 *
 * Context: Any.
 * Return: for gprof_object_table_remove(), or -1.
 */
static __always_inline int gprof_object_table_find(const struct gprof_object_table *table,
						   unsigned long key)
{
	unsigned int home = gprof_object_table_home(table, key), i;
	const struct gprof_object_table_bucket *b = &table->buckets[home];

	for (i = 0; i < GPROF_OBJECT_TABLE_WAYS; i++) {
		if (unlikely(atomic_long_read(&b->keys[i]) == (long)key))
			return home * GPROF_OBJECT_TABLE_WAYS + i;
	}
	return unlikely(atomic_long_read(&b->beyond)) ?
		       gprof_object_table_find_slow(table, home, key) :
		       -1;
}

#endif /* GPROF_OBJECT_TABLE_H */
