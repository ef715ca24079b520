// SPDX-License-Identifier: GPL-2.0-only
/*
 * recorder: the state machine, and the owner of each part.
 *
 *	NEW --SETUP--> READY --START--> STARTED --STOP--> READY
 *
 * and from each of them to CLOSED, with the file.
 *
 * SETUP builds everything (recorder_parts.c) and publishes it with @sampler.buffers;
 * from then on it is fixed until the file is closed. mmap() therefore needs no lock, and
 * must not take @lock: it runs under mmap_lock, and STOP waits under @lock for a thread
 * that reads mappings. recorder_end.c ends a recorder where that takes long.
 *
 * Lock order: mmap_lock of the caller (none of our locks is taken under it);
 * @lock > struct gprof_attached.lock > perf's locks; @lock > the registry's;
 * @lock > @state_lock.
 */
#include "recorder.h"
#include "kind/source.h"
#include "recorder_end.h"
#include "recorder_parts.h"
#include "ring/annotate.h"
#include "ring/buffer_pages.h"
#include "ring/percpu_buffers.h"
#include "ring/object_table.h"
#include "sample/self_stack.h"
#include "setup.h"
#include "target/oncpu.h"
#include "task/pid.h"
#include "unwind/table_set.h"

#include <linux/capability.h>
#include <linux/gprof.h>
#include <linux/mm.h>
#include <linux/nospec.h>
#include <linux/slab.h>

static void free_recorder(struct gprof_entry *e)
{
	struct gprof_recorder *r = container_of(e, struct gprof_recorder, entry);

	mutex_destroy(&r->lock);
	gprof_pid_ns_put(r->sampler.pid_ns);
	kfree(r);
}

static void post_phase(struct gprof_recorder *r, enum gprof_event_type type)
{
	gprof_event_announce(&r->events, &(struct gprof_event){ .type = type });
}

/**
 * gprof_recorder_new() - make an unconfigured recorder
 *
 * Context: Task.
 * Return: recorder or NULL.
 */
struct gprof_recorder *gprof_recorder_new(void)
{
	struct gprof_recorder *r = kzalloc(sizeof(*r), GFP_KERNEL_ACCOUNT);

	if (!r)
		return NULL;
	gprof_entry_init(&r->entry, free_recorder);
	mutex_init(&r->lock);
	raw_spin_lock_init(&r->state_lock);
	init_waitqueue_head(&r->events.wait);
	gprof_recorder_end_init(r);
	r->sampler.pid_ns = gprof_pid_ns_get();
	gprof_recorder_count_up();
	return r;
}

static int build(struct gprof_recorder *r, struct gprof_setup *setup,
		 const struct gprof_source_ops *source, const void *params,
		 const unsigned long *cpus)
{
	struct gprof_percpu_buffer **buffers;
	int err = gprof_recorder_build(r, setup, source, params, cpus, &buffers);

	if (err)
		return err;
	/* Pairs with smp_load_acquire() in gprof_recorder_mmap() and _poll(). */
	smp_store_release(&r->sampler.buffers, buffers);
	gprof_recorder_set_state(r, GPROF_READY);
	/* From here on queries may pin it. */
	gprof_entry_publish(&r->entry, r->target.privileged);
	gprof_percpu_buffers_name(buffers, r->entry.id);
	setup->out_id = r->entry.id;
	setup->out_data_size = r->data_size;
	setup->out_nr_cpus = nr_cpu_ids;
	return 0;
}

/**
 * gprof_recorder_setup() - GPROF_IOC_SETUP
 * @r: recorder
 * @setup: argument; outputs are set, @setup->out_reason on error too
 * @source: source of @setup->kind
 * @params: its parameters
 * @cpus: bitmap of nr_cpu_ids bits
 *
 * Context: Task.
 * Return: 0 or a negative errno; the recorder is unchanged then.
 */
int gprof_recorder_setup(struct gprof_recorder *r, struct gprof_setup *setup,
			 const struct gprof_source_ops *source, const void *params,
			 const unsigned long *cpus)
{
	int err = gprof_setup_check(setup, source);

	if (err)
		return err;
	mutex_lock(&r->lock);
	if (r->state == GPROF_NEW) {
		err = build(r, setup, source, params, cpus);
	} else {
		setup->out_reason = GPROF_REASON_STATE;
		err = -EBUSY;
	}
	mutex_unlock(&r->lock);
	return err;
}

static u32 reason_of(const struct gprof_recorder *r, int err)
{
	switch (err) {
	case 0:
		return GPROF_REASON_NONE;
	case -ESRCH:
		return GPROF_REASON_TASK_GONE;
	case -EPERM:
		return GPROF_REASON_TASK_DENIED;
	case -EAGAIN:
		return GPROF_REASON_TURN;
	case -EBUSY:
		/* Of others it is perf's, and the event's. */
		return r->objects || r->source == &gprof_source_alloc ? GPROF_REASON_MAP_LOCKED :
								     GPROF_REASON_EVENT;
	default:
		return GPROF_REASON_EVENT;
	}
}

/**
 * gprof_recorder_start() - GPROF_IOC_START
 * @r: recorder
 * @start: argument
 *
 * Context: Task.
 * Return: 0 or a negative errno; the recorder is not started then.
 */
int gprof_recorder_start(struct gprof_recorder *r, struct gprof_start *start)
{
	int err = -EBUSY;

	start->out_reason = GPROF_REASON_FLAGS;
	if (start->flags)
		return -EOPNOTSUPP;
	mutex_lock(&r->lock);
	start->out_reason = GPROF_REASON_STATE;
	if (r->state == GPROF_READY)
		err = gprof_recorder_await_end(r);
	if (err == -EAGAIN)
		start->out_reason = GPROF_REASON_GRACE;
	if (!err) {
		gprof_percpu_buffers_begin(r->sampler.buffers);
		gprof_events_clear(&r->events);
		start->out_reason = GPROF_REASON_NONE;
		err = gprof_recorder_begin_source(r, &start->out_attached, &start->out_reason);
		if (!start->out_reason)
			start->out_reason = reason_of(r, err);
	}
	if (!err)
		gprof_recorder_set_state(r, GPROF_STARTED);
	mutex_unlock(&r->lock);
	if (!err)
		post_phase(r, GPROF_EVENT_STARTED);
	return err;
}

/* Returns whether nothing is left to be done; nothing is written any more in any case. */
static bool stop_locked(struct gprof_recorder *r)
{
	bool ended, flushed;

	lockdep_assert_held(&r->lock);
	ended = gprof_recorder_end_source(r);
	flushed = gprof_maps_flush(&r->sampler.maps);
	if (!ended || !flushed)
		gprof_percpu_buffers_close(r->sampler.buffers);
	gprof_recorder_set_state(r, GPROF_READY);
	/* A thread that cannot read mappings cannot tell events either. */
	return flushed && gprof_events_flush(&r->events) && ended;
}

/**
 * gprof_recorder_stop() - GPROF_IOC_STOP
 * @r: recorder
 * @stop: argument
 *
 * Context: Task.
 * Return: 0; nothing is written to the buffers from now on.
 */
int gprof_recorder_stop(struct gprof_recorder *r, struct gprof_stop *stop)
{
	int err = -EBUSY;

	if (stop->flags)
		return -EOPNOTSUPP;
	mutex_lock(&r->lock);
	if (r->state == GPROF_STARTED) {
		stop_locked(r);
		err = 0;
	}
	mutex_unlock(&r->lock);
	if (!err)
		post_phase(r, GPROF_EVENT_STOPPED);
	return err;
}

/**
 * gprof_recorder_rate() - GPROF_IOC_RATE
 * @r: recorder
 * @rate: argument
 *
 * Context: Task.
 * Return: 0 or a negative errno; the rate is unchanged then.
 */
int gprof_recorder_rate(struct gprof_recorder *r, struct gprof_rate *rate)
{
	int err = -EBUSY;

	if (rate->flags || rate->__reserved)
		return -EOPNOTSUPP;
	mutex_lock(&r->lock);
	if (r->state != GPROF_NEW)
		err = r->state == GPROF_STARTED ? 0 : gprof_recorder_await_end(r);
	if (!err)
		err = r->source->rate ? r->source->rate(r->source_state, rate->hz) : -EOPNOTSUPP;
	mutex_unlock(&r->lock);
	return err;
}

/**
 * gprof_recorder_trigger() - GPROF_IOC_TRIGGER
 * @r: recorder
 * @trigger: argument
 * @name: the string that @trigger->name points to, or NULL
 *
 * Context: Task.
 * Return: 0 or a negative errno; there is no such trigger then.
 */
int gprof_recorder_trigger(struct gprof_recorder *r, struct gprof_trigger *trigger,
			   const char *name)
{
	int err = -EBUSY;

	mutex_lock(&r->lock);
	trigger->out_reason = GPROF_REASON_STATE;
	if (r->state == GPROF_READY)
		err = gprof_recorder_await_end(r);
	if (err == -EAGAIN)
		trigger->out_reason = GPROF_REASON_GRACE;
	if (!err) {
		trigger->out_reason = GPROF_REASON_TRIGGER;
		err = r->source->trigger ? r->source->trigger(r->source_state, trigger, name) :
					   -EOPNOTSUPP;
	}
	mutex_unlock(&r->lock);
	return err;
}

/**
 * gprof_recorder_trigger_read() - GPROF_IOC_TRIGGER_READ
 * @r: recorder
 * @fired: argument
 *
 * Context: Task.
 * Return: 0 or a negative errno.
 */
int gprof_recorder_trigger_read(struct gprof_recorder *r, struct gprof_trigger_event *fired)
{
	int err = -EBUSY;

	mutex_lock(&r->lock);
	if (r->state != GPROF_NEW)
		err = gprof_event_pop(&r->events, fired);
	mutex_unlock(&r->lock);
	return err;
}

/**
 * gprof_recorder_unwind_table_add() - GPROF_IOC_UNWIND_TABLE_ADD
 * @r: recorder
 * @table: argument
 *
 * Context: Task.
 * Return: 0 or a negative errno.
 */
int gprof_recorder_unwind_table_add(struct gprof_recorder *r, struct gprof_unwind_table_add *table)
{
	struct gprof_table_set *table_set;

	table->out_reason = GPROF_REASON_FLAGS;
	if (table->flags & ~__GPROF_UNWIND_TABLE_ADD_F_ALL || table->__reserved)
		return -EOPNOTSUPP;
	/* They stay until the file is closed, which it is not before this call is over. */
	mutex_lock(&r->lock);
	table_set = r->table_set;
	mutex_unlock(&r->lock);
	table->out_reason = GPROF_REASON_STATE;
	return table_set ? gprof_table_set_add(table_set, table) : -EBUSY;
}

/**
 * gprof_recorder_self_stack() - GPROF_IOC_SELF_STACK
 * @r: recorder
 * @arg: argument
 *
 * Context: Task; takes no lock of the recorder.
 * Return: 0 or a negative errno.
 */
int gprof_recorder_self_stack(struct gprof_recorder *r, struct gprof_self_stack *arg)
{
	/*
	 * Pairs with smp_store_release() in build(): members that it has set stay until the file is
	 * closed.
	 */
	bool is_set_up = smp_load_acquire(&r->sampler.buffers);

	return gprof_self_stack(arg, is_set_up ? r->table_set : NULL);
}

/**
 * gprof_recorder_samples() - how many samples there were on all CPUs
 * @r: recorder that is set up
 * @st: those members are added to that buffers know
 *
 * Context: Task, under the recorder's lock, or while it is pinned.
 */
void gprof_recorder_samples(struct gprof_recorder *r, struct gprof_stats *st)
{
	gprof_percpu_buffers_add(r->sampler.buffers, st);
	/* Where there is no buffer there is no counter of it either. */
	st->out_lost[GPROF_LOST_NO_BUFFER] += atomic64_read(&r->sampler.no_buffer);
	st->out_produced += atomic64_read(&r->sampler.no_buffer);
}

static int add_buffers(struct gprof_recorder *r, struct gprof_stats *st)
{
	struct gprof_percpu_buffer **buffers = r->sampler.buffers, *ch;

	if (st->cpu != GPROF_STATS_ALL_CPUS) {
		if ((u32)st->cpu >= nr_cpu_ids)
			return -ENODEV;
		ch = buffers[array_index_nospec((u32)st->cpu, nr_cpu_ids)];
		if (!ch)
			return -ENODEV;
		gprof_percpu_buffer_add(ch, st);
		return 0;
	}
	gprof_recorder_samples(r, st);
	st->out_maps_missed = atomic64_read(&r->sampler.maps.missed);
	if (r->state == GPROF_STARTED || gprof_recorder_has_ended(r))
		r->source->stats(r->source_state, st);
	else
		gprof_recorder_end_stats(r, st);
	return 0;
}

/**
 * gprof_recorder_stats() - GPROF_IOC_STATS
 * @r: recorder
 * @stats: argument
 *
 * Context: Task.
 * Return: 0 or a negative errno.
 */
int gprof_recorder_stats(struct gprof_recorder *r, struct gprof_stats *stats)
{
	int err = -EBUSY;

	if (stats->flags)
		return -EOPNOTSUPP;
	mutex_lock(&r->lock);
	if (r->state != GPROF_NEW) {
		stats->out_started_ns = r->started_ns;
		stats->out_stopped_ns = r->stopped_ns;
		err = add_buffers(r, stats);
		stats->out_events_dropped = atomic64_read(&r->events.dropped);
		stats->out_events = gprof_events_stats(&r->events);
	}
	mutex_unlock(&r->lock);
	return err;
}

/**
 * gprof_recorder_info() - GPROF_IOC_INFO
 * @info: argument
 *
 * Context: Any.
 */
void gprof_recorder_info(struct gprof_info *info)
{
	info->out_abi_version = GPROF_ABI_VERSION;
	info->out_nr_cpus = nr_cpu_ids;
	info->out_kinds = gprof_source_kinds();
	info->out_features = GPROF_FEAT_KERNEL_FRAMES | GPROF_FEAT_USER_FRAMES | GPROF_FEAT_CALLER |
			     GPROF_FEAT_FLIGHT | GPROF_FEAT_MAPS | GPROF_FEAT_MAP_FILES |
			     GPROF_FEAT_NETLINK | GPROF_FEAT_EVENTS | GPROF_FEAT_TRIGGERS |
			     GPROF_FEAT_SELF_STACK | gprof_table_set_features() |
			     gprof_oncpu_features() | gprof_source_features();
	if (IS_ENABLED(CONFIG_CGROUPS))
		info->out_features |= GPROF_FEAT_CGROUP;
	info->out_max_frames = GPROF_MAX_FRAMES;
	info->out_clock_id = CLOCK_MONOTONIC;
	info->out_default_buffer = GPROF_BUFFER_DEFAULT;
	info->out_recorders = gprof_recorder_count();
}

/**
 * gprof_recorder_mmap() - map the buffer of one CPU
 * @r: recorder
 * @vma: mapping that is being made; its offset is GPROF_MMAP_*(cpu)
 *
 * Context: Task, mmap_lock held for writing; takes none of the recorder's locks.
 * Return: 0 or a negative errno.
 */
int gprof_recorder_mmap(struct gprof_recorder *r, struct vm_area_struct *vma)
{
	/* Pairs with smp_store_release() in build(). */
	struct gprof_percpu_buffer **buffers = smp_load_acquire(&r->sampler.buffers);
	u64 offset = (u64)vma->vm_pgoff << PAGE_SHIFT;
	u64 cpu = offset >> GPROF_MMAP_CPU_SHIFT;
	struct gprof_percpu_buffer *ch;
	bool ring = offset == GPROF_MMAP_RING(cpu);

	if (offset == GPROF_MMAP_ANNOTATED)
		return gprof_annotated_mmap(&r->annotated, vma);
	if (!buffers)
		return -EBUSY;
	if (offset == GPROF_MMAP_OBJECTS)
		return r->objects ? gprof_object_table_mmap(r->objects, vma) : -ENODEV;
	if (!ring && offset != GPROF_MMAP_TAIL(cpu))
		return -EINVAL;
	if (cpu >= nr_cpu_ids)
		return -ENODEV;
	ch = buffers[array_index_nospec(cpu, nr_cpu_ids)];
	return ch ? gprof_percpu_buffer_mmap(ch, vma, ring) : -ENODEV;
}

/**
 * gprof_recorder_poll() - is a buffer at least half full? Has something happened?
 * @r: recorder
 * @file: its file
 * @wait: poll table
 *
 * Context: Task; takes no lock.
 */
__poll_t gprof_recorder_poll(struct gprof_recorder *r, struct file *file, poll_table *wait)
{
	struct gprof_percpu_buffer **buffers;
	__poll_t happened;

	poll_wait(file, &r->events.wait, wait);
	/* Pairs with smp_store_release() in build(). */
	buffers = smp_load_acquire(&r->sampler.buffers);
	if (!buffers)
		return EPOLLERR;
	happened = gprof_events_pending(&r->events) ? EPOLLPRI : 0;
	return gprof_percpu_buffers_readable(buffers) ? EPOLLIN | EPOLLRDNORM | happened : happened;
}

/**
 * gprof_recorder_close() - stop a recorder and give up all that it owns
 * @r: recorder whose file is being closed
 *
 * Context: Task, without mmap_lock.
 */
void gprof_recorder_close(struct gprof_recorder *r)
{
	bool started, ended = true;

	mutex_lock(&r->lock);
	started = r->state == GPROF_STARTED;
	if (started)
		ended = stop_locked(r);
	/* From here on nobody enters. */
	gprof_recorder_set_state(r, GPROF_CLOSED);
	mutex_unlock(&r->lock);
	if (started)
		post_phase(r, GPROF_EVENT_STOPPED);

	gprof_entry_withdraw(&r->entry);
	gprof_recorder_end(r, ended);
}
