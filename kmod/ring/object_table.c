// SPDX-License-Identifier: GPL-2.0-only
/*
 * object_table: sampled things that last, while they do.
 *
 *	kernel alone:      [keys of bucket 0][keys of bucket 1] ...
 *	kernel and user:   [head][slots of bucket 0][slots of bucket 1] ...
 *
 * Each key has one owner: a thing is added before it can end, and ends once. So no two
 * of the calls below are about one key at a time, but about one bucket they may be, on
 * other CPUs and in interrupts in the middle of each other; all that they share is
 * taken by compare-exchange. Of two ends of one key, which is a fault of its owner, the
 * first one counts.
 *
 * A bucket that is full gives way to the next ones, a few; it counts its keys there, so
 * that a look-up of another key need not go on.
 *
 * The order of accesses is that of linux/gprof.h, and between two users of a slot:
 *
 *	store live, time    L	|	compare-exchange key  I
 *	store-release key   K	|	store live, fill the slot  M
 *
 * K pairs with I, which is a full barrier, so that a reader that sees the new content
 * sees by J that the slot is no longer the old one's.
 */
#include "object_table.h"
#include "buffer_pages.h"
#include "compat/mm.h"
#include "user/memlock.h"

#include <linux/build_bug.h>
#include <linux/log2.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/timekeeping.h>
#include <linux/vmalloc.h>

#define GFP_OBJECTS	(GFP_KERNEL_ACCOUNT | __GFP_RETRY_MAYFAIL | __GFP_NOWARN)

#define NEAR		8	/* buckets in which a key may be */
#define BITS_MIN	4	/* of buckets: more than are near */
#define ENDING		1L

/* Places are not used evenly: a quarter more than may be wanted. */
static unsigned int bits_for(u32 slots)
{
	u64 buckets = div_u64((u64)slots + slots / 4, GPROF_OBJECT_TABLE_WAYS) + 1;

	return max_t(unsigned int, ilog2(roundup_pow_of_two(buckets)), BITS_MIN);
}

static u64 nr_slots(unsigned int bits)
{
	return (u64)GPROF_OBJECT_TABLE_WAYS << bits;
}

static u64 nr_pages(unsigned int bits)
{
	return 1 + DIV_ROUND_UP_ULL(nr_slots(bits) * sizeof(struct gprof_object_slot), PAGE_SIZE);
}

/**
 * gprof_object_table_slots() - how many a table has
 * @table: table
 */
u32 gprof_object_table_slots(const struct gprof_object_table *table)
{
	return nr_slots(table->bits);
}

/**
 * gprof_object_table_slots_for() - likewise, before it is there
 * @slots: how many things it is for
 */
u32 gprof_object_table_slots_for(u32 slots)
{
	return nr_slots(bits_for(slots));
}

/**
 * gprof_object_table_bytes() - memory that a table takes, for the charge
 * @slots: how many things it is for
 */
u64 gprof_object_table_bytes(u32 slots)
{
	unsigned int bits = bits_for(slots);

	return gprof_memory_of(sizeof(struct gprof_object_table)) + (nr_pages(bits) << PAGE_SHIFT) +
	       gprof_memory_of(nr_pages(bits) * sizeof(struct page *)) +
	       gprof_memory_of(sizeof(struct gprof_object_table_bucket) << bits);
}

static int allocate(struct gprof_object_table *table)
{
	unsigned int nr = nr_pages(table->bits);

	table->buckets = kvcalloc(1UL << table->bits, sizeof(*table->buckets), GFP_OBJECTS);
	table->pages = kvcalloc(nr, sizeof(*table->pages), GFP_OBJECTS);
	if (!table->buckets || !table->pages)
		return -ENOMEM;
	while (table->nr_pages < nr) {
		struct page *page = alloc_page(GFP_OBJECTS | __GFP_ZERO);

		if (!page || fatal_signal_pending(current)) {
			if (page)
				__free_page(page);
			return -ENOMEM;
		}
		table->pages[table->nr_pages++] = page;
	}
	table->memory = vmap(table->pages, nr, VM_MAP, PAGE_KERNEL);
	return table->memory ? 0 : -ENOMEM;
}

/**
 * gprof_object_table_new() - make an empty table
 * @slots: how many things it is for, at most GPROF_ALLOC_SLOTS_MAX; it may have more
 *
 * Context: Task.
 * Return: table or NULL.
 */
struct gprof_object_table *gprof_object_table_new(u32 slots)
{
	struct gprof_object_table *table;

	BUILD_BUG_ON(sizeof(struct gprof_object_table_bucket) != 64);
	if (!gprof_buffers_fit_host(gprof_object_table_bytes(slots)))
		return NULL;
	table = kzalloc(sizeof(*table), GFP_OBJECTS);
	if (!table)
		return NULL;
	table->bits = bits_for(slots);
	if (allocate(table)) {
		gprof_object_table_free(table);
		return NULL;
	}
	table->head = table->memory;
	table->slots = table->memory + PAGE_SIZE;
	*table->head = (struct gprof_object_table_head){
		.version = GPROF_ABI_VERSION,
		.header_size = sizeof(*table->head),
		.slot_size = sizeof(*table->slots),
		.nr_slots = nr_slots(table->bits),
		.slots_offset = PAGE_SIZE,
		.size = (u64)table->nr_pages << PAGE_SHIFT,
	};
	return table;
}

/**
 * gprof_object_table_free() - free a table
 * @table: table, also a half-made one, or NULL
 *
 * Context: Task; it is mapped no more: a mapping holds the file.
 */
void gprof_object_table_free(struct gprof_object_table *table)
{
	if (!table)
		return;
	vunmap(table->memory);
	while (table->nr_pages)
		__free_page(table->pages[--table->nr_pages]);
	kvfree(table->pages);
	kvfree(table->buckets);
	kfree(table);
}

/**
 * gprof_object_table_begin() - forget all that was live
 * @table: table that nobody adds to or removes from
 *
 * Context: Task.
 */
void gprof_object_table_begin(struct gprof_object_table *table)
{
	u64 i;

	WRITE_ONCE(table->head->starts, table->head->starts + 1);
	smp_wmb();	/* pairs with J of a reader, which looks at @starts behind it */
	for (i = 0; i < nr_slots(table->bits); i++) {
		struct gprof_object_slot *slot = &table->slots[i];

		if (slot->live & GPROF_OBJECT_LIVE)
			WRITE_ONCE(slot->live, slot->live & ~GPROF_OBJECT_LIVE);
		WRITE_ONCE(slot->time, 0);
		if (!(i & 0xffff))
			cond_resched();
	}
	for (i = 0; i < 1UL << table->bits; i++) {
		memset(&table->buckets[i], 0, sizeof(table->buckets[i]));
		if (!(i & 0x3fff))
			cond_resched();
	}
	WRITE_ONCE(table->head->added, 0);
	WRITE_ONCE(table->head->removed, 0);
	WRITE_ONCE(table->head->full, 0);
	WRITE_ONCE(table->head->unseen, 0);
	smp_wmb();	/* pairs with a reader's load of @starts, before which nothing is read */
	WRITE_ONCE(table->head->starts, table->head->starts + 1);
}

static void count_objects(__u64 *counter, u64 nr)
{
	BUILD_BUG_ON(sizeof(atomic64_t) != sizeof(*counter));
	atomic64_add(nr, (atomic64_t *)counter);
}

/**
 * gprof_object_table_count_unseen() - ends were not told
 * @table: table
 * @nr: how many, at most
 *
 * Context: Any.
 */
void gprof_object_table_count_unseen(struct gprof_object_table *table, u64 nr)
{
	count_objects(&table->head->unseen, nr);
}

/**
 * gprof_object_table_count_full() - something begins to last for which somebody else has no room
 * @table: table
 *
 * Context: Any.
 */
void gprof_object_table_count_full(struct gprof_object_table *table)
{
	count_objects(&table->head->full, 1);
}

static unsigned int behind(const struct gprof_object_table *table, unsigned int home,
			   unsigned int distance)
{
	return (home + distance) & ((1U << table->bits) - 1);
}

/**
 * gprof_object_table_find_slow() - the seldom half of gprof_object_table_find()
 * @table: table
 * @home: bucket that the key is not in
 * @key: key
 *
 * Context: Any.
 * Return: where, or -1.
 */
int gprof_object_table_find_slow(const struct gprof_object_table *table, unsigned int home,
				 unsigned long key)
{
	unsigned int distance, i;

	for (distance = 1; distance < NEAR; distance++) {
		unsigned int n = behind(table, home, distance);

		for (i = 0; i < GPROF_OBJECT_TABLE_WAYS; i++) {
			if (atomic_long_read(&table->buckets[n].keys[i]) == (long)key)
				return n * GPROF_OBJECT_TABLE_WAYS + i;
		}
	}
	return -1;
}

static int claim(struct gprof_object_table *table, unsigned long key)
{
	unsigned int home = gprof_object_table_home(table, key), distance, i;

	for (distance = 0; distance < NEAR; distance++) {
		unsigned int n = behind(table, home, distance);

		for (i = 0; i < GPROF_OBJECT_TABLE_WAYS; i++) {
			atomic_long_t *place = &table->buckets[n].keys[i];

			/* I, pairs with K and with a reader's J */
			if (atomic_long_read(place) || atomic_long_cmpxchg(place, 0, key))
				continue;
			if (distance)
				atomic_long_inc(&table->buckets[home].beyond);
			return n * GPROF_OBJECT_TABLE_WAYS + i;
		}
	}
	return -1;
}

/**
 * gprof_object_table_add() - something begins to last
 * @table: table
 * @key: by which its end will be known: an address, at least 2; nobody else adds it or
 *	removes it meanwhile
 * @time: for the slot
 * @value: likewise
 * @weight: likewise
 * @ended: gets the end of the thing that had the slot before; 0: there was none
 *
 * Context: Any incl. NMI. No lock, no allocation.
 * Return: the word of its slot, for GPROF_SAMPLE_REC_F_OBJECT; 0: there is none free.
 */
u64 gprof_object_table_add(struct gprof_object_table *table, unsigned long key, u64 time, u64 value,
			   u64 weight, u64 *ended)
{
	int at = gprof_object_table_find(table, key);
	struct gprof_object_slot *slot;
	u64 live;

	/* The thing that was there has ended, or nothing else could be there now. */
	if (unlikely(at >= 0)) {
		gprof_object_table_remove(table, at, key);
		gprof_object_table_count_unseen(table, 1);
	}
	at = claim(table, key);
	if (unlikely(at < 0)) {
		count_objects(&table->head->full, 1);
		return 0;
	}
	slot = &table->slots[at];
	*ended = READ_ONCE(slot->time);
	live = ((GPROF_OBJECT_SERIAL(READ_ONCE(slot->live)) + 1) << GPROF_OBJECT_SERIAL_SHIFT) |
	       GPROF_OBJECT_LIVE | at;
	WRITE_ONCE(slot->live, live & ~GPROF_OBJECT_LIVE);
	smp_wmb();	/* M, pairs with a reader's J, which takes no begin for the end before */
	WRITE_ONCE(slot->time, time);
	WRITE_ONCE(slot->value, value);
	WRITE_ONCE(slot->weight, weight);
	/* G, pairs with a reader's H */
	smp_store_release(&slot->live, live);
	count_objects(&table->head->added, 1);
	return live;
}

/**
 * gprof_object_table_remove() - it has ended
 * @table: table
 * @at: where it was found
 * @key: its key
 *
 * Context: Any incl. NMI. No lock, no allocation.
 */
void gprof_object_table_remove(struct gprof_object_table *table, unsigned int at, unsigned long key)
{
	unsigned int n = at / GPROF_OBJECT_TABLE_WAYS, home = gprof_object_table_home(table, key);
	atomic_long_t *place = &table->buckets[n].keys[at % GPROF_OBJECT_TABLE_WAYS];
	struct gprof_object_slot *slot = &table->slots[at];

	if (atomic_long_cmpxchg(place, key, ENDING) != (long)key)
		return;
	WRITE_ONCE(slot->live, slot->live & ~GPROF_OBJECT_LIVE);
	smp_wmb();	/* L, pairs with a reader's J, which takes no end for the begin */
	WRITE_ONCE(slot->time, max(ktime_get_mono_fast_ns(), slot->time + 1));
	if (n != home)
		atomic_long_dec(&table->buckets[home].beyond);
	count_objects(&table->head->removed, 1);
	/* K, pairs with I of the next owner of the slot */
	atomic_long_set_release(place, 0);
}

/**
 * gprof_object_table_remove_at() - the thing that is there has ended
 * @table: table
 * @at: slot; nobody adds or removes there meanwhile
 *
 * Context: Any.
 */
void gprof_object_table_remove_at(struct gprof_object_table *table, unsigned int at)
{
	struct gprof_object_table_bucket *b = &table->buckets[at / GPROF_OBJECT_TABLE_WAYS];
	unsigned long key = atomic_long_read(&b->keys[at % GPROF_OBJECT_TABLE_WAYS]);

	if (key > ENDING)
		gprof_object_table_remove(table, at, key);
}

/**
 * gprof_object_table_resize() - a part of it has ended
 * @table: table
 * @at: where it was found; nobody adds or removes its key meanwhile
 * @value: the part that is left
 *
 * Context: Any incl. NMI. No lock, no allocation.
 */
void gprof_object_table_resize(struct gprof_object_table *table, unsigned int at, u64 value)
{
	WRITE_ONCE(table->slots[at].value, value);
}

/**
 * gprof_object_table_mmap() - map a table into user space
 * @table: table
 * @vma: mapping that is being made: of the first page, or of all
 *
 * Context: Task, mmap_lock of the process held for writing.
 * Return: 0; -EINVAL for a wrong length or a private mapping, -EPERM for more
 * rights than user space may have.
 */
int gprof_object_table_mmap(struct gprof_object_table *table, struct vm_area_struct *vma)
{
	unsigned long nr = vma_pages(vma);

	if (nr != 1 && nr != table->nr_pages)
		return -EINVAL;
	return gprof_buffer_pages_mmap(vma, table->pages, nr, false);
}
