// SPDX-License-Identifier: GPL-2.0-only
/*
 * text: copies of mappings, and the changes that make them void.
 *
 * mm_watch.c has the order that makes a copy safe to use.
 *
 * @version is changed behind the list that it is about, and read before it: a walk that finds
 * a version may find a newer list, never an older one.
 *
 * Lock order: mmap_lock; locks of mm_watch; @lock, which is innermost.
 */
#include "text.h"

#include <linux/atomic.h>
#include <linux/err.h>
#include <linux/fs.h>
#include <linux/mm.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/timekeeping.h>

static atomic64_t versions = ATOMIC64_INIT(0);

/* Under @lock. */
static void bump(struct gprof_texts *t)
{
	lockdep_assert_held(&t->lock);
	/* Lists before their version. Pairs with smp_load_acquire() in gprof_stack_capture(). */
	smp_store_release(&t->version, atomic64_inc_return(&versions));
}

static struct gprof_text_list *list_of(struct gprof_texts *t)
{
	return rcu_dereference_protected(t->list, lockdep_is_held(&t->lock));
}

static void forget_range(struct gprof_mm_user *u, unsigned long start, unsigned long end)
{
	struct gprof_texts *t = container_of(u, struct gprof_texts, user);
	struct gprof_text_list *list;
	bool changed = false;
	u32 i;

	raw_spin_lock(&t->lock);
	list = list_of(t);
	for (i = 0; list && i < list->nr && list->text[i].start < end; i++) {
		if (list->text[i].end <= start || list->text[i].gone)
			continue;
		WRITE_ONCE(list->text[i].gone, true);
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
	WRITE_ONCE(container_of(u, struct gprof_texts, user)->dead, true);
}

static const struct gprof_mm_ops texts_ops = { .unmapped = forget_range, .ended = process_ended };

/**
 * gprof_texts_new() - begin to know of a process' mappings
 * @set: number of the set, which has none of @mm
 * @mm: its memory, which has users
 *
 * Context: Task, without mmap_lock.
 * Return: with nothing in it, or ERR_PTR: -ENOMEM, or an error of gprof_mm_watch().
 */
struct gprof_texts *gprof_texts_new(u32 set, struct mm_struct *mm)
{
	struct gprof_texts *t = kzalloc(sizeof(*t), GFP_KERNEL_ACCOUNT);
	int err;

	if (!t)
		return ERR_PTR(-ENOMEM);
	raw_spin_lock_init(&t->lock);
	t->user.ops = &texts_ops;
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
	struct gprof_texts *t = container_of(rcu, struct gprof_texts, rcu);

	kvfree(rcu_access_pointer(t->list));
	kfree(t);
}

/**
 * gprof_texts_free() - no longer
 * @t: texts, which walks may still be using
 *
 * Context: Task.
 */
void gprof_texts_free(struct gprof_texts *t)
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
 * gprof_text_of() - describe a mapping
 * @text: becomes it, without a table
 * @vma: executable mapping
 *
 * Context: Any incl. NMI, mmap_lock held.
 */
void gprof_text_of(struct gprof_text *text, struct vm_area_struct *vma)
{
	*text = (struct gprof_text){ .start = vma->vm_start, .end = vma->vm_end };
	if (vma->vm_file) {
		text->kind = GPROF_TEXT_FILE;
		text->offset = (u64)vma->vm_pgoff << PAGE_SHIFT;
		gprof_text_id_of(&text->id, file_inode(vma->vm_file));
	} else if (is_vdso(vma)) {
		text->kind = GPROF_TEXT_VDSO;
	}
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
	mmap_assert_locked(vma->vm_mm);
	if (copy->nr == GPROF_TEXT_MAX)
		copy->more = true;
	else
		gprof_text_of(&copy->text[copy->nr++], vma);
}

/* A list that was not said to be gone, and is as it was, has changed in nothing that matters. */
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
 * @gfp: how to have memory for them
 *
 * Context: Task, mmap_lock of the process held since @copy was begun.
 * Return: 0 or -ENOMEM.
 */
int gprof_texts_publish(struct gprof_texts *t, const struct gprof_text_copy *copy, gfp_t gfp)
{
	struct gprof_text_list *list, *old;

	WRITE_ONCE(t->read_ns, ktime_get_mono_fast_ns());
	/* Only the publisher changes a list that is not @gone; the caller sees to that. */
	old = rcu_dereference_protected(t->list, true);
	if (is_same(old, copy)) {
		WRITE_ONCE(old->exec_vm, t->user.mm->exec_vm);
		return 0;
	}
	list = kvmalloc(struct_size(list, text, copy->nr), gfp);
	if (!list)
		return -ENOMEM;
	list->nr = copy->nr;
	list->more = copy->more;
	list->exec_vm = t->user.mm->exec_vm;
	memcpy(list->text, copy->text, copy->nr * sizeof(*list->text));
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
	u32 i;

	raw_spin_lock(&t->lock);
	list = list_of(t);
	for (i = 0; list && i < list->nr; i++) {
		struct gprof_text *text = &list->text[i];

		if (text->unwind || !is_for(u, text))
			continue;
		text->base = gprof_text_base(text, u);
		/* Pairs with smp_load_acquire() in the walk: @base before it. */
		smp_store_release(&text->unwind, u);
		changed = true;
	}
	if (changed) {
		note_python(list);
		bump(t);
	}
	raw_spin_unlock(&t->lock);
}
