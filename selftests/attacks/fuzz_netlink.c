// SPDX-License-Identifier: GPL-2.0-only
/* fuzz_netlink.c: what is asked, and what an answer must be. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include "fuzz_netlink.h"

#define ATTRS_BYTES	256

struct message {
	uint16_t flags;
	uint8_t cmd;
	size_t bytes;
	uint8_t attrs[ATTRS_BYTES];
};

static void broken(struct fuzz_netlink *n, const struct message *m, const char *what, int ret)
{
	if (!n->error[0])
		snprintf(n->error, sizeof(n->error), "netlink command %u, flags %#x, %zu bytes: %s (%s)",
			 m->cmd, m->flags, m->bytes, what, strerror(-ret));
}

static bool open_asking(struct fuzz_netlink *n)
{
	/* an answer that never comes must not hold the test */
	struct timeval patience = { .tv_sec = 60 };

	return !genl_open(&n->genl) &&
	       !setsockopt(n->genl.fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
}

bool fuzz_netlink_open(struct fuzz_netlink *n)
{
	n->listener.fd = -1;
	if (!open_asking(n) || genl_open(&n->listener)) {
		fuzz_netlink_close(n);
		return false;
	}
	/* refused without privilege */
	setsockopt(n->listener.fd, SOL_NETLINK, NETLINK_ADD_MEMBERSHIP, &n->listener.group,
		   sizeof(n->listener.group));
	return true;
}

void fuzz_netlink_close(struct fuzz_netlink *n)
{
	genl_close(&n->genl);
	genl_close(&n->listener);
}

/* An attribute that is whole, with a type and a length that need not be right. */
static void add_attr(struct message *m, struct draw *d, uint16_t type, size_t bytes,
		     uint64_t value)
{
	struct nlattr head = { .nla_len = NLA_HDRLEN + bytes, .nla_type = type };
	size_t at = m->bytes, i;

	if (at + NLA_HDRLEN + NLA_ALIGN(bytes) > ATTRS_BYTES)
		return;
	m->bytes += NLA_HDRLEN + NLA_ALIGN(bytes);
	for (i = 0; i < bytes; i++)
		m->attrs[at + NLA_HDRLEN + i] = i < 8 ? value >> 8 * i : draw(d);
	memcpy(m->attrs + at, &head, sizeof(head));
}

static void draw_message(struct message *m, struct draw *d, uint64_t id)
{
	unsigned int i;

	memset(m, 0, sizeof(*m));
	m->cmd = ONE_OF(d, GPROF_CMD_INFO_GET, GPROF_CMD_RECORDER_GET, GPROF_CMD_RECORDER_GET,
			GPROF_CMD_SCHED_STATS_GET, GPROF_CMD_SCHED_STATS_GET);
	m->flags = NLM_F_ACK;
	if (m->cmd == GPROF_CMD_RECORDER_GET && one_in(d, 3))
		m->flags = NLM_F_DUMP;
	else if (m->cmd != GPROF_CMD_INFO_GET)
		add_attr(m, d, m->cmd == GPROF_CMD_RECORDER_GET ? GPROF_A_RECORDER_ID :
			 GPROF_A_SCHED_STATS_ID, 8, one_in(d, 8) ? draw(d) >> below(d, 64) : id);
	if (one_in(d, 2))
		return;
	switch (below(d, 6)) {
	case 0:		/* more than was asked for, of any length */
		for (i = below(d, 8); i; i--)
			add_attr(m, d, ONE_OF(d, below(d, 40), draw(d), draw(d) & ~NLA_F_NESTED),
				 below(d, 32), draw(d));
		break;
	case 1:		/* one bit */
		if (m->bytes)
			m->attrs[below(d, m->bytes)] ^= 1U << below(d, 8);
		break;
	case 2:		/* cut off */
		m->bytes = below(d, m->bytes + 1);
		break;
	case 3:		/* garbage */
		m->bytes = below(d, ATTRS_BYTES + 1);
		for (i = 0; i < m->bytes; i++)
			m->attrs[i] = draw(d);
		break;
	case 4:		/* what nobody answers */
		m->cmd = draw(d);
		break;
	case 5:		/* flags of other families' requests */
		m->flags |= draw(d) & (NLM_F_ECHO | NLM_F_DUMP | NLM_F_ATOMIC | 0xf0);
		break;
	}
}

/* The errors that <linux/gprof_netlink.h> names, and generic netlink's own. */
static bool is_promised(int ret)
{
	return ret == -ENOENT || ret == -EBUSY || ret == -EOPNOTSUPP || ret == -EINVAL;
}

static void look_at(struct fuzz_netlink *n, const struct message *m)
{
	const struct nlattr **a = n->genl.attrs;

	if (n->genl.cmd != GPROF_CMD_SCHED_STATS_GET)
		return;
	n->told++;
	if (genl_u64(a[GPROF_A_SCHED_STATS_TOTAL_TASK_SCHED]) <
	    genl_u64(a[GPROF_A_SCHED_STATS_TOTAL_TASK_EXEC]))
		broken(n, m, "more tasks ran than became runnable", 0);
}

/* What others' starts and stops have sent meanwhile; what did not fit is lost. */
static void hear(struct fuzz_netlink *n)
{
	uint8_t event[4096];

	while (recv(n->listener.fd, event, sizeof(event), MSG_DONTWAIT) > 0)
		;
}

void fuzz_netlink_ask(struct fuzz_netlink *n, struct draw *d, uint64_t id)
{
	bool leave = one_in(d, 64);
	struct message m;
	int ret;

	draw_message(&m, d, id);
	n->sent++;
	ret = genl_send(&n->genl, n->genl.family, m.flags, m.cmd, m.attrs, m.bytes);
	if (ret) {
		broken(n, &m, "not sent", ret);
		return;
	}
	while ((ret = genl_receive(&n->genl)) > 0) {
		if (leave)
			break;
		look_at(n, &m);
	}
	if (ret < 0) {
		n->refused++;
		if (!is_promised(ret))
			broken(n, &m, "an answer that is not promised", ret);
	}
	hear(n);
	/* a dump is left half-way by who closes its socket */
	if (ret > 0) {
		genl_close(&n->genl);
		if (!open_asking(n))
			broken(n, &m, "no new socket", -EMFILE);
	}
}
