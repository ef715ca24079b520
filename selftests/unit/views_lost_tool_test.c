// SPDX-License-Identifier: GPL-2.0-only
/* What is told of a trace of the host in which events are missing. */
#include "harness.h"
#include "cli/cmd.h"
#include "tool_run.h"
#include "views/trace_gaps.h"
#include "views/losses.h"
#include "views_build.h"
#include "lib_util.h"

/* 7's end, and what 8 and 9 did meanwhile, are among the events that CPU 0 has lost. */
static void lose_ends(void)
{
	gprof_trace_writer_name(w, 7, "seven");
	gprof_trace_writer_name(w, 8, "eight");
	gprof_trace_writer_name(w, 9, "nine");
	gprof_trace_writer_name(w, 10, "ten");
	point(1, 0, GPROF_TRACE_POINT_SWITCH, 0, 0, 8, 0, 0);
	point(1, 1, GPROF_TRACE_POINT_SWITCH, 0, 0, 11, 0, 0);
	point(2, 0, GPROF_TRACE_POINT_SWITCH, GPROF_TRACE_WHY_PREEMPTED, 8, 9, 0, 0);
	point(4, 0, GPROF_TRACE_POINT_SWITCH, GPROF_TRACE_WHY_SLEEPS, 9, 10, stack(in_pipe),
	      0);
	point(5, 0, GPROF_TRACE_POINT_SWITCH, GPROF_TRACE_WHY_SLEEPS, 10, 7, stack(in_sleep),
	      0);
	point(10, 0, GPROF_TRACE_POINT_ENTER, 0, 7, 0, 0, 0);
	/* Nothing is known of CPU 0 until here. */
	point(30, 0, GPROF_TRACE_POINT_LOST, 0, GPROF_TRACE_NO_TID, 0, 0, 100);
	point(30, 0, GPROF_TRACE_POINT_RUNNING, 0, 0, 12, 0, 0);
	/*
	 * 10 has no CPU still, or again, so that it is not known for what it waits then, and 8
	 * runs again; of 7 and 9 nothing is told any more.
	 */
	wakes(40, 11, 10, stack(in_pipe));
	point(41, 0, GPROF_TRACE_POINT_SWITCH, GPROF_TRACE_WHY_SLEEPS, 12, 10, 0, 0);
	point(45, 0, GPROF_TRACE_POINT_SWITCH, GPROF_TRACE_WHY_DEAD, 10, 8, 0, 0);
	point(60, 0, GPROF_TRACE_POINT_SWITCH, GPROF_TRACE_WHY_DEAD, 8, 0, 0, 0);
	point(61, 1, GPROF_TRACE_POINT_SWITCH, GPROF_TRACE_WHY_DEAD, 11, 0, 0, 0);
}

TEST_F(views, wall_says_what_is_lost)
{
	static const int threads[] = { 7, 8, 9, 10, 11, 12 };

	lose_ends();
	WALL();
	EXPECT_SAYS(self->r.err, "100 events are missing");
	/* From the last event that there is of its CPU. */
	EXPECT_TOLD(7, "cpu 5 runnable 0 lost 51");
	/* It may have run, and waited, until it was known to be without a CPU. */
	EXPECT_TOLD(8, "cpu 16 runnable 23 lost 20");
	EXPECT_TOLD(9, "cpu 2 pipe 6 lost 51");
	EXPECT_TOLD(10, "sleep 5 untold 10 lost 20 runnable 1");
	/* The other CPU has lost nothing. */
	EXPECT_TOLD(11, "cpu 60 lost 0");
	for (size_t i = 0; i < 6; i++) {
		long long sum = 0;

		for (const char *const *part = all_parts; *part; part++)
			sum += told(self->r.out, threads[i], *part);
		EXPECT_EQ(told(self->r.out, threads[i], "elapsed"), sum) TH_LOG("%d", threads[i]);
	}
}

/* Who has its CPU still is known to have had it since then. */
TEST_F(views, wall_of_a_thread_that_is_found_again)
{
	comes(1, 7);
	point(10, 0, GPROF_TRACE_POINT_ENTER, 0, 7, 0, 0, 0);
	point(30, 0, GPROF_TRACE_POINT_LOST, 0, GPROF_TRACE_NO_TID, 0, 0, 100);
	point(35, 0, GPROF_TRACE_POINT_LEAVE, 0, 7, 0, 0, 0);
	leaves(40, 7, GPROF_TRACE_WHY_SLEEPS, stack(in_sleep));
	/* Lost at the end. */
	point(50, 0, GPROF_TRACE_POINT_LOST, 0, GPROF_TRACE_NO_TID, 0, 0, 100);
	point(55, 1, GPROF_TRACE_POINT_SWITCH, 0, 0, 8, 0, 0);
	WALL();
	EXPECT_TOLD(7, "cpu 19 lost 35 elapsed 54");
}

/* What is said as a generation begins, of an interrupt too, is what was known before. */
TEST_F(views, wall_of_losses_over_generations)
{
	comes(1, 7);
	point(1, 1, GPROF_TRACE_POINT_SWITCH, 0, 0, 8, 0, 0);
	point(10, 0, GPROF_TRACE_POINT_IRQ_ENTER, 0, 7, 0, 0, 1);
	gprof_trace_writer_cut(w, 20 * MS, NULL);
	point(21, 1, GPROF_TRACE_POINT_ENTER, 0, 8, 0, 0, 0);
	point(30, 0, GPROF_TRACE_POINT_LOST, 0, GPROF_TRACE_NO_TID, 0, 0, 100);
	point(30, 0, GPROF_TRACE_POINT_RUNNING, 0, 0, 9, 0, 0);
	point(40, 0, GPROF_TRACE_POINT_SWITCH, GPROF_TRACE_WHY_DEAD, 9, 0, 0, 0);
	WALL();
	EXPECT_TOLD(7, "cpu 9 lost 30");
}

/* Of system calls, faults and reclaim that go on where events are lost, nobody knows the end. */
TEST_F(views, wall_of_reasons_of_before)
{
	comes(1, 7);
	point(1, 1, GPROF_TRACE_POINT_SWITCH, 0, 0, 8, 0, 0);
	point(2, 0, GPROF_TRACE_POINT_ENTER, 0, 7, 0, 0, 2);
	point(3, 0, GPROF_TRACE_POINT_RECLAIM_BEGIN, 0, 7, 0, 0, 0);
	point(4, 1, GPROF_TRACE_POINT_ENTER, 0, 8, 0, 0, 2);
	point(5, 1, GPROF_TRACE_POINT_SWITCH, GPROF_TRACE_WHY_SLEEPS, 8, 0, 0, 0);
	point(10, 0, GPROF_TRACE_POINT_LOST, 0, GPROF_TRACE_NO_TID, 0, 0, 9);
	point(10, 0, GPROF_TRACE_POINT_RUNNING, 0, 0, 7, 0, 0);
	leaves(12, 7, GPROF_TRACE_WHY_SLEEPS, 0);
	wakes(20, GPROF_TRACE_NO_TID, 7, 0);
	comes(20, 7);
	/* It has a CPU again: until then it may have been anywhere. */
	point(30, 0, GPROF_TRACE_POINT_WAKING, 0, 7, 8, 0, 0);
	point(30, 1, GPROF_TRACE_POINT_SWITCH, 0, 0, 8, 0, 0);
	point(32, 1, GPROF_TRACE_POINT_SWITCH, GPROF_TRACE_WHY_SLEEPS, 8, 0, 0, 0);
	leaves(40, 7, GPROF_TRACE_WHY_DEAD, 0);
	WALL();
	EXPECT_TOLD(7, "lost 7");
	EXPECT_NEAR_MS(8, told(self->r.out, 7, "untold")) TH_LOG("%s", self->r.out);
	EXPECT_TOLD(7, "sleep 0 reclaim 0");
	EXPECT_TOLD(8, "untold 28 sleep 0");
}

/* From whichever CPU events are missing, it is one time of which too little is known. */
TEST(losses_of_several_cpus_overlap)
{
	static const struct {
		int64_t begin, end;
		struct {
			int64_t since, first;
		} wanted[5];
	} rows[] = {
		{ 10, 20, { { 0, 10 }, { 10, 10 }, { 19, 19 }, { 20, TRACE_GAPS_NONE } } },
		{ 15, 30, { { 0, 10 }, { 12, 12 }, { 29, 29 }, { 30, TRACE_GAPS_NONE } } },
		{ 30, 30, { { 0, 10 }, { 30, TRACE_GAPS_NONE } } },
		{ 40,
		  50,
		  { { 0, 10 }, { 29, 29 }, { 30, 40 }, { 45, 45 }, { 50, TRACE_GAPS_NONE } } },
		{ 50, 60, { { 29, 29 }, { 30, 40 }, { 59, 59 }, { 60, TRACE_GAPS_NONE } } },
		{ 70,
		  80,
		  { { 29, 29 }, { 30, 40 }, { 60, 70 }, { 75, 75 }, { 80, TRACE_GAPS_NONE } } },
		/* all but the first are of it */
		{ 35,
		  90,
		  { { 0, 10 }, { 30, 35 }, { 65, 65 }, { 89, 89 }, { 90, TRACE_GAPS_NONE } } },
		/* and all are */
		{ 5, 90, { { 0, 5 }, { 32, 32 }, { 89, 89 }, { 90, TRACE_GAPS_NONE } } },
	};
	struct trace_gaps g = { 0 };

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		trace_gaps_add(&g, rows[i].begin, rows[i].end);
		for (size_t k = 0; k < 5 && rows[i].wanted[k].first; k++) {
			EXPECT_EQ(rows[i].wanted[k].first,
				  trace_gaps_first(&g, rows[i].wanted[k].since))
				TH_LOG("%zu: since %d", i, (int)rows[i].wanted[k].since);
		}
	}
	EXPECT_EQ(1U, g.nr);
	trace_gaps_free(&g);
}

static void take_loss(struct losses *l, unsigned char cpu, uint64_t time)
{
	const unsigned char data[] = { 'L', cpu, 1 };
	const struct gprof_trace_batch batch = {
		.experiment = GPROF_TRACE_EXPERIMENT, .time = time, .data = data, .len = 3,
	};

	losses_add_batch(l, &batch);
}

static void see_event(struct losses *l, enum gprof_trace_kind kind, int64_t cpu, int64_t time)
{
	const struct gprof_trace_event ev = { .kind = kind, .thread = cpu, .time = time * 64 };

	losses_add_event(l, &ev);
}

/* Since the last event of their CPU; where there was none, since the trace begins. */
TEST(losses_begin_where_their_cpu_has_told_last)
{
	static const struct loss wanted[] = {
		{ 10 * 64, 15 * 64, 0 }, { 10 * 64, 20 * 64, 1 }, { 25 * 64, 30 * 64, 0 },
		{ 32 * 64, 40 * 64, 1 },
	};
	struct losses l = { 0 };
	const struct loss *loss;

	take_loss(&l, 0, 15);
	take_loss(&l, 1, 20);
	take_loss(&l, 0, 30);
	see_event(&l, GPROF_TRACE_SYNC, -1, 1);
	see_event(&l, GPROF_TRACE_LABEL, 0, 10);
	/* a sample comes when it comes */
	see_event(&l, GPROF_TRACE_STACK_SAMPLE, 0, 14);
	see_event(&l, GPROF_TRACE_LABEL, 0, 25);
	take_loss(&l, 1, 40);
	see_event(&l, GPROF_TRACE_SYNC, -1, 31);
	see_event(&l, GPROF_TRACE_LABEL, 1, 32);
	losses_found(&l);
	ASSERT_EQ(4, l.nr);
	EXPECT_EQ(NULL, losses_before(&l, 10 * 64));
	for (size_t i = 0; i < 4; i++) {
		/* by their begin, and of one begin by the CPU */
		const struct loss *is = &wanted[i];

		loss = losses_before(&l, is->begin + 1);
		ASSERT_NE(NULL, loss);
		EXPECT_EQS(is->begin, loss->begin, is->end, loss->end, is->cpu, loss->cpu);
	}
	EXPECT_EQ(NULL, losses_before(&l, INT64_MAX));
	losses_free(&l);
}

/* That a wait is not told of any more is no reason to say that somebody has ended it. */
TEST_F(views, why_of_a_wait_without_an_end)
{
	char *last[] = { "read", self->trace, "--why", "7", "--at", "0.034", NULL };

	point(1, 1, GPROF_TRACE_POINT_SWITCH, 0, 0, 7, 0, 0);
	comes(1, 8);
	point(2, 1, GPROF_TRACE_POINT_SWITCH, GPROF_TRACE_WHY_SLEEPS, 7, 0, 0, 0);
	point(15, 0, GPROF_TRACE_POINT_ENTER, 0, 8, 0, 0, 0);
	point(20, 0, GPROF_TRACE_POINT_LOST, 0, GPROF_TRACE_NO_TID, 0, 0, 9);
	point(21, 0, GPROF_TRACE_POINT_LEAVE, 0, 8, 0, 0, 0);
	point(30, 0, GPROF_TRACE_POINT_WAKING, 0, 8, 7, stack(in_pipe), 0);
	point(31, 1, GPROF_TRACE_POINT_SWITCH, 0, 0, 7, 0, 0);
	point(33, 1, GPROF_TRACE_POINT_SWITCH, GPROF_TRACE_WHY_SLEEPS, 7, 0, 0, 0);
	leaves(40, 8, GPROF_TRACE_WHY_DEAD, 0);
	SHOW(cmd_read, ARGV("read", self->trace, "--why", "7"));
	EXPECT_STREQ("7  waits, for an unknown reason for 13 ms, from 0.002000 to 0.015000 s\n"
		     "      13.000 ms  7  waits, for an unknown reason\n"
		     "                 and how that ends is not known, as events are missing\n", self->r.out);
	RUN_OK(cmd_read, last);
	EXPECT_STREQ("7  waits, for an unknown reason for 7 ms, from 0.033000 to 0.040000 s\n"
		     "       7.000 ms  7  waits, for an unknown reason\n"
		     "                 until the trace ends\n", self->r.out);
}

/* Nor had what a task did before that to do with the wait. */
TEST_F(views, why_ends_where_events_are_lost)
{
	gprof_trace_writer_name(w, 7, "seven");
	gprof_trace_writer_name(w, 8, "eight");
	gprof_trace_writer_name(w, 9, "nine");
	point(1, 1, GPROF_TRACE_POINT_SWITCH, 0, 0, 7, 0, 0);
	point(1, 2, GPROF_TRACE_POINT_SWITCH, 0, 0, 9, 0, 0);
	comes(1, 8);
	point(2, 1, GPROF_TRACE_POINT_SWITCH, GPROF_TRACE_WHY_SLEEPS, 7, 0, stack(in_pipe), 0);
	/* It comes back to its CPU, which it has left unseen. */
	leaves(4, 8, GPROF_TRACE_WHY_SLEEPS, stack(in_sleep));
	point(9, 2, GPROF_TRACE_POINT_WAKING, 0, 9, 8, 0, 0);
	comes(10, 8);
	point(15, 0, GPROF_TRACE_POINT_ENTER, 0, 8, 0, 0, 0);
	point(18, 0, GPROF_TRACE_POINT_SWITCH, GPROF_TRACE_WHY_PREEMPTED, 12, 8, 0, 0);
	point(30, 0, GPROF_TRACE_POINT_WAKING, 0, 8, 7, 0, 0);
	point(31, 1, GPROF_TRACE_POINT_SWITCH, 0, 0, 7, 0, 0);
	point(33, 1, GPROF_TRACE_POINT_SWITCH, GPROF_TRACE_WHY_DEAD, 7, 0, 0, 0);
	point(33, 2, GPROF_TRACE_POINT_SWITCH, GPROF_TRACE_WHY_DEAD, 9, 0, 0, 0);
	leaves(40, 8, GPROF_TRACE_WHY_DEAD, 0);
	SHOW(cmd_read, ARGV("read", self->trace, "--why", "7"));
	EXPECT_STREQ("7 seven waits for a pipe for 28 ms, from 0.002000 to 0.030000 s\n"
		     "       3.000 ms  8 eight is in an unknown state, as events are missing\n"
		     "      12.000 ms  8 eight runs\n"
		     "                 and wakes 7 seven\n"
		     "What was before that cannot be followed in the trace.\n", self->r.out);
}

/* Of a row of gprofctl top --json; -1: there is none. */
static long long flat_of(const char *json, const char *name)
{
	const char *row = strstr(json, lib_text("\n{\"name\": \"%s\"", name));
	const char *flat = row ? strstr(row, "\"flat\": ") : NULL;

	return flat ? atoll(flat + 8) : -1;
}

/*
 * Of CPU 1 alone: 7 is woken there, and runs elsewhere; 8 likewise, and comes while the CPU idles; 9
 * waits for the CPU, which another has; 10 comes from a wait whose end nobody saw, and 11 from one
 * that a timer ended; 12 sleeps to the end, and is not seen any more.
 */
static void record_a_cpu(struct __test_metadata *_metadata)
{
	uint32_t idle = 0;

	for (uint32_t tid = 7; tid <= 12; tid++)
		gprof_trace_writer_name(w, tid, "task");
	point(1, 1, GPROF_TRACE_POINT_SWITCH, 0, idle, 12, 0, 0);
	point(2, 1, GPROF_TRACE_POINT_SWITCH, GPROF_TRACE_WHY_SLEEPS, 12, 11, 0, 0);
	point(3, 1, GPROF_TRACE_POINT_SWITCH, GPROF_TRACE_WHY_SLEEPS, 11, 10, stack(in_sleep), 0);
	point(4, 1, GPROF_TRACE_POINT_SWITCH, GPROF_TRACE_WHY_SLEEPS, 10, 9, 0, 0);
	point(5, 1, GPROF_TRACE_POINT_WAKING, 0, 9, 7, 0, 0);
	point(5, 1, GPROF_TRACE_POINT_WAKING, 0, 9, 8, 0, 0);
	point(6, 1, GPROF_TRACE_POINT_SWITCH, GPROF_TRACE_WHY_PREEMPTED, 9, 13, 0, 0);
	point(9, 1, GPROF_TRACE_POINT_SWITCH, GPROF_TRACE_WHY_SLEEPS, 13, 9, 0, 0);
	point(10, 1, GPROF_TRACE_POINT_SWITCH, GPROF_TRACE_WHY_DEAD, 9, idle, 0, 0);
	point(20, 1, GPROF_TRACE_POINT_SWITCH, 0, idle, 8, 0, 0);
	point(21, 1, GPROF_TRACE_POINT_SWITCH, GPROF_TRACE_WHY_DEAD, 8, idle, 0, 0);
	wakes(23, idle, 11, 0);
	point(24, 1, GPROF_TRACE_POINT_SWITCH, 0, idle, 11, 0, 0);
	point(25, 1, GPROF_TRACE_POINT_SWITCH, GPROF_TRACE_WHY_DEAD, 11, 10, 0, 0);
	point(30, 1, GPROF_TRACE_POINT_SWITCH, GPROF_TRACE_WHY_DEAD, 10, idle, 0, 0);
	ASSERT_ZEROS(gprof_trace_writer_close(w));
}

TEST_F(views, tasks_that_leave_the_recorded_cpus_are_unknown)
{
	const struct gprof_trace_writer_opts opts = {
		.sz = sizeof(opts), .recorded = true, .cpus_only = true,
	};

	begin_anew(_metadata, self, &opts);
	record_a_cpu(_metadata);
	RUN_OK(cmd_wall, ARGV("wall", self->trace, "--json"));
	EXPECT_SAYS(self->r.err, "is of some CPUs, and threads may run on others");
	EXPECT_TOLD(7, "runnable 0 lost 25");
	EXPECT_TOLD(8, "cpu 1 runnable 0 lost 15");
	EXPECT_TOLD(9, "cpu 3 runnable 3 lost 0");
	EXPECT_TOLD(10, "cpu 6 untold 0 lost 21");
	EXPECT_TOLD(11, "cpu 2 sleep 20 runnable 1 lost 0");
	EXPECT_TOLD(12, "cpu 1 untold 0 lost 28");
	RUN_OK(cmd_latency, ARGV("latency", self->trace, "--json"));
	EXPECT_TOLD(8, "max_delay 0");
	EXPECT_TOLD(9, "max_delay 3");
	EXPECT_TOLD(11, "max_delay 1");
	RUN_OK(cmd_read, ARGV("read", self->trace, "--pprof", "sched", "-o", self->other));
	RUN_OK(cmd_top, ARGV("top", self->other, "--json"));
	EXPECT_NEAR_MS(3, flat_of(self->r.out, "preempted"));
	EXPECT_NEAR_MS(1, flat_of(self->r.out, "__schedule"));
	EXPECT_SAYS(self->r.out, "the trace is of some CPUs; 110 ms of tasks' time");
	RUN_OK(cmd_read, ARGV("read", self->trace, "--summary"));
	EXPECT_SAYS(self->r.out, "       2.000        1.000       20.000        0.000  11 task");

	/* Of the host, all that happened is there. */
	w = gprof_trace_writer_new(self->fd, NULL);
	begin_anew(_metadata, self, NULL);
	record_a_cpu(_metadata);
	RUN_OK(cmd_wall, ARGV("wall", self->trace, "--json"));
	EXPECT_TOLD(7, "runnable 25 lost 0");
	EXPECT_TOLD(10, "untold 21 lost 0");
}

static const char *table(struct __test_metadata *_metadata, const char *dir, const char *name)
{
	static char text[16384];
	const char *path = lib_text("%s/%s", dir, name);
	ssize_t len;
	int fd;

	fd = open(path, O_RDONLY);
	EXPECT_LE(0, fd);
	len = read(fd, text, sizeof(text) - 1);
	text[len > 0 ? len : 0] = '\0';
	close(fd);
	unlink(path);
	return text;
}

/* Whoever was there is not known, which is not nobody. */
TEST_F(views, tables_of_what_is_lost)
{
	const char *text;

	lose_ends();
	SHOW(cmd_read, ARGV("read", self->trace, "--format", "csv", "-o", self->other));
	text = table(_metadata, self->other, "switches.csv");
	EXPECT_SAYS(text, ",0,,,untold,12,\"\"\n");
	EXPECT_LACKS(text, ",0,,,,12,");
	text = table(_metadata, self->other, "syscalls.csv");
	EXPECT_SAYS(text, ",,7,\"seven\",\"read\"\n");
	table(_metadata, self->other, "wakings.csv");
	table(_metadata, self->other, "waits.csv");
	table(_metadata, self->other, "threads.csv");
	rmdir(self->other);
}

/*
 * A wait, a delay, a system call and an interrupt that are under way where events are missing end
 * there, and what is unknown is told with the losses.
 */
static void lose_states(void)
{
	gprof_trace_writer_name(w, 7, "seven");
	gprof_trace_writer_name(w, 8, "eight");
	gprof_trace_writer_name(w, 9, "nine");
	gprof_trace_writer_name(w, 10, "ten");
	point(1, 1, GPROF_TRACE_POINT_SWITCH, 0, 0, 9, 0, 0);
	comes(1, 8);
	leaves(2, 8, GPROF_TRACE_WHY_SLEEPS, stack(in_pipe));
	comes(3, 10);
	leaves(4, 10, GPROF_TRACE_WHY_PREEMPTED, 0);
	comes(4, 7);
	point(5, 1, GPROF_TRACE_POINT_ENTER, 0, 9, 0, 0, 3);
	point(6, 0, GPROF_TRACE_POINT_ENTER, 0, 7, 0, 0, 0);
	point(7, 0, GPROF_TRACE_POINT_IRQ_ENTER, 0, 7, 0, 0, 1);
	point(8, 0, GPROF_TRACE_POINT_IRQ_LEAVE, 0, 7, 0, 0, 1);
	point(9, 0, GPROF_TRACE_POINT_IRQ_ENTER, 0, 7, 0, 0, 1);
	/* The last event of CPU 0 before the gap is that of 9 ms. */
	point(30, 0, GPROF_TRACE_POINT_LOST, 0, GPROF_TRACE_NO_TID, 0, 0, 100);
	point(30, 0, GPROF_TRACE_POINT_RUNNING, 0, 0, 7, 0, 0);
	point(31, 0, GPROF_TRACE_POINT_LEAVE, 0, 7, 0, 0, 4);
	point(32, 0, GPROF_TRACE_POINT_ENTER, 0, 7, 0, 0, 1);
	point(34, 0, GPROF_TRACE_POINT_LEAVE, 0, 7, 0, 0, 1);
	/* 9 had another CPU all the time. */
	point(35, 1, GPROF_TRACE_POINT_LEAVE, 0, 9, 0, 0, 3);
	point(40, 1, GPROF_TRACE_POINT_WAKING, 0, 9, 8, stack(in_pipe), 0);
	point(41, 1, GPROF_TRACE_POINT_SWITCH, GPROF_TRACE_WHY_DEAD, 9, 8, 0, 0);
	point(43, 1, GPROF_TRACE_POINT_SWITCH, GPROF_TRACE_WHY_DEAD, 8, 0, 0, 0);
	leaves(50, 7, GPROF_TRACE_WHY_DEAD, 0);
}

TEST_F(views, profiles_end_states_where_events_are_lost)
{
	static const struct {
		const char *kind, *name;
		int ms;
	} rows[] = {
		/* Cut off; whole, behind the gap; and of another CPU. */
		{ "syscall", "read", 3 }, { "syscall", "futex", 2 }, { "syscall", "wait4", 30 },
		/* As it fell asleep; and as its waking tells, for an unknown reason. */
		{ "block", "__schedule", 7 }, { "block", "[not told]", 10 },
		{ "sched", "preempted", 5 }, { "sched", "woken", 1 },
		{ "irq", "irq 1", 1 },
		{ "cpu", "seven", 25 },
	};

	lose_states();
	ASSERT_EQ(0, gprof_trace_writer_close(w));
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		RUN_OK(cmd_read, ARGV("read", self->trace, "--pprof", (char *)rows[i].kind, "-o",
				      self->other));
		RUN_OK(cmd_top, ARGV("top", self->other, "--json"));
		EXPECT_NEAR_MS(rows[i].ms, flat_of(self->r.out, rows[i].name))
			TH_LOG("%s %s: %s", rows[i].kind, rows[i].name, self->r.out);
		EXPECT_SAYS(strstr(self->r.out, "\"losses\""),
			    "lost 100 events of the trace; states and system calls end where they "
			    "are missing, and 83 ms of tasks' time in unknown states is left out");
	}
	RUN_OK(cmd_read, ARGV("read", self->trace, "--summary"));
	EXPECT_SAYS(self->r.out, "      25.000        0.000        0.000        5.000  7 seven");
}

/* A CPU that idles as events are lost does not idle through it. */
/* The call of 7 from 10 on is known for no time: its CPU has no event behind that. */
TEST_F(views, syscalls_up_to_a_loss)
{
	lose_ends();
	SHOW(cmd_syscalls, ARGV("syscalls", self->trace, "--json"));
	EXPECT_SAYS(self->r.out, "\"calls\": 0, ", "\"parts\": 1}", "\"broken\": 1",
		    "\"not_ended\": 0", "100 events were lost");
	EXPECT_SAYS(self->r.err, "100 events are missing");
}

TEST_F(views, latency_of_a_cpu_that_idled)
{
	char *map[] = { "latency", self->trace, "--map", NULL };
	const char *idle;

	point(1, 1, GPROF_TRACE_POINT_SWITCH, 0, 0, 9, 0, 0);
	comes(1, 7);
	leaves(2, 7, GPROF_TRACE_WHY_SLEEPS, 0);
	comes(5, 7);
	leaves(6, 7, GPROF_TRACE_WHY_SLEEPS, 0);
	point(20, 0, GPROF_TRACE_POINT_LOST, 0, GPROF_TRACE_NO_TID, 0, 0, 100);
	point(20, 0, GPROF_TRACE_POINT_RUNNING, 0, 0, 8, 0, 0);
	point(22, 1, GPROF_TRACE_POINT_SWITCH, GPROF_TRACE_WHY_DEAD, 9, 10, 0, 0);
	leaves(23, 8, GPROF_TRACE_WHY_DEAD, 0);
	point(25, 0, GPROF_TRACE_POINT_LOST, 0, GPROF_TRACE_NO_TID, 0, 0, 100);
	point(26, 1, GPROF_TRACE_POINT_SWITCH, GPROF_TRACE_WHY_DEAD, 10, 11, 0, 0);
	point(27, 0, GPROF_TRACE_POINT_RUNNING, 0, 0, 12, 0, 0);
	point(30, 1, GPROF_TRACE_POINT_SWITCH, GPROF_TRACE_WHY_DEAD, 11, 0, 0, 0);
	leaves(31, 12, GPROF_TRACE_WHY_DEAD, 0);
	comes(33, 13);
	SHOW(cmd_latency, ARGV("latency", self->trace, "--timehist"));
	idle = strstr(self->r.out, "<idle>");
	EXPECT_SAYS(idle, "      3.000");
	/* Until when it had idled before is not known. */
	idle = strstr(idle + 1, "<idle>");
	EXPECT_EQ(0, strncmp(idle, "<idle>                              0.000      0.000      2.000\n", 66));
	EXPECT_EQ(NULL, strstr(idle + 1, "<idle>")) TH_LOG("%s", self->r.out);
	run(&self->r, cmd_latency, map, -1);
	/* CPU 0 is not told to idle while it has lost events, and nothing was seen of it. */
	EXPECT_SAYS(self->r.out, "\n      *E0       0.026000");
}

TEST_F(views, latency_counts_nothing_that_is_lost)
{
	char *lines[] = { "latency", self->trace, "--timehist", NULL };

	lose_ends();
	SHOW(cmd_latency, ARGV("latency", self->trace, "--json"));
	EXPECT_TOLD(8, "delay 0");
	EXPECT_TOLD(10, "delay 1");
	EXPECT_TOLD(7, "runtime 5");
	run(&self->r, cmd_latency, lines, -1);
	EXPECT_LACKS(self->r.out, "seven");
	EXPECT_SAYS(self->r.out, "eight[8]                            0.000      0.000     15.000");
}

TEST_HARNESS_MAIN
