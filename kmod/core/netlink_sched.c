// SPDX-License-Identifier: GPL-2.0-only
/*
 * netlink_sched: scheduler statistics as attributes.
 */
#include "compat/genetlink.h"
#include "kind/sched/sched.h"
#include "kind/sched/source_sched.h"
#include "kind/source.h"
#include "netlink.h"
#include "recorder.h"

#include <linux/gprof.h>
#include <linux/gprof_netlink.h>
#include <linux/mm.h>

#define REPLY_BYTES	(GENLMSG_DEFAULT_SIZE + sizeof(struct gprof_sched_reading))

static int put_stats_u64(struct sk_buff *skb, int attr, u64 value)
{
	return nla_put_u64_64bit(skb, attr, value, GPROF_A_SCHED_STATS_PAD);
}

static int put_buckets(struct sk_buff *skb, const struct gprof_histogram *h)
{
	unsigned int first = 0, end = GPROF_HISTOGRAM_BUCKETS;

	while (first < end && !h->buckets[first])
		first++;
	while (end > first && !h->buckets[end - 1])
		end--;
	if (first == end)
		return 0;
	return nla_put_u32(skb, GPROF_A_HISTOGRAM_FIRST, first) ||
	       nla_put_64bit(skb, GPROF_A_HISTOGRAM_BUCKETS, (end - first) * sizeof(u64),
			     &h->buckets[first], GPROF_A_HISTOGRAM_PAD);
}

static int put_histogram(struct sk_buff *skb, int attr, const struct gprof_histogram *h)
{
	struct nlattr *nest = nla_nest_start(skb, attr);

	if (!nest ||
	    nla_put_u64_64bit(skb, GPROF_A_HISTOGRAM_COUNT, gprof_histogram_count(h),
			      GPROF_A_HISTOGRAM_PAD) ||
	    nla_put_u64_64bit(skb, GPROF_A_HISTOGRAM_SUM, h->sum, GPROF_A_HISTOGRAM_PAD) ||
	    nla_put_u64_64bit(skb, GPROF_A_HISTOGRAM_LARGEST, h->max, GPROF_A_HISTOGRAM_PAD) ||
	    put_buckets(skb, h))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

static int put_counts(struct sk_buff *skb, const struct gprof_sched_reading *r)
{
	const struct gprof_sched_totals *t = &r->totals;
	u64 exec = gprof_histogram_count(&t->delay) + t->missed;
	u64 switches = r->all ? exec + t->to_idle : gprof_histogram_count(&t->on_cpu);
	const struct {
		int attr;
		u64 value;
		u32 flag;	/* only where this was asked for */
	} counts[] = {
		{ GPROF_A_SCHED_STATS_TIME_NS, t->time_ns },
		{ GPROF_A_SCHED_STATS_STARTED_NS, r->started_ns },
		{ GPROF_A_SCHED_STATS_TOTAL_TASK_EXEC, exec },
		{ GPROF_A_SCHED_STATS_NUM_TASK_EXEC, r->running },
		{ GPROF_A_SCHED_STATS_TOTAL_TASK_SCHED, t->sched },
		{ GPROF_A_SCHED_STATS_NUM_TASK_SCHED, r->waiting },
		{ GPROF_A_SCHED_STATS_TOTAL_TASK, t->created },
		{ GPROF_A_SCHED_STATS_NUM_TASK, r->tasks },
		{ GPROF_A_SCHED_STATS_TOTAL_FAULTS, t->faults, GPROF_SCHED_F_FAULTS },
		{ GPROF_A_SCHED_STATS_NUM_FAULTS, r->in_fault, GPROF_SCHED_F_FAULTS },
		{ GPROF_A_SCHED_STATS_TOTAL_SYS_CALLS, t->calls, GPROF_SCHED_F_SYSCALLS },
		{ GPROF_A_SCHED_STATS_NUM_SYS_CALLS, r->in_call, GPROF_SCHED_F_SYSCALLS },
		{ GPROF_A_SCHED_STATS_MAX_PROCS, r->cpus },
		{ GPROF_A_SCHED_STATS_NUM_PROCS, r->online },
		{ GPROF_A_SCHED_STATS_TOTAL_THREAD_STARTS, t->left_idle },
		{ GPROF_A_SCHED_STATS_NUM_THREADS, r->running },
		{ GPROF_A_SCHED_STATS_TOTAL_SWITCHES, switches },
		{ GPROF_A_SCHED_STATS_STALL_NS, t->stall, GPROF_SCHED_F_STALL },
		{ GPROF_A_SCHED_STATS_NUM_SAMPLES, r->samples },
		{ GPROF_A_SCHED_STATS_MISSED, t->missed },
		{ GPROF_A_SCHED_STATS_FAULTS_MISSED, t->faults_missed, GPROF_SCHED_F_FAULTS },
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(counts); i++) {
		if (counts[i].flag && !(counts[i].flag & r->flags))
			continue;
		if (put_stats_u64(skb, counts[i].attr, counts[i].value))
			return -EMSGSIZE;
	}
	return 0;
}

static int put_reading(struct sk_buff *skb, u64 id, const struct gprof_sched_reading *r)
{
	return put_stats_u64(skb, GPROF_A_SCHED_STATS_ID, id) ||
	       put_counts(skb, r) ||
	       nla_put_u32(skb, GPROF_A_SCHED_STATS_SAMPLE_HZ, r->hz) ||
	       (r->doubtful && nla_put_flag(skb, GPROF_A_SCHED_STATS_CLOCK_DOUBTFUL)) ||
	       put_histogram(skb, GPROF_A_SCHED_STATS_DELAY, &r->totals.delay) ||
	       put_histogram(skb, GPROF_A_SCHED_STATS_ON_CPU, &r->totals.on_cpu) ||
	       nla_put_64bit(skb, GPROF_A_SCHED_STATS_SAMPLES, sizeof(r->sample_ns),
			     r->sample_ns, GPROF_A_SCHED_STATS_PAD) ?
	       -EMSGSIZE : 0;
}

/* The caller has pinned @r. */
static int read_stats(struct gprof_recorder *r, struct gprof_sched_reading *reading,
		      struct netlink_ext_ack *extack)
{
	if (r->source != &gprof_source_sched) {
		NL_SET_ERR_MSG(extack, "This recorder is of a kind without scheduler statistics");
		return -EOPNOTSUPP;
	}
	if (!gprof_source_sched_read(r->source_state, reading)) {
		NL_SET_ERR_MSG(extack, "This recorder was never started, and has counted nothing");
		return -EBUSY;
	}
	return 0;
}

static int reply_to(struct genl_info *info, u64 id, const struct gprof_sched_reading *reading)
{
	struct sk_buff *reply = genlmsg_new(REPLY_BYTES, GFP_KERNEL);
	void *head;

	if (!reply)
		return -ENOMEM;
	head = genlmsg_put_reply(reply, info, &gprof_netlink_family, 0,
				 GPROF_CMD_SCHED_STATS_GET);
	if (!head || put_reading(reply, id, reading)) {
		nlmsg_free(reply);
		return -EMSGSIZE;
	}
	genlmsg_end(reply, head);
	return genlmsg_reply(reply, info);
}

/**
 * gprof_netlink_sched_stats() - GPROF_CMD_SCHED_STATS_GET
 * @skb: request
 * @info: the same, parsed
 *
 * Context: Task.
 * Return: 0 or a negative errno.
 */
int gprof_netlink_sched_stats(struct sk_buff *skb, struct genl_info *info)
{
	struct nlattr *id = info->attrs[GPROF_A_SCHED_STATS_ID];
	struct gprof_sched_reading *reading;
	struct gprof_recorder *r;
	struct gprof_phase phase;
	int err;

	if (!id) {
		NL_SET_ERR_MSG(info->extack, "The id of the recorder is missing");
		return -EINVAL;
	}
	reading = kvmalloc(sizeof(*reading), GFP_KERNEL);
	if (!reading)
		return -ENOMEM;
	r = gprof_netlink_enter(skb, nla_get_u64(id), &phase, info->extack);
	err = PTR_ERR_OR_ZERO(r);
	if (!err) {
		err = read_stats(r, reading, info->extack);
		gprof_netlink_leave(r);
	}
	if (!err)
		err = reply_to(info, nla_get_u64(id), reading);
	kvfree(reading);
	return err;
}
