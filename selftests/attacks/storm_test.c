// SPDX-License-Identifier: GPL-2.0-only
/*
 * storm_test: thousands of short lives, sudden deaths and too little of everything,
 * under recorders that follow. Whatever comes, in the end it adds up: produced =
 * read + lost + overwritten, and nothing is left.
 *
 * GPROF_STORM says how hard, 100 being usual.
 */
#include "harness.h"
#include "device.h"
#include "reader.h"
#include "remains.h"
#include "tally.h"
#include "workload.h"

#define PERIOD_NS	500000
#define SMALL		65536

FIXTURE(storm) {
	struct gprof_cpu_params params;
	struct gprof_setup setup;
	struct device dev;
	struct reader reader;
	struct child child;
	uint64_t recorders;
	long references;
};

static unsigned int hard(unsigned int usual)
{
	const char *text = getenv("GPROF_STORM");
	unsigned int n = text ? usual * strtoul(text, NULL, 10) / 100 : usual;

	return n ? n : 1;
}

FIXTURE_SETUP(storm)
{
	self->recorders = open_recorders();
	self->references = module_references();
	self->params = timer_params(PERIOD_NS);
	self->setup = device_setup_of(GPROF_TARGET_PROCESS, getpid(), &self->params);
	self->setup.buffer_size = SMALL;
}

FIXTURE_TEARDOWN(storm)
{
	child_end(&self->child);
	reader_close(&self->reader);
	device_close(&self->dev);
	EXPECT_TRUE(recorders_become(self->recorders));
	EXPECT_EQ(self->references, module_references());
}

/* Reads until the child has made its step; then the ledger. */
static struct gprof_stats ride_out(struct __test_metadata *_metadata, FIXTURE_DATA(storm) *self)
{
	struct gprof_stats st = { 0 };
	char byte;

	EXPECT_EQ(0, child_begin(&self->child));
	fcntl(self->child.from, F_SETFL, O_NONBLOCK);
	while (read(self->child.from, &byte, 1) < 0 && errno == EAGAIN) {
		EXPECT_LE(0, reader_read(&self->reader)) {
			TH_LOG("%s", self->reader.error);
			break;
		}
		sleep_ms(5);
	}
	READER_END(&self->reader, &st);
	EXPECT_LT(0, st.out_produced);
	TH_LOG("produced %llu, lost %llu, %llu tasks named", ull(st.out_produced),
	       ull(device_lost(&st)), ull(self->reader.tasks));
	return st;
}

#define BEGIN(_fn, _arg) do {						\
	ASSERT_EQ(0, child_fork(&self->child, _fn, _arg));		\
	self->setup.id = self->child.pid;				\
	ASSERT_EQ(0, reader_record(&self->reader, &self->dev, &self->setup, NULL, NULL)); \
} while (0)

static void fork_without_end(void *arg, int step)
{
	unsigned int i, nr = hard(2000), alive = 0;

	for (i = 0; i < nr; i++) {
		if (!fork()) {
			/* some have children of their own, who are left to init */
			if (!(i & 15) && !fork())
				burn_ns(100000);
			if (i & 1)
				burn_ns(200000);
			_exit(0);
		}
		if (++alive >= 16 && waitpid(-1, NULL, 0) > 0)
			alive--;
	}
	while (waitpid(-1, NULL, 0) > 0)
		;
}

TEST_F(storm, thousands_of_short_processes_add_up)
{
	BEGIN(fork_without_end, NULL);
	ride_out(_metadata, self);
}

static void exec_without_end(void *arg, int step)
{
	unsigned int i, nr = hard(200);

	for (i = 0; i < nr; i++) {
		pid_t pid = fork();

		if (!pid) {
			/* a missing program, then itself with another name, then true */
			execl("/nowhere/at/all", "x", (char *)NULL);
			execl("/bin/true", i & 1 ? "true" : "another name", (char *)NULL);
			_exit(127);
		}
		if (i & 7)
			waitpid(pid, NULL, 0);
	}
	while (waitpid(-1, NULL, 0) > 0)
		;
}

TEST_F(storm, hundreds_of_execs_add_up)
{
	BEGIN(exec_without_end, NULL);
	ride_out(_metadata, self);
}

static void *short_thread(void *arg)
{
	burn_ns((uintptr_t)arg * 1000);
	return NULL;
}

static void threads_without_end(void *arg, int step)
{
	unsigned int i, j, nr = hard(200);
	pthread_t all[10];

	for (i = 0; i < nr; i++) {
		for (j = 0; j < 10; j++)
			if (pthread_create(&all[j], NULL, short_thread, (void *)(uintptr_t)(10 * j)))
				break;
		while (j--)
			pthread_join(all[j], NULL);
	}
}

TEST_F(storm, thousands_of_threads_add_up)
{
	BEGIN(threads_without_end, NULL);
	ride_out(_metadata, self);
}

static void *exec_from_thread(void *arg)
{
	execl("/bin/true", "true", (char *)NULL);
	return NULL;
}

/* The thread that calls exec becomes the leader; all others die under their counters. */
static void exec_in_threads(void *arg, int step)
{
	unsigned int i, j, nr = hard(50);
	pthread_t thread;
	pid_t pid;

	for (i = 0; i < nr; i++) {
		pid = fork();
		if (!pid) {
			for (j = 0; j < 4; j++)
				pthread_create(&thread, NULL, short_thread, (void *)1000);
			pthread_create(&thread, NULL, exec_from_thread, NULL);
			pthread_join(thread, NULL);
			_exit(1);
		}
		waitpid(pid, NULL, 0);
	}
}

TEST_F(storm, exec_that_kills_its_threads_adds_up)
{
	BEGIN(exec_in_threads, NULL);
	ride_out(_metadata, self);
}

/* ---- sudden deaths ---- */

static void burn_without_end(void *arg, int step)
{
	burn_until(UINT64_MAX);
}

struct killer {
	pid_t pid;
	unsigned int after_us;
};

static void *kill_soon(void *arg)
{
	struct killer *k = arg;

	usleep(k->after_us);
	kill(k->pid, SIGKILL);
	return NULL;
}

/* Not between the calls, as elsewhere, but within them. */
TEST_F(storm, target_that_dies_in_the_middle_of_a_call_is_no_harm)
{
	unsigned int i, nr = hard(60), gone = 0, survived = 0;
	struct gprof_stats st;
	struct killer killer;
	pthread_t thread;
	int ret;

	for (i = 0; i < nr; i++) {
		ASSERT_EQ(0, child_fork(&self->child, burn_without_end, NULL));
		child_begin(&self->child);
		self->setup.id = self->child.pid;
		killer = (struct killer){ self->child.pid, i % 20 * 2000 };
		ASSERT_EQ(0, pthread_create(&thread, NULL, kill_soon, &killer));
		ret = device_record(&self->dev, &self->setup);
		if (ret) {
			EXPECT_EQ(-ESRCH, ret);
			gone++;
			pthread_join(thread, NULL);
		} else {
			survived++;
			ASSERT_EQ(0, reader_init(&self->reader, &self->dev));
			if (i & 1)
				pthread_join(thread, NULL);
			EXPECT_EQ(0, device_stop(&self->dev));
			if (!(i & 1))
				pthread_join(thread, NULL);
			EXPECT_LE(0, reader_read(&self->reader));
			EXPECT_EQ(0, device_stats(&self->dev, GPROF_STATS_ALL_CPUS, &st));
			EXPECT_EQ(st.out_produced, self->reader.samples + device_lost(&st));
			reader_close(&self->reader);
		}
		child_end(&self->child);
	}
	TH_LOG("%u were gone before START, %u died later", gone, survived);
}

struct shared {
	uint64_t reads;
};

static void read_without_end(FIXTURE_DATA(storm) *self, struct shared *shared)
{
	for (;;) {
		if (reader_read(&self->reader) < 0)
			_exit(1);
		__atomic_fetch_add(&shared->reads, 1, __ATOMIC_RELAXED);
	}
}

/* Reads all from the start, again and again, and gives nothing back. */
static void look_without_end(FIXTURE_DATA(storm) *self, struct shared *shared)
{
	struct device dev = self->dev;

	/* mappings are not inherited */
	if (device_map(&dev))
		_exit(1);
	for (unsigned int cpu = 0; cpu < dev.nr_cpus; cpu++) {
		struct gprof_ring_tail *tail = malloc(sizeof(*tail));

		if (!dev.rings[cpu].head)
			continue;
		*tail = *dev.rings[cpu].tail;
		dev.rings[cpu].tail = tail;
	}
	/* It goes on where the parent's is, and knows what stacks were said before. */
	self->reader.dev = &dev;
	read_without_end(self, shared);
}

/* What was read but not given back is there for whoever reads next. */
TEST_F(storm, reader_that_is_killed_in_the_middle_of_reading_loses_nothing)
{
	struct shared *shared = shared_memory(sizeof(*shared));
	unsigned int i, nr = hard(20);
	struct gprof_stats st;
	uint64_t before;
	pid_t pid;

	BEGIN(burn_without_end, NULL);
	ASSERT_EQ(0, child_begin(&self->child));
	for (i = 0; i < nr; i++) {
		before = shared->reads;
		pid = fork();
		ASSERT_LE(0, pid);
		if (!pid)
			look_without_end(self, shared);
		while (shared->reads < before + 10 && !waitpid(pid, NULL, WNOHANG))
			sleep_ms(1);
		EXPECT_LE(before + 10, shared->reads);
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
		if (i & 1) {
			EXPECT_LE(0, reader_read(&self->reader));
		}
	}
	READER_END(&self->reader, &st);
	EXPECT_EQ(0, st.out_lost[GPROF_LOST_BAD_TAIL]);
	EXPECT_LT(0, st.out_produced);
}

/* A recorder, its reader and the target in one, all killed at once. */
TEST_F(storm, recorder_that_is_killed_while_it_reads_itself_leaves_nothing)
{
	struct shared *shared = shared_memory(sizeof(*shared));
	unsigned int i, nr = hard(20);
	uint64_t before;
	pid_t pid;

	for (i = 0; i < nr; i++) {
		before = shared->reads;
		pid = fork();
		ASSERT_LE(0, pid);
		if (!pid) {
			self->setup.id = getpid();
			if (reader_record(&self->reader, &self->dev, &self->setup, NULL, NULL))
				_exit(1);
			read_without_end(self, shared);
		}
		while (shared->reads < before + 5 && !waitpid(pid, NULL, WNOHANG))
			sleep_ms(1);
		EXPECT_LE(before + 5, shared->reads);
		usleep(i * 300);
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
	}
	EXPECT_TRUE(recorders_become(self->recorders));
}

/* ---- too little of everything ---- */

static void *switch_cpu(void *arg)
{
	int cpu = (uintptr_t)arg;
	unsigned int i, nr = hard(10);

	for (i = 0; i < nr; i++) {
		cpu_set_online(cpu, false);
		cpu_set_online(cpu, true);
	}
	return NULL;
}

/* Forks under a recorder that follows, and STOP and START, while a CPU goes and comes. */
TEST_F(storm, cpus_that_go_and_come_under_load_add_up)
{
	int cpu = online_cpu(1);
	struct gprof_cpu_params params = timer_params(PERIOD_NS);
	struct gprof_setup setup = device_setup_of(GPROF_TARGET_SYSTEM, 0, &params);
	struct reader reader;
	struct gprof_stats st;
	struct device dev;
	pthread_t thread;

	SKIP_UNLESS(!geteuid(), "must be root");
	SKIP_UNLESS(cpu > 0, "needs two CPUs");
	SKIP_UNLESS(!cpu_set_online(cpu, false), "the CPU cannot be taken offline");
	ASSERT_EQ(0, cpu_set_online(cpu, true));
	setup.buffer_size = 1 << 20;
	ASSERT_ZEROS(reader_record(&reader, &dev, &setup, NULL, NULL),
		     pthread_create(&thread, NULL, switch_cpu, (void *)(uintptr_t)cpu));
	setenv("GPROF_STORM", "10", 0);
	BEGIN(fork_without_end, NULL);
	ride_out(_metadata, self);
	for (unsigned int i = 0; i < 5; i++) {
		EXPECT_LE(0, reader_read(&reader));
		EXPECT_ZEROS(device_stop(&dev), device_start(&dev));
	}
	pthread_join(thread, NULL);
	READER_END(&reader, &st);
	EXPECT_LT(0, st.out_produced);
	reader_close(&reader);
}

/* In large pages all of it takes less time than a host takes away now and then. */
static void eat_memory(void *arg, int step)
{
	size_t size = 4 << 20;
	char *memory;

	burn_ns(50000000);
	for (;;) {
		memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (memory != MAP_FAILED)
			memset(memory, 1, size);
	}
}

/* The OOM killer takes the target, again and again, under a recorder that goes on. */
TEST_F(storm, oom_killer_that_takes_the_target_is_no_harm)
{
	char path[MEMORY_CGROUP_PATH];
	struct gprof_stats st;
	unsigned int i, nr = hard(5);
	int ret;

	SKIP_UNLESS(!geteuid(), "must be root");
	ret = memory_cgroup(path, "16M");
	SKIP_UNLESS(ret != -ENODEV, "no memory controller in cgroup v2");
	ASSERT_EQ(0, ret);
	for (i = 0; i < nr; i++) {
		BEGIN(eat_memory, NULL);
		ASSERT_ZEROS(memory_cgroup_enter(path, self->child.pid), child_begin(&self->child));
		EXPECT_EQ(SIGKILL, WTERMSIG(child_reap(&self->child)));
		READER_END(&self->reader, &st);
		EXPECT_LT(0, st.out_produced);
		reader_close(&self->reader);
	}
	EXPECT_EQ(0, rmdir(path));
}

/* Buffers are charged to who sets them up: over memory.max they are refused. */
static void record_until_refused(void *arg, int step)
{
	struct gprof_setup *setup = arg;
	struct device dev;
	int ret;

	if (step)
		eat_memory(NULL, 0);
	setup->id = getpid();
	setup->buffer_size = 4 << 20;
	do {
		ret = device_record(&dev, setup);
	} while (!ret);
	if (ret != -ENOMEM)
		_exit(1);
}

TEST_F(storm, oom_killer_that_takes_the_recorder_frees_all_of_it)
{
	char path[MEMORY_CGROUP_PATH];
	int ret;

	SKIP_UNLESS(!geteuid(), "must be root");
	ret = memory_cgroup(path, "48M");
	SKIP_UNLESS(ret != -ENODEV, "no memory controller in cgroup v2");
	ASSERT_EQ(0, ret);
	for (unsigned int i = 0; i < 3; i++) {
		ASSERT_EQ(0, child_fork(&self->child, record_until_refused, &self->setup));
		ASSERT_EQ(0, memory_cgroup_enter(path, self->child.pid));
		EXPECT_EQ(0, child_step(&self->child));
		EXPECT_LT(self->recorders, open_recorders());
		ASSERT_EQ(0, child_begin(&self->child));
		EXPECT_EQ(SIGKILL, WTERMSIG(child_reap(&self->child)));
		EXPECT_TRUE(recorders_become(self->recorders));
	}
	EXPECT_EQ(0, rmdir(path));
}

/* Root may take what there is, but not what others need. */
TEST_F(storm, buffers_larger_than_the_host_are_ENOMEM_and_the_oom_killer_sleeps)
{
	long long killed = file_field("/proc/vmstat", "oom_kill");
	long long total = file_field("/proc/meminfo", "MemTotal");
	static struct device devs[64];
	unsigned int nr = 0, i;
	int ret = 0;

	SKIP_UNLESS(!geteuid(), "must be root");
	self->setup.id = getpid();
	self->setup.buffer_size = 1 << 20;
	while (self->setup.buffer_size << 1 <= (uint64_t)total << 10 >> 3 &&
	       self->setup.buffer_size < 1 << 30)
		self->setup.buffer_size <<= 1;
	while (nr < ARRAY_SIZE(devs)) {
		ret = device_record(&devs[nr], &self->setup);
		if (ret)
			break;
		nr++;
	}
	TH_LOG("%u recorders of %llu MiB a CPU, %lld MiB of %lld left", nr,
	       ull(self->setup.buffer_size) >> 20,
	       file_field("/proc/meminfo", "MemAvailable") >> 10, total >> 10);
	EXPECT_EQ(-ENOMEM, ret);
	EXPECT_LE(total / 17, file_field("/proc/meminfo", "MemAvailable"));
	EXPECT_EQ(killed, file_field("/proc/vmstat", "oom_kill"));
	for (i = 0; i < nr; i++)
		device_close(&devs[i]);
}

TEST_HARNESS_MAIN
