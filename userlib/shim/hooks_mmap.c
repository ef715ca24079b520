// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * hooks_mmap.c: anonymous, writable memory that a program maps itself. An allocator's own mappings
 * are not among it, as their allocations are reported.
 *
 * munmap() may fail, and once it succeeds the addresses may be another thread's before the hook
 * knows: the hook detaches the range (partial_unmap.c) before, and reports it, or attaches it
 * again, afterwards. Nothing here waits for a lock but that of this file: the caller may be an
 * allocator with locks of its own, for which threads wait that have the loader's. Compiled with
 * frame pointers.
 *
 * A waiter lends its priority to the lock's owner, and does not wait for ever: the owner may be
 * interrupted by a signal handler that waits in turn. Then the waiter leaves a note for the next
 * owner.
 */
#include "shim.h"
#include "base/system_call.h"

#include <errno.h>
#include <linux/futex.h>
#include <stdarg.h>
#include <sys/mman.h>
#include <time.h>

#define LATE_MAX	256
#define PATIENCE_NS	100000000L
#define NS		1000000000L

static int holder;	/* thread, or 0, and the kernel's flags */

/**
 * struct late - work that needs the lock
 * @state: FREE, TAKEN, THERE
 * @what: TAKE: [@from, @to) is unmapped or mapped anew; END: @parts have ended; PUT: @parts are
 *	back, as far from their former place as @to is from @from
 * @from: see @what
 * @to: likewise
 * @parts: likewise
 */
static struct late {
	int state;
	enum { TAKE, END, PUT } what;
	uintptr_t from;
	uintptr_t to;
	struct shim_parts parts;
} late[LATE_MAX];

enum { FREE, TAKEN, THERE };

static bool any_late;

/* Of a system call that was not examined. */
static bool failed(long ret)
{
	if (ret >= 0 || ret < -4095)
		return false;
	errno = (int)-ret;
	return true;
}

/* With the lock. */
static void do_late(void)
{
	size_t i;

	if (!__atomic_load_n(&any_late, __ATOMIC_RELAXED) ||
	    !__atomic_exchange_n(&any_late, false, __ATOMIC_ACQ_REL))
		return;
	for (i = 0; i < LATE_MAX; i++) {
		struct late *l = &late[i];

		/* Pairs with the release in note(). */
		if (__atomic_load_n(&l->state, __ATOMIC_ACQUIRE) != THERE)
			continue;
		if (l->what == PUT)
			shim_parts_attach(l->parts, l->from, l->to);
		else
			shim_parts_end(l->what == END ? l->parts :
							shim_parts_detach(l->from, l->to),
				       true);
		__atomic_store_n(&l->state, FREE, __ATOMIC_RELEASE);
	}
}

/* A range without room for a note counts as live. */
static void note(const struct late *l)
{
	size_t i;

	for (i = 0; i < LATE_MAX; i++) {
		int was = FREE;

		if (!__atomic_compare_exchange_n(&late[i].state, &was, TAKEN, false,
						 __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
			continue;
		late[i].what = l->what;
		late[i].from = l->from;
		late[i].to = l->to;
		late[i].parts = l->parts;
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
		err = gprof_syscall(SYS_futex, (long)&holder, op | FUTEX_PRIVATE_FLAG, 0, (long)&t,
				    0, 0);
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
	do_late();
	return true;
}

static void unlock(void)
{
	int self = (int)gprof_syscall(SYS_gettid, 0, 0, 0, 0, 0, 0);

	do_late();
	if (!__atomic_compare_exchange_n(&holder, &self, 0, false, __ATOMIC_RELEASE,
					 __ATOMIC_RELAXED))
		gprof_syscall(SYS_futex, (long)&holder, FUTEX_UNLOCK_PI | FUTEX_PRIVATE_FLAG, 0, 0,
			      0, 0);
	shim_thread.in_maps = false;
}

void shim_maps_forget(void)
{
	size_t i;

	holder = 0;
	any_late = false;
	for (i = 0; i < LATE_MAX; i++)
		late[i].state = FREE;
	shim_thread.in_maps = false;
	shim_parts_forget();
}

static size_t whole_pages(size_t n)
{
	return (n + shim_real.page - 1) & ~(shim_real.page - 1);
}

/* Detaches the sampled parts of [p, p + n), which is about to change, for one of the next two. */
static struct shim_parts detach(const void *p, size_t n)
{
	struct shim_parts none = { 0, 0 }, taken;
	uintptr_t start = (uintptr_t)p;

	if (!shim_parts_any() || !n || !shim_is_ready())
		return none;
	/* Noted before: a later mapping of another thread there is reported after the notes. */
	if (!lock()) {
		note(&(struct late){ .what = TAKE, .from = start, .to = start + whole_pages(n) });
		return none;
	}
	taken = shim_parts_detach(start, start + whole_pages(n));
	unlock();
	return taken;
}

/* It has become that. */
static void ended(struct shim_parts taken)
{
	if (!taken.first || !shim_is_ready())
		return;
	if (!lock()) {
		note(&(struct late){ .what = END, .parts = taken });
		return;
	}
	shim_parts_end(taken, true);
	unlock();
}

/* Its contents are the same, moved from @from to @to. */
static void stays(struct shim_parts taken, const void *from, const void *to)
{
	if (!taken.first || !shim_is_ready())
		return;
	if (!lock()) {
		note(&(struct late){ .what = PUT, .from = (uintptr_t)from, .to = (uintptr_t)to,
				     .parts = taken });
		return;
	}
	shim_parts_attach(taken, (uintptr_t)from, (uintptr_t)to);
	unlock();
}

static void begins(const void *p, size_t n, const struct shim_caller *c)
{
	uint64_t stands_for = shim_skips(n) ? 0 : shim_sample(n), id = 0;
	uintptr_t start = (uintptr_t)p;

	if (!stands_for)
		return;
	if (lock()) {
		id = shim_parts_add(start, start + n);
		unlock();
	}
	/* An unused number is as good where its end will not be known. */
	if (shim_report_alloc((const void *)(uintptr_t)(id ? id : 1), n, stands_for, c, id) || !id)
		return;
	if (lock()) {
		shim_parts_end(shim_parts_detach(start, start + n), false);
		unlock();
	}
}

static void *map(void *p, size_t n, int prot, int flags, int fd, long off)
{
	struct shim_parts under = { 0, 0 };
	void *q;

	if (flags & MAP_FIXED)
		under = detach(p, n);
	if (shim_resolve() && shim_real.mmap) {
		q = shim_real.mmap(p, n, prot, flags, fd, off);
	} else {
		q = (void *)gprof_syscall(SYS_mmap, (long)p, (long)n, prot, flags, fd, off);
		q = failed((long)q) ? MAP_FAILED : q;
	}
	if (q == MAP_FAILED)
		stays(under, p, p);
	else
		ended(under);
	return q;
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
	if (q != MAP_FAILED && counts(prot, flags, (const void *)c.pc))		\
		begins(q, n, &c);						\
	return q;								\
}

#undef mmap64
MMAP(mmap)
MMAP(mmap64)

EXPORT int munmap(void *p, size_t n)
{
	struct shim_parts taken = detach(p, n);
	int err;

	if (shim_resolve() && shim_real.munmap)
		err = shim_real.munmap(p, n);
	else
		err = failed(gprof_syscall(SYS_munmap, (long)p, (long)n, 0, 0, 0, 0)) ? -1 : 0;
	if (err)
		stays(taken, p, p);
	else
		ended(taken);
	return err;
}

static void *remap(void *p, size_t from, size_t to, int flags, void *where)
{
	long q;

	if (shim_resolve() && shim_real.mremap)
		return shim_real.mremap(p, from, to, flags, where);
	q = gprof_syscall(SYS_mremap, (long)p, (long)from, (long)to, flags, (long)where, 0);
	return failed(q) ? MAP_FAILED : (void *)q;
}

EXPORT void *mremap(void *p, size_t from, size_t to, int flags, ...)
{
	struct shim_parts under = { 0, 0 }, has, rest = { 0, 0 };
	struct shim_caller c = SHIM_CALLER();
	size_t keeps = whole_pages(to);
	void *where = NULL, *q;
	bool grows = to > from;
	va_list args;

	va_start(args, flags);
	if (flags & MREMAP_FIXED)
		where = va_arg(args, void *);
	va_end(args);
	/* The parts that move, that stay, and that lie at the destination. */
	if (!grows && keeps < whole_pages(from))
		rest = detach((char *)p + keeps, whole_pages(from) - keeps);
	has = detach(p, grows ? from : keeps);
	if (flags & MREMAP_FIXED)
		under = detach(where, to);
	q = remap(p, from, to, flags, where);
	if (q == MAP_FAILED) {
		stays(rest, p, p);
		stays(has, p, p);
		stays(under, p, p);
		return q;
	}
	ended(rest);
	ended(under);
	if (!grows || shim_is_allocators((const void *)c.pc)) {
		stays(has, p, q);
		return q;
	}
	/* As realloc(): one that has ended, and one that begins. */
	ended(has);
	begins(q, to, &c);
	return q;
}
