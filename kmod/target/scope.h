/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * scope: whose event is this? The processes of targets that are made of tasks, while
 * they fork, execute and end.
 */
#ifndef GPROF_SCOPE_H
#define GPROF_SCOPE_H

#include <linux/bitops.h>
#include <linux/list.h>
#include <linux/rculist.h>
#include <linux/sched.h>
#include <linux/types.h>
#include <linux/workqueue.h>

struct gprof_charge;
struct gprof_scope;
struct gprof_target;
struct signal_struct;

#define GPROF_SCOPE_BITS	14

/* The use of a scope, so that each finds its own without looking at the others. */
enum gprof_scope_kind {
	GPROF_SCOPE_TIMER,
	GPROF_SCOPE_SCHED,
	GPROF_SCOPE_COUNTER,
	GPROF_SCOPE_KINDS,
};

/**
 * struct gprof_scope_process - a process that belongs to one scope or more
 * @node: in the table, by @tgid; read under RCU
 * @tgid: its number in the initial pid namespace
 * @group: the part that all its threads have in common, through exec too. It cannot be
 *	another process' while this is in the table.
 * @members: scopes that it belongs to; read under RCU
 * @rcu: for freeing
 */
struct gprof_scope_process {
	struct hlist_node node;
	pid_t tgid;
	const struct signal_struct *group;
	struct hlist_head members[GPROF_SCOPE_KINDS];
	struct rcu_head rcu;
};

/**
 * struct gprof_scope_member - that a process belongs to a scope
 * @node: in the process' list
 * @own: in the scope's list
 * @scope: which
 * @process: which
 * @spare: memory for a process of which this is the first membership, or NULL
 * @task: the only thread that is meant, or NULL
 * @waiting: for its exec; until then it does not count
 * @changed: the exec that is under way has changed that
 * @rcu: for freeing
 */
struct gprof_scope_member {
	struct hlist_node node;
	struct list_head own;
	struct gprof_scope *scope;
	struct gprof_scope_process *process;
	struct gprof_scope_process *spare;
	const struct task_struct *task;
	bool waiting;
	bool changed;
	struct rcu_head rcu;
};

/**
 * struct gprof_scope_ops - events that the maker of a scope wants to be told
 * @forked: current's process belongs, and has made a task, which has not run yet
 * @executed: current has executed a program; @changed: it belongs now where it did
 *	not, or the other way round
 * @missed: a process should belong, but there was no memory for it
 *
 * Called with preemption off and under RCU, @missed with interrupts off as well. Each
 * may be NULL.
 */
struct gprof_scope_ops {
	void (*forked)(struct gprof_scope *scope, struct task_struct *child);
	void (*executed)(struct gprof_scope *scope, bool changed);
	void (*missed)(struct gprof_scope *scope);
};

/**
 * struct gprof_scope - the processes of a target
 * @target: the target
 * @kind: its use
 * @ops: events that its maker wants to know
 * @charge: pays for its memory
 * @tgids: a bit for each process that is in, by its number, for a caller that asks too often
 *	for a look into the table; or NULL
 * @all: list of struct gprof_scope_member
 * @spare: the same, unused: nothing can be allocated while a task forks
 * @nr_spare: how many
 * @made: how many there are of both
 * @paid: for how many is paid
 * @refill: gets more of them
 */
struct gprof_scope {
	const struct gprof_target *target;
	enum gprof_scope_kind kind;
	const struct gprof_scope_ops *ops;
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
 * struct gprof_scope_table - the processes of all scopes
 * @processes: struct gprof_scope_process
 */
struct gprof_scope_table {
	struct hlist_head processes[1 << GPROF_SCOPE_BITS];
};

extern struct gprof_scope_table *gprof_scope_table;

void gprof_scopes_exit(void);

u64 gprof_scope_bytes(const struct gprof_target *t);
int gprof_scope_init(struct gprof_scope *s, enum gprof_scope_kind kind,
		     const struct gprof_scope_ops *ops, const struct gprof_target *target,
		     struct gprof_charge *charge);
int gprof_scope_enter(struct gprof_scope *s, u32 *nr_tasks);
void gprof_scope_leave(struct gprof_scope *s);

/**
 * gprof_scope_process_of() - the scopes that a task's process belongs to
 * @task: task
 *
 * Context: Under RCU, which interrupts being off is too.
 * Return: process or NULL.
 */
static inline struct gprof_scope_process *gprof_scope_process_of(const struct task_struct *task)
{
	struct hlist_head *bucket = &gprof_scope_table->processes[task->tgid &
								  ((1 << GPROF_SCOPE_BITS) - 1)];
	struct gprof_scope_process *p;

	hlist_for_each_entry_rcu(p, bucket, node, true) {
		if (p->group == task->signal)
			return p;
	}
	return NULL;
}

static inline bool gprof_scope_counts(const struct gprof_scope_member *m,
				      const struct task_struct *task)
{
	return (!m->task || m->task == task) && !READ_ONCE(m->waiting);
}

#endif /* GPROF_SCOPE_H */
