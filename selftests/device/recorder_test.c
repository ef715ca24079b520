// SPDX-License-Identifier: GPL-2.0-only
/*
 * recorder_test: many recorders, short lives, sudden ends; and what is left of
 * them afterwards, which must be nothing.
 */
#include "harness.h"
#include "device.h"
#include "reader.h"
#include "remains.h"
#include "tally.h"
#include "workload.h"

#define PERIOD_NS	1000000
#define SMALL		65536

FIXTURE(recorder) {
	struct gprof_cpu_params params;
	struct gprof_setup setup;
	struct child child;
};

static void burn_100_ms(void *arg, int step)
{
	burn_ns(100000000);
}

FIXTURE_SETUP(recorder)
{
	ASSERT_EQ(0, child_fork(&self->child, burn_100_ms, NULL));
	self->params = timer_params(PERIOD_NS);
	self->setup = device_setup_of(GPROF_TARGET_PROCESS, self->child.pid, &self->params);
	self->setup.buffer_size = SMALL;
}

FIXTURE_TEARDOWN(recorder)
{
	child_end(&self->child);
}

/* Stops, reads all and returns how many samples there were: they must add up. */
static uint64_t finish(struct __test_metadata *_metadata, struct device *dev)
{
	struct gprof_stats st = { 0 };
	struct reader reader;

	EXPECT_ZEROS(reader_init(&reader, dev), device_stop(dev));
	EXPECT_LE(0, dev->flight ? reader_snapshot(&reader) : reader_read(&reader))
		TH_LOG("%s", reader.error);
	EXPECT_EQ(0, device_stats(dev, GPROF_STATS_ALL_CPUS, &st));
	EXPECT_EQ(st.out_produced,
		  reader.samples + reader.events + device_lost(&st) + st.out_overwritten);
	reader_free(&reader);
	return st.out_produced;
}

#define FINISH(_dev)	finish(_metadata, _dev)

/* ---- several at once ---- */

TEST_F(recorder, end_of_one_does_not_touch_the_other)
{
	struct gprof_stats st;
	struct device one, other;
	uint64_t before;

	ASSERT_ZEROS(device_record(&one, &self->setup), device_record(&other, &self->setup),
		     child_step(&self->child));
	device_close(&other);
	ASSERT_EQ(0, device_stats(&one, GPROF_STATS_ALL_CPUS, &st));
	before = st.out_produced;
	/* Few samples fall into a step where the machine is slow; none if it were stopped. */
	for (int i = 0; i < 20 && st.out_produced < before + 5; i++) {
		ASSERT_EQ(0, child_step(&self->child));
		ASSERT_EQ(0, device_stats(&one, GPROF_STATS_ALL_CPUS, &st));
	}
	EXPECT_LE(before + 5, FINISH(&one));
	device_close(&one);
}

TEST_F(recorder, stop_of_one_does_not_stop_the_other)
{
	struct device one, other;
	uint64_t stopped;

	ASSERT_ZEROS(device_record(&one, &self->setup), device_record(&other, &self->setup),
		     child_step(&self->child));
	stopped = FINISH(&other);
	for (int i = 0; i < 10; i++)
		ASSERT_EQ(0, child_step(&self->child));
	EXPECT_LT(stopped + 5, FINISH(&one));
	device_close(&one);
	device_close(&other);
}

#define MANY	64

TEST_F(recorder, sixty_four_of_all_modes_record_one_task)
{
	static struct device devs[MANY];
	uint64_t before = open_recorders(), produced;

	self->params.period = 5 * PERIOD_NS;
	for (int i = 0; i < MANY; i++) {
		/* Streams and flight recorders, of it and of all. */
		self->setup.flags = i & 1 ? GPROF_SETUP_F_FLIGHT : 0;
		self->setup.target = i % 3 == 2 && !geteuid() ? GPROF_TARGET_SYSTEM : GPROF_TARGET_PROCESS;
		self->setup.id = self->setup.target == GPROF_TARGET_SYSTEM ? 0 : self->child.pid;
		ASSERT_EQ(0, device_record(&devs[i], &self->setup))
			TH_LOG("recorder %d, reason %u", i, self->setup.out_reason);
	}
	EXPECT_EQ(before + MANY, open_recorders());
	ASSERT_ZEROS(child_step(&self->child), child_step(&self->child));
	for (int i = 0; i < MANY; i++) {
		produced = FINISH(&devs[i]);
		EXPECT_LE(1, produced) TH_LOG("recorder %d", i);
	}
	for (int i = 0; i < MANY; i++)
		device_close(&devs[i]);
	EXPECT_EQ(before, open_recorders());
}

TEST_F(recorder, recorder_of_oneself_works)
{
	struct gprof_stats st = { 0 };
	struct device dev;

	self->setup.id = getpid();
	ASSERT_EQ(0, device_record(&dev, &self->setup));
	/* An emulator that gets little of its host's time interrupts late. */
	for (int i = 0; i < 20 && st.out_produced < 5; i++) {
		burn_ns(100000000);
		ASSERT_EQ(0, device_stats(&dev, GPROF_STATS_ALL_CPUS, &st));
	}
	EXPECT_LE(5, FINISH(&dev));
	device_close(&dev);
}

TEST_F(recorder, start_and_stop_alternate_while_the_target_runs)
{
	struct device dev;

	ASSERT_EQ(0, device_record(&dev, &self->setup));
	for (int i = 0; i < 3; i++) {
		ASSERT_EQ(0, child_begin(&self->child));
		for (int j = 0; j < 20; j++) {
			ASSERT_ZEROS(device_stop(&dev), device_start(&dev));
		}
		ASSERT_EQ(0, child_wait(&self->child));
	}
	FINISH(&dev);
	device_close(&dev);
}

struct racers {
	struct device *dev;
	uint64_t wrong;
};

static void *race(void *arg)
{
	struct racers *r = arg;
	struct gprof_stats st;
	int i, ret;

	for (i = 0; i < 200; i++) {
		ret = i & 1 ? device_stop(r->dev) : device_start(r->dev);
		if (ret && ret != -EBUSY)
			__atomic_fetch_add(&r->wrong, 1, __ATOMIC_RELAXED);
		if (device_stats(r->dev, GPROF_STATS_ALL_CPUS, &st))
			__atomic_fetch_add(&r->wrong, 1, __ATOMIC_RELAXED);
	}
	return NULL;
}

TEST_F(recorder, threads_may_fight_over_one)
{
	struct racers r = { 0 };
	pthread_t threads[4];
	struct device dev;

	ASSERT_ZEROS(device_setup(&dev, &self->setup), device_map(&dev));
	r.dev = &dev;
	for (int i = 0; i < 4; i++)
		ASSERT_EQ(0, pthread_create(&threads[i], NULL, race, &r));
	for (int i = 0; i < 3; i++)
		ASSERT_EQ(0, child_step(&self->child));
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	EXPECT_EQ(0, r.wrong);
	device_stop(&dev);
	ASSERT_EQ(0, device_start(&dev));
	FINISH(&dev);
	device_close(&dev);
}

/* ---- sudden ends ---- */

TEST_F(recorder, close_while_recording_ends_everything)
{
	uint64_t before = open_recorders();
	struct device dev;

	for (int i = 0; i < 10; i++) {
		ASSERT_ZEROS(device_record(&dev, &self->setup), child_begin(&self->child));
		sleep_ms(20);
		device_close(&dev);
		ASSERT_EQ(0, child_wait(&self->child));
	}
	EXPECT_EQ(before, open_recorders());
}

TEST_F(recorder, close_wakes_no_poller_of_another)
{
	struct device one, other;
	struct pollfd pfd;

	ASSERT_ZEROS(device_record(&one, &self->setup), device_record(&other, &self->setup));
	device_close(&other);
	pfd = (struct pollfd){ .fd = one.fd, .events = POLLIN };
	EXPECT_EQ(0, poll(&pfd, 1, 50));
	device_close(&one);
}

static void record_and_burn(void *arg, int step)
{
	struct device dev;

	if (device_record(&dev, arg))
		_exit(1);
	burn_until(UINT64_MAX);
}

TEST_F(recorder, sigkill_of_the_owner_ends_everything)
{
	uint64_t before = open_recorders();
	struct child owner;

	for (int i = 0; i < 10; i++) {
		ASSERT_ZEROS(child_fork(&owner, record_and_burn, &self->setup),
			     child_begin(&owner));
		sleep_ms(30);
		child_end(&owner);
	}
	EXPECT_TRUE(recorders_become(before));
}

/* Waits, and is another program from its second step on. */
static void sleep_and_execute(void *arg, int step)
{
	usleep(20000);
	if (step == 1)
		execl("/bin/sleep", "sleep", "1000", (char *)NULL);
}

union any_params {
	struct gprof_cpu_params cpu;
	struct gprof_block_params block;
	struct gprof_task_params task;
	struct gprof_alloc_params alloc;
	struct gprof_trace_params trace;
	struct gprof_tracepoint_params tracepoint;
};

struct any_kind {
	const char *name;
	uint32_t kind;
	uint32_t stack;
	union any_params params;
};

static void execute(struct child *victim)
{
	char path[40], name[32] = "";

	child_begin(victim);
	snprintf(path, sizeof(path), "/proc/%d/comm", victim->pid);
	while (strcmp(name, "sleep\n") && !file_read(path, name, sizeof(name)))
		usleep(1000);
}

static bool ends_at(struct child *victim, bool executes, int now, int step)
{
	if (now != step)
		return false;
	if (executes)
		execute(victim);
	else
		child_end(victim);
	return !executes;
}

/* SETUP, START, and STOP, with the end or the exec before each of them, and before close(). */
static void live_through(struct __test_metadata *_metadata, const struct any_kind *k,
			 bool executes, int step)
{
	union any_params params = k->params;
	struct gprof_setup setup;
	struct child victim;
	struct device dev;
	bool gone;
	int ret;

	ASSERT_ZEROS(child_fork(&victim, sleep_and_execute, NULL), child_step(&victim));
	setup = device_setup_of(GPROF_TARGET_PROCESS, victim.pid, &params);
	setup.kind = k->kind;
	setup.stack = k->stack;
	setup.buffer_size = SMALL;
	gone = ends_at(&victim, executes, 0, step);
	ret = device_setup(&dev, &setup);
	EXPECT_EQ(gone ? -ESRCH : 0, ret)
		TH_LOG("%s, %s at %d: SETUP %d, reason %u", k->name, executes ? "exec" : "end",
		       step, ret, setup.out_reason);
	if (!ret) {
		EXPECT_EQ(0, device_map(&dev));
		gone = ends_at(&victim, executes, 1, step);
		ret = device_start(&dev);
		EXPECT_EQ(gone ? -ESRCH : 0, ret)
			TH_LOG("%s, %s at %d: START %d", k->name, executes ? "exec" : "end", step,
			       ret);
		ends_at(&victim, executes, 2, step);
		if (ret)
			EXPECT_EQ(-EBUSY, device_stop(&dev));
		if (!ret)
			FINISH(&dev);
		ends_at(&victim, executes, 3, step);
		device_close(&dev);
	}
	if (executes || step > 3)
		child_end(&victim);
}

#define SIZE(_kind)	.size = sizeof(struct gprof_##_kind##_params)

TEST_F(recorder, end_and_exec_of_the_target_at_any_step_are_no_harm_to_any_kind)
{
	const uint32_t user = GPROF_STACK_F_IP | GPROF_STACK_F_USER;
	struct any_kind kinds[] = {
		{ "timer", GPROF_KIND_CPU, user, { .cpu = timer_params(PERIOD_NS) } },
		{ "block", GPROF_KIND_BLOCK, user, { .block = { SIZE(block), .period = 1 } } },
		{ "waker", GPROF_KIND_BLOCK, user,
		  { .block = { SIZE(block), .period = 1, .flags = GPROF_BLOCK_F_WAKER } } },
		{ "mutex", GPROF_KIND_MUTEX, user, { .block = { SIZE(mutex), .period = 1 } } },
		{ "task", GPROF_KIND_TASK, user, { .task = { SIZE(task) } } },
		{ "alloc", GPROF_KIND_ALLOC, user,
		  { .alloc = { SIZE(alloc), .period = 1, .flags = GPROF_ALLOC_F_SLAB } } },
		{ "heap", GPROF_KIND_HEAP, user,
		  { .alloc = { SIZE(alloc), .period = 1, .flags = GPROF_ALLOC_F_PAGES } } },
		{ "trace", GPROF_KIND_TRACE, 0, { .trace = { SIZE(trace) } } },
		{ "tracepoint", GPROF_KIND_TRACEPOINT, user,
		  { .tracepoint = { SIZE(tracepoint), .period = 1,
				    .tracepoint = tracepoint_id("sched", "sched_waking") } } },
	};

	for (unsigned int i = 0; i < ARRAY_SIZE(kinds); i++) {
		/* a kernel may not tell where all memory goes */
		if (kinds[i].kind == GPROF_KIND_HEAP && !device_has(GPROF_FEAT_OBJECTS))
			continue;
		for (unsigned int executes = 0; executes < 2; executes++)
			for (int step = 0; step < 5; step++)
				live_through(_metadata, &kinds[i], executes, step);
	}
}

/* ---- nothing is left behind ---- */

static void one_life(struct gprof_setup *setup, bool stop)
{
	struct device dev;

	if (device_record(&dev, setup))
		return;
	burn_ns(2000000);
	if (stop)
		device_stop(&dev);
	device_close(&dev);
}

TEST_F(recorder, memory_is_given_back)
{
	long long vmalloc, slab, free_kb;

	self->setup.id = getpid();
	self->setup.buffer_size = 1 << 20;
	for (int i = 0; i < 20; i++)
		one_life(&self->setup, i & 1);
	ASSERT_TRUE(recorders_become(0));
	sleep_ms(500);
	vmalloc = file_field("/proc/meminfo", "VmallocUsed");
	slab = file_field("/proc/meminfo", "SUnreclaim");
	free_kb = file_field("/proc/meminfo", "MemFree");
	ASSERT_LT(0, vmalloc);
	for (int i = 0; i < 100; i++)
		one_life(&self->setup, i & 1);
	ASSERT_TRUE(recorders_become(0));
	sleep_ms(500);
	/* 100 recorders had 100 MiB per CPU */
	EXPECT_GE(vmalloc + 1024, file_field("/proc/meminfo", "VmallocUsed"));
	EXPECT_GE(slab + 4096, file_field("/proc/meminfo", "SUnreclaim"));
	EXPECT_LE(free_kb - 32768, file_field("/proc/meminfo", "MemFree"));
}

TEST_F(recorder, module_references_are_given_back)
{
	long before = module_references();
	struct device dev;

	ASSERT_LE(0, before);
	ASSERT_EQ(0, device_record(&dev, &self->setup));
	EXPECT_LT(before, module_references());
	device_close(&dev);
	EXPECT_EQ(before, module_references());
	one_life(&self->setup, false);
	EXPECT_EQ(before, module_references());
}

/* The mapping holds the file, and with it the module. */
TEST_F(recorder, module_is_held_by_a_mapping)
{
	long before = module_references();
	struct device dev;

	ASSERT_LE(0, before);
	ASSERT_ZEROS(device_setup(&dev, &self->setup), device_map(&dev));
	close(dev.fd);
	dev.fd = 0;
	EXPECT_LT(before, module_references());
	device_close(&dev);
	EXPECT_EQ(before, module_references());
}

#define MOST_COUNTERS	32

/* How many counters of cycles fit on the PMU at once, for this thread. */
static int free_counters(void)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_HARDWARE, .size = sizeof(attr),
		.config = PERF_COUNT_HW_CPU_CYCLES, .pinned = 1,
		.exclude_kernel = 1, .exclude_hv = 1,
		.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING,
	};
	int fds[MOST_COUNTERS], i, nr;
	uint64_t counts[3];

	for (nr = 0; nr < MOST_COUNTERS; nr++) {
		fds[nr] = syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
		if (fds[nr] < 0)
			break;
		burn_ns(1000000);
		/* a pinned counter that finds no room is in error: end of file */
		if (read(fds[nr], counts, sizeof(counts)) != sizeof(counts)) {
			close(fds[nr]);
			break;
		}
	}
	for (i = 0; i < nr; i++)
		close(fds[i]);
	return nr;
}

TEST_F(recorder, hardware_counters_are_given_back)
{
	int refused = perf_refuses(PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, true);
	int before, i;

	SKIP_UNLESS(!refused, "perf has no cycles here: %s", strerror(refused));
	pin_to_some_cpu();
	before = free_counters();
	ASSERT_LT(1, before);
	self->params = event_params(PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, 1000000);
	self->setup.id = getpid();
	for (i = 0; i < 20; i++) {
		one_life(&self->setup, i & 1);
		self->setup = device_setup_of(i & 2 ? GPROF_TARGET_SYSTEM : GPROF_TARGET_PROCESS,
					      i & 2 ? 0 : getpid(), &self->params);
	}
	EXPECT_EQ(before, free_counters());
}

TEST_HARNESS_MAIN
