/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * loss.h: samples that the kernel lost, and why.
 */
#ifndef GPROF_LOSS_H
#define GPROF_LOSS_H

#include <linux/gprof.h>
#include <stddef.h>
#include <stdint.h>

/** gprof_device_lost() - for any reason */
uint64_t gprof_device_lost(const struct gprof_stats *st);

/** gprof_device_lost_reason() - a text for people: why, by GPROF_LOST_*, and what helps */
const char *gprof_device_lost_reason(size_t i);

#endif /* GPROF_LOSS_H */
