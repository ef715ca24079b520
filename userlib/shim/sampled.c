// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * sampled.c: the sampled path of allocations and frees.
 *
 * This file is compiled with frame pointers, by which it finds the caller.
 */
#include "shim.h"
#include "base/shim_hooks.h"

#define IDLE_BYTES	(1LL << 20)	/* a thread asks so seldom for a recorder */

__thread struct shim_thread shim_thread;

uint64_t shim_sample(size_t n)
{
	struct shim_thread *t = &shim_thread;
	uint64_t wanted;

	if (!shim_is_ready())
		return 0;
	wanted = shim_period();
	if (!wanted) {
		t->period = 0;
		t->left = IDLE_BYTES;
		return 0;
	}
	if (!t->period)
		shim_byte_sample_init(t, wanted);
	/* Also where a signal handler has drawn since. */
	return shim_skips(n) ? 0 : shim_byte_sample(t, n, wanted);
}

EXPORT int64_t gprof_heap_thread_pause(void)
{
	int64_t left = shim_thread.left;

	shim_thread.left = INT64_MAX;
	return left;
}

/* Of one call within another the outer one counts. */
EXPORT void gprof_heap_thread_resume(int64_t left)
{
	shim_thread.left = shim_thread.period || left > INT64_MAX / 2 ? left : 0;
}

void shim_report_sampled(const void *p, size_t n, uint64_t stands_for, const struct shim_caller *c)
{
	bool has = shim_set_add(p);

	if (!shim_report_alloc(p, n, stands_for, c, has) && has)
		shim_set_remove(p);
}

void shim_before_free(const void *p)
{
	if (shim_is_ready() && shim_set_remove(p))
		shim_report_free(p);
}

/* A function that allocates: the call, the bytes, and their address. */
#define SLOW(_call, _bytes, _p, _ok) do {					\
	size_t _n = (_bytes);							\
	uint64_t _stands_for = shim_sample(_n);					\
	struct shim_caller _c = SHIM_CALLER();					\
										\
	_call;									\
	if (_stands_for && (_ok))						\
		shim_report_sampled((_p), _n, _stands_for, &_c);		\
} while (0)

void *shim_malloc(size_t n)
{
	void *p;

	SLOW(p = shim_real.malloc(n), n, p, p);
	return p;
}

void *shim_calloc(size_t n, size_t size)
{
	void *p;

	SLOW(p = shim_real.calloc(n, size), n * size, p, p);
	return p;
}

void *shim_memalign(size_t align, size_t n)
{
	void *p;

	SLOW(p = shim_real.memalign(align, n), n, p, p);
	return p;
}

void *shim_aligned_alloc(size_t align, size_t n)
{
	void *p;

	SLOW(p = shim_real.aligned_alloc(align, n), n, p, p);
	return p;
}

int shim_posix_memalign(void **p, size_t align, size_t n)
{
	int err;

	SLOW(err = shim_real.posix_memalign(p, align, n), n, *p, !err);
	return err;
}

void *shim_valloc(size_t n)
{
	void *p;

	SLOW(p = shim_real.valloc(n), n, p, p);
	return p;
}

void *shim_pvalloc(size_t n)
{
	void *p;

	SLOW(p = shim_real.pvalloc(n), n, p, p);
	return p;
}

bool shim_may_free(void *p)
{
	if (shim_is_boot(p))
		return false;
	if (p)
		shim_before_free(p);
	return true;
}

void shim_free(void *p)
{
	if (shim_may_free(p))
		shim_real.free(p);
}

/* From before there was an allocator. */
static void *move_from_boot(const void *p, size_t n)
{
	size_t has = shim_boot_usable(p), i;
	char *to = n ? shim_real.malloc(n) : NULL;
	const char *from = p;

	for (i = 0; to && i < has && i < n; i++)
		to[i] = from[i];
	return to;
}

/* How an allocator is asked. */
static void *call_real(void *p, size_t n, const int *flags)
{
	return flags ? shim_real.rallocx(p, n, *flags) : shim_real.realloc(p, n);
}

/*
 * Only realloc() knows whether it succeeds, and after that another thread may get the address
 * before its end is reported. So the address is held meanwhile: another owner is not followed.
 */
static void *reallocate(void *p, size_t n, const int *flags)
{
	void *q;

	if (shim_is_boot(p))
		return move_from_boot(p, n);
	if (!p || !shim_may_be_sampled(p) || !shim_is_ready() || !shim_set_hold(p))
		return call_real(p, n, flags);
	q = call_real(p, n, flags);
	if (!q && n) {
		shim_set_keep(p);
	} else {
		shim_report_free(p);
		shim_set_drop(p);
	}
	return q;
}

#define REALLOCATE(_sample, _flags) do {						\
	uint64_t stands_for = (_sample);					\
	struct shim_caller c = SHIM_CALLER();					\
	void *q = reallocate(p, n, _flags);					\
										\
	if (stands_for && q)							\
		shim_report_sampled(q, n, stands_for, &c);			\
	return q;								\
} while (0)

void *shim_realloc(void *p, size_t n)
{
	REALLOCATE(shim_sample(n), NULL);
}

void *shim_realloc_unsampled(void *p, size_t n)
{
	REALLOCATE(0, NULL);
}

void *shim_rallocx(void *p, size_t n, int flags)
{
	REALLOCATE(shim_sample(n), &flags);
}

void *shim_rallocx_unsampled(void *p, size_t n, int flags)
{
	REALLOCATE(0, &flags);
}

size_t shim_xallocx(void *p, size_t n, size_t extra, int flags)
{
	size_t has = shim_real.xallocx(p, n, extra, flags);

	/* It stays where it is; a smaller size means that it did not grow. */
	if (n && has >= n && shim_is_ready() && shim_set_has(p))
		shim_report_resize(p, n);
	return has;
}
