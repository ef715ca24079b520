// SPDX-License-Identifier: GPL-2.0-only
/*
 * The module's ring, interrupted at every step: not at random, but at each place
 * where the code touches what an NMI could touch, one after the other; and each
 * of these NMIs at each of its own steps again.
 *
 * A scenario prepares a ring. Then one sample is taken with an NMI at step i, in
 * which another comes at step j, for all i and j, each time on a fresh ring.
 */
#include "ring_test_core.h"

#include "harness.h"

/* A ring that is broken may never end. */
#undef TEST_TIMEOUT_DEFAULT
#define TEST_TIMEOUT_DEFAULT	60

static struct core core;	/* too large for a stack */
static struct core_check check;

/* Where NMIs come: in the sample, and in the NMI there; 0: none. */
static unsigned int nmi_at[2], steps[2];

static void nmi_at_step(void)
{
	unsigned int depth = core.depth - 1;

	if (depth < 2 && ++steps[depth] == nmi_at[depth])
		core_produce(&core);
}

static void sample_with_nmis(unsigned int first, unsigned int second)
{
	nmi_at[0] = first;
	nmi_at[1] = second;
	steps[0] = steps[1] = 0;
	shim_nmi = nmi_at_step;
	core_produce(&core);
	shim_nmi = NULL;
}

static void sample(void)
{
	core_produce(&core);
}

static void read_all(void)
{
	core.b.tail->tail = core_check_records(&check, core.b.data, core.b.size,
					       core.b.tail->tail, core.b.head->head);
}

static u64 position(void)
{
	return (local64_read(&core.b.word) & ((1ULL << 48) - 1)) << 3;
}

/* What must hold whenever nobody is writing. */
static const char *violation(void)
{
	u64 lost = 0, unreported = 0;

	if (core.b.nest)
		return "a producer is missing";
	if (core.b.head->head != position())
		return "records were not published";
	if (core.b.flight) {
		core_check_start(&check);
		core_check_records(&check, core.b.data, core.b.size, core.b.head->oldest,
				   core.b.head->head);
	} else {
		read_all();
	}
	if (check.error)
		return check.error;
	if (!core_balances(&core, &check))
		return "the counts do not add up";
	for (int i = 0; i < GPROF_LOST_NR; i++) {
		lost += local64_read(&core.b.lost[i]);
		unreported += local64_read(&core.b.unreported[i]);
	}
	if (!core.b.flight && lost != check.lost + unreported)
		return "a loss was told twice, or never";
	return NULL;
}

static unsigned int words;	/* of struct core */

static void begin(bool flight, u64 generation_ns)
{
	core_init(&core, GPROF_BUFFER_MIN, flight, 1, 0);
	core.words = words;
	core.b.generation_ns = generation_ns;
	core_check_start(&check);
}

#define NEVER	(~0ULL >> 1)	/* no generation is cut for its age */

static void empty_ring(void)
{
	begin(false, NEVER);
}

static void some_samples(void)
{
	begin(false, NEVER);
	sample();
	sample();
}

static void generation_due(void)
{
	some_samples();
	core.b.generation_ns = 0;
}

static u64 room(void)
{
	return core.b.size - (position() - (core.b.flight ? core.b.head->oldest :
							    core.b.tail->tail));
}

/*
 * Leaves @left bytes or a few more. Samples differ in length: one that is too
 * long is lost and another tried, until none is short enough.
 */
static void fill(u64 left)
{
	unsigned int failed = 0;

	while (room() > left && failed < 100) {
		u64 before = position();

		sample();
		failed = position() == before ? failed + 1 : 0;
	}
}

static void room_for_one(void)
{
	begin(false, NEVER);
	fill(140);
}

static void room_for_less(void)
{
	begin(false, NEVER);
	fill(24);
}

static void full_and_generation_due(void)
{
	begin(false, NEVER);
	fill(140);
	core.b.generation_ns = 0;
}

static void loss_owed(void)
{
	begin(false, NEVER);
	fill(8);
	sample();
	sample();
	sample();
	read_all();
}

static void loss_owed_and_little_room(void)
{
	u64 pos;

	begin(false, NEVER);
	fill(8);
	sample();
	sample();
	/* the reader gives back some records from the front */
	for (pos = 0; pos < 220;)
		pos = core_check_records(&check, core.b.data, core.b.size, pos,
					 pos + ((struct gprof_rec *)(core.b.data + pos))->size);
	core.b.tail->tail = pos;
}

static void impossible_tail(void)
{
	some_samples();
	read_all();
	core.b.tail->tail += 4096;
	/* Of words that are put until it is looked at again such a reader says that it has them. */
	core.b.quick_end = 0;
}

static void dictionary_nearly_full(void)
{
	begin(false, NEVER);
	core.d.nr_words = 20;
	sample();
	sample();
}

static void flight_empty(void)
{
	begin(true, NEVER);
}

static void flight_full(void)
{
	begin(true, NEVER);
	while (!local64_read(&core.b.overwritten))
		sample();
}

/* The next record gives up a generation. */
static void flight_about_to_give_up(void)
{
	u64 before;

	flight_full();
	do {
		before = core.b.head->oldest;
		sample();
	} while (core.b.head->oldest == before);
	while (room() > 140)
		sample();
}

static void flight_generation_due(void)
{
	flight_about_to_give_up();
	core.b.generation_ns = 0;
}

/* More generations than the ring remembers. */
static void flight_of_tiny_generations(void)
{
	begin(true, 0);
	core.b.size = GPROF_BUFFER_MIN;
	for (int i = 0; i < 2 * GPROF_GENERATIONS; i++)
		sample();
}

static const struct { const char *name; void (*prepare)(void); } scenarios[] = {
	{ "empty ring", empty_ring }, { "some samples", some_samples },
	{ "generation due", generation_due }, { "room for one", room_for_one },
	{ "room for less", room_for_less }, { "full and generation due", full_and_generation_due },
	{ "loss owed", loss_owed }, { "loss owed and little room", loss_owed_and_little_room },
	{ "impossible tail", impossible_tail },
	{ "dictionary nearly full", dictionary_nearly_full }, { "flight, empty", flight_empty },
	{ "flight, full", flight_full }, { "flight, about to give up", flight_about_to_give_up },
	{ "flight, generation due", flight_generation_due },
	{ "flight, tiny generations", flight_of_tiny_generations },
};

/* One run; false when something was wrong. */
static bool run(struct __test_metadata *_metadata, unsigned int n, unsigned int first,
		unsigned int second, unsigned int *taken)
{
	const char *wrong;

	scenarios[n].prepare();
	sample_with_nmis(first, second);
	memcpy(taken, steps, sizeof(steps));
	wrong = violation();
	/* what is wrong inside may show later only */
	for (int i = 0; i < 8 && !wrong; i++) {
		sample();
		wrong = violation();
	}
	EXPECT_EQ(NULL, wrong)
		TH_LOG("%s, NMI at step %u, in it one at step %u, words %u: %s", scenarios[n].name,
		       first, second, words, wrong);
	return !wrong;
}

static unsigned int run_all(struct __test_metadata *_metadata)
{
	unsigned int n, first, second, taken[2], outer, inner, runs = 0;

	for (n = 0; n < ARRAY_SIZE(scenarios); n++) {
		if (!run(_metadata, n, 0, 0, taken))
			continue;
		outer = taken[0];
		for (first = 1; first <= outer; first++) {
			if (!run(_metadata, n, first, 0, taken))
				break;
			inner = taken[1];
			for (second = 1; second <= inner; second++)
				if (!run(_metadata, n, first, second, taken))
					break;
			runs += inner + 1;
			if (second <= inner)
				break;
		}
	}
	return runs;
}

TEST(nmi_at_any_step_in_any_state_harms_nothing)
{
	unsigned int runs;

	words = 0;
	runs = run_all(_metadata);
	TH_LOG("%u runs", runs);
	EXPECT_LE(10000, runs);
}

/* All that can be, and some. */
TEST(nor_where_samples_are_words)
{
	unsigned int runs = 0;

	for (words = 1; words < 3; words++)
		runs += run_all(_metadata);
	words = 0;
	TH_LOG("%u runs", runs);
	EXPECT_LE(10000, runs);
}

/* As long as an outer producer writes, nothing of it and behind it is published. */
static u64 published_before;
static bool published_early;

static void watch_head(void)
{
	shim_nmi = NULL;	/* to look is no step */
	if (core.depth == 1 && core.b.nest && core.b.head->head != published_before &&
	    core.b.head->head != position())
		published_early = true;
	shim_nmi = watch_head;
}

TEST(incomplete_record_is_never_published)
{
	some_samples();
	published_before = core.b.head->head;
	shim_nmi = watch_head;
	core_produce(&core);
	shim_nmi = NULL;
	EXPECT_FALSE(published_early);
	EXPECT_NE(published_before, core.b.head->head);
}

TEST_HARNESS_MAIN
