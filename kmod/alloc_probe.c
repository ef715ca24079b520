// SPDX-License-Identifier: GPL-2.0-only
/*
 * alloc_probe: what programs allocate themselves, by probes of the functions that they call
 * for it: what the arguments say at the call, where it is when that returns.
 *
 * Allocators call each other, and themselves. The outermost call is what the program asked
 * for: of a task's calls the one is noted that began highest on the stack, until it
 * returns. What is noted is written by the task alone; only places in the table are
 * contended for. A task that ends amid a call gives its place back at its exit.
 *
 * Whether it is sampled is drawn at the call, where the size is known, but it counts where the
 * call has returned a place. A call that is noted nowhere, or never returns, is lost, which is
 * counted.
 */
#include "alloc_probe.h"
#include "alloc.h"
#include "alloc_told.h"
#include "live.h"
#include "memlock.h"
#include "sampler.h"
#include "user_probe.h"

#include <linux/atomic.h>
#include <linux/gprof.h>
#include <linux/hash.h>
#include <linux/mm.h>
#include <linux/overflow.h>
#include <linux/preempt.h>
#include <linux/ptrace.h>
#include <linux/sched.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#define CALLS_BITS	10	/* of how many tasks may be in a call at once */
#define NEAR		16	/* places where a task's call may be */
#define RETURN_POPS	16	/* bytes at most, with what keeps the stack aligned */
#define BYTES_MAX	((1ULL << GPROF_THIN_BYTES_BITS) - 1)
#define IMPOSSIBLE	(~0ULL)	/* bytes that nobody gets */

/**
 * struct function - what is probed
 * @probe: the probe
 * @role: GPROF_ALLOC_FN_*
 * @all: what it is one of
 */
struct function {
	struct gprof_user_probe probe;
	u32 role;
	struct gprof_alloc_probes *all;
};

/**
 * struct call - that a task is in a call
 * @task: whose; NULL: nobody's. The rest is the task's alone
 * @function: called
 * @sp: stack pointer at the call
 * @bytes: asked for
 * @weight: for how many it stands; 0: it is not sampled
 * @where: of the pointer that is set, for who returns none
 * @ended: it has ended something that was live
 */
struct call {
	struct task_struct *task;
	const struct function *function;
	unsigned long sp;
	u64 bytes;
	u64 weight;
	unsigned long where;
	bool ended;
};

/**
 * struct gprof_alloc_probes - functions of allocators
 * @allocs: what they are probed for
 * @exit: where tasks end
 * @calls: those under way
 * @nr: how many functions
 * @functions: them
 */
struct gprof_alloc_probes {
	struct gprof_allocs *allocs;
	struct gprof_tap_user exit;
	struct call *calls;
	unsigned int nr;
	struct function functions[];
};

/* ---- calls under way ---- */

static struct call *place(const struct gprof_alloc_probes *p, const struct task_struct *task,
			  unsigned int n)
{
	return &p->calls[(hash_ptr(task, CALLS_BITS) + n) & ((1 << CALLS_BITS) - 1)];
}

static struct call *find(const struct gprof_alloc_probes *p, const struct task_struct *task)
{
	unsigned int n;

	for (n = 0; n < NEAR; n++) {
		if (READ_ONCE(place(p, task, n)->task) == task)
			return place(p, task, n);
	}
	return NULL;
}

static struct call *claim(const struct gprof_alloc_probes *p)
{
	unsigned int n;

	for (n = 0; n < NEAR; n++) {
		struct call *c = place(p, current, n);

		if (!READ_ONCE(c->task) && !cmpxchg(&c->task, NULL, current))
			return c;
	}
	return NULL;
}

static void give_back(struct call *c)
{
	/* Pairs with cmpxchg() of who has it next. */
	smp_store_release(&c->task, NULL);
}

static void lose(const struct gprof_alloc_probes *p)
{
	atomic64_inc(&p->allocs->sampler->no_buffer);
}

static void task_ends(void *data, struct task_struct *task)
{
	struct gprof_alloc_probes *p = data;
	struct call *c = task == current ? find(p, task) : NULL;

	if (!c)
		return;
	if (c->weight)
		lose(p);
	give_back(c);
}

/* One that jumps to another has the same stack; the same again means it has been left. */
static bool is_within(const struct call *c, const struct function *f, unsigned long sp)
{
	return sp < c->sp || (sp == c->sp && f != c->function);
}

static bool is_end_of(const struct call *c, const struct function *f, unsigned long sp)
{
	return f == c->function && sp >= c->sp && sp - c->sp <= RETURN_POPS;
}

/* ---- what they mean ---- */

static struct function *function_of(struct gprof_user_probe *p)
{
	return container_of(p, struct function, probe);
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

static bool ends_something(const struct call *c)
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
	weight = gprof_thin_bytes_take(&this_cpu_ptr(a->cpus)->thin, a->period, bytes);
	preempt_enable();
	return weight;
}

/* 0: it has failed. Where it cannot be read @unknown is set. */
static unsigned long place_of(const struct call *c, struct pt_regs *regs, bool *unknown)
{
	unsigned long addr = regs_return_value(regs);

	*unknown = false;
	if (c->function->role != GPROF_ALLOC_FN_POSIX_MEMALIGN)
		return addr;
	if ((int)addr)
		return 0;
	/* It was written just now. Who waits for a page here would have STOP wait, too. */
	pagefault_disable();
	*unknown = get_user(addr, (unsigned long __user *)c->where);
	pagefault_enable();
	return *unknown ? 0 : addr;
}

static void entered(struct gprof_user_probe *probe, struct pt_regs *regs)
{
	struct function *f = function_of(probe);
	struct gprof_alloc_probes *p = f->all;
	struct gprof_allocs *a = p->allocs;
	unsigned long sp = user_stack_pointer(regs), first = regs_get_kernel_argument(regs, 0);
	struct call call = { .task = current, .function = f, .sp = sp, .where = first }, *c;

	if (!READ_ONCE(a->on))
		return;
	call.bytes = bytes_asked(f->role, regs);
	/* Whether it is freed only shows when it may be another's already. */
	if (a->live && first && ends_something(&call))
		call.ended = gprof_alloc_ends(a, first);
	if (f->role == GPROF_ALLOC_FN_FREE || !gprof_allocs_are_targets(a))
		return;
	c = find(p, current);
	if (c && is_within(c, f, sp))
		return;
	if (c && c->weight)
		lose(p);
	if (!c)
		c = claim(p);
	call.weight = draw(a, call.bytes);
	if (c)
		*c = call;
	else if (call.weight)
		lose(p);
}

static void returned(struct gprof_user_probe *probe, struct pt_regs *regs)
{
	struct function *f = function_of(probe);
	struct gprof_alloc_probes *p = f->all;
	struct gprof_allocs *a = p->allocs;
	struct call *c = find(p, current), call;
	unsigned long addr;
	bool unknown;

	if (!c || !is_end_of(c, f, user_stack_pointer(regs)))
		return;
	call = *c;
	give_back(c);
	if (!READ_ONCE(a->on))
		return;
	addr = place_of(&call, regs, &unknown);
	if (unknown && call.weight)
		lose(p);
	/* What it was to move is still there, and its slot is gone. */
	if (!addr && call.ended && call.bytes)
		gprof_live_leave_out(a->live);
	if (addr && call.weight)
		gprof_alloc_begins(a, regs, addr, call.bytes, call.weight);
}

/* ---- of whom ---- */

/* In the right of its owner: a task that shares it may be anybody. */
static bool wants(struct gprof_user_probe *probe, struct mm_struct *mm)
{
	bool is = false;
#ifdef CONFIG_MEMCG
	const struct gprof_allocs *a = function_of(probe)->all->allocs;
	struct task_struct *owner;

	rcu_read_lock();
	owner = rcu_dereference(mm->owner);
	is = owner && test_bit(owner->tgid, a->whose.tgids) &&
	     gprof_task_in_mm_seems_allowed(owner, mm, a->whose.target->owner);
	rcu_read_unlock();
#endif
	return is;
}

static const struct gprof_user_probe_ops ops = {
	.wants = wants,
	.entered = entered,
	.returned = returned,
};

/* ---- life ---- */

/**
 * gprof_alloc_probes_exist() - can functions of allocators be probed?
 *
 * Without memory cgroups an address space does not know whose it is, without MMU notifiers
 * nobody when it ends.
 */
bool gprof_alloc_probes_exist(void)
{
	return gprof_user_probes_exist() && IS_ENABLED(CONFIG_MEMCG) &&
	       IS_ENABLED(CONFIG_MMU_NOTIFIER) && gprof_tap_exists(GPROF_TAP_EXIT);
}

/**
 * gprof_alloc_probes_bytes() - memory that they take, for the charge
 * @nr: how many functions
 */
u64 gprof_alloc_probes_bytes(u32 nr)
{
	struct gprof_alloc_probes *p;

	return gprof_memory_of(struct_size(p, functions, nr)) +
	       gprof_memory_of(sizeof(struct call) << CALLS_BITS);
}

static int add(struct gprof_alloc_probes *p, const struct gprof_alloc_function *row,
	       struct mm_struct *mm, u32 *reason)
{
	struct function *f = &p->functions[p->nr];
	int err;

	*reason = GPROF_REASON_PARAMS;
	if (!row->role || row->role > GPROF_ALLOC_FN_LAST)
		return -EINVAL;
	*f = (struct function){
		.probe = { .ops = &ops, .returns = row->role != GPROF_ALLOC_FN_FREE },
		.role = row->role,
		.all = p,
	};
	*reason = GPROF_REASON_FILE;
	err = gprof_user_probe_open(&f->probe, row->fd, row->offset);
	if (err)
		return err;
	p->nr++;
	return gprof_user_probe_is_code(&f->probe, mm) ? 0 : -EINVAL;
}

static int add_all(struct gprof_alloc_probes *p, const struct gprof_alloc_params *params,
		   const struct gprof_target *target, u32 *reason)
{
	const struct gprof_alloc_function __user *rows = u64_to_user_ptr(params->functions);
	struct mm_struct *mm;
	unsigned int i;
	int err = 0;

	*reason = GPROF_REASON_TASK_GONE;
	mm = get_task_mm(target->task);
	if (!mm)
		return -ESRCH;
	for (i = 0; i < params->nr_functions && !err; i++) {
		struct gprof_alloc_function row;

		*reason = GPROF_REASON_PARAMS;
		err = copy_from_user(&row, &rows[i], sizeof(row)) ? -EFAULT :
		      add(p, &row, mm, reason);
	}
	mmput(mm);
	return err;
}

/**
 * gprof_alloc_probes_new() - prepare to probe
 * @probes: gets them
 * @a: for what
 * @params: the functions, at most GPROF_ALLOC_FUNCTIONS_MAX
 * @target: whose; tasks
 * @reason: GPROF_REASON_* on error
 *
 * Context: Task, in the process that asks.
 * Return: 0 or a negative errno.
 */
int gprof_alloc_probes_new(struct gprof_alloc_probes **probes, struct gprof_allocs *a,
			   const struct gprof_alloc_params *params,
			   const struct gprof_target *target, u32 *reason)
{
	struct gprof_alloc_probes *p;
	int err;

	*reason = GPROF_REASON_NONE;
	p = kvzalloc(struct_size(p, functions, params->nr_functions), GFP_KERNEL_ACCOUNT);
	if (!p)
		return -ENOMEM;
	p->allocs = a;
	p->exit = (struct gprof_tap_user){
		.tap = GPROF_TAP_EXIT, .on_task = task_ends, .data = p,
	};
	p->calls = kvcalloc(1 << CALLS_BITS, sizeof(*p->calls), GFP_KERNEL_ACCOUNT);
	err = p->calls ? add_all(p, params, target, reason) : -ENOMEM;
	if (err) {
		gprof_alloc_probes_free(p);
		return err;
	}
	*reason = GPROF_REASON_NONE;
	*probes = p;
	return 0;
}

/**
 * gprof_alloc_probes_free() - free; stopped before
 * @p: probes or NULL
 *
 * Context: Task.
 */
void gprof_alloc_probes_free(struct gprof_alloc_probes *p)
{
	if (!p)
		return;
	while (p->nr)
		gprof_user_probe_close(&p->functions[--p->nr].probe);
	kvfree(p->calls);
	kvfree(p);
}

/* One of each file: mostly there is one alone. */
static void hold(struct gprof_alloc_probes *p)
{
	unsigned int i, j;

	for (i = 0; i < p->nr; i++) {
		struct gprof_user_probe *probe = &p->functions[i].probe;

		for (j = 0; j < i; j++) {
			if (p->functions[j].probe.is_held &&
			    p->functions[j].probe.inode == probe->inode)
				break;
		}
		if (j == i)
			gprof_user_probe_hold(probe);
	}
}

static void unset(struct gprof_alloc_probes *p)
{
	unsigned int i;

	hold(p);
	for (i = 0; i < p->nr; i++)
		gprof_user_probe_unset(&p->functions[i].probe);
	gprof_user_probes_pass();
	for (i = 0; i < p->nr; i++)
		gprof_user_probe_let_go(&p->functions[i].probe);
	gprof_user_probes_settle();
	gprof_tap_leave_all(&p->exit, 1);
}

/**
 * gprof_alloc_probes_start() - probe from now on
 * @p: probes; the processes of the target are known
 *
 * Context: Task, without mmap_lock. Asks of each process that has mapped the files.
 * Return: 0 or a negative errno; nothing is probed then.
 */
int gprof_alloc_probes_start(struct gprof_alloc_probes *p)
{
	unsigned int i;
	int err;

	memset(p->calls, 0, sizeof(*p->calls) << CALLS_BITS);
	err = gprof_tap_join_all(&p->exit, 1);
	if (err)
		return err;
	/* Ends first, or what is allocated could be freed unseen. */
	for (i = 0; i < 2 * p->nr && !err; i++) {
		struct function *f = &p->functions[i % p->nr];
		bool frees = f->role == GPROF_ALLOC_FN_FREE, ends = i < p->nr;

		if (frees != ends || (frees && !p->allocs->live))
			continue;
		err = gprof_user_probe_set(&f->probe);
	}
	if (err)
		unset(p);
	return err;
}

/**
 * gprof_alloc_probes_stop() - end it; none is in a call when this returns
 * @p: probes that were started
 *
 * Context: Task, without mmap_lock; sleeps.
 */
void gprof_alloc_probes_stop(struct gprof_alloc_probes *p)
{
	unset(p);
}
