// SPDX-License-Identifier: GPL-2.0-only
/*
 * One poll() on a signalfd, two pidfds and the clock.
 *
 * Signals from the terminal reach the command by themselves, since it is in
 * the same foreground group; those sent to gprofctl alone are passed on.
 */
#include "watch.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "cmd.h"
#include "diag.h"

#define NSEC_PER_MSEC	1000000ULL
#define NSEC_PER_SEC	1000000000ULL
/* Between two looks at the clock, and at a thread, whose exit poll() cannot tell. */
#define TICK_MSEC	100

static const int ending[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT };

/* For the handler of watch_hurry(), which gets no pointer. */
static struct {
	_Atomic uint64_t first_ns;
	_Atomic pid_t command;
	void (*give_up)(void);
} hurry;

static void ending_set(sigset_t *set)
{
	sigemptyset(set);
	for (size_t i = 0; i < ARRAY_SIZE(ending); i++)
		sigaddset(set, ending[i]);
}

int watch_begin(struct watch *w)
{
	sigset_t set;

	*w = (struct watch){ .signals = -1, .command_fd = -1, .exit_fd = -1, .thread_fd = -1,
			     .urgent_fd = -1 };
	hurry.first_ns = 0;
	hurry.command = 0;
	ending_set(&set);
	w->signals = signalfd(-1, &set, SFD_CLOEXEC);
	if (w->signals < 0)
		return fail("no signalfd: %s", strerror(errno));
	/* A closed pipe is an error of write(), not a reason to die; so is a limit of sizes. */
	sigaddset(&set, SIGPIPE);
	sigaddset(&set, SIGXFSZ);
	sigprocmask(SIG_BLOCK, &set, &w->old_mask);
	return STATUS_OK;
}

static int open_pidfd(pid_t pid)
{
	/* glibc has the function only since 2.36. */
	return syscall(SYS_pidfd_open, pid, 0);
}

int watch_command(struct watch *w, pid_t pid)
{
	w->command_fd = open_pidfd(pid);
	if (w->command_fd < 0)
		return fail("the command cannot be waited for: %s", strerror(errno));
	w->command = pid;
	hurry.command = pid;
	return STATUS_OK;
}

void watch_target(struct watch *w, const struct gprof_target *target)
{
	char path[32];

	if (target->type != GPROF_PROCESS && target->type != GPROF_THREAD)
		return;
	if (target->type == GPROF_PROCESS)
		w->exit_fd = open_pidfd(target->id);
	if (w->exit_fd >= 0)
		return;
	snprintf(path, sizeof(path), "/proc/%d/stat", target->id);
	w->thread_fd = open(path, O_RDONLY | O_CLOEXEC);
	w->gone = w->thread_fd < 0;
}

bool watch_signalled(const struct watch *w)
{
	struct pollfd fd = { .fd = w->signals, .events = POLLIN };

	return poll(&fd, 1, 0) > 0;
}

bool watch_command_ended(const struct watch *w)
{
	struct pollfd fd = { .fd = w->command_fd, .events = POLLIN };

	return poll(&fd, 1, 0) > 0;
}

static void forget_target(struct watch *w)
{
	if (w->exit_fd >= 0)
		close(w->exit_fd);
	if (w->thread_fd >= 0)
		close(w->thread_fd);
	w->exit_fd = w->thread_fd = -1;
	w->gone = false;
}

void watch_command_alone(struct watch *w)
{
	forget_target(w);
	w->urgent_fd = -1;
}

/* A pidfd tells the end of all threads; for one thread there is only its state in /proc. */
static bool target_gone(const struct watch *w)
{
	char stat[256];
	const char *paren;
	ssize_t n;

	if (w->thread_fd < 0)
		return w->gone;
	n = pread(w->thread_fd, stat, sizeof(stat) - 1, 0);
	if (n <= 0)
		return true;
	stat[n] = '\0';
	paren = strrchr(stat, ')');
	return paren && paren[1] && (paren[2] == 'Z' || paren[2] == 'X');
}

/* Returns whether the signal ends the recording. */
static bool handle_signal(struct watch *w)
{
	struct signalfd_siginfo si;

	if (read(w->signals, &si, sizeof(si)) != sizeof(si))
		return false;
	if (si.ssi_signo == SIGHUP && w->hangup) {
		w->hangup(w->hangup_ctx);
		return false;
	}
	if (!hurry.first_ns)
		hurry.first_ns = now_ns();
	if (!w->command)
		return true;
	if (si.ssi_code <= 0)
		kill(w->command, si.ssi_signo);
	return false;
}

bool watch_wait(struct watch *w, uint64_t limit_ns, bool (*tick)(void *ctx, uint64_t ns),
		void *ctx)
{
	struct pollfd fds[] = {
		{ .fd = w->signals, .events = POLLIN },
		{ .fd = w->command_fd, .events = POLLIN },
		{ .fd = w->exit_fd, .events = POLLIN },
		{ .fd = w->urgent_fd, .events = POLLPRI },
	};
	uint64_t start = now_ns();

	for (;;) {
		uint64_t past = now_ns() - start;
		int timeout = -1;

		if (limit_ns && past >= limit_ns)
			return true;
		if (target_gone(w))
			return false;
		if (tick && !tick(ctx, past))
			return false;
		if (limit_ns && limit_ns - past < (uint64_t)INT_MAX * NSEC_PER_MSEC)
			timeout = (limit_ns - past + NSEC_PER_MSEC - 1) / NSEC_PER_MSEC;
		if ((tick || w->thread_fd >= 0) && (timeout < 0 || timeout > TICK_MSEC))
			timeout = TICK_MSEC;
		if (poll(fds, ARRAY_SIZE(fds), timeout) <= 0)
			continue;
		if (fds[0].revents && handle_signal(w))
			return false;
		if (fds[1].revents || fds[2].revents)
			return false;
	}
}

static void handle(int sig, siginfo_t *si, void *ucontext)
{
	int saved = errno;

	(void)ucontext;
	/* Some senders (timeout) signal the process and then its group: that is one Ctrl-C. */
	if (hurry.first_ns && now_ns() - hurry.first_ns >= NSEC_PER_SEC) {
		hurry.give_up();
		_exit(128 + sig);
	}
	if (!hurry.first_ns)
		hurry.first_ns = now_ns();
	if (hurry.command && si->si_code <= 0)
		kill(hurry.command, sig);
	errno = saved;
}

void watch_hurry(void (*give_up)(void))
{
	struct sigaction sa = { .sa_sigaction = handle, .sa_flags = SA_SIGINFO | SA_RESTART };
	sigset_t set;

	hurry.give_up = give_up;
	for (size_t i = 0; i < ARRAY_SIZE(ending); i++)
		sigaction(ending[i], &sa, NULL);
	ending_set(&set);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
}

void watch_resume(void)
{
	sigset_t set;

	ending_set(&set);
	sigprocmask(SIG_BLOCK, &set, NULL);
	for (size_t i = 0; i < ARRAY_SIZE(ending); i++)
		signal(ending[i], SIG_DFL);
}

/* A command that goes on after that does not fail by it in the end. */
static void forget_limit(void)
{
	const struct timespec now = { 0 };
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGXFSZ);
	sigtimedwait(&set, NULL, &now);
}

void watch_end(struct watch *w)
{
	if (w->signals < 0)
		return;
	forget_limit();
	close(w->signals);
	forget_target(w);
	if (w->command_fd >= 0)
		close(w->command_fd);
	sigprocmask(SIG_SETMASK, &w->old_mask, NULL);
}
