/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * comm_cache: the names of tasks that a generation has told, on one CPU.
 *
 * A sample has its task's number; the name is that of the last TASK record before it. So a
 * task is told again when it has another name, and also when it takes an earlier one back:
 * that the dictionary knows a name does not mean that it is the last one told.
 */
#ifndef GPROF_COMM_CACHE_H
#define GPROF_COMM_CACHE_H

#include "ring/percpu_buffer.h"
#include "ring/dictionary.h"
#include "task/process.h"
#include "unwind/user_fp.h"

#include <linux/gprof.h>
#include <linux/sched.h>
#include <linux/string.h>

struct pid_namespace;

/**
 * struct gprof_name - a task and its name as records have them, a key of the dictionary
 * @process: its program run
 * @tid: its id
 * @zero: 0
 * @comm: its name
 */
struct gprof_name {
	struct gprof_process process;
	u32 tid;
	u32 zero;
	u64 comm[TASK_COMM_LEN / sizeof(u64)];
};

/**
 * struct gprof_comm_cache - records that a sample needs of its task; all zero: none
 * @key: the task and its name
 * @tell: a TASK record stands before the sample
 * @name: whether the generation has said @key
 * @task: whether it has named the task by any name; looked up when @name is not known
 */
struct gprof_comm_cache {
	struct gprof_name key;
	bool tell;
	struct gprof_lookup name;
	struct gprof_lookup task;
};

void gprof_comm_cache_lookup(struct gprof_percpu_buffer *ch, u16 generation,
			     struct task_struct *whose, struct pid_namespace *ns,
			     struct gprof_comm_cache *n);
void *gprof_comm_cache_write(struct gprof_task_rec *rec, const struct gprof_comm_cache *n);
bool gprof_comm_cache_has(struct gprof_percpu_buffer *ch, u16 generation,
			  const struct gprof_comm_cache *n);

/* Not get_task_comm(): no lock here. A name that is just being changed may be mixed. */
static __always_inline u64 gprof_name_word(const struct task_struct *task, unsigned int n)
{
	u64 word;

	BUILD_BUG_ON(TASK_COMM_LEN != 2 * sizeof(u64));
	memcpy(&word, task->comm + n * sizeof(word), sizeof(word));
	return word;
}

/**
 * gprof_comm_cache_known() - was current told by its name last, as this depth remembers?
 * @memo: of this depth, of the current generation
 * @user_frames: of the sample
 *
 * Context: A producer of the CPU's buffer.
 */
static __always_inline bool gprof_comm_cache_known(const struct gprof_memo *memo,
						   const struct gprof_user_frames *user_frames)
{
	return memo->process_version == user_frames->process_version && memo->tid == current->pid &&
	       memo->comm[0] == gprof_name_word(current, 0) &&
	       memo->comm[1] == gprof_name_word(current, 1);
}

/**
 * gprof_comm_cache_remember() - current is known from now on
 * @ch: per-CPU buffer
 * @memo: of this depth
 * @user_frames: of the sample
 * @n: as the dictionary now knows it
 *
 * Context: A producer of the CPU's buffer.
 */
static inline void gprof_comm_cache_remember(struct gprof_percpu_buffer *ch,
					     struct gprof_memo *memo,
					     const struct gprof_user_frames *user_frames,
					     const struct gprof_comm_cache *n)
{
	memo->process_version = user_frames->process_version;
	memo->tid = current->pid;
	memo->told_tid = n->key.tid;
	memcpy(memo->comm, n->key.comm, sizeof(memo->comm));
	barrier();	/* an interrupt that renames forgets this, or is seen below */
	if (unlikely(READ_ONCE(ch->renamed) == ch->epoch))
		memo->process_version = 0;
}

#endif /* GPROF_COMM_CACHE_H */
