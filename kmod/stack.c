// SPDX-License-Identifier: GPL-2.0-only
/*
 * stack: which halves of a stack there are, and where each begins.
 */
#include "stack.h"

#include <linux/gprof.h>
#include <linux/perf_event.h>
#include <linux/ptrace.h>
#include <linux/sched.h>

static struct pt_regs *user_regs(struct pt_regs *regs)
{
	if (user_mode(regs))
		return regs;
	/* Workers borrow an mm, but have no user stack. */
	if (!current->mm || current->flags & (PF_KTHREAD | PF_IO_WORKER))
		return NULL;
	/* In exec the mm is the new program's before the registers are. */
	if (!READ_ONCE(current->mm->start_code))
		return NULL;
	regs = task_pt_regs(current);
	return user_mode(regs) ? regs : NULL;
}

/*
 * The precise modes of amd64 (PEBS, IBS) hand over registers whose instruction
 * is that of the event but whose stack is that of the interrupt. The driver
 * has walked the stack at the right moment: @chain.
 */
static u32 chain_kernel_frames(const struct perf_callchain_entry *chain, u64 ip, u64 *frames,
			       u32 max)
{
	bool kernel = false;
	u32 n = 0;
	u64 i;

	frames[n++] = ip;
	for (i = 0; i < chain->nr && n < max; i++) {
		u64 entry = chain->ip[i];

		if (entry >= PERF_CONTEXT_MAX) {
			kernel = entry == PERF_CONTEXT_KERNEL;
			continue;
		}
		/* The first entry repeats the leaf. */
		if (kernel && (n > 1 || entry != ip))
			frames[n++] = entry;
	}
	return n;
}

/**
 * gprof_stack_capture() - take the stack of the current task
 * @s: where to
 * @o: what to take
 * @regs: registers at the event
 * @chain: call chain that the driver has walked already, or NULL
 *
 * Without GPROF_STACK_F_KERNEL or _USER only the leaf is taken. Where kernel
 * addresses may not be recorded, an event in the kernel (the skid of a counter
 * that counts user mode only) is attributed to the user code that called it.
 *
 * Context: Any incl. NMI, preemption off.
 */
void gprof_stack_capture(struct gprof_stack *s, const struct gprof_stack_options *o,
			 struct pt_regs *regs, const struct perf_callchain_entry *chain)
{
	bool leaf_in_kernel = !user_mode(regs) && o->kernel;
	u32 max;

	s->flags = 0;
	s->nr_kernel = 0;
	s->nr_user = 0;
	if (!o->flags)
		return;

	if (leaf_in_kernel) {
		max = o->flags & GPROF_STACK_F_KERNEL ? o->max_frames : 1;
		if (max == 1) {
			s->frames[0] = instruction_pointer(regs);
			s->nr_kernel = 1;
		} else if (chain) {
			s->nr_kernel = chain_kernel_frames(chain, instruction_pointer(regs),
							   s->frames, max);
		} else {
			s->nr_kernel = gprof_arch_kernel_frames(regs, s->frames, max);
		}
		if (s->nr_kernel == max && max > 1)
			s->flags |= GPROF_STACK_REC_F_KERNEL_CUT;
	}

	if (!(o->flags & GPROF_STACK_F_USER) && leaf_in_kernel)
		return;
	regs = user_regs(regs);
	if (!regs)
		return;
	max = o->flags & GPROF_STACK_F_USER ? o->max_frames : 1;
	s->nr_user = gprof_arch_user_frames(regs, s->frames + s->nr_kernel, max, &s->flags);
}
