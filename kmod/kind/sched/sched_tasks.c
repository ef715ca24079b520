// SPDX-License-Identifier: GPL-2.0-only
/*
 * sched_tasks: which tasks are counted.
 *
 * The processes of a target are task_set.c's, which keeps a bit for each in a map of
 * ours: every switch asks.
 */
#include "clock/cycles.h"
#include "sched.h"
#include "target/target.h"

#include <linux/cpumask.h>
#include <linux/gprof.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>

#define WALK_BATCH	1024	/* tasks between two points where others may run */
#define WALK_RESTARTS	8

/* Was it running when its process came in, nobody has switched it in before us. */
static void note_current(void *data)
{
	struct gprof_sched *s = data;
	struct gprof_sched_counters *c = this_cpu_ptr(s->counters);

	if (!c->curr && gprof_sched_matches(s, current)) {
		c->last = gprof_cycles();
		WRITE_ONCE(c->curr, current);
	}
}

/**
 * gprof_sched_attach_tasks() - take in the tasks that there are at START
 * @s: statistics
 * @threads: how many there are
 *
 * Context: Task.
 * Return: 0; -ESRCH when the target is gone, -EPERM when it is no longer the
 * owner's to look at; -ENOMEM; -EINTR when the caller is being killed.
 */
int gprof_sched_attach_tasks(struct gprof_sched *s, u32 *threads)
{
	int err;

	if (!s->whose.tgids) {
		*threads = num_online_cpus();
		return 0;
	}
	err = gprof_task_set_attach(&s->task_set, threads);
	if (!err)
		gprof_target_call_running(s->whose.target, note_current, s);
	return err;
}

/**
 * gprof_sched_executed() - current belongs now, or does so no longer
 * @s: statistics
 *
 * Nobody tells when a task outside the target is switched out.
 *
 * Context: Preemption off.
 */
void gprof_sched_executed(struct gprof_sched *s)
{
	struct gprof_sched_counters *c = this_cpu_ptr(s->counters);

	if (!gprof_sched_matches(s, current)) {
		WRITE_ONCE(c->curr, NULL);
	} else if (c->curr != current) {
		c->last = gprof_cycles();
		WRITE_ONCE(c->curr, current);
	}
}

/**
 * gprof_sched_detach_tasks() - let them go
 * @s: statistics that were entered
 *
 * Context: Task.
 */
void gprof_sched_detach_tasks(struct gprof_sched *s)
{
	if (s->whose.tgids)
		gprof_task_set_detach(&s->task_set);
}

/**
 * gprof_sched_inherits() - does a task that current has made belong to the task set?
 * @s: statistics
 * @child: has not run yet; it may not be told to the task set yet
 *
 * Context: Task.
 */
bool gprof_sched_inherits(const struct gprof_sched *s, struct task_struct *child)
{
	return gprof_target_inherits(&s->whose, child);
}

/**
 * gprof_sched_matches_now() - as gprof_sched_matches(), of a task that may run
 * @s: statistics
 * @task: task that cannot go away
 *
 * Context: Task, under RCU.
 */
bool gprof_sched_matches_now(const struct gprof_sched *s, struct task_struct *task)
{
	if (!s->whose.tgids)
		return gprof_sched_matches(s, task);
	if (!test_bit(task->tgid, s->whose.tgids) || (s->whose.thread && s->whose.thread != task))
		return false;
	return !task->in_execve || gprof_task_allowed(task, s->whose.target->owner);
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
		if (!t->exit_state && gprof_sched_matches_now(s, t)) {
			r->tasks++;
			r->in_call += s->in_call && test_bit(t->pid, s->in_call);
			if (s->whose.tgids || s->whose.cgroup)
				cpumask_or(cpus, cpus, t->cpus_ptr);
		}
		if (++seen % WALK_BATCH == 0 && may_pause && !gprof_pause_walk(g, t))
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
	r->cpus = s->whose.tgids || s->whose.cgroup ? cpumask_weight(mask) : num_online_cpus();
	free_cpumask_var(mask);
}
