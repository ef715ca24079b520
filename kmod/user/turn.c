// SPDX-License-Identifier: GPL-2.0-only
/*
 * turn: work on the whole host for users without privilege, each in turn.
 *
 * To create and to release an event of perf that counts in software patches the kernel's text,
 * once each. All users without privilege together take PER_SECOND turns a second, and those that
 * they did not take in the last second. A caller that finds none left waits, PATIENCE_NS at most.
 * Two callers of one user do not come one after the other while one of another user waits. A
 * caller that does not run, as its cgroup has used up its time, keeps nobody waiting.
 *
 * Locks: turns_lock is innermost.
 */
#include "turn.h"
#include "later.h"

#include <linux/cred.h>
#include <linux/errno.h>
#include <linux/list.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/spinlock.h>
#include <linux/timekeeping.h>
#include <linux/uidgid.h>

#define PER_SECOND	5	/* two patches each */
#define GAP_NS		(NSEC_PER_SEC / PER_SECOND)
#define PATIENCE_NS	(2 * NSEC_PER_SEC)
#define LOOK_NS		(NSEC_PER_SEC / 50)
#define ABSENT_NS	(5 * LOOK_NS)

/**
 * struct waiter - of a caller that waits
 * @node: in @waiting
 * @user: whose
 * @looked: time when the caller last looked whether the turn is its own
 */
struct waiter {
	struct list_head node;
	kuid_t user;
	u64 looked;
};

static DEFINE_SPINLOCK(turns_lock);	/* protects all below */
static LIST_HEAD(waiting);		/* the first came first */
static kuid_t last;			/* had the last turn */
static u64 taken_until;			/* time by which all turns that were taken are due */

static const struct waiter *next_place(u64 now)
{
	const struct waiter *p, *first = NULL;

	list_for_each_entry(p, &waiting, node) {
		if (p->looked + ABSENT_NS < now)
			continue;
		if (!uid_eq(p->user, last))
			return p;
		first = first ?: p;
	}
	return first;
}

static bool try_turn(struct waiter *p, u64 now)
{
	bool taken;

	spin_lock(&turns_lock);
	p->looked = now;
	taken_until = max(taken_until, now - NSEC_PER_SEC);
	taken = taken_until + GAP_NS <= now && next_place(now) == p;
	if (taken) {
		taken_until += GAP_NS;
		last = p->user;
	}
	spin_unlock(&turns_lock);
	return taken;
}

static int await_turn(struct waiter *p, struct task_struct *caller)
{
	u64 began = ktime_get_mono_fast_ns(), now = began;

	while (!try_turn(p, now)) {
		if (now - began >= PATIENCE_NS)
			return -EAGAIN;
		set_current_state(TASK_INTERRUPTIBLE);
		gprof_sleep_until(now + LOOK_NS);
		if (signal_pending(caller))
			return -EINTR;
		now = ktime_get_mono_fast_ns();
	}
	return 0;
}

/**
 * gprof_turn_wait() - wait until the caller may
 * @caller: whose signals end the wait
 *
 * Context: Task, with the caller's credentials.
 * Return: 0; -EAGAIN: not within two seconds; -EINTR.
 */
int gprof_turn_wait(struct task_struct *caller)
{
	struct waiter p = { .user = current_uid(), .looked = ktime_get_mono_fast_ns() };
	int err;

	spin_lock(&turns_lock);
	list_add_tail(&p.node, &waiting);
	spin_unlock(&turns_lock);
	err = await_turn(&p, caller);
	spin_lock(&turns_lock);
	list_del(&p.node);
	spin_unlock(&turns_lock);
	return err;
}
