// SPDX-License-Identifier: GPL-2.0-only
/*
 * self_stack: where the calling thread is, for a program that keeps profiles of its own.
 *
 * It is walked as the stack of a sample is, in the same memory, so that the frames that a
 * thread captured last make the next walk short. Nothing is recorded. Only memory that current
 * could read itself is read, so that nobody needs to be asked.
 *
 * The caller is here: its mappings are read at once where a walk by tables wants them.
 */
#include "self_stack.h"
#include "sampler.h"
#include "unwind/stack.h"
#include "unwind/table_set.h"

#include <linux/gprof.h>
#include <linux/minmax.h>
#include <linux/nospec.h>
#include <linux/preempt.h>
#include <linux/string.h>
#include <linux/uaccess.h>

/**
 * struct taken - a stack that was taken
 * @flags: GPROF_STACK_REC_F_*
 * @exec_map_seq: stamp of the mappings
 * @nr: frames
 * @wants_mm_tables: the mappings were not known well enough
 * @frames: leaf first
 */
struct taken {
	u32 flags;
	u32 exec_map_seq;
	u32 nr;
	bool wants_mm_tables;
	u64 frames[GPROF_MAX_FRAMES];
};

static void capture_self_stack(struct taken *t, const struct gprof_stack_options *o)
{
	struct gprof_stack *s;

	preempt_disable();
	s = gprof_scratch_get();
	gprof_stack_capture_self(s, o);
	t->flags = s->top.flags;
	t->exec_map_seq = s->user_frames.exec_map_seq;
	t->wants_mm_tables = s->wants_mm_tables;
	t->nr = 0;
	if (s->top.nr_user) {
		t->frames[0] = s->top.frames[0];
		memcpy(&t->frames[1], s->user_frames.frames, s->user_frames.nr * sizeof(u64));
		t->nr = 1 + s->user_frames.nr;
	}
	gprof_scratch_put();
	preempt_enable();
}

/* There is no room for the frames that were walked. */
static u32 cut_at_max(u32 flags)
{
	if (flags & GPROF_STACK_REC_F_TABLES) {
		flags &= ~(0xfU << GPROF_STACK_REC_END_SHIFT);
		flags |= GPROF_STACK_END_MAX << GPROF_STACK_REC_END_SHIFT;
	}
	return flags | GPROF_STACK_REC_F_USER_CUT;
}

static int check(const struct gprof_self_stack *arg, u32 *reason)
{
	*reason = GPROF_REASON_FLAGS;
	if (arg->flags)
		return -EOPNOTSUPP;
	*reason = GPROF_REASON_PARAMS;
	if (!arg->max_frames || arg->max_frames > GPROF_MAX_FRAMES)
		return -EINVAL;
	return 0;
}

/**
 * gprof_self_stack() - GPROF_IOC_SELF_STACK
 * @arg: argument; outputs are set, also on error
 * @table_set: to walk by, which outlive the call, or NULL
 *
 * Context: Task; writes user memory.
 * Return: 0 or a negative errno.
 */
int gprof_self_stack(struct gprof_self_stack *arg, struct gprof_table_set *table_set)
{
	struct gprof_stack_options o = {
		.flags = GPROF_STACK_F_IP | GPROF_STACK_F_USER,
		.table_set = table_set ? table_set->id : 0,
	};
	struct taken t __uninitialized;
	u32 nr = 0;
	int err;

	arg->out_frames = 0;
	arg->out_flags = 0;
	arg->out_exec_map_seq = 0;
	err = check(arg, &arg->out_reason);
	if (err)
		return err;
	arg->out_reason = GPROF_REASON_NONE;
	/* With the leaf alone it would not be told whether there is more. */
	o.max_frames = clamp_t(u64, (u64)arg->skip + arg->max_frames, 2, GPROF_MAX_FRAMES);
	capture_self_stack(&t, &o);
	if (t.wants_mm_tables && gprof_table_set_map_current(table_set))
		capture_self_stack(&t, &o);
	if (t.nr > arg->skip) {
		/* Foreseen wrongly, it would read anywhere. */
		u32 skip = array_index_nospec(arg->skip, GPROF_MAX_FRAMES);

		nr = min(t.nr - skip, arg->max_frames);
		if (copy_to_user(u64_to_user_ptr(arg->frames), &t.frames[skip],
				 nr * sizeof(u64)))
			return -EFAULT;
		if (nr < t.nr - skip)
			t.flags = cut_at_max(t.flags);
	}
	arg->out_frames = nr;
	arg->out_flags = t.flags;
	arg->out_exec_map_seq = t.exec_map_seq;
	return 0;
}
