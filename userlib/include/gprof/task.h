/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * gprof/task.h: states and stacks of all tasks of a target at one moment.
 *
 *	struct gprof_task_config cfg = {
 *		.sz = sizeof(cfg), .target = { GPROF_SELF },
 *	};
 *	struct gprof_profile *p = gprof_task_snapshot(&cfg);
 *
 *	if (!p || gprof_task_write(p, fd, GPROF_TASK_FORMAT_TRACEBACK))
 *		errx(1, "%s", gprof_error());
 *	gprof_profile_free(p);
 *
 * After GoroutineRecorder of golang/go 74545. The target is not stopped: each task has an
 * instant of its own, and its stack is that of this instant, never a mixture of two.
 * Errors, threads, growth and fork are as in gprof/recorder.h.
 */
#ifndef GPROF_TASK_H
#define GPROF_TASK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <gprof/base.h>
#include <gprof/profile.h>
#include <gprof/recorder.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * struct gprof_task_config - target and options
 * @sz: sizeof(struct gprof_task_config)
 * @target: of a process all threads, of CPUs the tasks that run or ran last there
 * @buffer_bytes: kernel buffer per CPU; 0: the module's default
 * @kernel_frames: the kernel's call chain too, which needs CAP_PERFMON
 * @python: as in struct gprof_cpu_config
 */
struct gprof_task_config {
	size_t sz;
	struct gprof_target target;
	uint64_t buffer_bytes;
	bool kernel_frames;
	bool python;
};

/**
 * gprof_task_snapshot() - states and stacks of all tasks now
 * @cfg: configuration; used during the call only
 *
 * A profile with one sample for each task, of value 1 (tasks/count). Beside the usual labels they
 * have "state" (running, runnable, sleeping, blocked, stopped, idle, dead, other; restless: it ran
 * each time it was looked at, and has no stack), "since" (ns for which it had been so, not there
 * where that is not known) and "at" (ns after the first that was looked at). A comment says within
 * which time all were looked at. The calling thread is one of the tasks, if it is of the target.
 * Unwind tables of the target's files are made before, for which it waits up to 3 s where there
 * are none yet.
 *
 * Return: profile for gprof_profile_free(), or NULL with errno.
 */
GPROF_API struct gprof_profile *gprof_task_snapshot(const struct gprof_task_config *cfg);

enum gprof_task_format {
	GPROF_TASK_FORMAT_PPROF,	/* gzip-compressed protobuf */
	GPROF_TASK_FORMAT_TEXT,		/* how many tasks have which stack, most first */
	GPROF_TASK_FORMAT_TRACEBACK,	/* each task with its state, and its stack */
};

/**
 * gprof_task_write() - write the states and stacks of tasks
 * @p: profile that gprof_task_snapshot() gave, or that was read
 * @fd: where to; not closed
 * @format: how
 *
 * Text begins with the comments of the profile, such as losses, each in a line that begins with
 * "#". A traceback says of each task its id, state, for how long it has been so, its CPU, the
 * kernel's function in which it waits, name and process, in a line; behind those of all tasks that
 * have it, the stack, leaf first, a frame in a line.
 *
 * Return: 0 or -errno; -EINVAL for an unknown format, or a profile without values.
 */
GPROF_API int gprof_task_write(const struct gprof_profile *p, int fd,
			       enum gprof_task_format format);

#ifdef __cplusplus
}
#endif

#endif /* GPROF_TASK_H */
