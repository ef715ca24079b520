// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * flight_device.c: a device that keeps the last seconds of a trace.
 */
#include "flight_device.h"

#include <errno.h>
#include <glob.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/opts.h"
#include "device.h"
#include "loss.h"

#define WHAT		"the flight recorder"
#define DEFAULT_BYTES	(64ULL << 20)
#define RING_MIN	(32ULL << 10)
#define RING_MAX	(1ULL << 30)

/* sysconf() counts those that might be plugged in, too, for which the kernel has no rings. */
static size_t present_cpus(void)
{
	size_t nr;
	glob_t cpus;

	if (glob("/sys/devices/system/cpu/cpu[0-9]*", GLOB_NOSORT, NULL, &cpus))
		return 1;
	nr = cpus.gl_pathc;
	globfree(&cpus);
	return nr;
}

/* The largest that all CPUs can have one of; the kernel rounds up. */
static int ring_bytes(uint64_t max_bytes, uint64_t *bytes, struct gprof_error *e)
{
	size_t cpus = present_cpus();
	uint64_t each = max_bytes / cpus;
	uint64_t n = RING_MIN;

	if (each < RING_MIN)
		return gprof_error_set(e, EINVAL,
				       "%llu bytes are too few for the rings of %zu CPUs; at least "
				       "32 KiB each", (unsigned long long)max_bytes, cpus);
	while (n < RING_MAX && 2 * n <= each)
		n *= 2;
	*bytes = n;
	return 0;
}

static int open_with(struct gprof_flight_device *d, const struct gprof_trace_config *wanted,
		     uint64_t ring)
{
	d->cfg = *wanted;
	d->cfg.buffer_bytes = ring;
	return gprof_trace_device_open(&d->trace, &d->cfg, GPROF_SETUP_F_FLIGHT, &d->error);
}

static int open_largest(struct gprof_flight_device *d)
{
	const struct gprof_trace_config wanted = d->cfg;
	uint64_t max_bytes = d->opts.max_bytes, ring = 0;
	int err;

	if (wanted.buffer_bytes || wanted.generation)
		return gprof_error_set(&d->error, EINVAL,
				       "a flight recorder has a max_bytes in place of buffer_bytes, "
				       "and hands out no generations");
	err = ring_bytes(max_bytes ? max_bytes : DEFAULT_BYTES, &ring, &d->error);
	if (err)
		return err;
	err = open_with(d, &wanted, ring);
	/* Without a size it is the user's limit. */
	while (err == -ENOMEM && !max_bytes && ring > RING_MIN) {
		gprof_trace_device_close(&d->trace);
		ring /= 2;
		err = open_with(d, &wanted, ring);
	}
	/* The device does not keep it. */
	d->cfg.target.name = d->target_name;
	return err;
}

int gprof_flight_device_init(struct gprof_flight_device *d, const struct gprof_trace_config *cfg,
			     const struct gprof_flight_opts *opts)
{
	const size_t least = GPROF_SIZE_WITH(struct gprof_trace_config, ctx);
	const size_t least_opts = GPROF_SIZE_WITH(struct gprof_flight_opts, max_bytes);
	int err;

	d->trace.own = GPROF_OWN_FD_NONE;
	pthread_mutex_init(&d->lock, NULL);
	err = gprof_opts_copy_in(&d->cfg, sizeof(d->cfg), least, cfg, "gprof_trace_config",
				 &d->error);
	if (!err && opts)
		err = gprof_opts_copy_in(&d->opts, sizeof(d->opts), least_opts, opts,
					 "gprof_flight_opts", &d->error);
	if (!err && d->cfg.target.name) {
		d->target_name = strdup(d->cfg.target.name);
		if (!d->target_name)
			err = gprof_error_set(&d->error, ENOMEM, "no memory for a flight recorder");
	}
	if (!err)
		err = open_largest(d);
	if (err)
		gprof_error_publish(&d->error);
	return err;
}

void gprof_flight_device_free(struct gprof_flight_device *d)
{
	struct gprof_error ignored;

	if (d->running)
		gprof_device_stop(&d->trace.own, WHAT, &ignored);
	gprof_trace_device_close(&d->trace);
	pthread_mutex_destroy(&d->lock);
	free(d->target_name);
}

int gprof_flight_device_start(struct gprof_flight_device *d)
{
	uint64_t now = now_ns();
	int err;

	if (d->started_ns)
		return gprof_error_set(&d->error, EBUSY,
				       "the flight recorder was started before; make another");
	err = gprof_device_start(&d->trace.own, GPROF_KIND_TRACE, WHAT, &d->error);
	if (err)
		return err;
	d->started_ns = now;
	d->running = true;
	return 0;
}

int gprof_flight_device_stop(struct gprof_flight_device *d)
{
	if (!d->running)
		return gprof_error_set(&d->error, EINVAL, "the flight recorder is not started");
	d->running = false;
	return gprof_device_stop(&d->trace.own, WHAT, &d->error);
}

int gprof_flight_device_stats(struct gprof_flight_device *d, struct gprof_flight_stats *st)
{
	const size_t least = GPROF_SIZE_WITH(struct gprof_flight_stats, ring_bytes);
	struct gprof_flight_stats out;
	struct gprof_stats kernel;
	int err;

	pthread_mutex_lock(&d->lock);
	err = gprof_device_stats(&d->trace.own, &kernel, &d->error);
	if (!err) {
		uint64_t lost = gprof_device_lost(&kernel);

		out = (struct gprof_flight_stats){
			.produced = kernel.out_produced,
			.lost = lost,
			.overwritten = kernel.out_overwritten,
			.held = kernel.out_produced - lost - kernel.out_overwritten,
			.over_quota = kernel.out_lost[GPROF_LOST_QUOTA],
			.ring_bytes = d->trace.buffer.nr * d->trace.buffer.rings[0].size,
		};
		err = gprof_opts_copy_out(st, &out, sizeof(out), least, "gprof_flight_stats",
					  &d->error);
	}
	pthread_mutex_unlock(&d->lock);
	return err;
}

uint64_t gprof_flight_device_from(const struct gprof_flight_device *d, uint64_t until)
{
	uint64_t age = d->opts.min_age_ns, generation = d->cfg.generation_ns;

	if (!age || age > until || generation > until - age)
		return 0;
	return until - age - generation;
}

int gprof_flight_device_explain(struct gprof_flight_device *d, int err)
{
	struct gprof_error *e = &d->error;

	switch (-err) {
	case ENOMEM:
		return gprof_error_set(e, ENOMEM,
				       "no memory for a snapshot; it takes an eighth of the rings at least");
	case EAGAIN:
		return gprof_error_set(e, EAGAIN,
				       "events come faster than the rings can be copied; give the "
				       "flight recorder more memory");
	case EBADMSG:
		return gprof_error_set(e, EBADMSG,
				       "a buffer of the kernel holds a record that makes no sense");
	default:
		return gprof_error_set(e, -err, "the snapshot cannot be written (%s)",
				       gprof_strerror(-err));
	}
}
