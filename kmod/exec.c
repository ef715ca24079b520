// SPDX-License-Identifier: GPL-2.0-only
/*
 * exec: one probe on sched_process_exec for all who watch, attached only while
 * somebody does.
 *
 * Lock order: watch_lock is innermost but for the tracepoint's own locks.
 */
#include "exec.h"
#include "tracepoint.h"

#include <linux/binfmts.h>
#include <linux/mutex.h>
#include <linux/rculist.h>
#include <linux/sched.h>
#include <linux/tracepoint.h>

static LIST_HEAD(watches);
static DEFINE_MUTEX(watch_lock);	/* protects watches against writers */

/* Tracepoint: current is past its exec. Since 7.2 preemption is not off here by itself. */
static void probe(void *data, struct task_struct *task, pid_t old_pid,
		  struct linux_binprm *bprm)
{
	struct gprof_exec_watch *w;

	preempt_disable_notrace();
	rcu_read_lock();
	list_for_each_entry_rcu(w, &watches, node)
		w->executed(w);
	rcu_read_unlock();
	preempt_enable_notrace();
}

/**
 * gprof_exec_watch() - begin to be told
 * @w: watch with @w->executed set
 *
 * Context: Task.
 * Return: 0 or a negative errno.
 */
int gprof_exec_watch(struct gprof_exec_watch *w)
{
	int err = 0;

	mutex_lock(&watch_lock);
	if (list_empty(&watches))
		err = gprof_tracepoint_attach("sched_process_exec", probe);
	if (!err)
		list_add_rcu(&w->node, &watches);
	mutex_unlock(&watch_lock);
	return err;
}

/**
 * gprof_exec_unwatch() - cease to be told; no call is under way when it returns
 * @w: watch
 *
 * Context: Task.
 */
void gprof_exec_unwatch(struct gprof_exec_watch *w)
{
	mutex_lock(&watch_lock);
	list_del_rcu(&w->node);
	if (list_empty(&watches))
		gprof_tracepoint_detach("sched_process_exec", probe);
	mutex_unlock(&watch_lock);
	/* Waits for probes that still see @w: they run under RCU too. */
	synchronize_rcu();
}
