// SPDX-License-Identifier: GPL-2.0-only
/*
 * Where addresses are looked up, and what makes two samples two: with records alone,
 * without a program that runs.
 */
#include "harness.h"

#include <gprof/profile_builder.h>
#include <gprof/task.h>
#include <sys/sysmacros.h>

#include "record/builder.h"
#include "jitdump_image.h"
#include "names_image.h"
#include "profile_util.h"
#include "record/report.h"
#include "record/stream.h"
#include "symbol/kernel_table.h"

FIXTURE(resolve) {
	struct gprof_builder b;
	struct gprof_decoder d;
	struct gprof_profile *p;
	uint32_t next_id;
	const char *dir;
};

static int begin_on(FIXTURE_DATA(resolve) *self, uint32_t cpu)
{
	struct gprof_generation_rec g = {
		.rec = { GPROF_REC_GENERATION, 0, sizeof(g) }, .weight = 10, .cpu = cpu,
	};

	return gprof_decoder_feed(&self->d, &g.rec, sizeof(g));
}

FIXTURE_SETUP(resolve)
{
	self->dir = lib_tmpdir();
	ASSERT_NE(NULL, self->dir);
	ASSERT_EQ(0, gprof_builder_init(&self->b));
	gprof_decoder_init(&self->d, &gprof_builder_ops, &self->b);
	ASSERT_EQ(0, begin_on(self, 1));
}

FIXTURE_TEARDOWN(resolve)
{
	gprof_profile_free(self->p);
	gprof_decoder_free(&self->d);
	gprof_builder_free(&self->b);
	lib_sh("rm -rf %s", self->dir);
}

/* What a sample is made of, but for what most have in common. */
struct made {
	struct gprof_process process;
	uint16_t stack_flags;
	uint32_t exec_map_seq;
	uint32_t tid;
	const char *comm;
	uint64_t addr;
	unsigned int times;
	uint64_t time;
	uint64_t last;
	uint64_t frames[3];
};

static void feed(FIXTURE_DATA(resolve) *self, const struct made *m)
{
	struct {
		struct gprof_stack_rec s;
		uint64_t frames[3];
	} r = {
		.s = {
			.rec = { GPROF_REC_STACK, m->stack_flags, sizeof(r) },
			.id = ++self->next_id,
			.exec_map_seq = m->exec_map_seq,
			.process = m->process,
		},
	};
	struct gprof_task_rec t = {
		.rec = { GPROF_REC_TASK, 0, sizeof(t) },
		.process = m->process,
		.tid = m->tid,
	};
	struct {
		struct gprof_sample_rec s;
		uint64_t addr;
	} s = {
		.s = {
			.rec = { GPROF_REC_SAMPLE, m->addr ? GPROF_SAMPLE_REC_F_ADDR : 0,
				 m->addr ? sizeof(s) : sizeof(s.s) },
			.time = m->time ?: 200,
			.tid = m->tid,
			.stack = r.s.id,
		},
		.addr = m->addr,
	};

	for (unsigned int i = 0; i < 3 && m->frames[i]; i++)
		r.frames[r.s.nr_user++] = m->frames[i];
	strcpy(t.comm, m->comm ?: "prog");
	gprof_decoder_feed(&self->d, &t.rec, sizeof(t));
	gprof_decoder_feed(&self->d, &r.s.rec, sizeof(r));
	gprof_decoder_feed(&self->d, &s.s.rec, s.s.rec.size);
	for (unsigned int i = 1; i < m->times; i++)
		gprof_decoder_feed_again(&self->d, &s, sizeof(s.s));
	if (m->last) {
		s.s.time = m->last;
		gprof_decoder_feed_again(&self->d, &s, sizeof(s.s));
	}
}

static void feed_all(FIXTURE_DATA(resolve) *self, const struct made *all, size_t n)
{
	for (; n; n--)
		feed(self, all++);
}

static int make(FIXTURE_DATA(resolve) *self)
{
	struct gprof_columns columns = {
		.count_type = "samples", .weight_type = "cycles", .weight_unit = "count",
		.period = 10,
	};
	int err = gprof_builder_profile(&self->b, &columns, &self->p);

	return err ? err : gprof_profile_finish(self->p);
}

#define ONE	.process = { 7, 1, 1 }, .tid = 7, .exec_map_seq = 5, .frames = { 0x1000, 0x2000 }

TEST_F(resolve, samples_of_before_the_window_are_counted_apart)
{
	self->b.from = 300;
	feed(self, &(struct made){ ONE });
	feed(self, &(struct made){ ONE, .time = 299 });
	feed(self, &(struct made){ ONE, .time = 300 });
	EXPECT_EQ(2, self->b.early);
	ASSERT_EQ(0, make(self));
	EXPECT_TOTALS(self->p, 1);
}

TEST_F(resolve, samples_in_a_row_add_up)
{
	feed(self, &(struct made){ ONE, .times = 4 });
	feed(self, &(struct made){ ONE, .times = 2 });
	ASSERT_EQ(0, make(self));
	EXPECT_EQ(1, self->p->nr_samples);
	EXPECT_TOTALS(self->p, 6, 60);
}

/* As it is asked for while much is recorded, each sample counts as it comes. */
TEST_F(resolve, ends_of_walks_are_those_of_the_samples)
{
	const uint16_t walked = GPROF_STACK_REC_F_TABLES;
	const uint16_t cut = walked | GPROF_STACK_END_PAGE << GPROF_STACK_REC_END_SHIFT;
	struct gprof_stream s = { 0 };
	struct gprof_profile_stack sample;
	char text[GPROF_STACK_ENDS_TEXT];
	uint64_t ends[GPROF_ENDS];
	const char *label;
	int64_t guessed = 0;

	ASSERT_EQ(GPROF_STACK_END_PAGE, GPROF_STACK_REC_END(cut));
	feed(self, &(struct made){ ONE, .times = 4 });
	feed(self, &(struct made){ ONE, .stack_flags = walked, .times = 3 });
	feed(self, &(struct made){ ONE, .stack_flags = cut, .times = 2 });
	feed(self, &(struct made){ ONE, .stack_flags = cut });
	feed(self, &(struct made){ ONE, .stack_flags = cut | GPROF_STACK_REC_F_GUESSED });
	feed(self, &(struct made){ ONE, .stack_flags = walked | GPROF_STACK_REC_F_GUESSED,
				   .times = 5 });
	ASSERT_EQ(0, make(self));
	for (size_t i = 0; !gprof_profile_stack(self->p, i, &sample); i++) {
		label = gprof_profile_label_of(self->p, sample.labels, "stack", NULL);
		if (label && !strcmp(label, "guessed"))
			guessed += sample.values[0];
	}
	EXPECT_EQ(6, guessed);
	s.builder = self->b;
	EXPECT_EQS(12, gprof_stream_stack_ends(&s, ends), 3, ends[GPROF_STACK_REC_END(walked)],
		   4, ends[GPROF_STACK_END_PAGE], 5, ends[GPROF_END_GUESSED]);
	gprof_stack_ends_text(ends, text);
	EXPECT_STREQ("25.00 % of 12 user stacks are complete, 41.67 % with guessed frames; cut: "
		     "page not in memory 4", text);
	gprof_builder_clear(&self->b);
	s.builder = self->b;
	EXPECT_EQ(0, gprof_stream_stack_ends(&s, ends))
		;
	gprof_stack_ends_text(ends, text);
	EXPECT_STREQ("", text);
}

TEST(each_end_of_walks_has_its_words)
{
	const uint64_t ends[GPROF_ENDS] = { 1000, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, [14] = 11 };
	char text[GPROF_STACK_ENDS_TEXT];

	gprof_stack_ends_text(ends, text);
	EXPECT_STREQ("93.81 % of 1066 user stacks are complete; cut: max frames 1, code not known "
		     "yet 2, no unwind table 3, no unwind rule 4, unwind rule not followed 5, page "
		     "not in memory 6, no return address 7, memory out of reach 8, time 9, other "
		     "reasons 10, other reasons 11", text);
	gprof_stack_ends_text((uint64_t[GPROF_ENDS]){
		[1 ... 15] = UINT64_MAX / 16 }, text);
	EXPECT_LT(strlen(text), sizeof(text) - 1);
}

TEST_F(resolve, tables_that_there_is_no_memory_for_are_told)
{
	struct gprof_stream s = {
		.dev = GPROF_OWN_FD_NONE, .name = "cpu", .detail = "", .target = "me", .tables_refused = true,
	};
	const struct gprof_tally t = { 0 };

	ASSERT_ZEROS(make(self), gprof_report(self->p, &s, &t));
	EXPECT_TRUE(profile_says(self->p, "by frame pointers alone"));
}

/* A profile of tasks as text, which is to be freed. */
static char *task_text(FIXTURE_DATA(resolve) *self, enum gprof_task_format format)
{
	int fd = lib_memfd("", 0);
	char *text = calloc(1, 65536);

	if (gprof_task_write(self->p, fd, format) || pread(fd, text, 65535, 0) < 0)
		text[0] = '\0';
	close(fd);
	return text;
}

TEST_F(resolve, text_of_tasks_tells_what_was_lost)
{
	static const enum gprof_task_format formats[] = {
		GPROF_TASK_FORMAT_TEXT, GPROF_TASK_FORMAT_TRACEBACK,
	};
	struct gprof_profile *none = gprof_profile_new();
	char *text;

	feed(self, &(struct made){ ONE });
	feed(self, &(struct made){ ONE, .tid = 8 });
	ASSERT_ZEROS(make(self), gprof_profile_add_comment(self->p, "lost 3 samples: \033[2J"));
	for (size_t i = 0; i < 2; i++)
		self->p->values[i * self->p->nr_columns] = INT64_MAX;
	for (size_t i = 0; i < 2; i++) {
		text = task_text(self, formats[i]);
		EXPECT_EQ('#', text[0]);
		EXPECT_SAYS(text, "\n# lost 3 samples: ?[2J\n\nta");
		if (!i)
			EXPECT_SAYS(text,
				    "task profile: total 9223372036854775807\n\n" "9223372036854775807 @");
		free(text);
		EXPECT_EQ(-EINVAL, gprof_task_write(none, -1, formats[i]));
	}
	gprof_profile_free(none);
}

/* Two in a system call by the same stack, one that runs, and what names may hold. */
TEST_F(resolve, text_of_tasks_is_all_of_it)
{
	static const struct gprof_value_type type = { "tasks", "count" };
	static const struct gprof_profile_builder_config cfg = {
		.sz = sizeof(cfg), .types = &type, .nr_types = 1,
	};
	static const struct gprof_frame asleep[] = {
		{ .function = "schedule", .mapping = "[kernel.kallsyms]", .address = -32ULL },
		{ .function = "do_poll", .mapping = "[kernel.kallsyms]", .address = -16ULL },
		{ .function = "in\033ner", .file = "a.c", .line = 7, .mapping = "/bin/a", .address = 0x20,
		  .inlined = true },
		{ .function = "m\302\205ain\302\251", .file = "a.c", .line = 9, .mapping = "/bin/a",
		  .address = 0x20 },
	};
	static const struct gprof_frame runs[] = { { .function = "spin", .address = 0x30 } };
	static const struct gprof_tag tags[][6] = {
		{ { .key = "state", .text = "sleeping" }, { .key = "comm", .text = "one" },
		  { .key = "tid", .num = 11 }, { .key = "pid", .num = 10 }, { .key = "cpu", .num = 1 },
		  { .key = "since", .num = 999999 } },
		{ { .key = "state", .text = "sleeping" }, { .key = "comm", .text = "two" },
		  { .key = "tid", .num = 12 }, { .key = "pid", .num = 10 }, { .key = "cpu", .num = 0 },
		  { .key = "since", .num = 1000000 } },
		{ { .key = "state", .text = "running" }, { .key = "tid", .num = 13 },
		  { .key = "pid", .num = 13 }, { .key = "cpu", .num = 3 },
		  { .key = "since", .num = 1000000000 } },
	};
	struct gprof_profile_builder *b = gprof_profile_builder_new(&cfg);
	const int64_t tasks = 1, many = 5;
	char *text;

	ASSERT_NE(NULL, b);
	ASSERT_EQ(0, gprof_profile_builder_add(b, runs, 1, tags[2], 5, &tasks));
	ASSERT_EQ(0, gprof_profile_builder_add(b, asleep, 4, tags[0], 6, &tasks));
	ASSERT_EQ(0, gprof_profile_builder_add(b, asleep, 4, tags[1], 6, &many));
	self->p = gprof_profile_builder_finish(b);
	gprof_profile_builder_free(b);
	ASSERT_NE(NULL, self->p);

	text = task_text(self, GPROF_TASK_FORMAT_TEXT);
	EXPECT_STREQ("task profile: total 7\n"
		     "\n6 @ 0xffffffffffffffe0 0xfffffffffffffff0 0x20\n"
		     "#\t0xffffffffffffffe0\tschedule\t[kernel.kallsyms]\n"
		     "#\t0xfffffffffffffff0\tdo_poll\t[kernel.kallsyms]\n"
		     "#\t0x20\tin?ner\ta.c:7\n"
		     "#\t0x20\tm?ain\302\251\ta.c:9\n"
		     "\n1 @ 0x30\n"
		     "#\t0x30\tspin\t?\n", text);
	free(text);
	text = task_text(self, GPROF_TASK_FORMAT_TRACEBACK);
	EXPECT_STREQ("task 13 [running, 1.00 s, CPU 3]: ? (process 13)\n"
		     "    spin  ?  0x30\n"
		     "\n"
		     "task 11 [sleeping, 999 us, CPU 1, do_poll]: one (process 10)\n"
		     "task 12 [sleeping, 1.0 ms, CPU 0, do_poll]: two (process 10)\n"
		     "    schedule  [kernel.kallsyms]  0xffffffffffffffe0\n"
		     "    do_poll  [kernel.kallsyms]  0xfffffffffffffff0\n"
		     "    in?ner (inline)  a.c:7  0x20\n"
		     "    m?ain\302\251  a.c:9  0x20\n"
		     "\n", text);
	free(text);
}

/* What differs in one thing that a profile can tell is not put together. */
TEST_F(resolve, samples_differ_by_each_thing_they_say)
{
	static const struct made all[] = {
		{ ONE },
		{ ONE, .process = { 8, 1, 1 } },
		{ ONE, .tid = 9 },
		{ ONE, .comm = "other" },
		{ ONE, .addr = 0x55 },
		{ ONE, .addr = 0x56 },
		{ ONE, .frames = { 0x1000, 0x2001 } },
		{ ONE, .frames = { 0x1000, 0x2000, 0x3000 } },
		{ ONE, .frames = { 0x1000 } },
	};
	size_t n = ARRAY_SIZE(all);

	feed_all(self, all, n);
	feed_all(self, all, n);
	EXPECT_EQ(n, self->b.nr_counts);
	/* ... and another CPU */
	begin_on(self, 2);
	feed_all(self, all, n);
	EXPECT_EQ(2 * n, self->b.nr_counts);
	ASSERT_EQ(0, make(self));
	EXPECT_EQS(2 * n, self->p->nr_samples, 3 * n, gprof_profile_total(self->p, 0));
}

/* Addresses mean another thing in each of these. */
TEST_F(resolve, stacks_differ_by_each_thing_that_gives_addresses_a_meaning)
{
	static const struct made all[] = {
		{ ONE },
		{ ONE, .process = { 8, 1, 1 } },
		{ ONE, .process = { 7, 2, 1 } },
		{ ONE, .process = { 7, 1, 2 } },
		{ ONE, .exec_map_seq = 6 },
		{ ONE, .stack_flags = GPROF_STACK_REC_F_CALLER },
		{ ONE, .stack_flags = GPROF_STACK_REC_F_USER_CUT },
	};
	size_t n = ARRAY_SIZE(all);

	feed_all(self, all, n);
	feed_all(self, all, n);
	EXPECT_EQS(n, self->b.stacks.nr, 4, self->b.nr_tasks);
}

static void feed_map(FIXTURE_DATA(resolve) *self, struct gprof_process process, uint64_t start,
		     uint64_t end)
{
	struct {
		struct gprof_map_rec m;
		char path[16];
	} r = {
		.m = {
			.rec = { GPROF_REC_MAP, GPROF_MAP_REC_F_FIRST | GPROF_MAP_REC_F_LAST,
				 sizeof(r) },
			.process = process,
			.time = 100,
			.start = start,
			.end = end,
			.exec_map_seq = 5,
		},
		.path = "[area]",
	};

	gprof_decoder_feed(&self->d, &r.m.rec, sizeof(r));
}

static void set_file(struct gprof_map_rec *m, const struct stat *st)
{
	m->inode = st->st_ino;
	m->dev_major = major(st->st_dev);
	m->dev_minor = minor(st->st_dev);
}

/* The frames of the first sample. */
static const char *first_stack(const struct gprof_profile *p)
{
	const struct gprof_sample *s = &p->samples[0];
	static char text[128];

	*text = '\0';
	for (uint32_t i = 0; i < s->nr_locations; i++) {
		const struct gprof_location *l = &p->locations[p->stacks[s->locations + i]];

		sprintf(text + strlen(text), "%u:%llx ", l->mapping,
			(unsigned long long)l->address);
	}
	return text;
}

#define FIRST(want) do {							\
	ASSERT_EQ(0, make(self));						\
	EXPECT_STREQ(want, first_stack(self->p));				\
} while (0)

/* A call that does not return may be the last of a mapping: its frame lies in the call. */
TEST_F(resolve, a_return_address_at_the_end_of_a_mapping_lies_in_it)
{
	feed_map(self, (struct gprof_process){ 7, 1, 1 }, 0x1000, 0x2000);
	feed(self, &(struct made){ ONE });
	FIRST("1:1000 1:1fff ");
}

/* Viewers draw functions: what has none would have no weight. */
TEST_F(resolve, every_location_has_a_function)
{
	feed_map(self, (struct gprof_process){ 7, 1, 1 }, 0x1000, 0x2000);
	feed(self, &(struct made){ ONE, .frames = { 0x1000, 0x5000, 0x1100 } });
	ASSERT_EQS(0, make(self), 3, self->p->nr_locations);
	for (uint32_t i = 0; i < 3; i++) {
		const struct gprof_location *l = &self->p->locations[i];
		const struct gprof_function *f;

		ASSERT_EQ(1, l->nr_lines);
		f = &self->p->functions[self->p->lines[l->lines].function];
		EXPECT_STREQ(l->mapping ? "[area]" : "[unknown]", self->p->strings.v[f->name]);
	}
	/* Which is no name that symbols gave it. */
	EXPECT_FALSE(self->p->mappings[0].has_functions);
}

/* A small file must not make a large profile: of so many places so many have names. */
TEST_F(resolve, names_that_share_one_long_text_are_not_all_put_into_a_profile)
{
	const uint32_t nr = 3000;
	struct {
		struct gprof_map_rec m;
		char path[128];
	} r = { .m = {
			.rec = { GPROF_REC_MAP, GPROF_MAP_REC_F_FIRST | GPROF_MAP_REC_F_LAST,
				 sizeof(r) },
			.process = { 7, 1, 1 },
			.time = 10,
			.start = 0x10000,
			.end = 0x10000 + (1 << 20),
			.offset = NAMES_TEXT,
			.exec_map_seq = 5,
		} };
	const char *said = NULL;
	struct stat st;
	size_t bytes = 0, named = 0, i;

	snprintf(r.m.path, sizeof(r.path), "%s/names", self->dir);
	ASSERT_TRUE(names_write(r.m.path, nr, 60000, ""));
	ASSERT_EQ(0, stat(r.m.path, &st));
	set_file(&r.m, &st);
	ASSERT_EQ(0, gprof_spaces_map(&self->b.spaces, &r.m, r.m.path));
	for (i = 0; i < nr; i++)
		feed(self, &(struct made){ ONE, .frames = { 0x10000 + i * NAMES_STEP } });
	ASSERT_EQ(0, make(self));
	for (i = 0; i < self->p->strings.nr; i++)
		bytes += strlen(self->p->strings.v[i]);
	for (i = 0; i < self->p->nr_functions; i++)
		named += self->p->strings.v[self->p->functions[i].name][0] == 'a';
	for (i = 0; i < self->p->nr_comments; i++)
		if (strstr(self->p->strings.v[self->p->comments[i]], "places have no names"))
			said = self->p->strings.v[self->p->comments[i]];
	EXPECT_LT(2000, named);
	EXPECT_GT(140 << 20, bytes);
	ASSERT_NE(NULL, said);
	EXPECT_EQ(nr, named + strtoul(said, NULL, 10));
}

TEST_F(resolve, a_leaf_is_where_it_is)
{
	feed_map(self, (struct gprof_process){ 7, 1, 1 }, 0x1000, 0x2000);
	feed(self, &(struct made){ ONE, .frames = { 0x2000, 0x1001 } });
	FIRST("0:2000 1:1000 ");
}

/* So it is when the mappings are those of the parent. */
TEST_F(resolve, a_child_is_known_by_addresses_in_its_parents_calls)
{
	feed_map(self, (struct gprof_process){ 6, 1, 1 }, 0x1000, 0x2000);
	feed(self, &(struct made){ ONE, .process = { 7, 1, 2 } });
	FIRST("1:1000 1:1fff ");
}

/* A guessed caller is no witness, and here it is dropped: nothing knows its function. */
TEST_F(resolve, a_guess_does_not_say_whose_child_it_is)
{
	feed_map(self, (struct gprof_process){ 6, 1, 1 }, 0x1000, 0x2000);
	feed(self, &(struct made){ ONE, .process = { 7, 1, 2 },
				   .stack_flags = GPROF_STACK_REC_F_CALLER,
				   .frames = { 0x1000, 0x9000, 0x1801 } });
	FIRST("1:1000 1:1800 ");
}

TEST_F(resolve, a_process_that_is_older_or_has_executed_is_no_child)
{
	static const struct gprof_process others[] = { { 7, 1, 1 }, { 7, 2, 3 } };

	for (size_t i = 0; i < 2; i++) {
		feed_map(self, (struct gprof_process){ 6, 1, 2 }, 0x1000, 0x2000);
		gprof_builder_clear(&self->b);
		feed(self, &(struct made){ ONE, .process = others[i] });
		FIRST("0:1000 0:1fff ");
		gprof_profile_free(self->p);
		self->p = NULL;
	}
}

/* A resolver for whose kernel there are the files in the directory. */
static bool resolver_with_kernel(FIXTURE_DATA(resolve) *self, struct gprof_resolver *r)
{
	const char *proc = lib_text("%s/proc", self->dir), *sys = lib_text("%s/sys", self->dir);
	bool anew = false;

	self->p = gprof_profile_new();
	gprof_profile_add_column(self->p, "a", "u");
	if (gprof_resolver_init(r, self->p, &self->b.spaces, NULL))
		return false;
	self->b.spaces.kernel = gprof_kernel_get(proc, sys, &anew);
	if (!self->b.spaces.kernel)
		return false;
	r->kernel_looked = true;
	r->kernel_mappings = calloc(self->b.spaces.kernel->nr_images, sizeof(*r->kernel_mappings));
	return r->kernel_mappings;
}

TEST_F(resolve, a_kernel_return_address_at_the_end_of_a_function_belongs_to_it)
{
	const uint64_t frames[2] = { 0xffffffff81002000, 0xffffffff81002000 };
	const struct gprof_stack s = { .nr_kernel = 2 };
	struct gprof_resolver r;

	lib_write(self->dir, "proc/kallsyms",
		  "ffffffff81000000 T _text\n"
		  "ffffffff81000000 T _stext\n"
		  "ffffffff81001000 T no_return\n"
		  "ffffffff81002000 t _RNvCskwGfYPst2Cb_3foo4next\n"
		  "ffffffff81003000 T _etext\n");
	ASSERT_TRUE(resolver_with_kernel(self, &r));
	ASSERT_EQS(0, gprof_resolve_stack(&r, &s, frames), 2, r.nr_stack);
	for (size_t i = 0; i < 2; i++) {
		const struct gprof_location *l = &self->p->locations[r.stack[i]];
		const struct gprof_function *f =
			&self->p->functions[self->p->lines[l->lines].function];

		ASSERT_EQ(1, l->nr_lines);
		EXPECT_STREQ(i ? "no_return" : "foo::next", self->p->strings.v[f->name]);
		EXPECT_STREQ(i ? "no_return" : "_RNvCskwGfYPst2Cb_3foo4next",
			     self->p->strings.v[f->system_name]);
	}
	gprof_resolver_free(&r);
}

/* What comes and goes without a word may be another by now where it was read for others. */
TEST_F(resolve, names_of_no_module_are_read_for_each_profile)
{
	const uint64_t frames[2] = { 0xffffffff81001010, 0xff80000000001010 };
	const struct gprof_stack s = { .nr_kernel = 1 };
	struct gprof_resolver r;

	lib_write(self->dir, "proc/kallsyms",
		  "ffffffff81000000 T _text\n"
		  "ffffffff81001000 T schedule\n"
		  "ffffffff81003000 T _etext\n"
		  "ff80000000001000 t bpf_prog_old\t[bpf]\n");
	ASSERT_TRUE(resolver_with_kernel(self, &r));
	for (size_t i = 0; i < 2; i++) {
		ASSERT_EQ(0, gprof_resolve_stack(&r, &s, &frames[i]));
		EXPECT_EQS(i, self->p->locations[r.stack[0]].nr_lines ? 0 : 1, i, r.kernel_anew);
	}
	gprof_resolver_free(&r);
}

TEST_F(resolve, a_place_is_the_same_after_names_were_read_again)
{
	const struct gprof_stack s = { .nr_kernel = 1 };
	struct gprof_kernel *shared;
	uint32_t locations[3], i;
	struct gprof_resolver r;
	bool anew = false;

	shared = gprof_kernel_get("/proc", "/sys", &anew);
	ASSERT_NE(NULL, shared);
	if (shared->hidden) {
		gprof_kernel_put(shared);
		SKIP(return, "the kernel hides its addresses");
	}
	self->p = gprof_profile_new();
	gprof_profile_add_column(self->p, "a", "u");
	ASSERT_EQ(0, gprof_resolver_init(&r, self->p, &self->b.spaces, NULL));
	for (i = 0; i < 3; i++) {
		uint64_t frame = i == 1 ? 0xff80000000001010 : shared->images[0].start + 16;

		ASSERT_EQ(0, gprof_resolve_stack(&r, &s, &frame));
		locations[i] = r.stack[0];
		EXPECT_EQ(i > 0, self->b.spaces.kernel != shared);
	}
	EXPECT_EQS(locations[0], locations[2], 2, self->p->nr_mappings);
	gprof_resolver_free(&r);
	gprof_kernel_put(shared);
}

/* This process has a dump mapped, in which code of 0x1000 takes the place of other code. */
static void *map_dump(FIXTURE_DATA(resolve) *self, const struct gprof_process *id)
{
	struct {
		struct gprof_map_rec m;
		char path[128];
	} r = {
		.m = {
			.rec = { GPROF_REC_MAP, GPROF_MAP_REC_F_FIRST | GPROF_MAP_REC_F_LAST,
				 sizeof(r) },
			.process = *id,
			.time = 10,
			.exec_map_seq = 5,
		},
	};
	struct dump d = { .time = 1000 };
	void *page = MAP_FAILED;
	struct stat st;
	int fd;

	put_header(&d, getpid());
	put_load(&d, 0x1000, 0x40, 1, "early");
	d.time = 1600;
	put_load(&d, 0x1000, 0x40, 2, "middle");
	d.time = 2000;
	put_load(&d, 0x1000, 0x40, 3, "late");
	snprintf(r.path, sizeof(r.path), "%s/jit-%d.dump", self->dir, getpid());
	if (!lib_put(r.path, d.bytes, d.len))
		return page;
	fd = open(r.path, O_RDONLY | O_CLOEXEC);
	if (!fstat(fd, &st))
		page = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
	close(fd);
	r.m.start = (uintptr_t)page;
	r.m.end = r.m.start + 4096;
	set_file(&r.m, &st);
	return gprof_spaces_map(&self->b.spaces, &r.m, r.path) ? MAP_FAILED : page;
}

/* Samples whose leaf is called so. */
static int64_t samples_of(const struct gprof_profile *p, const char *name)
{
	int64_t sum = 0;

	for (size_t i = 0; i < p->nr_samples; i++) {
		const struct gprof_location *l =
			&p->locations[p->stacks[p->samples[i].locations]];

		if (l->nr_lines && !strcmp(name, p->strings.v[p->functions[
						 p->lines[l->lines].function].name]))
			sum += p->values[i * p->nr_columns];
	}
	return sum;
}

TEST_F(resolve, generated_code_is_what_it_was_when_it_was_sampled)
{
	const struct gprof_process id = { getpid(), 1, lib_start_ns(getpid()) };
	void *page = map_dump(self, &id);

	ASSERT_NE(MAP_FAILED, page);
#define AT(caller, ...)								\
	feed(self, &(struct made){ .process = id, .tid = id.pid, .exec_map_seq = 5,	\
				   .frames = { 0x1008, (caller) }, __VA_ARGS__ })
	AT(0x3000, .time = 1500);
	AT(0x4000, .time = 1599);
	AT(0x4000, .time = 1100);
	AT(0x8000, .time = 1600);
	AT(0x5000, .time = 2500, .last = 2600);
	/* One stack, of which nobody knows how often it was which. */
	AT(0x6000, .time = 1700, .last = 2001);
	/* From buffers of two CPUs, the later one first. */
	AT(0x7000, .time = 2500);
	AT(0x7000, .time = 1500);
	ASSERT_EQ(0, make(self));
	EXPECT_EQS(3, samples_of(self->p, "early"), 1, samples_of(self->p, "middle"),
		   2, samples_of(self->p, "late"),
		   4, samples_of(self->p, "[unknown: unmapped or replaced]"));
	munmap(page, 4096);
}

/* The stack is the one of the profile before, its samples are not. */
TEST_F(resolve, generated_code_is_what_it_was_for_each_profile)
{
	const struct gprof_process id = { getpid(), 1, lib_start_ns(getpid()) };
	void *page = map_dump(self, &id);

	ASSERT_NE(MAP_FAILED, page);
	AT(0x3000, .time = 1500);
	ASSERT_EQ(0, make(self));
	EXPECT_EQ(1, samples_of(self->p, "early"));
	gprof_profile_free(self->p);
	self->p = NULL;
	ASSERT_EQ(0, gprof_builder_next(&self->b));
	gprof_decoder_forget(&self->d);
	AT(0x3000, .time = 2500, .last = 2600);
	ASSERT_EQ(0, make(self));
	EXPECT_EQ(2, samples_of(self->p, "late"));
	munmap(page, 4096);
}

/* An address whose newest code was named is told of again, when there is newer code. */
TEST_F(resolve, generated_code_that_came_since_has_its_own_name)
{
	const struct gprof_process id = { getpid(), 1, lib_start_ns(getpid()) };
	const struct gprof_columns columns = {
		.count_type = "samples", .weight_type = "cycles", .weight_unit = "count",
	};
	void *page = map_dump(self, &id);
	struct dump more = { .time = 3000 };
	bool settled[] = { true };
	const char *path = lib_text("%s/jit-%d.dump", self->dir, getpid());
	FILE *f;

	ASSERT_NE(MAP_FAILED, page);
	AT(0x3000, .time = 2500);
	ASSERT_EQ(0, gprof_builder_settle(&self->b, &columns, settled));
	ASSERT_EQ(0, gprof_builder_renumbered(&self->b));
	gprof_decoder_forget(&self->d);
	put_load(&more, 0x1000, 0x40, 4, "latest");
	f = fopen(path, "ae");
	ASSERT_NE(NULL, f);
	ASSERT_EQ(1, fwrite(more.bytes, more.len, 1, f));
	fclose(f);
	AT(0x3000, .time = 3500);
	AT(0x3000, .time = 2500);
	AT(0x4000, .time = 3500);
	AT(0x5000, .time = 2500);
	ASSERT_EQ(0, make(self));
	EXPECT_EQS(2, samples_of(self->p, "late"), 1, samples_of(self->p, "latest"),
		   2, samples_of(self->p, "[unknown: unmapped or replaced]"));
	munmap(page, 4096);
}

TEST_HARNESS_MAIN
