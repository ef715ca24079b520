// SPDX-License-Identifier: GPL-2.0-only
/*
 * sched_test: scheduler statistics against what the kernel knows of itself.
 *
 * Two things that move cannot be read at one instant, so that readings of one are
 * put between two of the other: what lies between them is exact.
 */
#include <limits.h>
#include <linux/futex.h>
#include <linux/sched.h>
#include <linux/userfaultfd.h>
#include <stdatomic.h>
#include "harness.h"
#include "sched_stats.h"
#include "workload.h"


/* The number after a word that begins a line, as in /proc/stat. */
static uint64_t proc_number(const char *path, const char *key)
{
	static char text[65536];
	const char *at;

	if (file_read(path, text, sizeof(text)))
		return 0;
	at = strstr(text, key);
	return at ? strtoull(at + strlen(key), NULL, 10) : 0;
}

static uint64_t switches_of(pid_t pid)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	return proc_number(path, "\nvoluntary_ctxt_switches:") +
	       proc_number(path, "\nnonvoluntary_ctxt_switches:");
}

static void play(void *arg, int step)
{
	if (arg)
		pin_to(online_cpu(0));
	ping_pong(500);
}

/* A child that plays on one CPU ends up asleep; give it time to get there. */
static void settle(void)
{
	sleep_ms(100);
}

FIXTURE(stats) {
	struct sched_recorder r;
	struct sched_stats before, after;
	struct child child;
};

FIXTURE_SETUP(stats) { }

FIXTURE_TEARDOWN(stats)
{
	sched_close(&self->r);
	child_end(&self->child);
}

#define START(_target, _id, _flags, _hz) do {					\
	ASSERT_EQ(0, sched_setup(&self->r, _target, _id, _flags, _hz));		\
	ASSERT_EQ(0, device_start(&self->r.dev));				\
} while (0)

#define READ(_stats) ASSERT_EQ(0, sched_read(&self->r, _stats)) {		\
	TH_LOG("%s", self->r.genl.message);					\
}

/* ---- exact against the kernel ---- */

/* What is under way on another CPU is in the kernel's number, and in ours a moment later. */
static uint64_t under_way(void)
{
	return nr_online_cpus() - 1;
}

TEST_F(stats, switches_of_the_system_are_ctxt_of_proc_stat)
{
	uint64_t a, b, c, d, counted;

	START(GPROF_TARGET_SYSTEM, 0, 0, 0);
	a = proc_number("/proc/stat", "\nctxt ");
	READ(&self->before);
	b = proc_number("/proc/stat", "\nctxt ");
	ping_pong(2000);
	c = proc_number("/proc/stat", "\nctxt ");
	READ(&self->after);
	d = proc_number("/proc/stat", "\nctxt ");
	counted = self->after.total_switches - self->before.total_switches;
	EXPECT_LES(1000, counted, c - b, counted + under_way());
	EXPECT_GE(d - a + under_way(), counted);
	/* and the brackets are narrow enough to mean something */
	EXPECT_GE(500, (d - a) - (c - b));
}

TEST_F(stats, created_tasks_are_processes_of_proc_stat)
{
	uint64_t a, b, c, d, counted;

	START(GPROF_TARGET_SYSTEM, 0, 0, 0);
	a = proc_number("/proc/stat", "\nprocesses ");
	READ(&self->before);
	b = proc_number("/proc/stat", "\nprocesses ");
	for (int i = 0; i < 100; i++)
		EXPECT_EQ(0, IN_CHILD(0));
	c = proc_number("/proc/stat", "\nprocesses ");
	READ(&self->after);
	d = proc_number("/proc/stat", "\nprocesses ");
	counted = self->after.total_task - self->before.total_task;
	EXPECT_WITHIN(c - b, counted, d - a);
	EXPECT_LE(100, counted);
}

TEST_F(stats, switches_of_a_process_are_those_of_proc_status)
{
	uint64_t before, after;

	ASSERT_EQ(0, child_fork(&self->child, play, NULL));
	settle();
	START(GPROF_TARGET_PROCESS, self->child.pid, 0, 0);
	before = switches_of(self->child.pid);
	READ(&self->before);
	ASSERT_EQ(0, child_step(&self->child));
	settle();
	after = switches_of(self->child.pid);
	READ(&self->after);
	/* The other player is a task of the process too. */
	EXPECT_LT(after - before, self->after.total_switches);
	EXPECT_LE(100, after - before);
	EXPECT_EQS(1, self->after.total_task, 1, self->after.num_task);
}

TEST_F(stats, switches_of_a_thread_are_exactly_those_of_proc_status)
{
	uint64_t before, after;

	ASSERT_EQ(0, child_fork(&self->child, play, NULL));
	settle();
	START(GPROF_TARGET_THREAD, self->child.pid, 0, 0);
	before = switches_of(self->child.pid);
	ASSERT_EQ(0, child_step(&self->child));
	settle();
	after = switches_of(self->child.pid);
	READ(&self->after);
	EXPECT_LE(100, after - before);
	EXPECT_EQS(after - before, self->after.total_switches,
		   after - before, self->after.total_exec, after - before, self->after.total_sched,
		   0, self->after.total_task);
}

/* Switches from one that sleeps to one that waited, which is the short way. */
TEST_F(stats, time_on_one_cpu_is_no_more_than_time)
{
	ASSERT_EQ(0, child_fork(&self->child, play, (void *)1));
	settle();
	START(GPROF_TARGET_PROCESS, self->child.pid, 0, 0);
	ASSERT_EQ(0, child_step(&self->child));
	READ(&self->after);
	EXPECT_LE(500, self->after.total_exec);
	EXPECT_GE(self->after.time_ns - self->after.started_ns + 1000000, self->after.on_cpu.sum);
}

/* CPU time, time waited and number of runs of a thread. */
static void schedstat_of(pid_t pid, uint64_t *cpu, uint64_t *delay, uint64_t *runs)
{
	unsigned long long c = 0, d = 0, r = 0;
	char path[64], text[256] = "";

	snprintf(path, sizeof(path), "/proc/%d/schedstat", pid);
	file_read(path, text, sizeof(text));
	sscanf(text, "%llu %llu %llu", &c, &d, &r);
	*cpu = c;
	*delay = d;
	*runs = r;
}

static void burn_among_others(void *arg, int step)
{
	pin_to(online_cpu(0));
	burn_ns(300000000);
}

static bool within_1_percent(uint64_t counted, uint64_t kernel, uint64_t runs)
{
	/* and some µs for each, since the kernel reads its clock elsewhere */
	return kernel / 100 * 99 <= counted + 20000 * runs &&
	       kernel / 100 * 101 + 20000 * runs >= counted;
}

TEST_F(stats, delays_and_times_on_cpu_are_those_of_proc_schedstat)
{
	uint64_t cpu[2], delay[2], runs[2];
	struct child rival;
	int i;

	SKIP_UNLESS(kernel_has_sched_info(), "this kernel has no /proc/PID/schedstat");
	ASSERT_EQ(0, child_fork(&self->child, burn_among_others, NULL));
	ASSERT_EQ(0, child_fork(&rival, burn_among_others, NULL));
	settle();
	ASSERT_EQ(0, sched_setup(&self->r, GPROF_TARGET_THREAD, self->child.pid, 0, 0));
	/* Between our reading of the clock and the kernel's the host may stop the guest. */
	for (i = 0; i < 3; i++) {
		ASSERT_EQ(0, device_start(&self->r.dev));
		schedstat_of(self->child.pid, &cpu[0], &delay[0], &runs[0]);
		ASSERT_ZEROS(child_begin(&rival), child_step(&self->child), child_wait(&rival));
		settle();
		schedstat_of(self->child.pid, &cpu[1], &delay[1], &runs[1]);
		READ(&self->after);
		ASSERT_EQ(0, device_stop(&self->r.dev));
		EXPECT_EQ(runs[1] - runs[0], self->after.total_exec);
		EXPECT_EQ(self->after.total_exec, self->after.delay.count);
		EXPECT_EQ(self->after.total_switches, self->after.on_cpu.count);
		EXPECT_LE(50000000, self->after.delay.sum);
		/* Interrupts are time on the CPU here, and for the kernel mostly not. */
		EXPECT_LE((cpu[1] - cpu[0]) / 100 * 95, self->after.on_cpu.sum);
		/* It is never in two places at once. */
		EXPECT_GE(self->after.time_ns - self->after.started_ns + 1000000,
			  self->after.on_cpu.sum + self->after.delay.sum);
		EXPECT_FALSE(self->after.doubtful);
		TH_LOG("%llu against %llu", ull(self->after.delay.sum),
		       ull(delay[1] - delay[0]));
		if (within_1_percent(self->after.delay.sum, delay[1] - delay[0],
				     self->after.total_exec))
			break;
	}
	EXPECT_GT(3, i);
	child_end(&rival);
}

static void wake(void *arg, int step)
{
	pin_to(online_cpu(nr_online_cpus() > 1));
	for (;;)
		syscall(SYS_futex, arg, FUTEX_WAKE, 1, NULL, NULL, 0);
}

/*
 * It is about to sleep, and before it has left its CPU a timer there, or somebody on
 * another CPU, wakes it. What it does from then on is on the CPU, and no wait.
 */
TEST_F(stats, a_task_that_is_woken_while_it_runs_does_not_wait)
{
	struct timespec soon = { .tv_nsec = 1 };
	uint32_t *word = shared_memory(sizeof(*word));

	prctl(PR_SET_TIMERSLACK, 1);
	ASSERT_LE(0, pin_to(online_cpu(0)));
	ASSERT_ZEROS(child_fork(&self->child, wake, word), child_begin(&self->child));
	START(GPROF_TARGET_THREAD, gettid(), 0, 0);
	for (int i = 0; i < 2000; i++) {
		syscall(SYS_futex, word, FUTEX_WAIT, 0, &soon, NULL, 0);
		burn_ns(200000);
	}
	READ(&self->after);
	TH_LOG("%llu ns on CPU, %llu waiting, of %llu", ull(self->after.on_cpu.sum),
	       ull(self->after.delay.sum), ull(self->after.time_ns - self->after.started_ns));
	EXPECT_GE(self->after.time_ns - self->after.started_ns + 1000000,
		  self->after.on_cpu.sum + self->after.delay.sum);
}

static void burn_long(void *arg, int step)
{
	int i, n = (intptr_t)arg;

	pin_to(online_cpu(0));
	for (i = 1; i < n; i++) {
		if (!fork_bound())
			break;
	}
	for (;;)
		burn_ns(10000000);
}

/* Never idle: each switch is of one who goes to one who comes. */
static void busy_play(void *arg, int step)
{
	for (unsigned int i = 0; i < nr_online_cpus(); i++) {
		if (fork_bound())
			continue;
		pin_to(online_cpu(i));
		if (nice(19) >= 0)
			burn_until(UINT64_MAX);
		_exit(0);
	}
	pin_to(online_cpu(0));
	for (;;)
		ping_pong(100000);
}

TEST_F(stats, a_task_that_goes_was_counted_when_it_came)
{
	int i, more = 0;

	SKIP_UNLESS(online_cpu(1) >= 0, "needs two CPUs, one to look from");
	ASSERT_ZEROS(child_fork(&self->child, busy_play, NULL), child_begin(&self->child));
	settle();
	ASSERT_LE(0, pin_to(online_cpu(1)));
	START(GPROF_TARGET_SYSTEM, 0, 0, 0);
	READ(&self->before);
	for (i = 0; i < 2000; i++) {
		READ(&self->after);
		more += self->after.on_cpu.count > self->after.total_switches ||
			self->after.total_starts > self->after.total_exec;
	}
	TH_LOG("%llu switches, %llu from idle",
	       ull(self->after.total_switches - self->before.total_switches),
	       ull(self->after.total_starts));
	EXPECT_EQ(0, more);
	EXPECT_LT(1000, self->after.total_switches - self->before.total_switches);
}

TEST_F(stats, five_tasks_on_one_cpu_are_one_running_and_four_waiting)
{
	uint64_t span, stall;
	int i, full = 0, odd = 0;

	SKIP_UNLESS(online_cpu(1) >= 0, "needs two CPUs, one to look from");
	ASSERT_EQ(0, child_fork(&self->child, burn_long, (void *)5));
	settle();
	ASSERT_LE(0, pin_to(online_cpu(1)));
	START(GPROF_TARGET_PROCESS, self->child.pid, GPROF_SCHED_F_STALL, 0);
	READ(&self->before);
	ASSERT_EQ(0, child_begin(&self->child));
	sleep_ms(500);
	READ(&self->before);
	/* A reading takes its time: some have a switch within, few two. */
	for (i = 0; i < 100; i++) {
		READ(&self->after);
		full += self->after.num_exec == 1 && self->after.num_sched == 4;
		odd += self->after.num_exec > 1 || self->after.num_sched > 5;
		sleep_ms(10);
	}
	EXPECT_LE(75, full);
	EXPECT_GE(2, odd);
	EXPECT_EQS(5, self->after.num_task, 4, self->after.total_task, 1, self->after.max_procs);
	EXPECT_EQ(nr_online_cpus(), self->after.num_procs);
	EXPECT_EQ(self->after.num_exec, self->after.num_threads);
	/* Four always wait. */
	span = self->after.time_ns - self->before.time_ns;
	stall = self->after.stall_ns - self->before.stall_ns;
	EXPECT_WITHIN(span / 100 * 95, stall, span / 100 * 101 + 1000000);
}

#define ALIKE	1024	/* tasks whose ids differ by this have one place between two of them */

/* Four that are never idle, of which three always wait. */
static void burn_alike(void *arg, int step)
{
	pid_t id = getpid();

	pin_to(online_cpu(0));
	for (int i = 1; i < 4; i++) {
		pid_t as[] = { id + i * ALIKE };
		struct clone_args args = {
			.exit_signal = SIGCHLD, .set_tid = (uintptr_t)as, .set_tid_size = 1,
		};
		long pid = syscall(SYS_clone3, &args, sizeof(args));

		if (pid < 0)
			_exit(1);
		if (!pid) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			break;
		}
	}
	for (;;)
		burn_ns(10000000);
}

/* What there is no room for is a switch all the same. */
TEST_F(stats, a_switch_whose_delay_is_not_known_is_counted)
{
	SKIP_UNLESS(online_cpu(1) >= 0, "needs two CPUs, one to look from");
	ASSERT_LE(0, pin_to(online_cpu(1)));
	ASSERT_EQ(0, child_fork(&self->child, burn_alike, NULL));
	settle();
	START(GPROF_TARGET_PROCESS, self->child.pid, 0, 0);
	ASSERT_EQ(0, child_begin(&self->child));
	/* On a host that has little time for this one it takes longer. */
	for (int i = 0; i < 40 && self->after.missed <= 10; i++) {
		sleep_ms(500);
		READ(&self->after);
	}
	TH_LOG("%llu of %llu", ull(self->after.missed), ull(self->after.total_exec));
	EXPECT_EQ(3, self->after.total_task);
	EXPECT_LT(10, self->after.missed);
	EXPECT_EQ(self->after.total_exec, self->after.delay.count + self->after.missed);
	/* but for who runs, each that came has gone */
	EXPECT_LE(self->after.total_exec, self->after.total_switches + 2);
	EXPECT_GE(self->after.total_exec + 1, self->after.total_switches);
}

TEST_F(stats, a_task_that_never_waits_for_others_is_no_stall)
{
	START(GPROF_TARGET_THREAD, getpid(), GPROF_SCHED_F_STALL, 0);
	READ(&self->before);
	sleep_ms(500);
	READ(&self->after);
	EXPECT_GT(100000000, self->after.stall_ns - self->before.stall_ns);
	EXPECT_EQS(1, self->after.num_exec, 1, self->after.num_task, 0, self->after.num_sched);
}

TEST_F(stats, the_stall_is_absent_where_not_asked_for)
{
	START(GPROF_TARGET_THREAD, getpid(), 0, 0);
	READ(&self->before);
	EXPECT_FALSE(self->before.has_stall);
	sched_close(&self->r);
	START(GPROF_TARGET_THREAD, getpid(), GPROF_SCHED_F_STALL, 0);
	READ(&self->after);
	EXPECT_TRUE(self->after.has_stall);
}

TEST_F(stats, running_and_waiting_of_the_system_are_those_of_loadavg)
{
	unsigned int running = 0, after = 0, total = 0;
	char text[128] = "";
	int i, same = 0, close = 0;

	ASSERT_EQ(0, child_fork(&self->child, burn_long, (void *)5));
	START(GPROF_TARGET_SYSTEM, 0, 0, 0);
	ASSERT_EQ(0, child_begin(&self->child));
	sleep_ms(500);
	/* What the kernel says before and after is what it was in between. */
	for (i = 0; i < 500 && same < 20; i++) {
		int apart;

		ASSERT_EQ(0, file_read("/proc/loadavg", text, sizeof(text)));
		READ(&self->after);
		ASSERT_EQ(2, sscanf(text, "%*s %*s %*s %u/%u", &running, &total));
		ASSERT_EQ(0, file_read("/proc/loadavg", text, sizeof(text)));
		ASSERT_EQ(2, sscanf(text, "%*s %*s %*s %u/%u", &after, &total));
		sleep_ms(10);
		if (running != after)
			continue;
		same++;
		apart = (int)(self->after.num_exec + self->after.num_sched) - (int)running;
		close += apart >= -1 && apart <= 1;
		EXPECT_WITHIN(1, self->after.num_exec, self->after.num_procs);
	}
	EXPECT_EQ(20, same);
	EXPECT_LES(16, close, 6, running);
	/* dead tasks that nobody has waited for count there and not here */
	EXPECT_GE(total, self->after.num_task);
	EXPECT_LE(total, self->after.num_task + 8);
}

/* ---- system calls and page faults ---- */

static void call(void *arg, int step)
{
	for (int i = 0; i < 1000; i++)
		syscall(SYS_getppid);
}

TEST_F(stats, system_calls_are_counted_where_asked_for)
{
	ASSERT_EQ(0, child_fork(&self->child, call, NULL));
	settle();
	START(GPROF_TARGET_PROCESS, self->child.pid, GPROF_SCHED_F_SYSCALLS, 0);
	READ(&self->before);
	ASSERT_EQ(0, child_step(&self->child));
	call(NULL, 0);	/* not the target's */
	settle();
	READ(&self->after);
	EXPECT_WITHIN(1000, self->after.total_calls - self->before.total_calls, 1010);
	/* it waits in read() for the next step */
	EXPECT_EQ(1, self->after.num_calls);
	child_end(&self->child);
	settle();
	READ(&self->after);
	EXPECT_EQS(0, self->after.num_calls, 0, self->after.num_task);
}

static void call_and_spin(void *arg, int step)
{
	volatile bool *enough = arg;

	call(NULL, 0);
	while (!*enough)
		;
}

TEST_F(stats, a_task_that_came_back_from_a_system_call_is_in_none)
{
	volatile bool *enough = shared_memory(sizeof(*enough));

	ASSERT_EQ(0, child_fork(&self->child, call_and_spin, (void *)enough));
	settle();
	START(GPROF_TARGET_PROCESS, self->child.pid, GPROF_SCHED_F_SYSCALLS, 0);
	ASSERT_EQ(0, child_begin(&self->child));
	for (int i = 0; i < 1000; i++) {
		READ(&self->after);
		if (self->after.total_calls >= 1000 && !self->after.num_calls)
			break;
		sleep_ms(10);
	}
	EXPECT_LE(1000, self->after.total_calls);
	EXPECT_EQ(0, self->after.num_calls);
	*enough = true;
	ASSERT_EQ(0, child_wait(&self->child));
}

TEST_F(stats, system_calls_are_absent_where_not_asked_for)
{
	START(GPROF_TARGET_SYSTEM, 0, 0, 0);
	READ(&self->after);
	EXPECT_EQ(NULL, self->r.genl.attrs[GPROF_A_SCHED_STATS_TOTAL_SYS_CALLS]);
	EXPECT_EQ(NULL, self->r.genl.attrs[GPROF_A_SCHED_STATS_TOTAL_FAULTS]);
}

TEST_F(stats, page_faults_are_those_that_the_kernel_counts)
{
	size_t page = sysconf(_SC_PAGESIZE), i, n = 500;
	struct rusage a, b;
	volatile char *memory;
	uint64_t kernel, counted;
	int fd;

	SKIP_UNLESS(device_has(GPROF_FEAT_SCHED_FAULTS), "this kernel has no return probes");
	START(GPROF_TARGET_THREAD, getpid(), GPROF_SCHED_F_FAULTS, 0);
	memory = private_memory(n * page);
	madvise((void *)memory, n * page, MADV_NOHUGEPAGE);
	READ(&self->before);
	getrusage(RUSAGE_SELF, &a);
	for (i = 0; i < n; i++)
		memory[i * page] = 1;
	getrusage(RUSAGE_SELF, &b);
	READ(&self->after);
	kernel = b.ru_minflt + b.ru_majflt - a.ru_minflt - a.ru_majflt;
	counted = self->after.total_faults - self->before.total_faults;
	EXPECT_LES(n, counted, kernel, counted);
	EXPECT_GE(kernel + 20, counted);
	EXPECT_EQ(0, self->after.num_faults);
	/* Those that the kernel has on pages of the program's are no faults of the program. */
	ASSERT_EQ(0, madvise((void *)memory, n * page, MADV_DONTNEED));
	fd = open("/dev/zero", O_RDONLY | O_CLOEXEC);
	READ(&self->before);
	EXPECT_EQ((ssize_t)(n * page), read(fd, (void *)memory, n * page));
	READ(&self->after);
	EXPECT_GE(20, self->after.total_faults - self->before.total_faults);
	EXPECT_EQ(0, self->after.faults_missed);
	close(fd);
}

static void *touch(void *page)
{
	*(volatile char *)page = 1;
	return NULL;
}

/* More under way than the kernel's probe has room for. */
TEST_F(stats, faults_that_found_no_room_are_told)
{
	struct uffdio_api api = { .api = UFFD_API };
	struct uffdio_register reg = { .mode = UFFDIO_REGISTER_MODE_MISSING };
	const long cpus = sysconf(_SC_NPROCESSORS_CONF), extra = 20;
	long page = sysconf(_SC_PAGESIZE), n = 64 * cpus + extra, i, tries;
	pthread_t *threads = calloc(n, sizeof(*threads));
	pthread_attr_t attr;
	char *memory;
	int fd;

	SKIP_UNLESS(cpus <= 8, "takes 64 threads for each of %ld CPUs", cpus);
	SKIP_UNLESS(device_has(GPROF_FEAT_SCHED_FAULTS), "this kernel has no return probes");
	fd = syscall(SYS_userfaultfd, O_CLOEXEC);
	SKIP_UNLESS(fd >= 0, "no userfaultfd");
	ASSERT_EQ(0, ioctl(fd, UFFDIO_API, &api));
	memory = private_memory(page);
	reg.range.start = (uintptr_t)memory;
	reg.range.len = page;
	ASSERT_EQ(0, ioctl(fd, UFFDIO_REGISTER, &reg));
	START(GPROF_TARGET_PROCESS, getpid(), GPROF_SCHED_F_FAULTS, 0);
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 64 << 10);
	for (i = 0; i < n; i++)
		ASSERT_EQ(0, pthread_create(&threads[i], &attr, touch, memory));
	/* Not all have come there yet. */
	for (tries = 0; tries < 1000; tries++) {
		READ(&self->after);
		if (self->after.faults_missed >= (uint64_t)extra)
			break;
		sleep_ms(10);
	}
	EXPECT_LE(extra, self->after.faults_missed);
	close(fd);
	for (i = 0; i < n; i++)
		pthread_join(threads[i], NULL);
}

/* ---- samples ---- */

TEST_F(stats, delays_are_sampled_at_the_rate_asked_for)
{
	struct gprof_rate rate = { .size = sizeof(rate), .hz = 50 };
	uint64_t elapsed_ms, largest = 0;

	START(GPROF_TARGET_SYSTEM, 0, 0, 0);
	ping_pong(200);
	READ(&self->before);
	EXPECT_EQS(0, self->before.num_samples, 0, self->before.hz);

	ASSERT_EQ(0, device_ioctl(self->r.dev.fd, GPROF_IOC_RATE, &rate));
	READ(&self->before);
	ping_pong(3000);
	READ(&self->after);
	EXPECT_EQ(50, self->after.hz);
	elapsed_ms = (self->after.time_ns - self->before.time_ns) / 1000000 + 1;
	EXPECT_GE(elapsed_ms * 50 / 1000 + 2, self->after.num_samples);
	/* All the time somebody becomes runnable: no turn is missed by much. */
	EXPECT_LE(elapsed_ms * 50 / 1000 / 4, self->after.num_samples);
	for (int i = 0; i < GPROF_SCHED_SAMPLES; i++)
		largest = largest < self->after.samples[i] ? self->after.samples[i] : largest;
	EXPECT_WITHIN(1, largest, self->after.delay.largest);
}

TEST_F(stats, the_newest_sample_is_where_the_ring_says)
{
	START(GPROF_TARGET_SYSTEM, 0, 0, GPROF_SCHED_HZ_MAX);
	for (int i = 0; i < 50 && self->after.num_samples < 600; i++) {
		ping_pong(200);
		READ(&self->after);
	}
	EXPECT_LE(600, self->after.num_samples);
	for (int i = 0; i < GPROF_SCHED_SAMPLES; i++)
		EXPECT_NE(0, self->after.samples[i]);
	EXPECT_GE(self->after.delay.count, self->after.num_samples);
}

/* ---- what a reading promises ---- */

static uint64_t lower_bound(const struct sched_histogram *h)
{
	uint64_t sum = 0;

	for (int i = 0; i < GPROF_HISTOGRAM_BUCKETS; i++)
		sum += h->buckets[i] * GPROF_HISTOGRAM_LOWEST(i);
	return sum;
}

static uint64_t counted(const struct sched_histogram *h)
{
	uint64_t sum = 0;

	for (int i = 0; i < GPROF_HISTOGRAM_BUCKETS; i++)
		sum += h->buckets[i];
	return sum;
}

static int backwards(const struct sched_histogram *a, const struct sched_histogram *b)
{
	int i, n = a->count > b->count || a->sum > b->sum || a->largest > b->largest;

	for (i = 0; i < GPROF_HISTOGRAM_BUCKETS; i++)
		n += a->buckets[i] > b->buckets[i];
	return n;
}

static void check(struct __test_metadata *_metadata, const struct sched_stats *a,
		  const struct sched_stats *b)
{
	EXPECT_ZEROS(backwards(&a->delay, &b->delay), backwards(&a->on_cpu, &b->on_cpu));
	EXPECT_LES(a->total_exec, b->total_exec, a->total_sched, b->total_sched,
		   a->total_task, b->total_task, a->total_calls, b->total_calls,
		   a->total_switches, b->total_switches, a->total_starts, b->total_starts,
		   a->stall_ns, b->stall_ns, a->missed, b->missed, b->total_exec, b->total_sched);
	EXPECT_TRUE(b->has_stall);
	EXPECT_EQ(b->total_exec, b->delay.count + b->missed);
	EXPECT_LE(b->total_exec, b->total_switches);
	EXPECT_EQS(counted(&b->delay), b->delay.count, counted(&b->on_cpu), b->on_cpu.count);
	EXPECT_LES(lower_bound(&b->delay), b->delay.sum, lower_bound(&b->on_cpu), b->on_cpu.sum);
	EXPECT_GE(b->num_procs, b->num_exec);
	EXPECT_GE(b->num_task, b->num_calls);
	EXPECT_LE(b->stall_ns, b->time_ns - b->started_ns + 1000000);
}

static void play_forever(void *arg, int step)
{
	for (;;)
		ping_pong(1000);
}

#define PLAYERS	3

TEST_F(stats, readings_are_consistent_while_cpus_go_and_come)
{
	const char *online = "/sys/devices/system/cpu/cpu1/online";
	struct child players[PLAYERS];
	uint64_t end;
	int i, turn = 0, readings = 0;

	for (i = 0; i < PLAYERS; i++) {
		ASSERT_ZEROS(child_fork(&players[i], play_forever, NULL), child_begin(&players[i]));
	}
	START(GPROF_TARGET_SYSTEM, 0, GPROF_SCHED_F_SYSCALLS | GPROF_SCHED_F_STALL, 1000);
	READ(&self->before);
	end = monotonic_ns() + 5000000000ULL;
	while (monotonic_ns() < end && _metadata->passed) {
		READ(&self->after);
		check(_metadata, &self->before, &self->after);
		self->before = self->after;
		if (++readings % 20 == 0)
			file_write(online, turn++ % 2 ? "1" : "0");
	}
	file_write(online, "1");
	TH_LOG("%d readings, CPU 1 went or came %d times, %llu switches", readings, turn,
	       ull(self->after.total_switches));
	EXPECT_LE(20, readings);
	for (i = 0; i < PLAYERS; i++)
		child_end(&players[i]);
}

TEST_F(stats, counters_stand_still_after_stop_and_begin_anew_with_start)
{
	int i, filled = 0;

	START(GPROF_TARGET_SYSTEM, 0, GPROF_SCHED_F_STALL, 100);
	ASSERT_ZEROS(child_fork(&self->child, burn_long, (void *)5), child_begin(&self->child));
	ping_pong(1000);
	sleep_ms(500);
	child_end(&self->child);
	ASSERT_EQ(0, device_stop(&self->r.dev));
	READ(&self->before);
	ping_pong(100);
	READ(&self->after);
	EXPECT_LE(500, self->before.total_exec);
	EXPECT_EQ(0, memcmp(&self->before, &self->after, sizeof(self->after)));
	EXPECT_EQ(0, self->after.num_exec);
	ASSERT_EQ(0, device_start(&self->r.dev));
	READ(&self->after);
	EXPECT_GT(self->before.total_exec, self->after.total_exec);
	EXPECT_LE(5, self->before.total_task);
	EXPECT_GT(5, self->after.total_task);
	EXPECT_GT(self->before.delay.sum, self->after.delay.sum);
	EXPECT_GT(self->before.on_cpu.sum, self->after.on_cpu.sum);
	EXPECT_LE(300000000, self->before.stall_ns);
	EXPECT_LE(self->after.stall_ns, self->after.time_ns - self->after.started_ns + 1000000);
	EXPECT_LE(10, self->before.num_samples);
	EXPECT_GT(self->before.num_samples, self->after.num_samples);
	for (i = 0; i < GPROF_SCHED_SAMPLES; i++)
		filled += !!self->after.samples[i];
	EXPECT_GE(self->after.num_samples, filled);
}

static uint64_t upper_bound(const struct sched_histogram *h)
{
	uint64_t sum = 0;
	int i;

	for (i = 0; i < GPROF_HISTOGRAM_BUCKETS - 1; i++)
		sum += h->buckets[i] * (GPROF_HISTOGRAM_LOWEST(i + 1) - 1);
	/* the last one knows no end but the largest */
	return sum + h->buckets[i] * h->largest;
}

static void play_on(void *arg, int step)
{
	ping_pong(UINT_MAX);
}

#define STARTS	10

/* START takes a while, in which some of the probes count already. */
TEST_F(stats, what_happened_while_start_was_under_way_does_not_count)
{
	ASSERT_ZEROS(child_fork(&self->child, play_on, NULL), child_begin(&self->child),
		     sched_setup(&self->r, GPROF_TARGET_SYSTEM, 0, GPROF_SCHED_F_SYSCALLS, 0));
	for (int i = 0; i < STARTS; i++) {
		ASSERT_ZEROS(device_start(&self->r.dev), device_stop(&self->r.dev));
		READ(&self->after);
		/* nothing moves any more: the sums are those of what the buckets hold */
		EXPECT_WITHIN(lower_bound(&self->after.delay), self->after.delay.sum,
			      upper_bound(&self->after.delay));
		EXPECT_WITHIN(lower_bound(&self->after.on_cpu), self->after.on_cpu.sum,
			      upper_bound(&self->after.on_cpu));
	}
}

TEST_F(stats, several_recorders_count_the_same)
{
	struct sched_recorder others[3];
	struct sched_stats st;

	for (int i = 0; i < 3; i++) {
		ASSERT_EQ(0, sched_setup(&others[i], GPROF_TARGET_SYSTEM, 0, 0, 0));
		ASSERT_EQ(0, device_start(&others[i].dev));
	}
	START(GPROF_TARGET_SYSTEM, 0, 0, 0);
	READ(&self->before);
	ping_pong(500);
	for (int i = 0; i < 3; i++)
		sched_close(&others[i]);
	READ(&self->after);
	EXPECT_LE(200, self->after.total_exec - self->before.total_exec);
	ASSERT_EQ(0, sched_setup(&others[0], GPROF_TARGET_SYSTEM, 0, 0, 0));
	EXPECT_EQ(-EBUSY, sched_read(&others[0], &st));
	sched_close(&others[0]);
}

static void *restart(void *arg)
{
	struct device *dev = arg;
	intptr_t err = 0;

	for (int i = 0; i < 20; i++)
		err = err ?: device_stop(dev) ?: device_start(dev);
	return (void *)err;
}

TEST_F(stats, there_is_something_to_read_while_it_is_started_anew)
{
	pthread_t thread;
	void *err;
	int readings = 0, refused = 0;

	START(GPROF_TARGET_SYSTEM, 0, 0, 0);
	READ(&self->before);
	ASSERT_EQ(0, pthread_create(&thread, NULL, restart, &self->r.dev));
	while (pthread_tryjoin_np(thread, &err)) {
		refused += sched_read(&self->r, &self->after) ||
			   self->after.started_ns < self->before.started_ns;
		self->before = self->after;
		readings++;
	}
	EXPECT_EQS(NULL, err, 0, refused);
	EXPECT_LE(20, readings);
}

/* A thread that starts and stops others until it is told to end. */
struct guests {
	pthread_t thread;
	atomic_bool done;
	unsigned int rounds;
	int err;
};

static void *come_and_go(void *arg)
{
	struct sched_recorder r[3];
	struct guests *g = arg;

	for (int i = 0; i < 3; i++)
		g->err = g->err ?: sched_setup(&r[i], GPROF_TARGET_SYSTEM, 0, 0, 0);
	while (!g->err && !(g->done && g->rounds)) {
		for (int i = 0; i < 3; i++)
			g->err = g->err ?: device_start(&r[i].dev);
		for (int i = 0; i < 3; i++)
			g->err = g->err ?: device_stop(&r[i].dev);
		g->rounds++;
	}
	for (int i = 0; i < 3; i++)
		sched_close(&r[i]);
	return NULL;
}

/* All are called by one probe, which calls one alone otherwise than several. */
TEST_F(stats, a_recorder_misses_nothing_while_others_come_and_go)
{
	struct guests g = { };
	uint64_t before, after;

	ASSERT_EQ(0, child_fork(&self->child, play, NULL));
	settle();
	START(GPROF_TARGET_THREAD, self->child.pid, 0, 0);
	before = switches_of(self->child.pid);
	ASSERT_EQ(0, pthread_create(&g.thread, NULL, come_and_go, &g));
	for (int i = 0; i < 10; i++)
		EXPECT_EQ(0, child_step(&self->child));
	g.done = true;
	pthread_join(g.thread, NULL);
	EXPECT_EQ(0, child_step(&self->child));
	settle();
	after = switches_of(self->child.pid);
	READ(&self->after);
	EXPECT_EQ(0, g.err);
	EXPECT_LES(1, g.rounds, 1000, after - before);
	EXPECT_EQS(after - before, self->after.total_switches,
		   after - before, self->after.total_exec, 0, self->after.missed);
}

/* ---- scopes ---- */

static void fork_threads(void *arg, int step)
{
	ping_pong(100);
	if (!fork_bound()) {
		ping_pong(100);
		_exit(0);
	}
	wait(NULL);
}

TEST_F(stats, tasks_forked_by_a_process_belong_to_it)
{
	ASSERT_EQ(0, child_fork(&self->child, fork_threads, NULL));
	settle();
	START(GPROF_TARGET_PROCESS, self->child.pid, 0, 0);
	ASSERT_EQ(0, child_step(&self->child));
	settle();
	READ(&self->after);
	/* two players, and one in between */
	EXPECT_EQS(3, self->after.total_task, 1, self->after.num_task);
	EXPECT_LE(100, self->after.total_exec);
	ping_pong(1000);
	READ(&self->before);
	EXPECT_EQ(self->after.total_exec, self->before.total_exec);
}

TEST_F(stats, a_process_that_dies_leaves_its_counters)
{
	ASSERT_EQ(0, child_fork(&self->child, play, NULL));
	START(GPROF_TARGET_PROCESS, self->child.pid, 0, 0);
	ASSERT_EQ(0, child_step(&self->child));
	child_end(&self->child);
	settle();	/* who was waited for still has its last way to go */
	READ(&self->after);
	EXPECT_LE(100, self->after.total_exec);
	EXPECT_EQS(0, self->after.num_task, 0, self->after.num_exec, 0, self->after.num_sched);
	ASSERT_EQ(0, device_stop(&self->r.dev));
	EXPECT_EQ(-ESRCH, device_start(&self->r.dev));
}

TEST_F(stats, a_cgroup_is_counted_with_its_descendants)
{
	char path[MEMORY_CGROUP_PATH], sub[MEMORY_CGROUP_PATH + 8];
	uint64_t outside;
	int fd;

	SKIP_UNLESS(!geteuid(), "must be root");
	SKIP_UNLESS(kernel_has_cgroups(), "this kernel has no cgroups");
	ASSERT_EQ(0, cgroup_make(path, "sched"));
	snprintf(sub, sizeof(sub), "%s/sub", path);
	ASSERT_EQ(0, mkdir(sub, 0755));
	fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	ASSERT_LE(0, fd);
	ASSERT_EQ(0, child_fork(&self->child, play, NULL));
	START(GPROF_TARGET_CGROUP, fd, 0, 0);
	ASSERT_EQ(0, child_step(&self->child));
	READ(&self->before);
	EXPECT_EQS(0, self->before.total_exec, 0, self->before.num_task);
	ASSERT_ZEROS(memory_cgroup_enter(sub, self->child.pid), child_step(&self->child));
	settle();
	READ(&self->after);
	EXPECT_LE(200, self->after.total_exec);
	EXPECT_EQS(1, self->after.num_task, 1, self->after.total_task);
	ASSERT_EQ(0, memory_cgroup_enter("/sys/fs/cgroup", self->child.pid));
	READ(&self->before);
	ASSERT_EQ(0, child_step(&self->child));
	READ(&self->after);
	outside = self->after.total_exec - self->before.total_exec;
	EXPECT_GE(2, outside);
	EXPECT_ZEROS(self->after.num_sched, rmdir(sub), rmdir(path));
	READ(&self->after);
	EXPECT_EQ(0, self->after.num_task);
	close(fd);
}

/* ---- bad input ---- */

struct wrong {
	struct gprof_sched_params params;
	struct gprof_setup setup;
};

static struct wrong good(void)
{
	return (struct wrong){
		.params = { .size = sizeof(struct gprof_sched_params) },
		.setup = {
			.size = sizeof(struct gprof_setup), .kind = GPROF_KIND_SCHED,
			.target = GPROF_TARGET_PROCESS, .id = getpid(),
		},
	};
}

#define EXPECT_REFUSED(_errno, _reason, _member, _value) do {		\
	struct wrong w = good();					\
	struct device dev;						\
									\
	w.setup.params = (uintptr_t)&w.params;				\
	w._member = _value;						\
	EXPECT_EQ(-(_errno), device_setup(&dev, &w.setup));		\
	EXPECT_EQ(_reason, w.setup.out_reason);				\
	if (dev.fd >= 0)						\
		device_close(&dev);					\
} while (0)

TEST(what_a_kind_without_a_buffer_cannot_have_is_refused)
{
	EXPECT_REFUSED(0, GPROF_REASON_NONE, setup.flags, 0);
	EXPECT_REFUSED(EINVAL, GPROF_REASON_BUFFER, setup.buffer_size, 65536);
	EXPECT_REFUSED(EINVAL, GPROF_REASON_GENERATION, setup.generation_ns, 1000000000);
	EXPECT_REFUSED(EINVAL, GPROF_REASON_FLAGS, setup.flags, GPROF_SETUP_F_FLIGHT);
	EXPECT_REFUSED(EOPNOTSUPP, GPROF_REASON_FLAGS, setup.flags, GPROF_SETUP_F_ON_EXEC);
	EXPECT_REFUSED(EINVAL, GPROF_REASON_FLAGS, setup.stack, GPROF_STACK_F_IP);
	EXPECT_REFUSED(EINVAL, GPROF_REASON_FLAGS, setup.max_frames, 1);
	EXPECT_REFUSED(EOPNOTSUPP, GPROF_REASON_PARAMS, params.flags, 1U << 31);
	EXPECT_REFUSED(EOPNOTSUPP, GPROF_REASON_PARAMS, params.__reserved, 1);
	EXPECT_REFUSED(EINVAL, GPROF_REASON_PERIOD, params.hz, GPROF_SCHED_HZ_MAX + 1);
}

TEST_F(stats, there_is_no_buffer_to_map)
{
	struct gprof_stats st = { .size = sizeof(st), .cpu = GPROF_STATS_ALL_CPUS };
	struct pollfd p;

	START(GPROF_TARGET_PROCESS, getpid(), 0, 0);
	EXPECT_EQ(MAP_FAILED, mmap(NULL, 4096, PROT_READ, MAP_SHARED, self->r.dev.fd,
				   GPROF_MMAP_TAIL(0)));
	EXPECT_EQS(ENODEV, errno, 0, self->r.dev.data_size);
	EXPECT_EQ(0, device_ioctl(self->r.dev.fd, GPROF_IOC_STATS, &st));
	EXPECT_EQS(0, st.out_cpus, 0, st.out_produced);
	p = (struct pollfd){ .fd = self->r.dev.fd, .events = POLLIN };
	EXPECT_EQ(0, poll(&p, 1, 0));
}

TEST_F(stats, a_wrong_rate_changes_nothing)
{
	struct gprof_rate rate = { .size = sizeof(rate), .hz = GPROF_SCHED_HZ_MAX + 1 };
	struct gprof_cpu_params params = timer_params(1000000);
	struct gprof_setup setup = device_setup_of(GPROF_TARGET_PROCESS, getpid(), &params);
	struct device dev;

	START(GPROF_TARGET_PROCESS, getpid(), 0, 7);
	EXPECT_EQ(-EINVAL, device_ioctl(self->r.dev.fd, GPROF_IOC_RATE, &rate));
	rate.flags = 1;
	rate.hz = 8;
	EXPECT_EQ(-EOPNOTSUPP, device_ioctl(self->r.dev.fd, GPROF_IOC_RATE, &rate));
	READ(&self->after);
	EXPECT_EQ(7, self->after.hz);
	rate.flags = 0;
	setup.buffer_size = 65536;
	ASSERT_EQ(0, device_setup(&dev, &setup));
	EXPECT_EQ(-EOPNOTSUPP, device_ioctl(dev.fd, GPROF_IOC_RATE, &rate));
	device_close(&dev);
	dev.fd = device_open();
	EXPECT_EQ(-EBUSY, device_ioctl(dev.fd, GPROF_IOC_RATE, &rate));
	close(dev.fd);
}

TEST_HARNESS_MAIN
