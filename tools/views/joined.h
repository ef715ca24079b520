/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Goroutines on threads: what a Go program's runtime says of the one, and the kernel of the
 * other, held together.
 */
#ifndef TOOLS_VIEWS_JOINED_H
#define TOOLS_VIEWS_JOINED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <gprof/trace_write.h>

#include "cli/intern.h"

#define JOINED_NOBODY	SIZE_MAX
#define JOINED_SKEW_NS	10000	/* by which the two may contradict each other */
/* Of goroutines that have ended as many are remembered as there are others, and so many. */
#define JOINED_DEAD	4096

/* What the kernel says of a thread, and what one is in while its goroutine runs. */
enum joined_on { JOINED_UNTOLD, JOINED_ON_CPU, JOINED_READY, JOINED_BLOCKED, NR_JOINED_STATES };
enum joined_gap { JOINED_DESCHEDULED, JOINED_WAITED, NR_JOINED_GAPS };

/* How often, how long in all, and at most. */
struct joined_times {
	uint64_t nr;
	int64_t ns;
	int64_t max;
};

/**
 * struct joined_thread - of the host, by its tid
 * @go: the Go program has it
 * @state: as the kernel says
 * @off: since when it has no CPU
 * @ready: since when it would run
 * @since: up to when its time was counted
 * @goroutine: that runs on it, or JOINED_NOBODY
 * @gap: since when that has no CPU; -1: it has
 * @kind: of that
 * @faulted: a page fault was the last that it did, of what is told
 * @listed: it is in struct joined's @off
 * @told: when it told something while it was said to have no CPU; -1: it did not
 * @nr_told: how often since, up to JOINED_SKEW_NS later
 * @before: and before that, since it is said to have none
 * @delay: for a CPU
 */
struct joined_thread {
	bool go;
	bool faulted;
	bool listed;
	enum joined_on state;
	enum joined_gap kind;
	int64_t off;
	int64_t ready;
	int64_t since;
	int64_t gap;
	int64_t told;
	uint64_t nr_told;
	uint64_t before;
	size_t goroutine;
	struct joined_times delay;
};

/**
 * struct joined_goroutine - of the Go program
 * @row: of its function; JOINED_NOBODY: not known yet
 * @unnamed: it did something before that
 * @state: enum gprof_trace_go_state
 * @since: since when
 * @thread: that it runs on, or JOINED_NOBODY
 */
struct joined_goroutine {
	size_t row;
	bool unnamed;
	uint8_t state;
	int64_t since;
	size_t thread;
};

/**
 * struct joined_row - goroutines that began in one function
 * @nr: how many
 * @in: ns that they ran by the runtime, by what the kernel says
 * @interrupted: part of JOINED_ON_CPU
 * @gaps: while they ran
 * @fault: blocked in a page fault
 * @faults: how many there were
 * @delay: runnable by the runtime, until they ran
 */
struct joined_row {
	uint64_t nr;
	int64_t in[NR_JOINED_STATES];
	struct joined_times interrupted;
	struct joined_times gaps[NR_JOINED_GAPS];
	struct joined_times fault;
	uint64_t faults;
	struct joined_times delay;
};

/* A goroutine ran by the runtime, and its thread did not; ns. */
struct joined_interval {
	int64_t goroutine;
	int64_t begin;
	int64_t end;
	uint32_t tid;
	enum joined_gap kind;
};

/**
 * struct joined - all of them; all zeroes but for @begin and @keep to begin with
 * @begin: of the Go program's trace; what is before it is not of it
 * @keep: each gap is wanted
 * @tids: of threads of the host, to their indices
 * @threads: they
 * @room_threads: of @threads
 * @ids: of goroutines, to their indices
 * @goroutines: they
 * @room_goroutines: of @goroutines
 * @nr_dead: how many of them have ended, and are forgotten by joined_tidy()
 * @off: threads that got no CPU since joined_lose(), and may have none still
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
struct joined {
	int64_t begin;
	bool keep;
	struct intern tids;
	struct joined_thread *threads;
	size_t room_threads;
	struct intern ids;
	struct joined_goroutine *goroutines;
	size_t room_goroutines;
	size_t nr_dead;
	size_t *off;
	size_t nr_off;
	size_t room_off;
	struct intern names;
	struct joined_row *rows;
	size_t room_rows;
	struct joined_interval *gaps;
	size_t nr_gaps;
	size_t room_gaps;
	uint64_t checked;
	uint64_t wrong;
	bool irqs;
	bool faults;
};

/* joined_is_tid() - of Linux, which is all that there is a trace of the host of */
static inline bool joined_is_tid(int64_t thread)
{
	return thread >= 0 && thread < GPROF_TRACE_TIDS;
}

/* joined_thread() - index of a thread, which is added when it is new */
size_t joined_thread(struct joined *j, int64_t tid);

/* joined_goroutine() - a goroutine, which is added when it is new; until the next one */
struct joined_goroutine *joined_goroutine(struct joined *j, int64_t id);

/* joined_row_on() - row of a goroutine, by its index: until it is named, that of "?" */
struct joined_row *joined_row_on(struct joined *j, size_t goroutine);

/* joined_name() - say in which function a goroutine began; the first time counts */
void joined_name(struct joined *j, struct joined_goroutine *g, const char *function);

/* joined_add() - one time more, of @ns */
void joined_add(struct joined_times *t, int64_t ns);

/* joined_state() - the kernel says what a thread, by its index, does from now on */
void joined_state(struct joined *j, size_t thread, enum joined_on state, int64_t time);

/* joined_come() - the runtime says that a goroutine runs on a thread from now on */
void joined_come(struct joined *j, int64_t id, size_t thread, int64_t time);

/* joined_leave() - it does not any more, if it did */
void joined_leave(struct joined *j, struct joined_goroutine *g, int64_t time);

/* joined_dies() - a goroutine has ended; its number is not used again */
void joined_dies(struct joined *j, struct joined_goroutine *g, int64_t time);

/* joined_tidy() - forget those that have, where they are many: the others get new indices */
void joined_tidy(struct joined *j);

/* joined_lose() - whoever has no CPU by the kernel may have had one from @time on */
void joined_lose(struct joined *j, int64_t time);

/* joined_check() - a thread tells something, so that it has a CPU; does the kernel say so? */
void joined_check(struct joined *j, struct joined_thread *t, int64_t time);

/* joined_end() - no more is told by either */
void joined_end(struct joined *j, int64_t time);

void joined_free(struct joined *j);

#endif /* TOOLS_VIEWS_JOINED_H */
