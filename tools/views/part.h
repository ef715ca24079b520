/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a thread does with its time, and why it does nothing.
 */
#ifndef TOOLS_VIEWS_PART_H
#define TOOLS_VIEWS_PART_H

#include <stdbool.h>
#include <stddef.h>

#include <gprof/profile.h>

/* In the order in which tables have them. */
enum part {
	PART_CPU,
	PART_RUNNABLE,		/* would run, and has no CPU */
	PART_THROTTLED,		/* likewise, for its cgroup has used up its time */
	PART_SLEEP,		/* for a time that it has chosen */
	PART_IO,		/* for a disk */
	PART_FUTEX,		/* for another thread, in user mode's locks */
	PART_PIPE,		/* for a pipe */
	PART_SOCKET,		/* for a socket */
	PART_POLL,		/* for one of several files */
	PART_FAULT,		/* for a page */
	PART_RECLAIM,		/* for memory that others have */
	PART_LOCK,		/* for a lock of the kernel */
	PART_CHILD,		/* for the end of a child */
	PART_SIGNAL,		/* for a signal */
	PART_STOPPED,		/* by a signal or a tracer */
	PART_UNINTERRUPTIBLE,	/* in the kernel, where no signal ends it, for none of these */
	PART_KERNEL,		/* a thread of the kernel, for work */
	PART_OTHER,		/* it is told where, which is none of these */
	PART_UNTOLD,		/* it is not told where */
	PART_LOST,		/* events are missing that would tell what it does */
	NR_PARTS,
};

/* part_name() - as tables, labels and JSON have it, such as "fault" */
const char *part_name(enum part part);

/**
 * part_of_stack() - why somebody waits who stopped there
 * @frames: leaf first
 * @nr: how many
 *
 * A page fault or reclaim is the reason, whatever it waits for in there, of which the
 * outermost counts. Else it is the innermost call that is known.
 *
 * Return: PART_UNTOLD where the kernel's part of the stack is not there.
 */
enum part part_of_stack(const struct gprof_frame *frames, size_t nr);

/**
 * part_of_call() - why somebody waits, by its system call alone
 * @call: name
 * @uninterruptible: it waits for what comes soon
 */
enum part part_of_call(const char *call, bool uninterruptible);

#endif /* TOOLS_VIEWS_PART_H */
