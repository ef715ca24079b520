/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The spans of threads in a trace of the host: each thread is a row of spans, one behind the other
 * from its first event to its end, each in one state.
 *
 * Memory is that of a generation, of all threads, and of each stack, once.
 */
#ifndef TOOLS_VIEWS_THREAD_SPANS_H
#define TOOLS_VIEWS_THREAD_SPANS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <gprof/trace.h>

#include "cli/intern.h"
#include "trace_gaps.h"
#include "trace_metadata.h"
#include "thread_state.h"
#include "trace_stacks.h"

/* The tid in a goroutine's number; the bits above tell apart threads that had the tid. */
#define THREAD_TID(id)	((id) & ((1 << 22) - 1))
#define THREAD_NONE	UINT32_MAX
#define THREAD_UNKNOWN	(UINT32_MAX - 1)	/* a thread or none, not known which */
#define THREADS_RECENT	4096

/**
 * struct thread - a thread
 * @id: number of its goroutine
 * @name: number of its name
 * @first: when it was first told of
 * @last: until when it was followed, for one that has ended
 * @since: since when it is in this stretch
 * @state: enum gprof_trace_go_state
 * @uninterruptible: it waits uninterruptibly
 * @reason: enum thread_state, of its wait, by the text of the switch
 * @stopped: by a signal or a tracer
 * @pid: of its process; 0: not told, so that it is the first of its own
 * @faulted: it had a page fault, and neither a wait nor a system call since
 * @reclaims: it is in reclaim
 * @throttled: its cgroup has used up its time
 * @queue: which that is, of the indices of @thread_spans.unthrottled
 * @woken: a wake-up ended its state before this stretch
 * @cut: this stretch began before it was told of
 * @lost: its state is not known, since events were lost
 * @doubtful: a waking has ended its wait at @woken_at, which may be made up for a task that was
 *	woken elsewhere; its next event tells
 * @broken: this stretch has a gap from here on, which was forgotten; 0: it has not
 * @cpu: where it runs, or did last; -1: not told
 * @stack: number of where it stopped last
 * @call: number of the system call's name + 1; 0: in none
 * @call_since: since when
 * @call_stack: where it entered that
 * @waker: the thread that ended its wait: an index, or THREAD_NONE
 * @waker_stack: where
 * @woken_at: when
 */
struct thread {
	int64_t id;
	uint32_t name;
	uint32_t pid;
	uint32_t queue;
	int32_t cpu;
	uint32_t call;
	uint32_t waker;
	uint32_t stack;
	uint32_t call_stack;
	uint32_t waker_stack;
	uint8_t state;
	uint8_t reason;
	bool uninterruptible;
	bool stopped;
	bool faulted;
	bool reclaims;
	bool throttled;
	bool woken;
	bool cut;
	bool lost;
	bool doubtful;
	int64_t first;
	int64_t last;
	int64_t since;
	int64_t call_since;
	int64_t woken_at;
	int64_t broken;
};

/**
 * struct span - a thread's state from one time to another
 * @thread: which
 * @state: it did
 * @begin: ns
 * @end: ns
 * @stack: number of where it was; 0: not told
 * @woken: a wait has ended with it, or, of THREAD_RUNNABLE, before it
 * @waker: the thread that ended that wait: an index, or THREAD_NONE for an interrupt or an unknown
 *	one
 * @cut: it began before @begin, when is not told
 * @goes_on: it did not end with @end, but the rest is lost
 *
 * After events were lost, threads are in THREAD_LOST until their state is known again: the one
 * that ran on the CPU that lost them from the last event of that on, those without a CPU likewise,
 * for they may have been woken there. A waking afterwards, or a switch, gives the state since the
 * last gap, though not the reason of a wait then; a thread without a later event is lost to the
 * end. In a trace of some CPUs a thread that has left them may have been on others: it is lost
 * unless a waking tells that it waited until then, or the CPU that it gets next has not idled
 * while it was runnable.
 */
struct span {
	uint32_t thread;
	enum thread_state state;
	int64_t begin;
	int64_t end;
	uint32_t stack;
	uint32_t waker;
	bool woken;
	bool cut;
	bool goes_on;
};

/**
 * struct thread_spans_ops - functions of a view; each may be NULL
 * @ctx: passed on to all
 * @span: at the end of each
 * @call: at the end of each system call, begun at @begin; @cut: it is known up to @end
 *	only, as events are missing, or the trace ends there
 * @waking: at each: @by is an index, or THREAD_NONE for an interrupt or an unknown one
 * @sample: of the CPU, for @thread (THREAD_NONE: none) at @stack
 * @cpu_switch: when a CPU has another thread than @left; THREAD_NONE: it idles, THREAD_UNKNOWN:
 *	its thread is not known. The span of the one that left has ended before
 * @lost: the CPU's events then are lost; @thread has it from then on, or THREAD_UNKNOWN
 * @generation: when one ends, at @time; thread_spans_forget() may be called there
 */
struct thread_spans;
struct thread_spans_ops {
	void *ctx;
	void (*span)(void *ctx, struct thread_spans *v, const struct span *s);
	void (*call)(void *ctx, struct thread_spans *v, uint32_t thread, int64_t begin, int64_t end,
		     bool cut);
	void (*waking)(void *ctx, struct thread_spans *v, uint32_t thread, uint32_t by,
		       int64_t time, uint32_t stack, int64_t cpu);
	void (*sample)(void *ctx, struct thread_spans *v, uint32_t thread, int64_t time,
		       int64_t cpu, uint32_t stack);
	void (*cpu_switch)(void *ctx, struct thread_spans *v, int64_t cpu, uint32_t left,
			   uint32_t thread, int64_t time);
	void (*lost)(void *ctx, struct thread_spans *v, int64_t cpu, uint32_t thread, int64_t begin,
		     int64_t end);
	void (*generation)(void *ctx, struct thread_spans *v, int64_t time);
};

/* Counts of events in the trace. */
struct thread_spans_counts {
	uint64_t stacks;	/* of threads that stopped, with the kernel's part */
	uint64_t reasons;	/* of waits, in the switches */
	uint64_t calls;
	uint64_t faults;
	uint64_t reclaims;
	uint64_t throttles;
	uint64_t irqs;
	uint64_t wakers;	/* stacks of them */
	uint64_t samples;
};

/**
 * struct thread_spans_cpu - a CPU
 * @thread: that runs, or THREAD_NONE
 * @had: the thread that has it, or left it last without a successor; THREAD_NONE: it idles
 * @interrupted: its thread is
 * @throttled: so was its thread
 * @queue: by which cgroup's having used up its time
 * @idled: when it began to idle last; 0: it did not
 * @last: time of the last event that is known of it; 0: none
 * @before: of the one before that
 * @lost_from: since when events of it are missing
 * @lost_to: until when, while nothing was seen of it since; 0: none are
 */
struct thread_spans_cpu {
	uint32_t thread;
	uint32_t had;
	bool interrupted;
	bool throttled;
	uint32_t queue;
	int64_t idled;
	int64_t last;
	int64_t before;
	int64_t lost_from;
	int64_t lost_to;
};

/**
 * struct thread_spans - all of them
 * @use: functions of the view
 * @trace: it is read from
 * @stacks: by their numbers
 * @stack_states: of each stack: why one stops there, + 1
 * @room_stack_states: of @stack_states
 * @texts: names of threads and of system calls
 * @ids: numbers of goroutines to indices
 * @recent: those that were looked up last, by the low bits of their numbers; +1
 * @all: they
 * @room: of @all
 * @cpus: by number
 * @nr_cpus: how many
 * @metadata: gprof's notes of this generation
 * @gaps: from which events are missing
 * @queues: numbers of cgroups, on CPUs, that were throttled, to indices
 * @unthrottled: when each got time again last
 * @room_unthrottled: of them
 * @seen: in the trace
 * @recorded: configuration in the trace
 * @begin: time of the first event
 * @end: of the last
 * @clock: an instant on the trace's clock and on CLOCK_REALTIME, the first that is told
 * @has_clock: there is one
 * @lost: events that are not in the trace
 * @any: was there one?
 * @takes_go: the view takes the trace that a Go program wrote of itself; set by it
 * @go: the trace is one: goroutines are the threads, and Ps the CPUs
 * @quiet: missing parts of the trace were reported before
 * @over: the trace has ended; the last spans end with it
 */
struct thread_spans {
	struct thread_spans_ops use;
	struct gprof_trace *trace;
	struct trace_stacks stacks;
	uint8_t *stack_states;
	size_t room_stack_states;
	struct intern texts;
	struct intern ids;
	uint32_t recent[THREADS_RECENT];
	struct thread *all;
	size_t room;
	struct thread_spans_cpu *cpus;
	size_t nr_cpus;
	struct trace_metadata metadata;
	struct trace_gaps gaps;
	struct intern queues;
	int64_t *unthrottled;
	size_t room_unthrottled;
	struct thread_spans_counts seen;
	struct gprof_trace_stats recorded;
	int64_t begin;
	int64_t end;
	struct gprof_trace_clock clock;
	bool has_clock;
	uint64_t lost;
	bool any;
	bool takes_go;
	bool go;
	bool quiet;
	bool over;
};

/**
 * thread_spans_read() - follow all threads of a trace
 * @v: all zeroes but for @use and @takes_go
 * @file: path, "-" for stdin
 *
 * Return: STATUS_OK, or another status after a sentence. For thread_spans_free() in any case.
 */
int thread_spans_read(struct thread_spans *v, const char *file);

/* thread_spans_read_fd() - likewise of an open file, with a name for sentences */
int thread_spans_read_fd(struct thread_spans *v, int fd, const char *name);

/**
 * thread_spans_forget() - forget threads that have ended, and unused stacks and names
 * @v: all of them
 * @moved: each that is left has a new number, no greater than the old one, in their order;
 *	or NULL
 * @ctx: passed on to it
 */
void thread_spans_forget(struct thread_spans *v,
			 void (*moved)(void *ctx, uint32_t from, uint32_t to), void *ctx);

/* thread_spans_nr() - how many threads there are */
size_t thread_spans_nr(const struct thread_spans *v);

/* thread_spans_name() - name of a thread, "" for one that was never told; until the next event */
const char *thread_spans_name(const struct thread_spans *v, uint32_t thread);

/* thread_spans_tid() - number of a thread, or of a goroutine */
int64_t thread_spans_tid(const struct thread_spans *v, uint32_t thread);

/* thread_spans_pid() - of the process that a thread is of */
int64_t thread_spans_pid(const struct thread_spans *v, uint32_t thread);

/* thread_spans_text() - of a number, such as that of a system call */
const char *thread_spans_text(const struct thread_spans *v, uint32_t number);

/* thread_spans_state() - state of a thread, as far as it is known now */
enum thread_state thread_spans_state(struct thread_spans *v, const struct thread *l);

/* thread_is_running() - has it a CPU, as far as is known? */
bool thread_is_running(const struct thread *l);

/* thread_span_known_until() - until when it is known that a thread is in this; TRACE_GAPS_NONE: it is still */
int64_t thread_span_known_until(const struct thread_spans *v, const struct thread *l);

/* thread_spans_missing() - missing parts of the trace, with remedies, to be freed; or NULL */
char *thread_spans_missing(const struct thread_spans *v, const char *file);

/* thread_spans_report() - report that on stderr */
void thread_spans_report(const struct thread_spans *v, const char *file);

/* thread_spans_report_none() - report that there is no thread; the exit status */
int thread_spans_report_none(const char *file);

/*
 * thread_spans_report_calls() - report missing system calls, from which @what is made;
 * STATUS_FAILED if there are none at all
 */
int thread_spans_report_calls(const struct thread_spans *v, const char *file, const char *what);

void thread_spans_free(struct thread_spans *v);

#endif /* TOOLS_VIEWS_THREAD_SPANS_H */
