// SPDX-License-Identifier: GPL-2.0-only
/*
 * mm_tables: copies of mappings, and the changes that make them void.
 *
 * mm_watch.c has the order that makes a copy safe to use.
 *
 * @version is changed behind the list that it is about, and read before it: a walk that finds
 * a version may find a newer list, never an older one.
 *
 * Lock order: mmap_lock; locks of mm_watch; @lock, which is innermost.
 */
#include "mm_tables.h"
#include "compat/file.h"

#include <linux/atomic.h>
#include <linux/err.h>
#include <linux/fs.h>
#include <linux/mm.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/timekeeping.h>

#define CHECK_NS	NSEC_PER_MSEC
#define CHECK_FILES	16

static atomic64_t versions = ATOMIC64_INIT(0);

/* Under @lock. */
static void bump(struct gprof_mm_tables *t)
{
	lockdep_assert_held(&t->lock);
	/* Lists before their version. Pairs with smp_load_acquire() in gprof_stack_capture(). */
	smp_store_release(&t->version, atomic64_inc_return(&versions));
}

static struct gprof_exec_map_list *list_of(struct gprof_mm_tables *t)
{
	return rcu_dereference_protected(t->list, lockdep_is_held(&t->lock));
}

static void forget_range(struct gprof_mm_user *u, unsigned long start, unsigned long end)
{
	struct gprof_mm_tables *t = container_of(u, struct gprof_mm_tables, user);
	struct gprof_exec_map_list *list;
	bool changed = false;
	u32 i;

	raw_spin_lock(&t->lock);
	list = list_of(t);
	for (i = 0; list && i < list->nr && list->map[i].start < end; i++) {
		if (list->map[i].end <= start || list->map[i].gone)
			continue;
		WRITE_ONCE(list->map[i].gone, true);
		changed = true;
	}
	if (changed) {
		WRITE_ONCE(list->exec_vm, ULONG_MAX);
		bump(t);
	}
	raw_spin_unlock(&t->lock);
}

static void process_ended(struct gprof_mm_user *u)
{
	WRITE_ONCE(container_of(u, struct gprof_mm_tables, user)->dead, true);
}

static const struct gprof_mm_ops mm_tables_ops = { .unmapped = forget_range,
						   .ended = process_ended };

/**
 * gprof_mm_tables_new() - begin to know of a process' mappings
 * @set: number of the set, which has none of @mm
 * @mm: its memory, which has users
 *
 * Context: Task, without mmap_lock.
 * Return: with nothing in it, or ERR_PTR: -ENOMEM, or an error of gprof_mm_watch().
 */
struct gprof_mm_tables *gprof_mm_tables_new(u32 set, struct mm_struct *mm)
{
	struct gprof_mm_tables *t = kzalloc(sizeof(*t), GFP_KERNEL_ACCOUNT);
	int err;

	if (!t)
		return ERR_PTR(-ENOMEM);
	raw_spin_lock_init(&t->lock);
	t->user.ops = &mm_tables_ops;
	t->user.owner = set;
	t->version = atomic64_inc_return(&versions);
	err = gprof_mm_watch(&t->user, mm, false);
	if (err) {
		kfree(t);
		return ERR_PTR(err);
	}
	return t;
}

static void free_after_walks(struct rcu_head *rcu)
{
	struct gprof_mm_tables *t = container_of(rcu, struct gprof_mm_tables, rcu);

	kvfree(rcu_access_pointer(t->list));
	kfree(t);
}

/**
 * gprof_mm_tables_free() - no longer
 * @t: texts, which walks may still be using
 *
 * Context: Task.
 */
void gprof_mm_tables_free(struct gprof_mm_tables *t)
{
	gprof_mm_unwatch(&t->user);
	call_rcu(&t->rcu, free_after_walks);
}

static bool is_vdso(struct vm_area_struct *vma)
{
	const char *name = vma->vm_ops && vma->vm_ops->name ? vma->vm_ops->name(vma) : NULL;

	return name && !strcmp(name, "[vdso]");
}

/**
 * gprof_exec_map_of() - describe a mapping
 * @map: becomes it, without a table
 * @vma: executable mapping
 *
 * Context: Any incl. NMI, mmap_lock held.
 */
void gprof_exec_map_of(struct gprof_exec_map *map, struct vm_area_struct *vma)
{
	*map = (struct gprof_exec_map){ .start = vma->vm_start, .end = vma->vm_end };
	if (vma->vm_file) {
		map->kind = GPROF_EXEC_MAP_FILE;
		map->offset = (u64)vma->vm_pgoff << PAGE_SHIFT;
		map->inode = file_inode(vma->vm_file);
		gprof_file_id_of(&map->id, map->inode);
	} else if (is_vdso(vma)) {
		map->kind = GPROF_EXEC_MAP_VDSO;
	}
}

/**
 * gprof_exec_map_note() - put a mapping into a copy
 * @copy: copy, zeroed before the first
 * @vma: executable mapping, each behind the last
 *
 * Context: Task, mmap_lock held.
 */
void gprof_exec_map_note(struct gprof_exec_map_copy *copy, struct vm_area_struct *vma)
{
	mmap_assert_locked(vma->vm_mm);
	if (copy->nr == GPROF_EXEC_MAP_MAX)
		copy->more = true;
	else
		gprof_exec_map_of(&copy->map[copy->nr++], vma);
}

/* A list that was not said to be gone, and is as it was, has changed in nothing that matters. */
static bool is_same(const struct gprof_exec_map_list *list, const struct gprof_exec_map_copy *copy)
{
	u32 i;

	if (!list || list->nr != copy->nr || list->more != copy->more)
		return false;
	for (i = 0; i < list->nr; i++) {
		const struct gprof_exec_map *a = &list->map[i], *b = &copy->map[i];

		if (a->start != b->start || a->end != b->end || a->cfi != b->cfi || a->gone ||
		    a->kind != b->kind || a->offset != b->offset || a->inode != b->inode ||
		    !gprof_same_file_id(&a->id, &b->id))
			return false;
	}
	return true;
}

/* The first of them is the program's: one process has hardly more than one interpreter. */
static void note_python(struct gprof_exec_map_list *list)
{
	u32 i;

	for (i = 0; i < list->nr; i++)
		if (list->map[i].cfi && list->map[i].cfi->python.size)
			break;
	/* Pairs with smp_load_acquire() in python.c: the text's table before it. */
	smp_store_release(&list->python, i);
}

/**
 * gprof_mm_tables_publish() - walks may use it
 * @t: texts
 * @copy: all mappings of the process
 * @gfp: how to have memory for them
 *
 * Context: Task, mmap_lock of the process held since @copy was begun.
 * Return: 0 or -ENOMEM.
 */
int gprof_mm_tables_publish(struct gprof_mm_tables *t, const struct gprof_exec_map_copy *copy,
			    gfp_t gfp)
{
	struct gprof_exec_map_list *list, *old;

	WRITE_ONCE(t->read_ns, ktime_get_mono_fast_ns());
	/* Only the publisher changes a list that is not @gone; the caller sees to that. */
	old = rcu_dereference_protected(t->list, true);
	if (is_same(old, copy)) {
		WRITE_ONCE(old->exec_vm, t->user.mm->exec_vm);
		return 0;
	}
	list = kvmalloc(struct_size(list, map, copy->nr), gfp);
	if (!list)
		return -ENOMEM;
	list->nr = copy->nr;
	list->more = copy->more;
	list->exec_vm = t->user.mm->exec_vm;
	list->checked = 0;
	list->next = 0;
	memcpy(list->map, copy->map, copy->nr * sizeof(*list->map));
	note_python(list);

	raw_spin_lock(&t->lock);
	old = list_of(t);
	rcu_assign_pointer(t->list, list);
	bump(t);
	raw_spin_unlock(&t->lock);
	if (old)
		kvfree_rcu(old, rcu);
	return 0;
}

static bool is_for(const struct gprof_cfi_table *u, const struct gprof_exec_map *map)
{
	return map->kind != GPROF_EXEC_MAP_ANON && gprof_same_file_id(&map->id, &u->id);
}

/**
 * gprof_mm_tables_attach() - there is a new table
 * @t: texts
 * @u: table, which lives as long as they
 *
 * Context: Task; not while somebody publishes.
 */
void gprof_mm_tables_attach(struct gprof_mm_tables *t, const struct gprof_cfi_table *u)
{
	struct gprof_exec_map_list *list;
	bool changed = false;
	u32 i;

	raw_spin_lock(&t->lock);
	list = list_of(t);
	for (i = 0; list && i < list->nr; i++) {
		struct gprof_exec_map *map = &list->map[i];

		if (map->cfi || !is_for(u, map))
			continue;
		map->base = gprof_exec_map_base(map, u);
		/* Pairs with smp_load_acquire() in the walk: @base before it. */
		smp_store_release(&map->cfi, u);
		changed = true;
	}
	if (changed) {
		note_python(list);
		bump(t);
	}
	raw_spin_unlock(&t->lock);
}

/*
 * Its mapping holds the inode: that it is gone is told before its file is let go, and an inode's
 * memory stays for a grace period, which waits for this CPU.
 */
static bool was_written(const struct gprof_exec_map *map)
{
	/* Not by the ctime: one that is deleted or renamed has the same text. */
	return map->kind == GPROF_EXEC_MAP_FILE && !READ_ONCE(map->gone) &&
	       (gprof_mtime_ns(map->inode) != map->id.mtime_ns ||
		i_size_read(map->inode) != map->id.size);
}

/**
 * gprof_mm_tables_check() - forget files that were written to while they are mapped
 * @t: of current's mappings
 * @now: about the time, or U64_MAX
 *
 * Of these the tables are no longer right. Nothing tells of it, so some of them are looked at now
 * and then.
 *
 * Context: Any incl. NMI, preemption off.
 */
void gprof_mm_tables_check(struct gprof_mm_tables *t, u64 now)
{
	/* Preemption is off; RCU's debugging need not know why. */
	struct gprof_exec_map_list *list = rcu_dereference_raw(t->list);
	bool changed = false;
	u32 i, at, nr;

	if (!list || (now != U64_MAX && (s64)(now - READ_ONCE(list->checked)) < CHECK_NS))
		return;
	WRITE_ONCE(list->checked, now);
	nr = min_t(u32, list->nr, CHECK_FILES);
	at = READ_ONCE(list->next);
	for (i = 0; i < nr; i++, at++) {
		at = at < list->nr ? at : 0;
		if (!was_written(&list->map[at]))
			continue;
		WRITE_ONCE(list->map[at].gone, true);
		changed = true;
	}
	WRITE_ONCE(list->next, at);
	if (!changed)
		return;
	WRITE_ONCE(list->exec_vm, ULONG_MAX);
	/* Without the lock: it is another number all the same. Pairs as in bump(). */
	smp_store_release(&t->version, atomic64_inc_return(&versions));
}
