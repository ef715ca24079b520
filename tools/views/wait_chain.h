/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Why a thread waited: the chain of threads that it waited for.
 */
#ifndef TOOLS_VIEWS_WAIT_CHAIN_H
#define TOOLS_VIEWS_WAIT_CHAIN_H

#include <stdbool.h>
#include <stddef.h>

#include "thread_spans.h"

/**
 * struct wait_question - the wait that is asked for
 * @thread: tid or name of the thread; NULL: any, of which waits that are idle do not count
 * @at: a time in seconds of CLOCK_MONOTONIC, or "+" and seconds since the trace began; NULL: any
 * @region: of the longest region of this name, with the thread that it is of; or NULL
 * @most: lines of the chain to print; 0: all
 * @json: print it for programs, all of it
 *
 * Of several waits it is the longest.
 */
struct wait_question {
	const char *thread;
	const char *at;
	const char *region;
	size_t most;
	bool json;
};

/**
 * struct wait_place - frames that tell where a thread is: functions of the program, and one of the
 *	kernel; without a program, some of the kernel
 * @begin: the first
 * @end: behind the last
 * @in_kernel: that of the kernel, or -1
 */
struct wait_place {
	size_t begin, end;
	long in_kernel;
};

/* How a wait ends that no thread in the trace ends. */
enum wait_chain_end {
	WAIT_CHAIN_WOKEN,	/* but not by one of these */
	WAIT_CHAIN_TRACE_ENDS,
	WAIT_CHAIN_LOST,	/* events that would tell are missing */
};
#define WAIT_CHAIN_ENDS	3

/* wait_chain_words() - what a thread does that is in a state, such as "waits for a disk" */
const char *wait_chain_words(enum thread_state state);

/* wait_chain_place() - the frames of a stack that tell where a thread is; false: none does */
bool wait_chain_place(const struct gprof_frame *frames, size_t nr, struct wait_place *p);

/* wait_chain_ended() - a sentence's end that says so */
const char *wait_chain_ended(const struct thread_spans *v, enum wait_chain_end end);

/**
 * wait_chain_print() - print the threads that made a thread wait
 * @file: a trace of the host, which is read twice
 * @q: the wait
 * @output: profile to write instead, or NULL
 *
 * Return: the exit status.
 */
int wait_chain_print(const char *file, const struct wait_question *q, const char *output);

#endif /* TOOLS_VIEWS_WAIT_CHAIN_H */
