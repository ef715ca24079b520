// SPDX-License-Identifier: GPL-2.0-only
/*
 * Every member of a profile: what makes two functions, places or samples two, and
 * what is written of them and read again.
 */
#include "harness.h"

#include "profile_util.h"
#include "profile/profile.h"

FIXTURE(profile) {
	struct gprof_profile *p;
	struct gprof_profile *q;
};

FIXTURE_SETUP(profile)
{
	self->p = gprof_profile_new();
	self->q = NULL;
	ASSERT_NE(NULL, self->p);
}

FIXTURE_TEARDOWN(profile)
{
	gprof_profile_free(self->p);
	gprof_profile_free(self->q);
}

#define TEXT(s)		gprof_profile_text(self->p, s)
#define OF(p, n)	((p)->strings.v[n])

TEST_F(profile, every_member_is_written_and_read)
{
	const struct gprof_mapping m[] = {
		{ .start = 0x1000, .limit = 0x2000, .offset = 0x300, .filename = TEXT("file"),
		  .build_id = TEXT("id"), .has_functions = true },
		{ .start = 0x3000, .limit = 0x4000, .filename = TEXT("b"), .has_filenames = true },
		{ .start = 0x5000, .limit = 0x6000, .filename = TEXT("c"), .has_line_numbers = true },
		{ .start = 0x7000, .limit = 0x8000, .filename = TEXT("d"), .has_inline_frames = true },
	};
	const struct gprof_function f = {
		.name = TEXT("name"), .system_name = TEXT("system name"),
		.filename = TEXT("source"), .start_line = 17,
	};
	struct gprof_line lines[2] = { { .line = 23, .column = 5 }, { .line = 29 } };
	struct gprof_label labels[2] = {
		{ .key = TEXT("size"), .unit = TEXT("bytes"), .num = -4096 },
		{ .key = TEXT("thread"), .str = TEXT("worker") },
	};
	const int64_t values[2][2] = { { 3, -7 }, { INT64_MIN, 11 } };
	struct gprof_profile *p = self->p, *q;
	uint32_t stack[2];

	ASSERT_EQ(0, gprof_profile_add_column(p, "a", "ua"));
	ASSERT_EQ(0, gprof_profile_add_column(p, "b", "ub"));
	p->default_type = TEXT("a");
	p->period_type.type = TEXT("pt");
	p->period_type.unit = TEXT("pu");
	p->period = 99;
	p->time_nanos = 1234567890123456789;
	p->duration_nanos = 987654321;
	p->drop_frames = TEXT("drop");
	p->keep_frames = TEXT("keep");
	p->doc_url = TEXT("http://doc");
	for (size_t i = 0; i < 4; i++)
		ASSERT_EQ(i, gprof_profile_add_mapping(p, &m[i]));
	lines[0].function = lines[1].function = gprof_profile_function(p, &f);
	stack[0] = gprof_profile_add_location(p, 1, 0x1100);
	stack[1] = gprof_profile_add_location(p, 4, 0x7100);
	gprof_profile_set_lines(p, stack[0], lines, 2);
	p->locations[stack[1]].folded = true;
	ASSERT_EQ(0, gprof_profile_add_sample(p, stack, 2, labels, 2, values[0]));
	ASSERT_EQ(0, gprof_profile_add_sample(p, stack + 1, 1, NULL, 0, values[1]));
	ASSERT_EQ(0, gprof_profile_finish(p));

	q = self->q = profile_again(p);
	ASSERT_NE(NULL, q);
	ASSERT_EQ(2, q->nr_columns);
	EXPECT_STREQS("a", OF(q, q->columns[0].type), "ua", OF(q, q->columns[0].unit),
		      "b", OF(q, q->columns[1].type), "ub", OF(q, q->columns[1].unit));
	EXPECT_EQ(0, gprof_profile_default_type(q));
	EXPECT_STREQS("pt", OF(q, q->period_type.type), "pu", OF(q, q->period_type.unit));
	EXPECT_EQS(99, q->period, 1234567890123456789, q->time_nanos, 987654321, q->duration_nanos);
	EXPECT_STREQS("drop", OF(q, q->drop_frames), "keep", OF(q, q->keep_frames),
		      "http://doc", OF(q, q->doc_url));
	ASSERT_EQ(4, q->nr_mappings);
	EXPECT_EQS(0x1000, q->mappings[0].start, 0x2000, q->mappings[0].limit,
		   0x300, q->mappings[0].offset);
	EXPECT_STREQS("file", OF(q, q->mappings[0].filename), "id", OF(q, q->mappings[0].build_id));
	for (size_t i = 0; i < 4; i++) {
		EXPECT_EQ(i == 0, q->mappings[i].has_functions);
		EXPECT_EQ(i == 1, q->mappings[i].has_filenames);
		EXPECT_EQ(i == 2, q->mappings[i].has_line_numbers);
		EXPECT_EQ(i == 3, q->mappings[i].has_inline_frames);
	}
	ASSERT_EQ(1, q->nr_functions);
	EXPECT_STREQ("name", OF(q, q->functions[0].name));
	EXPECT_STREQ("system name", OF(q, q->functions[0].system_name));
	EXPECT_STREQ("source", OF(q, q->functions[0].filename));
	EXPECT_EQ(17, q->functions[0].start_line);
	ASSERT_EQ(2, q->nr_locations);
	EXPECT_EQS(1, q->locations[0].mapping, 4, q->locations[1].mapping,
		   0x1100, q->locations[0].address, 0x7100, q->locations[1].address);
	EXPECT_FALSE(q->locations[0].folded);
	EXPECT_TRUE(q->locations[1].folded);
	ASSERT_EQ(2, q->locations[0].nr_lines);
	EXPECT_EQS(0, q->locations[1].nr_lines, 23, q->lines[q->locations[0].lines].line,
		   5, q->lines[q->locations[0].lines].column,
		   29, q->lines[q->locations[0].lines + 1].line);
	ASSERT_EQ(2, q->nr_samples);
	EXPECT_EQ(0, memcmp(values, q->values, sizeof(values)));
	ASSERT_EQS(2, q->samples[0].nr_locations, 1, q->samples[1].nr_locations);
	EXPECT_EQS(0, q->stacks[q->samples[0].locations], 1, q->stacks[q->samples[0].locations + 1],
		   1, q->stacks[q->samples[1].locations]);
	ASSERT_EQ(2, q->label_sets[q->samples[0].labels].nr);
	EXPECT_EQ(0, q->label_sets[q->samples[1].labels].nr);
	EXPECT_STREQS("size", OF(q, q->labels[0].key), "bytes", OF(q, q->labels[0].unit));
	EXPECT_EQS(-4096, q->labels[0].num, 0, q->labels[0].str);
	EXPECT_STREQS("thread", OF(q, q->labels[1].key), "worker", OF(q, q->labels[1].str));
}

/* Two that differ in one member are two, whatever the member; equal ones are one. */
TEST_F(profile, functions_differ_by_each_member)
{
	const struct gprof_function all[] = {
		{ TEXT("a"), TEXT("a"), TEXT("a"), 1 }, { TEXT("b"), TEXT("a"), TEXT("a"), 1 },
		{ TEXT("a"), TEXT("b"), TEXT("a"), 1 }, { TEXT("a"), TEXT("a"), TEXT("b"), 1 },
		{ TEXT("a"), TEXT("a"), TEXT("a"), 2 },
	};

	for (size_t round = 0; round < 2; round++)
		for (size_t i = 0; i < 5; i++)
			EXPECT_EQ(i, gprof_profile_function(self->p, &all[i]));
}

TEST_F(profile, places_differ_by_mapping_and_address)
{
	struct gprof_profile *p = self->p;
	uint32_t l = gprof_profile_add_location(p, 1, 0x10);

	EXPECT_EQ(l, gprof_profile_find_location(p, 1, 0x10));
	EXPECT_EQ(GPROF_NONE, gprof_profile_find_location(p, 2, 0x10));
	EXPECT_EQ(GPROF_NONE, gprof_profile_find_location(p, 1, 0x11));
}

TEST_F(profile, samples_differ_by_stack_and_each_label_and_equal_ones_add_up)
{
	const struct gprof_label labels[] = {
		{ .key = 1, .str = 1, .unit = 1, .num = 1 }, { .key = 2, .str = 1, .unit = 1, .num = 1 },
		{ .key = 1, .str = 2, .unit = 1, .num = 1 }, { .key = 1, .str = 1, .unit = 2, .num = 1 },
		{ .key = 1, .str = 1, .unit = 1, .num = 2 },
	};
	const uint32_t stack[] = { 0, 1, 0 };
	struct gprof_profile *p = self->p;
	int64_t values[2];
	size_t round, i;

	gprof_profile_add_column(p, "a", "u");
	gprof_profile_add_column(p, "b", "u");
	for (i = 0; i < 2; i++)
		gprof_profile_add_location(p, 0, i);
	for (round = 0; round < 3; round++) {
		for (i = 0; i < 5; i++) {
			values[0] = 1 << round;
			values[1] = 100 * (i + 1);
			ASSERT_EQ(0, gprof_profile_add_sample(p, stack, 2, &labels[i], 1, values));
		}
		/* another stack, another order, another length, no label */
		values[1] = -5;
		ASSERT_EQ(0, gprof_profile_add_sample(p, stack, 1, labels, 1, values));
		ASSERT_EQ(0, gprof_profile_add_sample(p, stack + 1, 2, labels, 1, values));
		ASSERT_EQ(0, gprof_profile_add_sample(p, stack, 3, labels, 1, values));
		ASSERT_EQ(0, gprof_profile_add_sample(p, stack, 2, labels, 0, values));
	}
	ASSERT_EQ(9, p->nr_samples);
	for (i = 0; i < 5; i++) {
		EXPECT_EQS(7, p->values[2 * i], 300 * (i + 1), p->values[2 * i + 1]);
	}
	/* Samples share labels that are the same, and nothing else. */
	for (i = 0; i < 5; i++) {
		const struct gprof_label_set *set = &p->label_sets[p->samples[i].labels];
		const struct gprof_label *l = &p->labels[set->first];

		EXPECT_EQS(1, set->nr, labels[i].key, l->key, labels[i].str, l->str,
			   labels[i].unit, l->unit, labels[i].num, l->num);
	}
	EXPECT_EQ(p->samples[5].labels, p->samples[6].labels);
	for (; i < 9; i++)
		EXPECT_EQ(-15, p->values[2 * i + 1]);
	EXPECT_TOTALS(p, 63, 4500 - 60);
}

static int join(void *ctx, const struct gprof_frame *frames, size_t nr, const int64_t *values)
{
	char *text = ctx;

	for (size_t i = 0; i < nr; i++)
		text += sprintf(text, "%s%s ", frames[i].function, frames[i].inlined ? "*" : "");
	return 0;
}

TEST_F(profile, frames_have_the_best_name_there_is)
{
	const struct gprof_mapping m[] = {
		{ .start = 0x1000, .limit = 0x2000, .offset = 0x300, .filename = TEXT("/a/b.so") },
		{ .start = 0x3000, .limit = 0x4000, .filename = TEXT("plain") },
		{ .start = 0x5000, .limit = 0x6000, .offset = 0x10, .filename = TEXT("[kernel.kallsyms]_x") },
		{ .start = 0x7000, .limit = 0x8000 },
	};
	const struct gprof_function f[] = {
		{ .name = TEXT("name"), .system_name = TEXT("_Z4name") },
		{ .system_name = TEXT("_Z5other") },
	};
	struct gprof_profile *p = self->p;
	struct gprof_line lines[2] = { { 0 } };
	const int64_t value = 1;
	struct gprof_profile_stack s;
	struct gprof_frame frames[2];
	char text[256] = "";
	uint32_t stack[7], i;

	gprof_profile_add_column(p, "a", "u");
	for (i = 0; i < 4; i++)
		gprof_profile_add_mapping(p, &m[i]);
	for (i = 0; i < 4; i++)
		stack[i] = gprof_profile_add_location(p, i + 1, 0x1008 + 0x2000 * i);
	stack[4] = gprof_profile_add_location(p, 0, 0xabc);
	stack[5] = gprof_profile_add_location(p, 1, 0x1500);
	lines[0].function = gprof_profile_function(p, &f[0]);
	lines[1].function = gprof_profile_function(p, &f[1]);
	gprof_profile_set_lines(p, stack[5], lines, 2);
	gprof_profile_add_sample(p, stack, 6, NULL, 0, &value);
	gprof_profile_finish(p);
	EXPECT_EQ(0, gprof_profile_each(p, join, text));
	EXPECT_STREQ("[b.so+0x308] [plain+0x8] [kernel.kallsyms+0x5008] 0x7008 0xabc "
		     "name* _Z5other ", text);
	/* By their numbers they are the same. */
	ASSERT_EQ(0, gprof_profile_stack(p, 0, &s));
	EXPECT_EQ(-ENOENT, gprof_profile_stack(p, 1, &s));
	for (i = 0, text[0] = '\0'; i < s.nr_locations; i++) {
		size_t nr = gprof_profile_location(p, s.locations[i], frames, 2);

		EXPECT_EQ(i == 5 ? 2 : 1, nr);
		join(text + strlen(text), frames, nr, NULL);
	}
	EXPECT_STREQ("[b.so+0x308] [plain+0x8] [kernel.kallsyms+0x5008] 0x7008 0xabc "
		     "name* _Z5other ", text);
	/* Where there is no room for all, none is written. */
	frames[0].function = "kept";
	EXPECT_EQ(2, gprof_profile_location(p, stack[5], frames, 1));
	EXPECT_STREQ("kept", frames[0].function);
	EXPECT_EQ(1, gprof_profile_location(p, stack[0], NULL, 0));
	EXPECT_EQ(0, gprof_profile_location(p, 6, frames, 2));
	EXPECT_EQ(0, gprof_profile_location(p, UINT32_MAX, frames, 2));
	EXPECT_EQ(NULL, gprof_profile_label_of(p, s.labels, "tid", NULL));
	EXPECT_EQ(NULL, gprof_profile_label_of(p, s.labels + 1, "tid", NULL));
}

TEST_F(profile, the_type_to_show_is_the_one_it_names_or_the_last)
{
	gprof_profile_add_column(self->p, "a", "u");
	EXPECT_EQ(0, gprof_profile_default_type(self->p));
	gprof_profile_add_column(self->p, "b", "u");
	gprof_profile_add_column(self->p, "c", "u");
	EXPECT_EQ(2, gprof_profile_default_type(self->p));
	self->p->default_type = TEXT("b");
	EXPECT_EQ(1, gprof_profile_default_type(self->p));
	self->p->default_type = TEXT("nothing");
	EXPECT_EQ(2, gprof_profile_default_type(self->p));
}

TEST_HARNESS_MAIN
