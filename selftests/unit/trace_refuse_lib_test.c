// SPDX-License-Identifier: GPL-2.0-only
/* What the trace reader refuses, and with which words. Each trace is right but for one thing. */
#include "harness.h"
#include "lib_util.h"
#include "trace_build.h"

#define EVENTS	10

/* An event of a trace: @gen 0 ends the list. Times go up by 1. */
struct event {
	uint64_t gen;
	uint64_t m;
	uint8_t type;
	uint64_t args[GPROF_TRACE_ARGS_MAX];
};

/*
 * Events behind those that say that thread 0 has proc 0 and goroutine 1, which
 * runs. Thread 7 has nothing. String 1 is "name", stack 1 has a frame.
 */
struct refusal {
	const char *phrase;
	struct event ev[EVENTS];
};

#define P(type, ...) { 1, 0, GPROF_EV_##type, { __VA_ARGS__ } }
#define Q(type, ...) { 1, 7, GPROF_EV_##type, { __VA_ARGS__ } }
#define N(type, ...) { 1, NONE, GPROF_EV_##type, { __VA_ARGS__ } }
#define G2(type, ...) { 2, 0, GPROF_EV_##type, { __VA_ARGS__ } }
#define SECOND G2(PROC_STATUS, 0, GPROF_PROC_RUNNING), G2(GO_STATUS, 1, 0, GPROF_GO_RUNNING)

static const struct refusal refusals[] = {
	/* where it happens */
	{ "GoBlock on thread 7: the thread has no proc", { Q(GO_BLOCK, 0, 0) } },
	{ "GoStop on thread 0: the thread runs no goroutine", { P(GO_BLOCK, 0, 0), P(GO_STOP, 0, 0) } },
	{ "ProcsChange on thread 7: the thread has no proc", { Q(PROCS_CHANGE, 1, 0) } },
	{ "HeapAlloc on thread 7: the thread has no proc", { Q(HEAP_ALLOC, 1) } },
	{ "GoLabel on thread 7: the thread has no proc", { Q(GO_LABEL, 1) } },
	{ "UserLog on thread 7: the thread has no proc", { Q(USER_LOG, 1, 1, 1, 0) } },
	{ "Span on thread -1: it happens on a thread, and this is none", { N(SPAN, 1, 2, 3) } },
	{ "GoCreateSyscall on thread -1: it happens on a thread", { N(GO_CREATE_SYSCALL, 9) } },
	{ "ClockSnapshot is no event of a thread", { P(CLOCK_SNAPSHOT, 1, 2, 3) } },

	/* ids of the dictionary */
	{ "GoBlock on thread 0: it names the string 9,", { P(GO_BLOCK, 9, 0) } },
	{ "GoBlock on thread 0: it names the stack 9,", { P(GO_BLOCK, 0, 9) } },
	{ "GoCreate on thread 0: it names the stack 9,", { P(GO_CREATE, 2, 9, 0) } },
	{ "GoCreate on thread 0: it names the stack 8,", { P(GO_CREATE, 2, 0, 8) } },
	{ "GoUnblock on thread 0: it names the stack 9,",
	  { P(GO_CREATE_BLOCKED, 2, 0, 0), P(GO_UNBLOCK, 2, 1, 9) } },
	{ "GoSyscallBegin on thread 0: it names the stack 9,", { P(GO_SYSCALL_BEGIN, 1, 9) } },
	{ "GoStatusStack on thread 0: it names the stack 9,",
	  { P(GO_STATUS_STACK, 2, NONE, GPROF_GO_WAITING, 9) } },
	{ "STWBegin on thread 0: it names the string 9,", { P(STW_BEGIN, 9, 0) } },
	{ "STWBegin on thread 0: it names the stack 9,", { P(STW_BEGIN, 1, 9) } },
	{ "GCBegin on thread 0: it names the stack 9,", { P(GC_BEGIN, 1, 9) } },
	{ "GCSweepBegin on thread 0: it names the stack 9,", { P(GC_SWEEP_BEGIN, 9) } },
	{ "GCMarkAssistBegin on thread 0: it names the stack 9,", { P(GC_MARK_ASSIST_BEGIN, 9) } },
	{ "ProcsChange on thread 0: it names the stack 9,", { P(PROCS_CHANGE, 1, 9) } },
	{ "GoLabel on thread 0: it names the string 9,", { P(GO_LABEL, 9) } },
	{ "UserTaskBegin on thread 0: it names the string 9,", { P(USER_TASK_BEGIN, 1, 0, 9, 0) } },
	{ "UserTaskBegin on thread 0: it names the stack 9,", { P(USER_TASK_BEGIN, 1, 0, 1, 9) } },
	{ "UserTaskEnd on thread 0: it names the stack 9,", { P(USER_TASK_END, 1, 9) } },
	{ "UserRegionBegin on thread 0: it names the string 9,", { P(USER_REGION_BEGIN, 1, 9, 0) } },
	{ "UserRegionBegin on thread 0: it names the stack 9,", { P(USER_REGION_BEGIN, 1, 1, 9) } },
	{ "UserRegionEnd on thread 0: it names the string 9,", { P(USER_REGION_END, 1, 9, 0) } },
	{ "UserRegionEnd on thread 0: it names the stack 9,", { P(USER_REGION_END, 1, 1, 9) } },
	{ "UserLog on thread 0: it names the string 9,", { P(USER_LOG, 1, 9, 1, 0) } },
	{ "UserLog on thread 0: it names the string 8,", { P(USER_LOG, 1, 1, 8, 0) } },
	{ "UserLog on thread 0: it names the stack 9,", { P(USER_LOG, 1, 1, 1, 9) } },

	/* procs */
	{ "proc 5 has the status 5, which there is not", { P(PROC_STATUS, 5, GPROF_PROC_NR) } },
	{ "its proc has the number that means none", { P(PROC_STATUS, NONE, GPROF_PROC_IDLE) } },
	{ "proc 0 is idle here, but was running", { P(PROC_STATUS, 0, GPROF_PROC_IDLE) } },
	{ "ProcStop on thread 7: the thread has no proc", { Q(PROC_STOP) } },
	{ "proc 0 is not running but idle",	/* thread 7 had it too, and let it go */
	  { Q(PROC_STATUS, 0, GPROF_PROC_RUNNING), Q(PROC_STOP), P(PROC_STOP) } },
	{ "1 threads of generation 1 wait for something that none of them does; the earliest is thread 7 with ProcStart p=3 p_seq=1",
	  { Q(PROC_START, 3, 1) } },
	{ "thread 7 with ProcStart p=3 p_seq=2",
	  { Q(PROC_STATUS, 3, GPROF_PROC_IDLE), Q(PROC_START, 3, 2) } },
	{ "thread 7 with ProcSteal p=0 p_seq=1 m=0", { Q(PROC_STEAL, 0, 1, 0) } },
	{ "it steals proc 0 from thread 9, which is not there",
	  { P(GO_SYSCALL_BEGIN, 1, 0), Q(PROC_STEAL, 0, 2, 9) } },
	{ "it steals proc 0 from thread 7, which has proc -1",
	  { P(GO_SYSCALL_BEGIN, 1, 0), Q(PROC_STEAL, 0, 2, 7) } },
	{ "proc 4 is in a syscall of no thread",
	  { N(PROC_STATUS, 4, GPROF_PROC_SYSCALL), N(PROC_STATUS, 4, GPROF_PROC_SYSCALL_ABANDONED) } },

	/* goroutines */
	{ "goroutine 5 has the status 5, which there is not", { P(GO_STATUS, 5, NONE, GPROF_GO_NR) } },
	{ "its goroutine has the number that means none", { P(GO_STATUS, NONE, NONE, GPROF_GO_WAITING) } },
	{ "its goroutine has the number that means none", { P(GO_CREATE, NONE, 0, 0) } },
	{ "goroutine 1 is waiting here, but was running", { P(GO_STATUS, 1, NONE, GPROF_GO_WAITING) } },
	{ "goroutine 5 is in a syscall of no thread", { P(GO_STATUS, 5, NONE, GPROF_GO_SYSCALL) } },
	{ "goroutine 5 is in a syscall of thread 0, which runs goroutine 1",
	  { P(PROCS_CHANGE, 1, 0), Q(GO_STATUS, 5, 0, GPROF_GO_SYSCALL) } },
	{ "goroutine 5 was never created", { SECOND, G2(GO_STATUS, 5, NONE, GPROF_GO_WAITING) } },
	{ "goroutine 1 is running here, but was waiting", { P(GO_BLOCK, 0, 0), SECOND } },
	{ "goroutine 2 is there already", { P(GO_CREATE, 2, 0, 0), P(GO_CREATE, 2, 0, 0) } },
	{ "goroutine 1 is not running but in a syscall",
	  { P(GO_SYSCALL_BEGIN, 1, 0), P(GO_CREATE, 2, 0, 0) } },
	{ "goroutine 1 is not running but in a syscall",
	  { P(GO_SYSCALL_BEGIN, 1, 0), P(GO_DESTROY) } },
	{ "goroutine 1 is not running but in a syscall",
	  { P(GO_SYSCALL_BEGIN, 1, 0), P(GO_SYSCALL_BEGIN, 2, 0) } },
	{ "goroutine 1 is not running but in a syscall",
	  { P(GO_CREATE_BLOCKED, 2, 0, 0), P(GO_SYSCALL_BEGIN, 1, 0), P(GO_SWITCH, 2, 1) } },
	{ "GoCreateSyscall on thread 0: the thread runs goroutine 1 already", { P(GO_CREATE_SYSCALL, 2) } },
	{ "goroutine 3 is there already",
	  { P(GO_CREATE, 3, 0, 0), Q(GO_CREATE_SYSCALL, 3) } },
	{ "GoStart on thread 0: the thread runs goroutine 1 already",
	  { P(GO_CREATE, 2, 0, 0), P(GO_START, 2, 1) } },
	{ "GoStart on thread 7: the thread has no proc",
	  { P(GO_CREATE, 2, 0, 0), Q(GO_START, 2, 1) } },
	{ "thread 7 with GoStart g=2 g_seq=2", { P(GO_CREATE, 2, 0, 0), Q(GO_START, 2, 2) } },
	{ "thread 7 with GoUnblock g=1 g_seq=1 stack=0", { Q(GO_UNBLOCK, 1, 1, 0) } },
	{ "thread 0 with GoSwitch g=2 g_seq=2",
	  { P(GO_CREATE_BLOCKED, 2, 0, 0), P(GO_SWITCH, 2, 2) } },
	{ "sequence number 2 of proc 0 does not follow on 0", { P(GO_SYSCALL_BEGIN, 2, 0) } },
	{ "goroutine 1 is not in a syscall but running", { P(GO_SYSCALL_END) } },
	{ "proc 2 is not in a syscall but running",
	  { P(GO_SYSCALL_BEGIN, 1, 0), P(PROC_STOP), P(PROC_STATUS, 2, GPROF_PROC_RUNNING),
	    P(GO_SYSCALL_END) } },
	{ "goroutine 1 is not in a syscall but running", { P(GO_SYSCALL_END_BLOCKED) } },
	{ "thread 0 with GoSyscallEndBlocked", { P(GO_SYSCALL_BEGIN, 1, 0), P(GO_SYSCALL_END_BLOCKED) } },
	{ "GoSyscallEndBlocked on thread 7: the thread runs no goroutine", { Q(GO_SYSCALL_END_BLOCKED) } },
	{ "goroutine 1 is not in a syscall but running", { P(GO_DESTROY_SYSCALL) } },
	{ "proc 2 is not in a syscall but running",
	  { P(GO_SYSCALL_BEGIN, 1, 0), P(PROC_STOP), P(PROC_STATUS, 2, GPROF_PROC_RUNNING),
	    P(GO_DESTROY_SYSCALL) } },
	{ "goroutine 1, on which it happens, has ended",	/* thread 7 ran it too */
	  { Q(PROC_STATUS, 3, GPROF_PROC_RUNNING), Q(GO_STATUS, 1, 7, GPROF_GO_RUNNING),
	    Q(GO_DESTROY), P(GO_LABEL, 1), P(GO_BLOCK, 0, 0) } },

	/* ranges */
	{ "STWBegin on thread 0: it has begun already", { P(STW_BEGIN, 1, 0), P(STW_BEGIN, 1, 0) } },
	{ "STWEnd on thread 0: it did not begin", { P(STW_END) } },
	{ "GCActive on thread 0: in the first generation, it is not the first", { P(GC_BEGIN, 1, 0), P(GC_ACTIVE, 2) } },
	{ "GCActive on thread 0: the collector is not marking",
	  { P(GC_BEGIN, 1, 0), P(GC_END, 2), SECOND, G2(GC_ACTIVE, 3) } },
	{ "thread 0 with GCActive gc_seq=9", { P(GC_BEGIN, 1, 0), SECOND, G2(GC_ACTIVE, 9) } },
	{ "GCBegin on thread 0: the collector is marking already", { P(GC_BEGIN, 1, 0), P(GC_BEGIN, 2, 0) } },
	{ "GCEnd on thread 0: the collector is not marking", { P(GC_END, 1) } },
	{ "thread 0 with GCEnd gc_seq=5", { P(GC_BEGIN, 1, 0), P(GC_END, 5) } },
	{ "GCSweepActive on thread 0: proc 9 is not there", { P(GC_SWEEP_ACTIVE, 9) } },
	{ "GCSweepActive on thread 0: it has begun already",
	  { P(GC_SWEEP_ACTIVE, 0), P(GC_SWEEP_ACTIVE, 0) } },
	{ "GCSweepActive on thread 0: it did not begin", { SECOND, G2(GC_SWEEP_ACTIVE, 0) } },
	{ "GCSweepBegin on thread 0: it has begun already",
	  { P(GC_SWEEP_BEGIN, 0), P(GC_SWEEP_BEGIN, 0) } },
	{ "GCSweepEnd on thread 0: it did not begin", { P(GC_SWEEP_END, 0, 0) } },
	{ "GCMarkAssistActive on thread 0: goroutine 9 is not there", { P(GC_MARK_ASSIST_ACTIVE, 9) } },
	{ "GCMarkAssistActive on thread 0: it did not begin", { SECOND, G2(GC_MARK_ASSIST_ACTIVE, 1) } },
	{ "GCMarkAssistBegin on thread 0: it has begun already",
	  { P(GC_MARK_ASSIST_BEGIN, 0), P(GC_MARK_ASSIST_BEGIN, 0) } },
	{ "GCMarkAssistEnd on thread 0: it did not begin", { P(GC_MARK_ASSIST_END) } },

	/* annotations */
	{ "task 4 has begun already",
	  { P(USER_TASK_BEGIN, 4, 0, 1, 0), P(USER_TASK_BEGIN, 4, 0, 1, 0) } },
	{ "the innermost region of goroutine 1 is \"name\" of task 4",
	  { P(USER_REGION_BEGIN, 4, 1, 0), P(USER_REGION_END, 5, 1, 0) } },
	{ "the innermost region of goroutine 1 is \"name\" of task 4",
	  { P(USER_REGION_BEGIN, 4, 1, 0), P(USER_REGION_END, 4, 2, 0) } },
};

static void put_dictionary(struct build *t, uint64_t gen)
{
	static const unsigned char stack[] = {
		GPROF_EV_STACKS, GPROF_EV_STACK, 1, 1, 0x10, 1, 2, 3,
	};

	STRINGS(t, gen, "name", "other");
	build_begin(t, gen, NONE, 1);
	build_put(t, stack, sizeof(stack));
	build_end(t);
	build_clock(t, 22, gen);
}

/* The events of one thread; the time goes on where the list has other threads. */
static void put_thread(struct build *t, const struct refusal *r, uint64_t gen, uint64_t m)
{
	uint64_t last = gen * 100;

	build_begin(t, gen, m, gen * 100);
	if (gen == 1 && m == 0)
		build_status(t);
	for (size_t i = 0; i < EVENTS && r->ev[i].gen; i++) {
		const struct event *e = &r->ev[i];
		uint64_t v[1 + GPROF_TRACE_ARGS_MAX];

		if (e->gen != gen || e->m != m)
			continue;
		v[0] = gen * 100 + 10 + i - last;
		if (gen == 1 && m == 0 && last == 100)
			v[0] -= 2;
		last = gen * 100 + 10 + i;
		memcpy(v + 1, e->args, sizeof(e->args));
		build_event_v(t, e->type, v, gprof_trace_specs[e->type].timed);
	}
	build_end(t);
}

static void put_refusal(struct build *t, const struct refusal *r)
{
	static const uint64_t threads[] = { 0, 7, NONE };
	uint64_t gens = 1;

	for (size_t i = 0; i < EVENTS && r->ev[i].gen; i++)
		if (r->ev[i].gen > gens)
			gens = r->ev[i].gen;
	build_header(t, 22);
	for (uint64_t gen = 1; gen <= gens; gen++) {
		for (size_t i = 0; i < 3; i++)
			put_thread(t, r, gen, threads[i]);
		put_dictionary(t, gen);
	}
}

static struct build b;

/* Read to the end; the sentence of the refusal, or "". */
static const char *refusal_of(const struct build *t, uint64_t *offset)
{
	static char text[1024];
	struct gprof_trace_stats st = { .sz = sizeof(st) };
	struct gprof_trace *r = gprof_trace_new_memory(t->b, t->n, NULL);
	struct gprof_trace_event ev;
	int ret;

	text[0] = '\0';
	if (!r)
		return errno == EBADMSG ? gprof_error() : "another errno";
	while ((ret = gprof_trace_next(r, &ev)) > 0)
		;
	gprof_trace_stats(r, &st);
	if (offset)
		*offset = st.offset;
	if (ret)
		snprintf(text, sizeof(text), "%s", ret == -EBADMSG ? gprof_error() : "another errno");
	gprof_trace_free(r);
	return text;
}

TEST(contradictions_are_refused_with_their_reason)
{
	for (size_t i = 0; i < ARRAY_SIZE(refusals); i++) {
		put_refusal(&b, &refusals[i]);
		EXPECT_NE(NULL, strstr(refusal_of(&b, NULL), refusals[i].phrase))
			TH_LOG("%zu: \"%s\", not \"%s\"", i, refusal_of(&b, NULL),
			       refusals[i].phrase);
	}
}

TEST(the_same_trace_without_the_contradiction_is_read)
{
	static const struct refusal none = { "", { P(GO_LABEL, 1), SECOND, G2(GO_BLOCK, 1, 1) } };

	put_refusal(&b, &none);
	EXPECT_STREQ("", refusal_of(&b, NULL));
}

TEST(offset_is_that_of_the_event)
{
	static const struct refusal r = { "", { P(GO_LABEL, 1), P(GO_LABEL, 9) } };
	uint64_t offset = 0;

	put_refusal(&b, &r);
	refusal_of(&b, &offset);
	ASSERT_LT(offset, b.n);
	EXPECT_EQS(GPROF_EV_GO_LABEL, b.b[offset], 9, b.b[offset + 2]);
	EXPECT_EQ(0, strncmp(refusal_of(&b, NULL), "byte ", 5));
	EXPECT_EQ(offset, strtoull(refusal_of(&b, NULL) + 5, NULL, 10));
}

TEST(headers_are_refused_with_their_reason)
{
	static const struct { const char *bytes; size_t n; const char *phrase; } heads[] = {
		{ "", 0, "it is empty" }, { "go 1.2", 6, "it is shorter than a header" },
		{ "go 1.22 trace\0\0", 15, "it is shorter than a header" },
		{ "go 2.22 trace\0\0", 16, "it does not begin with" },
		{ "go 1.22 trace\0\0x", 16, "it does not begin with" },
		{ "go 1.21 trace\0\0", 16, "before Go 1.22" },
		{ "go 1.24 trace\0\0", 16, "other than 1.22, 1.23, 1.25 and 1.26" },
		{ "go 1.27 trace\0\0", 16, "other than 1.22, 1.23, 1.25 and 1.26" },
		{ "\x1f\x8b\x08 and so on ...", 16, "unpack it with gzip -d" },
		{ "go 1.22 trace\0\0", 16, "there is nothing behind the header" },
		{ "go 1.25 trace\0\0", 16, "there is nothing behind the header" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(heads); i++) {
		memcpy(b.b, heads[i].bytes, heads[i].n);
		b.n = heads[i].n;
		EXPECT_NE(NULL, strstr(refusal_of(&b, NULL), heads[i].phrase))
			TH_LOG("%zu: %s", i, refusal_of(&b, NULL));
	}
}

/* Bytes behind a header of 1.22 and a generation that is whole, or in their stead. */
static const char *after(const void *bytes, size_t n, bool whole)
{
	static const struct refusal none = { "", { P(GO_LABEL, 1) } };

	if (whole)
		put_refusal(&b, &none);
	else
		build_header(&b, 22);
	build_bytes(&b, bytes, n);
	return refusal_of(&b, NULL);
}

TEST(batches_are_refused_with_their_reason)
{
	static const struct {
		const char *bytes;
		size_t n;
		bool whole;
		const char *phrase;
	} batches[] = {
		{ "\x02", 1, false, "here should begin a batch, but there is 2" },
		{ "\x34", 1, true, "here should begin a batch, but there is 52" },
		{ "\x01\x01\x00", 3, false, "the head of a batch does not end" },
		{ "\x01\x80\x80\x80\x80\x80\x80\x80\x80\x80\x02\0\0\0", 14, false,
		  "or has a number of more than 64 bits" },
		{ "\x01\x00\x00\x00\x00", 5, false, "a batch is of generation 0" },
		{ "\x01\x03\x00\x00\x00", 5, true,
		  "a batch of generation 3 lies among those of generation 1" },
		{ "\x01\x02\x00\x00\x81\x80\x04", 7, true,
		  "a batch says that it has 65537 bytes, of at most 65536" },
		{ "\x01\x01\x00\x00\x05" "abc", 8, true, "ends in the middle of a batch of 5 bytes" },
		{ "\x01\x01\x00\x00\x05\x04" "ab", 8, true, "ends in the middle of a batch of 5 bytes" },
		{ "\x31\xc8\x01\x00\x00\x05" "ab", 8, true, "ends in the middle of a batch of 5 bytes" },
		{ "\x01\x01\x00\x00\x01\x34", 6, true, "a generation ends inside a batch" },
		{ "\x01\x01\x05\x00\x00", 5, false, "generation 1 does not say the frequency" },
		{ "\x01\x01\x00\x00\x06\x08\x80\x94\xeb\xdc\x03", 11, true, "two frequencies" },
		{ "\x01\x01\x00\x00\x02\x08\x00", 7, false, "the frequency is 0" },
		{ "\x01\x01\x00\x00\x02\x08\x80", 7, false, "or does not end with its batch" },
		{ "\x01\x01\x00\x00\x03\x08\x01\x09", 8, false, "a batch of clocks holds something else" },
		{ "\x01\x01\x00\x00\x07\x08\x01\x33\0\0\0\0", 12, false, "is of before Go 1.25" },
		{ "\x01\x01\x00\x00\x02\x04\x03", 7, false, "a strings batch holds something else" },
		{ "\x01\x01\x00\x00\x03\x04\x05\x80", 8, false, "a string's id or length does not end" },
		{ "\x01\x01\x00\x00\x05\x04\x05\x01\x81\x08", 10, false, "longer than 1024 bytes" },
		{ "\x01\x01\x00\x00\x05\x04\x05\x01\x02" "a", 10, false, "longer than its batch" },
		{ "\x01\x01\x00\x00\x04\x04\x05\x00\x00", 9, false, "a string has the id 0" },
		{ "\x01\x01\x00\x00\x04\x04\x05\x01\x00", 9, true, "or that of another string" },
		{ "\x01\x01\x00\x00\x02\x02\x05", 7, false, "a stacks batch holds something else" },
		{ "\x01\x01\x00\x00\x03\x02\x03\x80", 8, false, "a stack does not end with its batch" },
		{ "\x01\x01\x00\x00\x05\x02\x03\x05\x01\x01", 10, false, "a stack does not end" },
		{ "\x01\x01\x00\x00\x05\x02\x03\x05\x81\x01", 10, false, "more than 128 frames" },
		{ "\x01\x01\x00\x00\x04\x02\x03\x00\x00", 9, false, "a stack has the id 0" },
		{ "\x01\x01\x00\x00\x04\x02\x03\x01\x00", 9, true, "or that of another stack" },
		{ "\x01\x01\x00\x00\x08\x02\x03\x05\x01\x01\x63\x00\x01", 13, true,
		  "names the string 99, which is not there" },
		{ "\x01\x01\x00\x00\x08\x02\x03\x05\x01\x01\x00\x63\x01", 13, true,
		  "names the string 99, which is not there" },
		{ "\x01\x01\x00\x00\x02\x06\x05", 7, false, "a batch of CPU samples holds something" },
		{ "\x01\x01\x00\x00\x06\x06\x07\x01\x01\x01\x01", 11, false,
		  "a CPU sample does not end" },
		{ "\x01\x01\x00\x00\x10\x06\x07\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01\0\0\0\0",
		  21, true, "the time of a CPU sample is beyond" },
		{ "\x01\x01\x00\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01\x02\x09\x00", 16, true,
		  "the time of a batch is beyond" },
		{ "\x01\x01\x05\x00\x0b\x0b\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 16, true,
		  "the time of an event is beyond" },
		{ "\x01\x01\x05\x00\x01\x99", 6, true, "there is no event of number 153" },
		{ "\x01\x01\x05\x00\x01\x03", 6, true, "Stack is no event of a thread" },
		{ "\x01\x01\x05\x00\x03\x10\x01\x01", 8, true, "GoStart does not end with its batch" },
		{ "\x01\x01\x05\x00\x0c\x0b\x80\x80\x80\x80\x80\x80\x80\x80\x80\x02\x0b", 17, true,
		  "ProcStop does not end with its batch, or has a number of more than 64 bits" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(batches); i++) {
		const char *text = after(batches[i].bytes, batches[i].n, batches[i].whole);

		EXPECT_NE(NULL, strstr(text, batches[i].phrase)) TH_LOG("%zu: %s", i, text);
	}
}

/* A generation of 1.25 or 1.26, with what is asked for. */
static const char *modern(unsigned int version, bool clock, bool frequency, bool end, int snapshots)
{
	build_header(&b, version);
	build_begin(&b, 5, 0, 100);
	build_status(&b);
	build_end(&b);
	if (clock) {
		build_begin(&b, 5, NONE, 1);
		build_byte(&b, GPROF_EV_SYNC);
		if (frequency)
			EV(&b, GPROF_EV_FREQUENCY, 1000000000);
		for (int i = 0; i < snapshots; i++)
			EV(&b, GPROF_EV_CLOCK_SNAPSHOT, 1, 2, 3, 4);
		build_end(&b);
	}
	if (end)
		build_bytes(&b, "\x34", 1);
	return refusal_of(&b, NULL);
}

TEST(clocks_and_ends_of_generations_are_asked_for)
{
	EXPECT_STREQS("", modern(25, true, true, false, 1), "", modern(26, true, true, true, 1));
	EXPECT_SAYS(modern(25, true, false, false, 1), "does not say the frequency");
	EXPECT_SAYS(modern(25, true, true, false, 0), "has no clock snapshot");
	EXPECT_SAYS(modern(25, true, true, false, 2), "two clock snapshots");
	EXPECT_SAYS(modern(25, true, true, true, 1), "but there is 52");
	EXPECT_SAYS(modern(26, true, true, false, 1), "the trace ends inside generation 5");
	EXPECT_SAYS(modern(26, false, true, true, 1), "does not say the frequency");
	/* since 1.26 the next generation does not end the one before */
	modern(26, true, true, false, 1);
	build_begin(&b, 6, 0, 200);
	build_end(&b);
	EXPECT_SAYS(refusal_of(&b, NULL),
		    "a batch of generation 6 lies among those of generation 5");
	/* before 1.25 a frequency stood alone */
	build_header(&b, 25);
	build_clock(&b, 22, 1);
	EXPECT_SAYS(refusal_of(&b, NULL), "does not say the frequency");
}

TEST(memory_has_a_limit)
{
	static const struct refusal none = { "", { P(GO_LABEL, 1) } };
	struct gprof_trace_opts o = { .sz = sizeof(o), .memory_max = 4096 };
	struct gprof_trace_event ev;
	struct gprof_trace *r;
	int ret;

	put_refusal(&b, &none);
	r = gprof_trace_new_memory(b.b, b.n, &o);
	if (r) {
		while ((ret = gprof_trace_next(r, &ev)) > 0)
			;
		EXPECT_EQ(-EFBIG, ret);
		EXPECT_SAYS(gprof_error(), "more memory");
		EXPECT_EQ(ret, gprof_trace_next(r, &ev));
	}
	gprof_trace_free(r);
	/* Of before there were times of its own. */
	o.sz = offsetof(struct gprof_trace_opts, own_times) - 1;
	EXPECT_ERRNO(EINVAL, gprof_trace_new_memory(b.b, b.n, &o));
}

TEST(structs_of_a_newer_program_are_taken_as_far_as_they_are_known)
{
	static const struct refusal none = { "", { P(GO_LABEL, 1) } };
	struct { struct gprof_trace_opts o; uint64_t newer; } o = { .o.sz = sizeof(o) };
	struct {
		struct gprof_trace_stats st;
		uint64_t newer;
	} st = { .st.sz = sizeof(st), .newer = 7 };
	struct gprof_trace *r;

	put_refusal(&b, &none);
	r = gprof_trace_new_memory(b.b, b.n, &o.o);
	ASSERT_NE(NULL, r);
	EXPECT_EQS(0, gprof_trace_stats(r, &st.st), sizeof(st), st.st.sz, 0, st.newer);
	/* Of before it said what is gprof's own. */
	st.st.sz = offsetof(struct gprof_trace_stats, gprof_version);
	st.st.gprof_version = 7;
	EXPECT_EQS(0, gprof_trace_stats(r, &st.st), 7, st.st.gprof_version);
	st.st.sz--;
	EXPECT_EQ(-EINVAL, gprof_trace_stats(r, &st.st));
	gprof_trace_free(r);
	o.newer = 1;
	EXPECT_ERRNO(E2BIG, gprof_trace_new_memory(b.b, b.n, &o.o));
	EXPECT_SAYS(gprof_error(), "older than the program");
}

TEST_HARNESS_MAIN
