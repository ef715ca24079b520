// SPDX-License-Identifier: GPL-2.0-only
/*
 * alloc_probe: allocations that programs make themselves, by probes of the functions that they
 * call for it: the arguments tell the size at the call, its return tells the place.
 *
 * Allocators call each other, and themselves. The outermost call is the program's request:
 * of a task's calls the one is noted that began highest on the stack, until it
 * returns. The task alone writes its note; only places in the table are
 * contended for. A task that ends amid a call gives its place back at its exit.
 *
 * Whether it is sampled is drawn at the call, where the size is known, but it counts where the
 * call has returned a place. A call that is noted nowhere, or never returns, is lost, which is
 * counted.
 */
#include "allocs.h"
#include "alloc_probe_parts.h"
#include "ring/object_table.h"
#include "sample/sampler.h"
#include "target/target.h"

#include <linux/atomic.h>
#include <linux/gprof.h>
#include <linux/hash.h>
#include <linux/mm.h>
#include <linux/overflow.h>
#include <linux/preempt.h>
#include <linux/ptrace.h>
#include <linux/sched.h>
#include <linux/srcu.h>
#include <linux/uaccess.h>

#define NEAR		16	/* places where a task's call may be */
#define RETURN_POPS	16	/* bytes at most, with the padding that keeps the stack aligned */
#define BYTES_MAX	((1ULL << GPROF_BYTE_SAMPLE_BITS) - 1)
#define IMPOSSIBLE	(~0ULL)	/* bytes that nobody gets */

/* ---- calls under way ---- */

static struct gprof_alloc_call *place(const struct gprof_alloc_probes *p,
				      const struct task_struct *task, unsigned int n)
{
	return &p->calls[(hash_ptr(task, GPROF_CALLS_BITS) + n) & ((1 << GPROF_CALLS_BITS) - 1)];
}

static struct gprof_alloc_call *find(const struct gprof_alloc_probes *p,
				     const struct task_struct *task)
{
	unsigned int n;

	for (n = 0; n < NEAR; n++) {
		if (READ_ONCE(place(p, task, n)->task) == task)
			return place(p, task, n);
	}
	return NULL;
}

static struct gprof_alloc_call *claim(const struct gprof_alloc_probes *p)
{
	unsigned int n;

	for (n = 0; n < NEAR; n++) {
		struct gprof_alloc_call *c = place(p, current, n);

		if (!READ_ONCE(c->task) && !cmpxchg(&c->task, NULL, current))
			return c;
	}
	return NULL;
}

static void release_call(struct gprof_alloc_call *c)
{
	/* Pairs with cmpxchg() of the next owner. */
	smp_store_release(&c->task, NULL);
}

static void lose(const struct gprof_allocs *a)
{
	atomic64_inc(&a->sampler->no_buffer);
}

/**
 * gprof_alloc_task_ends() - a task ends, perhaps amid a call
 * @data: probes
 * @task: it
 *
 * Context: As a tracepoint calls it.
 */
void gprof_alloc_task_ends(void *data, struct task_struct *task)
{
	struct gprof_alloc_probes *p = data;
	struct gprof_alloc_call *c = task == current ? find(p, task) : NULL;
	struct gprof_allocs *a = READ_ONCE(p->allocs);

	if (!c)
		return;
	/* Preemption is off, which the end of its task set waits for. */
	if (a && c->weight)
		lose(a);
	release_call(c);
}

/* One that jumps to another has the same stack; the same again means it has been left. */
static bool is_within(const struct gprof_alloc_call *c, const struct gprof_alloc_fn *f,
		      unsigned long sp)
{
	return sp < c->sp || (sp == c->sp && f != c->function);
}

static bool is_end_of(const struct gprof_alloc_call *c, const struct gprof_alloc_fn *f,
		      unsigned long sp)
{
	return f == c->function && sp >= c->sp && sp - c->sp <= RETURN_POPS;
}

/* ---- meaning of the calls ---- */

static struct gprof_alloc_fn *function_of(struct gprof_user_probe *p)
{
	return container_of(p, struct gprof_alloc_fn, probe);
}

static u64 product(u64 a, u64 b)
{
	u64 bytes;

	return check_mul_overflow(a, b, &bytes) ? IMPOSSIBLE : bytes;
}

static u64 bytes_asked(u32 role, struct pt_regs *regs)
{
	u64 first = regs_get_kernel_argument(regs, 0), second = regs_get_kernel_argument(regs, 1);
	u64 third = regs_get_kernel_argument(regs, 2);
	u64 bytes = 0;

	switch (role) {
	case GPROF_ALLOC_FN_MALLOC:
		bytes = first;
		break;
	case GPROF_ALLOC_FN_CALLOC:
		bytes = product(first, second);
		break;
	case GPROF_ALLOC_FN_REALLOC:
	case GPROF_ALLOC_FN_ALIGNED:
		bytes = second;
		break;
	case GPROF_ALLOC_FN_REALLOCARRAY:
		bytes = product(second, third);
		break;
	case GPROF_ALLOC_FN_POSIX_MEMALIGN:
		bytes = third;
		break;
	}
	return bytes > BYTES_MAX ? IMPOSSIBLE : bytes;
}

static bool ends_something(const struct gprof_alloc_call *c)
{
	u32 role = c->function->role;

	return role == GPROF_ALLOC_FN_FREE ||
	       ((role == GPROF_ALLOC_FN_REALLOC || role == GPROF_ALLOC_FN_REALLOCARRAY) &&
		c->bytes != IMPOSSIBLE);
}

static u64 draw(struct gprof_allocs *a, u64 bytes)
{
	u64 weight;

	if (!bytes || bytes == IMPOSSIBLE)
		return 0;
	preempt_disable();
	weight = gprof_byte_sample_take(&this_cpu_ptr(a->cpus)->byte_sample, a->period, bytes);
	preempt_enable();
	return weight;
}

/* 0: it has failed. Where it cannot be read @unknown is set. */
static unsigned long place_of(const struct gprof_alloc_call *c, struct pt_regs *regs, bool *unknown)
{
	unsigned long addr = regs_return_value(regs);

	*unknown = false;
	if (c->function->role != GPROF_ALLOC_FN_POSIX_MEMALIGN)
		return addr;
	if ((int)addr)
		return 0;
	/* It was written just now. A task that waits for a page here would have STOP wait, too. */
	pagefault_disable();
	*unknown = get_user(addr, (unsigned long __user *)c->where);
	pagefault_enable();
	return *unknown ? 0 : addr;
}

static void calls(struct gprof_allocs *a, struct gprof_alloc_fn *f, struct pt_regs *regs)
{
	struct gprof_alloc_probes *p = f->all;
	unsigned long sp = user_stack_pointer(regs), first = regs_get_kernel_argument(regs, 0);
	struct gprof_alloc_call call = {
		.task = current, .function = f, .sp = sp, .where = first,
	}, *c;

	if (!READ_ONCE(a->on))
		return;
	call.bytes = bytes_asked(f->role, regs);
	/* Whether it is freed only shows when it may be another's already. */
	if (a->objects && first && ends_something(&call))
		call.ended = gprof_alloc_ends(a, first);
	if (f->role == GPROF_ALLOC_FN_FREE || !gprof_allocs_are_targets(a))
		return;
	c = find(p, current);
	if (c && is_within(c, f, sp))
		return;
	if (c && c->weight)
		lose(a);
	if (!c)
		c = claim(p);
	call.weight = draw(a, call.bytes);
	if (c)
		*c = call;
	else if (call.weight)
		lose(a);
}

static void returns(struct gprof_allocs *a, struct gprof_alloc_fn *f, struct pt_regs *regs)
{
	struct gprof_alloc_probes *p = f->all;
	struct gprof_alloc_call *c = find(p, current), call;
	unsigned long addr;
	bool unknown;

	if (!c || !is_end_of(c, f, user_stack_pointer(regs)))
		return;
	call = *c;
	release_call(c);
	if (!READ_ONCE(a->on))
		return;
	addr = place_of(&call, regs, &unknown);
	if (unknown && call.weight)
		lose(a);
	/* The memory that it was to move is still there, and its slot is gone. */
	if (!addr && call.ended && call.bytes)
		gprof_object_table_count_full(a->objects);
	if (addr && call.weight)
		gprof_alloc_begins(a, regs, addr, call.bytes, call.weight);
}

static void returned(struct gprof_user_probe *probe, struct pt_regs *regs)
{
	struct gprof_alloc_fn *f = function_of(probe);
	int idx = srcu_read_lock(&gprof_probes_srcu);
	struct gprof_allocs *a = READ_ONCE(f->all->allocs);

	if (a)
		returns(a, f, regs);
	srcu_read_unlock(&gprof_probes_srcu, idx);
}

/* ---- the processes ---- */

/* In the right of its owner: a task that shares it may be anybody. */
static bool is_target(const struct gprof_allocs *a, struct mm_struct *mm)
{
	bool is = false;
#ifdef CONFIG_MEMCG
	struct task_struct *owner;

	rcu_read_lock();
	owner = rcu_dereference(mm->owner);
	is = owner && test_bit(owner->tgid, a->whose.tgids) &&
	     gprof_task_in_mm_seems_allowed(owner, mm, a->whose.target->owner);
	rcu_read_unlock();
#endif
	return is;
}

static bool maps_allocator(struct gprof_user_probe *probe, struct mm_struct *mm)
{
	int idx = srcu_read_lock(&gprof_probes_srcu);
	const struct gprof_allocs *a = READ_ONCE(function_of(probe)->all->allocs);
	bool is = a && is_target(a, mm);

	srcu_read_unlock(&gprof_probes_srcu, idx);
	return is;
}

/* Tasks that come by do not take away a probe that is being ended. */
static bool entered(struct gprof_user_probe *probe, struct pt_regs *regs)
{
	struct gprof_alloc_fn *f = function_of(probe);
	int idx = srcu_read_lock(&gprof_probes_srcu);
	struct gprof_allocs *a = READ_ONCE(f->all->allocs);
	bool stays = !a || is_target(a, current->mm);

	if (a && stays)
		calls(a, f, regs);
	srcu_read_unlock(&gprof_probes_srcu, idx);
	return stays;
}

const struct gprof_user_probe_ops gprof_alloc_probe_ops = {
	.wants = maps_allocator,
	.entered = entered,
	.returned = returned,
};
