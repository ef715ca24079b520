/* SPDX-License-Identifier: GPL-2.0-only */
/* tool_run.h: subcommands of gprofctl, run from the tests of its parts. */
#ifndef GPROF_TEST_TOOL_RUN_H
#define GPROF_TEST_TOOL_RUN_H

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

struct ran {
	int status;
	char out[65536];
	char err[4096];
};

static inline void slurp(int fd, char *text, size_t size)
{
	ssize_t n = pread(fd, text, size - 1, 0);

	text[n > 0 ? n : 0] = '\0';
}

/* A subcommand in a process of its own; @out: where its output goes, or -1. */
static inline void run(struct ran *r, int (*cmd)(int argc, char **argv), char **argv, int out)
{
	int fds[2] = { memfd_create("out", 0), memfd_create("err", 0) };
	int argc = 0, status;
	pid_t pid = fork();

	while (argv[argc])
		argc++;
	if (!pid) {
		dup2(out < 0 ? fds[0] : out, 1);
		dup2(fds[1], 2);
		exit(cmd(argc, argv));
	}
	waitpid(pid, &status, 0);
	r->status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
	slurp(fds[0], r->out, sizeof(r->out));
	slurp(fds[1], r->err, sizeof(r->err));
	close(fds[0]);
	close(fds[1]);
}

#define ARGV(...)	((char *[]){ __VA_ARGS__, NULL })

/* To @self->r, where all went well; or where it ended with @_status and said @_said. */
#define RUN_OK(cmd, argv) do {								\
	run(&self->r, cmd, argv, -1);							\
	ASSERT_EQ(0, self->r.status) TH_LOG("%s", self->r.err);				\
} while (0)

#define RUN_TELLS(_status, _said, cmd, argv) do {					\
	run(&self->r, cmd, argv, -1);							\
	EXPECT_EQ(_status, self->r.status);						\
	EXPECT_NE(NULL, strstr(self->r.err, _said)) TH_LOG("%s", self->r.err);		\
} while (0)

#endif /* GPROF_TEST_TOOL_RUN_H */
