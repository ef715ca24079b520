// SPDX-License-Identifier: GPL-2.0-only
/*
 * event_test: which events there are, what they count, and that one that is not
 * there is refused, never recorded as an empty profile.
 *
 * Whether the machine has an event is asked of perf_event_open(2), so that the
 * module cannot excuse itself.
 */
#include "harness.h"
#include "device.h"
#include "reader.h"
#include "workload.h"

FIXTURE(event) {
	struct gprof_cpu_params params;
	struct gprof_setup setup;
	struct device dev;
	int refused;
};

FIXTURE_VARIANT(event) {
	uint32_t type;
	uint64_t config;
	uint64_t period;
	bool counts_work;	/* burning makes it count */
};

#define EVENT(_name, _type, _config, _period, _counts_work)		\
FIXTURE_VARIANT_ADD(event, _name) {					\
	.type = _type, .config = _config, .period = _period,		\
	.counts_work = _counts_work,					\
}

EVENT(timer, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK, 1000000, true);
EVENT(cycles, PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, 1000000, true);
EVENT(instructions, PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS, 1000000, true);
EVENT(cache_references, PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_REFERENCES, 10000, false);
EVENT(cache_misses, PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES, 10000, false);
EVENT(branches, PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_INSTRUCTIONS, 1000000, true);
EVENT(branch_misses, PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_MISSES, 10000, false);
EVENT(raw_cycles, PERF_TYPE_RAW, 0x11, 1000000, true);
EVENT(raw_garbage, PERF_TYPE_RAW, 0xfffffffffff, 1000000, false);

FIXTURE_SETUP(event)
{
	self->refused = perf_refuses(variant->type, variant->config, true);
	self->params = event_params(variant->type, variant->config, variant->period);
	/* a clock in user mode alone counts more than was asked for, and tells no count */
	if (variant->type == PERF_TYPE_SOFTWARE)
		self->params.flags = GPROF_CPU_F_KERNEL;
	self->setup = device_setup_of(GPROF_TARGET_THREAD, gettid(), &self->params);
}

FIXTURE_TEARDOWN(event)
{
	device_close(&self->dev);
}

TEST_F(event, is_refused_with_its_reason_where_the_machine_lacks_it)
{
	int ret;

	SKIP_UNLESS(self->refused, "the machine has it");
	ret = device_setup(&self->dev, &self->setup);
	EXPECT_TRUE(ret == -ENOENT || ret == -EOPNOTSUPP)
		TH_LOG("SETUP: %d, perf: %d", -ret, self->refused);
	EXPECT_EQ(GPROF_REASON_EVENT, self->setup.out_reason);
}

TEST_F(event, stands_for_what_it_counted)
{
	struct gprof_stats st = { 0 };
	struct reader reader;

	SKIP_UNLESS(!self->refused, "perf has no such event here: %s", strerror(self->refused));
	/* each CPU begins a period of its own */
	ASSERT_LE(0, pin_to_some_cpu());
	ASSERT_EQ(0, reader_record(&reader, &self->dev, &self->setup, NULL, NULL))
		TH_LOG("reason %u", self->setup.out_reason);
	burn_ns(500000000);
	READER_END(&reader, &st);
	TH_LOG("%llu samples stand for %llu of %llu", ull(reader.samples), ull(reader.weight),
	       ull(st.out_count));
	if (variant->counts_work) {
		EXPECT_LE(20, reader.samples);
		/* what came last had no time to overflow */
		EXPECT_GE(reader.weight + 5 * variant->period, st.out_count);
	}
	EXPECT_LE(reader.weight, st.out_count + variant->period);
	EXPECT_EQ(st.out_time_enabled, st.out_time_running);
	reader_free(&reader);
}

/* ---- periods of a hardware event ---- */

FIXTURE(period) {
	struct gprof_cpu_params params;
	struct gprof_setup setup;
	struct device dev;
};

FIXTURE_SETUP(period)
{
	SKIP_ALL_UNLESS(!perf_refuses(PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, true),
			"perf has no cycles here");
	self->params = event_params(PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, 1000000);
	self->setup = device_setup_of(GPROF_TARGET_THREAD, gettid(), &self->params);
}

FIXTURE_TEARDOWN(period)
{
	device_close(&self->dev);
}

TEST_F(period, that_is_too_short_or_too_long_is_EINVAL)
{
	static const uint64_t wrong[] = {
		0, 1, GPROF_CPU_PERIOD_MIN - 1, GPROF_PERIOD_MAX + 1, 1ULL << 63, UINT64_MAX,
	};

	for (unsigned int i = 0; i < ARRAY_SIZE(wrong); i++) {
		self->params.period = wrong[i];
		EXPECT_EQ(-EINVAL, device_setup(&self->dev, &self->setup)) TH_LOG("case %u", i);
		EXPECT_EQ(GPROF_REASON_PERIOD, self->setup.out_reason);
	}
	self->params.period = 1000000;
	EXPECT_EQ(0, device_setup(&self->dev, &self->setup));
}

TEST_F(period, longest_is_accepted_and_gives_no_sample)
{
	struct gprof_stats st;

	self->params.period = GPROF_PERIOD_MAX;
	ASSERT_EQ(0, device_record(&self->dev, &self->setup));
	burn_ns(50000000);
	ASSERT_ZEROS(device_stop(&self->dev), device_stats(&self->dev, GPROF_STATS_ALL_CPUS, &st));
	EXPECT_EQ(0, st.out_produced);
	EXPECT_LT(0, st.out_count);
}

/* An overflow every 100 cycles is more than any machine bears: it must live on. */
TEST_F(period, shortest_is_borne)
{
	struct gprof_stats st;

	self->params.period = GPROF_CPU_PERIOD_MIN;
	ASSERT_EQ(0, device_record(&self->dev, &self->setup));
	burn_until(monotonic_ns() + 500000000);
	ASSERT_ZEROS(device_stop(&self->dev), device_stats(&self->dev, GPROF_STATS_ALL_CPUS, &st));
	EXPECT_LT(0, st.out_produced);
	TH_LOG("%llu samples, throttled %llu times", ull(st.out_produced),
	       ull(st.out_throttled));
}

#define MAX_RATE	"/proc/sys/kernel/perf_event_max_sample_rate"
#define MAX_PERCENT	"/proc/sys/kernel/perf_cpu_time_max_percent"

/* With so few allowed that the kernel must stop the counter, this is told. */
TEST_F(period, throttling_is_counted)
{
	char rate[32], percent[32];
	struct gprof_stats st;
	struct reader reader;

	SKIP_UNLESS(!geteuid(), "must be root to change the rate");
	ASSERT_EQ(0, file_read(MAX_PERCENT, percent, sizeof(percent)));
	ASSERT_EQ(0, file_read(MAX_RATE, rate, sizeof(rate)));
	/* the rate can only be changed while there is a limit in percent */
	ASSERT_ZEROS(file_write(MAX_PERCENT, "99"), file_write(MAX_RATE, "1000"));
	self->params.period = 10000;
	EXPECT_EQ(0, reader_record(&reader, &self->dev, &self->setup, NULL, NULL));
	burn_until(monotonic_ns() + 500000000);
	READER_END(&reader, &st);
	EXPECT_ZEROS(file_write(MAX_RATE, rate), file_write(MAX_PERCENT, percent));
	EXPECT_LT(0, st.out_throttled);
	TH_LOG("%llu samples, throttled %llu times", ull(st.out_produced),
	       ull(st.out_throttled));
	reader_free(&reader);
}

TEST_F(period, several_events_are_recorded_at_once)
{
	struct gprof_cpu_params timer = timer_params(1000000);
	struct gprof_setup timer_setup = self->setup;
	struct gprof_stats st;
	struct device other;

	timer_setup.params = (uintptr_t)&timer;
	ASSERT_ZEROS(device_record(&self->dev, &self->setup), device_record(&other, &timer_setup));
	burn_ns(200000000);
	ASSERT_ZEROS(device_stop(&self->dev), device_stop(&other),
		     device_stats(&self->dev, GPROF_STATS_ALL_CPUS, &st));
	EXPECT_LE(5, st.out_produced);
	ASSERT_EQ(0, device_stats(&other, GPROF_STATS_ALL_CPUS, &st));
	EXPECT_LE(5, st.out_produced);
	device_close(&other);
}

/*
 * More events than the PMU has counters take turns, and the times tell.  The others are
 * perf's: recorders would share one counter.
 */
TEST_F(period, events_beyond_the_counters_take_turns)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_HARDWARE, .size = sizeof(attr),
		.config = PERF_COUNT_HW_CPU_CYCLES, .exclude_kernel = 1, .exclude_hv = 1,
	};
	struct gprof_stats st;
	int fds[15], i;

	for (i = 0; i < 15; i++) {
		fds[i] = syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
		ASSERT_LE(0, fds[i]);
	}
	ASSERT_EQ(0, device_record(&self->dev, &self->setup));
	burn_until(monotonic_ns() + 1000000000);
	EXPECT_EQ(0, device_stop(&self->dev));
	for (i = 0; i < 15; i++)
		close(fds[i]);
	EXPECT_EQ(0, device_stats(&self->dev, GPROF_STATS_ALL_CPUS, &st));
	EXPECT_LTS(0, st.out_time_running, st.out_time_running, st.out_time_enabled);
	TH_LOG("%llu of %llu ns", ull(st.out_time_running), ull(st.out_time_enabled));
}

/* ---- what an event may be asked for ---- */

TEST_F(period, precise_beyond_the_pmu_is_refused)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_HARDWARE, .size = sizeof(attr),
		.config = PERF_COUNT_HW_CPU_CYCLES, .sample_period = 1000000,
		.precise_ip = 3, .exclude_kernel = 1, .exclude_hv = 1,
	};
	int fd, ret;

	fd = syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
	self->params.precise = 3;
	ret = device_setup(&self->dev, &self->setup);
	if (fd >= 0)
		close(fd);
#ifdef __x86_64__	/* elsewhere perf takes any level, and knows none */
	if (fd >= 0) {
		EXPECT_EQ(0, ret);
		return;
	}
#endif
	EXPECT_TRUE(ret == -EOPNOTSUPP || ret == -ENOENT || ret == -EINVAL)
		TH_LOG("SETUP: %d", ret);
	EXPECT_EQ(GPROF_REASON_PRECISE, self->setup.out_reason);
	self->params.precise = 0;
	EXPECT_EQ(0, device_setup(&self->dev, &self->setup));
}

TEST_F(period, kernel_mode_is_counted_when_asked_for)
{
	uint64_t least[2] = { UINT64_MAX, UINT64_MAX };
	struct gprof_stats st;
	char byte;
	int fd, i, n, kernel;

	fd = open("/dev/zero", O_RDONLY);
	/* emulated cycles go on while the host does something else: the least counts */
	for (i = 0; i < 10; i++) {
		kernel = i & 1;
		self->params.flags = kernel ? GPROF_CPU_F_KERNEL : 0;
		ASSERT_EQ(0, device_record(&self->dev, &self->setup));
		for (n = 0; n < 5000; n++)
			EXPECT_EQ(1, read(fd, &byte, 1));
		ASSERT_ZEROS(device_stop(&self->dev),
			     device_stats(&self->dev, GPROF_STATS_ALL_CPUS, &st));
		device_close(&self->dev);
		if (st.out_count < least[kernel])
			least[kernel] = st.out_count;
	}
	close(fd);
	EXPECT_LT(2 * least[0], least[1]);
}

TEST_HARNESS_MAIN
