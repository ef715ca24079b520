// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * report.c: comments of a profile on its recording.
 */
#include "report.h"

#include <stdio.h>
#include <sys/utsname.h>
#include <time.h>

#include <gprof/version.h>

#include "base/clock.h"
#include "device/loss.h"

static unsigned long long ull(uint64_t n)
{
	return n;
}

static int about(struct gprof_profile *p, const struct gprof_stream *s)
{
	struct utsname uts;
	int err;

	err = gprof_profile_commentf(p, "gprof %s: event %s%s%s%s, period %llu", GPROF_VERSION,
				     s->name, s->detail[0] ? " (" : "", s->detail,
				     s->detail[0] ? ")" : "", ull(s->columns.period));
	if (!err)
		err = gprof_profile_commentf(p, "target: %s", s->target);
	if (!err && !uname(&uts))
		err = gprof_profile_commentf(p, "kernel: %s %s %s", uts.sysname, uts.release,
					     uts.machine);
	return err;
}

int gprof_report_lost(struct gprof_profile *p, const __u64 *lost)
{
	int err = 0;
	size_t i;

	for (i = 0; i < GPROF_LOST_SLOTS && !err; i++)
		if (lost[i])
			err = gprof_profile_commentf(p, "lost %llu samples: %s", ull(lost[i]),
						     gprof_device_lost_reason(i));
	return err;
}

static int losses(struct gprof_profile *p, const struct gprof_stream *s,
		  const struct gprof_tally *t)
{
	const struct gprof_stats *k = &t->kernel;
	uint64_t lost = gprof_tally_lost(t);
	uint64_t sum = t->seen.samples + lost + k->out_overwritten;
	int err;

	err = gprof_profile_commentf(p,
				     "samples: produced=%llu read=%llu lost=%llu overwritten=%llu",
				     ull(k->out_produced), ull(t->seen.samples), ull(lost),
				     ull(k->out_overwritten));
	if (!err)
		err = gprof_report_lost(p, k->out_lost);
	if (!err && k->out_overwritten)
		err = gprof_profile_commentf(p, "%llu samples were overwritten by newer ones%s",
					     ull(k->out_overwritten),
					     s->flight && s->started ? ", or are newer than this" : "");
	if (!err && s->builder.early)
		err = gprof_profile_commentf(p,
					     "%llu samples were left out, as they are of before all "
					     "CPUs had something to tell",
					     ull(s->builder.early));
	if (!err && k->out_produced != sum)
		err = gprof_profile_commentf(p,
					     "the counts do not add up: %llu samples were "
					     "produced, %llu read, lost and overwritten; this is "
					     "a bug of gprof",
					     ull(k->out_produced), ull(sum));
	return err;
}

/* A comment with a number, when there is something to tell. */
static int add_comment(struct gprof_profile *p, uint64_t n, const char *what)
{
	char text[512];

	if (!n)
		return 0;
	snprintf(text, sizeof(text), "%llu %s", ull(n), what);
	return gprof_profile_add_comment(p, text);
}

/* Live objects without a sample. */
static int unknown_live(struct gprof_profile *p, const struct gprof_live_unsampled *u)
{
	int err = 0;

	if (u->objects)
		err = gprof_profile_commentf(p, "%llu live objects of %llu bytes are not in the "
					     "profile, for their samples were lost or not read",
					     ull(u->objects), ull(u->value));
	if (!err)
		err = add_comment(
			p, u->full,
			"samples are not among the live ones, for there were too many at once; more bytes "
			"per sample help");
	if (!err)
		err = add_comment(
			p, u->unseen,
			"objects at most may be live no longer, for the kernel did not tell of "
			"their ends");
	return err;
}

static int limits(struct gprof_profile *p, const struct gprof_stream *s,
		  const struct gprof_tally *t)
{
	const struct gprof_stats *k = &t->kernel;
	int err = 0;

	if (k->out_throttled)
		err = gprof_profile_commentf(p,
					     "throttled %llu times: the kernel paused the counter "
					     "for interrupting too often, so busy times are "
					     "underrated; a longer period helps, or raising "
					     "sysctl kernel.perf_event_max_sample_rate",
					     ull(k->out_throttled));
	/* Counters are started one after the other: a little is not multiplexing. */
	if (!err && k->out_time_running < k->out_time_enabled - k->out_time_enabled / 200)
		err = gprof_profile_commentf(p,
					     "multiplexed: the counter ran %.1f %% of the time, "
					     "since the CPU has fewer counters than events that "
					     "want one; values are of that share",
					     100.0 * (double)k->out_time_running /
					     (double)k->out_time_enabled);
	if (!err && s->tables_refused)
		err = gprof_profile_commentf(p,
					     "stacks were walked by frame pointers alone, since "
					     "unwind tables did not fit into the memory that this "
					     "user may lock (ulimit -l)");
	if (!err)
		err = add_comment(
			p, k->out_maps_missed,
			"times the mappings of a process were not read, since it was gone, "
			"locked, or changing them all the time; addresses may have no names");
	if (!err)
		err = add_comment(
			p, k->out_maps_lost,
			"times the mappings of a process did not fit into the buffer; addresses "
			"may have no names");
	if (!err)
		err = add_comment(
			p, t->seen.orphans,
			"samples refer to a stack that is not in the buffer; this is a bug of "
			"gprof");
	if (!err)
		err = add_comment(
			p, s->builder.labels_forgotten,
			"samples have no labels of their threads, which changed them too often");
	if (!err)
		err = add_comment(p, t->seen.malformed,
				  "records made no sense; this is a bug of gprof");
	return err;
}

/* CLOCK_REALTIME at a time of CLOCK_MONOTONIC, by a pair of the kernel's or by one of now. */
static int64_t real_time(const struct gprof_stream *s, uint64_t mono)
{
	size_t i;

	for (i = 0; i < s->buffer.nr; i++) {
		const struct gprof_decoder *d = &s->decoders[i];

		if (d->started)
			return (int64_t)(d->real_ns + (mono - d->mono_ns));
	}
	return (int64_t)(clock_now_ns(CLOCK_REALTIME) - now_ns() + mono);
}

int gprof_report(struct gprof_profile *p, const struct gprof_stream *s, const struct gprof_tally *t)
{
	uint64_t from = t->kernel.out_started_ns, until = t->kernel.out_stopped_ns;
	char stacks[GPROF_STACK_ENDS_TEXT];
	int err;

	if (s->since_ns > from)
		from = s->since_ns;
	if (s->until_ns)
		until = s->until_ns;
	if (s->builder.from > from)
		from = s->builder.from;
	if (s->flight && s->started)
		until = now_ns();
	p->time_nanos = real_time(s, from);
	if (until > from)
		p->duration_nanos = (int64_t)(until - from);
	err = about(p, s);
	if (!err)
		err = losses(p, s, t);
	if (!err)
		err = unknown_live(p, &s->builder.unknown);
	gprof_stack_ends_text(s->builder.ends, stacks);
	if (!err && *stacks)
		err = gprof_profile_add_comment(p, stacks);
	return err ? err : limits(p, s, t);
}
