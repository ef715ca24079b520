/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * mm_tables: which table is for the code at an address of a process.
 *
 * To look at mappings takes their lock, and time. So the thread that reads them anyway
 * leaves a copy, sorted, which walks search. Where something is unmapped the copy says so at
 * once: mm_watch tells before anything else can be mapped there. A mapping where nothing was
 * is no place in the copy, and has it renewed; until then walks look it up (lookup.h).
 */
#ifndef GPROF_MM_TABLES_H
#define GPROF_MM_TABLES_H

#include "mm/mm_watch.h"
#include "cfi_table.h"

#include <linux/list.h>
#include <linux/mm.h>
#include <linux/rcupdate.h>
#include <linux/spinlock.h>
#include <linux/types.h>

struct vm_area_struct;

#define GPROF_EXEC_MAP_MAX	1024	/* mappings of one process */

enum gprof_exec_map_kind {
	GPROF_EXEC_MAP_ANON, /* no file: made by the program itself */
	GPROF_EXEC_MAP_FILE,
	GPROF_EXEC_MAP_VDSO,
};

/**
 * struct gprof_exec_map - one executable mapping
 * @start: first address
 * @end: address after the last
 * @base: address that the table's first byte would have
 * @unwind: table, or NULL
 * @gone: it was unmapped since
 * @kind: GPROF_EXEC_MAP_*
 * @offset: in the file, of @start
 * @inode: file, while the mapping is not @gone and current's; it is not held
 * @id: what it was
 */
struct gprof_exec_map {
	u64 start;
	u64 end;
	u64 base;
	const struct gprof_cfi_table *cfi;
	bool gone;
	u8 kind;
	u64 offset;
	const struct inode *inode;
	struct gprof_file_id id;
};

/**
 * struct gprof_exec_map_list - the mappings at one time
 * @rcu: frees it
 * @nr: how many
 * @more: there were more than can be kept
 * @exec_vm: pages of code that the process had then; ULONG_MAX: of these some are gone
 * @checked: when files were looked at last; @next: from which on they will be
 * @python: number of that which has an interpreter of Python, or @nr and more: none has
 * @map: by address
 */
struct gprof_exec_map_list {
	struct rcu_head rcu;
	u32 nr;
	bool more;
	unsigned long exec_vm;
	u64 checked;
	u32 next;
	u32 python;
	struct gprof_exec_map map[];
};

/**
 * struct gprof_mm_tables - the known mappings of a process, to one set of tables
 * @user: subscription to the process' unmappings; its owner is the number of the set
 * @node: in the set
 * @dead: the process has ended
 * @lock: protects @list, its content, and @version
 * @version: a new number, never used before, whenever walks may differ from before
 * @list: NULL: nothing was read yet
 * @rcu: frees it
 * @read_ns: when it was read last
 * @bytes: that its set has charged for it
 */
struct gprof_mm_tables {
	struct gprof_mm_user user;
	struct list_head node;
	bool dead;
	raw_spinlock_t lock;		/* protects the list */
	u64 version;
	struct gprof_exec_map_list __rcu *list;
	struct rcu_head rcu;
	u64 read_ns;
	u64 bytes;
};

/**
 * struct gprof_exec_map_copy - a list that is being made
 * @nr: mappings
 * @more: there were more
 * @lacks: a file of them has no table
 * @map: by address
 */
struct gprof_exec_map_copy {
	u32 nr;
	bool more;
	bool lacks;
	struct gprof_exec_map map[GPROF_EXEC_MAP_MAX];
};

/**
 * gprof_mm_tables_find() - the known mappings of a process
 * @set: number of a set of tables
 * @mm: of current
 *
 * Context: Any incl. NMI, preemption off.
 * Return: that, while preemption is off, or NULL.
 */
static inline struct gprof_mm_tables *gprof_mm_tables_find(u32 set, const struct mm_struct *mm)
{
	struct gprof_mm_user *u = gprof_mm_find(set, mm);

	return u ? container_of(u, struct gprof_mm_tables, user) : NULL;
}

/**
 * gprof_exec_map_at() - the mapping of an address
 * @list: mappings
 * @addr: any number
 *
 * Context: Any incl. NMI, preemption off.
 * Return: mapping, or NULL.
 */
static inline const struct gprof_exec_map *gprof_exec_map_at(const struct gprof_exec_map_list *list,
							     u64 addr)
{
	const struct gprof_exec_map *map = list->map;
	u32 nr = list->nr;

	while (nr > 1) {
		u32 half = nr / 2;

		if (map[half].start <= addr)
			map += half;
		nr -= half;
	}
	if (!nr || addr < map->start || addr >= map->end || READ_ONCE(map->gone))
		return NULL;
	return map;
}

void gprof_exec_map_of(struct gprof_exec_map *map, struct vm_area_struct *vma);
void gprof_exec_map_note(struct gprof_exec_map_copy *copy, struct vm_area_struct *vma);

struct gprof_mm_tables *gprof_mm_tables_new(u32 set, struct mm_struct *mm);
void gprof_mm_tables_free(struct gprof_mm_tables *t);
int gprof_mm_tables_publish(struct gprof_mm_tables *t, const struct gprof_exec_map_copy *copy,
			    gfp_t gfp);
void gprof_mm_tables_attach(struct gprof_mm_tables *t, const struct gprof_cfi_table *u);
void gprof_mm_tables_check(struct gprof_mm_tables *t, u64 now);

/**
 * gprof_mm_tables_are_all() - has a process no code that is not in the copy?
 * @list: the copy
 * @mm: memory of the process
 *
 * Context: Any incl. NMI, preemption off.
 */
static inline bool gprof_mm_tables_are_all(const struct gprof_exec_map_list *list,
					   const struct mm_struct *mm)
{
	return !list->more && READ_ONCE(list->exec_vm) == READ_ONCE(mm->exec_vm);
}

/*
 * Whole pages, so that parts of a charge add up to it. With the parts of an ended process
 * that stay for a while: its mm, and two pages of tables.
 */
static inline u64 gprof_mm_tables_bytes(u32 nr)
{
	return 2 * PAGE_SIZE +
	       PAGE_ALIGN(sizeof(struct mm_struct) + sizeof(struct gprof_mm_tables) +
			  sizeof(struct gprof_exec_map_list) + nr * sizeof(struct gprof_exec_map));
}

static inline u64 gprof_exec_map_base(const struct gprof_exec_map *map,
				      const struct gprof_cfi_table *u)
{
	return map->start - map->offset + u->start;
}

#endif /* GPROF_MM_TABLES_H */
