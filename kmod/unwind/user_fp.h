/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * user_fp: the user frames above the leaf, as frame records tell them.
 *
 * Between two samples of a task most of its stack stays. So the result of the last
 * walk is kept, and the next one compares instead of checking anew.
 */
#ifndef GPROF_USER_FP_H
#define GPROF_USER_FP_H

#include "task/process.h"

#include <linux/build_bug.h>
#include <linux/gprof.h>
#include <linux/types.h>

#define GPROF_MAX_FRAMES	127	/* of either half; as kernel.perf_event_max_stack */

/**
 * struct gprof_user_frames - result of the last walk; its head is a key of the dictionary
 * @process: whose stack
 * @exec_map_seq: stamp of the process' mappings, 0 where no user frame was wanted
 * @nr: frames
 * @frames: return addresses, nearest caller first
 * @fp: @fp[n] is where the record of @frames[n] lies
 * @process_version: a new number whenever @process or @exec_map_seq changes; never 0
 * @version: a new number whenever anything in the key changes; never 0
 * @unwound: version of the mappings under which tables found them; 0: frame records did
 * @cached: which walk found @frames, as far as unwind_user.c knows; 0: none that it does
 *
 * The key has no holes, since it is compared as words.
 */
struct gprof_user_frames {
	struct gprof_process process;
	u32 exec_map_seq;
	u32 nr;
	u64 frames[GPROF_MAX_FRAMES];

	u64 fp[GPROF_MAX_FRAMES];
	u64 process_version;
	u64 version;
	u64 unwound;
	u64 cached;
};

/* @c is zeroed memory; @versions: where its numbers begin. */
static inline void gprof_user_frames_init(struct gprof_user_frames *c, u64 versions)
{
	c->process_version = versions + 1;
	c->version = versions + 1;
}

static inline u32 gprof_user_frames_words(const struct gprof_user_frames *c)
{
	BUILD_BUG_ON(offsetof(struct gprof_user_frames, frames) != 24);
	return 3 + c->nr;
}

/* Keeps the first @nr frames. */
static inline void gprof_user_frames_cut(struct gprof_user_frames *c, u32 nr)
{
	if (c->nr != nr) {
		c->nr = nr;
		c->version++;
	}
}

/**
 * gprof_user_frames_begin() - say whose stack the next walk is on
 * @c: callers
 * @task: current
 * @exec_map_seq: stamp of its mappings, or 0
 * @unwound: version of the tables' lists of them, or 0
 *
 * Frames that were found in another process, under other mappings, or in another way are
 * forgotten.
 *
 * Context: Any incl. NMI, preemption off; @c belongs to this nesting depth.
 */
static inline void gprof_user_frames_begin(struct gprof_user_frames *c, struct task_struct *task,
					   u32 exec_map_seq, u64 unwound)
{
	struct gprof_process process;

	gprof_process_of(&process, task);
	if (unlikely(c->unwound != unwound)) {
		c->unwound = unwound;
		/* A walk of another way writes over @frames. */
		c->cached = 0;
		gprof_user_frames_cut(c, 0);
	}
	if (likely(gprof_same_process(&c->process, &process) && c->exec_map_seq == exec_map_seq))
		return;
	c->process = process;
	c->exec_map_seq = exec_map_seq;
	c->nr = 0;
	c->process_version++;
	c->version++;
}

#ifdef CONFIG_X86_64
void gprof_user_fp_prepare(void);
#else
static inline void gprof_user_fp_prepare(void)
{
}
#endif

bool gprof_user_fp_unwind(struct gprof_user_frames *c, u64 fp, u64 sp, u32 max);

#endif /* GPROF_USER_FP_H */
