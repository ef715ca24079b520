// SPDX-License-Identifier: GPL-2.0-only
/*
 * A command that is run for each file.
 */
#include "hook.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "diag.h"

#define NS		1000000000ULL
#define LEFT_NS		(2 * NS)	/* a killed process may still have work to finish */

/* Input is for the recorded command alone; reading from a terminal would stop it. */
static void read_nothing(void)
{
	int fd = open("/dev/null", O_RDONLY);

	if (fd < 0)
		close(STDIN_FILENO);
	else if (fd != STDIN_FILENO && dup2(fd, STDIN_FILENO) == STDIN_FILENO)
		close(fd);
}

void hook_run(struct hook *h, const char *path)
{
	pid_t pid;

	if (!h->command)
		return;
	hook_poll(h);
	if (h->pid) {
		h->failed++;
		diag("--exec is not run for %s: it still runs for the one before", path);
		return;
	}
	pid = fork();
	if (!pid) {
		setpgid(0, 0);
		read_nothing();
		sigprocmask(SIG_SETMASK, h->mask, NULL);
		execl("/bin/sh", "sh", "-c", h->command, "gprofctl", path, (char *)NULL);
		_exit(127);
	}
	if (pid < 0) {
		h->failed++;
		diag("--exec cannot be run: %s", strerror(errno));
		return;
	}
	/* Parent and child both do it: it must be a group when it is killed. */
	setpgid(pid, pid);
	h->pid = pid;
	h->since_ns = now_ns();
	h->killed_ns = 0;
}

static void ended(struct hook *h, int status)
{
	h->pid = 0;
	if (WIFEXITED(status) && !WEXITSTATUS(status))
		return;
	h->failed++;
	if (WIFEXITED(status))
		diag("--exec ended with status %d", WEXITSTATUS(status));
	else
		diag("--exec was killed by signal %d", WTERMSIG(status));
}

/* The number may be another's by now: nothing is to be killed. */
static void lose(struct hook *h)
{
	h->pid = 0;
	h->failed++;
	diag("--exec has ended, but its status is lost");
}

/*
 * Its end is not waited for: it may be another user's by now, as sudo makes it, or hang in the
 * kernel.
 */
static void kill_it(struct hook *h)
{
	h->killed_ns = now_ns();
	if (kill(-h->pid, SIGKILL))
		diag("--exec has not ended within %llu s, and cannot be killed: %s",
		     h->limit_ns / NS, strerror(errno));
	else
		diag("--exec has not ended within %llu s, and is killed", h->limit_ns / NS);
}

void hook_poll(struct hook *h)
{
	int status;
	pid_t pid;

	if (!h->pid)
		return;
	pid = waitpid(h->pid, &status, WNOHANG);
	if (pid == h->pid)
		ended(h, status);
	else if (pid < 0)
		lose(h);
	else if (!h->killed_ns && now_ns() - h->since_ns > h->limit_ns)
		kill_it(h);
}

void hook_abandon(const struct hook *h)
{
	if (h->pid)
		kill(-h->pid, SIGKILL);
}

void hook_end(struct hook *h)
{
	for (;;) {
		hook_poll(h);
		if (!h->pid)
			return;
		if (h->killed_ns && now_ns() - h->killed_ns > LEFT_NS)
			break;
		nanosleep(&(struct timespec){ 0, 20000000 }, NULL);
	}
	diag("--exec is left behind: process %d goes on", (int)h->pid);
	h->pid = 0;
	h->failed++;
}
