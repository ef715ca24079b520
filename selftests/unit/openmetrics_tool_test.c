// SPDX-License-Identifier: GPL-2.0-only
/* Metrics as text: every character of it, in both formats. */
#include "harness.h"
#include "cli/openmetrics.h"

FIXTURE(text) {
	char *text;
	size_t size;
	struct openmetrics m;
};

FIXTURE_SETUP(text)
{
	self->m.out = open_memstream(&self->text, &self->size);
	ASSERT_NE(NULL, self->m.out);
}

FIXTURE_TEARDOWN(text)
{
	fclose(self->m.out);
	free(self->text);
}

#define EXPECT_TEXT(want) do {						\
	fflush(self->m.out);						\
	EXPECT_STREQ(want, self->text);					\
} while (0)

TEST_F(text, a_counter_ends_in_total)
{
	openmetrics_family(&self->m, OPENMETRICS_COUNTER, "gprof_x", "", "Times.");
	openmetrics_sample(&self->m, "", UINT64_MAX);
	openmetrics_end(&self->m);
	EXPECT_TEXT("# HELP gprof_x Times.\n"
		    "# TYPE gprof_x counter\n"
		    "gprof_x_total 18446744073709551615\n"
		    "# EOF\n");
}

TEST_F(text, in_the_older_format_its_family_does_too)
{
	self->m.old = true;
	openmetrics_family(&self->m, OPENMETRICS_COUNTER, "gprof_x", "", "Times.");
	openmetrics_sample(&self->m, "", 7);
	openmetrics_end(&self->m);
	EXPECT_TEXT("# HELP gprof_x_total Times.\n"
		    "# TYPE gprof_x_total counter\n"
		    "gprof_x_total 7\n");
}

TEST_F(text, a_gauge_is_its_name)
{
	openmetrics_family(&self->m, OPENMETRICS_GAUGE, "gprof_g", "", "Now.");
	openmetrics_sample(&self->m, "a=\"b\"", 0);
	EXPECT_TEXT("# HELP gprof_g Now.\n"
		    "# TYPE gprof_g gauge\n"
		    "gprof_g{a=\"b\"} 0\n");
}

TEST_F(text, nanoseconds_become_exact_seconds)
{
	openmetrics_family(&self->m, OPENMETRICS_COUNTER, "gprof_t_seconds", "seconds", "Time.");
	openmetrics_sample(&self->m, "", 1);
	openmetrics_sample(&self->m, "", 9007199254740993);
	EXPECT_TEXT("# HELP gprof_t_seconds Time.\n"
		    "# TYPE gprof_t_seconds counter\n"
		    "# UNIT gprof_t_seconds seconds\n"
		    "gprof_t_seconds_total 0.000000001\n"
		    "gprof_t_seconds_total 9007199.254740993\n");
}

TEST_F(text, a_histogram_ends_with_all_its_values)
{
	static const struct openmetrics_bucket b[] = { { 1023, 5 }, { 1000000000, 7 } };

	self->m.old = true;
	openmetrics_family(&self->m, OPENMETRICS_HISTOGRAM, "gprof_h_seconds", "seconds", "H.");
	openmetrics_histogram(&self->m, "", b, 2, 1500000000, 9);
	EXPECT_TEXT("# HELP gprof_h_seconds H.\n"
		    "# TYPE gprof_h_seconds histogram\n"
		    "gprof_h_seconds_bucket{le=\"0.000001023\"} 5\n"
		    "gprof_h_seconds_bucket{le=\"1.000000000\"} 7\n"
		    "gprof_h_seconds_bucket{le=\"+Inf\"} 9\n"
		    "gprof_h_seconds_count 9\n"
		    "gprof_h_seconds_sum 1.500000000\n");
}

TEST_F(text, labels_stand_before_a_buckets_bound)
{
	static const struct openmetrics_bucket b[] = { { 4, 1 } };

	openmetrics_family(&self->m, OPENMETRICS_HISTOGRAM, "h", "", "H.");
	openmetrics_histogram(&self->m, "a=\"b\"", b, 1, 3, 1);
	EXPECT_TEXT("# HELP h H.\n"
		    "# TYPE h histogram\n"
		    "h_bucket{a=\"b\",le=\"4.0\"} 1\n"
		    "h_bucket{a=\"b\",le=\"+Inf\"} 1\n"
		    "h_count{a=\"b\"} 1\n"
		    "h_sum{a=\"b\"} 3\n");
}

TEST_F(text, help_cannot_break_its_line)
{
	openmetrics_family(&self->m, OPENMETRICS_GAUGE, "g", "", "a\nb\\c\"d");
	EXPECT_TEXT("# HELP g a\\nb\\\\c\\\"d\n# TYPE g gauge\n");
}

TEST_F(text, quotes_in_help_are_as_each_format_wants_them)
{
	self->m.old = true;
	openmetrics_family(&self->m, OPENMETRICS_GAUGE, "g", "", "a\"b");
	EXPECT_TEXT("# HELP g a\"b\n# TYPE g gauge\n");
}

TEST_F(text, a_label_may_hold_anything)
{
	openmetrics_label(self->m.out, "comm", "a\"}\n\\ x\xff");
	openmetrics_label(self->m.out, "b", "");
	EXPECT_TEXT("comm=\"a\\\"}\\n\\\\ x\xef\xbf\xbd\",b=\"\"");
}

TEST_HARNESS_MAIN
