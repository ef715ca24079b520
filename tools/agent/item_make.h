/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * item_make: profiles and traces to items of a store.
 */
#ifndef GPROF_TOOLS_AGENT_ITEM_MAKE_H
#define GPROF_TOOLS_AGENT_ITEM_MAKE_H

#include <gprof/profile.h>

#include "store.h"

/* item_host() - name of this host, without the characters that a name of an item cannot have */
void item_host(char host[ITEM_HOST]);

/**
 * item_put_profile() - put a profile into a store
 * @s: store
 * @p: profile; it is the store's from now on
 * @type: kind that recorded it
 * @host: from item_host()
 *
 * Return: 0 or -errno, which the store has counted and said.
 */
int item_put_profile(struct store *s, struct gprof_profile *p, const char *type,
		     const char *host);

/**
 * item_put_rollup() - put the sum of some profiles into a store
 * @p: it; the caller's
 * @n: its name, for store_put_rollup()
 */
int item_put_rollup(struct store *s, const struct gprof_profile *p, struct item_name *n);

/**
 * item_put_trace() - put a trace into a store
 * @fd: file that has it, whole
 * @start_ns: begin, CLOCK_REALTIME
 * @duration_ns: how long it is
 */
int item_put_trace(struct store *s, int fd, uint64_t start_ns, uint64_t duration_ns,
		   const char *host);

#endif /* GPROF_TOOLS_AGENT_ITEM_MAKE_H */
