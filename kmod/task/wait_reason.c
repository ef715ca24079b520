// SPDX-License-Identifier: GPL-2.0-only
/*
 * wait_reason: the cause of a task's wait, by its state and by the call that it is in.
 *
 * The kernel's frames would tell more; but not everybody may see them. A task that waits
 * outside of a system call, and is not stopped, does so in a page fault.
 */
#include "wait_reason.h"
#include "compat/sched.h"

#include <asm/syscall.h>
#include <asm/unistd.h>
#include <linux/compat.h>
#include <linux/fdtable.h>
#include <linux/fs.h>
#include <linux/futex.h>
#include <linux/gprof.h>
#include <linux/kernel.h>
#include <linux/nospec.h>
#include <linux/rcupdate.h>
#include <linux/sched/task_stack.h>
#include <linux/stat.h>

#ifndef FUTEX_LOCK_PI2
#define FUTEX_LOCK_PI2	13
#endif

#define BLOCKED	(TASK_UNINTERRUPTIBLE | TASK_RTLOCK_WAIT)

/* More than any call that is waited in. */
#define CALLS	512

/* By the system call; FILE: it depends on the first argument. */
static const u8 reasons[CALLS] = {
	[__NR_futex] = GPROF_WAIT_FOR_FUTEX,
#ifdef __NR_futex_waitv
	[__NR_futex_waitv] = GPROF_WAIT_FOR_FUTEX,
#endif
#ifdef __NR_futex_wait
	[__NR_futex_wait] = GPROF_WAIT_FOR_FUTEX,
#endif
	[__NR_nanosleep] = GPROF_WAIT_FOR_SLEEP,
	[__NR_clock_nanosleep] = GPROF_WAIT_FOR_SLEEP,
	[__NR_accept] = GPROF_WAIT_FOR_SOCKET,
	[__NR_accept4] = GPROF_WAIT_FOR_SOCKET,
	[__NR_connect] = GPROF_WAIT_FOR_SOCKET,
	[__NR_recvfrom] = GPROF_WAIT_FOR_SOCKET,
	[__NR_recvmsg] = GPROF_WAIT_FOR_SOCKET,
	[__NR_recvmmsg] = GPROF_WAIT_FOR_SOCKET,
	[__NR_sendto] = GPROF_WAIT_FOR_SOCKET,
	[__NR_sendmsg] = GPROF_WAIT_FOR_SOCKET,
	[__NR_sendmmsg] = GPROF_WAIT_FOR_SOCKET,
	[__NR_read] = GPROF_WAIT_FOR_FILE,
	[__NR_write] = GPROF_WAIT_FOR_FILE,
	[__NR_readv] = GPROF_WAIT_FOR_FILE,
	[__NR_writev] = GPROF_WAIT_FOR_FILE,
	[__NR_pread64] = GPROF_WAIT_FOR_FILE,
	[__NR_pwrite64] = GPROF_WAIT_FOR_FILE,
	[__NR_preadv] = GPROF_WAIT_FOR_FILE,
	[__NR_pwritev] = GPROF_WAIT_FOR_FILE,
	[__NR_preadv2] = GPROF_WAIT_FOR_FILE,
	[__NR_pwritev2] = GPROF_WAIT_FOR_FILE,
#ifdef __NR_poll
	[__NR_poll] = GPROF_WAIT_FOR_POLL,
	[__NR_select] = GPROF_WAIT_FOR_POLL,
	[__NR_epoll_wait] = GPROF_WAIT_FOR_POLL,
#endif
	[__NR_ppoll] = GPROF_WAIT_FOR_POLL,
	[__NR_pselect6] = GPROF_WAIT_FOR_POLL,
	[__NR_epoll_pwait] = GPROF_WAIT_FOR_POLL,
#ifdef __NR_epoll_pwait2
	[__NR_epoll_pwait2] = GPROF_WAIT_FOR_POLL,
#endif
	[__NR_wait4] = GPROF_WAIT_FOR_CHILD,
	[__NR_waitid] = GPROF_WAIT_FOR_CHILD,
#ifdef __NR_pause
	[__NR_pause] = GPROF_WAIT_FOR_SIGNAL,
#endif
	[__NR_rt_sigsuspend] = GPROF_WAIT_FOR_SIGNAL,
	[__NR_rt_sigtimedwait] = GPROF_WAIT_FOR_SIGNAL,
};

/*
 * Of a call on a file. Another thread may close @fd, and the number may be another file's then: the
 * memory is that of a file all the same, for a grace period, which waits for this, as preemption
 * is off.
 */
static u32 for_file(struct task_struct *task, u32 fd)
{
	struct files_struct *files = task->files;
	struct inode *inode;
	struct fdtable *table;
	struct file *file;
	umode_t mode;

	if (!files)
		return GPROF_WAIT_FOR_FILE;
	table = rcu_dereference_raw(files->fdt);
	if (fd >= table->max_fds)
		return GPROF_WAIT_FOR_FILE;
	/* The number is the user's. */
	file = rcu_dereference_raw(table->fd[array_index_nospec(fd, table->max_fds)]);
	inode = file ? READ_ONCE(file->f_inode) : NULL;
	if (!inode)
		return GPROF_WAIT_FOR_FILE;
	mode = READ_ONCE(inode->i_mode);
	return S_ISFIFO(mode) ? GPROF_WAIT_FOR_PIPE : S_ISSOCK(mode) ? GPROF_WAIT_FOR_SOCKET :
	       GPROF_WAIT_FOR_FILE;
}

static u32 for_call(struct task_struct *task, struct pt_regs *regs, unsigned int call)
{
	u32 reason;

	if (unlikely(call >= CALLS))
		return GPROF_WAIT_FOR_OTHER;
	/* The number is the user's. */
	reason = reasons[array_index_nospec(call, CALLS)];
	return reason == GPROF_WAIT_FOR_FILE ? for_file(task, gprof_user_call_arg(regs)) : reason;
}

/**
 * gprof_wait_reason() - the cause of a wait
 * @task: current, which is being switched out, or one that sleeps and is kept from waking
 * @state: its state
 *
 * Context: Any but NMI, preemption off.
 * Return: GPROF_WAIT_FOR_*
 */
u32 gprof_wait_reason(struct task_struct *task, unsigned int state)
{
	struct pt_regs *regs;
	bool blocked;
	int call;

	state = gprof_state_it_left_in(task, state);
	blocked = state & BLOCKED && !(state & TASK_NOLOAD);
	if (state & (__TASK_STOPPED | __TASK_TRACED) || gprof_task_frozen(task, state))
		return GPROF_WAIT_FOR_STOPPED;
	if (task->flags & (GPROF_PF_WORKER | GPROF_PF_ENDS))
		return task->in_iowait ? GPROF_WAIT_FOR_IO :
		       blocked ? GPROF_WAIT_FOR_BLOCKED :
		       task->flags & GPROF_PF_WORKER ? GPROF_WAIT_FOR_KERNEL : GPROF_WAIT_FOR_OTHER;
	regs = task_pt_regs(task);
	call = gprof_wait_in_32bit_call(task) ? INT_MAX : gprof_user_call(task, regs);
	if (call < 0)
		return GPROF_WAIT_FOR_FAULT;
	if (task->in_iowait)
		return GPROF_WAIT_FOR_IO;
	return blocked ? GPROF_WAIT_FOR_BLOCKED : for_call(task, regs, call);
}

/**
 * gprof_wait_reason_lock() - the kind of lock, as far as the call tells
 * @task: waits for a lock
 * @addr: gets where it is; 0: it is one of many
 *
 * Context: Any but NMI, preemption off.
 * Return: GPROF_WAIT_LOCK_*
 */
u32 gprof_wait_reason_lock(struct task_struct *task, u64 *addr)
{
	struct pt_regs *regs = task_pt_regs(task);
	unsigned long args[6];

	syscall_get_arguments(task, regs, args);
	*addr = args[0];
	switch (gprof_user_call(task, regs)) {
	case __NR_futex:
		break;
#ifdef __NR_futex_waitv
	case __NR_futex_waitv:
		*addr = 0;
		return GPROF_WAIT_LOCK_MANY;
#endif
	default:
		return GPROF_WAIT_LOCK_CONDITION;
	}
	switch (args[1] & FUTEX_CMD_MASK) {
	case FUTEX_WAIT:
		return GPROF_WAIT_LOCK_PLAIN;
	case FUTEX_LOCK_PI:
	case FUTEX_LOCK_PI2:
		return GPROF_WAIT_LOCK_PI;
	default:
		return GPROF_WAIT_LOCK_CONDITION;
	}
}
