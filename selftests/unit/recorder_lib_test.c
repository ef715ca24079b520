// SPDX-License-Identifier: GPL-2.0-only
/* What recorders refuse before they ask the kernel, and how they say it. */
#include "harness.h"
#include <gprof/info.h>
#include <gprof/profile.h>
#include <gprof/recorder.h>

#include "device/device.h"
#include <gprof/sched_stats.h>
#include <gprof/trace.h>
#include <gprof/utilization.h>
#include "lib_util.h"

FIXTURE(recorder) {
	struct gprof_cpu_event ev[2];
	struct gprof_cpu_config cfg;
};

FIXTURE_SETUP(recorder)
{
	self->ev[0].name = "timer";
	self->ev[1].name = "cycles";
	self->cfg.sz = sizeof(self->cfg);
	self->cfg.events = self->ev;
	self->cfg.nr_events = 1;
}

FIXTURE_TEARDOWN(recorder)
{
}

/* The recorder is refused with this errno, and the sentence has this in it. */
#define REFUSED(error, word) do {						\
	errno = 0;								\
	EXPECT_EQ(NULL, gprof_cpu_recorder_new(&self->cfg));			\
	EXPECT_EQ(error, errno);						\
	EXPECT_NE(NULL, strstr(gprof_error(), word)) {		\
		TH_LOG("%s", gprof_error());			\
	}									\
} while (0)

TEST_F(recorder, a_missing_module_is_named)
{
	struct gprof_host *h;

	if (!access("/dev/gprof", F_OK))
		SKIP(return, "the module is loaded");
	REFUSED(ENOENT, "gprof.ko is not loaded");
	EXPECT_SAYS(gprof_error(), "modprobe gprof");
	h = gprof_host_new();
	EXPECT_EQS(NULL, h, ENOENT, errno);
	EXPECT_SAYS(gprof_error(), "gprof.ko is not loaded");
	gprof_host_free(h);
}

TEST_F(recorder, a_configuration_grows_compatibly)
{
	struct { struct gprof_cpu_config cfg; uint64_t later; } newer = { .cfg = self->cfg };

	self->cfg.sz = offsetof(struct gprof_cpu_config, on_exec);
	REFUSED(EINVAL, "sz");
	self->cfg.sz = 0;
	REFUSED(EINVAL, "sz");

	newer.cfg.sz = sizeof(newer);
	newer.later = 1;
	EXPECT_ERRNO(E2BIG, gprof_cpu_recorder_new(&newer.cfg));
	/* What is new and 0 is as before: the next complaint is another. */
	newer.later = 0;
	newer.cfg.target.type = 99;
	EXPECT_ERRNO(EINVAL, gprof_cpu_recorder_new(&newer.cfg));
	EXPECT_ERRNO(EINVAL, gprof_cpu_recorder_new(NULL));
	EXPECT_ERRNO(EINVAL, gprof_tracepoint_recorder_new(NULL));
}

TEST_F(recorder, the_timer_takes_hz_and_others_take_periods)
{
	self->ev[0].period = 1000;
	REFUSED(EINVAL, "hz");
	self->ev[0] = (struct gprof_cpu_event){ .name = "cycles", .hz = 100 };
	REFUSED(EINVAL, "period");
	self->ev[0] = (struct gprof_cpu_event){ .name = "timer", .hz = 100001 };
	REFUSED(EINVAL, "100001 Hz is too fast");
	self->ev[0] = (struct gprof_cpu_event){ .name = "cycles", .period = 99 };
	REFUSED(EINVAL, "period of 99");
	self->ev[0] = (struct gprof_cpu_event){ .name = "cycles", .period = (1ULL << 48) + 1 };
	REFUSED(EINVAL, "out of range");
}

TEST_F(recorder, bad_events_are_refused)
{
	self->ev[0].precise = 4;
	REFUSED(EINVAL, "precision of 4");
	self->ev[0].precise = 0;
	self->ev[0].flags = 1U << 31;
	REFUSED(EINVAL, "unknown flags 0x80000000");
	self->ev[0].flags = 0;
	self->ev[0].name = "cyclez";
	REFUSED(ENOENT, "cyclez");
	self->ev[0].name = "";
	REFUSED(EINVAL, "no name");
	self->ev[0].name = NULL;
	REFUSED(EINVAL, "no name");
	self->cfg.events = NULL;
	REFUSED(EINVAL, "events");
	self->cfg.nr_events = 1000000;
	REFUSED(EINVAL, "1000000 events");
}

TEST_F(recorder, the_same_event_twice_is_refused)
{
	self->cfg.nr_events = 2;
	self->ev[1].name = "timer";
	self->ev[1].hz = 10;
	REFUSED(EEXIST, "same event");
	self->ev[0] = (struct gprof_cpu_event){ .name = "r3c" };
	self->ev[1] = (struct gprof_cpu_event){ .name = "r03C", .period = 1000 };
	REFUSED(EEXIST, "r03C");
}

TEST_F(recorder, bad_targets_are_refused)
{
	self->cfg.target = (struct gprof_target){ GPROF_PROCESS, 0, NULL };
	REFUSED(EINVAL, "0 is no process id");
	self->cfg.target = (struct gprof_target){ GPROF_THREAD, -5, NULL };
	REFUSED(EINVAL, "-5 is no thread id");
	self->cfg.target = (struct gprof_target){ GPROF_CGROUP, 0, "/nonexistent" };
	REFUSED(ENOENT, "/nonexistent");
	self->cfg.target = (struct gprof_target){ GPROF_CGROUP, 0, NULL };
	REFUSED(EINVAL, "path");
	self->cfg.target = (struct gprof_target){ GPROF_CGROUP, 0, "/dev/null" };
	REFUSED(ENOTDIR, "/dev/null");
	self->cfg.target = (struct gprof_target){ GPROF_CPUS, 0, "0-x" };
	REFUSED(EINVAL, "0-x");
	self->cfg.target = (struct gprof_target){ GPROF_CPUS, 0, NULL };
	REFUSED(EINVAL, "list of CPUs");
	self->cfg.target = (struct gprof_target){ 99, 0, NULL };
	REFUSED(EINVAL, "99");
}

TEST_F(recorder, bad_tracepoints_are_refused)
{
	struct gprof_tracepoint_config cfg = { .sz = sizeof(cfg) };

	EXPECT_ERRNO(EINVAL, gprof_tracepoint_recorder_new(&cfg));
	cfg.event = "sched_switch";
	EXPECT_ERRNO(EINVAL, gprof_tracepoint_recorder_new(&cfg));
	EXPECT_SAYS(gprof_error(), "CATEGORY:NAME");
	cfg.event = "sched:sched_switch";
	cfg.period = (1ULL << 48) + 1;
	EXPECT_ERRNO(EINVAL, gprof_tracepoint_recorder_new(&cfg));
	cfg.period = 0;
	cfg.sz = 4;
	EXPECT_ERRNO(EINVAL, gprof_tracepoint_recorder_new(&cfg));
}

static void refuse_kind(struct __test_metadata *_metadata, struct gprof_recorder_config *cfg,
			int err, const char *sentence)
{
	cfg->sz = sizeof(*cfg);
	EXPECT_ERRNO(err, gprof_recorder_new(cfg));
	EXPECT_SAYS(gprof_error(), sentence);
}

TEST_F(recorder, bad_kinds_are_refused)
{
	struct gprof_kind_config kinds[2] = { { .kind = "block" }, { .kind = "mutex" } };
	struct gprof_recorder_config cfg = { .kinds = kinds, .nr_kinds = 2 };

	kinds[1].kind = "block";
	refuse_kind(_metadata, &cfg, EEXIST, "block is given twice");
	kinds[1].kind = "blok";
	refuse_kind(_metadata, &cfg, ENOENT, "blok: no such kind");
	kinds[1].kind = NULL;
	refuse_kind(_metadata, &cfg, ENOENT, "no such kind");
	kinds[1] = (struct gprof_kind_config){ .kind = "mutex", .rate = (1ULL << 48) + 1 };
	refuse_kind(_metadata, &cfg, EINVAL, "too many");
	kinds[1] = (struct gprof_kind_config){ .kind = "cpu", .rate = 100001 };
	refuse_kind(_metadata, &cfg, EINVAL, "100001 Hz is too fast");
	kinds[1] = (struct gprof_kind_config){ .kind = "mutex", .flags = 1U << 31 };
	refuse_kind(_metadata, &cfg, EINVAL, "unknown flags 0x80000000");
	kinds[1] = (struct gprof_kind_config){ .kind = "mutex", .reserved = 1 };
	refuse_kind(_metadata, &cfg, E2BIG, "older than the program");
	kinds[1] = (struct gprof_kind_config){ .kind = "alloc", .flags = GPROF_RECORD_OVER_TIME };
	refuse_kind(_metadata, &cfg, EINVAL, "is of a heap");
	kinds[1] = (struct gprof_kind_config){ .kind = "heap", .grown_since_ms = 1 };
	refuse_kind(_metadata, &cfg, EINVAL, "wants GPROF_RECORD_OVER_TIME");
	kinds[1] = (struct gprof_kind_config){ .kind = "user-heap", .flags = GPROF_RECORD_OVER_TIME };
	cfg.flight = true;
	refuse_kind(_metadata, &cfg, EINVAL, "a flight recorder has no memory over time");
	/* That is no reason where it is an extra, and nothing of other kinds. */
	kinds[0] = kinds[1] = (struct gprof_kind_config){ "user-heap", 0, GPROF_RECORD_TRY_OVER_TIME };
	refuse_kind(_metadata, &cfg, EEXIST, "user-heap is given twice");
	cfg.flight = false;
	kinds[0].kind = kinds[1].kind = "alloc";
	refuse_kind(_metadata, &cfg, EEXIST, "alloc is given twice");
	cfg.nr_kinds = 0;
	refuse_kind(_metadata, &cfg, EINVAL, "0 kinds");
	cfg.nr_kinds = 65;
	refuse_kind(_metadata, &cfg, EINVAL, "65 kinds");
	EXPECT_ERRNO(EINVAL, gprof_recorder_new(NULL));
}

static void *other_thread(void *arg)
{
	return (void *)(intptr_t)strlen(gprof_error());
}

TEST_F(recorder, a_failed_constructor_speaks_to_its_own_thread)
{
	pthread_t thread;
	void *len;

	self->ev[0].name = "cyclez";
	REFUSED(ENOENT, "cyclez");
	ASSERT_EQ(0, pthread_create(&thread, NULL, other_thread, NULL));
	pthread_join(thread, &len);
	EXPECT_EQ(0, (intptr_t)len);
	EXPECT_SAYS(gprof_error(), "cyclez");
}

TEST_F(recorder, nothing_can_be_freed)
{
	gprof_recorder_free(NULL);
	gprof_profile_free(NULL);
	gprof_host_free(NULL);
}

TEST(every_reason_has_a_sentence_that_names_the_event)
{
	struct gprof_error e, general;

	gprof_device_explain(EINVAL, 12345, GPROF_KIND_CPU, "SETUP", "zork", &general);
	EXPECT_STREQ("zork: SETUP failed: Invalid argument", general.text);
	for (uint32_t reason = GPROF_REASON_FLAGS; reason <= GPROF_REASON_PARANOID; reason++) {
		EXPECT_EQ(-EINVAL, gprof_device_explain(EINVAL, reason, GPROF_KIND_CPU, "SETUP",
							"zork", &e));
		EXPECT_EQ(EINVAL, e.err);
		EXPECT_EQ(&e.text[0], strstr(e.text, "zork: ")) TH_LOG("%u: %s", reason, e.text);
		EXPECT_STRNE(general.text, e.text) TH_LOG("%u: %s", reason, e.text);
	}
}

/* One style: errno and a sentence from every function that fails, of the last one only. */
TEST(every_failure_is_told_in_one_way)
{
	static const double no_quantile = 2;
	struct gprof_utilization *u = gprof_utilization_new(0);
	const struct gprof_util_function *functions;
	struct gprof_sched_stats st = { .sz = sizeof(st) };
	struct gprof_trace_stats ts = { .sz = 1 };
	struct gprof_trace_event ev = { 0 };
	struct gprof_sched_value v;
	char header[16] = "go 1.23 trace";
	struct gprof_trace *t = gprof_trace_new_memory(header, sizeof(header), NULL);
	struct gprof_mmu *m;
	size_t nr;

#define TELLS(_errno, _sentence) do {						\
	EXPECT_EQ(_errno, errno);						\
	EXPECT_NE(NULL, strstr(gprof_error(), _sentence)) {			\
		TH_LOG("%s", gprof_error());					\
	}									\
} while (0)

	EXPECT_EQ(NULL, gprof_profile_read(-1));
	TELLS(EBADF, "");
	EXPECT_LT(0, strlen(gprof_error()));
	EXPECT_EQ(NULL, gprof_utilization_new(1U << 31));
	TELLS(EINVAL, "flags 0x80000000");
	ASSERT_NE(NULL, u);
	EXPECT_EQ(0, gprof_utilization_finish(u, &functions, &nr));
	EXPECT_EQ(-EINVAL, gprof_utilization_add(u, &ev));
	TELLS(EINVAL, "takes no more events");
	m = gprof_mmu_new(functions, nr);
	ASSERT_NE(NULL, m);
	EXPECT_EQ(-EINVAL, gprof_mmu_quantiles(m, 1, &no_quantile, 1, &(double){ 0 }));
	TELLS(EINVAL, "2 is no quantile");
	EXPECT_EQ(-ENOENT, gprof_sched_stats_get(&st, "nothing", &v));
	TELLS(ENOENT, "\"nothing\"");
	ASSERT_NE(NULL, t);
	EXPECT_EQ(-EINVAL, gprof_trace_stats(t, &ts));
	TELLS(EINVAL, "sz is 1");
	gprof_trace_free(t);
	EXPECT_EQ(NULL, gprof_trace_new_memory("hello", 5, NULL));
	TELLS(EBADMSG, "no execution trace");
	gprof_mmu_free(m);
	gprof_utilization_free(u);
}

TEST(a_missing_counter_points_to_the_timer)
{
	static const int errors[] = { ENOENT, ENODEV, EOPNOTSUPP, EINVAL, EBUSY, EACCES };
	struct gprof_error e;

	gprof_device_explain(ENOENT, GPROF_REASON_EVENT, GPROF_KIND_CPU, "SETUP", "cycles", &e);
	EXPECT_STREQ("cycles: this CPU (or virtual machine) has no such hardware counter (No such "
		     "file or directory); use -e timer, which works everywhere", e.text);
	for (size_t i = 0; i < sizeof(errors) / sizeof(errors[0]); i++) {
		gprof_device_explain(errors[i], GPROF_REASON_EVENT, GPROF_KIND_CPU, "SETUP",
				     "cycles", &e);
		EXPECT_SAYS(e.text, gprof_strerror(errors[i]));
	}
}

/* Tracepoints and probes are the kernel's: neither CPU nor timer has to do with them. */
TEST(what_a_kernel_lacks_is_not_told_as_a_counter)
{
	static const struct { uint32_t kind; const char *says; } kinds[] = {
		{ GPROF_KIND_TRACEPOINT, "no such tracepoint" },
		{ GPROF_KIND_SCHED, "CONFIG_TRACEPOINTS" },
		{ GPROF_KIND_TRACE, "CONFIG_TRACEPOINTS" },
		{ GPROF_KIND_BLOCK, "CONFIG_TRACEPOINTS" },
		{ GPROF_KIND_MUTEX, "leave out the kernel's locks" },
		{ GPROF_KIND_ALLOC, "gprofctl info" }, { GPROF_KIND_HEAP, "CONFIG_KPROBES" },
	};
	static const int errors[] = { ENOENT, EOPNOTSUPP };
	struct gprof_error e;

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		for (size_t j = 0; j < sizeof(errors) / sizeof(errors[0]); j++) {
			EXPECT_EQ(-errors[j],
				  gprof_device_explain(errors[j], GPROF_REASON_EVENT, kinds[i].kind,
						       "START", "zork", &e));
			EXPECT_EQ(&e.text[0], strstr(e.text, "zork: this kernel "));
			EXPECT_SAYS(e.text, kinds[i].says);
			EXPECT_LACKS(e.text, "counter", "-e timer");
		}
	}
	gprof_device_explain(EINTR, GPROF_REASON_EVENT, GPROF_KIND_TASK, "START", "zork", &e);
	EXPECT_STREQ("zork: START failed: Interrupted system call", e.text);
	gprof_device_explain(ENOMEM, GPROF_REASON_EVENT, GPROF_KIND_CPU, "START", "zork", &e);
	EXPECT_STREQ("zork: no memory for the buffers; ask for smaller ones", e.text);
}

TEST_HARNESS_MAIN
