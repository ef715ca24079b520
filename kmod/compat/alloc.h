/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Arguments of the tracepoints of the kernel's allocators.
 *
 * Since 6.1 kmem_cache_alloc has the cache, and kmalloc has the node too. Before, each had a
 * second tracepoint for allocations on a node; in 6.0 all four have the cache. kmem_cache_free
 * has the cache since 6.1. Since 5.17 it fires before the object is freed. Before, it fires
 * when another task may have the object already, so that there a kprobe on the function replaces
 * it.
 *
 * Until 6.18 kmem_cache_free_bulk() emitted the event for objects that are freed behind a grace
 * period (kfree_rcu()). Since then they go to a sheaf without any event; for the module they are
 * freed when the grace period begins.
 */
#ifndef GPROF_COMPAT_ALLOC_H
#define GPROF_COMPAT_ALLOC_H

#include <linux/gfp.h>
#include <linux/slab.h>
#include <linux/types.h>

#ifdef GPROF_HAVE_CACHE_ALLOC_EVENT
#define GPROF_KMALLOC_ARGS \
	void *data, unsigned long site, const void *ptr, size_t bytes, size_t room, gfp_t gfp, \
	int node
#define GPROF_CACHE_ALLOC_ARGS \
	void *data, unsigned long site, const void *ptr, struct kmem_cache *cache, gfp_t gfp, \
	int node
#define GPROF_CACHE_ALLOC_BYTES		kmem_cache_size(cache)
#elif defined(GPROF_HAVE_ALLOC_OF_CACHE)
#define GPROF_KMALLOC_ARGS \
	void *data, unsigned long site, const void *ptr, struct kmem_cache *cache, \
	size_t bytes, size_t room, gfp_t gfp
#define GPROF_CACHE_ALLOC_ARGS		GPROF_KMALLOC_ARGS
#define GPROF_CACHE_ALLOC_BYTES		bytes
#else
#define GPROF_KMALLOC_ARGS \
	void *data, unsigned long site, const void *ptr, size_t bytes, size_t room, gfp_t gfp
#define GPROF_CACHE_ALLOC_ARGS		GPROF_KMALLOC_ARGS
#define GPROF_CACHE_ALLOC_BYTES		bytes
#endif

/* Arguments of the second tracepoints, if the kernel has them. */
#ifdef GPROF_HAVE_ALLOC_OF_CACHE
#define GPROF_ALLOC_NODE_ARGS \
	void *data, unsigned long site, const void *ptr, struct kmem_cache *cache, \
	size_t bytes, size_t room, gfp_t gfp, int node
#else
#define GPROF_ALLOC_NODE_ARGS \
	void *data, unsigned long site, const void *ptr, size_t bytes, size_t room, gfp_t gfp, \
	int node
#endif

#ifdef GPROF_HAVE_CACHE_FREE_EARLY
#define GPROF_CACHE_FREE_LATE		false
#define GPROF_CACHE_FREE_ARGS \
	void *data, unsigned long site, const void *ptr, const struct kmem_cache *cache
#else
#define GPROF_CACHE_FREE_LATE		true
#define GPROF_CACHE_FREE_ARGS		void *data, unsigned long site, const void *ptr
#endif

#ifdef GPROF_HAVE_SHEAVES
#define GPROF_RCU_FREE_UNREPORTED	true
#else
#define GPROF_RCU_FREE_UNREPORTED	false
#endif

#endif /* GPROF_COMPAT_ALLOC_H */
