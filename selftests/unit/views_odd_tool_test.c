// SPDX-License-Identifier: GPL-2.0-only
/* What is told of traces of a host that are damaged, or made up, or hold what is odd. */
#include "harness.h"
#include "cli/cmd.h"
#include "lib_util.h"
#include "trace_build.h"
#include "views_build.h"
#include "views/trace_metadata.h"

/* A cgroup may get time again that was throttled before the trace began. */
TEST_F(views, wall_of_a_cgroup_that_was_throttled_before)
{
	comes(1, 7);
	for (uint32_t queue = 1; queue < 100; queue++)
		point(2, 0, GPROF_TRACE_POINT_UNTHROTTLE, 0, GPROF_TRACE_NO_TID, queue, 0, 0);
	leaves(12, 7, GPROF_TRACE_WHY_DEAD, 0);
	WALL();
	EXPECT_TOLD(7, "cpu 11");
}

/*
 * Events of one time are told ns behind each other, and so after a loss that comes next, as
 * its generation says: no ns counts twice.
 */
TEST_F(views, wall_of_a_loss_behind_many_events_of_one_time)
{
	const struct gprof_trace_point lost = {
		.time = 2 * MS + 64, .type = GPROF_TRACE_POINT_LOST, .tid = GPROF_TRACE_NO_TID,
		.arg = 1,
	};

	comes(1, 7);
	for (uint32_t i = 0; i < 100; i++) {
		leaves(2, 7, GPROF_TRACE_WHY_PREEMPTED, 0);
		comes(2, 7);
	}
	gprof_trace_writer_cut(w, 2 * MS + 64, NULL);
	gprof_trace_writer_add(w, &lost);
	point(3, 0, GPROF_TRACE_POINT_ENTER, 0, 7, 0, 0, 0);
	leaves(4, 7, GPROF_TRACE_WHY_DEAD, 0);
	WALL();
	EXPECT_WHOLE(7);
}

/* Between each two times that a CPU idles it did not, for the time that is told. */
TEST_F(views, latency_of_a_cpu_that_idles_often)
{
	for (uint64_t ms = 10; ms < 60; ms += 10) {
		comes(ms, 7);
		leaves(ms + 3, 7, GPROF_TRACE_WHY_SLEEPS, 0);
	}
	SHOW(cmd_latency, ARGV("latency", self->trace, "--timehist"));
	EXPECT_SAYS(self->r.out,
		    "0.050000 [0000]  <idle>                              " "3.000      0.000      7.000\n");
}

/* A switch on a CPU of number @m, by proc @p, in a trace that says that it is of a host. */
static void write_cpu(int fd, uint64_t m, uint64_t p)
{
	static struct build t;

	build_header(&t, 23);
	build_clock(&t, 23, 1);
	build_experimental(&t, GPROF_TRACE_EXPERIMENT, 1, NONE, 1);
	build_byte(&t, 'V');
	build_number(&t, 1);
	build_end(&t);
	build_begin(&t, 1, m, 100);
	EV(&t, GPROF_EV_PROC_STATUS, 1, p, GPROF_PROC_RUNNING);
	EV(&t, GPROF_EV_GO_STATUS, 1, 7, m, GPROF_GO_WAITING);
	EV(&t, GPROF_EV_GO_UNBLOCK, 10, 7, 1, 0);
	EV(&t, GPROF_EV_GO_START, 10, 7, 2);
	EV(&t, GPROF_EV_GO_BLOCK, 1000, 0, 0);
	EV(&t, GPROF_EV_PROC_STOP, 1);
	build_end(&t);
	if (ftruncate(fd, 0) || pwrite(fd, t.b, t.n, 0) != (ssize_t)t.n)
		abort();
}

/* It would take room for all of those below it. */
TEST_F(views, no_host_has_so_many_cpus)
{
	static const struct { uint64_t m, p; int status; } rows[] = {
		{ 8191, 8191, STATUS_OK }, { 8192, 0, STATUS_FAILED }, { 0, 8192, STATUS_FAILED },
		{ 1ULL << 31, 0, STATUS_FAILED }, { 1ULL << 40, 0, STATUS_FAILED },
		{ 0, 1ULL << 40, STATUS_FAILED },
	};
	char *map[] = { "latency", self->trace, "--map", NULL };
	const struct rlimit limit = { 1ULL << 30, 1ULL << 30 };

	ASSERT_ZEROS(gprof_trace_writer_close(w), setrlimit(RLIMIT_AS, &limit));
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		write_cpu(self->fd, rows[i].m, rows[i].p);
		run(&self->r, cmd_latency, ARGV("latency", self->trace, "--timehist"), -1);
		EXPECT_EQ(rows[i].status, self->r.status) TH_LOG("%zu: %s", i, self->r.err);
		run(&self->r, cmd_latency, map, -1);
		EXPECT_EQ(rows[i].status, self->r.status) TH_LOG("%zu: %s", i, self->r.err);
		run(&self->r, cmd_read,
		    ARGV("read", self->trace, "--format", "perfetto", "-o", self->other), -1);
		EXPECT_EQ(rows[i].status, self->r.status) TH_LOG("%zu: %s", i, self->r.err);
		if (rows[i].status != STATUS_OK)
			EXPECT_SAYS(self->r.err, "tells of a CPU");
	}
}

static bool has(const char *file, const char *bytes)
{
	static char text[65536];
	int fd = open(file, O_RDONLY);
	ssize_t n = read(fd, text, sizeof(text));

	close(fd);
	return n > 0 && memmem(text, (size_t)n, bytes, strlen(bytes));
}

/* A name may end within a character, for it has no more than 15 bytes. */
TEST_F(views, names_of_any_bytes)
{
	char *csv[] = { "read", self->trace, "--format", "csv", "-o", self->dir, NULL };
	static const char *const files[] = { "switches", "wakings", "syscalls", "waits", "threads" };
	static const char *const odd[] = {
		"__schedule", "schedule", "pipe_read", "do_syscall_64", "\xff\"f", NULL
	};
	char file[128];

	gprof_trace_writer_name(w, 7, "caf\xc3\xa9 \x01na\xc3");
	comes(1, 7);
	waits(2, odd, GPROF_TRACE_WHY_SLEEPS);
	leaves(20, 7, GPROF_TRACE_WHY_DEAD, 0);
	SHOW(cmd_read, ARGV("read", self->trace, "--format", "perfetto", "-o", self->other));
	EXPECT_TRUES(has(self->other, "caf\xc3\xa9 ?na?"), has(self->other, "?\"f"));
	EXPECT_FALSE(has(self->other, "\xff\"f"));
	RUN_OK(cmd_read, csv);
	for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++) {
		snprintf(file, sizeof(file), "%s/%s.csv", self->dir, files[i]);
		EXPECT_EQ(i != 2, has(file, "\"caf\xc3\xa9 \xef\xbf\xbdna\xef\xbf\xbd\""))
			TH_LOG("%s", files[i]);
		if (i == 3)
			EXPECT_TRUE(has(file, ",\"\xef\xbf\xbd\"\"f;do_"));
		unlink(file);
	}
}

/* A thread names itself, and a spreadsheet computes what begins as a formula. */
TEST_F(views, no_spreadsheet_takes_a_name_for_a_formula)
{
	static const char *const files[] = { "switches", "wakings", "waits", "threads" };
	static const char *const odd[] = { "__schedule", "schedule", "@main", NULL };
	char file[128];

	gprof_trace_writer_name(w, 7, "=1+1");
	gprof_trace_writer_name(w, 8, "'8");
	comes(1, 7);
	waits(2, odd, GPROF_TRACE_WHY_SLEEPS);
	comes(15, 8);
	leaves(20, 8, GPROF_TRACE_WHY_DEAD, 0);
	SHOW(cmd_read, ARGV("read", self->trace, "--format", "csv", "-o", self->dir));
	for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++) {
		snprintf(file, sizeof(file), "%s/%s.csv", self->dir, files[i]);
		EXPECT_TRUE(has(file, ",\"'=1+1\"")) TH_LOG("%s", files[i]);
		EXPECT_FALSE(has(file, ",\"=")) TH_LOG("%s", files[i]);
		EXPECT_EQ(i == 2, has(file, ",\"'@main;schedule;")) TH_LOG("%s", files[i]);
		EXPECT_EQ(i == 0 || i == 3, has(file, ",\"''8\"")) TH_LOG("%s", files[i]);
	}
	snprintf(file, sizeof(file), "%s/syscalls.csv", self->dir);
	unlink(file);
	for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++) {
		snprintf(file, sizeof(file), "%s/%s.csv", self->dir, files[i]);
		unlink(file);
	}
}

/*
 * 7 waits for 8, which has waited for most of that; meanwhile 9 did very much, and before
 * it 8 and 9 have waited for each other many times.
 */
static void wait_behind_much(void)
{
	enum { TURNS = 4000, MUCH = 600000 };
	uint64_t us = 1000;
	struct gprof_trace_point p = { 0 };

#define AT(cpu_, type_, why_, tid_, other_) do { \
		p = (struct gprof_trace_point){ \
			.time = us++ * 1000, .cpu = cpu_, .type = type_, .why = why_, .tid = tid_, \
			.other = other_, \
		}; \
		gprof_trace_writer_add(w, &p); \
	} while (0)
	AT(0, GPROF_TRACE_POINT_SWITCH, 0, 0, 7);
	AT(1, GPROF_TRACE_POINT_SWITCH, 0, 0, 8);
	AT(0, GPROF_TRACE_POINT_SWITCH, GPROF_TRACE_WHY_SLEEPS, 7, 9);
	for (unsigned int i = 0; i < TURNS; i++) {
		AT(1, GPROF_TRACE_POINT_SWITCH, GPROF_TRACE_WHY_SLEEPS, 8, 0);
		AT(0, GPROF_TRACE_POINT_WAKING, 0, 9, 8);
		AT(1, GPROF_TRACE_POINT_SWITCH, 0, 0, 8);
		AT(0, GPROF_TRACE_POINT_SWITCH, GPROF_TRACE_WHY_SLEEPS, 9, 0);
		AT(1, GPROF_TRACE_POINT_WAKING, 0, 8, 9);
		AT(0, GPROF_TRACE_POINT_SWITCH, 0, 0, 9);
	}
	AT(1, GPROF_TRACE_POINT_SWITCH, GPROF_TRACE_WHY_SLEEPS, 8, 0);
	for (unsigned int i = 0; i < MUCH / 2; i++) {
		AT(0, GPROF_TRACE_POINT_SWITCH, GPROF_TRACE_WHY_PREEMPTED, 9, 0);
		AT(0, GPROF_TRACE_POINT_SWITCH, 0, 0, 9);
		if (i % 50000 == 0)
			gprof_trace_writer_cut(w, us * 1000, NULL);
	}
	AT(1, GPROF_TRACE_POINT_WAKING, 0, GPROF_TRACE_NO_TID, 8);
	AT(1, GPROF_TRACE_POINT_SWITCH, 0, 0, 8);
	AT(1, GPROF_TRACE_POINT_WAKING, 0, 8, 7);
	AT(2, GPROF_TRACE_POINT_SWITCH, 0, 0, 7);
	AT(2, GPROF_TRACE_POINT_SWITCH, GPROF_TRACE_WHY_DEAD, 7, 0);
}

TEST_F(views, why_of_a_wait_behind_much)
{
	struct rusage before, after;

	wait_behind_much();
	ASSERT_EQ(0, gprof_trace_writer_close(w));
	getrusage(RUSAGE_CHILDREN, &before);
	run(&self->r, cmd_read, ARGV("read", self->trace, "--why", "7"), -1);
	getrusage(RUSAGE_CHILDREN, &after);
	ASSERT_EQ(0, self->r.status) TH_LOG("%s", self->r.err);
	EXPECT_GT(3, after.ru_utime.tv_sec - before.ru_utime.tv_sec);
}

/* Notes of a time that does not come are no work for each generation until then. */
TEST_F(views, notes_of_times_to_come)
{
	unsigned char body[3] = { 'L', 1, 1 };
	struct gprof_trace_batch b = {
		.experiment = GPROF_TRACE_EXPERIMENT, .data = body, .len = sizeof(body),
	};
	const struct metadata_note *n;
	struct trace_metadata o = { 0 };
	int64_t last = 0;

	for (uint64_t i = 0; i < 300000; i++) {
		b.time = 1000000 + i * 7919 % 300000;
		body[1] = i % 100;
		metadata_add_batch(&o, &b);
		if (i % 3 == 0)
			metadata_generation(&o);
		ASSERT_EQ(NULL, metadata_until(&o, 999999 * 64));
	}
	EXPECT_EQ(NULL, metadata_until(&o, 999999 * 64));
	metadata_generation(&o);
	for (uint64_t i = 0; i < 300000; i++) {
		n = metadata_until(&o, (1000000 + (int64_t)i) * 64);
		ASSERT_NE(NULL, n);
		EXPECT_LT(last, n->time);
		last = n->time;
		/* What is told meanwhile is of the next generation. */
		if (i == 1000) {
			b.time = 1;
			metadata_add_batch(&o, &b);
		}
	}
	EXPECT_EQ(NULL, metadata_until(&o, INT64_MAX));
	metadata_generation(&o);
	n = metadata_until(&o, INT64_MAX);
	ASSERT_NE(NULL, n);
	EXPECT_EQS(64, n->time, NULL, metadata_until(&o, INT64_MAX));
	metadata_free(&o);
}

/* Of each kind, in the order of times, whichever generation or batch they came in. */
TEST(notes_come_by_their_times)
{
	/* type, CPU, what, cgroup; in units of 64 ns */
	static const struct { uint64_t time; unsigned char data[4]; } batches[] = {
		{ 9, { 'L', 1, 5 } }, { 4, { 'T', 0, 1, 7 } }, { 8, { 'T', 0, 0, 7 } }, { 6, { 'L', 0, 2 } },
		{ 6, { 'T', 0, 0, 3 } }, { 6, { 'T', 0, 1, 4 } }, { 6, { 'T', 0, 1, 3 } },
		{ 2, { 'L', 0, 9 } }, { 7, { 'L', 1, 1 } }, { 5, { 'L', 1, 1 } }, { 3, { 'L', 1, 1 } },
		/* no note of those */
		{ 1, { 'G', 0, 0, 0 } }, { 1, { 'X', 0, 1, 0 } },
		/* the next generation's */
		{ 1, { 'L', 2, 1 } }, { 10, { 'L', 2, 1 } },
	};
	static const struct metadata_note wanted[] = {
		{ 2, 0, METADATA_LOST, 0 },
		{ 3, 1, METADATA_LOST, 0 },
		{ 4, 0, METADATA_THROTTLED, 7 },
		{ 5, 1, METADATA_LOST, 0 },
		{ 6, 0, METADATA_THROTTLED, 3 },
		{ 6, 0, METADATA_THROTTLED, 4 },
		{ 6, 0, METADATA_UNTHROTTLED, 3 },
		{ 6, 0, METADATA_LOST, 0 },
		{ 7, 1, METADATA_LOST, 0 },
		/* so late is the next generation here */
		{ 1, 2, METADATA_LOST, 0 },
		{ 8, 0, METADATA_UNTHROTTLED, 7 },
		{ 9, 1, METADATA_LOST, 0 },
		{ 10, 2, METADATA_LOST, 0 },
	};
	struct trace_metadata o = { 0 };
	size_t at = 0;

	for (size_t i = 0; i < sizeof(batches) / sizeof(*batches); i++) {
		const struct gprof_trace_batch batch = {
			.experiment = GPROF_TRACE_EXPERIMENT, .time = batches[i].time,
			.data = batches[i].data, .len = batches[i].data[0] == 'T' ? 4 : 3,
		};

		if (i == 13)
			metadata_generation(&o);
		metadata_add_batch(&o, &batch);
	}
	for (int64_t time = 1; time <= 12; time++) {
		const struct metadata_note *n;

		if (time == 8)
			metadata_generation(&o);
		/* What is at @time is of it. */
		while ((n = metadata_until(&o, time * 64))) {
			ASSERT_GT(sizeof(wanted) / sizeof(*wanted), at);
			EXPECT_EQS(64 * wanted[at].time, n->time, wanted[at].cpu, n->cpu,
				   wanted[at].kind, n->kind, wanted[at].queue, n->queue);
			EXPECT_GE(time * 64, n->time);
			at++;
		}
	}
	EXPECT_EQ(sizeof(wanted) / sizeof(*wanted), at);
	metadata_free(&o);
}

/* Goroutine 1 makes 2, is in a system call, waits for a channel, and ends; 2 sleeps to the end. */
static void build_goroutines(struct build *b)
{
	build_header(b, 23);
	build_begin(b, 1, 70000, 100);
	build_status(b);
	EV(b, GPROF_EV_GO_CREATE, 100, 5000000, 0, 0);
	EV(b, GPROF_EV_GO_SYSCALL_BEGIN, 100, 1, 0);
	EV(b, GPROF_EV_GO_SYSCALL_END, 50);
	EV(b, GPROF_EV_GO_BLOCK, 100, 1, 0);
	EV(b, GPROF_EV_GO_START, 10, 5000000, 1);
	EV(b, GPROF_EV_GO_UNBLOCK, 200, 1, 1, 0);
	EV(b, GPROF_EV_GO_BLOCK, 100, 2, 0);
	EV(b, GPROF_EV_GO_START, 5, 1, 2);
	EV(b, GPROF_EV_GO_DESTROY, 33);
	build_end(b);
	STRINGS(b, 1, "chan receive", "sleep");
	build_clock(b, 23, 1);
}

/* Threads are goroutines, with all of their numbers, and CPUs are Ps. */
TEST_F(views, trace_of_a_go_program)
{
	static struct build b;

	ASSERT_EQ(0, gprof_trace_writer_close(w));
	build_goroutines(&b);
	ASSERT_EQS(0, ftruncate(self->fd, 0), (ssize_t)b.n, pwrite(self->fd, b.b, b.n, 0));
	RUN_OK(cmd_wall, ARGV("wall", self->trace, "--json"));
	EXPECT_SAYS(self->r.err, "a Go program wrote", "Switches of OS threads are not in it");
	EXPECT_EQS(333, told(self->r.out, 1, "cpu"), 50, told(self->r.out, 1, "syscall"),
		   210, told(self->r.out, 1, "chan"), 105, told(self->r.out, 1, "runnable"),
		   698, told(self->r.out, 1, "elapsed"));
	EXPECT_EQS(300, told(self->r.out, 5000000, "cpu"), 260, told(self->r.out, 5000000, "runnable"),
		   38, told(self->r.out, 5000000, "sleep"), 0, told(self->r.out, 5000000, "untold"));
	RUN_OK(cmd_latency, ARGV("latency", self->trace, "--json"));
	EXPECT_SAYS(self->r.err, "Switches of OS threads are not in it");
	EXPECT_EQS(105, told(self->r.out, 1, "delay"), 260, told(self->r.out, 5000000, "delay"),
		   333, told(self->r.out, 1, "runtime"));
	RUN_OK(cmd_timeline, ARGV("timeline", self->trace, "-o", self->other));
	/* On P 0; 2 has no P while it waits, nor has the scheduler's time a goroutine. */
	EXPECT_EQ(0, lib_sh("grep -qF '{\"cpu\":0,\"first\":1,' %s", self->other));
	EXPECT_EQ(0, lib_sh("grep -qF '[[1,\"a350@0}10a300@1}5a33@0\"]]' %s", self->other));
	EXPECT_EQ(0, lib_sh("grep -qF '[[1,\"a200@0s50a100@0t210!@1b105!@1a33@0\"]]' %s", self->other));
	EXPECT_EQ(0, lib_sh("grep -qF '[[1,\"b260a300@0d38\"]]' %s", self->other));
	RUN_OK(cmd_why, ARGV("why", self->trace, "--thread", "1"));
	EXPECT_SAYS(self->r.out, "1  waits for a channel for 210 ns",
		    "       0.000 ms  5000000  is runnable, and has no CPU",
		    "       0.000 ms  5000000  runs\n                 and wakes 1 \n");
	RUN_TELLS(STATUS_FAILED, "a trace that a program wrote of itself; gprofctl timeline, wall",
		  cmd_read, ARGV("read", self->trace, "--format", "perfetto", "-o", self->other));
}

TEST_HARNESS_MAIN
