// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * object_table.c: the reader's half of the object table.
 *
 * The order of accesses, from <linux/gprof.h>, kernel | reader:
 *
 *	claim the slot      I	|	load-acquire live	H
 *	fill it			|	read the rest
 *	store-release live  G	|	read barrier		J
 *				|	load live again
 *
 * G pairs with H, I with J: where live is the same before and behind, so is the rest.
 */
#include "object_table.h"

#include <errno.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static uint64_t load(const __u64 *p, memory_order order)
{
	return atomic_load_explicit((const _Atomic uint64_t *)p, order);
}

uint64_t gprof_object_table_count(const __u64 *counter)
{
	return load(counter, memory_order_relaxed);
}

bool gprof_object_table_fits(const struct gprof_object_table_head *h, size_t size)
{
	return h->version == GPROF_ABI_VERSION && h->header_size >= sizeof(*h) && h->size == size &&
	       h->slot_size >= sizeof(struct gprof_object_slot) && h->slot_size % 8 == 0 &&
	       h->slots_offset % 8 == 0 && h->slots_offset <= size &&
	       h->nr_slots <= (size - h->slots_offset) / h->slot_size &&
	       h->nr_slots <= GPROF_OBJECT_SLOT(~0ULL) + 1;
}

static void *map(int fd, size_t size)
{
	void *p = mmap(NULL, size, PROT_READ, MAP_SHARED, fd, (off_t)GPROF_MMAP_OBJECTS);

	return p == MAP_FAILED ? NULL : p;
}

int gprof_object_table_map(struct gprof_object_table *t, int fd, const char *what,
			   struct gprof_error *e)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	const struct gprof_object_table_head *h = map(fd, page);

	memset(t, 0, sizeof(*t));
	if (!h)
		return gprof_error_set(e, errno, "%s: cannot map the object table (%s)",
				       what, gprof_strerror(errno));
	/* The first page says how many there are. */
	t->size = (size_t)h->size;
	munmap((void *)h, page);
	h = map(fd, t->size);
	if (!h)
		return gprof_error_set(e, errno, "%s: cannot map the object table, %zu bytes "
				       "(%s)", what, t->size, gprof_strerror(errno));
	t->head = h;
	if (gprof_object_table_fits(h, t->size))
		return 0;
	gprof_object_table_unmap(t);
	return gprof_error_set(e, EPROTO, "%s: the object table has a head "
			       "that this library does not know; install module and library of one "
			       "release", what);
}

void gprof_object_table_unmap(struct gprof_object_table *t)
{
	if (t->head)
		munmap((void *)t->head, t->size);
	memset(t, 0, sizeof(*t));
}

bool gprof_object_table_last(const struct gprof_object_table *t, uint32_t slot,
			     struct gprof_object_slot *out)
{
	const struct gprof_object_slot *s =
		(const void *)((const char *)t->head + t->head->slots_offset +
			       (size_t)slot * t->head->slot_size);

	out->live = load(&s->live, memory_order_acquire);	/* H, pairs with G */
	out->time = load(&s->time, memory_order_relaxed);
	out->value = load(&s->value, memory_order_relaxed);
	out->weight = load(&s->weight, memory_order_relaxed);
	atomic_thread_fence(memory_order_acquire);	/* J, pairs with I, L and M */
	/* Else it has ended meanwhile; the object in its place began after this reading did. */
	return load(&s->live, memory_order_relaxed) == out->live;
}

bool gprof_object_table_read(const struct gprof_object_table *t, uint32_t slot,
			     struct gprof_object_slot *out)
{
	return gprof_object_table_last(t, slot, out) && out->live & GPROF_OBJECT_LIVE;
}
