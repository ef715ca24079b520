// SPDX-License-Identifier: GPL-2.0-only
/*
 * wait: from switch-out to wake-up, and to the sample.
 *
 * A wait that is sampled is noted when its task is switched out. The wake-up notes its end.
 * The switch-in takes the note and queues an irq_work, which runs as soon as interrupts are
 * on: then the task is current, in its own memory, and still
 * where it waited. So the stack is that of the wait, both halves of it, and needs no
 * memory while the task sleeps.
 *
 * A task is switched out, woken and switched in one after the other, under the lock of its
 * run queue (a wake-up elsewhere waits until it has left its CPU), so that there is one
 * writer for each note at a time. The look at those that go on at STOP comes between,
 * and takes a note from its task by compare-exchange, as everybody does: it is told once.
 *
 * Where the waker is asked for, the waker takes and tells the note. That is before the
 * lock of the run queue is taken, and so may be before the task has been switched out:
 * then nobody knows the waker, and the wake-up takes the note.
 *
 * The way of a wait that is not sampled is counted in instructions.
 */
#include "wait.h"
#include "clock/clock.h"
#include "compat/irq_work.h"
#include "compat/preempt.h"
#include "compat/sched.h"
#include "kind/source.h"
#include "sample/sampler.h"
#include "task/wait_reason.h"
#include "unwind/stack_caller.h"
#include "user/memlock.h"

#include <linux/build_bug.h>
#include <linux/cpumask.h>
#include <linux/gprof.h>
#include <linux/mm.h>
#include <linux/perf_event.h>
#include <linux/random.h>
#include <linux/slab.h>
#include <linux/smp.h>
#include <linux/threads.h>
#include <linux/timekeeping.h>

#define BITS_MIN	9	/* of buckets */
#define BITS_MAX	14

#define BITMAP_BYTES	(PID_MAX_LIMIT / BITS_PER_BYTE)

/* ---- probes ---- */

/*
 * It may have other rights than when it began to wait. In which cgroup, or on which CPU, it
 * did so counts: such targets are for recorders that may see all.
 */
static bool may_be_reported(const struct gprof_waits *w)
{
	return !w->whose.tgids || gprof_waits_have(w, current);
}

/* The irq_work interrupts, or follows, the switch to the waiter: current is where it waited. */
static void sample_waiter(struct irq_work *irq)
{
	struct gprof_wait_cpu *c = container_of(irq, struct gprof_wait_cpu, irq);
	struct gprof_waits *w = c->waits;
	struct gprof_wait_end e;
	unsigned long flags;

	local_irq_save(flags);
	e = c->due;
	c->due.task = NULL;
	if (e.task && e.task == current && may_be_reported(w))
		gprof_wait_report(w, &e, current, &c->regs, 0);
	else if (e.task)
		gprof_wait_lose(w);
	local_irq_restore(flags);
}

static noinline void finish_wait_on_switch_in(struct gprof_waits *w, unsigned int at,
					      struct task_struct *next)
{
	struct gprof_wait_cpu *c = this_cpu_ptr(w->cpus);
	u64 now = gprof_clock_ns();
	struct gprof_wait wait;

	if (!gprof_wait_claim_of(w, at, next, &wait))
		return;
	if (unlikely(c->due.task))
		gprof_wait_lose(w);
	gprof_wait_end(w, &wait, now, &c->due);
	gprof_arch_sleeper_regs(&c->regs, next);
	c->due.task = next;
	irq_work_queue(&c->irq);
}

static noinline void note_wait(struct gprof_waits *w, struct task_struct *prev, unsigned int state,
			       bool unsampled)
{
	struct gprof_percpu_buffer *ch;
	u64 now = gprof_clock_ns();

	if (unlikely(!gprof_wait_begins(w, prev, now, state, unsampled)) && !unsampled)
		gprof_wait_lose(w);
	if (unsampled || prev != current || !(w->sampler->options.flags & GPROF_STACK_F_USER))
		return;
	/* While it sleeps: a program that ends when it wakes up would have no names. */
	ch = w->sampler->buffers[smp_processor_id()];
	if (ch)
		gprof_maps_expect(&w->sampler->maps, ch);
}

/* All of those that begin are noted meanwhile. */
static inline bool notes_all(const struct gprof_waits *w)
{
	return unlikely(READ_ONCE(w->phase) == GPROF_WAITS_BEGIN);
}

/* Chance has come to one, or has to be asked anew. */
static noinline void note_if_drawn(struct gprof_waits *w, struct task_struct *prev,
				   unsigned int state, s64 left)
{
	struct gprof_wait_cpu *c = this_cpu_ptr(w->cpus);

	if (gprof_subsample_draws(&c->subsample, &w->subsampling, 1, left))
		note_wait(w, prev, state, false);
	else if (notes_all(w))
		note_wait(w, prev, state, true);
}

/* While START looks for tasks that wait already; before that, and after STOP, nothing begins. */
static noinline void begins_at_boundary(struct gprof_waits *w, struct task_struct *prev,
					unsigned int state)
{
	struct gprof_wait_cpu *c = this_cpu_ptr(w->cpus);
	s64 left;

	if (!notes_all(w))
		return;
	local64_inc(&c->count);
	if (!w->subsampled)
		note_wait(w, prev, state, false);
	else if (gprof_subsample_skips(&c->subsample, 1, &left))
		note_wait(w, prev, state, true);
	else
		note_if_drawn(w, prev, state, left);
}

static inline void begins(struct gprof_waits *w, struct task_struct *prev, unsigned int state,
			  bool subsampled)
{
	struct gprof_wait_cpu *c;
	s64 left;

	if (unlikely(READ_ONCE(w->phase) != GPROF_WAITS_ON)) {
		begins_at_boundary(w, prev, state);
		return;
	}
	c = this_cpu_ptr(w->cpus);
	local64_inc(&c->count);
	if (!subsampled)
		note_wait(w, prev, state, false);
	else if (unlikely(!gprof_subsample_skips(&c->subsample, 1, &left)))
		note_if_drawn(w, prev, state, left);
}

/* A task that ends is in no call any more. */
static noinline void begins_for_lock(struct gprof_waits *w, struct task_struct *prev,
				     unsigned int state)
{
	if (gprof_wait_is_for_lock(prev, state))
		begins(w, prev, state, w->subsampled);
}

/*
 * A task that could go on does not wait, and one that ends does not either: it may sleep yet when
 * it has been reaped, and its process have left the task set by the time that it is switched in.
 */
static inline void switch_out(struct gprof_waits *w, struct task_struct *prev, unsigned int state,
			      bool all, bool subsampled)
{
	if (gprof_task_queued(prev) || (!all && !gprof_waits_have(w, prev)))
		return;
	if (w->spec.locks)
		begins_for_lock(w, prev, state);
	else if (likely(!READ_ONCE(prev->exit_state)))
		begins(w, prev, state, subsampled);
}

/*
 * Calls nothing but as the last thing that it does, unless there is a wait to tell: then no
 * registers have to be saved.
 */
static inline void
on_switch(struct gprof_waits *w, struct task_struct *prev, struct task_struct *next,
	  unsigned int state, bool all, bool subsampled,
	  void (*switch_in)(struct gprof_waits *w, unsigned int at, struct task_struct *next,
			    struct task_struct *prev, unsigned int state))
{
	int at = gprof_wait_at(w, next);

	if (unlikely(at >= 0))
		switch_in(w, at, next, prev, state);
	else
		switch_out(w, prev, state, all, subsampled);
}

/* After the next task was told. */
static noinline void switch_out_too(struct gprof_waits *w, struct task_struct *prev,
				    unsigned int state)
{
	switch_out(w, prev, state, w->whose.target->type == GPROF_TARGET_SYSTEM, w->subsampled);
}

static noinline void switch_in_then_out(struct gprof_waits *w, unsigned int at,
					struct task_struct *next, struct task_struct *prev,
					unsigned int state)
{
	finish_wait_on_switch_in(w, at, next);
	switch_out_too(w, prev, state);
}

static noinline void ends(struct gprof_waits *w, unsigned int at)
{
	WRITE_ONCE(w->waits[at].woken, gprof_clock_ns());
}

static notrace void woken(void *data, struct task_struct *task)
{
	int at = gprof_wait_at(data, task);

	if (unlikely(at >= 0))
		ends(data, at);
}

/* ---- for recorders that want to know the waker ---- */

static void report_waker(struct gprof_waits *w, struct gprof_wait_end *e, struct pt_regs *regs)
{
	u32 ended = in_hardirq()	 ? GPROF_WAIT_ENDED_BY_IRQ :
		    in_serving_softirq() ? GPROF_WAIT_ENDED_BY_SOFTIRQ :
		    !w->whose.target->privileged && !gprof_waits_have(w, current) ?
					   GPROF_WAIT_ENDED_BY_NOT_TARGET :
					   GPROF_WAIT_ENDED_BY_TASK;
	struct task_struct *task = current;
	u32 without = 0;

	if (ended != GPROF_WAIT_ENDED_BY_TASK) {
		task = &init_task;
		without = ended != GPROF_WAIT_ENDED_BY_NOT_TARGET && w->sampler->options.kernel ?
				  GPROF_STACK_F_USER :
				  __GPROF_STACK_F_ALL;
	}
	e->wait |= ended << 8;
	gprof_wait_report(w, e, task, regs, without);
}

/* A sampled one that ends now, and before STOP. */
static bool take_ended_wait(struct gprof_waits *w, unsigned int at, struct task_struct *task,
			    struct gprof_wait_end *e)
{
	struct gprof_wait wait;

	if (!gprof_wait_claim_of(w, at, task, &wait))
		return false;
	/* Pairs with smp_store_release() in gprof_waits_last(). */
	if (smp_load_acquire(&w->phase) == GPROF_WAITS_OVER)
		return false;
	gprof_wait_end(w, &wait, gprof_clock_ns(), e);
	return true;
}

static noinline void ends_by_current(struct gprof_waits *w, unsigned int at,
				     struct task_struct *task)
{
	struct gprof_wait_cpu *c = this_cpu_ptr(w->cpus);
	struct gprof_wait_end e;

	if (!take_ended_wait(w, at, task, &e))
		return;
	gprof_caller_regs(&c->regs);
	report_waker(w, &e, &c->regs);
}

/* One of before START, to which the walk of the tasks has not come; as in the jump to it. */
static noinline void ends_meanwhile(struct gprof_waits *w, struct task_struct *task)
{
	int at;

	gprof_waits_scan(w, task);
	at = gprof_wait_at(w, task);
	if (at >= 0)
		ends_by_current(w, at, task);
}

static notrace void waking(void *data, struct task_struct *task)
{
	int at = gprof_wait_at(data, task);

	if (unlikely(at >= 0))
		ends_by_current(data, at, task);
	else if (notes_all(data))
		ends_meanwhile(data, task);
}

/* By somebody, before the wait was noted. */
static noinline void ended_early(struct gprof_waits *w, unsigned int at, struct task_struct *task)
{
	struct gprof_wait_cpu *c = this_cpu_ptr(w->cpus);
	struct gprof_wait_end e;

	if (!take_ended_wait(w, at, task, &e))
		return;
	perf_fetch_caller_regs(&c->regs);
	gprof_wait_report(w, &e, &init_task, &c->regs, __GPROF_STACK_F_ALL);
}

static notrace void woken_early(void *data, struct task_struct *task)
{
	int at = gprof_wait_at(data, task);

	if (unlikely(at >= 0))
		ended_early(data, at, task);
}

static noinline void ended_early_then_stops(struct gprof_waits *w, unsigned int at,
					    struct task_struct *next, struct task_struct *prev,
					    unsigned int state)
{
	ended_early(w, at, next);
	switch_out_too(w, prev, state);
}

#define SWITCH(_name, _all, _thinned, _comes)					\
static notrace void _name(void *data, bool preempt, struct task_struct *prev,	\
			  struct task_struct *next, unsigned int state)		\
{										\
	on_switch(data, prev, next, state, _all, _thinned, _comes);		\
}

SWITCH(switch_all, true, false, switch_in_then_out)
SWITCH(switch_some, false, false, switch_in_then_out)
SWITCH(switch_all_thinned, true, true, switch_in_then_out)
SWITCH(switch_some_thinned, false, true, switch_in_then_out)
SWITCH(switch_all_waker, true, false, ended_early_then_stops)
SWITCH(switch_some_waker, false, false, ended_early_then_stops)
SWITCH(switch_all_thinned_waker, true, true, ended_early_then_stops)
SWITCH(switch_some_thinned_waker, false, true, ended_early_then_stops)

/* By the request: of some, subsampled, the waker. */
static void (*const switches[2][2][2])(void *data, bool preempt, struct task_struct *prev,
				       struct task_struct *next, unsigned int state) = {
	{ { switch_all, switch_all_waker }, { switch_all_thinned, switch_all_thinned_waker } },
	{ { switch_some, switch_some_waker }, { switch_some_thinned, switch_some_thinned_waker } },
};

static unsigned int set_subs(struct gprof_waits *w)
{
	bool some = w->whose.target->type != GPROF_TARGET_SYSTEM, by_waker = w->spec.by_waker;
	const struct gprof_tp_sub users[] = {
		{ .tp = GPROF_TP_SWITCH, .on_switch = switches[some][w->subsampled][by_waker] },
		{ .tp = GPROF_TP_WAKEUP, .on_task = by_waker ? woken_early : woken },
		{ .tp = GPROF_TP_WAKING, .on_task = by_waker ? waking : gprof_wait_wakes },
	};
	unsigned int i;

	BUILD_BUG_ON(ARRAY_SIZE(users) != GPROF_WAIT_SUBS);
	if (w->spec.in_kernel)
		return gprof_wait_set_klock_subs(w);
	for (i = 0; i < ARRAY_SIZE(users); i++) {
		/* Its @left and @has_left stay. */
		w->subs[i].tp = users[i].tp;
		w->subs[i].on_switch = users[i].on_switch;
		w->subs[i].data = w;
		w->subs[i].tracked_only = w->whose.tgids;
	}
	return ARRAY_SIZE(users);
}

/* How many of the tracepoints are joined once START is over. */
static unsigned int nr_subs(const struct gprof_waits *w)
{
	return w->spec.in_kernel || !w->spec.by_waker ? GPROF_WAIT_SUBS - 1 : GPROF_WAIT_SUBS;
}

/* ---- life ---- */

/* Four to eight times as many places as tasks: others come, and a hash is not even. */
static unsigned int bits_for(const struct gprof_target *t)
{
	return clamp_t(unsigned int, order_base_2(gprof_target_size(t) / (GPROF_WAIT_WAYS / 4) + 1),
		       BITS_MIN, BITS_MAX);
}

/**
 * gprof_waits_bytes() - memory that waits take, for the charge
 * @req: request
 *
 * Context: Task.
 */
u64 gprof_waits_bytes(const struct gprof_request *req)
{
	const struct gprof_target *t = req->target;
	u64 bucket = sizeof(struct gprof_wait_bucket) + GPROF_WAIT_WAYS * sizeof(struct gprof_wait);

	return gprof_memory_of(sizeof(struct gprof_waits)) + (bucket << bits_for(t)) +
	       sizeof(struct gprof_wait_cpu) * num_possible_cpus() +
	       (gprof_target_is_tasks(t) ? BITMAP_BYTES + gprof_task_set_bytes(t) : 0);
}

/**
 * gprof_waits_owner_bytes() - memory that it takes besides to tell the owners of locks
 * @req: request
 *
 * Context: Task.
 */
u64 gprof_waits_owner_bytes(const struct gprof_request *req)
{
	return GPROF_WAIT_WAYS * sizeof(struct gprof_lock_owner) << bits_for(req->target);
}

static void missed(struct gprof_task_set *task_set)
{
	atomic64_inc(&container_of(task_set, struct gprof_waits, task_set)->sampler->no_buffer);
}

static const struct gprof_task_set_ops task_set_ops = {
	.missed = missed,
};

static bool build(struct gprof_waits *w, struct gprof_request *req)
{
	size_t nr = GPROF_WAIT_WAYS << w->bits;
	int cpu;

	w->cpus = alloc_percpu_gfp(struct gprof_wait_cpu, GFP_KERNEL_ACCOUNT);
	w->buckets = kvcalloc(nr / GPROF_WAIT_WAYS, sizeof(*w->buckets), GFP_KERNEL_ACCOUNT);
	w->waits = kvcalloc(nr, sizeof(*w->waits), GFP_KERNEL_ACCOUNT);
	if (!w->cpus || !w->buckets || !w->waits)
		return false;
	if (w->spec.owner) {
		w->owners = kvcalloc(nr, sizeof(*w->owners), GFP_KERNEL_ACCOUNT);
		if (!w->owners)
			return false;
	}
	for_each_possible_cpu(cpu) {
		struct gprof_wait_cpu *c = per_cpu_ptr(w->cpus, cpu);

		local64_set(&c->subsample.random, get_random_u64());
		c->waits = w;
		gprof_irq_work_init_hard(&c->irq, sample_waiter);
	}
	if (!gprof_target_is_tasks(req->target))
		return true;
	w->whose.tgids = kvzalloc(BITMAP_BYTES, GFP_KERNEL_ACCOUNT);
	if (!w->whose.tgids)
		return false;
	if (req->target->type == GPROF_TARGET_THREAD)
		w->whose.thread = req->target->task;
	w->task_set.tgids = w->whose.tgids;
	/* Nobody looks for the members of this kind but by @tgids. */
	return !gprof_task_set_init(&w->task_set, GPROF_TASK_SET_SCHED, &task_set_ops, req->target,
				    req->charge);
}

static struct gprof_waits *make(struct gprof_request *req, const struct gprof_wait_spec *spec)
{
	struct gprof_waits *w = kzalloc(sizeof(*w), GFP_KERNEL_ACCOUNT);

	if (!w)
		return NULL;
	w->whose.target = req->target;
	w->whose.cgroup = req->target->cgroup;
	if (req->target->type == GPROF_TARGET_CPUS)
		w->only_cpus = req->target->cpus;
	w->sampler = req->sampler;
	w->spec = *spec;
	w->subsampled = spec->period > 1;
	if (w->subsampled)
		gprof_subsampling_init(&w->subsampling, 1, spec->period);
	w->bits = bits_for(req->target);
	w->shift = 64 - w->bits;
	if (!build(w, req)) {
		gprof_waits_destroy(w);
		return NULL;
	}
	req->weight = spec->period;
	return w;
}

static int check(const struct gprof_request *req, const struct gprof_wait_spec *spec, u32 *reason)
{
	*reason = GPROF_REASON_PERIOD;
	if (!spec->period || spec->period > GPROF_PERIOD_MAX)
		return -EINVAL;
	return gprof_source_check_kernel(req, req->kernel_frames, reason);
}

/**
 * gprof_waits_setup() - prepare to record waits
 * @req: request; its weight is set, and its reason on error
 * @spec: which waits, and which facts of them; its numbers are from user space
 * @state: gets struct gprof_waits, for gprof_waits_destroy()
 *
 * Context: Task.
 * Return: 0 or a negative errno.
 */
int gprof_waits_setup(struct gprof_request *req, const struct gprof_wait_spec *spec, void **state)
{
	int err = check(req, spec, &req->reason);

	if (err)
		return err;
	req->reason = GPROF_REASON_NONE;
	*state = make(req, spec);
	return *state ? 0 : -ENOMEM;
}

/**
 * gprof_waits_destroy() - free; stopped before
 * @state: waits
 *
 * Context: Task.
 */
void gprof_waits_destroy(void *state)
{
	struct gprof_waits *w = state;

	free_percpu(w->cpus);
	kvfree(w->buckets);
	kvfree(w->waits);
	kvfree(w->owners);
	kvfree(w->whose.tgids);
	kfree(w);
}

/**
 * gprof_waits_start() - record from now on
 * @state: waits
 * @attached: gets the number of threads, or CPUs
 *
 * Context: Task.
 * Return: 0 or a negative errno; nothing is recorded then.
 */
int gprof_waits_start(void *state, u32 *attached)
{
	struct gprof_waits *w = state;
	int err, cpu;

	memset(w->buckets, 0, sizeof(*w->buckets) << w->bits);
	for_each_possible_cpu(cpu)
		per_cpu_ptr(w->cpus, cpu)->due.task = NULL;
	WRITE_ONCE(w->phase, GPROF_WAITS_NONE);
	*attached = w->only_cpus ? cpumask_weight(w->only_cpus) : num_online_cpus();
	err = gprof_tp_subscribe_all(w->subs, set_subs(w));
	if (err)
		return err;
	err = w->whose.tgids ? gprof_task_set_attach(&w->task_set, attached) : 0;
	if (err) {
		gprof_tp_unsubscribe_all(w->subs, set_subs(w));
		return err;
	}
	w->until = 0;
	w->from = gprof_clock_ns();
	/* Pairs with smp_load_acquire() in gprof_wait_end(). */
	smp_store_release(&w->phase, GPROF_WAITS_BEGIN);
	if (!w->spec.in_kernel)
		gprof_waits_find_begun(w);
	WRITE_ONCE(w->phase, GPROF_WAITS_ON);
	/* A call under way finds that the phase is over, or does only work that it may. */
	if (!w->spec.in_kernel && !w->spec.by_waker)
		gprof_tp_unsubscribe_nowait(&w->subs[GPROF_WAIT_SUBS - 1]);
	return 0;
}

/**
 * gprof_waits_last() - tell the waits that go on, and no others from now on
 * @state: waits that were started
 *
 * Context: Task, that of STOP: of its threads the user frames can be told.
 */
void gprof_waits_last(void *state)
{
	struct gprof_waits *w = state;

	w->until = gprof_clock_ns();
	/* Pairs with smp_load_acquire() in gprof_wait_end() and take_ended_wait(). */
	smp_store_release(&w->phase, GPROF_WAITS_OVER);
	if (!w->spec.by_waker && !w->spec.in_kernel)
		gprof_waits_report_unended(w);
}

/**
 * gprof_waits_stop() - end it; no sample is taken once this returns
 * @state: waits of which the last were told
 *
 * Context: Task.
 */
void gprof_waits_stop(void *state)
{
	struct gprof_waits *w = state;
	int cpu;

	gprof_tp_unsubscribe_all(w->subs, nr_subs(w));
	for_each_possible_cpu(cpu)
		irq_work_sync(&per_cpu_ptr(w->cpus, cpu)->irq);
	if (w->whose.tgids)
		gprof_task_set_detach(&w->task_set);
}

/**
 * gprof_waits_stats() - fill in the counts
 * @state: waits
 * @stats: out_count, and of the last window when it was
 *
 * Context: Task.
 */
void gprof_waits_stats(void *state, struct gprof_stats *stats)
{
	struct gprof_waits *w = state;
	int cpu;

	for_each_possible_cpu(cpu)
		stats->out_count += local64_read(&per_cpu_ptr(w->cpus, cpu)->count);
	if (!w->from || !stats->out_started_ns)
		return;
	stats->out_started_ns = w->from;
	stats->out_stopped_ns = w->until;
}
