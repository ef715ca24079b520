// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * flight_device.c: a device that keeps the last seconds of a trace.
 */
#include "flight_device.h"

#include <errno.h>
#include <glob.h>

#include "device.h"

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

static int open_with(struct gprof_trace_device *d, struct gprof_trace_config *to,
		     const struct gprof_trace_config *cfg, uint64_t ring, struct gprof_error *e)
{
	*to = *cfg;
	to->buffer_bytes = ring;
	return gprof_trace_device_open(d, to, GPROF_SETUP_F_FLIGHT, e);
}

int gprof_flight_device_open(struct gprof_trace_device *d, struct gprof_trace_config *cfg,
			     const struct gprof_flight_opts *opts, struct gprof_error *e)
{
	const struct gprof_trace_config wanted = *cfg;
	uint64_t ring = 0;
	int err;

	if (cfg->buffer_bytes || cfg->generation)
		return gprof_error_set(e, EINVAL,
				       "a flight recorder has a max_bytes in place of buffer_bytes, "
				       "and hands out no generations");
	err = ring_bytes(opts->max_bytes ? opts->max_bytes : DEFAULT_BYTES, &ring, e);
	if (err)
		return err;
	err = open_with(d, cfg, &wanted, ring, e);
	/* Without a size it is the user's limit. */
	while (err == -ENOMEM && !opts->max_bytes && ring > RING_MIN) {
		gprof_trace_device_close(d);
		ring /= 2;
		err = open_with(d, cfg, &wanted, ring, e);
	}
	return err;
}

uint64_t gprof_flight_device_from(const struct gprof_trace_config *cfg,
				  const struct gprof_flight_opts *opts, uint64_t until)
{
	uint64_t age = opts->min_age_ns;

	if (!age || age > until || cfg->generation_ns > until - age)
		return 0;
	return until - age - cfg->generation_ns;
}

int gprof_flight_device_stats(const struct gprof_trace_device *d, struct gprof_flight_stats *st,
			      struct gprof_error *e)
{
	struct gprof_stats kernel;
	int err = gprof_device_stats(&d->own, &kernel, e);

	if (err)
		return err;
	st->produced = kernel.out_produced;
	st->lost = gprof_device_lost(&kernel);
	st->overwritten = kernel.out_overwritten;
	st->held = st->produced - st->lost - st->overwritten;
	st->over_quota = kernel.out_lost[GPROF_LOST_QUOTA];
	st->ring_bytes = d->buffer.nr * d->buffer.rings[0].size;
	return 0;
}

int gprof_flight_device_explain(int err, struct gprof_error *e)
{
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
