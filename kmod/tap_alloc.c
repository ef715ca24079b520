// SPDX-License-Identifier: GPL-2.0-only
/*
 * tap_alloc: the probes of the kernel's allocators, which come often and in any context.
 *
 * Who is alone is called directly, as in tap.c, whomever it is about; what of it is of
 * interest is left to the few that are sampled. Where there are several, those who want to
 * hear of known tasks alone are called for these.
 */
#include "tap_walk.h"

#include <linux/mm_types.h>
#include <linux/preempt.h>
#include <linux/static_call.h>

static notrace void walk_allocs(void *unused, const void *what, size_t bytes,
				const struct gprof_tap *t)
{
	struct gprof_tap_user *u;

	if (!gprof_tap_wanted(t, current))
		return;
	for (u = gprof_tap_next(t, NULL, current); u; u = gprof_tap_next(t, u, current))
		u->on_alloc(u->data, what, bytes, t);
}

static notrace void walk_frees(void *unused, const void *what, const struct gprof_tap *t)
{
	struct gprof_tap_user *u;

	for (u = gprof_tap_next(t, NULL, current); u; u = gprof_tap_next(t, u, current))
		u->on_free(u->data, what, t);
}

#ifdef CONFIG_HAVE_STATIC_CALL
#define DIRECT_TAP(_name, _walk, _function)					\
DEFINE_STATIC_CALL(gprof_tap_##_name, _walk);					\
void gprof_##_name##_aim(struct gprof_tap *t, struct gprof_tap_user *u)	\
{										\
	if (u)									\
		static_call_update(gprof_tap_##_name, u->_function);		\
	else									\
		static_call_update(gprof_tap_##_name, _walk);			\
}

#define call_direct(_name, _walk, _function, _t, ...)				\
	static_call(gprof_tap_##_name)(READ_ONCE((_t)->only_data), __VA_ARGS__, _t)
#else
#define DIRECT_TAP(_name, _walk, _function)					\
void gprof_##_name##_aim(struct gprof_tap *t, struct gprof_tap_user *u)	\
{										\
	/* Pairs with the address dependency in call_direct(). */		\
	smp_store_release(&t->alone, u);					\
}

#define call_direct(_name, _walk, _function, _t, ...) do {			\
	struct gprof_tap_user *_u = READ_ONCE((_t)->alone);			\
										\
	if (likely(_u))								\
		_u->_function(_u->data, __VA_ARGS__, _t);			\
	else									\
		_walk(NULL, __VA_ARGS__, _t);					\
} while (0)
#endif

/* Preemption is off, as whose probe it is may change; not all kernels see to that (7.2). */
#define allocated(_name, _t, _what, _bytes) do {				\
	const struct gprof_tap *_tap = (_t);					\
										\
	preempt_disable_notrace();						\
	call_direct(_name, walk_allocs, on_alloc, _tap, _what, _bytes);	\
	preempt_enable_notrace();						\
} while (0)

#define freed(_name, _t, _what) do {						\
	const struct gprof_tap *_tap = (_t);					\
										\
	preempt_disable_notrace();						\
	call_direct(_name, walk_frees, on_free, _tap, _what);			\
	preempt_enable_notrace();						\
} while (0)

DIRECT_TAP(kmalloc, walk_allocs, on_alloc)
DIRECT_TAP(kmalloc_node, walk_allocs, on_alloc)
DIRECT_TAP(cache_alloc, walk_allocs, on_alloc)
DIRECT_TAP(cache_alloc_node, walk_allocs, on_alloc)
DIRECT_TAP(page_alloc, walk_allocs, on_alloc)
DIRECT_TAP(kfree, walk_frees, on_free)
DIRECT_TAP(cache_free, walk_frees, on_free)
DIRECT_TAP(page_free, walk_frees, on_free)

notrace void gprof_kmalloc_probe(GPROF_KMALLOC_ARGS)
{
	allocated(kmalloc, data, ptr, bytes);
}

notrace void gprof_kmalloc_node_probe(GPROF_ALLOC_NODE_ARGS)
{
	allocated(kmalloc_node, data, ptr, bytes);
}

notrace void gprof_cache_alloc_probe(GPROF_CACHE_ALLOC_ARGS)
{
	allocated(cache_alloc, data, ptr, GPROF_CACHE_ALLOC_BYTES);
}

notrace void gprof_cache_alloc_node_probe(GPROF_ALLOC_NODE_ARGS)
{
	allocated(cache_alloc_node, data, ptr, bytes);
}

notrace void gprof_page_alloc_probe(void *data, struct page *page, unsigned int order, gfp_t gfp,
				    int migratetype)
{
	allocated(page_alloc, data, page, PAGE_SIZE << order);
}

notrace void gprof_kfree_probe(void *data, unsigned long site, const void *ptr)
{
	freed(kfree, data, ptr);
}

notrace void gprof_cache_free_probe(GPROF_CACHE_FREE_ARGS)
{
	freed(cache_free, data, ptr);
}

notrace void gprof_page_free_probe(void *data, struct page *page, unsigned int order)
{
	freed(page_free, data, page);
}
