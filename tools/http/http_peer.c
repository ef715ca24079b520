// SPDX-License-Identifier: GPL-2.0-only
/*
 * The owner of a local TCP socket comes from sock_diag, which finds one socket by its
 * addresses and ports. Where the kernel has no such module, /proc/net/tcp lists all of them.
 */
#include "http_peer.h"

#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <netinet/in.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "access.h"

enum { WAY_UNKNOWN, WAY_KERNEL, WAY_LISTS };

/* An address of a socket, of either family. */
union address {
	struct sockaddr any;
	struct sockaddr_in in;
	struct sockaddr_in6 in6;
	struct sockaddr_storage room;
};

struct diag_request {
	struct nlmsghdr head;
	struct inet_diag_req_v2 body;
};

static void put_end(const union address *a, __be32 address[4], __be16 *port)
{
	if (a->any.sa_family == AF_INET) {
		memcpy(address, &a->in.sin_addr, sizeof(a->in.sin_addr));
		*port = a->in.sin_port;
	} else {
		memcpy(address, &a->in6.sin6_addr, sizeof(a->in6.sin6_addr));
		*port = a->in6.sin6_port;
	}
}

/*
 * The kernel's search falls back to a socket that listens at the port, and a socket without an
 * inode has lost its program and its owner: neither is the client.
 */
static bool is_client(const struct inet_diag_msg *m, const struct diag_request *rq)
{
	const struct inet_diag_sockid *want = &rq->body.id, *got = &m->id;
	size_t size = rq->body.sdiag_family == AF_INET ? 4 : 16;
	/* A socket of IPv6 that speaks IPv4 has its address behind a prefix. */
	int skip = size == 4 && m->idiag_family == AF_INET6 ? 3 : 0;

	return m->idiag_inode && got->idiag_sport == want->idiag_sport &&
	       got->idiag_dport == want->idiag_dport &&
	       !memcmp(got->idiag_src + skip, want->idiag_src, size) &&
	       !memcmp(got->idiag_dst + skip, want->idiag_dst, size);
}

/* HTTP_UID_UNKNOWN without such a socket; *@works gets whether the kernel could look at all. */
static uid_t query_kernel(const struct diag_request *rq, bool *works)
{
	union {
		struct nlmsghdr head;
		char room[4096];
	} answer;
	int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);
	const struct inet_diag_msg *m = NLMSG_DATA(&answer.head);
	uid_t uid = HTTP_UID_UNKNOWN;
	ssize_t n;

	*works = false;
	if (fd < 0)
		return uid;
	/* The kernel answers before send() returns. */
	if (send(fd, rq, sizeof(*rq), 0) == sizeof(*rq)) {
		n = recv(fd, &answer, sizeof(answer), MSG_DONTWAIT);
		*works = n >= (ssize_t)NLMSG_LENGTH(sizeof(*m)) &&
			 answer.head.nlmsg_type == SOCK_DIAG_BY_FAMILY;
		if (*works && is_client(m, rq))
			uid = m->idiag_uid;
	}
	close(fd);
	return uid;
}

static struct diag_request request_for(const union address *from, const union address *to)
{
	struct diag_request rq = {
		.head = {
			.nlmsg_len = sizeof(rq),
			.nlmsg_type = SOCK_DIAG_BY_FAMILY,
			.nlmsg_flags = NLM_F_REQUEST,
		},
		.body = {
			.sdiag_family = from->any.sa_family,
			.sdiag_protocol = IPPROTO_TCP,
			.id.idiag_cookie = { INET_DIAG_NOCOOKIE, INET_DIAG_NOCOOKIE },
		},
	};

	put_end(from, rq.body.id.idiag_src, &rq.body.id.idiag_sport);
	put_end(to, rq.body.id.idiag_dst, &rq.body.id.idiag_dport);
	return rq;
}

/* As /proc/net/tcp and tcp6 write an address: words as they lie in memory. */
static void put_words(char *text, size_t size, const __be32 *words, int nr, __be16 port)
{
	int n = 0;

	while (nr--)
		n += snprintf(text + n, size - n, "%08X", *words++);
	snprintf(text + n, size - n, ":%04X", ntohs(port));
}

static uid_t find_uid_in(const char *path, const __be32 *src, const __be32 *dst, int nr,
			 const struct inet_diag_sockid *id)
{
	char from[48], to[48], ends[100], line[512];
	unsigned long inode;
	unsigned int uid;
	uid_t found = HTTP_UID_UNKNOWN;
	FILE *f = fopen(path, "re");

	put_words(from, sizeof(from), src, nr, id->idiag_sport);
	put_words(to, sizeof(to), dst, nr, id->idiag_dport);
	snprintf(ends, sizeof(ends), ": %s %s ", from, to);
	while (f && found == HTTP_UID_UNKNOWN && fgets(line, sizeof(line), f)) {
		const char *rest = strstr(line, ends);

		if (rest && sscanf(rest + strlen(ends), "%*x %*x:%*x %*x:%*x %*x %u %*u %lu", &uid,
				   &inode) == 2 && inode)
			found = uid;
	}
	if (f)
		fclose(f);
	return found;
}

static uid_t find_uid_in_proc(const struct diag_request *rq)
{
	const struct inet_diag_sockid *id = &rq->body.id;
	const __be32 src[4] = { 0, 0, htonl(0xffff), id->idiag_src[0] };
	const __be32 dst[4] = { 0, 0, htonl(0xffff), id->idiag_dst[0] };
	uid_t uid;

	if (rq->body.sdiag_family == AF_INET6)
		return find_uid_in("/proc/self/net/tcp6", id->idiag_src, id->idiag_dst, 4, id);
	uid = find_uid_in("/proc/self/net/tcp", id->idiag_src, id->idiag_dst, 1, id);
	return uid == HTTP_UID_UNKNOWN ? find_uid_in("/proc/self/net/tcp6", src, dst, 4, id) : uid;
}

/* Whether the kernel can look, once that is known: each try has it look for the module. */
static atomic_int way = WAY_UNKNOWN;

static uid_t uid_of_tcp(int fd, const union address *from)
{
	struct diag_request there, here;
	union address to = { 0 };
	socklen_t size = sizeof(to);
	bool works;
	uid_t uid;

	if (getsockname(fd, &to.any, &size) || to.any.sa_family != from->any.sa_family)
		return HTTP_UID_UNKNOWN;
	there = request_for(from, &to);
	if (way == WAY_LISTS)
		return find_uid_in_proc(&there);
	uid = query_kernel(&there, &works);
	if (works || way == WAY_KERNEL)
		return uid;
	/* That it finds nothing says nothing where it does not find this end either. */
	here = request_for(&to, from);
	query_kernel(&here, &works);
	way = works ? WAY_KERNEL : WAY_LISTS;
	return works ? uid : find_uid_in_proc(&there);
}

/* A machine has a whole network of loopback addresses: without a user they are one client. */
static void join_loopback(union address *from)
{
	if (from->any.sa_family == AF_INET && ntohl(from->in.sin_addr.s_addr) >> 24 == IN_LOOPBACKNET)
		from->in.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
}

/* No address of a client begins with 0xff, which is multicast in IPv6. */
static uint64_t id_of_user(uid_t uid)
{
	unsigned char bytes[8] = { 0xff };
	uint64_t id;

	memcpy(bytes + 4, &uid, sizeof(uid));
	memcpy(&id, bytes, sizeof(id));
	return id;
}

struct http_peer http_peer_of(int fd)
{
	struct http_peer peer = { .uid = HTTP_UID_UNKNOWN };
	union address from = { 0 };
	socklen_t size = sizeof(from);
	struct ucred cred;

	getpeername(fd, &from.any, &size);
	if (from.any.sa_family == AF_UNIX) {
		size = sizeof(cred);
		if (!getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &cred, &size))
			peer.uid = cred.uid;
	} else if (from.any.sa_family == AF_INET || from.any.sa_family == AF_INET6) {
		peer.uid = uid_of_tcp(fd, &from);
	}
	join_loopback(&from);
	peer.id = peer.uid == HTTP_UID_UNKNOWN ? access_peer(&from.any) : id_of_user(peer.uid);
	/* ::1 begins with zeros. */
	if (!peer.id)
		peer.id = 1;
	return peer;
}
