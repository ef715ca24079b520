// SPDX-License-Identifier: GPL-2.0-only
/* trace_annotations_lib_test: numbers of tasks, and annotations that wait. */

#include "trace/write/trace_annotations.h"

#include "harness.h"

FIXTURE(annotations) {
	struct gprof_trace_annotations n;
};

FIXTURE_SETUP(annotations)
{
	gprof_trace_annotations_init(&self->n);
}

FIXTURE_TEARDOWN(annotations)
{
	gprof_trace_annotations_free(&self->n);
}

static const struct gprof_process one = { 100, 1, 5000 }, again = { 100, 1, 9000 },
				  exec = { 100, 2, 5000 };

static uint64_t task(FIXTURE_DATA(annotations) *self, const struct gprof_process *p,
		     uint64_t number, bool begins)
{
	uint64_t id = ~0ULL;

	return gprof_trace_annotations_task(&self->n, p, number, begins, &id) ? ~0ULL : id;
}

TEST_F(annotations, a_task_has_a_number_that_no_other_has)
{
	uint64_t a = task(self, &one, 1, true), b = task(self, &one, 2, true);

	EXPECT_NE(a, b);
	EXPECT_EQS(a, task(self, &one, 1, false), b, task(self, &one, 2, false));
	/* The same number of another program run, and of another process of that pid. */
	EXPECT_LTS(b, task(self, &again, 1, false), b + 1, task(self, &exec, 1, false));
	/* Begun once more: another one. */
	EXPECT_LT(b + 2, task(self, &one, 1, true));
	EXPECT_ZEROS(task(self, &one, 0, false), task(self, &one, 0, true));
}

TEST_F(annotations, old_tasks_are_forgotten_and_those_in_use_are_not)
{
	uint64_t used = task(self, &one, 1, true), idle = task(self, &one, 2, true), i;

	for (i = 0; i < 5ULL * GPROF_TRACE_NOTES_TASKS; i++) {
		ASSERT_NE(~0ULL, task(self, &one, 10 + i, true));
		if (i % 1000 == 0)
			ASSERT_EQ(used, task(self, &one, 1, false));
	}
	EXPECT_LT(idle, task(self, &one, 2, false));
	EXPECT_GE(2ULL * GPROF_TRACE_NOTES_TASKS, self->n.tasks[0].nr + self->n.tasks[1].nr);
}

TEST_F(annotations, they_are_kept_until_they_are_dropped)
{
	union {
		struct gprof_annotation_rec rec;
		char bytes[sizeof(struct gprof_annotation_rec) + 8];
	} a = {
		.rec = {
			.rec = { GPROF_REC_ANNOTATION, GPROF_ANNOTATE_LOG, sizeof(a) },
			.name_size = 4, .text_size = 4, .task = 9,
		},
	};
	uint64_t ids[10], id;

	memcpy(a.bytes + sizeof(a.rec), "nametext", 8);
	for (unsigned int i = 0; i < 10; i++)
		ASSERT_EQ(0, gprof_trace_annotations_add(&self->n, &a.rec, &ids[i]));
	ASSERT_TRUE(gprof_trace_annotations_get(&self->n, ids[3]));
	EXPECT_STREQ("name", gprof_trace_annotations_get(&self->n, ids[3])->name);
	EXPECT_STREQ("text", gprof_trace_annotations_get(&self->n, ids[3])->text);
	EXPECT_FALSE(gprof_trace_annotations_get(&self->n, 0));
	EXPECT_FALSE(gprof_trace_annotations_get(&self->n, 11));
	gprof_trace_annotations_drop(&self->n, ids[3]);
	gprof_trace_annotations_drop(&self->n, ids[3]);
	EXPECT_FALSE(gprof_trace_annotations_get(&self->n, ids[3]));
	ASSERT_EQ(0, gprof_trace_annotations_add(&self->n, &a.rec, &id));
	EXPECT_EQS(ids[3], id, 10, self->n.nr);
}

TEST_HARNESS_MAIN
