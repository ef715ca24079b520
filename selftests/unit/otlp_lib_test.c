// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a receiver of OTLP Profiles reads in requests is what is in the profile: they are
 * decoded by the schema, and each sample of one is told beside each of the other.
 */
#include "harness.h"
#include <gprof/otlp.h>
#include <iconv.h>

#include "lib_util.h"
#include "otlp_lines.h"

/* ---- profiles ---- */

static uint32_t random_function(struct gprof_profile *p, uint64_t *seed)
{
	uint64_t n = lib_random(seed) % 40;
	struct gprof_function f = { .start_line = (int64_t)n };
	char text[64];

	sprintf(text, "function_%llu", (unsigned long long)n);
	f.name = f.system_name = gprof_profile_text(p, text);
	if (n % 3 == 0) {
		sprintf(text, "_Zmangled%llu", (unsigned long long)n);
		f.system_name = gprof_profile_text(p, text);
	}
	sprintf(text, "file_%llu.c", (unsigned long long)n % 7);
	f.filename = gprof_profile_text(p, text);
	return gprof_profile_function(p, &f);
}

static void random_locations(struct gprof_profile *p, uint64_t *seed)
{
	static const char *const ids[] = { "0123456789abcdef", "", "Go/build-id", "ABCDEF" };
	struct gprof_line lines[3];
	char text[64];

	for (uint32_t i = 0; i < 4; i++) {
		struct gprof_mapping m = { .start = 0x1000 * (i + 1), .limit = 0x1000 * (i + 2),
					   .offset = i * 4096 };

		sprintf(text, "/usr/lib/lib%u.so", i);
		m.filename = gprof_profile_text(p, text);
		m.build_id = gprof_profile_text(p, ids[i]);
		gprof_profile_add_mapping(p, &m);
	}
	for (uint32_t i = 0; i < 100; i++) {
		uint32_t mapping = i % 5, nr = i % 4;

		gprof_profile_add_location(p, mapping, 0x1000 * mapping + i * 8);
		for (uint32_t j = 0; j < nr; j++)
			lines[j] = (struct gprof_line){ random_function(p, seed), i + j, j };
		gprof_profile_set_lines(p, i, lines, nr);
	}
}

static struct gprof_label label(struct gprof_profile *p, const char *key, const char *text,
				int64_t num, const char *unit)
{
	return (struct gprof_label){ gprof_profile_text(p, key), gprof_profile_text(p, text),
				     gprof_profile_text(p, unit), num };
}

static void random_samples(struct gprof_profile *p, size_t nr, uint64_t *seed)
{
	struct gprof_label labels[8];
	uint32_t stack[24];
	int64_t values[2];
	char text[64];
	size_t i, j, depth, n;

	for (i = 0; i < nr; i++) {
		uint64_t process = lib_random(seed) % 12;

		n = 0;
		depth = lib_random(seed) % 24;
		for (j = 0; j < depth; j++)
			stack[j] = (uint32_t)(lib_random(seed) % 100);
		labels[n++] = label(p, "pid", "", (int64_t)process, "pid");
		labels[n++] = label(p, "cpu", "", (int64_t)(lib_random(seed) % 3), "cpu");
		if (process) {
			sprintf(text, "comm %llu", (unsigned long long)process % 5);
			labels[n++] = label(p, "comm", text, 0, "");
		}
		if (process % 4 == 2) {
			sprintf(text, "process %llu", (unsigned long long)process % 3);
			labels[n++] = label(p, "process.executable.name", text, 0, "");
		}
		if (process > 5) {
			sprintf(text, "service %llu", (unsigned long long)process % 3);
			labels[n++] = label(p, "service.name", text, 0, "");
			if (process % 2)
				labels[n++] = label(p, "service.version", "1.2", 0, "");
		}
		if (i % 7 == 0)
			labels[n++] = label(p, "size", "", (int64_t)i, "bytes");
		values[0] = i % 11 == 0 ? 0 : (int64_t)i;
		values[1] = i % 13 == 0 ? 0 : -(int64_t)i * 1000000007;
		gprof_profile_add_sample(p, stack, depth, labels, n, values);
	}
}

static struct gprof_profile *random_profile(size_t nr)
{
	struct gprof_profile *p = gprof_profile_new();
	uint64_t seed = 4711;

	gprof_profile_add_column(p, "samples", "count");
	gprof_profile_add_column(p, "cpu", "nanoseconds");
	p->period_type = p->columns[1];
	p->period = 10101010;
	p->time_nanos = 1234567890123456789;
	p->duration_nanos = 10000000000;
	gprof_profile_add_comment(p, "a comment");
	random_locations(p, &seed);
	random_samples(p, nr, &seed);
	gprof_profile_finish(p);
	return p;
}

static int export(const struct gprof_profile *p, uint64_t bytes_max, uint32_t samples_max,
		  uint32_t flags, struct read *r, size_t *too_large)
{
	struct gprof_otlp_opts o = {
		.sz = sizeof(o), .host = "here", .id = (const uint8_t *)"0123456789abcdef",
		.bytes_max = bytes_max, .samples_max = samples_max, .flags = flags,
	};
	int ret;

	memset(r, 0, sizeof(*r));
	ret = gprof_otlp_export(p, &o, read_request, r, too_large);
	qsort(r->lines.v, r->lines.nr, sizeof(*r->lines.v), by_text);
	return ret;
}

FIXTURE(sent) {
	struct gprof_profile *p;
	struct lines expected;
	struct read r;
};

FIXTURE_VARIANT(sent) {
	uint64_t bytes;
	uint32_t samples;
	uint32_t flags;
	size_t least;
};

FIXTURE_VARIANT_ADD(sent, in_one) { .least = 1 };
FIXTURE_VARIANT_ADD(sent, by_samples) { .samples = 100, .least = 30 };
FIXTURE_VARIANT_ADD(sent, by_bytes) { .bytes = 20000, .least = 10 };
FIXTURE_VARIANT_ADD(sent, one_by_one) { .samples = 1, .least = 2900 };
FIXTURE_VARIANT_ADD(sent, without_names) { .flags = GPROF_OTLP_NO_NAMES, .least = 1 };

FIXTURE_SETUP(sent)
{
	self->p = random_profile(3000);
	say_profile(self->p, !variant->flags, &self->expected);
}

FIXTURE_TEARDOWN(sent)
{
	gprof_profile_free(self->p);
	free_lines(&self->expected);
	free_read(&self->r);
}

TEST_F(sent, arrives_once)
{
	size_t i, too_large = 1;

	ASSERT_EQ(0, export(self->p, variant->bytes, variant->samples, variant->flags, &self->r,
			    &too_large));
	EXPECT_EQ(0, too_large);
	EXPECT_STREQ("", self->r.wrong);
	EXPECT_EQ(self->p->nr_samples, self->r.samples);
	/* As many as they said. */
	EXPECT_EQ(0, self->r.profiles);
	EXPECT_LE(variant->least, self->r.requests);
	if (variant->bytes)
		EXPECT_GE(variant->bytes, self->r.largest);
	if (variant->samples)
		EXPECT_GE(variant->samples, self->r.most);
	ASSERT_EQ(self->expected.nr, self->r.lines.nr);
	for (i = 0; i < self->expected.nr; i++)
		ASSERT_STREQ(self->expected.v[i], self->r.lines.v[i]);
}

/* A receiver can tell what it has: each profile has an id, its own, the same each time. */
TEST_F(sent, has_ids)
{
	struct read again;

	ASSERT_EQ(0, export(self->p, variant->bytes, variant->samples, variant->flags, &self->r,
			    NULL));
	ASSERT_EQ(0, export(self->p, variant->bytes, variant->samples, variant->flags, &again,
			    NULL));
	ASSERT_LT(0, self->r.ids.nr);
	ASSERT_EQS(self->r.heads.nr, self->r.ids.nr, self->r.ids.nr, again.ids.nr);
	for (size_t i = 0; i < again.ids.nr; i++)
		EXPECT_STREQ(self->r.ids.v[i], again.ids.v[i]);
	qsort(self->r.ids.v, self->r.ids.nr, sizeof(char *), by_text);
	for (size_t i = 1; i < self->r.ids.nr; i++)
		EXPECT_STRNE(self->r.ids.v[i - 1], self->r.ids.v[i]);
	free_read(&again);
}

/* ---- what engines insist on ---- */

static struct gprof_profile *one_sample(const char *type, const char *unit, const char *of,
					int64_t period)
{
	struct gprof_profile *p = gprof_profile_new();
	int64_t value = 5;

	gprof_profile_add_column(p, type, unit);
	p->period_type.type = gprof_profile_text(p, of);
	p->period_type.unit = p->period_type.type ? gprof_profile_text(p, "ns") : 0;
	p->period = period;
	gprof_profile_add_sample(p, NULL, 0, NULL, 0, &value);
	gprof_profile_finish(p);
	return p;
}

TEST(types_and_periods)
{
	static const struct {
		const char *type, *unit, *of;
		int64_t period;
		const char *head;
	} cases[] = {
		{ "cpu", "nanoseconds", "cpu", 1000, "cpu/nanoseconds period 1000 of cpu/ns" },
		{ "branch-misses", "count", "branch-misses", 7,
		  "branch_misses/count period 7 of branch_misses/ns" },
		{ "wait", "nanoseconds", "", 0, "wait/nanoseconds period 1 of wait/nanoseconds" },
		{ "wait", "nanoseconds", "cpu", 0, "wait/nanoseconds period 1 of wait/nanoseconds" },
		{ "wait", "nanoseconds", "", 9, "wait/nanoseconds period 1 of wait/nanoseconds" },
		{ "wait", "nanoseconds", "cpu", -3, "wait/nanoseconds period 1 of wait/nanoseconds" },
		{ "off_cpu", "nanoseconds", "cpu", 9, "off_cpu/nanoseconds period 0" },
		{ "off_cpu", "count", "cpu", 9, "off_cpu/count period 9 of cpu/ns" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct gprof_profile *p = one_sample(cases[i].type, cases[i].unit, cases[i].of,
						     cases[i].period);
		struct read r;

		ASSERT_EQS(0, export(p, 0, 0, 0, &r, NULL), 1, r.heads.nr);
		EXPECT_STREQS(cases[i].head, r.heads.v[0], "", r.wrong);
		free_read(&r);
		gprof_profile_free(p);
	}
}

/* CPU time is there once: as counts with a period, or beside counts without. */
TEST(time_is_not_there_twice)
{
	static const struct { int64_t count, time; size_t nr; const char *heads[2]; } cases[] = {
		{ 3, 30, 1, { "samples/count period 10 of cpu/nanoseconds" } },
		{ 3, 31, 2, { "samples/count period 1 of samples/count",
			      "cpu/nanoseconds period 10 of cpu/nanoseconds" } },
		{ INT64_MAX / 2, -10, 2, { "samples/count period 1 of samples/count",
					   "cpu/nanoseconds period 10 of cpu/nanoseconds" } },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		int64_t values[2] = { cases[i].count, cases[i].time };
		struct gprof_profile *p = gprof_profile_new();
		struct read r;

		gprof_profile_add_column(p, "samples", "count");
		gprof_profile_add_column(p, "cpu", "nanoseconds");
		p->period_type = p->columns[1];
		p->period = 10;
		gprof_profile_add_sample(p, NULL, 0, NULL, 0, values);
		gprof_profile_finish(p);
		ASSERT_EQ(0, export(p, 0, 0, 0, &r, NULL));
		EXPECT_STREQ("", r.wrong);
		ASSERT_EQ(cases[i].nr, r.heads.nr);
		for (size_t j = 0; j < r.heads.nr; j++)
			EXPECT_STREQ(cases[i].heads[j], r.heads.v[j]);
		EXPECT_EQ(2, r.lines.nr);
		free_read(&r);
		gprof_profile_free(p);
	}
}

static size_t taken(const struct gprof_profile *p, const struct gprof_otlp_opts *o, int *ret)
{
	struct read r = { .host = "" };
	size_t samples;

	*ret = gprof_otlp_export(p, o, read_request, &r, NULL);
	samples = *r.wrong ? SIZE_MAX : r.samples;
	free_read(&r);
	return samples;
}

TEST(bad_options_are_refused)
{
	static char longest[300];
	struct gprof_profile *p = one_sample("a", "b", "", 0);
	const struct { struct gprof_otlp_opts o; int err; } cases[] = {
		{ { .sz = 4 }, -EINVAL }, { { .sz = sizeof(cases[0].o), .flags = 2 }, -E2BIG },
		{ { .sz = sizeof(cases[0].o), .bytes_max = 1023 }, -EINVAL },
		{ { .sz = sizeof(cases[0].o), .bytes_max = 1ULL << 31 }, -EINVAL },
		{ { .sz = sizeof(cases[0].o), .host = longest }, -EINVAL },
	};
	int ret;

	memset(longest, 'h', sizeof(longest) - 1);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		EXPECT_EQS(0, taken(p, &cases[i].o, &ret), cases[i].err, ret);
		EXPECT_LT(0, strlen(gprof_error()));
	}
	EXPECT_EQS(1, taken(p, NULL, &ret), 0, ret);
	gprof_profile_free(p);
}

/* An attribute may be there once; what cannot be there counts. */
TEST(second_label_counts_as_dropped)
{
	struct gprof_profile *p = gprof_profile_new();
	struct gprof_label labels[7];
	int64_t value = 1;
	struct read r;

	gprof_profile_add_column(p, "samples", "count");
	labels[0] = label(p, "request", "first", 0, "");
	labels[1] = label(p, "request", "second", 0, "");
	labels[2] = label(p, "pid", "", 1, "pid");
	labels[3] = label(p, "process.pid", "", 2, "");
	labels[4] = label(p, "", "no key", 0, "");
	labels[5] = label(p, "service.name", "shop", 0, "");
	labels[6] = label(p, "service.name", "bank", 0, "");
	gprof_profile_add_sample(p, NULL, 0, labels, 7, &value);
	gprof_profile_finish(p);
	ASSERT_EQ(0, export(p, 0, 0, 0, &r, NULL));
	EXPECT_EQ(4, r.dropped);
	ASSERT_EQ(1, r.lines.nr);
	EXPECT_STREQ("shop  samples/count  request=first process.pid=1 1", r.lines.v[0]);
	free_read(&r);
	gprof_profile_free(p);
}

static bool is_utf8(const char *s)
{
	char out[16384], *to = out, *from = (char *)s;
	size_t in = strlen(s), room = sizeof(out);
	iconv_t cd = iconv_open("UTF-32", "UTF-8");
	bool ok = cd != (iconv_t)-1 && iconv(cd, &from, &in, &to, &room) != (size_t)-1;

	if (cd != (iconv_t)-1)
		iconv_close(cd);
	return ok;
}

TEST(every_byte_may_be_in_a_label)
{
	struct gprof_profile *p = gprof_profile_new();
	char text[256];
	struct gprof_label l;
	int64_t value = 1;
	struct read r;

	for (int i = 1; i < 256; i++)
		text[i - 1] = (char)i;
	text[255] = '\0';
	gprof_profile_add_column(p, text, text);
	l = label(p, text, text, 0, "");
	gprof_profile_add_sample(p, NULL, 0, &l, 1, &value);
	gprof_profile_finish(p);
	ASSERT_EQ(0, export(p, 0, 0, 0, &r, NULL));
	EXPECT_STREQ("", r.wrong);
	ASSERT_EQ(1, r.lines.nr);
	EXPECT_TRUE(is_utf8(r.lines.v[0]));
	/* All that are characters are as they were. */
	text[127] = '\0';
	EXPECT_TRUE(!!strstr(r.lines.v[0], text));
	free_read(&r);
	gprof_profile_free(p);
}

/* ---- large ones ---- */

/* A profile of @nr samples, each at a function of its own with a name of @len bytes. */
static struct gprof_profile *long_names(size_t functions, size_t len, size_t samples)
{
	struct gprof_profile *p = gprof_profile_new();
	char *name = malloc(len + 1);
	uint32_t i, location;
	int64_t value = 1;

	memset(name, 'n', len);
	name[len] = '\0';
	gprof_profile_add_column(p, "samples", "count");
	for (i = 0; i < functions; i++) {
		struct gprof_function f = { 0 };
		struct gprof_line line = { 0 };

		name[0] = (char)('a' + i % 26);
		name[1] = (char)('a' + i / 26 % 26);
		f.name = gprof_profile_text(p, name);
		line.function = gprof_profile_function(p, &f);
		gprof_profile_add_location(p, 0, i + 1);
		gprof_profile_set_lines(p, i, &line, 1);
	}
	for (i = 0; i < samples; i++) {
		struct gprof_label l = label(p, "i", "", i, "i");

		location = i % functions;
		gprof_profile_add_sample(p, &location, 1, &l, 1, &value);
	}
	gprof_profile_finish(p);
	free(name);
	return p;
}

TEST(too_large_samples_are_counted)
{
	struct gprof_profile *p = long_names(4, 3000, 10);
	size_t too_large = 0;
	uint32_t small = 0;
	int64_t value = 7;
	struct read r;

	/* One that is not. */
	gprof_profile_add_sample(p, &small, 0, NULL, 0, &value);
	ASSERT_EQ(0, export(p, 2000, 0, 0, &r, &too_large));
	EXPECT_EQS(10, too_large, 1, r.samples);
	EXPECT_STREQ("", r.wrong);
	EXPECT_GE(2000, r.largest);
	free_read(&r);
	/* Without the names they are not either. */
	ASSERT_EQ(0, export(p, 2000, 0, GPROF_OTLP_NO_NAMES, &r, &too_large));
	EXPECT_EQS(0, too_large, 11, r.samples);
	free_read(&r);
	gprof_profile_free(p);
}

#define DEEP	1000

/* In pprof each sample has a stack of its own, of two bytes a place at least. */
TEST(profiles_are_no_larger_as_pprof)
{
	struct gprof_profile *p = gprof_profile_new();
	uint32_t stack[DEEP], i;
	int64_t value = 1;
	struct read r;

	gprof_profile_add_column(p, "samples", "count");
	for (i = 0; i < DEEP; i++)
		stack[i] = gprof_profile_add_location(p, 0, i + 1);
	for (i = 0; i < 6000; i++) {
		struct gprof_label l = label(p, "i", "", i, "i");

		gprof_profile_add_sample(p, stack, DEEP, &l, 1, &value);
	}
	gprof_profile_finish(p);
	ASSERT_EQ(0, export(p, 0, 0, 0, &r, NULL));
	EXPECT_STREQ("", r.wrong);
	EXPECT_EQ(6000, r.samples);
	EXPECT_GE((4U << 20) / DEEP / 2, r.most);
	EXPECT_EQ(6000, r.lines.nr);
	free_read(&r);
	gprof_profile_free(p);
}

static int count_bytes(void *ctx, const struct gprof_otlp_request *r)
{
	*(uint64_t *)ctx += r->size;
	return 0;
}

/* Who made it so that a request is needed for each sample does not get them. */
TEST(work_is_bounded)
{
	struct gprof_profile *p = long_names(3, 2000000, 20000);
	uint64_t start = lib_cpu_ns(), bytes = 0;

	EXPECT_EQ(-EFBIG, gprof_otlp_export(p, NULL, count_bytes, &bytes, NULL));
	EXPECT_GE(64ULL << 20, bytes / 4);
	EXPECT_GT(LIB_MEMORY(5000000000), lib_cpu_ns() - start);
	EXPECT_TRUE(!!strstr(gprof_error(), "long names"));
	gprof_profile_free(p);
}

TEST(memory_is_bounded)
{
	struct gprof_otlp_opts o = { .sz = sizeof(o) };
	struct gprof_profile *p = random_profile(60000);
	uint64_t bytes = 0;
	size_t items = p->strings.nr + p->nr_functions + p->nr_mappings + p->nr_locations +
		       p->nr_samples;
	struct rlimit limit = { 0 };
	char line[128];
	FILE *f = fopen("/proc/self/statm", "r");
	size_t pages = 0;

	/* The process may have that much more, and no more. */
	ASSERT_TRUE(f && fgets(line, sizeof(line), f));
	fclose(f);
	pages = strtoul(line, NULL, 10);
	limit.rlim_cur = limit.rlim_max = pages * 4096 + items * 32 + (32U << 20);
	if (LIB_MEMORY(1) == 1)
		ASSERT_EQ(0, setrlimit(RLIMIT_AS, &limit));
	EXPECT_EQ(0, gprof_otlp_export(p, &o, count_bytes, &bytes, NULL));
	EXPECT_LT(1000000, bytes);
	gprof_profile_free(p);
}

static int stop_at_second(void *ctx, const struct gprof_otlp_request *r)
{
	(void)r;
	return ++*(int *)ctx == 2 ? 99 : 0;
}

TEST(callback_ends_it)
{
	struct gprof_otlp_opts o = { .sz = sizeof(o), .samples_max = 10 };
	struct gprof_profile *p = random_profile(100);
	int calls = 0;

	EXPECT_EQS(99, gprof_otlp_export(p, &o, stop_at_second, &calls, NULL), 2, calls);
	gprof_profile_free(p);
}

TEST(nothing_is_no_request)
{
	struct gprof_profile *p = gprof_profile_new();
	uint64_t bytes = 0;

	gprof_profile_add_sample(p, NULL, 0, NULL, 0, NULL);
	gprof_profile_finish(p);
	EXPECT_ZEROS(gprof_otlp_export(p, NULL, count_bytes, &bytes, NULL), bytes);
	gprof_profile_free(p);
}

/* ---- answers ---- */

TEST(answers)
{
	static const struct {
		int kind;
		const char *data;
		size_t size;
		int ret;
		int64_t rejected;
		const char *message;
	} cases[] = {
		{ GPROF_OTLP_TAKEN, "", 0, 0, 0, "" },
		{ GPROF_OTLP_TAKEN, "\x0a\x00", 2, 0, 0, "" },
		{ GPROF_OTLP_TAKEN, "\x0a\x09\x08\x03\x12\x05""f\n\xc3\xa4t", 11, 0, 3, "f???t" },
		{ GPROF_OTLP_TAKEN, "<html>", 6, -EBADMSG, 0, "" },
		{ GPROF_OTLP_TAKEN, "\x0a\x7f", 2, -EBADMSG, 0, "" },
		{ GPROF_OTLP_REFUSED, "\x08\x03\x12\x03""bad", 7, 0, 0, "bad" },
		{ GPROF_OTLP_REFUSED, "nonsense", 8, -EBADMSG, 0, "" },
		{ 2, "", 0, -EINVAL, 0, "" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct gprof_otlp_answer a = { .sz = sizeof(a) };

		EXPECT_EQ(cases[i].ret, gprof_otlp_answer(cases[i].data, cases[i].size,
							  cases[i].kind, &a));
		EXPECT_EQ(cases[i].rejected, a.rejected);
		EXPECT_STREQ(cases[i].message, a.message);
	}
}

TEST_HARNESS_MAIN
