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

#include <linux/types.h>

struct gprof_memo;
struct gprof_percpu_buffer;
struct gprof_user_frames;
struct pid_namespace;
struct task_struct;

s64 gprof_comm_cache_tell(struct gprof_percpu_buffer *ch, struct gprof_memo *memo,
			  struct task_struct *whose, struct pid_namespace *ns,
			  const struct gprof_user_frames *user_frames);

#endif /* GPROF_COMM_CACHE_H */
