/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * sched_answer.h: the module's answer to "read scheduler statistics".
 */
#ifndef GPROF_SCHED_ANSWER_H
#define GPROF_SCHED_ANSWER_H

#include <gprof/sched_stats.h>

#include "device/netlink.h"

/* Of SCHED_STATS_GET. */
extern const struct gprof_netlink_policy gprof_sched_answer_policy;

/**
 * gprof_sched_answer() - a gprof_netlink_answer_fn
 * @ctx: struct gprof_sched_stats, zeroed; gets all but sz
 * @cmd: of the answer
 * @attrs: GPROF_A_SCHED_STATS_*
 *
 * Takes nothing for granted. Return: 0, or -EPROTO where the interface is broken.
 */
int gprof_sched_answer(void *ctx, int cmd, struct nlattr **attrs);

#endif /* GPROF_SCHED_ANSWER_H */
