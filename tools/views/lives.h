/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The lives of threads in a trace of the host: each is a row of stretches, one behind the
 * other from where it is first told of to its end, in which it does one thing.
 *
 * Memory is that of a generation, of all threads, and of each stack that is told, once.
 */
#ifndef TOOLS_VIEWS_LIVES_H
#define TOOLS_VIEWS_LIVES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <gprof/trace.h>

#include "cli/intern.h"
#include "gaps.h"
#include "own.h"
#include "part.h"
#include "trace_stacks.h"

/* The tid in a goroutine's number; what is above it tells apart who had the tid. */
#define LIVES_TID(id)	((id) & ((1 << 22) - 1))
#define LIVES_NONE	UINT32_MAX
#define LIVES_UNKNOWN	(UINT32_MAX - 1)	/* somebody or nobody, it is not told who */
#define LIVES_RECENT	4096

/**
 * struct life - a thread
 * @id: number of its goroutine
 * @name: number of its name
 * @first: when it was first told of
 * @last: until when it was followed, for one that has ended
 * @since: since when it is in this stretch
 * @state: enum gprof_trace_go_state
 * @uninterruptible: it waits for what comes soon
 * @stopped: by a signal or a tracer
 * @pid: of its process; 0: not told, so that it is the first of its own
 * @faulted: it had a page fault, and neither a wait nor a system call since
 * @reclaims: it is in reclaim
 * @throttled: its cgroup has used up its time
 * @queue: which that is, of the indices of @lives.unthrottled
 * @woken: a wait ended what it was in before this stretch
 * @cut: this stretch began before it was told of
 * @lost: what it does is not known, since events were lost
 * @broken: this stretch has a gap from here on, which was forgotten; 0: it has not
 * @cpu: where it runs, or did last; -1: not told
 * @stack: number of where it stopped last
 * @call: number of the system call's name + 1; 0: in none
 * @call_since: since when
 * @call_stack: where it entered that
 * @waker: who ended its wait: an index, or LIVES_NONE
 * @waker_stack: where
 * @woken_at: when
 */
struct life {
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
	bool uninterruptible;
	bool stopped;
	bool faulted;
	bool reclaims;
	bool throttled;
	bool woken;
	bool cut;
	bool lost;
	int64_t first;
	int64_t last;
	int64_t since;
	int64_t call_since;
	int64_t woken_at;
	int64_t broken;
};

/**
 * struct stretch - what a thread did from one time to another
 * @life: which
 * @part: it did
 * @begin: ns
 * @end: ns
 * @stack: number of where it was; 0: not told
 * @woken: a wait has ended with it, or, of PART_RUNNABLE, before it
 * @waker: who ended that wait: an index, or LIVES_NONE for an interrupt or somebody unknown
 * @cut: it began before @begin, when is not told
 * @goes_on: it did not end with @end, but what came then is lost
 *
 * After events were lost, what threads do is PART_LOST until it is known again: of who ran
 * on the CPU that lost them from the last event of that on, of who had no CPU likewise, for
 * it may have been woken there. A waking afterwards, or a switch, says what it was in since
 * the last gap, though not for what it waited then; what is never told of again is lost to
 * the end.
 */
struct stretch {
	uint32_t life;
	enum part part;
	int64_t begin;
	int64_t end;
	uint32_t stack;
	uint32_t waker;
	bool woken;
	bool cut;
	bool goes_on;
};

/**
 * struct lives_use - who gets what; a NULL takes nothing
 * @ctx: passed on to all
 * @stretch: at the end of each
 * @call: at the end of each system call, begun at @begin; @cut: it is known up to @end
 *	only, as events are missing, or the trace ends there
 * @waking: at each: @by is an index, or LIVES_NONE for an interrupt or somebody unknown
 * @sample: of the CPU, for @life (LIVES_NONE: nobody) at @stack
 * @comes: when a CPU has somebody else than @left; LIVES_NONE: it idles, LIVES_UNKNOWN: it
 *	is not told who had it. Whoever left has ended its stretch before
 * @lost: what a CPU did then is not known; @life has it from then on, or LIVES_UNKNOWN
 * @generation: when one ends, at @time; lives_forget() may be called there
 */
struct lives;
struct lives_use {
	void *ctx;
	void (*stretch)(void *ctx, struct lives *v, const struct stretch *s);
	void (*call)(void *ctx, struct lives *v, uint32_t life, int64_t begin, int64_t end,
		     bool cut);
	void (*waking)(void *ctx, struct lives *v, uint32_t life, uint32_t by, int64_t time,
		       uint32_t stack, int64_t cpu);
	void (*sample)(void *ctx, struct lives *v, uint32_t life, int64_t time, int64_t cpu,
		       uint32_t stack);
	void (*comes)(void *ctx, struct lives *v, int64_t cpu, uint32_t left, uint32_t life,
		      int64_t time);
	void (*lost)(void *ctx, struct lives *v, int64_t cpu, uint32_t life, int64_t begin,
		     int64_t end);
	void (*generation)(void *ctx, struct lives *v, int64_t time);
};

/* What was seen of it in the trace. */
struct lives_seen {
	uint64_t stacks;	/* of who stopped, with the kernel's part */
	uint64_t calls;
	uint64_t faults;
	uint64_t reclaims;
	uint64_t throttles;
	uint64_t irqs;
	uint64_t wakers;	/* stacks of them */
	uint64_t samples;
};

/**
 * struct lives_cpu - a CPU
 * @life: that runs, or LIVES_NONE
 * @had: who has it, or left it last with nobody behind; LIVES_NONE: it idles
 * @interrupted: who runs is
 * @throttled: so was whoever runs
 * @queue: by which cgroup's having used up its time
 * @last: time of the last event that is known of it; 0: none
 * @before: of the one before that
 * @lost_from: since when events of it are missing
 * @lost_to: until when, while nothing was seen of it since; 0: none are
 */
struct lives_cpu {
	uint32_t life;
	uint32_t had;
	bool interrupted;
	bool throttled;
	uint32_t queue;
	int64_t last;
	int64_t before;
	int64_t lost_from;
	int64_t lost_to;
};

/**
 * struct lives - all of them
 * @use: who gets what
 * @trace: it is read from
 * @stacks: by their numbers
 * @parts: of each stack: why one stops there, + 1
 * @room_parts: of @parts
 * @texts: names of threads and of system calls
 * @ids: numbers of goroutines to indices
 * @recent: those that were looked up last, by the low bits of their numbers; +1
 * @all: they
 * @room: of @all
 * @cpus: by number
 * @nr_cpus: how many
 * @own: what gprof says of this generation besides
 * @gaps: from which events are missing
 * @queues: numbers of cgroups, on CPUs, that were throttled, to indices
 * @unthrottled: when each got time again last
 * @room_unthrottled: of them
 * @seen: in the trace
 * @recorded: what the trace says of what was to be recorded in it
 * @begin: time of the first event
 * @end: of the last
 * @lost: events that are not in the trace
 * @any: was there one?
 * @quiet: what is missing in the trace was said before
 * @over: the trace has ended; what is told now ends with it
 */
struct lives {
	struct lives_use use;
	struct gprof_trace *trace;
	struct trace_stacks stacks;
	uint8_t *parts;
	size_t room_parts;
	struct intern texts;
	struct intern ids;
	uint32_t recent[LIVES_RECENT];
	struct life *all;
	size_t room;
	struct lives_cpu *cpus;
	size_t nr_cpus;
	struct own own;
	struct gaps gaps;
	struct intern queues;
	int64_t *unthrottled;
	size_t room_unthrottled;
	struct lives_seen seen;
	struct gprof_trace_stats recorded;
	int64_t begin;
	int64_t end;
	uint64_t lost;
	bool any;
	bool quiet;
	bool over;
};

/**
 * lives_read() - follow all threads of a trace
 * @v: all zeroes but for @use
 * @file: path, "-" for stdin
 *
 * Return: STATUS_OK, or another status after a sentence. For lives_free() in any case.
 */
int lives_read(struct lives *v, const char *file);

/* lives_read_fd() - likewise of an open file, whose name is for sentences */
int lives_read_fd(struct lives *v, int fd, const char *name);

/**
 * lives_forget() - forget threads that have ended, and stacks and names that nobody has now
 * @v: all of them
 * @moved: each that is left has a new number, no greater than the old one, in their order;
 *	or NULL
 * @ctx: passed on to it
 */
void lives_forget(struct lives *v, void (*moved)(void *ctx, uint32_t from, uint32_t to),
		  void *ctx);

/* lives_nr() - how many threads there are */
size_t lives_nr(const struct lives *v);

/* lives_name() - name of a thread, "" for one that was never told; until the next event */
const char *lives_name(const struct lives *v, uint32_t life);

/* lives_pid() - of the process that a thread is of */
int64_t lives_pid(const struct lives *v, uint32_t life);

/* lives_text() - of a number, such as that of a system call */
const char *lives_text(const struct lives *v, uint32_t number);

/* lives_part() - what a thread is doing, as far as that is known now */
enum part lives_part(struct lives *v, const struct life *l);

/* lives_is_running() - has it a CPU, as far as is known? */
bool lives_is_running(const struct life *l);

/* lives_known() - until when it is known that a thread is in this; GAPS_NONE: it is still */
int64_t lives_known(const struct lives *v, const struct life *l);

/* lives_missing() - what there is not in the trace, and what it would take, to be freed; or NULL */
char *lives_missing(const struct lives *v, const char *file);

/* lives_tell() - say that on stderr */
void lives_tell(const struct lives *v, const char *file);

/* lives_tell_calls() - say so where system calls, which @what is made of, are not all there */
void lives_tell_calls(const struct lives *v, const char *file, const char *what);

void lives_free(struct lives *v);

#endif /* TOOLS_VIEWS_LIVES_H */
