// SPDX-License-Identifier: GPL-2.0-only
/*
 * Runs the command.  Its output goes through pipes to two ports, so that the
 * host gets every byte as it was and can count them; a port can be opened
 * once only, but the command may open /dev/stdout as often as it likes.
 */

#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "guest.h"

#define ALIVE_MS	2000	/* so often a quiet guest shows that it is not stuck */

struct stream {
	int from;		/* the pipe; -1 once it has ended */
	int to;			/* the port */
	unsigned long long bytes;
};

static void stream_open(struct stream *s, const char *port, int *end)
{
	int fds[2];

	if (pipe2(fds, O_CLOEXEC))
		control_die("pipe");
	s->from = fds[0];
	s->to = control_port(port);
	s->bytes = 0;
	*end = fds[1];
}

static void stream_copy(struct stream *s)
{
	static char buf[65536];
	ssize_t n, done, ret;

	n = read(s->from, buf, sizeof(buf));
	if (n < 0 && errno == EINTR)
		return;
	if (n <= 0) {
		close(s->from);
		s->from = -1;
		return;
	}
	for (done = 0; done < n; done += ret) {
		ret = write(s->to, buf + done, n - done);
		if (ret < 0)
			control_die("writing output");
	}
	s->bytes += n;
}

static _Noreturn void child(const struct config *cfg, int out, int err)
{
	sigset_t none;
	int in;

	in = open("/dev/null", O_RDONLY);
	if (in < 0 || dup2(in, 0) < 0 || dup2(out, 1) < 0 || dup2(err, 2) < 0)
		_exit(126);
	close(in);
	setsid();
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);

	clearenv();
	setenv("PATH", GUEST_DIR "/bin:/gprof/bin:/gprof/selftests:/usr/sbin:/usr/bin", 1);
	setenv("LD_LIBRARY_PATH", "/gprof/lib", 1);
	setenv("HOME", "/root", 1);
	setenv("USER", "root", 1);
	setenv("LANG", "C.UTF-8", 1);
	setenv("TERM", "dumb", 1);
	setenv("GPROF_KERNEL", cfg->kernel, 1);
	if (cfg->icount)
		setenv("GPROF_ICOUNT", "1", 1);
	setenv("GPROF_MODULES", GUEST_DIR "/ko", 1);
	if (chdir("/root"))
		_exit(126);
	execvp(cfg->argv[0], cfg->argv);
	dprintf(2, "%s: %s\n", cfg->argv[0], strerror(errno));
	_exit(errno == ENOENT ? 127 : 126);
}

/* Buries who has died; true once the command is among them. */
static bool reap(pid_t pid, int *status)
{
	bool found = false;
	pid_t dead;
	int how;

	while ((dead = waitpid(-1, &how, WNOHANG)) > 0) {
		if (dead != pid)
			continue;
		found = true;
		*status = WIFEXITED(how) ? WEXITSTATUS(how) :
					   128 + WTERMSIG(how);
	}
	return found;
}

void command_run(const struct config *cfg)
{
	struct signalfd_siginfo info;
	int out, err, status = -1;
	struct stream s[2];
	struct pollfd p[3];
	sigset_t mask;
	pid_t pid;
	int i, n;

	sigemptyset(&mask);
	sigaddset(&mask, SIGCHLD);
	sigprocmask(SIG_BLOCK, &mask, NULL);
	p[2].fd = signalfd(-1, &mask, SFD_CLOEXEC | SFD_NONBLOCK);
	p[2].events = POLLIN;
	if (p[2].fd < 0)
		control_die("signalfd");
	stream_open(&s[0], "gprof.stdout", &out);
	stream_open(&s[1], "gprof.stderr", &err);

	control_log("command starts");
	pid = fork();
	if (pid < 0)
		control_die("fork");
	if (!pid)
		child(cfg, out, err);
	close(out);
	close(err);

	while (status < 0 || s[0].from >= 0 || s[1].from >= 0) {
		for (i = 0; i < 2; i++) {
			p[i].fd = s[i].from;
			p[i].events = POLLIN;
		}
		n = poll(p, 3, cfg->icount ? -1 : ALIVE_MS);
		if (n < 0 && errno != EINTR)
			control_die("poll");
		if (!n)
			control_say("alive");
		for (i = 0; i < 2; i++)
			if (s[i].from >= 0 && p[i].revents)
				stream_copy(&s[i]);
		while (read(p[2].fd, &info, sizeof(info)) > 0)
			;
		/* Nobody outlives the command, or the module would be busy. */
		if (reap(pid, &status))
			kill(-1, SIGKILL);
	}
	/* The killed may take a moment, and their files with them. */
	while (wait(NULL) > 0 || errno == EINTR)
		;
	close(p[2].fd);
	for (i = 0; i < 2; i++)
		close(s[i].to);
	control_log("command ended with %d", status);
	control_say("output %llu %llu", s[0].bytes, s[1].bytes);
	control_say("status %d", status);
}
