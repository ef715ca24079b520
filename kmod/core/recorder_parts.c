// SPDX-License-Identifier: GPL-2.0-only
/*
 * recorder_parts: the parts of a recorder, in the order target, charge, tables, running tasks,
 * per-CPU buffers, object table, source, events, maps; and how they are taken apart again.
 *
 * Events and maps come last, as they may have a thread made for the user: a SETUP that is
 * refused costs the caller's time, and nobody else's.
 */
#include "recorder_parts.h"
#include "kind/source.h"
#include "recorder_state.h"
#include "ring/buffer_pages.h"
#include "ring/percpu_buffers.h"
#include "ring/object_table.h"
#include "setup.h"
#include "target/oncpu.h"
#include "unwind/table_set.h"

#include <linux/cpumask.h>
#include <linux/err.h>
#include <linux/gprof.h>

static u64 bytes_of(u64 data_size, const struct gprof_source_ops *source,
		    const struct gprof_request *req, bool parallelism)
{
	u64 bytes = gprof_events_bytes() + (source->bytes ? source->bytes(req) : 0) +
		    (source->slots ? gprof_object_table_bytes(source->slots(req)) : 0);

	if (parallelism)
		bytes += gprof_oncpu_bytes(req->target);
	if (!data_size)
		return bytes;
	return bytes + gprof_percpu_buffer_bytes(data_size) * num_present_cpus() +
	       gprof_maps_bytes();
}

/* Where the size is ours to choose, one that the limit has room for. */
static int charge(struct gprof_recorder *r, const struct gprof_setup *setup,
		  const struct gprof_source_ops *source, const struct gprof_request *req,
		  u64 *data_size)
{
	bool parallelism = setup->flags & GPROF_SETUP_F_PARALLELISM;
	int err;

	*data_size = gprof_setup_data_size(setup, source, req);
	for (;;) {
		err = gprof_charge(&r->charge, bytes_of(*data_size, source, req, parallelism),
				   r->target.privileged);
		if (!err || setup->buffer_size || *data_size <= GPROF_BUFFER_DEFAULT)
			return err;
		*data_size >>= 1;
	}
}

static int get_table_set(struct gprof_recorder *r, const struct gprof_setup *setup)
{
	struct gprof_table_set *table_set;

	if (!(setup->stack & GPROF_STACK_F_TABLES))
		return 0;
	table_set = gprof_table_set_get(r->target.privileged);
	if (IS_ERR(table_set))
		return PTR_ERR(table_set);
	r->table_set = table_set;
	return 0;
}

static int make_oncpu(struct gprof_recorder *r, const struct gprof_setup *setup)
{
	if (!(setup->flags & GPROF_SETUP_F_PARALLELISM))
		return 0;
	r->sampler.oncpu = gprof_oncpu_new(&r->target);
	return r->sampler.oncpu ? 0 : -ENOMEM;
}

static void count_no_more(struct gprof_recorder *r)
{
	gprof_oncpu_free(r->sampler.oncpu);
	r->sampler.oncpu = NULL;
}

static void put_table_set(struct gprof_recorder *r)
{
	if (r->table_set)
		gprof_table_set_put(r->table_set);
	r->table_set = NULL;
}

/**
 * gprof_recorder_build() - make the parts of a recorder
 * @r: recorder that was not set up, under its lock
 * @setup: the request; @setup->out_reason is set on error
 * @source: source of @setup->kind
 * @params: its parameters
 * @cpus: bitmap of nr_cpu_ids bits
 * @made: gets the per-CPU buffers, for the caller to publish when all else is
 *
 * Context: Task.
 * Return: 0 or a negative errno; nothing is left of it then.
 */
int gprof_recorder_build(struct gprof_recorder *r, struct gprof_setup *setup,
			 const struct gprof_source_ops *source, const void *params,
			 const unsigned long *cpus, struct gprof_percpu_buffer ***made)
{
	struct gprof_sampler *s = &r->sampler;
	struct gprof_percpu_buffer **buffers;
	struct gprof_request req = {
		.params = params,
		.target = &r->target,
		.sampler = s,
		.charge = &r->charge,
		.events = &r->events,
		.stack = setup->stack,
		.kernel_frames = setup->stack & GPROF_STACK_F_KERNEL,
	};
	u64 data_size;
	int err;

	err = gprof_target_init(&r->target, setup, cpus, &setup->out_reason);
	if (err)
		return err;
	r->target.events = &r->events;

	setup->out_reason = GPROF_REASON_MEMLOCK;
	err = charge(r, setup, source, &req, &data_size);
	if (err)
		goto err_target;
	err = get_table_set(r, setup);
	if (err)
		goto err_charge;

	setup->out_reason = GPROF_REASON_NONE;
	err = make_oncpu(r, setup);
	if (err)
		goto err_table_set;
	err = -ENOMEM;
	buffers = gprof_percpu_buffers_new(data_size, &r->events);
	if (!buffers)
		goto err_oncpu;
	if (source->slots) {
		err = -ENOMEM;
		req.objects = gprof_object_table_new(source->slots(&req));
		if (!req.objects)
			goto err_buffers;
	}
	err = source->setup(&req, &r->source_state);
	if (err) {
		setup->out_reason = req.reason;
		goto err_objects;
	}
	err = gprof_events_init(&r->events, r->target.privileged);
	if (err)
		goto err_source;
	err = data_size ? gprof_maps_init(&s->maps, buffers, s->pid_ns, r->target.owner,
					  r->target.privileged, r->table_set, &r->charge) :
			  0;
	if (err)
		goto err_events;

	gprof_percpu_buffers_init(buffers, setup, req.weight);
	s->options.flags = setup->stack;
	s->options.max_frames = setup->max_frames ?: GPROF_MAX_FRAMES;
	s->options.kernel = req.kernel || req.kernel_frames;
	s->options.table_set = r->table_set ? r->table_set->id : 0;
	r->source = source;
	r->objects = req.objects;
	r->data_size = data_size;
	r->flight = setup->flags & GPROF_SETUP_F_FLIGHT;
	*made = buffers;
	return 0;

err_events:
	gprof_events_destroy(&r->events);
err_source:
	source->destroy(r->source_state);
err_objects:
	gprof_object_table_free(req.objects);
err_buffers:
	gprof_percpu_buffers_free(buffers);
err_oncpu:
	count_no_more(r);
err_table_set:
	put_table_set(r);
err_charge:
	gprof_uncharge(&r->charge);
err_target:
	gprof_target_destroy(&r->target);
	return err;
}

/**
 * gprof_recorder_tear_down() - free the parts that gprof_recorder_build() made
 * @r: recorder that was set up, is stopped, and that nobody else can reach any more
 *
 * Context: Task, without mmap_lock.
 */
void gprof_recorder_tear_down(struct gprof_recorder *r)
{
	r->source->destroy(r->source_state);
	gprof_object_table_free(r->objects);
	gprof_maps_destroy(&r->sampler.maps);
	gprof_percpu_buffers_free(r->sampler.buffers);
	gprof_events_destroy(&r->events);
	count_no_more(r);
	put_table_set(r);
	gprof_uncharge(&r->charge);
	gprof_target_destroy(&r->target);
}
