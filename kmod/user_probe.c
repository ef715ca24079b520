// SPDX-License-Identifier: GPL-2.0-only
/*
 * user_probe: a place in a file's code where those who run it come by.
 *
 * The kernel knows a probe by file, not by process, and asks of each process that maps the file
 * whether a breakpoint is to be put there. A child of one that has it gets it with its
 * memory, unasked; it is taken away when the child comes by and is not meant.
 *
 * Handlers run in the task that came by, and may sleep.
 *
 * A breakpoint is written to memory of others as a debugger would do it, and that fails for who is
 * being killed: what is there already would stay. So it is done by nobody who can be.
 *
 * It fails as well where the file was cut and is mapped still: with the page the breakpoint is
 * gone, but the kernel cannot tell, and keeps its part of the probe for good (since 6.12 it says
 * "failed to unregister, leaking uprobe"). Nobody is told of that, so nothing here can mend it.
 *
 * Who has met a breakpoint is held to have been killed by one of its own (SIGTRAP) if by the time
 * it asks (uprobe_pre_sstep_notifier()) its process has no probes any more; and of two threads
 * that meet one while the last is ended, the first through makes it so for the other
 * (mmf_recalc_uprobes()). Where CPUs are interrupted to have them forget a page (x86, but for AMD's
 * INVLPGB), none is on its way any more when a breakpoint is gone; on arm64 one may be. So while
 * probes are ended one of their file is held, by who wants it nowhere, until all who may
 * have met a breakpoint have asked.
 */
#include "user_probe.h"
#include "arch.h"
#include "compat/mm.h"
#include "compat/mmap_lock.h"
#include "compat/workqueue.h"

#include <linux/dcache.h>
#include <linux/errno.h>
#include <linux/file.h>
#include <linux/kernel.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>

/**
 * gprof_user_probes_exist() - does this kernel have them?
 */
bool gprof_user_probes_exist(void)
{
	return IS_ENABLED(CONFIG_UPROBES);
}

static struct gprof_user_probe *probe_of(struct uprobe_consumer *uc)
{
	return container_of(uc, struct gprof_user_probe, consumer);
}

static bool wants(GPROF_UPROBE_FILTER_ARGS)
{
	return probe_of(uc)->ops->wants(probe_of(uc), mm);
}

static int entered(GPROF_UPROBE_ENTRY_ARGS)
{
	struct gprof_user_probe *p = probe_of(uc);

	if (!p->ops->wants(p, current->mm))
		return UPROBE_HANDLER_REMOVE;
	p->ops->entered(p, regs);
	return 0;
}

static int returned(GPROF_UPROBE_RETURN_ARGS)
{
	probe_of(uc)->ops->returned(probe_of(uc), regs);
	return 0;
}

static bool nobody(GPROF_UPROBE_FILTER_ARGS)
{
	return false;
}

static int passed(GPROF_UPROBE_ENTRY_ARGS)
{
	return 0;
}

/**
 * gprof_user_probe_open() - say where
 * @p: probe; zeroed, but for what its maker sets
 * @fd: descriptor of a regular file that is open for reading
 * @offset: of an instruction
 *
 * Context: Task.
 * Return: 0; -EINVAL: it is no such file, or not as long.
 */
int gprof_user_probe_open(struct gprof_user_probe *p, int fd, u64 offset)
{
	struct file *file = fget(fd);
	struct inode *inode;

	if (!file)
		return -EINVAL;
	/* Of a file of overlayfs, that which is mapped. */
	inode = d_real_inode(file->f_path.dentry);
	if (!S_ISREG(inode->i_mode) || !(file->f_mode & FMODE_READ) ||
	    offset >= i_size_read(inode)) {
		fput(file);
		return -EINVAL;
	}
	p->file = file;
	p->inode = inode;
	p->offset = offset;
	return 0;
}

/**
 * gprof_user_probe_is_code() - is there code of a process?
 * @p: probe that was opened
 * @mm: of the process
 *
 * Context: Task, without mmap_lock.
 */
bool gprof_user_probe_is_code(const struct gprof_user_probe *p, struct mm_struct *mm)
{
	struct vm_area_struct *vma;
	bool is = false;

	if (mmap_read_lock_killable(mm))
		return false;
	{
		VMA_ITERATOR(vmi, mm, 0);

		for_each_vma(vmi, vma) {
			u64 from = (u64)vma->vm_pgoff << PAGE_SHIFT;

			if (vma->vm_file && file_inode(vma->vm_file) == p->inode &&
			    vma->vm_flags & VM_EXEC && !(vma->vm_flags & (VM_WRITE | VM_SHARED)) &&
			    p->offset >= from && p->offset - from < vma->vm_end - vma->vm_start) {
				is = true;
				break;
			}
		}
	}
	mmap_read_unlock(mm);
	return is;
}

/**
 * gprof_user_probe_close() - forget it
 * @p: probe that is not set; also one that was never opened
 *
 * Context: Task.
 */
void gprof_user_probe_close(struct gprof_user_probe *p)
{
	if (p->file)
		fput(p->file);
	p->file = NULL;
}

/**
 * struct change - a probe that is set, or ended
 * @work: by whom
 * @probe: it
 */
struct change {
	struct work_struct work;
	struct gprof_user_probe *probe;
};

static void run(struct gprof_user_probe *p, work_func_t what)
{
	struct change c = { .probe = p };

	INIT_WORK_ONSTACK(&c.work, what);
	queue_work(system_dfl_wq, &c.work);
	flush_work(&c.work);
	destroy_work_on_stack(&c.work);
}

static void set(struct work_struct *work)
{
	struct gprof_user_probe *p = container_of(work, struct change, work)->probe;

	p->handle = gprof_uprobe_register(p->inode, p->offset, &p->consumer);
}

static void unset(struct work_struct *work)
{
	struct gprof_user_probe *p = container_of(work, struct change, work)->probe;

	gprof_uprobe_unregister(p->handle, p->inode, p->offset, &p->consumer);
}

static void hold(struct work_struct *work)
{
	struct gprof_user_probe *p = container_of(work, struct change, work)->probe;

	p->held = gprof_uprobe_register(p->inode, p->offset, &p->holder);
}

static void let_go(struct work_struct *work)
{
	struct gprof_user_probe *p = container_of(work, struct change, work)->probe;

	gprof_uprobe_unregister(p->held, p->inode, p->offset, &p->holder);
}

/**
 * gprof_user_probe_set() - from now on
 * @p: probe that was opened
 *
 * Context: Task, without mmap_lock; sleeps. Asks of each process that has mapped the file.
 * Return: 0; -EINVAL: the file is not as long any more, or no instruction begins there;
 * -EOPNOTSUPP: it is none that can be probed; -ENOMEM.
 */
int gprof_user_probe_set(struct gprof_user_probe *p)
{
	p->consumer = (struct uprobe_consumer){
		.handler = entered,
		.ret_handler = p->returns ? returned : NULL,
		.filter = wants,
	};
	/* The kernel lets one begin at the very end, and then has to leave it behind. */
	if (p->offset >= i_size_read(p->inode))
		return -EINVAL;
	run(p, set);
	p->is_set = !IS_ERR(p->handle);
	if (p->is_set)
		return 0;
	switch (PTR_ERR(p->handle)) {
	case -EINVAL:
	case -ENOMEM:
		return PTR_ERR(p->handle);
	default:
		/* What the kernel has for it programs do not know, or as something else. */
		return i_size_read(p->inode) > p->offset ? -EOPNOTSUPP : -EINVAL;
	}
}

/**
 * gprof_user_probe_unset() - end it; calls may be under way until gprof_user_probes_settle()
 * @p: probe, also one that is not set; one of its file is held until none is on its way there
 *
 * Context: Task, without mmap_lock; sleeps.
 */
void gprof_user_probe_unset(struct gprof_user_probe *p)
{
	if (p->is_set)
		run(p, unset);
	p->is_set = false;
}

/**
 * gprof_user_probe_hold() - have the kernel know that its file has probes
 * @p: probe; one that is not set is not held, for what is there the kernel may not know
 *
 * Before the first of the file is ended. It is not held without memory, which is as the kernel's
 * own probes are, nor where the file was cut, and the breakpoint is gone.
 *
 * Context: Task, without mmap_lock; sleeps.
 */
void gprof_user_probe_hold(struct gprof_user_probe *p)
{
	if (!p->is_set || p->offset >= i_size_read(p->inode))
		return;
	p->holder = (struct uprobe_consumer){ .handler = passed, .filter = nobody };
	run(p, hold);
	p->is_held = !IS_ERR(p->held);
}

/**
 * gprof_user_probe_let_go() - end that, after gprof_user_probes_pass()
 * @p: probe, also one that is not held
 *
 * Context: Task, without mmap_lock; sleeps.
 */
void gprof_user_probe_let_go(struct gprof_user_probe *p)
{
	if (p->is_held)
		run(p, let_go);
	p->is_held = false;
}

/**
 * gprof_user_probes_pass() - wait until none is on its way to a call by a breakpoint that was met
 * before
 *
 * Context: Task; sleeps.
 */
void gprof_user_probes_pass(void)
{
	if (GPROF_BREAKPOINT_IS_ATOMIC)
		synchronize_rcu();
	else
		synchronize_rcu_tasks();
}

/**
 * gprof_user_probes_settle() - wait until none is in a call of what was ended or let go
 *
 * Context: Task; sleeps.
 */
void gprof_user_probes_settle(void)
{
	gprof_uprobes_settle();
}
