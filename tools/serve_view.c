// SPDX-License-Identifier: GPL-2.0-only
/*
 * The command is this program, run anew: whatever becomes of it, the server stays.
 */
#include "serve_view.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <gprof/trace_record.h>

#include "say.h"

#define TRACE_FD	3	/* in the command */
#define LOOK_MSEC	100
#define LOOKS_MAX	1200

/* As gprofctl wall records it. */
static const struct gprof_cpu_event samples = { .name = "timer", .hz = 100 };
static const struct gprof_trace_config wall_trace = {
	.sz = sizeof(wall_trace),
	.groups = GPROF_TRACE_GROUP_SYSCALLS | GPROF_TRACE_GROUP_FAULTS |
		  GPROF_TRACE_GROUP_RECLAIM | GPROF_TRACE_GROUP_THROTTLE,
	.stacks = GPROF_TRACE_STACK_BLOCKED | GPROF_TRACE_STACK_WAKER,
	.kernel_frames = true,
	.samples = &samples,
};

static int spawn(pid_t *pid, const char *command, int trace, int out, int err)
{
	char path[] = "/proc/self/fd/3";
	char *argv[] = { "gprofctl", (char *)command, path, "-o", "-", NULL };
	posix_spawn_file_actions_t files;
	posix_spawnattr_t attr;
	sigset_t none;
	int ret;

	sigemptyset(&none);
	posix_spawnattr_init(&attr);
	posix_spawnattr_setsigmask(&attr, &none);
	posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGMASK);
	posix_spawn_file_actions_init(&files);
	posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_adddup2(&files, out, STDOUT_FILENO);
	posix_spawn_file_actions_adddup2(&files, err, STDERR_FILENO);
	posix_spawn_file_actions_adddup2(&files, trace, TRACE_FD);
	ret = posix_spawn(pid, "/proc/self/exe", &files, &attr, argv, environ);
	posix_spawn_file_actions_destroy(&files);
	posix_spawnattr_destroy(&attr);
	return -ret;
}

/* Its exit status, or -errno: it is given up with who wants it, or when it takes too long. */
static int wait_for(pid_t pid, const struct gprof_http_request *rq)
{
	struct pollfd p = { .fd = (int)syscall(SYS_pidfd_open, pid, 0), .events = POLLIN };
	int looks = 0, err = p.fd < 0 ? -errno : 0, status;

	while (!err && poll(&p, 1, LOOK_MSEC) <= 0) {
		if (rq->gone && rq->gone(rq->ctx))
			err = -ECONNABORTED;
		else if (looks++ == LOOKS_MAX)
			err = -ETIMEDOUT;
	}
	if (err)
		kill(pid, SIGKILL);
	if (p.fd >= 0)
		close(p.fd);
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return -errno;
	if (err)
		return err;
	return WIFEXITED(status) ? WEXITSTATUS(status) : -EINTR;
}

/* What the command said last is why it failed. */
static void read_sentence(int fd, char *why, size_t size)
{
	char text[4096], *last = text, *end;
	ssize_t n = pread(fd, text, sizeof(text) - 1, 0);

	text[n > 0 ? n : 0] = '\0';
	for (end = strchr(text, '\n'); end; end = strchr(last, '\n')) {
		if (!end[1]) {
			*end = '\0';
			break;
		}
		last = end + 1;
	}
	if (!strncmp(last, "gprofctl: ", 10))
		last += 10;
	snprintf(why, size, "%s", last);
}

static int make(void *ctx, const struct gprof_http_request *rq, int trace, int fd, char *why,
		size_t size)
{
	const char *command = ctx;
	int err = memfd_create("gprofctl", MFD_CLOEXEC), ret;
	pid_t pid;

	if (err < 0)
		return -errno;
	ret = spawn(&pid, command, trace, fd, err);
	if (!ret)
		ret = wait_for(pid, rq);
	if (ret > 0) {
		read_sentence(err, why, size);
		ret = -EIO;
	} else if (ret == -ETIMEDOUT) {
		snprintf(why, size, "the trace is too large to be looked at here: ask for fewer "
			 "seconds, or for trace");
	}
	close(err);
	return ret;
}

const struct gprof_http_view *serve_views(size_t *nr)
{
	static const struct gprof_http_view views[] = {
		{ "wall", "where the time of each thread went, all of it, waits too", &wall_trace,
		  make, "wall" },
	};

	*nr = ARRAY_SIZE(views);
	return views;
}
