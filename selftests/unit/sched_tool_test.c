// SPDX-License-Identifier: GPL-2.0-only
/* A reading of scheduler statistics as text, as JSON and as metrics. */
#include "harness.h"
#include "host/sched_view.h"

FIXTURE(view) {
	char *text;
	size_t size;
	FILE *f;
	struct target target;
	struct gprof_sched_stats now;
	struct gprof_sched_stats before;
	struct sched_view v;
};

static void add(struct gprof_histogram *h, uint64_t value, uint64_t times)
{
	h->count += times;
	h->sum += value * times;
	h->buckets[gprof_histogram_bucket(value)] += times;
	if (value > h->largest)
		h->largest = value;
}

FIXTURE_SETUP(view)
{
	self->f = open_memstream(&self->text, &self->size);
	ASSERT_NE(NULL, self->f);
	self->target.gprof.type = GPROF_SYSTEM;
	self->before = (struct gprof_sched_stats){
		.sz = sizeof(self->before), .time_ns = 11000000000, .started_ns = 10000000000,
		.total_switches = 1000000,
	};
	self->now = (struct gprof_sched_stats){
		.sz = sizeof(self->now), .time_ns = 13000000000, .started_ns = 10000000000,
		.total_task_exec = UINT64_MAX, .num_task_exec = 3, .total_switches = 1234567,
		.stall_ns = 500000000, .has_stall = true, .max_procs = 2, .num_procs = 4,
		.total_thread_starts = 17, .num_samples = 258, .sample_hz = 100,
	};
	for (int i = 0; i < GPROF_SCHED_DELAYS; i++)
		self->now.sched_delay_ns[i] = i;
	add(&self->now.delay, 1023, 10);
	add(&self->now.delay, 1024, 5);
	add(&self->now.delay, 1ULL << 40, 1);
	self->v = (struct sched_view){ &self->target, &self->now, &self->before };
}

FIXTURE_TEARDOWN(view)
{
	fclose(self->f);
	free(self->text);
}

#define EXPECT_HAS(...) do {						\
	fflush(self->f);						\
	EXPECT_SAYS(self->text, __VA_ARGS__);				\
} while (0)
#define EXPECT_HAS_NOT(...) do {					\
	fflush(self->f);						\
	EXPECT_LACKS(self->text, __VA_ARGS__);				\
} while (0)

TEST_F(view, json_has_every_metric_under_its_name)
{
	const struct gprof_sched_metric *m;
	size_t nr = gprof_sched_metrics(&m);
	char key[64];

	sched_json(self->f, &self->v, NULL);
	EXPECT_HAS("{\"version\": 1, \"command\": \"schedstat\", \"data\": {"
		   "\"target\": \"the whole host\", \"time_ns\": 13000000000, "
		   "\"started_ns\": 10000000000, \"clock_doubtful\": false, "
		   "\"total_task_exec\": 18446744073709551615, \"num_task_exec\": 3,");
	for (size_t i = 0; i < nr; i++) {
		snprintf(key, sizeof(key), ", \"%s\": ", m[i].name);
		EXPECT_HAS(key);
	}
	EXPECT_HAS("\"total_sys_calls\": null, \"num_sys_calls\": null", "\"sched_delay_ns\": [0, 1, 2,",
		   ", 255], \"num_samples\": 258",
		   "\"unstable\": [\"total_thread_starts\", \"num_threads\", \"missed\", \"faults_missed\"]}, ");
	EXPECT_EQ(strlen(self->text) - 1, strcspn(self->text, "\n"));
}

TEST_F(view, json_histograms_list_the_buckets_that_count)
{
	sched_json(self->f, &self->v, "delay_ns");
	EXPECT_HAS("\"delay_ns\": {\"count\": 16, \"sum\": 1099511643126, \"largest\": 1099511627776, "
		   "\"p50\": 1013, \"p90\": 1138, \"p99\": 1099511627776, ");
	EXPECT_HAS("\"buckets\": [{\"lowest\": 960, \"count\": 10}, {\"lowest\": 1024, \"count\": 5}, "
		   "{\"lowest\": 1099511627776, \"count\": 1}]}");
	EXPECT_HAS_NOT("total_switches");
}

TEST_F(view, json_names_any_command)
{
	char *argv[] = { "a\"b\n", NULL };

	self->target.command = argv;
	self->now.missed = 5;
	self->now.faults_missed = 6;
	sched_json(self->f, &self->v, "missed");
	EXPECT_HAS("{\"target\": \"a\\\"b\\u000a\",", "\"missed\": 5, \"unstable\": [\"missed\"]}, ",
		   "5 delays were not measured and are in no time",
		   "6 page faults, of any task, were not counted");
}

TEST_F(view, names_of_families_follow_those_of_metrics)
{
	struct openmetrics m = { .out = self->f };

	sched_openmetrics(&m, &self->v, NULL);
	EXPECT_HAS("\ngprof_sched_task_exec_total{scope=\"system\"} 18446744073709551615\n");
	EXPECT_HAS("\ngprof_sched_num_task_exec{scope=\"system\"} 3\n");
	EXPECT_HAS("\ngprof_sched_switches_total{scope=\"system\"} 1234567\n");
	EXPECT_HAS("\n# TYPE gprof_sched_stall_seconds counter\n");
	EXPECT_HAS("\ngprof_sched_stall_seconds_total{scope=\"system\"} 0.500000000\n");
	EXPECT_HAS("\n# TYPE gprof_sched_delay_seconds histogram\n"
		   "# UNIT gprof_sched_delay_seconds seconds\n");
	EXPECT_HAS("(unstable)\n# TYPE gprof_sched_thread_starts counter\n");
	EXPECT_HAS("\ngprof_sched_clock_doubtful{scope=\"system\"} 0\n");
}

TEST_F(view, what_is_not_counted_is_no_metric)
{
	struct openmetrics m = { .out = self->f };

	sched_openmetrics(&m, &self->v, NULL);
	EXPECT_HAS_NOT("sys_calls", "faults");
}

TEST_F(view, bounds_are_exact_to_the_nanosecond)
{
	struct openmetrics m = { .out = self->f };

	sched_openmetrics(&m, &self->v, "delay_ns");
	EXPECT_HAS("_bucket{scope=\"system\",le=\"0.000001023\"} 10\n",
		   "_bucket{scope=\"system\",le=\"0.000002047\"} 15\n",
		   "_bucket{scope=\"system\",le=\"17.179869183\"} 15\n",
		   "_bucket{scope=\"system\",le=\"+Inf\"} 16\n", "_count{scope=\"system\"} 16\n",
		   "_sum{scope=\"system\"} 1099.511643126\n");
	EXPECT_HAS_NOT("switches");
}

TEST_F(view, labels_say_whose_it_is)
{
	static const struct { struct gprof_target t; const char *want, *text; } rows[] = {
		{ { GPROF_PROCESS, 7, NULL }, "scope=\"process\",pid=\"7\"", "process 7" },
		{ { GPROF_THREAD, 8, NULL }, "scope=\"thread\",tid=\"8\"", "thread 8" },
		{
			{ GPROF_CGROUP, 0, "/a\"b" }, "scope=\"cgroup\",cgroup=\"/a\\\"b\"",
			"cgroup /a\"b",
		},
		{ { GPROF_SYSTEM, 0, NULL }, "scope=\"system\"", "the whole host" },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char *labels, *text;

		self->target.gprof = rows[i].t;
		labels = sched_labels(&self->target);
		text = sched_target_text(&self->target);
		EXPECT_STREQS(rows[i].want, labels, rows[i].text, text);
		free(labels);
		free(text);
	}
}

#define NOTES	"\n1,001 delays were not measured and are in no time above\n"			\
		"\n2,002 page faults, of any task, found the kernel's probe full: not counted\n" \
		"\nthe CPUs' clocks disagree: times above are not to be trusted\n"

/* Each number is its own: as at first, and then of an interval. */
TEST_F(view, the_table_has_rates_of_the_interval_and_totals)
{
	struct gprof_sched_stats *n = &self->now, *b = &self->before;

	n->has_sys_calls = n->has_faults = true;
	n->total_task_exec = 1004, b->total_task_exec = 1000;
	n->total_task_sched = 2010, b->total_task_sched = 2000, n->num_task_sched = 11;
	n->total_task = 3016, b->total_task = 3000, n->num_task = 12;
	n->total_sys_calls = 4022, b->total_sys_calls = 4000, n->num_sys_calls = 13;
	n->total_faults = 5028, b->total_faults = 5000, n->num_faults = 14;
	b->total_thread_starts = 10, n->num_threads = 15;
	b->has_sys_calls = b->has_faults = true;
	b->stall_ns = 100000000;
	b->delay = n->delay;
	add(&n->delay, 1ULL << 20, 4);
	add(&b->on_cpu, 5000000, 1);
	add(&n->on_cpu, 5000000, 3);
	n->missed = 1001;
	n->faults_missed = 2002;
	n->clock_doubtful = true;
	self->v.before = NULL;
	sched_table(self->f, &self->v);
	fflush(self->f);
	EXPECT_STREQ("the whole host, 3.0 s, 2 of 4 CPUs\n\n"
		     "                   per second            total      now\n"
		     "switched in             334.7            1,004        3  tasks on a CPU\n"
		     "switched out         411522.3        1,234,567\n"
		     "became runnable         670.0            2,010       11  tasks waiting for a CPU\n"
		     "created                1005.3            3,016       12  tasks alive\n"
		     "system calls           1340.7            4,022       13  tasks in one\n"
		     "page faults            1676.0            5,028       14  tasks in one\n"
		     "CPUs left idle            5.7               17       15  CPUs busy\n"
		     "stalled                16.7 %           500 ms           some task waited\n"
		     "\n"
		     "time                   p50       p90       p99       max      mean        times\n"
		     "waiting            1.04 us   1.16 ms    1100 s    1100 s    55.0 s           20\n"
		     "on CPU             4.98 ms   5.00 ms   5.00 ms   5.00 ms   5.00 ms            3\n"
		     NOTES, self->text);
	self->v.before = b;
	rewind(self->f);
	sched_table(self->f, &self->v);
	fflush(self->f);
	EXPECT_STREQ("the whole host, 3.0 s, 2 of 4 CPUs\n\n"
		     "                   per second            total      now\n"
		     "switched in               2.0            1,004        3  tasks on a CPU\n"
		     "switched out         117283.5        1,234,567\n"
		     "became runnable           5.0            2,010       11  tasks waiting for a CPU\n"
		     "created                   8.0            3,016       12  tasks alive\n"
		     "system calls             11.0            4,022       13  tasks in one\n"
		     "page faults              14.0            5,028       14  tasks in one\n"
		     "CPUs left idle            3.5               17       15  CPUs busy\n"
		     "stalled                20.0 %           500 ms           some task waited\n"
		     "\n"
		     "time                   p50       p90       p99       max      mean        times\n"
		     "waiting, now       1.13 ms   1.16 ms   1.16 ms   1.18 ms   1.05 ms            4\n"
		     "waiting            1.04 us   1.16 ms    1100 s    1100 s    55.0 s           20\n"
		     "on CPU, now        5.00 ms   5.00 ms   5.00 ms   5.00 ms   5.00 ms            2\n"
		     "on CPU             4.98 ms   5.00 ms   5.00 ms   5.00 ms   5.00 ms            3\n"
		     NOTES, self->text);
	/* Of a target that has ended there is no now. */
	n->max_procs = 0;
	rewind(self->f);
	sched_table(self->f, &self->v);
	fflush(self->f);
	EXPECT_SAYS(self->text, "the whole host, 3.0 s, 4 CPUs\n\n"
		    "                   per second            total\n"
		    "switched in               2.0            1,004\n"
		    "switched out         117283.5        1,234,567\n"
		    "became runnable           5.0            2,010\n");
}

TEST_F(view, the_table_leaves_out_what_is_not_known)
{
	self->now.has_stall = false;
	self->now.max_procs = 0;
	self->now.time_ns = self->before.time_ns;
	sched_table(self->f, &self->v);
	EXPECT_HAS("the whole host, 1.0 s, 4 CPUs\n", "switched out                         1,234,567\n");
	EXPECT_HAS_NOT("system calls", "page faults", "stalled", "disagree", "not measured");
}

TEST_F(view, the_table_is_80_columns_wide_at_most)
{
	self->now.total_task_exec = 999999999999;
	self->now.has_sys_calls = self->now.has_faults = true;
	self->now.total_sys_calls = self->now.num_sys_calls = 999999;
	self->now.clock_doubtful = true;
	self->now.faults_missed = 1234;
	self->now.missed = UINT64_MAX;
	sched_table(self->f, &self->v);
	fflush(self->f);
	for (const char *p = self->text; *p; p += strcspn(p, "\n") + 1) {
		EXPECT_GE(80, strcspn(p, "\n")) TH_LOG("%s", p);
	}
	EXPECT_HAS("the CPUs' clocks disagree");
	EXPECT_HAS("\n1,234 page faults, of any task, found the kernel's probe full");
}

TEST_F(view, one_metric_is_a_bare_number)
{
	sched_plain(self->f, &self->v, "total_switches");
	fflush(self->f);
	EXPECT_STREQ("1234567\n", self->text);
}

TEST_F(view, samples_come_oldest_first)
{
	self->now.num_samples = 3;
	sched_plain(self->f, &self->v, "sched_delay_ns");
	fflush(self->f);
	EXPECT_STREQ("0 1 2\n", self->text);
	self->now.num_samples = 258;
	rewind(self->f);
	sched_plain(self->f, &self->v, "sched_delay_ns");
	fflush(self->f);
	/* 258 samples: numbers 0 and 1 are the latest. */
	EXPECT_EQ(0, strncmp(self->text, "2 3 4 ", 6));
	EXPECT_STREQ(" 254 255 0 1\n", self->text + strlen(self->text) - 13);
}

TEST_F(view, a_histogram_is_a_line_of_its_numbers)
{
	sched_plain(self->f, &self->v, "delay_ns");
	sched_plain(self->f, &self->v, "total_sys_calls");
	fflush(self->f);
	EXPECT_STREQ("count=16 sum=1099511643126 largest=1099511627776 p50=1013 p90=1138 "
		     "p99=1099511627776\n", self->text);
}

TEST(times_have_three_digits_and_a_unit)
{
	static const struct { uint64_t ns; const char *want; } rows[] = {
		{ 0, "0 ns" }, { 999, "999 ns" }, { 1000, "1.00 us" }, { 9994, "9.99 us" },
		{ 9996, "10.0 us" }, { 99940, "99.9 us" }, { 99960, "100 us" },
		{ 999499, "999 us" }, { 999500, "1.00 ms" }, { 123456789, "123 ms" },
		{ 1500000000, "1.50 s" }, { 5000000000000, "5000 s" },
	};
	char text[SCHED_TEXT_MAX];

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		EXPECT_STREQ(rows[i].want, sched_time(rows[i].ns, text));
}

TEST(counts_have_their_thousands_apart)
{
	char text[SCHED_TEXT_MAX];

	EXPECT_STREQS("0", sched_count(0, text), "999", sched_count(999, text),
		      "1,000", sched_count(1000, text),
		      "18,446,744,073,709,551,615", sched_count(UINT64_MAX, text));
}

TEST_HARNESS_MAIN
