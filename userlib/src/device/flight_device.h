/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * flight_device.h: a device that keeps the last seconds of a trace.
 */
#ifndef GPROF_FLIGHT_DEVICE_H
#define GPROF_FLIGHT_DEVICE_H

#include <gprof/flight.h>

#include "trace_device.h"

/**
 * gprof_flight_device_open() - set one up
 * @d: result for gprof_trace_device_close(), also after a failure
 * @cfg: as for gprof_trace_device_open(); its size of the rings is filled in
 * @opts: how much to keep
 * @e: sentence
 *
 * Return: 0 or -errno.
 */
int gprof_flight_device_open(struct gprof_trace_device *d, struct gprof_trace_config *cfg,
			     const struct gprof_flight_opts *opts, struct gprof_error *e);

/** gprof_flight_device_from() - generations of before are older than was asked for, at @until */
uint64_t gprof_flight_device_from(const struct gprof_trace_config *cfg,
				  const struct gprof_flight_opts *opts, uint64_t until);

/** gprof_flight_device_stats() - fill in all but @st->sz; 0 or -errno */
int gprof_flight_device_stats(const struct gprof_trace_device *d, struct gprof_flight_stats *st,
			      struct gprof_error *e);

/** gprof_flight_device_explain() - say why there is no snapshot; @err, which is -errno */
int gprof_flight_device_explain(int err, struct gprof_error *e);

#endif /* GPROF_FLIGHT_DEVICE_H */
