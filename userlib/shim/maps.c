// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * maps.c: memory that a program maps itself: anonymous, and to be written to. An allocator's
 * own mappings are not among it, as what is allocated of them is told.
 *
 * Unlike other memory it can be freed in parts. A list has the parts of each mapping that are
 * left; as long as there is one it lasts. Compiled with frame pointers.
 *
 * Whoever waits for the list lends its priority to who has it, and does not wait for ever: who
 * has it may have been interrupted by a signal handler that waits in turn. Then a mapping is
 * not sampled, and one that ends is noted for who has the list next.
 */
#include "shim.h"
#include "base/system_call.h"

#include <errno.h>
#include <linux/futex.h>
#include <stdarg.h>
#include <sys/mman.h>
#include <time.h>

#define PARTS_MAX	65536
#define PAGE		4096UL
#define LATE_MAX	256
#define PATIENCE_NS	100000000L
#define NS		1000000000L

/**
 * struct part - what is left of a mapping
 * @key: where it began
 * @start: first byte of the part
 * @end: behind the last
 */
struct part {
	uintptr_t key;
	uintptr_t start;
	uintptr_t end;
};

static struct part parts[PARTS_MAX];
static size_t nr;
static int holder;	/* thread, or 0, and what the kernel adds to it */

/**
 * struct late - what has ended while the list could not be had
 * @state: FREE, TAKEN, THERE
 * @start: first byte
 * @end: behind the last
 */
static struct late {
	int state;
	uintptr_t start;
	uintptr_t end;
} late[LATE_MAX];

enum { FREE, TAKEN, THERE };

static bool any_late;

static void cut(uintptr_t start, uintptr_t end);

/* With the list. */
static void cut_late(void)
{
	size_t i;

	if (!__atomic_exchange_n(&any_late, false, __ATOMIC_ACQ_REL))
		return;
	for (i = 0; i < LATE_MAX; i++) {
		if (__atomic_load_n(&late[i].state, __ATOMIC_ACQUIRE) != THERE)
			continue;
		cut(late[i].start, late[i].end);
		__atomic_store_n(&late[i].state, FREE, __ATOMIC_RELEASE);
	}
}

/* More than there is room for is taken to last on. */
static void note_late(uintptr_t start, uintptr_t end)
{
	size_t i;

	for (i = 0; i < LATE_MAX; i++) {
		int was = FREE;

		if (!__atomic_compare_exchange_n(&late[i].state, &was, TAKEN, false, __ATOMIC_ACQUIRE,
						 __ATOMIC_RELAXED))
			continue;
		late[i].start = start;
		late[i].end = end;
		__atomic_store_n(&late[i].state, THERE, __ATOMIC_RELEASE);
		__atomic_store_n(&any_late, true, __ATOMIC_RELEASE);
		return;
	}
}

/* Until then, by the clock that each kernel's futex has. */
static long wait_for_holder(void)
{
	struct timespec t;
	long err;
	int op, clock;

#ifdef FUTEX_LOCK_PI2
	op = FUTEX_LOCK_PI2;
	clock = CLOCK_MONOTONIC;
#else
	op = FUTEX_LOCK_PI;
	clock = CLOCK_REALTIME;
#endif
	for (;;) {
		gprof_syscall(SYS_clock_gettime, clock, (long)&t, 0, 0, 0, 0);
		t.tv_nsec += PATIENCE_NS;
		t.tv_sec += t.tv_nsec / NS;
		t.tv_nsec %= NS;
		err = gprof_syscall(SYS_futex, (long)&holder, op | FUTEX_PRIVATE_FLAG, 0, (long)&t, 0,
				    0);
		if (err != -ENOSYS || op == FUTEX_LOCK_PI)
			return err;
		op = FUTEX_LOCK_PI;	/* before 5.14 */
		clock = CLOCK_REALTIME;
	}
}

/* False: this thread has it, and was interrupted; or it cannot be had. */
static bool lock(void)
{
	int none = 0, self;

	if (shim_thread.in_maps)
		return false;
	shim_thread.in_maps = true;
	self = (int)gprof_syscall(SYS_gettid, 0, 0, 0, 0, 0, 0);
	if (!__atomic_compare_exchange_n(&holder, &none, self, false, __ATOMIC_ACQUIRE,
					 __ATOMIC_RELAXED) && wait_for_holder()) {
		shim_thread.in_maps = false;
		return false;
	}
	cut_late();
	return true;
}

static void unlock(void)
{
	int self = (int)gprof_syscall(SYS_gettid, 0, 0, 0, 0, 0, 0);

	cut_late();
	if (!__atomic_compare_exchange_n(&holder, &self, 0, false, __ATOMIC_RELEASE, __ATOMIC_RELAXED))
		gprof_syscall(SYS_futex, (long)&holder, FUTEX_UNLOCK_PI | FUTEX_PRIVATE_FLAG, 0, 0, 0,
			      0);
	shim_thread.in_maps = false;
}

void shim_maps_forget(void)
{
	size_t i;

	nr = 0;
	holder = 0;
	any_late = false;
	for (i = 0; i < LATE_MAX; i++)
		late[i].state = FREE;
	shim_thread.in_maps = false;
}

static size_t left_of(uintptr_t key)
{
	size_t bytes = 0, i;

	for (i = 0; i < nr; i++)
		if (parts[i].key == key)
			bytes += parts[i].end - parts[i].start;
	return bytes;
}

static bool add(uintptr_t key, uintptr_t start, uintptr_t end)
{
	if (start >= end)
		return true;
	if (nr == PARTS_MAX)
		return false;
	parts[nr] = (struct part){ key, start, end };
	__atomic_store_n(&nr, nr + 1, __ATOMIC_RELAXED);
	return true;
}

/* [start, end) is no longer what it was. */
static void cut(uintptr_t start, uintptr_t end)
{
	size_t i = 0;

	while (i < nr) {
		struct part p = parts[i];
		size_t bytes;

		if (p.end <= start || p.start >= end) {
			i++;
			continue;
		}
		parts[i] = parts[nr - 1];
		__atomic_store_n(&nr, nr - 1, __ATOMIC_RELAXED);
		if (p.start < start)
			add(p.key, p.start, start);
		if (p.end > end)
			add(p.key, end, p.end);
		bytes = left_of(p.key);
		if (bytes)
			shim_tell_resize((const void *)p.key, bytes);
		else
			shim_tell_free((const void *)p.key);
	}
}

static void ends(const void *p, size_t n)
{
	uintptr_t start = (uintptr_t)p, end = start + ((n + PAGE - 1) & ~(PAGE - 1));

	if (!__atomic_load_n(&nr, __ATOMIC_RELAXED) || start & (PAGE - 1) || !n)
		return;
	if (!shim_look())
		return;
	if (!lock()) {
		note_late(start, end);
		return;
	}
	cut(start, end);
	unlock();
}

static void begins(const void *p, size_t n, const struct shim_caller *c)
{
	uint64_t period = shim_thread.left > 0 ? 0 : shim_sample(n);

	/* First the list: what has ended there before is to be told before. */
	if (!period || !lock())
		return;
	if (shim_tell_alloc(p, n, period, c) &&
	    !add((uintptr_t)p, (uintptr_t)p, (uintptr_t)p + n))
		shim_tell_free(p);
	unlock();
}

static void *map(void *p, size_t n, int prot, int flags, int fd, long off)
{
	void *q;

	if (flags & MAP_FIXED)
		ends(p, n);
	if (shim_resolve() && shim_next.mmap)
		return shim_next.mmap(p, n, prot, flags, fd, off);
	q = (void *)gprof_syscall(SYS_mmap, (long)p, (long)n, prot, flags, fd, off);
	return (uintptr_t)q > -4096UL ? MAP_FAILED : q;
}

static bool counts(int prot, int flags, const void *caller)
{
	return flags & MAP_ANONYMOUS && prot & PROT_WRITE && !shim_is_allocators(caller);
}

#define MMAP(_name)								\
EXPORT void *_name(void *p, size_t n, int prot, int flags, int fd, long off)	\
{										\
	struct shim_caller c = SHIM_CALLER();					\
	void *q = map(p, n, prot, flags, fd, off);				\
										\
	if (q != MAP_FAILED && counts(prot, flags, (const void *)c.pc)) {	\
		shim_thread.left -= (int64_t)n;					\
		begins(q, n, &c);						\
	}									\
	return q;								\
}

#undef mmap64
MMAP(mmap)
MMAP(mmap64)

EXPORT int munmap(void *p, size_t n)
{
	ends(p, n);
	if (shim_resolve() && shim_next.munmap)
		return shim_next.munmap(p, n);
	return gprof_syscall(SYS_munmap, (long)p, (long)n, 0, 0, 0, 0) ? -1 : 0;
}

EXPORT void *mremap(void *p, size_t from, size_t to, int flags, ...)
{
	struct shim_caller c = SHIM_CALLER();
	void *where = NULL, *q;
	va_list args;

	va_start(args, flags);
	if (flags & MREMAP_FIXED)
		where = va_arg(args, void *);
	va_end(args);
	if (!shim_resolve() || !shim_next.mremap)
		return MAP_FAILED;
	if (flags & MREMAP_FIXED)
		ends(where, to);
	if (to < from) {
		ends((char *)p + to, from - to);
		return shim_next.mremap(p, from, to, flags, where);
	}
	q = shim_next.mremap(p, from, to, flags, where);
	if (q == MAP_FAILED || to == from || shim_is_allocators((const void *)c.pc))
		return q;
	/* As realloc(): one that has ended, and one that begins. */
	ends(p, from);
	shim_thread.left -= (int64_t)to;
	begins(q, to, &c);
	return q;
}
