// SPDX-License-Identifier: GPL-2.0-only
/*
 * filter_test: which records of a tracepoint pass a filter's comparison, of each kind, at the
 * bounds of each; and which filters are none.
 */
#include "harness.h"
#include "shim/sample.h"

#include <linux/types.h>

/* Its place is taken: it needs users and cgroups. */
#define GPROF_MEMLOCK_H
#define gprof_memory_of(_bytes)		(_bytes)
#define __user
#define GFP_KERNEL_ACCOUNT		0
#define kzalloc(_bytes, _gfp)		calloc(1, _bytes)
#define kfree(_p)			free(_p)
#define copy_from_user(_to, _from, _n)	({ memcpy(_to, _from, _n); 0; })
#define ERR_PTR(_err)			((void *)(long)(_err))
#include "../../kmod/probe/filter.c"

struct task_struct shim_task = { .comm = "prog" };

static const struct {
	int8_t one;
	uint8_t pad;
	int16_t two;
	int32_t four;
	int64_t eight;
	char text[8];
	uint32_t at, near;
	char words[8];
} record = {
	.one = -2, .two = -3, .four = -4, .eight = -5, .text = "abc-d", .words = "xyzuvw",
	.at = 3 << 16 | 32, .near = 4 << 16 | 0,
};

#define PLACE(_member)	offsetof(typeof(record), _member), sizeof(record._member)

struct row {
	uint16_t what, how, offset, size;
	int64_t value;
	const char *text;
	bool holds;
};

static struct gprof_filter_step step_of(const struct row *r)
{
	return (struct gprof_filter_step){
		.what = r->what, .how = r->how, .offset = r->offset, .size = r->size,
		.value = r->text ? 0 : (uint64_t)r->value,
		.length = r->text ? strlen(r->text) : 0,
		.yes = GPROF_FILTER_PASS, .no = GPROF_FILTER_DROP,
	};
}

static bool passes(const struct row *r, uint32_t size)
{
	struct gprof_filter_step step = step_of(r);
	struct gprof_filter *f = gprof_filter_new(&step, 1, r->text, step.length);
	bool passed = gprof_filter_passes(f, &record, size);

	gprof_filter_free(f);
	return passed;
}

TEST(numbers_hold_up_to_their_bounds)
{
	/* below, at and above the bound */
	static const bool holds[][3] = {
		[GPROF_FILTER_EQ] = { 0, 1, 0 }, [GPROF_FILTER_NE] = { 1, 0, 1 },
		[GPROF_FILTER_LT] = { 1, 0, 0 }, [GPROF_FILTER_LE] = { 1, 1, 0 },
		[GPROF_FILTER_GT] = { 0, 0, 1 }, [GPROF_FILTER_GE] = { 0, 1, 1 },
	};
	static const struct { uint16_t offset, size; int64_t is; } places[] = {
		{ PLACE(one), -2 }, { PLACE(two), -3 }, { PLACE(four), -4 }, { PLACE(eight), -5 },
	};

	for (size_t i = 0; i < 4 * 6 * 3 * 2; i++) {
		int by = (int)(i % 3) - 1;
		struct row r = {
			.what = i / 72 ? GPROF_FILTER_SIGNED : GPROF_FILTER_UNSIGNED,
			.how = i / 3 % 6, .offset = places[i / 18 % 4].offset,
			.size = places[i / 18 % 4].size,
		};
		uint64_t mask = r.size == 8 ? UINT64_MAX : (1ULL << 8 * r.size) - 1;

		r.value = places[i / 18 % 4].is - by;
		if (r.what == GPROF_FILTER_UNSIGNED)
			r.value &= mask;
		EXPECT_EQ(holds[r.how][by + 1], passes(&r, sizeof(record)))
			TH_LOG("%u bytes, how %u, by %d", r.size, r.how, by);
	}
}

TEST(texts_are_alike_or_fit_a_pattern)
{
	static const struct row rows[] = {
#define TEXT	GPROF_FILTER_ARRAY, GPROF_FILTER_EQ, PLACE(text), 0
#define GLOB	GPROF_FILTER_ARRAY, GPROF_FILTER_GLOB, PLACE(text), 0
		{ TEXT, "abc-d", true }, { TEXT, "abc-", false }, { TEXT, "abc-de", false },
		{ GPROF_FILTER_ARRAY, GPROF_FILTER_NE, PLACE(text), 0, "abc-d", false },
		{ GPROF_FILTER_TEXT, GPROF_FILTER_EQ, PLACE(at), 0, "xyz", true },
		{ GPROF_FILTER_NEAR, GPROF_FILTER_EQ, PLACE(near), 0, "xyzu", true },
		{ GPROF_FILTER_COMM, GPROF_FILTER_EQ, 0, 0, 0, "prog", true },
		{ GLOB, "abc-d", true }, { GLOB, "*", true }, { GLOB, "a*d", true },
		{ GLOB, "*b*-*", true }, { GLOB, "?????", true }, { GLOB, "????", false },
		{ GLOB, "abc-d*", true }, { GLOB, "b*", false }, { GLOB, "*c", false },
		/* either end of a class, what lies beside it, and what is no class */
		{ GLOB, "[a-c]bc-d", true }, { GLOB, "a[a-b]c-d", true },
		{ GLOB, "[b-c]bc-d", false }, { GLOB, "ab[a-b]-d", false },
		{ GLOB, "[!b-c]bc-d", true }, { GLOB, "[!a]bc-d", false },
		{ GLOB, "abc[a-]d", true }, { GLOB, "abc[]-]d", true }, { GLOB, "[abc-d", false },
		{ GLOB, "\\abc\\-d", true }, { GLOB, "\\*bc-d", false },
		{ GPROF_FILTER_CPU, GPROF_FILTER_LT, 0, 0, 1, NULL, true },
		{ GPROF_FILTER_UNSIGNED, GPROF_FILTER_AND, PLACE(one), 2, NULL, true },
		{ GPROF_FILTER_UNSIGNED, GPROF_FILTER_AND, PLACE(one), 1, NULL, false },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		EXPECT_EQ(rows[i].holds, passes(&rows[i], sizeof(record)))
			TH_LOG("row %zu: %s", i, rows[i].text);
	}
}

/* Nothing behind the end of a record is looked at, whatever it says. */
TEST(what_a_record_does_not_have_passes_nothing)
{
	static const struct row rows[] = {
		{ GPROF_FILTER_SIGNED, GPROF_FILTER_EQ, PLACE(eight), -5 },
		{ GPROF_FILTER_ARRAY, GPROF_FILTER_EQ, PLACE(text), 0, "abc-d" },
		{ GPROF_FILTER_TEXT, GPROF_FILTER_EQ, PLACE(at), 0, "xyz" },
	};
	static const uint32_t ends[] = {
		offsetof(typeof(record), eight) + 8, offsetof(typeof(record), text) + 8, 32 + 3,
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		EXPECT_TRUE(passes(&rows[i], ends[i])) TH_LOG("row %zu", i);
		EXPECT_FALSE(passes(&rows[i], ends[i] - 1)) TH_LOG("row %zu", i);
	}
}

TEST_HARNESS_MAIN
