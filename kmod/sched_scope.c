// SPDX-License-Identifier: GPL-2.0-only
/*
 * sched_scope: which tasks are counted.
 *
 * The tasks of a process are kept as a bit for each task id, inherited at fork.
 * A bit outlives its task and is set anew when the id is given out again.
 */
#include "sched.h"
#include "target.h"

#include <linux/cpumask.h>
#include <linux/gprof.h>
#include <linux/minmax.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>

#define WALK_BATCH	1024	/* tasks between two points where others may run */
#define WALK_RESTARTS	8

static void enter(struct gprof_sched *s)
{
	struct task_struct *leader = s->target->task, *t;
	bool again;

	if (s->target->type == GPROF_TARGET_THREAD) {
		set_bit(leader->pid, s->members);
		WRITE_ONCE(s->settled, true);
		return;
	}
	/*
	 * A new thread stands behind the one that made it. It is found here, or
	 * its maker was already, and then it has inherited; go on until there
	 * is nothing to find.
	 */
	do {
		again = false;
		rcu_read_lock();
		for_each_thread(leader, t)
			again |= !test_and_set_bit(t->pid, s->members);
		rcu_read_unlock();
	} while (again && !fatal_signal_pending(current));
	WRITE_ONCE(s->settled, true);
}

/**
 * gprof_sched_enter_members() - find the tasks that there are at START
 * @s: statistics; tasks inherit already
 * @threads: how many there are
 *
 * Context: Task.
 * Return: 0; -ESRCH when the target is gone, -EPERM when it is no longer the
 * owner's to look at, -EINTR when the caller is being killed.
 */
int gprof_sched_enter_members(struct gprof_sched *s, u32 *threads)
{
	int ret;

	if (!s->members) {
		*threads = num_online_cpus();
		return 0;
	}
	ret = gprof_target_hold(s->target);
	if (ret)
		return ret;
	ret = gprof_target_threads(s->target);
	if (ret > 0) {
		*threads = ret;
		enter(s);
	}
	gprof_target_release(s->target);
	return min(ret, 0);
}

/**
 * gprof_sched_inherit() - current has made a task
 * @s: statistics of a thread or process
 * @child: has not run yet
 *
 * Context: Task.
 */
void gprof_sched_inherit(struct gprof_sched *s, struct task_struct *child)
{
	if (s->target->type == GPROF_TARGET_PROCESS && test_bit(current->pid, s->members))
		set_bit(child->pid, s->members);
	else if (READ_ONCE(s->settled))
		clear_bit(child->pid, s->members);
}

/**
 * gprof_sched_executed() - current executes another program
 * @s: statistics
 *
 * A program that runs with other privileges than the owner's is none of the
 * owner's business.
 *
 * Context: Task; takes no lock.
 */
void gprof_sched_executed(struct gprof_sched *s)
{
	if (s->members && test_bit(current->pid, s->members) &&
	    !gprof_current_allowed(s->target->owner))
		clear_bit(current->pid, s->members);
}

/* Lets others run in the middle of a walk. False: start again. */
static bool pause_walk(struct task_struct *g, struct task_struct *t)
{
	bool alive;

	get_task_struct(g);
	get_task_struct(t);
	rcu_read_unlock();
	cond_resched();
	rcu_read_lock();
	alive = pid_alive(g) && pid_alive(t);
	put_task_struct(t);
	put_task_struct(g);
	return alive;
}

static bool walk(struct gprof_sched *s, struct cpumask *cpus, struct gprof_sched_reading *r,
		 bool may_pause)
{
	struct task_struct *g, *t;
	unsigned int seen = 0;

	r->tasks = 0;
	r->in_call = 0;
	cpumask_clear(cpus);
	for_each_process_thread(g, t) {
		if (!t->exit_state && gprof_sched_member(s, t)) {
			r->tasks++;
			r->in_call += s->in_call && test_bit(t->pid, s->in_call);
			if (s->members || s->cgroup)
				cpumask_or(cpus, cpus, t->cpus_ptr);
		}
		if (++seen % WALK_BATCH == 0 && may_pause && !pause_walk(g, t))
			return false;
	}
	return true;
}

/**
 * gprof_sched_population() - how many tasks, and where they may run
 * @s: statistics
 * @r: gets @tasks, @in_call and @cpus
 *
 * Context: Task.
 */
void gprof_sched_population(struct gprof_sched *s, struct gprof_sched_reading *r)
{
	unsigned int tries = 0;
	cpumask_var_t mask;

	if (!zalloc_cpumask_var(&mask, GFP_KERNEL))
		return;
	rcu_read_lock();
	while (!walk(s, mask, r, tries < WALK_RESTARTS))
		tries++;
	rcu_read_unlock();
	cpumask_and(mask, mask, cpu_online_mask);
	r->cpus = s->members || s->cgroup ? cpumask_weight(mask) : num_online_cpus();
	free_cpumask_var(mask);
}
