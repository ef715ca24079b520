// SPDX-License-Identifier: GPL-2.0-only
/* Names of events, PMUs, tracepoints and CPUs, with an imitation of sysfs. */
#include "harness.h"
#include <gprof/count.h>
#include <linux/perf_event.h>

#include "base/edit_distance.h"
#include "device/device.h"
#include "device/event.h"
#include "device/filter.h"
#include "lib_util.h"
#include "device/pmu.h"
#include "device/pmu_cpus.h"
#include "device/target.h"
#include "device/trace_setup.h"
#include "device/tracepoint.h"

FIXTURE(event) {
	const char *dir;
	struct gprof_event ev;
	struct gprof_error e;
};

FIXTURE_SETUP(event)
{
	static const char *const files[][2] = {
		{ "cpu/type", "4\n" }, { "cpu/format/event", "config:0-7,32-35\n" },
		{ "cpu/format/umask", "config:8-15\n" }, { "cpu/format/edge", "config:18\n" },
		{ "cpu/format/offcore_rsp", "config1:0-63\n" },
		{ "cpu/format/ldlat", "config2:0-15\n" },
		{ "cpu/format/odd", "config9:0-15\n" }, { "cpu/format/broken", "config:7-3\n" },
		{ "cpu/events/cache-misses", "event=0x2e,umask=0x41\n" },
		{ "cpu/events/mem-loads", "event=0xcd,umask=?,ldlat=3\n" },
		{ "cpu/events/cache-misses.scale", "1.0\n" }, { "uncore/type", "17\n" },
		{ "uncore/events/clockticks", "config=0xff\n" }, { "nonsense/type", "what\n" },
	};

	self->dir = lib_tmpdir();
	ASSERT_NE(NULL, self->dir);
	for (size_t i = 0; i < ARRAY_SIZE(files); i++)
		ASSERT_TRUE(lib_write(self->dir, files[i][0], files[i][1]));
}

FIXTURE_TEARDOWN(event)
{
	lib_sh("rm -rf %s", self->dir);
}

TEST_F(event, presets_have_the_kernels_numbers)
{
	static const struct { const char *name; uint32_t type; uint64_t config; } want[] = {
		{ "timer", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK },
		{ "cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES },
		{ "instructions", PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS },
		{ "cacheReferences", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_REFERENCES },
		{ "cacheMisses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES },
		{ "branches", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_INSTRUCTIONS },
		{ "branchMisses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_MISSES },
		{ "page-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS },
		{ "minor-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS_MIN },
		{ "major-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS_MAJ },
		{ "context-switches", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CONTEXT_SWITCHES },
		{ "cpu-migrations", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_MIGRATIONS },
	};

	for (size_t i = 0; i < sizeof(want) / sizeof(want[0]); i++) {
		ASSERT_EQ(0, gprof_event_parse(self->dir, want[i].name, &self->ev, &self->e));
		EXPECT_EQS(want[i].type, self->ev.pmu.type, want[i].config, self->ev.pmu.config[0],
			   i == 0, self->ev.timer);
		EXPECT_NE(0, self->ev.period);
	}
}

TEST_F(event, timer_preset_is_100_hz)
{
	ASSERT_EQ(0, gprof_event_parse(self->dir, "timer", &self->ev, &self->e));
	EXPECT_EQ(10000000, self->ev.period);
}

/* Formats and types that are at a bound, or beyond one. */
static void write_odd(const char *dir)
{
	static const char *const files[][2] = {
		{ "cpu/format/top", "config1:60-63" }, { "cpu/format/single", "config:5-5" },
		{ "cpu/format/twice", "config:0-63,3" }, { "most/type", "4294967295\r\n" },
		{ "cpu/format/beyond", "config:60-64" }, { "cpu/format/nowhere", "config" },
		{ "cpu/format/empty", "config:" }, { "cpu/format/endless", "config:0-" },
		{ "cpu/format/tail", "config:0-7x" }, { "cpu/format/more", "config:0-7," },
		{ "beyond/type", "4294967296" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(files); i++)
		lib_write(dir, files[i][0], files[i][1]);
}

TEST_F(event, names_and_terms_have_their_numbers)
{
	static const struct { const char *text; uint32_t type; uint64_t config[3]; } rows[] = {
		/* raw numbers are hexadecimal */
		{ "r1A8", PERF_TYPE_RAW, { 0x1a8 } },
		/* a format in pieces takes the low bits first */
		{ "cpu/event=0xabc,umask=0x12/", 4, { 0xa000012bcULL } },
		/* terms reach all three words */
		{ "cpu/edge,offcore_rsp=0xffffffffffffffff,ldlat=7/", 4, { 1ULL << 18, UINT64_MAX, 7 } },
		{ "cpu/config=0x11,config2=3/", 4, { 0x11, 0, 3 } },
		/* named events are found in their PMU, and in any */
		{ "cpu/cache-misses/", 4, { 0x412e } }, { "cache-misses", 4, { 0x412e } },
		{ "clockticks", 17, { 0xff } },
		/* terms behind a name change its terms */
		{ "cpu/cache-misses,umask=1/", 4, { 0x12e } },
		{ "cpu/mem-loads,umask=1/", 4, { 0x1cd, 0, 3 } },
		/* to the last bit, of one bit, and of bits that a format has named before */
		{ "cpu/top=15/", 4, { 0, 15ULL << 60 } }, { "cpu/single=1/", 4, { 32 } },
		{ "cpu/twice=0xff/", 4, { 0xf7 } }, { "cpu/umask=0x12,umask=1/", 4, { 0x100 } },
		{ "most/config1=0xffffffffffffffff/", UINT32_MAX, { 0, UINT64_MAX } },
	};

	write_odd(self->dir);

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		ASSERT_EQ(0, gprof_event_parse(self->dir, rows[i].text, &self->ev, &self->e));
		EXPECT_EQ(rows[i].type, self->ev.pmu.type) TH_LOG("%s", rows[i].text);
		EXPECT_EQ(0, memcmp(rows[i].config, self->ev.pmu.config, sizeof(rows[i].config)))
			TH_LOG("%s", rows[i].text);
	}
}

TEST_F(event, what_is_wrong_is_said)
{
	static const struct { const char *text; int err; const char *said; } rows[] = {
		{ "r12345678123456781", -EINVAL, NULL }, { "r", -ENOENT, NULL },
		{ "r12x", -ENOENT, NULL },
		/* values that do not fit */
		{ "cpu/umask=0x100/", -EINVAL, "umask" }, { "cpu/event=0x1000/", -EINVAL, NULL },
		{ "cpu/edge=2/", -EINVAL, NULL }, { "cpu/event=x/", -EINVAL, NULL },
		{ "cpu/event=/", -EINVAL, NULL },
		/* what is not there */
		{ "gpu/busy/", -ENOENT, "beyond cpu most nonsense uncore" },
		{ "cpu/nothing/", -ENOENT, "nothing" }, { "cpu/zork=1/", -ENOENT, "zork" },
		{ "cycle", -ENOENT, "gprofctl info" }, { "", -ENOENT, NULL },
		{ "sched:sched_switch", -ENOENT, "gprofctl profile -e" },
		/* syntax */
		{ "/", -EINVAL, NULL }, { "//", -EINVAL, NULL }, { "cpu/", -EINVAL, NULL },
		{ "/x/", -EINVAL, NULL }, { "cpu/x", -EINVAL, NULL },
		{ "cpu/a/b/", -EINVAL, NULL }, { "cpu//", -EINVAL, NULL },
		{ "../x", -EINVAL, NULL },
		/* sysfs that is not understood */
		{ "nonsense/event=1/", -EIO, NULL }, { "cpu/odd=1/", -EOPNOTSUPP, NULL },
		{ "cpu/broken=1/", -EIO, NULL }, { "cpu/beyond=1/", -EIO, "config:60-64" },
		{ "cpu/nowhere=1/", -EIO, NULL }, { "cpu/empty=1/", -EIO, NULL },
		{ "cpu/endless=1/", -EIO, NULL }, { "cpu/tail=1/", -EIO, NULL },
		{ "cpu/more=1/", -EIO, NULL }, { "beyond/config=1/", -EIO, "4294967296" },
		/* numbers that are none, or too large */
		{ "cpu/event=1x/", -EINVAL, "1x" }, { "cpu/event=-1/", -EINVAL, "-1" },
		{ "cpu/config=0x10000000000000000/", -EINVAL, "0x10000000000000000" },
		{ "cpu/event=?/", -EINVAL, "?" }, { "cpu/mem-loads,zork/", -ENOENT, "zork" },
	};
	char name[1100];

	write_odd(self->dir);

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		EXPECT_EQ(rows[i].err,
			  gprof_event_parse(self->dir, rows[i].text, &self->ev, &self->e))
			TH_LOG("\"%s\"", rows[i].text);
		if (rows[i].said)
			EXPECT_SAYS(self->e.text, rows[i].said);
	}
	EXPECT_GT(0, gprof_event_parse(self->dir, "../cpu/x/", &self->ev, &self->e));
	/* names as long as may be, and longer */
	for (int length = 127; length <= 128; length++) {
		snprintf(name, sizeof(name), "%0*d/x/", length, 0);
		EXPECT_EQ(length < 128 ? -ENOENT : -EINVAL,
			  gprof_event_parse(self->dir, name, &self->ev, &self->e));
	}
	/* and some of many PMUs */
	for (int i = 0; i < 60; i++)
		lib_write(self->dir, lib_text("pmu%02d/type", i), "1");
	EXPECT_EQ(-ENOENT, gprof_event_parse(self->dir, "gpu/busy/", &self->ev, &self->e));
	EXPECT_SAYS(self->e.text, "it has: beyond cpu most nonsense pmu00 pmu01 ", " pmu36 ...");
}

TEST_F(event, one_event_under_two_names_is_the_same)
{
	struct gprof_event a, b;

	ASSERT_EQ(0, gprof_event_parse(self->dir, "cpu/cache-misses/", &a, &self->e));
	ASSERT_EQ(0, gprof_event_parse(self->dir, "cpu/event=0x2e,umask=0x41/", &b, &self->e));
	EXPECT_TRUE(gprof_event_same(&a, &b));
	ASSERT_EQ(0, gprof_event_parse(self->dir, "r412e", &b, &self->e));
	EXPECT_TRUE(gprof_event_same(&a, &b));
	ASSERT_EQ(0, gprof_event_parse(self->dir, "r412f", &b, &self->e));
	EXPECT_FALSE(gprof_event_same(&a, &b));
}

TEST_F(event, lists_are_sorted_and_leave_out_scales)
{
	char **names;
	size_t nr;

	ASSERT_EQS(0, gprof_pmu_list(self->dir, NULL, &names, &nr), 3, nr);
	EXPECT_STREQS("cpu", names[0], "nonsense", names[1], "uncore", names[2]);
	gprof_pmu_list_free(names, nr);
	ASSERT_EQS(0, gprof_pmu_list(self->dir, "cpu", &names, &nr), 2, nr);
	EXPECT_STREQS("cache-misses", names[0], "mem-loads", names[1]);
	gprof_pmu_list_free(names, nr);
}

/* CPUs 0 to 3 of one kind, 4 to 11 of another, as hybrid hosts and big.LITTLE have them. */
TEST_F(event, what_some_cpus_alone_count_is_refused)
{
	static const uint64_t fast = 0xf, slow = 0xff0, both = 0xfff, beyond[2] = { 0xf0, 1 };
	static const struct {
		uint32_t target;
		uint32_t type;
		const uint64_t *cpus;
		uint32_t cpus_size;
		int err;
	} want[] = {
		{ GPROF_TARGET_THREAD, PERF_TYPE_HARDWARE, NULL, 0, -EOPNOTSUPP },
		{ GPROF_TARGET_PROCESS, PERF_TYPE_HW_CACHE, NULL, 0, -EOPNOTSUPP },
		{ GPROF_TARGET_PROCESS, PERF_TYPE_RAW, NULL, 0, -EOPNOTSUPP },
		{ GPROF_TARGET_PROCESS, 10, NULL, 0, -EOPNOTSUPP },
		{ GPROF_TARGET_PROCESS, PERF_TYPE_SOFTWARE, NULL, 0, 0 },
		{ GPROF_TARGET_PROCESS, 17, NULL, 0, 0 },
		{ GPROF_TARGET_SYSTEM, PERF_TYPE_HARDWARE, NULL, 0, 0 },
		{ GPROF_TARGET_CGROUP, PERF_TYPE_HARDWARE, NULL, 0, 0 },
		{ GPROF_TARGET_SYSTEM, PERF_TYPE_RAW, NULL, 0, -EOPNOTSUPP },
		{ GPROF_TARGET_SYSTEM, 8, NULL, 0, -EOPNOTSUPP },
		{ GPROF_TARGET_SYSTEM, 17, NULL, 0, 0 },
		{ GPROF_TARGET_CPUS, PERF_TYPE_HARDWARE, &both, 8, 0 },
		{ GPROF_TARGET_CPUS, PERF_TYPE_RAW, &slow, 8, 0 },
		{ GPROF_TARGET_CPUS, 8, &fast, 8, 0 },
		{ GPROF_TARGET_CPUS, 8, &both, 8, -EOPNOTSUPP },
		{ GPROF_TARGET_CPUS, 10, &slow, 8, 0 },
		{ GPROF_TARGET_CPUS, 10, &fast, 8, -EOPNOTSUPP },
		{ GPROF_TARGET_CPUS, 10, beyond, 16, -EOPNOTSUPP },
		{ GPROF_TARGET_CPUS, 17, &both, 8, 0 },
	};
	struct gprof_setup setup = { .target = GPROF_TARGET_PROCESS };

	/* Where there is one kind, nothing is. */
	ASSERT_TRUE(lib_write(self->dir, "fast/type", "8\n"));
	ASSERT_TRUE(lib_write(self->dir, "fast/cpus", "0-3\n"));
	EXPECT_EQ(0, gprof_pmu_cpus_check(self->dir, &setup, PERF_TYPE_HARDWARE, "cycles",
					  &self->e));
	ASSERT_TRUE(lib_write(self->dir, "slow/type", "10\n"));
	ASSERT_TRUE(lib_write(self->dir, "slow/cpus", "4-11\n"));
	for (size_t i = 0; i < sizeof(want) / sizeof(want[0]); i++) {
		setup.target = want[i].target;
		setup.cpus = (uintptr_t)want[i].cpus;
		setup.cpus_size = want[i].cpus_size;
		EXPECT_EQ(want[i].err, gprof_pmu_cpus_check(self->dir, &setup, want[i].type, "e",
							    &self->e)) TH_LOG("case %zu", i);
	}
	setup.target = GPROF_TARGET_PROCESS;
	gprof_pmu_cpus_check(self->dir, &setup, PERF_TYPE_HARDWARE, "cycles", &self->e);
	EXPECT_STREQ("cycles: this host has CPUs of several kinds (fast: CPUs 0-3, slow: CPUs 4-11), "
		     "and a counter counts on one kind alone, so that all that is done on the others "
		     "would be missing; record CPUs of one kind (CPUs 0-3), or by the timer",
		     self->e.text);
}

FIXTURE(tracepoint) {
	const char *dir;
	struct gprof_error e;
	uint64_t id;
};

FIXTURE_SETUP(tracepoint)
{
	self->dir = lib_tmpdir();
	ASSERT_NE(NULL, self->dir);
	ASSERT_TRUE(lib_write(self->dir, "events/sched/sched_switch/id", "314\n"));
	ASSERT_TRUE(lib_write(self->dir, "events/sched/sched_process_fork/id", "315\n"));
	ASSERT_TRUE(lib_write(self->dir, "events/sched/filter", "none\n"));
	ASSERT_TRUE(lib_write(self->dir, "events/kmem/kmalloc/id", "400\n"));
}

FIXTURE_TEARDOWN(tracepoint)
{
	lib_sh("rm -rf %s", self->dir);
}

TEST_F(tracepoint, the_number_is_found_by_name)
{
	ASSERT_EQ(0, gprof_tracepoint_find(self->dir, "sched:sched_switch", &self->id, &self->e));
	EXPECT_EQ(314, self->id);
}

TEST_F(tracepoint, the_nearest_name_is_suggested)
{
	EXPECT_EQ(-ENOENT, gprof_tracepoint_find(self->dir, "sched:sched_proces_fork", &self->id,
						 &self->e));
	EXPECT_SAYS(self->e.text, "sched:sched_process_fork");
	EXPECT_EQ(-ENOENT, gprof_tracepoint_find(self->dir, "shed:sched_swich", &self->id,
						 &self->e));
	EXPECT_SAYS(self->e.text, "sched:sched_switch");
}

/* By hand: each kind of mistake, both ways, at either end, and words too long to compare. */
TEST(how_far_words_are_apart)
{
	static const struct { const char *a, *b; unsigned int edits; } rows[] = {
		{ "", "", 0 }, { "", "top", 3 }, { "top", "top", 0 }, { "top", "tip", 1 },
		{ "top", "stop", 1 }, { "top", "tops", 1 }, { "top", "tpo", 1 }, { "ab", "ba", 1 },
		{ "abcdef", "badcfe", 3 }, { "kitten", "sitting", 3 },
		/* what was swapped is not changed again */
		{ "ca", "abc", 3 },
	};
	char longest[GPROF_EDIT_DISTANCE_WORD_MAX + 2];

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		EXPECT_EQ(rows[i].edits, gprof_edit_distance(rows[i].a, rows[i].b))
			TH_LOG("%s and %s", rows[i].a, rows[i].b);
		EXPECT_EQ(rows[i].edits, gprof_edit_distance(rows[i].b, rows[i].a))
			TH_LOG("%s and %s", rows[i].b, rows[i].a);
	}
	memset(longest, 'x', sizeof(longest));
	longest[GPROF_EDIT_DISTANCE_WORD_MAX + 1] = '\0';
	EXPECT_EQ(GPROF_EDIT_DISTANCE_WORD_MAX + 1, gprof_edit_distance(longest, longest));
	EXPECT_EQ(0, gprof_edit_distance(longest + 1, longest + 1));
	EXPECT_EQ(GPROF_EDIT_DISTANCE_WORD_MAX, gprof_edit_distance("", longest + 1));
}

TEST_F(tracepoint, bad_names_are_refused)
{
	static const char *const bad[] = {
		"", "sched", ":x", "sched:", "a:b:c", "../x:y", "sched:../../x",
		"sched:sched/switch",
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		EXPECT_EQ(-EINVAL, gprof_tracepoint_find(self->dir, bad[i], &self->id, &self->e))
			TH_LOG("\"%s\"", bad[i]);
	}
	EXPECT_SAYS(self->e.text, "CATEGORY:NAME");
}

TEST(a_list_of_cpus_becomes_a_bitmap)
{
	uint64_t *bits;
	size_t size;

	ASSERT_EQ(0, gprof_cpu_list("0-3,6,64", &bits, &size));
	EXPECT_EQS(16, size, 0x4f, bits[0], 1, bits[1]);
	free(bits);
	ASSERT_EQ(0, gprof_cpu_list("63", &bits, &size));
	EXPECT_EQS(8, size, 1ULL << 63, bits[0]);
	free(bits);
	ASSERT_EQ(0, gprof_cpu_list("65535", &bits, &size));
	EXPECT_EQS(8192, size, 1ULL << 63, bits[1023]);
	free(bits);
}

TEST(bad_lists_of_cpus_are_refused)
{
	static const char *const bad[] = {
		"", ",", "1,", "-1", "3-1", "1-", "a", "1;2", "65536", "99999999", "0-99999999999999999999",
	};
	uint64_t *bits;
	size_t size, i;

	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		EXPECT_EQ(-EINVAL, gprof_cpu_list(bad[i], &bits, &size)) TH_LOG("\"%s\"", bad[i]);
	}
}

static const char format[] =
	"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
	"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n"
	"\n"
	"\tfield:size_t bytes;\toffset:8;\tsize:8;\tsigned:0;\n"
	"\tfield:long ret;\toffset:16;\tsize:8;\tsigned:1;\n"
	"\tfield:char comm[16];\toffset:24;\tsize:16;\tsigned:0;\n"
	"\tfield:__data_loc char[] name;\toffset:40;\tsize:4;\tsigned:0;\n"
	"\tfield:__rel_loc char[] near;\toffset:44;\tsize:4;\tsigned:0;\n"
	"\tfield:u8 flags[8];\toffset:48;\tsize:8;\tsigned:0;\n";

/* Each step as "WHAT@OFFSET/SIZE HOW VALUE YES NO", where P passes and D does not. */
static void show_steps(const struct gprof_filter *f, char *text)
{
	static const char *const hows[] = { "==", "!=", "<", "<=", ">", ">=", "&", "~" };
	static const char whats[] = "usatnCc";

	*text = '\0';
	for (unsigned int i = 0; i < f->nr; i++) {
		const struct gprof_filter_step *s = &f->steps[i];
		const unsigned int to[] = { s->yes, s->no };

		text += sprintf(text, "%c@%u/%u %s ", whats[s->what], s->offset, s->size,
				hows[s->how]);
		if (s->length)
			text += sprintf(text, "'%.*s'", (int)s->length, f->text + s->value);
		else
			text += sprintf(text, "%lld", (long long)s->value);
		for (int k = 0; k < 2; k++) {
			if (to[k] == GPROF_FILTER_PASS || to[k] == GPROF_FILTER_DROP)
				text += sprintf(text, to[k] == GPROF_FILTER_PASS ? " P" : " D");
			else
				text += sprintf(text, " %u", to[k]);
		}
		text += sprintf(text, "; ");
	}
}

TEST(filters_are_steps)
{
	static const struct { const char *filter, *steps; } rows[] = {
		{ "bytes == 4096", "u@8/8 == 4096 P D; " },
		{ "bytes != 4096", "u@8/8 != 4096 P D; " },
		{ "bytes < 4096", "u@8/8 < 4096 P D; " },
		{ "bytes <= 4096", "u@8/8 <= 4096 P D; " },
		{ "bytes > 4096", "u@8/8 > 4096 P D; " },
		{ "bytes >= 4096", "u@8/8 >= 4096 P D; " }, { "bytes & 0x10", "u@8/8 & 16 P D; " },
		{ "ret<=-1", "s@16/8 <= -1 P D; " }, { " common_pid==010 ", "s@4/4 == 8 P D; " },
		{ "common_type == 1", "u@0/2 == 1 P D; " },
		{ "comm ~ \"a*\"", "a@24/16 ~ 'a*' P D; " },
		{ "name == 'x y'", "t@40/4 == 'x y' P D; " },
		{ "near != 'z'", "n@44/4 != 'z' P D; " }, { "CPU <= 3", "C@0/0 <= 3 P D; " },
		{ "COMM == 'a' || name == 'bc'", "c@0/0 == 'a' P 1; t@40/4 == 'bc' P D; " },
		{ "!bytes == 1", "u@8/8 == 1 D P; " },
		{ "bytes > 1 && bytes < 9", "u@8/8 > 1 1 D; u@8/8 < 9 P D; " },
		{ "ret == 1 || bytes == 2 && bytes == 3",
		  "s@16/8 == 1 P 1; u@8/8 == 2 2 D; u@8/8 == 3 P D; " },
		{ "(ret == 1 || bytes == 2) && bytes == 3",
		  "s@16/8 == 1 2 1; u@8/8 == 2 2 D; u@8/8 == 3 P D; " },
		{ "!(ret == 1 && !(bytes == 2))", "s@16/8 == 1 1 P; u@8/8 == 2 P D; " },
		/* no fields of the kinds that there are */
		{ "flags == 1", NULL }, { "name < 'x'", NULL }, { "bytes ~ 'x'", NULL },
		{ "bytes == -1", NULL }, { "nothing == 1", NULL }, { "bytes <= ", NULL },
	};
	struct gprof_filter f;
	struct gprof_error e;
	char text[512];

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		int err = gprof_filter_compile(&f, "a:b", format, rows[i].filter, &e);

		EXPECT_EQ(rows[i].steps ? 0 : -EINVAL, err) TH_LOG("%s", rows[i].filter);
		if (err)
			continue;
		show_steps(&f, text);
		EXPECT_STREQ(rows[i].steps, text) TH_LOG("%s", rows[i].filter);
	}
}

TEST(a_filter_may_have_so_many_steps_and_so_much_text)
{
	char text[GPROF_FILTER_TEXT_MAX + 64] = "", *end = text;
	struct gprof_filter f;
	struct gprof_error e;

	for (int i = 0; i < GPROF_FILTER_STEPS_MAX; i++)
		end += sprintf(end, "%sret > 1", i ? " || " : "");
	EXPECT_EQS(0, gprof_filter_compile(&f, "a:b", format, text, &e),
		   GPROF_FILTER_STEPS_MAX, f.nr);
	strcpy(end, " || ret > 1");
	EXPECT_EQ(-E2BIG, gprof_filter_compile(&f, "a:b", format, text, &e));

	end = text + sprintf(text, "comm == '%0*d'", GPROF_FILTER_TEXT_MAX, 0);
	EXPECT_EQS(0, gprof_filter_compile(&f, "a:b", format, text, &e),
		   GPROF_FILTER_TEXT_MAX, f.text_size);
	strcpy(end - 1, "0'");
	EXPECT_EQ(-E2BIG, gprof_filter_compile(&f, "a:b", format, text, &e));
}

/* ---- the device ---- */

/* The module that answers the requests for tables. */
static struct {
	int refuses;	/* tables that name Python */
	struct gprof_unwind_table_add last;
	unsigned int asked;
} module;

int ioctl(int fd, unsigned long request, ...)
{
	va_list args;

	if (request != GPROF_IOC_UNWIND_TABLE_ADD) {
		errno = ENOTTY;
		return -1;
	}
	va_start(args, request);
	module.last = *va_arg(args, struct gprof_unwind_table_add *);
	va_end(args);
	module.asked++;
	errno = module.last.python ? module.refuses : 0;
	return errno ? -1 : 0;
}

TEST(a_table_for_python_is_one_without_python_to_an_older_module)
{
	static const struct { int refuses, err; unsigned int asked; } rows[] = {
		{ 0, 0, 1 }, { E2BIG, 0, 2 }, { EINVAL, 0, 2 }, { EPERM, -EPERM, 1 },
	};
	const struct gprof_python python = { .size = sizeof(python) };
	struct gprof_own_fd dev;

	gprof_own_fd_adopt(&dev, open("/dev/null", O_RDWR | O_CLOEXEC));
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		module.refuses = rows[i].refuses;
		module.asked = 0;
		EXPECT_EQS(rows[i].err, gprof_device_table(&dev, 0, "", 7, &python),
			   rows[i].asked, module.asked, 7, module.last.table_size);
	}
	EXPECT_EQS(0, gprof_device_table(&dev, 0, NULL, 7, NULL), 0, module.last.table_size,
		   0, module.last.table);
	gprof_own_fd_close(&dev);
}

TEST(a_trace_asks_an_older_module_for_no_more_than_it_needs)
{
	static const struct {
		struct gprof_trace_config cfg;
		uint64_t features;
		uint32_t size, stack;
	} rows[] = {
		{ { 0 }, 0, GPROF_TRACE_PARAMS_SIZE_VER0, 0 },
		{ { .kernel_frames = true }, 0, GPROF_TRACE_PARAMS_SIZE_VER0, 0 },
		{ { .min_duration_ns = 1000 }, GPROF_FEAT_TRACE_MIN,
		  sizeof(struct gprof_trace_params), 0 },
		{ { .stacks = GPROF_TRACE_STACK_BLOCKED }, GPROF_FEAT_TRACE_STACKS,
		  sizeof(struct gprof_trace_params), GPROF_STACK_F_IP | GPROF_STACK_F_USER },
		{ { .stacks = GPROF_TRACE_STACK_BLOCKED, .kernel_frames = true },
		  GPROF_FEAT_TRACE_STACKS, sizeof(struct gprof_trace_params),
		  GPROF_STACK_F_IP | GPROF_STACK_F_USER | GPROF_STACK_F_KERNEL },
	};
	struct gprof_trace_setup s;
	struct gprof_error e;

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		ASSERT_EQ(0, gprof_trace_setup_init(&s, &rows[i].cfg, rows[i].features, &e));
		EXPECT_EQS(rows[i].size, s.params.size, rows[i].stack, s.stack);
	}
}

TEST(a_tracepoint_is_not_counted_in_user_mode)
{
	const char *const events[] = { "sched:sched_switch" };
	const struct gprof_count_config cfg = {
		.sz = sizeof(cfg), .target = { .type = GPROF_PROCESS, .id = getpid() },
		.events = events, .nr_events = 1, .flags = GPROF_COUNT_USER,
	};

	EXPECT_EQ(NULL, gprof_counting_new(&cfg));
	EXPECT_SAYS(gprof_error(), "the kernel alone");
}

TEST_HARNESS_MAIN
