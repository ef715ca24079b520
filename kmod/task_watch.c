// SPDX-License-Identifier: GPL-2.0-only
/*
 * task_watch: one probe each on sched_process_fork, _exec and _free for all who
 * watch, attached only while somebody does.
 *
 * Since 7.2 a tracepoint does not switch preemption off by itself.
 *
 * Lock order: watch_lock is innermost but for the tracepoints' own locks.
 */
#include "task_watch.h"
#include "tracepoint.h"

#include <linux/binfmts.h>
#include <linux/kernel.h>
#include <linux/mutex.h>
#include <linux/rculist.h>
#include <linux/sched.h>
#include <linux/tracepoint.h>

static LIST_HEAD(watches);
static DEFINE_MUTEX(watch_lock);	/* protects watches against writers */

/* The child has all that it inherits and is not yet woken. */
static void fork_probe(void *data, struct task_struct *parent, struct task_struct *child)
{
	struct gprof_task_watch *w;

	preempt_disable_notrace();
	rcu_read_lock();
	list_for_each_entry_rcu(w, &watches, node)
		w->forked(w, child);
	rcu_read_unlock();
	preempt_enable_notrace();
}

static void exec_probe(void *data, struct task_struct *task, pid_t old_pid,
		       struct linux_binprm *bprm)
{
	struct gprof_task_watch *w;

	preempt_disable_notrace();
	rcu_read_lock();
	list_for_each_entry_rcu(w, &watches, node)
		w->executed(w);
	rcu_read_unlock();
	preempt_enable_notrace();
}

/* From the RCU callback that gives up a task's last but one reference. */
static void free_probe(void *data, struct task_struct *task)
{
	struct gprof_task_watch *w;

	preempt_disable_notrace();
	rcu_read_lock();
	list_for_each_entry_rcu(w, &watches, node) {
		if (w->freed)
			w->freed(w, task);
	}
	rcu_read_unlock();
	preempt_enable_notrace();
}

static const struct {
	const char *name;
	void *probe;
} probes[] = {
	{ "sched_process_fork", fork_probe },
	{ "sched_process_exec", exec_probe },
	{ "sched_process_free", free_probe },
};

static void detach(unsigned int nr)
{
	while (nr--)
		gprof_tracepoint_detach_nowait(probes[nr].name, probes[nr].probe, NULL);
}

static int attach(void)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(probes); i++) {
		int err = gprof_tracepoint_attach(probes[i].name, probes[i].probe, NULL);

		if (err) {
			detach(i);
			return err;
		}
	}
	return 0;
}

/**
 * gprof_task_watch() - begin to be told
 * @w: watch with its functions set
 *
 * Context: Task.
 * Return: 0 or a negative errno.
 */
int gprof_task_watch(struct gprof_task_watch *w)
{
	int err = 0;

	mutex_lock(&watch_lock);
	if (list_empty(&watches))
		err = attach();
	if (!err)
		list_add_rcu(&w->node, &watches);
	mutex_unlock(&watch_lock);
	return err;
}

/**
 * gprof_task_unwatch() - cease to be told; no call is under way when it returns
 * @w: watch
 *
 * Context: Task.
 */
void gprof_task_unwatch(struct gprof_task_watch *w)
{
	mutex_lock(&watch_lock);
	list_del_rcu(&w->node);
	if (list_empty(&watches))
		detach(ARRAY_SIZE(probes));
	mutex_unlock(&watch_lock);
	/* Waits for probes that still see @w: they run under RCU too. */
	synchronize_rcu();
	INIT_LIST_HEAD(&w->node);
}
