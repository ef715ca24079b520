/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * target: the tasks that a recorder records, and whether its owner may.
 */
#ifndef GPROF_TARGET_H
#define GPROF_TARGET_H

#include <linux/cpumask.h>
#include <linux/smp.h>
#include <linux/types.h>

struct cgroup;
struct cred;
struct gprof_event_queue;
struct gprof_setup;
struct mm_struct;
struct task_struct;

/**
 * struct gprof_target - the tasks that a recorder records
 * @type: GPROF_TARGET_*
 * @on_exec: count from the next exec on
 * @task: thread, or leader of the process; a reference is held
 * @cgroup: cgroup v2; a reference is held
 * @cpus: CPUs (CPUS; SYSTEM and CGROUP: all)
 * @owner: credentials of the task that set the recorder up; a reference is held
 * @privileged: @owner had CAP_PERFMON then
 * @events: where its end is told; set by the recorder
 * @caller: task that has called START, while START runs, perhaps in a worker
 */
struct gprof_target {
	u32 type;
	bool on_exec;
	struct task_struct *task;
	struct cgroup *cgroup;
	cpumask_var_t cpus;
	const struct cred *owner;
	bool privileged;
	struct gprof_event_queue *events;
	struct task_struct *caller;
};

int gprof_target_init(struct gprof_target *t, const struct gprof_setup *setup,
		      const unsigned long *cpus, u32 *reason);
void gprof_target_destroy(struct gprof_target *t);

bool gprof_pause_walk(struct task_struct *process, struct task_struct *task);

int gprof_target_hold(const struct gprof_target *t);
void gprof_target_release(const struct gprof_target *t);
int gprof_target_threads(const struct gprof_target *t);
int gprof_target_ask(const struct gprof_target *t);
unsigned int gprof_target_size(const struct gprof_target *t);
void gprof_target_call_running(const struct gprof_target *t, smp_call_func_t func, void *arg);

bool gprof_task_allowed(struct task_struct *task, const struct cred *owner);
bool gprof_task_seems_allowed(struct task_struct *task, const struct cred *owner);
bool gprof_task_in_mm_seems_allowed(struct task_struct *task, struct mm_struct *mm,
				    const struct cred *owner);
bool gprof_target_is_tasks(const struct gprof_target *t);
bool gprof_target_has_current(const struct gprof_target *t);

#endif /* GPROF_TARGET_H */
