// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * netlink.c: questions to the module's generic netlink family, on libnl.
 *
 * libnl has numbers of its own for errors, which lose some of the kernel's; so
 * the kernel's are taken from its messages here.
 */
#include "netlink.h"

#include <errno.h>
#include <linux/genetlink.h>
#include <linux/gprof_netlink.h>
#include <linux/netlink.h>
#include <netlink/errno.h>
#include <netlink/genl/genl.h>
#include <netlink/netlink.h>
#include <netlink/socket.h>
#include <string.h>
#include <sys/socket.h>

#define DUMP_TRIES	16
#define SENTENCE_MAX	256
#define ATTRS_MAX	64

/**
 * struct hearing - what comes in while one waits for answers
 * @q: of whom: policy, take, ctx
 * @done: the last answer has come
 * @changed: the kernel calls the dump inconsistent
 * @err: -errno of the kernel or of @q->take, 0 so far
 * @told: the kernel's sentence, or ""
 */
struct hearing {
	const struct gprof_netlink_question *q;
	bool done;
	bool changed;
	int err;
	char told[SENTENCE_MAX];
};

/* For failures on this side of the socket. */
static int errno_of(int nl_error)
{
	static const struct {
		int nl;
		int err;
	} table[] = {
		{ NLE_NOMEM, ENOMEM }, { NLE_PERM, EPERM }, { NLE_NOACCESS, EACCES },
		{ NLE_OBJ_NOTFOUND, ENOENT }, { NLE_INTR, EINTR }, { NLE_AGAIN, EAGAIN },
		{ NLE_AF_NOSUPPORT, EAFNOSUPPORT }, { NLE_PROTO_MISMATCH, EPROTO },
		{ NLE_MSG_TRUNC, EPROTO }, { NLE_MSGSIZE, EMSGSIZE }, { NLE_RANGE, EPROTO },
		{ NLE_INVAL, EPROTO }, { NLE_NOATTR, EPROTO }, { NLE_MSG_TOOSHORT, EPROTO },
	};
	size_t i;

	for (i = 0; i < sizeof(table) / sizeof(table[0]); i++)
		if (table[i].nl == (nl_error < 0 ? -nl_error : nl_error))
			return table[i].err;
	return EIO;
}

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

static int take_valid(struct nl_msg *msg, void *arg)
{
	struct hearing *h = arg;
	const struct gprof_netlink_question *q = h->q;
	struct nlmsghdr *nlh = nlmsg_hdr(msg);
	struct nlattr *attrs[ATTRS_MAX + 1];
	int err;

	if (h->err || q->policy.max > ATTRS_MAX)
		return NL_SKIP;
	err = genlmsg_parse(nlh, 0, attrs, q->policy.max, q->policy.policy);
	h->err = err ? -errno_of(err) :
		       q->take(q->ctx, genlmsg_hdr(nlh)->cmd, attrs);
	return NL_OK;
}

/* A dump that fails half-way says so in its last message. */
static int take_finish(struct nl_msg *msg, void *arg)
{
	struct nlmsghdr *nlh = nlmsg_hdr(msg);
	struct hearing *h = arg;
	int code = 0;

	if (nlmsg_datalen(nlh) >= (int)sizeof(code))
		memcpy(&code, nlmsg_data(nlh), sizeof(code));
	if (code < 0 && !h->err)
		h->err = code;
	h->done = true;
	return NL_STOP;
}

static int take_ack(struct nl_msg *msg, void *arg)
{
	(void)msg;
	((struct hearing *)arg)->done = true;
	return NL_STOP;
}

static int take_changed(struct nl_msg *msg, void *arg)
{
	(void)msg;
	((struct hearing *)arg)->changed = true;
	return NL_OK;
}

/* The sentence follows the error, and the header of the question. */
static void take_sentence(struct hearing *h, const struct nlmsghdr *nlh)
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

static int take_error(struct sockaddr_nl *from, struct nlmsgerr *error, void *arg)
{
	struct hearing *h = arg;

	(void)from;
	h->err = error->error < 0 ? error->error : -EPROTO;
	h->done = true;
	take_sentence(h, (const struct nlmsghdr *)((char *)error - NLMSG_HDRLEN));
	return NL_STOP;
}

static struct nl_cb *make_callbacks(struct hearing *h)
{
	struct nl_cb *cb = nl_cb_alloc(NL_CB_CUSTOM);

	if (!cb)
		return NULL;
	nl_cb_set(cb, NL_CB_VALID, NL_CB_CUSTOM, take_valid, h);
	nl_cb_set(cb, NL_CB_FINISH, NL_CB_CUSTOM, take_finish, h);
	nl_cb_set(cb, NL_CB_ACK, NL_CB_CUSTOM, take_ack, h);
	nl_cb_set(cb, NL_CB_DUMP_INTR, NL_CB_CUSTOM, take_changed, h);
	nl_cb_err(cb, NL_CB_CUSTOM, take_error, h);
	return cb;
}

/* Sends the question once and takes what comes back. */
static int ask_once(struct gprof_netlink *n, const struct gprof_netlink_question *q,
		    struct hearing *h)
{
	struct nlmsghdr *nlh = nlmsg_hdr(q->message);
	struct nl_cb *cb = make_callbacks(h);
	int err;

	if (!cb)
		return -ENOMEM;
	/* Asked again, it is another question. */
	nlh->nlmsg_seq = NL_AUTO_SEQ;
	if (q->dump)
		nlh->nlmsg_flags |= NLM_F_DUMP;
	err = nl_send_auto(n->socket, q->message);
	while (err >= 0 && !h->done) {
		err = nl_recvmsgs(n->socket, cb);
		if (err == -NLE_INTR || err == -NLE_AGAIN)
			err = 0;
	}
	nl_cb_put(cb);
	if (h->err)
		return h->err;
	return err < 0 && !h->done ? -errno_of(err) : 0;
}

int gprof_netlink_ask(struct gprof_netlink *n, struct gprof_netlink_question *q,
		      struct gprof_error *e)
{
	struct hearing h;
	int tries, err = -ENOMEM;

	for (tries = 0; tries < DUMP_TRIES && q->message; tries++) {
		if (tries)
			q->restart(q->ctx);
		h = (struct hearing){ .q = q };
		err = ask_once(n, q, &h);
		if (err || !h.changed)
			break;
		err = -EAGAIN;
	}
	nlmsg_free(q->message);
	q->message = NULL;
	if (!err)
		return 0;
	if (err == -ENOMEM)
		return gprof_error_set(e, ENOMEM, "%s: no memory", q->what);
	if (err == -EAGAIN)
		return gprof_error_set(e, EAGAIN,
				       "%s: the list changes faster than it can be read; try again",
				       q->what);
	if (h.told[0])
		return gprof_error_set(e, -err, "%s: %s (%s)", q->what, h.told,
				       gprof_strerror(-err));
	if (err == -EPROTO)
		return gprof_error_set(e, EPROTO,
				       "%s: the module's answer is not what this library knows; "
				       "install module and library of one release", q->what);
	return gprof_error_set(e, -err, "%s: %s", q->what, gprof_strerror(-err));
}

/**
 * struct family - what the kernel says of the module's family
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

static int take_family(void *ctx, int cmd, struct nlattr **attrs)
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
	struct gprof_netlink_question q = {
		.policy = { .policy = family_policy, .max = CTRL_ATTR_MAX },
		.take = take_family,
		.ctx = f,
		.what = "netlink family " GPROF_NL_FAMILY,
	};

	n->family = GENL_ID_CTRL;
	q.message = gprof_netlink_message(n, CTRL_CMD_GETFAMILY);
	if (q.message && nla_put_string(q.message, CTRL_ATTR_FAMILY_NAME, GPROF_NL_FAMILY)) {
		nlmsg_free(q.message);
		q.message = NULL;
	}
	return gprof_netlink_ask(n, &q, e);
}

int gprof_netlink_open(struct gprof_netlink *n, struct gprof_error *e)
{
	const int on = 1;
	struct family f = { 0 };
	int err;

	n->socket = nl_socket_alloc();
	if (!n->socket)
		return gprof_error_set(e, ENOMEM, "no memory for a netlink socket");
	err = genl_connect(n->socket);
	if (err)
		return gprof_error_set(e, errno_of(err),
				       "no generic netlink socket (%s); it is how the module is asked",
				       nl_geterror(err));
	/* The kernel's sentences, without a copy of the question before them. */
	setsockopt(nl_socket_get_fd(n->socket), SOL_NETLINK, NETLINK_EXT_ACK, &on, sizeof(on));
	setsockopt(nl_socket_get_fd(n->socket), SOL_NETLINK, NETLINK_CAP_ACK, &on, sizeof(on));
	nl_socket_enable_msg_peek(n->socket);
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
	if (n->socket)
		nl_socket_free(n->socket);
	n->socket = NULL;
}

int gprof_netlink_join(struct gprof_netlink *n, const char *group, struct gprof_error *e)
{
	struct family f = { .group = group };
	int err = find_family(n, &f, e);

	if (err)
		return err;
	n->family = f.id;
	if (!f.group_id)
		return gprof_error_set(e, EOPNOTSUPP, "gprof.ko tells no \"%s\"; load a newer one",
				       group);
	err = nl_socket_add_membership(n->socket, f.group_id);
	if (err == -NLE_PERM || err == -NLE_NOACCESS)
		return gprof_error_set(e, EPERM,
				       "hearing of all recorders needs root, CAP_SYS_ADMIN or "
				       "CAP_NET_ADMIN");
	if (!err)
		err = nl_socket_set_nonblocking(n->socket);
	if (err)
		return gprof_error_set(e, errno_of(err), "cannot listen to gprof's \"%s\": %s",
				       group, nl_geterror(err));
	return 0;
}

static int take_any(struct nl_msg *msg, void *arg)
{
	(void)msg;
	(void)arg;
	return NL_OK;
}

int gprof_netlink_hear(struct gprof_netlink *n, const struct gprof_netlink_policy *policy,
		       gprof_netlink_take_fn *take, void *ctx, struct gprof_error *e)
{
	const struct gprof_netlink_question q = { .policy = *policy, .take = take, .ctx = ctx };
	struct hearing h = { .q = &q };
	struct nl_cb *cb = make_callbacks(&h);
	int err;

	if (!cb)
		return gprof_error_set(e, ENOMEM, "no memory for events");
	/* What is told answers no question, and has no number of one. */
	nl_cb_set(cb, NL_CB_SEQ_CHECK, NL_CB_CUSTOM, take_any, NULL);
	errno = 0;
	err = nl_recvmsgs(n->socket, cb);
	/* libnl makes NLE_NOMEM of both ENOMEM and ENOBUFS. */
	if (err == -NLE_NOMEM && errno == ENOBUFS)
		err = gprof_error_set(e, ENOBUFS, "events were lost: more came than were read");
	else if (err < 0 && err != -NLE_AGAIN && err != -NLE_INTR)
		err = gprof_error_set(e, errno_of(err), "events cannot be read: %s",
				      nl_geterror(err));
	else if (h.err)
		err = gprof_error_set(e, -h.err, "an event cannot be taken: %s",
				      gprof_strerror(-h.err));
	else
		err = 0;
	nl_cb_put(cb);
	return err;
}
