// SPDX-License-Identifier: GPL-2.0-only
/*
 * polite_test: what users without privilege cost others by starting and stopping recorders, and by
 * asking for some that they may not have.
 *
 * The kernel's text is patched, and CPUs are interrupted, by function calls; those are counted on a CPU
 * where none of the user's tasks run.
 */
#include <stdatomic.h>
#include <sys/time.h>
#include "harness.h"
#include "device.h"
#include "remains.h"
#include "workload.h"

#define USER		1000
#define THREADS		5
#define SECONDS		4
#define PARANOID	"/proc/sys/kernel/perf_event_paranoid"
#define TURNS		5	/* a second, of software events */
#define REFUSED		300

/* Those that a user may have of a process. */
static const uint32_t kinds[] = {
	GPROF_KIND_CPU, GPROF_KIND_SCHED, GPROF_KIND_TRACE, GPROF_KIND_BLOCK,
};

#define NR_KINDS	(ARRAY_SIZE(kinds))

FIXTURE(polite) {
	char paranoid[16];
	struct child child;
};

static int unlimited(int resource)
{
	return setrlimit(resource, &(struct rlimit){ RLIM_INFINITY, RLIM_INFINITY });
}

FIXTURE_SETUP(polite)
{
	SKIP_UNLESS(!geteuid(), "must be root to become another");
	/* The children's: before 5.16 a user has too little by default for what they try. */
	ASSERT_EQ(0, unlimited(RLIMIT_MEMLOCK));
	ASSERT_EQ(0, file_read(PARANOID, self->paranoid, sizeof(self->paranoid)));
}

FIXTURE_TEARDOWN(polite)
{
	child_end(&self->child);
	file_write(PARANOID, self->paranoid);
}

static int setup_of(struct device *dev, unsigned int i, uint32_t parallelism)
{
	struct gprof_cpu_params timer = timer_params(1000000);
	struct gprof_sched_params sched = { .size = sizeof(sched) };
	struct gprof_trace_params trace = { .size = sizeof(trace) };
	struct gprof_block_params block = { .size = sizeof(block), .period = 1 };
	const void *params[NR_KINDS] = { &timer, &sched, &trace, &block };
	struct gprof_setup setup =
		device_setup_kind(kinds[i], GPROF_TARGET_PROCESS, getpid(), params[i]);

	setup.flags |= i ? 0 : parallelism;
	setup.buffer_size = setup.kind == GPROF_KIND_SCHED ? 0 : 65536;
	return device_setup(dev, &setup);
}

/* ---- interrupts ---- */

/* Of one CPU, by a function call: those that are sent to all when text is patched, too. */
static long long calls_on(unsigned int cpu)
{
	FILE *f = fopen("/proc/interrupts", "re");
	long long calls = -1;
	char line[8192], *at;

	while (f && fgets(line, sizeof(line), f)) {
		if (!strstr(line, "Function call interrupts"))
			continue;
		at = strchr(line, ':') + 1;
		calls = 0;
		for (unsigned int i = 0; i <= cpu; i++)
			calls = strtoll(at, &at, 10);
	}
	if (f)
		fclose(f);
	return calls;
}

static atomic_uint starts;

static void *start_and_stop(void *arg)
{
	uint64_t end = monotonic_ns() + SECONDS * 1000000000ULL;
	struct device dev[NR_KINDS];

	for (unsigned int i = 0; i < NR_KINDS; i++)
		if (setup_of(&dev[i], i, GPROF_SETUP_F_PARALLELISM))
			_exit(3);
	while (monotonic_ns() < end) {
		for (unsigned int i = 0; i < NR_KINDS; i++) {
			if (device_start(&dev[i]) || device_stop(&dev[i]))
				_exit(4);
			starts++;
		}
	}
	return NULL;
}

static void attack(void *arg, int step)
{
	if (!step) {
		if (pin_to(0) < 0 || become(USER))
			_exit(1);
		return;
	}
	if (run_threads(THREADS, start_and_stop, NULL))
		_exit(2);
	fprintf(stderr, "# %u starts\n", starts);
}

/* Both CPUs are busy: an idle one is asked to look for what it could do. */
static long long calls_while(uint64_t ns)
{
	long long calls = calls_on(1);

	burn_until(monotonic_ns() + ns);
	return calls_on(1) - calls;
}

/*
 * The first START finds nothing attached, and to attach a probe is six calls in some kernels; but for
 * that no CPU is asked for anything. A call for each START would be hundreds. To wake a task on
 * another CPU is a call, too, so that the owner's thread is kept where its callers are.
 */
TEST_F(polite, starts_and_stops_of_a_user_interrupt_no_other_cpu)
{
	const uint64_t ns = (SECONDS + 1) * 1000000000ULL;
	long long quiet, calls;
	pid_t thread = 0;
	cpu_set_t first;

	CPU_ZERO(&first);
	CPU_SET(0, &first);
	SKIP_UNLESS(nr_online_cpus() > 1, "needs a second CPU");
	SKIP_UNLESS(calls_on(1) >= 0, "this kernel does not count function calls");
	ASSERT_ZEROS(child_fork(&self->child, attack, NULL), child_step(&self->child));
	ASSERT_LE(0, pin_to(1));
	quiet = calls_while(ns);
	child_begin(&self->child);
	for (int i = 0; i < 100 && !(thread = thread_for(USER, "/")); i++)
		sleep_ms(10);
	ASSERT_LT(0, thread);
	ASSERT_EQ(0, sched_setaffinity(thread, sizeof(first), &first));
	calls = calls_while(ns);
	ASSERT_EQ(0, child_wait(&self->child));
	TH_LOG("%lld calls beside it, %lld alone", calls, quiet);
	EXPECT_GE(quiet + 200, calls);
}

/* ---- software events, which patch text however they are attached ---- */

struct turns {
	unsigned int had;
	unsigned int refused;
	unsigned int other;
	uint64_t longest;
};

static int setup_switches(struct device *dev, uint32_t *reason)
{
	struct gprof_cpu_params params = event_params(PERF_TYPE_SOFTWARE,
						      PERF_COUNT_SW_PAGE_FAULTS, 1000);
	struct gprof_setup setup = device_setup_of(GPROF_TARGET_PROCESS, getpid(), &params);
	int err;

	setup.buffer_size = 65536;
	err = device_setup(dev, &setup);
	*reason = setup.out_reason;
	return err;
}

static void *take_turns(void *arg)
{
	uint64_t end = monotonic_ns() + SECONDS * 1000000000ULL, began, took;
	struct turns *t = arg;
	uint32_t reason;
	int err;

	while (monotonic_ns() < end) {
		struct device dev = { 0 };

		began = monotonic_ns();
		err = setup_switches(&dev, &reason);
		took = monotonic_ns() - began;
		device_close(&dev);
		if (took > t->longest)
			t->longest = took;
		if (!err)
			__atomic_add_fetch(&t->had, 1, __ATOMIC_RELAXED);
		else if (err == -EAGAIN && reason == GPROF_REASON_TURN)
			__atomic_add_fetch(&t->refused, 1, __ATOMIC_RELAXED);
		else
			__atomic_add_fetch(&t->other, 1, __ATOMIC_RELAXED);
	}
	return NULL;
}

static void in_threads(struct turns *t, uid_t user)
{
	_exit(become(user) ? 1 : run_threads(2 * THREADS, take_turns, t));
}

TEST_F(polite, software_events_of_users_wait_for_their_turn)
{
	struct turns *t = shared_memory(2 * sizeof(*t));
	struct device dev = { 0 };
	uint64_t began, took = 0, start, most;
	uint32_t reason;
	pid_t pids[2];

	ASSERT_EQ(0, file_write(PARANOID, "2"));
	start = monotonic_ns();
	for (unsigned int i = 0; i < 2; i++) {
		pids[i] = fork_bound();
		ASSERT_LE(0, pids[i]);
		if (!pids[i])
			in_threads(&t[i], USER + i);
	}
	/* Root does not wait for a turn, nor for a CPU here. */
	ASSERT_EQ(0, setpriority(PRIO_PROCESS, 0, -20));
	for (unsigned int i = 0; i < 40; i++) {
		began = monotonic_ns();
		EXPECT_EQ(0, setup_switches(&dev, &reason));
		took += monotonic_ns() - began;
		device_close(&dev);
	}
	for (unsigned int i = 0; i < 2; i++)
		EXPECT_EQ(0, reap(pids[i]));
	most = (monotonic_ns() - start) * TURNS / 1000000000 + 2 * TURNS;
	ASSERT_EQ(0, setpriority(PRIO_PROCESS, 0, 0));
	EXPECT_GE(most, t[0].had + t[1].had);
	EXPECT_GT(5000000000, took);
	for (unsigned int i = 0; i < 2; i++) {
		TH_LOG("user %u: %u turns, %u refused, longest wait %llu ms", USER + i, t[i].had,
		       t[i].refused, ms_of(t[i].longest));
		EXPECT_EQ(0, t[i].other);
		EXPECT_LT(0, t[i].refused);
		EXPECT_LT(2, t[i].had);
		/* Two seconds, and what an emulated CPU with 20 threads makes of it. */
		EXPECT_GT(4000000000, t[i].longest);
	}
}

/* ---- callers whose cgroup has no time left, and that do not run for long ---- */

static void spin(void)
{
	for (;;)
		burn_ns(1000000000);
}

FIXTURE(throttled) {
	char path[MEMORY_CGROUP_PATH];
	pid_t pids[4];
};

FIXTURE_SETUP(throttled)
{
	int err;

	SKIP_UNLESS(!geteuid(), "must be root to become another");
	ASSERT_EQ(0, unlimited(RLIMIT_MEMLOCK));
	self->pids[0] = 0;
	err = cgroup_make(self->path, "polite");
	SKIP_UNLESS(!err, "this kernel has no cgroups");
	cgroup_write("/sys/fs/cgroup", "cgroup.subtree_control", "+cpu");
}

FIXTURE_TEARDOWN(throttled)
{
	cgroup_write(self->path, "cpu.max", "max 100000");
	for (unsigned int i = 0; self->pids[0] && i < 4; i++) {
		kill(self->pids[i], SIGKILL);
		waitpid(self->pids[i], NULL, 0);
	}
	rmdir(self->path);
}

/* They are in the cgroup before it has a limit: they must not stand still under cgroup_mutex. */
static int throttle(FIXTURE_DATA(throttled) *self, void (*fn)(unsigned int i), const char *max)
{
	if (cgroup_write(self->path, "cpu.max", "max 100000"))
		return -ENODEV;
	for (unsigned int i = 0; i < 4; i++) {
		self->pids[i] = fork_bound();
		if (self->pids[i])
			continue;
		if (cgroup_write(self->path, "cgroup.procs", "0"))
			_exit(4);
		fn(i);
		_exit(0);
	}
	sleep_ms(1000);
	if (cgroup_write(self->path, "cpu.max", max))
		return -EIO;
	sleep_ms(1500);
	return 0;
}

static void take_turns_or_spin(unsigned int i)
{
	if (i < 2)
		spin();
	in_threads(shared_memory(sizeof(struct turns)), USER + i);
}

TEST_F(throttled, callers_keep_no_turn_from_others)
{
	struct turns *t = shared_memory(sizeof(*t));
	char paranoid[16];
	pid_t pid;
	int err;

	if (!self->path[0])
		return;
	ASSERT_ZEROS(file_read(PARANOID, paranoid, sizeof(paranoid)), file_write(PARANOID, "2"));
	err = throttle(self, take_turns_or_spin, "1000 1000000");
	SKIP_UNLESS(err != -ENODEV, "this kernel limits no cgroup's CPU time");
	ASSERT_EQ(0, err);
	pid = fork_bound();
	if (!pid)
		in_threads(t, USER + 4);
	EXPECT_EQ(0, reap(pid));
	file_write(PARANOID, paranoid);
	TH_LOG("%u turns, %u refused", t->had, t->refused);
	EXPECT_LT(2, t->had);
	EXPECT_EQ(0, t->other);
}

static void set_up_all_the_time(unsigned int i)
{
	struct gprof_cpu_params timer = timer_params(1000000);
	struct gprof_setup setup = device_setup_of(GPROF_TARGET_PROCESS, getpid(), &timer);
	struct device dev;

	setup.buffer_size = 65536;
	if (become(USER))
		_exit(1);
	for (;;) {
		if (device_setup(&dev, &setup))
			_exit(2);
		device_close(&dev);
	}
}

/* Neither the users of recorders, nor those that change a cgroup. */
TEST_F(throttled, callers_keep_no_other_waiting)
{
	uint64_t end, began, took, setup = 0, move = 0;
	struct device dev = { 0 };
	int err, bad = 0;

	if (!self->path[0])
		return;
	err = throttle(self, set_up_all_the_time, "4000 1000000");
	SKIP_UNLESS(err != -ENODEV, "this kernel limits no cgroup's CPU time");
	ASSERT_ZEROS(err, setpriority(PRIO_PROCESS, 0, -20));
	for (end = monotonic_ns() + 2 * SECONDS * 1000000000ULL; monotonic_ns() < end;) {
		began = monotonic_ns();
		bad |= setup_of(&dev, 0, 0);
		took = monotonic_ns() - began;
		setup = took > setup ? took : setup;
		device_close(&dev);
		began = monotonic_ns();
		bad |= cgroup_write("/sys/fs/cgroup", "cgroup.procs", "0");
		took = monotonic_ns() - began;
		move = took > move ? took : move;
	}
	ASSERT_EQ(0, setpriority(PRIO_PROCESS, 0, 0));
	TH_LOG("SETUP %llu ms, a move to a cgroup %llu ms, at most", ms_of(setup), ms_of(move));
	EXPECT_EQ(0, bad);
	EXPECT_GT(800000000, setup);
	EXPECT_GT(800000000, move);
}

static void nothing(int signal)
{
}

TEST_F(polite, wait_for_a_turn_ends_on_a_signal)
{
	struct itimerval soon = { .it_value.tv_usec = 300000 };
	struct sigaction act = { .sa_handler = nothing };
	struct device dev = { 0 };
	int err = 0;
	uint32_t reason;
	pid_t pid;

	ASSERT_EQ(0, file_write(PARANOID, "2"));
	pid = fork_bound();
	ASSERT_LE(0, pid);
	if (!pid) {
		struct turns t = { 0 };
		pthread_t thread;

		if (become(USER))
			_exit(1);
		/* They go on for longer than the signal takes. */
		for (unsigned int i = 0; i < 2 * THREADS; i++)
			pthread_create(&thread, NULL, take_turns, &t);
		sleep_ms(1500);
		sigaction(SIGALRM, &act, NULL);
		for (unsigned int i = 0; i < 20 && err != -EINTR; i++) {
			setitimer(ITIMER_REAL, &soon, NULL);
			err = setup_switches(&dev, &reason);
			device_close(&dev);
		}
		_exit(err == -EINTR ? 0 : 3);
	}
	EXPECT_EQ(0, reap(pid));
}

/* ---- what is refused ---- */

static long long last_pid(void)
{
	char text[128] = "", *at;

	if (file_read("/proc/loadavg", text, sizeof(text)))
		return -1;
	at = strrchr(text, ' ');
	return at ? strtoll(at, NULL, 10) : -1;
}

/* An event that no software has; and while perf is closed to users, one that they may not have. */
static void ask_in_vain(void *arg, int step)
{
	struct gprof_cpu_params params = event_params(PERF_TYPE_SOFTWARE, 12345, 1000);

	if (!step) {
		if (become(USER))
			_exit(1);
		return;
	}
	for (unsigned int i = 0; i < REFUSED; i++) {
		struct gprof_setup setup = device_setup_of(GPROF_TARGET_PROCESS, getpid(), &params);
		struct device dev = { 0 };

		setup.buffer_size = 65536;
		if (device_setup(&dev, &setup) != -EPERM || setup.out_reason != GPROF_REASON_PARANOID)
			_exit(2);
		device_close(&dev);
	}
}

/* A thread of the kernel for each would have a number each. */
TEST_F(polite, setups_that_are_refused_make_no_thread)
{
	long long before;

	ASSERT_ZEROS(file_write(PARANOID, "3"), child_fork(&self->child, ask_in_vain, NULL),
		     child_step(&self->child));
	before = last_pid();
	ASSERT_LT(0, before);
	ASSERT_EQ(0, child_step(&self->child));
	EXPECT_GT(REFUSED / 2, last_pid() - before);
}

/* 2: it was had, 3: denied for that reason. */
static int setup_as_user(void)
{
	struct device dev = { 0 };
	uint32_t reason;
	int err = become(USER) ?: setup_switches(&dev, &reason);

	return !err ? 2 : err == -EPERM && reason == GPROF_REASON_PARANOID ? 3 : 1;
}

/* A new perf_event_paranoid counts at once. */
TEST_F(polite, perf_that_is_closed_to_users_is_closed_at_once)
{
	unsigned int i, bad = 0;
	int status;

	for (i = 0; i < 6; i++) {
		ASSERT_EQ(0, file_write(PARANOID, i & 1 ? "2" : "3"));
		status = IN_CHILD(setup_as_user());
		bad += WEXITSTATUS(status) != (i & 1 ? 2 : 3);
	}
	EXPECT_EQ(0, bad);
}

TEST_HARNESS_MAIN
