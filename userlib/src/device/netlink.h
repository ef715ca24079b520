/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * netlink.h: questions to the module's generic netlink family.
 *
 * A query is a message; its answers are passed on one by one, as attributes. The kernel's own
 * sentence about an error comes back with the errno.
 */
#ifndef GPROF_NETLINK_SOCKET_H
#define GPROF_NETLINK_SOCKET_H

#include <netlink/attr.h>
#include <stdbool.h>

#include "base/error.h"
#include "base/own_fd.h"

struct nl_msg;

/**
 * struct gprof_netlink - a socket
 * @own: it
 * @family: number of the module's family
 * @seq: of the last question
 */
struct gprof_netlink {
	struct gprof_own_fd own;
	int family;
	uint32_t seq;
};

#define GPROF_NETLINK_NONE	((struct gprof_netlink){ .own = { .fd = -1 } })

/**
 * gprof_netlink_answer_fn() - take an answer
 * @ctx: the asker's
 * @cmd: command of the answer
 * @attrs: its attributes, by number; NULL where there is none
 *
 * Return: 0, or -errno to take no more.
 */
typedef int gprof_netlink_answer_fn(void *ctx, int cmd, struct nlattr **attrs);

/**
 * struct gprof_netlink_policy - allowed attributes of an answer
 * @policy: libnl's, checked before an answer is handed over
 * @max: highest number
 */
struct gprof_netlink_policy {
	const struct nla_policy *policy;
	int max;
};

/**
 * gprof_netlink_open() - connect, and find the family
 * @n: gets filled; gprof_netlink_close() in any case, as of GPROF_NETLINK_NONE
 * @e: sentence
 *
 * Return: 0 or -errno; -ENOENT when the module is not loaded.
 */
int gprof_netlink_open(struct gprof_netlink *n, struct gprof_error *e);
void gprof_netlink_close(struct gprof_netlink *n);

/**
 * gprof_netlink_join() - receive the messages to a multicast group from now on
 * @n: socket, which serves for nothing else then
 * @group: name
 * @e: sentence
 */
int gprof_netlink_join(struct gprof_netlink *n, const char *group, struct gprof_error *e);

/** gprof_netlink_message() - an empty question, for gprof_netlink_query(); NULL: no memory */
struct nl_msg *gprof_netlink_message(const struct gprof_netlink *n, int cmd);

/**
 * struct gprof_netlink_query - a question
 * @message: from gprof_netlink_message(), freed in any case; NULL gives -ENOMEM
 * @dump: all there are, not one
 * @policy: of the answers
 * @take: takes an answer
 * @restart: forgets the answers so far, as the kernel's list changed under a dump
 * @ctx: for both
 * @what: subject of the query, for the sentence
 */
struct gprof_netlink_query {
	struct nl_msg *message;
	bool dump;
	struct gprof_netlink_policy policy;
	gprof_netlink_answer_fn *take;
	void (*restart)(void *ctx);
	void *ctx;
	const char *what;
};

/**
 * gprof_netlink_query() - ask, and take all answers
 * @n: socket
 * @q: question
 * @e: sentence, the kernel's own where it has one
 *
 * A dump that the kernel calls inconsistent is asked for again, some times.
 *
 * Return: 0 or -errno: the kernel's, @take's, -EPROTO for an answer that does not fit the
 * interface, -EAGAIN when a dump was never consistent.
 */
int gprof_netlink_query(struct gprof_netlink *n, struct gprof_netlink_query *q,
			struct gprof_error *e);

/**
 * gprof_netlink_receive() - take the messages to a group
 * @n: socket that joined
 * @policy: of the messages
 * @take: takes it
 * @ctx: for it
 * @e: sentence
 *
 * Does not wait. Return: 0, also when there is nothing; -errno; -ENOBUFS when
 * something was lost, after which one may hear on.
 */
int gprof_netlink_receive(struct gprof_netlink *n, const struct gprof_netlink_policy *policy,
			  gprof_netlink_answer_fn *take, void *ctx, struct gprof_error *e);

#endif /* GPROF_NETLINK_SOCKET_H */
