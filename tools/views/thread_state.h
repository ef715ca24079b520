/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * States of a thread, with the reasons of waits.
 */
#ifndef TOOLS_VIEWS_THREAD_STATE_H
#define TOOLS_VIEWS_THREAD_STATE_H

#include <stdbool.h>
#include <stddef.h>

#include <gprof/profile.h>

/* In the order in which tables have them. */
enum thread_state {
	THREAD_CPU,
	THREAD_RUNNABLE,	/* would run, and has no CPU */
	THREAD_THROTTLED,	/* likewise, for its cgroup has used up its time */
	THREAD_SLEEP,		/* for a time that it has chosen */
	THREAD_IO,		/* for a disk */
	THREAD_FUTEX,		/* for another thread, in user mode's locks */
	THREAD_PIPE,		/* for a pipe */
	THREAD_SOCKET,		/* for a socket */
	THREAD_FILE,		/* for another file */
	THREAD_POLL,		/* for one of several files */
	THREAD_FAULT,		/* for a page */
	THREAD_RECLAIM,		/* for memory that others have */
	THREAD_LOCK,		/* for a lock of the kernel */
	THREAD_CHILD,		/* for the end of a child */
	THREAD_SIGNAL,		/* for a signal */
	THREAD_STOPPED,		/* by a signal or a tracer */
	THREAD_UNINTERRUPTIBLE, /* in the kernel, where no signal ends it, for none of these */
	THREAD_KERNEL,		/* a thread of the kernel, for work */
	/* Of goroutines alone, in a trace that a Go program wrote of itself. */
	THREAD_SYSCALL,		/* in a system call; whether it runs there is not told */
	THREAD_CHAN,		/* for a channel */
	THREAD_SELECT,		/* for one of several channels */
	THREAD_SYNC,		/* for a lock or condition of package sync */
	THREAD_NETWORK,		/* for a connection, or another file that can be polled */
	THREAD_GC,		/* for the garbage collector */
	THREAD_RUNTIME,		/* of Go's runtime itself, for work */
	THREAD_OTHER,		/* it is told where, which is none of these */
	THREAD_NOT_RECORDED,	/* it is not told where */
	THREAD_LOST,		/* events that would give the state are missing */
	NR_THREAD_STATES,
};

/* thread_state_is_go() - does it belong to goroutines alone? */
static inline bool thread_state_is_go(enum thread_state state)
{
	return state >= THREAD_SYSCALL && state <= THREAD_RUNTIME;
}

/* thread_state_name() - as tables, labels and JSON have it, such as "fault" */
const char *thread_state_name(enum thread_state state);

/* thread_state_kernel_frames() - how many frames of a thread that stopped there are the kernel's */
size_t thread_state_kernel_frames(const struct gprof_frame *frames, size_t nr);

/**
 * thread_state_of_stack() - reason of a wait that stopped there
 * @frames: leaf first
 * @nr: how many
 *
 * A page fault or reclaim is the reason, for any wait within, of which the outermost counts. Else
 * it is the innermost call that is known.
 *
 * Return: THREAD_NOT_RECORDED where the kernel's part of the stack is not there.
 */
enum thread_state thread_state_of_stack(const struct gprof_frame *frames, size_t nr);

/**
 * thread_state_of_call() - reason of a wait, by its system call alone
 * @call: name
 * @uninterruptible: it waits uninterruptibly
 */
enum thread_state thread_state_of_call(const char *call, bool uninterruptible);

/**
 * thread_state_of_reason() - reason of a wait, by the text of its transition
 * @text: in a trace of gprof's writer
 *
 * Return: THREAD_NOT_RECORDED where the text is none of a reason.
 */
enum thread_state thread_state_of_reason(const char *text);

/* thread_state_of_go_reason() - likewise in a trace that a Go program wrote of itself */
enum thread_state thread_state_of_go_reason(const char *text);

/* thread_state_of_go_stack() - reason of a goroutine's wait, by where it is; leaf first */
enum thread_state thread_state_of_go_stack(const struct gprof_frame *frames, size_t nr);

/* thread_state_of_wait() - reason of a wait, by its stack and by its text */
enum thread_state thread_state_of_wait(enum thread_state stack, enum thread_state text);

#endif /* TOOLS_VIEWS_THREAD_STATE_H */
