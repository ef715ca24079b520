/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * When a recording ends: the exit of target or command, the time limit, or a signal.
 */
#ifndef TOOLS_WATCH_H
#define TOOLS_WATCH_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include <gprof/recorder.h>

/**
 * struct watch - conditions that end a recording
 * @old_mask: signal mask before watch_begin()
 * @signals: signalfd
 * @command_fd: pidfd of the command, or -1
 * @exit_fd: pidfd of a target that is a process, or -1
 * @thread_fd: /proc/TID/stat of a target that is a thread, or -1
 * @urgent_fd: where POLLPRI says that the tick is not to be waited for, or -1
 * @gone: the target ended before it could be watched
 * @command: process that signals are passed on to, or 0
 * @hangup: called for SIGHUP in place of ending, or NULL
 * @hangup_ctx: for it
 */
struct watch {
	sigset_t old_mask;
	int signals;
	int command_fd;
	int exit_fd;
	int thread_fd;
	int urgent_fd;
	bool gone;
	pid_t command;
	void (*hangup)(void *ctx);
	void *hangup_ctx;
};

/* watch_begin() - take over the signals; STATUS_OK, or STATUS_FAILED after a sentence */
int watch_begin(struct watch *w);

/* watch_command() - its exit ends the recording, signals are passed on to it */
int watch_command(struct watch *w, pid_t pid);

/* watch_target() - the exit of a process or thread ends the recording */
void watch_target(struct watch *w, const struct gprof_target *target);

/* watch_signalled() - has a signal come that watch_wait() will see? */
bool watch_signalled(const struct watch *w);

/* watch_command_ended() - has the command exited? */
bool watch_command_ended(const struct watch *w);

/* watch_command_alone() - from now on watch_wait() waits for nothing but the command */
void watch_command_alone(struct watch *w);

/**
 * watch_wait() - wait
 * @w: from watch_begin()
 * @limit_ns: longest time, 0 without limit
 * @tick: called a few times a second with the time so far, or NULL; false: it is enough
 * @ctx: for @tick
 *
 * Returns when the target or the command exited, when the time is over, when @tick has enough, or at a
 * signal when there is no command that it is passed on to.
 *
 * Return: whether it was the time.
 */
bool watch_wait(struct watch *w, uint64_t limit_ns, bool (*tick)(void *ctx, uint64_t ns),
		void *ctx);

/*
 * watch_hurry() - from now on a second Ctrl-C, a second or more after the first,
 * calls @give_up (in a signal handler) and ends gprofctl
 */
void watch_hurry(void (*give_up)(void));

/* watch_resume() - as before watch_hurry() */
void watch_resume(void);

/* watch_end() - give the signals back */
void watch_end(struct watch *w);

#endif /* TOOLS_WATCH_H */
