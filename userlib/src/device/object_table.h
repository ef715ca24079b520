/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * object_table.h: the kernel's table of live objects, beside the rings of a recorder.
 */
#ifndef GPROF_OBJECT_TABLE_H
#define GPROF_OBJECT_TABLE_H

#include <linux/gprof.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

/**
 * struct gprof_object_table - a table that is mapped, or lent by a test
 * @head: begin of the mapping; NULL: there is none
 * @size: bytes of it
 */
struct gprof_object_table {
	const struct gprof_object_table_head *head;
	size_t size;
};

/**
 * gprof_object_table_map() - map the table of a recorder
 * @t: result for gprof_object_table_unmap()
 * @fd: device after SETUP
 * @what: name of the event
 * @e: sentence on failure
 *
 * Return: 0 or -errno.
 */
int gprof_object_table_map(struct gprof_object_table *t, int fd, const char *what,
			   struct gprof_error *e);
void gprof_object_table_unmap(struct gprof_object_table *t);

/** gprof_object_table_fits() - does a table of that size describe itself so that it can be read? */
bool gprof_object_table_fits(const struct gprof_object_table_head *head, size_t size);

/** gprof_object_table_count() - a counter of the head, which the kernel may be changing */
uint64_t gprof_object_table_count(const __u64 *counter);

/**
 * gprof_object_table_read() - contents of a slot
 * @t: table, which the kernel may be changing
 * @slot: number, below @t->head->nr_slots
 * @out: gets it
 *
 * Return: whether it has a live object.
 */
bool gprof_object_table_read(const struct gprof_object_table *t, uint32_t slot,
			     struct gprof_object_slot *out);

/**
 * gprof_object_table_last() - likewise of an object that is live, or was the last one to be so
 * @t: table, as above
 * @slot: number, as above
 * @out: gets it; @out->time is the end of an object that is not live, or its begin a moment longer
 *
 * Return: false: the slot was changed meanwhile.
 */
bool gprof_object_table_last(const struct gprof_object_table *t, uint32_t slot,
			     struct gprof_object_slot *out);

#endif /* GPROF_OBJECT_TABLE_H */
