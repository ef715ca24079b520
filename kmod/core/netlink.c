// SPDX-License-Identifier: GPL-2.0-only
/*
 * netlink: the family, its operations and its events.
 *
 * It looks at recorders and changes none. Operations run side by side, in the
 * process that asks: genetlink's own lock is everybody's, those of other families
 * too, and a caller that is slow with it is slow for all.
 */
#include "netlink.h"
#include "compat/genetlink.h"
#include "kind/source.h"
#include "recorder.h"

#include <linux/gprof.h>
#include <linux/gprof_netlink.h>
#include <linux/module.h>

static int info_get(struct sk_buff *skb, struct genl_info *info)
{
	struct gprof_info i = {};
	struct sk_buff *reply;
	void *head;

	gprof_recorder_info(&i);
	reply = genlmsg_new(GENLMSG_DEFAULT_SIZE, GFP_KERNEL);
	if (!reply)
		return -ENOMEM;
	head = genlmsg_put_reply(reply, info, &gprof_netlink_family, 0, GPROF_CMD_INFO_GET);
	if (!head ||
	    nla_put_u32(reply, GPROF_A_INFO_ABI_VERSION, i.out_abi_version) ||
	    nla_put_u64_64bit(reply, GPROF_A_INFO_KINDS, i.out_kinds, GPROF_A_INFO_PAD) ||
	    nla_put_u64_64bit(reply, GPROF_A_INFO_FEATURES, i.out_features, GPROF_A_INFO_PAD) ||
	    nla_put_u64_64bit(reply, GPROF_A_INFO_RECORDERS, i.out_recorders,
			      GPROF_A_INFO_PAD)) {
		nlmsg_free(reply);
		return -EMSGSIZE;
	}
	genlmsg_end(reply, head);
	return genlmsg_reply(reply, info);
}

static const struct nla_policy nothing[] = {
	[GPROF_A_INFO_PAD] = { .type = NLA_REJECT },
};

static const struct nla_policy recorder_id[] = {
	[GPROF_A_RECORDER_PAD] = { .type = NLA_REJECT },
	[GPROF_A_RECORDER_ID] = { .type = NLA_U64 },
};

static const struct nla_policy sched_stats_id[] = {
	[GPROF_A_SCHED_STATS_PAD] = { .type = NLA_REJECT },
	[GPROF_A_SCHED_STATS_ID] = { .type = NLA_U64 },
};

static const struct genl_ops ops[] = {
	{
		.cmd = GPROF_CMD_INFO_GET,
		.policy = nothing,
		.maxattr = ARRAY_SIZE(nothing) - 1,
		.doit = info_get,
	},
	{
		.cmd = GPROF_CMD_RECORDER_GET,
		.policy = recorder_id,
		.maxattr = ARRAY_SIZE(recorder_id) - 1,
		.doit = gprof_netlink_recorder,
		.dumpit = gprof_netlink_recorder_dump,
	},
	{
		.cmd = GPROF_CMD_RECORDER_SNAPSHOT,
		.policy = recorder_id,
		.maxattr = ARRAY_SIZE(recorder_id) - 1,
		.doit = gprof_netlink_snapshot,
	},
	{
		.cmd = GPROF_CMD_SCHED_STATS_GET,
		.policy = sched_stats_id,
		.maxattr = ARRAY_SIZE(sched_stats_id) - 1,
		.doit = gprof_netlink_sched_stats,
	},
};

static const struct genl_multicast_group groups[] = {
	/* Events tell of everybody's recorders. */
	{ .name = GPROF_NL_GROUP_EVENTS, GPROF_MCAST_SYS_ADMIN },
};

struct genl_family gprof_netlink_family __ro_after_init = {
	.name = GPROF_NL_FAMILY,
	.version = GPROF_NL_VERSION,
	.module = THIS_MODULE,
	.netnsok = true,
	.parallel_ops = true,
	.ops = ops,
	.n_ops = ARRAY_SIZE(ops),
	.mcgrps = groups,
	.n_mcgrps = ARRAY_SIZE(groups),
};

static int put_trigger(struct sk_buff *skb, const struct gprof_event *e)
{
	return nla_put_u32(skb, GPROF_A_RECORDER_TRIGGER, e->told.index) ||
	       nla_put_u32(skb, GPROF_A_RECORDER_TRIGGER_WHAT, e->what) ?
	       -EMSGSIZE : 0;
}

/*
 * An event goes to listeners of any user and namespace: it says only facts that all of them
 * may know, and a listener that wants more, and may, asks. An event that does not get
 * through is one that nobody could have waited for.
 */
static bool announce(struct gprof_event_queue *q, const struct gprof_event *e)
{
	static const u8 cmds[] = {
		[GPROF_EVENT_STARTED] = GPROF_CMD_RECORDER_STARTED,
		[GPROF_EVENT_STOPPED] = GPROF_CMD_RECORDER_STOPPED,
		[GPROF_EVENT_LOST] = GPROF_CMD_RECORDER_LOST,
		[GPROF_EVENT_TARGET_GONE] = GPROF_CMD_RECORDER_TARGET_GONE,
		[GPROF_EVENT_TRIGGER] = GPROF_CMD_RECORDER_FIRED,
	};
	struct gprof_recorder *r = container_of(q, struct gprof_recorder, events);
	struct sk_buff *skb;
	void *head;

	if (!genl_has_listeners(&gprof_netlink_family, &init_net, 0))
		return false;
	skb = genlmsg_new(GENLMSG_DEFAULT_SIZE, GFP_KERNEL);
	if (!skb)
		return false;
	head = genlmsg_put(skb, 0, 0, &gprof_netlink_family, 0, cmds[e->type]);
	if (!head ||
	    nla_put_u64_64bit(skb, GPROF_A_RECORDER_ID, r->entry.id, GPROF_A_RECORDER_PAD) ||
	    nla_put_u32(skb, GPROF_A_RECORDER_KIND, r->source->kind) ||
	    (e->type == GPROF_EVENT_TRIGGER && put_trigger(skb, e))) {
		nlmsg_free(skb);
		return false;
	}
	genlmsg_end(skb, head);
	genlmsg_multicast(&gprof_netlink_family, skb, 0, 0, GFP_KERNEL);
	return true;
}

/**
 * gprof_netlink_init() - register the family
 *
 * Context: Task.
 * Return: 0 or a negative errno.
 */
int __init gprof_netlink_init(void)
{
	gprof_events_announce_by(announce);
	return genl_register_family(&gprof_netlink_family);
}

/**
 * gprof_netlink_exit() - unregister the family; no operation is under way then
 *
 * Context: Task; there is no recorder.
 */
void gprof_netlink_exit(void)
{
	genl_unregister_family(&gprof_netlink_family);
}
