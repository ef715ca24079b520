// SPDX-License-Identifier: GPL-2.0-only
/*
 * annotate: annotations of programs, as records.
 *
 * A program that has annotations makes a call for each while somebody hears of them, and
 * should make none otherwise: it looks at a page, of which each user has one. So nobody has
 * programs of other users make calls but a user with CAP_PERFMON, and the page tells
 * about its user's own recorders and those of administrators.
 *
 * An annotation is bounded, and about the caller alone; the kernel itself knows the thread
 * that makes it, and the program that runs.
 */
#include "annotate.h"
#include "buffer_pages.h"
#include "compat/mm.h"
#include "task/process.h"

#include <linux/build_bug.h>
#include <linux/cred.h>
#include <linux/gprof.h>
#include <linux/kernel.h>
#include <linux/mm.h>
#include <linux/mutex.h>
#include <linux/preempt.h>
#include <linux/rculist.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <linux/uidgid.h>

/**
 * struct gprof_annotated - the page of one user
 * @node: among all
 * @user: whose
 * @files: that have it
 * @heard: hearers of this user's annotations; the page says whether there is one
 * @page: it
 */
struct gprof_annotated {
	struct list_head node;
	kuid_t user;
	unsigned int files;
	unsigned int heard;
	struct page *page;
};

/*
 * Protects the pages, changes of the list of hearers, and the place in which a file has
 * its page. Taken under mmap_lock: nothing is allocated, and no user memory touched under it.
 */
static DEFINE_MUTEX(mutex);
static LIST_HEAD(pages);
static LIST_HEAD(hearers);		/* read under RCU */

static bool hears_of(const struct gprof_notes *notes, const struct gprof_annotated *a)
{
	return notes->privileged || uid_eq(notes->owner->euid, a->user);
}

static void count(struct gprof_annotated *a, int more)
{
	u32 *word = page_address(a->page);

	a->heard += more;
	/* A hint: a program that sees it late says less, or makes a call for nothing. */
	WRITE_ONCE(*word, !!a->heard);
}

static void count_all(const struct gprof_notes *notes, int more)
{
	struct gprof_annotated *a;

	list_for_each_entry(a, &pages, node) {
		if (hears_of(notes, a))
			count(a, more);
	}
}

/**
 * gprof_notes_begin() - hear of annotations from now on
 * @notes: the hearer
 *
 * Context: Task.
 */
void gprof_notes_begin(struct gprof_notes *notes)
{
	mutex_lock(&mutex);
	list_add_tail_rcu(&notes->node, &hearers);
	count_all(notes, 1);
	mutex_unlock(&mutex);
}

/**
 * gprof_notes_end() - end it; @take is not called any more once this returns
 * @notes: the hearer
 *
 * Context: Task; sleeps.
 */
void gprof_notes_end(struct gprof_notes *notes)
{
	mutex_lock(&mutex);
	count_all(notes, -1);
	list_del_rcu(&notes->node);
	mutex_unlock(&mutex);
	synchronize_rcu();
}

static struct gprof_annotated *new_page(void)
{
	struct gprof_annotated *a = kzalloc(sizeof(*a), GFP_KERNEL_ACCOUNT);

	if (!a)
		return NULL;
	a->page = alloc_page(GFP_KERNEL_ACCOUNT | __GFP_ZERO);
	if (!a->page) {
		kfree(a);
		return NULL;
	}
	a->user = current_euid();
	return a;
}

static void free_page_of(struct gprof_annotated *a)
{
	if (!a)
		return;
	__free_page(a->page);
	kfree(a);
}

static struct gprof_annotated *find(kuid_t user)
{
	struct gprof_annotated *a;

	list_for_each_entry(a, &pages, node) {
		if (uid_eq(a->user, user))
			return a;
	}
	return NULL;
}

static void publish(struct gprof_annotated *a)
{
	struct gprof_notes *notes;

	list_for_each_entry(notes, &hearers, node) {
		if (hears_of(notes, a))
			count(a, 1);
	}
	list_add(&a->node, &pages);
}

/**
 * gprof_annotated_mmap() - map a user's page
 * @where: the page that the file has, or NULL: it gets that of current's user
 * @vma: mapping that is being made
 *
 * Unlike a recorder's buffers it stays with a child.
 *
 * Context: Task, mmap_lock of the process held for writing.
 * Return: 0; -EINVAL for a wrong length or a private mapping, -EPERM for more rights than
 * user space may have, -ENOMEM.
 */
int gprof_annotated_mmap(struct gprof_annotated **where, struct vm_area_struct *vma)
{
	struct gprof_annotated *fresh = new_page(), *a;
	int err;

	if (!fresh)
		return -ENOMEM;
	mutex_lock(&mutex);
	a = *where;
	if (!a) {
		a = find(fresh->user);
		if (!a) {
			a = fresh;
			fresh = NULL;
			publish(a);
		}
		a->files++;
		*where = a;
	}
	mutex_unlock(&mutex);
	free_page_of(fresh);
	/* The file has it until it is closed, which is after the mapping has gone. */
	err = gprof_buffer_pages_mmap(vma, &a->page, 1, false);
	if (err)
		return err;
	vm_flags_set(vma, VM_DONTDUMP);
	vm_flags_clear(vma, VM_DONTCOPY);
	return 0;
}

/**
 * gprof_annotated_put() - a file that has a page is closed
 * @a: page, or NULL
 *
 * Context: Task.
 */
void gprof_annotated_put(struct gprof_annotated *a)
{
	if (!a)
		return;
	mutex_lock(&mutex);
	if (--a->files)
		a = NULL;
	else
		list_del(&a->node);
	mutex_unlock(&mutex);
	free_page_of(a);
}

static int check(const struct gprof_annotate *arg, u32 *reason)
{
	bool begins = arg->what == GPROF_ANNOTATE_TASK_BEGIN;
	bool ends = arg->what == GPROF_ANNOTATE_TASK_END;
	bool log = arg->what == GPROF_ANNOTATE_LOG;

	*reason = GPROF_REASON_FLAGS;
	if (!arg->what || arg->what >= __GPROF_ANNOTATE_WHATS)
		return -EOPNOTSUPP;
	*reason = GPROF_REASON_PARAMS;
	if ((!arg->task && (begins || ends)) || (arg->parent && !begins))
		return -EINVAL;
	if (arg->name_size > GPROF_ANNOTATE_NAME_MAX || arg->text_size > GPROF_ANNOTATE_TEXT_MAX)
		return -EINVAL;
	if (ends && (arg->name || arg->name_size))
		return -EINVAL;
	if (!log && (arg->text || arg->text_size))
		return -EINVAL;
	*reason = GPROF_REASON_NONE;
	return 0;
}

/* As large as one can be. */
union place {
	struct gprof_annotation_rec rec;
	u64 words[(sizeof(struct gprof_annotation_rec) + GPROF_ANNOTATE_NAME_MAX +
		   GPROF_ANNOTATE_TEXT_MAX) / sizeof(u64)];
};

/* All but the thread that says it, and the time. */
static int fill_record(union place *place, const struct gprof_annotate *arg)
{
	struct gprof_annotation_rec *rec = &place->rec;
	size_t text = (size_t)arg->name_size + arg->text_size;
	size_t size = ALIGN(sizeof(*rec) + text, sizeof(u64));
	char *to = (char *)place + sizeof(*rec);

	BUILD_BUG_ON(sizeof(*place) % sizeof(u64) || sizeof(*rec) % sizeof(u64));
	/* Behind the text, unless the stores that follow overwrite it. */
	place->words[size / sizeof(u64) - 1] = 0;
	*rec = (struct gprof_annotation_rec){
		.rec.type = GPROF_REC_ANNOTATION,
		.rec.flags = arg->what,
		.rec.size = size,
		.name_size = arg->name_size,
		.text_size = arg->text_size,
		.task = arg->task,
		.parent = arg->parent,
	};
	if (copy_from_user(to, u64_to_user_ptr(arg->name), arg->name_size) ||
	    copy_from_user(to + arg->name_size, u64_to_user_ptr(arg->text), arg->text_size))
		return -EFAULT;
	return 0;
}

/**
 * gprof_annotate() - GPROF_IOC_ANNOTATE
 * @arg: argument; outputs are set, also on error
 *
 * Context: Task.
 * Return: 0 or a negative errno.
 */
int gprof_annotate(struct gprof_annotate *arg)
{
	union place place __uninitialized;
	struct gprof_notes *notes;
	u32 nr = 0;
	int err;

	arg->out_recorders = 0;
	err = check(arg, &arg->out_reason);
	if (!err)
		err = fill_record(&place, arg);
	if (err)
		return err;
	rcu_read_lock();
	preempt_disable();
	place.rec.tid = current->pid;
	gprof_process_of(&place.rec.process, current);
	list_for_each_entry_rcu(notes, &hearers, node)
		nr += notes->take(notes, &place.rec);
	preempt_enable();
	rcu_read_unlock();
	arg->out_recorders = nr;
	return 0;
}
