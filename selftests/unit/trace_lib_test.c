// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the trace reader gives: order, times, states, what goes on through
 * generations, and the same from memory, a file and a pipe.
 */
#include "harness.h"
#include "lib_util.h"
#include <gprof/trace_write.h>
#include "trace_build.h"

#define EVENTS_MAX	64

static struct build b;

/* What was read, with copies of texts. */
struct got {
	struct gprof_trace_event ev[EVENTS_MAX];
	char text[EVENTS_MAX][64];
	size_t nr;
	int ret;
	struct gprof_trace_stats st;
	char error[512];
};

static struct gprof_trace_text text_of(const struct gprof_trace_event *ev)
{
	switch (ev->kind) {
	case GPROF_TRACE_LABEL:
		return ev->label.text;
	case GPROF_TRACE_RANGE_BEGIN:
	case GPROF_TRACE_RANGE_ACTIVE:
	case GPROF_TRACE_RANGE_END:
		return ev->range.name;
	case GPROF_TRACE_TASK_BEGIN:
	case GPROF_TRACE_TASK_END:
		return ev->task.type;
	case GPROF_TRACE_REGION_BEGIN:
	case GPROF_TRACE_REGION_END: return ev->region.type;
	case GPROF_TRACE_LOG: return ev->log.message;
	case GPROF_TRACE_STATE_TRANSITION: return ev->transition.reason;
	default:
		return (struct gprof_trace_text){ "", 0 };
	}
}

static struct got got;

static void read_from(struct gprof_trace *t)
{
	memset(&got, 0, sizeof(got));
	if (!t) {
		got.ret = -errno;
		snprintf(got.error, sizeof(got.error), "%s", gprof_error());
		return;
	}
	while (got.nr < EVENTS_MAX && (got.ret = gprof_trace_next(t, &got.ev[got.nr])) > 0) {
		snprintf(got.text[got.nr], sizeof(got.text[0]), "%s", text_of(&got.ev[got.nr]).s);
		got.nr++;
	}
	got.st.sz = sizeof(got.st);
	gprof_trace_stats(t, &got.st);
	snprintf(got.error, sizeof(got.error), "%s", gprof_error());
	gprof_trace_free(t);
}

static void read_built(void)
{
	read_from(gprof_trace_new_memory(b.b, b.n, NULL));
}

/* One thread that has proc 0 and runs goroutine 1: a batch to put events into. */
static void scene(unsigned int version)
{
	build_header(&b, version);
	build_begin(&b, 1, 0, 100);
	build_status(&b);
}

static void scene_end(unsigned int version, uint64_t gen)
{
	build_end(&b);
	STRINGS(&b, gen, "one", "two");
	build_clock(&b, version, gen);
}

/* So many events, all that it has. */
#define READS(_version, _gen, _nr) do {						\
	scene_end(_version, _gen);						\
	read_built();								\
	ASSERT_EQ(0, got.ret) TH_LOG("%s", got.error);				\
	ASSERT_EQ(_nr, got.nr);							\
} while (0)

static bool is_of(const struct gprof_trace_event *ev, unsigned int kind, int64_t id,
		  unsigned int from, unsigned int to)
{
	return ev->kind == GPROF_TRACE_STATE_TRANSITION &&
	       ev->transition.resource.kind == kind && ev->transition.resource.id == id &&
	       ev->transition.from == from && ev->transition.to == to;
}

#define is_go(ev, ...)		is_of(ev, GPROF_TRACE_RESOURCE_GOROUTINE, __VA_ARGS__)
#define is_proc(ev, ...)	is_of(ev, GPROF_TRACE_RESOURCE_PROC, __VA_ARGS__)

TEST(context_is_that_before_the_event)
{
	scene(22);
	EV(&b, GPROF_EV_GO_CREATE, 1, 2, 0, 0);
	EV(&b, GPROF_EV_GO_BLOCK, 1, 2, 0);
	EV(&b, GPROF_EV_GO_START, 1, 2, 1);
	READS(22, 1, 7);
	EXPECT_EQS(GPROF_TRACE_SYNC, got.ev[0].kind, 1, got.ev[0].sync.nr,
		   1, got.ev[0].sync.generation);
	EXPECT_TRUE(is_proc(&got.ev[1], 0, GPROF_TRACE_PROC_UNDETERMINED, GPROF_TRACE_PROC_RUNNING));
	EXPECT_EQS(101, got.ev[1].time, 0, got.ev[1].thread, -1, got.ev[1].proc);
	EXPECT_TRUE(is_go(&got.ev[2], 1, GPROF_TRACE_GO_UNDETERMINED, GPROF_TRACE_GO_RUNNING));
	EXPECT_EQS(0, got.ev[2].proc, -1, got.ev[2].goroutine);
	EXPECT_TRUE(is_go(&got.ev[3], 2, GPROF_TRACE_GO_NOT_EXIST, GPROF_TRACE_GO_RUNNABLE));
	EXPECT_EQ(1, got.ev[3].goroutine);
	EXPECT_TRUE(is_go(&got.ev[4], 1, GPROF_TRACE_GO_RUNNING, GPROF_TRACE_GO_WAITING));
	EXPECT_STREQ("two", got.text[4]);
	EXPECT_TRUE(is_go(&got.ev[5], 2, GPROF_TRACE_GO_RUNNABLE, GPROF_TRACE_GO_RUNNING));
	EXPECT_EQS(-1, got.ev[5].goroutine, 105, got.ev[5].time, GPROF_TRACE_SYNC, got.ev[6].kind,
		   2, got.ev[6].sync.nr, 0, got.ev[6].sync.generation, 106, got.ev[6].time,
		   0, got.st.repaired, 0, got.st.tied, 7, got.st.events);
}

TEST(sequence_numbers_and_not_clocks_say_what_comes_first)
{
	scene(22);
	EV(&b, GPROF_EV_GO_CREATE, 400, 2, 0, 0);	/* at 502 */
	build_end(&b);
	build_begin(&b, 1, 5, 200);			/* runs it at 203, before it is made */
	EV(&b, GPROF_EV_PROC_STATUS, 1, 1, GPROF_PROC_RUNNING);
	EV(&b, GPROF_EV_GO_START, 2, 2, 1);
	EV(&b, GPROF_EV_GO_STOP, 1, 0, 0);
	READS(22, 1, 8);
	EXPECT_TRUE(is_go(&got.ev[4], 2, GPROF_TRACE_GO_NOT_EXIST, GPROF_TRACE_GO_RUNNABLE));
	EXPECT_EQ(502, got.ev[4].time);
	EXPECT_TRUE(is_go(&got.ev[5], 2, GPROF_TRACE_GO_RUNNABLE, GPROF_TRACE_GO_RUNNING));
	EXPECT_EQS(503, got.ev[5].time, 504, got.ev[6].time, 2, got.st.repaired, 0, got.st.tied);
	/* Who knows better than to move them has them as they are, in that order. */
	read_from(gprof_trace_new_memory(b.b, b.n, &(struct gprof_trace_opts){
		.sz = sizeof(struct gprof_trace_opts), .own_times = true }));
	ASSERT_EQ(8, got.nr);
	EXPECT_EQ(502, got.ev[4].time);
	EXPECT_TRUE(is_go(&got.ev[5], 2, GPROF_TRACE_GO_RUNNABLE, GPROF_TRACE_GO_RUNNING));
	EXPECT_EQS(203, got.ev[5].time, 204, got.ev[6].time, 2, got.st.repaired);
}

TEST(equal_times_are_told_apart_without_being_repairs)
{
	scene(22);
	EV(&b, GPROF_EV_GO_LABEL, 0, 1);
	EV(&b, GPROF_EV_GO_LABEL, 0, 2);
	scene_end(22, 1);
	read_built();
	ASSERT_EQ(6, got.nr);
	EXPECT_EQS(102, got.ev[2].time, 103, got.ev[3].time, 104, got.ev[4].time,
		   0, got.st.repaired, 2, got.st.tied);
}

TEST(switch_is_three_events)
{
	for (int destroy = 0; destroy < 2; destroy++) {
		scene(23);
		EV(&b, GPROF_EV_GO_CREATE_BLOCKED, 1, 2, 0, 0);
		EV(&b, destroy ? GPROF_EV_GO_SWITCH_DESTROY : GPROF_EV_GO_SWITCH, 1, 2, 1);
		EV(&b, GPROF_EV_GO_LABEL, 1, 1);
		READS(23, 1, 9);
		EXPECT_TRUE(is_go(&got.ev[4], 2, GPROF_TRACE_GO_WAITING, GPROF_TRACE_GO_RUNNABLE));
		EXPECT_EQ(1, got.ev[4].goroutine);
		EXPECT_TRUE(is_go(&got.ev[5], 1, GPROF_TRACE_GO_RUNNING,
				  destroy ? GPROF_TRACE_GO_NOT_EXIST : GPROF_TRACE_GO_WAITING));
		EXPECT_TRUE(is_go(&got.ev[6], 2, GPROF_TRACE_GO_RUNNABLE, GPROF_TRACE_GO_RUNNING));
		EXPECT_EQS(-1, got.ev[6].goroutine, got.ev[4].time + 2, got.ev[6].time,
			   2, got.ev[7].label.resource.id, 0, got.st.repaired);
	}
}

TEST(thread_of_c_that_leaves_gives_up_its_proc)
{
	build_header(&b, 22);
	build_begin(&b, 1, 0, 100);
	EV(&b, GPROF_EV_GO_CREATE_SYSCALL, 1, 4);
	EV(&b, GPROF_EV_PROC_STATUS, 1, 0, GPROF_PROC_SYSCALL);
	EV(&b, GPROF_EV_GO_DESTROY_SYSCALL, 1);
	EV(&b, GPROF_EV_PROC_STEAL, 1, 0, 1, 0);
	READS(22, 1, 7);
	EXPECT_TRUE(is_proc(&got.ev[3], 0, GPROF_TRACE_PROC_RUNNING, GPROF_TRACE_PROC_IDLE));
	EXPECT_TRUE(is_go(&got.ev[4], 4, GPROF_TRACE_GO_SYSCALL, GPROF_TRACE_GO_NOT_EXIST));
	EXPECT_EQ(4, got.ev[4].goroutine);
	EXPECT_TRUE(is_proc(&got.ev[5], 0, GPROF_TRACE_PROC_IDLE, GPROF_TRACE_PROC_IDLE));
}

/* Two generations; in the second, string 1 is what 2 was in the first. */
static void two_generations(unsigned int version)
{
	scene(version);
	EV(&b, GPROF_EV_USER_TASK_BEGIN, 1, 7, 0, 1, 0);
	EV(&b, GPROF_EV_USER_REGION_BEGIN, 1, 7, 2, 0);
	EV(&b, GPROF_EV_STW_BEGIN, 1, 1, 0);
	scene_end(version, 1);
	if (version >= 26)
		build_bytes(&b, "\x34", 1);
	build_begin(&b, version >= 26 ? 9 : 2, 0, 500);
	build_status(&b);
	EV(&b, GPROF_EV_STW_END, 1);
	EV(&b, GPROF_EV_USER_REGION_END, 1, 7, 1, 0);
	EV(&b, GPROF_EV_USER_TASK_END, 1, 7, 0);
	build_end(&b);
	STRINGS(&b, version >= 26 ? 9U : 2U, "two", "three");
	build_clock(&b, version, version >= 26 ? 9 : 2);
	if (version >= 26)
		build_bytes(&b, "\x34", 1);
}

TEST(names_live_longer_than_the_strings_of_their_generation)
{
	static const unsigned int versions[] = { 22, 23, 25, 26 };

	for (size_t i = 0; i < ARRAY_SIZE(versions); i++) {
		two_generations(versions[i]);
		read_built();
		ASSERT_EQ(0, got.ret) TH_LOG("%s", got.error);
		ASSERT_EQ(13, got.nr);
		EXPECT_STREQS("one", got.text[3], "two", got.text[4]);
		EXPECT_STREQ("stop-the-world (one)", got.text[5]);
		EXPECT_EQS(GPROF_TRACE_SYNC, got.ev[6].kind, 2, got.ev[6].sync.nr,
			   versions[i] >= 26 ? 9 : 2, got.ev[6].sync.generation,
			   versions[i] >= 25, got.ev[6].sync.has_clock);
		EXPECT_TRUE(is_go(&got.ev[8], 1, GPROF_TRACE_GO_RUNNING, GPROF_TRACE_GO_RUNNING));
		EXPECT_EQ(GPROF_TRACE_RANGE_END, got.ev[9].kind);
		EXPECT_STREQ("stop-the-world (one)", got.text[9]);
		EXPECT_EQ(GPROF_TRACE_REGION_END, got.ev[10].kind);
		EXPECT_STREQ("two", got.text[10]);
		EXPECT_EQ(GPROF_TRACE_TASK_END, got.ev[11].kind);
		EXPECT_STREQ("one", got.text[11]);
		EXPECT_EQS(GPROF_TRACE_NO_TASK, got.ev[11].task.parent, 2, got.st.generations,
			   versions[i], got.st.version);
	}
}

TEST(clock_of_a_generation_is_in_its_sync)
{
	two_generations(25);
	read_built();
	ASSERT_LT(0, got.nr);
	EXPECT_EQS(10, got.ev[0].sync.clock.time, 5000, got.ev[0].sync.clock.mono,
		   1700000000, got.ev[0].sync.clock.sec, 42, got.ev[0].sync.clock.nsec,
		   1, got.ev[0].time);
}

TEST(ranges_have_names_scopes_and_bytes)
{
	scene(22);
	EV(&b, GPROF_EV_GC_ACTIVE, 1, 3);
	EV(&b, GPROF_EV_GC_MARK_ASSIST_ACTIVE, 1, 1);
	EV(&b, GPROF_EV_GC_MARK_ASSIST_END, 1);
	EV(&b, GPROF_EV_GC_END, 1, 4);
	EV(&b, GPROF_EV_GC_SWEEP_BEGIN, 1, 0);
	EV(&b, GPROF_EV_GC_SWEEP_END, 1, 8192, 4096);
	EV(&b, GPROF_EV_HEAP_GOAL, 1, 77);
	READS(22, 1, 11);
	EXPECT_EQ(GPROF_TRACE_RANGE_ACTIVE, got.ev[3].kind);
	EXPECT_STREQ("GC concurrent mark phase", got.text[3]);
	EXPECT_EQ(GPROF_TRACE_RESOURCE_NONE, got.ev[3].range.scope.kind);
	EXPECT_STREQ("GC mark assist", got.text[4]);
	EXPECT_EQS(GPROF_TRACE_RESOURCE_GOROUTINE, got.ev[4].range.scope.kind,
		   1, got.ev[4].range.scope.id, GPROF_TRACE_RANGE_END, got.ev[6].kind);
	EXPECT_STREQ("GC incremental sweep", got.text[7]);
	EXPECT_EQS(GPROF_TRACE_RESOURCE_PROC, got.ev[7].range.scope.kind, 0, got.ev[7].range.swept,
		   0, got.ev[7].range.reclaimed, 8192, got.ev[8].range.swept,
		   4096, got.ev[8].range.reclaimed);
	EXPECT_STREQ("/gc/heap/goal:bytes", got.ev[9].metric.name);
	EXPECT_EQ(77, got.ev[9].metric.value);
}

TEST(cpu_samples_come_in_by_their_time_and_may_lack_a_stack)
{
	static const uint64_t samples[][5] = { { 150, 0, 0, 1, 99 }, { 101, 7, 2, 0, 0 } };

	scene(22);
	EV(&b, GPROF_EV_GO_LABEL, 10, 1);
	EV(&b, GPROF_EV_GO_LABEL, 90, 1);
	build_end(&b);
	build_begin(&b, 1, NONE, 1);
	build_byte(&b, GPROF_EV_CPU_SAMPLES);
	for (size_t i = 0; i < 2; i++)
		build_event_v(&b, GPROF_EV_CPU_SAMPLE, samples[i], 5);
	READS(22, 1, 8);
	/* not before the proc's status, which has the same time */
	EXPECT_EQS(GPROF_TRACE_STACK_SAMPLE, got.ev[2].kind, 7, got.ev[2].thread,
		   -1, got.ev[2].goroutine, GPROF_TRACE_STACK_SAMPLE, got.ev[5].kind,
		   150, got.ev[5].time, 99, got.ev[5].stack);
}

TEST(stacks_have_names_and_the_first_word_on_a_pc_holds)
{
	struct gprof_trace_frame f[GPROF_TRACE_FRAMES_MAX];
	struct gprof_trace_event ev;
	struct gprof_trace_text text;
	struct gprof_trace *t;

	scene(22);
	EV(&b, GPROF_EV_GO_BLOCK, 1, 0, 5);
	build_end(&b);
	build_begin(&b, 1, NONE, 1);
	build_byte(&b, GPROF_EV_STACKS);
	EV(&b, GPROF_EV_STACK, 5, 2, 0x100, 1, 2, 33, 0x200, 2, 1, 44);
	EV(&b, GPROF_EV_STACK, 1ULL << 60, 1, 0x100, 2, 2, 99);
	scene_end(22, 1);
	t = gprof_trace_new_memory(b.b, b.n, NULL);
	ASSERT_NE(NULL, t);
	do {
		ASSERT_EQ(1, gprof_trace_next(t, &ev));
	} while (ev.type != GPROF_EV_GO_BLOCK);
	ASSERT_EQ(2, gprof_trace_stack(t, ev.stack, f, GPROF_TRACE_FRAMES_MAX));
	EXPECT_EQ(0x100, f[0].pc);
	EXPECT_STREQS("one", f[0].function.s, "two", f[0].file.s);
	EXPECT_EQS(33, f[0].line, 0x200, f[1].pc, 2, gprof_trace_stack(t, ev.stack, f, 1));
	ASSERT_EQ(1, gprof_trace_stack(t, 1ULL << 60, f, 1));
	EXPECT_EQ(33, f[0].line);
	EXPECT_ZEROS(gprof_trace_stack(t, 0, f, 1), gprof_trace_stack(t, 6, f, 1));
	EXPECT_TRUE(gprof_trace_string(t, 2, &text));
	EXPECT_STREQ("two", text.s);
	EXPECT_FALSE(gprof_trace_string(t, 3, &text));
	gprof_trace_free(t);
}

/* Notes experimental batches; the second ends the reading when told so. */
struct batches {
	int nr;
	int end_with;
	struct gprof_trace_batch last;
	unsigned char data[8];
};

static int note_batch(void *ctx, const struct gprof_trace_batch *batch)
{
	struct batches *x = ctx;

	x->last = *batch;
	memcpy(x->data, batch->data, batch->len < 8 ? batch->len : 8);
	return ++x->nr == 2 ? x->end_with : 0;
}

TEST(experimental_batches_go_to_readers_that_ask)
{
	struct batches x = { 0 };
	struct gprof_trace_opts o = { .sz = sizeof(o), .batch = note_batch, .ctx = &x };

	scene(23);
	EV(&b, GPROF_EV_HEAP_OBJECT_ALLOC, 1, 5, 6);
	build_end(&b);
	for (int i = 0; i < 2; i++) {
		build_experimental(&b, 200, 1, 3, 44);
		build_put(&b, "\x04 no strings", 5);
		build_end(&b);
	}
	build_begin(&b, 1, 9, 1);
	scene_end(23, 1);
	read_from(gprof_trace_new_memory(b.b, b.n, &o));
	EXPECT_EQ(0, got.ret) TH_LOG("%s", got.error);
	EXPECT_EQS(2, x.nr, 2, got.st.experimental, 200, x.last.experiment, 1, x.last.generation,
		   3, x.last.thread, 44, x.last.time, 5, x.last.len);
	EXPECT_EQ(0, memcmp(x.data, "\x04 no ", 5));
	ASSERT_EQ(5, got.nr);
	EXPECT_EQ(GPROF_TRACE_EXPERIMENTAL, got.ev[3].kind);
	EXPECT_STREQ("HeapObjectAlloc", got.ev[3].experimental.name);
	EXPECT_EQ(2, got.ev[3].experimental.nr_args);
	EXPECT_STREQ("type", got.ev[3].experimental.arg_names[1]);
	EXPECT_EQ(6, got.ev[3].experimental.args[1]);

	x = (struct batches){ .end_with = -ENOSPC };
	read_from(gprof_trace_new_memory(b.b, b.n, &o));
	EXPECT_EQS(-ENOSPC, got.ret, 2, x.nr);
}

/* Of own_scene(): strings that hold facts, instead of batches of an experiment. */
#define IN_STRINGS	0
#define FACTS		"\0gprof"

/* A string that holds a fact, of 5 units after its batch. */
static void build_fact(uint64_t id, const char *fact, size_t size)
{
	build_byte(&b, GPROF_EV_STRING);
	build_number(&b, id);
	build_number(&b, sizeof(FACTS) + 2 + size);
	build_put(&b, FACTS, sizeof(FACTS));
	build_number(&b, 5);
	build_number(&b, size);
	build_put(&b, fact, size);
}

/* A scene with such batches of experiment @exp. */
static void own_scene(unsigned char exp, const char *const *bodies, const size_t *sizes, int nr)
{
	scene(23);
	build_end(&b);
	for (int i = 0; i < nr; i++) {
		if (exp == IN_STRINGS) {
			build_begin(&b, 1, NONE, 44);
			build_byte(&b, GPROF_EV_STRINGS);
			build_fact(100 + i, bodies[i], sizes[i]);
		} else {
			build_experimental(&b, exp, 1, 3, 44);
			build_put(&b, bodies[i], sizes[i]);
		}
		build_end(&b);
	}
	build_begin(&b, 1, 9, 1);
	scene_end(23, 1);
	read_built();
}

#define OWN(_exp, ...) do {							\
	const char *const _bodies[] = { __VA_ARGS__ };				\
	size_t _sizes[sizeof(_bodies) / sizeof(_bodies[0])];			\
										\
	for (size_t _i = 0; _i < sizeof(_sizes) / sizeof(_sizes[0]); _i++)	\
		_sizes[_i] = strlen(_bodies[_i]);				\
	own_scene(_exp, _bodies, _sizes, sizeof(_sizes) / sizeof(_sizes[0]));	\
} while (0)

TEST(gprof_says_what_it_wrote_and_lost)
{
	OWN(GPROF_TRACE_EXPERIMENT, "V\1", "L\2\x81\1", "F\1\7", "L\3\1", "?\xff");
	EXPECT_EQ(0, got.ret) TH_LOG("%s", got.error);
	EXPECT_EQS(1, got.st.gprof_version, 130, got.st.lost, 5, got.st.experimental);
	OWN(IN_STRINGS, "V\1", "L\2\x81\1", "F\1\7", "L\3\1", "?\xff");
	EXPECT_EQ(0, got.ret) TH_LOG("%s", got.error);
	EXPECT_EQS(1, got.st.gprof_version, 130, got.st.lost, 0, got.st.experimental);
	/* Who else writes such batches says nothing of ours. */
	OWN(GPROF_TRACE_EXPERIMENT + 1, "V\1", "L\2\x81\1", "L\x80");
	EXPECT_EQ(0, got.ret) TH_LOG("%s", got.error);
	EXPECT_EQS(0, got.st.gprof_version, 0, got.st.lost);
	/* No sum wraps. */
	OWN(GPROF_TRACE_EXPERIMENT, "V\1", "L\2\xff\xff\xff\xff\xff\xff\xff\xff\xff\1", "L\3\7");
	EXPECT_EQ(0, got.ret) TH_LOG("%s", got.error);
	EXPECT_EQ(UINT64_MAX, got.st.lost);
}

/* Each by itself, as from a batch of its own, whatever string it shares with others. */
TEST(facts_in_strings_go_to_readers_that_ask)
{
	struct batches x = { 0 };
	struct gprof_trace_opts o = { .sz = sizeof(o), .batch = note_batch, .ctx = &x };
	static const char both[] = FACTS "\0\5\2F\7" "\x81\1\4T\2\1\3";
	struct gprof_trace_text text;
	struct gprof_trace *t;

	scene(23);
	build_end(&b);
	build_begin(&b, 1, NONE, 44);
	build_byte(&b, GPROF_EV_STRINGS);
	build_byte(&b, GPROF_EV_STRING);
	build_number(&b, 100);
	build_number(&b, sizeof(both) - 1);
	build_put(&b, both, sizeof(both) - 1);
	/* Nothing of ours, if nearly so. */
	for (uint64_t i = 0; i < sizeof(FACTS); i++) {
		build_byte(&b, GPROF_EV_STRING);
		build_number(&b, 101 + i);
		build_number(&b, i);
		build_put(&b, FACTS, i);
	}
	build_string(&b, 110, "gprof");
	build_end(&b);
	build_begin(&b, 1, 9, 1);
	scene_end(23, 1);
	t = gprof_trace_new_memory(b.b, b.n, &o);
	read_from(t);
	EXPECT_EQ(0, got.ret) TH_LOG("%s", got.error);
	EXPECT_EQS(2, x.nr, GPROF_TRACE_EXPERIMENT, x.last.experiment, 1, x.last.generation,
		   GPROF_TRACE_NONE, x.last.thread, 44 + 129, x.last.time, 4, x.last.len);
	EXPECT_ZEROS(memcmp(x.data, "T\2\1\3", 4), got.st.experimental);

	/* They are strings all the same, for whoever looks at all of them. */
	t = gprof_trace_new_memory(b.b, b.n, NULL);
	while (gprof_trace_next(t, &got.ev[0]) > 0 && got.ev[0].kind == GPROF_TRACE_SYNC)
		;
	EXPECT_TRUE(gprof_trace_string(t, 100, &text));
	EXPECT_EQ(sizeof(both) - 1, text.len);
	gprof_trace_free(t);

	x = (struct batches){ .end_with = -ENOSPC };
	read_from(gprof_trace_new_memory(b.b, b.n, &o));
	EXPECT_EQS(-ENOSPC, got.ret, 2, x.nr);
}

TEST(what_gprof_says_must_be_whole)
{
	static const char *const torn[] = {
		"V", "V\x80", "L", "L\2", "L\2\x80",
		"L\2\xff\xff\xff\xff\xff\xff\xff\xff\xff\x7f",
	};
	static const char *const longer[] = {
		"\1", "\1\3V\1", "\x80", "\1\x80", "\1\2V\1\1",
		"\1\xff\xff\xff\xff\xff\xff\xff\xff\xff\1V",
	};

	for (size_t i = 0; i < sizeof(torn) / sizeof(torn[0]); i++) {
		OWN(GPROF_TRACE_EXPERIMENT, torn[i]);
		EXPECT_EQ(-EBADMSG, got.ret) TH_LOG("%zu", i);
		EXPECT_SAYS(got.error, "ends within a number");
		OWN(IN_STRINGS, torn[i]);
		EXPECT_EQ(-EBADMSG, got.ret) TH_LOG("%zu", i);
		EXPECT_SAYS(got.error, "ends within a number");
	}
	for (size_t i = 0; i < sizeof(longer) / sizeof(longer[0]); i++) {
		scene(23);
		build_end(&b);
		build_begin(&b, 1, NONE, 44);
		build_byte(&b, GPROF_EV_STRINGS);
		build_byte(&b, GPROF_EV_STRING);
		build_number(&b, 100);
		build_number(&b, sizeof(FACTS) + strlen(longer[i]));
		build_put(&b, FACTS, sizeof(FACTS));
		build_put(&b, longer[i], strlen(longer[i]));
		build_end(&b);
		build_begin(&b, 1, 9, 1);
		scene_end(23, 1);
		read_built();
		EXPECT_EQ(-EBADMSG, got.ret) TH_LOG("%zu", i);
		EXPECT_SAYS(got.error, "does not end with its string");
	}
}

TEST(what_is_cut_short_is_read_up_to_there)
{
	size_t whole;

	two_generations(22);
	read_built();
	whole = got.nr;
	b.n -= 2;	/* of the second generation's clock */
	read_built();
	EXPECT_EQS(-EBADMSG, got.ret, 6, got.nr);
	EXPECT_LT(got.nr, whole);
	EXPECT_SAYS(got.error, "ends in the middle of a batch");

	/* without the clock's batch at all the rest is no generation */
	two_generations(22);
	b.n -= 11;
	read_built();
	EXPECT_EQS(-EBADMSG, got.ret, 6, got.nr);

	/* behind a whole generation, garbage is told after its events */
	two_generations(22);
	build_bytes(&b, "garbage", 7);
	read_built();
	EXPECT_EQS(-EBADMSG, got.ret, whole - 1, got.nr, b.n - 7, got.st.offset);
}

static void *feed(void *arg)
{
	const int *fd = arg;
	size_t at = 0;

	/* in pieces that end anywhere */
	for (size_t n = 1; at < b.n; n = n % 13 + 1) {
		size_t len = n < b.n - at ? n : b.n - at;

		if (write(*fd, b.b + at, len) != (ssize_t)len)
			break;
		at += len;
	}
	close(*fd);
	return NULL;
}

/* Many events, that a window does not hold at once, of two threads. */
static void long_trace(void)
{
	scene(22);
	for (int i = 0; i < 6000; i++)
		EV(&b, GPROF_EV_GO_LABEL, 1 + (uint64_t)i * 37 % 300, 1);
	build_end(&b);
	build_begin(&b, 1, 3, 100);
	EV(&b, GPROF_EV_PROC_STATUS, 1, 3, GPROF_PROC_RUNNING);
	for (uint64_t i = 0; i < 6000; i++)
		EV(&b, GPROF_EV_HEAP_ALLOC, 1 + i * 91 % 300, i << (i % 50));
	scene_end(22, 1);
}

static uint64_t sum_of(struct gprof_trace *t, uint64_t *nr)
{
	struct gprof_trace_event ev;
	uint64_t sum = 0;
	int ret;

	*nr = 0;
	while ((ret = gprof_trace_next(t, &ev)) > 0) {
		sum = sum * 31 + (uint64_t)ev.time * 7 + (uint64_t)ev.thread;
		if (ev.kind == GPROF_TRACE_METRIC)
			sum += ev.metric.value;
		++*nr;
	}
	if (ret)
		sum = (uint64_t)ret;
	gprof_trace_free(t);
	return sum;
}

TEST(memory_file_and_pipe_are_read_alike)
{
	uint64_t sum, nr, nr_file, nr_pipe;
	char path[128];
	pthread_t thread;
	int fds[2], fd;

	long_trace();
	sum = sum_of(gprof_trace_new_memory(b.b, b.n, NULL), &nr);
	EXPECT_EQ(12005, nr);

	snprintf(path, sizeof(path), "%s/trace", lib_tmpdir());
	ASSERT_TRUE(lib_put(path, "before", 6));
	fd = open(path, O_RDWR);
	ASSERT_LE(0, fd);
	ASSERT_EQS((ssize_t)b.n, pwrite(fd, b.b, b.n, 6), 6, lseek(fd, 6, SEEK_SET));
	EXPECT_EQS(sum, sum_of(gprof_trace_new(fd, NULL), &nr_file), nr, nr_file,
		   6, lseek(fd, 0, SEEK_CUR));
	close(fd);

	ASSERT_ZEROS(pipe(fds), pthread_create(&thread, NULL, feed, &fds[1]));
	EXPECT_EQS(sum, sum_of(gprof_trace_new(fds[0], NULL), &nr_pipe), nr, nr_pipe);
	pthread_join(thread, NULL);
	close(fds[0]);
	*strrchr(path, '/') = '\0';
	lib_sh("rm -r %s", path);
}

TEST(offset_of_an_error_does_not_depend_on_where_bytes_come_from)
{
	struct got first;
	char path[128];
	int fd;

	scene(22);
	EV(&b, GPROF_EV_GO_LABEL, 1, 1);
	build_end(&b);
	build_begin(&b, 1, 0, NONE);	/* a time that there is not */
	EV(&b, GPROF_EV_GO_LABEL, 1, 1);
	scene_end(22, 1);
	read_built();
	first = got;
	EXPECT_EQ(-EBADMSG, first.ret);
	EXPECT_SAYS(first.error, "the time of a batch is beyond");
	EXPECT_EQ(GPROF_EV_GO_LABEL, b.b[first.st.offset]);

	snprintf(path, sizeof(path), "%s/trace", lib_tmpdir());
	ASSERT_TRUE(lib_put(path, b.b, b.n));
	fd = open(path, O_RDONLY);
	read_from(gprof_trace_new(fd, NULL));
	close(fd);
	*strrchr(path, '/') = '\0';
	lib_sh("rm -r %s", path);
	EXPECT_EQS(first.ret, got.ret, first.nr, got.nr, first.st.offset, got.st.offset);
	EXPECT_STREQ(first.error, got.error);
}

static ssize_t no_read(void *ctx, void *buf, size_t len)
{
	return -EIO;
}

TEST(errors_of_reading_are_passed_on)
{
	read_from(gprof_trace_new_stream(no_read, NULL, NULL));
	EXPECT_EQ(-EIO, got.ret);
	EXPECT_SAYS(got.error, "Input/output error");
	read_from(gprof_trace_new(-1, NULL));
	EXPECT_EQ(-EBADF, got.ret);
	gprof_trace_free(NULL);
}

TEST(empty_batch_of_a_pipe_is_no_end)
{
	uint64_t nr, piped;
	int fds[2];
	pthread_t thread;
	uint64_t sum;

	build_header(&b, 22);
	build_begin(&b, 1, 0, 0);
	scene_end(22, 1);
	sum = sum_of(gprof_trace_new_memory(b.b, b.n, NULL), &nr);
	EXPECT_EQ(2, nr);
	ASSERT_ZEROS(pipe(fds), pthread_create(&thread, NULL, feed, &fds[1]));
	EXPECT_EQS(sum, sum_of(gprof_trace_new(fds[0], NULL), &piped), nr, piped);
	pthread_join(thread, NULL);
	close(fds[0]);
}

/* Batch times say 0, and its first event comes after a sync all the same. */
TEST(time_zero_is_no_exception)
{
	build_header(&b, 22);
	build_begin(&b, 1, 0, 0);
	EV(&b, GPROF_EV_PROC_STATUS, 0, 0, GPROF_PROC_IDLE);
	build_end(&b);
	build_begin(&b, 1, 1, 500);
	scene_end(22, 1);
	read_built();
	ASSERT_EQ(3, got.nr);
	EXPECT_EQS(0, got.ev[0].time, 1, got.ev[1].time, 2, got.ev[2].time);
}

TEST(names_of_numbers)
{
	EXPECT_STREQ("GoStart", gprof_trace_type_name(GPROF_EV_GO_START));
	EXPECT_STREQ("GoroutineStackFree", gprof_trace_type_name(136));
	EXPECT_EQS(NULL, gprof_trace_type_name(137), NULL, gprof_trace_type_name(0));
	EXPECT_STREQ("StateTransition", gprof_trace_kind_name(GPROF_TRACE_STATE_TRANSITION));
	EXPECT_EQ(NULL, gprof_trace_kind_name(GPROF_TRACE_NR_KINDS));
	EXPECT_STREQ("Idle", gprof_trace_state_name(GPROF_TRACE_RESOURCE_PROC, 3));
	EXPECT_EQ(NULL, gprof_trace_state_name(GPROF_TRACE_RESOURCE_PROC, 4));
	EXPECT_EQ(NULL, gprof_trace_state_name(GPROF_TRACE_RESOURCE_NONE, 0));
}

TEST_HARNESS_MAIN
