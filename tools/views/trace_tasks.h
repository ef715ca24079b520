/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Time of the tasks of an execution trace by state.
 *
 * A task is a goroutine; in a trace of gprof's own it is the kernel's task of that
 * number, its system calls are regions, and interrupts are sweeps (see
 * Documentation/utilization.rst). A state and a system call end with the last event before a gap
 * of lost events; time of unknown state is counted by itself.
 */
#ifndef TOOLS_TRACE_TASKS_H
#define TOOLS_TRACE_TASKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <gprof/trace.h>

#include "cli/intern.h"
#include "trace_gaps.h"
#include "trace_metadata.h"
#include "trace_stacks.h"

#define TRACE_TASKS_LONGEST	20

enum trace_time {
	TRACE_TIME_RUNNING,
	TRACE_TIME_RUNNABLE,
	TRACE_TIME_BLOCKED,
	TRACE_TIME_SYSCALL,	/* in any state meanwhile */
	TRACE_TIME_IRQ,		/* that interrupted it */
	TRACE_NR_TIMES,
};

/**
 * struct trace_task - a task
 * @id: number of the goroutine
 * @name: number of its name
 * @reason: number of why it is where it is
 * @stack: number of where it stopped last, or was created; 0: not told
 * @call: number of the system call that it is in
 * @call_stack: number of where it entered that
 * @call_since: since when, or -1
 * @state: enum gprof_trace_go_state
 * @lost: events were lost since @since, and its state is not known from then on
 * @since: when that began
 * @woken_at: when a waking ended its wait that may be made up; 0: none did
 * @total: ns of each
 */
struct trace_task {
	int64_t id;
	size_t name;
	size_t reason;
	size_t stack;
	size_t call;
	size_t call_stack;
	int64_t call_since;
	uint8_t state;
	bool lost;
	int64_t since;
	int64_t woken_at;
	int64_t total[TRACE_NR_TIMES];
};

/**
 * struct trace_proc - a proc
 * @since: when its interrupt began, if one is @open
 * @name: number of that one's name
 * @task: index of the interrupted task
 * @running: index of the task that it runs + 1; 0: none
 * @last: time of its last event; 0: none
 * @before: of the one before that
 * @idled: when it began to idle last; 0: it did not
 * @lost_to: until when its events are missing, while none was seen since; 0: none are
 * @open: an interrupt is under way
 * @left: its task has left, and the next has not come yet
 */
struct trace_proc {
	int64_t since;
	size_t name;
	size_t task;
	size_t running;
	int64_t last;
	int64_t before;
	int64_t idled;
	int64_t lost_to;
	bool open;
	bool left;
};

/**
 * struct trace_span - a stretch of a task's time
 * @what: its state
 * @task: its name, or ""
 * @detail: reason, or call, or ""
 * @stack: number of where it did that, or 0
 * @ns: how long
 */
struct trace_span {
	enum trace_time what;
	const char *task;
	const char *detail;
	size_t stack;
	int64_t ns;
};

/**
 * struct trace_tasks - all of them; all zeroes but for @span, @ctx, @longest and @metadata to begin
 *	with
 * @own: the trace is gprof's; known from its first sync on
 * @cpus_only: it is of some CPUs, and tasks may have been on others; likewise
 * @longest: of tasks that have ended those TRACE_TASKS_LONGEST are remembered that ran longest
 * @span: gets each stretch of time, or NULL
 * @ctx: passed on to it
 * @metadata: gprof's notes of losses, to which the reader of the trace adds; or NULL
 * @gaps: from which events are missing
 * @first: time of the first event; 0: none yet
 * @unknown: ns of all tasks in unknown states, which are in no total
 * @stacks: of those, where @span is there
 * @texts: names and reasons
 * @ids: numbers of goroutines to indices of @tasks
 * @tasks: they
 * @room: of @tasks
 * @procs: by number
 * @nr_procs: how many
 * @switches: of CPUs from a task, or to one
 * @nr_gone: tasks that have ended since some were forgotten last
 * @nr_kept: that had ended by then, and were not
 * @forgot: when that was
 */
struct trace_tasks {
	bool own;
	bool cpus_only;
	bool longest;
	void (*span)(void *ctx, const struct trace_span *span);
	void *ctx;
	struct trace_metadata *metadata;
	struct trace_gaps gaps;
	int64_t first;
	int64_t unknown;
	struct trace_stacks stacks;
	struct intern texts;
	struct intern ids;
	struct trace_task *tasks;
	size_t room;
	struct trace_proc *procs;
	size_t nr_procs;
	uint64_t switches;
	size_t nr_gone;
	size_t nr_kept;
	int64_t forgot;
};

/* trace_tasks_event() - take the next event */
void trace_tasks_event(struct trace_tasks *t, const struct gprof_trace *trace,
		       const struct gprof_trace_event *ev);

/* trace_tasks_end() - the trace ended then: so do pending spans */
void trace_tasks_end(struct trace_tasks *t, int64_t time);

/* trace_tasks_ran_longer() - did one run longer than another? Else the lower number is ahead */
bool trace_tasks_ran_longer(const struct trace_task *a, const struct trace_task *b);

/* trace_tasks_name_of() - name of the task of a goroutine, or "" */
const char *trace_tasks_name_of(struct trace_tasks *t, int64_t id);

/* trace_tasks_name() - name of a task, "" for one that was never told */
const char *trace_tasks_name(const struct trace_tasks *t, const struct trace_task *task);

void trace_tasks_free(struct trace_tasks *t);

#endif /* TOOLS_TRACE_TASKS_H */
