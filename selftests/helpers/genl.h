/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * genl.h: generic netlink without a library, so that messages can be as wrong as a test wants them.
 */
#ifndef GPROF_TEST_GENL_H
#define GPROF_TEST_GENL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <linux/genetlink.h>
#include <linux/gprof_netlink.h>
#include <linux/netlink.h>

#define GENL_BYTES	12288
#define GENL_ATTRS	64

/* A socket, and the last message that came. */
struct genl {
	int fd;	/* socket */
	uint16_t family;	/* number of the family "gprof" */
	uint32_t group;	/* number of its group "events" */
	uint32_t seq;	/* of the last request */
	uint8_t cmd;	/* command of the message */
	uint16_t flags;	/* nlmsg_flags of the message */
	uint16_t type;	/* nlmsg_type of the message */
	const struct nlattr *attrs[GENL_ATTRS];	/* its attributes by type; NULL: absent */
	char message[256];	/* the kernel's sentence with the last error, or "" */
	uint8_t buffer[GENL_BYTES];	/* the datagram that the message is in */
	size_t next;	/* offset of the next message in @buffer */
	size_t length;	/* bytes in @buffer */
};

/* All return 0 (or what they say) or -errno; the kernel's errors too. */
int genl_open(struct genl *g);
void genl_close(struct genl *g);
/* Events are received too, from now on. */
int genl_listen(const struct genl *g);

/* Sends any bytes after the generic header, to any family. */
int genl_send(struct genl *g, uint16_t type, uint16_t flags, uint8_t cmd, const void *attrs,
	      size_t bytes);
/* Waits for the next message. 1: there is one; 0: the acknowledgment, or the end of a dump. */
int genl_receive(struct genl *g);
/* A request with one attribute of 64 bits (attr 0: none), and its reply. */
int genl_ask(struct genl *g, uint8_t cmd, uint16_t attr, uint64_t value);

void genl_parse(const void *attrs, size_t bytes, const struct nlattr **by_type);
const void *genl_data(const struct nlattr *a);
size_t genl_size(const struct nlattr *a);
/* 0 where the attribute is absent */
uint64_t genl_u64(const struct nlattr *a);
uint32_t genl_u32(const struct nlattr *a);

#endif
