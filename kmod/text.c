// SPDX-License-Identifier: GPL-2.0-only
/*
 * text: copies of mappings, and what makes them void.
 *
 * The order that makes a copy safe to use: munmap() takes a mapping out under the
 * mmap_lock, held for writing; then the kernel tells us; then the lock is free again, and
 * something else may be mapped there. A copy is made and published under the lock, held
 * for reading: so it has a mapping that is about to go only if we are told after that.
 *
 * @version is changed behind what it is about, and read before it: who finds a version
 * may find what is newer, never what is older.
 *
 * Lock order: mmap_lock, then @lock or @hash_lock, which are innermost and never nest.
 */
#include "text.h"
#include "compat/mmap_lock.h"
#include "compat/mmu_notifier.h"

#include <linux/atomic.h>
#include <linux/err.h>
#include <linux/fs.h>
#include <linux/hash.h>
#include <linux/mm.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/timekeeping.h>
#include <linux/wait.h>

#define HASH_BITS	10
#define MAPS_MAX	4096	/* of a process; to register all of them are locked at once */

static struct hlist_head hash[1 << HASH_BITS];
static DEFINE_RAW_SPINLOCK(hash_lock);	/* protects hash against writers */
static atomic64_t versions = ATOMIC64_INIT(0);
static atomic_t alive = ATOMIC_INIT(0);
static DECLARE_WAIT_QUEUE_HEAD(all_gone);

static struct hlist_head *bucket_of(u32 set, const struct mm_struct *mm)
{
	return &hash[hash_64((u64)(unsigned long)mm ^ set, HASH_BITS)];
}

/**
 * gprof_texts_find() - what is known of a process' mappings
 * @set: number of a set of tables
 * @mm: of current
 *
 * Context: Any incl. NMI, preemption off.
 * Return: that, while preemption is off, or NULL.
 */
const struct gprof_texts *gprof_texts_find(u32 set, const struct mm_struct *mm)
{
	const struct gprof_texts *t;
	struct hlist_node *n;

	/* Open-coded: a walk is in no section that RCU's debugging could know of. */
	for (n = READ_ONCE(bucket_of(set, mm)->first); n; n = READ_ONCE(n->next)) {
		t = hlist_entry(n, struct gprof_texts, hash);
		if (t->mm == mm && t->set == set)
			return t;
	}
	return NULL;
}

/* Under @lock. */
static void bump(struct gprof_texts *t)
{
	lockdep_assert_held(&t->lock);
	/* What it is about, before it. Pairs with smp_load_acquire() in gprof_stack_capture(). */
	smp_store_release(&t->version, atomic64_inc_return(&versions));
}

static struct gprof_text_list *list_of(struct gprof_texts *t)
{
	return rcu_dereference_protected(t->list, lockdep_is_held(&t->lock));
}

static int forget_range(struct mmu_notifier *notifier, const struct mmu_notifier_range *range)
{
	struct gprof_texts *t = container_of(notifier, struct gprof_texts, notifier);
	struct gprof_text_list *list;
	bool changed = false;
	unsigned long flags;
	u32 i;

	if (!gprof_range_goes(range))
		return 0;
	raw_spin_lock_irqsave(&t->lock, flags);
	list = list_of(t);
	for (i = 0; list && i < list->nr && list->text[i].start < range->end; i++) {
		if (list->text[i].end <= range->start || list->text[i].gone)
			continue;
		WRITE_ONCE(list->text[i].gone, true);
		changed = true;
	}
	if (changed)
		bump(t);
	raw_spin_unlock_irqrestore(&t->lock, flags);
	return 0;
}

static void unhash(struct gprof_texts *t)
{
	unsigned long flags;

	raw_spin_lock_irqsave(&hash_lock, flags);
	if (!hlist_unhashed(&t->hash))
		hlist_del_init_rcu(&t->hash);
	raw_spin_unlock_irqrestore(&hash_lock, flags);
}

/* The last user of the memory has gone. Nobody runs in it, so nobody's walk looks it up. */
static void process_ends(struct mmu_notifier *notifier, struct mm_struct *mm)
{
	struct gprof_texts *t = container_of(notifier, struct gprof_texts, notifier);

	unhash(t);
	WRITE_ONCE(t->dead, true);
}

static void free_after_walks(struct rcu_head *rcu)
{
	struct gprof_texts *t = container_of(rcu, struct gprof_texts, rcu);

	kvfree(rcu_access_pointer(t->list));
	kfree(t);
	if (atomic_dec_and_test(&alive))
		wake_up(&all_gone);
}

static void free_after_notices(struct mmu_notifier *notifier)
{
	struct gprof_texts *t = container_of(notifier, struct gprof_texts, notifier);

	call_rcu(&t->rcu, free_after_walks);
}

static const struct mmu_notifier_ops notifier_ops = {
	.release = process_ends,
	.invalidate_range_start = forget_range,
	.free_notifier = free_after_notices,
};

/**
 * gprof_texts_new() - begin to know of a process' mappings
 * @set: number of the set
 * @mm: its memory, which has users
 *
 * Context: Task, without mmap_lock.
 * Return: with nothing in it, or ERR_PTR: -ENOMEM; -EAGAIN: mmap_lock was held; -E2BIG:
 * it has so many mappings that others would wait for us.
 */
struct gprof_texts *gprof_texts_new(u32 set, struct mm_struct *mm)
{
	struct gprof_texts *t;
	unsigned long flags;
	int err = -EAGAIN;

	if (READ_ONCE(mm->map_count) > MAPS_MAX)
		return ERR_PTR(-E2BIG);
	t = kzalloc(sizeof(*t), GFP_KERNEL_ACCOUNT);
	if (!t)
		return ERR_PTR(-ENOMEM);
	raw_spin_lock_init(&t->lock);
	t->set = set;
	t->mm = mm;
	t->notifier.ops = &notifier_ops;
	t->version = atomic64_inc_return(&versions);
	if (gprof_mmap_write_trylock(mm)) {
		/* Holds a reference of @mm. */
		err = __mmu_notifier_register(&t->notifier, mm);
		mmap_write_unlock(mm);
	}
	if (err) {
		kfree(t);
		return ERR_PTR(err);
	}
	atomic_inc(&alive);
	raw_spin_lock_irqsave(&hash_lock, flags);
	hlist_add_head_rcu(&t->hash, bucket_of(set, mm));
	raw_spin_unlock_irqrestore(&hash_lock, flags);
	return t;
}

/**
 * gprof_texts_free() - no longer
 * @t: texts, which walks may still be using
 *
 * Context: Task.
 */
void gprof_texts_free(struct gprof_texts *t)
{
	unhash(t);
	mmu_notifier_put(&t->notifier);
}

static bool is_vdso(struct vm_area_struct *vma)
{
	const char *name = vma->vm_ops && vma->vm_ops->name ? vma->vm_ops->name(vma) : NULL;

	return name && !strcmp(name, "[vdso]");
}

/**
 * gprof_text_note() - put a mapping into a copy
 * @copy: copy, zeroed before the first
 * @vma: executable mapping, each behind the last
 *
 * Context: Task, mmap_lock held.
 */
void gprof_text_note(struct gprof_text_copy *copy, struct vm_area_struct *vma)
{
	struct gprof_text *text = &copy->text[copy->nr];

	mmap_assert_locked(vma->vm_mm);
	if (copy->nr == GPROF_TEXT_MAX) {
		copy->more = true;
		return;
	}
	*text = (struct gprof_text){ .start = vma->vm_start, .end = vma->vm_end };
	if (vma->vm_file) {
		text->kind = GPROF_TEXT_FILE;
		text->offset = (u64)vma->vm_pgoff << PAGE_SHIFT;
		gprof_text_id_of(&text->id, file_inode(vma->vm_file));
	} else if (is_vdso(vma)) {
		text->kind = GPROF_TEXT_VDSO;
	}
	copy->nr++;
}

/* What was not said to be gone, and is as it was, has changed in nothing that matters. */
static bool is_same(const struct gprof_text_list *list, const struct gprof_text_copy *copy)
{
	u32 i;

	if (!list || list->nr != copy->nr || list->more != copy->more)
		return false;
	for (i = 0; i < list->nr; i++) {
		const struct gprof_text *a = &list->text[i], *b = &copy->text[i];

		if (a->start != b->start || a->end != b->end || a->unwind != b->unwind ||
		    a->gone || a->kind != b->kind || a->offset != b->offset ||
		    !gprof_same_text(&a->id, &b->id))
			return false;
	}
	return true;
}

/* The first of them is the program's: one process has hardly more than one interpreter. */
static void note_python(struct gprof_text_list *list)
{
	u32 i;

	for (i = 0; i < list->nr; i++)
		if (list->text[i].unwind && list->text[i].unwind->python.size)
			break;
	/* Pairs with smp_load_acquire() in python.c: the text's table before it. */
	smp_store_release(&list->python, i);
}

/**
 * gprof_texts_publish() - walks may use it
 * @t: texts
 * @copy: all mappings of the process
 *
 * Context: Task, mmap_lock of the process held since @copy was begun.
 * Return: 0 or -ENOMEM.
 */
int gprof_texts_publish(struct gprof_texts *t, const struct gprof_text_copy *copy)
{
	struct gprof_text_list *list, *old;
	unsigned long flags;

	WRITE_ONCE(t->read_ns, ktime_get_mono_fast_ns());
	/* Only who publishes changes what is not @gone; the caller sees to that. */
	if (is_same(rcu_access_pointer(t->list), copy))
		return 0;
	list = kvmalloc(struct_size(list, text, copy->nr), GFP_KERNEL_ACCOUNT);
	if (!list)
		return -ENOMEM;
	list->nr = copy->nr;
	list->more = copy->more;
	memcpy(list->text, copy->text, copy->nr * sizeof(*list->text));
	note_python(list);

	raw_spin_lock_irqsave(&t->lock, flags);
	old = list_of(t);
	rcu_assign_pointer(t->list, list);
	bump(t);
	raw_spin_unlock_irqrestore(&t->lock, flags);
	if (old)
		kvfree_rcu(old, rcu);
	return 0;
}

static bool is_for(const struct gprof_unwind *u, const struct gprof_text *text)
{
	return text->kind != GPROF_TEXT_ANON && gprof_same_text(&text->id, &u->id);
}

/**
 * gprof_texts_attach() - there is a new table
 * @t: texts
 * @u: table, which lives as long as they
 *
 * Context: Task; not while somebody publishes.
 */
void gprof_texts_attach(struct gprof_texts *t, const struct gprof_unwind *u)
{
	struct gprof_text_list *list;
	bool changed = false;
	unsigned long flags;
	u32 i;

	raw_spin_lock_irqsave(&t->lock, flags);
	list = list_of(t);
	for (i = 0; list && i < list->nr; i++) {
		struct gprof_text *text = &list->text[i];

		if (text->unwind || !is_for(u, text))
			continue;
		text->base = gprof_text_base(text, u);
		/* Pairs with smp_load_acquire() in who walks: @base before it. */
		smp_store_release(&text->unwind, u);
		changed = true;
	}
	if (changed) {
		note_python(list);
		bump(t);
	}
	raw_spin_unlock_irqrestore(&t->lock, flags);
}

/**
 * gprof_texts_exit() - wait until all that was freed is
 *
 * Context: Task; nobody makes any more.
 */
void gprof_texts_exit(void)
{
	wait_event(all_gone, !atomic_read(&alive));
	/* The callbacks have begun; they run where RCU waits for them. */
	mmu_notifier_synchronize();
	rcu_barrier();
	synchronize_rcu();
}
