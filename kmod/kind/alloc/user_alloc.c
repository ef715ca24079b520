// SPDX-License-Identifier: GPL-2.0-only
/*
 * user_alloc: allocations that programs make themselves, and tell.
 *
 * A program samples in user space, and makes a call for each sample; recorders whose target it
 * is hear of it. A call is about its program alone: addresses are mixed with a
 * random number that nobody else knows, so that nobody ends another's allocation.
 *
 * All that it says may be wrong. Registers that it gives for its stack are no more than it
 * could load before any sample; two of its threads may tell of one address at once, so
 * that the object table is changed under a lock.
 */
#include "user_alloc.h"
#include "allocs.h"
#include "mm_id.h"
#include "arch/arch.h"
#include "ring/object_table.h"
#include "sample/sampler.h"

#include <asm/processor.h>
#include <linux/gprof.h>
#include <linux/hash.h>
#include <linux/preempt.h>
#include <linux/ptrace.h>
#include <linux/rculist.h>
#include <linux/rwsem.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/sched/task_stack.h>
#include <linux/timekeeping.h>

#define BYTES_MAX	((1ULL << GPROF_BYTE_SAMPLE_BITS) - 1)
#define PERIOD_MAX	(2 * GPROF_ALLOC_PERIOD_MAX)	/* an allocation may be sampled twice */

static DECLARE_RWSEM(listening);	/* held for writing to change the list */
static LIST_HEAD(listeners);		/* read under RCU */
static unsigned int nr_followers;	/* of them, that follow address spaces to their end */

/**
 * gprof_alloc_listen() - be told from now on
 * @a: allocations, with @user_reported
 *
 * Context: Task.
 */
void gprof_alloc_listen(struct gprof_allocs *a)
{
	down_write(&listening);
	list_add_tail_rcu(&a->node, &listeners);
	nr_followers += !!a->owners;
	up_write(&listening);
}

/**
 * gprof_alloc_listen_no_more() - end it; nothing is told once this returns
 * @a: allocations that listen
 *
 * Context: Task; sleeps.
 */
void gprof_alloc_listen_no_more(struct gprof_allocs *a)
{
	down_write(&listening);
	list_del_rcu(&a->node);
	nr_followers -= !!a->owners;
	if (!nr_followers)
		gprof_mm_ids_forget();
	up_write(&listening);
	synchronize_rcu();
}

/* Those of two programs differ in about all bits. */
static unsigned long key_of(const struct gprof_alloc_report *m)
{
	unsigned long key = m->addr ^ m->mm_id;

	return key < 2 ? key + 2 : key;
}

/* As they were when the call was made by which memory was asked for. */
static void set_regs(struct pt_regs *regs, const struct gprof_alloc_report *m)
{
	*regs = *task_pt_regs(current);
	if (!m->pc)
		return;
	instruction_pointer_set(regs, m->pc);
	gprof_user_set_call(regs, m->sp, m->fp);
}

/*
 * It could be live for ever, as nothing will tell of its end. Allocations of the process that is
 * the target stay in the table anyway.
 */
static bool would_never_end(const struct gprof_allocs *a, u32 mm_id)
{
	const struct task_struct *task = a->whose.target->task;

	return a->owners && !mm_id && !(task && current->signal == task->signal);
}

/* Its process ends, and no other runs in its memory. That memory is its last one. */
static bool was_targets_last(const struct gprof_allocs *a, const struct signal_struct *process)
{
	const struct task_struct *task = a->whose.target->task;

	return task && (process == task->signal || current->signal == task->signal) &&
	       !atomic_read(&task->signal->live);
}

static u64 bit_of(u32 mm_id)
{
	return mm_id ? BIT_ULL(mm_id % 64) : 0;
}

/* Under the lock. */
static void own(struct gprof_allocs *a, u32 at, u32 mm_id)
{
	a->owners[at] = mm_id;
	WRITE_ONCE(a->groups[at / GPROF_ALLOC_GROUP],
		   a->groups[at / GPROF_ALLOC_GROUP] | bit_of(mm_id));
}

/* Ends an address space's slots of a group, and looks anew which others have some there. */
static void end_group(struct gprof_allocs *a, u32 group, u32 mm_id)
{
	u32 at = group * GPROF_ALLOC_GROUP;
	u32 end = min(at + GPROF_ALLOC_GROUP, gprof_object_table_slots(a->objects));
	u64 bits = 0;

	raw_spin_lock(&a->ends);
	for (; at < end; at++) {
		if (a->owners[at] == mm_id) {
			gprof_object_table_remove_at(a->objects, at);
			a->owners[at] = 0;
		}
		bits |= bit_of(a->owners[at]);
	}
	WRITE_ONCE(a->groups[group], bits);
	raw_spin_unlock(&a->ends);
}

static void mm_id_ended(u32 mm_id, const struct signal_struct *process)
{
	struct gprof_allocs *a;
	u32 group, nr;

	/* Not RCU: there may be much to end. Others that end meanwhile do not wait for it. */
	down_read(&listening);
	list_for_each_entry(a, &listeners, node) {
		if (!a->owners || was_targets_last(a, process))
			continue;
		nr = DIV_ROUND_UP(gprof_object_table_slots(a->objects), GPROF_ALLOC_GROUP);
		for (group = 0; group < nr; group++) {
			if (!(group & 0xfff))
				cond_resched();
			/* It tells nothing any more: a bit that is not there does not come. */
			if (READ_ONCE(a->groups[group]) & bit_of(mm_id))
				end_group(a, group, mm_id);
		}
	}
	up_read(&listening);
}

static bool is_followed(void)
{
	struct gprof_allocs *a;
	bool is = false;

	if (!READ_ONCE(nr_followers))
		return false;
	rcu_read_lock();
	preempt_disable();
	list_for_each_entry_rcu(a, &listeners, node)
		is |= a->owners && READ_ONCE(a->on) && gprof_allocs_are_targets(a);
	preempt_enable();
	rcu_read_unlock();
	return is;
}

/* Number of current's address space; 0: nobody asks. */
static u32 mm_id_of(const struct gprof_alloc_report *m)
{
	u32 mm_id;

	if (m->what != GPROF_ALLOC_REPORT_ALLOC || !is_followed())
		return 0;
	mm_id = gprof_mm_id_find();
	return mm_id ?: gprof_mm_id_note(mm_id_ended);
}

static void report_sample(struct gprof_allocs *a, struct gprof_capture *c,
			  const struct gprof_alloc_report *m, unsigned long key, u32 mm_id,
			  u64 weight)
{
	c->flags &= ~(GPROF_SAMPLE_REC_F_OBJECT | GPROF_SAMPLE_REC_F_ENDED);
	/* In the table first: a reader of the ring looks there. */
	if (a->objects && (m->flags & GPROF_ALLOC_REPORT_F_NO_ROOM || would_never_end(a, mm_id))) {
		gprof_object_table_count_full(a->objects);
	} else if (a->objects) {
		raw_spin_lock(&a->ends);
		c->object = gprof_object_table_add(a->objects, key, c->time, m->bytes, weight,
						   &c->ended);
		if (c->object && a->owners)
			own(a, GPROF_OBJECT_SLOT(c->object), mm_id);
		raw_spin_unlock(&a->ends);
		if (c->object)
			c->flags |= gprof_object_flags(c);
	}
	gprof_emit(c, a->sampler, weight);
}

/* Any process may end it, even one that has left the target meanwhile. Was there something? */
static bool report_change(struct gprof_allocs *a, const struct gprof_alloc_report *m,
			  unsigned long key)
{
	int at;

	/* The process that frees it has told of it before. Others guess, and get no lock. */
	if (!a->objects || gprof_object_table_find(a->objects, key) < 0)
		return false;
	raw_spin_lock(&a->ends);
	at = gprof_object_table_find(a->objects, key);
	if (at >= 0 && m->what == GPROF_ALLOC_REPORT_FREE) {
		gprof_object_table_remove(a->objects, at, key);
		if (a->owners)
			own(a, at, 0);
	} else if (at >= 0) {
		gprof_object_table_resize(a->objects, at, m->bytes);
	}
	raw_spin_unlock(&a->ends);
	return at >= 0;
}

static int report_check(const struct gprof_alloc_report *m, u32 *reason)
{
	bool alloc = m->what == GPROF_ALLOC_REPORT_ALLOC;
	bool ask = m->what == GPROF_ALLOC_REPORT_ASK;

	*reason = GPROF_REASON_FLAGS;
	if (m->what > GPROF_ALLOC_REPORT_RESIZE || m->flags & ~__GPROF_ALLOC_REPORT_F_ALL)
		return -EOPNOTSUPP;
	if (m->flags && !alloc)
		return -EINVAL;
	*reason = GPROF_REASON_PARAMS;
	if (!m->addr != ask)
		return -EINVAL;
	if (!m->bytes == (alloc || m->what == GPROF_ALLOC_REPORT_RESIZE) || m->bytes > BYTES_MAX)
		return -EINVAL;
	if ((m->sp || m->fp || m->pc) && (!alloc || !m->pc))
		return -EINVAL;
	*reason = GPROF_REASON_PERIOD;
	if (!m->period == alloc || m->period > PERIOD_MAX)
		return -EINVAL;
	*reason = GPROF_REASON_NONE;
	return 0;
}

/**
 * gprof_user_alloc_report() - GPROF_IOC_ALLOC_REPORT
 * @arg: argument; outputs are set, also on error
 *
 * Context: Task.
 * Return: 0 or a negative errno.
 */
int gprof_user_alloc_report(struct gprof_alloc_report *arg)
{
	struct gprof_capture c __uninitialized;
	unsigned long key = key_of(arg);
	struct gprof_allocs *a;
	struct pt_regs regs;
	u64 period = 0;
	u32 mm_id;
	int err;

	arg->out_period = 0;
	err = report_check(arg, &arg->out_reason);
	if (err)
		return err;
	set_regs(&regs, arg);
	mm_id = mm_id_of(arg);
	rcu_read_lock();
	preempt_disable();
	gprof_capture(&c, &regs, ktime_get_mono_fast_ns());
	c.flags |= GPROF_SAMPLE_REC_F_VALUE;
	c.value = arg->bytes;
	list_for_each_entry_rcu(a, &listeners, node) {
		u64 weight;

		if (!READ_ONCE(a->on) || a->probes)
			continue;
		if (arg->what == GPROF_ALLOC_REPORT_FREE || arg->what == GPROF_ALLOC_REPORT_RESIZE)
			report_change(a, arg, key);
		if (!gprof_allocs_are_targets(a))
			continue;
		if (!period || a->period < period)
			period = a->period;
		if (arg->what != GPROF_ALLOC_REPORT_ALLOC)
			continue;
		weight = gprof_byte_sample_again(&this_cpu_ptr(a->cpus)->byte_sample, a->period,
						 arg->bytes, max(arg->bytes, arg->period));
		if (weight)
			report_sample(a, &c, arg, key, mm_id, weight);
	}
	gprof_captured(&c);
	preempt_enable();
	rcu_read_unlock();
	arg->out_period = period;
	return 0;
}

/* ---- allocations that are learned of otherwise ---- */

/* In current's memory, which is known by where the kernel keeps account of it. */
static struct gprof_alloc_report in_own_memory(u32 what, unsigned long addr, u64 bytes)
{
	return (struct gprof_alloc_report){
		.what = what,
		.addr = addr,
		.mm_id = (u64)(unsigned long)current->mm * GOLDEN_RATIO_64,
		.bytes = bytes,
	};
}

/**
 * gprof_alloc_begins() - current has allocated something, and it is sampled
 * @a: allocations that listen
 * @regs: of user mode, as they are behind the call
 * @addr: where it is
 * @bytes: of it, 1 to 2^48 - 1
 * @weight: for how many it stands
 *
 * Context: Task, without mmap_lock; may sleep.
 */
void gprof_alloc_begins(struct gprof_allocs *a, struct pt_regs *regs, unsigned long addr, u64 bytes,
			u64 weight)
{
	struct gprof_alloc_report m = in_own_memory(GPROF_ALLOC_REPORT_ALLOC, addr, bytes);
	struct gprof_capture c __uninitialized;
	struct pt_regs call = *regs;
	u32 mm_id = mm_id_of(&m);

	/* In the call, not behind it, as the shim has it. */
	instruction_pointer_set(&call, instruction_pointer(regs) - 1);
	preempt_disable();
	if (gprof_allocs_are_targets(a)) {
		gprof_capture(&c, &call, ktime_get_mono_fast_ns());
		c.flags |= GPROF_SAMPLE_REC_F_VALUE;
		c.value = bytes;
		report_sample(a, &c, &m, key_of(&m), mm_id, weight);
		gprof_captured(&c);
	}
	preempt_enable();
}

/**
 * gprof_alloc_ends() - current is going to free something
 * @a: allocations that listen
 * @addr: where it is
 *
 * Context: Task.
 * Return: was it live?
 */
bool gprof_alloc_ends(struct gprof_allocs *a, unsigned long addr)
{
	struct gprof_alloc_report m = in_own_memory(GPROF_ALLOC_REPORT_FREE, addr, 0);
	bool was;

	/* The holder of the lock must not be interrupted by a task that wants it. */
	preempt_disable();
	was = report_change(a, &m, key_of(&m));
	preempt_enable();
	return was;
}
