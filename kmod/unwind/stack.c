// SPDX-License-Identifier: GPL-2.0-only
/*
 * stack: which halves of a stack there are, and where each begins.
 */
#include "stack.h"
#include "compat/preempt.h"
#include "compat/sched.h"
#include "mm/exec_map_seq.h"
#include "python.h"
#include "unwind_user.h"

#include <linux/gprof.h>
#include <linux/perf_event.h>
#include <linux/preempt.h>
#include <linux/ptrace.h>
#include <linux/sched.h>
#include <linux/uaccess.h>

/* The registers with which a task in the kernel has left user mode. */
static struct pt_regs *saved_user_regs(struct task_struct *task, const struct mm_struct *mm)
{
	struct pt_regs *regs;

	/* Workers borrow an mm, but have no user stack. */
	if (!mm || task->flags & GPROF_PF_WORKER)
		return NULL;
	/* In exec the mm is the new program's before the registers are. */
	if (!READ_ONCE(mm->start_code))
		return NULL;
	regs = task_pt_regs(task);
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

/* @all: else there is time for the leaf alone. */
static void kernel_frames(struct gprof_top *top, const struct gprof_stack_options *o,
			  struct pt_regs *regs, const struct perf_callchain_entry *chain, bool all)
{
	u32 max = all && o->flags & GPROF_STACK_F_KERNEL ? o->max_frames : 1;

	if (max == 1) {
		top->frames[0] = instruction_pointer(regs);
		top->nr_kernel = 1;
		if (!all && o->flags & GPROF_STACK_F_KERNEL && o->max_frames > 1)
			top->flags |= GPROF_STACK_REC_F_KERNEL_CUT;
		return;
	}
	if (chain)
		top->nr_kernel = chain_kernel_frames(chain, instruction_pointer(regs), top->frames,
						     max);
	else
		top->nr_kernel = gprof_arch_kernel_frames(regs, top->frames, max);
	if (top->nr_kernel == max)
		top->flags |= GPROF_STACK_REC_F_KERNEL_CUT;
}

/* The end of the walk, where somebody wants to know. */
static void note_end(struct gprof_stack *s, const struct gprof_stack_options *o, u32 end)
{
	if (end != GPROF_STACK_END_COMPLETE)
		s->top.flags |= GPROF_STACK_REC_F_USER_CUT;
	if (o->table_set)
		s->top.flags |= GPROF_STACK_REC_F_TABLES;
	if (o->table_set || end == GPROF_STACK_END_TIME)
		s->top.flags |= end << GPROF_STACK_REC_END_SHIFT;
}

static noinline void python_frames(struct gprof_stack *s, const struct gprof_mm_tables *mm_tables,
				   struct task_struct *task)
{
	u32 nr = s->user_frames.nr;

	if (!mm_tables || !rcu_access_pointer(mm_tables->list))
		return;
	s->top.flags |= gprof_python_unwind(&s->user_frames, mm_tables, task);
	s->nr_python = s->user_frames.nr - nr;
}

/* The callers of the leaf. */
static void unwind_user_frames(struct gprof_stack *s, const struct gprof_stack_options *o,
			       struct task_struct *task, struct pt_regs *regs, bool loaded,
			       const struct gprof_mm_tables *mm_tables, u64 version)
{
	u32 max = o->max_frames - 1, end = GPROF_STACK_END_NR;
	u64 fp, sp;

	if (!s->until || !gprof_arch_user_reads(regs, loaded)) {
		gprof_user_frames_cut(&s->user_frames, 0);
		note_end(s, o, s->until ? GPROF_STACK_END_MODE : GPROF_STACK_END_TIME);
		return;
	}
	pagefault_disable();
	if (o->table_set)
		end = gprof_unwind_user(s, o->table_set, mm_tables, version, regs, max);
	if (end != GPROF_STACK_END_NR) {
		note_end(s, o, end);
		if (o->flags & GPROF_STACK_F_PYTHON && end != GPROF_STACK_END_TIME)
			python_frames(s, mm_tables, task);
	} else {
		/* Frames of a walk have no records to compare with. */
		if (o->table_set)
			gprof_user_frames_cut(&s->user_frames, 0);
		fp = gprof_arch_first_record(regs, &s->top);
		sp = gprof_arch_user_stack(regs);
		if (!gprof_user_fp_unwind(&s->user_frames, fp, sp, max) || o->table_set)
			note_end(s, o, GPROF_STACK_END_UNREAD);
	}
	pagefault_enable();
}

/* @user: registers of user mode in current's mm, or NULL; @loaded: so are its page tables. */
static __always_inline void user_frames(struct gprof_stack *s, const struct gprof_stack_options *o,
					struct task_struct *task, struct pt_regs *user, bool loaded)
{
	struct gprof_mm_tables *mm_tables = NULL;
	u64 version;

	s->wants_mm_tables = false;
	s->nr_python = 0;
	if (user && o->table_set)
		mm_tables = gprof_mm_tables_find(o->table_set, current->mm);
	if (mm_tables && s->until)
		gprof_mm_tables_check(mm_tables, s->until);
	/* Pairs with bump() in mm_tables.c: lists that are read from here on are not older. */
	version = mm_tables    ? smp_load_acquire(&mm_tables->version) :
		  o->table_set ? GPROF_UNWIND_UNKNOWN :
				 0;
	gprof_user_frames_begin(&s->user_frames, task,
				user ? gprof_exec_map_seq_of(current->mm) : 0, version);
	if (!user) {
		gprof_user_frames_cut(&s->user_frames, 0);
		return;
	}
	s->top.frames[s->top.nr_kernel] = instruction_pointer(user);
	s->top.nr_user = 1;
	if (!(o->flags & GPROF_STACK_F_USER) || o->max_frames == 1) {
		gprof_user_frames_cut(&s->user_frames, 0);
		return;
	}
	unwind_user_frames(s, o, task, user, loaded, mm_tables, version);
}

/**
 * gprof_stack_capture() - take the stack of the current task
 * @s: where to; @s->until is set
 * @o: parts to take
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
	bool in_user = user_mode(regs), leaf_in_kernel = !in_user && o->kernel;
	struct pt_regs *user = NULL;

	s->top.flags = 0;
	s->top.nr_kernel = 0;
	s->top.nr_user = 0;
	if (leaf_in_kernel && o->flags)
		kernel_frames(&s->top, o, regs, chain, s->until);
	if (o->flags && (o->flags & GPROF_STACK_F_USER || !leaf_in_kernel))
		user = in_user ? regs : saved_user_regs(current, current->mm);
	user_frames(s, o, current, user, in_user && in_hardirq() && !in_nmi());
}

/* The flags of a part, by how the whole ended. */
static u32 part_flags(const struct gprof_stack *whole, const struct gprof_stack_options *o,
		      u32 nr_native)
{
	u32 keep = GPROF_STACK_REC_F_CALLER | GPROF_STACK_REC_F_CALLER_PUSHED |
		   GPROF_STACK_REC_F_GUESSED;
	u32 flags = 0;

	if (o->flags & GPROF_STACK_F_PYTHON)
		keep |= GPROF_STACK_REC_F_PYTHON | GPROF_STACK_REC_F_PYTHON_CUT;
	if (nr_native == whole->user_frames.nr - whole->nr_python) {
		keep |= GPROF_STACK_REC_F_USER_CUT | GPROF_STACK_REC_F_TABLES |
			0xf << GPROF_STACK_REC_END_SHIFT;
	} else {
		flags = GPROF_STACK_REC_F_USER_CUT;
		if (o->table_set)
			flags |= GPROF_STACK_REC_F_TABLES |
				 GPROF_STACK_END_MAX << GPROF_STACK_REC_END_SHIFT;
	}
	return flags | (whole->top.flags & keep);
}

/* Returns whether @to differed. */
static bool copy_words(u64 *to, const u64 *from, u32 nr)
{
	bool differs = false;

	for (; nr; nr--, to++, from++) {
		differs |= *to != *from;
		*to = *from;
	}
	return differs;
}

/**
 * gprof_stack_part() - the stack that gprof_stack_capture() would have taken with other options
 * @part: where to
 * @whole: stack of the current task, with at least as much
 * @o: parts to take
 * @regs: registers at the event
 *
 * Context: As gprof_stack_capture().
 */
void gprof_stack_part(struct gprof_stack *part, const struct gprof_stack *whole,
		      const struct gprof_stack_options *o, struct pt_regs *regs)
{
	bool leaf_in_kernel = !user_mode(regs) && o->kernel;
	const struct gprof_user_frames *all = &whole->user_frames;
	u32 nr_kernel = 0, nr_user = 0, nr_python = 0, nr = 0, exec_map_seq = 0;
	struct gprof_user_frames *c = &part->user_frames;
	bool changed;

	part->top.flags = 0;
	if (leaf_in_kernel && o->flags)
		nr_kernel = min_t(u32, whole->top.nr_kernel,
				  o->flags & GPROF_STACK_F_KERNEL ? o->max_frames : 1);
	if (nr_kernel > 1 && nr_kernel == o->max_frames)
		part->top.flags |= GPROF_STACK_REC_F_KERNEL_CUT;
	if (o->flags && (o->flags & GPROF_STACK_F_USER || !leaf_in_kernel)) {
		nr_user = min_t(u32, whole->top.nr_user, 1);
		exec_map_seq = all->exec_map_seq;
	}
	if (nr_user && o->flags & GPROF_STACK_F_USER && o->max_frames > 1) {
		nr_user = whole->top.nr_user;
		if (o->flags & GPROF_STACK_F_PYTHON)
			nr_python = whole->nr_python;
		nr = min_t(u32, all->nr - whole->nr_python, o->max_frames - 1);
		part->top.flags |= part_flags(whole, o, nr);
	}
	part->top.nr_kernel = nr_kernel;
	part->top.nr_user = nr_user;
	copy_words(part->top.frames, whole->top.frames, nr_kernel);
	copy_words(part->top.frames + nr_kernel, whole->top.frames + whole->top.nr_kernel, nr_user);

	if (!gprof_same_process(&c->process, &all->process) || c->exec_map_seq != exec_map_seq) {
		c->process = all->process;
		c->exec_map_seq = exec_map_seq;
		c->process_version++;
		c->version++;
	}
	changed = copy_words(c->frames, all->frames, nr_python);
	changed |= copy_words(c->frames + nr_python, all->frames + whole->nr_python, nr);
	changed |= c->nr != nr_python + nr;
	c->nr = nr_python + nr;
	c->version += changed;
}

/**
 * gprof_stack_capture_task() - take the stack of a task that does not run
 * @s: where to
 * @o: parts to take; the leaf alone is not among them
 * @task: task, whose kernel stack is there. Should it begin to run, the result is of no
 *	use, and does no harm
 *
 * The user frames are taken where current, a thread of the kernel, has borrowed @task's mm.
 *
 * Context: Task, preemption off.
 */
void gprof_stack_capture_task(struct gprof_stack *s, const struct gprof_stack_options *o,
			      struct task_struct *task)
{
	struct pt_regs *user = NULL;

	s->until = U64_MAX;
	s->top.flags = 0;
	s->top.nr_kernel = 0;
	s->top.nr_user = 0;
	if (o->flags & GPROF_STACK_F_KERNEL && o->kernel) {
		s->top.nr_kernel = gprof_arch_task_frames(task, s->top.frames, o->max_frames);
		if (s->top.nr_kernel == o->max_frames)
			s->top.flags |= GPROF_STACK_REC_F_KERNEL_CUT;
	}
	if (o->flags & GPROF_STACK_F_USER && current->mm && READ_ONCE(task->mm) == current->mm)
		user = saved_user_regs(task, current->mm);
	user_frames(s, o, task, user, true);
}

/**
 * gprof_stack_capture_self() - take the user frames of current, amid a system call
 * @s: where to
 * @o: parts to take: GPROF_STACK_F_USER, and no kernel
 *
 * The caller knows its own callers: an address that may not be a caller is left out.
 *
 * Context: Task, preemption off.
 */
void gprof_stack_capture_self(struct gprof_stack *s, const struct gprof_stack_options *o)
{
	s->until = U64_MAX;
	s->top.flags = 0;
	s->top.nr_kernel = 0;
	s->top.nr_user = 0;
	user_frames(s, o, current, saved_user_regs(current, current->mm), true);
	s->top.nr_user = min_t(u16, s->top.nr_user, 1);
	s->top.flags &= ~(GPROF_STACK_REC_F_CALLER | GPROF_STACK_REC_F_CALLER_PUSHED);
}

/**
 * gprof_stack_capture_none() - the empty stack
 * @s: where to
 * @task: whose it is
 *
 * Context: Task, preemption off.
 */
void gprof_stack_capture_none(struct gprof_stack *s, struct task_struct *task)
{
	s->top.flags = 0;
	s->top.nr_kernel = 0;
	s->top.nr_user = 0;
	s->wants_mm_tables = false;
	s->nr_python = 0;
	gprof_user_frames_begin(&s->user_frames, task, 0, 0);
	gprof_user_frames_cut(&s->user_frames, 0);
}
