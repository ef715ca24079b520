// SPDX-License-Identifier: GPL-2.0-only
/*
 * source trace: kind trace. Which task ran where, why it stopped and which one woke it, one
 * word in the ring for each event.
 *
 * After the execution tracer of Go, for all that runs under the kernel.
 */
#include "kind/source.h"
#include "ring/annotate.h"
#include "ring/buffer_pages.h"
#include "sample/sampler.h"
#include "target/target.h"
#include "trace.h"
#include "trace_emit.h"
#include "trigger.h"

#include <linux/cpumask.h>
#include <linux/perf_event.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/threads.h>

#define BITMAP_BYTES	(PID_MAX_LIMIT / BITS_PER_BYTE)

static const struct {
	u32 stacks;
	u32 flag;
} stacks_of[] = {
	{ GPROF_TRACE_STACKS_SYSCALLS, GPROF_TRACE_F_SYSCALLS },
	{ GPROF_TRACE_STACKS_FAULTS, GPROF_TRACE_F_FAULTS },
	{ GPROF_TRACE_STACKS_RECLAIM, GPROF_TRACE_F_RECLAIM },
};

static bool stacks_have_events(const struct gprof_trace_params *p)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(stacks_of); i++) {
		if (p->stacks & stacks_of[i].stacks && !(p->flags & stacks_of[i].flag))
			return false;
	}
	return !(p->stacks & ~__GPROF_TRACE_STACKS_ALL);
}

static int check_stacks(const struct gprof_request *req, u32 *reason)
{
	const struct gprof_trace_params *p = req->params;

	*reason = GPROF_REASON_FLAGS;
	if (!req->stack != !(p->stacks || p->cpu.size))
		return -EOPNOTSUPP;
	return gprof_source_check_kernel(req, req->kernel_frames, reason);
}

/*
 * All that writes to a trace's ring has interrupts off, since a cut must not be interrupted
 * by an event. Software events, and those of probes, come in the middle of anything.
 */
static bool occurs_with_interrupts_off(const struct gprof_cpu_params *p)
{
	switch (p->type) {
	case PERF_TYPE_HARDWARE:
	case PERF_TYPE_HW_CACHE:
	case PERF_TYPE_RAW:
		return true;
	case PERF_TYPE_SOFTWARE:
		return p->config == PERF_COUNT_SW_CPU_CLOCK ||
		       p->config == PERF_COUNT_SW_TASK_CLOCK;
	default:
		return false;
	}
}

static int check(const struct gprof_request *req, u32 *reason)
{
	const struct gprof_trace_params *p = req->params;

	*reason = GPROF_REASON_PARAMS;
	if (p->flags & ~__GPROF_TRACE_F_ALL || !gprof_trace_can(p->flags) ||
	    !stacks_have_events(p))
		return -EOPNOTSUPP;
	if ((p->min_us && p->cpu.size) || (p->cpu.size ? p->cpu.size != sizeof(p->cpu) :
					    !!memchr_inv(&p->cpu, 0, sizeof(p->cpu))))
		return -EINVAL;
	*reason = GPROF_REASON_EVENT;
	if (p->cpu.size && !occurs_with_interrupts_off(&p->cpu))
		return -EOPNOTSUPP;
	/* A user that records one's own slows everybody's. */
	*reason = GPROF_REASON_SLOWS_DENIED;
	if (p->flags & ~(GPROF_TRACE_F_ANNOTATIONS | GPROF_TRACE_F_REASONS) &&
	    !req->target->privileged)
		return -EPERM;
	*reason = GPROF_REASON_FLAGS;
	if (req->target->on_exec)
		return -EOPNOTSUPP;
	return check_stacks(req, reason);
}

static u64 features(void)
{
	static const struct {
		u32 flag;
		u64 feature;
	} groups[] = {
		{ GPROF_TRACE_F_SYSCALLS, GPROF_FEAT_TRACE_SYSCALLS },
		{ GPROF_TRACE_F_IRQS, GPROF_FEAT_TRACE_IRQS },
		{ GPROF_TRACE_F_FAULTS, GPROF_FEAT_TRACE_FAULTS },
		{ GPROF_TRACE_F_RECLAIM, GPROF_FEAT_TRACE_RECLAIM },
		{ GPROF_TRACE_F_FREQ, GPROF_FEAT_TRACE_FREQ },
		{ GPROF_TRACE_F_THROTTLE, GPROF_FEAT_TRACE_THROTTLE },
	};
	u64 f = GPROF_FEAT_TRACE_STACKS | GPROF_FEAT_TRACE_SAMPLES | GPROF_FEAT_TRACE_MIN |
		GPROF_FEAT_TRACE_REASONS | GPROF_FEAT_ANNOTATIONS;
	unsigned int i;

	if (IS_ENABLED(CONFIG_EVENT_TRACING))
		f |= GPROF_FEAT_TRIGGER_FILTERS;

	for (i = 0; i < ARRAY_SIZE(groups); i++) {
		if (gprof_trace_can(groups[i].flag))
			f |= groups[i].feature;
	}
	return f;
}

/* As if they were a recorder's of their own. */
static struct gprof_request for_samples(const struct gprof_request *req)
{
	const struct gprof_trace_params *p = req->params;
	struct gprof_request cpu = *req;

	cpu.params = &p->cpu;
	return cpu;
}

static u64 bytes_of_samples(const struct gprof_request *req)
{
	const struct gprof_trace_params *p = req->params;
	struct gprof_request cpu = for_samples(req);

	return p->cpu.size ? gprof_source_cpu.bytes(&cpu) : 0;
}

static u64 bytes(const struct gprof_request *req)
{
	const struct gprof_target *t = req->target;

	return sizeof(struct gprof_trace) + bytes_of_samples(req) +
	       sizeof(struct gprof_trace_cpu) * num_possible_cpus() +
	       (gprof_target_is_tasks(t) ? BITMAP_BYTES + gprof_task_set_bytes(t) : 0);
}

/* For the seconds in which a busy host keeps its reader from a CPU; a process has fewer events. */
static u64 buffer_size(const struct gprof_request *req)
{
	const struct gprof_trace_params *p = req->params;
	u64 size = GPROF_BUFFER_DEFAULT;

	if (gprof_target_is_tasks(req->target))
		return size;
	size <<= 1;
	if (p->flags & (GPROF_TRACE_F_SYSCALLS | GPROF_TRACE_F_IRQS | GPROF_TRACE_F_FAULTS))
		size <<= 2;
	if (p->stacks || p->cpu.size)
		size <<= 1;
	return size;
}

static void free_memory(struct gprof_trace *t)
{
	if (t->cpu)
		gprof_source_cpu.destroy(t->cpu);
	if (t->triggers)
		gprof_triggers_destroy(t->triggers);
	free_percpu(t->cpus);
	kvfree(t->whose.tgids);
	kfree(t);
}

static void missed(struct gprof_task_set *task_set)
{
	gprof_trace_no_buffer(container_of(task_set, struct gprof_trace, task_set));
}

/* Of a task outside the target nobody tells when it leaves the CPU for the last time. */
static void target_executed(struct gprof_task_set *task_set, bool changed)
{
	struct gprof_trace *t = container_of(task_set, struct gprof_trace, task_set);

	if (changed && t->triggers && !gprof_trace_has(t, current))
		gprof_pending_op_forget(t->triggers);
}

/* The caller is current, and preemption is off. */
static bool pop_note(struct gprof_notes *notes, struct gprof_annotation_rec *rec)
{
	struct gprof_trace *t = container_of(notes, struct gprof_trace, notes);
	struct gprof_trace_event e = { .note = rec };

	if (!gprof_trace_has(t, current))
		return false;
	gprof_trace_write(t, &e);
	return true;
}

static const struct gprof_task_set_ops task_set_ops = {
	.executed = target_executed,
	.missed = missed,
};

static bool build(struct gprof_trace *t, struct gprof_request *req)
{
	t->cpus = alloc_percpu_gfp(struct gprof_trace_cpu, GFP_KERNEL_ACCOUNT);
	if (!t->cpus)
		return false;
	if (!gprof_target_is_tasks(req->target))
		return true;
	t->whose.tgids = kvzalloc(BITMAP_BYTES, GFP_KERNEL_ACCOUNT);
	if (!t->whose.tgids)
		return false;
	if (req->target->type == GPROF_TARGET_THREAD)
		t->whose.thread = req->target->task;
	t->task_set.tgids = t->whose.tgids;
	/* Nobody looks for the members of this kind but by @tgids. */
	return !gprof_task_set_init(&t->task_set, GPROF_TASK_SET_SCHED, &task_set_ops, req->target,
				    req->charge);
}

static int setup_samples(struct gprof_trace *t, struct gprof_request *req)
{
	struct gprof_request cpu = for_samples(req);
	int err = gprof_source_cpu.setup(&cpu, &t->cpu);

	if (err)
		t->cpu = NULL;
	req->weight = cpu.weight;
	req->kernel = cpu.kernel;
	req->reason = cpu.reason;
	return err;
}

static int setup(struct gprof_request *req, void **state)
{
	const struct gprof_trace_params *p = req->params;
	struct gprof_trace *t;
	int err;

	err = check(req, &req->reason);
	if (err)
		return err;
	req->reason = GPROF_REASON_NONE;
	t = kzalloc(sizeof(*t), GFP_KERNEL_ACCOUNT);
	if (!t)
		return -ENOMEM;
	t->whose.target = req->target;
	t->whose.cgroup = req->target->cgroup;
	t->sampler = req->sampler;
	t->pid_ns = req->sampler->pid_ns;
	t->charge = req->charge;
	t->events = req->events;
	t->flags = p->flags;
	t->stacks = p->stacks;
	t->min_ns = (u64)p->min_us * NSEC_PER_USEC;
	t->notes.take = pop_note;
	t->notes.owner = req->target->owner;
	t->notes.privileged = req->target->privileged;
	if (req->target->type == GPROF_TARGET_CPUS)
		t->only_cpus = req->target->cpus;
	req->weight = 1;
	err = build(t, req) ? 0 : -ENOMEM;
	if (!err && p->cpu.size)
		err = setup_samples(t, req);
	if (err) {
		free_memory(t);
		return err;
	}
	*state = t;
	return 0;
}

static void clear(struct gprof_trace *t)
{
	int cpu;

	for_each_possible_cpu(cpu) {
		struct gprof_trace_cpu *c = per_cpu_ptr(t->cpus, cpu);
		struct gprof_percpu_buffer *ch = t->sampler->buffers[cpu];

		memset(c, 0, sizeof(*c));
		c->buffer = ch ? &ch->buffer : NULL;
		c->followed = GPROF_TRACE_DESYNC;
	}
}

/* Where tasks outside the target run, the ring need not say so: then it says nothing. */
static void begin_cpu(void *data)
{
	struct gprof_trace *t = data;

	if (!t->only_cpus || gprof_trace_has(t, current))
		gprof_trace_emit_running(t, true);
}

/* A tracepoint calls the last one first: a trigger event stands behind its cause. */
static int attach(struct gprof_trace *t)
{
	int err = t->triggers ? gprof_triggers_start(t->triggers) : 0;

	if (err)
		return err;
	err = gprof_trace_attach(t);
	if (err)
		goto err_triggers;
	err = t->triggers ? gprof_triggers_follow(t->triggers) : 0;
	if (err)
		goto err_trace;
	if (t->flags & GPROF_TRACE_F_ANNOTATIONS)
		gprof_notes_begin(&t->notes);
	return 0;

err_trace:
	gprof_trace_detach(t);
err_triggers:
	if (t->triggers)
		gprof_triggers_stop(t->triggers);
	return err;
}

static void detach(struct gprof_trace *t)
{
	if (t->flags & GPROF_TRACE_F_ANNOTATIONS)
		gprof_notes_end(&t->notes);
	if (t->triggers)
		gprof_triggers_unfollow(t->triggers);
	gprof_trace_detach(t);
	if (t->triggers)
		gprof_triggers_stop(t->triggers);
}

static void leave(struct gprof_trace *t)
{
	detach(t);
	if (t->whose.tgids)
		gprof_task_set_detach(&t->task_set);
}

static int start(void *state, u32 *attached)
{
	struct gprof_trace *t = state;
	u32 counters;
	int err;

	clear(t);
	err = attach(t);
	if (err)
		return err;
	*attached = t->only_cpus ? cpumask_weight(t->only_cpus) : num_online_cpus();
	err = t->whose.tgids ? gprof_task_set_attach(&t->task_set, attached) : 0;
	if (err) {
		detach(t);
		return err;
	}
	err = t->cpu ? gprof_source_cpu.start(t->cpu, &counters) : 0;
	if (err) {
		leave(t);
		return err;
	}
	/* Last: a task that was of the target before has been running since. */
	gprof_target_call_running(t->whose.target, begin_cpu, t);
	return 0;
}

static bool holds(int cpu, void *data)
{
	const struct gprof_trace *t = data;

	return READ_ONCE(per_cpu_ptr(t->cpus, cpu)->nr_deferred);
}

static void release_cpu(void *data)
{
	gprof_trace_release(data);
}

static void stop(void *state)
{
	struct gprof_trace *t = state;

	/* A call that goes on has begun. */
	if (t->min_ns)
		on_each_cpu_cond(holds, release_cpu, t, 1);
	if (t->cpu)
		gprof_source_cpu.stop(t->cpu);
	leave(t);
}

static int trigger(void *state, struct gprof_trigger *trigger, const char *name)
{
	struct gprof_trace *t = state;

	if (!t->triggers)
		t->triggers = gprof_triggers_new(t, t->events, t->charge);
	if (!t->triggers) {
		trigger->out_reason = GPROF_REASON_MEMLOCK;
		return -ENOMEM;
	}
	return gprof_triggers_add(t->triggers, trigger, name);
}

static void stats(void *state, struct gprof_stats *stats)
{
	struct gprof_trace *t = state;

	if (t->cpu)
		gprof_source_cpu.stats(t->cpu, stats);
}

static void destroy(void *state)
{
	free_memory(state);
}

const struct gprof_source_ops gprof_source_trace = {
	.kind = GPROF_KIND_TRACE,
	.params_size = sizeof(struct gprof_trace_params),
	.params_min = GPROF_TRACE_PARAMS_SIZE_VER0,
	.features = features,
	.bytes = bytes,
	.buffer_size = buffer_size,
	.setup = setup,
	.start = start,
	.stop = stop,
	.trigger = trigger,
	.stats = stats,
	.destroy = destroy,
};
