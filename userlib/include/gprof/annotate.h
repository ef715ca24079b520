/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * gprof/annotate.h: a program's own events in traces of it: regions, tasks and logs, as Go's
 * runtime/trace has them for Go programs.
 *
 *	uint64_t task = gprof_trace_task_begin(0, "request");
 *
 *	gprof_trace_region_begin(task, "parse");
 *	gprof_trace_log(task, "path", "/index.html");
 *	work();
 *	gprof_trace_region_end(task, "parse");
 *	gprof_trace_task_end(task);
 *
 * A region is an interval of one thread. Regions of a thread lie within each other, and the
 * innermost ends first. A task is work of several threads, in regions that name it. A log is an
 * instant.
 *
 * They are in a trace that is recorded with GPROF_TRACE_GROUP_ANNOTATIONS (gprofctl trace
 * --annotations) of a target that the thread belongs to. While there is none, each costs at most
 * ten instructions (the begin of a task fifteen on arm64, if the compiler may not use the atomic
 * ones of ARMv8.1), and no system call but for the first of a process, which opens /dev/gprof;
 * while there is one, a system call each, also of other processes of the same user (of all users,
 * where the recorder's owner has CAP_PERFMON). Where the device is not there, or may not be
 * opened, or the module is too old, when the first one looks, the process has no annotations. A
 * descriptor of the device stays open; it is not inherited by exec.
 *
 * A region that another thread ends has no end for the thread that began it, and the end no begin
 * for the other: work of several threads is a task. A thread that ends, or executes another
 * program, ends its regions; a child has none of its parent's. The library repairs a contradiction
 * in the trace, in which a log of category "gprof: annotations" says so.
 *
 * Names are cut at 128 bytes and messages at 512. Threads. All of it may be called by any
 * thread at any time, but not by a signal handler before anything else did. Fork. A child
 * goes on with it. errno is left alone.
 */
#ifndef GPROF_ANNOTATE_H
#define GPROF_ANNOTATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <gprof/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * struct gprof_annotate_state - for the functions below alone
 * @wanted: not 0 while annotations are wanted
 * @tasks: how many there were
 *
 * Closed.
 */
struct gprof_annotate_state {
	const uint32_t *wanted;
	uint64_t tasks;
};

/* Likewise; the function returns @task. */
GPROF_API extern struct gprof_annotate_state gprof_annotate_state;
GPROF_API uint64_t gprof_annotate_tell(unsigned int what, uint64_t task, uint64_t parent,
				       const char *name, const char *text);

/**
 * gprof_trace_annotated() - does any recorder take annotations now? For annotations that are
 * costly to make
 */
static inline bool gprof_trace_annotated(void)
{
	const uint32_t *wanted = __atomic_load_n(&gprof_annotate_state.wanted, __ATOMIC_RELAXED);

	return __builtin_expect(__atomic_load_n(wanted, __ATOMIC_RELAXED) != 0, 0);
}

/**
 * gprof_trace_region_begin() - the calling thread begins something
 * @task: that it is a part of, or 0
 * @type: name of its kind, of which there are few in a program
 */
static inline void gprof_trace_region_begin(uint64_t task, const char *type)
{
	if (gprof_trace_annotated())
		gprof_annotate_tell(1, task, 0, type, NULL);
}

/** gprof_trace_region_end() - and has ended it; @task and @type as at the begin */
static inline void gprof_trace_region_end(uint64_t task, const char *type)
{
	if (gprof_trace_annotated())
		gprof_annotate_tell(2, task, 0, type, NULL);
}

/**
 * gprof_trace_task_begin() - a task begins
 * @parent: the task that it is a part of, or 0
 * @type: name of its kind, of which there are few in a program
 *
 * Return: its number in this process, never 0, even without a recorder: a later one finds the task
 * by its regions.
 */
static inline uint64_t gprof_trace_task_begin(uint64_t parent, const char *type)
{
	uint64_t task = __atomic_add_fetch(&gprof_annotate_state.tasks, 1, __ATOMIC_RELAXED);

	if (gprof_trace_annotated())
		return gprof_annotate_tell(3, task, parent, type, NULL);
	return task;
}

/** gprof_trace_task_end() - a task has ended, whichever thread says so */
static inline void gprof_trace_task_end(uint64_t task)
{
	if (gprof_trace_annotated())
		gprof_annotate_tell(4, task, 0, NULL, NULL);
}

/**
 * gprof_trace_log() - say something
 * @task: that it is about, or 0
 * @category: kind of the message, of which there are few in a program
 * @message: any text
 */
static inline void gprof_trace_log(uint64_t task, const char *category, const char *message)
{
	if (gprof_trace_annotated())
		gprof_annotate_tell(5, task, 0, category, message);
}

#ifdef __cplusplus
}
#endif

#endif /* GPROF_ANNOTATE_H */
