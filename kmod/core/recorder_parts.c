// SPDX-License-Identifier: GPL-2.0-only
/*
 * recorder_parts: the parts of a recorder, in the order target, charge, tables, running tasks,
 * channels, live table, source, events, maps; and how they are taken apart again.
 *
 * Events and maps come last, as they may have a thread made for the user: a SETUP that is
 * refused costs the caller's time, and nobody else's.
 */
#include "recorder_parts.h"
#include "kind/source.h"
#include "recorder.h"
#include "ring/buffer_pages.h"
#include "ring/channels.h"
#include "ring/live.h"
#include "setup.h"
#include "target/running.h"
#include "unwind/tables.h"

#include <linux/cpumask.h>
#include <linux/err.h>
#include <linux/gprof.h>

static u64 bytes_of(u64 data_size, const struct gprof_source *source,
		    const struct gprof_request *req, bool parallelism)
{
	u64 bytes = gprof_events_bytes() + (source->bytes ? source->bytes(req) : 0) +
		    (source->slots ? gprof_live_bytes(source->slots(req)) : 0);

	if (parallelism)
		bytes += gprof_running_bytes(req->target);
	if (!data_size)
		return bytes;
	return bytes + gprof_channel_bytes(data_size) * num_present_cpus() + gprof_maps_bytes();
}

static int join_tables(struct gprof_recorder *r, const struct gprof_setup *setup)
{
	struct gprof_tables *tables;

	if (!(setup->stack & GPROF_STACK_F_TABLES))
		return 0;
	tables = gprof_tables_get(r->target.privileged);
	if (IS_ERR(tables))
		return PTR_ERR(tables);
	r->tables = tables;
	return 0;
}

static int count_running(struct gprof_recorder *r, const struct gprof_setup *setup)
{
	if (!(setup->flags & GPROF_SETUP_F_PARALLELISM))
		return 0;
	r->sampler.running = gprof_running_new(&r->target);
	return r->sampler.running ? 0 : -ENOMEM;
}

static void count_no_more(struct gprof_recorder *r)
{
	gprof_running_free(r->sampler.running);
	r->sampler.running = NULL;
}

static void leave_tables(struct gprof_recorder *r)
{
	if (r->tables)
		gprof_tables_put(r->tables);
	r->tables = NULL;
}

/**
 * gprof_recorder_build() - make the parts of a recorder
 * @r: recorder that was not set up, under its lock
 * @setup: the request; @setup->out_reason is set on error
 * @source: source of @setup->kind
 * @params: its parameters
 * @cpus: bitmap of nr_cpu_ids bits
 * @made: gets the channels, for the caller to publish when all else is
 *
 * Context: Task.
 * Return: 0 or a negative errno; nothing is left of it then.
 */
int gprof_recorder_build(struct gprof_recorder *r, struct gprof_setup *setup,
			 const struct gprof_source *source, const void *params,
			 const unsigned long *cpus, struct gprof_channel ***made)
{
	struct gprof_sampler *s = &r->sampler;
	u64 data_size = source->no_buffer ? 0 : gprof_setup_data_size(setup);
	struct gprof_channel **channels;
	struct gprof_request req = {
		.params = params,
		.target = &r->target,
		.sampler = s,
		.charge = &r->charge,
		.events = &r->events,
		.stack = setup->stack,
		.kernel_frames = setup->stack & GPROF_STACK_F_KERNEL,
	};
	bool parallelism;
	int err;

	err = gprof_target_init(&r->target, setup, cpus, &setup->out_reason);
	if (err)
		return err;
	r->target.events = &r->events;

	setup->out_reason = GPROF_REASON_MEMLOCK;
	parallelism = setup->flags & GPROF_SETUP_F_PARALLELISM;
	err = gprof_charge(&r->charge, bytes_of(data_size, source, &req, parallelism),
			   r->target.privileged);
	if (err)
		goto err_target;
	err = join_tables(r, setup);
	if (err)
		goto err_charge;

	setup->out_reason = GPROF_REASON_NONE;
	err = count_running(r, setup);
	if (err)
		goto err_tables;
	err = -ENOMEM;
	channels = gprof_channels_new(data_size, &r->events);
	if (!channels)
		goto err_running;
	if (source->slots) {
		err = -ENOMEM;
		req.live = gprof_live_new(source->slots(&req));
		if (!req.live)
			goto err_channels;
	}
	err = source->setup(&req, &r->source_state);
	if (err) {
		setup->out_reason = req.reason;
		goto err_live;
	}
	err = gprof_events_init(&r->events, r->target.privileged);
	if (err)
		goto err_source;
	err = data_size ? gprof_maps_init(&s->maps, channels, s->pid_ns, r->target.owner,
					  r->target.privileged, r->tables, &r->charge) : 0;
	if (err)
		goto err_events;

	gprof_channels_init(channels, setup, req.weight);
	s->options.flags = setup->stack;
	s->options.max_frames = setup->max_frames ?: GPROF_MAX_FRAMES;
	s->options.kernel = req.kernel || req.kernel_frames;
	s->options.tables = r->tables ? r->tables->id : 0;
	r->source = source;
	r->live = req.live;
	r->data_size = data_size;
	r->flight = setup->flags & GPROF_SETUP_F_FLIGHT;
	*made = channels;
	return 0;

err_events:
	gprof_events_destroy(&r->events);
err_source:
	source->destroy(r->source_state);
err_live:
	gprof_live_free(req.live);
err_channels:
	gprof_channels_free(channels);
err_running:
	count_no_more(r);
err_tables:
	leave_tables(r);
err_charge:
	gprof_uncharge(&r->charge);
err_target:
	gprof_target_destroy(&r->target);
	return err;
}

/**
 * gprof_recorder_take_apart() - free the parts that gprof_recorder_build() made
 * @r: recorder that was set up, is stopped, and that nobody else can reach any more
 *
 * Context: Task, without mmap_lock.
 */
void gprof_recorder_take_apart(struct gprof_recorder *r)
{
	r->source->destroy(r->source_state);
	gprof_live_free(r->live);
	gprof_maps_destroy(&r->sampler.maps);
	gprof_channels_free(r->sampler.channels);
	gprof_events_destroy(&r->events);
	count_no_more(r);
	leave_tables(r);
	gprof_uncharge(&r->charge);
	gprof_target_destroy(&r->target);
}
