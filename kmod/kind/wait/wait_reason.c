// SPDX-License-Identifier: GPL-2.0-only
/*
 * wait_reason: the cause of a task's wait, by its state and by the call that it is in.
 *
 * The kernel's frames would tell more; but not everybody may see them. A task that waits
 * outside of a system call, and is not stopped, does so in a page fault.
 */
#include "wait_reason.h"
#include "compat/sched.h"
#include "waits.h"

#include <asm/syscall.h>
#include <asm/unistd.h>
#include <linux/compat.h>
#include <linux/fdtable.h>
#include <linux/fs.h>
#include <linux/futex.h>
#include <linux/gprof.h>
#include <linux/nospec.h>
#include <linux/rcupdate.h>
#include <linux/sched/task_stack.h>
#include <linux/stat.h>

#ifndef FUTEX_LOCK_PI2
#define FUTEX_LOCK_PI2	13
#endif

#define BLOCKED	(TASK_UNINTERRUPTIBLE | TASK_RTLOCK_WAIT)

/*
 * Another thread may close it, and the number may be another file's then: the memory is
 * that of a file all the same, for a grace period.
 */
static u32 for_file(struct task_struct *task, u32 fd)
{
	struct inode *inode = NULL;
	struct file *file = NULL;
	struct fdtable *table;
	umode_t mode;

	rcu_read_lock();
	if (task->files) {
		table = rcu_dereference_raw(task->files->fdt);
		if (fd < table->max_fds) {
			/* The number is the user's. */
			fd = array_index_nospec(fd, table->max_fds);
			file = rcu_dereference_raw(table->fd[fd]);
		}
		inode = file ? READ_ONCE(file->f_inode) : NULL;
	}
	mode = inode ? READ_ONCE(inode->i_mode) : 0;
	rcu_read_unlock();
	return S_ISFIFO(mode) ? GPROF_WAIT_FOR_PIPE : S_ISSOCK(mode) ? GPROF_WAIT_FOR_SOCKET :
	       GPROF_WAIT_FOR_FILE;
}

static u32 for_call(struct task_struct *task, struct pt_regs *regs, int call)
{
	unsigned long args[6];

	if (gprof_wait_in_futex(call))
		return GPROF_WAIT_FOR_FUTEX;
	switch (call) {
	case __NR_nanosleep:
	case __NR_clock_nanosleep:
		return GPROF_WAIT_FOR_SLEEP;
	case __NR_accept:
	case __NR_accept4:
	case __NR_connect:
	case __NR_recvfrom:
	case __NR_recvmsg:
	case __NR_recvmmsg:
	case __NR_sendto:
	case __NR_sendmsg:
	case __NR_sendmmsg:
		return GPROF_WAIT_FOR_SOCKET;
	case __NR_read:
	case __NR_write:
	case __NR_readv:
	case __NR_writev:
	case __NR_pread64:
	case __NR_pwrite64:
	case __NR_preadv:
	case __NR_pwritev:
	case __NR_preadv2:
	case __NR_pwritev2:
		syscall_get_arguments(task, regs, args);
		return for_file(task, args[0]);
#ifdef __NR_poll
	case __NR_poll:
	case __NR_select:
	case __NR_epoll_wait:
#endif
	case __NR_ppoll:
	case __NR_pselect6:
	case __NR_epoll_pwait:
#ifdef __NR_epoll_pwait2
	case __NR_epoll_pwait2:
#endif
		return GPROF_WAIT_FOR_POLL;
	case __NR_wait4:
	case __NR_waitid:
		return GPROF_WAIT_FOR_CHILD;
#ifdef __NR_pause
	case __NR_pause:
#endif
	case __NR_rt_sigsuspend:
	case __NR_rt_sigtimedwait:
		return GPROF_WAIT_FOR_SIGNAL;
	default:
		return GPROF_WAIT_FOR_OTHER;
	}
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
