// SPDX-License-Identifier: GPL-2.0-only
/*
 * oncpu: how many tasks of a target run at this instant.
 *
 * Each CPU has a note of the task that runs there. Its switches write it; a sample reads those
 * of the other CPUs, and counts its own as one, for the sampled task runs. So the count is
 * never 0, no switch writes a word that another CPU writes too, and nothing that was missed
 * once is missed for ever, as it would be by a count that goes up and down.
 *
 * There are two notes, of which each is kept while somebody wants it:
 *
 *	the process, for targets that are processes, and of known tasks alone (tracked.h).
 *	Tasks outside the target pay nothing for it, and its reader looks at no memory of a task:
 *	it is a number, of which the recorder's map of processes is asked.
 *
 *	the task, any task, for all other targets; NULL for the idle task. Of a
 *	cgroup it is the reader that asks for the task's, since a task can be moved while
 *	it runs. A task that was switched out may be freed after a grace period of RCU,
 *	which a sample is a reader of; and no switch goes unnoticed.
 *
 * All recorders share both, so that a switch costs the same for any number of them. Of a
 * target that is a thread nothing is to be noted: when it is sampled it runs, and nobody
 * else is of the target.
 *
 * Those switches alone that a known task has part in write a process' note. A task that is
 * forgotten while it runs gives up the CPU unseen; so all CPUs look anew at the running task
 * when numbers were forgotten, before the note of one can be taken for another process.
 *
 * Locks: oncpu_mutex, outside the tracepoints' and tracked.c's.
 */
#include "oncpu.h"
#include "probe/tracked.h"
#include "probe/tp_mux.h"
#include "target.h"
#include "task/cgroups.h"
#include "user/memlock.h"

#include <linux/cpumask.h>
#include <linux/gprof.h>
#include <linux/mm.h>
#include <linux/mutex.h>
#include <linux/percpu.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/smp.h>
#include <linux/threads.h>

#define BITMAP_BYTES	(PID_MAX_LIMIT / BITS_PER_BYTE)

/**
 * struct note - the task that runs on a CPU
 * @task: the task; NULL: the idle task
 * @tgid: its process, where that is known; else 0
 *
 * Each means something while its tracepoint has a user. Written by its CPU without interrupts,
 * and by begin_one() while nobody reads.
 */
struct note {
	const struct task_struct *task;
	pid_t tgid;
};

static DEFINE_PER_CPU_SHARED_ALIGNED(struct note, notes);

static DEFINE_MUTEX(oncpu_mutex);	/* protects the numbers of users */

/* ---- on the CPU, interrupts off ---- */

static inline void note_task(struct task_struct *task)
{
	const struct task_struct *who = is_idle_task(task) ? NULL : task;

	this_cpu_write(notes.task, who);
}

static inline void note_process(struct task_struct *task)
{
	pid_t tgid = gprof_tracked(task) ? task->tgid : 0;

	this_cpu_write(notes.tgid, tgid);
}

static notrace void switched(void *data, bool preempt, struct task_struct *prev,
			     struct task_struct *next, unsigned int state)
{
	note_task(next);
}

static notrace void tracked_switched(void *data, bool preempt, struct task_struct *prev,
				     struct task_struct *next, unsigned int state)
{
	note_process(next);
}

static void scan_for_task(void *unused)
{
	note_task(current);
}

static void scan_for_process(void *unused)
{
	note_process(current);
}

/* ---- users of the notes ---- */

static struct keeper {
	struct gprof_tp_sub sub;
	unsigned int users;
	void (*scan)(void *unused);
} of_tasks = {
	.sub = { .tp = GPROF_TP_SWITCH, .on_switch = switched },
	.scan = scan_for_task,
}, of_processes = {
	.sub = { .tp = GPROF_TP_SWITCH, .on_switch = tracked_switched, .tracked_only = true },
	.scan = scan_for_process,
};

/* NULL: there is nothing to note. */
static struct keeper *keeper_of(const struct gprof_oncpu *r)
{
	if (r->target->type == GPROF_TARGET_THREAD)
		return NULL;
	return r->tgids ? &of_processes : &of_tasks;
}

static bool is_noted(int cpu, void *none)
{
	return READ_ONCE(per_cpu(notes, cpu).tgid);
}

/* Those may run on, and no tracepoint tells of the task that follows them there. */
static void forgotten(void)
{
	mutex_lock(&oncpu_mutex);
	if (of_processes.users)
		on_each_cpu_cond(is_noted, of_processes.scan, NULL, 1);
	mutex_unlock(&oncpu_mutex);
}

/* The note of the last STOP is of no use on a CPU that is offline, and comes. */
static int begin_one(struct keeper *k)
{
	int cpu, err;

	lockdep_assert_held(&oncpu_mutex);
	for_each_possible_cpu(cpu) {
		if (k == &of_tasks)
			WRITE_ONCE(per_cpu(notes, cpu).task, NULL);
		else
			WRITE_ONCE(per_cpu(notes, cpu).tgid, 0);
	}
	err = gprof_tp_subscribe(&k->sub);
	/*
	 * After it: from here on switches tell, and running tasks are looked at; of a process in
	 * gprof_oncpu_scan().
	 */
	if (!err && k == &of_tasks)
		on_each_cpu(k->scan, NULL, 1);
	return err;
}

/**
 * gprof_oncpu_begin() - know the running tasks from now on
 * @r: whose, or NULL
 *
 * Of a process that is when gprof_oncpu_scan() was called, since its target came into
 * its task set.
 *
 * Context: Task.
 * Return: 0 or a negative errno, as gprof_tp_subscribe(); nothing is noted then.
 */
int gprof_oncpu_begin(const struct gprof_oncpu *r)
{
	struct keeper *k = r ? keeper_of(r) : NULL;
	int err = 0;

	if (!k)
		return 0;
	if (k == &of_processes)
		gprof_tracked_set_callback(forgotten);
	mutex_lock(&oncpu_mutex);
	if (!k->users)
		err = begin_one(k);
	k->users += !err;
	mutex_unlock(&oncpu_mutex);
	return err;
}

/**
 * gprof_oncpu_scan() - a target has come into its task set: note its tasks that run already
 * @r: whose, begun; or NULL
 *
 * Context: Task.
 */
void gprof_oncpu_scan(struct gprof_oncpu *r)
{
	struct keeper *k = r ? keeper_of(r) : NULL;

	if (k != &of_processes)
		return;
	gprof_target_call_running(r->target, k->scan, NULL);
	/* Pairs with smp_load_acquire() of gprof_oncpu_count(): their notes are first. */
	smp_store_release(&r->looked, true);
}

/**
 * gprof_oncpu_forget() - a target is about to leave its task set
 * @r: whose, looked at; or NULL
 *
 * Its processes are counted no more from there on, one after the other, while samples are
 * taken until a grace period has passed: the tasks that ran beside these are not known.
 *
 * Context: Task.
 */
void gprof_oncpu_forget(struct gprof_oncpu *r)
{
	if (!r)
		return;
	WRITE_ONCE(r->looked, false);
	smp_wmb();	/* pairs with smp_rmb() of gprof_oncpu_count(): before any of them goes */
}

/**
 * gprof_oncpu_end() - no longer
 * @r: whose, begun; or NULL
 *
 * Context: Task.
 */
void gprof_oncpu_end(const struct gprof_oncpu *r)
{
	struct keeper *k = r ? keeper_of(r) : NULL;

	if (!k)
		return;
	mutex_lock(&oncpu_mutex);
	if (!--k->users)
		gprof_tp_unsubscribe_nowait(&k->sub);
	mutex_unlock(&oncpu_mutex);
}

/* ---- how many ---- */

static inline bool runs(const struct gprof_oncpu *r, int cpu)
{
	const struct note *note = per_cpu_ptr(&notes, cpu);
	struct cgroup *cgroup = r->target->cgroup;
	struct task_struct *task;

	/* Nobody has the number 0. */
	if (r->tgids)
		return test_bit(READ_ONCE(note->tgid), r->tgids);
	task = (struct task_struct *)READ_ONCE(note->task);
	if (!task || !cgroup)
		return task;
	/* As gprof_target_has_current() */
	return gprof_cgroup_has(cgroup, task);
}

/**
 * gprof_oncpu_count() - how many tasks of the target run now
 * @r: whose, begun, of whose target current is
 *
 * Current is one, the idle tasks are none. The CPUs are read in turn, which takes a cache
 * line from each.
 *
 * Context: Any incl. NMI, preemption off.
 * Return: 1 or more, and no more than there are CPUs; 0: START or STOP is under way, and it
 * is not known.
 */
u32 gprof_oncpu_count(const struct gprof_oncpu *r)
{
	const struct cpumask *cpus = r->tgids ? cpu_online_mask : r->target->cpus;
	int cpu, here = smp_processor_id();
	u32 nr = 1;

	if (r->target->type == GPROF_TARGET_THREAD)
		return nr;
	/* Pairs with smp_store_release() of gprof_oncpu_scan(): all CPUs have looked. */
	if (r->tgids && !smp_load_acquire(&r->looked))
		return 0;
	for_each_cpu_and(cpu, cpus, cpu_online_mask)
		nr += cpu != here && runs(r, cpu);
	smp_rmb();	/* pairs with smp_wmb() of gprof_oncpu_forget(): all were there till now */
	return r->tgids && !READ_ONCE(r->looked) ? 0 : nr;
}

/* ---- life ---- */

/**
 * gprof_oncpu_features() - GPROF_FEAT_PARALLELISM or 0
 *
 * Context: Any.
 */
u64 gprof_oncpu_features(void)
{
	return gprof_tp_exists(GPROF_TP_SWITCH) ? GPROF_FEAT_PARALLELISM : 0;
}

/**
 * gprof_oncpu_bytes() - memory that it takes, for the charge
 * @target: of this target
 *
 * Context: Task.
 */
u64 gprof_oncpu_bytes(const struct gprof_target *target)
{
	return gprof_memory_of(sizeof(struct gprof_oncpu)) +
	       (target->type == GPROF_TARGET_PROCESS ? BITMAP_BYTES : 0);
}

/**
 * gprof_oncpu_new() - prepare to count
 * @target: of this target; outlives it
 *
 * Context: Task.
 * Return: for gprof_oncpu_free(), or NULL.
 */
struct gprof_oncpu *gprof_oncpu_new(const struct gprof_target *target)
{
	struct gprof_oncpu *r = kzalloc(sizeof(*r), GFP_KERNEL_ACCOUNT);

	if (!r)
		return NULL;
	r->target = target;
	if (target->type != GPROF_TARGET_PROCESS)
		return r;
	r->tgids = kvzalloc(BITMAP_BYTES, GFP_KERNEL_ACCOUNT);
	if (r->tgids)
		return r;
	kfree(r);
	return NULL;
}

/**
 * gprof_oncpu_free() - free; ended before
 * @r: result of gprof_oncpu_new(), or NULL
 *
 * Context: Task.
 */
void gprof_oncpu_free(struct gprof_oncpu *r)
{
	if (!r)
		return;
	kvfree(r->tgids);
	kfree(r);
}
