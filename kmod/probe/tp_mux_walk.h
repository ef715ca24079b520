/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * tp_mux_walk: for the probes of tracepoints: which subscribers to call.
 */
#ifndef GPROF_TP_MUX_WALK_H
#define GPROF_TP_MUX_WALK_H

#include "compat/alloc.h"
#include "tp_sub.h"
#include "tracked.h"

#include <linux/rculist.h>

/**
 * struct gprof_tp_mux - a tracepoint
 * @name: its name
 * @probe: function that it calls, with this as its data
 * @set_direct: has the probe call that subscriber alone, or NULL: walk the list; NULL: it
 *	always walks
 * @of_any: ... also one that wants to hear of tracked tasks alone, and then hears of all
 * @subs: struct gprof_tp_sub; written under tp_mutex, read under RCU
 * @of_tracked: likewise, those that want to hear of tracked tasks alone (tracked.h)
 * @nr_regs: how many of them want gprof_switch_regs; read by probes
 * @nr: how many; under tp_mutex, as the rest
 * @direct: one is called alone
 * @only: whose data the probe passes on when it does not walk
 * @only_data: the data of @only, for the probe, with static calls
 * @alone: subscriber that is called alone, or NULL; for the probe, without them
 * @turns: how often @only was set
 * @attached: @probe is registered
 * @crowded: since @since it walks for one that hears of known tasks alone
 * @since: time, in jiffies, of that; or when the last one left, while the probe lingers
 * @emptied: the grace period that was under way when @probe was unregistered
 * @has_emptied: @emptied means something
 */
struct gprof_tp_mux {
	const char *name;
	void *probe;
	void (*set_direct)(struct gprof_tp_mux *t, struct gprof_tp_sub *u);
	bool of_any;
	struct hlist_head subs;
	struct hlist_head of_tracked;
	unsigned int nr_regs;
	unsigned int nr;
	bool direct;
	const struct gprof_tp_sub *only;
	void *only_data;
	struct gprof_tp_sub *alone;
	unsigned int turns;
	bool attached;
	bool crowded;
	unsigned long since;
	unsigned long emptied;
	bool has_emptied;
};

/* tp_mux_probe.c; but for members that never change, tp_mux.c's */
extern struct gprof_tp_mux gprof_tp_muxes[GPROF_NR_TPS];

/* The first subscriber, or the next behind @u, that subscribes to events of @who; or NULL. */
static __always_inline struct gprof_tp_sub *
gprof_tp_next(const struct gprof_tp_mux *t, struct gprof_tp_sub *u, const struct task_struct *who)
{
	struct hlist_node *node;

	/* Preemption is off, which is a reader's side. */
	if (u)
		node = rcu_dereference_raw(hlist_next_rcu(&u->node));
	else
		node = rcu_dereference_raw(hlist_first_rcu(&t->subs));
	if (!node && (!u || !u->tracked_only) && !hlist_empty(&t->of_tracked) && gprof_tracked(who))
		node = rcu_dereference_raw(hlist_first_rcu(&t->of_tracked));
	return hlist_entry_safe(node, struct gprof_tp_sub, node);
}

/* Does anybody at all want to hear of it? */
static __always_inline bool gprof_tp_wanted(const struct gprof_tp_mux *t,
					    const struct task_struct *who)
{
	return unlikely(!hlist_empty(&t->subs)) ||
	       (likely(!hlist_empty(&t->of_tracked)) && unlikely(gprof_tracked(who)));
}

/* tp_mux_alloc.c */
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

void gprof_kmalloc_set_direct(struct gprof_tp_mux *t, struct gprof_tp_sub *u);
void gprof_kmalloc_node_set_direct(struct gprof_tp_mux *t, struct gprof_tp_sub *u);
void gprof_cache_alloc_set_direct(struct gprof_tp_mux *t, struct gprof_tp_sub *u);
void gprof_cache_alloc_node_set_direct(struct gprof_tp_mux *t, struct gprof_tp_sub *u);
void gprof_page_alloc_set_direct(struct gprof_tp_mux *t, struct gprof_tp_sub *u);
void gprof_kfree_set_direct(struct gprof_tp_mux *t, struct gprof_tp_sub *u);
void gprof_cache_free_set_direct(struct gprof_tp_mux *t, struct gprof_tp_sub *u);
void gprof_page_free_set_direct(struct gprof_tp_mux *t, struct gprof_tp_sub *u);

#endif /* GPROF_TP_MUX_WALK_H */
