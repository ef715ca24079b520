/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Goroutines on threads: the runtime's states of the one, and the kernel's of the other, joined.
 */
#ifndef TOOLS_VIEWS_JOIN_MODEL_H
#define TOOLS_VIEWS_JOIN_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <gprof/trace_write.h>

#include "cli/intern.h"

#define JOIN_NOBODY	SIZE_MAX
#define JOIN_SKEW_NS	10000	/* by which the two may contradict each other */
/* Of goroutines that have ended as many are remembered as there are others, and so many. */
#define JOIN_DEAD	4096

/* States of a thread by the kernel, also while its goroutine runs. */
enum join_on { JOIN_UNTOLD, JOIN_ON_CPU, JOIN_READY, JOIN_BLOCKED, NR_JOIN_STATES };
enum join_gap { JOIN_DESCHEDULED, JOIN_WAITED, NR_JOIN_GAPS };

/* How often, how long in all, and at most. */
struct join_times {
	uint64_t nr;
	int64_t ns;
	int64_t max;
};

/**
 * struct join_thread - of the host, by its tid
 * @go: the Go program has it
 * @state: as the kernel says
 * @off: since when it has no CPU
 * @ready: since when it would run
 * @since: up to when its time was counted
 * @goroutine: that runs on it, or JOIN_NOBODY
 * @gap: since when that has no CPU; -1: it has
 * @kind: of that
 * @faulted: a page fault was its last event
 * @listed: it is in struct join_model's @off
 * @told: when it told something while it was said to have no CPU; -1: it did not
 * @nr_told: how often since, up to JOIN_SKEW_NS later
 * @before: and before that, since it is said to have none
 * @delay: for a CPU
 */
struct join_thread {
	bool go;
	bool faulted;
	bool listed;
	enum join_on state;
	enum join_gap kind;
	int64_t off;
	int64_t ready;
	int64_t since;
	int64_t gap;
	int64_t told;
	uint64_t nr_told;
	uint64_t before;
	size_t goroutine;
	struct join_times delay;
};

/**
 * struct join_goroutine - of the Go program
 * @row: of its function; JOIN_NOBODY: not known yet
 * @unnamed: it did something before that
 * @state: enum gprof_trace_go_state
 * @since: since when
 * @thread: that it runs on, or JOIN_NOBODY
 */
struct join_goroutine {
	size_t row;
	bool unnamed;
	uint8_t state;
	int64_t since;
	size_t thread;
};

/**
 * struct join_row - goroutines that began in one function
 * @nr: how many
 * @in: ns that they ran by the runtime, by the kernel's state
 * @interrupted: part of JOIN_ON_CPU
 * @gaps: while they ran
 * @fault: blocked in a page fault
 * @faults: how many there were
 * @delay: runnable by the runtime, until they ran
 */
struct join_row {
	uint64_t nr;
	int64_t in[NR_JOIN_STATES];
	struct join_times interrupted;
	struct join_times gaps[NR_JOIN_GAPS];
	struct join_times fault;
	uint64_t faults;
	struct join_times delay;
};

/* A goroutine ran by the runtime, and its thread did not; ns. */
struct join_interval {
	int64_t goroutine;
	int64_t begin;
	int64_t end;
	uint32_t tid;
	enum join_gap kind;
};

/**
 * struct join_model - all of them; all zeroes but for @begin and @keep to begin with
 * @begin: of the Go program's trace; earlier time does not count
 * @keep: each gap is wanted
 * @tids: of threads of the host, to their indices
 * @threads: they
 * @room_threads: of @threads
 * @ids: of goroutines, to their indices
 * @goroutines: they
 * @room_goroutines: of @goroutines
 * @nr_dead: how many of them have ended, and are forgotten by join_tidy()
 * @off: threads that got no CPU since join_lose(), and may have none still
 * @nr_off: how many
 * @room_off: of @off
 * @names: of functions, to rows
 * @rows: they
 * @room_rows: of @rows
 * @gaps: by their end
 * @nr_gaps: how many
 * @room_gaps: of @gaps
 * @checked: times that a thread told something which the kernel knows
 * @wrong: of which it had no CPU
 * @irqs: interrupts are told of
 * @faults: and page faults
 */
struct join_model {
	int64_t begin;
	bool keep;
	struct intern tids;
	struct join_thread *threads;
	size_t room_threads;
	struct intern ids;
	struct join_goroutine *goroutines;
	size_t room_goroutines;
	size_t nr_dead;
	size_t *off;
	size_t nr_off;
	size_t room_off;
	struct intern names;
	struct join_row *rows;
	size_t room_rows;
	struct join_interval *gaps;
	size_t nr_gaps;
	size_t room_gaps;
	uint64_t checked;
	uint64_t wrong;
	bool irqs;
	bool faults;
};

/* join_is_tid() - of Linux, which is all that there is a trace of the host of */
static inline bool join_is_tid(int64_t thread)
{
	return thread >= 0 && thread < GPROF_TRACE_TIDS;
}

/* join_thread() - index of a thread, which is added when it is new */
size_t join_thread(struct join_model *j, int64_t tid);

/* join_goroutine() - a goroutine, which is added when it is new; until the next one */
struct join_goroutine *join_goroutine(struct join_model *j, int64_t id);

/* join_row_on() - row of a goroutine, by its index: until it is named, that of "?" */
struct join_row *join_row_on(struct join_model *j, size_t goroutine);

/* join_name() - say in which function a goroutine began; the first time counts */
void join_name(struct join_model *j, struct join_goroutine *g, const char *function);

/* join_add() - one time more, of @ns */
void join_add(struct join_times *t, int64_t ns);

/* join_state() - the kernel's state of a thread, by its index, from now on */
void join_state(struct join_model *j, size_t thread, enum join_on state, int64_t time);

/* join_come() - the runtime says that a goroutine runs on a thread from now on */
void join_come(struct join_model *j, int64_t id, size_t thread, int64_t time);

/* join_leave() - it does not any more, if it did */
void join_leave(struct join_model *j, struct join_goroutine *g, int64_t time);

/* join_dies() - a goroutine has ended; its number is not used again */
void join_dies(struct join_model *j, struct join_goroutine *g, int64_t time);

/* join_tidy() - forget those that have, where they are many: the others get new indices */
void join_tidy(struct join_model *j);

/* join_lose() - threads without a CPU by the kernel may have had one from @time on */
void join_lose(struct join_model *j, int64_t time);

/* join_check() - a thread has an event, so that it has a CPU; does the kernel say so? */
void join_check(struct join_model *j, struct join_thread *t, int64_t time);

/* join_end() - no more is told by either */
void join_end(struct join_model *j, int64_t time);

void join_free(struct join_model *j);

#endif /* TOOLS_VIEWS_JOIN_MODEL_H */
