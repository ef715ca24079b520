/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * members: which processes belong to a target, while they fork, execute and end.
 */
#ifndef GPROF_MEMBERS_H
#define GPROF_MEMBERS_H

#include <linux/hash.h>
#include <linux/list.h>
#include <linux/rculist.h>
#include <linux/sched.h>
#include <linux/types.h>
#include <linux/workqueue.h>

struct gprof_target;
struct signal_struct;

#define GPROF_MEMBER_BITS	10

/**
 * struct gprof_member - a process that belongs to a set
 * @node: in the table of all sets' members, by @group; read under RCU
 * @own: in the set's list
 * @group: what all threads of the process have in common, through exec too. It
 *	cannot be another process' while this is in the table.
 * @task: the only thread that is meant, or NULL
 * @set: whose
 * @waiting: for its exec; until then it does not count
 * @rcu: for freeing
 */
struct gprof_member {
	struct hlist_node node;
	struct list_head own;
	const struct signal_struct *group;
	const struct task_struct *task;
	struct gprof_members *set;
	bool waiting;
	struct rcu_head rcu;
};

/**
 * struct gprof_members - the processes of a target
 * @target: the target
 * @all: list of struct gprof_member
 * @spare: the same, unused: nothing can be allocated while a task forks
 * @nr_spare: how many
 * @refill: gets more of them
 */
struct gprof_members {
	const struct gprof_target *target;
	struct list_head all;
	struct list_head spare;
	unsigned int nr_spare;
	struct work_struct refill;
};

extern struct hlist_head gprof_member_table[1 << GPROF_MEMBER_BITS];

u64 gprof_members_bytes(const struct gprof_target *t);
void gprof_members_init(struct gprof_members *set, const struct gprof_target *target);
int gprof_members_enter(struct gprof_members *set, u32 *nr_tasks);
void gprof_members_leave(struct gprof_members *set);

bool gprof_members_forked(struct gprof_members *set, const struct task_struct *child);
bool gprof_members_executed(struct gprof_members *set);
void gprof_members_freed(struct gprof_members *set, const struct task_struct *task);

static inline struct hlist_head *gprof_member_bucket(const struct task_struct *task)
{
	return &gprof_member_table[hash_ptr(task->signal, GPROF_MEMBER_BITS)];
}

static inline bool gprof_member_is(const struct gprof_member *m, const struct task_struct *task)
{
	return m->group == task->signal && (!m->task || m->task == task);
}

#endif /* GPROF_MEMBERS_H */
