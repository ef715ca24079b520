// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * hooks.c: the allocator's functions, as a program calls them.
 *
 * An unsampled allocation is a subtraction and a jump, its free a test of a byte or two. The
 * sampled path is jumped to as well, so that it finds its caller where the hook's would be.
 */
#include "shim.h"

EXPORT void *malloc(size_t n)
{
	if (shim_skips(n))
		return shim_real.malloc(n);
	return shim_malloc(n);
}

EXPORT void *calloc(size_t n, size_t size)
{
	size_t bytes;

	/* It fails. */
	if (unlikely(__builtin_mul_overflow(n, size, &bytes)))
		return shim_real.calloc(n, size);
	if (shim_skips(bytes))
		return shim_real.calloc(n, size);
	return shim_calloc(n, size);
}

EXPORT void *realloc(void *p, size_t n)
{
	if (unlikely(!shim_skips(n)))
		return shim_realloc(p, n);
	if (unlikely(shim_may_be_sampled(p)))
		return shim_realloc_unsampled(p, n);
	return shim_real.realloc(p, n);
}

EXPORT void *reallocarray(void *p, size_t n, size_t size)
{
	size_t bytes;

	if (unlikely(__builtin_mul_overflow(n, size, &bytes)))
		return shim_real.reallocarray(p, n, size);
	/* By its name: a program that has an allocator of its own may have no reallocarray(). */
	return realloc(p, bytes);
}

EXPORT void *memalign(size_t align, size_t n)
{
	if (shim_skips(n))
		return shim_real.memalign(align, n);
	return shim_memalign(align, n);
}

EXPORT void *aligned_alloc(size_t align, size_t n)
{
	if (shim_skips(n))
		return shim_real.aligned_alloc(align, n);
	return shim_aligned_alloc(align, n);
}

EXPORT int posix_memalign(void **p, size_t align, size_t n)
{
	if (shim_skips(n))
		return shim_real.posix_memalign(p, align, n);
	return shim_posix_memalign(p, align, n);
}

EXPORT void *valloc(size_t n)
{
	if (shim_skips(n))
		return shim_real.valloc(n);
	return shim_valloc(n);
}

EXPORT void *pvalloc(size_t n)
{
	if (shim_skips(n))
		return shim_real.pvalloc(n);
	return shim_pvalloc(n);
}

EXPORT void free(void *p)
{
	if (likely(!shim_may_be_sampled(p)))
		shim_real.free(p);
	else
		shim_free(p);
}

/* ---- functions of some allocators, which take memory of malloc() too ---- */

#define FREES(_name, _params, _args)						\
EXPORT void _name _params							\
{										\
	if (likely(!shim_may_be_sampled(p)) || shim_may_free(p))		\
		shim_real._name _args;						\
}

FREES(free_sized, (void *p, size_t n), (p, n))
FREES(free_aligned_sized, (void *p, size_t align, size_t n), (p, align, n))
FREES(dallocx, (void *p, int flags), (p, flags))
FREES(sdallocx, (void *p, size_t n, int flags), (p, n, flags))
FREES(tc_free, (void *p), (p))
FREES(tc_cfree, (void *p), (p))
FREES(tc_free_sized, (void *p, size_t n), (p, n))

EXPORT void *rallocx(void *p, size_t n, int flags)
{
	if (unlikely(!shim_skips(n)))
		return shim_rallocx(p, n, flags);
	if (unlikely(shim_may_be_sampled(p)))
		return shim_rallocx_unsampled(p, n, flags);
	return shim_real.rallocx(p, n, flags);
}

EXPORT size_t xallocx(void *p, size_t n, size_t extra, int flags)
{
	if (likely(!shim_may_be_sampled(p)))
		return shim_real.xallocx(p, n, extra, flags);
	return shim_xallocx(p, n, extra, flags);
}
