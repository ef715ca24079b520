/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * device.h: one open file of /dev/gprof, and sentences for its errors.
 */
#ifndef GPROF_DEVICE_H
#define GPROF_DEVICE_H

#include <linux/gprof.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/own_fd.h"

/**
 * gprof_device_open() - open /dev/gprof
 * @dev: result for gprof_own_fd_close()
 * @e: sentence
 *
 * A later call with it fails with -EBADF when the program has closed it meanwhile.
 *
 * Return: 0 or -errno.
 */
int gprof_device_open(struct gprof_own_fd *dev, struct gprof_error *e);

/** gprof_device_check() - is it still open? 0 or -EBADF, with a sentence about @what */
int gprof_device_check(const struct gprof_own_fd *dev, const char *what, struct gprof_error *e);

/** gprof_device_info() - GPROF_IOC_INFO; refuses another ABI version (-EPROTO) */
int gprof_device_info(const struct gprof_own_fd *dev, struct gprof_info *info,
		      struct gprof_error *e);

/**
 * gprof_device_setup() - GPROF_IOC_SETUP
 * @dev: device
 * @setup: argument; size is filled in
 * @what: name of the event, for the sentence
 * @e: sentence, made from errno and out_reason
 */
int gprof_device_setup(const struct gprof_own_fd *dev, struct gprof_setup *setup, const char *what,
		       struct gprof_error *e);

/**
 * gprof_device_table() - GPROF_IOC_UNWIND_TABLE_ADD
 * @dev: device, set up with GPROF_STACK_F_TABLES
 * @file: of the table; -1: the vDSO's
 * @table: table, or NULL: the one that the module has of that file
 * @size: bytes of it
 *
 * Return: 0 or -errno; -ENOENT with no @table: it has none.
 */
int gprof_device_table(const struct gprof_own_fd *dev, int file, const void *table, size_t size,
		       const struct gprof_python *python);

int gprof_device_start(const struct gprof_own_fd *dev, uint32_t kind, const char *what,
		       struct gprof_error *e);
int gprof_device_stop(const struct gprof_own_fd *dev, const char *what, struct gprof_error *e);

/** gprof_device_stats() - GPROF_IOC_STATS of all CPUs */
int gprof_device_stats(const struct gprof_own_fd *dev, struct gprof_stats *st,
		       struct gprof_error *e);

/**
 * gprof_device_explain() - make a sentence of the kernel's error
 * @err: positive errno
 * @reason: GPROF_REASON_*
 * @kind: GPROF_KIND_*: kinds need different features
 * @doing: the call
 * @what: name of the event
 * @e: sentence
 *
 * Return: -@err.
 */
int gprof_device_explain(int err, uint32_t reason, uint32_t kind, const char *doing,
			 const char *what, struct gprof_error *e);

#endif /* GPROF_DEVICE_H */
