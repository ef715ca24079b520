/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * recorder_answer.h: the module's answer about a recorder.
 */
#ifndef GPROF_RECORDER_ANSWER_H
#define GPROF_RECORDER_ANSWER_H

#include <gprof/monitor.h>

#include "device/netlink.h"

/* Of RECORDER_GET, and of the events, which have some of it. */
extern const struct gprof_netlink_policy gprof_recorder_answer_policy;

/** gprof_kind_name() - of GPROF_KIND_*; "unknown" for one that is newer than this */
const char *gprof_kind_name(uint32_t kind);

/** gprof_recorder_event() - fill in the members of @info that an event has; 0 or -EPROTO */
int gprof_recorder_event(struct nlattr **attrs, struct gprof_recorder_info *info);

/** gprof_recorder_answer() - fill @info from GPROF_A_RECORDER_*; 0 or -EPROTO */
int gprof_recorder_answer(struct nlattr **attrs, struct gprof_recorder_info *info);

#endif /* GPROF_RECORDER_ANSWER_H */
