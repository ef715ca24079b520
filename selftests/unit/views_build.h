/* SPDX-License-Identifier: GPL-2.0-only */
/* views_build.h: traces of a host, point by point, for the tests of what is told of them. */
#ifndef GPROF_TEST_VIEWS_BUILD_H
#define GPROF_TEST_VIEWS_BUILD_H

#include <fcntl.h>
#include <string.h>

#include <gprof/trace_write.h>

#include "tool_run.h"

#define MS	1000000ULL

FIXTURE(views) {
	char dir[64];
	char trace[96];
	char other[96];
	int fd;
	struct ran r;
};

/* Of the trace in the making. */
static struct gprof_trace_writer *w;

static inline const char *call_name(void *ctx, uint64_t nr)
{
	static const char *const names[] = { "read", "futex", "clock_nanosleep", "wait4", "pread64" };

	(void)ctx;
	return nr < 5 ? names[nr] : NULL;
}

FIXTURE_SETUP(views)
{
	const struct gprof_trace_writer_opts opts = { .sz = sizeof(opts), .syscall = call_name };

	strcpy(self->dir, "/tmp/gprof-views.XXXXXX");
	ASSERT_NE(NULL, mkdtemp(self->dir));
	snprintf(self->trace, sizeof(self->trace), "%s/x.trace", self->dir);
	snprintf(self->other, sizeof(self->other), "%s/other", self->dir);
	self->fd = open(self->trace, O_RDWR | O_CREAT, 0600);
	ASSERT_LE(0, self->fd);
	w = gprof_trace_writer_new(self->fd, &opts);
	ASSERT_NE(NULL, w);
}

FIXTURE_TEARDOWN(views)
{
	close(self->fd);
	unlink(self->trace);
	unlink(self->other);
	rmdir(self->dir);
}

/* Another trace, in place of the one that was begun. */
static inline void begin_anew(struct __test_metadata *_metadata, FIXTURE_DATA(views) *self,
			      const struct gprof_trace_writer_opts *opts)
{
	gprof_trace_writer_close(w);
	ASSERT_ZEROS(ftruncate(self->fd, 0), lseek(self->fd, 0, SEEK_SET));
	w = gprof_trace_writer_new(self->fd, opts);
	ASSERT_NE(NULL, w);
}

/* A stack of names, leaf first, up to a NULL; 0: none. */
static inline uint64_t stack(const char *const *names)
{
	struct gprof_trace_frame f[16];
	uint64_t id = 0;
	size_t nr = 0;

	for (; names && names[nr]; nr++)
		f[nr] = (struct gprof_trace_frame){
			.pc = nr + 1, .function = { names[nr], strlen(names[nr]) }, .file = { "", 0 },
		};
	if (nr)
		gprof_trace_writer_stack(w, f, nr, &id);
	return id;
}

static inline void point(uint64_t ms, uint32_t cpu, unsigned int type,
		  unsigned int why, uint32_t tid, uint32_t other, uint64_t at, uint64_t arg)
{
	const struct gprof_trace_point p = {
		.time = ms * MS, .cpu = cpu, .type = type, .why = why, .tid = tid, .other = other,
		.stack = at, .arg = arg,
	};

	gprof_trace_writer_add(w, &p);
}

static inline void leaves(uint64_t ms, uint32_t tid, unsigned int why,
		   uint64_t at)
{
	point(ms, 0, GPROF_TRACE_POINT_SWITCH, why, tid, 0, at, 0);
}

static inline void comes(uint64_t ms, uint32_t tid)
{
	point(ms, 0, GPROF_TRACE_POINT_SWITCH, 0, 0, tid, 0, 0);
}

static inline void wakes(uint64_t ms, uint32_t by, uint32_t tid, uint64_t at)
{
	point(ms, 1, GPROF_TRACE_POINT_WAKING, 0, by, tid, at, 0);
}

/* Thread 7 stops at ms, is woken after 10, and runs after 11, for 1. */
static inline void waits(uint64_t ms, const char *const *where,
		  unsigned int why)
{
	leaves(ms, 7, why, stack(where));
	wakes(ms + 10, GPROF_TRACE_NO_TID, 7, 0);
	comes(ms + 11, 7);
}

static const char *const in_sleep[] = {
	"__schedule", "schedule", "do_nanosleep", "do_syscall_64",
	"entry_SYSCALL_64_after_hwframe", "main", NULL
};
/* What a user's function is called is no reason. */
static const char *const in_pipe[] = {
	"__schedule", "schedule", "pipe_read", "vfs_read", "do_syscall_64",
	"entry_SYSCALL_64_after_hwframe", "futex_wait", "handle_mm_fault", NULL
};

static inline void calls(uint64_t ms, uint64_t nr, unsigned int why)
{
	point(ms, 0, GPROF_TRACE_POINT_ENTER, 0, 7, 0, 0, nr);
	waits(ms, NULL, why);
	point(ms + 11, 0, GPROF_TRACE_POINT_LEAVE, 0, 7, 0, 0, nr);
}

/* Times are told in units of 64 ns, and no two events have the same. */
#define EXPECT_NEAR_MS(ms, ns)	EXPECT_GT(1000LL, llabs((long long)(ms) * 1000000 - (ns)))

static const char *const all_parts[] __attribute__((unused)) = {
	"cpu", "runnable", "throttled", "sleep", "io", "futex", "pipe", "socket", "file", "poll",
	"fault", "reclaim", "lock", "child", "signal", "stopped", "uninterruptible", "kernel",
	"other", "untold", "lost", NULL
};

/* "KEY": N of the thread in JSON */
static inline long long told(const char *json, int tid, const char *key)
{
	char text[64];
	const char *p;

	snprintf(text, sizeof(text), "\"tid\": %d,", tid);
	p = strstr(json, text);
	snprintf(text, sizeof(text), "\"%s_ns\": ", key);
	p = p ? strstr(p, text) : NULL;
	return p ? atoll(p + strlen(text)) : -1;
}

/* Each part of the thread, by its word, takes so many ms: "sleep 10 pipe 5". */
static inline void expect_told(struct __test_metadata *_metadata, const char *json, int tid,
			       const char *parts)
{
	char part[32];
	int ms, n;

	for (; sscanf(parts, "%31s %d%n", part, &ms, &n) == 2; parts += n) {
		EXPECT_NEAR_MS(ms, told(json, tid, part)) TH_LOG("%d, %s: %s", tid, part, json);
	}
	EXPECT_STREQ("", parts);
}

#define EXPECT_TOLD(tid, parts)	expect_told(_metadata, self->r.out, tid, parts)

/* All that is told of the thread is all its time. */
#define EXPECT_WHOLE(tid) do {								\
	long long _sum = 0;								\
	for (const char *const *_part = all_parts; *_part; _part++)			\
		_sum += told(self->r.out, tid, *_part);					\
	EXPECT_EQ(told(self->r.out, tid, "elapsed"), _sum) TH_LOG("%d", tid);		\
} while (0)

/* What @cmd has to say of the trace, which is whole now. */
#define SHOW(cmd, argv) do {								\
	ASSERT_EQ(0, gprof_trace_writer_close(w));				\
	RUN_OK(cmd, argv);								\
} while (0)

#define WALL() do {									\
	char *_argv[] = { "wall", self->trace, "--json", NULL };			\
	SHOW(cmd_wall, _argv);								\
} while (0)

#endif /* GPROF_TEST_VIEWS_BUILD_H */
