// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * hooks_cxx.c: operators new and delete.
 *
 * Those of a library of C++ come to malloc() and free(), which are ours. Those of an
 * allocator that has its own do not, and are told here. Compiled with frame pointers,
 * and so that exceptions find their way.
 */
#include "shim.h"

#include <stdlib.h>

struct nothrow;

static void *without(size_t align, size_t n)
{
	return align ? aligned_alloc(align, n) : malloc(n);
}

#define NEW(_symbol, _params, _args, _align, _may_fail)				\
static struct {									\
	void *(*next)_params;							\
	bool looked;								\
	bool own;								\
} op_##_symbol;									\
										\
EXPORT void *_symbol _params							\
{										\
	void *(*own_op)_params;							\
	struct shim_caller c;							\
	uint64_t stands_for;							\
	void *p;								\
										\
	if (unlikely(!op_##_symbol.next)) {					\
		bool own;							\
										\
		op_##_symbol.next = (void *(*)_params)shim_operator(#_symbol, &own); \
		op_##_symbol.own = own;						\
		if (!op_##_symbol.next) {					\
			p = without(_align, n);					\
			if (p || (_may_fail))					\
				return p;					\
			/* The caller's own throws. */				\
			own_op = (void *(*)_params)				\
				shim_operator_of(#_symbol, __builtin_return_address(0)); \
			if (!own_op)						\
				__builtin_trap();				\
			return own_op _args;					\
		}								\
	}									\
	if (likely(!op_##_symbol.own) || shim_skips(n))					\
		return op_##_symbol.next _args;					\
	c = SHIM_CALLER();							\
	stands_for = shim_sample(n);						\
	p = op_##_symbol.next _args;						\
	if (stands_for && p)							\
		shim_report_sampled(p, n, stands_for, &c);			\
	return p;								\
}

#define DELETE(_symbol, _params, _args)						\
static void (*next_##_symbol)_params;						\
										\
EXPORT void _symbol _params							\
{										\
	bool own;								\
										\
	if (unlikely(!next_##_symbol)) {					\
		next_##_symbol = (void (*)_params)shim_operator(#_symbol, &own); \
		if (!next_##_symbol) {						\
			free(p);						\
			return;							\
		}								\
	}									\
	if (unlikely(shim_may_be_sampled(p)) && p)				\
		shim_before_free(p);						\
	next_##_symbol _args;							\
}

#define BOTH(_n, _d, _np, _na, _al, _fail, _dp, _da)				\
	NEW(_n, _np, _na, _al, _fail)						\
	DELETE(_d, _dp, _da)

BOTH(_Znwm, _ZdlPv, (size_t n), (n), 0, false, (void *p), (p))
BOTH(_Znam, _ZdaPv, (size_t n), (n), 0, false, (void *p), (p))
BOTH(_ZnwmRKSt9nothrow_t, _ZdlPvRKSt9nothrow_t, (size_t n, const struct nothrow *t), (n, t), 0,
     true, (void *p, const struct nothrow *t), (p, t))
BOTH(_ZnamRKSt9nothrow_t, _ZdaPvRKSt9nothrow_t, (size_t n, const struct nothrow *t), (n, t), 0,
     true, (void *p, const struct nothrow *t), (p, t))
BOTH(_ZnwmSt11align_val_t, _ZdlPvSt11align_val_t, (size_t n, size_t a), (n, a), a, false,
     (void *p, size_t a), (p, a))
BOTH(_ZnamSt11align_val_t, _ZdaPvSt11align_val_t, (size_t n, size_t a), (n, a), a, false,
     (void *p, size_t a), (p, a))
BOTH(_ZnwmSt11align_val_tRKSt9nothrow_t, _ZdlPvSt11align_val_tRKSt9nothrow_t,
     (size_t n, size_t a, const struct nothrow *t), (n, a, t), a, true,
     (void *p, size_t a, const struct nothrow *t), (p, a, t))
BOTH(_ZnamSt11align_val_tRKSt9nothrow_t, _ZdaPvSt11align_val_tRKSt9nothrow_t,
     (size_t n, size_t a, const struct nothrow *t), (n, a, t), a, true,
     (void *p, size_t a, const struct nothrow *t), (p, a, t))
DELETE(_ZdlPvm, (void *p, size_t n), (p, n))
DELETE(_ZdaPvm, (void *p, size_t n), (p, n))
DELETE(_ZdlPvmSt11align_val_t, (void *p, size_t n, size_t a), (p, n, a))
DELETE(_ZdaPvmSt11align_val_t, (void *p, size_t n, size_t a), (p, n, a))
