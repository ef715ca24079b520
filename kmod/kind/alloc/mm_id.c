// SPDX-License-Identifier: GPL-2.0-only
/*
 * mm_id: address spaces of programs that tell their allocations.
 *
 * A process that ends, or executes another program, frees nothing by itself; its memory is
 * gone all the same, once nobody else runs in it. mm_watch tells when.
 */
#include "mm_id.h"
#include "mm/mm_watch.h"

#include <linux/atomic.h>
#include <linux/list.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/spinlock.h>

/* Other owners of subscribers are small numbers, or addresses. */
#define OWNER	(~0UL)

/**
 * struct space - an address space
 * @user: subscription to its end
 * @node: in @mm_ids; not in a list: it has ended
 * @process: process that has noted it
 * @number: not 0, and of no other
 * @ended: called at its end
 * @rcu: for look-ups
 */
struct mm_id {
	struct gprof_mm_user user;
	struct list_head node;
	const struct signal_struct *process;
	u32 number;
	gprof_mm_id_ended ended;
	struct rcu_head rcu;
};

static LIST_HEAD(mm_ids);
static DEFINE_SPINLOCK(mm_ids_lock);	/* protects the list */
static atomic_t numbers = ATOMIC_INIT(0);

static void mm_id_gone(struct gprof_mm_user *u)
{
	struct mm_id *s = container_of(u, struct mm_id, user);

	s->ended(s->number, s->process);
	spin_lock(&mm_ids_lock);
	list_del(&s->node);
	spin_unlock(&mm_ids_lock);
	kfree_rcu(s, rcu);
}

static const struct gprof_mm_ops mm_id_ops = { .gone = mm_id_gone };

/**
 * gprof_mm_id_find() - current's address space
 *
 * Context: Task.
 * Return: its number; 0: it was not noted.
 */
u32 gprof_mm_id_find(void)
{
	struct gprof_mm_user *u;
	u32 number;

	rcu_read_lock();
	u = gprof_mm_find(OWNER, current->mm);
	number = u ? container_of(u, struct mm_id, user)->number : 0;
	rcu_read_unlock();
	return number;
}

/**
 * gprof_mm_id_note() - know when current's address space ends, if possible
 * @ended: called then
 *
 * Context: Task, without mmap_lock.
 * Return: its number; 0: there is no memory, a signal is pending, or it has so many mappings
 * that others would wait for us.
 */
u32 gprof_mm_id_note(gprof_mm_id_ended ended)
{
	struct mm_id *s = kzalloc(sizeof(*s), GFP_KERNEL_ACCOUNT);

	if (!s)
		return 0;
	s->user.ops = &mm_id_ops;
	s->user.owner = OWNER;
	s->process = current->signal;
	s->ended = ended;
	do
		s->number = atomic_inc_return(&numbers);
	while (!s->number);
	if (gprof_mm_watch(&s->user, current->mm, true)) {
		kfree(s);
		/* Another thread may have been faster. */
		return gprof_mm_id_find();
	}
	spin_lock(&mm_ids_lock);
	list_add(&s->node, &mm_ids);
	spin_unlock(&mm_ids_lock);
	return s->number;
}

/**
 * gprof_mm_ids_forget() - nobody wants to know any more
 *
 * Context: Task.
 */
void gprof_mm_ids_forget(void)
{
	struct mm_id *s, *next;

	spin_lock(&mm_ids_lock);
	list_for_each_entry_safe(s, next, &mm_ids, node) {
		list_del_init(&s->node);
		if (gprof_mm_unwatch(&s->user))
			kfree_rcu(s, rcu);
	}
	spin_unlock(&mm_ids_lock);
}
