// SPDX-License-Identifier: GPL-2.0-only
/*
 * source sched: kind sched. Scheduler statistics of a thread, a process, a
 * cgroup or the system; no samples, no buffer.
 *
 * After SchedStats in the proposal golang/go 15490.
 */
#include "source_sched.h"
#include "clock/cycles.h"
#include "kind/source.h"
#include "sched.h"
#include "target/target.h"

#include <linux/gprof.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/threads.h>
#include <linux/timekeeping.h>
#include <linux/vmalloc.h>

/* Two ways each; as many tasks as wait at once, with room to spare. */
#define BUCKETS_WIDE	8192	/* cgroup, system */
#define BUCKETS_NARROW	1024

#define BITMAP_BYTES	(PID_MAX_LIMIT / BITS_PER_BYTE)

#define SLOWS_ALL	(GPROF_SCHED_F_SYSCALLS | GPROF_SCHED_F_FAULTS)

static bool has_members(const struct gprof_target *t)
{
	return gprof_target_is_tasks(t);
}

static u32 nr_buckets(const struct gprof_target *t)
{
	return has_members(t) ? BUCKETS_NARROW : BUCKETS_WIDE;
}

static int check(const struct gprof_request *req, u32 *reason)
{
	const struct gprof_sched_params *p = req->params;

	*reason = GPROF_REASON_PARAMS;
	if (p->flags & ~__GPROF_SCHED_F_ALL || p->__reserved || !gprof_sched_can_count(p->flags))
		return -EOPNOTSUPP;
	*reason = GPROF_REASON_EVENT;
	if (!gprof_sched_can_count(0))
		return -ENOENT;
	/* A user that counts one's own slows everybody's. */
	*reason = GPROF_REASON_SLOWS_DENIED;
	if (p->flags & SLOWS_ALL && !req->target->privileged)
		return -EPERM;
	*reason = GPROF_REASON_PERIOD;
	if (p->hz > GPROF_SCHED_HZ_MAX)
		return -EINVAL;
	*reason = GPROF_REASON_TARGET;
	if (req->target->type == GPROF_TARGET_CPUS)
		return -EOPNOTSUPP;
	*reason = GPROF_REASON_FLAGS;
	return req->target->on_exec ? -EOPNOTSUPP : 0;
}

static u64 bytes(const struct gprof_request *req)
{
	const struct gprof_sched_params *p = req->params;
	const struct gprof_target *t = req->target;
	u64 bytes = sizeof(struct gprof_sched);

	bytes += sizeof(struct gprof_sched_counters) * num_possible_cpus();
	bytes += sizeof(struct gprof_sched_bucket) * nr_buckets(t);
	bytes += has_members(t) ? BITMAP_BYTES + gprof_task_set_bytes(t) : 0;
	bytes += p->flags & GPROF_SCHED_F_SYSCALLS ? BITMAP_BYTES : 0;
	return bytes;
}

static void free_memory(struct gprof_sched *s)
{
	free_percpu(s->counters);
	kvfree(s->waits);
	kvfree(s->whose.tgids);
	kvfree(s->in_call);
	kfree(s);
}

static bool allocate(struct gprof_sched *s, const struct gprof_target *t)
{
	s->counters = alloc_percpu_gfp(struct gprof_sched_counters, GFP_KERNEL_ACCOUNT);
	s->waits = kvcalloc(nr_buckets(t), sizeof(*s->waits), GFP_KERNEL_ACCOUNT);
	if (has_members(t))
		s->whose.tgids = kvzalloc(BITMAP_BYTES, GFP_KERNEL_ACCOUNT);
	if (s->flags & GPROF_SCHED_F_SYSCALLS)
		s->in_call = kvzalloc(BITMAP_BYTES, GFP_KERNEL_ACCOUNT);
	return s->counters && s->waits && (s->whose.tgids || !has_members(t)) &&
	       (s->in_call || !(s->flags & GPROF_SCHED_F_SYSCALLS));
}

static u64 features(void)
{
	u64 f = 0;

	if (gprof_sched_can_count(GPROF_SCHED_F_SYSCALLS))
		f |= GPROF_FEAT_SCHED_SYSCALLS;
	if (gprof_sched_can_count(GPROF_SCHED_F_FAULTS))
		f |= GPROF_FEAT_SCHED_FAULTS;
	return f;
}

static void missed(struct gprof_task_set *task_set)
{
	WRITE_ONCE(container_of(task_set, struct gprof_sched, task_set)->incomplete, true);
}

static void executed(struct gprof_task_set *task_set, bool changed)
{
	gprof_sched_executed(container_of(task_set, struct gprof_sched, task_set));
}

static const struct gprof_task_set_ops task_set_ops = {
	.executed = executed,
	.missed = missed,
};

static int make_task_set(struct gprof_sched *s, struct gprof_request *req)
{
	if (!has_members(req->target))
		return 0;
	s->task_set.tgids = s->whose.tgids;
	if (req->target->type == GPROF_TARGET_THREAD)
		s->whose.thread = req->target->task;
	return gprof_task_set_init(&s->task_set, GPROF_TASK_SET_SCHED, &task_set_ops, req->target,
				   req->charge);
}

static int setup(struct gprof_request *req, void **state)
{
	const struct gprof_sched_params *p = req->params;
	struct gprof_sched *s;
	int err;

	err = check(req, &req->reason);
	if (err)
		return err;
	req->reason = GPROF_REASON_NONE;
	s = kzalloc(sizeof(*s), GFP_KERNEL_ACCOUNT);
	if (!s)
		return -ENOMEM;
	s->whose.target = req->target;
	s->whose.cgroup = req->target->cgroup;
	s->flags = p->flags;
	s->wait_mask = nr_buckets(req->target) - 1;
	raw_spin_lock_init(&s->samples.lock);
	mutex_init(&s->phase);
	if (!allocate(s, req->target) || make_task_set(s, req)) {
		free_memory(s);
		return -ENOMEM;
	}
	gprof_sched_set_rate(s, p->hz);
	*state = s;
	return 0;
}

/* The counts of the last STOP are read until this run has begun. */
static void clear(struct gprof_sched *s)
{
	int cpu;

	for_each_possible_cpu(cpu)
		memset(per_cpu_ptr(s->counters, cpu), 0, sizeof(*s->counters));
	memset(s->waits, 0, sizeof(*s->waits) * (s->wait_mask + 1));
	if (s->in_call)
		memset(s->in_call, 0, BITMAP_BYTES);
	s->incomplete = false;
	atomic_set(&s->waiting, -1);
	memset(&s->base, 0, sizeof(s->base));
}

static int start(void *state, u32 *attached)
{
	struct gprof_sched *s = state;
	u64 started_ns;
	int err;

	clear(s);
	s->started_cycles = gprof_cycles();
	err = gprof_sched_attach(s);
	if (err)
		return err;
	err = gprof_sched_attach_tasks(s, attached);
	if (err) {
		gprof_sched_detach(s);
		return err;
	}
	s->started_cycles = gprof_cycles();
	started_ns = ktime_get_mono_fast_ns();
	gprof_sched_begin(s);
	mutex_lock(&s->phase);
	memset(&s->final, 0, sizeof(s->final));
	/* Pairs with READ_ONCE() in count_running(), as below. */
	WRITE_ONCE(s->state, GPROF_SCHED_COUNTS);
	s->started_ns = started_ns;
	mutex_unlock(&s->phase);
	return 0;
}

static void stop(void *state)
{
	struct gprof_sched *s = state;

	/* To detach takes grace periods, for which no reader waits. */
	mutex_lock(&s->phase);
	WRITE_ONCE(s->state, GPROF_SCHED_ENDS);
	mutex_unlock(&s->phase);
	gprof_sched_detach(s);
	gprof_sched_detach_tasks(s);
	mutex_lock(&s->phase);
	gprof_sched_since_start(s, &s->final);
	s->doubtful = gprof_sched_clock_doubtful(s);
	WRITE_ONCE(s->state, GPROF_SCHED_STANDS);
	mutex_unlock(&s->phase);
}

static int set_rate(void *state, u32 hz)
{
	if (hz > GPROF_SCHED_HZ_MAX)
		return -EINVAL;
	gprof_sched_set_rate(state, hz);
	return 0;
}

static void stats(void *state, struct gprof_stats *stats)
{
}

static void destroy(void *state)
{
	free_memory(state);
}

const struct gprof_source_ops gprof_source_sched = {
	.kind = GPROF_KIND_SCHED,
	.no_buffer = true,
	.params_size = sizeof(struct gprof_sched_params),
	.params_min = GPROF_SCHED_PARAMS_SIZE_VER0,
	.features = features,
	.bytes = bytes,
	.setup = setup,
	.start = start,
	.stop = stop,
	.rate = set_rate,
	.stats = stats,
	.destroy = destroy,
};

/**
 * gprof_source_sched_read() - read scheduler statistics
 * @state: state of &gprof_source_sched
 * @r: reading
 *
 * Context: Task, while the recorder is pinned: beside START and STOP.
 * Return: whether there is something to read: it was started.
 */
bool gprof_source_sched_read(void *state, struct gprof_sched_reading *r)
{
	return gprof_sched_read(state, r);
}
