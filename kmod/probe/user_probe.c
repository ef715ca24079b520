// SPDX-License-Identifier: GPL-2.0-only
/*
 * user_probe: a place in a file's code where threads that run it come by.
 *
 * The kernel knows a probe by file, not by process, and asks of each process that maps the file
 * whether a breakpoint is to be put there. A child of one that has it gets it with its
 * memory, unasked; it is taken away when the child comes by and is not meant.
 *
 * Handlers run in the task that came by, and may sleep.
 *
 * A breakpoint is written to memory of others as a debugger would do it, and that fails for a task
 * that is being killed: breakpoints there already would stay. So threads of the kernel do it, which
 * nobody kills; and nobody has to wait for them.
 *
 * To set and to end a probe the kernel takes the lock of each address space that maps the file, and
 * lets nobody fork meanwhile. A process can hold its own for as long as it likes. So all of them
 * are waited for before (gprof_user_probe_await()). A process that takes its lock just then makes
 * all forks wait, which nothing here can prevent; the kernel's log tells of it.
 *
 * It fails as well where the file was cut and is mapped still: with the page the breakpoint is
 * gone, but the kernel cannot tell, and keeps its part of the probe for good (since 6.12 it says
 * "failed to unregister, leaking uprobe"). Nobody is told of that, so nothing here can mend it.
 *
 * A thread at a breakpoint is held to have been killed by one of its own (SIGTRAP) if by the time
 * it asks (uprobe_pre_sstep_notifier()) its process has no probes any more; and of two threads
 * that meet one while the last is ended, the first through makes it so for the other
 * (mmf_recalc_uprobes()). Where CPUs are interrupted to have them forget a page (x86, but for AMD's
 * INVLPGB), none is on its way any more when a breakpoint is gone; on arm64 one may be. So while
 * probes are ended one of their file is held, by a holder that wants it nowhere, until all threads
 * that may have met a breakpoint have asked.
 */
#include "user_probe.h"
#include "arch/arch.h"
#include "compat/mm.h"
#include "compat/mmap_lock.h"
#include "user/later.h"

#include <linux/atomic.h>
#include <linux/dcache.h>
#include <linux/errno.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/kernel.h>
#include <linux/math64.h>
#include <linux/rbtree.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/timekeeping.h>

#define LONG_MS	100	/* that nobody can fork are told */

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

	return p->ops->entered(p, regs) ? 0 : UPROBE_HANDLER_REMOVE;
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
 * @p: probe; zeroed, but for the members that its maker sets
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

/* ---- processes that map it ---- */

static bool is_there(const struct gprof_user_probe *p, const struct vm_area_struct *vma)
{
	u64 from = (u64)vma->vm_pgoff << PAGE_SHIFT;

	return (vma->vm_flags & (VM_MAYEXEC | VM_MAYSHARE)) == VM_MAYEXEC && p->offset >= from &&
	       p->offset - from < vma->vm_end - vma->vm_start;
}

/* Returns how many there are; of the first @max a reference is taken. */
static unsigned int find_mms(const struct gprof_user_probe *p, struct mm_struct **mms,
			     unsigned int max)
{
	struct address_space *mapping = p->inode->i_mapping;
	struct vm_area_struct *vma;
	struct rb_node *node;
	unsigned int nr = 0;

	i_mmap_lock_read(mapping);
	for (node = rb_first_cached(&mapping->i_mmap); node; node = rb_next(node)) {
		vma = rb_entry(node, struct vm_area_struct, shared.rb);
		if (!is_there(p, vma))
			continue;
		if (nr < max) {
			mmgrab(vma->vm_mm);
			mms[nr] = vma->vm_mm;
		}
		nr++;
	}
	i_mmap_unlock_read(mapping);
	return nr;
}

static void drop_mms(struct mm_struct **mms, unsigned int nr)
{
	while (nr--)
		mmdrop(mms[nr]);
	kvfree(mms);
}

static int get_mms(const struct gprof_user_probe *p, struct mm_struct ***mms, unsigned int *nr)
{
	unsigned int max;

	*mms = NULL;
	for (*nr = find_mms(p, NULL, 0); *nr; drop_mms(*mms, max)) {
		max = *nr + *nr / 8;
		*mms = kvcalloc(max, sizeof(**mms), GFP_KERNEL);
		if (!*mms)
			return -ENOMEM;
		*nr = find_mms(p, *mms, max);
		if (*nr <= max)
			break;
	}
	return 0;
}

/* In the initial pid namespace; 0: it has ended. */
static u32 process_of(const struct mm_struct *mm)
{
	struct task_struct *process, *task;
	u32 pid = 0;

	rcu_read_lock();
	for_each_process_thread(process, task) {
		if (READ_ONCE(task->mm) == mm && !(task->flags & PF_KTHREAD))
			pid = task_tgid_nr(task);
	}
	rcu_read_unlock();
	return pid;
}

/**
 * gprof_user_mm_holder() - a word that changes with each writer that gets the lock of an address
 * space, and with the first reader after one
 * @mm: address space
 *
 * Context: Any.
 * Return: the word; always 0 where the kernel keeps none.
 */
unsigned long gprof_user_mm_holder(const struct mm_struct *mm)
{
#ifdef CONFIG_PREEMPT_RT
	return 0;
#else
	return atomic_long_read(&mm->mmap_lock.owner);
#endif
}

/*
 * In turn with others that want it. The next of them has the lock as soon as it is let go, even
 * where that task does not run. So the wait ends when the lock is free, or changes hands.
 */
static void await_mm(struct mm_struct *mm)
{
	unsigned long holder = 0, now;

	mmap_write_lock(mm);
	mmap_write_unlock(mm);
	while (!gprof_mmap_write_trylock(mm)) {
		now = gprof_user_mm_holder(mm);
		if (holder && now != holder)
			return;
		holder = now;
		set_current_state(TASK_UNINTERRUPTIBLE);
		gprof_sleep_until(ktime_get_mono_fast_ns() + 100 * NSEC_PER_USEC);
	}
	mmap_write_unlock(mm);
}

/**
 * gprof_user_probe_await() - wait until each process that maps the file has let go of its lock
 * @p: probe that was opened
 * @waits: is told an address space and its process, in the initial pid namespace, before it is
 *	waited for, and NULL after
 * @data: for @waits
 *
 * As a writer, in turn with those that want it too: it is as long as it takes the kernel to set
 * or to end the probe, but keeps nobody from forking.
 *
 * Context: Thread of the kernel; sleeps.
 * Return: 0 or -ENOMEM.
 */
int gprof_user_probe_await(const struct gprof_user_probe *p,
			   void (*waits)(void *data, struct mm_struct *mm, u32 pid), void *data)
{
	struct mm_struct **mms;
	unsigned int i, nr;
	int err = get_mms(p, &mms, &nr);

	if (err)
		return err;
	for (i = 0; i < nr; i++) {
		/* The end of one is not waited for. */
		if (!atomic_read(&mms[i]->mm_users))
			continue;
		if (!gprof_mmap_write_trylock(mms[i])) {
			waits(data, mms[i], process_of(mms[i]));
			await_mm(mms[i]);
			waits(data, NULL, 0);
		} else {
			mmap_write_unlock(mms[i]);
		}
		cond_resched();
	}
	drop_mms(mms, nr);
	return 0;
}

/* ---- life ---- */

/* As a process that maps the file held the lock of its address space, or there are many. */
static void tell_wait(const struct gprof_user_probe *p, u64 began)
{
	u64 ms = div_u64(ktime_get_mono_fast_ns() - began, NSEC_PER_MSEC);

	if (ms >= LONG_MS)
		pr_notice_ratelimited("nobody could fork for %llu ms, while a probe of %pD was set or ended\n",
				      ms, p->file);
}

static struct uprobe *start(struct gprof_user_probe *p, struct uprobe_consumer *uc)
{
	u64 began = ktime_get_mono_fast_ns();
	struct uprobe *handle = gprof_uprobe_register(p->inode, p->offset, uc);

	tell_wait(p, began);
	return handle;
}

static void end_probe(struct gprof_user_probe *p, struct uprobe *handle, struct uprobe_consumer *uc)
{
	u64 began = ktime_get_mono_fast_ns();

	gprof_uprobe_unregister(handle, p->inode, p->offset, uc);
	tell_wait(p, began);
}

/**
 * gprof_user_probe_set() - from now on
 * @p: probe that was opened
 *
 * Context: Thread of the kernel; sleeps. Asks of each process that has mapped the file.
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
	p->handle = start(p, &p->consumer);
	p->is_set = !IS_ERR(p->handle);
	if (p->is_set)
		return 0;
	switch (PTR_ERR(p->handle)) {
	case -EINVAL:
	case -ENOMEM:
		return PTR_ERR(p->handle);
	default:
		/* Programs do not know the kernel's error for it, or know it as something else. */
		return i_size_read(p->inode) > p->offset ? -EOPNOTSUPP : -EINVAL;
	}
}

/**
 * gprof_user_probe_unset() - end it; calls may be under way until gprof_user_probes_settle()
 * @p: probe, also one that is not set; one of its file is held until none is on its way there
 *
 * Context: Thread of the kernel; sleeps.
 */
void gprof_user_probe_unset(struct gprof_user_probe *p)
{
	if (p->is_set)
		end_probe(p, p->handle, &p->consumer);
	p->is_set = false;
}

/**
 * gprof_user_probe_hold() - have the kernel know that its file has probes
 * @p: probe that is set; of another the kernel may not know the code there
 *
 * Before the first of the file is ended. It is not held without memory, which is as the kernel's
 * own probes are, nor where the file was cut, and the breakpoint is gone.
 *
 * Context: Thread of the kernel; sleeps.
 */
void gprof_user_probe_hold(struct gprof_user_probe *p)
{
	if (p->offset >= i_size_read(p->inode))
		return;
	p->holder = (struct uprobe_consumer){ .handler = passed, .filter = nobody };
	p->held = start(p, &p->holder);
	p->is_held = !IS_ERR(p->held);
}

/**
 * gprof_user_probe_put() - end that, after gprof_user_probes_pass()
 * @p: probe, also one that is not held
 *
 * Context: Thread of the kernel; sleeps.
 */
void gprof_user_probe_put(struct gprof_user_probe *p)
{
	if (p->is_held)
		end_probe(p, p->held, &p->holder);
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
 * gprof_user_probes_settle() - wait until none is in a call of a probe that was ended or let go
 *
 * Context: Task; sleeps.
 */
void gprof_user_probes_settle(void)
{
	gprof_uprobes_settle();
}
