// SPDX-License-Identifier: GPL-2.0-only
/*
 * mapping_record: MAP records, and their way from the owner's thread into a ring.
 *
 * A ring is written on its own CPU, and the ring to write is that of the CPU that asked: in
 * another the records would begin generations of nothing else, which a flight recorder gives
 * up at other times than the stacks that they are for. The thread makes the records in memory,
 * and an interrupt takes some at a time to that CPU. The thread does not go there itself: a
 * task of real time could keep it from running.
 */
#include "mapping_record.h"
#include "compat/file.h"
#include "mm/build_id.h"
#include "ring/percpu_buffer.h"

#include <linux/dcache.h>
#include <linux/err.h>
#include <linux/fs.h>
#include <linux/irqflags.h>
#include <linux/kdev_t.h>
#include <linux/mm.h>
#include <linux/smp.h>
#include <linux/string.h>
#include <linux/timekeeping.h>

/**
 * gprof_map_begin() - a process is read anew
 * @w: writer; @w->buffers, @w->cpu and @w->process are set
 * @exec_map_seq: stamp of its mappings
 *
 * Context: Task.
 */
void gprof_map_begin(struct gprof_map_writer *w, u32 exec_map_seq)
{
	w->exec_map_seq = exec_map_seq;
	w->time = ktime_get_mono_fast_ns();
	w->flags = GPROF_MAP_REC_F_FIRST;
}

/**
 * struct delivery - records on their way to a ring
 * @writer: has them
 * @fit: there was room for all
 */
struct delivery {
	const struct gprof_map_writer *writer;
	bool fit;
};

/* Interrupts are off; as one from an NMI, the records may come amid those of another producer. */
static void deliver(void *data)
{
	struct delivery *d = data;
	const struct gprof_map_writer *w = d->writer;
	struct gprof_percpu_buffer *ch = w->buffers[smp_processor_id()];
	const struct gprof_rec *rec;
	u32 at;

	if (!ch)
		return;
	gprof_buffer_begin(&ch->buffer, ktime_get_mono_fast_ns());
	for (at = 0; at < w->used; at += rec->size) {
		void *place;

		rec = (const void *)&w->records[at];
		place = gprof_buffer_reserve(&ch->buffer, rec->size, 0);
		if (!place)
			break;
		memcpy(place, rec, rec->size);
	}
	d->fit = at == w->used;
	if (!d->fit)
		local64_inc(&ch->buffer.maps_lost);
	gprof_buffer_end(&ch->buffer);
}

/**
 * gprof_map_flush() - put the records into the ring; that of this CPU where the other has gone
 * @w: writer
 *
 * Context: Task.
 * Return: whether there was room.
 */
bool gprof_map_flush(struct gprof_map_writer *w)
{
	struct delivery d = { .writer = w };
	unsigned long flags;

	if (!w->used)
		return true;
	if (smp_call_function_single(w->cpu, deliver, &d, 1)) {
		local_irq_save(flags);
		deliver(&d);
		local_irq_restore(flags);
	}
	w->used = 0;
	return d.fit;
}

/**
 * gprof_map_call() - have the reader look at the records at once
 * @w: writer, whose records were flushed
 *
 * Context: Task.
 */
void gprof_map_call(struct gprof_map_writer *w)
{
	struct gprof_percpu_buffer *ch = w->buffers[w->cpu];

	if (ch)
		gprof_buffer_call(&ch->buffer);
}

/* @file: or NULL. */
static bool write_record(struct gprof_map_writer *w, struct gprof_map_rec *rec, const char *path,
			 const struct gprof_map_file *file)
{
	u32 path_end = sizeof(*rec) + ALIGN(strlen(path) + 1, 8);
	u32 size = path_end + (file ? sizeof(*file) : 0);
	void *place;

	if (w->used + size > sizeof(w->records) && !gprof_map_flush(w))
		return false;
	place = &w->records[w->used];
	rec->rec.type = GPROF_REC_MAP;
	rec->rec.flags = w->flags;
	rec->rec.size = size;
	memcpy(place, rec, sizeof(*rec));
	memset(place + path_end - 8, 0, 8);	/* the path's end and its padding */
	memcpy(place + sizeof(*rec), path, strlen(path));
	if (file)
		memcpy(place + path_end, file, sizeof(*file));
	w->used += size;
	return !(rec->rec.flags & GPROF_MAP_REC_F_LAST) || gprof_map_flush(w);
}

static const char *path_of(struct gprof_map_writer *w, struct vm_area_struct *vma)
{
	const char *name = NULL;

	if (vma->vm_file) {
		name = d_path(gprof_user_path(vma->vm_file), w->path, PATH_MAX);
		return IS_ERR(name) ? "//toolong" : name;
	}
	if (vma->vm_ops && vma->vm_ops->name)
		name = vma->vm_ops->name(vma);
	return name ?: "//anon";
}

static void describe_file(struct file *file, struct gprof_map_file *f)
{
	struct inode *inode = file_inode(file);
	int size = gprof_build_id(file, f->build_id, sizeof(f->build_id));

	f->file_size = i_size_read(inode);
	f->mtime_ns = gprof_mtime_ns(inode);
	/* A file that d_path() calls deleted. */
	if (d_unlinked(gprof_user_path(file)->dentry))
		f->flags |= GPROF_MAP_FILE_F_DELETED;
	if (size < 0)
		f->flags |= GPROF_MAP_FILE_F_UNREAD;
	else
		f->build_id_size = size;
}

/**
 * gprof_map_write() - write the record of one mapping
 * @w: writer, after gprof_map_begin()
 * @vma: mapping
 * @last: no more will follow
 *
 * Context: Task, mmap_lock held.
 * Return: false: the ring has no room. Otherwise the record may still be in @w, unless it is the
 * last.
 */
bool gprof_map_write(struct gprof_map_writer *w, struct vm_area_struct *vma, bool last)
{
	bool written;
	const char *path = path_of(w, vma);
	struct gprof_map_file file = {};
	struct gprof_map_rec rec = {
		.process = w->process,
		.time = w->time,
		.start = vma->vm_start,
		.end = vma->vm_end,
		.offset = (u64)vma->vm_pgoff << PAGE_SHIFT,
		.exec_map_seq = w->exec_map_seq,
	};

	if (vma->vm_file) {
		struct inode *inode = file_inode(vma->vm_file);

		rec.inode = inode->i_ino;
		rec.inode_generation = inode->i_generation;
		rec.dev_major = MAJOR(inode->i_sb->s_dev);
		rec.dev_minor = MINOR(inode->i_sb->s_dev);
		describe_file(vma->vm_file, &file);
		w->flags |= GPROF_MAP_REC_F_FILE;
	} else {
		rec.offset = 0;
	}
	if (last)
		w->flags |= GPROF_MAP_REC_F_LAST;
	written = write_record(w, &rec, path, vma->vm_file ? &file : NULL);
	w->flags &= ~(GPROF_MAP_REC_F_FIRST | GPROF_MAP_REC_F_FILE);
	return written;
}
