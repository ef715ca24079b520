// SPDX-License-Identifier: GPL-2.0-only
/* What the trace reader stands on: ids that come and go, and varints. */
#include "harness.h"
#include "lib_util.h"
#include "trace/read/trace_ids.h"
#include "trace/read/trace_wire.h"

#define IDS	997

static uint64_t next_random(uint64_t *state)
{
	*state = *state * 6364136223846793005ULL + 1442695040888963407ULL;
	return *state >> 33;
}

/* Against an array that says of each id whether it is there. */
TEST(ids_come_and_go)
{
	static const uint64_t spread[] = { 1, 64, 1ULL << 32, 0x9e3779b97f4a7c15ULL };
	uint64_t random = 1;

	for (size_t s = 0; s < ARRAY_SIZE(spread); s++) {
		struct gprof_trace_memory m;
		struct gprof_trace_ids t;
		uint32_t there[IDS];
		size_t used = 0;

		gprof_trace_memory_init(&m, 1 << 24);
		gprof_trace_ids_init(&m, &t);
		memset(there, 0xff, sizeof(there));
		for (int i = 0; i < 200000; i++) {
			size_t k = next_random(&random) % IDS;
			uint64_t id = (k - 3) * spread[s];

			ASSERT_EQ(there[k], gprof_trace_ids_get(&t, id));
			if (there[k] != GPROF_NONE) {
				gprof_trace_ids_remove(&t, id);
				there[k] = GPROF_NONE;
				used--;
			} else if (next_random(&random) % 3) {
				ASSERT_EQ(0, gprof_trace_ids_put(&m, &t, id, (uint32_t)i));
				there[k] = (uint32_t)i;
				used++;
			}
			ASSERT_EQ(used, t.used);
		}
		for (size_t k = 0; k < IDS; k++)
			EXPECT_EQ(there[k], gprof_trace_ids_get(&t, (k - 3) * spread[s]));
		gprof_trace_ids_clear(&t);
		EXPECT_EQ(GPROF_NONE, gprof_trace_ids_get(&t, spread[s]));
		gprof_trace_ids_free(&m, &t);
		EXPECT_EQ(0, m.used);
	}
}

TEST(memory_that_is_not_granted_is_not_taken)
{
	struct gprof_trace_memory m;
	struct gprof_trace_arena a = { 0 };
	size_t cap = 0;
	int *p = NULL;

	gprof_trace_memory_init(&m, 1000);
	EXPECT_ERRNO(EFBIG, gprof_trace_alloc(&m, 1001));
	EXPECT_EQS(0, gprof_trace_grow(&m, &p, &cap, 10, sizeof(*p)),
		   -EFBIG, gprof_trace_grow(&m, &p, &cap, 1000, sizeof(*p)),
		   NULL, gprof_trace_arena_alloc(&m, &a, 1), cap * sizeof(*p), m.used,
		   m.used, m.peak);
	gprof_trace_release(&m, p, cap * sizeof(*p));
	EXPECT_EQ(0, m.used);
}

TEST(varint_ends_where_it_says)
{
	static const struct {
		const char *bytes;
		size_t n;
		size_t used;	/* 0: refused */
		uint64_t value;
	} cases[] = {
		{ "\x00", 1, 1, 0 }, { "\x7f\x01", 2, 1, 127 }, { "\x80\x01", 2, 2, 128 },
		{ "\x80\x80\x00", 3, 3, 0 },	/* longer than it need be */
		{ "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 10, 10, UINT64_MAX },
		{ "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02", 10, 0, 0 },
		{ "\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01", 11, 0, 0 }, { "\x80", 1, 0, 0 },
		{ "", 0, 0, 0 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		const unsigned char *p = (const unsigned char *)cases[i].bytes, *end;
		uint64_t v = 0;

		end = gprof_varint(p, p + cases[i].n, &v);
		if (!cases[i].used) {
			EXPECT_EQ(NULL, end);
			continue;
		}
		EXPECT_EQS(p + cases[i].used, end, cases[i].value, v);
	}
}

TEST_HARNESS_MAIN
