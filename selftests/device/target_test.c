// SPDX-License-Identifier: GPL-2.0-only
/*
 * target_test: whom a recorder records, told by who shows up in its samples.
 *
 * The tasks burn known amounts of CPU time; the timer samples each every millisecond of it.
 */
#include "harness.h"
#include "device.h"
#include "reader.h"
#include "tally.h"
#include "trace_words.h"
#include "workload.h"

#define PERIOD_NS	1000000
#define BURN_MS		300
/*
 * Of who burned BURN_MS. Few, because a kernel with all checks on takes most of the
 * time itself, and an emulated CPU may stand still for long. What weights amount to
 * is left to truth_test.sh; here it is who.
 */
#define SOME		2

#define MAX_TASKS	16

/* What the recorded process and the test both see. */
struct shared {
	pthread_barrier_t ready, go;
	uint32_t tids[MAX_TASKS];
	uint32_t nr;
};

FIXTURE(target) {
	struct shared *shared;
	struct gprof_cpu_params params;
	struct gprof_setup setup;
	struct device dev;
	struct tally *tally;
	struct child child, other;
};

FIXTURE_SETUP(target)
{
	self->tally = calloc(1, sizeof(*self->tally));
	self->shared = shared_memory(sizeof(*self->shared));
	self->params = timer_params(PERIOD_NS);
}

FIXTURE_TEARDOWN(target)
{
	child_end(&self->child);
	child_end(&self->other);
	if (self->tally->reader.rings)
		tally_free(self->tally);
	free(self->tally);
	device_close(&self->dev);
}

/* Returns to how many tasks, or on how many CPUs, it has attached. */
static unsigned int start(struct __test_metadata *_metadata, FIXTURE_DATA(target) *self,
			  uint32_t target, int32_t id)
{
	struct gprof_start start = { .size = sizeof(start) };

	if (!self->setup.size)
		self->setup = device_setup_of(target, id, &self->params);
	EXPECT_EQ(0, device_setup(&self->dev, &self->setup))
		TH_LOG("reason %u", self->setup.out_reason);
	EXPECT_ZEROS(device_map(&self->dev), tally_init(self->tally, &self->dev),
		     device_ioctl(self->dev.fd, GPROF_IOC_START, &start));
	return start.out_attached;
}

#define START(_target, _id)	start(_metadata, self, _target, _id)

/* A process as its child, asleep; recorded from then on. */
#define RECORD_CHILD(_fn, _arg) do {					\
	ASSERT_EQ(0, child_fork(&self->child, _fn, _arg));		\
	START(GPROF_TARGET_PROCESS, self->child.pid);			\
} while (0)

static struct gprof_stats finish(struct __test_metadata *_metadata, struct tally *tally)
{
	struct gprof_stats st;

	READER_END(&tally->reader, &st);
	for (unsigned int i = 0; i < tally->nr_tasks && i < 12; i++)
		TH_LOG("tid %u pid %u exec %u: %llu samples, %llu ms", tally->tasks[i].tid,
		       tally->tasks[i].process.pid, tally->tasks[i].process.exec_id,
		       ull(tally->tasks[i].samples), ms_of(tally->tasks[i].weight));
	return st;
}

#define FINISH()	finish(_metadata, self->tally)

#define EXPECT_SAMPLED(_tid)	EXPECT_LE(SOME, tally_of(self->tally, _tid))

/* ---- threads and processes ---- */

static void *thread(void *arg)
{
	struct shared *s = arg;

	s->tids[__atomic_fetch_add(&s->nr, 1, __ATOMIC_SEQ_CST)] = gettid();
	pthread_barrier_wait(&s->ready);
	pthread_barrier_wait(&s->go);
	burn_ns(BURN_MS * 1000000ULL);
	return NULL;
}

#define NR_THREADS	3

/* step 0: start threads and wait; step 1: let them burn. */
static void threads(void *arg, int step)
{
	static pthread_t all[NR_THREADS];
	struct shared *s = arg;

	if (step == 0) {
		pthread_barrier_init(&s->ready, NULL, NR_THREADS + 1);
		pthread_barrier_init(&s->go, NULL, NR_THREADS + 1);
		for (int i = 0; i < NR_THREADS; i++)
			pthread_create(&all[i], NULL, thread, s);
		pthread_barrier_wait(&s->ready);
		return;
	}
	pthread_barrier_wait(&s->go);
	for (int i = 0; i < NR_THREADS; i++)
		pthread_join(all[i], NULL);
}

TEST_F(target, thread_is_recorded_alone)
{
	uint32_t tid;

	ASSERT_ZEROS(child_fork(&self->child, threads, self->shared), child_step(&self->child));
	tid = self->shared->tids[1];
	ASSERT_EQS(1, START(GPROF_TARGET_THREAD, tid), 0, child_step(&self->child));
	FINISH();
	EXPECT_SAMPLED(tid);
	EXPECT_EQ(0, tally_of_others(self->tally, &tid, 1));
}

TEST_F(target, process_is_recorded_with_the_threads_that_it_has)
{
	ASSERT_ZEROS(child_fork(&self->child, threads, self->shared), child_step(&self->child));
	ASSERT_EQS(NR_THREADS + 1, START(GPROF_TARGET_PROCESS, self->child.pid),
		   0, child_step(&self->child));
	FINISH();
	for (int i = 0; i < NR_THREADS; i++)
		EXPECT_SAMPLED(self->shared->tids[i]);
}

TEST_F(target, process_is_recorded_with_the_threads_that_it_starts)
{
	RECORD_CHILD(threads, self->shared);
	ASSERT_ZEROS(child_step(&self->child), child_step(&self->child));
	FINISH();
	for (int i = 0; i < NR_THREADS; i++)
		EXPECT_SAMPLED(self->shared->tids[i]);
}

TEST_F(target, thread_is_recorded_without_the_threads_that_it_starts)
{
	uint32_t tid;

	ASSERT_EQ(0, child_fork(&self->child, threads, self->shared));
	tid = self->child.pid;
	START(GPROF_TARGET_THREAD, tid);
	ASSERT_ZEROS(child_step(&self->child), child_step(&self->child));
	FINISH();
	EXPECT_EQ(0, tally_of_others(self->tally, &tid, 1));
}

#define MANY	300	/* threads: more than are looked up at a time */
#define PAGES	64	/* that each of them touches */

static void *touch(void *arg)
{
	size_t size = getpagesize();
	struct shared *s = arg;
	volatile char *room;

	room = private_memory(PAGES * size);
	madvise((void *)room, PAGES * size, MADV_NOHUGEPAGE);
	pthread_barrier_wait(&s->ready);
	pthread_barrier_wait(&s->go);
	for (int i = 0; i < PAGES; i++)
		room[i * size] = 1;
	return NULL;
}

/* step 0: start threads and wait; step 1: let them touch their pages, and say what it took. */
static void many_touch(void *arg, int step)
{
	static pthread_t all[MANY];
	struct rusage before, after;
	struct shared *s = arg;

	if (step == 0) {
		pthread_barrier_init(&s->ready, NULL, MANY + 1);
		pthread_barrier_init(&s->go, NULL, MANY + 1);
		for (int i = 0; i < MANY; i++)
			if (pthread_create(&all[i], NULL, touch, s))
				_exit(1);
		pthread_barrier_wait(&s->ready);
		return;
	}
	getrusage(RUSAGE_SELF, &before);
	pthread_barrier_wait(&s->go);
	for (int i = 0; i < MANY; i++)
		pthread_join(all[i], NULL);
	getrusage(RUSAGE_SELF, &after);
	s->nr = after.ru_minflt - before.ru_minflt;
}

TEST_F(target, each_of_many_threads_has_a_counter)
{
	struct gprof_stats st;

	/* of perf, where timers may be ours */
	self->params = event_params(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS, 1000);
	ASSERT_ZEROS(child_fork(&self->child, many_touch, self->shared), child_step(&self->child));
	START(GPROF_TARGET_PROCESS, self->child.pid);
	ASSERT_EQ(0, child_step(&self->child));
	st = FINISH();
	/* What the child does besides takes a few; that of a single thread would be missed. */
	EXPECT_LES(MANY * PAGES / 2, self->shared->nr, self->shared->nr, st.out_count);
	EXPECT_GT(self->shared->nr + PAGES / 2, st.out_count);
}

/* Child, grandchild, great-grandchild: each burns. */
static void family(void *arg, int step)
{
	struct shared *s = arg;
	int depth = 0;
	pid_t pid;

	for (;;) {
		s->tids[depth++] = getpid();
		burn_ns(BURN_MS * 1000000ULL);
		if (depth == 3)
			break;
		pid = fork();
		if (pid) {
			waitpid(pid, NULL, 0);
			break;
		}
	}
	if (s->tids[0] != (uint32_t)getpid())
		_exit(0);
}

TEST_F(target, process_is_recorded_with_all_that_it_forks)
{
	RECORD_CHILD(family, self->shared);
	ASSERT_EQ(0, child_step(&self->child));
	FINISH();
	for (int i = 0; i < 3; i++)
		EXPECT_SAMPLED(self->shared->tids[i]);
	EXPECT_EQ(0, tally_of_others(self->tally, self->shared->tids, 3));
}

TEST_F(target, thread_is_recorded_without_what_it_forks)
{
	struct gprof_stats st;

	ASSERT_EQ(0, child_fork(&self->child, family, self->shared));
	START(GPROF_TARGET_THREAD, self->child.pid);
	ASSERT_EQ(0, child_step(&self->child));
	st = FINISH();
	/* nor is there anything of those to be missed */
	EXPECT_EQ(0, device_lost(&st));
	EXPECT_SAMPLED(self->shared->tids[0]);
	EXPECT_EQ(0, tally_of_others(self->tally, self->shared->tids, 1));
}

static void burn_some(void *arg, int step)
{
	burn_ns(BURN_MS * 1000000ULL);
}

TEST_F(target, brothers_and_parents_are_not_recorded)
{
	uint32_t pid;

	ASSERT_EQ(0, child_fork(&self->child, burn_some, NULL));
	ASSERT_EQ(0, child_fork(&self->other, burn_some, NULL));
	pid = self->child.pid;
	START(GPROF_TARGET_PROCESS, pid);
	ASSERT_ZEROS(child_begin(&self->child), child_begin(&self->other));
	burn_ns(BURN_MS * 1000000ULL);
	ASSERT_ZEROS(child_wait(&self->child), child_wait(&self->other));
	FINISH();
	EXPECT_SAMPLED(pid);
	EXPECT_EQ(0, tally_of_others(self->tally, &pid, 1));
}

struct share {
	struct shared *s;
	int n;
};

static void *burn_share(void *arg)
{
	struct share *share = arg;

	share->s->tids[share->n] = gettid();
	burn_ns(200000000ULL << share->n);
	return NULL;
}

static void unequal(void *arg, int step)
{
	struct share shares[3] = { { arg, 0 }, { arg, 1 }, { arg, 2 } };
	pthread_t all[3];

	for (int i = 0; i < 3; i++)
		pthread_create(&all[i], NULL, burn_share, &shares[i]);
	for (int i = 0; i < 3; i++)
		pthread_join(all[i], NULL);
}

TEST_F(target, thread_that_burns_more_has_more)
{
	uint64_t n[3];

	/* in user mode alone a slow machine sees less of who looks at the clock more */
	self->params.flags = GPROF_CPU_F_KERNEL;
	RECORD_CHILD(unequal, self->shared);
	ASSERT_EQ(0, child_step(&self->child));
	FINISH();
	for (int i = 0; i < 3; i++)
		n[i] = tally_weight_of(self->tally, self->shared->tids[i]);
	/* 1 : 2 : 4, or at least in this order */
	EXPECT_LTS(n[0], n[1], n[1], n[2]);
}

TEST_F(target, counted_time_is_the_time_that_was_burned)
{
	struct gprof_stats st;
	uint64_t burned;

	/* a clock in user mode alone counts more than was asked for, and says 0 */
	self->params.flags = GPROF_CPU_F_KERNEL;
	RECORD_CHILD(burn_some, NULL);
	burned = process_cpu_ns(self->child.pid);
	ASSERT_EQ(0, child_step(&self->child));
	burned = process_cpu_ns(self->child.pid) - burned;
	st = FINISH();
	TH_LOG("burned %llu ms, counted %llu ms, sampled %llu ms", ms_of(burned),
	       ms_of(st.out_count), ms_of(self->tally->reader.weight));
	EXPECT_WITHIN(burned * 9 / 10, st.out_count, burned * 11 / 10 + 10000000);
	EXPECT_LES(st.out_time_running, st.out_time_enabled, burned * 9 / 10, st.out_time_running);
	/* what it sampled stands for what it counted; each CPU begins within a period */
	EXPECT_GE(st.out_count + PERIOD_NS * nr_online_cpus(), self->tally->reader.weight);
}

/* ---- exec and exit ---- */

static void burn_and_exec(void *arg, int step)
{
	if (step == 0) {
		burn_ns(BURN_MS * 1000000ULL);
		return;
	}
	execl(beside_us("burner"), "burner", "300", (char *)NULL);
	_exit(127);
}

TEST_F(target, exec_begins_a_new_run_of_the_same_task)
{
	uint32_t pid;

	RECORD_CHILD(burn_and_exec, NULL);
	pid = self->child.pid;
	ASSERT_ZEROS(child_step(&self->child), child_begin(&self->child));
	EXPECT_EQ(0, reap(pid));
	FINISH();
	EXPECT_EQ(2, tally_runs(self->tally, pid));
	EXPECT_LE(2 * SOME, tally_of(self->tally, pid));
	EXPECT_TRUE(tally_has_map(self->tally, pid, "/target_test"));
	EXPECT_TRUE(tally_has_map(self->tally, pid, "/burner"));
}

TEST_F(target, mappings_explain_every_instruction)
{
	struct gprof_stats st;
	uint32_t pid;

	RECORD_CHILD(burn_and_exec, NULL);
	pid = self->child.pid;
	ASSERT_ZEROS(child_step(&self->child), child_begin(&self->child));
	ASSERT_EQ(pid, waitpid(pid, NULL, 0));
	st = FINISH();
	EXPECT_EQ(0, st.out_maps_lost);
	EXPECT_LT(0, self->tally->nr_ips);
	/* a process may be gone before its mappings are read; that is counted */
	if (!st.out_maps_missed) {
		EXPECT_EQ(0, tally_unexplained(self->tally));
	}
}

TEST_F(target, on_exec_counts_from_the_exec_on)
{
	struct gprof_stats st;
	uint32_t pid;

	ASSERT_EQ(0, child_fork(&self->child, burn_and_exec, NULL));
	pid = self->child.pid;
	self->setup = device_setup_of(GPROF_TARGET_PROCESS, pid, &self->params);
	self->setup.flags = GPROF_SETUP_F_ON_EXEC;
	START(0, 0);
	ASSERT_EQ(0, child_step(&self->child));
	EXPECT_ZEROS(device_stats(&self->dev, GPROF_STATS_ALL_CPUS, &st), st.out_produced);
	ASSERT_EQS(0, child_begin(&self->child), pid, waitpid(pid, NULL, 0));
	FINISH();
	EXPECT_SAMPLED(pid);
	EXPECT_EQ(1, tally_runs(self->tally, pid));
	EXPECT_FALSE(tally_has_map(self->tally, pid, "/target_test"));
}

static void touch_pages(int n)
{
	size_t page = sysconf(_SC_PAGESIZE);
	char *at = private_memory(n * page);

	madvise(at, n * page, MADV_NOHUGEPAGE);
	for (int i = 0; i < n; i++)
		((volatile char *)at)[i * page] = 1;
	munmap(at, n * page);
}

static void touch_and_exec(void *arg, int step)
{
	if (step == 0)
		touch_pages(1000);
	else
		burn_and_exec(arg, step);
}

/* The timer looks at who is in the scope; counters are told by perf. */
TEST_F(target, on_exec_counts_events_from_the_exec_on)
{
	struct gprof_stats st;
	uint32_t pid;

	self->params = event_params(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS, 100);
	ASSERT_EQ(0, child_fork(&self->child, touch_and_exec, NULL));
	pid = self->child.pid;
	self->setup = device_setup_of(GPROF_TARGET_PROCESS, pid, &self->params);
	self->setup.flags = GPROF_SETUP_F_ON_EXEC;
	START(0, 0);
	ASSERT_EQ(0, child_step(&self->child));
	EXPECT_EQ(0, device_stats(&self->dev, GPROF_STATS_ALL_CPUS, &st));
	EXPECT_EQS(0, st.out_produced, 0, st.out_time_enabled);
	ASSERT_EQS(0, child_begin(&self->child), pid, waitpid(pid, NULL, 0));
	st = FINISH();
	EXPECT_LT(0, st.out_time_enabled);
}

static void fork_touchers(void *arg, int step)
{
	pid_t pid;

	for (int i = 0; i < 200; i++) {
		pid = fork();
		if (!pid) {
			touch_pages(300);
			_exit(0);
		}
		waitpid(pid, NULL, 0);
	}
}

/* Each has fewer events than a period: without chance none would have a sample. */
TEST_F(target, children_shorter_than_a_period_are_sampled_by_chance)
{
	uint32_t pid;

	self->params = event_params(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS, 1000);
	RECORD_CHILD(fork_touchers, NULL);
	pid = self->child.pid;
	ASSERT_EQ(0, child_step(&self->child));
	FINISH();
	/* 60 and more to be expected */
	EXPECT_LE(5, tally_of_others(self->tally, &pid, 1));
}

/* Of registers alone, so that it runs wherever it is copied to. */
static __attribute__((noinline)) void spin(uint64_t n)
{
	while (n--)
		asm volatile("" : "+r"(n));
}

static void burn_here_and_elsewhere(void *arg, int step)
{
	void (*copy)(uint64_t n);
	uint64_t end;

	if (step == 0) {
		burn_ns(BURN_MS * 1000000ULL);
		return;
	}
	copy = private_memory(4096);
	memcpy((void *)(uintptr_t)copy, (const void *)(uintptr_t)spin, 128);
	__builtin___clear_cache((char *)(uintptr_t)copy, (char *)(uintptr_t)copy + 128);
	/* what can be written as well does not count as code, for the kernel */
	if (mprotect(copy, 4096, PROT_READ | PROT_EXEC))
		_exit(1);
	end = thread_cpu_ns() + BURN_MS * 1000000ULL;
	while (thread_cpu_ns() < end)
		copy(1000000);
}

/* In the midst of a generation, which has the mappings from before. */
TEST_F(target, code_that_is_mapped_later_is_explained_too)
{
	struct gprof_stats st;

	ASSERT_EQ(0, child_fork(&self->child, burn_here_and_elsewhere, NULL));
	self->setup = device_setup_of(GPROF_TARGET_PROCESS, self->child.pid, &self->params);
	self->setup.generation_ns = 100000000000;
	START(0, 0);
	ASSERT_ZEROS(child_step(&self->child), child_step(&self->child));
	st = FINISH();
	EXPECT_EQ(0, st.out_maps_lost);
	EXPECT_LT(0, self->tally->nr_ips);
	if (!st.out_maps_missed) {
		EXPECT_EQ(0, tally_unexplained(self->tally));
	}
}

TEST_F(target, exit_ends_the_samples_and_stop_still_works)
{
	struct gprof_start again = { .size = sizeof(again) };
	uint32_t pid;

	RECORD_CHILD(burn_some, NULL);
	pid = self->child.pid;
	ASSERT_EQ(0, child_step(&self->child));
	child_end(&self->child);
	FINISH();
	EXPECT_SAMPLED(pid);
	EXPECT_EQ(-ESRCH, device_ioctl(self->dev.fd, GPROF_IOC_START, &again));
	EXPECT_EQ(GPROF_REASON_TASK_GONE, again.out_reason);
}

static void fork_many(void *arg, int step)
{
	struct shared *s = arg;
	pid_t pid;
	int i;

	/* many more than the module keeps room for at a time */
	for (i = 0; i < 600; i++) {
		pid = fork();
		if (!pid) {
			burn_ns(1000000);
			_exit(0);
		}
		if (pid > 0)
			waitpid(pid, NULL, 0);
	}
	s->nr = i;
}

TEST_F(target, storm_of_forks_adds_up)
{
	struct gprof_stats st;

	RECORD_CHILD(fork_many, self->shared);
	ASSERT_EQ(0, child_step(&self->child));
	st = FINISH();
	/* 1 ms each, so a sample of many */
	EXPECT_LES(20, self->tally->nr_tasks, 20, st.out_produced);
	EXPECT_EQ(0, device_lost(&st));
}

static void *short_thread(void *arg)
{
	burn_ns(1000000);
	return NULL;
}

static void many_threads(void *arg, int step)
{
	for (int i = 0; i < 50; i++)
		run_threads(10, short_thread, NULL);
}

TEST_F(target, process_that_starts_threads_during_start_is_recorded_whole)
{
	/* threads come and go while counters are attached to what there is */
	ASSERT_ZEROS(child_fork(&self->child, many_threads, NULL), child_begin(&self->child));
	self->setup = device_setup_of(GPROF_TARGET_PROCESS, self->child.pid, &self->params);
	for (int i = 0; i < 20; i++) {
		ASSERT_ZEROS(device_record(&self->dev, &self->setup), device_stop(&self->dev));
		device_close(&self->dev);
	}
	ASSERT_EQ(0, child_wait(&self->child));
}

/* ---- CPUs, the system ---- */

/* First it goes there, which must not be recorded on the way. */
static void burn_on(void *arg, int step)
{
	if (!step)
		pin_to(*(int *)arg);
	else
		burn_ns(BURN_MS * 1000000ULL);
}

TEST_F(target, cpus_are_recorded_without_the_others)
{
	int first = online_cpu(0), second = online_cpu(1);
	SKIP_UNLESS(second >= 0, "needs two CPUs");
	ASSERT_ZEROS(child_fork(&self->child, burn_on, &first),
		     child_fork(&self->other, burn_on, &second), child_step(&self->child),
		     child_step(&self->other));
	self->setup = device_setup_of(GPROF_TARGET_CPUS, 0, &self->params);
	device_target_cpu(&self->setup, second);
	START(0, 0);
	ASSERT_ZEROS(child_begin(&self->child), child_begin(&self->other),
		     child_wait(&self->child), child_wait(&self->other));
	FINISH();
	EXPECT_LE(SOME, tally_of(self->tally, self->other.pid));
	EXPECT_EQ(0, tally_of(self->tally, self->child.pid));
	for (unsigned int i = 0; i < self->tally->nr_tasks; i++)
		EXPECT_EQ(1ULL << second, self->tally->tasks[i].cpus);
}

TEST_F(target, system_is_recorded_on_every_cpu)
{
	int first = online_cpu(0), second = online_cpu(1);

	if (second < 0)
		second = first;
	ASSERT_ZEROS(child_fork(&self->child, burn_on, &first),
		     child_fork(&self->other, burn_on, &second), child_step(&self->child),
		     child_step(&self->other));
	EXPECT_EQ(nr_online_cpus(), START(GPROF_TARGET_SYSTEM, 0));
	ASSERT_ZEROS(child_begin(&self->child), child_begin(&self->other),
		     child_wait(&self->child), child_wait(&self->other));
	FINISH();
	EXPECT_LE(SOME, tally_of(self->tally, self->child.pid));
	EXPECT_LE(SOME, tally_of(self->tally, self->other.pid));
	EXPECT_EQ(0, tally_of(self->tally, 0));
}

TEST_F(target, kernel_mode_is_left_out_unless_asked_for)
{
	struct gprof_stats st;

	START(GPROF_TARGET_SYSTEM, 0);
	burn_ns(BURN_MS * 1000000ULL);
	FINISH();
	EXPECT_EQS(0, self->tally->reader.kernel, 0, self->tally->kernel_frames,
		   0, self->tally->kernel_addresses);

	tally_free(self->tally);
	device_close(&self->dev);
	self->setup = device_setup_of(GPROF_TARGET_SYSTEM, 0, &self->params);
	self->params.flags = GPROF_CPU_F_KERNEL;
	self->setup.stack |= GPROF_STACK_F_KERNEL;
	START(0, 0);
	for (int i = 0; i < 200; i++) {
		static char zeros[1 << 20];
		int fd = open("/dev/zero", O_RDONLY);

		EXPECT_EQ(sizeof(zeros), read(fd, zeros, sizeof(zeros)));
		close(fd);
	}
	st = FINISH();
	EXPECT_LTS(0, st.out_produced, 0, self->tally->reader.kernel,
		   self->tally->reader.kernel, self->tally->kernel_frames);
}

TEST_F(target, idle_task_is_left_out_unless_asked_for)
{
	self->params.flags = GPROF_CPU_F_KERNEL;
	START(GPROF_TARGET_SYSTEM, 0);
	sleep_ms(BURN_MS);
	FINISH();
	EXPECT_EQ(0, tally_of(self->tally, 0));

	tally_free(self->tally);
	device_close(&self->dev);
	self->params.flags = GPROF_CPU_F_KERNEL | GPROF_CPU_F_IDLE;
	self->setup = device_setup_of(GPROF_TARGET_SYSTEM, 0, &self->params);
	START(0, 0);
	sleep_ms(BURN_MS);
	FINISH();
	EXPECT_LT(0, tally_of(self->tally, 0));
}

/* ---- cgroups ---- */

#define CGROUPS	"/sys/fs/cgroup"

FIXTURE(cgroup) {
	struct gprof_cpu_params params;
	struct gprof_setup setup;
	struct device dev;
	struct tally *tally;
	struct child in, below, out;
	char path[MEMORY_CGROUP_PATH], sub[80];
	int fd;
};


FIXTURE_SETUP(cgroup)
{
	SKIP_ALL_UNLESS(device_has(GPROF_FEAT_CGROUP), "the module says it cannot");
	ASSERT_EQ(0, cgroup_make(self->path, "target"));
	snprintf(self->sub, sizeof(self->sub), "%s/below", self->path);
	ASSERT_EQ(0, mkdir(self->sub, 0755));
	self->fd = open(self->path, O_RDONLY | O_DIRECTORY);
	ASSERT_LE(0, self->fd);
	self->tally = calloc(1, sizeof(*self->tally));
	ASSERT_ZEROS(child_fork(&self->in, burn_some, NULL),
		     child_fork(&self->below, burn_some, NULL),
		     child_fork(&self->out, burn_some, NULL));
	self->params = timer_params(PERIOD_NS);
	self->setup = device_setup_of(GPROF_TARGET_CGROUP, self->fd, &self->params);
}

FIXTURE_TEARDOWN(cgroup)
{
	device_close(&self->dev);
	child_end(&self->in);
	child_end(&self->below);
	child_end(&self->out);
	tally_free(self->tally);
	free(self->tally);
	close(self->fd);
	rmdir(self->sub);
	rmdir(self->path);
}

TEST_F(cgroup, members_and_descendants_are_recorded_others_not)
{
	uint32_t members[2] = { self->in.pid, self->below.pid };
	struct gprof_stats st;
	int i;

	ASSERT_ZEROS(memory_cgroup_enter(self->path, self->in.pid),
		     memory_cgroup_enter(self->sub, self->below.pid),
		     device_record(&self->dev, &self->setup), tally_init(self->tally, &self->dev));
	/* time that a busy host takes away counts as burned, and brings no sample */
	for (i = 0; i < 20; i++) {
		ASSERT_ZEROS(child_begin(&self->in), child_begin(&self->below),
			     child_begin(&self->out), child_wait(&self->in),
			     child_wait(&self->below), child_wait(&self->out));
		ASSERT_LE(0, reader_read(&self->tally->reader));
		if (tally_of(self->tally, members[0]) >= SOME &&
		    tally_of(self->tally, members[1]) >= SOME)
			break;
	}
	TH_LOG("burned %d times more", i);
	st = FINISH();
	EXPECT_LE(SOME, tally_of(self->tally, members[0]));
	EXPECT_LE(SOME, tally_of(self->tally, members[1]));
	EXPECT_EQ(0, tally_of_others(self->tally, members, 2));
	/* counters count everything on the CPU, so this number would be a lie */
	EXPECT_EQ(0, st.out_count);
}

TEST_F(cgroup, members_are_those_of_the_moment_of_the_sample)
{
	uint64_t before;

	ASSERT_ZEROS(device_record(&self->dev, &self->setup), tally_init(self->tally, &self->dev));
	for (int i = 0; i < 3; i++) {
		/* out, in, out again */
		ASSERT_EQ(0, memory_cgroup_enter(i == 1 ? self->path : CGROUPS, self->in.pid));
		before = tally_of(self->tally, self->in.pid);
		for (int n = 0; n < 20; n++) {
			ASSERT_EQ(0, child_step(&self->in));
			ASSERT_LE(0, reader_read(&self->tally->reader));
			/* while it is out one time is enough */
			if (i != 1 || tally_of(self->tally, self->in.pid) >= before + SOME)
				break;
		}
		if (i == 1) {
			EXPECT_LE(before + SOME, tally_of(self->tally, self->in.pid));
		} else {
			EXPECT_EQ(before, tally_of(self->tally, self->in.pid));
		}
	}
}

TEST_F(cgroup, recorded_cgroup_can_be_removed)
{
	ASSERT_ZEROS(device_record(&self->dev, &self->setup), tally_init(self->tally, &self->dev));
	EXPECT_ZEROS(rmdir(self->sub), rmdir(self->path));
	ASSERT_EQ(0, child_step(&self->in));
	EXPECT_EQ(0, device_stop(&self->dev));
}

/* ---- pid namespaces ---- */

#define INNER	9	/* most ids of the namespace */

/* A recorder of the first process of a pid namespace, and what that finds in its records. */
struct inner {
	struct tally tally;
	struct trace_words words;
	struct device dev;
	struct gprof_setup setup;
	pid_t child;
	unsigned int outside, wrong;
};

/* The line of the failure tells which rule was broken. */
#define WANT(_true)	do { if (!(_true)) return __LINE__; } while (0)

static bool is_inner(const struct inner *in, uint32_t id)
{
	return id == 1 || id == (uint32_t)in->child;
}

static void check_name(struct inner *in, const struct gprof_task_rec *rec)
{
	if (!rec->tid) {
		in->outside++;
		in->wrong += rec->process.pid || strcmp(rec->comm, GPROF_TASK_OUTSIDE);
	} else {
		in->wrong += !is_inner(in, rec->tid) || rec->process.pid != rec->tid ||
			     strncmp(rec->comm, "target_test", 11);
	}
}

/* A tally's context lies first. */
static void on_inner_task(void *ctx, const struct gprof_task_rec *rec)
{
	check_name(ctx, rec);
}

/* Two tasks of the namespace work, and outside the one that waits for them. */
static int work_within(struct inner *in)
{
	in->child = fork();
	if (!in->child) {
		burn_ns(BURN_MS * 1000000ULL);
		_exit(0);
	}
	burn_ns(BURN_MS * 1000000ULL);
	WANT(waitpid(in->child, NULL, 0) == in->child && in->child <= INNER);
	return device_stop(&in->dev) ? __LINE__ : 0;
}

static int samples_within(struct inner *in)
{
	bool all = in->setup.target == GPROF_TARGET_SYSTEM;
	struct gprof_stats st;
	int err;

	WANT(getpid() == 1);
	WANT(!device_record(&in->dev, &in->setup) && !tally_init(&in->tally, &in->dev));
	in->tally.reader.on_task = on_inner_task;
	err = work_within(in);
	if (err)
		return err;
	WANT(reader_read(&in->tally.reader) >= 0 && !in->tally.reader.error[0]);
	WANT(!device_stats(&in->dev, GPROF_STATS_ALL_CPUS, &st));
	WANT(st.out_produced == in->tally.reader.samples + device_lost(&st));
	WANT(tally_of(&in->tally, 1) && tally_of(&in->tally, in->child));
	for (unsigned int i = 0; i < in->tally.nr_tasks; i++) {
		const struct tally_task *t = &in->tally.tasks[i];

		WANT(!t->tid || is_inner(in, t->tid));
		/* All 0: it was sampled without a stack. */
		WANT(t->process.pid == t->tid || !t->process.start_ns);
	}
	WANT(!in->wrong);
	WANT(tally_has_map(&in->tally, 1, "/target_test"));
	WANT(tally_has_map(&in->tally, in->child, "/target_test"));
	WANT(all == !!tally_of(&in->tally, 0) && all == !!in->outside);
	WANT(all == tally_has_map(&in->tally, 0, "/target_test"));
	return 0;
}

static int words_within(struct inner *in)
{
	bool all = in->setup.target == GPROF_TARGET_SYSTEM, idle = false, stranger = false;
	int err;

	WANT(getpid() == 1);
	WANT(!device_record(&in->dev, &in->setup) && !trace_words_init(&in->words, &in->dev));
	err = work_within(in);
	if (err)
		return err;
	WANT(!trace_words_read(&in->words) && !in->words.error[0]);
	for (size_t i = 0; i < in->words.nr; i++) {
		const struct trace_word *w = &in->words.words[i];

		if (w->what == GPROF_TRACE_SWITCH && w->arg & GPROF_TRACE_NOT_TARGET) {
			stranger = true;
			WANT(!w->tid);
		} else if (w->what == GPROF_TRACE_SWITCH && !w->tid) {
			idle = true;
		} else if (w->what == GPROF_TRACE_SWITCH || w->what == GPROF_TRACE_WAKING ||
			   w->what == GPROF_TRACE_FORK || w->what == GPROF_TRACE_EXIT ||
			   w->what == GPROF_TRACE_MIGRATE) {
			WANT(is_inner(in, w->tid));
		}
	}
	WANT(stranger && idle == all);
	WANT(trace_words_count(&in->words, GPROF_TRACE_SWITCH, 1));
	WANT(trace_words_count(&in->words, GPROF_TRACE_SWITCH, in->child));
	WANT(trace_words_count(&in->words, GPROF_TRACE_FORK, -1) == 1);
	WANT(trace_words_count(&in->words, GPROF_TRACE_EXIT, -1) == 1);
	for (size_t i = 0; i < in->words.nr_names; i++)
		check_name(in, &in->words.names[i].rec);
	WANT(!in->wrong && !in->outside);
	WANT(trace_words_named(&in->words, in->child, "target_test"));
	return 0;
}

/* The device was opened outside: so are its ids, but for that of SETUP. */
static int samples_of_outer(struct inner *in)
{
	char link[32] = "";
	uint32_t outer;
	int err;

	/* As the /proc of outside has it. */
	WANT(readlink("/proc/self", link, sizeof(link) - 1) > 0);
	outer = strtoul(link, NULL, 10);
	WANT(getpid() == 1 && outer > INNER);
	WANT(!device_ioctl(in->dev.fd, GPROF_IOC_SETUP, &in->setup));
	in->dev.nr_cpus = in->setup.out_nr_cpus;
	in->dev.data_size = in->setup.out_data_size;
	WANT(!device_map(&in->dev) && !device_start(&in->dev));
	WANT(!tally_init(&in->tally, &in->dev));
	err = work_within(in);
	if (err)
		return err;
	WANT(reader_read(&in->tally.reader) >= 0 && !in->tally.reader.error[0]);
	WANT(tally_of(&in->tally, outer));
	WANT(tally_has_map(&in->tally, outer, "/target_test"));
	WANT(!tally_of(&in->tally, 0) && !tally_of(&in->tally, 1));
	return 0;
}

/* The first process of another namespace: returns what @func does. */
static int run_within(int (*func)(struct inner *in), const struct gprof_setup *setup, int fd)
{
	struct inner *in = calloc(1, sizeof(*in));
	int *line = shared_memory(sizeof(*line));
	pid_t pid = fork();
	int found;

	if (!pid) {
		in->setup = *setup;
		in->dev.fd = fd;
		*line = -1;
		if (unshare(CLONE_NEWPID))
			_exit(1);
		pid = fork();
		if (!pid) {
			*line = func(in);
			_exit(0);
		}
		while (!waitpid(pid, NULL, WNOHANG))
			burn_ns(1000000);
		_exit(0);
	}
	waitpid(pid, NULL, 0);
	found = *line;
	munmap(line, sizeof(*line));
	free(in);
	return found;
}

TEST_F(target, ids_are_of_the_openers_pid_namespace)
{
	struct gprof_trace_params trace = { .size = sizeof(trace) };
	const struct { uint32_t target; int32_t id; } targets[] = {
		{ GPROF_TARGET_PROCESS, 1 }, { GPROF_TARGET_SYSTEM, 0 },
	};
	struct gprof_setup setup;
	int fd;

	SKIP_UNLESS(!geteuid(), "needs CAP_SYS_ADMIN");
	for (unsigned int i = 0; i < ARRAY_SIZE(targets); i++) {
		setup = device_setup_of(targets[i].target, targets[i].id, &self->params);
		EXPECT_EQ(0, run_within(samples_within, &setup, -1));
		setup = device_setup_kind(GPROF_KIND_TRACE, targets[i].target, targets[i].id,
					  &trace);
		EXPECT_EQ(0, run_within(words_within, &setup, -1));
	}
	fd = device_open();
	ASSERT_LE(0, fd);
	setup = device_setup_of(GPROF_TARGET_PROCESS, 1, &self->params);
	EXPECT_EQ(0, run_within(samples_of_outer, &setup, fd));
	close(fd);
}

TEST_HARNESS_MAIN
