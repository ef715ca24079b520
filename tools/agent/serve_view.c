// SPDX-License-Identifier: GPL-2.0-only
/*
 * The command is gprofctl, in a process of its own: its failure does not end the server.
 */
#include "serve_view.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <semaphore.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <gprof/trace_record.h>

#include "caps.h"
#include "cli/cmd.h"
#include "cli/diag.h"
#include "cli/program.h"

#define TRACE_FD	3	/* in the command */
#define LOOK_MSEC	100
#define LOOKS_MAX	1200
/* Memory of each, beside its mappings, and how many at once; others wait. */
#define MEMORY_BYTES	(1024UL * 1024 * 1024)
#define AT_ONCE		2

static sem_t slots;
static pthread_once_t once = PTHREAD_ONCE_INIT;

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

/**
 * struct command - what makes a page
 * @name: of gprofctl
 * @option: one more option, or NULL
 */
struct command {
	const char *name;
	const char *option;
};

static const struct command wall = { "wall", NULL };
static const struct command view = { "view", "--title=CPU profile" };

/* Between fork and exec. A reader of a trace needs no privilege, and has a bound. */
static void become(const struct command *c, int trace, int out, int err)
{
	const struct rlimit memory = { MEMORY_BYTES, MEMORY_BYTES };
	char path[] = "/proc/self/fd/3";
	char *argv[] = { "gprofctl", (char *)c->name, path, "-o", "-", (char *)c->option, NULL };
	int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
	sigset_t none;

	sigemptyset(&none);
	if (null >= 0 && dup2(null, STDIN_FILENO) >= 0 && dup2(out, STDOUT_FILENO) >= 0 &&
	    dup2(err, STDERR_FILENO) >= 0 &&
	    (trace == TRACE_FD ? !fcntl(trace, F_SETFD, 0) : dup2(trace, TRACE_FD) >= 0) &&
	    !setrlimit(RLIMIT_DATA, &memory) && !sigprocmask(SIG_SETMASK, &none, NULL) &&
	    caps_drop_all())
		program_exec("gprofctl", argv);
	_exit(STATUS_FAILED);
}

static int spawn(pid_t *pid, const struct command *c, int trace, int out, int err)
{
	*pid = fork();
	if (!*pid)
		become(c, trace, out, err);
	return *pid < 0 ? -errno : 0;
}

/* Its exit status, or -errno: it is given up with its client, or when it takes too long. */
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

/* The command's last message is the reason of its failure. */
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
	if (*last)
		snprintf(why, size, "%s", last);
}

static void make_slots(void)
{
	sem_init(&slots, 0, AT_ONCE);
}

static int acquire_slot(const struct gprof_http_request *rq)
{
	pthread_once(&once, make_slots);
	while (sem_trywait(&slots)) {
		poll(NULL, 0, LOOK_MSEC);
		if (rq->gone && rq->gone(rq->ctx))
			return -ECONNABORTED;
	}
	return 0;
}

static int make(void *ctx, const struct gprof_http_request *rq, int trace, int fd, char *why,
		size_t size)
{
	const struct command *c = ctx;
	int ret = acquire_slot(rq), err;
	pid_t pid = -1;

	if (ret)
		return ret;
	err = memfd_create("gprofctl", MFD_CLOEXEC);
	ret = err < 0 ? -errno : spawn(&pid, c, trace, fd, err);
	if (!ret)
		ret = wait_for(pid, rq);
	sem_post(&slots);
	if (ret > 0) {
		snprintf(why, size, "gprofctl %s failed without a word", c->name);
		read_sentence(err, why, size);
		ret = -EIO;
	} else if (ret == -ETIMEDOUT) {
		snprintf(why, size, "the recording is too large to be looked at here: ask for fewer "
			 "seconds, or for trace or profile");
	}
	if (err >= 0)
		close(err);
	return ret;
}

const struct gprof_http_view *serve_views(size_t *nr)
{
	static const struct gprof_http_view views[] = {
		{ "wall", "where the time of each thread went, all of it, waits too", &wall_trace,
		  make, (void *)&wall },
		{ "view", "where CPU time goes, as a page of graphs; <a href=\"../../live\">live</a> it "
		  "is renewed", NULL, make, (void *)&view },
	};

	*nr = ARRAY_SIZE(views);
	return views;
}
