// SPDX-License-Identifier: GPL-2.0-only
/*
 * tp_mux_alloc: the probes of the kernel's allocators, which come often and in any context.
 *
 * A subscriber that is alone is called directly, as in tp_mux.c, for every task; it chooses
 * only among the few that are sampled. Where there are several, those that want to hear of
 * known tasks alone are called for these.
 */
#include "tp_mux_walk.h"

#include <linux/mm_types.h>
#include <linux/preempt.h>
#include <linux/static_call.h>

static notrace void walk_alloc(void *unused, const void *what, size_t bytes,
			       const struct gprof_tp_mux *t)
{
	struct gprof_tp_sub *u;

	if (!gprof_tp_wanted(t, current))
		return;
	for (u = gprof_tp_next(t, NULL, current); u; u = gprof_tp_next(t, u, current))
		u->on_alloc(u->data, what, bytes, t);
}

static notrace void walk_free(void *unused, const void *what, const struct gprof_tp_mux *t)
{
	struct gprof_tp_sub *u;

	for (u = gprof_tp_next(t, NULL, current); u; u = gprof_tp_next(t, u, current))
		u->on_free(u->data, what, t);
}

#ifdef CONFIG_HAVE_STATIC_CALL
#define ALLOC_TP(_name, _what)						\
DEFINE_STATIC_CALL(gprof_tp_call_##_name, walk_##_what);			\
void gprof_##_name##_set_direct(struct gprof_tp_mux *t, struct gprof_tp_sub *u)	\
{										\
	if (u)									\
		static_call_update(gprof_tp_call_##_name, u->on_##_what);	\
	else									\
		static_call_update(gprof_tp_call_##_name, walk_##_what);	\
}

#define call_alloc(_name, _what, ...)						\
	static_call(gprof_tp_call_##_name)(READ_ONCE(_mux->only_data), __VA_ARGS__, _mux)
#else
#define ALLOC_TP(_name, _what)						\
void gprof_##_name##_set_direct(struct gprof_tp_mux *t, struct gprof_tp_sub *u)	\
{										\
	/* Pairs with the address dependency in call_alloc(). */		\
	smp_store_release(&t->alone, u);					\
}

#define call_alloc(_name, _what, ...) do {					\
	struct gprof_tp_sub *_u = READ_ONCE(_mux->alone);			\
										\
	if (likely(_u))								\
		_u->on_##_what(_u->data, __VA_ARGS__, _mux);			\
	else									\
		walk_##_what(NULL, __VA_ARGS__, _mux);				\
} while (0)
#endif

/* Preemption is off, as whose probe it is may change; not all kernels see to that (7.2). */
#define tell_alloc(_name, _what, _data, ...) do {					\
	const struct gprof_tp_mux *_mux = (_data);				\
										\
	preempt_disable_notrace();						\
	call_alloc(_name, _what, __VA_ARGS__);					\
	preempt_enable_notrace();						\
} while (0)

ALLOC_TP(kmalloc, alloc)
ALLOC_TP(kmalloc_node, alloc)
ALLOC_TP(cache_alloc, alloc)
ALLOC_TP(cache_alloc_node, alloc)
ALLOC_TP(page_alloc, alloc)
ALLOC_TP(kfree, free)
ALLOC_TP(cache_free, free)
ALLOC_TP(page_free, free)

notrace void gprof_kmalloc_probe(GPROF_KMALLOC_ARGS)
{
	tell_alloc(kmalloc, alloc, data, ptr, bytes);
}

notrace void gprof_kmalloc_node_probe(GPROF_ALLOC_NODE_ARGS)
{
	tell_alloc(kmalloc_node, alloc, data, ptr, bytes);
}

notrace void gprof_cache_alloc_probe(GPROF_CACHE_ALLOC_ARGS)
{
	tell_alloc(cache_alloc, alloc, data, ptr, GPROF_CACHE_ALLOC_BYTES);
}

notrace void gprof_cache_alloc_node_probe(GPROF_ALLOC_NODE_ARGS)
{
	tell_alloc(cache_alloc_node, alloc, data, ptr, bytes);
}

notrace void gprof_page_alloc_probe(void *data, struct page *page, unsigned int order, gfp_t gfp,
				    int migratetype)
{
	tell_alloc(page_alloc, alloc, data, page, PAGE_SIZE << order);
}

notrace void gprof_kfree_probe(void *data, unsigned long site, const void *ptr)
{
	tell_alloc(kfree, free, data, ptr);
}

notrace void gprof_cache_free_probe(GPROF_CACHE_FREE_ARGS)
{
	tell_alloc(cache_free, free, data, ptr);
}

notrace void gprof_page_free_probe(void *data, struct page *page, unsigned int order)
{
	tell_alloc(page_free, free, data, page);
}
