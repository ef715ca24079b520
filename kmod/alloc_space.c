// SPDX-License-Identifier: GPL-2.0-only
/*
 * alloc_space: address spaces of programs that tell what they allocate.
 *
 * A process that ends, or executes another program, frees nothing by itself; its memory is
 * gone all the same, once nobody else runs in it. The kernel's memory management tells when
 * (mmu_notifier); until then it is a little slower for that process, so what is noted is
 * forgotten when nobody asks any more.
 *
 * Who takes one out of the hash puts it. It may still be looked up then, under RCU.
 */
#include "alloc_space.h"
#include "compat/mmap_lock.h"
#include "compat/mmu_notifier.h"

#include <linux/atomic.h>
#include <linux/hash.h>
#include <linux/mm.h>
#include <linux/rculist.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/wait.h>

#define HASH_BITS	8
#define MAPS_MAX	4096	/* of a process; to register all of them are locked at once */

/**
 * struct space - an address space
 * @notifier: tells its end; holds a reference of @mm
 * @hash: by @mm
 * @mm: it
 * @process: who has noted it
 * @number: not 0, and of no other
 * @ended: what to do at its end
 * @rcu: for who looks it up
 */
struct space {
	struct mmu_notifier notifier;
	struct hlist_node hash;
	struct mm_struct *mm;
	const struct signal_struct *process;
	u32 number;
	gprof_space_ended ended;
	struct rcu_head rcu;
};

static struct hlist_head hash[1 << HASH_BITS];
static DEFINE_SPINLOCK(hash_lock);	/* protects hash against writers */
static atomic_t numbers = ATOMIC_INIT(0);
static atomic_t alive = ATOMIC_INIT(0);
static DECLARE_WAIT_QUEUE_HEAD(all_gone);

static struct hlist_head *bucket_of(const struct mm_struct *mm)
{
	return &hash[hash_ptr(mm, HASH_BITS)];
}

static bool take_out(struct space *s)
{
	bool is_in;

	spin_lock(&hash_lock);
	is_in = !hlist_unhashed(&s->hash);
	hlist_del_init_rcu(&s->hash);
	spin_unlock(&hash_lock);
	return is_in;
}

static void space_ends(struct mmu_notifier *notifier, struct mm_struct *mm)
{
	struct space *s = container_of(notifier, struct space, notifier);

	s->ended(s->number, s->process);
	if (take_out(s))
		mmu_notifier_put(&s->notifier);
}

static void free_after_notices(struct mmu_notifier *notifier)
{
	struct space *s = container_of(notifier, struct space, notifier);

	kfree_rcu(s, rcu);
	if (atomic_dec_and_test(&alive))
		wake_up(&all_gone);
}

static const struct mmu_notifier_ops notifier_ops = {
	.release = space_ends,
	.free_notifier = free_after_notices,
};

/**
 * gprof_space_find() - current's address space
 *
 * Context: Task.
 * Return: its number; 0: it was not noted.
 */
u32 gprof_space_find(void)
{
	struct space *s;
	u32 number = 0;

	rcu_read_lock();
	hlist_for_each_entry_rcu(s, bucket_of(current->mm), hash) {
		if (s->mm == current->mm)
			number = s->number;
	}
	rcu_read_unlock();
	return number;
}

static int watch(struct space *s, struct mm_struct *mm)
{
	int err;

	/* Not again where another thread was faster. */
	err = mmap_write_lock_killable(mm);
	if (err)
		return err;
	err = gprof_space_find() ? -EEXIST : __mmu_notifier_register(&s->notifier, mm);
	if (!err) {
		atomic_inc(&alive);
		spin_lock(&hash_lock);
		hlist_add_head_rcu(&s->hash, bucket_of(mm));
		spin_unlock(&hash_lock);
	}
	mmap_write_unlock(mm);
	return err;
}

/**
 * gprof_space_note() - know when current's address space ends, if possible
 * @ended: what to do then
 *
 * Context: Task, without mmap_lock.
 * Return: its number; 0: there is no memory, a signal is pending, or it has so many mappings
 * that others would wait for us.
 */
u32 gprof_space_note(gprof_space_ended ended)
{
	struct mm_struct *mm = current->mm;
	struct space *s;

	if (READ_ONCE(mm->map_count) > MAPS_MAX)
		return 0;
	s = kzalloc(sizeof(*s), GFP_KERNEL_ACCOUNT);
	if (!s)
		return 0;
	s->notifier.ops = &notifier_ops;
	s->mm = mm;
	s->process = current->signal;
	s->ended = ended;
	do
		s->number = atomic_inc_return(&numbers);
	while (!s->number);
	if (watch(s, mm))
		kfree(s);
	return gprof_space_find();
}

/**
 * gprof_spaces_forget() - nobody wants to know any more
 *
 * Context: Task.
 */
void gprof_spaces_forget(void)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(hash); i++) {
		struct space *s;

		do {
			spin_lock(&hash_lock);
			s = hlist_empty(&hash[i]) ? NULL :
			    hlist_entry(hash[i].first, struct space, hash);
			if (s)
				hlist_del_init_rcu(&s->hash);
			spin_unlock(&hash_lock);
			if (s)
				mmu_notifier_put(&s->notifier);
		} while (s);
	}
}

/**
 * gprof_spaces_exit() - forget all, and wait until they are gone
 *
 * Context: Task; nobody tells any more.
 */
void gprof_spaces_exit(void)
{
	gprof_spaces_forget();
	wait_event(all_gone, !atomic_read(&alive));
	mmu_notifier_synchronize();
	/*
	 * The last callback has decremented, and may not have returned. It is SRCU's, and runs
	 * with softirqs off; so whoever waits for RCU has waited for it, as all_gone is the
	 * module's and outlives it.
	 */
	synchronize_rcu();
}
