// SPDX-License-Identifier: GPL-2.0-only
/*
 * The module's dictionary: keys are told apart though their hashes are equal, and
 * an NMI at any step of a look-up gets ids of its own.
 */
#include "harness.h"
#include "../../kmod/ring/dictionary.c"	/* its hash is needed, to find equal ones */

#define SLOTS	256
#define WORDS	4096

static struct gprof_dictionary dict;
static local64_t slots[SLOTS];
static u64 arena[WORDS];

static void begin(u32 nr_slots, u32 nr_words)
{
	memset(slots, 0, sizeof(slots));
	memset(arena, 0, sizeof(arena));
	dict = (struct gprof_dictionary){
		.slots = slots, .nr_slots = nr_slots, .arena = arena, .nr_words = nr_words,
	};
}

/* Looks a key up and makes it known. */
static u32 add(u16 generation, const u64 *key, u32 words, bool *known)
{
	struct gprof_lookup l;

	gprof_dictionary_lookup(&dict, generation, key, words, &l);
	if (known)
		*known = l.known;
	if (!l.known && l.id)
		gprof_dictionary_commit(&dict, &l);
	return l.id;
}

TEST(key_is_known_the_second_time)
{
	u64 a[] = { 1, 2, 3 }, b[] = { 1, 2, 4 };
	bool known;
	u32 id;

	begin(SLOTS, WORDS);
	id = add(1, a, 3, &known);
	EXPECT_NE(0, id);
	EXPECT_FALSE(known);
	EXPECT_EQ(id, add(1, a, 3, &known));
	EXPECT_TRUE(known);
	EXPECT_NE(id, add(1, b, 3, &known));
	EXPECT_FALSE(known);
	/* a part of a key is another key */
	EXPECT_NE(id, add(1, a, 2, &known));
	EXPECT_FALSE(known);
}

/* Each length, and the difference in each word. */
TEST(no_word_of_a_key_is_left_out)
{
	u64 key[40], other[40];
	u32 words, i, id;
	bool known;

	for (i = 0; i < 40; i++)
		key[i] = i * 0x10001ULL + 1;
	for (words = 1; words <= 40; words++) {
		begin(SLOTS, WORDS);
		id = add(1, key, words, NULL);
		EXPECT_NE(0, id);
		for (i = 0; i < words; i++) {
			memcpy(other, key, sizeof(key));
			other[i] ^= 1ULL << 63;
			EXPECT_FALSE(holds(&dict, id, other, words));
			EXPECT_NE(gprof_u64_array_hash(key, words),
				  gprof_u64_array_hash(other, words))
				;
			add(1, other, words, &known);
			EXPECT_FALSE(known);
			EXPECT_NE(id, gprof_dictionary_find(&dict, 1, other, words));
		}
		EXPECT_EQ(id, gprof_dictionary_find(&dict, 1, key, words));
		EXPECT_EQ(0, gprof_dictionary_find(&dict, 2, key, words));
		EXPECT_FALSE(holds(&dict, id, key, words - 1));
		EXPECT_TRUE(holds(&dict, id, key, words));
		EXPECT_EQ(id, add(1, key, words, &known));
		EXPECT_TRUE(known);
	}
}

static u64 slot_and_tag(u64 a)
{
	u64 key[2] = { a, 7 }, hash = gprof_u64_array_hash(key, 2);

	return (hash & (SLOTS - 1)) << 24 | (hash >> 32 & FIELD);
}

static int by_hash(const void *a, const void *b)
{
	u64 x = slot_and_tag(*(const u64 *)a), y = slot_and_tag(*(const u64 *)b);

	return x < y ? -1 : x > y;
}

#define CANDIDATES	(1 << 19)

TEST(keys_of_one_hash_are_told_apart)
{
	static u64 numbers[CANDIDATES];
	unsigned int i, pairs = 0;
	bool known;
	u32 id;

	/* Not 1, 2, 3, ...: those are told apart by the hash itself. */
	for (i = 0; i < CANDIDATES; i++)
		numbers[i] = ((u64)i * i + i) * 0xd1342543de82ef95ULL ^ (u64)i << 37;
	qsort(numbers, CANDIDATES, sizeof(*numbers), by_hash);
	for (i = 0; i + 1 < CANDIDATES; i++) {
		u64 a[2] = { numbers[i], 7 }, b[2] = { numbers[i + 1], 7 };

		if (slot_and_tag(a[0]) != slot_and_tag(b[0]))
			continue;
		pairs++;
		begin(SLOTS, WORDS);
		id = add(1, a, 2, NULL);
		EXPECT_NE(id, add(1, b, 2, &known));
		EXPECT_FALSE(known);
		EXPECT_EQ(id, add(1, a, 2, &known));
		EXPECT_TRUE(known);
	}
	TH_LOG("%u pairs", pairs);
	EXPECT_LT(0, pairs);
}

TEST(generation_forgets_the_one_before)
{
	u64 key[] = { 1, 2, 3 };
	bool known;

	begin(SLOTS, WORDS);
	add(1, key, 3, NULL);
	add(2, key, 3, &known);
	EXPECT_FALSE(known);
	/* and begins with all of the memory */
	EXPECT_EQ(1, add(3, key, 3, NULL));
}

TEST(full_memory_gives_no_id_and_keeps_what_it_has)
{
	u64 key[3] = { 0, 2, 3 };
	bool known;
	u32 id = 1, i;

	begin(SLOTS, 41);
	for (i = 0; id && i < 100; i++) {
		key[0] = i;
		id = add(1, key, 3, NULL);
	}
	/* 40 words of 4 each, and word 0 is not given out */
	EXPECT_EQ(11, i);
	key[0] = 0;
	EXPECT_NE(0, add(1, key, 3, &known));
	EXPECT_TRUE(known);
	/* nor does the last key reach behind the end */
	begin(SLOTS, 44);
	for (i = 0, id = 1; id && i < 100; i++) {
		key[0] = i;
		id = add(1, key, 3, NULL);
	}
	EXPECT_EQ(11, i);
}

/* Two keys want one slot, the second between the look-up and the commit of the first. */
TEST(the_first_key_in_a_slot_keeps_it)
{
	u64 a[] = { 1, 2, 3 }, b[] = { 4, 5, 6 };
	struct gprof_lookup l;
	u32 id;

	begin(1, WORDS);
	gprof_dictionary_lookup(&dict, 1, a, 3, &l);
	id = add(1, b, 3, NULL);
	EXPECT_NE(l.id, id);
	gprof_dictionary_commit(&dict, &l);
	EXPECT_EQ(id, gprof_dictionary_find(&dict, 1, b, 3));
	EXPECT_EQ(0, gprof_dictionary_find(&dict, 1, a, 3));
}

TEST(full_table_gives_no_id)
{
	u64 key[1];
	u32 i, without = 0;

	begin(16, WORDS);
	for (i = 0; i < 64; i++) {
		key[0] = i;
		without += !add(1, key, 1, NULL);
	}
	EXPECT_LE(48, without);
}

/* Generations are told apart by 16 bits; what is that old must be gone. */
TEST(nothing_comes_back_after_65536_generations)
{
	u64 key[] = { 1, 2, 3 };
	bool known;

	begin(SLOTS, WORDS);
	add(7, key, 3, NULL);
	for (unsigned int i = 1; i < 65536; i++)
		gprof_dictionary_scrub(&dict, (u16)(7 + i));
	add(7, key, 3, &known);
	EXPECT_FALSE(known);
}

/* What is of today stays, however often the whole table is gone through. */
TEST(scrubbing_leaves_the_current_generation_alone)
{
	u64 key[] = { 1, 2, 3 };
	u32 id;

	begin(SLOTS, WORDS);
	id = add(7, key, 3, NULL);
	for (unsigned int i = 0; i < SLOTS; i++)
		gprof_dictionary_scrub(&dict, 7);
	EXPECT_EQ(id, gprof_dictionary_find(&dict, 7, key, 3));
}

/* ---- NMIs at every step ---- */

static unsigned int step, nmi_step;
static u64 nmi_key[3];
static u32 nmi_id;

static void nmi(void)
{
	if (++step == nmi_step) {
		shim_nmi = NULL;
		nmi_id = add(1, nmi_key, 3, NULL);
	}
}

/* The keys that @id and @other stand for, as a reader was told them, differ or are equal. */
static void each_step(struct __test_metadata *_metadata, u64 outer_first, u64 nmi_first)
{
	u64 key[3] = { outer_first, 5, 6 };
	u32 id, n;
	bool known;

	for (n = 1; n < 200; n++) {
		begin(SLOTS, WORDS);
		add(1, (u64[]){ 99 }, 1, NULL);
		nmi_key[0] = nmi_first;
		nmi_key[1] = 5;
		nmi_key[2] = 6;
		nmi_id = 0;
		step = 0;
		nmi_step = n;
		shim_nmi = nmi;
		id = add(1, key, 3, NULL);
		shim_nmi = NULL;
		if (!nmi_id)
			break;
		ASSERT_NE(0, id);
		/* an id stands for one key; where the key is the same it may be the same id */
		if (outer_first != nmi_first) {
			ASSERT_NE(id, nmi_id) TH_LOG("NMI at step %u", n);
		}
		ASSERT_EQ(0, memcmp(arena + id + 1, key, sizeof(key))) TH_LOG("NMI at step %u", n);
		ASSERT_EQ(0, memcmp(arena + nmi_id + 1, nmi_key, sizeof(key)))
			TH_LOG("NMI at step %u", n);
		/* both are found afterwards, or defined once more, but never as another */
		id = add(1, key, 3, &known);
		ASSERT_EQ(0, memcmp(arena + id + 1, key, sizeof(key)));
		id = add(1, nmi_key, 3, &known);
		ASSERT_EQ(0, memcmp(arena + id + 1, nmi_key, sizeof(key)));
	}
	EXPECT_LT(3, n);
	EXPECT_GT(200, n);
}

TEST(nmi_with_another_key_gets_another_id)
{
	u64 first;

	for (first = 2; first < 300; first++)
		each_step(_metadata, 1, first);
}

TEST(nmi_with_the_same_key_is_no_harm)
{
	each_step(_metadata, 1, 1);
}

TEST_HARNESS_MAIN
