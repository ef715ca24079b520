// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * trace_device.c: the kernel's half of a trace.
 */
#include "trace_device.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "device.h"
#include "target.h"

#define WHAT	"the trace"
#define NS	1000000000ULL
/* Shorter ones would be mostly statuses. */
#define GENERATION_MIN	10000000ULL

static int set_up(struct gprof_trace_device *d, const struct gprof_trace_config *cfg,
		  const struct gprof_kernel_target *kernel_target, uint32_t flags,
		  struct gprof_error *e)
{
	struct gprof_setup s = {
		.flags = flags,
		.kind = GPROF_KIND_TRACE,
		.target = kernel_target->target,
		.id = kernel_target->id,
		.cpus = (uintptr_t)kernel_target->cpus,
		.params = (uintptr_t)&d->setup.params,
		.cpus_size = (uint32_t)kernel_target->cpus_size,
		.buffer_size = cfg->buffer_bytes,
	};
	struct gprof_info info;
	int err;

	err = gprof_device_open(&d->own, e);
	if (err)
		return err;
	err = gprof_device_info(&d->own, &info, e);
	if (!err)
		err = gprof_trace_setup_init(&d->setup, cfg, info.out_features, e);
	s.stack = d->setup.stack;
	d->tables = !err && s.stack & GPROF_STACK_F_USER && info.out_features & GPROF_FEAT_TABLES;
	s.stack |= d->tables ? GPROF_STACK_F_TABLES : 0;
	if (!err)
		err = gprof_device_setup(&d->own, &s, WHAT, e);
	if (err == -ENOMEM && d->tables) {
		/* A user's allowance may be for the rings alone. */
		d->tables = false;
		s.stack = d->setup.stack;
		err = gprof_device_setup(&d->own, &s, WHAT, e);
	}
	if (!err)
		err = gprof_buffer_map(&d->buffer, d->own.fd, &s, e);
	/* The event's name is the caller's. */
	if (!err && cfg->samples)
		snprintf(d->sample_type, sizeof(d->sample_type), "%s", d->setup.source.type);
	return err;
}

int gprof_trace_device_open(struct gprof_trace_device *d, struct gprof_trace_config *cfg,
			    uint32_t flags, struct gprof_error *e)
{
	struct gprof_kernel_target kernel_target = { .cgroup = -1 };
	int err;

	memset(d, 0, sizeof(*d));
	d->own = GPROF_OWN_FD_NONE;
	if (!cfg->generation_ns)
		cfg->generation_ns = NS;
	if (cfg->generation_ns < GENERATION_MIN)
		return gprof_error_set(e, EINVAL,
				       "a generation of %llu ns is too short; at least 10 ms",
				       (unsigned long long)cfg->generation_ns);
	err = gprof_kernel_target_init(&kernel_target, &cfg->target, e);
	if (!err)
		err = set_up(d, cfg, &kernel_target, flags, e);
	gprof_kernel_target_free(&kernel_target);
	cfg->target.name = NULL;
	cfg->samples = NULL;
	return err;
}

void gprof_trace_device_close(struct gprof_trace_device *d)
{
	gprof_buffer_unmap(&d->buffer);
	gprof_own_fd_close(&d->own);
}
