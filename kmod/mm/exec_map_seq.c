// SPDX-License-Identifier: GPL-2.0-only
/*
 * exec_map_seq: counts the mappings that a process unmaps where code was.
 *
 * A reading notes where it has found code, under the mmap_lock, held for reading. Thus an
 * unmapping of it is counted before there can be a sample of anything else in its place
 * (mm_watch.c has the order).
 *
 * A place counts for good: code that nobody reads may come to where other code was. A place
 * that nobody has read does not count: a loader of programs unmaps parts of them at once.
 *
 * Lock order: locks of mm_watch; @readers_lock or the lock of a watch, which never nest.
 */
#include "exec_map_seq.h"
#include "mm_watch.h"
#include "user/memlock.h"

#include <linux/kernel.h>
#include <linux/lockdep.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/string.h>

#define WATCHES_MAX	1024	/* of a reader */
#define PLACES_MAX	16	/* where code was, of a process */

atomic_t gprof_exec_map_seqs[GPROF_EXEC_MAP_SEQS];

static DEFINE_RAW_SPINLOCK(readers_lock);	/* protects the watches of readers */

struct place {
	unsigned long start;
	unsigned long end;
};

/**
 * struct gprof_watch - a process
 * @user: subscription to its unmappings
 * @node: in its reader's list; not in a list: the reader frees it
 * @reader: whose
 * @lock: protects the places
 * @nr: how many
 * @places: where code was, and the space between places next to each other; by address, none
 *	touches the next; one more than are kept
 * @rcu: frees it
 */
struct gprof_watch {
	struct gprof_mm_user user;
	struct list_head node;
	struct gprof_watches *reader;
	raw_spinlock_t lock;		/* protects the places */
	u32 nr;
	struct place places[PLACES_MAX + 1];
	struct rcu_head rcu;
};

static struct gprof_watch *watch_of(struct gprof_mm_user *u)
{
	return container_of(u, struct gprof_watch, user);
}

static u64 watch_bytes(void)
{
	return gprof_memory_of(sizeof(struct gprof_watch));
}

static void exec_map_removed(struct gprof_mm_user *u, unsigned long start, unsigned long end)
{
	struct gprof_watch *watch = watch_of(u);
	bool was = false;
	u32 i;

	raw_spin_lock(&watch->lock);
	for (i = 0; i < watch->nr; i++)
		was |= watch->places[i].start < end && watch->places[i].end > start;
	raw_spin_unlock(&watch->lock);
	if (was)
		gprof_exec_map_seq_change(u->mm);
}

static void unlink_watch(struct gprof_watch *watch)
{
	lockdep_assert_held(&readers_lock);
	list_del_init(&watch->node);
	watch->reader->nr--;
	gprof_charge_less(watch->reader->charge, watch_bytes());
}

/* Its memory is kept no longer, whether the reader finds out or not. */
static void process_ended(struct gprof_mm_user *u)
{
	struct gprof_watch *watch = watch_of(u);
	bool was_in;

	raw_spin_lock(&readers_lock);
	was_in = !list_empty(&watch->node);
	if (was_in)
		unlink_watch(watch);
	raw_spin_unlock(&readers_lock);
	if (was_in)
		kfree_rcu(watch, rcu);
}

static const struct gprof_mm_ops watch_ops = { .unmapped = exec_map_removed,
					       .ended = process_ended };

static struct gprof_watch *new_watch(struct gprof_watches *w, struct mm_struct *mm)
{
	struct gprof_watch *watch;

	if (READ_ONCE(w->nr) >= WATCHES_MAX || gprof_charge_more(w->charge, watch_bytes()))
		return NULL;
	watch = kzalloc(sizeof(*watch), GFP_KERNEL_ACCOUNT | __GFP_NORETRY | __GFP_NOWARN);
	if (!watch)
		goto err_charge;
	raw_spin_lock_init(&watch->lock);
	watch->reader = w;
	watch->user.ops = &watch_ops;
	watch->user.owner = (unsigned long)w;
	INIT_LIST_HEAD(&watch->node);
	/* The mm does not end before the caller, which has it in use, is done with @watch. */
	if (gprof_mm_watch(&watch->user, mm, false))
		goto err_free;
	raw_spin_lock(&readers_lock);
	list_add(&watch->node, &w->watches);
	w->nr++;
	raw_spin_unlock(&readers_lock);
	return watch;

err_free:
	kfree(watch);
err_charge:
	gprof_charge_less(w->charge, watch_bytes());
	return NULL;
}

/**
 * gprof_watch_begin() - mappings of a process are about to be read
 * @w: of the reader
 * @mm: memory that the caller has in use until it is read
 * @is_new: gets whether nothing was known of its unmapping up to here
 *
 * Context: Task, without mmap_lock.
 * Return: for gprof_watch_note(); NULL: nobody will be told, as there are too many, or the
 * process' lock was not free.
 */
struct gprof_watch *gprof_watch_begin(struct gprof_watches *w, struct mm_struct *mm, bool *is_new)
{
	struct gprof_mm_user *u;

	/* The caller's use of the mm keeps the watch that is found. */
	preempt_disable();
	u = gprof_mm_find((unsigned long)w, mm);
	preempt_enable();
	*is_new = !u;
	return u ? watch_of(u) : new_watch(w, mm);
}

/* The two with the least between them become one. */
static void join_nearest(struct gprof_watch *watch)
{
	struct place *p = watch->places;
	u32 i, best = 0;

	for (i = 1; i + 1 < watch->nr; i++)
		if (p[i + 1].start - p[i].end < p[best + 1].start - p[best].end)
			best = i;
	p[best].end = p[best + 1].end;
	watch->nr--;
	memmove(&p[best + 1], &p[best + 2], (watch->nr - best - 1) * sizeof(*p));
}

/**
 * gprof_watch_note() - a mapping was read
 * @watch: result of gprof_watch_begin()
 * @vma: executable mapping
 *
 * Context: Task, mmap_lock held.
 */
void gprof_watch_note(struct gprof_watch *watch, const struct vm_area_struct *vma)
{
	struct place *p = watch->places, new = { vma->vm_start, vma->vm_end };
	u32 i, j;

	mmap_assert_locked(vma->vm_mm);
	raw_spin_lock(&watch->lock);
	for (i = 0; i < watch->nr && p[i].end < new.start; i++)
		;
	/* Places that it meets or touches become one with it. */
	for (j = i; j < watch->nr && p[j].start <= new.end; j++) {
		new.start = min(new.start, p[j].start);
		new.end = max(new.end, p[j].end);
	}
	memmove(&p[i + 1], &p[j], (watch->nr - j) * sizeof(*p));
	p[i] = new;
	watch->nr += 1 + i - j;
	if (watch->nr > PLACES_MAX)
		join_nearest(watch);
	raw_spin_unlock(&watch->lock);
}

/**
 * gprof_watches_init() - make a reader that is told of nothing yet
 * @w: of the reader
 * @charge: pays, and outlives @w
 */
void gprof_watches_init(struct gprof_watches *w, struct gprof_charge *charge)
{
	INIT_LIST_HEAD(&w->watches);
	w->nr = 0;
	w->charge = charge;
}

/**
 * gprof_watches_destroy() - a reader is told no more
 * @w: of a reader that reads no more
 *
 * Context: Task.
 */
void gprof_watches_destroy(struct gprof_watches *w)
{
	struct gprof_watch *watch;

	for (;;) {
		raw_spin_lock(&readers_lock);
		watch = list_first_entry_or_null(&w->watches, struct gprof_watch, node);
		if (watch)
			unlink_watch(watch);
		raw_spin_unlock(&readers_lock);
		if (!watch)
			return;
		gprof_mm_unwatch(&watch->user);
		kfree_rcu(watch, rcu);
	}
}
