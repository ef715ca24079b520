// SPDX-License-Identifier: GPL-2.0-only
#include "object_table.h"

#include <sys/mman.h>
#include <unistd.h>

const struct gprof_object_table_head *object_table_map(int fd, size_t *size)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	void *head = mmap(NULL, page, PROT_READ, MAP_SHARED, fd, GPROF_MMAP_OBJECTS);

	if (head == MAP_FAILED)
		return NULL;
	*size = ((const struct gprof_object_table_head *)head)->size;
	munmap(head, page);
	head = mmap(NULL, *size, PROT_READ, MAP_SHARED, fd, GPROF_MMAP_OBJECTS);
	return head == MAP_FAILED ? NULL : head;
}

const struct gprof_object_slot *object_table_slot(const struct gprof_object_table_head *head,
						uint64_t number)
{
	return (const void *)((const char *)head + head->slots_offset + number * head->slot_size);
}

bool object_table_has(const struct gprof_object_table_head *head, uint64_t live)
{
	const struct gprof_object_slot *s = object_table_slot(head, GPROF_OBJECT_SLOT(live));

	return live && GPROF_OBJECT_SLOT(live) < head->nr_slots &&
	       __atomic_load_n(&s->live, __ATOMIC_RELAXED) == live;
}
