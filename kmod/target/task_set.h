/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * task_set: whose event is this? The processes of targets that are made of tasks, while
 * they fork, execute and end.
 */
#ifndef GPROF_TASK_SET_H
#define GPROF_TASK_SET_H

#include <linux/bitops.h>
#include <linux/list.h>
#include <linux/rculist.h>
#include <linux/sched.h>
#include <linux/types.h>
#include <linux/workqueue.h>

struct gprof_charge;
struct gprof_task_set;
struct gprof_target;
struct signal_struct;

#define GPROF_TASK_SET_BITS	14

/* The use of a task set, so that each finds its own without looking at the others. */
enum gprof_task_set_kind {
	GPROF_TASK_SET_TIMER,
	GPROF_TASK_SET_SCHED,
	GPROF_TASK_SET_COUNTER,
	GPROF_TASK_SET_KINDS,
};

/**
 * struct gprof_task_set_process - a process that belongs to one task set or more
 * @node: in the table, by @tgid; read under RCU
 * @tgid: its number in the initial pid namespace
 * @group: the part that all its threads have in common, through exec too. It cannot be
 *	another process' while this is in the table.
 * @entries: task sets that it belongs to; read under RCU
 * @rcu: for freeing
 */
struct gprof_task_set_process {
	struct hlist_node node;
	pid_t tgid;
	const struct signal_struct *group;
	struct hlist_head entries[GPROF_TASK_SET_KINDS];
	struct rcu_head rcu;
};

/**
 * struct gprof_task_set_entry - that a process belongs to a task set
 * @node: in the process' list
 * @own: in the task set's list
 * @task_set: which
 * @process: which
 * @spare: memory for a process of which this is the first entry, or NULL
 * @task: the only thread that is meant, or NULL
 * @waiting: for its exec; until then it does not count
 * @changed: the exec that is under way has changed that
 * @rcu: for freeing
 */
struct gprof_task_set_entry {
	struct hlist_node node;
	struct list_head own;
	struct gprof_task_set *task_set;
	struct gprof_task_set_process *process;
	struct gprof_task_set_process *spare;
	const struct task_struct *task;
	bool waiting;
	bool changed;
	struct rcu_head rcu;
};

/**
 * struct gprof_task_set_ops - events that the maker of a task set wants to be told
 * @forked: current's process belongs, and has made a task, which has not run yet
 * @executed: current has executed a program; @changed: it belongs now where it did
 *	not, or the other way round
 * @missed: a process should belong, but there was no memory for it
 *
 * Called with preemption off and under RCU, @missed with interrupts off as well. Each
 * may be NULL.
 */
struct gprof_task_set_ops {
	void (*forked)(struct gprof_task_set *task_set, struct task_struct *child);
	void (*executed)(struct gprof_task_set *task_set, bool changed);
	void (*missed)(struct gprof_task_set *task_set);
};

/**
 * struct gprof_task_set - the processes of a target
 * @target: the target
 * @kind: its use
 * @ops: events that its maker wants to know
 * @charge: pays for its memory
 * @tgids: a bit for each process that is in, by its number, for a caller that asks too often
 *	for a look into the table; or NULL
 * @all: list of struct gprof_task_set_entry
 * @spare: the same, unused: nothing can be allocated while a task forks
 * @nr_spare: how many
 * @made: how many there are of both
 * @paid: for how many is paid
 * @refill: gets more of them
 */
struct gprof_task_set {
	const struct gprof_target *target;
	enum gprof_task_set_kind kind;
	const struct gprof_task_set_ops *ops;
	struct gprof_charge *charge;
	unsigned long *tgids;
	struct list_head all;
	struct list_head spare;
	unsigned int nr_spare;
	unsigned int made;
	unsigned int paid;
	struct work_struct refill;
};

/**
 * struct gprof_task_sets - the processes of all task sets
 * @processes: struct gprof_task_set_process
 */
struct gprof_task_sets {
	struct hlist_head processes[1 << GPROF_TASK_SET_BITS];
};

extern struct gprof_task_sets *gprof_task_sets;

void gprof_task_sets_exit(void);

u64 gprof_task_set_bytes(const struct gprof_target *t);
int gprof_task_set_init(struct gprof_task_set *s, enum gprof_task_set_kind kind,
			const struct gprof_task_set_ops *ops, const struct gprof_target *target,
			struct gprof_charge *charge);
int gprof_task_set_attach(struct gprof_task_set *s, u32 *nr_tasks);
void gprof_task_set_detach(struct gprof_task_set *s);

/**
 * gprof_task_set_process_of() - the task sets that a task's process belongs to
 * @task: task
 *
 * Context: Under RCU, which interrupts being off is too.
 * Return: process or NULL.
 */
static inline struct gprof_task_set_process *
gprof_task_set_process_of(const struct task_struct *task)
{
	struct hlist_head *bucket =
		&gprof_task_sets->processes[task->tgid & ((1 << GPROF_TASK_SET_BITS) - 1)];
	struct gprof_task_set_process *p;

	hlist_for_each_entry_rcu(p, bucket, node, true) {
		if (p->group == task->signal)
			return p;
	}
	return NULL;
}

static inline bool gprof_task_set_counts(const struct gprof_task_set_entry *m,
					 const struct task_struct *task)
{
	return (!m->task || m->task == task) && !READ_ONCE(m->waiting);
}

#endif /* GPROF_TASK_SET_H */
