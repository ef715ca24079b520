// SPDX-License-Identifier: GPL-2.0-only
/* netlink_fuzz: any bytes at all, as an answer of the module: the first says to which question. */
#include <linux/gprof_netlink.h>
#include <netlink/genl/genl.h>
#include <netlink/msg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <gprof/monitor.h>
#include <gprof/sched_stats.h>

#include "device/netlink.h"
#include "record/recorder_answer.h"
#include "sched/sched_answer.h"

#define CHECK(x)	do { if (!(x)) { fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #x); \
				abort(); } } while (0)

static void sched(struct nlmsghdr *h)
{
	struct nlattr *attrs[GPROF_A_SCHED_STATS_MAX + 1];
	struct gprof_sched_stats st = { 0 };
	const struct gprof_sched_metric *metrics;
	struct gprof_sched_value v;
	size_t i, nr = gprof_sched_metrics(&metrics);

	if (nlmsg_parse(h, 0, attrs, gprof_sched_answer_policy.max, gprof_sched_answer_policy.policy) ||
	    gprof_sched_answer(&st, GPROF_CMD_SCHED_STATS_GET, attrs))
		return;
	st.sz = sizeof(st);
	for (i = 0; i < nr; i++)
		gprof_sched_stats_get(&st, metrics[i].name, &v);
	CHECK(gprof_histogram_quantile(&st.delay, 0.5) <= st.delay.largest);
	CHECK(gprof_histogram_quantile(&st.on_cpu, 1) <= st.on_cpu.largest);
}

static void recorder(struct nlmsghdr *h)
{
	struct nlattr *attrs[GPROF_A_RECORDER_MAX + 1];
	struct gprof_recorder_info info;

	if (nlmsg_parse(h, 0, attrs, gprof_recorder_answer_policy.max,
			gprof_recorder_answer_policy.policy) || gprof_recorder_answer(attrs, &info))
		return;
	CHECK(info.kind && memchr(info.owner, '\0', sizeof(info.owner)));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct nlmsghdr *h;

	if (!size)
		return 0;
	/* Of its own size, so that each byte beyond it is seen. */
	h = calloc(1, NLMSG_HDRLEN + size - 1);
	CHECK(h);
	h->nlmsg_len = NLMSG_HDRLEN + (uint32_t)size - 1;
	memcpy(nlmsg_data(h), data + 1, size - 1);
	if (data[0] & 1)
		sched(h);
	else
		recorder(h);
	free(h);
	return 0;
}
