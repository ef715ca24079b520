// SPDX-License-Identifier: GPL-2.0-only
/*
 * What is told of a trace of the host: where the time of threads went, and whom they
 * waited for, of traces whose every number is known.
 */
#include "harness.h"
#include <linux/gprof.h>
#include <gprof/profile.h>
#include <gprof/trace_record.h>

#include "cli/cmd.h"
#include "tool_run.h"

#include "views_build.h"
#include "lib_util.h"

static const char *const in_lock[] = {
	"__schedule", "schedule", "__mutex_lock.constprop.0", "pipe_write", "do_syscall_64", NULL
};
/* The copy of a pipe's data faults, and the fault reclaims: the fault is outermost. */
static const char *const in_fault[] = {
	"__schedule", "schedule", "io_schedule", "folio_wait_bit_common",
	"try_to_free_pages", "handle_mm_fault", "asm_exc_page_fault", "copy_to_user",
	"pipe_read", "do_syscall_64", "entry_SYSCALL_64_after_hwframe", NULL
};
static const char *const in_reclaim[] = {
	"__schedule", "schedule", "io_schedule", "shrink_node", "try_to_free_pages",
	"__x64_sys_brk", "do_syscall_64", NULL
};
static const char *const in_kthread[] = {
	"__schedule", "schedule", "worker_thread", "kthread", "ret_from_fork", NULL
};
static const char *const in_signal[] = {
	"__schedule", "schedule", "schedule_hrtimeout_range_clock", "do_sigtimedwait.isra.0",
	"__x64_sys_rt_sigtimedwait", "do_syscall_64", NULL
};
/* Where wait_for_vfork_done() has no frame of its own. */
static const char *const in_vfork[] = {
	"__schedule", "schedule", "schedule_timeout", "__wait_for_common", "kernel_clone",
	"__do_sys_vfork", "do_syscall_64", NULL
};
static const char *const in_socket[] = {
	"__schedule", "schedule", "unix_stream_read_generic", "sock_read_iter", "do_syscall_64",
	NULL
};
static const char *const in_something[] = {
	"__schedule", "schedule", "schedule_timeout", "__x64_sys_membarrier", "do_syscall_64", NULL
};
static const char *const in_user[] = { "futex_wait", "main", NULL };

/* In the words of gprofctl block; finer where the stack tells more, as of vfork's wait. */
TEST_F(views, wall_has_the_words_of_block)
{
	comes(1, 7);
	waits(2, in_signal, GPROF_TRACE_WHY_SLEEPS);
	waits(14, in_vfork, GPROF_TRACE_WHY_WAITS);
	waits(26, in_socket, GPROF_TRACE_WHY_SLEEPS);
	waits(38, in_something, GPROF_TRACE_WHY_WAITS);
	waits(50, in_something, GPROF_TRACE_WHY_SLEEPS);
	waits(62, in_kthread, GPROF_TRACE_WHY_WAITS);
	waits(74, in_kthread, GPROF_TRACE_WHY_SLEEPS);
	leaves(86, 7, GPROF_TRACE_WHY_DEAD, 0);
	WALL();
	EXPECT_TOLD(7, "signal 10 child 10 socket 10 uninterruptible 20 other 10 kernel 10");
	EXPECT_WHOLE(7);
}

TEST_F(views, wall_by_where_threads_stop)
{
	gprof_trace_writer_name(w, 7, "seven");
	comes(1, 7);
	waits(2, in_sleep, GPROF_TRACE_WHY_SLEEPS);
	waits(14, in_pipe, GPROF_TRACE_WHY_SLEEPS);
	waits(26, in_lock, GPROF_TRACE_WHY_WAITS);
	waits(38, in_fault, GPROF_TRACE_WHY_WAITS);
	waits(50, in_reclaim, GPROF_TRACE_WHY_WAITS);
	waits(62, in_kthread, GPROF_TRACE_WHY_SLEEPS);
	waits(74, in_user, GPROF_TRACE_WHY_SLEEPS);
	waits(86, in_sleep, GPROF_TRACE_WHY_STOPPED);
	leaves(98, 7, GPROF_TRACE_WHY_PREEMPTED, 0);
	comes(103, 7);
	leaves(105, 7, GPROF_TRACE_WHY_DEAD, 0);
	WALL();
	EXPECT_TOLD(7, "sleep 10 pipe 10 lock 10 fault 10 reclaim 10 kernel 10 untold 10 "
		    "stopped 10 runnable 13 cpu 11 elapsed 104");
	EXPECT_WHOLE(7);
	EXPECT_EQ(0, self->r.err[0]) TH_LOG("%s", self->r.err);
}

TEST_F(views, wall_by_system_calls_faults_and_throttling)
{
	gprof_trace_writer_name(w, 7, "seven");
	comes(1, 7);
	calls(2, 0, GPROF_TRACE_WHY_SLEEPS);		/* read: a pipe or a socket */
	calls(14, 0, GPROF_TRACE_WHY_WAITS);		/* a disk */
	calls(26, 1, GPROF_TRACE_WHY_SLEEPS);
	calls(38, 2, GPROF_TRACE_WHY_SLEEPS);
	calls(50, 3, GPROF_TRACE_WHY_SLEEPS);
	point(62, 0, GPROF_TRACE_POINT_FAULT, 0, 7, 0, 0, 1);
	waits(62, NULL, GPROF_TRACE_WHY_WAITS);
	point(74, 0, GPROF_TRACE_POINT_ENTER, 0, 7, 0, 0, 4);
	point(74, 0, GPROF_TRACE_POINT_RECLAIM_BEGIN, 0, 7, 0, 0, 0);
	waits(74, NULL, GPROF_TRACE_WHY_WAITS);
	point(85, 0, GPROF_TRACE_POINT_RECLAIM_END, 0, 7, 0, 0, 0);
	point(85, 0, GPROF_TRACE_POINT_LEAVE, 0, 7, 0, 0, 4);
	/* Its cgroup has no time for 5 ms, and it no CPU for 2 more. */
	point(86, 0, GPROF_TRACE_POINT_THROTTLE, 0, 7, 0, 0, 0);
	leaves(86, 7, GPROF_TRACE_WHY_PREEMPTED, 0);
	point(91, 1, GPROF_TRACE_POINT_UNTHROTTLE, 0, GPROF_TRACE_NO_TID, 0, 0, 0);
	comes(93, 7);
	leaves(94, 7, GPROF_TRACE_WHY_PREEMPTED, 0);
	comes(97, 7);
	leaves(98, 7, GPROF_TRACE_WHY_DEAD, 0);
	WALL();
	EXPECT_TOLD(7, "pipe 10 io 10 futex 10 sleep 10 child 10 fault 10 reclaim 10 throttled 5 "
		    "runnable 12 untold 0");
	EXPECT_SAYS(self->r.err, "gprofctl trace --stacks");
}

/* By the kernel, where neither stacks nor calls are recorded; the thread's state tells none. */
TEST_F(views, wall_by_the_reason_of_each_switch)
{
	static const struct {
		unsigned int reason, why;
		const char *told;
	} all[] = {
		{ GPROF_WAIT_FOR_SLEEP, GPROF_TRACE_WHY_SLEEPS, "sleep 10" },
		{ GPROF_WAIT_FOR_IO, GPROF_TRACE_WHY_WAITS, "io 20" },
		{ GPROF_WAIT_FOR_IO, GPROF_TRACE_WHY_SLEEPS, "" },
		{ GPROF_WAIT_FOR_FUTEX, GPROF_TRACE_WHY_SLEEPS, "futex 10" },
		{ GPROF_WAIT_FOR_PIPE, GPROF_TRACE_WHY_SLEEPS, "pipe 10" },
		{ GPROF_WAIT_FOR_SOCKET, GPROF_TRACE_WHY_SLEEPS, "socket 10" },
		{ GPROF_WAIT_FOR_FILE, GPROF_TRACE_WHY_SLEEPS, "file 10" },
		{ GPROF_WAIT_FOR_POLL, GPROF_TRACE_WHY_SLEEPS, "poll 10" },
		{ GPROF_WAIT_FOR_FAULT, GPROF_TRACE_WHY_WAITS, "fault 10" },
		{ GPROF_WAIT_FOR_BLOCKED, GPROF_TRACE_WHY_WAITS, "uninterruptible 10" },
		{ GPROF_WAIT_FOR_CHILD, GPROF_TRACE_WHY_SLEEPS, "child 10" },
		{ GPROF_WAIT_FOR_SIGNAL, GPROF_TRACE_WHY_SLEEPS, "signal 10" },
		{ GPROF_WAIT_FOR_STOPPED, GPROF_TRACE_WHY_SLEEPS, "stopped 10" },
		{ GPROF_WAIT_FOR_KERNEL, GPROF_TRACE_WHY_SLEEPS, "kernel 10" },
		{ GPROF_WAIT_FOR_OTHER, GPROF_TRACE_WHY_SLEEPS, "other 10" },
		/* Of a newer kernel. */
		{ GPROF_WAIT_FOR_NR, GPROF_TRACE_WHY_SLEEPS, "untold 10" },
	};
	char want[512] = "";
	unsigned int i, ms = 2;

	comes(1, 7);
	for (i = 0; i < sizeof(all) / sizeof(all[0]); i++, ms += 12) {
		point(ms, 0, GPROF_TRACE_POINT_SWITCH, all[i].why, 7, 0, 0, 1 + all[i].reason);
		wakes(ms + 10, GPROF_TRACE_NO_TID, 7, 0);
		comes(ms + 11, 7);
		sprintf(want + strlen(want), "%s%s", *all[i].told ? " " : "", all[i].told);
	}
	leaves(ms, 7, GPROF_TRACE_WHY_DEAD, 0);
	WALL();
	EXPECT_TOLD(7, want);
	EXPECT_WHOLE(7);
	EXPECT_EQ(0, self->r.err[0]) TH_LOG("%s", self->r.err);
}

/* After a fault that is over, without calls by which that would be known. */
TEST_F(views, wall_of_waits_long_after_a_fault)
{
	comes(1, 7);
	point(2, 0, GPROF_TRACE_POINT_FAULT, 0, 7, 0, 0, 1);
	waits(12, NULL, GPROF_TRACE_WHY_SLEEPS);
	leaves(24, 7, GPROF_TRACE_WHY_DEAD, 0);
	WALL();
	EXPECT_TOLD(7, "fault 0 untold 10");
}

/* With them the wait after a fault is for that, and the one after that wait is not. */
TEST_F(views, wall_of_the_wait_in_a_fault)
{
	comes(1, 7);
	calls(2, 0, GPROF_TRACE_WHY_SLEEPS);
	point(14, 0, GPROF_TRACE_POINT_FAULT, 0, 7, 0, 0, 1);
	waits(14, NULL, GPROF_TRACE_WHY_WAITS);
	waits(26, NULL, GPROF_TRACE_WHY_SLEEPS);
	leaves(38, 7, GPROF_TRACE_WHY_DEAD, 0);
	WALL();
	EXPECT_TOLD(7, "fault 10 untold 10");
}

/* Calls that were left out since they were short would be taken for the fault before. */
TEST_F(views, wall_of_faults_where_short_calls_are_left_out)
{
	const struct gprof_trace_writer_opts opts = {
		.sz = sizeof(opts), .syscall = call_name, .recorded = true,
		.groups = GPROF_TRACE_GROUP_SYSCALLS | GPROF_TRACE_GROUP_FAULTS,
		.min_duration_ns = 1000,
	};

	begin_anew(_metadata, self, &opts);
	comes(1, 7);
	calls(2, 0, GPROF_TRACE_WHY_SLEEPS);
	point(14, 0, GPROF_TRACE_POINT_FAULT, 0, 7, 0, 0, 1);
	waits(24, NULL, GPROF_TRACE_WHY_WAITS);
	leaves(36, 7, GPROF_TRACE_WHY_DEAD, 0);
	WALL();
	EXPECT_TOLD(7, "fault 0 untold 10");
}

/* Only its own cgroup's getting time again ends that a thread is throttled. */
TEST_F(views, wall_of_two_cgroups_that_are_throttled)
{
	comes(1, 7);
	point(1, 1, GPROF_TRACE_POINT_SWITCH, 0, 0, 8, 0, 0);
	point(2, 1, GPROF_TRACE_POINT_THROTTLE, 0, 8, 200, 0, 0);
	point(2, 1, GPROF_TRACE_POINT_SWITCH, GPROF_TRACE_WHY_PREEMPTED, 8, 9, 0, 0);
	point(10, 0, GPROF_TRACE_POINT_THROTTLE, 0, 7, 100, 0, 0);
	leaves(10, 7, GPROF_TRACE_WHY_PREEMPTED, 0);
	point(30, 1, GPROF_TRACE_POINT_UNTHROTTLE, 0, GPROF_TRACE_NO_TID, 100, 0, 0);
	/* That of 8, while 7 has its time again and waits for a CPU, and 8 behind its own. */
	point(40, 1, GPROF_TRACE_POINT_UNTHROTTLE, 0, GPROF_TRACE_NO_TID, 200, 0, 0);
	point(45, 1, GPROF_TRACE_POINT_SWITCH, GPROF_TRACE_WHY_SLEEPS, 9, 8, 0, 0);
	comes(50, 7);
	leaves(60, 7, GPROF_TRACE_WHY_DEAD, 0);
	point(60, 1, GPROF_TRACE_POINT_SWITCH, GPROF_TRACE_WHY_DEAD, 8, 0, 0, 0);
	WALL();
	EXPECT_TOLD(7, "throttled 20 runnable 20");
	EXPECT_TOLD(8, "throttled 38 runnable 5");
}

/* Threads are found by the low bits of their numbers first. */
TEST_F(views, wall_of_threads_whose_numbers_are_alike)
{
	for (uint32_t i = 0; i < 4; i++) {
		comes(10 * i + 1, 7);
		point(10 * i + 3, 0, GPROF_TRACE_POINT_SWITCH, GPROF_TRACE_WHY_SLEEPS, 7,
		      7 + (1 << 16), 0, 0);
		point(10 * i + 9, 0, GPROF_TRACE_POINT_SWITCH, GPROF_TRACE_WHY_PREEMPTED,
		      7 + (1 << 16), 7, 0, 0);
		leaves(10 * i + 10, 7, GPROF_TRACE_WHY_SLEEPS, 0);
	}
	WALL();
	EXPECT_TOLD(7, "cpu 12");
	EXPECT_TOLD(7 + (1 << 16), "cpu 24");
}

TEST_F(views, wall_of_a_trace_without_reasons_says_what_is_missing)
{
	comes(1, 7);
	waits(2, NULL, GPROF_TRACE_WHY_SLEEPS);
	ASSERT_EQ(0, gprof_trace_writer_close(w));
	RUN_OK(cmd_wall, ARGV("wall", self->trace));
	EXPECT_SAYS(self->r.err, "--stacks --syscalls");
	EXPECT_SAYS(self->r.out, "untold");
}

/* What was to be recorded, and did not happen, is not missing; and what was not is. */
TEST_F(views, a_trace_says_what_was_recorded_in_it)
{
	static const struct {
		unsigned int groups;
		unsigned int stacks;
		bool kernel;
		const char *says;	/* "": nothing */
	} rows[] = {
		{ 0, 0, false, "was recorded without --stacks and --syscalls" },
		{ GPROF_TRACE_GROUP_SYSCALLS, 0, false, "was recorded without --stacks, so" },
		{ 0, GPROF_TRACE_STACK_BLOCKED, false, "without the kernel's part" },
		{ 0, GPROF_TRACE_STACK_BLOCKED, true, "" },
		{ GPROF_TRACE_GROUP_SYSCALLS, GPROF_TRACE_STACK_WAKER, true,
		  "was recorded without --stacks, so" },
	};
	char *regions[] = { "read", self->trace, "--regions", NULL };

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		const struct gprof_trace_writer_opts opts = {
			.sz = sizeof(opts), .recorded = true, .groups = rows[i].groups,
			.stacks = rows[i].stacks, .kernel_frames = rows[i].kernel,
		};

		begin_anew(_metadata, self, &opts);
		comes(1, 7);
		waits(2, NULL, GPROF_TRACE_WHY_SLEEPS);
		ASSERT_EQ(0, gprof_trace_writer_close(w));
		w = NULL;
		run(&self->r, cmd_wall, ARGV("wall", self->trace), -1);
		EXPECT_EQ(0, self->r.status);
		EXPECT_TRUE(*rows[i].says ? !!strstr(self->r.err, rows[i].says) : !self->r.err[0])
			TH_LOG("%zu: %s", i, self->r.err);
		run(&self->r, cmd_read, regions, -1);
		EXPECT_SAYS(self->r.err, "was recorded without --annotations");
	}
}

static int add_up(void *ctx, const struct gprof_frame *frames, size_t nr, const int64_t *values)
{
	long long *sums = ctx;

	if (!strcmp(frames[0].function, "hot"))
		sums[0] += values[1];
	if (!strcmp(frames[0].function, "cold"))
		sums[1] += values[1];
	if (nr > 2 && !strcmp(frames[2].function, "do_nanosleep"))
		sums[2] += values[1];
	return 0;
}

/* Time on a CPU goes where CPU samples were, all of it. */
TEST_F(views, wall_as_a_profile)
{
	static const char *const hot[] = { "hot", "main", NULL };
	static const char *const cold[] = { "cold", "main", NULL };
	struct gprof_profile *p;
	long long sums[3] = { 0 };
	int fd;

	comes(1, 7);
	for (uint64_t ms = 2; ms < 10; ms++)
		point(ms, 0, GPROF_TRACE_POINT_SAMPLE, 0, 7, 0,
		      stack(ms < 8 ? hot : cold), 0);
	waits(13, in_sleep, GPROF_TRACE_WHY_SLEEPS);
	leaves(28, 7, GPROF_TRACE_WHY_DEAD, 0);
	SHOW(cmd_read, ARGV("read", self->trace, "--pprof", "wall", "-o", self->other));
	fd = open(self->other, O_RDONLY);
	p = gprof_profile_read(fd);
	ASSERT_NE(NULL, p);
	EXPECT_EQ(0, gprof_profile_each(p, add_up, sums));
	EXPECT_NEAR_MS(12, sums[0]);
	EXPECT_NEAR_MS(4, sums[1]);
	EXPECT_NEAR_MS(11, sums[2]);
	EXPECT_NEAR_MS(27, gprof_profile_total(p, 1));
	gprof_profile_free(p);
	close(fd);
}

TEST_F(views, wall_is_of_one_trace_of_a_host)
{
	char *two[] = { "wall", self->trace, self->other, NULL };
	char *with[] = { "wall", self->trace, "-d", "1", NULL };

	ASSERT_EQ(0, gprof_trace_writer_close(w));
	run(&self->r, cmd_wall, two, -1);
	EXPECT_EQ(STATUS_USAGE, self->r.status);
	run(&self->r, cmd_wall, with, -1);
	EXPECT_EQ(STATUS_USAGE, self->r.status);
	RUN_TELLS(STATUS_USAGE, "--syscalls is for a recording", cmd_wall,
		  ARGV("wall", self->trace, "--syscalls"));
	RUN_TELLS(STATUS_FAILED, "cannot be opened", cmd_wall, ARGV("wall", self->other));
}

/* Two threads of a name on two CPUs: what each of perf sched's tables has of them. */
static void take_turns(void)
{
	gprof_trace_writer_name(w, 7, "turns");
	gprof_trace_writer_name(w, 8, "turns");
	gprof_trace_writer_name(w, 9, "else");
	comes(1, 7);
	point(1, 1, GPROF_TRACE_POINT_SWITCH, 0, 0, 9, 0, 0);
	leaves(3, 7, GPROF_TRACE_WHY_SLEEPS, 0);
	wakes(5, 9, 7, 0);
	wakes(5, 9, 8, 0);
	comes(6, 7);
	point(10, 0, GPROF_TRACE_POINT_SWITCH, GPROF_TRACE_WHY_PREEMPTED, 7, 8, 0, 0);
	point(11, 0, GPROF_TRACE_POINT_SWITCH, GPROF_TRACE_WHY_SLEEPS, 8, 7, 0, 0);
	leaves(12, 7, GPROF_TRACE_WHY_DEAD, 0);
	point(20, 1, GPROF_TRACE_POINT_SWITCH, GPROF_TRACE_WHY_SLEEPS, 9, 0, 0, 0);
}

TEST_F(views, latency_as_perf_sched_has_it)
{
	char *by_thread[] = { "latency", self->trace, "--json", NULL };

	take_turns();
	SHOW(cmd_latency, by_thread);
	/* Of a wait of 1 ms and of 1 after it was preempted; and of 5. */
	EXPECT_TOLD(7, "runtime 7 delay 2 max_delay 1");
	EXPECT_SAYS(self->r.out, "\"switches\": 2");
	EXPECT_TOLD(8, "runtime 1 delay 5 max_delay_end 10");
	run(&self->r, cmd_latency, ARGV("latency", self->trace), -1);
	EXPECT_SAYS(self->r.out,
		    "   8.00 ms         3   2.33 ms   1.03 ms   4.98 ms   5.00 ms"
		    "       0.005000  turns (2 threads)\n");
}

TEST_F(views, latency_line_by_line)
{
	char *map[] = { "latency", self->trace, "--map", NULL };

	take_turns();
	SHOW(cmd_latency, ARGV("latency", self->trace, "--timehist"));
	EXPECT_SAYS(self->r.out,
		    "0.003000 [0000]  turns[7]                            " "0.000      0.000      2.000\n",
		    "0.006000 [0000]  <idle>                              " "0.000      0.000      3.000\n",
		    "0.010000 [0000]  turns[7]                            " "3.000      1.000      4.000\n",
		    "0.011000 [0000]  turns[8]                            " "0.000      5.000      1.000\n");
	/* Preempted, which is no delay of a waking. */
	EXPECT_SAYS(self->r.out,
		    "0.012000 [0000]  turns[7]                            " "1.000      0.000      1.000\n");
	run(&self->r, cmd_latency, map, -1);
	EXPECT_SAYS(self->r.out, "  *A0       0.001000 secs A0 => turns:7\n",
		    " *C0  B0       0.010000 secs C0 => turns:8\n");
	run(&self->r, cmd_latency, ARGV("latency", self->trace, "--map", "--timehist"), -1);
	EXPECT_EQ(STATUS_USAGE, self->r.status);
}

/* After 26 letters comes the next digit; after all of these the first again. */
TEST_F(views, latency_has_short_names_for_260_threads)
{
	char *map[] = { "latency", self->trace, "--map", NULL };

	for (unsigned int i = 1; i <= 261; i++) {
		comes(2 * i, i);
		leaves(2 * i + 1, i, GPROF_TRACE_WHY_SLEEPS, 0);
	}
	SHOW(cmd_latency, map);
	EXPECT_SAYS(self->r.out, " secs Z0 => ", ":26\n", " secs A1 => ", ":27\n",
		    " secs Z9 => ", ":260\n", " secs A0 => ", ":261\n");
}

/* 7 waits for 8, which waits for 9 and then for a CPU; 9 has slept until a timer woke it. */
static void make_wait(void)
{
	static const char *const at_work[] = { "work", "main", NULL };

	gprof_trace_writer_name(w, 7, "seven");
	gprof_trace_writer_name(w, 8, "eight");
	gprof_trace_writer_name(w, 9, "nine");
	comes(1, 9);
	point(1, 1, GPROF_TRACE_POINT_SWITCH, 0, 0, 10, 0, 0);
	point(2, 0, GPROF_TRACE_POINT_SWITCH, GPROF_TRACE_WHY_SLEEPS, 9, 8, stack(in_sleep), 0);
	point(3, 0, GPROF_TRACE_POINT_SWITCH, GPROF_TRACE_WHY_SLEEPS, 8, 7, stack(in_lock), 0);
	leaves(5, 7, GPROF_TRACE_WHY_SLEEPS, stack(in_pipe));
	/* The interrupt is not of whom it interrupts. */
	point(12, 1, GPROF_TRACE_POINT_IRQ_ENTER, 0, 10, 0, 0, 1);
	point(12, 1, GPROF_TRACE_POINT_WAKING, 0, GPROF_TRACE_NO_TID, 9, 0, 0);
	point(12, 1, GPROF_TRACE_POINT_IRQ_LEAVE, 0, 10, 0, 0, 1);
	comes(13, 9);
	point(16, 0, GPROF_TRACE_POINT_WAKING, 0, 9, 8, stack(at_work), 0);
	point(18, 0, GPROF_TRACE_POINT_SWITCH, GPROF_TRACE_WHY_SLEEPS, 9, 8, 0, 0);
	point(22, 0, GPROF_TRACE_POINT_WAKING, 0, 8, 7, stack(at_work), 0);
	point(23, 0, GPROF_TRACE_POINT_SWITCH, GPROF_TRACE_WHY_SLEEPS, 8, 7, 0, 0);
	leaves(24, 7, GPROF_TRACE_WHY_DEAD, 0);
}

TEST_F(views, why_in_words)
{
	char *at[] = { "read", self->trace, "--why", "7", "--at", "0.0055", NULL };
	char *nobody[] = { "read", self->trace, "--why", "none", NULL };
	static const char words[] =
		"7 seven waits for a pipe for 17 ms, from 0.005000 to 0.022000 s\n"
		"       7.000 ms  9 nine sleeps  in main (kernel: do_nanosleep)\n"
		"                 until an interrupt, or a task that was not recorded (-a records all), wakes it\n"
		"       1.000 ms  9 nine is runnable, and has no CPU  in main (kernel: "
		"do_nanosleep)\n"
		"       3.000 ms  9 nine runs\n"
		"                 and wakes 8 eight\n"
		"       2.000 ms  8 eight is runnable, and has no CPU  in __mutex_lock.constprop.0 < "
		"pipe_write < do_syscall_64\n"
		"       4.000 ms  8 eight runs\n"
		"                 and wakes 7 seven\n";

	make_wait();
	SHOW(cmd_read, ARGV("read", self->trace, "--why", "seven"));
	EXPECT_STREQ(words, self->r.out);
	run(&self->r, cmd_read, at, -1);
	EXPECT_STREQ(words, self->r.out);
	RUN_TELLS(STATUS_FAILED, "7 does not wait at +0.002", cmd_read,
		  ARGV("read", self->trace, "--why", "7", "--at", "+0.002"));
	RUN_TELLS(STATUS_FAILED, "no thread \"none\"", cmd_read, nobody);
	run(&self->r, cmd_read, ARGV("read", "-", "--why", "7"), -1);
	EXPECT_NE(0, self->r.status);
}

/* Of a host, all tasks are in the trace, so that no task that is not in it can be a waker. */
TEST_F(views, why_of_a_trace_of_the_whole_host)
{
	const struct gprof_trace_writer_opts opts = {
		.sz = sizeof(opts), .recorded = true, .whole_host = true,
	};

	begin_anew(_metadata, self, &opts);
	make_wait();
	SHOW(cmd_why, ARGV("why", self->trace));
	EXPECT_SAYS(self->r.out, "\n                 until an interrupt (a timer, a device) wakes it\n");
}

TEST_F(views, a_trace_without_threads_is_said_to_be_one)
{
	ASSERT_EQ(0, gprof_trace_writer_close(w));
	RUN_TELLS(STATUS_FAILED, "has no event of a thread", cmd_wall, ARGV("wall", self->trace));
	EXPECT_STREQ("", self->r.out);
	RUN_TELLS(STATUS_FAILED, "has no event of a thread", cmd_why, ARGV("why", self->trace));
}

/* Two waits of 2 ms are more than one of 3; and in windows of 1 ms no task is sure of a CPU. */
TEST_F(views, latency_begins_with_the_longest_waits_in_all)
{
	char *asked[] = { "mmu", self->trace, "--flags", "pertask", "--window", "1ms", NULL };
	const char *first;

	gprof_trace_writer_name(w, 7, "seven");
	gprof_trace_writer_name(w, 8, "eight");
	comes(1, 7);
	for (uint64_t ms = 2; ms < 10; ms += 4) {
		leaves(ms, 7, GPROF_TRACE_WHY_PREEMPTED, 0);
		comes(ms + 2, 7);
	}
	point(12, 0, GPROF_TRACE_POINT_SWITCH, GPROF_TRACE_WHY_DEAD, 7, 8, 0, 0);
	leaves(13, 8, GPROF_TRACE_WHY_PREEMPTED, 0);
	comes(16, 8);
	leaves(17, 8, GPROF_TRACE_WHY_DEAD, 0);
	SHOW(cmd_latency, ARGV("latency", self->trace));
	first = strstr(self->r.out, "seven");
	ASSERT_NE(NULL, first);
	EXPECT_SAYS(first, "eight");
	RUN_OK(cmd_mmu, ARGV("mmu", self->trace, "--flags", "pertask"));
	EXPECT_SAYS(self->r.out, "All are 0 % in windows of up to 1 ms.\n");
	EXPECT_LACKS(self->r.out, "  1 ms    0.000 %");
	EXPECT_SAYS(self->r.out, " 10 ms ");
	RUN_OK(cmd_mmu, asked);
	EXPECT_SAYS(self->r.out, " 1 ms    0.000 %");
}

/* Two events of one instant are told 1 ns apart, which is no column. */
TEST_F(views, wall_has_a_line_of_all_and_no_column_of_nothing)
{
	gprof_trace_writer_name(w, 7, "seven");
	comes(1, 7);
	point(1, 1, GPROF_TRACE_POINT_SWITCH, 0, 0, 8, 0, 0);
	leaves(2, 7, GPROF_TRACE_WHY_SLEEPS, stack(in_sleep));
	comes(4, 7);
	leaves(5, 7, GPROF_TRACE_WHY_DEAD, 0);
	point(5, 1, GPROF_TRACE_POINT_SWITCH, GPROF_TRACE_WHY_DEAD, 8, 0, 0, 0);
	SHOW(cmd_wall, ARGV("wall", self->trace));
	EXPECT_SAYS(self->r.out, "   elapsed       cpu     sleep  thread\n");
	EXPECT_SAYS(self->r.out, "\n   8.00 ms   6.00 ms   2.00 ms  all\n");
}

/* Calls of known times, and one that does not end. */
static void make_calls(void)
{
	gprof_trace_writer_name(w, 7, "seven");
	point(1, 1, GPROF_TRACE_POINT_SWITCH, 0, 0, 8, 0, 0);
	comes(6, 7);
	leaves(8, 7, GPROF_TRACE_WHY_PREEMPTED, 0);
	comes(9, 7);
	calls(10, 0, GPROF_TRACE_WHY_SLEEPS);
	calls(24, 0, GPROF_TRACE_WHY_SLEEPS);
	point(52, 0, GPROF_TRACE_POINT_ENTER, 0, 7, 0, 0, 2);
	leaves(54, 7, GPROF_TRACE_WHY_SLEEPS, 0);
	wakes(74, GPROF_TRACE_NO_TID, 7, 0);
	comes(75, 7);
	point(76, 0, GPROF_TRACE_POINT_LEAVE, 0, 7, 0, 0, 2);
	point(77, 0, GPROF_TRACE_POINT_SWITCH, GPROF_TRACE_WHY_PREEMPTED, 7, 9, 0, 0);
	point(79, 0, GPROF_TRACE_POINT_SWITCH, GPROF_TRACE_WHY_DEAD, 9, 7, 0, 0);
	point(80, 0, GPROF_TRACE_POINT_ENTER, 0, 7, 0, 0, 3);
	leaves(81, 7, GPROF_TRACE_WHY_SLEEPS, 0);
	point(90, 1, GPROF_TRACE_POINT_SWITCH, GPROF_TRACE_WHY_DEAD, 8, 0, 0, 0);
}

TEST_F(views, syscalls_by_their_time)
{
	make_calls();
	SHOW(cmd_syscalls, ARGV("syscalls", self->trace));
	EXPECT_STREQ("     total   share  on a CPU off a CPU     calls      mean  "
		     "     p99   longest         from, s  system call\n"
		     "   24.0 ms  42.86%   3.00 ms   21.0 ms         1   24.0 ms  "
		     " 24.0 ms   24.0 ms       0.052000  clock_nanosleep\n"
		     "   22.0 ms  39.29%     10 ns   22.0 ms         2   11.0 ms  "
		     " 11.0 ms   11.0 ms       0.024000  read\n"
		     "   10.0 ms  17.86%   1.00 ms   9.00 ms         0         -  "
		     "       -         -               -  wait4\n"
		     "   56.0 ms 100.00%   4.00 ms   52.0 ms         3   15.3 ms  "
		     " 24.0 ms   24.0 ms                  all\n"
		     "Calls that had not ended by the end of the trace: 1, whose end is "
		     "lost: 0; their known time counts in total, on and off a CPU alone.\n"
		     "Calls that had begun before the trace are not in it.\n", self->r.out);
	RUN_OK(cmd_syscalls, ARGV("syscalls", self->trace, "-n", "1"));
	EXPECT_SAYS(self->r.out, "  all; 2 more, -n N shows N\n");
	RUN_OK(cmd_syscalls, ARGV("syscalls", self->trace, "--threads"));
	EXPECT_SAYS(self->r.out, "  read  seven (7)\n");
}

TEST_F(views, syscalls_of_a_trace_without_them)
{
	comes(1, 7);
	leaves(2, 7, GPROF_TRACE_WHY_DEAD, 0);
	ASSERT_EQ(0, gprof_trace_writer_close(w));
	RUN_TELLS(STATUS_FAILED, "gprofctl trace --syscalls records", cmd_syscalls,
		  ARGV("syscalls", self->trace));
	EXPECT_STREQ("", self->r.out);
}

/* 8 waits for longer in all than 7, and 9, which sleeps, for longer than 8 at once. */
TEST_F(views, why_of_any_thread)
{
	make_wait();
	SHOW(cmd_why, ARGV("why", self->trace));
	EXPECT_SAYS(self->r.out, "7 seven waits for a pipe for 17 ms, from 0.005000 to 0.022000 s\n");
	RUN_OK(cmd_why, ARGV("why", self->trace, "-n", "1"));
	EXPECT_STREQ("7 seven waits for a pipe for 17 ms, from 0.005000 to 0.022000 s\n"
		     "       7.000 ms  9 nine sleeps  in main (kernel: do_nanosleep)\n"
		     "                 until an interrupt, or a task that was not recorded (-a records all), wakes it\n"
		     "                and 4 more steps; -n 0 shows all\n", self->r.out);
	RUN_OK(cmd_why, ARGV("why", self->trace, "--at", "+0.0025"));
	EXPECT_SAYS(self->r.out, "8 eight waits for");
	RUN_TELLS(STATUS_FAILED, "no thread waits at +1", cmd_why,
		  ARGV("why", self->trace, "--at", "+1"));
	RUN_TELLS(STATUS_FAILED, "no whole region \"request\"", cmd_why,
		  ARGV("why", self->trace, "--region", "request"));
	RUN_TELLS(STATUS_USAGE, "--region finds the thread", cmd_why,
		  ARGV("why", self->trace, "--region", "request", "--at", "1"));
}

static int chain_of(void *ctx, const struct gprof_frame *frames, size_t nr, const int64_t *values)
{
	char *text = ctx;

	for (size_t i = nr; i-- > 0;)
		sprintf(text + strlen(text), "%s ", frames[i].function);
	sprintf(text + strlen(text), "%lld\n", (long long)(values[0] + 500000) / 1000000);
	return 0;
}

/* 8 wakes 7 after many turns with 9. */
TEST_F(views, why_in_sum)
{
	unsigned int ms;

	gprof_trace_writer_name(w, 7, "seven");
	gprof_trace_writer_name(w, 8, "eight");
	gprof_trace_writer_name(w, 9, "nine");
	comes(1, 7);
	leaves(2, 7, GPROF_TRACE_WHY_SLEEPS, stack(in_pipe));
	for (ms = 2; ms < 22; ms += 2) {
		point(ms, 0, GPROF_TRACE_POINT_SWITCH, ms > 2 ? GPROF_TRACE_WHY_PREEMPTED : 0,
		      ms > 2 ? 9 : 0, 8, 0, 0);
		point(ms + 1, 0, GPROF_TRACE_POINT_SWITCH, GPROF_TRACE_WHY_PREEMPTED, 8, 9, 0, 0);
	}
	point(22, 0, GPROF_TRACE_POINT_SWITCH, GPROF_TRACE_WHY_PREEMPTED, 9, 8, 0, 0);
	point(23, 0, GPROF_TRACE_POINT_WAKING, 0, 8, 7, 0, 0);
	point(24, 0, GPROF_TRACE_POINT_SWITCH, GPROF_TRACE_WHY_SLEEPS, 8, 7, 0, 0);
	leaves(25, 7, GPROF_TRACE_WHY_DEAD, 0);
	SHOW(cmd_why, ARGV("why", self->trace));
	EXPECT_STREQ("7 seven waits for a pipe for 21 ms, from 0.002000 to 0.023000 s\n"
		     "In sum:\n"
		     "      11.000 ms  52.4%  8 eight runs\n"
		     "      10.000 ms  47.6%  8 eight is runnable, and has no CPU\n"
		     "One behind the other:\n"
		     "      11.000 ms  8 eight runs, 11 times in turn\n"
		     "      10.000 ms  8 eight is runnable, and has no CPU, 11 times in turn\n"
		     "                 and wakes 7 seven\n"
		     "What was before that cannot be followed in the trace.\n", self->r.out);
}

TEST_F(views, why_as_a_profile)
{
	char text[1024] = "";
	struct gprof_profile *p;
	int fd;

	make_wait();
	SHOW(cmd_read, ARGV("read", self->trace, "--why", "seven", "-o", self->other));
	fd = open(self->other, O_RDONLY);
	p = gprof_profile_read(fd);
	ASSERT_NE(NULL, p);
	EXPECT_EQ(0, gprof_profile_each(p, chain_of, text));
	EXPECT_NEAR_MS(17, gprof_profile_total(p, 0));
	EXPECT_SAYS(text, "seven eight nine [sleep] main entry_SYSCALL_64_after_hwframe do_syscall_64 "
		    "do_nanosleep schedule __schedule 7\n", "seven eight nine [cpu] 3\n",
		    "seven eight [runnable] do_syscall_64 pipe_write __mutex_lock.constprop.0 schedule "
		    "__schedule 2\n", "seven eight [cpu] 4\n");
	gprof_profile_free(p);
	close(fd);
}

static const char *file_of(struct __test_metadata *_metadata, FIXTURE_DATA(views) *self,
			   const char *name)
{
	static char text[4096];
	const char *path = lib_text("%s/%s", self->other, name);
	int fd;

	fd = open(path, O_RDONLY);
	ASSERT_LE(0, fd) TH_LOG("%s", path);
	slurp(fd, text, sizeof(text));
	close(fd);
	unlink(path);
	return text;
}

TEST_F(views, tables)
{
	gprof_trace_writer_name(w, 7, "a \"b\", c");
	/* a formula to a spreadsheet, a byte that is no text, and what a line ends with */
	gprof_trace_writer_name(w, 9, "=\u00e9\xff\"\n");
	gprof_trace_writer_process(w, 9, 5);
	comes(1, 7);
	calls(2, 2, GPROF_TRACE_WHY_SLEEPS);
	leaves(14, 7, GPROF_TRACE_WHY_SLEEPS, stack(in_pipe));
	point(15, 1, GPROF_TRACE_POINT_SWITCH, 0, 0, 9, 0, 0);
	wakes(16, 9, 7, stack(in_user));
	comes(18, 7);
	leaves(20, 7, GPROF_TRACE_WHY_DEAD, 0);
	SHOW(cmd_read, ARGV("read", self->trace, "--format", "csv", "-o", self->other));
	EXPECT_STREQS(
		      "time_ns,cpu,prev_tid,prev_comm,prev_state,next_tid,next_comm\n" "1000003,0,,,untold,7,\"a \"\"b\"\", c\"\n" "2000004,0,7,\"a \"\"b\"\", c\",sleep,,\n" "13000001,0,,,,7,\"a \"\"b\"\", c\"\n" "14000001,0,7,\"a \"\"b\"\", c\",pipe,,\n" "15000002,1,,,untold,9,\"'=\u00e9\ufffd\"\"\n\"\n" "18000001,0,,,,7,\"a \"\"b\"\", c\"\n" "20000001,0,7,\"a \"\"b\"\", c\",dead,,\n", file_of(_metadata, self, "switches.csv"),
		      "time_ns,cpu,tid,comm,waker_tid,waker_comm\n" "12000000,1,7,\"a \"\"b\"\", c\",,\n" "16000000,1,7,\"a \"\"b\"\", c\",9,\"'=\u00e9\ufffd\"\"\n\"\n", file_of(_metadata, self, "wakings.csv"),
		      "begin_ns,end_ns,tid,comm,name\n" "2000000,13000003,7,\"a \"\"b\"\", c\",\"clock_nanosleep\"\n", file_of(_metadata, self, "syscalls.csv"),
		      "begin_ns,end_ns,tid,comm,reason,waker_tid,waker_comm,stack\n" "2000003,12000000,7,\"a \"\"b\"\", c\",sleep,,,\n" "12000000,13000001,7,\"a \"\"b\"\", c\",runnable,,,\n" "14000000,16000000,7,\"a \"\"b\"\", c\",pipe,9,\"'=\u00e9\ufffd\"\"\n\",\"handle_mm_fault;" "futex_wait;entry_SYSCALL_64_after_hwframe;do_syscall_64;vfs_read;pipe_read;" "schedule;__schedule\"\n" "16000000,18000001,7,\"a \"\"b\"\", c\",runnable,,,\"handle_mm_fault;" "futex_wait;entry_SYSCALL_64_after_hwframe;do_syscall_64;vfs_read;pipe_read;" "schedule;__schedule\"\n", file_of(_metadata, self, "waits.csv"),
		      "tid,comm,pid,first_ns,last_ns\n" "9,\"'=\u00e9\ufffd\"\"\n\",5,15000000,20000001\n" "7,\"a \"\"b\"\", c\",7,1000001,20000000\n", file_of(_metadata, self, "threads.csv"));
	rmdir(self->other);
}

TEST_HARNESS_MAIN
