// SPDX-License-Identifier: GPL-2.0-only
/*
 * recorder_end: START, STOP and close, as far as they wait for others.
 *
 * A source's probes are gone after grace periods of RCU, SRCU and RCU-tasks: ours, and those
 * in tracepoint_probe_unregister(), unregister_kprobe(), uprobe_unregister() and
 * perf_event_release_kernel(). They wait for mutexes that others hold meanwhile, and the memory
 * of a recorder waits for its owner's thread. None of that has a limit: beside a task of real
 * time that keeps a CPU for itself it lasts as long as the task likes.
 *
 * So a worker does it that is bound to no CPU. STOP and close wait for the worker, for
 * END_NS: some grace periods of a busy host. Then they go.
 * The worker has a reference on the recorder, the last put frees it, and only unloading the module
 * waits without a limit. The caller has made sure by then that nothing is written to the rings
 * any more (gprof_percpu_buffers_close()).
 *
 * The work is done for the owner: at the caller's nice value, if that is no better than 0.
 *
 * On PREEMPT_RT a worker does START too (later.h). A START that has been given up is ended by the
 * worker when it gets there; it counts as a STOP that goes on until then.
 */
#include "recorder_end.h"
#include "kind/source.h"
#include "recorder_parts.h"
#include "recorder_state.h"
#include "ring/annotate.h"
#include "ring/percpu_buffers.h"
#include "target/oncpu.h"
#include "user/later.h"

#include <linux/bitops.h>
#include <linux/errno.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>
#include <linux/slab.h>

#define END_NS		(NSEC_PER_SEC / 2)

#define TODO_STOP	0
#define TODO_CLOSE	1

/**
 * struct begin - a START
 * @call: makes it
 * @r: recorder; a reference is held
 * @caller: likewise
 * @attached: to how much
 */
struct begin {
	struct gprof_call call;
	struct gprof_recorder *r;
	struct task_struct *caller;
	u32 attached;
};

/* Running tasks are known before a sample wants to tell of them. */
static int start_source(struct gprof_call *call)
{
	struct begin *b = container_of(call, struct begin, call);
	struct gprof_recorder *r = b->r;
	int err = gprof_oncpu_begin(r->sampler.oncpu);

	if (err)
		return err;
	err = r->source->start(r->source_state, &b->attached);
	if (err)
		gprof_oncpu_end(r->sampler.oncpu);
	return err;
}

static void stop_source(struct gprof_recorder *r)
{
	r->source->stop(r->source_state);
	gprof_oncpu_end(r->sampler.oncpu);
}

static void end_start(struct gprof_call *call, bool left)
{
	struct begin *b = container_of(call, struct begin, call);
	struct gprof_recorder *r = b->r;

	if (left && !call->err) {
		if (r->source->last)
			r->source->last(r->source_state);
		stop_source(r);
	}
	if (left)
		complete_all(&r->end.stopped);
	put_task_struct(b->caller);
	gprof_entry_put(&r->entry);
}

static void finish_stop(struct gprof_recorder *r)
{
	r->end.counts = (struct gprof_stats){ .cpu = GPROF_STATS_ALL_CPUS };
	r->source->stats(r->source_state, &r->end.counts);
	/* Pairs with smp_load_acquire() in gprof_recorder_end_stats(). */
	smp_store_release(&r->end.counted, true);
	stop_source(r);
	complete_all(&r->end.stopped);
}

static void finish_close(struct gprof_recorder *r)
{
	/* Of a START that was given up. */
	wait_for_completion(&r->end.stopped);
	gprof_recorder_wait_unpinned(r);
	if (r->source)
		gprof_recorder_tear_down(r);
	gprof_annotated_put(r->annotated);
	gprof_recorder_count_down();
	complete_all(&r->end.closed);
}

/*
 * Never twice at once of one recorder: a run that is queued meanwhile follows, and may find
 * nothing to do. Each run has a reference.
 */
static void finish(struct work_struct *work)
{
	struct gprof_recorder *r = container_of(work, struct gprof_recorder, end.work);

	set_user_nice(current, READ_ONCE(r->end.nice));
	if (test_and_clear_bit(TODO_STOP, &r->end.todo))
		finish_stop(r);
	if (test_and_clear_bit(TODO_CLOSE, &r->end.todo))
		finish_close(r);
	set_user_nice(current, 0);
	gprof_entry_put(&r->entry);
}

static void call_finish(struct gprof_recorder *r, int what)
{
	WRITE_ONCE(r->end.nice, max(task_nice(current), 0));
	/* The worker sees the caller's stores: gprof_later() is a full barrier. */
	set_bit(what, &r->end.todo);
	gprof_entry_get(&r->entry);
	if (!gprof_later(&r->end.work))
		gprof_entry_put(&r->entry);
}

/**
 * gprof_recorder_end_init() - nothing is to be ended
 * @r: recorder, zeroed
 *
 * Context: Task.
 */
void gprof_recorder_end_init(struct gprof_recorder *r)
{
	INIT_WORK(&r->end.work, finish);
	init_completion(&r->end.stopped);
	init_completion(&r->end.closed);
	complete_all(&r->end.stopped);
}

/**
 * gprof_recorder_begin_source() - start the source
 * @r: recorder that is set up, and not started, under its lock; nothing is left of the last STOP
 * @attached: gets to how much
 * @reason: gets GPROF_REASON_GRACE, where that is why; else it is left alone
 *
 * Context: Task.
 * Return: 0 or a negative errno; the recorder is not started then. -EAGAIN with that reason: no
 * grace period has passed for 1.5 s; gprof_recorder_has_ended() tells when nothing is left.
 */
int gprof_recorder_begin_source(struct gprof_recorder *r, u32 *attached, u32 *reason)
{
	struct begin *b = kzalloc(sizeof(*b), GFP_KERNEL_ACCOUNT);
	int err = -EAGAIN;

	lockdep_assert_held(&r->lock);
	BUILD_BUG_ON(offsetof(struct begin, call));
	if (!b)
		return -ENOMEM;
	b->call.run = start_source;
	b->call.rest = end_start;
	b->r = r;
	b->caller = get_task_struct(current);
	r->target.caller = current;
	r->end.counted = false;
	reinit_completion(&r->end.stopped);
	gprof_entry_get(&r->entry);
	if (gprof_call(&b->call)) {
		err = b->call.err;
		*attached = b->attached;
		complete_all(&r->end.stopped);
	} else {
		*reason = GPROF_REASON_GRACE;
		gprof_percpu_buffers_close(r->sampler.buffers);
	}
	gprof_call_put(&b->call);
	return err;
}

/**
 * gprof_recorder_end_source() - stop the source
 * @r: recorder that is started, under its lock
 *
 * Context: Task.
 * Return: whether it has stopped; else it is being stopped, gprof_recorder_has_ended() tells
 * when it has, and no function of the source may be called before that.
 */
bool gprof_recorder_end_source(struct gprof_recorder *r)
{
	lockdep_assert_held(&r->lock);
	if (r->source->last)
		r->source->last(r->source_state);
	reinit_completion(&r->end.stopped);
	r->end.counted = false;
	call_finish(r, TODO_STOP);
	return !gprof_complete_within(&r->end.stopped, TASK_UNINTERRUPTIBLE, END_NS);
}

/**
 * gprof_recorder_has_ended() - has the source stopped?
 * @r: recorder that is set up, and not started, under its lock
 *
 * Context: Any.
 */
bool gprof_recorder_has_ended(struct gprof_recorder *r)
{
	lockdep_assert_held(&r->lock);
	return completion_done(&r->end.stopped);
}

/**
 * gprof_recorder_await_end() - wait until nothing is left of the last STOP
 * @r: recorder that is set up, and not started, under its lock
 *
 * How long that takes is not the caller's fault, and has no limit where a CPU stands still, be
 * it one of a virtual machine. So a signal ends the wait, and no clock but that of gprof_await().
 *
 * Context: Task.
 * Return: 0; -ERESTARTSYS; -EAGAIN: no grace period has passed for 1.5 s.
 */
int gprof_recorder_await_end(struct gprof_recorder *r)
{
	int err;

	lockdep_assert_held(&r->lock);
	err = gprof_await(&r->end.stopped, true);
	while (!err && !gprof_work_resume(&r->sampler.maps.work))
		err = signal_pending(current) ? -ERESTARTSYS : 0;
	return err;
}

/**
 * gprof_recorder_end_stats() - counts of the source when it was stopped
 * @r: recorder whose source is being stopped, under its lock
 * @stats: out_count, out_time_enabled and out_time_running are set
 *
 * Context: Task.
 */
void gprof_recorder_end_stats(struct gprof_recorder *r, struct gprof_stats *stats)
{
	const struct gprof_stats *c = &r->end.counts;

	/* Pairs with smp_store_release() in finish_stop(). */
	if (!smp_load_acquire(&r->end.counted))
		return;
	stats->out_count = c->out_count;
	stats->out_time_enabled = c->out_time_enabled;
	stats->out_time_running = c->out_time_running;
}

/**
 * gprof_recorder_end() - free a recorder
 * @r: recorder that is closed; the caller's reference is given up
 * @wait: for END_NS, until it is
 *
 * Context: Task, without locks.
 */
void gprof_recorder_end(struct gprof_recorder *r, bool wait)
{
	if (!r->source && !r->annotated) {
		gprof_recorder_count_down();
	} else {
		call_finish(r, TODO_CLOSE);
		if (wait)
			gprof_complete_within(&r->end.closed, TASK_UNINTERRUPTIBLE, END_NS);
	}
	gprof_entry_put(&r->entry);
}
