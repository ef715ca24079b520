// SPDX-License-Identifier: GPL-2.0-only
/* Stacks and CPU samples of a trace: written, and read back. */
#include "harness.h"
#include <gprof/trace.h>
#include <gprof/trace_write.h>

#include "lib_util.h"
#include "trace/read/trace_wire.h"
#include "trace/write/trace_write.h"

static const unsigned int versions[] = { 22, 23, 25, 26 };

/* Stacks as a namer makes them of numbers, and what became of those it was not asked for. */
struct naming {
	unsigned int calls;
	unsigned int named;
	uint64_t moved;
};

static int name_stacks(void *ctx, struct gprof_trace_writer *w, struct gprof_trace_point *points,
		       size_t nr)
{
	struct naming *n = ctx;
	char function[32];
	int err = 0;

	n->calls++;
	for (size_t i = 0; i < nr && !err; i++) {
		struct gprof_trace_frame frames[] = {
			{ .pc = 1, .line = points[i].stack, .file = { "wait.c", 6 } },
			{ .pc = 2, .line = 7, .function = { "main", 4 }, .file = { "main.c", 6 } },
		};

		if (!points[i].stack)
			continue;
		snprintf(function, sizeof(function), "wait%llu",
			 (unsigned long long)points[i].stack);
		frames[0].function = (struct gprof_trace_text){ function, strlen(function) };
		err = gprof_trace_writer_stack(w, frames, 2, &points[i].stack);
		n->named++;
	}
	return err;
}

static void move_stack(void *ctx, uint64_t *stack)
{
	struct naming *n = ctx;

	n->moved += *stack;
	*stack += 1000;
}

static struct gprof_trace_point with_stack(uint64_t time, unsigned int type, uint32_t tid,
					   uint32_t other, uint64_t stack)
{
	return (struct gprof_trace_point){
		.time = time, .type = (uint16_t)type, .tid = tid, .other = other, .stack = stack,
		.why = GPROF_TRACE_WHY_SLEEPS, .arg = 1,
	};
}

/* "LEAF<CALLER" of each event that has a stack of its own, one a line. */
static int told_stacks(int fd, char *told, size_t size)
{
	struct gprof_trace_frame f[GPROF_TRACE_FRAMES_MAX];
	struct gprof_trace_event ev;
	struct gprof_trace *t;
	size_t used = 0;
	int ret;

	told[0] = '\0';
	lseek(fd, 0, SEEK_SET);
	t = gprof_trace_new(fd, NULL);
	if (!t)
		return -errno;
	while ((ret = gprof_trace_next(t, &ev)) > 0) {
		size_t nr = gprof_trace_stack(t, ev.stack, f, GPROF_TRACE_FRAMES_MAX);

		/* Made up for whom nobody named. */
		if (nr < 2)
			continue;
		used += (size_t)snprintf(told + used, size - used, "%s %s:%llu<%s\n",
					 gprof_trace_type_name(ev.type), f[0].function.s,
					 (unsigned long long)f[0].line, f[1].function.s);
	}
	gprof_trace_free(t);
	return ret;
}

/* Each where Go's format has a place for it; named as its generation is cut. */
TEST(stacks_are_named_at_the_cut)
{
	static const struct { unsigned int type; uint32_t tid, other; } seq[] = {
		{ GPROF_TRACE_POINT_ENTER, 1, 0 }, { GPROF_TRACE_POINT_FAULT, 1, 0 },
		{ GPROF_TRACE_POINT_RECLAIM_BEGIN, 1, 0 }, { GPROF_TRACE_POINT_FORK, 1, 3 },
		{ GPROF_TRACE_POINT_SWITCH, 1, 2 },
		{ GPROF_TRACE_POINT_WAKING, 2, 1 },	/* generation 2 from here on */
		{ GPROF_TRACE_POINT_SAMPLE, 2, 0 },
		/* Who wakes itself, as it is still on its CPU. */
		{ GPROF_TRACE_POINT_WAKING, 2, 2 }, { GPROF_TRACE_POINT_SWITCH, 2, 1 },
		/* Likewise, for a reason that this generation has already. */
		{ GPROF_TRACE_POINT_WAKING, 1, 1 }, { GPROF_TRACE_POINT_SWITCH, 1, 2 },
	};
	static const char expected[] =
		"UserRegionBegin wait1:1<main\n" "GoSyscallBegin wait1:1<main\n" "UserLog wait2:2<main\n"
		"GCMarkAssistBegin reclaim (cgroup):0<wait3\n" "GoCreate wait4:4<main\n"
		"GoSyscallBegin wait1:1<main\n"
		"GoBlock wait5:5<main\n" "GoUnblock wait1006:1006<main\n"
		"CPUSample wait1007:1007<main\n" "GoBlock wait1009:1009<main\n"
		"GoUnblock wait1008:1008<main\n" "GoBlock wait1011:1011<main\n"
		"GoUnblock wait1010:1010<main\n";

	for (size_t v = 0; v < ARRAY_SIZE(versions); v++) {
		struct gprof_trace_writer_opts o = { .sz = sizeof(o), .version = versions[v] };
		int fd = lib_trace_file();
		struct gprof_trace_writer *w = gprof_trace_writer_new(fd, &o);
		struct naming n = { 0 };
		struct gprof_trace_namer namer = { name_stacks, &n };
		char told[1024];

		ASSERT_NE(NULL, w);
		gprof_trace_writer_name_stacks(w, &namer);
		for (unsigned int i = 0; i < ARRAY_SIZE(seq); i++) {
			struct gprof_trace_point p = with_stack(1000000 + 64 * i, seq[i].type,
								seq[i].tid, seq[i].other, i + 1);

			ASSERT_EQ(0, gprof_trace_writer_add(w, &p));
		}
		ASSERT_EQ(0, gprof_trace_writer_cut(w, 1000000 + 64 * 5, NULL));
		EXPECT_EQ(5, n.named);
		/* What is held still has what it was added with. */
		gprof_trace_writer_held_stacks(w, move_stack, &n);
		EXPECT_EQ(6 + 7 + 8 + 9 + 10 + 11, n.moved);
		ASSERT_EQ(0, gprof_trace_writer_close(w));
		EXPECT_EQ(2, n.calls);
		ASSERT_EQ(0, told_stacks(fd, told, sizeof(told))) TH_LOG("%s", gprof_error());
		EXPECT_STREQ(expected, told);
		close(fd);
	}
}

/* A stack of the generation before must not be said of one who is woken in the next. */
TEST(a_waker_of_the_generation_before_has_no_stack)
{
	int fd = lib_trace_file();
	struct gprof_trace_writer *w = gprof_trace_writer_new(fd, NULL);
	struct gprof_trace_point p[] = {
		with_stack(1000000, GPROF_TRACE_POINT_SWITCH, 0, 1, 0),
		with_stack(1000064, GPROF_TRACE_POINT_WAKING, 1, 1, 1),
		with_stack(1000128, GPROF_TRACE_POINT_SWITCH, 1, 0, 0),
	};
	struct naming n = { 0 };
	struct gprof_trace_namer namer = { name_stacks, &n };
	char told[256];

	gprof_trace_writer_name_stacks(w, &namer);
	for (unsigned int i = 0; i < 3; i++)
		ASSERT_EQ(0, gprof_trace_writer_add(w, &p[i]));
	ASSERT_ZEROS(gprof_trace_writer_cut(w, 1000100, NULL), gprof_trace_writer_close(w));
	ASSERT_EQ(0, told_stacks(fd, told, sizeof(told))) TH_LOG("%s", gprof_error());
	EXPECT_STREQ("", told);
	close(fd);
}

struct frames_of {
	struct gprof_trace_writer *w;
	size_t nr;
	char leaf[16];
};

static int on_generation(void *ctx, uint64_t nr, const struct gprof_trace_point *points, size_t n)
{
	struct gprof_trace_frame f[1] = { { .function = { "", 0 } } };
	struct frames_of *of = ctx;

	(void)nr;
	(void)n;
	of->nr = gprof_trace_writer_frames(of->w, points[0].stack, f, 1);
	snprintf(of->leaf, sizeof(of->leaf), "%s", f[0].function.s);
	return 0;
}

TEST(a_generation_that_is_handed_out_has_its_frames)
{
	struct frames_of of = { 0 };
	struct gprof_trace_writer_opts o = {
		.sz = sizeof(o), .generation = on_generation, .ctx = &of,
	};
	struct gprof_trace_point p = with_stack(1000000, GPROF_TRACE_POINT_SWITCH, 1, 2, 5);
	struct naming n = { 0 };
	struct gprof_trace_namer namer = { name_stacks, &n };
	int fd = lib_trace_file();

	of.w = gprof_trace_writer_new(fd, &o);
	gprof_trace_writer_name_stacks(of.w, &namer);
	ASSERT_ZEROS(gprof_trace_writer_add(of.w, &p), gprof_trace_writer_close(of.w));
	EXPECT_EQ(2, of.nr);
	EXPECT_STREQ("wait5", of.leaf);
	close(fd);
}

/* Whatever each of them stands for, together they stand for as much; and are read so. */
TEST(samples_are_told_by_their_weight)
{
	for (size_t v = 0; v < ARRAY_SIZE(versions); v++) {
		struct gprof_trace_writer_opts o = {
			.sz = sizeof(o), .version = versions[v], .sample_period = 1000,
			.sample_type = "cpu", .sample_unit = "nanoseconds",
		};
		struct gprof_trace_stats st = { .sz = sizeof(st) };
		uint64_t random = 3, sum = 0, samples = 0;
		struct gprof_trace_writer_stats ws = { .sz = sizeof(ws) };
		struct gprof_trace_event ev;
		struct gprof_trace_writer *w;
		struct gprof_trace *t;
		int fd = lib_trace_file(), ret;

		w = gprof_trace_writer_new(fd, &o);
		ASSERT_NE(NULL, w);
		for (unsigned int i = 0; i < 500; i++) {
			struct gprof_trace_point p = with_stack(1000000 + 64 * i,
								GPROF_TRACE_POINT_SAMPLE, 1, 0, 0);

			/* Of an NMI, before what was begun before it. */
			p.time -= lib_random(&random) % 500;
			p.arg = lib_random(&random) % 3000 + 1;
			sum += p.arg;
			ASSERT_EQ(0, gprof_trace_writer_add(w, &p));
			if (i == 200)
				ASSERT_EQ(0, gprof_trace_writer_cut(w, 1000000, NULL));
		}
		gprof_trace_writer_stats(w, &ws);
		EXPECT_EQ(0, ws.disordered);
		ASSERT_EQ(0, gprof_trace_writer_close(w));
		lseek(fd, 0, SEEK_SET);
		t = gprof_trace_new(fd, NULL);
		ASSERT_NE(NULL, t);
		while ((ret = gprof_trace_next(t, &ev)) > 0)
			samples += ev.kind == GPROF_TRACE_STACK_SAMPLE;
		ASSERT_EQ(0, ret) TH_LOG("%s", gprof_error());
		gprof_trace_stats(t, &st);
		EXPECT_EQS(sum / 1000, samples, 1000, st.sample_period);
		EXPECT_STREQS("cpu", st.sample_type, "nanoseconds", st.sample_unit);
		gprof_trace_free(t);
		close(fd);
	}
}

/* What goroutine 1 does, one a line, in steps of 6400 ns; a system call with its stack's leaf. */
static int told_calls(int fd, char *told, size_t size)
{
	struct gprof_trace_event ev;
	struct gprof_trace_frame f;
	struct gprof_trace *t;
	size_t used = 0;
	int ret;

	lseek(fd, 0, SEEK_SET);
	t = gprof_trace_new(fd, NULL);
	if (!t)
		return -errno;
	while ((ret = gprof_trace_next(t, &ev)) > 0) {
		bool moves = ev.kind == GPROF_TRACE_STATE_TRANSITION &&
			     ev.transition.resource.kind == GPROF_TRACE_RESOURCE_GOROUTINE &&
			     ev.transition.resource.id == 1;
		bool called = ev.type == GPROF_EV_GO_SYSCALL_BEGIN &&
			      gprof_trace_stack(t, ev.stack, &f, 1) == 1;

		if (moves || ((ev.kind == GPROF_TRACE_REGION_BEGIN ||
			       ev.kind == GPROF_TRACE_REGION_END) && ev.goroutine == 1))
			used += (size_t)snprintf(told + used, size - used, "%s %lld%s%s\n",
						 gprof_trace_type_name(ev.type),
						 (long long)ev.time / 6400, called ? " " : "",
						 called ? f.function.s : "");
	}
	gprof_trace_free(t);
	return ret;
}

/* Go's state of a task in a system call is of the time that it has a CPU there. */
TEST(a_call_is_a_state_while_it_has_a_cpu)
{
	static const struct { unsigned int type, why; uint32_t tid, other; bool cut; } seq[] = {
		{ GPROF_TRACE_POINT_SWITCH, 0, 0, 1 }, { GPROF_TRACE_POINT_ENTER, 0, 1, 0 },
		{ GPROF_TRACE_POINT_SWITCH, GPROF_TRACE_WHY_PREEMPTED, 1, 2 },
		{ GPROF_TRACE_POINT_SWITCH, GPROF_TRACE_WHY_SLEEPS, 2, 1 },
		/* Go takes no new goroutine from one in a system call. */
		{ GPROF_TRACE_POINT_FORK, 0, 1, 3, true },
		{ GPROF_TRACE_POINT_SWITCH, GPROF_TRACE_WHY_SLEEPS, 1, 0, true },
		{ GPROF_TRACE_POINT_WAKING, 0, GPROF_TRACE_NO_TID, 1 },
		{ GPROF_TRACE_POINT_SWITCH, 0, 0, 1 }, { GPROF_TRACE_POINT_LEAVE, 0, 1, 0 },
		{ GPROF_TRACE_POINT_ENTER, 0, 1, 0 },
		{ GPROF_TRACE_POINT_SWITCH, GPROF_TRACE_WHY_DEAD, 1, 0 },
	};
	static const char expected[] =
		"GoStatus 1\n" "GoStart 1\n" "UserRegionBegin 2\n" "GoSyscallBegin 2 syscall 77\n"
		"GoSyscallEnd 3\n" "GoStop 3\n" "GoStart 4\n" "GoSyscallBegin 4 syscall 77\n"
		"GoSyscallEnd 5\n" "GoSyscallBegin 5 syscall 77\n"
		"GoStatus 6\n" "GoSyscallEnd 6\n" "GoBlock 6\n"
		"GoStatus 7\n" "GoUnblock 7\n" "GoStart 8\n" "GoSyscallBegin 8 syscall 77\n"
		"UserRegionEnd 9\n" "GoSyscallEnd 9\n" "UserRegionBegin 10\n"
		"GoSyscallBegin 10 syscall 77\n" "GoSyscallEnd 11\n" "UserRegionEnd 11\n"
		"GoDestroy 11\n";

	for (size_t v = 0; v < ARRAY_SIZE(versions); v++) {
		struct gprof_trace_writer_opts o = { .sz = sizeof(o), .version = versions[v] };
		int fd = lib_trace_file();
		struct gprof_trace_writer *w = gprof_trace_writer_new(fd, &o);
		char told[1024];

		ASSERT_NE(NULL, w);
		for (unsigned int i = 0; i < ARRAY_SIZE(seq); i++) {
			struct gprof_trace_point p = {
				.time = 6400 * (i + 1), .type = (uint16_t)seq[i].type,
				.why = (uint16_t)seq[i].why, .tid = seq[i].tid,
				.other = seq[i].other, .arg = 77,
			};

			ASSERT_EQ(0, gprof_trace_writer_add(w, &p));
			if (seq[i].cut)
				ASSERT_EQ(0, gprof_trace_writer_cut(w, p.time + 1, NULL));
		}
		ASSERT_EQ(0, gprof_trace_writer_close(w));
		ASSERT_EQ(0, told_calls(fd, told, sizeof(told))) TH_LOG("%s", gprof_error());
		EXPECT_STREQ(expected, told);
		close(fd);
	}
}

#define CALLS		20

/* Go's profiles add up what has the same pc in any generation, under one name. */
TEST(a_frame_has_the_same_pc_in_all_generations)
{
	int fd = lib_trace_file();
	struct gprof_trace_writer *w = gprof_trace_writer_new(fd, NULL);
	struct gprof_trace_point p = { .type = GPROF_TRACE_POINT_SWITCH, .other = 1 };
	uint64_t pcs[CALLS] = { 0 }, seen = 0;
	struct gprof_trace_event ev;
	struct gprof_trace_frame f;
	struct gprof_trace *t;
	int ret;

	ASSERT_NE(NULL, w);
	for (uint64_t i = 0; i < 3 * CALLS; i++) {
		p.time += 64000;
		ASSERT_EQ(0, gprof_trace_writer_add(w, &p));
		/* In another order, and with others, in each. */
		p = (struct gprof_trace_point){
			.time = p.time, .type = GPROF_TRACE_POINT_ENTER, .tid = 1,
			.arg = i * (3 + 4 * (i / CALLS)) % (CALLS - i / CALLS),
		};
		if (i % CALLS == CALLS - 1)
			ASSERT_EQ(0, gprof_trace_writer_cut(w, p.time + 1, NULL));
	}
	ASSERT_EQ(0, gprof_trace_writer_close(w));
	lseek(fd, 0, SEEK_SET);
	t = gprof_trace_new(fd, NULL);
	ASSERT_NE(NULL, t);
	while ((ret = gprof_trace_next(t, &ev)) > 0) {
		unsigned int nr;

		if (ev.type != GPROF_EV_GO_SYSCALL_BEGIN)
			continue;
		ASSERT_EQ(1, gprof_trace_stack(t, ev.stack, &f, 1));
		ASSERT_EQ(1, sscanf(f.function.s, "syscall %u", &nr));
		ASSERT_GT(CALLS, nr);
		if (!pcs[nr])
			pcs[nr] = f.pc;
		EXPECT_EQ(pcs[nr], f.pc) TH_LOG("syscall %u", nr);
		seen++;
	}
	ASSERT_EQ(0, ret) TH_LOG("%s", gprof_error());
	EXPECT_LE(3 * CALLS - 1, seen);
	for (unsigned int i = 0; i < CALLS; i++) {
		for (unsigned int k = 0; k < i; k++) {
			EXPECT_TRUE(!pcs[i] || pcs[i] != pcs[k]) TH_LOG("%u and %u", i, k);
		}
	}
	gprof_trace_free(t);
	close(fd);
}

#define MANY		10000
#define LONG_NAMES	200

/* Of a task in the generation, and of a function that it sleeps in. */
static void many_names(uint32_t tid, char name[32], char function[4097])
{
	snprintf(name, 32, "task-of-many-%05u", tid);
	memset(function, 'a' + (int)tid % 26, 4096);
	function[4096] = '\0';
	snprintf(function, 4096, "function-%u", tid);
	function[strlen(function)] = ' ';
}

/* One generation: so many tasks, of 100 to a process, each of which runs once. */
static int write_many(int fd, unsigned int version)
{
	struct gprof_trace_writer_opts o = { .sz = sizeof(o), .version = version };
	struct gprof_trace_writer *w = gprof_trace_writer_new(fd, &o);
	char name[32], function[4097];
	int err = w ? 0 : -errno;

	for (uint32_t tid = 1; tid <= MANY && !err; tid++) {
		struct gprof_trace_frame f = { .pc = tid, .file = { "many.c", 6 } };
		struct gprof_trace_point p = {
			.time = tid * 6400ULL, .type = GPROF_TRACE_POINT_SWITCH,
			.why = GPROF_TRACE_WHY_SLEEPS, .tid = tid - 1, .other = tid,
		};

		many_names(tid, name, function);
		f.function = (struct gprof_trace_text){ function, 4096 };
		err = gprof_trace_writer_name(w, tid, name);
		if (!err)
			err = gprof_trace_writer_process(w, tid, 1 + (tid - 1) / 100 * 100);
		if (!err && tid <= LONG_NAMES)
			err = gprof_trace_writer_stack(w, &f, 1, &p.stack);
		if (!err)
			err = gprof_trace_writer_add(w, &p);
	}
	return w ? gprof_trace_writer_close(w) ?: err : err;
}

static int count_processes(void *ctx, const struct gprof_trace_batch *batch)
{
	const unsigned char *p = batch->data + 1, *end = batch->data + batch->len;
	size_t *nr = ctx;
	uint64_t id, pid;

	while (batch->data[0] == 'G' && p && p < end) {
		p = gprof_varint(p, end, &id);
		p = p ? gprof_varint(p, end, &pid) : NULL;
		if (!p || pid != 1 + (id - 1) / 100 * 100)
			return -EINVAL;
		++*nr;
	}
	return 0;
}

/* Names that are more than fits into a batch, strings as long as they get, facts likewise. */
TEST(a_generation_has_more_names_than_a_batch_holds)
{
	for (size_t v = 0; v < sizeof(versions) / sizeof(versions[0]); v++) {
		size_t named = 0, slept = 0, processes = 0;
		struct gprof_trace_opts o = {
			.sz = sizeof(o), .batch = count_processes, .ctx = &processes,
		};
		char name[32], function[4097];
		struct gprof_trace_frame f;
		struct gprof_trace_event ev;
		struct gprof_trace *t;
		int fd = lib_trace_file(), ret;
		off_t size;
		char *bytes;

		ASSERT_EQ(0, write_many(fd, versions[v]));
		lseek(fd, 0, SEEK_SET);
		t = gprof_trace_new(fd, &o);
		ASSERT_NE(NULL, t);
		while ((ret = gprof_trace_next(t, &ev)) > 0) {
			if (ev.kind != GPROF_TRACE_STATE_TRANSITION ||
			    ev.transition.resource.kind != GPROF_TRACE_RESOURCE_GOROUTINE ||
			    gprof_trace_stack(t, ev.transition.stack, &f, 1) != 1)
				continue;
			many_names((uint32_t)ev.transition.resource.id, name, function);
			if (ev.transition.to == GPROF_TRACE_GO_WAITING &&
			    ev.transition.from == GPROF_TRACE_GO_RUNNING) {
				/* The stack of a switch is of the task that leaves, for the next. */
				many_names((uint32_t)ev.transition.resource.id + 1, name, function);
				ASSERT_EQ(GPROF_TRACE_STRING_MAX, f.function.len);
				slept += !memcmp(f.function.s, function, f.function.len);
			} else {
				named += !strcmp(f.function.s, name);
			}
		}
		ASSERT_EQ(0, ret) TH_LOG("1.%u: %s", versions[v], gprof_error());
		gprof_trace_free(t);
		EXPECT_EQ(LONG_NAMES - 1, slept);
		/* Go 1.22 has no status with a name. */
		EXPECT_EQS(versions[v] >= 23 ? MANY : 0, named, MANY - MANY / 100, processes);

		/* Cut anywhere it is read up to there, or it is said why not. */
		size = lseek(fd, 0, SEEK_END);
		bytes = malloc((size_t)size);
		ASSERT_EQ(size, pread(fd, bytes, (size_t)size, 0));
		for (off_t cut = size - 1; cut > 0; cut -= 1 + cut / 40) {
			t = gprof_trace_new_memory(bytes, (size_t)cut, NULL);
			ret = t ? 1 : -errno;
			while (ret > 0)
				ret = gprof_trace_next(t, &ev);
			EXPECT_GE(0, ret);
			if (ret)
				EXPECT_NE('\0', gprof_error()[0]);
			gprof_trace_free(t);
		}
		free(bytes);
		close(fd);
	}
}

TEST_HARNESS_MAIN
