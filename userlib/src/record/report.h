/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * report.h: comments of a profile on its recording.
 */
#ifndef GPROF_REPORT_H
#define GPROF_REPORT_H

#include <linux/types.h>

#include "profile/profile.h"
#include "stream.h"

/** gprof_report_lost() - say how many samples were lost and why, by GPROF_LOST_* */
int gprof_report_lost(struct gprof_profile *p, const __u64 *lost);

/**
 * gprof_report() - add times and comments to a profile
 * @p: profile
 * @s: stream that it comes from
 * @t: counts of the recording
 *
 * Every loss is told, in a sentence.
 *
 * Return: 0 or -ENOMEM.
 */
int gprof_report(struct gprof_profile *p, const struct gprof_stream *s,
		 const struct gprof_tally *t);

#endif /* GPROF_REPORT_H */
