/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * shim.h: what kmod/ring/buffer.c, dictionary.c, thin.c and histogram.h need of the kernel, in C11
 * terms, so that they run as they are in user space.
 *
 * A kernel "CPU" is a thread; an NMI is a signal to it, or a call out of shim_point(), which stands
 * at every access that an NMI could come between. Accesses of the own CPU are relaxed: only the
 * thread itself makes them. READ_ONCE() is an acquire: where the kernel relies on a control
 * dependency (load of the tail before stores to the freed space), C11 has no weaker way to say it.
 */
#ifndef GPROF_SHIM_H
#define GPROF_SHIM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;
typedef int8_t s8;
typedef int16_t s16;
typedef int32_t s32;
typedef int64_t s64;

#ifndef __always_inline
#define __always_inline	inline __attribute__((always_inline))
#endif
#define PAGE_SIZE	4096UL
#define likely(x)	__builtin_expect(!!(x), 1)
#define unlikely(x)	__builtin_expect(!!(x), 0)

/* What an NMI does on this thread; NULL: none come. */
extern __thread void (*shim_nmi)(void);

void shim_point(void);

#define barrier()	do { __atomic_signal_fence(__ATOMIC_SEQ_CST); shim_point(); } while (0)
#define READ_ONCE(x)	({ shim_point(); __atomic_load_n(&(x), __ATOMIC_ACQUIRE); })
#define WRITE_ONCE(x, v) \
	do { shim_point(); __atomic_store_n(&(x), v, __ATOMIC_RELAXED); } while (0)
#define smp_load_acquire(p)	({ shim_point(); __atomic_load_n(p, __ATOMIC_ACQUIRE); })
#define smp_store_release(p, v) \
	do { shim_point(); __atomic_store_n(p, v, __ATOMIC_RELEASE); } while (0)
#define smp_wmb()	__atomic_thread_fence(__ATOMIC_RELEASE)
#define cmpxchg(p, old, new) ({						\
	__typeof__(*(p)) __old = (old);					\
	shim_point();							\
	__atomic_compare_exchange_n(p, &__old, new, false,		\
				    __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);	\
	__old; })

typedef struct {
	s64 a;
} local64_t;

static inline s64 local64_read(const local64_t *l)
{
	shim_point();
	return __atomic_load_n(&l->a, __ATOMIC_RELAXED);
}

static inline void local64_set(local64_t *l, s64 v)
{
	shim_point();
	__atomic_store_n(&l->a, v, __ATOMIC_RELAXED);
}

static inline void local64_add(s64 v, local64_t *l)
{
	shim_point();
	__atomic_fetch_add(&l->a, v, __ATOMIC_RELAXED);
}

static inline void local64_inc(local64_t *l)
{
	local64_add(1, l);
}

static inline s64 local64_add_return(s64 v, local64_t *l)
{
	shim_point();
	return __atomic_add_fetch(&l->a, v, __ATOMIC_RELAXED);
}

static inline s64 local64_sub_return(s64 v, local64_t *l)
{
	return local64_add_return(-v, l);
}

static inline s64 local64_xchg(local64_t *l, s64 v)
{
	shim_point();
	return __atomic_exchange_n(&l->a, v, __ATOMIC_RELAXED);
}

static inline s64 local64_cmpxchg(local64_t *l, s64 old, s64 new)
{
	shim_point();
	__atomic_compare_exchange_n(&l->a, &old, new, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
	return old;
}

static inline unsigned long __fls(unsigned long word)
{
	return 63 - __builtin_clzl(word);
}

static inline u64 rol64(u64 v, unsigned int n)
{
	return v << n | v >> (64 - n);
}

static inline u64 div64_u64(u64 a, u64 b)
{
	return a / b;
}

static inline u64 mul_u64_u64_shr(u64 a, u64 b, unsigned int shift)
{
	return (unsigned __int128)a * b >> shift;
}

struct irq_work {
	int unused;
};

/* How often a ring has said that it is time for its reader to come. */
extern unsigned int shim_readable;

u64 ktime_get_mono_fast_ns(void);
u64 ktime_get_real_fast_ns(void);

#endif /* GPROF_SHIM_H */
