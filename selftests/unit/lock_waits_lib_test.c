// SPDX-License-Identifier: GPL-2.0-only
/*
 * Waits for locks, divided among the releases: beside a plain count, nanosecond by nanosecond.
 */
#include <string.h>
#include "harness.h"
#include "record/lock_waits.h"

#define COUNTS	8
#define WAITS	60
#define SPAN	400

FIXTURE(lock_waits) {
	struct gprof_lock_waits l;
	int64_t moved[COUNTS];
	uint64_t random;
};

FIXTURE_SETUP(lock_waits)
{
	memset(self, 0, sizeof(*self));
	self->random = 88172645463325252ULL;
}

FIXTURE_TEARDOWN(lock_waits)
{
	gprof_lock_waits_free(&self->l);
}

static uint64_t draw(FIXTURE_DATA(lock_waits) *self, uint64_t below)
{
	self->random ^= self->random << 13;
	self->random ^= self->random >> 7;
	self->random ^= self->random << 17;
	return self->random % below;
}

static void move(void *ctx, uint32_t count, int64_t ns)
{
	((int64_t *)ctx)[count] += ns;
}

static void note(FIXTURE_DATA(lock_waits) *self, uint64_t addr, uint64_t from, uint64_t to,
		 uint32_t count, bool release)
{
	const struct gprof_lock_wait w = {
		.process.pid = 7, .addr = addr, .from = from, .to = to, .weight = 1,
		.count = count, .release = release,
	};

	gprof_lock_waits_note(&self->l, &w);
	/* With its own count before. */
	self->moved[count] += (int64_t)(to - from);
}

/*
 * One (0) holds the lock for 50 ms, and three wait. It wakes the first, which holds it for 1 ms (1),
 * and so on. Without a division the first release had 50 of the 153 ms.
 */
TEST_F(lock_waits, the_long_holder_has_the_time_of_all_its_waiters)
{
	const uint64_t begin = 1ULL << 62;

	note(self, 64, begin, begin + 52, 1, true);
	note(self, 64, begin, begin + 50, 0, true);
	note(self, 64, begin, begin + 51, 1, true);
	ASSERT_EQ(0, gprof_lock_waits_divide(&self->l, move, self->moved));
	EXPECT_EQ(150, self->moved[0]);
	EXPECT_EQ(3, self->moved[1]);
	EXPECT_EQ(0, self->l.nr);
}

/* Neither another lock nor another process with a lock there, and a timeout is no release. */
TEST_F(lock_waits, what_is_no_release_of_the_lock_takes_nothing)
{
	struct gprof_lock_wait other = {
		.process.pid = 8, .addr = 64, .from = 0, .to = 20, .weight = 1, .count = 2,
		.release = true,
	};

	note(self, 64, 0, 100, 0, true);
	note(self, 72, 0, 10, 1, true);
	gprof_lock_waits_note(&self->l, &other);
	self->moved[2] += 20;
	note(self, 64, 0, 30, 3, false);
	ASSERT_EQ(0, gprof_lock_waits_divide(&self->l, move, self->moved));
	EXPECT_EQ(100, self->moved[0]);
	EXPECT_EQ(10, self->moved[1]);
	EXPECT_EQ(20, self->moved[2]);
	EXPECT_EQ(30, self->moved[3]);
}

/* Each ns of a wait is of the first release at or behind its end, or of its own end. */
static void count_plainly(const struct gprof_lock_wait *v, size_t nr, int64_t *sum)
{
	size_t i, j;
	uint64_t t;

	for (i = 0; i < nr; i++) {
		for (t = v[i].from + 1; t <= v[i].to; t++) {
			const struct gprof_lock_wait *first = &v[i];

			for (j = 0; j < nr; j++)
				if (v[j].release && v[j].addr == v[i].addr && v[j].to >= t &&
				    v[j].to < first->to)
					first = &v[j];
			sum[first->count] += (int64_t)v[i].weight;
		}
	}
}

TEST_F(lock_waits, as_a_plain_count_has_it)
{
	struct gprof_lock_wait v[WAITS];
	int64_t wanted[COUNTS];
	bool ends[SPAN];
	size_t round, i;

	for (round = 0; round < 200; round++) {
		memset(self->moved, 0, sizeof(self->moved));
		memset(wanted, 0, sizeof(wanted));
		memset(ends, 0, sizeof(ends));
		for (i = 0; i < WAITS; i++) {
			/* No two at once: which is first then does not matter to the sum. */
			do
				v[i].to = draw(self, SPAN);
			while (ends[v[i].to]);
			ends[v[i].to] = true;
			v[i].process = (struct gprof_process){ .pid = 7 };
			v[i].from = draw(self, v[i].to + 1);
			v[i].addr = draw(self, 3);
			v[i].weight = 1 + draw(self, 3);
			v[i].count = (uint32_t)draw(self, COUNTS);
			v[i].release = draw(self, 4);
			gprof_lock_waits_note(&self->l, &v[i]);
			self->moved[v[i].count] +=
				(int64_t)(v[i].weight * (v[i].to - v[i].from));
		}
		count_plainly(v, WAITS, wanted);
		ASSERT_EQ(0, gprof_lock_waits_divide(&self->l, move, self->moved));
		for (i = 0; i < COUNTS; i++)
			EXPECT_EQ(wanted[i], self->moved[i]);
	}
}

TEST_HARNESS_MAIN
