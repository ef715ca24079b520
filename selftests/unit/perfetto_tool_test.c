// SPDX-License-Identifier: GPL-2.0-only
/*
 * What is written for Perfetto, read by a decoder of our own after the numbers that
 * Perfetto publishes (protos/perfetto/trace), field by field.
 */
#include "harness.h"
#include <inttypes.h>

#include "cli/cmd.h"
#include "views_build.h"

/* A field of a message: a number, or bytes. */
struct field {
	unsigned int number;
	uint64_t value;
	const unsigned char *p;
	size_t len;
};

struct reader {
	const unsigned char *p;
	const unsigned char *end;
	bool bad;
};

static uint64_t varint(struct reader *r)
{
	uint64_t v = 0;

	for (unsigned int shift = 0; shift < 64; shift += 7) {
		if (r->p == r->end)
			break;
		v |= (uint64_t)(*r->p & 0x7f) << shift;
		if (!(*r->p++ & 0x80))
			return v;
	}
	r->bad = true;
	return 0;
}

static bool next(struct reader *r, struct field *f)
{
	uint64_t tag;

	if (r->p == r->end || r->bad)
		return false;
	tag = varint(r);
	*f = (struct field){ .number = (unsigned int)(tag >> 3) };
	if ((tag & 7) == 0) {
		f->value = varint(r);
	} else if ((tag & 7) == 2) {
		f->len = varint(r);
		f->p = r->p;
		if (f->len > (size_t)(r->end - r->p))
			r->bad = true;
		else
			r->p += f->len;
	} else {
		r->bad = true;
	}
	return !r->bad;
}

static struct reader inside(const struct field *f)
{
	return (struct reader){ f->p, f->p + f->len, false };
}

/* What the message of each field is, after its parent's: 0: nothing in it is a message. */
struct kind {
	const char *name;
	struct {
		unsigned int number;
		const char *name;
		const struct kind *kind;
	} fields[12];
};

static const struct kind sched_switch = { "sched_switch", {
	{ 1, "prev_comm" }, { 2, "prev_pid" }, { 4, "prev_state" }, { 5, "next_comm" },
	{ 6, "next_pid" } } };
static const struct kind waking = { "sched_waking", {
	{ 1, "comm" }, { 2, "pid" }, { 4, "success" } } };
static const struct kind event = { "event", {
	{ 1, "timestamp" }, { 2, "pid" }, { 4, "sched_switch", &sched_switch },
	{ 20, "sched_waking", &waking } } };
static const struct kind bundle = { "bundle", {
	{ 1, "cpu" }, { 2, "event", &event }, { 3, "lost_events" } } };
static const struct kind process = { "process", { { 1, "pid" }, { 3, "cmdline" } } };
static const struct kind thread = { "thread", { { 1, "tid" }, { 2, "name" }, { 3, "tgid" } } };
static const struct kind tree = { "tree", {
	{ 1, "process", &process }, { 2, "thread", &thread } } };
static const struct kind thread_track = { "thread", {
	{ 1, "pid" }, { 2, "tid" }, { 5, "thread_name" } } };
static const struct kind track = { "track", { { 1, "uuid" }, { 4, "thread", &thread_track } } };
static const struct kind slice = { "slice", {
	{ 9, "type" }, { 11, "track_uuid" }, { 22, "categories" }, { 23, "name" } } };
static const struct kind string = { "string", { { 1, "iid" }, { 2, "str" } } };
static const struct kind frame = { "frame", {
	{ 1, "iid" }, { 2, "function_name_id" }, { 5, "source_path_iid" }, { 6, "line_number" } } };
static const struct kind callstack = { "callstack", { { 1, "iid" }, { 2, "frame" } } };
static const struct kind interned = { "interned", {
	{ 5, "function_name", &string }, { 6, "frame", &frame }, { 7, "callstack", &callstack },
	{ 18, "source_path", &string } } };
static const struct kind task = { "task", { { 3, "tid" } } };
static const struct kind execution = { "execution", { { 2, "cpu" } } };
static const struct kind counter = { "counter", { { 2, "name" }, { 3, "unit" } } };
static const struct kind sample = { "sample", {
	{ 1, "task", &task }, { 3, "execution", &execution }, { 6, "callstack" },
	{ 9, "descriptor", &counter }, { 11, "weight" } } };
static const struct kind packet = { "packet", {
	{ 1, "ftrace_events", &bundle }, { 2, "process_tree", &tree }, { 8, "timestamp" },
	{ 10, "sequence" }, { 11, "track_event", &slice }, { 12, "interned_data", &interned },
	{ 13, "flags" }, { 60, "track_descriptor", &track }, { 135, "stack_sample", &sample } } };
static const struct kind whole = { "trace", { { 1, "packet", &packet } } };

/* As protoc --decode has it, on one line a packet; false: a field that is not known. */
static bool decode(struct reader r, const struct kind *kind, char *out)
{
	struct field f;

	while (next(&r, &f)) {
		size_t i = 0;

		while (i < 12 && kind->fields[i].name && kind->fields[i].number != f.number)
			i++;
		if (i == 12 || !kind->fields[i].name) {
			sprintf(out + strlen(out), "%s has no field %u\n", kind->name, f.number);
			return false;
		}
		out += strlen(out);
		if (kind->fields[i].kind) {
			sprintf(out, "%s { ", kind->fields[i].name);
			if (!decode(inside(&f), kind->fields[i].kind, out))
				return false;
			strcat(out, kind == &whole ? "}\n" : "} ");
		} else if (f.p) {
			sprintf(out, "%s: \"%.*s\" ", kind->fields[i].name, (int)f.len, f.p);
		} else {
			sprintf(out, "%s: %" PRIu64 " ", kind->fields[i].name, f.value);
		}
	}
	return !r.bad;
}

/* What is written of the trace, decoded. */
static const char *written(struct __test_metadata *_metadata, FIXTURE_DATA(views) *self)
{
	char *argv[] = { "read", self->trace, "--format", "perfetto", "-o", self->other, NULL };
	static unsigned char bytes[1 << 18];
	static char text[1 << 20];
	struct reader r = { .p = bytes };
	int fd;

	text[0] = '\0';
	EXPECT_EQ(0, gprof_trace_writer_close(w));
	RUN_OK(cmd_read, argv);
	fd = open(self->other, O_RDONLY);
	r.end = bytes + read(fd, bytes, sizeof(bytes));
	close(fd);
	EXPECT_TRUE(decode(r, &whole, text));
	return text;
}

TEST_F(views, perfetto)
{
	static const char *const hot[] = { "hot", "main", NULL };
	const char *text;

	gprof_trace_writer_name(w, 7, "seven");
	gprof_trace_writer_name(w, 9, "nine");
	gprof_trace_writer_process(w, 9, 7);
	gprof_trace_writer_process(w, 11, 5);
	comes(1, 7);
	calls(2, 2, GPROF_TRACE_WHY_SLEEPS);
	point(14, 0, GPROF_TRACE_POINT_SAMPLE, 0, 7, 0, stack(hot), 0);
	leaves(15, 7, GPROF_TRACE_WHY_WAITS, stack(hot));
	point(16, 1, GPROF_TRACE_POINT_SWITCH, 0, 0, 9, 0, 0);
	wakes(17, 9, 7, 0);
	comes(18, 7);
	leaves(20, 7, GPROF_TRACE_WHY_DEAD, 0);
	point(21, 1, GPROF_TRACE_POINT_SWITCH, GPROF_TRACE_WHY_SLEEPS, 9, 11, 0, 0);
	point(22, 1, GPROF_TRACE_POINT_ENTER, 0, 11, 0, 0, 0);
	point(23, 1, GPROF_TRACE_POINT_LEAVE, 0, 11, 0, 0, 0);
	text = written(_metadata, self);
#define HAS(line)	EXPECT_NE(NULL, strstr(text, line)) TH_LOG("%s", text)
	HAS("packet { track_descriptor { uuid: 3 thread { pid: 7 tid: 7 thread_name: \"seven\" } } "
	    "sequence: 1 flags: 3 }\n");
	HAS("packet { timestamp: 2000000 track_event { type: 1 track_uuid: 3 "
	    "categories: \"syscall\" name: \"clock_nanosleep\" } sequence: 1 flags: 2 }\n");
	HAS("packet { timestamp: 13000003 track_event { type: 2 track_uuid: 3 } ");
	HAS("packet { interned_data { function_name { iid: 2 str: \"hot\" } frame { iid: 2 "
	    "function_name_id: 2 } } ");
	HAS("packet { interned_data { callstack { iid: 1 frame: 1 frame: 2 } } ");
	HAS("packet { timestamp: 14000000 stack_sample { task { tid: 7 } execution { cpu: 0 } "
	    "callstack: 1 descriptor { name: \"cpu samples\" unit: 9 } weight: 1 } ");
	HAS("packet { timestamp: 15000000 stack_sample { task { tid: 7 } callstack: 1 "
	    "descriptor { name: \"untold\" unit: 1 } weight: 2000000 } ");
	/* Once each. */
	EXPECT_LACKS(strstr(text, "callstack { ") + 1, "callstack { ");
	HAS("packet { ftrace_events { cpu: 0 ");
	HAS("event { timestamp: 15000001 pid: 7 sched_switch { prev_comm: \"seven\" prev_pid: 7 "
	    "prev_state: 2 next_comm: \"swapper/0\" next_pid: 0 } } ");
	HAS("event { timestamp: 18000001 pid: 0 sched_switch { prev_comm: \"swapper/0\" prev_pid: 0 "
	    "prev_state: 0 next_comm: \"seven\" next_pid: 7 } } ");
	HAS("event { timestamp: 20000001 pid: 7 sched_switch { prev_comm: \"seven\" prev_pid: 7 "
	    "prev_state: 16 next_comm: \"swapper/0\" next_pid: 0 } } ");
	HAS("packet { ftrace_events { cpu: 1 ");
	HAS("event { timestamp: 17000000 pid: 9 sched_waking { comm: \"seven\" pid: 7 success: 1 } } ");
	HAS("process { pid: 7 cmdline: \"seven\" } ");
	HAS("process { pid: 5 } ");
	EXPECT_LACKS(text, "process { pid: 9");
	HAS("thread { tid: 7 name: \"seven\" tgid: 7 } ");
	HAS("thread { tid: 9 name: \"nine\" tgid: 7 } ");
	HAS("thread { tid: 11 name: \"\" tgid: 5 } ");
	HAS("packet { track_descriptor { uuid: 2 thread { pid: 5 tid: 11 thread_name: \"\" } } ");
}

static size_t count(const char *text, const char *what)
{
	size_t nr = 0;

	for (; (text = strstr(text, what)); text++)
		nr++;
	return nr;
}

/* More switches of a CPU than a packet has, each told once. */
TEST_F(views, perfetto_of_many_switches)
{
	const char *text;

	gprof_trace_writer_name(w, 7, "seven");
	for (uint64_t ms = 1; ms <= 600; ms += 2) {
		comes(ms, 7);
		leaves(ms + 1, 7, ms == 1 ? GPROF_TRACE_WHY_STOPPED : GPROF_TRACE_WHY_SLEEPS, 0);
	}
	text = written(_metadata, self);
	EXPECT_SAYS(self->r.err, "so that waits have no reason",
		    "so that there are no slices of threads");
	EXPECT_EQS(600, count(text, "sched_switch { "), 300, count(text, "next_pid: 7 "),
		   1, count(text, "prev_pid: 7 prev_state: 4 "),
		   299, count(text, "prev_pid: 7 prev_state: 1 "));
}

/* Who has a CPU while its events are lost, and had it before the trace, is not known: not nobody. */
TEST_F(views, perfetto_of_a_gap)
{
	const char *text;

	gprof_trace_writer_name(w, 7, "seven");
	gprof_trace_writer_name(w, 8, "eight");
	comes(1, 7);
	point(1, 1, GPROF_TRACE_POINT_SWITCH, 0, 0, 9, 0, 0);
	point(3, 0, GPROF_TRACE_POINT_ENTER, 0, 7, 0, 0, 0);
	point(10, 0, GPROF_TRACE_POINT_LOST, 0, GPROF_TRACE_NO_TID, 0, 0, 9);
	point(10, 0, GPROF_TRACE_POINT_RUNNING, 0, 0, 8, 0, 0);
	leaves(14, 8, GPROF_TRACE_WHY_SLEEPS, 0);
	/* It idles, and has lost events. */
	point(20, 0, GPROF_TRACE_POINT_LOST, 0, GPROF_TRACE_NO_TID, 0, 0, 9);
	point(20, 0, GPROF_TRACE_POINT_RUNNING, 0, 0, 7, 0, 0);
	/* 9 has its CPU still. */
	point(24, 1, GPROF_TRACE_POINT_LOST, 0, GPROF_TRACE_NO_TID, 0, 0, 9);
	point(25, 1, GPROF_TRACE_POINT_ENTER, 0, 9, 0, 0, 0);
	leaves(26, 7, GPROF_TRACE_WHY_DEAD, 0);
	text = written(_metadata, self);
	EXPECT_LACKS(text,
		     "prev_comm: \"swapper/0\" prev_pid: 0 prev_state: 0 " "next_comm: \"eight\"");
	HAS("event { timestamp: 1000003 pid: 4194304 sched_switch { prev_comm: \"[not known]\" "
	    "prev_pid: 4194304 prev_state: 32768 next_comm: \"seven\" next_pid: 7 } } ");
	/* Up to the last that is known of it, and how it left is not. */
	HAS("packet { ftrace_events { cpu: 0 event { timestamp: 3000000 pid: 7 sched_switch { "
	    "prev_comm: \"seven\" prev_pid: 7 prev_state: 32768 next_comm: \"[not known]\" "
	    "next_pid: 4194304 } } ");
	HAS("pid: 4194304 sched_switch { prev_comm: \"[not known]\" prev_pid: 4194304 "
	    "prev_state: 32768 next_comm: \"eight\" next_pid: 8 } } ");
	HAS("event { timestamp: 14000001 pid: 0 sched_switch { prev_comm: \"swapper/0\" prev_pid: 0 "
	    "prev_state: 0 next_comm: \"[not known]\" next_pid: 4194304 } } ");
	HAS("packet { ftrace_events { cpu: 1 event { timestamp: 1000008 pid: 9 sched_switch { "
	    "prev_comm: \"\" prev_pid: 9 prev_state: 32768 next_comm: \"[not known]\" "
	    "next_pid: 4194305 } } event { timestamp: 24000000 pid: 4194305 sched_switch { "
	    "prev_comm: \"[not known]\" prev_pid: 4194305 prev_state: 32768 next_comm: \"\" "
	    "next_pid: 9 } } ");
	EXPECT_EQ(3, count(text, "lost_events: 1 ")) TH_LOG("%s", text);
	/* Told up to the loss, and without an end to the end of the trace. */
	HAS("packet { timestamp: 3000000 track_event { type: 2 track_uuid: ");
	EXPECT_EQ(2, count(text, "track_event { type: 1 "));
	EXPECT_EQ(1, count(text, "track_event { type: 2 "));
}

/* Who left unseen is not told to be there until somebody else comes. */
TEST_F(views, perfetto_of_a_cpu_that_is_found_idle)
{
	const char *text;

	gprof_trace_writer_name(w, 7, "seven");
	comes(1, 7);
	point(2, 0, GPROF_TRACE_POINT_ENTER, 0, 7, 0, 0, 0);
	point(10, 0, GPROF_TRACE_POINT_IRQ_ENTER, 0, 0, 0, 0, 1);
	point(20, 0, GPROF_TRACE_POINT_SWITCH, 0, 0, 9, 0, 0);
	text = written(_metadata, self);
	HAS("event { timestamp: 2000000 pid: 7 sched_switch { prev_comm: \"seven\" prev_pid: 7 "
	    "prev_state: 32768 next_comm: \"[not known]\" next_pid: 4194304 } } event { timestamp: "
	    "10000002 pid: 4194304 sched_switch { prev_comm: \"[not known]\" prev_pid: 4194304 "
	    "prev_state: 32768 next_comm: \"swapper/0\" next_pid: 0 } } ");
	HAS("prev_comm: \"swapper/0\" prev_pid: 0 prev_state: 0 next_comm: \"\" next_pid: 9 } } ");
}

/* Perfetto opens no trace that has events of CPU 1024. */
TEST_F(views, perfetto_of_more_cpus_than_it_takes)
{
	static const char *const in_main[] = { "main", NULL };
	const char *text;

	gprof_trace_writer_name(w, 7, "seven");
	for (unsigned int cpu = 1022; cpu < 1026; cpu++) {
		point(cpu, cpu, GPROF_TRACE_POINT_SWITCH, 0, 0, 7, 0, 0);
		point(cpu, cpu, GPROF_TRACE_POINT_WAKING, 0, 7, 8, 0, 0);
		point(cpu, cpu, GPROF_TRACE_POINT_SAMPLE, 0, 7, 0, stack(in_main), 0);
		point(cpu, cpu, GPROF_TRACE_POINT_SWITCH, GPROF_TRACE_WHY_PREEMPTED, 7, 8, 0, 0);
		point(cpu, cpu, GPROF_TRACE_POINT_SWITCH, GPROF_TRACE_WHY_SLEEPS, 8, 0, 0, 0);
	}
	text = written(_metadata, self);
	EXPECT_EQ(1, count(text, "ftrace_events { cpu: 1022 ")) TH_LOG("%s", text);
	EXPECT_EQ(1, count(text, "ftrace_events { cpu: 1023 "));
	EXPECT_EQ(2, count(text, "ftrace_events { cpu: ")) TH_LOG("%s", text);
	EXPECT_EQ(4, count(text, "stack_sample { ")) TH_LOG("%s", text);
	EXPECT_EQ(2, count(text, "execution { cpu: 102")) TH_LOG("%s", text);
	EXPECT_SAYS(self->r.err, " switches and wakings of 2 CPUs are left out");
}

/* Functions of one name, at other lines or in other files, are other places. */
TEST_F(views, perfetto_of_one_name)
{
	static const struct {
		const char *file;
		uint64_t line;
	} places[] = { { "a.c", 1 }, { "a.c", 2 }, { "b.c", 2 }, { "", 2 }, { "", 0 } };
	const char *text;

	comes(1, 7);
	for (size_t i = 0; i < 2 * ARRAY_SIZE(places); i++) {
		const char *file = places[i / 2].file;
		struct gprof_trace_frame f = {
			.pc = i / 2 + 1, .line = places[i / 2].line, .function = { "init", 4 },
			.file = { file, strlen(file) },
		};
		uint64_t id = 0;

		ASSERT_EQ(0, gprof_trace_writer_stack(w, &f, 1, &id));
		point(2 + i, 0, GPROF_TRACE_POINT_SAMPLE, 0, 7, 0, id, 0);
	}
	leaves(20, 7, GPROF_TRACE_WHY_DEAD, 0);
	text = written(_metadata, self);
	EXPECT_EQ(ARRAY_SIZE(places), count(text, "frame { iid: ")) TH_LOG("%s", text);
	EXPECT_EQ(ARRAY_SIZE(places), count(text, "callstack { iid: "));
	HAS("packet { interned_data { function_name { iid: 2 str: \"init\" } source_path { iid: 2 str: "
	    "\"a.c\" } frame { iid: 2 function_name_id: 2 source_path_iid: 2 line_number: 2 } } ");
	HAS("source_path { iid: 3 str: \"b.c\" } frame { iid: 3 function_name_id: 3 source_path_iid: 3 "
	    "line_number: 2 } } ");
	HAS("frame { iid: 4 function_name_id: 4 line_number: 2 } ");
	HAS("frame { iid: 5 function_name_id: 5 } ");
	for (size_t i = 0; i < ARRAY_SIZE(places); i++) {
		char line[64];

		snprintf(line, sizeof(line), "callstack: %zu descriptor", i + 1);
		EXPECT_EQ(2, count(text, line)) TH_LOG("%s: %s", line, text);
	}
}

TEST_HARNESS_MAIN
