// SPDX-License-Identifier: GPL-2.0-only
/*
 * Utilization functions from events made by hand: what takes a processor, from whom
 * and since when; traces that say little or nothing; worst windows.
 */
#include "harness.h"
#include <math.h>

#include <gprof/utilization.h>

#include "lib_util.h"

#define G(_id)	{ GPROF_TRACE_RESOURCE_GOROUTINE, _id }

/* Where and when the next event is. */
struct feed {
	struct gprof_utilization *u;
	int64_t time;
	int64_t proc;
	int64_t goroutine;
	const struct gprof_util_function *f;
	size_t nr;
};

static void feed_begin(struct feed *x, unsigned int flags)
{
	*x = (struct feed){ .u = gprof_utilization_new(flags), .goroutine = 1 };
}

static int feed(struct feed *x, struct gprof_trace_event ev)
{
	ev.time = x->time;
	ev.proc = x->proc;
	ev.goroutine = x->goroutine;
	return gprof_utilization_add(x->u, &ev);
}

static int sync_event(struct feed *x, int64_t time, uint64_t nr)
{
	x->time = time;
	return feed(x, (struct gprof_trace_event){ .kind = GPROF_TRACE_SYNC, .sync.nr = nr });
}

static int procs(struct feed *x, int64_t time, uint64_t nr)
{
	x->time = time;
	return feed(x, (struct gprof_trace_event){
		.kind = GPROF_TRACE_METRIC,
		.metric = { "/sched/gomaxprocs:threads", nr },
	});
}

static int range(struct feed *x, int64_t time, enum gprof_trace_kind kind, int64_t proc,
		 const char *name, int64_t goroutine)
{
	struct gprof_trace_event ev = { .kind = kind, .range.name = { name, strlen(name) } };

	ev.range.scope = (struct gprof_trace_resource){ GPROF_TRACE_RESOURCE_PROC, proc };
	if (goroutine >= 0)
		ev.range.scope = (struct gprof_trace_resource)G(goroutine);
	x->time = time;
	x->proc = proc;
	return feed(x, ev);
}

static int go(struct feed *x, int64_t time, int64_t proc, int64_t goroutine, uint8_t from,
	      uint8_t to)
{
	x->time = time;
	x->proc = proc;
	return feed(x, (struct gprof_trace_event){
		.kind = GPROF_TRACE_STATE_TRANSITION,
		.transition = { .resource = G(goroutine), .from = from, .to = to },
	});
}

static int label(struct feed *x, int64_t time, int64_t proc, int64_t goroutine, const char *text)
{
	x->time = time;
	x->proc = proc;
	x->goroutine = goroutine;
	return feed(x, (struct gprof_trace_event){
		.kind = GPROF_TRACE_LABEL,
		.label = { { text, strlen(text) }, G(goroutine) },
	});
}

static int feed_end(struct feed *x)
{
	return gprof_utilization_finish(x->u, &x->f, &x->nr);
}

/* Write a function as text: "TIME:UTIL ...". */
static const char *text_of(const struct gprof_util_function *f)
{
	static char text[1024];
	size_t i, n = 0;

	text[0] = '\0';
	for (i = 0; i < f->nr; i++)
		n += snprintf(text + n, sizeof(text) - n, "%s%lld:%g", i ? " " : "",
			      (long long)f->changes[i].time, f->changes[i].util);
	return text;
}

#define RUNNABLE GPROF_TRACE_GO_RUNNABLE
#define RUNNING	GPROF_TRACE_GO_RUNNING
#define WAITING	GPROF_TRACE_GO_WAITING
#define GONE	GPROF_TRACE_GO_NOT_EXIST
#define BEGIN	GPROF_TRACE_RANGE_BEGIN
#define ACTIVE	GPROF_TRACE_RANGE_ACTIVE
#define END	GPROF_TRACE_RANGE_END
#define STW	"stop-the-world (GC mark termination)"
#define ASSIST	"GC mark assist"
#define SWEEP	"GC incremental sweep"

TEST(stopping_the_world_takes_all_processors)
{
	struct feed x;

	feed_begin(&x, GPROF_UTIL_STW);
	EXPECT_ZEROS(procs(&x, 100, 4), range(&x, 200, BEGIN, 0, STW, 1),
		     range(&x, 230, END, 0, STW, 1));
	/* Not for the collector. */
	EXPECT_EQ(0, range(&x, 300, BEGIN, 0, "stop-the-world (read mem stats)", 1));
	EXPECT_EQ(0, range(&x, 330, END, 0, "stop-the-world (read mem stats)", 1));
	EXPECT_EQ(0, sync_event(&x, 400, 2));
	ASSERT_EQ(0, feed_end(&x));
	ASSERT_EQ(1, x.nr);
	EXPECT_EQ(-1, x.f[0].id);
	EXPECT_STREQ("100:1 200:0 230:1 400:0", text_of(&x.f[0]));
	gprof_utilization_free(x.u);
}

TEST(flags_say_what_counts)
{
	static const struct { unsigned int flags; const char *text; } want[] = {
		{ 0, "1:1 99:0" }, { GPROF_UTIL_STW, "1:1 10:0 20:1 99:0" },
		{ GPROF_UTIL_SWEEP, "1:1 30:0.5 40:1 99:0" },
		{ GPROF_UTIL_ASSIST, "1:1 50:0.5 60:1 70:0.5 80:1 99:0" },
		{ GPROF_UTIL_STW | GPROF_UTIL_ASSIST,
		  "1:1 10:0 20:1 50:0.5 60:1 70:0.5 80:1 99:0" },
	};
	size_t i;

	for (i = 0; i < sizeof(want) / sizeof(want[0]); i++) {
		struct feed x;

		feed_begin(&x, want[i].flags);
		procs(&x, 1, 2);
		range(&x, 10, BEGIN, 0, STW, 1);
		range(&x, 20, END, 0, STW, 1);
		range(&x, 30, BEGIN, 1, SWEEP, -1);
		range(&x, 40, END, 1, SWEEP, -1);
		/* It sleeps within the assist, and ends it on another processor. */
		range(&x, 50, BEGIN, 1, ASSIST, 1);
		go(&x, 60, 1, 1, RUNNING, WAITING);
		go(&x, 70, 0, 1, RUNNABLE, RUNNING);
		range(&x, 80, END, 0, ASSIST, 1);
		sync_event(&x, 99, 2);
		ASSERT_EQ(0, feed_end(&x));
		EXPECT_STREQ(want[i].text, text_of(&x.f[0]));
		gprof_utilization_free(x.u);
	}
}

TEST(a_background_worker_counts_once_while_it_runs)
{
	struct feed x;
	int i;

	feed_begin(&x, GPROF_UTIL_BACKGROUND);
	procs(&x, 1, 2);
	/* The label comes again at each start. */
	for (i = 1; i < 4; i++) {
		go(&x, 100 * i, 0, 7, RUNNABLE, RUNNING);
		label(&x, 100 * i + 1, 0, 7, "GC (fractional)");
		go(&x, 100 * i + 50, 0, 7, RUNNING, WAITING);
	}
	label(&x, 500, 1, 8, "GC (idle)");
	label(&x, 510, 1, 9, "a label of the program's own");
	sync_event(&x, 600, 2);
	ASSERT_EQ(0, feed_end(&x));
	EXPECT_STREQ("1:1 101:0.5 150:1 200:0.5 250:1 300:0.5 350:1 600:0", text_of(&x.f[0]));
	gprof_utilization_free(x.u);
}

TEST(dedicated_workers_do_not_count_for_a_single_processor)
{
	struct feed x;

	feed_begin(&x, GPROF_UTIL_BACKGROUND | GPROF_UTIL_PER_PROC);
	procs(&x, 1, 2);
	label(&x, 10, 0, 7, "GC (dedicated)");
	label(&x, 20, 1, 8, "GC (fractional)");
	sync_event(&x, 90, 2);
	ASSERT_EQ(0, feed_end(&x));
	ASSERT_EQ(2, x.nr);
	EXPECT_STREQ("1:1 90:0", text_of(&x.f[0]));
	EXPECT_STREQ("1:1 20:0", text_of(&x.f[1]));
	gprof_utilization_free(x.u);
}

TEST(ranges_found_late_count_from_the_begin)
{
	struct feed x;

	feed_begin(&x, GPROF_UTIL_SWEEP | GPROF_UTIL_ASSIST);
	sync_event(&x, 1, 1);
	procs(&x, 2, 4);
	range(&x, 10, BEGIN, 0, SWEEP, -1);
	range(&x, 20, END, 0, SWEEP, -1);
	range(&x, 30, ACTIVE, 1, SWEEP, -1);
	range(&x, 40, END, 1, SWEEP, -1);
	go(&x, 44, 2, 6, GPROF_TRACE_GO_UNDETERMINED, RUNNING);
	range(&x, 45, ACTIVE, 2, ASSIST, 6);
	range(&x, 50, END, 2, ASSIST, 6);
	sync_event(&x, 70, 2);
	/* Now all is known, and this only repeats it. */
	range(&x, 80, ACTIVE, 1, SWEEP, -1);
	sync_event(&x, 90, 3);
	ASSERT_EQ(0, feed_end(&x));
	EXPECT_STREQ("2:0.5 10:0.25 20:0.5 40:0.75 50:1 90:0", text_of(&x.f[0]));
	gprof_utilization_free(x.u);
}

/* Of one that waits or may run, somebody else tells: with a processor of their own. */
TEST(an_assist_found_late_takes_no_processor_before_its_goroutine_runs)
{
	static const uint8_t states[] = { RUNNABLE, WAITING };
	size_t i;

	for (i = 0; i < sizeof(states); i++) {
		struct feed x;

		feed_begin(&x, GPROF_UTIL_ASSIST);
		sync_event(&x, 1, 1);
		/* Who tells runs since before the number of processors is known. */
		go(&x, 1, 0, 1, GPROF_TRACE_GO_UNDETERMINED, RUNNING);
		procs(&x, 2, 2);
		go(&x, 10, 0, 5, GPROF_TRACE_GO_UNDETERMINED, states[i]);
		x.goroutine = 1;
		range(&x, 11, ACTIVE, 0, ASSIST, 5);
		go(&x, 20, 1, 5, RUNNABLE, RUNNING);
		range(&x, 30, END, 1, ASSIST, 5);
		go(&x, 40, 1, 5, RUNNING, WAITING);
		go(&x, 50, 1, 5, RUNNABLE, RUNNING);
		sync_event(&x, 90, 2);
		ASSERT_EQ(0, feed_end(&x));
		EXPECT_STREQ("2:1 20:0.5 30:1 90:0", text_of(&x.f[0]));
		gprof_utilization_free(x.u);
	}
}

/* What began to run before the number of processors was known runs. */
TEST(an_assist_found_late_of_a_goroutine_that_runs_counts_from_the_begin)
{
	struct feed x;

	feed_begin(&x, GPROF_UTIL_ASSIST);
	go(&x, 1, 0, 5, GPROF_TRACE_GO_UNDETERMINED, RUNNING);
	procs(&x, 2, 2);
	range(&x, 10, ACTIVE, 0, ASSIST, 5);
	range(&x, 20, END, 0, ASSIST, 5);
	sync_event(&x, 30, 2);
	ASSERT_EQ(0, feed_end(&x));
	EXPECT_STREQ("2:0.5 20:1 30:0", text_of(&x.f[0]));
	gprof_utilization_free(x.u);
}

TEST(ranges_found_late_count_by_the_processors_of_each_time)
{
	struct feed x;

	feed_begin(&x, GPROF_UTIL_SWEEP | GPROF_UTIL_STW);
	procs(&x, 2, 2);
	range(&x, 10, BEGIN, 0, STW, 1);
	range(&x, 20, END, 0, STW, 1);
	range(&x, 30, BEGIN, 0, SWEEP, -1);
	/* The change at the moment of the new number is still by the old one. */
	procs(&x, 40, 4);
	range(&x, 50, END, 0, SWEEP, -1);
	range(&x, 60, ACTIVE, 1, SWEEP, -1);
	sync_event(&x, 70, 2);
	ASSERT_EQ(0, feed_end(&x));
	EXPECT_STREQ("2:0.5 10:0 20:0.5 30:0 40:0.25 50:0.75 70:0", text_of(&x.f[0]));
	gprof_utilization_free(x.u);
}

TEST(processors_come_and_go)
{
	struct feed x;

	feed_begin(&x, GPROF_UTIL_SWEEP | GPROF_UTIL_PER_PROC);
	procs(&x, 1, 2);
	range(&x, 5, BEGIN, 1, SWEEP, -1);
	procs(&x, 10, 1);
	/* Of a processor that is gone: nothing to take. */
	EXPECT_EQ(0, range(&x, 12, BEGIN, 1, SWEEP, -1));
	procs(&x, 20, 3);
	range(&x, 30, BEGIN, 2, SWEEP, -1);
	sync_event(&x, 40, 2);
	ASSERT_EQ(0, feed_end(&x));
	ASSERT_EQ(4, x.nr);
	EXPECT_STREQ("1:1 40:0", text_of(&x.f[0]));
	EXPECT_STREQ("1:1 5:0", text_of(&x.f[1]));
	EXPECT_STREQ("20:1 40:0", text_of(&x.f[2]));
	EXPECT_STREQ("20:1 30:0", text_of(&x.f[3]));
	EXPECT_EQS(1, x.f[1].id, 1, x.f[2].id, 2, x.f[3].id);
	gprof_utilization_free(x.u);
}

/* A processor that is taken as it goes takes nothing from those that stay. */
TEST(processors_that_have_gone_are_not_taken)
{
	struct feed x;

	feed_begin(&x, GPROF_UTIL_SWEEP);
	procs(&x, 1, 4);
	range(&x, 5, BEGIN, 3, SWEEP, -1);
	procs(&x, 10, 2);
	range(&x, 20, BEGIN, 1, SWEEP, -1);
	procs(&x, 30, 4);
	sync_event(&x, 40, 2);
	ASSERT_EQ(0, feed_end(&x));
	ASSERT_EQ(1, x.nr);
	EXPECT_STREQ("1:1 5:0.75 10:1 20:0.5 30:0.75 40:0", text_of(&x.f[0]));
	gprof_utilization_free(x.u);
}

TEST(of_values_at_one_time_the_lowest_holds_until_later)
{
	struct feed x;

	feed_begin(&x, GPROF_UTIL_SWEEP);
	procs(&x, 1, 2);
	range(&x, 10, BEGIN, 0, SWEEP, -1);
	range(&x, 10, END, 0, SWEEP, -1);
	sync_event(&x, 11, 1);
	sync_event(&x, 20, 2);
	ASSERT_EQ(0, feed_end(&x));
	EXPECT_STREQ("1:1 10:0.5 11:1 20:0", text_of(&x.f[0]));
	gprof_utilization_free(x.u);
}

TEST(a_task_is_held_up_while_it_waits_for_a_processor)
{
	struct feed x;

	feed_begin(&x, GPROF_UTIL_PER_TASK | GPROF_UTIL_STW | GPROF_UTIL_SWEEP | GPROF_UTIL_ASSIST);
	procs(&x, 1, 2);
	go(&x, 10, 0, 5, GPROF_TRACE_GO_UNDETERMINED, RUNNING);
	go(&x, 20, 0, 6, GONE, RUNNABLE);
	x.goroutine = 5;
	range(&x, 30, BEGIN, 0, SWEEP, -1);
	range(&x, 40, END, 0, SWEEP, -1);
	go(&x, 50, 0, 5, RUNNING, WAITING);
	go(&x, 60, 0, 6, RUNNABLE, RUNNING);
	go(&x, 70, 1, 5, WAITING, RUNNABLE);
	go(&x, 80, 1, 5, RUNNABLE, RUNNING);
	range(&x, 90, BEGIN, 1, STW, 5);
	range(&x, 95, END, 1, STW, 5);
	range(&x, 100, BEGIN, 1, ASSIST, 5);
	go(&x, 110, 1, 5, RUNNING, WAITING);
	go(&x, 120, 0, 6, RUNNING, GONE);
	sync_event(&x, 200, 2);
	ASSERT_EQ(0, feed_end(&x));
	ASSERT_EQ(2, x.nr);
	EXPECT_EQ(5, x.f[0].id);
	EXPECT_STREQ("10:1 30:0 40:1 70:0 80:1 90:0 95:1 100:0 200:0", text_of(&x.f[0]));
	EXPECT_EQ(6, x.f[1].id);
	EXPECT_STREQ("20:0 60:1 90:0 95:1 120:0", text_of(&x.f[1]));
	gprof_utilization_free(x.u);
}

/* 5 and 6 are of one group, 7 of another. */
static int64_t group_of(void *ctx, int64_t task)
{
	++*(int *)ctx;
	return task < 7 ? 100 : 200;
}

static void group_events(struct feed *x)
{
	procs(x, 1, 2);
	go(x, 10, 0, 5, GPROF_TRACE_GO_UNDETERMINED, RUNNING);
	go(x, 20, 0, 6, GONE, RUNNABLE);
	go(x, 25, 1, 7, GPROF_TRACE_GO_UNDETERMINED, RUNNING);
	/* One leaves the CPU to the other: for a moment both want it. */
	go(x, 30, 0, 5, RUNNING, RUNNABLE);
	go(x, 30, 0, 6, RUNNABLE, RUNNING);
	go(x, 40, 0, 6, RUNNING, WAITING);
	go(x, 45, 0, 5, RUNNABLE, RUNNING);
	x->goroutine = 5;
	range(x, 50, BEGIN, 0, SWEEP, -1);
	range(x, 60, END, 0, SWEEP, -1);
	go(x, 70, 0, 5, RUNNING, WAITING);
	go(x, 80, 0, 6, WAITING, RUNNABLE);
	/* Whoever ends while it waits wants nothing any more. */
	go(x, 85, 0, 6, RUNNABLE, GONE);
	go(x, 86, 0, 5, WAITING, RUNNING);
	go(x, 89, 0, 5, RUNNING, WAITING);
	go(x, 90, 1, 7, RUNNING, GONE);
	go(x, 95, 0, 5, WAITING, GONE);
	/* The same number, and a new group. */
	go(x, 100, 0, 5, GONE, RUNNABLE);
	sync_event(x, 200, 2);
}

TEST(of_a_group_those_count_that_want_a_processor)
{
	int asked = 0;
	struct gprof_utilization_opts opts = {
		.sz = sizeof(opts), .flags = GPROF_UTIL_PER_GROUP | GPROF_UTIL_SWEEP,
		.group_of = group_of, .ctx = &asked,
	};
	struct feed x = { .u = gprof_utilization_new_opts(&opts), .goroutine = -1 };

	group_events(&x);
	ASSERT_EQ(0, feed_end(&x));
	ASSERT_EQ(3, x.nr);
	EXPECT_EQS(4, asked, 100, x.f[0].id);
	EXPECT_STREQ("10:1 20:0.5 40:0 45:1 50:0 60:1 80:0 85:1 95:0", text_of(&x.f[0]));
	EXPECT_EQ(200, x.f[1].id);
	EXPECT_STREQ("25:1 90:0", text_of(&x.f[1]));
	EXPECT_EQ(100, x.f[2].id);
	EXPECT_STREQ("100:0 200:0", text_of(&x.f[2]));
	gprof_utilization_free(x.u);

	/* All are one. */
	opts.group_of = NULL;
	x = (struct feed){ .u = gprof_utilization_new_opts(&opts), .goroutine = -1 };
	group_events(&x);
	ASSERT_EQ(0, feed_end(&x));
	ASSERT_EQ(2, x.nr);
	EXPECT_EQ(-1, x.f[0].id);
	gprof_utilization_free(x.u);
}

TEST(traces_that_say_nothing_give_no_function)
{
	struct gprof_mmu *m;
	double q = 0.5, util = -1;
	struct feed x;

	feed_begin(&x, GPROF_UTIL_STW);
	ASSERT_EQ(0, feed_end(&x));
	EXPECT_EQ(0, x.nr);
	gprof_utilization_free(x.u);

	feed_begin(&x, GPROF_UTIL_STW);
	sync_event(&x, 1, 1);
	range(&x, 2, BEGIN, 0, STW, 1);
	ASSERT_EQ(0, feed_end(&x));
	EXPECT_EQ(0, x.nr);
	gprof_utilization_free(x.u);

	m = gprof_mmu_new(NULL, 0);
	ASSERT_NE(NULL, m);
	EXPECT_TRUE(gprof_mmu_at(m, 1000) == 1);
	EXPECT_TRUE(gprof_mmu_at(m, 0) == 0);
	EXPECT_EQ(0, gprof_mmu_quantiles(m, 1000, &q, 1, &util));
	EXPECT_TRUE(util == 1);
	gprof_mmu_free(m);
}

TEST(one_event_gives_a_function_without_duration)
{
	struct gprof_util_window worst;
	double q = 0.5, util = -1;
	struct gprof_mmu *m;
	struct feed x;

	feed_begin(&x, GPROF_UTIL_STW);
	procs(&x, 5, 2);
	ASSERT_EQ(0, feed_end(&x));
	ASSERT_EQ(1, x.nr);
	EXPECT_STREQ("5:0", text_of(&x.f[0]));
	m = gprof_mmu_new(x.f, x.nr);
	ASSERT_NE(NULL, m);
	EXPECT_TRUE(gprof_mmu_at(m, 1000) == 1);
	EXPECT_EQ(0, gprof_mmu_worst(m, 1000, &worst, 1));
	EXPECT_EQ(0, gprof_mmu_quantiles(m, 1000, &q, 1, &util));
	EXPECT_TRUE(util == 1);
	gprof_mmu_free(m);
	gprof_utilization_free(x.u);
}

TEST(windows_of_no_length_and_beyond_the_trace_have_an_answer)
{
	static const struct gprof_util_change changes[] = { { 0, 1 }, { 10, 0 }, { 40, 1 }, { 100, 0 } };
	static const struct gprof_util_function f = { changes, 4, -1 };
	struct gprof_mmu *m = gprof_mmu_new(&f, 1);
	const double q[] = { 0, 0.5, 1 };
	struct gprof_util_window worst;
	double util[3];

	ASSERT_NE(NULL, m);
	EXPECT_TRUE(gprof_mmu_at(m, 0) == 0);
	EXPECT_TRUE(gprof_mmu_at(m, -5) == 0);
	EXPECT_ZEROS(gprof_mmu_worst(m, 0, &worst, 1), gprof_mmu_quantiles(m, 0, q, 3, util));
	EXPECT_TRUE(util[0] == 0 && util[1] == 0 && util[2] == 0);
	/* One place, no distribution. */
	EXPECT_TRUE(gprof_mmu_at(m, 100) == 0.7);
	EXPECT_EQ(0, gprof_mmu_quantiles(m, 100, q, 3, util));
	EXPECT_TRUE(util[0] == 0.7 && util[1] == 0.7 && util[2] == 0.7);
	EXPECT_TRUE(gprof_mmu_at(m, INT64_MAX) == 0.7);
	EXPECT_EQ(1, gprof_mmu_worst(m, INT64_MAX, &worst, 1));
	EXPECT_EQ(100, worst.length);
	gprof_mmu_free(m);
}

TEST(what_is_no_function_no_flag_and_no_quantile_is_refused)
{
	static const struct gprof_util_change back[] = { { 5, 1 }, { 4, 0 }, { 9, 0 } };
	static const struct gprof_util_change more[] = { { 5, 1.5 }, { 9, 0 } };
	static const struct gprof_util_change none[] = { { 5, NAN }, { 9, 0 } };
	const struct gprof_util_function f[] = { { back, 3, 0 }, { more, 2, 0 }, { none, 2, 0 } };
	const double q[] = { -0.1, 1.1, NAN };
	struct gprof_mmu *m = gprof_mmu_new(NULL, 0);
	struct gprof_trace_event ev = { .kind = GPROF_TRACE_SYNC };
	struct feed x;
	double util;
	int i;

	for (i = 0; i < 3; i++) {
		errno = 0;
		EXPECT_EQ(NULL, gprof_mmu_new(&f[i], 1));
		EXPECT_EQ(EINVAL, errno);
		EXPECT_EQ(-EINVAL, gprof_mmu_quantiles(m, 1000, &q[i], 1, &util));
	}
	gprof_mmu_free(m);
	EXPECT_EQ(NULL, gprof_utilization_new(1U << 31));
	EXPECT_EQ(NULL, gprof_utilization_new(GPROF_UTIL_PER_PROC | GPROF_UTIL_PER_TASK));
	EXPECT_EQ(NULL, gprof_utilization_new(GPROF_UTIL_PER_GROUP | GPROF_UTIL_PER_TASK));
	EXPECT_EQ(NULL, gprof_utilization_new(GPROF_UTIL_PER_PROC | GPROF_UTIL_PER_GROUP));
	feed_begin(&x, 0);
	EXPECT_EQ(-ERANGE, procs(&x, 1, 1ULL << 40));
	EXPECT_EQ(-ERANGE, procs(&x, 2, 1));
	EXPECT_EQ(-ERANGE, feed_end(&x));
	gprof_utilization_free(x.u);
	feed_begin(&x, 0);
	ASSERT_EQ(0, feed_end(&x));
	EXPECT_EQ(-EINVAL, gprof_utilization_add(x.u, &ev));
	gprof_utilization_free(x.u);
}

TEST(worst_windows_do_not_overlap_and_each_is_the_worst_that_is_left)
{
	uint64_t seed = 88172645463325252;
	int i;

	for (i = 0; i < 300; i++) {
		struct gprof_util_change c[60];
		struct gprof_util_function f = { c, 3 + lib_random(&seed) % 57, 3 };
		struct gprof_util_window worst[20];
		int64_t time = 0, window;
		struct gprof_mmu *m;
		size_t j;
		int nr, k, l;

		for (j = 0; j < f.nr; j++) {
			c[j] = (struct gprof_util_change){ time, lib_random(&seed) % 5 / 4.0 };
			time += 1 + lib_random(&seed) % 50;
		}
		m = gprof_mmu_new(&f, 1);
		ASSERT_NE(NULL, m);
		window = 1 + lib_random(&seed) % 200;
		nr = gprof_mmu_worst(m, window, worst, 20);
		ASSERT_GE(nr, 0);
		if (nr)
			EXPECT_TRUE(worst[0].util == gprof_mmu_at(m, window));
		/* Whatever begins at a whole ns: all begins, and all that are left of them. */
		for (k = 0; k <= nr && k < 20; k++) {
			double least = 1;
			int64_t begin;

			for (begin = c[0].time; begin + window <= c[f.nr - 1].time; begin++) {
				double sum = 0;

				for (l = 0; l < k; l++)
					if (begin < worst[l].time + window &&
					    worst[l].time < begin + window)
						break;
				if (l < k)
					continue;
				for (j = 0; j + 1 < f.nr; j++) {
					int64_t a = c[j].time > begin ? c[j].time : begin;
					int64_t b = c[j + 1].time < begin + window ?
						    c[j + 1].time : begin + window;

					sum += a < b ? c[j].util * (double)(b - a) : 0;
				}
				least = sum / window < least ? sum / window : least;
			}
			if (window > c[f.nr - 1].time - c[0].time)
				break;
			if (k == nr) {
				EXPECT_TRUE(least == 1);
				break;
			}
			EXPECT_TRUE(fabs(worst[k].util - least) < 1e-12)
				TH_LOG("%d: window %d of %d: %g, but there is %g", i, k, nr,
				       worst[k].util, least);
		}
		gprof_mmu_free(m);
	}
}
TEST(processors_that_come_and_go_take_no_more_than_the_trace_allows)
{
	struct rusage before, after;
	struct feed x;
	int i, ret = 0;

	getrusage(RUSAGE_SELF, &before);
	feed_begin(&x, GPROF_UTIL_ALL & ~(GPROF_UTIL_PER_TASK | GPROF_UTIL_PER_GROUP));
	sync_event(&x, 0, 1);
	/* A trace of 2 kB has so many; each time there is a function for each of them. */
	for (i = 1; i < 600 && !ret; i++)
		ret = procs(&x, i, i % 2 ? GPROF_UTIL_PROCS_MAX : 1);
	EXPECT_EQ(-EFBIG, ret);
	EXPECT_EQ(-EFBIG, procs(&x, 600, 1));
	EXPECT_EQ(-EFBIG, feed_end(&x));
	gprof_utilization_free(x.u);
	getrusage(RUSAGE_SELF, &after);
	EXPECT_GT(100 << 10, after.ru_maxrss - before.ru_maxrss);
}

TEST(a_limit_of_memory_is_kept_to)
{
	struct gprof_utilization_opts opts = {
		.sz = sizeof(opts), .flags = GPROF_UTIL_STW, .memory_max = 65536,
	};
	struct feed x = { .u = gprof_utilization_new_opts(&opts) };
	int i, ret = 0;

	sync_event(&x, 0, 1);
	procs(&x, 1, 4);
	for (i = 1; i < 10000 && !ret; i++)
		ret = range(&x, 10 * i, i % 2 ? BEGIN : END, -1, STW, -1);
	EXPECT_EQ(-EFBIG, ret);
	gprof_utilization_free(x.u);
	/* Of what was published first. */
	opts.sz = offsetof(struct gprof_utilization_opts, group_of) - 1;
	EXPECT_EQ(NULL, gprof_utilization_new_opts(&opts));
	EXPECT_EQ(EINVAL, errno);
}

/* Of many processors a few change at a time: the others cost nothing. */
TEST(a_processor_that_is_taken_is_said_alone)
{
	struct feed x;
	int64_t i;

	feed_begin(&x, GPROF_UTIL_SWEEP | GPROF_UTIL_PER_PROC);
	sync_event(&x, 0, 1);
	procs(&x, 1, GPROF_UTIL_PROCS_MAX);
	for (i = 0; i < 100000; i++)
		EXPECT_EQ(0, range(&x, 10 + i, i % 2 ? END : BEGIN, 7 + i / 2 % 100, SWEEP, -1));
	EXPECT_EQ(0, feed_end(&x));
	ASSERT_EQ(GPROF_UTIL_PROCS_MAX, x.nr);
	EXPECT_EQ(2, x.f[6].nr);
	EXPECT_LT(900, x.f[7].nr);
	EXPECT_LT(900, x.f[106].nr);
	EXPECT_EQ(2, x.f[107].nr);
	gprof_utilization_free(x.u);
}

TEST_HARNESS_MAIN
