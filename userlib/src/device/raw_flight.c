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
#include "flight_device.h"
#include "raw_file.h"

#define WHAT	"the flight recorder"

/**
 * struct gprof_raw_flight - a flight recorder
 * @dev: device
 * @cfg: the caller's configuration
 * @opts: likewise
 * @started_ns: when it was; 0: never
 * @running: between start and stop
 * @lock: of the members below and of @running
 * @error: last failure
 */
struct gprof_raw_flight {
	struct gprof_trace_device dev;
	struct gprof_trace_config cfg;
	struct gprof_flight_opts opts;
	uint64_t started_ns;
	bool running;
	pthread_mutex_t lock;
	struct gprof_error error;
};

struct gprof_raw_flight *gprof_raw_flight_new(const struct gprof_trace_config *cfg,
					      const struct gprof_flight_opts *opts)
{
	const size_t least = GPROF_SIZE_WITH(struct gprof_trace_config, ctx);
	const size_t least_opts = GPROF_SIZE_WITH(struct gprof_flight_opts, max_bytes);
	struct gprof_raw_flight *f = calloc(1, sizeof(*f));
	int err;

	if (!f) {
		gprof_error_set(NULL, ENOMEM, "no memory for a flight recorder");
		return NULL;
	}
	f->dev.own = GPROF_OWN_FD_NONE;
	pthread_mutex_init(&f->lock, NULL);
	err = gprof_opts_copy_in(&f->cfg, sizeof(f->cfg), least, cfg, "gprof_trace_config",
				 &f->error);
	if (!err && opts)
		err = gprof_opts_copy_in(&f->opts, sizeof(f->opts), least_opts, opts,
					 "gprof_flight_opts", &f->error);
	if (!err && f->cfg.version)
		err = gprof_error_set(&f->error, EINVAL, "a raw snapshot has no version of Go's; "
				      "the trace that is made of it has one");
	if (!err)
		err = gprof_flight_device_open(&f->dev, &f->cfg, &f->opts, &f->error);
	if (!err)
		return f;
	gprof_error_publish(&f->error);
	gprof_raw_flight_free(f);
	errno = -err;
	return NULL;
}

int gprof_raw_flight_start(struct gprof_raw_flight *f)
{
	int err;

	pthread_mutex_lock(&f->lock);
	if (f->started_ns) {
		err = gprof_error_set(&f->error, EBUSY,
				      "the flight recorder was started before; make another");
	} else {
		uint64_t now = now_ns();

		err = gprof_device_start(&f->dev.own, GPROF_KIND_TRACE, WHAT, &f->error);
		f->started_ns = err ? 0 : now;
		f->running = !err;
	}
	pthread_mutex_unlock(&f->lock);
	return err;
}

int gprof_raw_flight_stop(struct gprof_raw_flight *f)
{
	int err;

	pthread_mutex_lock(&f->lock);
	if (f->running)
		err = gprof_device_stop(&f->dev.own, WHAT, &f->error);
	else
		err = gprof_error_set(&f->error, EINVAL, "the flight recorder is not started");
	f->running = false;
	pthread_mutex_unlock(&f->lock);
	return err;
}

static int write_to(void *fd, const void *data, size_t len)
{
	return gprof_fd_write(*(const int *)fd, data, len);
}

static int write_out(struct gprof_raw_flight *f, struct gprof_raw_output *o, uint64_t now)
{
	const struct gprof_trace_config *cfg = &f->cfg;
	struct gprof_raw_head head = {
		.started_ns = f->started_ns,
		.from_ns = gprof_flight_device_from(cfg, &f->opts, now),
		.until_ns = now,
		.generation_ns = cfg->generation_ns,
		.min_duration_ns = cfg->min_duration_ns,
		.groups = cfg->groups,
		.stacks = cfg->stacks,
		.flags = (cfg->kernel_frames ? GPROF_RAW_F_KERNEL_FRAMES : 0) |
			 (f->running ? 0 : GPROF_RAW_F_STOPPED),
		.sample_period = f->dev.setup.source.params.period,
	};
	struct gprof_flight_stats st;
	int err;

	snprintf(head.sample_type, sizeof(head.sample_type), "%s", f->dev.sample_type);
	if (f->dev.setup.source.unit)
		snprintf(head.sample_unit, sizeof(head.sample_unit), "%s",
			 f->dev.setup.source.unit);
	err = gprof_raw_file_write(o, &f->dev.buffer, &head);
	if (!err) {
		struct gprof_raw_end end;

		err = gprof_flight_device_stats(&f->dev, &st, &f->error);
		if (err)
			return err;
		end = (struct gprof_raw_end){ st.produced, st.lost, st.overwritten };
		err = gprof_raw_file_end(o, &end);
	}
	return err ? gprof_flight_device_explain(err, &f->error) : 0;
}

int gprof_raw_flight_snapshot(struct gprof_raw_flight *f, int fd,
			      struct gprof_raw_snapshot *snapshot)
{
	const size_t least = GPROF_SIZE_WITH(struct gprof_raw_snapshot, gaps);
	struct gprof_raw_output o = { .write = write_to, .ctx = &fd };
	struct gprof_raw_snapshot out = { 0 };
	int err;

	pthread_mutex_lock(&f->lock);
	out.until_ns = now_ns();
	if (f->started_ns)
		err = write_out(f, &o, out.until_ns);
	else
		err = gprof_error_set(&f->error, EINVAL, "the flight recorder was never started");
	out.bytes = o.bytes;
	out.gaps = o.gaps;
	if (!err && snapshot)
		err = gprof_opts_copy_out(snapshot, &out, sizeof(out), least, "gprof_raw_snapshot",
					  &f->error);
	pthread_mutex_unlock(&f->lock);
	return err;
}

int gprof_raw_flight_stats(struct gprof_raw_flight *f, struct gprof_flight_stats *st)
{
	const size_t least = GPROF_SIZE_WITH(struct gprof_flight_stats, ring_bytes);
	struct gprof_flight_stats out = { 0 };
	int err;

	pthread_mutex_lock(&f->lock);
	err = gprof_flight_device_stats(&f->dev, &out, &f->error);
	if (!err)
		err = gprof_opts_copy_out(st, &out, sizeof(out), least, "gprof_flight_stats",
					  &f->error);
	pthread_mutex_unlock(&f->lock);
	return err;
}

void gprof_raw_flight_free(struct gprof_raw_flight *f)
{
	struct gprof_error ignored;

	if (!f)
		return;
	if (f->running)
		gprof_device_stop(&f->dev.own, WHAT, &ignored);
	gprof_trace_device_close(&f->dev);
	pthread_mutex_destroy(&f->lock);
	free(f);
}
