// SPDX-License-Identifier: GPL-2.0-only
/*
 * tracked: might this be a task of anybody's target?
 *
 * A set bit means: the process of this number is in the table of task_set.c, or was until
 * a short while ago. task_set.c sets it, under task_set_lock, before the process can be found
 * there, and has it forgotten when no process of this number is left in it. A clear
 * bit is the truth; a caller that finds it set has to ask the table.
 *
 * A process ceases to belong before its tasks cease to switch: one that has reaped itself
 * may be preempted amid the rest of its end for as long as it takes. A recorder that noted that
 * it runs or waits has to see it give up the CPU. So a number stays known until a grace period
 * of RCU-tasks has passed, which waits for all tasks that were preempted in the kernel, those
 * that are ending too, and then one of RCU, since the very end runs without preemption
 * (kernel/rcu/tasks.h).
 *
 * Another process may get the number meanwhile. Where it belongs, gprof_tracked_add() takes the
 * number out of those to be forgotten; where not, it passes for known until then, which
 * costs it a look into the table and nothing else. Such grace periods keep the kernel's
 * threads busy, and processes end and recorders stop all the time: numbers are forgotten
 * together, once in DELAY.
 *
 * A user that keeps something by the number of a known task that runs is told when numbers
 * were forgotten: such a task may run on, and its switches are nobody's concern from then on.
 *
 * Locks: tracked_lock is a raw spinlock, innermost, inside task_set_lock; interrupts are off
 * under it. tracked_mutex is innermost.
 */
#include "tracked.h"
#include "compat/workqueue.h"

#include <linux/bitmap.h>
#include <linux/mutex.h>
#include <linux/rcupdate.h>
#include <linux/smp.h>
#include <linux/spinlock.h>
#include <linux/threads.h>
#include <linux/vmalloc.h>

#define MAP_LONGS	BITS_TO_LONGS(PID_MAX_LIMIT)
#define DELAY		HZ

unsigned long *gprof_tracked_tgids;

/* Numbers that were forgotten since the last grace period began, and before that. */
static unsigned long *leaving, *leaving_before;

static DEFINE_RAW_SPINLOCK(tracked_lock);	/* protects all three maps against writers */
static void (*tell_forgotten)(void);	/* under tracked_lock */
static DEFINE_MUTEX(tracked_mutex);	/* protects their making */

static void drop(unsigned long tgid)
{
	raw_spin_lock_irq(&tracked_lock);
	/* It may have been added again, and forgotten again. */
	if (__test_and_clear_bit(tgid, leaving_before) && !test_bit(tgid, leaving))
		__clear_bit(tgid, gprof_tracked_tgids);
	raw_spin_unlock_irq(&tracked_lock);
}

static void forget_all(struct work_struct *work)
{
	void (*tell)(void);
	unsigned long tgid;

	raw_spin_lock_irq(&tracked_lock);
	swap(leaving, leaving_before);
	raw_spin_unlock_irq(&tracked_lock);
	synchronize_rcu_tasks();
	synchronize_rcu();
	for_each_set_bit(tgid, leaving_before, PID_MAX_LIMIT) {
		drop(tgid);
		cond_resched();
	}
	/* A user that comes to be told after this finds the numbers forgotten. */
	raw_spin_lock_irq(&tracked_lock);
	tell = tell_forgotten;
	raw_spin_unlock_irq(&tracked_lock);
	if (tell)
		tell();
}

static DECLARE_DELAYED_WORK(forget_work, forget_all);

static void do_nothing(void *unused)
{
}

/**
 * gprof_tracked_init() - make the map, if there is none
 *
 * Context: Task.
 * Return: 0 or -ENOMEM.
 */
int gprof_tracked_init(void)
{
	unsigned long *map;

	mutex_lock(&tracked_mutex);
	if (!gprof_tracked_tgids) {
		map = vzalloc(3 * MAP_LONGS * sizeof(*map));
		if (map) {
			leaving = map + MAP_LONGS;
			leaving_before = map + 2 * MAP_LONGS;
			WRITE_ONCE(gprof_tracked_tgids, map);
			/*
			 * A probe loads first the list that sends it here, then this pointer,
			 * and a CPU that is interrupted has loaded the first before the second.
			 * Pairs with READ_ONCE() in gprof_tracked(): a probe that may have found
			 * NULL had loaded the list before anybody stood in one.
			 */
			on_each_cpu(do_nothing, NULL, 1);
		}
	}
	map = gprof_tracked_tgids;
	mutex_unlock(&tracked_mutex);
	return map ? 0 : -ENOMEM;
}

/**
 * gprof_tracked_exit() - free the map
 *
 * Context: Task; nobody asks any more.
 */
void gprof_tracked_exit(void)
{
	cancel_delayed_work_sync(&forget_work);
	vfree(gprof_tracked_tgids);
}

/**
 * gprof_tracked_add() - a process belongs to a target from now on
 * @tgid: its number in the initial pid namespace
 *
 * Context: Any but NMI.
 */
void gprof_tracked_add(pid_t tgid)
{
	unsigned long flags;

	raw_spin_lock_irqsave(&tracked_lock, flags);
	__clear_bit(tgid, leaving);
	__clear_bit(tgid, leaving_before);
	__set_bit(tgid, gprof_tracked_tgids);
	raw_spin_unlock_irqrestore(&tracked_lock, flags);
}

/**
 * gprof_tracked_forget() - no process with this number belongs to a target any more
 * @tgid: number
 *
 * Context: Any but NMI, and not under the lock of a run queue.
 */
void gprof_tracked_forget(pid_t tgid)
{
	unsigned long flags;

	raw_spin_lock_irqsave(&tracked_lock, flags);
	__set_bit(tgid, leaving);
	raw_spin_unlock_irqrestore(&tracked_lock, flags);
	/* It waits for long: not where short works wait behind it. */
	queue_delayed_work(system_dfl_wq, &forget_work, DELAY);
}

/**
 * gprof_tracked_set_callback() - call a function whenever numbers were forgotten
 * @forgotten: called in task context, from now on; stays until gprof_tracked_exit()
 *
 * Context: Task.
 */
void gprof_tracked_set_callback(void (*forgotten)(void))
{
	raw_spin_lock_irq(&tracked_lock);
	tell_forgotten = forgotten;
	raw_spin_unlock_irq(&tracked_lock);
}
