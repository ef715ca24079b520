// SPDX-License-Identifier: GPL-2.0-only
/*
 * What takes time from tasks in a trace of the kernel: see kernel_trace.h for what happens in it.
 */
#include "harness.h"
#include <gprof/trace.h>
#include <gprof/utilization.h>

#include "kernel_trace.h"
#include "lib_util.h"

FIXTURE(kernel) {
	struct kernel_trace bytes;
	struct gprof_utilization *u;
	const struct gprof_util_function *f;
	size_t nr;
};

FIXTURE_SETUP(kernel)
{
	kernel_trace_make(&self->bytes);
	self->u = NULL;
}

FIXTURE_TEARDOWN(kernel)
{
	gprof_utilization_free(self->u);
}

/* The sentence of what failed, or NULL. */
static const char *compute(FIXTURE_DATA(kernel) *self, unsigned int flags)
{
	struct gprof_trace *t = gprof_trace_new_memory(self->bytes.bytes, self->bytes.nr, NULL);
	struct gprof_trace_event ev;
	static char why[256];
	int ret = t ? 0 : -1;

	gprof_utilization_free(self->u);
	self->u = gprof_utilization_new(flags);
	while (t && (ret = gprof_trace_next(t, &ev)) > 0)
		if (gprof_utilization_add(self->u, &ev))
			return "an event was refused";
	if (ret)
		snprintf(why, sizeof(why), "%s", gprof_error());
	gprof_trace_free(t);
	if (ret)
		return why;
	return gprof_utilization_finish(self->u, &self->f, &self->nr) ? "no functions" : NULL;
}

/* In units of the trace's clock, from the second change on but for the last. */
static const char *text_of(const struct gprof_util_function *f)
{
	static char text[1024];
	size_t i, n = 0;

	text[0] = '\0';
	for (i = 1; i + 1 < f->nr; i++)
		n += snprintf(text + n, sizeof(text) - n, "%s%lld:%g", i > 1 ? " " : "",
			      (long long)f->changes[i].time / 64, f->changes[i].util);
	return text;
}

static const struct gprof_util_function *function_of(FIXTURE_DATA(kernel) *self, int64_t id)
{
	for (size_t i = 0; i < self->nr; i++)
		if (self->f[i].id == id)
			return &self->f[i];
	return NULL;
}

TEST_F(kernel, each_flag_takes_what_the_kernel_does_for_itself)
{
	static const struct { unsigned int flag; const char *text; } want[] = {
		{ GPROF_UTIL_SWEEP, "10:0.5 20:1" }, { GPROF_UTIL_ASSIST, "30:0.5 50:1" },
		{ GPROF_UTIL_BACKGROUND, "63:0.5 100:1 121:0.5 140:1" },
		{ GPROF_UTIL_STW, "162:0 172:1 180:0 190:1" },
		{ GPROF_UTIL_SWEEP | GPROF_UTIL_ASSIST | GPROF_UTIL_BACKGROUND | GPROF_UTIL_STW,
		  "10:0.5 20:1 30:0.5 50:1 63:0.5 100:1 121:0.5 140:1 162:0 172:1 180:0 190:1" },
	};

	for (size_t i = 0; i < sizeof(want) / sizeof(want[0]); i++) {
		const char *why = compute(self, want[i].flag);

		ASSERT_EQ(NULL, why) TH_LOG("%s", why);
		ASSERT_EQ(1, self->nr);
		EXPECT_STREQ(want[i].text, text_of(&self->f[0]));
	}
}

TEST_F(kernel, only_the_cpu_that_is_taken_loses)
{
	ASSERT_EQS(NULL, compute(self, GPROF_UTIL_SWEEP | GPROF_UTIL_PER_PROC), 2, self->nr);
	EXPECT_STREQ("10:0 20:1", text_of(function_of(self, 0)));
	EXPECT_STREQ("", text_of(function_of(self, 1)));
}

TEST_F(kernel, a_task_loses_while_it_waits_for_a_cpu)
{
	ASSERT_EQ(NULL, compute(self, GPROF_UTIL_PER_TASK));
	EXPECT_STREQ("60:0 102:1 120:0 141:1 160:0 174:1", text_of(function_of(self, 101)));
	EXPECT_STREQ("", text_of(function_of(self, 102)));
	/* The kernel's own threads wait too: from being woken up to running. */
	EXPECT_STREQ("55:0 62:1 110:0 121:1", text_of(function_of(self, 50)));
	ASSERT_EQ(NULL, compute(self, GPROF_UTIL_PER_TASK | GPROF_UTIL_SWEEP | GPROF_UTIL_ASSIST |
				      GPROF_UTIL_STW));
	EXPECT_STREQ("10:0 20:1 30:0 50:1 60:0 102:1 120:0 141:1 160:0 174:1 180:0 190:1",
		     text_of(function_of(self, 101)));
	EXPECT_STREQ("162:0 172:1 180:0 190:1", text_of(function_of(self, 102)));
}
TEST_HARNESS_MAIN
