// SPDX-License-Identifier: GPL-2.0-only
/*
 * What is told of a trace of the host in which events are missing.
 */
#include <kselftest_harness.h>

#include <string.h>

#include "cmd.h"
#include "tool_run.h"
#include "views_build.h"

/* 7's end, and what 8 and 9 did meanwhile, are among the events that CPU 0 has lost. */
static void lose_ends(struct gprof_trace_writer *w)
{
	gprof_trace_writer_name(w, 7, "seven");
	gprof_trace_writer_name(w, 8, "eight");
	gprof_trace_writer_name(w, 9, "nine");
	gprof_trace_writer_name(w, 10, "ten");
	point(w, 1, 0, GPROF_TRACE_POINT_SWITCH, 0, 0, 8, 0, 0);
	point(w, 1, 1, GPROF_TRACE_POINT_SWITCH, 0, 0, 11, 0, 0);
	point(w, 2, 0, GPROF_TRACE_POINT_SWITCH, GPROF_TRACE_WHY_PREEMPTED, 8, 9, 0, 0);
	point(w, 4, 0, GPROF_TRACE_POINT_SWITCH, GPROF_TRACE_WHY_SLEEPS, 9, 10, stack(w, in_pipe),
	      0);
	point(w, 5, 0, GPROF_TRACE_POINT_SWITCH, GPROF_TRACE_WHY_SLEEPS, 10, 7, stack(w, in_sleep),
	      0);
	point(w, 10, 0, GPROF_TRACE_POINT_ENTER, 0, 7, 0, 0, 0);
	/* Nothing is known of CPU 0 until here. */
	point(w, 30, 0, GPROF_TRACE_POINT_LOST, 0, GPROF_TRACE_NO_TID, 0, 0, 100);
	point(w, 30, 0, GPROF_TRACE_POINT_RUNNING, 0, 0, 12, 0, 0);
	/* 10 sleeps still, and 8 runs again; of 7 and 9 nothing is told any more. */
	wakes(w, 40, 11, 10, stack(w, in_pipe));
	point(w, 41, 0, GPROF_TRACE_POINT_SWITCH, GPROF_TRACE_WHY_SLEEPS, 12, 10, 0, 0);
	point(w, 45, 0, GPROF_TRACE_POINT_SWITCH, GPROF_TRACE_WHY_DEAD, 10, 8, 0, 0);
	point(w, 60, 0, GPROF_TRACE_POINT_SWITCH, GPROF_TRACE_WHY_DEAD, 8, 0, 0, 0);
	point(w, 61, 1, GPROF_TRACE_POINT_SWITCH, GPROF_TRACE_WHY_DEAD, 11, 0, 0, 0);
}

TEST_F(views, wall_says_what_is_lost)
{
	static const int threads[] = { 7, 8, 9, 10, 11, 12 };
	char *argv[] = { "wall", self->trace, "--json", NULL };

	lose_ends(self->w);
	ASSERT_EQ(0, gprof_trace_writer_close(self->w));
	run(&self->r, cmd_wall, argv, -1);
	ASSERT_EQ(0, self->r.status) TH_LOG("%s", self->r.err);
	EXPECT_NE(NULL, strstr(self->r.err, "100 events are missing"));
	/* From the last event that there is of its CPU. */
	EXPECT_NEAR_MS(5, told(self->r.out, 7, "cpu"));
	EXPECT_NEAR_MS(0, told(self->r.out, 7, "runnable"));
	EXPECT_NEAR_MS(51, told(self->r.out, 7, "lost"));
	/* It may have run, and waited, until it was known to be without a CPU. */
	EXPECT_NEAR_MS(1 + 15, told(self->r.out, 8, "cpu"));
	EXPECT_NEAR_MS(8 + 15, told(self->r.out, 8, "runnable"));
	EXPECT_NEAR_MS(20, told(self->r.out, 8, "lost"));
	EXPECT_NEAR_MS(2, told(self->r.out, 9, "cpu"));
	EXPECT_NEAR_MS(6, told(self->r.out, 9, "pipe"));
	EXPECT_NEAR_MS(51, told(self->r.out, 9, "lost"));
	EXPECT_NEAR_MS(5 + 10, told(self->r.out, 10, "sleep"));
	EXPECT_NEAR_MS(20, told(self->r.out, 10, "lost"));
	EXPECT_NEAR_MS(1, told(self->r.out, 10, "runnable"));
	/* The other CPU has lost nothing. */
	EXPECT_NEAR_MS(60, told(self->r.out, 11, "cpu"));
	EXPECT_NEAR_MS(0, told(self->r.out, 11, "lost"));
	for (size_t i = 0; i < 6; i++) {
		long long sum = 0;

		for (const char *const *part = all_parts; *part; part++)
			sum += told(self->r.out, threads[i], *part);
		EXPECT_EQ(told(self->r.out, threads[i], "elapsed"), sum) TH_LOG("%d", threads[i]);
	}
}

/* Who has its CPU still is known to have had it since then. */
TEST_F(views, wall_of_who_is_found_again)
{
	char *argv[] = { "wall", self->trace, "--json", NULL };
	struct gprof_trace_writer *w = self->w;

	comes(w, 1, 7);
	point(w, 10, 0, GPROF_TRACE_POINT_ENTER, 0, 7, 0, 0, 0);
	point(w, 30, 0, GPROF_TRACE_POINT_LOST, 0, GPROF_TRACE_NO_TID, 0, 0, 100);
	point(w, 35, 0, GPROF_TRACE_POINT_LEAVE, 0, 7, 0, 0, 0);
	leaves(w, 40, 7, GPROF_TRACE_WHY_SLEEPS, stack(w, in_sleep));
	/* Lost at the end. */
	point(w, 50, 0, GPROF_TRACE_POINT_LOST, 0, GPROF_TRACE_NO_TID, 0, 0, 100);
	point(w, 55, 1, GPROF_TRACE_POINT_SWITCH, 0, 0, 8, 0, 0);
	ASSERT_EQ(0, gprof_trace_writer_close(w));
	run(&self->r, cmd_wall, argv, -1);
	ASSERT_EQ(0, self->r.status) TH_LOG("%s", self->r.err);
	EXPECT_NEAR_MS(9 + 10, told(self->r.out, 7, "cpu"));
	EXPECT_NEAR_MS(20 + 15, told(self->r.out, 7, "lost"));
	EXPECT_NEAR_MS(54, told(self->r.out, 7, "elapsed"));
}

/* What is said as a generation begins, of an interrupt too, is what was known before. */
TEST_F(views, wall_of_losses_over_generations)
{
	char *argv[] = { "wall", self->trace, "--json", NULL };
	struct gprof_trace_writer *w = self->w;

	comes(w, 1, 7);
	point(w, 1, 1, GPROF_TRACE_POINT_SWITCH, 0, 0, 8, 0, 0);
	point(w, 10, 0, GPROF_TRACE_POINT_IRQ_ENTER, 0, 7, 0, 0, 1);
	gprof_trace_writer_cut(w, 20 * MS, NULL);
	point(w, 21, 1, GPROF_TRACE_POINT_ENTER, 0, 8, 0, 0, 0);
	point(w, 30, 0, GPROF_TRACE_POINT_LOST, 0, GPROF_TRACE_NO_TID, 0, 0, 100);
	point(w, 30, 0, GPROF_TRACE_POINT_RUNNING, 0, 0, 9, 0, 0);
	point(w, 40, 0, GPROF_TRACE_POINT_SWITCH, GPROF_TRACE_WHY_DEAD, 9, 0, 0, 0);
	ASSERT_EQ(0, gprof_trace_writer_close(w));
	run(&self->r, cmd_wall, argv, -1);
	ASSERT_EQ(0, self->r.status) TH_LOG("%s", self->r.err);
	EXPECT_NEAR_MS(9, told(self->r.out, 7, "cpu"));
	EXPECT_NEAR_MS(30, told(self->r.out, 7, "lost"));
}

TEST_F(views, latency_counts_nothing_that_is_lost)
{
	char *by_thread[] = { "latency", self->trace, "--json", NULL };
	char *lines[] = { "latency", self->trace, "--timehist", NULL };

	lose_ends(self->w);
	ASSERT_EQ(0, gprof_trace_writer_close(self->w));
	run(&self->r, cmd_latency, by_thread, -1);
	ASSERT_EQ(0, self->r.status) TH_LOG("%s", self->r.err);
	EXPECT_NEAR_MS(0, told(self->r.out, 8, "delay"));
	EXPECT_NEAR_MS(1, told(self->r.out, 10, "delay"));
	EXPECT_NEAR_MS(5, told(self->r.out, 7, "runtime"));
	run(&self->r, cmd_latency, lines, -1);
	EXPECT_EQ(NULL, strstr(self->r.out, "seven")) TH_LOG("%s", self->r.out);
	EXPECT_NE(NULL, strstr(self->r.out, "eight[8]                            0.000      0.000     15.000"))
		TH_LOG("%s", self->r.out);
}

TEST_HARNESS_MAIN
