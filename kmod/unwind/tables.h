/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * tables: the tables that recorders of one user share, and the mappings they are used on.
 *
 * A table may say anything, so it may serve nobody but its giver: a set belongs to one
 * user with one privilege. It is there while a recorder of that kind is.
 */
#ifndef GPROF_TABLES_H
#define GPROF_TABLES_H

#include "text.h"
#include "user/memlock.h"

#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/types.h>
#include <linux/uidgid.h>

struct gprof_text_table;

/**
 * struct gprof_tables - a set
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
 * @texts: of processes
 * @nr_texts: how many
 * @copy: for making one
 * @refused_ns: when mappings could not be kept last, for threads that read their own
 */
struct gprof_tables {
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
	struct list_head texts;
	u32 nr_texts;
	struct gprof_text_copy *copy;
	u64 refused_ns;
};

u64 gprof_tables_features(void);
struct gprof_tables *gprof_tables_get(bool privileged);
void gprof_tables_put(struct gprof_tables *set);
int gprof_tables_add(struct gprof_tables *set, struct gprof_text_table *arg);

struct gprof_texts *gprof_tables_begin(struct gprof_tables *set, struct mm_struct *mm);
int gprof_tables_end(struct gprof_tables *set, struct gprof_texts *t, gfp_t gfp);
void gprof_tables_cancel(struct gprof_tables *set);
bool gprof_tables_learn_current(struct gprof_tables *set);

#endif /* GPROF_TABLES_H */
