// SPDX-License-Identifier: GPL-2.0-only
/*
 * Memory in use over time, of samples and an object table that a random program makes, beside a
 * plain count of the same objects.
 */
#include <string.h>
#include "harness.h"
#include "record/lifetimes.h"

#define SLOTS	24
#define COUNTS	5
#define STEPS	6000
#define MS	1000000ULL

struct table {
	struct gprof_object_table_head head;
	struct gprof_object_slot slots[SLOTS];
};

/**
 * struct model - the program, as a reader with a plain count sees it
 * @in_use: of each count, now
 * @at_peak: of each count, at the peak
 * @begin: of the object in each slot
 * @count: likewise
 * @temporary: of each count
 */
struct model {
	uint64_t in_use[COUNTS];
	uint64_t at_peak[COUNTS];
	uint64_t begin[SLOTS];
	uint32_t count[SLOTS];
	uint64_t temporary[COUNTS];
	uint64_t now, peak, peak_ns;
};

FIXTURE(lifetimes) {
	struct table t;
	struct gprof_object_table table;
	struct gprof_lifetimes l;
	struct model m;
	uint64_t time;
	uint64_t random;
	struct gprof_decoded waiting[64];
	uint32_t counts[64];
	size_t nr_waiting;
};

FIXTURE_SETUP(lifetimes)
{
	memset(self, 0, sizeof(*self));
	self->t.head = (struct gprof_object_table_head){
		.version = GPROF_ABI_VERSION, .header_size = sizeof(self->t.head),
		.slot_size = sizeof(self->t.slots[0]), .nr_slots = SLOTS,
		.slots_offset = offsetof(struct table, slots), .size = sizeof(self->t),
	};
	self->table = (struct gprof_object_table){ &self->t.head, sizeof(self->t) };
	gprof_lifetimes_init(&self->l, true, 0);
	self->time = self->l.from_ns = 1000 * MS;
	self->random = 88172645463325252ULL;
}

FIXTURE_TEARDOWN(lifetimes)
{
	gprof_lifetimes_free(&self->l);
}

static uint64_t draw(FIXTURE_DATA(lifetimes) *self, uint64_t below)
{
	self->random ^= self->random << 13;
	self->random ^= self->random >> 7;
	self->random ^= self->random << 17;
	return self->random % below;
}

/* As the module does; the sample waits in a ring. */
static void begin(FIXTURE_DATA(lifetimes) *self, uint32_t slot, uint64_t bytes, uint32_t count)
{
	struct gprof_object_slot *s = &self->t.slots[slot];
	struct gprof_decoded *d = &self->waiting[self->nr_waiting];

	*d = (struct gprof_decoded){ .time = self->time, .weight = 3, .value = bytes / 3,
				     .ended = s->live ? s->time : 0 };
	s->time = self->time;
	s->value = bytes / 3;
	s->weight = 3;
	s->live = (GPROF_OBJECT_SERIAL(s->live) + 1) << GPROF_OBJECT_SERIAL_SHIFT |
		  GPROF_OBJECT_LIVE | slot;
	d->live = s->live;
	self->counts[self->nr_waiting++] = count;
	self->m.begin[slot] = self->time;
	self->m.count[slot] = count;
	self->m.now += bytes;
	self->m.in_use[count] += bytes;
	if (self->m.now > self->m.peak) {
		self->m.peak = self->m.now;
		self->m.peak_ns = self->time;
		memcpy(self->m.at_peak, self->m.in_use, sizeof(self->m.at_peak));
	}
}

static void end(FIXTURE_DATA(lifetimes) *self, uint32_t slot)
{
	struct gprof_object_slot *s = &self->t.slots[slot];
	uint32_t count = self->m.count[slot];

	s->time = self->time > s->time ? self->time : s->time + 1;
	s->live &= ~GPROF_OBJECT_LIVE;
	self->m.now -= s->value * s->weight;
	self->m.in_use[count] -= s->value * s->weight;
	if (self->time - self->m.begin[slot] < MS)
		self->m.temporary[count] += 3;
}

static bool is_live(const FIXTURE_DATA(lifetimes) *self, uint32_t slot)
{
	return self->t.slots[slot].live & GPROF_OBJECT_LIVE;
}

/* The rings of two CPUs are read one after the other, so that later samples may come first. */
static void read_rings(struct __test_metadata *_metadata, FIXTURE_DATA(lifetimes) *self)
{
	for (size_t odd = 0; odd < 2; odd++)
		for (size_t i = 0; i < self->nr_waiting; i++)
			if (i % 2 != odd)
				ASSERT_EQ(0, gprof_lifetimes_note(&self->l, &self->waiting[i],
								  self->waiting[i].value * 3,
								  self->counts[i]));
	self->nr_waiting = 0;
}

static void look(struct __test_metadata *_metadata, FIXTURE_DATA(lifetimes) *self, uint64_t until)
{
	read_rings(_metadata, self);
	ASSERT_EQ(0, gprof_lifetimes_update(&self->l, &self->table, self->time, until));
}

static void run(struct __test_metadata *_metadata, FIXTURE_DATA(lifetimes) *self, unsigned int nr)
{
	while (nr--) {
		uint32_t slot = (uint32_t)draw(self, SLOTS);

		self->time += 1 + draw(self, draw(self, 4) ? MS / 8 : 40 * MS);
		if (is_live(self, slot))
			end(self, slot);
		else
			begin(self, slot, 3 * (1 + draw(self, 5000)), (uint32_t)draw(self, COUNTS));
		if (self->nr_waiting == 64 || !draw(self, 30))
			look(_metadata, self, self->time - MS);
	}
}

static void expect_model(struct __test_metadata *_metadata, FIXTURE_DATA(lifetimes) *self)
{
	const struct gprof_lifetimes *l = &self->l;
	uint64_t most = 0, temporary = 0;

	EXPECT_EQS(self->m.peak, l->peak, self->m.peak_ns, l->peak_ns, self->m.now, l->now);
	for (uint32_t i = 0; i < COUNTS; i++) {
		struct gprof_in_use part = gprof_lifetimes_part(l, i);

		EXPECT_EQS(self->m.at_peak[i], part.peak_value, self->m.in_use[i], part.value,
			   self->m.temporary[i], part.brief);
		temporary += self->m.temporary[i];
	}
	EXPECT_EQ(temporary, l->brief);
	for (size_t i = 0; i < l->nr_steps; i++)
		most = l->steps[i] > most ? l->steps[i] : most;
	EXPECT_EQ(self->m.peak, most);
	/* The picture has the peak where it was, and goes on to the last look. */
	EXPECT_EQ(most, l->steps[(l->peak_ns - l->from_ns) / l->step_ns]);
	EXPECT_EQ((self->time - l->from_ns) / l->step_ns + 1, l->nr_steps);
}

TEST_F(lifetimes, the_peak_and_its_parts_are_those_of_a_plain_count)
{
	run(_metadata, self, STEPS);
	look(_metadata, self, UINT64_MAX);
	expect_model(_metadata, self);
	EXPECT_EQ(0, self->l.guessed);
	EXPECT_LT(MS, self->l.step_ns);
}

TEST_F(lifetimes, a_step_has_the_most_that_was_in_use_in_it)
{
	static const uint64_t expected[] = { 30, 90, 90, 60, 60, 0, 0, 3 };

	begin(self, 0, 30, 0);
	self->time += MS + MS / 2;
	begin(self, 1, 60, 1);
	self->time += MS;
	end(self, 0);
	self->time += 2 * MS;
	end(self, 1);
	self->time += 3 * MS;
	begin(self, 2, 3, 0);
	look(_metadata, self, UINT64_MAX);
	EXPECT_EQ(8, self->l.nr_steps);
	for (size_t i = 0; i < 8; i++)
		EXPECT_EQ(expected[i], self->l.steps[i]);
	EXPECT_EQS(90, self->l.peak, 6, self->l.peak_weight, 9, self->l.begun, 0, self->l.brief);
	/* Each step is twice as long once there are too many: nothing of the last one is lost. */
	self->time = self->l.from_ns + 511 * MS + MS / 2;
	begin(self, 3, 999, 1);
	self->time += MS;
	end(self, 3);
	look(_metadata, self, UINT64_MAX);
	EXPECT_EQS(2 * MS, self->l.step_ns, 257, self->l.nr_steps, 90, self->l.steps[0],
		   1002, self->l.steps[255]);
}

/* An end whose time went with a lost sample lies between two known ones, and is counted. */
TEST_F(lifetimes, an_end_without_a_time_is_guessed_and_counted)
{
	struct gprof_decoded first;

	begin(self, 0, 300, 0);
	begin(self, 1, 30, 1);
	look(_metadata, self, self->time);
	self->time += MS;
	end(self, 0);
	self->time += MS;
	begin(self, 0, 600, 1);
	self->nr_waiting = 0;
	look(_metadata, self, self->time);
	EXPECT_EQ(0, self->l.guessed);
	self->time += MS;
	look(_metadata, self, self->time);
	EXPECT_EQS(1, self->l.guessed, 30, self->l.now, 330, self->l.peak);
	/* The next one in that slot says when the lost one ended, which says nothing of the first. */
	self->time += MS;
	end(self, 0);
	begin(self, 0, 3, 0);
	look(_metadata, self, UINT64_MAX);
	EXPECT_EQS(1, self->l.guessed, 33, self->l.now);
	/* Of two uses of a slot of which the first is read last. */
	self->time += MS;
	end(self, 1);
	look(_metadata, self, UINT64_MAX);
	self->time++;
	begin(self, 1, 3000, 1);
	self->time += MS;
	end(self, 1);
	self->time++;
	begin(self, 1, 9, 1);
	first = self->waiting[0];
	self->waiting[0] = self->waiting[1];
	self->nr_waiting = 1;
	look(_metadata, self, 0);
	self->waiting[0] = first;
	self->nr_waiting = 1;
	look(_metadata, self, UINT64_MAX);
	EXPECT_EQS(1, self->l.guessed, 12, self->l.now, 3003, self->l.peak);
}

/* A recording that goes on: nothing live is of those counts. */
TEST_F(lifetimes, counts_that_go_take_what_they_have_along)
{
	const uint32_t numbers[COUNTS] = { GPROF_NONE, 1, 0, GPROF_NONE, GPROF_NONE };

	begin(self, 0, 300, 0);
	begin(self, 1, 30, 1);
	begin(self, 2, 6, 2);
	look(_metadata, self, UINT64_MAX);
	ASSERT_EQ(0, gprof_lifetimes_renumber(&self->l, numbers, COUNTS));
	EXPECT_EQS(36, self->l.now, 36, self->l.peak, 6, gprof_lifetimes_part(&self->l, 0).value,
		   30, gprof_lifetimes_part(&self->l, 1).peak_value,
		   0, gprof_lifetimes_part(&self->l, 2).value, 6, self->l.peak_weight);
	self->time += MS;
	end(self, 0);
	end(self, 2);
	self->time++;
	begin(self, 2, 60, 2);
	look(_metadata, self, UINT64_MAX);
	EXPECT_EQS(90, self->l.now, 90, self->l.peak, 0, gprof_lifetimes_part(&self->l, 0).value,
		   60, gprof_lifetimes_part(&self->l, 2).value, 0, self->l.guessed,
		   6, self->l.peak_weight);
}

TEST_HARNESS_MAIN
