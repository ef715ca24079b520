// SPDX-License-Identifier: GPL-2.0-only
/* Profiles that a program builds, merges and subtracts, through the public interface. */
#include "harness.h"
#include <gprof/profile_builder.h>

#include "profile_util.h"
#include "profile/pprof_into.h"
#include "profile/profile.h"

static const struct gprof_value_type two_types[] = { { "jobs", "count" }, { "time", "ns" } };

static struct gprof_profile_builder *builder(const char *default_type)
{
	struct gprof_profile_builder_config cfg = {
		.sz = sizeof(cfg), .types = two_types, .nr_types = 2,
		.default_type = default_type, .period_type = { "jobs", "count" }, .period = 3,
	};

	return gprof_profile_builder_new(&cfg);
}

/* Each sample as a line "frames [label] values", in the order of the profile. */
struct shown {
	const struct gprof_profile *p;
	size_t nr_types;
	char *end;
	char text[4096];
};

static int show_sample(void *ctx, const struct gprof_frame *frames, size_t nr,
		       const int64_t *values)
{
	static const char *const keys[] = { "customer", "bytes", "pprof::base" };
	struct shown *s = ctx;

	for (size_t i = 0; i < nr; i++)
		s->end += sprintf(s->end, "%s%s@%llx/%s:%lld ", frames[i].inlined ? "*" : "",
				  frames[i].function, (unsigned long long)frames[i].address,
				  frames[i].mapping, (long long)frames[i].line);
	for (size_t i = 0; i < 3; i++) {
		int64_t num = 0;
		const char *text = gprof_profile_label(s->p, keys[i], &num);

		if (text)
			s->end += sprintf(s->end, "%s=%s%lld ", keys[i], text, (long long)num);
	}
	for (size_t i = 0; i < s->nr_types; i++)
		s->end += sprintf(s->end, "%lld%s", (long long)values[i],
				  i + 1 < s->nr_types ? " " : "\n");
	return 0;
}

static const char *show(const struct gprof_profile *p)
{
	static struct shown s;
	const struct gprof_value_type *types;

	s.p = p;
	s.nr_types = gprof_profile_types(p, &types);
	s.end = s.text;
	s.text[0] = '\0';
	return gprof_profile_each(p, show_sample, &s) ? "the walk failed" : s.text;
}

/* One sample, with a stack of one function and perhaps a label. */
static int add(struct gprof_profile_builder *b, const char *function, const char *customer,
	       int64_t jobs, int64_t ns)
{
	const struct gprof_frame frames[] = { { .function = function }, { .function = "main" } };
	const struct gprof_tag tag = { .key = "customer", .text = customer };
	const int64_t values[] = { jobs, ns };

	return gprof_profile_builder_add(b, frames, 2, &tag, !!customer, values);
}

TEST(what_is_built_is_there_is_written_and_read)
{
	const struct gprof_frame frames[] = {
		{ .function = "tiny", .file = "t.h", .line = 4, .inlined = true },
		{ .function = "leaf", .file = "l.c", .line = 9, .mapping = "/bin/x", .address = 0x123 },
		{ .address = 0xabc }, { .function = "main", .mapping = "/bin/x" },
	};
	const struct gprof_tag tags[] = {
		{ .key = "customer", .text = "17" }, { .key = "bytes", .unit = "bytes", .num = -5 },
	};
	const int64_t values[] = { 1, 100 };
	static const char want[] =
		"*tiny@123//bin/x:4 leaf@123//bin/x:9 0xabc@abc/:0 main@0//bin/x:0 "
		"customer=170 bytes=-5 2 200\n"
		"1 100\n";
	struct gprof_profile_builder *b = builder("jobs");
	struct gprof_profile *p, *q;
	int64_t start, duration;

	ASSERT_NE(NULL, b);
	EXPECT_EQ(0, gprof_profile_builder_add(b, frames, 4, tags, 2, values));
	EXPECT_EQ(0, gprof_profile_builder_add(b, frames, 4, tags, 2, values));
	EXPECT_EQ(0, gprof_profile_builder_add(b, NULL, 0, NULL, 0, values));
	EXPECT_EQ(0, gprof_profile_builder_comment(b, "a comment"));
	gprof_profile_builder_time(b, 1700000000000000000, 5);
	p = gprof_profile_builder_finish(b);
	ASSERT_NE(NULL, p);
	EXPECT_STREQ(want, show(p));
	EXPECT_EQ(0, gprof_profile_default_type(p));
	EXPECT_STREQ("a comment", gprof_profile_comment(p, 0));
	gprof_profile_time(p, &start, &duration);
	EXPECT_EQS(1700000000000000000, start, 5, duration);
	q = profile_again(p);
	ASSERT_NE(NULL, q);
	EXPECT_STREQ(want, show(q));
	gprof_profile_free(p);
	gprof_profile_free(q);

	/* The next one begins empty, and is of the same kind. */
	EXPECT_EQ(0, add(b, "next", NULL, 7, 8));
	p = gprof_profile_builder_finish(b);
	ASSERT_NE(NULL, p);
	EXPECT_STREQ("next@0/:0 main@0/:0 7 8\n", show(p));
	EXPECT_EQS(0, gprof_profile_default_type(p), NULL, gprof_profile_comment(p, 0));
	gprof_profile_free(p);
	gprof_profile_builder_free(b);
	gprof_profile_builder_free(NULL);
}

TEST(what_makes_no_sense_is_refused_with_a_sentence)
{
	const struct gprof_frame nothing = { .line = 5 };
	const struct gprof_frame inlined = { .function = "f", .inlined = true };
	const struct gprof_tag no_key = { .text = "x" };
	const struct gprof_value_type twice[] = { { "a", "b" }, { "a", "c" } };
	const int64_t values[] = { 1, 1 };
	struct gprof_profile_builder_config cfg = { .sz = sizeof(cfg) };
	struct gprof_profile_builder *b = builder(NULL);

	ASSERT_NE(NULL, b);
	EXPECT_EQ(-EINVAL, gprof_profile_builder_add(b, &nothing, 1, NULL, 0, values));
	EXPECT_SAYS(gprof_error(), "neither a function nor an address");
	EXPECT_EQ(-EINVAL, gprof_profile_builder_add(b, &inlined, 1, NULL, 0, values));
	EXPECT_SAYS(gprof_error(), "inlined into none");
	EXPECT_EQ(-EINVAL, gprof_profile_builder_add(b, NULL, 0, &no_key, 1, values));
	EXPECT_SAYS(gprof_error(), "no key");
	gprof_profile_builder_free(b);

	EXPECT_ERRNO(EINVAL, gprof_profile_builder_new(&cfg));
	EXPECT_SAYS(gprof_error(), "at least one type");
	cfg.types = twice;
	cfg.nr_types = 2;
	EXPECT_EQ(NULL, gprof_profile_builder_new(&cfg));
	EXPECT_SAYS(gprof_error(), "one name");
	EXPECT_EQ(NULL, builder("bytes"));
	EXPECT_SAYS(gprof_error(), "default type");
	EXPECT_ERRNO(EINVAL, gprof_profile_merge(NULL, 0));
}

FIXTURE(two) {
	struct gprof_profile *a;
	struct gprof_profile *b;
	struct gprof_profile *out;
};

FIXTURE_SETUP(two)
{
	struct gprof_profile_builder *b = builder(NULL);

	ASSERT_NE(NULL, b);
	self->out = NULL;
	add(b, "same", "x", 5, 50);
	add(b, "same", "y", 1, 10);
	add(b, "gone", "x", 2, 20);
	gprof_profile_builder_comment(b, "both");
	gprof_profile_builder_comment(b, "first");
	gprof_profile_builder_time(b, 2000, 7);
	self->a = gprof_profile_builder_finish(b);
	add(b, "new", NULL, 4, 40);
	add(b, "same", "x", 5, 51);
	add(b, "same", "y", 1, 10);
	gprof_profile_builder_comment(b, "second");
	gprof_profile_builder_comment(b, "both");
	gprof_profile_builder_time(b, 1000, 9);
	self->b = gprof_profile_builder_finish(b);
	gprof_profile_builder_free(b);
	ASSERT_NE(NULL, self->a);
	ASSERT_NE(NULL, self->b);
}

FIXTURE_TEARDOWN(two)
{
	gprof_profile_free(self->a);
	gprof_profile_free(self->b);
	gprof_profile_free(self->out);
}

TEST_F(two, merged_add_up)
{
	const struct gprof_profile *both[] = { self->a, self->b };
	int64_t start, duration;

	self->out = gprof_profile_merge(both, 2);
	ASSERT_NE(NULL, self->out);
	EXPECT_STREQ("same@0/:0 main@0/:0 customer=x0 10 101\n"
		     "same@0/:0 main@0/:0 customer=y0 2 20\n"
		     "gone@0/:0 main@0/:0 customer=x0 2 20\n"
		     "new@0/:0 main@0/:0 4 40\n", show(self->out));
	EXPECT_EQS(18, gprof_profile_total(self->out, 0), 18, gprof_profile_whole(self->out, 0));
	gprof_profile_time(self->out, &start, &duration);
	EXPECT_EQS(1000, start, 16, duration);
	EXPECT_STREQ("both", gprof_profile_comment(self->out, 0));
	EXPECT_STREQ("first", gprof_profile_comment(self->out, 1));
	EXPECT_STREQ("second", gprof_profile_comment(self->out, 2));
	EXPECT_EQ(NULL, gprof_profile_comment(self->out, 3));
}

TEST_F(two, a_difference_keeps_the_base_apart)
{
	self->out = gprof_profile_diff(self->b, self->a, 0);
	ASSERT_NE(NULL, self->out);
	EXPECT_STREQ("new@0/:0 main@0/:0 4 40\n"
		     "same@0/:0 main@0/:0 customer=x0 5 51\n"
		     "same@0/:0 main@0/:0 customer=y0 1 10\n"
		     "same@0/:0 main@0/:0 customer=x0 pprof::base=true0 -5 -50\n"
		     "same@0/:0 main@0/:0 customer=y0 pprof::base=true0 -1 -10\n"
		     "gone@0/:0 main@0/:0 customer=x0 pprof::base=true0 -2 -20\n",
		     show(self->out));
	EXPECT_EQS(2, gprof_profile_total(self->out, 0), 8, gprof_profile_whole(self->out, 0),
		   80, gprof_profile_whole(self->out, 1));
}

TEST_F(two, what_is_subtracted_cancels_out)
{
	self->out = gprof_profile_diff(self->b, self->a, GPROF_DIFF_SUBTRACT);
	ASSERT_NE(NULL, self->out);
	EXPECT_STREQ("new@0/:0 main@0/:0 4 40\n"
		     "same@0/:0 main@0/:0 customer=x0 0 1\n"
		     "gone@0/:0 main@0/:0 customer=x0 -2 -20\n", show(self->out));
	EXPECT_EQS(6, gprof_profile_whole(self->out, 0), 61, gprof_profile_whole(self->out, 1));
	EXPECT_ERRNO(EINVAL, gprof_profile_diff(self->b, self->a, 1U << 31));
}

TEST_F(two, the_same_code_at_another_place_is_the_same)
{
	/* one file of two pages, mapped at two addresses; another build of it */
	static const struct { uint64_t start; const char *id; } maps[] = {
		{ 0x10000, "aa" }, { 0x70000, "aa" }, { 0x10000, "bb" },
	};
	struct gprof_profile *p[3];

	for (size_t i = 0; i < 3; i++) {
		const int64_t value = 1;
		uint32_t l;

		p[i] = gprof_profile_new();
		ASSERT_NE(NULL, p[i]);
		ASSERT_EQ(0, gprof_profile_add_column(p[i], "a", "u"));
		gprof_profile_add_mapping(p[i], &(struct gprof_mapping){
			.start = maps[i].start, .limit = maps[i].start + 0x1fff,
			.filename = gprof_profile_text(p[i], i == 1 ? "/x/y" : "/x/z"),
			.build_id = gprof_profile_text(p[i], maps[i].id) });
		l = gprof_profile_add_location(p[i], 1, maps[i].start + 0x20);
		ASSERT_EQ(0, gprof_profile_add_sample(p[i], &l, 1, NULL, 0, &value));
		ASSERT_EQ(0, gprof_profile_finish(p[i]));
	}
	self->out = gprof_profile_merge((const struct gprof_profile *const *)p, 3);
	ASSERT_NE(NULL, self->out);
	EXPECT_EQ(2, self->out->nr_mappings);
	EXPECT_STREQ("[z+0x20]@10020//x/z:0 2\n[z+0x20]@10020//x/z:0 1\n", show(self->out));
	for (size_t i = 0; i < 3; i++)
		gprof_profile_free(p[i]);
}

TEST_F(two, types_that_are_not_in_all_are_left_out)
{
	const struct gprof_value_type types[] = { { "time", "ns" }, { "other", "x" } };
	struct gprof_profile_builder_config cfg = {
		.sz = sizeof(cfg), .types = types, .nr_types = 2, .default_type = "other",
		.period_type = { "jobs", "count" },
	};
	struct gprof_profile_builder *b = gprof_profile_builder_new(&cfg);
	struct gprof_profile *p, *q;
	const struct gprof_profile *all[2];

	ASSERT_NE(NULL, b);
	ASSERT_EQ(0, add(b, "same", "x", 100, 1));
	p = gprof_profile_builder_finish(b);
	ASSERT_NE(NULL, p);
	all[0] = p;
	all[1] = self->a;
	self->out = gprof_profile_merge(all, 2);
	ASSERT_NE(NULL, self->out);
	EXPECT_STREQ("same@0/:0 main@0/:0 customer=x0 150\n"
		     "same@0/:0 main@0/:0 customer=y0 10\n"
		     "gone@0/:0 main@0/:0 customer=x0 20\n", show(self->out));
	EXPECT_EQ(0, gprof_profile_default_type(self->out));
	gprof_profile_builder_free(b);

	/* nothing in common; and of another event */
	cfg.types = types + 1;
	cfg.nr_types = 1;
	b = gprof_profile_builder_new(&cfg);
	q = gprof_profile_builder_finish(b);
	all[0] = q;
	EXPECT_ERRNO(EINVAL, gprof_profile_merge(all, 2));
	EXPECT_SAYS(gprof_error(), "in common");
	gprof_profile_builder_free(b);
	gprof_profile_free(q);
	cfg.period_type.type = "cycles";
	b = gprof_profile_builder_new(&cfg);
	q = gprof_profile_builder_finish(b);
	all[0] = q;
	EXPECT_EQ(NULL, gprof_profile_merge(all, 2));
	EXPECT_SAYS(gprof_error(), "one profile is of cycles, another of jobs");
	gprof_profile_builder_free(b);
	gprof_profile_free(p);
	gprof_profile_free(q);
}

/* A file in memory. */
struct file {
	char v[8192];
	size_t len;
};

static int put(void *ctx, const void *data, size_t len)
{
	struct file *f = ctx;

	if (len > sizeof(f->v) - f->len)
		return -ENOSPC;
	memcpy(f->v + f->len, data, len);
	f->len += len;
	return 0;
}

static int sum_add(struct gprof_profile_sum *s, const struct gprof_profile *p, unsigned int flags)
{
	struct file f = { .len = 0 };
	int err = gprof_profile_write_to(p, put, &f);

	return err ? err : gprof_profile_sum_add(s, f.v, f.len, flags);
}

/* One sample of a type, of an event. */
static struct gprof_profile *odd(const char *type, const char *event)
{
	const struct gprof_value_type types[] = { { type, "count" } };
	struct gprof_profile_builder_config cfg = {
		.sz = sizeof(cfg), .types = types, .nr_types = 1, .period_type = { event, "count" },
	};
	struct gprof_profile_builder *b = gprof_profile_builder_new(&cfg);
	struct gprof_profile *p = b && !add(b, "odd", "x", 100, 1) ? gprof_profile_builder_finish(b) :
								     NULL;

	gprof_profile_builder_free(b);
	return p;
}

/* Whatever they have in common, and in whatever order; who has nothing is left out. */
TEST_F(two, a_sum_of_files_is_what_they_are_merged)
{
	struct gprof_profile *others[] = { odd("time", "other"), odd("odd", "jobs") };
	const struct gprof_value_type types[] = { { "time", "ns" }, { "other", "x" } };
	struct gprof_profile_builder_config cfg = {
		.sz = sizeof(cfg), .types = types, .nr_types = 2, .default_type = "other",
		.period_type = { "jobs", "count" }, .period = 900,
	};
	struct gprof_profile_builder *b = gprof_profile_builder_new(&cfg);
	struct gprof_profile *all[6];
	struct gprof_profile_sum *s;
	struct gprof_profile *sum;
	char want[4096];
	size_t nr, i;

	ASSERT_NE(NULL, b);
	ASSERT_EQ(0, add(b, "same", "x", 100, 1));
	self->b->period = 5;
	all[0] = all[3] = self->a;
	all[1] = all[4] = self->b;
	all[2] = gprof_profile_builder_finish(b);
	gprof_profile_builder_free(b);
	all[5] = all[2];
	for (nr = 1; nr <= 6; nr++) {
		int64_t start[2], duration[2];

		self->out = gprof_profile_merge((const struct gprof_profile *const *)all, nr);
		ASSERT_NE(NULL, self->out);
		snprintf(want, sizeof(want), "%s", show(self->out));
		s = gprof_profile_sum_new();
		ASSERT_NE(NULL, s);
		for (i = 0; i < nr; i++) {
			ASSERT_EQ(0, sum_add(s, all[i], 0));
			/* what is no profile leaves it as it was */
			EXPECT_EQ(-EBADMSG, gprof_profile_sum_add(s, "rubbish", 7, 0));
			/* nor does one that does not go with it, or has no types */
			EXPECT_EQ(-EINVAL, sum_add(s, others[0], 0));
			EXPECT_SAYS(gprof_error(),
				    "the file is of other, those before are of jobs");
			EXPECT_EQ(-EINVAL, sum_add(s, others[1], 0));
			EXPECT_EQ(-EINVAL, gprof_profile_sum_add(s, "\x32\0", 2, 0));
		}
		sum = gprof_profile_sum_end(s);
		ASSERT_NE(NULL, sum);
		EXPECT_STREQ(want, show(sum));
		gprof_profile_time(self->out, &start[0], &duration[0]);
		gprof_profile_time(sum, &start[1], &duration[1]);
		EXPECT_EQS(start[0], start[1], duration[0], duration[1]);
		for (i = 0; gprof_profile_comment(self->out, i); i++)
			EXPECT_STREQ(gprof_profile_comment(self->out, i),
				     gprof_profile_comment(sum, i));
		EXPECT_EQ(NULL, gprof_profile_comment(sum, i));
		EXPECT_EQ(self->out->nr_locations, sum->nr_locations);
		EXPECT_EQ(self->out->nr_functions, sum->nr_functions);
		EXPECT_EQS(gprof_profile_default_type(self->out), gprof_profile_default_type(sum),
			   nr < 2 ? 3 : nr < 3 ? 5 : 900, sum->period,
			   sum->period, self->out->period);
		gprof_profile_free(sum);
		gprof_profile_free(self->out);
		self->out = NULL;
	}
	gprof_profile_free(all[2]);
	gprof_profile_free(others[0]);
	gprof_profile_free(others[1]);
	s = gprof_profile_sum_new();
	EXPECT_ERRNO(EINVAL, gprof_profile_sum_end(s));
}

/* Many files of many names, of which each is no larger than it may be. */
/* One sample, of a program whose files have @nr_types types; what is in use is in the first. */
static struct gprof_profile *heap(size_t nr_types, int64_t in_use, int64_t allocated)
{
	static const struct gprof_value_type types[] = {
		{ "inuse_space", "bytes" }, { "alloc_space", "bytes" }, { "inuse_objects", "count" },
	};
	const struct gprof_profile_builder_config cfg = {
		.sz = sizeof(cfg), .types = types, .nr_types = nr_types, .period_type = types[1],
	};
	struct gprof_profile_builder *b = gprof_profile_builder_new(&cfg);
	const struct gprof_frame frame = { .function = "f" };
	const int64_t values[] = { in_use, allocated, 1 };
	struct gprof_profile *p = NULL;

	if (b && !gprof_profile_builder_add(b, &frame, 1, NULL, 0, values))
		p = gprof_profile_builder_finish(b);
	gprof_profile_builder_free(b);
	return p;
}

/* Also where the files have not all the same types. */
TEST(what_is_in_use_is_of_the_last_file)
{
	static const size_t nr_types[][4] = { { 2, 2, 2, 2 }, { 2, 3, 2, 3 }, { 3, 2, 2, 3 } };
	static const char *const with[] = {
		"f@0/:0 1 10\n", "f@0/:0 2 30\n", "f@0/:0 4 70\n", "f@0/:0 8 150\n",
	};
	static const char *const without[] = {
		"f@0/:0 1 10\n", "f@0/:0 3 30\n", "f@0/:0 7 70\n", "f@0/:0 15 150\n",
	};

	for (size_t i = 0; i < 6; i++) {
		for (size_t nr = 2; nr <= 4; nr++) {
			struct gprof_profile_sum *s = gprof_profile_sum_new();
			struct gprof_profile *p;

			for (size_t k = 0; k < nr; k++) {
				p = heap(nr_types[i / 2][k], 1 << k, 10 << k);
				ASSERT_EQ(0, sum_add(s, p, i % 2 ? GPROF_SUM_LAST_IN_USE : 0));
				gprof_profile_free(p);
			}
			p = gprof_profile_sum_end(s);
			ASSERT_NE(NULL, p);
			EXPECT_STREQ(i % 2 ? with[nr - 1] : without[nr - 1], show(p))
				TH_LOG("%zu: %zu", i, nr);
			gprof_profile_free(p);
		}
	}
}

TEST(what_is_added_at_a_time_says_so)
{
	static const struct gprof_value_type types[] = { { "samples", "count" } };
	static const struct gprof_tag tags[] = { { .key = "time", .num = 5 }, { .key = "pid", .num = 9 } };
	static const struct {
		int64_t at;
		size_t nr_tags;
		int64_t said;
	} files[] = { { 7, 2, 7 }, { 8, 0, 8 }, { -1, 2, 5 }, { 0, 2, 0 } };
	const struct gprof_frame frame = { .function = "f" };

	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		struct gprof_profile_builder_config cfg = {
			.sz = sizeof(cfg), .types = types, .nr_types = 1,
			.period_type = types[0], .period = 1,
		};
		struct gprof_profile_builder *b = gprof_profile_builder_new(&cfg);
		struct gprof_profile_sum *s = gprof_profile_sum_new();
		struct gprof_profile_stack stack;
		int64_t time = -1, pid = -1;
		struct gprof_profile *p;

		gprof_profile_builder_add(b, &frame, 1, tags, files[i].nr_tags, (int64_t[]){ 3 });
		gprof_profile_builder_add(b, &frame, 1, tags, files[i].nr_tags, (int64_t[]){ 4 });
		p = gprof_profile_builder_finish(b);
		gprof_profile_builder_free(b);
		gprof_profile_sum_time(s, files[i].at);
		ASSERT_EQ(0, sum_add(s, p, 0));
		gprof_profile_free(p);
		p = gprof_profile_sum_end(s);
		ASSERT_EQ(0, gprof_profile_stack(p, 0, &stack));
		EXPECT_EQ(7, stack.values[0]);
		gprof_profile_label_of(p, stack.labels, "time", &time);
		EXPECT_EQ(files[i].said, time);
		EXPECT_EQ(files[i].nr_tags > 0, gprof_profile_label_of(p, stack.labels, "pid", &pid) != NULL);
		gprof_profile_free(p);
	}
}

/* More turns than there are sums that wait for the end. */
TEST(kinds_of_files_may_take_turns)
{
	struct gprof_profile_sum *s = gprof_profile_sum_new();
	struct gprof_profile *p;

	for (size_t k = 0; k < 40; k++) {
		p = heap(2 + k % 2, 1, 10);
		ASSERT_EQ(0, sum_add(s, p, 0));
		gprof_profile_free(p);
	}
	p = gprof_profile_sum_end(s);
	ASSERT_NE(NULL, p);
	EXPECT_STREQ("f@0/:0 40 400\n", show(p));
	gprof_profile_free(p);
}

TEST_F(two, a_sum_of_files_has_its_bounds)
{
	struct gprof_profile *p = gprof_profile_new();
	struct file f = { .len = 0 };
	struct gprof_locations places;

	ASSERT_NE(NULL, p);
	gprof_locations_init(&places, p);
	ASSERT_EQ(0, gprof_profile_write_to(self->a, put, &f));
	EXPECT_EQ(0, gprof_pprof_read_into(p, &places, f.v, f.len));
	p->budget.used += 4ULL << 30;
	EXPECT_EQ(-EFBIG, gprof_pprof_read_into(p, &places, f.v, f.len));
	EXPECT_SAYS(gprof_error(), "more memory than");
	p->budget.used -= 4ULL << 30;
	gprof_locations_free(&places);
	gprof_profile_free(p);
}

/* Mapped at another address, and half of it read before the file turns out to be none. */
TEST_F(two, a_sum_of_files_has_the_same_code_once)
{
	static const uint64_t starts[] = { 0x10000, 0x70000 };
	struct gprof_profile_sum *s = gprof_profile_sum_new();

	for (size_t i = 0; i < 2; i++) {
		const int64_t values[] = { 1, 10 + (int64_t)i };
		struct gprof_profile *p = gprof_profile_new();
		struct file f = { .len = 0 };
		uint32_t l;

		ASSERT_NE(NULL, p);
		ASSERT_EQ(0, gprof_profile_add_column(p, "a", "u"));
		ASSERT_EQ(0, gprof_profile_add_column(p, "inuse_a", "u"));
		gprof_profile_add_mapping(p, &(struct gprof_mapping){
			.start = starts[i], .limit = starts[i] + 0x1fff,
			.filename = gprof_profile_text(p, "/x/z"),
			.build_id = gprof_profile_text(p, "aa") });
		l = gprof_profile_add_location(p, 1, starts[i] + 0x20);
		ASSERT_ZEROS(gprof_profile_add_sample(p, &l, 1, NULL, 0, values),
			     gprof_profile_finish(p), gprof_profile_write_to(p, put, &f));
		f.v[f.len - 5] ^= 1;
		EXPECT_EQ(-EBADMSG, gprof_profile_sum_add(s, f.v, f.len, GPROF_SUM_LAST_IN_USE));
		EXPECT_EQ(0, sum_add(s, p, GPROF_SUM_LAST_IN_USE));
		gprof_profile_free(p);
	}
	self->out = gprof_profile_sum_end(s);
	ASSERT_NE(NULL, self->out);
	EXPECT_EQ(1, self->out->nr_mappings);
	/* of what is in use there is what was so last */
	EXPECT_STREQ("[z+0x20]@10020//x/z:0 2 11\n", show(self->out));
}

TEST(sums_that_do_not_fit_stay_at_the_limit)
{
	struct gprof_profile_builder *b = builder(NULL);
	struct gprof_profile *p, *q;

	ASSERT_NE(NULL, b);
	add(b, "f", NULL, INT64_MAX, INT64_MIN);
	p = gprof_profile_builder_finish(b);
	q = gprof_profile_merge((const struct gprof_profile *const[]){ p, p }, 2);
	ASSERT_NE(NULL, q);
	EXPECT_TOTALS(q, INT64_MAX, INT64_MIN);
	EXPECT_EQ(INT64_MAX, gprof_profile_whole(q, 1));
	gprof_profile_free(q);
	q = gprof_profile_diff(p, p, 0);
	ASSERT_NE(NULL, q);
	EXPECT_EQS(INT64_MAX, gprof_profile_whole(q, 1), 0, gprof_profile_total(q, 0));
	gprof_profile_free(p);
	gprof_profile_free(q);
	gprof_profile_builder_free(b);
}

TEST_HARNESS_MAIN
