// SPDX-License-Identifier: GPL-2.0-only
/* The kernel's words to events: times, who ran, operands, names, losses, and garbage. */
#include "harness.h"
#include "lib_util.h"
#include "trace/convert/trace_decode.h"

#define START	1000000000ULL

FIXTURE(decode) {
	struct gprof_ktrace k;
	struct gprof_trace_point events[64];
	size_t nr;
	uint64_t lost;
	char name[16];
	uint32_t named;
	uint64_t named_at;
	unsigned int maps;
	int fail;
};

static int on_point(void *ctx, const struct gprof_trace_point *e)
{
	FIXTURE_DATA(decode) *self = ctx;

	if (e->type == GPROF_TRACE_POINT_LOST)
		self->lost += e->arg;
	self->events[self->nr++ % 64] = *e;
	return self->fail;
}

static int on_task(void *ctx, uint32_t cpu, uint64_t time, const struct gprof_task_rec *rec)
{
	FIXTURE_DATA(decode) *self = ctx;

	memcpy(self->name, rec->comm, sizeof(self->name));
	self->named = rec->tid;
	self->named_at = time;
	return self->fail;
}

static int on_stack(void *ctx, const struct gprof_stack_rec *rec, uint32_t *handle)
{
	FIXTURE_DATA(decode) *self = ctx;

	/* Its caller's name, so to speak. */
	*handle = rec->frames[0];
	return self->fail;
}

static int on_map(void *ctx, const struct gprof_map_rec *rec, const char *path)
{
	FIXTURE_DATA(decode) *self = ctx;

	(void)rec;
	self->maps += !strcmp(path, "/bin/x");
	return self->fail;
}

static int on_note(void *ctx, const struct gprof_annotation_rec *rec, uint64_t *id)
{
	FIXTURE_DATA(decode) *self = ctx;

	*id = rec->task + 100;
	return self->fail;
}

static const struct gprof_ktrace_ops ops = { on_point, on_task, on_stack, on_map, on_note };

static int generation(FIXTURE_DATA(decode) *self, uint64_t mono_ns)
{
	struct gprof_generation_rec g = {
		.rec = { GPROF_REC_GENERATION, 0, sizeof(g) }, .generation = 1,
		.mono_ns = mono_ns, .real_ns = 1, .weight = 1, .cpu = 3,
	};

	return gprof_ktrace_feed(&self->k, &g.rec, sizeof(g));
}

static int word(FIXTURE_DATA(decode) *self, unsigned int type, unsigned int arg, uint64_t number,
		uint64_t time)
{
	uint64_t w = arg | type << GPROF_TRACE_ARG_BITS | GPROF_REC_SHORT |
		     number << GPROF_TRACE_TID_SHIFT | time << GPROF_TRACE_TIME_SHIFT;
	struct gprof_rec rec;

	memcpy(&rec, &w, sizeof(rec));
	return gprof_ktrace_feed(&self->k, &rec, sizeof(rec));
}

static int operand(FIXTURE_DATA(decode) *self, uint64_t value)
{
	uint64_t w = GPROF_TRACE_OPERAND << GPROF_TRACE_ARG_BITS | GPROF_REC_SHORT |
		     value << GPROF_TRACE_OPERAND_SHIFT;
	struct gprof_rec rec;

	memcpy(&rec, &w, sizeof(rec));
	return gprof_ktrace_feed(&self->k, &rec, sizeof(rec));
}

struct word {
	unsigned int type, arg;
	uint64_t number, time;
};

static void feed_words(struct __test_metadata *_metadata, FIXTURE_DATA(decode) *self,
		       const struct word *w, size_t nr)
{
	for (; nr; nr--, w++)
		ASSERT_EQ(0, w->type == GPROF_TRACE_OPERAND ? operand(self, w->number) :
			     word(self, w->type, w->arg, w->number, w->time));
}

/* Each a word, or an operand of the one before. */
#define WORDS(...) do {									\
	const struct word _w[] = { __VA_ARGS__ };					\
	feed_words(_metadata, self, _w, ARRAY_SIZE(_w));				\
} while (0)
#define W(type, ...)	{ GPROF_TRACE_##type, __VA_ARGS__ }
#define OPERAND(value)	{ GPROF_TRACE_OPERAND, 0, value, 0 }

static void expect_points(struct __test_metadata *_metadata, const FIXTURE_DATA(decode) *self,
			  size_t first, const struct gprof_trace_point *want, size_t nr)
{
	ASSERT_EQ(first + nr, self->nr);
	for (size_t i = 0; i < nr; i++) {
		const struct gprof_trace_point *got = &self->events[first + i];

		EXPECT_EQ(want[i].type, got->type) TH_LOG("point %zu", first + i);
		EXPECT_EQ(START + 64 * want[i].time, got->time) TH_LOG("point %zu", first + i);
		EXPECT_EQ(want[i].why, got->why) TH_LOG("point %zu", first + i);
		EXPECT_EQ(want[i].tid, got->tid) TH_LOG("point %zu", first + i);
		EXPECT_EQ(want[i].other, got->other) TH_LOG("point %zu", first + i);
		EXPECT_EQ(want[i].arg, got->arg) TH_LOG("point %zu", first + i);
		EXPECT_EQ(want[i].stack, got->stack) TH_LOG("point %zu", first + i);
		EXPECT_EQ(3, got->cpu) TH_LOG("point %zu", first + i);
	}
}

/* All that there are from the first one on; times are in the kernel's units since START. */
#define EXPECT_POINTS(first, ...) do {							\
	const struct gprof_trace_point _want[] = { __VA_ARGS__ };			\
	expect_points(_metadata, self, first, _want, ARRAY_SIZE(_want));		\
} while (0)
#define P(_type, _time, _tid, _other, _arg, ...)					\
	{ .type = GPROF_TRACE_POINT_##_type, .time = _time, .tid = _tid, .other = _other, \
	  .arg = _arg, __VA_ARGS__ }
#define NOBODY	GPROF_TRACE_NO_TID

FIXTURE_SETUP(decode)
{
	gprof_ktrace_init(&self->k, &ops, self);
	ASSERT_EQ(0, generation(self, START));
}

FIXTURE_TEARDOWN(decode)
{
	gprof_ktrace_free(&self->k);
}

TEST_F(decode, running_tasks_and_their_times)
{
	/* To a stranger, and from that to the idle task. */
	WORDS(W(RUNNING, 0, 10, 0), W(WAKING, GPROF_TRACE_BY_IRQ, 11, 1),
	      W(SWITCH, GPROF_TRACE_PREV_BLOCKED, 4194303, 2),
	      W(SWITCH, GPROF_TRACE_PREV_DEAD | GPROF_TRACE_NOT_TARGET, 0, UINT32_MAX),
	      W(SWITCH, GPROF_TRACE_PREV_OTHER, 0, UINT32_MAX));
	EXPECT_POINTS(0, P(RUNNING, 0, NOBODY, 10, 0), P(WAKING, 1, NOBODY, 11, 0),
		      P(SWITCH, 2, 10, 4194303, 0, .why = GPROF_TRACE_WHY_WAITS),
		      P(SWITCH, UINT32_MAX, 4194303, 0, 0, .why = GPROF_TRACE_WHY_DEAD),
		      P(SWITCH, UINT32_MAX, 0, 0, 0, .why = GPROF_TRACE_WHY_SLEEPS));
	EXPECT_EQS(4, self->k.samples, 0, self->k.malformed, 0, self->k.absences);
}

TEST_F(decode, a_wait_has_its_reason)
{
	const unsigned int blocked = GPROF_TRACE_WAIT_BLOCKED;
	const unsigned int outside = GPROF_TRACE_WAIT_NOT_TARGET;

	WORDS(W(RUNNING, 0, 10, 0), W(WAIT, GPROF_WAIT_FOR_PIPE, 11, 1),
	      W(WAIT | blocked, GPROF_WAIT_FOR_IO, 12, 2),
	      W(WAIT | outside, GPROF_WAIT_FOR_OTHER, 0, 3),
	      W(RUNNING, 0, 13, 4),
	      W(WAIT | blocked | outside, GPROF_WAIT_FOR_FAULT, 0, 5), W(WAKING, 0, 10, 6));
	EXPECT_POINTS(1,
		      P(SWITCH, 1, 10, 11, 1 + GPROF_WAIT_FOR_PIPE, .why = GPROF_TRACE_WHY_SLEEPS),
		      P(SWITCH, 2, 11, 12, 1 + GPROF_WAIT_FOR_IO, .why = GPROF_TRACE_WHY_WAITS),
		      P(SWITCH, 3, 12, 0, 1, .why = GPROF_TRACE_WHY_SLEEPS),
		      P(RUNNING, 4, 0, 13, 0),
		      P(SWITCH, 5, 13, 0, 1 + GPROF_WAIT_FOR_FAULT, .why = GPROF_TRACE_WHY_WAITS),
		      P(WAKING, 6, 0, 10, 0));
	/* A task outside the target is none that could have been away. */
	EXPECT_EQ(0, self->k.absences);
}

TEST_F(decode, an_operand_belongs_to_the_word_before)
{
	WORDS(W(RUNNING, 0, 10, 0), W(MIGRATE, 0, 12, 5));
	EXPECT_EQ(1, self->nr);
	WORDS(OPERAND(7ULL << 24 | 2));
	EXPECT_POINTS(1, P(MIGRATE, 5, 10, 12, 2));
	WORDS(OPERAND(1));
	EXPECT_EQ(1, self->k.malformed);
	/* One that is missing takes the event with it, and no other. */
	WORDS(W(FREQ, 0, 1, 6), W(EXIT, 0, 10, 7));
	EXPECT_POINTS(2, P(EXIT, 7, 10, 10, 0));
	EXPECT_EQ(2, self->k.malformed);
	/* Whoever executes takes another number. */
	WORDS(W(EXEC, 0, 9, 8), OPERAND(10), W(EXIT, 0, 9, 9));
	EXPECT_POINTS(3, P(EXEC, 8, 10, 9, 0), P(EXIT, 9, 9, 9, 0));
}

TEST_F(decode, what_the_groups_tell)
{
	WORDS(W(RUNNING, 0, 10, 0), W(SYSCALL_ENTER, 0, 60, 1), W(SYSCALL_EXIT, 0, 11, 2),
	      W(SYSCALL_ENTER, 1, 60, 3), W(IRQ_ENTER, 1, 236, 4), W(SOFTIRQ_EXIT, 0, 7, 5),
	      W(FAULT, GPROF_TRACE_FAULT_WRITE, 0, 6), OPERAND(1ULL << 52),
	      W(RECLAIM_BEGIN, 1, 0, 7), W(FREQ, 0, 3, 8), OPERAND(2400000));
	EXPECT_POINTS(1, P(ENTER, 1, 10, 0, 60), P(LEAVE, 2, 10, 11, GPROF_TRACE_NO_CALL),
		      P(ENTER, 3, 10, 0, 60 | GPROF_TRACE_CALL_32),
		      P(IRQ_ENTER, 4, 10, 0, 236 | GPROF_TRACE_IRQ_VECTOR),
		      P(SOFTIRQ_LEAVE, 5, 10, 0, 7),
		      P(FAULT, 6, 10, GPROF_TRACE_POINT_FAULT_WRITE, 1ULL << 52),
		      P(RECLAIM_BEGIN, 7, 10, 0, 1), P(FREQ, 8, 10, 3, 2400000));
	EXPECT_EQ(8, self->k.samples);
}

TEST_F(decode, names)
{
	struct gprof_task_rec t = {
		.rec = { GPROF_REC_TASK, 0, sizeof(t) }, .tid = 12, .comm = "somebody",
	};

	ASSERT_EQ(0, word(self, GPROF_TRACE_RUNNING, 0, 10, 4));
	ASSERT_EQ(0, gprof_ktrace_feed(&self->k, &t.rec, sizeof(t)));
	EXPECT_EQS(12, self->named, START + 4 * 64, self->named_at);
	EXPECT_STREQ("somebody", self->name);
	memset(t.comm, 'x', sizeof(t.comm));
	ASSERT_EQ(0, gprof_ktrace_feed(&self->k, &t.rec, sizeof(t)));
	ASSERT_EQ(0, gprof_ktrace_feed(&self->k, &t.rec, sizeof(t) - 8));
	EXPECT_EQ(2, self->k.malformed);
	EXPECT_STREQ("somebody", self->name);
}

TEST_F(decode, after_losses_the_running_task_is_unknown)
{
	uint64_t rec[5] = { 0, 3, 0, 1, 0 };
	struct gprof_rec head = { GPROF_REC_LOST, 0, sizeof(rec) };
	const uint64_t switched = GPROF_TRACE_SWITCH << GPROF_TRACE_ARG_BITS | GPROF_REC_SHORT |
				  5ULL << GPROF_TRACE_TIME_SHIFT;
	struct gprof_trace_point many;

	memcpy(rec, &head, sizeof(head));
	ASSERT_EQ(0, word(self, GPROF_TRACE_RUNNING, 0, 10, 4));
	ASSERT_EQ(0, gprof_ktrace_feed(&self->k, (void *)rec, sizeof(rec)));
	EXPECT_EQ(4, self->k.lost);
	/* Up to when is told by what comes next, which is not one of many. */
	EXPECT_ZEROS(self->lost, gprof_ktrace_plain(&self->k, &switched, 1, &many));
	WORDS(W(RUNNING, 0, 11, 5));
	EXPECT_EQ(4, self->lost);
	EXPECT_POINTS(1, P(LOST, 5, NOBODY, 0, 4), P(RUNNING, 5, NOBODY, 11, 0));
	EXPECT_EQ(0, self->k.absences);
	/* Without losses it is the CPU that was away. */
	WORDS(W(RUNNING, 0, 12, 6));
	EXPECT_EQ(1, self->k.absences);
	EXPECT_POINTS(3, P(CPU_OFF, 6, NOBODY, 0, 0), P(CPU_ON, 6, NOBODY, 0, 0),
		      P(RUNNING, 6, 11, 12, 0));
}

TEST_F(decode, garbage)
{
	struct gprof_rec rec = { 77, 0, 8 };
	struct gprof_ktrace fresh;

	ASSERT_EQ(0, gprof_ktrace_feed(&self->k, &rec, 8));
	EXPECT_EQ(1, self->k.unknown);
	ASSERT_EQ(0, word(self, 30, 0, 1, 1));
	EXPECT_EQ(2, self->k.unknown);
	ASSERT_EQ(0, word(self, 0, 0, 1, 1));
	rec.type = GPROF_REC_GENERATION;
	ASSERT_EQ(0, gprof_ktrace_feed(&self->k, &rec, 8));
	rec.type = GPROF_REC_LOST;
	ASSERT_EQ(0, gprof_ktrace_feed(&self->k, &rec, 8));
	EXPECT_EQS(2, self->k.malformed, 0, self->nr);
	/* Time never goes back. */
	ASSERT_ZEROS(word(self, GPROF_TRACE_EXIT, 0, 1, 9), word(self, GPROF_TRACE_EXIT, 0, 1, 8));
	EXPECT_EQS(self->events[0].time, self->events[1].time, 3, self->k.malformed);
	/* Nothing counts before the first generation. */
	fresh = self->k;
	self->k = (struct gprof_ktrace){ 0 };
	gprof_ktrace_init(&self->k, &ops, self);
	ASSERT_EQ(0, word(self, GPROF_TRACE_EXIT, 0, 1, 9));
	EXPECT_EQS(1, self->k.malformed, 2, self->nr);
	gprof_ktrace_free(&self->k);
	self->k = fresh;
	self->fail = -5;
	EXPECT_EQ(-5, word(self, GPROF_TRACE_EXIT, 0, 1, 10));
}

static int stack(FIXTURE_DATA(decode) *self, uint32_t id, uint64_t name)
{
	uint64_t rec[sizeof(struct gprof_stack_rec) / 8 + 1] = { 0 };
	struct gprof_stack_rec *s = (void *)rec;

	s->rec = (struct gprof_rec){ GPROF_REC_STACK, 0, sizeof(rec) };
	s->id = id;
	s->nr_user = 1;
	s->frames[0] = name;
	return gprof_ktrace_feed(&self->k, &s->rec, sizeof(rec));
}

static int sample(FIXTURE_DATA(decode) *self, unsigned int flags, uint32_t id, uint64_t time)
{
	uint64_t rec[sizeof(struct gprof_sample_rec) / 8 + 1] = { 0 };
	struct gprof_sample_rec *s = (void *)rec;

	s->rec = (struct gprof_rec){ GPROF_REC_SAMPLE, (uint16_t)flags, sizeof(rec) };
	s->time = time;
	s->tid = 10;
	s->stack = id;
	s->extra[0] = 2000;
	return gprof_ktrace_feed(&self->k, &s->rec, sizeof(rec));
}

#define EVENT	GPROF_SAMPLE_REC_F_EVENT

TEST_F(decode, a_stack_belongs_to_the_event_before)
{
	self->k.stacks = true;
	WORDS(W(RUNNING, 0, 10, 0), W(WAKING, GPROF_TRACE_BY_TASK, 11, 1));
	EXPECT_EQ(1, self->nr);
	ASSERT_ZEROS(stack(self, 5, 100), sample(self, EVENT, 5, START + 64 + 63));
	EXPECT_POINTS(1, P(WAKING, 1, 10, 11, 0, .stack = 101));
	/* With an operand, and a CPU sample by an NMI between all of it. */
	WORDS(W(FAULT, 0, 0, 2));
	ASSERT_ZEROS(stack(self, 0, 200), sample(self, GPROF_SAMPLE_REC_F_WEIGHT, 0, START + 64),
		     operand(self, 77), sample(self, EVENT, 5, START + 2 * 64));
	EXPECT_POINTS(2, P(SAMPLE, 1, 10, 0, 2000, .stack = 201),
		      P(FAULT, 2, 10, 0, 77, .stack = 101));
	/* One without, which the next tells. */
	WORDS(W(SWITCH, GPROF_TRACE_PREV_SLEEPS, 11, 3), W(EXIT, 0, 11, 4));
	EXPECT_POINTS(4, P(SWITCH, 3, 10, 11, 0, .why = GPROF_TRACE_WHY_SLEEPS));
	/* Or time does. */
	ASSERT_EQS(0, gprof_ktrace_flush(&self->k, START + 4 * 64), 5, self->nr,
		   0, gprof_ktrace_flush(&self->k, START + 4 * 64 + 1), 6, self->nr,
		   0, sample(self, EVENT, 5, START + 4 * 64));
	EXPECT_EQS(6, self->nr, 1, self->k.orphans, 2, self->k.with_stack);
	/* 4 events, 3 stacks of theirs, of which one is of nobody, and a CPU sample. */
	EXPECT_EQS(4 + 3 + 1, self->k.samples, 0, self->k.malformed);
}

/* What was lost between them, or a stack that is not there, gives none to another. */
TEST_F(decode, a_stack_of_another_time_is_of_another_event)
{
	static const int64_t off[] = { -1, 64 };

	self->k.stacks = true;
	ASSERT_EQ(0, stack(self, 5, 100));
	for (int i = 0; i < 2; i++) {
		uint64_t units = 2 + 2 * (uint64_t)i;

		ASSERT_EQ(0, word(self, GPROF_TRACE_EXIT, 0, 10, units));
		ASSERT_EQ(0, sample(self, EVENT, 5, START + units * 64 + (uint64_t)off[i]));
	}
	ASSERT_ZEROS(word(self, GPROF_TRACE_EXIT, 0, 10, 8), sample(self, EVENT, 6, START + 8 * 64),
		     word(self, GPROF_TRACE_EXIT, 0, 10, 9));
	EXPECT_EQ(3, self->nr);
	for (int i = 0; i < 3; i++)
		EXPECT_EQ(0, self->events[i].stack);
	EXPECT_EQS(3, self->k.orphans, 0, self->k.with_stack);
}

/* Its id is of the new generation then, and who runs is told between them. */
TEST_F(decode, a_generation_may_begin_before_the_stack)
{
	self->k.stacks = true;
	WORDS(W(RUNNING, 0, 10, 0));
	ASSERT_EQ(0, stack(self, 5, 100));
	WORDS(W(SWITCH, GPROF_TRACE_PREV_SLEEPS, 11, 3));
	ASSERT_EQS(0, generation(self, START + 200), 0, word(self, GPROF_TRACE_RUNNING, 0, 11, 0),
		   0, stack(self, 5, 300), 0, sample(self, EVENT, 5, START + 200), 3, self->nr);
	EXPECT_EQS(GPROF_TRACE_POINT_SWITCH, self->events[1].type, 301, self->events[1].stack,
		   GPROF_TRACE_POINT_RUNNING, self->events[2].type, 11, self->events[2].other,
		   0, self->k.absences);
	/* No id of the generation before is valid. */
	ASSERT_ZEROS(generation(self, START + 300), sample(self, 0, 5, START + 300));
	ASSERT_EQ(4, self->nr);
	EXPECT_EQS(0, self->events[3].stack, 1, self->k.orphans);
}

/* It says of the word before it that a trigger fired, whose stack may lie in between. */
TEST_F(decode, triggers_that_fired)
{
	struct gprof_trigger_rec f = {
		.rec = { GPROF_REC_TRIGGER, GPROF_TRIGGER_EVENT_F_GOES_ON, sizeof(f) },
		.time = START + 5 * GPROF_TRACE_TIME_UNIT + 1, .duration_ns = 1234, .index = 2,
		.tid = 77,
	};
	const struct gprof_trace_point *e = self->events;

	self->k.stacks = true;
	ASSERT_EQS(0, word(self, GPROF_TRACE_SWITCH, GPROF_TRACE_PREV_SLEEPS, 10, 4),
		   0, gprof_ktrace_feed(&self->k, &f.rec, sizeof(f)), 2, self->nr);
	EXPECT_EQS(GPROF_TRACE_POINT_SWITCH, e[0].type, GPROF_TRACE_POINT_FIRED, e[1].type,
		   START + 5 * GPROF_TRACE_TIME_UNIT, e[1].time, 3, e[1].cpu, 2, e[1].why,
		   10, e[1].tid, 77, e[1].other, 1234 | GPROF_TRACE_GOES_ON, e[1].arg);
	/* No event of the target: who counts them does not count it. */
	EXPECT_EQS(1, self->k.samples, 1, self->k.fired);

	/* One that was overtaken by what it follows; a stranger's CPU; and without sense. */
	ASSERT_EQ(0, word(self, GPROF_TRACE_SWITCH, GPROF_TRACE_NOT_TARGET, 0, 9));
	f.rec.flags = 0;
	ASSERT_EQS(0, gprof_ktrace_feed(&self->k, &f.rec, sizeof(f)), 4, self->nr);
	EXPECT_EQS(START + 9 * GPROF_TRACE_TIME_UNIT, e[3].time, 0, e[3].tid, 1234, e[3].arg);
	ASSERT_EQ(0, gprof_ktrace_feed(&self->k, &f.rec, sizeof(f) - 8));
	f.index = 256;
	ASSERT_EQ(0, gprof_ktrace_feed(&self->k, &f.rec, sizeof(f)));
	f.index = 0;
	f.tid = GPROF_TRACE_TIDS;
	ASSERT_EQ(0, gprof_ktrace_feed(&self->k, &f.rec, sizeof(f)));
	EXPECT_EQS(3, self->k.malformed, 4, self->nr);
}

TEST_F(decode, mappings_are_passed_on)
{
	uint64_t rec[sizeof(struct gprof_map_rec) / 8 + 1] = { 0 };
	struct gprof_map_rec *m = (void *)rec;

	m->rec = (struct gprof_rec){ GPROF_REC_MAP, 0, sizeof(rec) };
	m->start = 4096;
	m->end = 8192;
	strcpy(m->path, "/bin/x");
	ASSERT_EQ(0, gprof_ktrace_feed(&self->k, &m->rec, sizeof(rec)));
	EXPECT_EQ(1, self->maps);
	m->end = 4096;
	ASSERT_EQ(0, gprof_ktrace_feed(&self->k, &m->rec, sizeof(rec)));
	EXPECT_EQS(1, self->maps, 1, self->k.malformed);
}

#define MANY	4096

/* Of all kinds, with arguments that some have, whose time seldom goes back. */
static void random_words(uint64_t *words, size_t nr)
{
	uint64_t random = 0x9e3779b9, time = 0;

	for (size_t i = 0; i < nr; i++) {
		uint64_t r = lib_random(&random);
		unsigned int type = r % 4 ? 1 + r % 13 : r % 32;

		time += lib_random(&random) % 3;
		words[i] = (r >> 8 & 15) | (uint64_t)type << GPROF_TRACE_ARG_BITS | GPROF_REC_SHORT |
			   (r >> 16 & 0x3fffff) << GPROF_TRACE_TID_SHIFT |
			   (r >> 40 & 255 ? time : time / 2) << GPROF_TRACE_TIME_SHIFT;
	}
}

/* What was handed out, of which the last 64 are kept, and what is known in the end. */
static void expect_same(struct __test_metadata *_metadata, const FIXTURE_DATA(decode) *self,
			const FIXTURE_DATA(decode) *other)
{
	EXPECT_EQ(self->nr, other->nr);
	EXPECT_EQ(0, memcmp(self->events, other->events, sizeof(self->events)));
	EXPECT_EQS(self->k.time, other->k.time, self->k.running, other->k.running,
		   self->k.samples, other->k.samples, self->k.waits, other->k.waits,
		   self->k.unknown, other->k.unknown, self->k.malformed, other->k.malformed,
		   self->k.decoder.next, other->k.decoder.next);
}

/* Words of one event each may be taken many at a time: of them the same is said. */
TEST_F(decode, many_words_say_what_each_says)
{
	static struct gprof_trace_point points[MANY];
	static uint64_t words[MANY];
	FIXTURE_DATA(decode) one = { .nr = 0 };
	uint64_t random = 1;
	size_t i, nr, taken = 0;

	random_words(words, MANY);
	gprof_ktrace_init(&one.k, &ops, &one);
	ASSERT_EQ(0, generation(&one, START));
	for (i = 0; i < MANY; i += nr) {
		size_t most = 1 + lib_random(&random) % 64;

		nr = most < MANY - i ? most : MANY - i;
		/* whatever was there before */
		memset(points, 0xff, nr * sizeof(*points));
		nr = gprof_ktrace_plain(&self->k, &words[i], nr, points);
		taken += nr;
		for (size_t j = 0; j < nr; j++)
			on_point(self, &points[j]);
		if (!nr) {
			nr = 1;
			ASSERT_EQ(0, gprof_ktrace_feed(&self->k, (const void *)&words[i], 8));
		}
		for (size_t j = 0; j < nr; j++)
			ASSERT_EQ(0, gprof_ktrace_feed(&one.k, (const void *)&words[i + j], 8));
		expect_same(_metadata, self, &one);
	}
	EXPECT_LT(MANY / 4, taken);
	/* A record that is none of one word is not taken for one, whatever it looks like. */
	words[0] = GPROF_TRACE_SWITCH << GPROF_TRACE_ARG_BITS |
		   UINT64_MAX << GPROF_TRACE_TIME_SHIFT;
	EXPECT_EQ(0, gprof_ktrace_plain(&self->k, words, 1, points));
	words[0] |= GPROF_REC_SHORT;
	EXPECT_EQ(1, gprof_ktrace_plain(&self->k, words, 1, points));
	/* Events that wait for their stacks are handed out one by one. */
	self->k.stacks = true;
	EXPECT_EQ(0, gprof_ktrace_plain(&self->k, words, MANY, points));
	gprof_ktrace_free(&one.k);
}

/* As the kernel would write it, but for what @change says. */
static int feed_note(FIXTURE_DATA(decode) *self, uint64_t time,
		     void (*change)(struct gprof_annotation_rec *rec))
{
	union {
		struct gprof_annotation_rec rec;
		char bytes[sizeof(struct gprof_annotation_rec) + 8];
	} a = {
		.rec = {
			.rec = { GPROF_REC_ANNOTATION, GPROF_ANNOTATE_LOG, sizeof(a) },
			.time = time, .tid = 7, .name_size = 3, .text_size = 4, .task = 5,
		},
	};

	memcpy(a.bytes + sizeof(a.rec), "nametxt", 7);
	if (change)
		change(&a.rec);
	return gprof_ktrace_feed(&self->k, &a.rec.rec, a.rec.rec.size);
}

static void no_tid(struct gprof_annotation_rec *rec) { rec->tid = 0; }
static void wide_tid(struct gprof_annotation_rec *rec) { rec->tid = GPROF_TRACE_TIDS; }
static void no_kind(struct gprof_annotation_rec *rec) { rec->rec.flags = 0; }
static void new_kind(struct gprof_annotation_rec *rec) { rec->rec.flags = __GPROF_ANNOTATE_WHATS; }
static void long_text(struct gprof_annotation_rec *rec) { rec->text_size = 6; }
static void longer_name(struct gprof_annotation_rec *rec) { rec->name_size = 129; }
static void short_rec(struct gprof_annotation_rec *rec) { rec->rec.size = sizeof(*rec) - 8; }

TEST_F(decode, an_annotation_is_a_point_of_its_writer)
{
	static void (*const changes[])(struct gprof_annotation_rec *rec) = {
		no_tid, wide_tid, no_kind, new_kind, long_text, longer_name, short_rec,
	};

	ASSERT_EQ(0, generation(self, 2000000000));
	EXPECT_EQ(0, feed_note(self, 2000001000, NULL));
	ASSERT_EQ(1, self->nr);
	EXPECT_EQS(GPROF_TRACE_POINT_ANNOTATION, self->events[0].type, 7, self->events[0].tid,
		   105, self->events[0].arg);
	/* In the units of the words around it. */
	EXPECT_EQ(2000000000 + 15 * GPROF_TRACE_TIME_UNIT, self->events[0].time);
	EXPECT_EQ(1, self->k.samples);
	for (unsigned int i = 0; i < sizeof(changes) / sizeof(*changes); i++) {
		EXPECT_EQS(0, feed_note(self, 2000003000, changes[i]), i + 1, self->k.malformed);
	}
	EXPECT_EQS(1, self->nr, 1, self->k.samples);
}

TEST_HARNESS_MAIN
