// SPDX-License-Identifier: GPL-2.0-only
/* genl.c: generic netlink without a library. */
#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include "genl.h"

static const uint8_t *payload(const struct nlmsghdr *head)
{
	return (const uint8_t *)head + NLMSG_HDRLEN;
}

const void *genl_data(const struct nlattr *a)
{
	return (const uint8_t *)a + NLA_HDRLEN;
}

size_t genl_size(const struct nlattr *a)
{
	return a ? a->nla_len - NLA_HDRLEN : 0;
}

uint64_t genl_u64(const struct nlattr *a)
{
	uint64_t v = 0;

	if (genl_size(a) == sizeof(v))
		memcpy(&v, genl_data(a), sizeof(v));
	return v;
}

uint32_t genl_u32(const struct nlattr *a)
{
	uint32_t v = 0;

	if (genl_size(a) == sizeof(v))
		memcpy(&v, genl_data(a), sizeof(v));
	return v;
}

void genl_parse(const void *attrs, size_t bytes, const struct nlattr **by_type)
{
	const uint8_t *at = attrs;

	memset(by_type, 0, GENL_ATTRS * sizeof(*by_type));
	while (bytes >= NLA_HDRLEN) {
		const struct nlattr *a = (const void *)at;
		size_t step = NLA_ALIGN(a->nla_len);

		if (a->nla_len < NLA_HDRLEN || a->nla_len > bytes)
			return;
		if ((a->nla_type & NLA_TYPE_MASK) < GENL_ATTRS)
			by_type[a->nla_type & NLA_TYPE_MASK] = a;
		if (step >= bytes)
			return;
		at += step;
		bytes -= step;
	}
}

int genl_send(struct genl *g, uint16_t type, uint16_t flags, uint8_t cmd, const void *attrs,
	      size_t bytes)
{
	struct { struct nlmsghdr head; struct genlmsghdr genl; uint8_t attrs[4096]; } m = {
		.head = {
			.nlmsg_len = NLMSG_LENGTH(GENL_HDRLEN) + bytes, .nlmsg_type = type,
			.nlmsg_flags = NLM_F_REQUEST | flags, .nlmsg_seq = ++g->seq,
		},
		.genl = { .cmd = cmd, .version = GPROF_NL_VERSION },
	};

	if (bytes > sizeof(m.attrs))
		return -EINVAL;
	if (bytes)
		memcpy(m.attrs, attrs, bytes);
	g->next = 0;
	g->length = 0;
	return send(g->fd, &m, m.head.nlmsg_len, 0) < 0 ? -errno : 0;
}

/* 0 or the errno of an acknowledgment, with its sentence. */
static int take_error(struct genl *g, const struct nlmsghdr *head)
{
	const struct nlmsgerr *e = (const void *)payload(head);
	const struct nlattr *attrs[GENL_ATTRS];
	size_t skip = NLMSG_ALIGN(sizeof(*e));

	if (!(head->nlmsg_flags & NLM_F_ACK_TLVS))
		return e->error;
	if (!(head->nlmsg_flags & NLM_F_CAPPED))
		skip += NLMSG_ALIGN(e->msg.nlmsg_len - NLMSG_HDRLEN);
	genl_parse(payload(head) + skip, head->nlmsg_len - NLMSG_HDRLEN - skip, attrs);
	if (attrs[NLMSGERR_ATTR_MSG])
		strncpy(g->message, genl_data(attrs[NLMSGERR_ATTR_MSG]), sizeof(g->message) - 1);
	return e->error;
}

/* The errno of a dump that failed is in its last message, before the sentence. */
static int take_done(struct genl *g, const struct nlmsghdr *head)
{
	const struct nlattr *attrs[GENL_ATTRS];
	int error = 0;

	if (head->nlmsg_len >= NLMSG_LENGTH(sizeof(error)))
		memcpy(&error, payload(head), sizeof(error));
	if (head->nlmsg_flags & NLM_F_ACK_TLVS) {
		genl_parse(payload(head) + sizeof(error),
			   head->nlmsg_len - NLMSG_LENGTH(sizeof(error)), attrs);
		if (attrs[NLMSGERR_ATTR_MSG])
			strncpy(g->message, genl_data(attrs[NLMSGERR_ATTR_MSG]),
				sizeof(g->message) - 1);
	}
	return error < 0 ? error : 0;
}

int genl_receive(struct genl *g)
{
	const struct nlmsghdr *head;
	const struct genlmsghdr *genl;

	if (g->next + NLMSG_HDRLEN > g->length) {
		ssize_t n = recv(g->fd, g->buffer, sizeof(g->buffer), 0);

		if (n < 0)
			return -errno;
		g->next = 0;
		g->length = n;
	}
	head = (const void *)(g->buffer + g->next);
	if (head->nlmsg_len < NLMSG_HDRLEN || g->next + head->nlmsg_len > g->length)
		return -EBADMSG;
	g->next += NLMSG_ALIGN(head->nlmsg_len);
	g->flags = head->nlmsg_flags;
	g->type = head->nlmsg_type;
	g->message[0] = '\0';
	if (head->nlmsg_type == NLMSG_ERROR)
		return take_error(g, head);
	if (head->nlmsg_type == NLMSG_DONE)
		return take_done(g, head);
	genl = (const void *)payload(head);
	g->cmd = genl->cmd;
	genl_parse(payload(head) + GENL_HDRLEN, head->nlmsg_len - NLMSG_LENGTH(GENL_HDRLEN),
		   g->attrs);
	return 1;
}

int genl_ask(struct genl *g, uint8_t cmd, uint16_t attr, uint64_t value)
{
	struct {
		struct nlattr head;
		uint64_t value;
	} __attribute__((packed)) a = {
		.head = { .nla_len = sizeof(a), .nla_type = attr },
		.value = value,
	};
	int ret = genl_send(g, g->family, 0, cmd, &a, attr ? sizeof(a) : 0);

	return ret ?: genl_receive(g);
}

static int find_group(struct genl *g, const struct nlattr *groups)
{
	const struct nlattr *list[GENL_ATTRS], *group[GENL_ATTRS];

	genl_parse(genl_data(groups), genl_size(groups), list);
	for (int i = 0; i < GENL_ATTRS; i++) {
		if (!list[i])
			continue;
		genl_parse(genl_data(list[i]), genl_size(list[i]), group);
		if (group[CTRL_ATTR_MCAST_GRP_NAME] &&
		    !strcmp(genl_data(group[CTRL_ATTR_MCAST_GRP_NAME]), GPROF_NL_GROUP_EVENTS))
			g->group = genl_u32(group[CTRL_ATTR_MCAST_GRP_ID]);
	}
	return g->group ? 0 : -ENOENT;
}

int genl_open(struct genl *g)
{
	struct sockaddr_nl any = { .nl_family = AF_NETLINK };
	struct { struct nlattr head; char name[8]; } name = {
		.head = {
			.nla_len = NLA_HDRLEN + sizeof(GPROF_NL_FAMILY),
			.nla_type = CTRL_ATTR_FAMILY_NAME,
		},
		.name = GPROF_NL_FAMILY,
	};
	int one = 1, ret;

	memset(g, 0, sizeof(*g));
	g->fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_GENERIC);
	if (g->fd < 0)
		return -errno;
	setsockopt(g->fd, SOL_NETLINK, NETLINK_EXT_ACK, &one, sizeof(one));
	setsockopt(g->fd, SOL_NETLINK, NETLINK_GET_STRICT_CHK, &one, sizeof(one));
	ret = bind(g->fd, (struct sockaddr *)&any, sizeof(any)) ? -errno : 0;
	ret = ret ?: genl_send(g, GENL_ID_CTRL, 0, CTRL_CMD_GETFAMILY, &name, sizeof(name));
	ret = ret ?: genl_receive(g);
	if (ret != 1) {
		genl_close(g);
		return ret ?: -ENOENT;
	}
	memcpy(&g->family, genl_data(g->attrs[CTRL_ATTR_FAMILY_ID]), sizeof(g->family));
	if (!g->attrs[CTRL_ATTR_MCAST_GROUPS])
		return 0;
	return find_group(g, g->attrs[CTRL_ATTR_MCAST_GROUPS]);
}

int genl_listen(const struct genl *g)
{
	return setsockopt(g->fd, SOL_NETLINK, NETLINK_ADD_MEMBERSHIP, &g->group,
			  sizeof(g->group)) ? -errno : 0;
}

void genl_close(struct genl *g)
{
	if (g->fd >= 0)
		close(g->fd);
	g->fd = -1;
}
