// SPDX-License-Identifier: GPL-2.0-only
/*
 * exec_race_test: START beside an exec that gives the target another user's rights.
 *
 * Whether START comes first or the exec does, the one or the other must see it: the recorder is
 * refused, or loses the task. What it must never have is a sample of the program that runs as the
 * other user.
 *
 * The two are let go at once, START with a delay that follows what came of the last try, so that
 * most tries are near the point at which the answer changes. GPROF_RACES=N: tries of each test.
 */
#include "harness.h"
#include "device.h"
#include "reader.h"
#include "sched_stats.h"
#include "tally.h"
#include "workload.h"

/* For as many tries as are asked for; run-tests has a limit of its own. */
#undef TEST_TIMEOUT_DEFAULT
#define TEST_TIMEOUT_DEFAULT	(24 * 3600)

#define USER		1000
#define OTHER_USER	1001
#define PERIOD_NS	100000
#define SMALL		32768
#define RACES		100
#define STEP_MIN	10000
#define STEP_MAX	50000000
#define PROGRAM		"/tmp/gprof_race_burner"

struct shared {
	uint32_t go;	/* 1: the racer stands ready, 2: off */
	int64_t lead;	/* ns that it waits then */
};

FIXTURE(race) {
	struct gprof_cpu_params params;
	struct gprof_setup setup;
	struct shared *shared;
	struct device keeper;
	struct tally *tally;
	struct gprof_process mine;
	unsigned int races;
	int64_t delay, step;	/* of START after the exec; below 0: before */
	bool last_won;		/* did START come first in the last try? */
	const char *burn_ms;
	unsigned int started, denied, gone, foreign;
	pid_t pid;
};

/* Which program run is this one? Those that are forked belong to the same. */
static void learn_own_run(struct __test_metadata *_metadata, FIXTURE_DATA(race) *self)
{
	struct gprof_cpu_params params = timer_params(PERIOD_NS);
	struct gprof_setup setup = device_setup_of(GPROF_TARGET_PROCESS, getpid(), &params);

	setup.buffer_size = SMALL;
	ASSERT_ZEROS(device_record(&self->keeper, &setup), tally_init(self->tally, &self->keeper));
	for (int i = 0; i < 100 && !self->tally->nr_tasks; i++) {
		burn_ns(20000000);
		ASSERT_LE(0, reader_read(&self->tally->reader));
	}
	ASSERT_LT(0, self->tally->nr_tasks);
	self->mine = self->tally->tasks[0].process;
	tally_free(self->tally);
}

FIXTURE_SETUP(race)
{
	SKIP_ALL_UNLESS(!geteuid(), "must be root to become another");
	self->races = getenv("GPROF_RACES") ? atoi(getenv("GPROF_RACES")) : RACES;
	self->step = 100000;
	self->burn_ms = "3";
	self->tally = calloc(1, sizeof(*self->tally));
	self->shared = shared_memory(sizeof(*self->shared));
	ASSERT_ZEROS(install_program(NULL, PROGRAM, OTHER_USER, 04755), become(USER));
	/* It also keeps the probes where they are, so that START takes no time for them. */
	learn_own_run(_metadata, self);
	self->params = timer_params(PERIOD_NS);
	self->setup = device_setup_of(GPROF_TARGET_PROCESS, 0, &self->params);
	self->setup.buffer_size = SMALL;
}

FIXTURE_TEARDOWN(race)
{
	if (self->pid > 0) {
		kill(self->pid, SIGKILL);
		waitpid(self->pid, NULL, 0);
	}
	device_close(&self->keeper);
	free(self->tally);
}

static void wait_ns(int64_t ns)
{
	uint64_t end = monotonic_ns() + ns;

	while (monotonic_ns() < end)
		;
}

static void fork_racer(struct __test_metadata *_metadata, FIXTURE_DATA(race) *self)
{
	struct shared *s = self->shared;

	s->go = 0;
	self->pid = fork_bound();
	ASSERT_LE(0, self->pid);
	if (self->pid)
		return;
	__atomic_store_n(&s->go, 1, __ATOMIC_SEQ_CST);
	/* It runs, but lets the other run where there is one CPU. */
	while (__atomic_load_n(&s->go, __ATOMIC_SEQ_CST) != 2)
		sched_yield();
	wait_ns(s->lead);
	execl(PROGRAM, "burner", self->burn_ms, (char *)NULL);
	_exit(127);
}

/* Lets the racer go, and comes back when START is due: before it, where that takes long. */
static void let_go(FIXTURE_DATA(race) *self)
{
	struct shared *s = self->shared;

	while (__atomic_load_n(&s->go, __ATOMIC_SEQ_CST) != 1)
		sched_yield();
	s->lead = self->delay < 0 ? -self->delay : 0;
	__atomic_store_n(&s->go, 2, __ATOMIC_SEQ_CST);
	wait_ns((self->delay > 0 ? self->delay : 0) + rand() % 100000);
}

/*
 * An exec that won asks for a shorter delay, a START that won for a longer one. The
 * steps grow until the answer changes, for a START takes some microseconds here and
 * tens of milliseconds on a kernel that checks everything; then they shrink.
 */
static void learn(FIXTURE_DATA(race) *self, int ret)
{
	bool same = self->started + self->denied + self->gone && !ret == self->last_won;

	self->started += !ret;
	self->denied += ret == -EPERM;
	self->gone += ret == -ESRCH;
	if (same && self->step < STEP_MAX)
		self->step *= 2;
	else if (!same && self->step > STEP_MIN)
		self->step /= 2;
	self->delay += ret ? -self->step : self->step;
	self->last_won = !ret;
}

static void tell(struct __test_metadata *_metadata, FIXTURE_DATA(race) *self)
{
	TH_LOG("%u started, %u denied, %u too late, delay %lld us: %u of another user",
	       self->started, self->denied, self->gone, (long long)self->delay / 1000,
	       self->foreign);
	EXPECT_EQ(self->races, self->started + self->denied + self->gone);
	/* else there was no race */
	EXPECT_LES(self->races / 20, self->started, self->races / 20, self->denied);
	EXPECT_EQ(0, self->foreign);
}

static void race_once(struct __test_metadata *_metadata, FIXTURE_DATA(race) *self)
{
	struct device dev;
	int ret;

	fork_racer(_metadata, self);
	self->setup.id = self->pid;
	ASSERT_ZEROS(device_setup(&dev, &self->setup), device_map(&dev),
		     tally_init(self->tally, &dev));
	let_go(self);
	ret = device_start(&dev);
	learn(self, ret);
	EXPECT_EQ(0, reap(self->pid));
	self->pid = 0;
	if (!ret)
		EXPECT_EQ(0, device_stop(&dev));
	EXPECT_LE(0, reader_read(&self->tally->reader));
	EXPECT_STREQ("", self->tally->reader.error);
	for (unsigned int i = 0; i < self->tally->nr_tasks; i++) {
		struct tally_task *t = &self->tally->tasks[i];

		if (t->process.pid && t->process.exec_id != self->mine.exec_id)
			self->foreign += t->samples;
	}
	tally_free(self->tally);
	device_close(&dev);
}

static void race(struct __test_metadata *_metadata, FIXTURE_DATA(race) *self)
{
	for (unsigned int i = 0; i < self->races && _metadata->passed; i++)
		race_once(_metadata, self);
	tell(_metadata, self);
}

TEST_F(race, timer_has_no_sample_of_a_program_of_another_user)
{
	race(_metadata, self);
}

TEST_F(race, timer_of_a_thread_has_none_either)
{
	self->setup.target = GPROF_TARGET_THREAD;
	race(_metadata, self);
}

/* On the counters of the machine where it has them, else on one of the kernel's. */
TEST_F(race, counter_has_no_sample_of_a_program_of_another_user)
{
	self->params = event_params(PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, 20000);
	if (perf_refuses(PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, true))
		self->params = event_params(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS, 100);
	race(_metadata, self);
}

/* Does it run as the other user by now? */
static bool has_executed(pid_t pid)
{
	struct stat st;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d", pid);
	return !stat(path, &st) && st.st_uid != USER;
}

static void race_for_membership(struct __test_metadata *_metadata, FIXTURE_DATA(race) *self)
{
	struct sched_recorder r;
	struct sched_stats st;
	int ret;

	fork_racer(_metadata, self);
	ASSERT_EQ(0, sched_setup(&r, GPROF_TARGET_PROCESS, self->pid, 0, 0));
	let_go(self);
	ret = device_start(&r.dev);
	learn(self, ret);
	while (!has_executed(self->pid))
		sched_yield();
	if (!ret) {
		/* Its uid is told before it is done with the exec. */
		sleep_ms(5);
		ASSERT_EQ(0, sched_read(&r, &st));
		self->foreign += st.num_task;
	}
	sched_close(&r);
	kill(self->pid, SIGKILL);
	ASSERT_EQ(self->pid, waitpid(self->pid, NULL, 0));
	self->pid = 0;
}

TEST_F(race, scheduler_statistics_have_no_task_of_another_user)
{
	/* its START and STOP wait for grace periods, so that the exec has to come later */
	self->races = self->races / 10 + 20;
	self->step = 1000000;
	/* until it has been looked at */
	self->burn_ms = "10000";
	for (unsigned int i = 0; i < self->races && _metadata->passed; i++)
		race_for_membership(_metadata, self);
	tell(_metadata, self);
}

TEST_HARNESS_MAIN
