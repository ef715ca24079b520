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
static struct feed {
	struct gprof_utilization *u;
	int64_t time;
	int64_t proc;
	int64_t goroutine;
	const struct gprof_util_function *f;
	size_t nr;
} x;

static void drop(void)
{
	gprof_utilization_free(x.u);
	x.u = NULL;
}

static void feed_begin(unsigned int flags)
{
	drop();
	x = (struct feed){ .u = gprof_utilization_new(flags), .goroutine = 1 };
}

static int feed(struct gprof_trace_event ev)
{
	ev.time = x.time;
	ev.proc = x.proc;
	ev.goroutine = x.goroutine;
	return gprof_utilization_add(x.u, &ev);
}

static int sync_event(int64_t time, uint64_t nr)
{
	x.time = time;
	return feed((struct gprof_trace_event){ .kind = GPROF_TRACE_SYNC, .sync.nr = nr });
}

static int procs(int64_t time, uint64_t nr)
{
	x.time = time;
	return feed((struct gprof_trace_event){
		.kind = GPROF_TRACE_METRIC,
		.metric = { "/sched/gomaxprocs:threads", nr },
	});
}

static int range(int64_t time, enum gprof_trace_kind kind, int64_t proc,
		 const char *name, int64_t goroutine)
{
	struct gprof_trace_event ev = { .kind = kind, .range.name = { name, strlen(name) } };

	ev.range.scope = (struct gprof_trace_resource){ GPROF_TRACE_RESOURCE_PROC, proc };
	if (goroutine >= 0)
		ev.range.scope = (struct gprof_trace_resource)G(goroutine);
	x.time = time;
	x.proc = proc;
	return feed(ev);
}

static int go(int64_t time, int64_t proc, int64_t goroutine, uint8_t from,
	      uint8_t to)
{
	x.time = time;
	x.proc = proc;
	return feed((struct gprof_trace_event){
		.kind = GPROF_TRACE_STATE_TRANSITION,
		.transition = { .resource = G(goroutine), .from = from, .to = to },
	});
}

static int label(int64_t time, int64_t proc, int64_t goroutine, const char *text)
{
	x.time = time;
	x.proc = proc;
	x.goroutine = goroutine;
	return feed((struct gprof_trace_event){
		.kind = GPROF_TRACE_LABEL,
		.label = { { text, strlen(text) }, G(goroutine) },
	});
}

static int feed_end(void)
{
	return gprof_utilization_finish(x.u, &x.f, &x.nr);
}

/* All functions: "ID TIME:UTIL ...; ...". */
static const char *functions(void)
{
	static char text[1024];
	size_t n = 0;

	text[0] = '\0';
	for (size_t k = 0; k < x.nr; k++) {
		const struct gprof_util_function *f = &x.f[k];

		n += snprintf(text + n, sizeof(text) - n, "%s%lld", k ? "; " : "", (long long)f->id);
		for (size_t i = 0; i < f->nr; i++)
			n += snprintf(text + n, sizeof(text) - n, " %lld:%g",
				      (long long)f->changes[i].time, f->changes[i].util);
	}
	return text;
}

#define ENDS(_time, _want) do {						\
	sync_event(_time, 2);						\
	ASSERT_EQ(0, feed_end());					\
	EXPECT_STREQ(_want, functions());				\
	drop();								\
} while (0)

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
	feed_begin(GPROF_UTIL_STW);
	EXPECT_ZEROS(procs(100, 4), range(200, BEGIN, 0, STW, 1), range(230, END, 0, STW, 1));
	/* Not for the collector. */
	EXPECT_EQ(0, range(300, BEGIN, 0, "stop-the-world (read mem stats)", 1));
	EXPECT_EQ(0, range(330, END, 0, "stop-the-world (read mem stats)", 1));
	ENDS(400, "-1 100:1 200:0 230:1 400:0");
}

TEST(flags_say_what_counts)
{
	static const struct { unsigned int flags; const char *text; } want[] = {
		{ 0, "-1 1:1 99:0" }, { GPROF_UTIL_STW, "-1 1:1 10:0 20:1 99:0" },
		{ GPROF_UTIL_SWEEP, "-1 1:1 30:0.5 40:1 99:0" },
		{ GPROF_UTIL_ASSIST, "-1 1:1 50:0.5 60:1 70:0.5 80:1 99:0" },
		{ GPROF_UTIL_STW | GPROF_UTIL_ASSIST,
		  "-1 1:1 10:0 20:1 50:0.5 60:1 70:0.5 80:1 99:0" },
	};

	for (size_t i = 0; i < sizeof(want) / sizeof(want[0]); i++) {
		feed_begin(want[i].flags);
		procs(1, 2);
		range(10, BEGIN, 0, STW, 1);
		range(20, END, 0, STW, 1);
		range(30, BEGIN, 1, SWEEP, -1);
		range(40, END, 1, SWEEP, -1);
		/* It sleeps within the assist, and ends it on another processor. */
		range(50, BEGIN, 1, ASSIST, 1);
		go(60, 1, 1, RUNNING, WAITING);
		go(70, 0, 1, RUNNABLE, RUNNING);
		range(80, END, 0, ASSIST, 1);
		ENDS(99, want[i].text);
	}
}

TEST(a_background_worker_counts_once_while_it_runs)
{
	feed_begin(GPROF_UTIL_BACKGROUND);
	procs(1, 2);
	/* The label comes again at each start. */
	for (int i = 1; i < 4; i++) {
		go(100 * i, 0, 7, RUNNABLE, RUNNING);
		label(100 * i + 1, 0, 7, "GC (fractional)");
		go(100 * i + 50, 0, 7, RUNNING, WAITING);
	}
	label(500, 1, 8, "GC (idle)");
	label(510, 1, 9, "a label of the program's own");
	ENDS(600, "-1 1:1 101:0.5 150:1 200:0.5 250:1 300:0.5 350:1 600:0");
}

TEST(dedicated_workers_do_not_count_for_a_single_processor)
{
	feed_begin(GPROF_UTIL_BACKGROUND | GPROF_UTIL_PER_PROC);
	procs(1, 2);
	label(10, 0, 7, "GC (dedicated)");
	label(20, 1, 8, "GC (fractional)");
	ENDS(90, "0 1:1 90:0; 1 1:1 20:0");
}

TEST(ranges_found_late_count_from_the_begin)
{
	feed_begin(GPROF_UTIL_SWEEP | GPROF_UTIL_ASSIST);
	sync_event(1, 1);
	procs(2, 4);
	range(10, BEGIN, 0, SWEEP, -1);
	range(20, END, 0, SWEEP, -1);
	range(30, ACTIVE, 1, SWEEP, -1);
	range(40, END, 1, SWEEP, -1);
	go(44, 2, 6, GPROF_TRACE_GO_UNDETERMINED, RUNNING);
	range(45, ACTIVE, 2, ASSIST, 6);
	range(50, END, 2, ASSIST, 6);
	sync_event(70, 2);
	/* Now all is known, and this only repeats it. */
	range(80, ACTIVE, 1, SWEEP, -1);
	sync_event(90, 3);
	ASSERT_EQ(0, feed_end());
	EXPECT_STREQ("-1 2:0.5 10:0.25 20:0.5 40:0.75 50:1 90:0", functions());
	drop();
}

/* Of one that waits or may run, somebody else tells: with a processor of their own. */
TEST(an_assist_found_late_takes_no_processor_before_its_goroutine_runs)
{
	static const uint8_t states[] = { RUNNABLE, WAITING };

	for (size_t i = 0; i < sizeof(states); i++) {
		feed_begin(GPROF_UTIL_ASSIST);
		sync_event(1, 1);
		/* Who tells runs since before the number of processors is known. */
		go(1, 0, 1, GPROF_TRACE_GO_UNDETERMINED, RUNNING);
		procs(2, 2);
		go(10, 0, 5, GPROF_TRACE_GO_UNDETERMINED, states[i]);
		x.goroutine = 1;
		range(11, ACTIVE, 0, ASSIST, 5);
		go(20, 1, 5, RUNNABLE, RUNNING);
		range(30, END, 1, ASSIST, 5);
		go(40, 1, 5, RUNNING, WAITING);
		go(50, 1, 5, RUNNABLE, RUNNING);
		ENDS(90, "-1 2:1 20:0.5 30:1 90:0");
	}
}

/* What began to run before the number of processors was known runs. */
TEST(an_assist_found_late_of_a_goroutine_that_runs_counts_from_the_begin)
{
	feed_begin(GPROF_UTIL_ASSIST);
	go(1, 0, 5, GPROF_TRACE_GO_UNDETERMINED, RUNNING);
	procs(2, 2);
	range(10, ACTIVE, 0, ASSIST, 5);
	range(20, END, 0, ASSIST, 5);
	ENDS(30, "-1 2:0.5 20:1 30:0");
}

TEST(ranges_found_late_count_by_the_processors_of_each_time)
{
	feed_begin(GPROF_UTIL_SWEEP | GPROF_UTIL_STW);
	procs(2, 2);
	range(10, BEGIN, 0, STW, 1);
	range(20, END, 0, STW, 1);
	range(30, BEGIN, 0, SWEEP, -1);
	/* The change at the moment of the new number is still by the old one. */
	procs(40, 4);
	range(50, END, 0, SWEEP, -1);
	range(60, ACTIVE, 1, SWEEP, -1);
	ENDS(70, "-1 2:0.5 10:0 20:0.5 30:0 40:0.25 50:0.75 70:0");
}

TEST(processors_come_and_go)
{
	feed_begin(GPROF_UTIL_SWEEP | GPROF_UTIL_PER_PROC);
	procs(1, 2);
	range(5, BEGIN, 1, SWEEP, -1);
	procs(10, 1);
	/* Of a processor that is gone: nothing to take. */
	EXPECT_EQ(0, range(12, BEGIN, 1, SWEEP, -1));
	procs(20, 3);
	range(30, BEGIN, 2, SWEEP, -1);
	ENDS(40, "0 1:1 40:0; 1 1:1 5:0; 1 20:1 40:0; 2 20:1 30:0");
}

/* A processor that is taken as it goes takes nothing from those that stay. */
TEST(processors_that_have_gone_are_not_taken)
{
	feed_begin(GPROF_UTIL_SWEEP);
	procs(1, 4);
	range(5, BEGIN, 3, SWEEP, -1);
	procs(10, 2);
	range(20, BEGIN, 1, SWEEP, -1);
	procs(30, 4);
	ENDS(40, "-1 1:1 5:0.75 10:1 20:0.5 30:0.75 40:0");
}

TEST(of_values_at_one_time_the_lowest_holds_until_later)
{
	feed_begin(GPROF_UTIL_SWEEP);
	procs(1, 2);
	range(10, BEGIN, 0, SWEEP, -1);
	range(10, END, 0, SWEEP, -1);
	sync_event(11, 1);
	ENDS(20, "-1 1:1 10:0.5 11:1 20:0");
}

TEST(a_task_is_held_up_while_it_waits_for_a_processor)
{
	feed_begin(GPROF_UTIL_PER_TASK | GPROF_UTIL_STW | GPROF_UTIL_SWEEP | GPROF_UTIL_ASSIST);
	procs(1, 2);
	go(10, 0, 5, GPROF_TRACE_GO_UNDETERMINED, RUNNING);
	go(20, 0, 6, GONE, RUNNABLE);
	x.goroutine = 5;
	range(30, BEGIN, 0, SWEEP, -1);
	range(40, END, 0, SWEEP, -1);
	go(50, 0, 5, RUNNING, WAITING);
	go(60, 0, 6, RUNNABLE, RUNNING);
	go(70, 1, 5, WAITING, RUNNABLE);
	go(80, 1, 5, RUNNABLE, RUNNING);
	range(90, BEGIN, 1, STW, 5);
	range(95, END, 1, STW, 5);
	range(100, BEGIN, 1, ASSIST, 5);
	go(110, 1, 5, RUNNING, WAITING);
	go(120, 0, 6, RUNNING, GONE);
	ENDS(200, "5 10:1 30:0 40:1 70:0 80:1 90:0 95:1 100:0 200:0; 6 20:0 60:1 90:0 95:1 120:0");
}

/* 5 and 6 are of one group, 7 of another. */
static int64_t group_of(void *ctx, int64_t task)
{
	++*(int *)ctx;
	return task < 7 ? 100 : 200;
}

static void group_events(void)
{
	procs(1, 2);
	go(10, 0, 5, GPROF_TRACE_GO_UNDETERMINED, RUNNING);
	go(20, 0, 6, GONE, RUNNABLE);
	go(25, 1, 7, GPROF_TRACE_GO_UNDETERMINED, RUNNING);
	/* One leaves the CPU to the other: for a moment both want it. */
	go(30, 0, 5, RUNNING, RUNNABLE);
	go(30, 0, 6, RUNNABLE, RUNNING);
	go(40, 0, 6, RUNNING, WAITING);
	go(45, 0, 5, RUNNABLE, RUNNING);
	x.goroutine = 5;
	range(50, BEGIN, 0, SWEEP, -1);
	range(60, END, 0, SWEEP, -1);
	go(70, 0, 5, RUNNING, WAITING);
	go(80, 0, 6, WAITING, RUNNABLE);
	/* Whoever ends while it waits wants nothing any more. */
	go(85, 0, 6, RUNNABLE, GONE);
	go(86, 0, 5, WAITING, RUNNING);
	go(89, 0, 5, RUNNING, WAITING);
	go(90, 1, 7, RUNNING, GONE);
	go(95, 0, 5, WAITING, GONE);
	/* The same number, and a new group. */
	go(100, 0, 5, GONE, RUNNABLE);
}

TEST(of_a_group_those_count_that_want_a_processor)
{
	int asked = 0;
	struct gprof_utilization_opts opts = {
		.sz = sizeof(opts), .flags = GPROF_UTIL_PER_GROUP | GPROF_UTIL_SWEEP,
		.group_of = group_of, .ctx = &asked,
	};

	x = (struct feed){ .u = gprof_utilization_new_opts(&opts), .goroutine = -1 };
	group_events();
	ENDS(200, "100 10:1 20:0.5 40:0 45:1 50:0 60:1 80:0 85:1 95:0; 200 25:1 90:0; "
		  "100 100:0 200:0");
	EXPECT_EQ(4, asked);
	/* All are one. */
	opts.group_of = NULL;
	x = (struct feed){ .u = gprof_utilization_new_opts(&opts), .goroutine = -1 };
	group_events();
	sync_event(200, 2);
	ASSERT_EQS(0, feed_end(), 2, x.nr);
	EXPECT_EQ(-1, x.f[0].id);
	drop();
}

TEST(traces_that_say_nothing_give_no_function)
{
	struct gprof_mmu *m;
	double q = 0.5, util = -1;

	feed_begin(GPROF_UTIL_STW);
	ASSERT_EQ(0, feed_end());
	EXPECT_EQ(0, x.nr);

	feed_begin(GPROF_UTIL_STW);
	sync_event(1, 1);
	range(2, BEGIN, 0, STW, 1);
	ASSERT_EQ(0, feed_end());
	EXPECT_EQ(0, x.nr);
	drop();

	m = gprof_mmu_new(NULL, 0);
	ASSERT_NE(NULL, m);
	EXPECT_TRUES(gprof_mmu_at(m, 1000) == 1, gprof_mmu_at(m, 0) == 0);
	EXPECT_EQ(0, gprof_mmu_quantiles(m, 1000, &q, 1, &util));
	EXPECT_TRUE(util == 1);
	gprof_mmu_free(m);
}

TEST(one_event_gives_a_function_without_duration)
{
	struct gprof_util_window worst;
	double q = 0.5, util = -1;
	struct gprof_mmu *m;

	feed_begin(GPROF_UTIL_STW);
	procs(5, 2);
	ASSERT_EQ(0, feed_end());
	EXPECT_STREQ("-1 5:0", functions());
	m = gprof_mmu_new(x.f, x.nr);
	ASSERT_NE(NULL, m);
	EXPECT_TRUE(gprof_mmu_at(m, 1000) == 1);
	EXPECT_EQ(0, gprof_mmu_worst(m, 1000, &worst, 1));
	EXPECT_EQ(0, gprof_mmu_quantiles(m, 1000, &q, 1, &util));
	EXPECT_TRUE(util == 1);
	gprof_mmu_free(m);
	drop();
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
	EXPECT_TRUES(gprof_mmu_at(m, 0) == 0, gprof_mmu_at(m, -5) == 0);
	EXPECT_ZEROS(gprof_mmu_worst(m, 0, &worst, 1), gprof_mmu_quantiles(m, 0, q, 3, util));
	EXPECT_TRUE(util[0] == 0 && util[1] == 0 && util[2] == 0);
	/* One place, no distribution. */
	EXPECT_TRUE(gprof_mmu_at(m, 100) == 0.7);
	EXPECT_EQ(0, gprof_mmu_quantiles(m, 100, q, 3, util));
	EXPECT_TRUE(util[0] == 0.7 && util[1] == 0.7 && util[2] == 0.7);
	EXPECT_TRUE(gprof_mmu_at(m, INT64_MAX) == 0.7);
	EXPECT_EQS(1, gprof_mmu_worst(m, INT64_MAX, &worst, 1), 100, worst.length);
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
	double util;

	for (int i = 0; i < 3; i++) {
		EXPECT_ERRNO(EINVAL, gprof_mmu_new(&f[i], 1));
		EXPECT_EQ(-EINVAL, gprof_mmu_quantiles(m, 1000, &q[i], 1, &util));
	}
	gprof_mmu_free(m);
	EXPECT_EQ(NULL, gprof_utilization_new(1U << 31));
	EXPECT_EQ(NULL, gprof_utilization_new(GPROF_UTIL_PER_PROC | GPROF_UTIL_PER_TASK));
	EXPECT_EQ(NULL, gprof_utilization_new(GPROF_UTIL_PER_GROUP | GPROF_UTIL_PER_TASK));
	EXPECT_EQ(NULL, gprof_utilization_new(GPROF_UTIL_PER_PROC | GPROF_UTIL_PER_GROUP));
	feed_begin(0);
	EXPECT_EQS(-ERANGE, procs(1, 1ULL << 40), -ERANGE, procs(2, 1), -ERANGE, feed_end());
	feed_begin(0);
	ASSERT_EQ(0, feed_end());
	EXPECT_EQ(-EINVAL, gprof_utilization_add(x.u, &ev));
	drop();
}

TEST(worst_windows_do_not_overlap_and_each_is_the_worst_that_is_left)
{
	uint64_t seed = 88172645463325252;

	for (int i = 0; i < 300; i++) {
		struct gprof_util_change c[60];
		struct gprof_util_function f = { c, 3 + lib_random(&seed) % 57, 3 };
		struct gprof_util_window worst[20];
		int64_t time = 0, window;
		struct gprof_mmu *m;
		int nr, k, l;

		for (size_t j = 0; j < f.nr; j++) {
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
				for (size_t j = 0; j + 1 < f.nr; j++) {
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
	long before;
	int i, ret = 0;

	before = lib_peak_kib(RUSAGE_SELF);
	feed_begin(GPROF_UTIL_ALL & ~(GPROF_UTIL_PER_TASK | GPROF_UTIL_PER_GROUP));
	sync_event(0, 1);
	/* A trace of 2 kB has so many; each time there is a function for each of them. */
	for (i = 1; i < 600 && !ret; i++)
		ret = procs(i, i % 2 ? GPROF_UTIL_PROCS_MAX : 1);
	EXPECT_EQS(-EFBIG, ret, -EFBIG, procs(600, 1), -EFBIG, feed_end());
	drop();
	EXPECT_GT(LIB_MEMORY(100 << 10), lib_peak_kib(RUSAGE_SELF) - before);
}

TEST(a_limit_of_memory_is_kept_to)
{
	struct gprof_utilization_opts opts = {
		.sz = sizeof(opts), .flags = GPROF_UTIL_STW, .memory_max = 65536,
	};
	int i, ret = 0;

	x = (struct feed){ .u = gprof_utilization_new_opts(&opts) };
	sync_event(0, 1);
	procs(1, 4);
	for (i = 1; i < 10000 && !ret; i++)
		ret = range(10 * i, i % 2 ? BEGIN : END, -1, STW, -1);
	EXPECT_EQ(-EFBIG, ret);
	drop();
	/* Of what was published first. */
	opts.sz = offsetof(struct gprof_utilization_opts, group_of) - 1;
	EXPECT_ERRNO(EINVAL, gprof_utilization_new_opts(&opts));
}

/* Of many processors a few change at a time: the others cost nothing. */
TEST(a_processor_that_is_taken_is_said_alone)
{
	int64_t i;

	feed_begin(GPROF_UTIL_SWEEP | GPROF_UTIL_PER_PROC);
	sync_event(0, 1);
	procs(1, GPROF_UTIL_PROCS_MAX);
	for (i = 0; i < 100000; i++)
		EXPECT_EQ(0, range(10 + i, i % 2 ? END : BEGIN, 7 + i / 2 % 100, SWEEP, -1));
	EXPECT_EQ(0, feed_end());
	ASSERT_EQ(GPROF_UTIL_PROCS_MAX, x.nr);
	EXPECT_EQ(2, x.f[6].nr);
	EXPECT_LTS(900, x.f[7].nr, 900, x.f[106].nr);
	EXPECT_EQ(2, x.f[107].nr);
	drop();
}

TEST_HARNESS_MAIN
