// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * sched_answer.c: the module's answer to "read scheduler statistics".
 */
#include "sched_answer.h"

#include <assert.h>
#include <errno.h>
#include <linux/gprof_netlink.h>
#include <string.h>

static_assert(GPROF_SCHED_DELAYS == GPROF_SCHED_SAMPLES, "the kernel's samples");

#define NR(a)	(sizeof(a) / sizeof((a)[0]))

static struct nla_policy stats_policy[GPROF_A_SCHED_STATS_MAX + 1] = {
	[GPROF_A_SCHED_STATS_ID] = { .type = NLA_U64 },
	[GPROF_A_SCHED_STATS_TIME_NS] = { .type = NLA_U64 },
	[GPROF_A_SCHED_STATS_STARTED_NS] = { .type = NLA_U64 },
	[GPROF_A_SCHED_STATS_TOTAL_TASK_EXEC] = { .type = NLA_U64 },
	[GPROF_A_SCHED_STATS_NUM_TASK_EXEC] = { .type = NLA_U64 },
	[GPROF_A_SCHED_STATS_TOTAL_TASK_SCHED] = { .type = NLA_U64 },
	[GPROF_A_SCHED_STATS_NUM_TASK_SCHED] = { .type = NLA_U64 },
	[GPROF_A_SCHED_STATS_TOTAL_TASK] = { .type = NLA_U64 },
	[GPROF_A_SCHED_STATS_NUM_TASK] = { .type = NLA_U64 },
	[GPROF_A_SCHED_STATS_TOTAL_FAULTS] = { .type = NLA_U64 },
	[GPROF_A_SCHED_STATS_NUM_FAULTS] = { .type = NLA_U64 },
	[GPROF_A_SCHED_STATS_TOTAL_SYS_CALLS] = { .type = NLA_U64 },
	[GPROF_A_SCHED_STATS_NUM_SYS_CALLS] = { .type = NLA_U64 },
	[GPROF_A_SCHED_STATS_MAX_PROCS] = { .type = NLA_U64 },
	[GPROF_A_SCHED_STATS_NUM_PROCS] = { .type = NLA_U64 },
	[GPROF_A_SCHED_STATS_TOTAL_THREAD_STARTS] = { .type = NLA_U64 },
	[GPROF_A_SCHED_STATS_NUM_THREADS] = { .type = NLA_U64 },
	[GPROF_A_SCHED_STATS_TOTAL_SWITCHES] = { .type = NLA_U64 },
	[GPROF_A_SCHED_STATS_DELAY] = { .type = NLA_NESTED },
	[GPROF_A_SCHED_STATS_ON_CPU] = { .type = NLA_NESTED },
	[GPROF_A_SCHED_STATS_STALL_NS] = { .type = NLA_U64 },
	[GPROF_A_SCHED_STATS_SAMPLES] = { .type = NLA_UNSPEC,
					  .minlen = 8 * GPROF_SCHED_SAMPLES },
	[GPROF_A_SCHED_STATS_NUM_SAMPLES] = { .type = NLA_U64 },
	[GPROF_A_SCHED_STATS_SAMPLE_HZ] = { .type = NLA_U32 },
	[GPROF_A_SCHED_STATS_MISSED] = { .type = NLA_U64 },
	[GPROF_A_SCHED_STATS_CLOCK_DOUBTFUL] = { .type = NLA_FLAG },
	[GPROF_A_SCHED_STATS_FAULTS_MISSED] = { .type = NLA_U64 },
};

const struct gprof_netlink_policy gprof_sched_answer_policy = {
	.policy = stats_policy,
	.max = GPROF_A_SCHED_STATS_MAX,
};

static struct nla_policy histogram_policy[GPROF_A_HISTOGRAM_MAX + 1] = {
	[GPROF_A_HISTOGRAM_COUNT] = { .type = NLA_U64 },
	[GPROF_A_HISTOGRAM_SUM] = { .type = NLA_U64 },
	[GPROF_A_HISTOGRAM_LARGEST] = { .type = NLA_U64 },
	[GPROF_A_HISTOGRAM_FIRST] = { .type = NLA_U32 },
	[GPROF_A_HISTOGRAM_BUCKETS] = { .type = NLA_UNSPEC },
};

#define AT(member)	offsetof(struct gprof_sched_stats, member)

/* The numbers that every answer has. */
static const struct {
	int attr;
	size_t offset;
} numbers[] = {
	{ GPROF_A_SCHED_STATS_TIME_NS, AT(time_ns) },
	{ GPROF_A_SCHED_STATS_STARTED_NS, AT(started_ns) },
	{ GPROF_A_SCHED_STATS_TOTAL_TASK_EXEC, AT(total_task_exec) },
	{ GPROF_A_SCHED_STATS_NUM_TASK_EXEC, AT(num_task_exec) },
	{ GPROF_A_SCHED_STATS_TOTAL_TASK_SCHED, AT(total_task_sched) },
	{ GPROF_A_SCHED_STATS_NUM_TASK_SCHED, AT(num_task_sched) },
	{ GPROF_A_SCHED_STATS_TOTAL_TASK, AT(total_task) },
	{ GPROF_A_SCHED_STATS_NUM_TASK, AT(num_task) },
	{ GPROF_A_SCHED_STATS_MAX_PROCS, AT(max_procs) },
	{ GPROF_A_SCHED_STATS_NUM_PROCS, AT(num_procs) },
	{ GPROF_A_SCHED_STATS_TOTAL_THREAD_STARTS, AT(total_thread_starts) },
	{ GPROF_A_SCHED_STATS_NUM_THREADS, AT(num_threads) },
	{ GPROF_A_SCHED_STATS_TOTAL_SWITCHES, AT(total_switches) },
	{ GPROF_A_SCHED_STATS_NUM_SAMPLES, AT(num_samples) },
	{ GPROF_A_SCHED_STATS_MISSED, AT(missed) },
};

static void read_number(struct gprof_sched_stats *st, size_t offset, struct nlattr *a)
{
	uint64_t value = nla_get_u64(a);

	memcpy((char *)st + offset, &value, sizeof(value));
}

/* Two that are there together, or not at all. */
static int read_pair(struct gprof_sched_stats *st, struct nlattr **attrs, int total, int num,
		     size_t offset, bool *has)
{
	*has = attrs[total];
	if (!attrs[total] != !attrs[num])
		return -EPROTO;
	if (*has) {
		read_number(st, offset, attrs[total]);
		read_number(st, offset + sizeof(uint64_t), attrs[num]);
	}
	return 0;
}

static int read_histogram(struct gprof_histogram *h, struct nlattr *nest)
{
	struct nlattr *attrs[GPROF_A_HISTOGRAM_MAX + 1], *buckets;
	uint32_t first;
	size_t size;

	if (nla_parse_nested(attrs, GPROF_A_HISTOGRAM_MAX, nest, histogram_policy) ||
	    !attrs[GPROF_A_HISTOGRAM_COUNT] || !attrs[GPROF_A_HISTOGRAM_SUM] ||
	    !attrs[GPROF_A_HISTOGRAM_LARGEST])
		return -EPROTO;
	h->count = nla_get_u64(attrs[GPROF_A_HISTOGRAM_COUNT]);
	h->sum = nla_get_u64(attrs[GPROF_A_HISTOGRAM_SUM]);
	h->largest = nla_get_u64(attrs[GPROF_A_HISTOGRAM_LARGEST]);
	buckets = attrs[GPROF_A_HISTOGRAM_BUCKETS];
	if (!buckets)
		return h->count ? -EPROTO : 0;
	if (!attrs[GPROF_A_HISTOGRAM_FIRST])
		return -EPROTO;
	first = nla_get_u32(attrs[GPROF_A_HISTOGRAM_FIRST]);
	size = nla_len(buckets);
	if (size % sizeof(h->buckets[0]) || first > GPROF_HISTOGRAM_NR ||
	    size / sizeof(h->buckets[0]) > GPROF_HISTOGRAM_NR - first)
		return -EPROTO;
	memcpy(&h->buckets[first], nla_data(buckets), size);
	/* Counts that do not add up are no histogram. */
	return gprof_histogram_below(h, GPROF_HISTOGRAM_NR) == h->count ? 0 : -EPROTO;
}

int gprof_sched_answer(void *ctx, int cmd, struct nlattr **attrs)
{
	struct gprof_sched_stats *st = ctx;
	size_t i;

	if (cmd != GPROF_CMD_SCHED_STATS_GET)
		return -EPROTO;
	for (i = 0; i < NR(numbers); i++) {
		if (!attrs[numbers[i].attr])
			return -EPROTO;
		read_number(st, numbers[i].offset, attrs[numbers[i].attr]);
	}
	if (!attrs[GPROF_A_SCHED_STATS_DELAY] || !attrs[GPROF_A_SCHED_STATS_ON_CPU] ||
	    !attrs[GPROF_A_SCHED_STATS_SAMPLES] || !attrs[GPROF_A_SCHED_STATS_SAMPLE_HZ])
		return -EPROTO;
	st->sample_hz = nla_get_u32(attrs[GPROF_A_SCHED_STATS_SAMPLE_HZ]);
	memcpy(st->sched_delay_ns, nla_data(attrs[GPROF_A_SCHED_STATS_SAMPLES]),
	       sizeof(st->sched_delay_ns));
	st->has_stall = attrs[GPROF_A_SCHED_STATS_STALL_NS];
	if (st->has_stall)
		read_number(st, AT(stall_ns), attrs[GPROF_A_SCHED_STATS_STALL_NS]);
	st->clock_doubtful = attrs[GPROF_A_SCHED_STATS_CLOCK_DOUBTFUL];
	if (attrs[GPROF_A_SCHED_STATS_FAULTS_MISSED])
		read_number(st, AT(faults_missed), attrs[GPROF_A_SCHED_STATS_FAULTS_MISSED]);
	if (read_pair(st, attrs, GPROF_A_SCHED_STATS_TOTAL_FAULTS, GPROF_A_SCHED_STATS_NUM_FAULTS,
		      AT(total_faults), &st->has_faults) ||
	    read_pair(st, attrs, GPROF_A_SCHED_STATS_TOTAL_SYS_CALLS,
		      GPROF_A_SCHED_STATS_NUM_SYS_CALLS, AT(total_sys_calls),
		      &st->has_sys_calls) ||
	    read_histogram(&st->delay, attrs[GPROF_A_SCHED_STATS_DELAY]) ||
	    read_histogram(&st->on_cpu, attrs[GPROF_A_SCHED_STATS_ON_CPU]))
		return -EPROTO;
	return 0;
}
