/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * wait_reason: why does a task wait, and may it be for a lock of user space?
 */
#ifndef GPROF_WAIT_REASON_H
#define GPROF_WAIT_REASON_H

#include "arch/arch.h"
#include "compat/sched.h"

#include <asm/syscall.h>
#include <asm/unistd.h>
#include <linux/compat.h>
#include <linux/sched.h>
#include <linux/sched/task_stack.h>
#include <linux/types.h>

/* Nobody but the task itself changes these, and it sleeps or is about to. */
static inline bool gprof_wait_in_32bit_call(struct task_struct *task)
{
#if defined(CONFIG_X86_64) && defined(CONFIG_COMPAT)
	return task_thread_info(task)->status & TS_COMPAT;
#elif defined(CONFIG_COMPAT)
	return is_compat_thread(task_thread_info(task));
#else
	return false;
#endif
}

static inline bool gprof_wait_in_futex(int call)
{
	switch (call) {
	case __NR_futex:
#ifdef __NR_futex_waitv
	case __NR_futex_waitv:
#endif
#ifdef __NR_futex_wait
	case __NR_futex_wait:
#endif
		return true;
	default:
		return false;
	}
}

/**
 * gprof_wait_is_for_lock() - may it be a lock of user space?
 * @task: current, which is being switched out, or one that sleeps and is kept from waking
 * @state: its state
 *
 * Such waits are interruptible; other sleeps in that call are none. Nor are those
 * when a signal has interrupted the call: to be frozen, to write a core file, to end.
 *
 * Context: Any but NMI, preemption off.
 */
static inline bool gprof_wait_is_for_lock(struct task_struct *task, unsigned int state)
{
	state = gprof_state_it_left_in(task, state);
	if (!(state & TASK_INTERRUPTIBLE) || task->flags & (GPROF_PF_WORKER | GPROF_PF_ENDS) ||
	    gprof_task_frozen(task, state) || gprof_wait_in_32bit_call(task))
		return false;
	return gprof_wait_in_futex(gprof_user_call(task, task_pt_regs(task)));
}

u32 gprof_wait_reason(struct task_struct *task, unsigned int state);
u32 gprof_wait_reason_lock(struct task_struct *task, u64 *addr);

#endif /* GPROF_WAIT_REASON_H */
