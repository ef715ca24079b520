/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * device_writer.h: a writer for the records of a device.
 */
#ifndef GPROF_DEVICE_WRITER_H
#define GPROF_DEVICE_WRITER_H

#include "device/trace_device.h"
#include "trace/write/trace_write.h"

/**
 * gprof_trace_device_writer() - a writer for its records
 * @d: device
 * @cfg: as gprof_trace_device_open() left it
 * @fd: where to
 * @opts: its @generation, @trigger and @ctx are passed on
 *
 * Return: a writer, or NULL with errno and gprof_error().
 */
struct gprof_trace_writer *
gprof_trace_device_writer(const struct gprof_trace_device *d, const struct gprof_trace_config *cfg,
			  int fd, const struct gprof_trace_writer_opts *opts);

#endif /* GPROF_DEVICE_WRITER_H */
