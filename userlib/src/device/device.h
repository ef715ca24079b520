/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * device.h: one open file of /dev/gprof, and what its errors mean.
 */
#ifndef GPROF_DEVICE_H
#define GPROF_DEVICE_H

#include <linux/gprof.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

/** gprof_device_open() - open /dev/gprof; file descriptor or -errno */
int gprof_device_open(struct gprof_error *e);

/** gprof_device_info() - GPROF_IOC_INFO; refuses another ABI version (-EPROTO) */
int gprof_device_info(int fd, struct gprof_info *info, struct gprof_error *e);

/**
 * gprof_device_setup() - GPROF_IOC_SETUP
 * @fd: device
 * @setup: argument; size is filled in
 * @what: name of the event, for the sentence
 * @e: sentence, made from errno and out_reason
 */
int gprof_device_setup(int fd, struct gprof_setup *setup, const char *what,
		       struct gprof_error *e);

/**
 * gprof_device_table() - GPROF_IOC_TABLE
 * @fd: device, set up with GPROF_STACK_F_TABLES
 * @file: whose table it is; -1: the vDSO's
 * @table: table, or NULL: what the module has of that file already
 * @size: bytes of it
 *
 * Return: 0 or -errno; -ENOENT with no @table: it has none.
 */
int gprof_device_table(int fd, int file, const void *table, size_t size);

int gprof_device_start(int fd, const char *what, struct gprof_error *e);
int gprof_device_stop(int fd, const char *what, struct gprof_error *e);

/** gprof_device_stats() - GPROF_IOC_STATS of all CPUs */
int gprof_device_stats(int fd, struct gprof_stats *st, struct gprof_error *e);

/** gprof_device_lost() - for whatever reason */
uint64_t gprof_device_lost(const struct gprof_stats *st);

/**
 * gprof_device_explain() - make a sentence of what the kernel said
 * @err: positive errno
 * @reason: GPROF_REASON_*
 * @doing: the call
 * @what: name of the event
 * @e: sentence
 *
 * Return: -@err.
 */
int gprof_device_explain(int err, uint32_t reason, const char *doing, const char *what,
			 struct gprof_error *e);

#endif /* GPROF_DEVICE_H */
