// SPDX-License-Identifier: GPL-2.0-only
/* hotplug_test: CPUs go and come while they are recorded. */
#include "harness.h"
#include "device.h"
#include "reader.h"
#include "tally.h"
#include "workload.h"

FIXTURE(hotplug) {
	struct gprof_cpu_params params;
	struct gprof_setup setup;
	struct device dev;
	struct tally *tally;
	struct child child;
	int cpu;	/* the one that goes and comes, 0: there is none */
};

FIXTURE_VARIANT(hotplug) {
	uint32_t type;
	uint64_t config;
};

FIXTURE_VARIANT_ADD(hotplug, timer) {
	.type = PERF_TYPE_SOFTWARE, .config = PERF_COUNT_SW_CPU_CLOCK,
};

FIXTURE_VARIANT_ADD(hotplug, cycles) {
	.type = PERF_TYPE_HARDWARE, .config = PERF_COUNT_HW_CPU_CYCLES,
};

static void burn_without_end(void *arg, int step)
{
	burn_until(UINT64_MAX);
}

FIXTURE_SETUP(hotplug)
{
	int refused = perf_refuses(variant->type, variant->config, true);

	self->cpu = online_cpu(1);
	SKIP_ALL_UNLESS(self->cpu > 0, "needs two CPUs");
	SKIP_ALL_UNLESS(!refused, "perf has no such event here: %s", strerror(refused));
	perf_at_any_rate();
	SKIP_ALL_UNLESS(!cpu_set_online(self->cpu, false), "the CPU cannot be taken offline");
	ASSERT_EQ(0, cpu_set_online(self->cpu, true));
	self->tally = calloc(1, sizeof(*self->tally));
	self->params = event_params(variant->type, variant->config, 1000000);
	self->setup = device_setup_of(GPROF_TARGET_SYSTEM, 0, &self->params);
	/* two burners keep both CPUs busy, whichever there are */
	ASSERT_ZEROS(child_fork(&self->child, burn_without_end, NULL), child_begin(&self->child));
}

FIXTURE_TEARDOWN(hotplug)
{
	cpu_set_online(self->cpu, true);
	child_end(&self->child);
	if (self->tally->reader.rings)
		tally_free(self->tally);
	free(self->tally);
	device_close(&self->dev);
}

static uint64_t produced_on(FIXTURE_DATA(hotplug) *self, int cpu)
{
	struct gprof_stats st;

	return device_stats(&self->dev, cpu, &st) ? 0 : st.out_produced;
}

/* Burns on a CPU, so that it has something to record. */
static void burn_on(int cpu)
{
	cpu_set_t before;

	sched_getaffinity(0, sizeof(before), &before);
	if (pin_to(cpu) >= 0)
		burn_ns(100000000);
	sched_setaffinity(0, sizeof(before), &before);
}

static void finish(struct __test_metadata *_metadata, FIXTURE_DATA(hotplug) *self)
{
	struct gprof_stats st = { 0 };

	READER_END(&self->tally->reader, &st);
	EXPECT_LT(0, st.out_produced);
	TH_LOG("produced=%llu lost=%llu", ull(st.out_produced), ull(device_lost(&st)));
}

TEST_F(hotplug, cpu_that_went_and_came_is_recorded_again)
{
	uint64_t before;

	ASSERT_ZEROS(device_record(&self->dev, &self->setup), tally_init(self->tally, &self->dev));
	for (int i = 0; i < 3; i++) {
		burn_on(self->cpu);
		before = produced_on(self, self->cpu);
		EXPECT_LT(0, before);
		ASSERT_EQ(0, cpu_set_online(self->cpu, false));
		before = produced_on(self, self->cpu);
		burn_ns(50000000);
		EXPECT_EQ(before, produced_on(self, self->cpu));
		ASSERT_EQ(0, cpu_set_online(self->cpu, true));
		/* its counter is attached by a worker */
		sleep_ms(200);
		burn_on(self->cpu);
		EXPECT_LT(before, produced_on(self, self->cpu));
		EXPECT_LE(0, reader_read(&self->tally->reader));
	}
	finish(_metadata, self);
}

TEST_F(hotplug, other_cpus_are_recorded_meanwhile)
{
	uint64_t before;

	ASSERT_ZEROS(device_record(&self->dev, &self->setup), tally_init(self->tally, &self->dev),
		     cpu_set_online(self->cpu, false));
	before = produced_on(self, 0);
	burn_on(0);
	EXPECT_LT(before, produced_on(self, 0));
	finish(_metadata, self);
}

TEST_F(hotplug, cpu_that_is_offline_at_start_is_recorded_when_it_comes)
{
	ASSERT_ZEROS(cpu_set_online(self->cpu, false), device_record(&self->dev, &self->setup),
		     tally_init(self->tally, &self->dev));
	EXPECT_EQ(0, produced_on(self, self->cpu));
	ASSERT_EQ(0, cpu_set_online(self->cpu, true));
	sleep_ms(200);
	burn_on(self->cpu);
	EXPECT_LT(0, produced_on(self, self->cpu));
	finish(_metadata, self);
}

TEST_F(hotplug, offline_cpu_as_target_is_ENODEV)
{
	device_target_cpu(&self->setup, self->cpu);
	ASSERT_EQ(0, cpu_set_online(self->cpu, false));
	EXPECT_EQ(-ENODEV, device_setup(&self->dev, &self->setup));
	EXPECT_EQ(GPROF_REASON_CPU, self->setup.out_reason);
	/* one that is online beside it does not help */
	*(uint64_t *)(uintptr_t)self->setup.cpus |= 1;
	EXPECT_EQ(-ENODEV, device_setup(&self->dev, &self->setup));
	ASSERT_EQ(0, cpu_set_online(self->cpu, true));
	EXPECT_EQ(0, device_setup(&self->dev, &self->setup));
}

TEST_F(hotplug, cpus_that_went_before_start_are_no_crash)
{
	struct gprof_start start = { .size = sizeof(start) };
	int ret;

	device_target_cpu(&self->setup, self->cpu);
	ASSERT_ZEROS(device_setup(&self->dev, &self->setup), cpu_set_online(self->cpu, false));
	ret = device_ioctl(self->dev.fd, GPROF_IOC_START, &start);
	EXPECT_TRUE(!ret || ret == -ENODEV) TH_LOG("START: %d", ret);
	ASSERT_EQ(0, cpu_set_online(self->cpu, true));
	if (!ret)
		EXPECT_EQ(0, device_stop(&self->dev));
}

TEST_F(hotplug, process_is_recorded_through_it)
{
	uint64_t before;
	struct gprof_stats st;

	self->setup = device_setup_of(GPROF_TARGET_PROCESS, self->child.pid, &self->params);
	ASSERT_ZEROS(device_record(&self->dev, &self->setup), tally_init(self->tally, &self->dev));
	for (int i = 0; i < 6; i++) {
		ASSERT_EQ(0, device_stats(&self->dev, GPROF_STATS_ALL_CPUS, &st));
		before = st.out_produced;
		ASSERT_EQ(0, cpu_set_online(self->cpu, i & 1));
		sleep_ms(200);
		ASSERT_EQ(0, device_stats(&self->dev, GPROF_STATS_ALL_CPUS, &st));
		EXPECT_LT(before, st.out_produced);
	}
	finish(_metadata, self);
	EXPECT_EQ(self->tally->reader.samples, tally_of(self->tally, self->child.pid));
}

TEST_F(hotplug, close_while_cpus_go_and_come_is_no_harm)
{
	for (int i = 0; i < 6; i++) {
		ASSERT_ZEROS(device_record(&self->dev, &self->setup),
			     cpu_set_online(self->cpu, i & 1));
		device_close(&self->dev);
	}
}

static void go_and_come(void *arg, int step)
{
	for (;;) {
		cpu_set_online(*(int *)arg, false);
		cpu_set_online(*(int *)arg, true);
	}
}

/*
 * START and STOP switch tracepoints, for which the kernel takes the hotplug lock. Where
 * each waits for the other, none of the three ends before the harness does.
 */
TEST_F(hotplug, start_and_stop_wait_for_no_cpu_that_waits_for_them)
{
	struct child toggler;
	uint64_t end;
	int runs = 0;

	ASSERT_ZEROS(child_fork(&toggler, go_and_come, &self->cpu), child_begin(&toggler));
	end = monotonic_ns() + 3000000000ULL;
	while (runs < 3 || monotonic_ns() < end) {
		self->setup = device_setup_of(GPROF_TARGET_PROCESS, self->child.pid, &self->params);
		ASSERT_EQ(0, device_record(&self->dev, &self->setup));
		device_close(&self->dev);
		runs++;
	}
	child_end(&toggler);
	TH_LOG("%d recorders", runs);
}

TEST_HARNESS_MAIN
