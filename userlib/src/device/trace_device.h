/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * trace_device.h: the kernel's half of a trace: the device that is set up for it, and its rings.
 */
#ifndef GPROF_TRACE_DEVICE_H
#define GPROF_TRACE_DEVICE_H

#include <gprof/trace_record.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/own_fd.h"
#include "buffer.h"
#include "trace_setup.h"

#define GPROF_TRACE_TYPE_TEXT	64

/**
 * struct gprof_trace_device - a device that records a trace
 * @own: it, or none
 * @buffer: its rings
 * @setup: the kernel's parameters
 * @tables: it takes unwind tables
 * @sample_type: type of CPU samples
 */
struct gprof_trace_device {
	struct gprof_own_fd own;
	struct gprof_buffer buffer;
	struct gprof_trace_setup setup;
	bool tables;
	char sample_type[GPROF_TRACE_TYPE_TEXT];
};

/**
 * gprof_trace_device_open() - set a device up
 * @d: result for gprof_trace_device_close(), also after a failure
 * @cfg: configuration; its default for the length of a generation is filled in, and borrowed
 *	pointers are NULL afterwards
 * @flags: GPROF_SETUP_F_*
 * @e: sentence
 *
 * Return: 0 or -errno.
 */
int gprof_trace_device_open(struct gprof_trace_device *d, struct gprof_trace_config *cfg,
			    uint32_t flags, struct gprof_error *e);
void gprof_trace_device_close(struct gprof_trace_device *d);

#endif /* GPROF_TRACE_DEVICE_H */
