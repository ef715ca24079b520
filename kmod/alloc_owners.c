// SPDX-License-Identifier: GPL-2.0-only
/*
 * alloc_owners: rings of slots, by number.
 */
#include "alloc_owners.h"
#include "memlock.h"

#include <linux/log2.h>
#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/slab.h>

/* Slots to a ring, if all are used. */
#define RING_SLOTS	8

/**
 * struct ring - slots of some address spaces
 * @first: one of them
 * @nr: how many there are
 */
struct ring {
	u32 first;
	u32 nr;
};

/**
 * struct owned - a slot
 * @space: its address space; 0: unknown, or none: it is in no ring
 * @next: slot in the ring
 * @prev: likewise
 */
struct owned {
	u32 space;
	u32 next;
	u32 prev;
};

/**
 * struct gprof_alloc_owners - who has which slots of a table
 * @mask: number of rings, less one
 * @nr: of @slots
 * @rings: by the last bits of an address space's number
 * @slots: in the order of the table
 */
struct gprof_alloc_owners {
	u32 mask;
	u32 nr;
	struct ring *rings;
	struct owned *slots;
};

static u32 nr_rings(u32 slots)
{
	return roundup_pow_of_two(slots / RING_SLOTS + 1);
}

/**
 * gprof_alloc_owners_bytes() - memory that it takes, for the charge
 * @slots: that the table will have
 */
u64 gprof_alloc_owners_bytes(u32 slots)
{
	return gprof_memory_of(sizeof(struct gprof_alloc_owners)) +
	       gprof_memory_of((u64)nr_rings(slots) * sizeof(struct ring)) +
	       gprof_memory_of((u64)slots * sizeof(struct owned));
}

/**
 * gprof_alloc_owners_new() - nobody has anything
 * @slots: that the table has
 *
 * Context: Task.
 * Return: for gprof_alloc_owners_free(), or NULL.
 */
struct gprof_alloc_owners *gprof_alloc_owners_new(u32 slots)
{
	const gfp_t gfp = GFP_KERNEL_ACCOUNT | __GFP_RETRY_MAYFAIL | __GFP_NOWARN;
	struct gprof_alloc_owners *o = kzalloc(sizeof(*o), gfp);

	if (!o)
		return NULL;
	o->mask = nr_rings(slots) - 1;
	o->nr = slots;
	o->rings = kvcalloc(o->mask + 1, sizeof(*o->rings), gfp);
	o->slots = kvcalloc(slots, sizeof(*o->slots), gfp);
	if (o->rings && o->slots)
		return o;
	gprof_alloc_owners_free(o);
	return NULL;
}

/**
 * gprof_alloc_owners_free() - free it
 * @o: owners, or NULL
 *
 * Context: Task.
 */
void gprof_alloc_owners_free(struct gprof_alloc_owners *o)
{
	if (!o)
		return;
	kvfree(o->rings);
	kvfree(o->slots);
	kfree(o);
}

/**
 * gprof_alloc_owners_begin() - the table has been emptied
 * @o: owners that nobody else uses
 *
 * Context: Task.
 */
void gprof_alloc_owners_begin(struct gprof_alloc_owners *o)
{
	u32 i;

	memset(o->rings, 0, (o->mask + 1) * sizeof(*o->rings));
	for (i = 0; i < o->nr; i++) {
		o->slots[i].space = 0;
		if (!(i & 0xffff))
			cond_resched();
	}
}

static void unlink(struct gprof_alloc_owners *o, u32 at)
{
	struct owned *slot = &o->slots[at];
	struct ring *ring = &o->rings[slot->space & o->mask];

	o->slots[slot->prev].next = slot->next;
	o->slots[slot->next].prev = slot->prev;
	if (ring->first == at)
		ring->first = slot->next;
	ring->nr--;
	slot->space = 0;
}

/**
 * gprof_alloc_owners_set() - a slot changes hands
 * @o: owners
 * @at: slot
 * @space: number of the address space that has it, or 0: none, or nobody knows
 *
 * Context: Any.
 */
void gprof_alloc_owners_set(struct gprof_alloc_owners *o, u32 at, u32 space)
{
	struct ring *ring = &o->rings[space & o->mask];
	struct owned *slot = &o->slots[at];

	if (slot->space)
		unlink(o, at);
	if (!space)
		return;
	if (!ring->nr++) {
		ring->first = at;
		slot->next = at;
	} else {
		/* The last: whoever goes once around from the first sees it last. */
		slot->next = ring->first;
		slot->prev = o->slots[ring->first].prev;
		o->slots[slot->prev].next = at;
	}
	o->slots[slot->next].prev = at;
	slot->space = space;
}

/**
 * gprof_alloc_owners_count() - how often to call gprof_alloc_owners_take(), at most
 * @o: owners
 * @space: number of an address space that gets no more slots
 *
 * Context: Any.
 */
u32 gprof_alloc_owners_count(const struct gprof_alloc_owners *o, u32 space)
{
	return o->rings[space & o->mask].nr;
}

/**
 * gprof_alloc_owners_take() - take a slot away from an address space, if the next in its ring
 * is one
 * @o: owners
 * @space: its number
 *
 * Between two calls others may change what there is.
 *
 * Context: Any.
 * Return: slot; -ENOENT: the next one is of another.
 */
int gprof_alloc_owners_take(struct gprof_alloc_owners *o, u32 space)
{
	struct ring *ring = &o->rings[space & o->mask];
	u32 at = ring->first;

	if (!ring->nr)
		return -ENOENT;
	if (o->slots[at].space == space) {
		unlink(o, at);
		return at;
	}
	ring->first = o->slots[at].next;
	return -ENOENT;
}
