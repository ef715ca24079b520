/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the kernel's allocators tell.
 *
 * kmem_cache_alloc tells the cache, and kmalloc the node too, since 6.1; before, each had a
 * sister for who asked for a node, and in 6.0 all four tell the cache. kmem_cache_free tells
 * of the cache since 6.1. It is told before the object is freed since 5.17; before, when
 * others might have it already, so that there the function itself is to be looked at.
 *
 * What is freed behind a grace period (kfree_rcu()) was told by kmem_cache_free_bulk() until
 * 6.18; since then it goes to a sheaf, about which nobody tells, so that it is gone from
 * when the grace period begins.
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

/* What the sisters tell, where there are any. */
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
