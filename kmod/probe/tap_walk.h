/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * tap_walk: for the probes of taps: which users to call.
 */
#ifndef GPROF_TAP_WALK_H
#define GPROF_TAP_WALK_H

#include "compat/alloc.h"
#include "known.h"
#include "tap.h"

#include <linux/rculist.h>

/**
 * struct gprof_tap - a tracepoint
 * @name: its name
 * @probe: function that it calls, with this as its data
 * @aim: has the probe call that user alone, or NULL: walk the list; NULL: it always walks
 * @of_any: ... also one that wants to hear of known tasks alone, and then hears of all
 * @users: struct gprof_tap_user; written under tap_mutex, read under RCU
 * @of_known: likewise, those that want to hear of known tasks alone (known.h)
 * @nr_regs: how many of them want gprof_switch_regs; read by probes
 * @nr: how many; under tap_mutex, as the rest
 * @direct: one is called alone
 * @only: whose data the probe passes on when it does not walk
 * @only_data: the data of @only, for the probe, with static calls
 * @alone: user that is called alone, or NULL; for the probe, without them
 * @turns: how often @only was set
 * @attached: @probe is registered
 * @crowded: since @since it walks for one that hears of known tasks alone
 * @since: time, in jiffies, of that; or when the last one left, while the probe lingers
 * @emptied: the grace period that was under way when @probe was unregistered
 * @has_emptied: @emptied means something
 */
struct gprof_tap {
	const char *name;
	void *probe;
	void (*aim)(struct gprof_tap *t, struct gprof_tap_user *u);
	bool of_any;
	struct hlist_head users;
	struct hlist_head of_known;
	unsigned int nr_regs;
	unsigned int nr;
	bool direct;
	const struct gprof_tap_user *only;
	void *only_data;
	struct gprof_tap_user *alone;
	unsigned int turns;
	bool attached;
	bool crowded;
	unsigned long since;
	unsigned long emptied;
	bool has_emptied;
};

/* tap_probe.c; but for members that never change, tap.c's */
extern struct gprof_tap gprof_taps[GPROF_NR_TAPS];

/* The first user, or the one behind @u, that wants to hear of @who's events; or NULL. */
static __always_inline struct gprof_tap_user *gprof_tap_next(const struct gprof_tap *t,
							     struct gprof_tap_user *u,
							     const struct task_struct *who)
{
	struct hlist_node *node;

	/* Preemption is off, which is a reader's side. */
	if (u)
		node = rcu_dereference_raw(hlist_next_rcu(&u->node));
	else
		node = rcu_dereference_raw(hlist_first_rcu(&t->users));
	if (!node && (!u || !u->known_only) && !hlist_empty(&t->of_known) && gprof_known(who))
		node = rcu_dereference_raw(hlist_first_rcu(&t->of_known));
	return hlist_entry_safe(node, struct gprof_tap_user, node);
}

/* Does anybody at all want to hear of it? */
static __always_inline bool gprof_tap_wanted(const struct gprof_tap *t,
					     const struct task_struct *who)
{
	return unlikely(!hlist_empty(&t->users)) ||
	       (likely(!hlist_empty(&t->of_known)) && unlikely(gprof_known(who)));
}

/* tap_alloc.c */
#define GPROF_PROBE(_name, _args)	void _name(_args)

GPROF_PROBE(gprof_kmalloc_probe, GPROF_KMALLOC_ARGS);
GPROF_PROBE(gprof_kmalloc_node_probe, GPROF_ALLOC_NODE_ARGS);
GPROF_PROBE(gprof_cache_alloc_probe, GPROF_CACHE_ALLOC_ARGS);
GPROF_PROBE(gprof_cache_alloc_node_probe, GPROF_ALLOC_NODE_ARGS);
GPROF_PROBE(gprof_cache_free_probe, GPROF_CACHE_FREE_ARGS);
void gprof_page_alloc_probe(void *data, struct page *page, unsigned int order, gfp_t gfp,
			    int migratetype);
void gprof_kfree_probe(void *data, unsigned long site, const void *ptr);
void gprof_page_free_probe(void *data, struct page *page, unsigned int order);

void gprof_kmalloc_aim(struct gprof_tap *t, struct gprof_tap_user *u);
void gprof_kmalloc_node_aim(struct gprof_tap *t, struct gprof_tap_user *u);
void gprof_cache_alloc_aim(struct gprof_tap *t, struct gprof_tap_user *u);
void gprof_cache_alloc_node_aim(struct gprof_tap *t, struct gprof_tap_user *u);
void gprof_page_alloc_aim(struct gprof_tap *t, struct gprof_tap_user *u);
void gprof_kfree_aim(struct gprof_tap *t, struct gprof_tap_user *u);
void gprof_cache_free_aim(struct gprof_tap *t, struct gprof_tap_user *u);
void gprof_page_free_aim(struct gprof_tap *t, struct gprof_tap_user *u);

#endif /* GPROF_TAP_WALK_H */
