// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * netlink.c: questions to the module's generic netlink family.
 *
 * libnl writes and reads messages. The socket is not its own: libnl reads and closes its own by
 * number, even where another file has that number by then.
 */
#include "netlink.h"

#include <errno.h>
#include <linux/genetlink.h>
#include <linux/gprof_netlink.h>
#include <linux/netlink.h>
#include <netlink/genl/genl.h>
#include <netlink/netlink.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#define DUMP_TRIES	16
#define SENTENCE_MAX	256
#define ATTRS_MAX	64
#define BUFFER_LEAST	16384	/* the kernel makes parts of a dump as large as the reader's buffer */

/**
 * struct reception - state of receiving answers
 * @q: query: policy, take, ctx
 * @seq: number of the question, 0: answers to none
 * @done: the last answer has come
 * @changed: the kernel calls the dump inconsistent
 * @err: -errno of the kernel or of @q->take, 0 so far
 * @told: the kernel's sentence, or ""
 * @buffer: for messages
 * @size: its bytes
 */
struct reception {
	const struct gprof_netlink_query *q;
	uint32_t seq;
	bool done;
	bool changed;
	int err;
	char told[SENTENCE_MAX];
	void *buffer;
	size_t size;
};

struct nl_msg *gprof_netlink_message(const struct gprof_netlink *n, int cmd)
{
	struct nl_msg *msg = nlmsg_alloc();

	if (msg && !genlmsg_put(msg, NL_AUTO_PORT, NL_AUTO_SEQ, n->family, 0, 0, cmd,
				GPROF_NL_VERSION)) {
		nlmsg_free(msg);
		msg = NULL;
	}
	return msg;
}

static void handle_valid(struct reception *h, struct nlmsghdr *nlh)
{
	const struct gprof_netlink_query *q = h->q;
	struct nlattr *attrs[ATTRS_MAX + 1];

	if (h->err || q->policy.max > ATTRS_MAX)
		return;
	h->err = genlmsg_parse(nlh, 0, attrs, q->policy.max, q->policy.policy) ? -EPROTO :
		 q->take(q->ctx, genlmsg_hdr(nlh)->cmd, attrs);
}

/* A dump that fails half-way says so in its last message. */
static void handle_finish(struct reception *h, const struct nlmsghdr *nlh)
{
	int code = 0;

	if (nlmsg_datalen(nlh) >= (int)sizeof(code))
		memcpy(&code, nlmsg_data(nlh), sizeof(code));
	if (code < 0 && !h->err)
		h->err = code;
	h->done = true;
}

/* The sentence follows the error, and the header of the question. */
static void parse_sentence(struct reception *h, const struct nlmsghdr *nlh)
{
	const int offset = NLMSG_LENGTH(sizeof(struct nlmsgerr));
	struct nlattr *a;
	int rest;

	if (!(nlh->nlmsg_flags & NLM_F_ACK_TLVS) || !(nlh->nlmsg_flags & NLM_F_CAPPED))
		return;
	a = (struct nlattr *)((char *)nlh + offset);
	for (rest = (int)nlh->nlmsg_len - offset; nla_ok(a, rest); a = nla_next(a, &rest))
		if (nla_type(a) == NLMSGERR_ATTR_MSG)
			nla_strlcpy(h->told, a, sizeof(h->told));
}

/* Error 0 is that all has been answered. */
static void handle_error(struct reception *h, const struct nlmsghdr *nlh)
{
	const struct nlmsgerr *error = nlmsg_data(nlh);

	h->done = true;
	if (nlmsg_datalen(nlh) < (int)sizeof(*error) || error->error > 0) {
		h->err = -EPROTO;
	} else if (error->error) {
		h->err = error->error;
		parse_sentence(h, nlh);
	}
}

static void handle_messages(struct reception *h, int len)
{
	struct nlmsghdr *nlh;

	for (nlh = h->buffer; nlmsg_ok(nlh, len); nlh = nlmsg_next(nlh, &len)) {
		/* An answer to a question that was given up. */
		if (h->seq && nlh->nlmsg_seq != h->seq)
			continue;
		if (nlh->nlmsg_flags & NLM_F_DUMP_INTR)
			h->changed = true;
		switch (nlh->nlmsg_type) {
		case NLMSG_NOOP:
			break;
		case NLMSG_ERROR:
			handle_error(h, nlh);
			break;
		case NLMSG_DONE:
			handle_finish(h, nlh);
			break;
		default:
			handle_valid(h, nlh);
		}
	}
}

static int make_room(struct reception *h, size_t size)
{
	void *buffer;

	if (size < BUFFER_LEAST)
		size = BUFFER_LEAST;
	if (size <= h->size)
		return 0;
	buffer = realloc(h->buffer, size);
	if (!buffer)
		return -ENOMEM;
	h->buffer = buffer;
	h->size = size;
	return 0;
}

/* Receives the next datagram, with all its messages: 0 or -errno. */
static int receive(const struct gprof_netlink *n, struct reception *h, int flags)
{
	struct sockaddr_nl from = { 0 };
	socklen_t from_len = sizeof(from);
	ssize_t len;

	do {
		len = recv(n->own.fd, NULL, 0, MSG_PEEK | MSG_TRUNC | flags);
	} while (len < 0 && errno == EINTR);
	if (len < 0)
		return -errno;
	if (make_room(h, (size_t)len))
		return -ENOMEM;
	/* It is there, and there is no other reader. */
	len = recvfrom(n->own.fd, h->buffer, h->size, MSG_TRUNC | MSG_DONTWAIT,
		       (struct sockaddr *)&from, &from_len);
	if (len < 0)
		return -errno;
	if (!len || (size_t)len > h->size || from.nl_family != AF_NETLINK)
		return -EPROTO;
	/* Of others than the kernel nothing is believed. */
	if (!from.nl_pid)
		handle_messages(h, (int)len);
	return 0;
}

/* Sends the query once and receives its answers. */
static int query_once(struct gprof_netlink *n, const struct gprof_netlink_query *q,
		      struct reception *h)
{
	struct nlmsghdr *nlh = nlmsg_hdr(q->message);
	int err = 0;

	/* Asked again, it is another question. */
	if (!++n->seq)
		n->seq = 1;
	h->seq = n->seq;
	nlh->nlmsg_seq = n->seq;
	nlh->nlmsg_flags |= NLM_F_REQUEST | NLM_F_ACK | (q->dump ? NLM_F_DUMP : 0);
	if (send(n->own.fd, nlh, nlh->nlmsg_len, MSG_NOSIGNAL) < 0)
		err = -errno;
	while (!err && !h->done)
		err = receive(n, h, 0);
	return h->err ? h->err : err;
}

int gprof_netlink_query(struct gprof_netlink *n, struct gprof_netlink_query *q,
			struct gprof_error *e)
{
	struct reception h = { 0 };
	int tries, err = q->message ? gprof_own_fd_check(&n->own, q->what, NULL) : -ENOMEM;

	for (tries = 0; tries < DUMP_TRIES && !err && (!tries || h.changed); tries++) {
		if (tries)
			q->restart(q->ctx);
		h = (struct reception){ .q = q, .buffer = h.buffer, .size = h.size };
		err = query_once(n, q, &h);
	}
	free(h.buffer);
	nlmsg_free(q->message);
	q->message = NULL;
	if (!err && !h.changed)
		return 0;
	if (err == -ENOMEM)
		return gprof_error_set(e, ENOMEM, "%s: no memory", q->what);
	if (!err)
		return gprof_error_set(e, EAGAIN,
				       "%s: the list changes faster than it can be read; try again",
				       q->what);
	/* It may have been closed while it was asked. */
	if (gprof_own_fd_check(&n->own, q->what, e))
		return -EBADF;
	if (h.told[0])
		return gprof_error_set(e, -err, "%s: %s (%s)", q->what, h.told,
				       gprof_strerror(-err));
	if (err == -EPROTO)
		return gprof_error_set(e, EPROTO,
				       "%s: the module's answer is of another version; "
				       "install module and library of one release", q->what);
	return gprof_error_set(e, -err, "%s: %s", q->what, gprof_strerror(-err));
}

/**
 * struct family - the module's family, from the kernel's answer
 * @id: its number
 * @group: name of a multicast group that is looked for, or NULL
 * @group_id: its number, 0 when there is no such group
 */
struct family {
	int id;
	const char *group;
	int group_id;
};

static struct nla_policy family_policy[CTRL_ATTR_MAX + 1] = {
	[CTRL_ATTR_FAMILY_ID] = { .type = NLA_U16 },
	[CTRL_ATTR_MCAST_GROUPS] = { .type = NLA_NESTED },
};

static struct nla_policy group_policy[CTRL_ATTR_MCAST_GRP_MAX + 1] = {
	[CTRL_ATTR_MCAST_GRP_NAME] = { .type = NLA_NUL_STRING },
	[CTRL_ATTR_MCAST_GRP_ID] = { .type = NLA_U32 },
};

static int on_family(void *ctx, int cmd, struct nlattr **attrs)
{
	struct nlattr *group, *a[CTRL_ATTR_MCAST_GRP_MAX + 1];
	struct family *f = ctx;
	int rest;

	if (cmd != CTRL_CMD_NEWFAMILY || !attrs[CTRL_ATTR_FAMILY_ID])
		return -EPROTO;
	f->id = nla_get_u16(attrs[CTRL_ATTR_FAMILY_ID]);
	if (!f->group || !attrs[CTRL_ATTR_MCAST_GROUPS])
		return 0;
	nla_for_each_nested(group, attrs[CTRL_ATTR_MCAST_GROUPS], rest) {
		if (nla_parse_nested(a, CTRL_ATTR_MCAST_GRP_MAX, group, group_policy) ||
		    !a[CTRL_ATTR_MCAST_GRP_NAME] || !a[CTRL_ATTR_MCAST_GRP_ID])
			return -EPROTO;
		if (!strcmp(nla_get_string(a[CTRL_ATTR_MCAST_GRP_NAME]), f->group))
			f->group_id = (int)nla_get_u32(a[CTRL_ATTR_MCAST_GRP_ID]);
	}
	return 0;
}

/* libnl's own way to ask takes a lack of memory for a lack of the family. */
static int find_family(struct gprof_netlink *n, struct family *f, struct gprof_error *e)
{
	struct gprof_netlink_query q = {
		.policy = { .policy = family_policy, .max = CTRL_ATTR_MAX },
		.take = on_family,
		.ctx = f,
		.what = "netlink family " GPROF_NL_FAMILY,
	};

	n->family = GENL_ID_CTRL;
	q.message = gprof_netlink_message(n, CTRL_CMD_GETFAMILY);
	if (q.message && nla_put_string(q.message, CTRL_ATTR_FAMILY_NAME, GPROF_NL_FAMILY)) {
		nlmsg_free(q.message);
		q.message = NULL;
	}
	return gprof_netlink_query(n, &q, e);
}

int gprof_netlink_open(struct gprof_netlink *n, struct gprof_error *e)
{
	const int on = 1;
	struct family f = { 0 };
	int fd, err;

	*n = GPROF_NETLINK_NONE;
	fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_GENERIC);
	if (fd < 0)
		return gprof_error_set(e, errno,
				       "no generic netlink socket (%s); it is how the module is asked",
				       gprof_strerror(errno));
	gprof_own_fd_adopt(&n->own, fd);
	/* The kernel's sentences, without a copy of the question before them. */
	setsockopt(n->own.fd, SOL_NETLINK, NETLINK_EXT_ACK, &on, sizeof(on));
	setsockopt(n->own.fd, SOL_NETLINK, NETLINK_CAP_ACK, &on, sizeof(on));
	err = find_family(n, &f, e);
	n->family = f.id;
	if (err == -ENOENT)
		return gprof_error_set(e, ENOENT,
				       "the netlink family %s does not exist: gprof.ko is not "
				       "loaded, or older than this library; run modprobe gprof as "
				       "root", GPROF_NL_FAMILY);
	return err;
}

void gprof_netlink_close(struct gprof_netlink *n)
{
	gprof_own_fd_close(&n->own);
}

int gprof_netlink_join(struct gprof_netlink *n, const char *group, struct gprof_error *e)
{
	struct family f = { .group = group };
	int err = find_family(n, &f, e);

	if (err)
		return err;
	n->family = f.id;
	if (!f.group_id)
		return gprof_error_set(e, EOPNOTSUPP, "gprof.ko has no \"%s\"; load a newer one",
				       group);
	if (!setsockopt(n->own.fd, SOL_NETLINK, NETLINK_ADD_MEMBERSHIP, &f.group_id,
			sizeof(f.group_id)))
		return 0;
	if (errno == EPERM || errno == EACCES)
		return gprof_error_set(e, EPERM,
				       "hearing of all recorders needs root, CAP_SYS_ADMIN or "
				       "CAP_NET_ADMIN");
	return gprof_error_set(e, errno, "cannot listen to gprof's \"%s\": %s", group,
			       gprof_strerror(errno));
}

int gprof_netlink_receive(struct gprof_netlink *n, const struct gprof_netlink_policy *policy,
			  gprof_netlink_answer_fn *take, void *ctx, struct gprof_error *e)
{
	const struct gprof_netlink_query q = { .policy = *policy, .take = take, .ctx = ctx };
	struct reception h = { .q = &q };
	int err = gprof_own_fd_check(&n->own, "events", e);

	if (err)
		return err;
	err = receive(n, &h, MSG_DONTWAIT);
	free(h.buffer);
	if (err == -ENOBUFS)
		return gprof_error_set(e, ENOBUFS, "events were lost: more came than were read");
	if (err == -ENOMEM)
		return gprof_error_set(e, ENOMEM, "no memory for events");
	if (err && err != -EAGAIN)
		return gprof_error_set(e, -err, "events cannot be read: %s", gprof_strerror(-err));
	if (h.err)
		return gprof_error_set(e, -h.err, "an event cannot be taken: %s",
				       gprof_strerror(-h.err));
	return 0;
}
