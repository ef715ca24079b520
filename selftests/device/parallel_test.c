// SPDX-License-Identifier: GPL-2.0-only
/*
 * parallel_test: samples tell how many tasks of the target ran.
 *
 * Most of it is exact: who runs alone is alone in each sample, whatever sleeps, or runs
 * beside it without being of the target. Where two run at once the kernel's own tasks
 * take a CPU from one of them now and then, so that of these samples MOST are to say 2.
 */
#include "harness.h"
#include "device.h"
#include "reader.h"
#include "workload.h"

#define MS	1000000ULL
#define MOST(_n)	((_n) * 9 / 10)
#define SOME	5	/* samples that say something */

#define CGROUPS	"/sys/fs/cgroup"
#define MANY	64	/* more CPUs than a guest has */

enum spins { NOT_YET, LOOK_NOW, UNSWITCHED, SWITCHED };

/* What the workload tells. */
struct shared {
	uint64_t alone, both;		/* when these phases began */
	volatile uint64_t over;
	uint64_t asked;			/* when the other was woken */
	volatile uint64_t begun;	/* when it ran */
	volatile uint64_t left;		/* since then the second thread is gone */
	volatile uint64_t beats;	/* of work_on_second() */
	volatile bool stop;		/* whoever runs on */
	volatile enum spins spins;
	volatile uint64_t switched;	/* not before that */
	volatile uint64_t looked;	/* whether it was, until then */
	bool idles;			/* no page faults, no system calls */
	bool first;			/* the spinner is to go before others */
	volatile bool outranked;	/* it may not */
};

struct told {
	uint64_t time;
	uint64_t parallelism;
	uint64_t weight;
	uint32_t tid;
};

/* What the samples told, and what that was of some time. */
struct seen {
	struct reader reader;
	struct told *told;
	size_t nr_told, cap;
	uint32_t only;			/* of this thread; 0: of all */
	uint64_t nr[MANY];		/* samples, by parallelism; in the last: any more */
	uint64_t untold;		/* without */
	uint64_t samples;
	uint64_t weight, latency;	/* what these stand for, and its share */
};

FIXTURE(parallel) {
	struct shared *shared;
	struct gprof_cpu_params cpu;
	struct gprof_tracepoint_params tracepoint;
	struct gprof_setup setup;
	struct device dev;
	struct seen seen;
	struct child child, stranger;
};

FIXTURE_VARIANT(parallel) {
	uint32_t kind;
	uint32_t type;
	uint64_t config;
	uint64_t period;
	const char *tracepoint;
};

FIXTURE_VARIANT_ADD(parallel, timer) {
	.kind = GPROF_KIND_CPU, .type = PERF_TYPE_SOFTWARE, .config = PERF_COUNT_SW_CPU_CLOCK,
	.period = MS,
};

FIXTURE_VARIANT_ADD(parallel, counter) {
	.kind = GPROF_KIND_CPU, .type = PERF_TYPE_SOFTWARE, .config = PERF_COUNT_SW_PAGE_FAULTS,
	.period = 1,
};

FIXTURE_VARIANT_ADD(parallel, tracepoint){
	.kind = GPROF_KIND_TRACEPOINT, .tracepoint = "sys_enter", .period = 1,
};

static void on_sample(void *ctx, const struct reader_sample *s)
{
	struct seen *seen = ctx;

	if (seen->nr_told == seen->cap) {
		seen->cap = 2 * seen->cap + 1024;
		seen->told = realloc(seen->told, seen->cap * sizeof(*seen->told));
		if (!seen->told)
			abort();
	}
	seen->told[seen->nr_told++] = (struct told){
		s->rec->time, s->parallelism, s->weight, s->rec->tid,
	};
}

static int seen_begin(struct seen *seen, struct device *dev, struct gprof_setup *setup)
{
	return reader_record(&seen->reader, dev, setup, on_sample, seen);
}

static void seen_end(struct seen *seen)
{
	reader_close(&seen->reader);
	free(seen->told);
}

static void count(struct seen *seen, uint64_t from, uint64_t until)
{
	memset(seen->nr, 0, sizeof(seen->nr));
	seen->samples = seen->untold = seen->weight = seen->latency = 0;
	for (size_t i = 0; i < seen->nr_told; i++) {
		const struct told *t = &seen->told[i];
		uint64_t n = t->parallelism;

		if (t->time < from || t->time >= until || (seen->only && t->tid != seen->only))
			continue;
		seen->samples++;
		seen->untold += !n;
		seen->nr[n < MANY ? n : MANY - 1]++;
		seen->weight += t->weight;
		if (n)
			seen->latency += t->weight / n;
	}
}

FIXTURE_SETUP(parallel)
{
	long long id = 0;

	self->shared = shared_memory(sizeof(*self->shared));
	SKIP_ALL_UNLESS(device_has(GPROF_FEAT_PARALLELISM), "the module says it cannot");
	SKIP_ALL_UNLESS(nr_online_cpus() > 1, "needs two CPUs");
	if (variant->tracepoint)
		id = tracepoint_id("raw_syscalls", variant->tracepoint);
	SKIP_ALL_UNLESS(id >= 0, "this kernel has no such tracepoint");
	self->cpu = event_params(variant->type, variant->config, variant->period);
	self->cpu.flags = GPROF_CPU_F_KERNEL;
	self->tracepoint = (struct gprof_tracepoint_params){
		.size = sizeof(self->tracepoint), .tracepoint = id, .period = variant->period,
	};
	self->setup = device_setup_of(GPROF_TARGET_PROCESS, 0, &self->cpu);
	self->setup.kind = variant->kind;
	if (variant->kind == GPROF_KIND_TRACEPOINT)
		self->setup.params = (uintptr_t)&self->tracepoint;
	self->setup.flags = GPROF_SETUP_F_PARALLELISM;
	self->setup.buffer_size = 4 << 20;
}

FIXTURE_TEARDOWN(parallel)
{
	child_end(&self->child);
	child_end(&self->stranger);
	seen_end(&self->seen);
}

/* ---- work: time, page faults and system calls, all the time ---- */

static char *page;

static void work(void)
{
	volatile int i;

	for (i = 0; i < 20000; i++)
		;
	if (!page)
		page = private_memory(4096);
	madvise(page, 4096, MADV_DONTNEED);
	*page = 1;
	syscall(SYS_getppid);
}

static void work_until(uint64_t end)
{
	while (monotonic_ns() < end)
		work();
}

#define WORK_NS	(200 * MS)

static void work_for_ms(void *arg, int step)
{
	struct shared *s = arg;
	uint64_t now = monotonic_ns();

	if (s)
		s->alone = now;
	work_until(now + WORK_NS);
}

static void work_on_second(void *arg, int step)
{
	struct shared *s = arg;

	pin_to(online_cpu(1));
	for (; !s->stop; s->beats++)
		work();
}

static void work_on_first(void *arg, int step)
{
	pin_to(online_cpu(0));
	work_for_ms(arg, step);
}

/* ---- recording ---- */

static void record(struct __test_metadata *_metadata, FIXTURE_DATA(parallel) *self,
		   uint32_t target, int id)
{
	self->setup.target = target;
	self->setup.id = id;
	ASSERT_EQ(0, seen_begin(&self->seen, &self->dev, &self->setup))
		TH_LOG("reason %u", self->setup.out_reason);
}

/* What was told of that time. */
static void look(struct __test_metadata *_metadata, FIXTURE_DATA(parallel) *self, uint64_t from,
		 uint64_t until)
{
	struct seen *s = &self->seen;

	EXPECT_LE(0, reader_read(&s->reader));
	EXPECT_STREQ("", s->reader.error);
	count(s, from, until);
	EXPECT_EQ(0, s->untold);
	for (unsigned int n = nr_online_cpus() + 1; n < MANY; n++)
		EXPECT_EQ(0, s->nr[n]);
	TH_LOG("%llu samples, %llu of that time: 1: %llu, 2: %llu", ull(s->nr_told),
	       ull(s->samples), ull(s->nr[1]), ull(s->nr[2]));
}

#define RECORD(_target, _id)	record(_metadata, self, _target, _id)
#define LOOK(_from, _until)	look(_metadata, self, _from, _until)
#define LOOK_ALL()		look(_metadata, self, 0, UINT64_MAX)

#define EXPECT_ALONE() do {						\
	EXPECT_LE(SOME, self->seen.samples);				\
	EXPECT_EQ(self->seen.samples, self->seen.nr[1]);		\
} while (0)

#define EXPECT_TWO() do {						\
	EXPECT_LE(SOME, self->seen.samples);				\
	EXPECT_LE(MOST(self->seen.samples), self->seen.nr[2]);		\
} while (0)

/* ---- a process ---- */

static pthread_barrier_t barrier;

static void *sleeper(void *arg)
{
	for (;;)
		pause();
	return NULL;
}

static void *worker(void *arg)
{
	struct shared *s = arg;

	pin_to(online_cpu(1));
	pthread_barrier_wait(&barrier);
	s->begun = monotonic_ns();
	while (!s->over)
		work();
	work_until(s->over);
	pthread_barrier_wait(&barrier);
	return NULL;
}

/* Alone, beside those that sleep; then two of them, each on a CPU of its own; alone again. */
static void phases(void *arg, int step)
{
	static pthread_t thread;
	struct shared *s = arg;

	if (step == 0) {
		pin_to(online_cpu(0));
		pthread_barrier_init(&barrier, NULL, 2);
		for (int i = 0; i < 4; i++)
			pthread_create(&thread, NULL, sleeper, NULL);
		pthread_create(&thread, NULL, worker, s);
		return;
	}
	s->alone = monotonic_ns();
	work_until(s->alone + 200 * MS);
	s->asked = monotonic_ns();
	pthread_barrier_wait(&barrier);
	/* Its CPU may be an emulator's that stands still. */
	while (!s->begun)
		work();
	s->both = s->begun + 20 * MS;
	s->over = s->both + 200 * MS;
	work_until(s->over);
	pthread_barrier_wait(&barrier);
	/* Its last moments on its CPU, which may stand still too. */
	pthread_join(thread, NULL);
	sleep_ms(50);
	s->left = monotonic_ns();
	work_until(s->left + 200 * MS);
}

TEST_F(parallel, one_counts_in_full_and_two_by_half)
{
	struct seen *s = &self->seen;

	ASSERT_ZEROS(child_fork(&self->child, phases, self->shared), child_step(&self->child));
	RECORD(GPROF_TARGET_PROCESS, self->child.pid);
	ASSERT_ZEROS(child_step(&self->child), device_stop(&self->dev));
	LOOK(self->shared->alone, self->shared->asked);
	EXPECT_ALONE();
	EXPECT_EQ(s->weight, s->latency);
	LOOK(self->shared->both, self->shared->over);
	EXPECT_TWO();
	EXPECT_LE(s->weight / 2, s->latency + s->samples);
	EXPECT_GE(s->weight * 55 / 100, s->latency);
	/* Who has gone to sleep again, or ended, is left over nowhere. */
	LOOK(self->shared->left, UINT64_MAX);
	EXPECT_ALONE();
}

TEST_F(parallel, task_outside_the_target_is_not_counted)
{
	ASSERT_ZEROS(child_fork(&self->stranger, work_on_second, self->shared),
		     child_begin(&self->stranger), child_fork(&self->child, work_on_first, NULL));
	RECORD(GPROF_TARGET_PROCESS, self->child.pid);
	ASSERT_ZEROS(child_step(&self->child), device_stop(&self->dev));
	LOOK_ALL();
	EXPECT_ALONE();
}

/*
 * Spins, and says until when it was not switched out since it was asked to look. Before all
 * that is no interrupt, where START itself is not to have it switched out. On PREEMPT_RT the
 * threads of the CPU's timers and RCU are no exception: sleeps that were begun there have no end.
 */
static void *spin_on_second(void *arg)
{
	struct shared *s = arg;
	struct rusage r;
	long before = -1;
	uint64_t now;

	pin_to(online_cpu(1));
	if (s->first && sched_setscheduler(0, SCHED_FIFO, &(struct sched_param){ 1 }))
		s->outranked = true;
	while (!s->stop) {
		/* Before it: who has not been switched then had not at this time. */
		now = monotonic_ns();
		getrusage(RUSAGE_THREAD, &r);
		if (s->spins == LOOK_NOW) {
			before = r.ru_nvcsw + r.ru_nivcsw;
			s->spins = UNSWITCHED;
		} else if (s->spins == UNSWITCHED && r.ru_nvcsw + r.ru_nivcsw != before) {
			s->switched = s->looked;
			s->spins = SWITCHED;
		}
		s->looked = now;
	}
	return NULL;
}

/* One on each CPU, from before START on. */
static void both_run(void *arg, int step)
{
	struct shared *s = arg;
	pthread_t thread;

	pin_to(online_cpu(0));
	pthread_create(&thread, NULL, spin_on_second, s);
	while (!s->stop) {
		if (!s->idles)
			work();
	}
	pthread_join(thread, NULL);
}

static void await_spinner(struct shared *s, enum spins last)
{
	while (s->spins == last)
		sleep_ms(1);
}

/*
 * Whoever is switched in after START tells of itself. So what is looked at are the samples
 * of the one until the other was switched out for the first time, of some STARTs.
 */
TEST_F(parallel, task_that_runs_at_START_is_counted)
{
	struct shared *s = self->shared;
	struct device beside = { .fd = -1 };
	struct gprof_setup setup = self->setup;
	uint64_t samples = 0, two = 0, now, until;

	s->first = true;
	ASSERT_EQ(0, child_fork(&self->child, both_run, s));
	/* Its probes are there already: START of the other has no grace period to wait for. */
	setup.id = getpid();
	ASSERT_ZEROS(device_record(&beside, &setup), child_begin(&self->child));
	/* Not in the way of the one that is looked at. */
	pin_to(online_cpu(0));
	self->seen.only = self->child.pid;
	for (int try = 0; try < 40 && samples < SOME; try++) {
		/* START would wait for the last STOP's grace periods, and these for the spinner. */
		if (try) {
			seen_end(&self->seen);
			self->seen = (struct seen){ .only = self->child.pid };
		}
		s->spins = LOOK_NOW;
		await_spinner(s, LOOK_NOW);
		RECORD(GPROF_TARGET_PROCESS, self->child.pid);
		now = monotonic_ns();
		sleep_ms(20);
		EXPECT_EQ(0, device_stop(&self->dev));
		until = monotonic_ns();
		/* If it was by then, it says so; it may be kept from it for long. */
		while (s->looked <= until)
			sleep_ms(1);
		/* STOP's time too: whoever is sampled in it is not told to have been alone. */
		until = s->spins == SWITCHED ? s->switched : s->looked;
		LOOK(now, until);
		samples += self->seen.samples;
		two += self->seen.nr[2];
	}
	s->stop = true;
	device_close(&beside);
	EXPECT_EQ(samples, two);
	SKIP_UNLESS(!s->outranked, "no thread may go before the others here");
	EXPECT_LE(SOME, samples);
}

/* Its other thread runs too, and is not of the target. */
TEST_F(parallel, thread_is_always_alone)
{
	ASSERT_ZEROS(child_fork(&self->child, both_run, self->shared), child_begin(&self->child));
	sleep_ms(50);
	RECORD(GPROF_TARGET_THREAD, self->child.pid);
	sleep_ms(200);
	EXPECT_EQ(0, device_stop(&self->dev));
	LOOK_ALL();
	EXPECT_ALONE();
	self->shared->stop = true;
}

/* Two processes that come and execute a program, on any CPUs, as fast as they can. */
static void storm(void *arg, int step)
{
	uint64_t end = monotonic_ns() + 500 * MS;

	if (step == 1) {
		pin_to(online_cpu(0));
		work_until(monotonic_ns() + 200 * MS);
		return;
	}
	while (monotonic_ns() < end) {
		for (int i = 0; i < 4; i++) {
			if (fork())
				continue;
			work();
			if (i & 1)
				execl(beside_us("burner"), "burner", "1", NULL);
			if (i & 2)
				raise(SIGKILL);
			_exit(0);
		}
		while (waitpid(-1, NULL, 0) > 0)
			;
	}
}

TEST_F(parallel, after_a_storm_of_forks_one_is_one)
{
	uint64_t now;

	ASSERT_EQ(0, child_fork(&self->child, storm, self->shared));
	RECORD(GPROF_TARGET_PROCESS, self->child.pid);
	ASSERT_EQ(0, child_step(&self->child));
	LOOK_ALL();
	EXPECT_LE(SOME, self->seen.samples);
	now = monotonic_ns();
	ASSERT_ZEROS(child_step(&self->child), device_stop(&self->dev));
	LOOK(now, UINT64_MAX);
	EXPECT_ALONE();
}

static void execute(void *arg, int step)
{
	/* One of the two is not of the target before its parent is. */
	if (fork())
		pin_to(online_cpu(0));
	else
		pin_to(online_cpu(1));
	execl(beside_us("burner"), "burner", "300", NULL);
	_exit(127);
}

/* A timer sees them, whatever else they do not do. */
TEST_F(parallel, task_that_executes_is_counted_from_then_on)
{
	SKIP_UNLESS(variant->period == MS, "it burns time, and nothing else");
	ASSERT_EQ(0, child_fork(&self->child, execute, self->shared));
	self->setup.flags |= GPROF_SETUP_F_ON_EXEC;
	RECORD(GPROF_TARGET_PROCESS, self->child.pid);
	ASSERT_EQ(0, child_begin(&self->child));
	EXPECT_EQ(0, child_reap(&self->child));
	sleep_ms(100);
	EXPECT_EQ(0, device_stop(&self->dev));
	LOOK_ALL();
	/* They do not begin and end at one instant. */
	EXPECT_LES(SOME, self->seen.samples, self->seen.samples / 2, self->seen.nr[2]);
}

/* ---- CPUs, and whatever runs there ---- */

TEST_F(parallel, idle_cpu_is_not_counted_of_the_host)
{
	ASSERT_EQ(0, child_fork(&self->child, work_on_first, NULL));
	sleep_ms(100);
	RECORD(GPROF_TARGET_SYSTEM, 0);
	ASSERT_ZEROS(child_step(&self->child), device_stop(&self->dev));
	LOOK_ALL();
	EXPECT_LE(SOME, self->seen.samples);
	/* Something else may run there, and for long where the host has no time for it. */
	EXPECT_LE(self->seen.samples / 4, self->seen.nr[1]);
}

TEST_F(parallel, running_tasks_are_counted_of_the_host)
{
	struct shared *s = self->shared;

	ASSERT_ZEROS(child_fork(&self->stranger, work_on_second, s), child_begin(&self->stranger),
		     child_fork(&self->child, work_on_first, s));
	sleep_ms(100);
	RECORD(GPROF_TARGET_SYSTEM, 0);
	/* The test sleeps as long as the child works, and takes the CPU from nobody. */
	ASSERT_ZEROS(child_step(&self->child), device_stop(&self->dev));
	LOOK(s->alone + 20 * MS, s->alone + WORK_NS);
	EXPECT_TWO();
	self->shared->stop = true;
}

TEST_F(parallel, other_cpus_are_not_counted)
{
	ASSERT_ZEROS(child_fork(&self->stranger, work_on_second, self->shared),
		     child_begin(&self->stranger), child_fork(&self->child, work_on_first, NULL));
	device_target_cpu(&self->setup, online_cpu(0));
	RECORD(GPROF_TARGET_CPUS, 0);
	ASSERT_ZEROS(child_step(&self->child), device_stop(&self->dev));
	LOOK_ALL();
	EXPECT_ALONE();
	self->shared->stop = true;
}


/* One goes in and out while it runs, and so perhaps never gives up its CPU. */
TEST_F(parallel, tasks_in_the_cgroup_now_are_counted)
{
	char path[MEMORY_CGROUP_PATH];
	int fd, i;

	SKIP_UNLESS(device_has(GPROF_FEAT_CGROUP), "this kernel has no cgroups");
	ASSERT_EQ(0, cgroup_make(path, "parallel"));
	fd = open(path, O_RDONLY | O_DIRECTORY);
	ASSERT_LE(0, fd);
	ASSERT_ZEROS(child_fork(&self->stranger, work_on_second, self->shared),
		     child_begin(&self->stranger),
		     child_fork(&self->child, work_on_first, self->shared),
		     memory_cgroup_enter(path, self->child.pid));
	RECORD(GPROF_TARGET_CGROUP, fd);
	for (i = 0; i < 3; i++) {
		/* out, in, out again */
		ASSERT_EQ(0, memory_cgroup_enter(i == 1 ? path : CGROUPS, self->stranger.pid));
		/* Its CPU may be an emulator's that stands still. */
		for (uint64_t beats = self->shared->beats + 3; self->shared->beats < beats;)
			sleep_ms(1);
		ASSERT_EQ(0, child_step(&self->child));
		LOOK(self->shared->alone + 20 * MS, self->shared->alone + WORK_NS);
		if (i == 1)
			EXPECT_TWO();
		else
			EXPECT_ALONE();
	}
	EXPECT_EQ(0, device_stop(&self->dev));
	self->shared->stop = true;
	child_end(&self->child);
	child_end(&self->stranger);
	device_close(&self->dev);
	close(fd);
	EXPECT_EQ(0, rmdir(path));
}

static void work_wherever(void *arg, int step)
{
	work_until(monotonic_ns() + 200 * MS);
}

TEST_F(parallel, cpu_that_goes_is_counted_no_more)
{
	int cpu = online_cpu(1);
	uint64_t now;
	bool goes;

	goes = nr_online_cpus() == 2 && !cpu_set_online(cpu, false);
	SKIP_UNLESS(goes, "the CPU cannot go");
	ASSERT_ZEROS(cpu_set_online(cpu, true), child_fork(&self->stranger, work_wherever, NULL),
		     child_fork(&self->child, work_wherever, NULL));
	RECORD(GPROF_TARGET_SYSTEM, 0);
	ASSERT_ZEROS(child_begin(&self->stranger), cpu_set_online(cpu, false));
	now = monotonic_ns();
	ASSERT_ZEROS(child_step(&self->child), child_wait(&self->stranger));
	LOOK(now, UINT64_MAX);
	EXPECT_ALONE();
	ASSERT_ZEROS(cpu_set_online(cpu, true), child_begin(&self->stranger));
	now = monotonic_ns();
	ASSERT_ZEROS(child_step(&self->child), device_stop(&self->dev));
	LOOK(now + 50 * MS, now + 150 * MS);
	EXPECT_LE(self->seen.samples / 2, self->seen.nr[2]);
}

/* ---- what is asked for ---- */

TEST_F(parallel, unasked_it_is_not_told)
{
	ASSERT_EQ(0, child_fork(&self->child, work_for_ms, NULL));
	self->setup.flags = 0;
	RECORD(GPROF_TARGET_PROCESS, self->child.pid);
	ASSERT_ZEROS(child_step(&self->child), device_stop(&self->dev));
	EXPECT_LE(0, reader_read(&self->seen.reader));
	EXPECT_STREQ("", self->seen.reader.error);
	count(&self->seen, 0, UINT64_MAX);
	EXPECT_LE(SOME, self->seen.samples);
	EXPECT_EQ(self->seen.samples, self->seen.untold);
}

/* One that asks and one that does not share the events. */
TEST_F(parallel, recorder_that_does_not_ask_has_none_beside_one_that_does)
{
	struct device other = { 0 };
	struct seen seen = { 0 };
	struct gprof_setup setup;

	ASSERT_EQ(0, child_fork(&self->child, work_for_ms, NULL));
	RECORD(GPROF_TARGET_PROCESS, self->child.pid);
	setup = self->setup;
	setup.flags = 0;
	ASSERT_ZEROS(seen_begin(&seen, &other, &setup), child_step(&self->child));
	EXPECT_ZEROS(device_stop(&other), device_stop(&self->dev));
	EXPECT_LE(0, reader_read(&seen.reader));
	EXPECT_STREQ("", seen.reader.error);
	count(&seen, 0, UINT64_MAX);
	EXPECT_LE(SOME, seen.samples);
	EXPECT_EQ(seen.samples, seen.untold);
	LOOK_ALL();
	EXPECT_ALONE();
	seen_end(&seen);
}

static int setup_gives(struct gprof_setup *setup)
{
	struct device dev = { .fd = device_open() };
	int err = device_setup(&dev, setup);

	device_close(&dev);
	return err;
}

TEST(other_kinds_refuse_it)
{
	struct gprof_sched_params sched = { .size = sizeof(sched) };
	struct gprof_trace_params trace = { .size = sizeof(trace) };
	struct gprof_block_params block = { .size = sizeof(block), .period = 1 };
	struct gprof_mutex_params mutex = { .size = sizeof(mutex), .period = 1 };
	struct gprof_task_params task = { .size = sizeof(task) };
	const struct { uint32_t kind; const void *params; } kinds[] = {
		{ GPROF_KIND_SCHED, &sched }, { GPROF_KIND_TRACE, &trace },
		{ GPROF_KIND_BLOCK, &block }, { GPROF_KIND_MUTEX, &mutex },
		{ GPROF_KIND_TASK, &task },
	};
	struct gprof_setup setup;

	for (unsigned int i = 0; i < ARRAY_SIZE(kinds); i++) {
		setup = device_setup_kind(kinds[i].kind, GPROF_TARGET_SYSTEM, 0, kinds[i].params);
		EXPECT_EQ(0, setup_gives(&setup))
			TH_LOG("kind %u: reason %u", kinds[i].kind, setup.out_reason);
		setup.flags = GPROF_SETUP_F_PARALLELISM;
		EXPECT_EQS(-EOPNOTSUPP, setup_gives(&setup), GPROF_REASON_FLAGS, setup.out_reason);
	}
}

TEST(time_of_an_idle_cpu_is_not_shared)
{
	struct gprof_cpu_params params = timer_params(MS);
	struct gprof_setup setup = device_setup_of(GPROF_TARGET_SYSTEM, 0, &params);

	SKIP_UNLESS(device_has(GPROF_FEAT_PARALLELISM), "the module says it cannot");
	params.flags = GPROF_CPU_F_KERNEL | GPROF_CPU_F_IDLE;
	EXPECT_EQ(0, setup_gives(&setup));
	setup.flags = GPROF_SETUP_F_PARALLELISM;
	EXPECT_EQS(-EINVAL, setup_gives(&setup), GPROF_REASON_FLAGS, setup.out_reason);
}

/* The map of processes is paid for. */
TEST(owner_without_memory_left_is_refused)
{
	struct gprof_cpu_params params = timer_params(MS);
	struct gprof_setup setup = device_setup_of(GPROF_TARGET_PROCESS, getpid(), &params);
	struct device dev[128];
	unsigned int i, with, without = 0;

	SKIP_UNLESS(device_has(GPROF_FEAT_PARALLELISM), "the module says it cannot");
	ASSERT_EQ(0, become(4711));
	setup.buffer_size = 4096;
	for (;; without = with) {
		for (with = 0; with < 128; with++) {
			dev[with] = (struct device){ .fd = device_open() };
			if (dev[with].fd < 0 || device_setup(&dev[with], &setup))
				break;
		}
		for (i = 0; i <= with && i < 128; i++)
			device_close(&dev[i]);
		TH_LOG("%u recorders, flags %#x: reason %u", with, setup.flags, setup.out_reason);
		if (setup.flags)
			break;
		setup.flags = GPROF_SETUP_F_PARALLELISM;
	}
	EXPECT_LT(0, without);
	EXPECT_GT(without, with);
	EXPECT_EQ(GPROF_REASON_MEMLOCK, setup.out_reason);
}

static void both_run_as_user(void *arg, int step)
{
	become(4711);
	both_run(arg, step);
}

TEST(own_tasks_are_anybodys_to_count)
{
	struct gprof_cpu_params params = timer_params(MS);
	struct shared *shared = shared_memory(sizeof(*shared));
	struct seen seen = { 0 };
	struct device dev = { 0 };
	struct child child = { 0 };
	struct gprof_setup setup;
	uint64_t now;

	SKIP_UNLESS(device_has(GPROF_FEAT_PARALLELISM) && nr_online_cpus() > 1,
		    "the module says it cannot, or there is one CPU");
	/* Before 5.16 a user may lock 64 KiB. */
	ASSERT_EQ(0, setrlimit(RLIMIT_MEMLOCK, &(struct rlimit){ 64 << 20, 64 << 20 }));
	shared->idles = true;
	ASSERT_ZEROS(child_fork(&child, both_run_as_user, shared), child_begin(&child));
	sleep_ms(100);
	ASSERT_EQ(0, become(4711));
	setup = device_setup_of(GPROF_TARGET_PROCESS, child.pid, &params);
	setup.flags = GPROF_SETUP_F_PARALLELISM;
	ASSERT_EQ(0, seen_begin(&seen, &dev, &setup)) TH_LOG("reason %u", setup.out_reason);
	now = monotonic_ns();
	sleep_ms(200);
	EXPECT_EQ(0, device_stop(&dev));
	EXPECT_LE(0, reader_read(&seen.reader));
	shared->stop = true;
	count(&seen, now, UINT64_MAX);
	EXPECT_LES(SOME, seen.samples, seen.samples * 3 / 4, seen.nr[2]);
	seen_end(&seen);
	child_end(&child);
}

TEST_HARNESS_MAIN
