// SPDX-License-Identifier: GPL-2.0-only
/*
 * throughput_test: 10,000 samples a second on each of two CPUs for ten seconds, with the default
 * buffer, through the library: none is lost. On a machine of one CPU it bears the rate of both.
 */
#include "harness.h"
#include "device.h"
#include "record.h"
#include "workload.h"

#define HZ		20000	/* of all CPUs together */
#define SECONDS		10
#define MOST_CPUS	2

static void burn(void *arg, int step)
{
	pin_to(*(int *)arg);
	burn_until(UINT64_MAX);
}

FIXTURE(throughput) {
	struct child children[MOST_CPUS];
	int cpus[MOST_CPUS];
	unsigned int nr;
	char list[32];
};

FIXTURE_SETUP(throughput)
{
	self->nr = nr_online_cpus() < MOST_CPUS ? 1 : MOST_CPUS;
	for (unsigned int i = 0; i < self->nr; i++) {
		self->cpus[i] = online_cpu(i);
		ASSERT_EQ(0, child_fork(&self->children[i], burn, &self->cpus[i]));
		ASSERT_EQ(0, child_begin(&self->children[i]));
		snprintf(self->list + strlen(self->list), 12, "%s%d", i ? "," : "", self->cpus[i]);
	}
}

FIXTURE_TEARDOWN(throughput)
{
	for (unsigned int i = 0; i < self->nr; i++)
		child_end(&self->children[i]);
}

/* Records the CPUs and returns the counts; the profile must have what was read. */
static struct gprof_recorder_stats record(struct __test_metadata *_metadata,
					  FIXTURE_DATA(throughput) *self,
					  const struct gprof_cpu_event *event)
{
	struct gprof_cpu_config cfg = {
		.sz = sizeof(cfg), .events = event, .nr_events = 1,
		.target = { .type = GPROF_CPUS, .name = self->list },
	};
	struct gprof_recorder_stats st = { .sz = sizeof(st) };
	struct gprof_recorder *r = gprof_cpu_recorder_new(&cfg);
	const char *error = "";
	struct gprof_profile *p;
	int fd = record_file();

	EXPECT_NE(NULL, r) TH_LOG("%s", gprof_error());
	if (!r)
		return st;
	EXPECT_EQ(0, gprof_recorder_start(r, fd)) TH_LOG("%s", gprof_error());
	sleep_ms(SECONDS * 1000);
	EXPECT_EQ(0, gprof_recorder_stop(r)) TH_LOG("%s", gprof_error());
	EXPECT_EQ(0, gprof_recorder_stats(r, 0, &st));
	gprof_recorder_free(r);
	p = record_profile(fd, &error);
	EXPECT_NE(NULL, p) TH_LOG("%s", error);
	TH_LOG("%s: produced=%llu read=%llu lost=%llu, %llu a second and CPU; throttled=%llu",
	       event->name, ull(st.produced), ull(st.read), ull(st.lost),
	       ull(st.produced) / SECONDS / self->nr, ull(st.throttled));
	EXPECT_EQS(st.produced, st.read + st.lost + st.overwritten, 0, st.lost, 0, st.overwritten);
	if (p) {
		EXPECT_EQ(st.read, gprof_profile_total(p, 0));
	}
	gprof_profile_free(p);
	return st;
}

/*
 * An emulated machine on a busy host may not get to so many interrupts; what it
 * got to must not be lost, and must be a fifth at least, or nothing was tested.
 */
#define ALL	(HZ * SECONDS)
#define LEAST	(ALL / 5)

TEST_F(throughput, ten_thousand_timer_samples_a_second_and_cpu_are_not_lost)
{
	struct gprof_cpu_event event = { .name = "timer", .hz = HZ / self->nr,
					 .flags = GPROF_EVENT_KERNEL };
	struct gprof_recorder_stats st;

	st = record(_metadata, self, &event);
	EXPECT_WITHIN(LEAST, st.produced, ALL * 12 / 10);
}

TEST_F(throughput, ten_thousand_overflows_a_second_and_cpu_are_not_lost)
{
	/* the emulated PMU counts 10^9 cycles a second */
	struct gprof_cpu_event event = { .name = "cycles", .period = 1000000000 / HZ * self->nr,
					 .flags = GPROF_EVENT_KERNEL };
	int refused = perf_refuses(PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, true);
	struct gprof_recorder_stats st;

	SKIP_UNLESS(!refused, "perf has no cycles here: %s", strerror(refused));
	perf_at_any_rate();
	st = record(_metadata, self, &event);
	EXPECT_LE(LEAST, st.produced);
}

TEST_HARNESS_MAIN
