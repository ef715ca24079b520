/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * netlink: the generic netlink family of linux/gprof_netlink.h.
 */
#ifndef GPROF_NETLINK_H
#define GPROF_NETLINK_H

#include <linux/types.h>

struct genl_family;
struct genl_info;
struct gprof_phase;
struct gprof_recorder;
struct netlink_callback;
struct netlink_ext_ack;
struct sk_buff;

extern struct genl_family gprof_netlink_family;

int gprof_netlink_init(void);
void gprof_netlink_exit(void);

/* netlink_recorder.c */
struct gprof_recorder *gprof_netlink_enter(struct sk_buff *request, u64 id,
					   struct gprof_phase *phase,
					   struct netlink_ext_ack *extack);
void gprof_netlink_leave(struct gprof_recorder *r);
int gprof_netlink_recorder(struct sk_buff *skb, struct genl_info *info);
int gprof_netlink_recorder_dump(struct sk_buff *skb, struct netlink_callback *cb);
int gprof_netlink_snapshot(struct sk_buff *skb, struct genl_info *info);

/* netlink_sched.c */
int gprof_netlink_sched_stats(struct sk_buff *skb, struct genl_info *info);

#endif /* GPROF_NETLINK_H */
