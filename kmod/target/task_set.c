// SPDX-License-Identifier: GPL-2.0-only
/*
 * task_set: whose event is this? The processes of targets that are made of tasks, while
 * they fork, execute and end.
 *
 * As with perf's inherited counters: a process belongs when it is the target, or
 * when a process that belonged forked it. Its children from before START do not.
 *
 * A process is known by its signal_struct, which its threads share and which an
 * exec leaves as it is. It is freed with the last of its tasks, and that is told
 * before (sched_process_free), so no other process can come to its address
 * while it is in the table. The target's own is kept by the reference on its
 * task. Its number may be another's by then: the new process drops the former one.
 *
 * All task sets have one table, in which a process stands once with all that it
 * belongs to. Before it comes tracked.h's bit, which tasks outside the target find clear.
 *
 * Probes must not allocate (PREEMPT_RT forbids it where preemption is off), so
 * that each task set has members in spare, which a worker makes. Each brings memory
 * for a process along, in case that it is its first: as many processes as members
 * are paid for, and there are never more.
 *
 * One user of the tracepoints fork, exec, exit and free for all, joined only while a task set has
 * members; they are called with preemption off, which RCU takes for a reader.
 *
 * Locks: task_set_mutex is innermost but for the tracepoints'. task_set_lock is a raw
 * spinlock, innermost of all but tracked.c's; interrupts are off under it.
 */
#include "task_set.h"
#include "compat/workqueue.h"
#include "probe/tracked.h"
#include "probe/tp_mux.h"
#include "target.h"
#include "user/event_queue.h"
#include "user/memlock.h"

#include <linux/gprof.h>
#include <linux/kernel.h>
#include <linux/minmax.h>
#include <linux/mutex.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/vmalloc.h>

#define SPARE	256	/* processes that may be forked before the worker has run */
#define BATCH	32	/* that many are paid for at once */

/* Made by the first task set; stays, since its readers have no lock. */
struct gprof_task_sets *gprof_task_sets;

static DEFINE_MUTEX(table_mutex);	/* protects its making; innermost */
static DEFINE_MUTEX(task_set_mutex);	/* protects users; held over grace periods */
static unsigned int users;

/* Protects the table and every task set's lists against writers. */
static DEFINE_RAW_SPINLOCK(task_set_lock);

/* ---- under task_set_lock ---- */

static struct hlist_head *bucket_of(pid_t tgid)
{
	return &gprof_task_sets->processes[tgid & ((1 << GPROF_TASK_SET_BITS) - 1)];
}

/* Returns false when there is no spare member. */
static bool add_process(struct gprof_task_set *s, const struct task_struct *task, bool waiting)
{
	struct gprof_task_set_entry *m =
		list_first_entry_or_null(&s->spare, struct gprof_task_set_entry, own);
	struct gprof_task_set_process *p = gprof_task_set_process_of(task);

	if (!m)
		return false;
	s->nr_spare--;
	list_move(&m->own, &s->all);
	if (!p) {
		p = m->spare;
		m->spare = NULL;
		p->tgid = task->tgid;
		p->group = task->signal;
		gprof_tracked_add(p->tgid);
		hlist_add_head_rcu(&p->node, bucket_of(p->tgid));
	}
	m->process = p;
	m->task = s->target->type == GPROF_TARGET_THREAD ? task : NULL;
	m->waiting = waiting;
	if (s->tgids && !waiting)
		__set_bit(p->tgid, s->tgids);
	/* Last: its timer then finds the others running, and joins them. */
	hlist_add_tail_rcu(&m->node, &p->entries[s->kind]);
	return true;
}

static bool belongs_to_nothing(const struct gprof_task_set_process *p)
{
	int kind;

	for (kind = 0; kind < GPROF_TASK_SET_KINDS; kind++) {
		if (!hlist_empty(&p->entries[kind]))
			return false;
	}
	return true;
}

static void forget(struct gprof_task_set_process *p)
{
	const struct gprof_task_set_process *other;

	hlist_del_rcu(&p->node);
	hlist_for_each_entry(other, bucket_of(p->tgid), node) {
		if (other->tgid == p->tgid)
			return;
	}
	gprof_tracked_forget(p->tgid);
}

/* Onto @dead, for free_dead() after the lock. */
static void drop(struct gprof_task_set_entry *m, struct list_head *dead)
{
	struct gprof_task_set_process *p = m->process;

	hlist_del_rcu(&m->node);
	list_move(&m->own, dead);
	WRITE_ONCE(m->task_set->made, m->task_set->made - 1);
	m->process = NULL;
	if (m->task_set->tgids)
		__clear_bit(p->tgid, m->task_set->tgids);
	if (belongs_to_nothing(p)) {
		forget(p);
		m->process = p;
	}
}

static void drop_process(struct gprof_task_set_process *p, struct list_head *dead)
{
	struct gprof_task_set_entry *m;
	struct hlist_node *next;
	int kind;

	for (kind = 0; kind < GPROF_TASK_SET_KINDS; kind++) {
		hlist_for_each_entry_safe(m, next, &p->entries[kind], node)
			drop(m, dead);
	}
}

/* A process has got this number, so that its former owner is past its end. */
static void drop_former(pid_t tgid, const struct signal_struct *now, struct list_head *dead)
{
	struct gprof_task_set_process *p;
	struct hlist_node *next;

	hlist_for_each_entry_safe(p, next, bucket_of(tgid), node) {
		if (p->tgid == tgid && p->group != now)
			drop_process(p, dead);
	}
}

/* ---- memory ---- */

/* Readers may see them for one more grace period; their task set too must outlive it. */
static void free_dead(struct list_head *dead)
{
	struct gprof_task_set_entry *m, *next;

	list_for_each_entry_safe(m, next, dead, own) {
		if (m->process)
			kfree_rcu(m->process, rcu);
		if (m->spare)
			kfree_rcu(m->spare, rcu);
		kfree_rcu(m, rcu);
	}
}

static struct gprof_task_set_entry *make_entry(struct gprof_task_set *s)
{
	struct gprof_task_set_entry *m = kzalloc(sizeof(*m), GFP_KERNEL_ACCOUNT);

	if (!m)
		return NULL;
	m->spare = kzalloc(sizeof(*m->spare), GFP_KERNEL_ACCOUNT);
	if (!m->spare) {
		kfree(m);
		return NULL;
	}
	m->task_set = s;
	return m;
}

static u64 bytes_of(unsigned int entries)
{
	return entries * (gprof_memory_of(sizeof(struct gprof_task_set_entry)) +
			  gprof_memory_of(sizeof(struct gprof_task_set_process)));
}

static int make_spare(struct gprof_task_set *s, unsigned int nr)
{
	struct gprof_task_set_entry *m;

	while (READ_ONCE(s->nr_spare) < nr) {
		if (READ_ONCE(s->made) >= s->paid) {
			if (gprof_charge_more(s->charge, bytes_of(BATCH)))
				return -ENOMEM;
			s->paid += BATCH;
		}
		m = make_entry(s);
		if (!m)
			return -ENOMEM;
		raw_spin_lock_irq(&task_set_lock);
		list_add(&m->own, &s->spare);
		WRITE_ONCE(s->made, s->made + 1);
		WRITE_ONCE(s->nr_spare, s->nr_spare + 1);
		raw_spin_unlock_irq(&task_set_lock);
	}
	return 0;
}

static void refill(struct work_struct *work)
{
	/* When there is no memory now, the next fork asks again. */
	make_spare(container_of(work, struct gprof_task_set, refill), SPARE);
}

static unsigned int nr_spare_of(const struct gprof_target *t)
{
	return t->type == GPROF_TARGET_PROCESS ? SPARE : 1;
}

static void free_spare(struct gprof_task_set *s)
{
	struct gprof_task_set_entry *m, *next;

	list_for_each_entry_safe(m, next, &s->spare, own) {
		kfree(m->spare);
		kfree(m);
	}
	INIT_LIST_HEAD(&s->spare);
	s->made -= s->nr_spare;
	s->nr_spare = 0;
}

/* ---- probes ---- */

static void inherit(const struct gprof_task_set_process *parent, const struct task_struct *child)
{
	struct gprof_task_set_entry *m;
	LIST_HEAD(dead);
	unsigned long flags;
	int kind;

	raw_spin_lock_irqsave(&task_set_lock, flags);
	drop_former(child->tgid, child->signal, &dead);
	for (kind = 0; parent && kind < GPROF_TASK_SET_KINDS; kind++) {
		hlist_for_each_entry(m, &parent->entries[kind], node) {
			if (!m->task && !add_process(m->task_set, child, m->waiting) &&
			    m->task_set->ops->missed)
				m->task_set->ops->missed(m->task_set);
		}
	}
	raw_spin_unlock_irqrestore(&task_set_lock, flags);
	free_dead(&dead);
}

static void emit_forked(const struct gprof_task_set_process *parent, struct task_struct *child,
			bool is_thread)
{
	struct gprof_task_set_entry *m;
	int kind;

	for (kind = 0; kind < GPROF_TASK_SET_KINDS; kind++) {
		hlist_for_each_entry_rcu(m, &parent->entries[kind], node) {
			struct gprof_task_set *s = m->task_set;

			if (m->task)
				continue;
			if (!is_thread && READ_ONCE(s->nr_spare) < SPARE / 2)
				queue_work(system_dfl_wq, &s->refill);
			if (s->ops->forked)
				s->ops->forked(s, child);
		}
	}
}

/* The child has all that it inherits and is not yet woken. */
static void forked(void *data, struct task_struct *child)
{
	bool is_thread = child->signal == current->signal;
	struct gprof_task_set_process *p;

	rcu_read_lock();
	p = gprof_task_set_process_of(current);
	if (!is_thread)
		inherit(p, child);
	if (p)
		emit_forked(p, child, is_thread);
	rcu_read_unlock();
}

/* A recorder that is not privileged loses a task that has become more than the owner. */
static void judge(struct gprof_task_set_process *p, struct list_head *dead)
{
	struct gprof_task_set_entry *m;
	struct hlist_node *next;
	unsigned long flags;
	int kind;

	raw_spin_lock_irqsave(&task_set_lock, flags);
	for (kind = 0; kind < GPROF_TASK_SET_KINDS; kind++) {
		hlist_for_each_entry_safe(m, next, &p->entries[kind], node) {
			m->changed = m->waiting;
			if (gprof_task_seems_allowed(current, m->task_set->target->owner)) {
				WRITE_ONCE(m->waiting, false);
				if (m->task_set->tgids)
					__set_bit(p->tgid, m->task_set->tgids);
			} else {
				m->changed = !m->waiting;
				drop(m, dead);
			}
		}
	}
	raw_spin_unlock_irqrestore(&task_set_lock, flags);
}

static void emit_executed(const struct gprof_task_set_entry *m)
{
	if (m->task_set->ops->executed && (!m->task || m->task == current))
		m->task_set->ops->executed(m->task_set, m->changed);
}

static void executed(void *data, struct task_struct *task, pid_t old_pid)
{
	struct gprof_task_set_process *p;
	struct gprof_task_set_entry *m;
	LIST_HEAD(dead);
	int kind;

	rcu_read_lock();
	p = gprof_task_set_process_of(current);
	if (p)
		judge(p, &dead);
	for (kind = 0; p && kind < GPROF_TASK_SET_KINDS; kind++) {
		hlist_for_each_entry_rcu(m, &p->entries[kind], node)
			emit_executed(m);
	}
	list_for_each_entry(m, &dead, own)
		emit_executed(m);
	free_dead(&dead);
	rcu_read_unlock();
}

/* Is this the target itself? Not a process that it has forked. */
static bool is_end_of(const struct gprof_target *t)
{
	if (t->type == GPROF_TARGET_THREAD)
		return t->task == current;
	return t->task->signal == current->signal && !atomic_read(&current->signal->live);
}

/* Of the last threads that end side by side each may take itself for the last. */
static void exited(void *data, struct task_struct *task)
{
	struct gprof_task_set_process *p;
	struct gprof_task_set_entry *m;
	int kind;

	rcu_read_lock();
	p = gprof_task_set_process_of(current);
	for (kind = 0; p && kind < GPROF_TASK_SET_KINDS; kind++) {
		hlist_for_each_entry_rcu(m, &p->entries[kind], node) {
			if (is_end_of(m->task_set->target))
				gprof_event_raise(m->task_set->target->events,
						  GPROF_EVENT_TARGET_GONE);
		}
	}
	rcu_read_unlock();
}

/* From the RCU callback that gives up a task's last but one reference. */
static void process_freed(void *data, struct task_struct *task)
{
	struct gprof_task_set_process *p;
	unsigned long flags;
	LIST_HEAD(dead);

	/* Others run still, or are on their way out, which may take long, and counts. */
	if (READ_ONCE(task->signal->nr_threads))
		return;
	raw_spin_lock_irqsave(&task_set_lock, flags);
	p = gprof_task_set_process_of(task);
	if (p)
		drop_process(p, &dead);
	raw_spin_unlock_irqrestore(&task_set_lock, flags);
	free_dead(&dead);
}

static struct gprof_tp_sub probes[] = {
	{ .tp = GPROF_TP_FORK, .on_task = forked, .tracked_only = true },
	{ .tp = GPROF_TP_EXEC, .on_exec = executed, .tracked_only = true },
	{ .tp = GPROF_TP_EXIT, .on_task = exited, .tracked_only = true },
	{ .tp = GPROF_TP_FREE, .on_task = process_freed, .tracked_only = true },
};

static int probes_begin(void)
{
	int err = 0;

	mutex_lock(&task_set_mutex);
	if (!users)
		err = gprof_tp_subscribe_all(probes, ARRAY_SIZE(probes));
	users += !err;
	mutex_unlock(&task_set_mutex);
	return err;
}

static void probes_end(void)
{
	unsigned int i;

	mutex_lock(&task_set_mutex);
	if (!--users) {
		for (i = 0; i < ARRAY_SIZE(probes); i++)
			gprof_tp_unsubscribe_nowait(&probes[i]);
	}
	mutex_unlock(&task_set_mutex);
}

/* ---- task sets ---- */

static int make_table(void)
{
	int err = 0;

	mutex_lock(&table_mutex);
	if (!gprof_task_sets)
		gprof_task_sets = vzalloc(sizeof(*gprof_task_sets));
	if (!gprof_task_sets)
		err = -ENOMEM;
	mutex_unlock(&table_mutex);
	return err ?: gprof_tracked_init();
}

/**
 * gprof_task_sets_exit() - free the table
 *
 * Context: Task; no task set exists, and no probe runs any more.
 */
void gprof_task_sets_exit(void)
{
	gprof_tracked_exit();
	vfree(gprof_task_sets);
}

/**
 * gprof_task_set_bytes() - memory that a task set takes to begin with, for the charge
 * @t: its target
 *
 * For processes that are forked later more is charged as they come.
 *
 * Context: Task.
 */
u64 gprof_task_set_bytes(const struct gprof_target *t)
{
	return gprof_target_is_tasks(t) ? bytes_of(nr_spare_of(t)) : 0;
}

/**
 * gprof_task_set_init() - a task set without members
 * @s: where to
 * @kind: its use
 * @ops: events to tell
 * @target: made of tasks; outlives it
 * @charge: has paid for gprof_task_set_bytes(); outlives it
 *
 * The caller sets @s->tgids, or leaves it 0.
 *
 * Context: Task.
 * Return: 0 or -ENOMEM.
 */
int gprof_task_set_init(struct gprof_task_set *s, enum gprof_task_set_kind kind,
			const struct gprof_task_set_ops *ops, const struct gprof_target *target,
			struct gprof_charge *charge)
{
	s->target = target;
	s->kind = kind;
	s->ops = ops;
	s->charge = charge;
	s->nr_spare = 0;
	s->made = 0;
	s->paid = nr_spare_of(target);
	INIT_LIST_HEAD(&s->all);
	INIT_LIST_HEAD(&s->spare);
	INIT_WORK(&s->refill, refill);
	return make_table();
}

/* The check and the entry are one step against an exec. */
static int enter(struct gprof_task_set *s)
{
	const struct gprof_target *t = s->target;
	LIST_HEAD(dead);
	int ret;

	ret = gprof_target_ask(t);
	if (ret < 0)
		return ret;
	ret = gprof_target_hold(t);
	if (ret)
		return ret;
	ret = gprof_target_threads(t);
	if (ret > 0) {
		raw_spin_lock_irq(&task_set_lock);
		drop_former(t->task->tgid, t->task->signal, &dead);
		add_process(s, t->task, t->on_exec);
		raw_spin_unlock_irq(&task_set_lock);
	}
	gprof_target_release(t);
	free_dead(&dead);
	return ret;
}

/**
 * gprof_task_set_attach() - take the target in, and the processes that it forks from now on
 * @s: task set without members
 * @nr_tasks: gets the number of the target's threads
 *
 * Context: Task.
 * Return: 0; -ESRCH: it has ended; -EPERM: not for the owner; -ENOMEM; -EINTR: the
 * caller is being killed. There are no members then.
 */
int gprof_task_set_attach(struct gprof_task_set *s, u32 *nr_tasks)
{
	int ret = probes_begin();

	if (ret)
		return ret;
	ret = make_spare(s, nr_spare_of(s->target));
	if (!ret)
		ret = enter(s);
	if (ret > 0) {
		*nr_tasks = ret;
		return 0;
	}
	probes_end();
	free_spare(s);
	return ret;
}

/**
 * gprof_task_set_detach() - let all members go; nothing is told when it returns
 * @s: task set that was entered
 *
 * Nor does a reader of the table see any of its members.
 *
 * Context: Task.
 */
void gprof_task_set_detach(struct gprof_task_set *s)
{
	struct gprof_task_set_entry *m, *next;
	LIST_HEAD(dead);

	raw_spin_lock_irq(&task_set_lock);
	list_for_each_entry_safe(m, next, &s->all, own)
		drop(m, &dead);
	raw_spin_unlock_irq(&task_set_lock);
	probes_end();
	/* Waits for probes that still see @s: they run under RCU. */
	synchronize_rcu();
	free_dead(&dead);
	cancel_work_sync(&s->refill);
	free_spare(s);
}
