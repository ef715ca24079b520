// SPDX-License-Identifier: GPL-2.0-only
/*
 * fork, a gate, exec, and the report of a failed exec.
 */
#include "launch.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cmd.h"
#include "diag.h"

static void close_both(int *fds)
{
	close(fds[0]);
	close(fds[1]);
}

/* In the child: wait for the gate to open, execute, or report why not. */
__attribute__((noreturn))
static void child(char **argv, int gate, int report, const sigset_t *mask)
{
	int error;
	char go;

	sigprocmask(SIG_SETMASK, mask, NULL);
	/* End of file: gprofctl gave up, or is gone. */
	if (read(gate, &go, 1) != 1)
		_exit(STATUS_NOT_FOUND);
	execvp(argv[0], argv);
	error = errno;
	if (write(report, &error, sizeof(error)) < 0)
		_exit(STATUS_FAILED);
	_exit(STATUS_NOT_FOUND);
}

int launch_prepare(struct launch *l, char **argv, const sigset_t *mask)
{
	int gate[2], report[2];

	*l = (struct launch){ .argv = argv };
	if (pipe2(gate, O_CLOEXEC))
		return fail("no pipe to the command: %s", strerror(errno));
	if (pipe2(report, O_CLOEXEC)) {
		close_both(gate);
		return fail("no pipe to the command: %s", strerror(errno));
	}
	l->pid = fork();
	if (l->pid < 0) {
		int error = errno;

		l->pid = 0;
		close_both(gate);
		close_both(report);
		return fail("no process for %s: %s", argv[0], strerror(error));
	}
	if (!l->pid) {
		/* Its own copy of the writing end would keep the gate from closing. */
		close(gate[1]);
		close(report[0]);
		child(argv, gate[0], report[1], mask);
	}
	close(gate[0]);
	close(report[1]);
	l->gate = gate[1];
	l->report = report[0];
	return STATUS_OK;
}

static ssize_t read_report(struct launch *l, int *error)
{
	ssize_t n;

	do
		n = read(l->report, error, sizeof(*error));
	while (n < 0 && errno == EINTR);
	return n;
}

int launch_go(struct launch *l)
{
	bool opened = write(l->gate, "", 1) == 1;
	int error = 0;
	ssize_t n = read_report(l, &error);

	close(l->gate);
	close(l->report);
	/* A gate that cannot be opened: the child was killed, which launch_wait() tells. */
	if (!opened || n != sizeof(error))
		return STATUS_OK;
	launch_wait(l);
	diag("cannot run %s: %s", l->argv[0], strerror(error));
	return error == ENOENT ? STATUS_NOT_FOUND : STATUS_CANNOT_RUN;
}

int launch_wait(struct launch *l)
{
	int status;
	pid_t pid;

	do
		pid = waitpid(l->pid, &status, 0);
	while (pid < 0 && errno == EINTR);
	l->pid = 0;
	if (pid < 0)
		return fail("the status of %s is lost: %s", l->argv[0], strerror(errno));
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

void launch_abandon(struct launch *l)
{
	if (!l->pid)
		return;
	close(l->gate);
	close(l->report);
	launch_wait(l);
}
