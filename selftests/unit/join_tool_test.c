// SPDX-License-Identifier: GPL-2.0-only
/*
 * A trace of the host joined with one that a Go program would have written of itself, both
 * made here, event by event: what is believed, and what is added up.
 */
#include <kselftest_harness.h>

#include <string.h>

#include "cmd.h"
#include "trace_build.h"
#include "views_build.h"

static struct build go;

/* Of one generation: whatever is told is told by threads that have begun below. */
static void go_begin(void)
{
	build_header(&go, 23);
	STRINGS(&go, 1, "main.main");
	build_begin(&go, 1, NONE, 1);
	EV(&go, GPROF_EV_STACKS, GPROF_EV_STACK, 1, 1, 1, 1, 0, 0);
	build_end(&go);
	build_clock(&go, 23, 1);
}

/* Thread @tid runs goroutine @tid on a proc of its own from @ns on. */
static void go_thread(uint64_t tid, uint64_t ns)
{
	build_begin(&go, 1, tid, ns);
	EV(&go, GPROF_EV_PROC_STATUS, 1, tid, GPROF_PROC_RUNNING);
	EV(&go, GPROF_EV_GO_STATUS, 1, tid, tid, GPROF_GO_RUNNING);
}

/* It tells something @nr times, @ns after another. */
static void go_tells(unsigned int nr, uint64_t ns)
{
	while (nr--)
		EV(&go, GPROF_EV_HEAP_ALLOC, ns, 1);
}

static void join(struct __test_metadata *_metadata, struct _test_data_views *self, bool json)
{
	char *argv[] = { "read", self->trace, "--join", self->other, json ? "--json" : NULL, NULL };
	FILE *f = fopen(self->other, "w");

	ASSERT_NE(NULL, f);
	EXPECT_EQ(go.n, fwrite(go.b, 1, go.n, f));
	fclose(f);
	ASSERT_EQ(0, gprof_trace_writer_close(self->w));
	run(&self->r, cmd_read, argv, -1);
}

/* All that is told within a time without a CPU contradicts it, not the time but once. */
TEST_F(views, join_of_a_thread_that_tells_much_without_a_cpu)
{
	for (uint64_t ms = 1; ms < 20; ms += 2) {
		comes(self->w, ms, 7);
		leaves(self->w, ms + 1, 7, GPROF_TRACE_WHY_SLEEPS, 0);
	}
	go_begin();
	go_thread(7, 2 * MS);
	go_tells(1600, 10000);
	build_end(&go);
	join(_metadata, self, false);
	EXPECT_EQ(STATUS_FAILED, self->r.status) TH_LOG("%s", self->r.out);
	EXPECT_NE(NULL, strstr(self->r.err, "are not of the same host and time")) TH_LOG("%s", self->r.err);
}

/* Nor does it need to have one again. */
TEST_F(views, join_of_a_thread_that_sleeps_to_the_end)
{
	comes(self->w, 1, 7);
	leaves(self->w, 3, 7, GPROF_TRACE_WHY_SLEEPS, 0);
	comes(self->w, 40, 8);
	go_begin();
	go_thread(7, 2 * MS);
	go_tells(100, 100000);
	build_end(&go);
	join(_metadata, self, false);
	EXPECT_EQ(STATUS_FAILED, self->r.status) TH_LOG("%s", self->r.out);
	EXPECT_NE(NULL, strstr(self->r.err, "are not of the same host and time")) TH_LOG("%s", self->r.err);
}

/* Clocks may be apart by 10 us at either end, however much is told in them. */
TEST_F(views, join_of_clocks_that_are_little_apart)
{
	comes(self->w, 1, 7);
	leaves(self->w, 3, 7, GPROF_TRACE_WHY_PREEMPTED, 0);
	comes(self->w, 5, 7);
	leaves(self->w, 8, 7, GPROF_TRACE_WHY_SLEEPS, 0);
	go_begin();
	go_thread(7, 2 * MS);
	go_tells(2, MS / 2);
	go_tells(50, 150);
	go_tells(1, 2 * MS - 15000);
	go_tells(50, 100);
	go_tells(1, MS);
	build_end(&go);
	join(_metadata, self, true);
	ASSERT_EQ(0, self->r.status) TH_LOG("%s", self->r.err);
	EXPECT_NE(NULL, strstr(self->r.out, "\"contradictions\": 0,")) TH_LOG("%s", self->r.out);
	EXPECT_NE(NULL, strstr(self->r.out, "\"tid\": 7, \"begin_ns\": 3000000, \"end_ns\": 500000"))
		TH_LOG("%s", self->r.out);
}

static long long number(const char *json, const char *key, const char *of)
{
	const char *p = strstr(json, key);

	p = p ? strstr(p, of) : NULL;
	return p ? atoll(p + strlen(of)) : -1;
}

/* What threads waited for CPUs before the program traced itself is beside nothing. */
TEST_F(views, join_counts_delays_of_the_time_of_both)
{
	struct gprof_trace_writer *w = self->w;

	comes(w, 1, 7);
	leaves(w, 1, 7, GPROF_TRACE_WHY_PREEMPTED, 0);
	comes(w, 6, 7);
	point(w, 1, 1, GPROF_TRACE_POINT_SWITCH, 0, 0, 8, 0, 0);
	point(w, 8, 1, GPROF_TRACE_POINT_SWITCH, GPROF_TRACE_WHY_PREEMPTED, 8, 9, 0, 0);
	point(w, 11, 1, GPROF_TRACE_POINT_SWITCH, GPROF_TRACE_WHY_SLEEPS, 9, 8, 0, 0);
	leaves(w, 12, 7, GPROF_TRACE_WHY_PREEMPTED, 0);
	comes(w, 14, 7);
	leaves(w, 40, 7, GPROF_TRACE_WHY_SLEEPS, 0);
	go_begin();
	go_thread(7, 10 * MS);
	go_tells(1, 10 * MS);
	build_end(&go);
	go_thread(8, 11 * MS);
	go_tells(9, MS);
	build_end(&go);
	join(_metadata, self, true);
	ASSERT_EQ(0, self->r.status) TH_LOG("%s", self->r.err);
	EXPECT_EQ(2, number(self->r.out, "\"kernel_delay\"", "\"count\": "));
	EXPECT_NEAR_MS(1 + 2, number(self->r.out, "\"kernel_delay\"", "\"ns\": "));
	EXPECT_NEAR_MS(2, number(self->r.out, "\"kernel_delay\"", "\"max_ns\": "));
}

/* What other systems call threads by is not a tid of the host with the same low bits. */
TEST_F(views, join_of_threads_that_are_none_of_linux)
{
	comes(self->w, 1, 7);
	point(self->w, 1, 1, GPROF_TRACE_POINT_SWITCH, 0, 0, 8, 0, 0);
	leaves(self->w, 40, 7, GPROF_TRACE_WHY_SLEEPS, 0);
	go_begin();
	go_thread(8, 10 * MS);
	go_tells(10, MS);
	build_end(&go);
	build_begin(&go, 1, (1ULL << 32) + 7, 11 * MS);
	EV(&go, GPROF_EV_PROC_STATUS, 1, 1, GPROF_PROC_RUNNING);
	EV(&go, GPROF_EV_GO_STATUS, 1, 70, NONE, GPROF_GO_RUNNABLE);
	EV(&go, GPROF_EV_GO_START, 1, 70, 1);
	go_tells(8, MS);
	build_end(&go);
	join(_metadata, self, true);
	ASSERT_EQ(0, self->r.status) TH_LOG("%s", self->r.err);
	EXPECT_NEAR_MS(9, number(self->r.out, "\"functions\"", "\"running_ns\": ")) TH_LOG("%s", self->r.out);
}

TEST_HARNESS_MAIN
