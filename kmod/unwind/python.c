// SPDX-License-Identifier: GPL-2.0-only
/*
 * python: follow the list of frames that CPython keeps for each of its threads.
 *
 * Where things are in its memory differs from version to version: the library says so with
 * the table of the interpreter's file, in offsets. The content there may be anything that a
 * hostile program wants, and may change under our eyes: every address is looked at before
 * it is used, every list is followed for so many steps, and the result is words, which
 * nobody here makes anything of. To find out which C frames they belong between needs
 * names, and is for user space.
 */
#include "python.h"
#include "arch/arch.h"
#include "compat/uaccess.h"

#include <linux/minmax.h>
#include <linux/pid_namespace.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/string.h>
#include <linux/uaccess.h>

#define INTERPRETERS	4	/* of a process, to look for a thread in */
#define THREADS		256	/* of all these */
#define OWNED_BY_C	3	/* the owner that GPROF_PYTHON_F_OWNER is about */

/**
 * gprof_python_copy() - take user space's description of an interpreter
 * @python: gets it
 * @from: where
 *
 * Context: Task; reads user memory.
 * Return: 0, -EFAULT, -E2BIG, or -EINVAL.
 */
int gprof_python_copy(struct gprof_python *python, const struct gprof_python __user *from)
{
	const u32 *offset;
	u32 size;
	int err;

	BUILD_BUG_ON(sizeof(*python) != GPROF_PYTHON_SIZE_VER0);
	if (get_user(size, &from->size))
		return -EFAULT;
	if (size < GPROF_PYTHON_SIZE_VER0 || size > PAGE_SIZE)
		return -EINVAL;
	err = copy_struct_from_user(python, sizeof(*python), from, size);
	if (err)
		return err;
	if (python->size != size || python->flags & ~__GPROF_PYTHON_F_ALL || python->__reserved)
		return -EINVAL;
	for (offset = &python->interpreters; offset < &python->__reserved; offset++)
		if (*offset > GPROF_PYTHON_OFFSET_MAX &&
		    (offset != &python->cframe_frame || *offset != GPROF_PYTHON_NONE))
			return -EINVAL;
	return 0;
}

/* A word of the process' memory. */
static __always_inline bool read_u64(u64 *to, u64 base, u32 offset)
{
	u64 addr = gprof_user_strip(base + offset);

	return !(addr & 7) && gprof_user_readable(addr) && gprof_user_u64(to, addr);
}

/* A number of 32 bits there, or of fewer, in the low ones. */
static __always_inline bool read_u32(u32 *to, u64 base, u32 offset)
{
	u64 addr = base + offset, whole;

	if (!read_u64(&whole, addr & ~7ULL, 0))
		return false;
	*to = whole >> (addr & 7) * 8;
	return true;
}

/* @thread becomes 0 where the interpreters have no such thread; false: that is not known. */
static __always_inline bool find_thread(const struct gprof_python *p, u64 runtime, u64 tid,
					u64 *thread)
{
	u32 interpreters, threads = 0;
	u64 at, id;

	*thread = 0;
	if (!read_u64(&at, runtime, p->interpreters))
		return false;
	for (interpreters = 0; at; interpreters++) {
		if (interpreters == INTERPRETERS || !read_u64(thread, at, p->interpreter_threads))
			return false;
		while (*thread) {
			if (threads++ == THREADS || !read_u64(&id, *thread, p->thread_native_id))
				return false;
			if (id == tid)
				return true;
			if (!read_u64(thread, *thread, p->thread_next))
				return false;
		}
		if (!read_u64(&at, at, p->interpreter_next))
			return false;
	}
	return true;
}

/* The words that tell of a frame, but for how it was called. */
static __always_inline bool frame_words(const struct gprof_python *p, u64 frame, u64 *told,
					u64 *check)
{
	u64 code, instr, at, filename, name, qualname, hash;
	u32 line;

	if (!read_u64(&code, frame, p->frame_code) || !read_u64(&instr, frame, p->frame_instr) ||
	    !read_u64(&filename, code, p->code_filename) || !read_u64(&name, code, p->code_name) ||
	    !read_u64(&qualname, code, p->code_qualname) || !read_u32(&line, code, p->code_line) ||
	    !read_u64(&hash, name, p->string_hash))
		return false;
	if (code & 7 || code >> 3 & ~GPROF_PYTHON_CODE)
		return false;
	/* Before the first it is the one that is not there. */
	at = (instr + 2 - code - p->code_instrs) / 2;
	at = min_t(u64, at, GPROF_PYTHON_AT >> GPROF_PYTHON_AT_SHIFT);
	*told = GPROF_PYTHON_FRAME | at << GPROF_PYTHON_AT_SHIFT | code >> 3;
	*check = gprof_python_check(hash, filename, qualname, line);
	return true;
}

/*
 * Returns whether these are all. @nr: words that @to gets, two of each frame. Besides frames
 * there are marks, after each of which there is a frame, or nothing.
 */
static __always_inline bool follow_frame(const struct gprof_python *p, u64 thread, u64 *to,
					 u32 room, u32 *nr)
{
	bool owner = p->flags & GPROF_PYTHON_F_OWNER;
	u32 mark, steps;
	u64 frame;

	if (!read_u64(&frame, thread, p->thread_frame))
		return false;
	/* A thread that has not begun, or has ended, may have none. */
	if (frame && p->cframe_frame != GPROF_PYTHON_NONE &&
	    !read_u64(&frame, frame, p->cframe_frame))
		return false;
	for (steps = 0; frame; steps++) {
		if (steps == 2 * GPROF_MAX_FRAMES || !read_u32(&mark, frame, p->frame_mark))
			return false;
		mark &= 0xff;
		if (owner && mark == OWNED_BY_C) {
			if (*nr)
				to[*nr - 2] |= GPROF_PYTHON_ENTRY;
		} else {
			if (*nr + 2 > room || !frame_words(p, frame, &to[*nr], &to[*nr + 1]))
				return false;
			if (!owner && mark)
				to[*nr] |= GPROF_PYTHON_ENTRY;
			*nr += 2;
		}
		if (!read_u64(&frame, frame, p->frame_previous))
			return false;
	}
	return true;
}

static void turn(u64 *words, u32 nr)
{
	u32 i;

	for (i = 0; i < nr / 2; i++)
		swap(words[i], words[nr - 1 - i]);
}

/* Puts the last @nr words first: they change with the leaf, and those behind stay. */
static void put_first(struct gprof_user_frames *c, u32 nr)
{
	turn(c->frames, c->nr);
	turn(c->frames, nr);
	turn(c->frames + nr, c->nr - nr);
}

/**
 * gprof_python_unwind() - the frames of a task's interpreter
 * @c: callers, which gprof_unwind_user() has found; gets them before the others
 * @mm_tables: mappings of current, which have been read
 * @task: current, or a task that uses the same memory and does not run
 *
 * Context: Any incl. NMI, preemption and page faults off; the page tables that
 * are loaded are those of current.
 * Return: GPROF_STACK_REC_F_PYTHON and _PYTHON_CUT, as far as they hold.
 */
u32 gprof_python_unwind(struct gprof_user_frames *c, const struct gprof_mm_tables *mm_tables,
			struct task_struct *task)
{
	/* Preemption is off; RCU's debugging need not know why. */
	const struct gprof_exec_map_list *list = rcu_dereference_raw(mm_tables->list);
	/* Pairs with note_python() in mm_tables.c. */
	u32 i = smp_load_acquire(&list->python), nr = 0;
	const struct gprof_python *p;
	bool known, all = false;
	u64 thread, tid, runtime;
	u64 *first;

	if (i >= list->nr || READ_ONCE(list->map[i].gone))
		return 0;
	p = &list->map[i].cfi->python;
	/* The id by which it knows itself, be it in a container. */
	tid = task_pid_nr_ns(task, task_active_pid_ns(task));
	/* Loads that a sanitizer checks come before user memory is open: it calls functions. */
	runtime = list->map[i].start - list->map[i].offset + p->runtime;
	first = &c->frames[c->nr];
	if (!user_access_begin((void __user *)PAGE_SIZE, 16))
		return GPROF_STACK_REC_F_PYTHON_CUT;
	known = find_thread(p, runtime, tid, &thread);
	if (known && thread)
		all = follow_frame(p, thread, first, GPROF_MAX_FRAMES - c->nr, &nr);
	user_access_end();
	if (!known)
		return GPROF_STACK_REC_F_PYTHON_CUT;
	if (!thread)
		return 0;
	if (nr) {
		c->nr += nr;
		put_first(c, nr);
		c->version++;
		/* The next walk finds other words there than it left. */
		c->cached = 0;
	}
	return GPROF_STACK_REC_F_PYTHON | (all ? 0 : GPROF_STACK_REC_F_PYTHON_CUT);
}
