// SPDX-License-Identifier: GPL-2.0-only
/*
 * target: resolve, check the privilege, hold references.
 *
 * The rules of which user may record which task stand here and nowhere else. They are those
 * of perf_event_open(2) with kernel.perf_event_paranoid = 2: own tasks in user
 * mode for everybody, all else with CAP_PERFMON.
 *
 * Own are those that the user may trace, which ptrace_may_access() knows; it is not exported,
 * and neither is the call that asks the security modules. So two ask: gprof_task_allowed() and
 * its like compare ids, capabilities and dumpable flags, in any context and as often
 * as a task may have changed; and SETUP and START have the kernel's own code judge, which
 * asks the security modules (may_trace()).
 */
#include "target.h"
#include "compat/task.h"
#include "task/cgroups.h"
#include "task/process.h"
#include "task/procfs.h"

#include <linux/capability.h>
#include <linux/cred.h>
#include <linux/err.h>
#include <linux/gprof.h>
#include <linux/minmax.h>
#include <linux/pid.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>
#include <linux/smp.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/user_namespace.h>

#define STAT_BYTES	1024	/* of /proc/PID/stat: more than 26 fields take */
#define ASKED_MAX	8	/* credentials that the threads of a target may have */

/* As the kernel's cap_capable(), which is not exported. */
static bool capable_in(const struct cred *cred, const struct user_namespace *ns, int cap)
{
	for (;;) {
		if (ns == cred->user_ns)
			return cap_raised(cred->cap_effective, cap);
		if (ns->level <= cred->user_ns->level)
			return false;
		if (ns->parent == cred->user_ns && uid_eq(ns->owner, cred->euid))
			return true;
		ns = ns->parent;
	}
}

/*
 * Sets of capabilities can be compared within one user namespace only: a user that
 * makes one has all of them there, and no more over other tasks than before.
 */
static bool no_more_capable(const struct cred *owner, const struct cred *task)
{
	if (owner->user_ns == task->user_ns &&
	    cap_issubset(task->cap_permitted, owner->cap_permitted))
		return true;
	return capable_in(owner, task->user_ns, CAP_SYS_PTRACE);
}

static bool same_user(const struct cred *owner, const struct cred *task)
{
	return uid_eq(owner->euid, task->euid) && uid_eq(owner->euid, task->suid) &&
	       uid_eq(owner->euid, task->uid) && gid_eq(owner->egid, task->egid) &&
	       gid_eq(owner->egid, task->sgid) && gid_eq(owner->egid, task->gid) &&
	       no_more_capable(owner, task);
}

static bool has_cap_for_all(const struct cred *owner)
{
	/* Capabilities count in the initial user namespace only, as in capable(). */
	return owner->user_ns == &init_user_ns &&
	       (cap_raised(owner->cap_effective, CAP_PERFMON) ||
		cap_raised(owner->cap_effective, CAP_SYS_ADMIN));
}

/**
 * gprof_task_allowed() - may this task be recorded?
 * @task: task, held by the caller
 * @owner: on whose behalf
 *
 * As ptrace(2) would say for the same user where no security module has a say: all ids equal,
 * no more capabilities, dumpable. An exec may change the
 * answer at any time, unless the caller keeps it out by gprof_target_hold().
 *
 * Context: Task.
 */
bool gprof_task_allowed(struct task_struct *task, const struct cred *owner)
{
	bool allowed;

	if (has_cap_for_all(owner))
		return true;
	rcu_read_lock();
	allowed = same_user(owner, __task_cred(task));
	rcu_read_unlock();
	if (!allowed)
		return false;
	task_lock(task);
	rcu_read_lock();
	allowed = task->mm && gprof_task_dumpable(task, task->mm);
	rcu_read_unlock();
	task_unlock(task);
	return allowed;
}

/**
 * gprof_leader_otherwise() - the leader of a task that is unhashed
 * @task: which may have outlived the leader that it had
 *
 * While a thread of the process is not unhashed, the process has a leader, which RCU keeps.
 *
 * Context: Any incl. NMI, preemption off.
 * Return: that, or @task where its process is gone.
 */
struct task_struct *gprof_leader_otherwise(struct task_struct *task)
{
	struct task_struct *leader = NULL;

	rcu_read_lock();
	if (READ_ONCE(task->signal->nr_threads))
		leader = pid_task(task->signal->pids[PIDTYPE_TGID], PIDTYPE_TGID);
	rcu_read_unlock();
	return leader ?: task;
}

/**
 * gprof_pause_walk() - let others run in the middle of a walk over all tasks
 * @process: that it is at
 * @task: of it
 *
 * Context: Task, under RCU, which is left meanwhile.
 * Return: false: the walk cannot go on from here, and is to begin again.
 */
bool gprof_pause_walk(struct task_struct *process, struct task_struct *task)
{
	bool alive;

	get_task_struct(process);
	get_task_struct(task);
	rcu_read_unlock();
	cond_resched();
	rcu_read_lock();
	alive = pid_alive(process) && pid_alive(task);
	put_task_struct(task);
	put_task_struct(process);
	return alive;
}

/**
 * gprof_target_hold() - have no exec in the target until gprof_target_release()
 * @t: target made of tasks
 *
 * The check and the work upon it are one step then: an exec that gives
 * itself other credentials comes before the check, which sees them, or after both,
 * and then finds the work and undoes it. A recorder that may record everything needs none
 * of that, and so waits for nobody's exec.
 *
 * Context: Task. Lock order: inside all of ours but raw spinlocks; perf takes its own
 * inside it too.
 * Return: 0, or -EINTR when the caller is being killed.
 */
int gprof_target_hold(const struct gprof_target *t)
{
	return has_cap_for_all(t->owner) ? 0 : gprof_exec_lock(t->task->signal);
}

/**
 * gprof_target_release() - let execs happen again
 * @t: target that is held
 *
 * Context: Task.
 */
void gprof_target_release(const struct gprof_target *t)
{
	if (!has_cap_for_all(t->owner))
		gprof_exec_unlock(t->task->signal);
}

#define START_CODE	26	/* field of /proc/PID/stat; 1 for a reader that may not trace it */

/* The name of a task can have anything in it, but the fields behind it have no parenthesis. */
static bool hides_addresses(const char *stat)
{
	const char *field = strrchr(stat, ')');
	int nr;

	for (nr = 2; field && nr < START_CODE; nr++)
		field = strchr(field + 1, ' ');
	return !field || !strncmp(field, " 1 ", 3);
}

/*
 * May the owner trace the task? The kernel is asked by a file of /proc that shows where
 * the code of a task is to those alone that may, as ptrace_may_access() with
 * PTRACE_MODE_READ_FSCREDS has it. A file that cannot be read forbids.
 */
static bool may_trace(struct task_struct *task, const struct cred *owner)
{
	char name[48], *stat;
	bool may;

	stat = kmalloc(STAT_BYTES, GFP_KERNEL);
	if (!stat)
		return false;
	snprintf(name, sizeof(name), "%d/task/%d/stat", task_tgid_nr(task), task_pid_nr(task));
	may = gprof_procfs_read(name, owner, stat, STAT_BYTES) > 0 && !hides_addresses(stat);
	kfree(stat);
	/* Its number may be another's by now. */
	return may && pid_alive(task);
}

/* A thread of the target with other credentials than all before it; a reference is taken. */
static struct task_struct *other_thread(const struct gprof_target *t, const struct cred **asked,
					unsigned int nr)
{
	struct task_struct *task, *found = NULL;
	unsigned int i;

	rcu_read_lock();
	for_each_thread(t->task, task) {
		const struct cred *cred = __task_cred(task);

		for (i = 0; i < nr && asked[i] != cred; i++)
			;
		if (i < nr || task->flags & PF_EXITING)
			continue;
		found = get_task_struct(task);
		break;
	}
	rcu_read_unlock();
	return found;
}

/* Threads share their credentials, but for few. */
static bool may_trace_all(const struct gprof_target *t)
{
	const struct cred *asked[ASKED_MAX];
	struct task_struct *task;
	unsigned int nr = 0;
	bool may = true;

	while (may && (task = other_thread(t, asked, nr))) {
		may = nr < ASKED_MAX;
		if (may) {
			asked[nr++] = get_task_cred(task);
			may = may_trace(task, t->owner) || task->flags & PF_EXITING;
		}
		put_task_struct(task);
	}
	while (nr)
		put_cred(asked[--nr]);
	return may;
}

static bool is_for_owner(const struct gprof_target *t)
{
	if (t->privileged)
		return true;
	return t->type == GPROF_TARGET_THREAD ? may_trace(t->task, t->owner) : may_trace_all(t);
}

static int check_task(struct task_struct *task, const struct cred *owner)
{
	if (!(task->flags & PF_EXITING) && gprof_task_allowed(task, owner))
		return 0;
	/* A task that is past its end has no mm either, and is not denied but gone. */
	return task->flags & PF_EXITING ? -ESRCH : -EPERM;
}

/**
 * gprof_target_threads() - check the credentials of the target as it is now
 * @t: target made of tasks
 *
 * Threads of one process may have credentials of their own.
 *
 * Context: Task.
 * Return: number of threads; -ESRCH: it has ended; -EPERM: not for the owner.
 */
int gprof_target_threads(const struct gprof_target *t)
{
	struct task_struct *task;
	int err, n = 0;

	if (t->type == GPROF_TARGET_THREAD)
		return check_task(t->task, t->owner) ?: 1;
	rcu_read_lock();
	for_each_thread(t->task, task) {
		err = check_task(task, t->owner);
		if (err == -EPERM) {
			n = err;
			break;
		}
		n += !err;
	}
	rcu_read_unlock();
	return n ?: -ESRCH;
}

/**
 * gprof_target_ask() - check that the owner may record the target, security modules included
 * @t: target made of tasks
 *
 * Context: Task, without the lock of gprof_target_hold(), which the kernel's answer takes.
 * Return: number of threads; -ESRCH: it has ended; -EPERM: not for the owner.
 */
int gprof_target_ask(const struct gprof_target *t)
{
	int n = gprof_target_threads(t);

	if (n < 0 || is_for_owner(t))
		return n;
	/* It may have ended meanwhile. */
	n = gprof_target_threads(t);
	return n < 0 ? n : -EPERM;
}

/**
 * gprof_target_size() - how many tasks may be of interest, about
 * @t: target
 *
 * Those of a cgroup or of CPUs are not known before they run.
 *
 * Context: Task.
 */
unsigned int gprof_target_size(const struct gprof_target *t)
{
	struct task_struct *process, *task;
	unsigned int nr = num_possible_cpus();

	if (t->type == GPROF_TARGET_THREAD)
		return 1;
	rcu_read_lock();
	if (gprof_target_is_tasks(t)) {
		for_each_thread(t->task, task)
			nr++;
	} else {
		for_each_process_thread(process, task)
			nr++;
	}
	rcu_read_unlock();
	return nr;
}

/* Sleeps, or is on its way to a CPU: then it comes by a switch. */
static bool may_run(const struct task_struct *task)
{
	return READ_ONCE(task->on_rq) || READ_ONCE(task->on_cpu);
}

static void add_cpus(struct task_struct *leader, struct cpumask *cpus)
{
	struct task_struct *task;

	rcu_read_lock();
	for_each_thread(leader, task) {
		if (may_run(task))
			cpumask_set_cpu(task_cpu(task), cpus);
	}
	rcu_read_unlock();
}

/**
 * gprof_target_call_running() - call a function where a target's tasks run
 * @t: target
 * @func: called with interrupts off, perhaps on more CPUs; of a target that is not made of tasks
 *	on all of them
 * @arg: for @func
 *
 * A task that comes to a CPU after this was called does so by a switch, which sees all that was
 * written before.
 *
 * Context: Task.
 */
void gprof_target_call_running(const struct gprof_target *t, smp_call_func_t func, void *arg)
{
	cpumask_var_t cpus;

	if (!gprof_target_is_tasks(t) || !zalloc_cpumask_var(&cpus, GFP_KERNEL)) {
		on_each_cpu(func, arg, 1);
		return;
	}
	/* A task that is found asleep sees the stores before this when it is switched in. */
	smp_mb();	/* Pairs with smp_mb__after_spinlock() in __schedule(). */
	if (t->type == GPROF_TARGET_THREAD && may_run(t->task))
		cpumask_set_cpu(task_cpu(t->task), cpus);
	else if (t->type == GPROF_TARGET_PROCESS)
		add_cpus(t->task, cpus);
	on_each_cpu_mask(cpus, func, arg, 1);
	free_cpumask_var(cpus);
}

/**
 * gprof_task_seems_allowed() - may this task be recorded? Without a lock
 * @task: current, or a task that does not run and cannot begin to
 * @owner: on whose behalf
 *
 * Context: Any but NMI.
 */
bool gprof_task_seems_allowed(struct task_struct *task, const struct cred *owner)
{
	return gprof_task_in_mm_seems_allowed(task, task->mm, owner);
}

/**
 * gprof_task_in_mm_seems_allowed() - likewise, of a task that may begin to run, and to end
 * @task: task, which may have another mm by now
 * @mm: the mm that it is to have, which the caller holds, or NULL
 * @owner: on whose behalf
 *
 * Context: Any but NMI.
 */
bool gprof_task_in_mm_seems_allowed(struct task_struct *task, struct mm_struct *mm,
				    const struct cred *owner)
{
	bool allowed;

	if (has_cap_for_all(owner))
		return true;
	rcu_read_lock();
	/* Nobody else changes these. */
	allowed = same_user(owner, __task_cred(task)) && mm && READ_ONCE(task->mm) == mm &&
		  gprof_task_dumpable(task, mm);
	rcu_read_unlock();
	return allowed;
}

static int find_task(struct gprof_target *t, int id, u32 *reason)
{
	enum pid_type type = t->type == GPROF_TARGET_PROCESS ? PIDTYPE_TGID : PIDTYPE_PID;
	int ret;

	*reason = GPROF_REASON_TASK_GONE;
	if (id <= 0)
		return -ESRCH;
	rcu_read_lock();
	t->task = pid_task(find_vpid(id), type);
	if (t->task)
		get_task_struct(t->task);
	rcu_read_unlock();
	if (!t->task)
		return -ESRCH;
	ret = gprof_target_ask(t);
	if (ret == -EPERM)
		*reason = GPROF_REASON_TASK_DENIED;
	return min(ret, 0);
}

static int find_cgroup(struct gprof_target *t, int fd, u32 *reason)
{
	struct cgroup *cgroup = gprof_cgroup_get(fd);

	*reason = GPROF_REASON_CGROUP;
	if (IS_ERR(cgroup))
		return PTR_ERR(cgroup);
	t->cgroup = cgroup;
	return 0;
}

static int find_cpus(struct gprof_target *t, const unsigned long *cpus, u32 *reason)
{
	*reason = GPROF_REASON_CPU;
	bitmap_copy(cpumask_bits(t->cpus), cpus, nr_cpu_ids);
	if (cpumask_empty(t->cpus))
		return -EINVAL;
	return cpumask_subset(t->cpus, cpu_online_mask) ? 0 : -ENODEV;
}

static int resolve(struct gprof_target *t, const struct gprof_setup *setup,
		   const unsigned long *cpus, u32 *reason)
{
	if (!gprof_target_is_tasks(t) && t->on_exec) {
		*reason = GPROF_REASON_FLAGS;
		return -EINVAL;
	}
	switch (t->type) {
	case GPROF_TARGET_THREAD:
	case GPROF_TARGET_PROCESS:
		return find_task(t, setup->id, reason);
	case GPROF_TARGET_CGROUP:
	case GPROF_TARGET_CPUS:
	case GPROF_TARGET_SYSTEM:
		break;
	default:
		*reason = GPROF_REASON_TARGET;
		return -EINVAL;
	}
	if (!t->privileged) {
		*reason = GPROF_REASON_WIDE_DENIED;
		return -EPERM;
	}
	if (t->type == GPROF_TARGET_CPUS)
		return find_cpus(t, cpus, reason);
	cpumask_copy(t->cpus, cpu_possible_mask);
	return t->type == GPROF_TARGET_CGROUP ? find_cgroup(t, setup->id, reason) : 0;
}

/**
 * gprof_target_init() - resolve a target and check that the caller may have it
 * @t: where to; zeroed
 * @setup: argument of SETUP
 * @cpus: bitmap of nr_cpu_ids bits for GPROF_TARGET_CPUS
 * @reason: GPROF_REASON_* on error
 *
 * Context: Task, in the process that asks.
 * Return: 0 or a negative errno; nothing is held then.
 */
int gprof_target_init(struct gprof_target *t, const struct gprof_setup *setup,
		      const unsigned long *cpus, u32 *reason)
{
	int err;

	if (!zalloc_cpumask_var(&t->cpus, GFP_KERNEL_ACCOUNT))
		return -ENOMEM;
	t->type = setup->target;
	t->on_exec = setup->flags & GPROF_SETUP_F_ON_EXEC;
	t->owner = get_current_cred();
	t->privileged = perfmon_capable();
	err = resolve(t, setup, cpus, reason);
	if (err)
		gprof_target_destroy(t);
	return err;
}

/**
 * gprof_target_destroy() - give up references
 * @t: target that gprof_target_init() filled
 *
 * Context: Task.
 */
void gprof_target_destroy(struct gprof_target *t)
{
	if (t->task)
		put_task_struct(t->task);
	if (t->cgroup)
		gprof_cgroup_put(t->cgroup);
	put_cred(t->owner);
	free_cpumask_var(t->cpus);
	t->task = NULL;
	t->cgroup = NULL;
}

/**
 * gprof_target_is_tasks() - is the target made of tasks, not of CPUs?
 * @t: target
 */
bool gprof_target_is_tasks(const struct gprof_target *t)
{
	return t->type == GPROF_TARGET_THREAD || t->type == GPROF_TARGET_PROCESS;
}

/**
 * gprof_target_has_current() - does an event on this CPU belong to the target?
 * @t: target whose source counts whole CPUs
 *
 * Context: Any incl. NMI, preemption off.
 */
bool gprof_target_has_current(const struct gprof_target *t)
{
	/* The css_set of current may be replaced, but is freed by RCU only. */
	return !t->cgroup || gprof_cgroup_has(t->cgroup, current);
}
