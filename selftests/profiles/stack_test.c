// SPDX-License-Identifier: GPL-2.0-only
/*
 * stack_test: no frame is missing and none is made up, at whatever instruction a sample hits.
 *
 * The profiles are read through the library, since the callers of leaf functions without a frame
 * are only certain with the unwind tables.
 */
#include "harness.h"
#include "device.h"
#include "reader.h"
#include "record.h"
#include "workload.h"

#define MOST_NAMES	4
#define WAYS		16

struct expected {
	const char *leaf;		/* NULL: any that is not below */
	const char *callers[MOST_NAMES];
};

struct tally {
	int (*each)(void *ctx, const struct gprof_frame *frames, size_t nr, const int64_t *values);
	const struct expected *expected;
	size_t nr_expected;
	size_t type;
	uint64_t depth;			/* of recurse, in stacks of work */
	bool no_tables;
	int64_t ways[WAYS];		/* stacks of work that came each way */
	int64_t right, wrong, elsewhere;
	char first_wrong[1024];
};

static void note_wrong(struct tally *t, const struct gprof_frame *frames, size_t nr, int64_t value)
{
	size_t i, n = 0;

	t->wrong += value;
	if (t->first_wrong[0])
		return;
	for (i = 0; i < nr && n < sizeof(t->first_wrong) - 1; i++)
		n += snprintf(t->first_wrong + n, sizeof(t->first_wrong) - n, "%s ",
			      frames[i].function);
}

static int each(void *ctx, const struct gprof_frame *frames, size_t nr, const int64_t *values)
{
	const struct expected *e;
	struct tally *t = ctx;
	size_t i, n;

	for (i = 0; i < t->nr_expected; i++) {
		e = &t->expected[i];
		if (!nr || strcmp(e->leaf, frames[0].function))
			continue;
		for (n = 0; n < MOST_NAMES && e->callers[n]; n++)
			if (n + 1 >= nr || strcmp(e->callers[n], frames[n + 1].function))
				break;
		if (n < MOST_NAMES && e->callers[n])
			note_wrong(t, frames, nr, values[t->type]);
		else
			t->right += values[t->type];
		return 0;
	}
	t->elsewhere += values[t->type];
	return 0;
}

static int each_deep(void *ctx, const struct gprof_frame *frames, size_t nr,
		     const int64_t *values)
{
	struct tally *t = ctx;
	uint64_t depth = 0;

	if (!nr || strcmp(frames[0].function, "work")) {
		t->elsewhere += values[t->type];
		return 0;
	}
	while (depth + 1 < nr && !strcmp(frames[depth + 1].function, "recurse"))
		depth++;
	if (depth != t->depth || depth + 1 >= nr || strcmp(frames[depth + 1].function, "main"))
		note_wrong(t, frames, nr, values[t->type]);
	else
		t->right += values[t->type];
	return 0;
}

/* The outermost function tells which way led to the leaf; -1 when the others do not agree. */
static int way_of(const struct gprof_frame *frames, size_t nr)
{
	unsigned int levels, way, i;

	for (levels = 3; levels <= 6 && levels + 2 < nr; levels++)
		if (sscanf(frames[levels + 1].function, "way_%u", &way) == 1)
			break;
	if (levels > 6 || levels + 2 >= nr || levels != 3 + way % 4 || way >= WAYS)
		return -1;
	for (i = 0; i < levels; i++)
		if (strcmp(frames[levels - i].function, way * 5 >> i & 1 ? "right" : "left"))
			return -1;
	return strcmp(frames[levels + 2].function, "main") ? -1 : (int)way;
}

static int each_way(void *ctx, const struct gprof_frame *frames, size_t nr, const int64_t *values)
{
	struct tally *t = ctx;
	int way;

	if (!nr || strcmp(frames[0].function, "work")) {
		t->elsewhere += values[t->type];
		return 0;
	}
	way = way_of(frames, nr);
	if (way < 0) {
		note_wrong(t, frames, nr, values[t->type]);
		return 0;
	}
	t->right += values[t->type];
	t->ways[way] += values[t->type];
	return 0;
}

/* Records stack_target and puts its samples into @t. */
static void record(struct __test_metadata *_metadata, struct tally *t, const char *mode,
		   const char *n, const char *trips)
{
	char *argv[] = { beside_us("stack_target"), (char *)mode, (char *)n,
			 (char *)trips, NULL };
	/* primes, so that every instruction of a loop is hit */
	struct gprof_cpu_event event = record_best_event(100003, 4999);
	struct gprof_recorder_stats st = { .sz = sizeof(st) };
	const char *error = "";
	struct gprof_profile *p = record_command(argv, &event, t->no_tables, &st, &error);

	ASSERT_NE(NULL, p) TH_LOG("%s", error);
	/* samples, not what they stand for */
	t->type = 0;
	gprof_profile_each(p, t->each, t);
	gprof_profile_free(p);
	TH_LOG("%s, produced=%llu: %lld right, %lld wrong, %lld elsewhere", event.name,
	       ull(st.produced), (long long)t->right, (long long)t->wrong,
	       (long long)t->elsewhere);
	EXPECT_EQ(st.produced, st.read + st.lost + st.overwritten);
}

static void expect_right(struct __test_metadata *_metadata, const struct tally *t)
{
	EXPECT_EQ(0, t->wrong) TH_LOG("first wrong stack: %s", t->first_wrong);
	EXPECT_LE(100, t->right);
	/* the program does nothing else */
	EXPECT_GE(t->right, t->elsewhere);
}

#define DEEP(_depth)							\
TEST(recursion_of_depth_##_depth##_is_whole)				\
{									\
	struct tally t = { .each = each_deep, .depth = _depth };		\
									\
	record(_metadata, &t, "deep", #_depth, "400000000");		\
	expect_right(_metadata, &t);					\
}

DEEP(4)
DEEP(17)
DEEP(64)
DEEP(120)

/* What is kept from the last sample must not show in the next. */
TEST(callers_that_change_from_sample_to_sample_are_right)
{
	struct tally t = { .each = each_way };

	record(_metadata, &t, "ways", "20000", "5000");
	expect_right(_metadata, &t);
	/* All take the same time. Some differ in the outermost frame alone. */
	for (unsigned int i = 0; i < WAYS; i++) {
		EXPECT_LE(t.right, t.ways[i] * WAYS * 2)
			TH_LOG("way %u: %lld of %lld", i, (long long)t.ways[i], (long long)t.right);
	}
}

TEST(caller_is_never_missing_in_a_tight_loop)
{
	static const struct expected expected[] = {
		{ "tiny", { "calls_tiny", "outer", "main" } },
		{ "calls_tiny", { "outer", "main" } },
	};
	struct tally t = { .each = each, .expected = expected, .nr_expected = 2 };

	record(_metadata, &t, "tight", "200000000", NULL);
	expect_right(_metadata, &t);
}

TEST(caller_of_a_leaf_without_a_frame_is_not_missing)
{
	static const struct expected expected[] = {
		{ "noframe", { "calls_noframe", "outer", "main" } },
		{ "calls_noframe", { "outer", "main" } },
	};
	struct tally t = { .each = each, .expected = expected, .nr_expected = 2 };

	record(_metadata, &t, "noframe", "100000000", NULL);
	expect_right(_metadata, &t);
	t = (struct tally){ .each = each, .expected = expected, .nr_expected = 2, .no_tables = true };
	record(_metadata, &t, "noframe", "100000000", NULL);
	expect_right(_metadata, &t);
}

#ifdef __x86_64__
/* Its frame record is on the stack, and the frame pointer is still its caller's. */
TEST(caller_of_a_prologue_is_not_missing)
{
	static const struct expected expected[] = {
		{ "pushed", { "calls_pushed", "outer", "main" } },
	};
	struct tally t = { .each = each, .expected = expected, .nr_expected = 1 };

	record(_metadata, &t, "pushed", "30000000", NULL);
	expect_right(_metadata, &t);
	/* Where no table tells, the kernel guesses. */
	t = (struct tally){ .each = each, .expected = expected, .nr_expected = 1, .no_tables = true };
	record(_metadata, &t, "pushed", "30000000", NULL);
	expect_right(_metadata, &t);
}
#endif

/* Debian's libc has no frame pointers, and no names for what memset really is. */
static int each_library(void *ctx, const struct gprof_frame *frames, size_t nr,
			const int64_t *values)
{
	struct tally *t = ctx;
	size_t i;

	for (i = 0; i < nr; i++)
		if (!strcmp(frames[i].function, "calls_library"))
			break;
	if (i < nr && i <= 1 && i + 2 < nr && !strcmp(frames[i + 1].function, "outer") &&
	    !strcmp(frames[i + 2].function, "main"))
		t->right += values[t->type];
	else if (nr && strstr(frames[0].mapping, "libc"))
		note_wrong(t, frames, nr, values[t->type]);
	else
		t->elsewhere += values[t->type];
	return 0;
}

TEST(caller_of_a_leaf_in_libc_is_not_missing)
{
	char *argv[] = { beside_us("stack_target"), "library", "500000", NULL };
	struct gprof_cpu_event event = record_best_event(100003, 4999);
	const char *error = "";
	struct gprof_profile *p = record_command(argv, &event, false, NULL, &error);
	struct tally t = { 0 };

	ASSERT_NE(NULL, p) TH_LOG("%s", error);
	gprof_profile_each(p, each_library, &t);
	gprof_profile_free(p);
	TH_LOG("%lld right, %lld wrong, %lld elsewhere", (long long)t.right, (long long)t.wrong,
	       (long long)t.elsewhere);
	/* Where the CPU has an instruction that does it all (MOPS) these calls are short. */
	EXPECT_LE(50, t.right);
	/* what libc does at start and end is not ours to know */
	EXPECT_LE(t.wrong * 50, t.right) TH_LOG("first wrong stack: %s", t.first_wrong);
}

#ifdef __x86_64__
/* ---- a frame pointer that is none; amd64 alone: not seen to work elsewhere ---- */

/* Spins with @fp where the frame pointer should be; no call stands before the loop. */
uint64_t spin_with(uint64_t trips, const void *fp);
extern const char spin_with_loop[], spin_with_end[], like_goexit[];

__asm__(
"	.text\n"
"spin_with:\n"
"	mov	%rbp, %rax\n"
"	mov	%rsi, %rbp\n"
"	.fill	8, 1, 0x90\n"
"spin_with_loop:\n"
"	dec	%rdi\n"
"	jnz	spin_with_loop\n"
"spin_with_end:\n"
"	mov	%rax, %rbp\n"
"	ret\n"
/* as Go has runtime.goexit, where the stack of a goroutine ends: behind the nop */
"	int3\n"
"	nop\n"
"like_goexit:\n"
"	call	spin_with\n"
"	nop\n");

struct frame_record {
	const void *next, *caller;
};

struct wrong_frames {
	const char *name;
	const struct frame_record *fp;
	unsigned int callers;		/* that are found */
	bool cut;			/* and that it says there are more */
	uint64_t hits, others;
	unsigned int other_callers;
	unsigned int other_flags;
};

static void check_frames(void *ctx, const struct reader_sample *s)
{
	struct wrong_frames *w = ctx;
	const __u64 *frames;
	unsigned int callers;

	if (!s->stack || !s->stack->nr_user)
		return;
	frames = s->stack->frames + s->stack->nr_kernel;
	if (frames[0] < (uintptr_t)spin_with_loop || frames[0] >= (uintptr_t)spin_with_end)
		return;
	/* a guess at the caller comes from elsewhere */
	callers = s->stack->nr_user - 1 - !!(s->stack->rec.flags & GPROF_STACK_REC_F_CALLER);
	if (callers == w->callers &&
	    !(s->stack->rec.flags & GPROF_STACK_REC_F_USER_CUT) == !w->cut) {
		w->hits++;
	} else {
		w->others++;
		w->other_callers = callers;
		w->other_flags = s->stack->rec.flags;
	}
}

static void spin_among(struct __test_metadata *_metadata, struct wrong_frames *w)
{
	struct gprof_cpu_params params = timer_params(200000);
	struct gprof_setup setup = device_setup_of(GPROF_TARGET_THREAD, gettid(), &params);
	struct reader reader;
	struct device dev;

	ASSERT_EQ(0, reader_record(&reader, &dev, &setup, check_frames, w));
	for (int i = 0; i < 1000 && w->hits + w->others < 30; i++) {
		spin_with(5000000, w->fp);
		ASSERT_LE(0, reader_read(&reader));
	}
	EXPECT_EQ(0, device_stop(&dev));
	EXPECT_LE(30, w->hits);
	EXPECT_EQ(0, w->others)
		TH_LOG("%s: %u callers instead of %u, flags %x", w->name, w->other_callers,
		       w->callers, w->other_flags);
	reader_close(&reader);
}

static __attribute__((noinline)) const void *behind_a_call(void)
{
	return __builtin_return_address(0);
}

/* Programs without frame pointers leave anything there. */
TEST(no_frame_is_made_of_what_the_register_holds_else)
{
	const void *good = behind_a_call();
	/* r[1] is above r[0] on the stack, and both above what spin_with() sees of it */
	struct frame_record no_call[] = { { no_call + 1, spin_with_loop }, { NULL, good } };
	struct frame_record then_no_call[] = { { then_no_call + 1, good },
					       { then_no_call, spin_with_loop } };
	struct frame_record itself[] = { { itself, good } };
	struct frame_record down[] = { { NULL, good }, { down, good } };
	struct frame_record circle[] = { { circle + 1, good }, { circle, good } };
	struct frame_record overlap[] = { { (char *)overlap + 8, good }, { good, good } };
	/* behind a call, but in no memory that has code */
	struct frame_record nowhere[] = { { nowhere + 1, (void *)0x7ffff000000 }, { NULL, good } };
	struct frame_record goexit[] = { { goexit + 1, good }, { NULL, like_goexit } };
	struct frame_record goes_on[] = { { goes_on + 1, like_goexit }, { NULL, good } };
	struct frame_record no_goexit[] = { { NULL, spin_with_loop } };
	static struct frame_record below[2];
	struct wrong_frames all[] = {
		{ "no call before it", no_call, 0, true },
		{ "no call before the second", then_no_call, 1, true },
		{ "no memory", nowhere, 0, true }, { "where a goroutine begins", goexit, 1, false },
		{ "a goroutine has no callers", goes_on, 0, true },
		{ "a nop and no call", no_goexit, 0, true },
		{ "points to itself", itself, 1, false }, { "points down", down + 1, 1, false },
		{ "goes round", circle, 2, false }, { "overlap", overlap, 1, false },
		{ "lies below the stack", below, 0, false },
		{ "is not aligned", (void *)((char *)itself + 4), 0, false },
		{ "is a small number", (void *)8, 0, false },
		{ "is an address of the kernel", (void *)-4096, 0, false },
	};

	below[0] = (struct frame_record){ below + 1, good };
	below[1] = (struct frame_record){ NULL, good };
	for (unsigned int i = 0; i < ARRAY_SIZE(all); i++)
		spin_among(_metadata, &all[i]);
}
#endif

TEST_HARNESS_MAIN
