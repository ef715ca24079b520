// SPDX-License-Identifier: GPL-2.0-only
/*
 * A command that is run for each file.
 */
#include "hook.h"

#include <errno.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "say.h"

#define NS	1000000000ULL

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * NS + ts.tv_nsec;
}

void hook_run(struct hook *h, const char *path)
{
	pid_t pid;

	if (!h->command)
		return;
	hook_look(h);
	if (h->pid) {
		h->failed++;
		say("--exec is not run for %s: it still runs for the one before", path);
		return;
	}
	pid = fork();
	if (!pid) {
		setpgid(0, 0);
		sigprocmask(SIG_SETMASK, h->mask, NULL);
		execl("/bin/sh", "sh", "-c", h->command, "gprofctl", path, (char *)NULL);
		_exit(127);
	}
	if (pid < 0) {
		h->failed++;
		say("--exec cannot be run: %s", strerror(errno));
		return;
	}
	/* Whoever is first: it must be a group when it is killed. */
	setpgid(pid, pid);
	h->pid = pid;
	h->since_ns = now_ns();
}

static void ended(struct hook *h, int status)
{
	h->pid = 0;
	if (WIFEXITED(status) && !WEXITSTATUS(status))
		return;
	h->failed++;
	if (WIFEXITED(status))
		say("--exec ended with status %d", WEXITSTATUS(status));
	else
		say("--exec was killed by signal %d", WTERMSIG(status));
}

/* The number may be another's by now: nothing is to be killed. */
static void lose(struct hook *h)
{
	h->pid = 0;
	h->failed++;
	say("--exec has ended, but its status is lost");
}

void hook_look(struct hook *h)
{
	int status;
	pid_t pid;

	if (!h->pid)
		return;
	pid = waitpid(h->pid, &status, WNOHANG);
	if (pid == h->pid) {
		ended(h, status);
	} else if (pid < 0) {
		lose(h);
	} else if (now_ns() - h->since_ns > h->limit_ns) {
		say("--exec has not ended within %llu s, and is killed", h->limit_ns / NS);
		kill(-h->pid, SIGKILL);
		do
			pid = waitpid(h->pid, &status, 0);
		while (pid < 0 && errno == EINTR);
		if (pid < 0)
			lose(h);
		else
			ended(h, status);
	}
}

void hook_end(struct hook *h)
{
	while (h->pid) {
		nanosleep(&(struct timespec){ 0, 20000000 }, NULL);
		hook_look(h);
	}
}
