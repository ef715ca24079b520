/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * flight_device.h: a device that keeps the last seconds of a trace.
 */
#ifndef GPROF_FLIGHT_DEVICE_H
#define GPROF_FLIGHT_DEVICE_H

#include <gprof/flight.h>
#include <pthread.h>

#include "trace_device.h"

/**
 * struct gprof_flight_device - the device of a flight recorder
 * @trace: it
 * @cfg: the caller's configuration, with a name of the target of its own
 * @opts: likewise
 * @target_name: that
 * @started_ns: when it was; 0: never
 * @running: between start and stop
 * @lock: the user's, of the members below and of @started_ns and @running
 * @error: last failure
 */
struct gprof_flight_device {
	struct gprof_trace_device trace;
	struct gprof_trace_config cfg;
	struct gprof_flight_opts opts;
	char *target_name;
	uint64_t started_ns;
	bool running;
	pthread_mutex_t lock;
	struct gprof_error error;
};

/**
 * gprof_flight_device_init() - set one up
 * @d: zeroes; result for gprof_flight_device_free(), also after a failure
 * @cfg: the caller's, which may be of an older program
 * @opts: how much to keep, likewise, or NULL
 *
 * Return: 0 or -errno, with a sentence that gprof_error() returns.
 */
int gprof_flight_device_init(struct gprof_flight_device *d, const struct gprof_trace_config *cfg,
			     const struct gprof_flight_opts *opts);
void gprof_flight_device_free(struct gprof_flight_device *d);

/* Under the lock; 0 or -errno with a sentence. */
int gprof_flight_device_start(struct gprof_flight_device *d);
int gprof_flight_device_stop(struct gprof_flight_device *d);

/** gprof_flight_device_stats() - what gprof_flight_stats() is to answer; takes the lock */
int gprof_flight_device_stats(struct gprof_flight_device *d, struct gprof_flight_stats *st);

/** gprof_flight_device_from() - generations of before are older than was asked for, at @until */
uint64_t gprof_flight_device_from(const struct gprof_flight_device *d, uint64_t until);

/** gprof_flight_device_explain() - say why there is no snapshot; @err, which is -errno */
int gprof_flight_device_explain(struct gprof_flight_device *d, int err);

#endif /* GPROF_FLIGHT_DEVICE_H */
