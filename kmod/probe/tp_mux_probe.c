// SPDX-License-Identifier: GPL-2.0-only
/*
 * tp_mux_probe: the probe of each tracepoint but the allocator's (tp_mux_alloc.c), and the
 * table of all.
 *
 * Switches and wake-ups are too frequent for a walk and an indirect call that
 * mostly find one subscriber. While there is one, the probe calls it directly:
 *
 *	with static calls, by a jump whose aim is patched. The aim and the data are
 *	two words, so that no probe may run that has read one of before and finds the
 *	other of after. Any aim but the walk, which takes no data, is therefore set
 *	when no probe has run since the data was: before the tracepoint knows of it,
 *	or after a grace period;
 *
 *	elsewhere through a pointer to the subscriber, in which both are.
 *
 * Most switches are between tasks outside the target. A host with many small recorders owes it
 * to them that they cost nothing. Subscribers that want to hear of processes that are recorded
 * say so (tracked_only), stand in a list of their own, and are called for known tasks alone
 * (tracked.h): where there are only such, a task outside the target pays one test of a bit for
 * each task, however many there are.
 */
#include "compat/sched.h"
#include "tracked.h"
#include "tp_mux_walk.h"

#include <linux/kernel.h>
#include <linux/percpu.h>
#include <linux/perf_event.h>
#include <linux/preempt.h>
#include <linux/rculist.h>
#include <linux/static_call.h>
#include <trace/events/power.h>

DEFINE_PER_CPU(struct pt_regs, gprof_switch_regs);

/* The last thing that the probe does: its caller is the probe's then, __schedule(). */
static noinline notrace void call_switch(bool preempt, struct task_struct *prev,
					 struct task_struct *next, unsigned int state)
{
	const struct gprof_tp_mux *t = &gprof_tp_muxes[GPROF_TP_SWITCH];
	struct gprof_tp_sub *u;

	/* Preemption is off, which is a reader's side. */
	hlist_for_each_entry_rcu_notrace(u, &t->subs, node)
		u->on_switch(u->data, preempt, prev, next, state);
	if (hlist_empty(&t->of_tracked) || likely(!gprof_tracked(prev) && !gprof_tracked(next)))
		return;
	/* A subscriber that comes or goes meanwhile has no use for them yet, or no longer. */
	if (READ_ONCE(t->nr_regs))
		perf_fetch_caller_regs(this_cpu_ptr(&gprof_switch_regs));
	hlist_for_each_entry_rcu_notrace(u, &t->of_tracked, node)
		u->on_switch(u->data, preempt, prev, next, state);
}

/* All that a task outside the target pays: a leaf, for which no registers have to be saved. */
static notrace void walk_switch(void *unused, bool preempt, struct task_struct *prev,
				struct task_struct *next, unsigned int state)
{
	const struct gprof_tp_mux *t = &gprof_tp_muxes[GPROF_TP_SWITCH];

	if (unlikely(!hlist_empty(&t->subs)) ||
	    (likely(!hlist_empty(&t->of_tracked)) &&
	     unlikely(gprof_tracked(prev) || gprof_tracked(next))))
		call_switch(preempt, prev, next, state);
}

static noinline notrace void call_task(const struct gprof_tp_mux *t, const struct task_struct *who,
				       struct task_struct *task)
{
	struct gprof_tp_sub *u;

	preempt_disable_notrace();
	for (u = gprof_tp_next(t, NULL, who); u; u = gprof_tp_next(t, u, who))
		u->on_task(u->data, task);
	preempt_enable_notrace();
}

static __always_inline void walk_task(enum gprof_tp_id id, struct task_struct *task)
{
	if (gprof_tp_wanted(&gprof_tp_muxes[id], task))
		call_task(&gprof_tp_muxes[id], task, task);
}

static noinline notrace void call_call(const struct gprof_tp_mux *t, struct pt_regs *regs,
				       long number)
{
	struct gprof_tp_sub *u;

	preempt_disable_notrace();
	for (u = gprof_tp_next(t, NULL, current); u; u = gprof_tp_next(t, u, current))
		u->on_call(u->data, regs, number);
	preempt_enable_notrace();
}

static __always_inline void walk_call(enum gprof_tp_id id, struct pt_regs *regs, long number)
{
	if (gprof_tp_wanted(&gprof_tp_muxes[id], current))
		call_call(&gprof_tp_muxes[id], regs, number);
}

static notrace void walk_wakeup(void *unused, struct task_struct *task)
{
	walk_task(GPROF_TP_WAKEUP, task);
}

static notrace void walk_wakeup_new(void *unused, struct task_struct *task)
{
	walk_task(GPROF_TP_WAKEUP_NEW, task);
}

static notrace void walk_waking(void *unused, struct task_struct *task)
{
	walk_task(GPROF_TP_WAKING, task);
}

/* The function of its subscriber that a direct tracepoint calls. */
#define function_of_switch(_u)		((_u)->on_switch)
#define function_of_wakeup(_u)		((_u)->on_task)
#define function_of_wakeup_new(_u)	((_u)->on_task)
#define function_of_waking(_u)		((_u)->on_task)

#ifdef CONFIG_HAVE_STATIC_CALL
#define DIRECT_TP(_name, _id)							\
DEFINE_STATIC_CALL(gprof_tp_call_##_name, walk_##_name);			\
static void set_direct_##_name(struct gprof_tp_mux *t, struct gprof_tp_sub *u)	\
{										\
	if (u)									\
		static_call_update(gprof_tp_call_##_name, function_of_##_name(u));	\
	else									\
		static_call_update(gprof_tp_call_##_name, walk_##_name);	\
}

#define call_direct(_name, _id, ...)					\
	static_call(gprof_tp_call_##_name)(READ_ONCE(gprof_tp_muxes[_id].only_data), __VA_ARGS__)
#else
#define DIRECT_TP(_name, _id)							\
static void set_direct_##_name(struct gprof_tp_mux *t, struct gprof_tp_sub *u)	\
{										\
	/* Pairs with the address dependency in call_direct(). */		\
	smp_store_release(&t->alone, u);					\
}

#define call_direct(_name, _id, ...) do {						\
	struct gprof_tp_sub *_u = READ_ONCE(gprof_tp_muxes[_id].alone);			\
										\
	if (likely(_u))								\
		function_of_##_name(_u)(_u->data, __VA_ARGS__);			\
	else									\
		walk_##_name(NULL, __VA_ARGS__);				\
} while (0)
#endif

DIRECT_TP(switch, GPROF_TP_SWITCH)
DIRECT_TP(wakeup, GPROF_TP_WAKEUP)
DIRECT_TP(wakeup_new, GPROF_TP_WAKEUP_NEW)
DIRECT_TP(waking, GPROF_TP_WAKING)

/* A place for ftrace would be an instruction too many. */
static notrace void switch_probe(GPROF_SWITCH_ARGS)
{
	call_direct(switch, GPROF_TP_SWITCH, preempt, prev, next, GPROF_PREV_STATE);
}

static notrace void wakeup_probe(void *data, struct task_struct *task)
{
	call_direct(wakeup, GPROF_TP_WAKEUP, task);
}

static notrace void wakeup_new_probe(void *data, struct task_struct *task)
{
	call_direct(wakeup_new, GPROF_TP_WAKEUP_NEW, task);
}

static notrace void waking_probe(void *data, struct task_struct *task)
{
	call_direct(waking, GPROF_TP_WAKING, task);
}

/* A child belongs when its parent does, and may not be known yet. */
static void newtask_probe(GPROF_NEWTASK_ARGS)
{
	if (gprof_tp_wanted(&gprof_tp_muxes[GPROF_TP_NEWTASK], current))
		call_task(&gprof_tp_muxes[GPROF_TP_NEWTASK], current, task);
}

/* The child may have got the number of one that is still known. */
static void fork_probe(void *data, struct task_struct *parent, struct task_struct *child)
{
	const struct gprof_tp_mux *t = &gprof_tp_muxes[GPROF_TP_FORK];

	if (gprof_tp_wanted(t, parent))
		call_task(t, parent, child);
	else if (gprof_tp_wanted(t, child))
		call_task(t, child, child);
}

static void exec_probe(void *data, struct task_struct *task, pid_t old_pid,
		       struct linux_binprm *bprm)
{
	const struct gprof_tp_mux *t = &gprof_tp_muxes[GPROF_TP_EXEC];
	struct gprof_tp_sub *u;

	if (!gprof_tp_wanted(t, task))
		return;
	preempt_disable_notrace();
	for (u = gprof_tp_next(t, NULL, task); u; u = gprof_tp_next(t, u, task))
		u->on_exec(u->data, task, old_pid);
	preempt_enable_notrace();
}

static void exit_probe(GPROF_EXIT_ARGS)
{
	walk_task(GPROF_TP_EXIT, task);
}

static void free_probe(void *data, struct task_struct *task)
{
	walk_task(GPROF_TP_FREE, task);
}

static void migrate_probe(void *data, struct task_struct *task, int to)
{
	const struct gprof_tp_mux *t = &gprof_tp_muxes[GPROF_TP_MIGRATE];
	struct gprof_tp_sub *u;

	if (!gprof_tp_wanted(t, task))
		return;
	preempt_disable_notrace();
	for (u = gprof_tp_next(t, NULL, task); u; u = gprof_tp_next(t, u, task))
		u->on_migrate(u->data, task, to);
	preempt_enable_notrace();
}

static void rename_probe(void *data, struct task_struct *task, const char *comm)
{
	const struct gprof_tp_mux *t = &gprof_tp_muxes[GPROF_TP_RENAME];
	struct gprof_tp_sub *u;

	if (!gprof_tp_wanted(t, task))
		return;
	preempt_disable_notrace();
	for (u = gprof_tp_next(t, NULL, task); u; u = gprof_tp_next(t, u, task))
		u->on_rename(u->data, task, comm);
	preempt_enable_notrace();
}

static void sys_enter_probe(void *data, struct pt_regs *regs, long id)
{
	walk_call(GPROF_TP_SYS_ENTER, regs, id);
}

static void sys_exit_probe(void *data, struct pt_regs *regs, long ret)
{
	walk_call(GPROF_TP_SYS_EXIT, regs, ret);
}

static __always_inline void walk_lock(enum gprof_tp_id id, void *lock, unsigned int flags)
{
	const struct gprof_tp_mux *t = &gprof_tp_muxes[id];
	struct gprof_tp_sub *u;

	if (!gprof_tp_wanted(t, current))
		return;
	preempt_disable_notrace();
	for (u = gprof_tp_next(t, NULL, current); u; u = gprof_tp_next(t, u, current))
		u->on_lock(u->data, lock, flags);
	preempt_enable_notrace();
}

static notrace void lock_begin_probe(void *data, void *lock, unsigned int flags)
{
	walk_lock(GPROF_TP_LOCK_BEGIN, lock, flags);
}

static notrace void lock_end_probe(void *data, void *lock, int err)
{
	walk_lock(GPROF_TP_LOCK_END, lock, err);
}

static notrace void idle_probe(void *data, unsigned int state, unsigned int cpu)
{
	struct gprof_tp_sub *u;

	preempt_disable_notrace();
	hlist_for_each_entry_rcu_notrace(u, &gprof_tp_muxes[GPROF_TP_IDLE].subs, node)
		u->on_idle(u->data, state != (unsigned int)PWR_EVENT_EXIT);
	preempt_enable_notrace();
}

struct gprof_tp_mux gprof_tp_muxes[GPROF_NR_TPS] = {
	[GPROF_TP_SWITCH] = { "sched_switch", switch_probe, set_direct_switch },
	[GPROF_TP_WAKEUP] = { "sched_wakeup", wakeup_probe, set_direct_wakeup },
	[GPROF_TP_WAKEUP_NEW] = { "sched_wakeup_new", wakeup_new_probe, set_direct_wakeup_new },
	[GPROF_TP_WAKING] = { "sched_waking", waking_probe, set_direct_waking },
	[GPROF_TP_NEWTASK] = { "task_newtask", newtask_probe },
	[GPROF_TP_FORK] = { "sched_process_fork", fork_probe },
	[GPROF_TP_EXEC] = { "sched_process_exec", exec_probe },
	[GPROF_TP_EXIT] = { "sched_process_exit", exit_probe },
	[GPROF_TP_FREE] = { "sched_process_free", free_probe },
	[GPROF_TP_MIGRATE] = { "sched_migrate_task", migrate_probe },
	[GPROF_TP_RENAME] = { "task_rename", rename_probe },
	[GPROF_TP_SYS_ENTER] = { "sys_enter", sys_enter_probe },
	[GPROF_TP_SYS_EXIT] = { "sys_exit", sys_exit_probe },
	[GPROF_TP_LOCK_BEGIN] = { "contention_begin", lock_begin_probe },
	[GPROF_TP_LOCK_END] = { "contention_end", lock_end_probe },
	[GPROF_TP_IDLE] = { "cpu_idle", idle_probe },
	[GPROF_TP_KMALLOC] = { "kmalloc", gprof_kmalloc_probe, gprof_kmalloc_set_direct, true },
	[GPROF_TP_KMALLOC_NODE] = { "kmalloc_node", gprof_kmalloc_node_probe,
				    gprof_kmalloc_node_set_direct, true },
	[GPROF_TP_CACHE_ALLOC] = { "kmem_cache_alloc", gprof_cache_alloc_probe,
				   gprof_cache_alloc_set_direct, true },
	[GPROF_TP_CACHE_ALLOC_NODE] = { "kmem_cache_alloc_node", gprof_cache_alloc_node_probe,
					gprof_cache_alloc_node_set_direct, true },
	[GPROF_TP_PAGE_ALLOC] = { "mm_page_alloc", gprof_page_alloc_probe,
				  gprof_page_alloc_set_direct, true },
	[GPROF_TP_KFREE] = { "kfree", gprof_kfree_probe, gprof_kfree_set_direct, true },
	[GPROF_TP_CACHE_FREE] = { "kmem_cache_free", gprof_cache_free_probe,
				  gprof_cache_free_set_direct, true },
	[GPROF_TP_PAGE_FREE] = { "mm_page_free", gprof_page_free_probe, gprof_page_free_set_direct,
				 true },
};
