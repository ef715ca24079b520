/* SPDX-License-Identifier: GPL-2.0-only */
/* fuzz_netlink.h: messages to the family "gprof", right and wrong. */
#ifndef GPROF_TEST_FUZZ_NETLINK_H
#define GPROF_TEST_FUZZ_NETLINK_H

#include <stdbool.h>
#include <stdint.h>
#include "draw.h"
#include "genl.h"

/* Of one thread. */
struct fuzz_netlink {
	struct genl genl;	/* asks */
	struct genl listener;	/* hears of events, where it is allowed to */
	uint64_t sent;	/* messages */
	uint64_t refused;	/* that gave an error */
	uint64_t told;	/* statistics that came */
	char error[128];	/* the rule that was broken, or "" */
};

/* false: no socket */
bool fuzz_netlink_open(struct fuzz_netlink *n);
void fuzz_netlink_close(struct fuzz_netlink *n);

/* One message, and all that comes back; about the recorder @id, or another. */
void fuzz_netlink_ask(struct fuzz_netlink *n, struct draw *d, uint64_t id);

#endif
