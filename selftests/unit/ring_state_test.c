// SPDX-License-Identifier: GPL-2.0-only
/*
 * The module's ring, record by record: what its head page and its generations say,
 * where room ends, to the word, and when the reader is told.
 */
#include "ring_test_core.h"

#include "harness.h"

#define SIZE	GPROF_BUFFER_MIN
#define LONGEST	(SIZE / GPROF_RECORD_PART)
#define NEVER	(~0ULL >> 1)
/* A LOST record has as many reasons as there are. */
#define LOST_BYTES	(sizeof(struct gprof_lost_rec) + GPROF_LOST_NR * sizeof(u64))

static struct core core;	/* too large for a stack */

static void begin(bool flight)
{
	core_init(&core, SIZE, flight, 1, 0);
	core.b.generation_ns = NEVER;
}

static u64 position(void)
{
	return gprof_word_pos(local64_read(&core.b.word));
}

/* One record as a producer writes it, of a type that nobody knows. */
static void *put(u32 size)
{
	struct gprof_rec *rec;

	local64_inc(&core.b.produced);
	gprof_buffer_begin(&core.b, ktime_get_mono_fast_ns());
	rec = gprof_buffer_reserve(&core.b, size, 1);
	if (rec) {
		rec->type = 99;
		rec->flags = 0;
		rec->size = size;
	}
	gprof_buffer_end(&core.b);
	return rec;
}

/* From here on there is one generation. */
static void never_cut(void)
{
	put(8);
	core.b.generation_end = NEVER;
}

/* Leaves no room at all. */
static void fill(struct __test_metadata *_metadata)
{
	never_cut();
	while (position() + LONGEST <= SIZE)
		ASSERT_NE(NULL, put(LONGEST));
	if (position() < SIZE)
		ASSERT_NE(NULL, put(SIZE - position()));
	ASSERT_EQ(SIZE, position());
}

TEST(head_page_says_what_the_ring_is)
{
	for (int flight = 0; flight < 2; flight++) {
		memset(&core, 0, sizeof(core));
		begin(flight);
		core.b.cpu = 5;
		gprof_buffer_init(&core.b);
		EXPECT_EQS(GPROF_ABI_VERSION, core.b.head->version,
			   sizeof(*core.b.head), core.b.head->header_size, 5, core.b.head->cpu,
			   flight ? GPROF_SETUP_F_FLIGHT : 0, core.b.head->flags,
			   PAGE_SIZE, core.b.head->data_offset, SIZE, core.b.head->data_size);
	}
}

TEST(generation_says_its_times_its_cpu_and_what_its_samples_weigh)
{
	const u64 hour = 3600000000000, slack = 60000000000;
	struct gprof_generation_rec *g;
	u64 now, real;
	u64 n;

	begin(false);
	core.b.weight = 12345;
	core.b.cpu = 7;
	core.b.generation_ns = 0;
	for (n = 1; n < 4; n++) {
		g = core.b.data + position();
		/* a time that is long ago: the real one lies as far back */
		now = ktime_get_mono_fast_ns() + hour * n;
		real = ktime_get_real_fast_ns() + hour * n;
		gprof_buffer_begin(&core.b, now);
		gprof_buffer_end(&core.b);
		EXPECT_EQS(GPROF_REC_GENERATION, g->rec.type, 0, g->rec.flags,
			   sizeof(*g), g->rec.size, n, g->generation, now, g->mono_ns);
		EXPECT_LT(real - slack, g->real_ns);
		EXPECT_GT(real + slack, g->real_ns);
		EXPECT_EQS(12345, g->weight, 7, g->cpu);
	}
	EXPECT_EQ(3 * sizeof(*g), core.b.head->head);
}

TEST(generation_goes_on_until_its_time_or_its_part_is_over)
{
	begin(false);
	core.b.generation_ns = 1000;
	EXPECT_EQ(1, gprof_buffer_begin(&core.b, 5000));
	gprof_buffer_end(&core.b);
	EXPECT_EQ(1, gprof_buffer_begin(&core.b, 5999));
	gprof_buffer_end(&core.b);
	/* who took its time before the cut is no reason for another */
	EXPECT_EQ(1, gprof_buffer_begin(&core.b, 4000));
	gprof_buffer_end(&core.b);
	EXPECT_EQ(2, gprof_buffer_begin(&core.b, 6000));
	gprof_buffer_end(&core.b);

	begin(true);
	put(8);
	while (position() < SIZE / GPROF_FLIGHT_PARTS) {
		EXPECT_EQ(1, core.b.generation);
		put(8);
	}
	put(8);
	EXPECT_EQ(2, core.b.generation);
}

/* A clock that jumps back, by however much, begins nothing and dates nothing back. */
TEST(no_record_is_from_before_its_generation)
{
	const u64 back[] = { 1, 999, 1000, 1001, 1000000, 4999999999 };
	u64 end;

	begin(false);
	core.b.generation_ns = 1000;
	ASSERT_EQ(1, gprof_buffer_begin(&core.b, 5000000000));
	EXPECT_EQ(5000000000, gprof_buffer_time(&core.b, 5000000000));
	EXPECT_EQ(5000000999, gprof_buffer_time(&core.b, 5000000999));
	gprof_buffer_end(&core.b);
	end = position();
	for (unsigned int i = 0; i < sizeof(back) / sizeof(back[0]); i++) {
		EXPECT_EQ(1, gprof_buffer_begin(&core.b, 5000000000 - back[i]));
		EXPECT_EQ(5000000000, gprof_buffer_time(&core.b, 5000000000 - back[i]));
		gprof_buffer_end(&core.b);
	}
	EXPECT_EQS(end, position(), 2, gprof_buffer_begin(&core.b, 5000001000));
	gprof_buffer_end(&core.b);
}

TEST(room_ends_at_the_tail_to_the_word)
{
	const struct gprof_lost_rec *lost;
	u64 before;
	char *place;

	begin(false);
	fill(_metadata);
	EXPECT_EQS(NULL, put(8), 1, local64_read(&core.b.lost[GPROF_LOST_FULL]),
		   1, core.b.head->lost[GPROF_LOST_FULL]);
	/* what is owed has to fit too */
	core.b.tail->tail += LOST_BYTES;
	EXPECT_EQS(NULL, put(8), 2, core.b.head->lost[GPROF_LOST_FULL]);
	core.b.tail->tail += 8;
	place = put(8);
	ASSERT_NE(NULL, place);
	EXPECT_EQ(SIZE + LOST_BYTES + 8, position());
	lost = (void *)(place - LOST_BYTES);
	EXPECT_EQS(GPROF_REC_LOST, lost->rec.type, LOST_BYTES, lost->rec.size,
		   2, lost->lost[GPROF_LOST_FULL], 0, lost->lost[GPROF_LOST_BAD_TAIL]);
	/* and is told once */
	core.b.tail->tail = position();
	before = position();
	EXPECT_NE(NULL, put(8));
	EXPECT_EQ(before + 8, position());
	/* the next loss is told alone */
	gprof_buffer_lose(&core.b, GPROF_LOST_NESTED);
	place = put(8);
	lost = (void *)(place - LOST_BYTES);
	EXPECT_EQS(0, lost->lost[GPROF_LOST_FULL], 1, lost->lost[GPROF_LOST_NESTED],
		   2, core.b.head->lost[GPROF_LOST_FULL], 1, core.b.head->lost[GPROF_LOST_NESTED]);
}

/* A word as a producer writes it who finds nothing in the way. */
static bool put_word(void)
{
	return gprof_buffer_put(&core.b, local64_read(&core.b.word), GPROF_REC_SHORT);
}

static void look_ahead(u64 now)
{
	gprof_buffer_begin(&core.b, now);
	gprof_buffer_prefetch(&core.b);
	gprof_buffer_end(&core.b);
}

TEST(word_is_put_where_there_is_room_to_the_word)
{
	begin(false);
	never_cut();
	/* nobody has looked yet */
	EXPECT_FALSE(put_word());
	look_ahead(ktime_get_mono_fast_ns());
	while (position() < SIZE) {
		ASSERT_TRUE(put_word());
		ASSERT_EQS(position(), core.b.head->head, 0, core.b.nest);
	}
	EXPECT_FALSE(put_word());
	EXPECT_EQ(SIZE, position());
	/* what the reader gave back is there when it was looked for */
	core.b.tail->tail = 16;
	EXPECT_FALSE(put_word());
	look_ahead(ktime_get_mono_fast_ns());
	EXPECT_TRUES(put_word(), put_word());
	EXPECT_FALSE(put_word());
	EXPECT_EQ(SIZE + 16, position());
}

TEST(word_is_not_put_where_something_is_in_the_way)
{
	static const u64 tails[] = { 8, 1ULL << 40, 3, -(u64)SIZE - 8 };
	u64 before;

	begin(false);
	look_ahead(5000);
	EXPECT_TRUE(put_word());
	before = position();
	/* it interrupts another producer, of whom nothing is learned either */
	gprof_buffer_begin(&core.b, 5000);
	EXPECT_FALSE(put_word());
	core.b.quick_end = 0;
	look_ahead(5000);
	EXPECT_EQ(0, core.b.quick_end);
	gprof_buffer_end(&core.b);
	look_ahead(5000);
	EXPECT_TRUE(put_word());
	EXPECT_EQ(before + 8, position());
	/* another has written since the word was read */
	EXPECT_FALSE(gprof_buffer_put(&core.b, local64_read(&core.b.word) - 1, GPROF_REC_SHORT));
	EXPECT_EQS(0, core.b.nest, before + 8, position());
	/* a loss is to be told first */
	gprof_buffer_lose(&core.b, GPROF_LOST_NESTED);
	EXPECT_FALSE(put_word());
	look_ahead(5000);
	EXPECT_FALSE(put_word());
	EXPECT_NE(NULL, put(8));
	look_ahead(5000);
	EXPECT_TRUE(put_word());

	for (unsigned int i = 0; i < sizeof(tails) / sizeof(*tails); i++) {
		begin(false);
		look_ahead(5000);
		core.b.quick_end = 0;
		core.b.tail->tail = position() + tails[i];
		look_ahead(5000);
		EXPECT_FALSE(put_word());
	}
}

/* As far as it was looked ahead, and no further, though numbers of generations come again. */
TEST(word_is_not_put_beyond_its_generation)
{
	u64 part = SIZE / GPROF_FLIGHT_PARTS;

	begin(true);
	look_ahead(5000);
	while (position() < part)
		ASSERT_TRUE(put_word());
	EXPECT_FALSE(put_word());
	EXPECT_EQ(1, core.b.generation);

	begin(false);
	core.b.generation = 0xfffe;
	core.b.generation_ns = 1000;
	look_ahead(5000);
	EXPECT_EQ(0xffff, gprof_word_generation(local64_read(&core.b.word)));
	EXPECT_TRUE(put_word());
	gprof_buffer_begin(&core.b, 6000);
	gprof_buffer_end(&core.b);
	EXPECT_EQ(0, gprof_word_generation(local64_read(&core.b.word)));
	EXPECT_FALSE(put_word());
}

/* Of a flight ring as of others: what is told when something else is published. */
TEST(word_is_counted_and_published_with_what_has_changed)
{
	begin(true);
	look_ahead(5000);
	local64_inc(&core.b.produced);
	ASSERT_TRUE(put_word());
	EXPECT_EQS(1, core.b.head->produced, 1, local64_read(&core.b.generations[1].samples));
	core.b.recount = true;
	core.b.look_at = 0;
	local64_set(&core.b.lost[GPROF_LOST_FULL], 3);
	ASSERT_TRUE(put_word());
	EXPECT_EQ(3, core.b.head->lost[GPROF_LOST_FULL]);
	EXPECT_FALSE(core.b.recount);
	EXPECT_EQ(core.b.wake_at, core.b.look_at);
}

TEST(record_is_a_part_of_the_ring_at_most)
{
	for (int flight = 0; flight < 2; flight++) {
		begin(flight);
		EXPECT_EQS(NULL, put(LONGEST + 8), 1, local64_read(&core.b.lost[GPROF_LOST_FULL]));
		EXPECT_NE(NULL, put(LONGEST - LOST_BYTES));
		EXPECT_NE(NULL, put(LONGEST));
	}
}

TEST(bad_tail_is_a_loss_of_its_own)
{
	static const u64 tails[] = {
		8, 64 * SIZE, 1ULL << 40, 1ULL << 63, 3, -4, -(u64)SIZE - 8, -2 * (u64)SIZE,
	};

	for (unsigned int i = 0; i < sizeof(tails) / sizeof(*tails); i++) {
		begin(false);
		put(LONGEST);
		core.b.tail->tail = position() + tails[i];
		EXPECT_EQS(NULL, put(8), 1, core.b.head->lost[GPROF_LOST_BAD_TAIL],
			   0, core.b.head->lost[GPROF_LOST_FULL]);
	}
}

TEST(reader_is_told_once_for_each_half)
{
	u64 tail, end;

	begin(false);
	never_cut();
	for (tail = 0; tail < 4 * SIZE; tail += SIZE / 2) {
		core.b.tail->tail = tail;
		shim_readable = 0;
		end = tail + SIZE / 2;
		while (position() < end) {
			EXPECT_EQ(0, shim_readable);
			EXPECT_FALSE(gprof_buffer_readable(&core.b));
			put(8);
		}
		EXPECT_EQ(1, shim_readable);
		EXPECT_TRUE(gprof_buffer_readable(&core.b));
		/* a reader that takes its time is not told again and again */
		while (position() < end + 256)
			put(8);
		EXPECT_EQS(1, shim_readable, end + SIZE / 2, core.b.wake_at);
	}
	/* Of a flight ring nobody waits for the end. */
	begin(true);
	shim_readable = 0;
	while (position() < 2 * SIZE)
		put(LONGEST);
	EXPECT_EQ(0, shim_readable);
	EXPECT_FALSE(gprof_buffer_readable(&core.b));
}

TEST(reader_that_is_called_reads_all_there_was)
{
	begin(false);
	put(8);
	shim_readable = 0;
	gprof_buffer_call(&core.b);
	put(8);
	EXPECT_EQ(1, shim_readable);
	core.b.tail->tail = position() - 24;
	EXPECT_TRUE(gprof_buffer_readable(&core.b));
	core.b.tail->tail = position() - 8;
	EXPECT_FALSE(gprof_buffer_readable(&core.b));
	begin(true);
	put(8);
	shim_readable = 0;
	gprof_buffer_call(&core.b);
	EXPECT_EQ(0, shim_readable);
	EXPECT_FALSE(gprof_buffer_readable(&core.b));
}

TEST(flight_ring_says_what_it_gave_up)
{
	u64 samples = 0;

	begin(true);
	core.b.tail->tail = ~0ULL;	/* is nobody's here */
	while (position() < 3 * SIZE) {
		ASSERT_NE(NULL, put(LONGEST));
		samples++;
		EXPECT_EQ(samples, core.b.head->produced);
		EXPECT_GE(SIZE, position() - core.b.head->oldest);
		EXPECT_EQ((u64)local64_read(&core.b.overwritten), core.b.head->overwritten);
	}
	EXPECT_LT(0, core.b.head->overwritten);
	EXPECT_EQ(0, core.b.head->lost[GPROF_LOST_BAD_TAIL]);
	/* a generation has one sample here: as many are left as there are */
	EXPECT_EQ(samples, core.b.head->overwritten +
		  (core.b.generation - local64_read(&core.b.first) + 1));
}

TEST_HARNESS_MAIN
