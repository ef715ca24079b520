// SPDX-License-Identifier: GPL-2.0-only
/*
 * mapping: from an NMI to a worker that reads a process' mappings.
 *
 * In the sampling context gprof_maps_want() looks into a small cache (one per
 * CPU, written by that CPU in whatever context). The cache forgets at will,
 * which costs a reading too many and is never wrong: an entry that an NMI tore
 * mixes a start time of one process with the id of another and matches none.
 *
 * Lock order: mmap_lock of the sampled process, then nothing of ours.
 */
#include "mapping.h"
#include "compat/mm.h"
#include "process.h"
#include "target.h"

#include <linux/cred.h>
#include <linux/dcache.h>
#include <linux/fs.h>
#include <linux/kdev_t.h>
#include <linux/mm.h>
#include <linux/pid.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>
#include <linux/slab.h>
#include <linux/timekeeping.h>

static struct gprof_seen_process *seen_entry(struct gprof_channel *ch,
					     const struct gprof_process *p)
{
	u64 h = (p->start_ns ^ p->pid) * 0x9E3779B97F4A7C15ULL;

	return &ch->seen[(h >> 32) % GPROF_MAPS_SEEN];
}

static bool ask(struct gprof_channel *ch, u32 pid)
{
	int i;

	for (i = 0; i < GPROF_MAPS_WANTED; i++) {
		int old = atomic_cmpxchg(&ch->wanted[i], 0, pid);

		if (!old || old == pid)
			return true;
	}
	return false;
}

/**
 * gprof_maps_want() - make sure that the mappings of a process are in the buffer
 * @m: reader
 * @ch: channel of this CPU
 * @process: which process
 * @layout: stamp of its mappings now
 * @generation: current generation of @ch
 *
 * Context: Any incl. NMI, on the CPU of @ch, preemption off.
 */
void gprof_maps_want(struct gprof_maps *m, struct gprof_channel *ch,
		     const struct gprof_process *process, u32 layout, u16 generation)
{
	struct gprof_seen_process *seen = seen_entry(ch, process);

	if (gprof_same_process(&seen->process, process) && seen->layout == layout &&
	    seen->generation == generation)
		return;
	/* When no place is free, the next new stack asks again. */
	if (!ask(ch, process->pid))
		return;
	seen->process = *process;
	seen->layout = layout;
	seen->generation = generation;
	irq_work_queue(&m->irq_work);
}

static void hand_over(struct irq_work *work)
{
	struct gprof_maps *m = container_of(work, struct gprof_maps, irq_work);

	queue_work(system_highpri_wq, &m->work);
}

struct reading {
	struct gprof_maps *m;
	struct gprof_process process;
	u64 time;
	u32 layout;
	u16 flags;
};

static void write_record(struct reading *r, struct gprof_map_rec *rec, const char *path, u32 room)
{
	u32 size = sizeof(*rec) + room;
	struct gprof_channel *ch;
	void *place;

	preempt_disable();
	ch = r->m->channels[smp_processor_id()];
	if (!ch) {
		atomic64_inc(&r->m->missed);
		goto out;
	}
	gprof_buffer_begin(&ch->buffer, ktime_get_mono_fast_ns());
	place = gprof_buffer_reserve(&ch->buffer, size, 0);
	if (place) {
		rec->rec.type = GPROF_REC_MAP;
		rec->rec.flags = r->flags;
		rec->rec.size = size;
		memcpy(place, rec, sizeof(*rec));
		memset(place + size - 8, 0, 8);		/* the path's end and what pads it */
		memcpy(place + sizeof(*rec), path, strlen(path));
	} else {
		local64_inc(&ch->buffer.maps_lost);
	}
	gprof_buffer_end(&ch->buffer);
out:
	preempt_enable();
}

static const char *path_of(struct gprof_maps *m, struct vm_area_struct *vma)
{
	const char *name = NULL;

	if (vma->vm_file) {
		name = d_path(&vma->vm_file->f_path, m->path, PATH_MAX);
		return IS_ERR(name) ? "//toolong" : name;
	}
	if (vma->vm_ops && vma->vm_ops->name)
		name = vma->vm_ops->name(vma);
	return name ?: "//anon";
}

/* Write one mapping behind the next one has been found, so that the last is known. */
static void write_mapping(struct reading *r, struct vm_area_struct *vma, bool last)
{
	const char *path = path_of(r->m, vma);
	struct gprof_map_rec rec = {
		.process = r->process,
		.time = r->time,
		.start = vma->vm_start,
		.end = vma->vm_end,
		.offset = (u64)vma->vm_pgoff << PAGE_SHIFT,
		.layout = r->layout,
	};

	if (vma->vm_file) {
		struct inode *inode = file_inode(vma->vm_file);

		rec.inode = inode->i_ino;
		rec.inode_generation = inode->i_generation;
		rec.dev_major = MAJOR(inode->i_sb->s_dev);
		rec.dev_minor = MINOR(inode->i_sb->s_dev);
	} else {
		rec.offset = 0;
	}
	if (last)
		r->flags |= GPROF_MAP_REC_F_LAST;
	write_record(r, &rec, path, ALIGN(strlen(path) + 1, 8));
	r->flags &= ~GPROF_MAP_REC_F_FIRST;
}

static void read_mm(struct reading *r, struct mm_struct *mm)
{
	VMA_ITERATOR(vmi, mm, 0);
	struct vm_area_struct *vma, *found = NULL;

	mmap_assert_locked(mm);
	r->layout = (u32)mm->exec_vm;
	r->time = ktime_get_mono_fast_ns();
	r->flags = GPROF_MAP_REC_F_FIRST;
	for_each_vma(vmi, vma) {
		if (!(vma->vm_flags & VM_EXEC))
			continue;
		if (found)
			write_mapping(r, found, false);
		found = vma;
	}
	if (found)
		write_mapping(r, found, true);
}

static void read_process(struct gprof_maps *m, u32 pid)
{
	struct reading r = { .m = m };
	struct task_struct *task;
	struct mm_struct *mm = NULL;

	/* A worker lives in the initial pid namespace, as do the ids in samples. */
	rcu_read_lock();
	task = pid_task(find_vpid(pid), PIDTYPE_TGID);
	if (task) {
		get_task_struct(task);
		gprof_process_of(&r.process, task);
	}
	rcu_read_unlock();
	if (task && gprof_task_allowed(task, m->owner))
		mm = get_task_mm(task);
	if (mm) {
		mmap_read_lock(mm);
		read_mm(&r, mm);
		mmap_read_unlock(mm);
		mmput(mm);
	} else {
		atomic64_inc(&m->missed);
	}
	if (task)
		put_task_struct(task);
}

static void read_wanted(struct work_struct *work)
{
	struct gprof_maps *m = container_of(work, struct gprof_maps, work);
	unsigned int cpu, i;

	for_each_possible_cpu(cpu) {
		struct gprof_channel *ch = m->channels[cpu];

		for (i = 0; ch && i < GPROF_MAPS_WANTED; i++) {
			/*
			 * Free the place first: who asks from now on is read
			 * again. The exchange is a full barrier and pairs with
			 * atomic_cmpxchg() in ask().
			 */
			u32 pid = atomic_read(&ch->wanted[i]) ?
				  atomic_xchg(&ch->wanted[i], 0) : 0;

			if (pid) {
				read_process(m, pid);
				cond_resched();
			}
		}
	}
}

/**
 * gprof_maps_init() - make a reader
 * @m: reader
 * @channels: channels by CPU, which outlive @m
 * @owner: who may see what; a reference is taken
 *
 * Context: Task.
 * Return: 0 or -ENOMEM.
 */
int gprof_maps_init(struct gprof_maps *m, struct gprof_channel **channels,
		    const struct cred *owner)
{
	m->path = kmalloc(PATH_MAX, GFP_KERNEL_ACCOUNT);
	if (!m->path)
		return -ENOMEM;
	m->channels = channels;
	m->owner = get_cred(owner);
	init_irq_work(&m->irq_work, hand_over);
	INIT_WORK(&m->work, read_wanted);
	return 0;
}

/**
 * gprof_maps_flush() - wait until all that was asked for is written
 * @m: reader; no source asks any more
 *
 * Context: Task, without mmap_lock of any process.
 */
void gprof_maps_flush(struct gprof_maps *m)
{
	irq_work_sync(&m->irq_work);
	flush_work(&m->work);
}

/**
 * gprof_maps_destroy() - free a reader
 * @m: reader that gprof_maps_init() made; no source uses it any more
 *
 * Context: Task.
 */
void gprof_maps_destroy(struct gprof_maps *m)
{
	gprof_maps_flush(m);
	put_cred(m->owner);
	kfree(m->path);
}
