// SPDX-License-Identifier: GPL-2.0-only
/*
 * channels: the channels of one recorder, one for each CPU that is present.
 */
#include "channels.h"
#include "buffer_pages.h"
#include "channel.h"

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
 * gprof_channels_new() - allocate the channels of a recorder
 * @data_size: bytes of data of each; 0: there are none
 * @events: where losses are told, and that there is something to read; outlives them
 *
 * Context: Task; ends early when the task is killed.
 * Return: array, to be freed by gprof_channels_free(), or NULL.
 */
struct gprof_channel **gprof_channels_new(u64 data_size, struct gprof_event_queue *events)
{
	struct gprof_channel **channels;
	int cpu;

	channels = kcalloc(nr_cpu_ids, sizeof(*channels), GFP_KERNEL_ACCOUNT);
	if (!channels || !data_size)
		return channels;
	for_each_present_cpu(cpu) {
		channels[cpu] = gprof_channel_new(cpu, data_size);
		if (!channels[cpu] || fatal_signal_pending(current)) {
			gprof_channels_free(channels);
			return NULL;
		}
		channels[cpu]->buffer.events = events;
	}
	return channels;
}

/**
 * gprof_channels_free() - free them
 * @channels: array that nobody writes to, or NULL
 *
 * Context: Task.
 */
void gprof_channels_free(struct gprof_channel **channels)
{
	int cpu;

	if (!channels)
		return;
	for_each_possible_cpu(cpu)
		gprof_channel_free(channels[cpu]);
	kfree(channels);
}

/**
 * gprof_channels_init() - how they are written to
 * @channels: array that nobody uses yet
 * @setup: checked by gprof_setup_check()
 * @weight: of each sample, 0: they say it
 *
 * Context: Task.
 */
void gprof_channels_init(struct gprof_channel **channels, const struct gprof_setup *setup,
			 u64 weight)
{
	int cpu;

	for_each_possible_cpu(cpu) {
		struct gprof_buffer *b;

		if (!channels[cpu])
			continue;
		b = &channels[cpu]->buffer;
		b->flight = setup->flags & GPROF_SETUP_F_FLIGHT;
		b->wakes = !b->flight || setup->flags & GPROF_SETUP_F_WAKE;
		b->generation_ns = setup->generation_ns ?: GENERATION_DEFAULT;
		b->weight = weight;
		gprof_buffer_init(b);
		b->head->kind = setup->kind;
	}
}

/**
 * gprof_channels_name() - say in each ring whose it is; in a core dump nobody else does
 * @channels: array
 * @id: the recorder's
 *
 * Context: Task.
 */
void gprof_channels_name(struct gprof_channel **channels, u64 id)
{
	int cpu;

	for_each_possible_cpu(cpu) {
		if (channels[cpu])
			channels[cpu]->buffer.head->recorder = id;
	}
}

/**
 * gprof_channels_begin() - begin a recording with a generation of its own
 * @channels: array
 *
 * A reader has forgotten the entries of an earlier run. Nobody writes yet, and starting the
 * source orders this before all producers.
 *
 * Context: Task.
 */
void gprof_channels_begin(struct gprof_channel **channels)
{
	int cpu;

	for_each_possible_cpu(cpu) {
		if (channels[cpu]) {
			gprof_buffer_open(&channels[cpu]->buffer);
			channels[cpu]->buffer.generation_end = 0;
			channels[cpu]->buffer.quick_end = 0;
		}
	}
}

static void close_here(void *buffer)
{
	gprof_buffer_close(buffer);
}

/**
 * gprof_channels_close() - nothing is written any more when this returns
 * @channels: array
 *
 * Where the end of a source cannot be waited for. An interrupt closes each ring, which
 * a task of real time cannot put off; then the producers that it has interrupted go on.
 *
 * Context: Task.
 */
void gprof_channels_close(struct gprof_channel **channels)
{
	u64 end;
	int cpu;

	for_each_possible_cpu(cpu) {
		struct gprof_buffer *b;

		if (!channels[cpu])
			continue;
		b = &channels[cpu]->buffer;
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
 * gprof_channels_readable() - is one of the buffers at least half full?
 * @channels: array
 *
 * Context: Any.
 */
bool gprof_channels_readable(struct gprof_channel **channels)
{
	int cpu;

	for_each_possible_cpu(cpu) {
		if (channels[cpu] && gprof_buffer_readable(&channels[cpu]->buffer))
			return true;
	}
	return false;
}

/**
 * gprof_channel_add() - add the counts of a CPU
 * @ch: its channel
 * @st: those members are added to that buffers know
 *
 * Context: Any.
 */
void gprof_channel_add(const struct gprof_channel *ch, struct gprof_stats *st)
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
 * gprof_channels_add() - add the counts of all CPUs
 * @channels: array
 * @st: as in gprof_channel_add()
 *
 * Context: Any.
 */
void gprof_channels_add(struct gprof_channel **channels, struct gprof_stats *st)
{
	int cpu;

	for_each_possible_cpu(cpu) {
		if (channels[cpu])
			gprof_channel_add(channels[cpu], st);
	}
}
