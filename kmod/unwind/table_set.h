/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * table_set: the tables that recorders of one user share, and the mappings they are used on.
 *
 * A table may say anything, so it may serve nobody but its giver: a set belongs to one
 * user with one privilege. It is there while a recorder of that kind is.
 */
#ifndef GPROF_TABLE_SET_H
#define GPROF_TABLE_SET_H

#include "mm_tables.h"
#include "user/memlock.h"

#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/types.h>
#include <linux/uidgid.h>

struct gprof_unwind_table_add;

/**
 * struct gprof_table_set - a set
 * @node: of all sets
 * @owner: effective user
 * @privileged: with CAP_PERFMON
 * @id: number, never 0
 * @users: recorders
 * @lock: protects the members that follow, and is held while mappings are read
 * @charge: for all of it
 * @unwinds: tables
 * @nr: how many
 * @bytes: memory that they take
 * @mm_tables: of processes
 * @nr_mm_tables: how many
 * @copy: for making one
 * @refused_ns: when mappings could not be kept last, for threads that read their own
 */
struct gprof_table_set {
	struct list_head node;
	kuid_t owner;
	bool privileged;
	u16 id;
	unsigned int users;
	struct mutex lock;		/* protects tables and texts */
	struct gprof_charge charge;
	struct hlist_head unwinds;
	u32 nr;
	u64 bytes;
	struct list_head mm_tables;
	u32 nr_mm_tables;
	struct gprof_exec_map_copy *copy;
	u64 refused_ns;
};

u64 gprof_table_set_features(void);
struct gprof_table_set *gprof_table_set_get(bool privileged);
void gprof_table_set_put(struct gprof_table_set *set);
int gprof_table_set_add(struct gprof_table_set *set, struct gprof_unwind_table_add *arg);

struct gprof_mm_tables *gprof_table_set_begin(struct gprof_table_set *set, struct mm_struct *mm);
int gprof_table_set_end(struct gprof_table_set *set, struct gprof_mm_tables *t, gfp_t gfp);
void gprof_table_set_cancel(struct gprof_table_set *set);
bool gprof_table_set_map_current(struct gprof_table_set *set);

#endif /* GPROF_TABLE_SET_H */
