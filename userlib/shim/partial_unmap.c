// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * partial_unmap.c: the parts of sampled mappings that are left after partial unmaps.
 *
 * A mapping can be freed in parts, and of several mappings parts at once. Parts that are left are
 * in a tree by address (a treap), so that it does not matter how many there are. A range is
 * detached before it is freed, as it may be another's afterwards, and reported once it is free; so
 * a mapping is reported by a number, which unlike an address has one owner.
 *
 * All callers have the lock of hooks_mmap.c.
 */
#include "shim.h"

#define PARTS_MAX	65536

/**
 * struct part - a part that is left, or was taken out
 * @start: first byte
 * @end: behind the last
 * @owner: mapping that it is of
 * @left: parts before it; 0: none
 * @right: parts behind it; in a list the next one
 */
struct part {
	uintptr_t start;
	uintptr_t end;
	uint32_t owner;
	uint32_t left;
	uint32_t right;
};

/**
 * struct owner - a mapping
 * @id: odd, unlike any address of an allocation
 * @bytes: that are left; in the free list the next one
 */
struct owner {
	uint64_t id;
	uint64_t bytes;
};

/* From 1; those that were used and are free are in lists. */
static struct part parts[PARTS_MAX + 1];
static struct owner owners[PARTS_MAX + 1];
static uint32_t root, nr_parts, nr_owners, free_part, free_owner;
static uint32_t nr_in_tree;
static uint32_t generation;	/* of this process */
static uint64_t last_id;

bool shim_parts_any(void)
{
	return __atomic_load_n(&nr_in_tree, __ATOMIC_RELAXED);
}

/* After a fork: parts detached from the parent's tree are not attached to ours. */
void shim_parts_forget(void)
{
	root = 0;
	nr_parts = 0;
	nr_owners = 0;
	free_part = 0;
	free_owner = 0;
	nr_in_tree = 0;
	generation++;
}

static uint32_t new_part(uintptr_t start, uintptr_t end, uint32_t owner)
{
	uint32_t n = free_part;

	if (n)
		free_part = parts[n].right;
	else if (nr_parts < PARTS_MAX)
		n = ++nr_parts;
	else
		return 0;
	parts[n] = (struct part){ start, end, owner, 0, 0 };
	return n;
}

static void release(uint32_t n)
{
	parts[n].right = free_part;
	free_part = n;
}

static uint32_t new_owner(uint64_t bytes)
{
	uint32_t n = free_owner;

	if (n)
		free_owner = (uint32_t)owners[n].bytes;
	else if (nr_owners < PARTS_MAX)
		n = ++nr_owners;
	else
		return 0;
	last_id += 2;
	owners[n] = (struct owner){ last_id | 1, bytes };
	return n;
}

static void release_owner(uint32_t n)
{
	owners[n].bytes = free_owner;
	free_owner = n;
}

/* ---- the tree ---- */

static uint32_t rank(uint32_t n)
{
	return n * 0x9e3779b1U;
}

/* Parts that begin below @at go to *@low, the rest of the tree @n to *@high. */
static void split(uint32_t n, uintptr_t at, uint32_t *low, uint32_t *high)
{
	while (n) {
		if (parts[n].start < at) {
			*low = n;
			low = &parts[n].right;
			n = *low;
		} else {
			*high = n;
			high = &parts[n].left;
			n = *high;
		}
	}
	*low = 0;
	*high = 0;
}

static void insert(uint32_t n)
{
	uint32_t *link = &root;

	while (*link && rank(*link) > rank(n))
		link = parts[*link].start < parts[n].start ? &parts[*link].right :
							      &parts[*link].left;
	split(*link, parts[n].start, &parts[n].left, &parts[n].right);
	*link = n;
	__atomic_store_n(&nr_in_tree, nr_in_tree + 1, __ATOMIC_RELAXED);
}

static void unlink_part(uint32_t *link)
{
	uint32_t low = parts[*link].left, high = parts[*link].right;

	while (low && high) {
		if (rank(low) > rank(high)) {
			*link = low;
			link = &parts[low].right;
			low = *link;
		} else {
			*link = high;
			link = &parts[high].left;
			high = *link;
		}
	}
	*link = low ? low : high;
	__atomic_store_n(&nr_in_tree, nr_in_tree - 1, __ATOMIC_RELAXED);
}

/* The first that ends behind @at: as no two overlap, their ends are in the same order. */
static uint32_t *first_behind(uintptr_t at)
{
	uint32_t *link = &root, *found = NULL;

	while (*link) {
		if (parts[*link].end > at) {
			found = link;
			link = &parts[*link].left;
		} else {
			link = &parts[*link].right;
		}
	}
	return found;
}

/* ---- operations ---- */

uint64_t shim_parts_add(uintptr_t start, uintptr_t end)
{
	uint32_t owner = new_owner(end - start), n;

	if (!owner)
		return 0;
	n = new_part(start, end, owner);
	if (!n) {
		release_owner(owner);
		return 0;
	}
	insert(n);
	return owners[owner].id;
}

/* The part of @n outside stays; without room for it, it is detached too. */
static void narrow(uint32_t n, uintptr_t start, uintptr_t end)
{
	uint32_t rest;

	if (parts[n].start < start) {
		rest = new_part(parts[n].start, start, parts[n].owner);
		if (rest) {
			insert(rest);
			parts[n].start = start;
		}
	}
	if (parts[n].end > end) {
		rest = new_part(end, parts[n].end, parts[n].owner);
		if (rest) {
			insert(rest);
			parts[n].end = end;
		}
	}
}

struct shim_parts shim_parts_detach(uintptr_t start, uintptr_t end)
{
	struct shim_parts taken = { 0, generation };
	uint32_t *link;

	while ((link = first_behind(start)) && parts[*link].start < end) {
		uint32_t n = *link;

		unlink_part(link);
		narrow(n, start, end);
		parts[n].right = taken.first;
		taken.first = n;
		/* A part without room cannot be found again. */
	}
	return taken;
}

void shim_parts_attach(struct shim_parts taken, uintptr_t from, uintptr_t to)
{
	uint32_t n = taken.generation == generation ? taken.first : 0, next;

	for (; n; n = next) {
		next = parts[n].right;
		parts[n].start += to - from;
		parts[n].end += to - from;
		insert(n);
	}
}

void shim_parts_end(struct shim_parts taken, bool tell)
{
	uint32_t n = taken.generation == generation ? taken.first : 0, next;

	for (; n; n = next) {
		struct owner *o = &owners[parts[n].owner];
		const void *id = (const void *)(uintptr_t)o->id;

		next = parts[n].right;
		o->bytes -= parts[n].end - parts[n].start;
		if (tell && o->bytes)
			shim_report_resize(id, o->bytes);
		else if (tell)
			shim_report_free(id);
		if (!o->bytes)
			release_owner(parts[n].owner);
		release(n);
	}
}
