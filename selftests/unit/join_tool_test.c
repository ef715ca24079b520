// SPDX-License-Identifier: GPL-2.0-only
/*
 * A trace of the host joined with one that a Go program would have written of itself, both
 * made here, event by event: what is believed, and what is added up.
 */
#include "harness.h"
#include <gprof/trace_record.h>

#include "cli/cmd.h"
#include "trace_build.h"
#include "views/join_model.h"
#include "views/regions.h"
#include "views_build.h"
#include "lib_util.h"

static struct build go;

/* Of one generation: whatever is told is told by threads that have begun below. */
static void go_begin(void)
{
	build_header(&go, 23);
	STRINGS(&go, 1, "main.main", "runtime.park");
	build_begin(&go, 1, NONE, 1);
	EV(&go, GPROF_EV_STACKS, GPROF_EV_STACK, 1, 2, 2, 2, 0, 0, 1, 1, 0, 0);
	build_end(&go);
	build_clock(&go, 23, 1);
}

/* Thread @tid runs goroutine @tid on a proc of its own from @ns on. */
static void go_thread(uint64_t tid, uint64_t ns)
{
	build_begin(&go, 1, tid, ns);
	EV(&go, GPROF_EV_PROC_STATUS, 1, tid, GPROF_PROC_RUNNING);
	EV(&go, GPROF_EV_GO_STATUS, 1, tid, tid, GPROF_GO_RUNNING);
}

/* It tells something @nr times, @ns after another. */
static void go_tells(unsigned int nr, uint64_t ns)
{
	while (nr--)
		EV(&go, GPROF_EV_HEAP_ALLOC, ns, 1);
}

static void join(struct __test_metadata *_metadata, struct _test_data_views *self, bool json)
{
	char *argv[] = { "read", self->trace, "--join", self->other, json ? "--json" : NULL, NULL };
	FILE *f = fopen(self->other, "w");

	ASSERT_NE(NULL, f);
	EXPECT_EQ(go.n, fwrite(go.b, 1, go.n, f));
	fclose(f);
	ASSERT_EQ(0, gprof_trace_writer_close(w));
	run(&self->r, cmd_read, argv, -1);
}

/* The program's trace is whole, and of the host's time. */
#define JOINS() do {								\
	build_end(&go);								\
	join(_metadata, self, true);						\
	ASSERT_EQ(0, self->r.status)						\
		TH_LOG("%s", self->r.err);					\
} while (0)

#define DOES_NOT_JOIN() do {							\
	build_end(&go);								\
	join(_metadata, self, false);						\
	EXPECT_EQ(STATUS_FAILED, self->r.status)				\
		TH_LOG("%s", self->r.out);					\
	EXPECT_SAYS(self->r.err, "are not of the same host and time");		\
} while (0)

/* All that is told within a time without a CPU contradicts it, not the time but once. */
TEST_F(views, join_of_a_thread_that_tells_much_without_a_cpu)
{
	for (uint64_t ms = 1; ms < 20; ms += 2) {
		comes(ms, 7);
		leaves(ms + 1, 7, GPROF_TRACE_WHY_SLEEPS, 0);
	}
	go_begin();
	go_thread(7, 2 * MS);
	go_tells(16000, 1000);
	DOES_NOT_JOIN();
}

/* Nor does it need to have one again. */
TEST_F(views, join_of_a_thread_that_sleeps_to_the_end)
{
	comes(1, 7);
	leaves(3, 7, GPROF_TRACE_WHY_SLEEPS, 0);
	comes(40, 8);
	go_begin();
	go_thread(7, 2 * MS);
	go_tells(100, 100000);
	DOES_NOT_JOIN();
}

/* Clocks may be apart by 10 us at either end, however much is told in them. */
TEST_F(views, join_of_clocks_that_are_little_apart)
{
	comes(1, 7);
	leaves(3, 7, GPROF_TRACE_WHY_PREEMPTED, 0);
	comes(5, 7);
	leaves(8, 7, GPROF_TRACE_WHY_SLEEPS, 0);
	go_begin();
	go_thread(7, 2 * MS);
	go_tells(2, MS / 2);
	go_tells(50, 150);
	go_tells(1, 2 * MS - 15000);
	go_tells(50, 100);
	go_tells(1, MS);
	JOINS();
	EXPECT_SAYS(self->r.out, "\"contradictions\": 0,",
		    "\"tid\": 7, \"begin_ns\": 3000000, \"end_ns\": 500000");
}

static long long number(const char *json, const char *key, const char *of)
{
	const char *p = strstr(json, key);

	p = p ? strstr(p, of) : NULL;
	return p ? atoll(p + strlen(of)) : -1;
}

/* What threads waited for CPUs before the program traced itself is beside nothing. */
TEST_F(views, join_counts_delays_of_the_time_of_both)
{
	comes(1, 7);
	leaves(1, 7, GPROF_TRACE_WHY_PREEMPTED, 0);
	comes(6, 7);
	point(1, 1, GPROF_TRACE_POINT_SWITCH, 0, 0, 8, 0, 0);
	point(8, 1, GPROF_TRACE_POINT_SWITCH, GPROF_TRACE_WHY_PREEMPTED, 8, 9, 0, 0);
	point(11, 1, GPROF_TRACE_POINT_SWITCH, GPROF_TRACE_WHY_SLEEPS, 9, 8, 0, 0);
	point(24, 1, GPROF_TRACE_POINT_SWITCH, GPROF_TRACE_WHY_SLEEPS, 8, 9, 0, 0);
	point(28, 1, GPROF_TRACE_POINT_WAKING, 0, 9, 8, 0, 0);
	point(30, 1, GPROF_TRACE_POINT_SWITCH, GPROF_TRACE_WHY_SLEEPS, 9, 8, 0, 0);
	leaves(12, 7, GPROF_TRACE_WHY_PREEMPTED, 0);
	comes(14, 7);
	leaves(40, 7, GPROF_TRACE_WHY_SLEEPS, 0);
	go_begin();
	go_thread(7, 10 * MS);
	go_tells(2, 12 * MS);
	build_end(&go);
	go_thread(8, 11 * MS);
	go_tells(9, MS);
	JOINS();
	EXPECT_EQ(3, number(self->r.out, "\"kernel_delay\"", "\"count\": "));
	EXPECT_NEAR_MS(1 + 2 + 2, number(self->r.out, "\"kernel_delay\"", "\"ns\": "));
	EXPECT_NEAR_MS(2, number(self->r.out, "\"kernel_delay\"", "\"max_ns\": "));
}

/* Behind the end of the one, what the other tells of is not told by both. */
TEST_F(views, join_of_a_host_that_is_told_of_for_less_time)
{
	comes(1, 7);
	leaves(15, 7, GPROF_TRACE_WHY_PREEMPTED, 0);
	comes(20, 7);
	go_begin();
	go_thread(7, 10 * MS);
	go_tells(4, MS);
	go_tells(1, 7 * MS);
	EV(&go, GPROF_EV_GO_STOP, 9 * MS, 2, 1);
	EV(&go, GPROF_EV_GO_START, MS, 7, 1);
	go_tells(1, 9 * MS);
	JOINS();
	EXPECT_NEAR_MS(5, number(self->r.out, "\"?\"", "\"cpu_ns\": ")) TH_LOG("%s", self->r.out);
	EXPECT_NEAR_MS(5, number(self->r.out, "\"?\"", "\"runnable_ns\": "));
	/* Named as soon as it is known, after where it began, not where it was. */
	EXPECT_NEAR_MS(10 + 9, number(self->r.out, "\"main.main\"", "\"untold_ns\": "));
	EXPECT_EQ(1, number(self->r.out, "\"main.main\"", "\"goroutines\": "));
	EXPECT_LACKS(self->r.out, "runtime.park");
}

/* Only the wait behind a fault is for it. */
TEST_F(views, join_of_a_wait_in_a_fault)
{
	const struct gprof_trace_writer_opts opts = {
		.sz = sizeof(opts), .recorded = true,
		.groups = GPROF_TRACE_GROUP_SYSCALLS | GPROF_TRACE_GROUP_FAULTS,
	};

	begin_anew(_metadata, self, &opts);
	comes(1, 7);
	point(11, 0, GPROF_TRACE_POINT_FAULT, 0, 7, 0, 0, 1);
	leaves(12, 7, GPROF_TRACE_WHY_WAITS, 0);
	comes(14, 7);
	leaves(20, 7, GPROF_TRACE_WHY_WAITS, 0);
	comes(23, 7);
	leaves(40, 7, GPROF_TRACE_WHY_SLEEPS, 0);
	go_begin();
	go_thread(7, 10 * MS);
	go_tells(1, MS / 2);
	go_tells(1, 29 * MS);
	JOINS();
	EXPECT_EQ(1, number(self->r.out, "\"blocked_in_faults\"", "\"count\": ")) TH_LOG("%s", self->r.out);
	EXPECT_NEAR_MS(2, number(self->r.out, "\"blocked_in_faults\"", "\"ns\": "));
	EXPECT_EQ(2, number(self->r.out, "\"blocked\"", "\"count\": "));
	EXPECT_NEAR_MS(5, number(self->r.out, "\"functions\"", "\"blocked_ns\": "));
}

/* What other systems call threads by is not a tid of the host with the same low bits. */
TEST_F(views, join_of_threads_that_are_none_of_linux)
{
	comes(1, 7);
	point(1, 1, GPROF_TRACE_POINT_SWITCH, 0, 0, 8, 0, 0);
	leaves(40, 7, GPROF_TRACE_WHY_SLEEPS, 0);
	go_begin();
	go_thread(8, 10 * MS);
	go_tells(10, MS);
	build_end(&go);
	build_begin(&go, 1, (1ULL << 32) + 7, 11 * MS);
	EV(&go, GPROF_EV_PROC_STATUS, 1, 1, GPROF_PROC_RUNNING);
	EV(&go, GPROF_EV_GO_STATUS, 1, 70, NONE, GPROF_GO_RUNNABLE);
	EV(&go, GPROF_EV_GO_START, 1, 70, 1);
	go_tells(8, MS);
	JOINS();
	EXPECT_NEAR_MS(10, number(self->r.out, "\"functions\"", "\"running_ns\": ")) TH_LOG("%s", self->r.out);
}

/* What is remembered of goroutines is of the living, who keep their threads and names. */
TEST(join_forgets_ended_threads)
{
	struct join_model j = { .keep = true };
	size_t thread = join_thread(&j, 7), most = 0;
	struct join_goroutine *g;

	join_name(&j, join_goroutine(&j, 1), "first");
	join_name(&j, join_goroutine(&j, 1000000), "last");
	for (int64_t id = 2; id < 100000; id++) {
		g = join_goroutine(&j, id);
		if (id % 2)
			join_name(&j, g, "worker");
		join_come(&j, id, thread, id * 1000);
		join_dies(&j, join_goroutine(&j, id), id * 1000 + 500);
		if (id == 50000)
			join_come(&j, 1000000, join_thread(&j, 8), 1);
		join_tidy(&j);
		most = j.ids.nr > most ? j.ids.nr : most;
	}
	EXPECT_GE(2UL + JOIN_DEAD, most);
	join_state(&j, join_thread(&j, 8), JOIN_READY, 200000000);
	join_state(&j, join_thread(&j, 8), JOIN_ON_CPU, 200000700);
	join_end(&j, 200001000);
	ASSERT_EQ(1, j.nr_gaps);
	EXPECT_EQS(1000000, j.gaps[0].goroutine, 8, j.gaps[0].tid,
		   700, j.gaps[0].end - j.gaps[0].begin);
	ASSERT_EQ(4, j.names.nr);
	for (size_t i = 0; i < j.names.nr; i++) {
		size_t len;
		const char *name = intern_key(&j.names, i, &len);

		EXPECT_EQ(*name == 'w' || *name == '?' ? 49999 : 1, j.rows[i].nr) TH_LOG("%s", name);
		if (*name == 'w' || *name == '?')
			EXPECT_EQ(49999 * 500, j.rows[i].in[JOIN_UNTOLD]);
	}
	join_free(&j);
}

/* Where much is lost, each loss is no matter of all threads that there ever were. */
TEST(join_looks_at_no_thread_twice)
{
	struct join_model j = { 0 };

	for (int64_t tid = 1; tid <= 1000; tid++)
		join_state(&j, join_thread(&j, tid), JOIN_BLOCKED, tid);
	join_state(&j, join_thread(&j, 3), JOIN_ON_CPU, 2000);
	join_lose(&j, 3000);
	EXPECT_EQS(0, j.nr_off, JOIN_UNTOLD, j.threads[join_thread(&j, 1)].state,
		   JOIN_ON_CPU, j.threads[join_thread(&j, 3)].state);
	join_state(&j, join_thread(&j, 3), JOIN_READY, 3100);
	join_state(&j, join_thread(&j, 3), JOIN_ON_CPU, 3200);
	join_state(&j, join_thread(&j, 3), JOIN_READY, 3300);
	EXPECT_EQ(1, j.nr_off);
	join_lose(&j, 4000);
	EXPECT_EQ(JOIN_UNTOLD, j.threads[join_thread(&j, 3)].state);
	join_free(&j);
}

/* As a snapshot of a flight recorder begins, who runs has nothing to tell for long. */
TEST_F(views, join_of_a_thread_that_runs_already)
{
	comes(1, 7);
	point(1, 1, GPROF_TRACE_POINT_SWITCH, 0, 0, 8, 0, 0);
	point(12, 1, GPROF_TRACE_POINT_SWITCH, GPROF_TRACE_WHY_PREEMPTED, 8, 9, 0, 0);
	point(15, 1, GPROF_TRACE_POINT_SWITCH, GPROF_TRACE_WHY_SLEEPS, 9, 8, 0, 0);
	leaves(40, 7, GPROF_TRACE_WHY_SLEEPS, 0);
	point(41, 1, GPROF_TRACE_POINT_SWITCH, GPROF_TRACE_WHY_SLEEPS, 8, 0, 0, 0);
	go_begin();
	go_thread(7, 10 * MS);
	go_tells(19, MS);
	build_end(&go);
	go_thread(8, 20 * MS);
	go_tells(9, MS);
	JOINS();
	EXPECT_NEAR_MS(19 + 19, number(self->r.out, "\"functions\"", "\"running_ns\": "))
		TH_LOG("%s", self->r.out);
	EXPECT_NEAR_MS(3, number(self->r.out, "\"functions\"", "\"runnable_ns\": "));
	EXPECT_SAYS(self->r.out, "\"goroutine\": 8, \"tid\": 8, \"begin_ns\": 12000");
}

/* How long the runtime left a goroutine without a thread is since it was runnable, not since before. */
TEST_F(views, join_counts_delays_from_runnable_alone)
{
	comes(1, 7);
	leaves(60, 7, GPROF_TRACE_WHY_SLEEPS, 0);
	go_begin();
	go_thread(7, 10 * MS);
	/* Another waits for 8 ms, and is runnable for 2. */
	EV(&go, GPROF_EV_GO_STATUS, 1, 70, NONE, GPROF_GO_WAITING);
	EV(&go, GPROF_EV_GO_UNBLOCK, 8 * MS, 70, 1, 0);
	EV(&go, GPROF_EV_GO_BLOCK, MS, 2, 1);
	EV(&go, GPROF_EV_GO_START, MS, 70, 2);
	/* In a system call for 5 ms, without another goroutine meanwhile, and on. */
	EV(&go, GPROF_EV_GO_SYSCALL_BEGIN, MS, 1, 1);
	EV(&go, GPROF_EV_GO_SYSCALL_END, 5 * MS);
	go_tells(2, MS);
	JOINS();
	EXPECT_EQ(0, number(self->r.out, "\"kernel_delay\"", "\"count\": "));
	EXPECT_EQ(1, number(self->r.out, "\"checked\"", "\"runtime_delay\": {\"count\": "))
		TH_LOG("%s", self->r.out);
	EXPECT_NEAR_MS(2, number(self->r.out, "\"checked\"", "\"ns\": "));
}

/* The view tells what a file lacks, and refuses two that are not of one host and time. */
TEST_F(views, join_says_what_it_cannot_know)
{
	static char *const bad[][3] = {
		{ "other", "x.trace", "is no trace of a host" },
		{ "x.trace", "x.trace", "not one that a Go program wrote" },
		{ "x.trace", "none", "none cannot be opened" },
		{ "x.trace", "empty", "empty is empty" },
		{ "later", "other", "no time in common" },
	};
	const struct gprof_trace_writer_opts opts = { .sz = sizeof(opts) };
	FILE *pipe;

	comes(1, 7);
	point(20, 0, GPROF_TRACE_POINT_LOST, 0, GPROF_TRACE_NO_TID, 0, 0, 100);
	comes(30, 7);
	leaves(31, 7, GPROF_TRACE_WHY_PREEMPTED, 0);
	comes(33, 7);
	leaves(60, 7, GPROF_TRACE_WHY_SLEEPS, 0);
	go_begin();
	go_thread(7, 10 * MS);
	go_tells(2, MS);
	go_tells(1, 28 * MS);
	build_end(&go);
	join(_metadata, self, false);
	EXPECT_EQ(0, self->r.status);
	EXPECT_SAYS(self->r.err, "events were lost; states of threads then are not known",
		    "no interrupts; gprofctl trace --irqs", "no page faults; gprofctl trace --faults");
	EXPECT_SAYS(self->r.out, "their threads waited for a CPU                1 times");
	ASSERT_ZEROS(chdir(self->dir), lib_sh(": >empty"));
	pipe = popen("cat x.trace", "r");
	RUN_TELLS(STATUS_FAILED, "cannot be read again", cmd_read,
		  ARGV("read", lib_text("/dev/fd/%d", fileno(pipe)), "--join", "other"));
	RUN_TELLS(STATUS_USAGE, "--join", cmd_read,
		  ARGV("read", "x.trace", "--join", "other", "--summary"));
	self->fd = open("later", O_RDWR | O_CREAT, 0600);
	w = gprof_trace_writer_new(self->fd, &opts);
	comes(100000, 7);
	leaves(100001, 7, GPROF_TRACE_WHY_SLEEPS, 0);
	ASSERT_EQ(0, gprof_trace_writer_close(w));
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		RUN_TELLS(STATUS_FAILED, bad[i][2], cmd_read, ARGV("read", bad[i][0], "--join", bad[i][1]));
	lib_sh("rm empty later");
}

/* Generations of goroutines that each ran once; one of them is in a region as it ends. */
static void go_many(const char *file, unsigned int generations)
{
	FILE *f = fopen(file, "w");
	uint64_t id = 100, ns = MS;

	build_header(&go, 23);
	for (unsigned int gen = 1; gen <= generations; gen++) {
		STRINGS(&go, gen, "main.main", "runtime.park");
		build_begin(&go, gen, NONE, 1);
		EV(&go, GPROF_EV_STACKS, GPROF_EV_STACK, 1, 2, 2, 2, 0, 0, 1, 1, 0, 0);
		build_end(&go);
		build_clock(&go, 23, gen);
		build_begin(&go, gen, 7, ns);
		EV(&go, GPROF_EV_PROC_STATUS, 1, 7, GPROF_PROC_RUNNING);
		EV(&go, GPROF_EV_GO_STATUS, 1, 7, 7, GPROF_GO_RUNNING);
		for (unsigned int i = 1; i <= 1500; i++) {
			EV(&go, GPROF_EV_GO_CREATE, 1, ++id, 1, 0);
			EV(&go, GPROF_EV_GO_STOP, 1, 2, 1);
			EV(&go, GPROF_EV_GO_START, 1, id, 1);
			if (i == 700)
				EV(&go, GPROF_EV_USER_REGION_BEGIN, 1, 0, 1, 0);
			/* In the first ones longest. */
			EV(&go, GPROF_EV_GO_DESTROY, i == 700 ? 1000 - gen : 1);
			EV(&go, GPROF_EV_GO_START, 1, 7, i);
		}
		build_end(&go);
		ns += MS;
		if (f)
			fwrite(go.b, 1, go.n, f);
		go.n = 0;
	}
	if (f)
		fclose(f);
}

TEST_F(views, regions_forget_ended_threads)
{
	char *argv[] = { "read", self->other, "--regions", "--json", NULL };
	char *words[] = { "read", self->other, "--regions", NULL };
	long few;

	go_many(self->other, 2);
	RUN_OK(cmd_read, argv);
	EXPECT_EQ(2, number(self->r.out, "\"main.main\"", "\"unended\": ")) TH_LOG("%s", self->r.out);
	/* none is in a call */
	RUN_OK(cmd_read, words);
	EXPECT_LACKS(self->r.out, "syscall");
	few = lib_peak_kib(RUSAGE_CHILDREN);
	go_many(self->other, 150);
	RUN_OK(cmd_read, argv);
	EXPECT_EQ(150, number(self->r.out, "\"main.main\"", "\"unended\": ")) TH_LOG("%s", self->r.out);
	EXPECT_GT(4096, lib_peak_kib(RUSAGE_CHILDREN) - few);
}

/* Regions and tasks of known lengths, the shortest neither first nor last; and their logs. */
static void go_annotated(FILE *f)
{
	build_header(&go, 23);
	STRINGS(&go, 1, "main.main", "short", "long", "task", "log");
	build_begin(&go, 1, NONE, 1);
	EV(&go, GPROF_EV_STACKS, GPROF_EV_STACK, 1, 1, 1, 1, 0, 0);
	build_end(&go);
	build_clock(&go, 23, 1);
	go_thread(7, MS);
	EV(&go, GPROF_EV_USER_REGION_END, 100, 0, 3, 0);
	EV(&go, GPROF_EV_USER_TASK_BEGIN, 100, 1, 0, 4, 0);
	EV(&go, GPROF_EV_USER_REGION_BEGIN, 100, 1, 2, 0);
	EV(&go, GPROF_EV_USER_LOG, 10, 1, 5, 5, 0);
	EV(&go, GPROF_EV_USER_REGION_END, 290, 1, 2, 0);
	EV(&go, GPROF_EV_USER_TASK_END, 100, 1, 0);
	EV(&go, GPROF_EV_USER_TASK_BEGIN, 100, 2, 0, 4, 0);
	EV(&go, GPROF_EV_USER_REGION_BEGIN, 1, 2, 2, 0);
	EV(&go, GPROF_EV_USER_REGION_END, 200, 2, 2, 0);
	/* One within another; it waits for 3000, is runnable for 400, and in a call for 50. */
	EV(&go, GPROF_EV_USER_REGION_BEGIN, 100, 0, 3, 0);
	EV(&go, GPROF_EV_USER_REGION_BEGIN, 1000, 2, 2, 0);
	EV(&go, GPROF_EV_USER_REGION_END, 700, 2, 2, 0);
	EV(&go, GPROF_EV_USER_TASK_END, 99, 2, 0);
	EV(&go, GPROF_EV_GO_STATUS, 1, 70, NONE, GPROF_GO_RUNNABLE);
	EV(&go, GPROF_EV_GO_BLOCK, 200, 1, 1);
	EV(&go, GPROF_EV_GO_START, 1000, 70, 1);
	EV(&go, GPROF_EV_GO_UNBLOCK, 2000, 7, 1, 0);
	EV(&go, GPROF_EV_GO_STOP, 300, 1, 1);
	EV(&go, GPROF_EV_GO_START, 100, 7, 2);
	EV(&go, GPROF_EV_GO_SYSCALL_BEGIN, 10, 1, 1);
	EV(&go, GPROF_EV_GO_SYSCALL_END, 50);
	EV(&go, GPROF_EV_USER_REGION_END, 40, 0, 3, 0);
	/* And what does not end. */
	EV(&go, GPROF_EV_USER_TASK_BEGIN, 100, 3, 0, 4, 0);
	EV(&go, GPROF_EV_USER_TASK_BEGIN, 100, 4, 0, 4, 0);
	EV(&go, GPROF_EV_USER_REGION_BEGIN, 100, 3, 2, 0);
	EV(&go, GPROF_EV_USER_TASK_END, 100, 9, 0);
	build_end(&go);
	fwrite(go.b, 1, go.n, f);
}

TEST_F(views, regions_and_tasks_by_their_lengths)
{
	char *words[] = { "read", self->other, "--regions", NULL };
	FILE *f = fopen(self->other, "w");
	struct gprof_trace *t;
	struct region found;
	int fd;

	ASSERT_NE(NULL, f);
	go_annotated(f);
	fclose(f);
	fd = open(self->other, O_RDONLY | O_CLOEXEC);
	t = gprof_trace_new(fd, NULL);
	ASSERT_NE(NULL, t);
	EXPECT_EQS(0, regions_longest(t, "x", "short", &found), 7, found.thread,
		   700, found.end - found.begin, MS + 2103, found.begin);
	gprof_trace_free(t);
	close(fd);
	RUN_OK(cmd_read, ARGV("read", self->other, "--regions", "--json"));
	EXPECT_STREQ("{\"version\": 1, \"command\": \"read\", \"data\": {\"regions\": [\n"
		     "{\"type\": \"long\", \"count\": 1, \"total_ns\": 5500, \"min_ns\": 5500, \"max_ns\": 5500"
		     ", \"cpu_ns\": 2050, \"runnable_ns\": 400, \"blocked_ns\": 3000, \"syscall_ns\": 50, \"unended\": 0, \"unbegun\": 1},\n"
		     "{\"type\": \"short\", \"count\": 3, \"total_ns\": 1200, \"min_ns\": 200, \"max_ns\": 700"
		     ", \"cpu_ns\": 1200, \"runnable_ns\": 0, \"blocked_ns\": 0, \"syscall_ns\": 0, \"unended\": 1, \"unbegun\": 0}], "
		     "\"tasks\": [\n"
		     "{\"type\": \"task\", \"count\": 2, "
		     "\"total_ns\": 2600, \"min_ns\": 500, \"max_ns\": 2100, \"unended\": 2, \"unbegun\": 0},\n"
		     "{\"type\": \"\", \"count\": 0, "
		     "\"total_ns\": 0, \"min_ns\": 0, \"max_ns\": 0, \"unended\": 0, \"unbegun\": 1}], "
		     "\"logs\": 1, \"repaired\": 0, \"lost_events\": 0}, \"losses\": []}\n", self->r.out);
	RUN_OK(cmd_read, words);
	EXPECT_STREQ("     times     total ms   longest ms          cpu     runnable    "
		     "  blocked      syscall  unended  unbegun  region\n"
		     "         1        0.005        0.005        0.002        0.000    "
		     "    0.003        0.000        0        1  long\n"
		     "         3        0.001        0.001        0.001        0.000    "
		     "    0.000        0.000        1        0  short\n"
		     "\n"
		     "     times     total ms   longest ms  unended  unbegun  task\n"
		     "         2        0.003        0.002        2        0  task\n"
		     "         0        0.000        0.000        0        1  \n", self->r.out);
}

static size_t lines_of(const char *text, const char *what)
{
	size_t nr = 0;

	for (const char *p = text; (p = strstr(p, what)); p++)
		nr++;
	return nr;
}

/* Those that ran longest are told all the same, if they ended at the very beginning. */
TEST_F(views, summary_and_profiles_forget_ended_threads)
{
	char *summary[] = { "read", self->other, "--summary", NULL };
	char *profile[] = { "read", self->other, "--pprof", "sched", "-o", self->trace, NULL };
	long few;

	go_many(self->other, 2);
	RUN_OK(cmd_read, summary);
	RUN_OK(cmd_read, profile);
	few = lib_peak_kib(RUSAGE_CHILDREN);
	go_many(self->other, 150);
	RUN_OK(cmd_read, profile);
	EXPECT_GT(4096, lib_peak_kib(RUSAGE_CHILDREN) - few);
	RUN_OK(cmd_read, summary);
	EXPECT_GT(4096, lib_peak_kib(RUSAGE_CHILDREN) - few);
	EXPECT_SAYS(self->r.out, "Goroutines:   225001,");
	/* One of each of the first generations. */
	EXPECT_EQ(19, lines_of(self->r.out, " runtime.park\n")) TH_LOG("%s", self->r.out);
	EXPECT_EQ(1, lines_of(self->r.out, " 800 runtime.park")) TH_LOG("%s", self->r.out);
	EXPECT_EQ(1, lines_of(self->r.out, " 27800 runtime.park")) TH_LOG("%s", self->r.out);
}

TEST_HARNESS_MAIN
