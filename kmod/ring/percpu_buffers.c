// SPDX-License-Identifier: GPL-2.0-only
/*
 * percpu_buffers: the per-CPU buffers of one recorder, one for each CPU that is present.
 */
#include "percpu_buffers.h"
#include "buffer_pages.h"
#include "percpu_buffer.h"

#include <linux/gprof.h>
#include <linux/minmax.h>
#include <linux/processor.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/smp.h>
#include <linux/time64.h>
#include <linux/timekeeping.h>

#define GENERATION_DEFAULT	NSEC_PER_SEC
#define CLOSE_NS		(10 * NSEC_PER_MSEC)	/* more than an interrupted sample takes */

/**
 * gprof_percpu_buffers_new() - allocate the per-CPU buffers of a recorder
 * @data_size: bytes of data of each; 0: there are none
 * @events: where losses are told, and that there is something to read; outlives them
 *
 * Context: Task; ends early when the task is killed.
 * Return: array, to be freed by gprof_percpu_buffers_free(), or NULL.
 */
struct gprof_percpu_buffer **gprof_percpu_buffers_new(u64 data_size,
						      struct gprof_event_queue *events)
{
	struct gprof_percpu_buffer **buffers;
	int cpu;

	buffers = kcalloc(nr_cpu_ids, sizeof(*buffers), GFP_KERNEL_ACCOUNT);
	if (!buffers || !data_size)
		return buffers;
	for_each_present_cpu(cpu) {
		buffers[cpu] = gprof_percpu_buffer_new(cpu, data_size);
		if (!buffers[cpu] || fatal_signal_pending(current)) {
			gprof_percpu_buffers_free(buffers);
			return NULL;
		}
		buffers[cpu]->buffer.events = events;
	}
	return buffers;
}

/**
 * gprof_percpu_buffers_free() - free them
 * @buffers: array that nobody writes to, or NULL
 *
 * Context: Task.
 */
void gprof_percpu_buffers_free(struct gprof_percpu_buffer **buffers)
{
	int cpu;

	if (!buffers)
		return;
	for_each_possible_cpu(cpu)
		gprof_percpu_buffer_free(buffers[cpu]);
	kfree(buffers);
}

/**
 * gprof_percpu_buffers_init() - how they are written to
 * @buffers: array that nobody uses yet
 * @setup: checked by gprof_setup_check()
 * @weight: of each sample, 0: they say it
 *
 * Context: Task.
 */
void gprof_percpu_buffers_init(struct gprof_percpu_buffer **buffers,
			       const struct gprof_setup *setup, u64 weight)
{
	int cpu;

	for_each_possible_cpu(cpu) {
		struct gprof_buffer *b;

		if (!buffers[cpu])
			continue;
		b = &buffers[cpu]->buffer;
		b->flight = setup->flags & GPROF_SETUP_F_FLIGHT;
		b->wakes = !b->flight || setup->flags & GPROF_SETUP_F_WAKE;
		b->generation_ns = setup->generation_ns ?: GENERATION_DEFAULT;
		b->weight = weight;
		gprof_buffer_init(b);
		b->head->kind = setup->kind;
	}
}

/**
 * gprof_percpu_buffers_name() - say in each ring whose it is; in a core dump nobody else does
 * @buffers: array
 * @id: the recorder's
 *
 * Context: Task.
 */
void gprof_percpu_buffers_name(struct gprof_percpu_buffer **buffers, u64 id)
{
	int cpu;

	for_each_possible_cpu(cpu) {
		if (buffers[cpu])
			buffers[cpu]->buffer.head->recorder = id;
	}
}

/**
 * gprof_percpu_buffers_begin() - begin a recording with a generation of its own
 * @buffers: array
 *
 * A reader has forgotten the entries of an earlier run. Nobody writes yet, and starting the
 * source orders this before all producers.
 *
 * Context: Task.
 */
void gprof_percpu_buffers_begin(struct gprof_percpu_buffer **buffers)
{
	int cpu;

	for_each_possible_cpu(cpu) {
		if (buffers[cpu]) {
			gprof_buffer_open(&buffers[cpu]->buffer);
			buffers[cpu]->buffer.generation_end = 0;
			buffers[cpu]->buffer.quick_end = 0;
		}
	}
}

static void close_here(void *buffer)
{
	gprof_buffer_close(buffer);
}

/**
 * gprof_percpu_buffers_close() - nothing is written any more when this returns
 * @buffers: array
 *
 * Where the end of a source cannot be waited for. An interrupt closes each ring, which
 * a task of real time cannot put off; then the producers that it has interrupted go on.
 *
 * Context: Task.
 */
void gprof_percpu_buffers_close(struct gprof_percpu_buffer **buffers)
{
	u64 end;
	int cpu;

	for_each_possible_cpu(cpu) {
		struct gprof_buffer *b;

		if (!buffers[cpu])
			continue;
		b = &buffers[cpu]->buffer;
		if (smp_call_function_single(cpu, close_here, b, 1)) {
			gprof_buffer_close(b);
			continue;
		}
		end = ktime_get_mono_fast_ns() + CLOSE_NS;
		while (READ_ONCE(b->nest) && ktime_get_mono_fast_ns() < end)
			cpu_relax();
	}
}

/**
 * gprof_percpu_buffers_readable() - is one of the buffers at least half full?
 * @buffers: array
 *
 * Context: Any.
 */
bool gprof_percpu_buffers_readable(struct gprof_percpu_buffer **buffers)
{
	int cpu;

	for_each_possible_cpu(cpu) {
		if (buffers[cpu] && gprof_buffer_readable(&buffers[cpu]->buffer))
			return true;
	}
	return false;
}

/**
 * gprof_percpu_buffer_add() - add the counts of a CPU
 * @ch: its per-CPU buffer
 * @st: those members are added to that buffers know
 *
 * Context: Any.
 */
void gprof_percpu_buffer_add(const struct gprof_percpu_buffer *ch, struct gprof_stats *st)
{
	const struct gprof_buffer *b = &ch->buffer;
	u64 irq = local64_read(&b->irq), nmi = local64_read(&b->nmi);
	u64 produced = local64_read(&b->produced);
	int i;

	st->out_cpus++;
	st->out_produced += produced;
	for (i = 0; i < GPROF_LOST_NR; i++)
		st->out_lost[i] += local64_read(&b->lost[i]);
	st->out_overwritten += local64_read(&b->overwritten);
	st->out_nmi += nmi;
	st->out_irq += irq;
	/* While they are counted, one may be seen here and not as produced yet. */
	st->out_task += produced - min(produced, irq + nmi);
	st->out_throttled += local64_read(&b->throttled);
	st->out_maps_lost += local64_read(&b->maps_lost);
}

/**
 * gprof_percpu_buffers_add() - add the counts of all CPUs
 * @buffers: array
 * @st: as in gprof_percpu_buffer_add()
 *
 * Context: Any.
 */
void gprof_percpu_buffers_add(struct gprof_percpu_buffer **buffers, struct gprof_stats *st)
{
	int cpu;

	for_each_possible_cpu(cpu) {
		if (buffers[cpu])
			gprof_percpu_buffer_add(buffers[cpu], st);
	}
}
