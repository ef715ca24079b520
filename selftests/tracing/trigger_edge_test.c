// SPDX-License-Identifier: GPL-2.0-only
/*
 * trigger_edge_test: triggers of tasks that leave, of strangers whom others record, of many
 * tasks at once, over START and STOP, and at their limits.
 *
 * trigger_test shows what each of them is for.
 */
#include "remains.h"

#define BUFFER_SIZE	(1 << 16)
#define TIMES		20
#include "trigger.h"

#define OTHER_USER	1001
#define LONG_MS		30
#define SLEEPER		"/tmp/gprof_edge_sleep"

/* ---- what children do ---- */

static void naps(void *arg, int step)
{
	rest(LONG_MS);
}

static void naps_on(void *arg, int step)
{
	for (unsigned int i = 0; i < TIMES; i++)
		rest(LONG_MS);
	_exit(0);
}

/* Long enough for a look. */
static void naps_long(void *arg, int step)
{
	rest(5);
	rest(700);
	_exit(0);
}

static void vforks_once(void)
{
	pid_t pid = vfork();

	if (!pid) {
		rest(LONG_MS);
		_exit(0);
	}
	waitpid(pid, NULL, 0);
}

static void vforks(void *arg, int step)
{
	for (unsigned int i = 0; i < TIMES / 4; i++)
		vforks_once();
	_exit(0);
}

static void kills_children(void *arg, int step)
{
	for (unsigned int i = 0; i < TIMES; i++) {
		pid_t pid = fork();

		if (!pid) {
			kill(getpid(), SIGTERM);
			pause();
		}
		waitpid(pid, NULL, 0);
	}
	_exit(0);
}

static void burns(void *arg, int step)
{
	burn_until(monotonic_ns() + 500 * MS);
	_exit(0);
}

/* ---- whose ---- */

/* Taps pass on everybody whom any recorder knows; each has to ask whose it is. */
TEST_F(trigger, tasks_that_another_records_fire_nothing)
{
	static void (*const fns[])(void *arg, int step) = {
		naps_on, naps_long, vforks, kills_children, burns,
	};

	SETUP(nothing);
	SET(GPROF_TRIGGER_OFF_CPU, LIMIT_NS);
	SET(GPROF_TRIGGER_BLOCKED, LIMIT_NS);
	SET(GPROF_TRIGGER_DELAY, LIMIT_NS);
	SET(GPROF_TRIGGER_SIGNAL, 0);
	if (!geteuid()) {
		struct gprof_trigger t = trigger_of(GPROF_TRIGGER_TRACEPOINT, 0);

		SET(GPROF_TRIGGER_SYSCALL, 0);
		SET(GPROF_TRIGGER_IRQ, 0);
		SET(GPROF_TRIGGER_SOFTIRQ, 0);
		t.name = (uintptr_t)"task:task_newtask";
		ASSERT_EQ(0, device_trigger(&self->dev, &t));
	}
	ASSERT_EQ(0, device_start(&self->dev));
	for (unsigned int i = 0; i < sizeof(fns) / sizeof(fns[0]); i++) {
		struct gprof_setup setup = self->setup;
		struct child stranger;
		int status;

		ASSERT_EQ(0, child_fork(&stranger, fns[i], NULL));
		setup.id = stranger.pid;
		ASSERT_ZEROS(device_setup(&self->other, &setup), device_start(&self->other),
			     child_begin(&stranger));
		ASSERT_EQ(stranger.pid, waitpid(stranger.pid, &status, 0));
		close(stranger.to);
		close(stranger.from);
		device_close(&self->other);
		ASSERT_EQ(0, take(self));
		EXPECT_EQ(0, self->nr) TH_LOG("stranger %u", i);
	}
}

static void *vforks_in_thread(void *arg)
{
	vforks_once();
	return NULL;
}

/* First another thread of it blocks, for which the first one sleeps; then this one does. */
static void has_a_thread_that_blocks(void *arg, int step)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, vforks_in_thread, NULL))
		_exit(1);
	pthread_join(thread, NULL);
	if (step)
		vforks_once();
}

TEST_F(trigger, another_thread_of_the_process_fires_nothing)
{
	self->setup.target = GPROF_TARGET_THREAD;
	SETUP(has_a_thread_that_blocks);
	SET(GPROF_TRIGGER_BLOCKED, LIMIT_NS);
	ASSERT_ZEROS(device_start(&self->dev), child_step(&self->child), take(self));
	EXPECT_EQ(0, self->nr);
	ASSERT_ZEROS(child_step(&self->child), take(self));
	EXPECT_LT(0, self->nr);
	EXPECT_EQ(self->nr, fired_by(self, 0, self->child.pid));
}

/* Steps: go elsewhere; block there; here; and leave again, and rest. */
static void blocks_elsewhere(void *arg, int step)
{
	if (step != 1)
		pin_to(online_cpu(step == 2 ? 0 : 1));
	for (unsigned int i = 0; step && step < 3 && i < 3; i++)
		vforks_once();
	if (step)
		rest(1200);
}

TEST_F(trigger, waits_on_cpus_that_are_not_looked_at_fire_nothing)
{
	unsigned int cpu = online_cpu(0), before, i;

	SKIP_UNLESS(!geteuid(), "needs CAP_PERFMON");
	SKIP_UNLESS(nr_online_cpus() > 1 && cpu < 1024, "needs a CPU that is not looked at");
	FORK(blocks_elsewhere);
	ASSERT_EQ(0, child_step(&self->child));
	device_target_cpu(&self->setup, cpu);
	ASSERT_EQ(0, device_setup(&self->dev, &self->setup));
	SET(GPROF_TRIGGER_BLOCKED, LIMIT_NS);
	SET(GPROF_TRIGGER_OFF_CPU, 200 * MS);
	ASSERT_ZEROS(device_start(&self->dev), child_begin(&self->child));
	for (i = 0; i < 20; i++) {
		sleep_ms(100);
		ASSERT_EQ(0, take(self));
	}
	ASSERT_ZEROS(child_wait(&self->child), take(self));
	for (i = 0; i < 2; i++)
		EXPECT_EQ(0, fired_by(self, i, self->child.pid)) TH_LOG("trigger %u", i);
	/* And where they are looked at they do. */
	ASSERT_EQ(0, child_begin(&self->child));
	for (i = 0; i < 20; i++) {
		sleep_ms(100);
		ASSERT_EQ(0, take(self));
	}
	ASSERT_ZEROS(child_wait(&self->child), take(self));
	for (i = 0; i < 2; i++)
		EXPECT_LT(0, fired_by(self, i, self->child.pid)) TH_LOG("trigger %u", i);
	/* Once it has left, what is known of it is of before. */
	ASSERT_EQ(0, child_begin(&self->child));
	sleep_ms(100);
	ASSERT_EQ(0, take(self));
	before = fired_by(self, 1, self->child.pid);
	ASSERT_ZEROS(child_wait(&self->child), take(self));
	EXPECT_EQ(before, fired_by(self, 1, self->child.pid));
}

static void sleeps_shortly_and_runs(void *arg, int step)
{
	rest(1);
	burn_until(monotonic_ns() + 1000 * MS);
	rest(2 * LONG_MS);
	_exit(0);
}

/* What it has left behind when it came back is looked at four times. */
TEST_F(trigger, a_running_task_waits_for_nothing)
{
	SETUP(sleeps_shortly_and_runs);
	SET(GPROF_TRIGGER_OFF_CPU, LIMIT_NS);
	SET(GPROF_TRIGGER_DELAY, 500 * MS);
	ASSERT_EQ(0, device_start(&self->dev));
	RUN();
	EXPECT_LT(0, fired_by(self, 0, self->setup.id));
	for (unsigned int i = 0; i < self->nr; i++) {
		EXPECT_GT(500 * MS, self->fired[i].duration_ns)
			TH_LOG("trigger %u, %llu us", self->fired[i].index,
			       us_of(self->fired[i].duration_ns));
	}
}

static void *takes_the_cpu(void *arg)
{
	hurry(1);
	for (unsigned int i = 0; i < TIMES; i++) {
		rest(5);
		burn_until(monotonic_ns() + LONG_MS * MS);
	}
	__atomic_store_n((bool *)arg, true, __ATOMIC_RELEASE);
	return NULL;
}

static void is_kept_waiting_by_its_thread(void *arg, int step)
{
	bool ended = false;
	pthread_t thread;

	pin_to(online_cpu(0));
	if (pthread_create(&thread, NULL, takes_the_cpu, &ended))
		_exit(1);
	while (!__atomic_load_n(&ended, __ATOMIC_ACQUIRE))
		burn_until(monotonic_ns() + MS);
	_exit(0);
}

/* Both are known, so that the switch from one to the other is as quick as can be. */
TEST_F(trigger, threads_of_a_process_keep_one_another_waiting)
{
	unsigned int i, n = 0;

	SKIP_UNLESS(!geteuid(), "needs real-time priorities");
	SETUP(is_kept_waiting_by_its_thread);
	SET(GPROF_TRIGGER_DELAY, LIMIT_NS);
	ASSERT_EQ(0, device_start(&self->dev));
	RUN();
	for (i = 0; i < self->nr; i++)
		n += self->fired[i].tid == self->setup.id &&
		     !(self->fired[i].flags & GPROF_TRIGGER_EVENT_F_GOES_ON);
	EXPECT_LE(TIMES / 2, n);
}

/* Steps: be the user; wait; be another's program, which waits as well. */
static void naps_and_execs(void *arg, int step)
{
	if (step == 0) {
		if (become(USER))
			_exit(1);
	} else if (step == 1) {
		rest(2 * LONG_MS);
	} else {
		execl(SLEEPER, "sleep", "3", (char *)NULL);
		_exit(127);
	}
}

static bool runs_as_another(pid_t pid)
{
	struct stat st;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d", pid);
	return !stat(path, &st) && st.st_uid != USER;
}

/* Its task is the same, and was noted before; root's recorder has its taps called still. */
TEST_F(trigger, a_task_with_a_set_user_id_program_fires_nothing_more)
{
	uint64_t left;

	SKIP_UNLESS(!geteuid(), "must be root to become another");
	ASSERT_EQ(0, install_program("/bin/sleep", SLEEPER, OTHER_USER, 04755));
	FORK(naps_and_execs);
	ASSERT_ZEROS(child_step(&self->child), device_setup(&self->other, &self->setup),
		     device_start(&self->other), become(USER));
	ASSERT_EQ(0, device_setup(&self->dev, &self->setup))
		TH_LOG("reason %u", self->setup.out_reason);
	SET(GPROF_TRIGGER_OFF_CPU, LIMIT_NS);
	SET(GPROF_TRIGGER_SIGNAL, 0);
	ASSERT_ZEROS(device_start(&self->dev), child_step(&self->child), take(self));
	EXPECT_LT(0, fired_by(self, 0, self->child.pid));
	ASSERT_EQ(0, child_begin(&self->child));
	while (!runs_as_another(self->child.pid))
		sleep_ms(1);
	child_asleep(&self->child);
	left = monotonic_ns();
	EXPECT_EQ(0, child_reap(&self->child));
	EXPECT_LT(left + 1000 * MS, monotonic_ns());
	ASSERT_EQ(0, take(self));
	for (unsigned int i = 0; i < self->nr; i++)
		EXPECT_GT(left, self->fired[i].time);
}

/* Steps: be the user; have children that nap, and are another's program then, one after the other. */
static void has_others_for_children(void *arg, int step)
{
	pid_t pid;

	if (step == 0) {
		if (become(USER))
			_exit(1);
		return;
	}
	for (int i = 0; i < 5; i++) {
		pid = fork();
		if (!pid) {
			rest(2 * LONG_MS);
			execl(SLEEPER, "sleep", "0.3", (char *)NULL);
			_exit(127);
		}
		if (pid < 0 || waitpid(pid, NULL, 0) != pid)
			_exit(1);
	}
}

/*
 * Nobody is told when such a one ends: whatever is kept of it would be looked at, which the
 * kernels of the plan with KASAN see.
 */
TEST_F(trigger, a_task_with_a_set_user_id_program_is_forgotten)
{
	SKIP_UNLESS(!geteuid(), "must be root to become another");
	ASSERT_EQ(0, install_program("/bin/sleep", SLEEPER, OTHER_USER, 04755));
	FORK(has_others_for_children);
	ASSERT_ZEROS(child_step(&self->child), become(USER));
	ASSERT_EQ(0, device_setup(&self->dev, &self->setup))
		TH_LOG("reason %u", self->setup.out_reason);
	SET(GPROF_TRIGGER_OFF_CPU, LIMIT_NS);
	ASSERT_ZEROS(device_start(&self->dev), child_step(&self->child));
	/* Three looks more. */
	sleep_ms(800);
	ASSERT_EQ(0, take(self));
	EXPECT_LT(0, self->nr);
}

/* ---- over START and STOP ---- */

static void interval(struct __test_metadata *_metadata, FIXTURE_DATA(trigger) *self,
		     uint64_t interval_ns)
{
	struct gprof_trigger t = trigger_of(GPROF_TRIGGER_OFF_CPU, LIMIT_NS);

	t.interval_ns = interval_ns;
	ASSERT_EQ(0, device_trigger(&self->dev, &t));
}

TEST_F(trigger, each_start_begins_anew)
{
	struct pollfd pfd = { .events = POLLPRI };
	uint64_t started;

	SETUP(naps);
	pfd.fd = self->dev.fd;
	interval(_metadata, self, 1000000 * MS);
	ASSERT_EQ(0, device_start(&self->dev));
	for (unsigned int i = 0; i < 3; i++)
		ASSERT_EQ(0, child_step(&self->child));
	ASSERT_EQ(0, device_stop(&self->dev));
	EXPECT_EQ(1, poll(&pfd, 1, 0) & !!(pfd.revents & POLLPRI));
	/* What nobody took is gone, and so is the wait that it is in. */
	child_asleep(&self->child);
	sleep_ms(2 * LONG_MS);
	started = monotonic_ns();
	ASSERT_ZEROS(device_start(&self->dev), take(self));
	EXPECT_EQS(0, self->nr, 0, self->last.fired, 0, self->last.suppressed);
	self->nr = 0;
	ASSERT_ZEROS(child_step(&self->child), device_stop(&self->dev));
	/* Firings outlive STOP. */
	ASSERT_EQS(0, take(self), 1, self->nr);
	EXPECT_EQ(1, self->fired[0].fired);
	EXPECT_LT(started, self->fired[0].time - self->fired[0].duration_ns);
}

/* Of a process nobody belongs to the target any more; of the system all do. */
TEST_F(trigger, nothing_goes_on_after_stop)
{
	uint64_t stopped;

	SKIP_UNLESS(!geteuid(), "needs CAP_PERFMON");
	FORK(naps);
	self->setup.target = GPROF_TARGET_SYSTEM;
	self->setup.id = 0;
	ASSERT_EQ(0, device_setup(&self->dev, &self->setup));
	SET(GPROF_TRIGGER_OFF_CPU, 400 * MS);
	ASSERT_ZEROS(device_start(&self->dev), child_step(&self->child));
	child_asleep(&self->child);
	ASSERT_EQ(0, device_stop(&self->dev));
	stopped = monotonic_ns();
	for (unsigned int i = 0; i < 15; i++) {
		sleep_ms(100);
		ASSERT_EQ(0, take(self));
	}
	for (unsigned int i = 0; i < self->nr; i++)
		EXPECT_GT(stopped, self->fired[i].time);
}

static void ends_children(void)
{
	for (;;) {
		pid_t pid = fork();

		if (!pid)
			_exit(0);
		waitpid(pid, NULL, 0);
	}
}

/* While it starts, of what somebody does the beginning is seen, and the end of them not yet. */
TEST_F(trigger, a_task_that_ends_during_START_is_not_remembered)
{
	static const char *const slow[] = {
		"module:module_load", "module:module_free", "module:module_request",
		"oom:mark_victim", "oom:wake_reaper", "oom:start_task_reaping",
		"oom:finish_task_reaping",
	};
	struct gprof_trigger t = trigger_of(GPROF_TRIGGER_SYSCALL, 1000 * MS);
	pid_t pids[3];

	SKIP_UNLESS(!geteuid(), "needs CAP_PERFMON");
	self->setup.target = GPROF_TARGET_SYSTEM;
	ASSERT_EQ(0, device_setup(&self->dev, &self->setup));
	t.number = SYS_exit_group;
	ASSERT_EQ(0, device_trigger(&self->dev, &t));
	/* Which nobody comes to. */
	for (unsigned int i = 0; i < ARRAY_SIZE(slow); i++) {
		t = trigger_of(GPROF_TRIGGER_TRACEPOINT, 0);
		t.name = (uintptr_t)slow[i];
		EXPECT_EQ(0, device_trigger(&self->dev, &t)) TH_LOG("%s: reason %u", slow[i], t.out_reason);
	}
	for (unsigned int i = 0; i < 3; i++) {
		pids[i] = fork_bound();
		if (!pids[i])
			ends_children();
	}
	for (unsigned int i = 0; i < 4; i++) {
		ASSERT_EQ(0, device_start(&self->dev));
		sleep_ms(1600);
		ASSERT_ZEROS(take(self), device_stop(&self->dev));
	}
	EXPECT_EQ(0, self->nr);
	for (unsigned int i = 0; i < 3; i++) {
		kill(pids[i], SIGKILL);
		waitpid(pids[i], NULL, 0);
	}
}

/* Not what would have been due while nothing happened, either: the host is older. */
static void once_in(struct __test_metadata *_metadata, FIXTURE_DATA(trigger) *self,
		    uint64_t interval_ns, uint64_t is_ns)
{
	uint64_t began;

	SETUP(naps_on);
	interval(_metadata, self, interval_ns);
	ASSERT_EQ(0, device_start(&self->dev));
	began = monotonic_ns();
	RUN();
	EXPECT_WITHIN(1, self->nr, 1 + (monotonic_ns() - began) / is_ns);
	EXPECT_LE(TIMES, self->last.fired + self->last.suppressed);
}

TEST_F(trigger, a_trigger_without_interval_fires_once_a_second)
{
	once_in(_metadata, self, 0, 1000 * MS);
}

TEST_F(trigger, intervals_are_not_made_up_for)
{
	once_in(_metadata, self, 500 * MS, 500 * MS);
}

/* ---- several at once ---- */

TEST_F(trigger, each_counts_its_own)
{
	unsigned int i, n = 0;

	SETUP(naps_on);
	SET(GPROF_TRIGGER_OFF_CPU, LIMIT_NS);
	interval(_metadata, self, 1000000 * MS);
	ASSERT_EQ(0, device_start(&self->dev));
	RUN();
	EXPECT_LE(TIMES, fired_by(self, 0, self->setup.id));
	EXPECT_EQ(1, fired_by(self, 1, self->setup.id));
	for (i = 0; i < self->nr; i++) {
		if (self->fired[i].index == 0) {
			EXPECT_EQS(++n, self->fired[i].fired, 0, self->fired[i].suppressed);
		} else {
			EXPECT_EQ(1, self->fired[i].fired);
		}
	}
	/* Of all together, when none waits. */
	EXPECT_EQS(n + 1, self->last.fired, n - 1, self->last.suppressed);
}

static void naps_until_none_waits(void *arg, int step)
{
	for (unsigned int i = 0; !step && i < 2 * GPROF_TRIGGER_EVENTS_MAX; i++)
		rest(LONG_MS);
	rest(20 * LONG_MS);
}

/* Who finds that too many wait has not fired, and need not wait for its interval. */
TEST_F(trigger, what_there_was_no_room_for_may_fire_at_once)
{
	struct gprof_trigger t = trigger_of(GPROF_TRIGGER_OFF_CPU, 10 * LONG_MS * MS);
	unsigned int i, n = 0;

	SETUP(naps_until_none_waits);
	SET(GPROF_TRIGGER_OFF_CPU, LIMIT_NS);
	t.interval_ns = 1000000 * MS;
	ASSERT_ZEROS(device_trigger(&self->dev, &t), device_start(&self->dev), child_step(&self->child),
		     take(self));
	EXPECT_EQS(GPROF_TRIGGER_EVENTS_MAX, self->nr, 0, fired_by(self, 1, self->setup.id));
	ASSERT_ZEROS(child_step(&self->child), child_step(&self->child), take(self));
	for (i = 0; i < self->nr; i++)
		n += self->fired[i].index == 1;
	EXPECT_EQ(1, n);
}

static void naps_often_and_long(void *arg, int step)
{
	/* Long enough that it is not over before the task has given up its CPU. */
	struct timespec ts = { .tv_nsec = 100000 };

	if (!step)
		pin_to(online_cpu(0));
	for (unsigned int i = 0; i < 500; i++)
		syscall(SYS_nanosleep, &ts, NULL);
	rest(LONG_MS);
}

/* In a ring that nobody reads, once it is full. */
TEST_F(trigger, a_trigger_event_without_a_mark_says_so)
{
	struct gprof_stats st;
	unsigned int i = 0;

	self->setup.buffer_size = 4096;
	SETUP(naps_often_and_long);
	SET(GPROF_TRIGGER_OFF_CPU, LIMIT_NS);
	ASSERT_EQ(0, device_start(&self->dev));
	do {
		ASSERT_ZEROS(child_step(&self->child), take(self));
		/* Of that CPU: the ring of another one may be full before. */
		ASSERT_EQ(0, device_stats(&self->dev, online_cpu(0), &st));
	} while (!device_lost(&st) && i++ < 100);
	ASSERT_NE(0, device_lost(&st));
	self->nr = 0;
	ASSERT_ZEROS(child_step(&self->child), take(self));
	ASSERT_LT(0, self->nr);
	for (i = 0; i < self->nr; i++) {
		/* Of what goes on the mark is where it was looked at. */
		if (!(self->fired[i].flags & GPROF_TRIGGER_EVENT_F_GOES_ON))
			EXPECT_EQ(GPROF_TRIGGER_EVENT_F_UNMARKED, self->fired[i].flags);
	}
}

#define THREADS		60
#define CROWD		600	/* far more than there are places for, */
#define CROWD_DEBUG	320	/* which are 256 */
#define SLOW_S		900	/* what that may take where everything is checked */

static unsigned int rest_ms;

static void *rests(void *arg)
{
	rest(rest_ms);
	return NULL;
}

static void *does_nothing(void *arg)
{
	return NULL;
}

/* Where it takes long to make so many, each rests for longer, so that all do at a time. */
static void see_how_long(unsigned int nr)
{
	uint64_t began = monotonic_ns();
	pthread_t thread;

	for (unsigned int i = 0; i < 4; i++)
		if (!pthread_create(&thread, NULL, does_nothing, NULL))
			pthread_join(thread, NULL);
	rest_ms = 1000 + (monotonic_ns() - began) * nr / MS;
}

static unsigned int crowd(void)
{
	return is_debug_kernel() ? CROWD_DEBUG : CROWD;
}

static void make_threads(unsigned int nr)
{
	static pthread_t threads[CROWD];
	pthread_attr_t attr;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 65536);
	for (unsigned int i = 0; i < nr; i++)
		if (pthread_create(&threads[i], &attr, rests, NULL))
			_exit(1);
	for (unsigned int i = 0; i < nr; i++)
		pthread_join(threads[i], NULL);
}

static void some_threads_rest(void *arg, int step)
{
	make_threads(THREADS);
	_exit(0);
}

/* As many come later that each finds a place, though not the first that it looks at. */
TEST_F_TIMEOUT(trigger, each_of_many_threads_fires, SLOW_S)
{
	see_how_long(THREADS);
	SETUP(some_threads_rest);
	SET(GPROF_TRIGGER_OFF_CPU, rest_ms * 2 / 5 * MS);
	ASSERT_EQ(0, device_start(&self->dev));
	RUN();
	/* And who waits for them. */
	EXPECT_EQS(THREADS + 1, self->last.fired + self->last.suppressed, 0, self->last.untracked);
}

static void a_crowd_rests(void *arg, int step)
{
	make_threads(crowd());
	_exit(0);
}

/* More than there are places for. */
TEST_F_TIMEOUT(trigger, untracked_operations_are_counted, SLOW_S)
{
	see_how_long(crowd());
	SETUP(a_crowd_rests);
	SET(GPROF_TRIGGER_OFF_CPU, rest_ms * 2 / 5 * MS);
	ASSERT_EQ(0, device_start(&self->dev));
	RUN();
	EXPECT_LTS(0, self->last.untracked, THREADS, self->last.fired + self->last.suppressed);
}

static struct alikes {
	pid_t sleeper;
	volatile bool go, over;
} *alikes;

/* A CPU finds the place of a task by its id's last byte first. */
static void naps_beside_one_whose_id_ends_alike(void *arg, int step)
{
	pid_t pid, sleeper;

	pin_to(online_cpu(0));
	sleeper = fork();
	if (!sleeper) {
		while (!alikes->go)
			rest(5);
		for (unsigned int i = 0; i < TIMES; i++)
			rest(2 * LONG_MS);
		alikes->over = true;
		_exit(0);
	}
	alikes->sleeper = sleeper;
	do {
		pid = fork();
		if (!pid && (uint8_t)getpid() != (uint8_t)sleeper)
			_exit(0);
	} while (pid && (uint8_t)pid != (uint8_t)sleeper);
	alikes->go = true;
	/* One that has a place, and so has who comes after it: all else is looked for. */
	while (!alikes->over)
		if (!pid)
			rest(5);
	_exit(0);
}

/* Long enough for the switch that ends it, and too short for a look. */
TEST_F(trigger, two_whose_ids_end_alike_wait_each_for_itself)
{
	alikes = shared_memory(sizeof(*alikes));
	SETUP(naps_beside_one_whose_id_ends_alike);
	SET(GPROF_TRIGGER_OFF_CPU, LIMIT_NS * 2);
	ASSERT_EQ(0, device_start(&self->dev));
	RUN();
	EXPECT_LE(TIMES, fired_by(self, 0, alikes->sleeper));
}

#define GUESTS		80
#define GUEST_ROUNDS	6

static void many_come_and_go(void *arg, int step)
{
	pid_t pids[GUESTS];

	for (unsigned int i = 0; i < GUESTS; i++) {
		pids[i] = fork();
		if (!pids[i]) {
			rest(LONG_MS);
			_exit(0);
		}
	}
	for (unsigned int i = 0; i < GUESTS; i++)
		waitpid(pids[i], NULL, 0);
}

/* The memory of who has ended goes to strangers, so that who comes next has another. */
TEST_F(trigger, a_task_that_has_ended_leaves_room_for_others)
{
	pid_t strangers[GUEST_ROUNDS * (GUESTS + 10)];
	unsigned int nr = 0, i, n;

	SETUP(many_come_and_go);
	SET(GPROF_TRIGGER_OFF_CPU, 100000 * MS);
	ASSERT_EQ(0, device_start(&self->dev));
	for (i = 0; i < GUEST_ROUNDS; i++) {
		ASSERT_EQ(0, child_step(&self->child));
		sleep_ms(100);
		for (n = 0; n < GUESTS + 10; n++) {
			strangers[nr] = fork_bound();
			if (!strangers[nr++])
				pause();
		}
	}
	ASSERT_EQ(0, take(self));
	EXPECT_EQ(0, self->last.untracked);
	for (i = 0; i < nr; i++)
		kill(strangers[i], SIGKILL);
	for (i = 0; i < nr; i++)
		waitpid(strangers[i], NULL, 0);
}

/* ---- what is measured ---- */

struct newcomers {
	pid_t pids[4];
	unsigned int nr;
} *newcomers;

/* Who is forked may not run before its parent sleeps. */
static void keeps_newcomers_waiting(void *arg, int step)
{
	pin_to(online_cpu(0));
	hurry(1);
	for (unsigned int i = 0; i < 4; i++) {
		pid_t pid = fork();

		if (!pid)
			_exit(0);
		newcomers->pids[newcomers->nr++] = pid;
		burn_until(monotonic_ns() + LONG_MS * MS);
		waitpid(pid, NULL, 0);
	}
	_exit(0);
}

TEST_F(trigger, a_newcomer_waits_from_its_birth_on)
{
	SKIP_UNLESS(!geteuid(), "needs real-time priorities");
	newcomers = shared_memory(sizeof(*newcomers));
	SETUP(keeps_newcomers_waiting);
	SET(GPROF_TRIGGER_DELAY, LIMIT_NS);
	SET(GPROF_TRIGGER_OFF_CPU, LIMIT_NS);
	ASSERT_EQ(0, device_start(&self->dev));
	RUN();
	ASSERT_EQ(4, newcomers->nr);
	for (unsigned int i = 0; i < newcomers->nr; i++) {
		EXPECT_EQ(1, fired_by(self, 0, newcomers->pids[i]));
		EXPECT_EQ(1, fired_by(self, 1, newcomers->pids[i]));
	}
}

/* On a busy host whoever looks at what goes on may not come to it while one of them lasts. */
#define LONG_ONES	3

static void keeps_one_waiting_for_long(void *arg, int step)
{
	pid_t pid;

	pin_to(online_cpu(0));
	hurry(1);
	for (unsigned int i = 0; i < LONG_ONES; i++) {
		pid = fork();
		if (!pid)
			_exit(0);
		burn_until(monotonic_ns() + 800 * MS);
		waitpid(pid, NULL, 0);
	}
	_exit(0);
}

/* Which of them went on is a matter of the host; none is told twice. */
static bool told_before(FIXTURE_DATA(trigger) *self, unsigned int nr)
{
	const struct gprof_trigger_event *f = &self->fired[nr], *other = self->fired;

	for (; other < f; other++)
		if (other->tid == f->tid && other->flags & GPROF_TRIGGER_EVENT_F_GOES_ON &&
		    f->time - f->duration_ns - (other->time - other->duration_ns) + MS < 2 * MS)
			return true;
	return false;
}

/* And not where the kernel looked at it, which it could not there. */
TEST_F(trigger, what_goes_on_is_where_its_task_is)
{
	unsigned int i, n = 0;

	SKIP_UNLESS(!geteuid(), "needs real-time priorities");
	SETUP(keeps_one_waiting_for_long);
	SET(GPROF_TRIGGER_DELAY, LIMIT_NS);
	ASSERT_EQ(0, device_start(&self->dev));
	RUN();
	for (i = 0; i < self->nr; i++) {
		if (!(self->fired[i].flags & GPROF_TRIGGER_EVENT_F_GOES_ON))
			continue;
		EXPECT_EQ(online_cpu(0), (int)self->fired[i].cpu);
		EXPECT_FALSE(told_before(self, i));
		n++;
	}
	EXPECT_LE(1, n);
}

static void dumps_core(void *arg, int step)
{
	unsigned int i, dumped = 0;

	setrlimit(RLIMIT_CORE, &(struct rlimit){ RLIM_INFINITY, RLIM_INFINITY });
	signal(SIGABRT, SIG_DFL);
	if (chdir("/tmp"))
		_exit(1);
	for (i = 0; i < 3; i++)
		dumped += !!WCOREDUMP(IN_CHILD(raise(SIGABRT)));
	_exit(dumped == 3 ? 0 : 4);
}

TEST_F(trigger, a_signal_that_leaves_a_core_dump_ends_a_process_too)
{
	struct gprof_trigger t = trigger_of(GPROF_TRIGGER_SIGNAL, 0);
	char pattern[128] = "";

	SKIP_UNLESS(!geteuid(), "must be root to say where core dumps go");
	ASSERT_EQ(0, file_read("/proc/sys/kernel/core_pattern", pattern, sizeof(pattern)));
	ASSERT_EQ(0, file_write("/proc/sys/kernel/core_pattern", "/tmp/gprof_edge_core"));
	SETUP(dumps_core);
	t.number = SIGABRT;
	ASSERT_ZEROS(device_trigger(&self->dev, &t), device_start(&self->dev));
	RUN();
	EXPECT_EQ(3, self->nr);
	for (unsigned int i = 0; i < self->nr; i++)
		EXPECT_EQ(SIGABRT, self->fired[i].number);
	unlink("/tmp/gprof_edge_core");
	EXPECT_EQ(0, file_write("/proc/sys/kernel/core_pattern", pattern));
}

/* The timer's is none that a driver asked for. */
TEST_F(trigger, a_vector_of_the_cpu_has_a_negative_number)
{
	struct gprof_trigger t = trigger_of(GPROF_TRIGGER_IRQ, 0);
	unsigned int i, vectors = 0;

	SKIP_UNLESS(!geteuid(), "needs CAP_PERFMON");
#ifndef __x86_64__
	SKIP(return, "only amd64 has them");
#endif
	SETUP(burns);
	ASSERT_ZEROS(device_trigger(&self->dev, &t), device_start(&self->dev));
	RUN();
	for (i = 0; i < self->nr; i++) {
		vectors += self->fired[i].number < GPROF_TRIGGER_ANY;
		/* Beyond these are the vectors of the CPU itself. */
		EXPECT_GT(0xe0, self->fired[i].number);
	}
	EXPECT_LT(0, vectors);
}

/* ---- limits ---- */

TEST_F(trigger, what_is_just_possible_is_taken)
{
	struct gprof_trigger t;

	SETUP(nothing);
#define TAKEN(_what, ...) do {							\
	t = trigger_of(_what, 0);						\
	__VA_ARGS__;								\
	EXPECT_EQ(0, device_trigger(&self->dev, &t)) TH_LOG("reason %u", t.out_reason);	\
} while (0)
#define REFUSED(_what, ...) do {						\
	t = trigger_of(_what, 0);						\
	__VA_ARGS__;								\
	EXPECT_EQ(-EINVAL, device_trigger(&self->dev, &t));				\
} while (0)
	TAKEN(GPROF_TRIGGER_SIGNAL, t.number = 64);
	TAKEN(GPROF_TRIGGER_DELAY, t.threshold_ns = t.interval_ns = GPROF_TRIGGER_NS_MAX);
	REFUSED(GPROF_TRIGGER_SIGNAL, t.number = -2);
	REFUSED(GPROF_TRIGGER_SOFTIRQ, t.number = 10);
	REFUSED(GPROF_TRIGGER_SOFTIRQ, t.number = -2);
	REFUSED(GPROF_TRIGGER_SYSCALL, t.number = -2);
	SKIP_UNLESS(!geteuid(), "needs CAP_PERFMON for the rest");
	TAKEN(GPROF_TRIGGER_SOFTIRQ, t.number = 9);
	TAKEN(GPROF_TRIGGER_SYSCALL, t.number = INT32_MAX);
	TAKEN(GPROF_TRIGGER_IRQ, t.number = INT32_MIN);
	ASSERT_EQ(0, device_start(&self->dev));
	EXPECT_EQ(0, device_stop(&self->dev));
}

/* ---- what is left of it ---- */

#define IN_MODULE	"/sys/module/9pnet/refcnt"

TEST_F(trigger, a_tracepoint_of_a_module_does_not_hold_it_for_ever)
{
	struct gprof_trigger t = trigger_of(GPROF_TRIGGER_TRACEPOINT, 0);
	long long before = file_number(IN_MODULE);

	SKIP_UNLESS(!geteuid(), "needs CAP_PERFMON");
	SKIP_UNLESS(before >= 0, "9p is not in a module");
	SETUP(nothing);
	t.name = (uintptr_t)"9p:9p_client_req";
	ASSERT_EQ(0, device_trigger(&self->dev, &t)) TH_LOG("reason %u", t.out_reason);
	EXPECT_EQ(before + 1, file_number(IN_MODULE));
	ASSERT_EQ(0, device_start(&self->dev));
	device_close(&self->dev);
	EXPECT_EQ(before, file_number(IN_MODULE));
}

#define PIDS		"/sys/kernel/slab/pid/objects"
#define PIDS_SHRINK	"/sys/kernel/slab/pid/shrink"
#define ROUNDS		16
#define DEATHS		48

static void has_deaths(void *arg, int step)
{
	for (unsigned int i = 0; i < DEATHS; i++) {
		pid_t pid = fork();

		if (!pid) {
			kill(getpid(), SIGTERM);
			pause();
		}
		waitpid(pid, NULL, 0);
	}
}

/* Those that each CPU keeps for the next, some 200, count as in use: it gives them back. */
static long long pids_in_use(void)
{
	int fd;

	sleep_ms(300);	/* they are given up after a grace period */
	fd = open(PIDS_SHRINK, O_WRONLY);
	if (fd >= 0 && write(fd, "1", 1) != 1)
		fprintf(stderr, "# %s: %s\n", PIDS_SHRINK, strerror(errno));
	close(fd);
	return file_number(PIDS);
}

/* Taken or not, firings hold the ids of their tasks no longer than they wait. */
TEST_F(trigger, no_id_outlives_a_trigger_event)
{
	struct pollfd pfd = { .events = POLLPRI };
	struct gprof_trigger signal = trigger_of(GPROF_TRIGGER_SIGNAL, 0);
	struct device dev;
	unsigned int i, fired = 0;
	long long before, most;

	SKIP_UNLESS(file_number(PIDS) > 0, "the kernel does not tell how many ids there are");
	FORK(has_deaths);
	ASSERT_EQ(0, child_step(&self->child));
	before = pids_in_use();
	for (i = 0; i < ROUNDS; i++) {
		struct gprof_trigger_event f = { .size = sizeof(f) };

		ASSERT_ZEROS(device_setup(&dev, &self->setup), device_trigger(&dev, &signal),
			     device_start(&dev));
		pfd.fd = dev.fd;
		ASSERT_EQ(0, child_begin(&self->child));
		/* Of every other recorder none are taken: as many wait as may. */
		while (i & 1 && poll(&pfd, 1, 0) >= 0) {
			struct pollfd done = { .fd = self->child.from, .events = POLLIN };

			while (!device_ioctl(dev.fd, GPROF_IOC_TRIGGER_READ, &f))
				fired++;
			if (poll(&done, 1, 5) == 1)
				break;
		}
		ASSERT_EQ(0, child_wait(&self->child));
		device_close(&dev);
	}
	EXPECT_LT(ROUNDS / 2 * GPROF_TRIGGER_EVENTS_MAX, fired);
	/* Half of what would be left of either kind; a busy machine is late to free the others. */
	most = before + ROUNDS / 4 * GPROF_TRIGGER_EVENTS_MAX;
	for (i = 0; i < 200 && pids_in_use() >= most; i++)
		sleep_ms(50);
	EXPECT_GT(most, pids_in_use());
}

TEST_HARNESS_MAIN
