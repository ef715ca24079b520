// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * raw_flight.c: the last seconds of a trace, as the kernel has them.
 */
#include <gprof/raw_flight.h>

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/fd_write.h"
#include "base/opts.h"
#include "device.h"
#include "loss.h"
#include "flight_device.h"
#include "raw_file.h"

/* Nothing but its device: the records are for gprofctl. */
struct gprof_raw_flight {
	struct gprof_flight_device device;
};

struct gprof_raw_flight *gprof_raw_flight_new(const struct gprof_trace_config *cfg,
					      const struct gprof_flight_opts *opts)
{
	struct gprof_raw_flight *f = calloc(1, sizeof(*f));
	int err;

	if (!f) {
		gprof_error_set(NULL, ENOMEM, "no memory for a flight recorder");
		return NULL;
	}
	err = gprof_flight_device_init(&f->device, cfg, opts);
	if (!err && f->device.cfg.version)
		err = gprof_error_set(NULL, EINVAL, "a raw snapshot has no version of Go's; the "
				      "trace that is made of it has one");
	if (!err)
		return f;
	gprof_raw_flight_free(f);
	errno = -err;
	return NULL;
}

int gprof_raw_flight_start(struct gprof_raw_flight *f)
{
	int err;

	pthread_mutex_lock(&f->device.lock);
	err = gprof_flight_device_start(&f->device);
	pthread_mutex_unlock(&f->device.lock);
	return err;
}

int gprof_raw_flight_stop(struct gprof_raw_flight *f)
{
	int err;

	pthread_mutex_lock(&f->device.lock);
	err = gprof_flight_device_stop(&f->device);
	pthread_mutex_unlock(&f->device.lock);
	return err;
}

static int write_to(void *fd, const void *data, size_t len)
{
	return gprof_fd_write(*(const int *)fd, data, len);
}

static int write_out(struct gprof_flight_device *d, struct gprof_raw_output *o, uint64_t now)
{
	const struct gprof_trace_config *cfg = &d->cfg;
	const struct gprof_trace_setup *setup = &d->trace.setup;
	struct gprof_raw_head head = {
		.started_ns = d->started_ns,
		.from_ns = gprof_flight_device_from(d, now),
		.until_ns = now,
		.generation_ns = cfg->generation_ns,
		.min_duration_ns = cfg->min_duration_ns,
		.groups = cfg->groups,
		.stacks = cfg->stacks,
		.flags = (cfg->kernel_frames ? GPROF_RAW_F_KERNEL_FRAMES : 0) |
			 (d->running ? 0 : GPROF_RAW_F_STOPPED) |
			 (cfg->target.type == GPROF_CPUS ? GPROF_RAW_F_CPUS_ONLY : 0) |
			 (cfg->target.type == GPROF_SYSTEM ? GPROF_RAW_F_WHOLE_HOST : 0),
		.sample_period = setup->source.params.period,
	};
	int err;

	snprintf(head.sample_type, sizeof(head.sample_type), "%s", d->trace.sample_type);
	if (setup->source.unit)
		snprintf(head.sample_unit, sizeof(head.sample_unit), "%s", setup->source.unit);
	err = gprof_raw_file_write(o, &d->trace.buffer, &head);
	if (!err) {
		struct gprof_raw_end end;
		struct gprof_stats kernel;

		err = gprof_device_stats(&d->trace.own, &kernel, &d->error);
		if (err)
			return err;
		end = (struct gprof_raw_end){ kernel.out_produced, gprof_device_lost(&kernel),
					      kernel.out_overwritten };
		err = gprof_raw_file_end(o, &end);
	}
	return err ? gprof_flight_device_explain(d, err) : 0;
}

int gprof_raw_flight_snapshot(struct gprof_raw_flight *f, int fd,
			      struct gprof_raw_snapshot *snapshot)
{
	const size_t least = GPROF_SIZE_WITH(struct gprof_raw_snapshot, gaps);
	struct gprof_raw_output o = { .write = write_to, .ctx = &fd };
	struct gprof_raw_snapshot out = { 0 };
	struct gprof_flight_device *d = &f->device;
	int err;

	pthread_mutex_lock(&d->lock);
	out.until_ns = now_ns();
	if (d->started_ns)
		err = write_out(d, &o, out.until_ns);
	else
		err = gprof_error_set(&d->error, EINVAL, "the flight recorder was never started");
	out.bytes = o.bytes;
	out.gaps = o.gaps;
	if (!err && snapshot)
		err = gprof_opts_copy_out(snapshot, &out, sizeof(out), least, "gprof_raw_snapshot",
					  &d->error);
	pthread_mutex_unlock(&d->lock);
	return err;
}

int gprof_raw_flight_stats(struct gprof_raw_flight *f, struct gprof_flight_stats *st)
{
	return gprof_flight_device_stats(&f->device, st);
}

void gprof_raw_flight_free(struct gprof_raw_flight *f)
{
	if (!f)
		return;
	gprof_flight_device_free(&f->device);
	free(f);
}
