/* SPDX-License-Identifier: GPL-2.0-only */
/* object_table.h: the table of what is live beside a recorder's rings, mapped. */
#ifndef GPROF_TEST_OBJECT_TABLE_H
#define GPROF_TEST_OBJECT_TABLE_H

#include <linux/gprof.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Maps all of it, whose size its head tells; NULL with errno. */
const struct gprof_object_table_head *object_table_map(int fd, size_t *size);
const struct gprof_object_slot *object_table_slot(const struct gprof_object_table_head *head,
						uint64_t number);
/* Is what a sample named so (0: nothing) still there? */
bool object_table_has(const struct gprof_object_table_head *head, uint64_t live);

#endif
