// SPDX-License-Identifier: GPL-2.0-only
/*
 * memlock: the limit of perf's buffers (kernel/events/core.c, perf_mmap()).
 *
 * Each user may pin mlock_kb per online CPU, and RLIMIT_MEMLOCK beyond it, over
 * all his processes. The count is the kernel's own (user->locked_vm), which
 * perf, io_uring and others share.
 */
#include "memlock.h"

#include <linux/capability.h>
#include <linux/cpumask.h>
#include <linux/cred.h>
#include <linux/mm.h>
#include <linux/moduleparam.h>
#include <linux/sched/signal.h>
#include <linux/sched/user.h>

static unsigned int mlock_kb = 1024;
module_param(mlock_kb, uint, 0644);
MODULE_PARM_DESC(mlock_kb, "KiB per CPU that each user may pin beyond RLIMIT_MEMLOCK");

static u64 limit_pages(void)
{
	u64 limit = (u64)READ_ONCE(mlock_kb) * num_online_cpus() >> (PAGE_SHIFT - 10);

	return limit + (rlimit(RLIMIT_MEMLOCK) >> PAGE_SHIFT);
}

/**
 * gprof_charge() - charge the calling user
 * @c: zeroed
 * @bytes: how much
 * @unlimited: count, but allow any amount
 *
 * Context: Task.
 * Return: 0, or -ENOMEM over the limit.
 */
int gprof_charge(struct gprof_charge *c, u64 bytes, bool unlimited)
{
	struct user_struct *user = current_user();
	u64 pages = DIV_ROUND_UP(bytes, PAGE_SIZE);
	unsigned long now;

	now = atomic_long_add_return(pages, &user->locked_vm);
	c->limit = unlimited || (now > limit_pages() && capable(CAP_IPC_LOCK)) ? ULONG_MAX :
										 limit_pages();
	if (now > c->limit) {
		atomic_long_sub(pages, &user->locked_vm);
		return -ENOMEM;
	}
	c->cred = get_current_cred();
	atomic64_set(&c->pages, pages);
	return 0;
}

/**
 * gprof_charge_more() - charge the user of a charge again
 * @c: charge
 * @bytes: how much
 *
 * The limit is that of the first charge, for the caller may be a worker.
 *
 * Context: Task.
 * Return: 0, or -ENOMEM over the limit.
 */
int gprof_charge_more(struct gprof_charge *c, u64 bytes)
{
	atomic_long_t *locked = &c->cred->user->locked_vm;
	u64 pages = DIV_ROUND_UP(bytes, PAGE_SIZE);

	if ((unsigned long)atomic_long_add_return(pages, locked) > c->limit) {
		atomic_long_sub(pages, locked);
		return -ENOMEM;
	}
	atomic64_add(pages, &c->pages);
	return 0;
}

/**
 * gprof_charge_less() - take a part of a charge back
 * @c: charge
 * @bytes: as gprof_charge_more() was told
 *
 * Context: Task.
 */
void gprof_charge_less(struct gprof_charge *c, u64 bytes)
{
	u64 pages = DIV_ROUND_UP(bytes, PAGE_SIZE);

	atomic_long_sub(pages, &c->cred->user->locked_vm);
	atomic64_sub(pages, &c->pages);
}

/**
 * gprof_uncharge() - take a charge back
 * @c: charge, or zeroed
 *
 * Context: Task.
 */
void gprof_uncharge(struct gprof_charge *c)
{
	if (!c->cred)
		return;
	atomic_long_sub(atomic64_read(&c->pages), &c->cred->user->locked_vm);
	put_cred(c->cred);
	c->cred = NULL;
}
