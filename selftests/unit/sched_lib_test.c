// SPDX-License-Identifier: GPL-2.0-only
/*
 * Scheduler statistics without a kernel: buckets, names, and the module's
 * answers, above all broken ones.
 */
#include "harness.h"
#include <linux/gprof.h>
#include <linux/gprof_netlink.h>
#include <netlink/attr.h>
#include <netlink/msg.h>

#include "lib_util.h"
#include "record/recorder_answer.h"
#include "sched/sched_answer.h"

TEST(buckets_meet_without_gap_or_overlap)
{
	for (size_t i = 0; i < GPROF_HISTOGRAM_NR; i++) {
		uint64_t low = gprof_histogram_lowest(i), next = gprof_histogram_lowest(i + 1);

		ASSERT_EQ(i, gprof_histogram_bucket(low));
		ASSERT_EQ(i, gprof_histogram_bucket(next - 1 + (i + 1 == GPROF_HISTOGRAM_NR)));
		ASSERT_LT(low, next);
		/* No wider than an eighth. */
		ASSERT_LE((next - low - 1) * 8, low) TH_LOG("bucket %zu", i);
	}
	EXPECT_EQ(0, gprof_histogram_lowest(0));
	EXPECT_EQ(UINT64_MAX, gprof_histogram_lowest(GPROF_HISTOGRAM_NR));
	EXPECT_EQ(GPROF_HISTOGRAM_NR - 1, gprof_histogram_bucket(UINT64_MAX));
}

static void count(struct gprof_histogram *h, uint64_t value)
{
	h->count++;
	h->sum += value;
	if (value > h->largest)
		h->largest = value;
	h->buckets[gprof_histogram_bucket(value)]++;
}

static int compare(const void *a, const void *b)
{
	return *(const uint64_t *)a < *(const uint64_t *)b ? -1 :
	       *(const uint64_t *)a > *(const uint64_t *)b;
}

TEST(quantiles_are_off_by_an_eighth_at_most)
{
	static const double shares[] = { 0.0001, 0.01, 0.25, 0.5, 0.9, 0.99, 0.999, 0.9999 };
	static uint64_t values[10007];
	const size_t nr = sizeof(values) / sizeof(values[0]);
	struct gprof_histogram h = { 0 };
	uint64_t state = 42;

	for (size_t i = 0; i < nr; i++) {
		values[i] = lib_random(&state) >> (lib_random(&state) % 60);
		count(&h, values[i]);
	}
	qsort(values, nr, sizeof(values[0]), compare);
	for (size_t i = 0; i < sizeof(shares) / sizeof(shares[0]); i++) {
		uint64_t truth = values[(size_t)(shares[i] * nr)];
		uint64_t got = gprof_histogram_quantile(&h, shares[i]);
		uint64_t off = got > truth ? got - truth : truth - got;

		EXPECT_LE(off, truth / 8)
			TH_LOG("%g: %llu, not %llu", shares[i], (unsigned long long)got,
			       (unsigned long long)truth);
	}
	EXPECT_EQ(values[nr - 1], gprof_histogram_quantile(&h, 1));
	EXPECT_EQ(values[nr - 1], gprof_histogram_quantile(&h, 7));
}

TEST(quantiles_of_small_values_are_exact)
{
	struct gprof_histogram h = { 0 };

	for (int i = 0; i < 100; i++)
		count(&h, i < 50 ? 1 : i < 99 ? 2 : 7);
	EXPECT_EQS(1, gprof_histogram_quantile(&h, 0), 1, gprof_histogram_quantile(&h, -1),
		   1, gprof_histogram_quantile(&h, 0.0 / 0.0),
		   1, gprof_histogram_quantile(&h, 0.49), 2, gprof_histogram_quantile(&h, 0.5),
		   2, gprof_histogram_quantile(&h, 0.98), 7, gprof_histogram_quantile(&h, 0.99));
}

TEST(a_quantile_is_never_above_the_largest)
{
	struct gprof_histogram h = { 0 };

	count(&h, 1025);
	EXPECT_EQ(1025, gprof_histogram_quantile(&h, 0.999));
	h = (struct gprof_histogram){ 0 };
	count(&h, UINT64_MAX);
	EXPECT_LE(gprof_histogram_lowest(GPROF_HISTOGRAM_NR - 1),
		  gprof_histogram_quantile(&h, 0.5));
}

TEST(a_histogram_of_nothing_has_quantile_0)
{
	struct gprof_histogram h = { 0 };

	EXPECT_ZEROS(gprof_histogram_quantile(&h, 0.5), gprof_histogram_quantile(&h, 1));
}

TEST(the_difference_of_two_readings_is_what_came_between)
{
	struct gprof_histogram before = { 0 }, now;

	count(&before, 5000);
	count(&before, 7);
	now = before;
	count(&now, 1000);
	count(&now, 9);
	gprof_histogram_since(&now, &before);
	EXPECT_EQS(2, now.count, 1009, now.sum, 2, gprof_histogram_below(&now, GPROF_HISTOGRAM_NR),
		   1, gprof_histogram_below(&now, gprof_histogram_bucket(1000)));
	/* 5000 was before: all that is known is the end of 1000's bucket. */
	EXPECT_EQ(1023, now.largest);

	now = before;
	count(&now, 6000);
	gprof_histogram_since(&now, &before);
	EXPECT_EQ(6000, now.largest);

	now = before;
	gprof_histogram_since(&now, &before);
	EXPECT_EQS(0, now.count, 0, now.largest);
}

/* A reading in which every number is another. */
static void number_all(struct gprof_sched_stats *st)
{
	uint64_t *n = &st->total_task_exec;

	memset(st, 0, sizeof(*st));
	st->sz = sizeof(*st);
	for (uint64_t i = 0; n + i <= &st->missed; i++)
		n[i] = UINT64_MAX - i;
	st->has_faults = st->has_sys_calls = st->has_stall = true;
}

TEST(every_metric_of_the_seed_is_there)
{
	static const char *const names[] = {
		"total_task_exec", "num_task_exec", "total_task_sched", "num_task_sched",
		"total_task", "num_task", "total_faults", "num_faults", "total_sys_calls",
		"num_sys_calls", "max_procs", "num_procs", "total_thread_starts", "num_threads",
		"sched_delay_ns", "num_samples", "sample_hz",
	};
	struct gprof_sched_stats st;
	struct gprof_sched_value v;

	number_all(&st);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		ASSERT_EQ(0, gprof_sched_stats_get(&st, names[i], &v)) TH_LOG("%s", names[i]);
		EXPECT_STREQ(names[i], v.metric->name);
		EXPECT_EQ(strcmp(names[i], "total_thread_starts") && strcmp(names[i], "num_threads"),
			  v.metric->stable);
	}
}

TEST(each_name_finds_its_own_number)
{
#define MEMBER(member)	{ #member, offsetof(struct gprof_sched_stats, member) }
	static const struct {
		const char *name;
		size_t offset;
	} members[] = {
		MEMBER(total_task_exec), MEMBER(num_task_exec), MEMBER(total_task_sched),
		MEMBER(num_task_sched), MEMBER(total_task), MEMBER(num_task),
		MEMBER(total_faults), MEMBER(num_faults), MEMBER(total_sys_calls),
		MEMBER(num_sys_calls), MEMBER(max_procs), MEMBER(num_procs),
		MEMBER(total_thread_starts), MEMBER(num_threads), MEMBER(total_switches),
		MEMBER(stall_ns), MEMBER(num_samples), MEMBER(sample_hz), MEMBER(missed),
		MEMBER(faults_missed),
	};
	const struct gprof_sched_metric *m;
	size_t nr = gprof_sched_metrics(&m), numbers = 0;
	struct gprof_sched_stats st;
	struct gprof_sched_value v;

	number_all(&st);
	for (size_t i = 0; i < nr; i++) {
		ASSERT_EQ(0, gprof_sched_stats_get(&st, m[i].name, &v));
		EXPECT_EQS(&m[i], v.metric, m[i].type == GPROF_METRIC_SAMPLES, v.samples != NULL,
			   m[i].type == GPROF_METRIC_HISTOGRAM, v.histogram != NULL);
		numbers += m[i].type <= GPROF_METRIC_GAUGE;
	}
	EXPECT_EQ(ARRAY_SIZE(members), numbers);
	for (size_t i = 0; i < ARRAY_SIZE(members); i++) {
		ASSERT_EQ(0, gprof_sched_stats_get(&st, members[i].name, &v));
		EXPECT_EQ(*(uint64_t *)((char *)&st + members[i].offset), v.number)
			TH_LOG("%s", members[i].name);
	}
	ASSERT_EQ(0, gprof_sched_stats_get(&st, "sched_delay_ns", &v));
	EXPECT_EQ(&st.sched_delay_ns[0], v.samples);
	ASSERT_EQ(0, gprof_sched_stats_get(&st, "delay_ns", &v));
	EXPECT_EQ(&st.delay, v.histogram);
	ASSERT_EQ(0, gprof_sched_stats_get(&st, "on_cpu_ns", &v));
	EXPECT_EQ(&st.on_cpu, v.histogram);
}

TEST(unknown_names_are_ENOENT)
{
	static const char *const bad[] = {
		"", "total", "Total_task", "total_task_exec ", "num_cgo_calls", "sz",
	};
	struct gprof_sched_stats st;
	struct gprof_sched_value v = { .number = 7 };

	number_all(&st);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		errno = 0;
		EXPECT_EQS(-ENOENT, gprof_sched_stats_get(&st, bad[i], &v), ENOENT, errno);
	}
	EXPECT_EQ(7, v.number);
}

TEST(what_is_not_counted_is_ENODATA_not_0)
{
	struct gprof_sched_stats st;
	struct gprof_sched_value v;

	number_all(&st);
	st.has_sys_calls = false;
	EXPECT_EQ(-ENODATA, gprof_sched_stats_get(&st, "total_sys_calls", &v));
	EXPECT_EQ(-ENODATA, gprof_sched_stats_get(&st, "num_sys_calls", &v));
	EXPECT_EQ(0, gprof_sched_stats_get(&st, "total_faults", &v));
	EXPECT_EQ(0, gprof_sched_stats_get(&st, "stall_ns", &v));
	st.has_stall = false;
	EXPECT_EQ(-ENODATA, gprof_sched_stats_get(&st, "stall_ns", &v));
}

TEST(a_reading_of_an_older_program_has_what_it_knows)
{
	struct gprof_sched_stats st;
	struct gprof_sched_value v;

	number_all(&st);
	st.sz = offsetof(struct gprof_sched_stats, on_cpu);
	EXPECT_EQ(0, gprof_sched_stats_get(&st, "delay_ns", &v));
	EXPECT_EQ(-ENOENT, gprof_sched_stats_get(&st, "on_cpu_ns", &v));
}

FIXTURE(answer) {
	struct nl_msg *msg;
	struct gprof_sched_stats st;
	uint64_t samples[256];
	uint64_t buckets[GPROF_HISTOGRAM_BUCKETS];
};

FIXTURE_SETUP(answer)
{
	self->msg = nlmsg_alloc_size(65536);
	ASSERT_NE(NULL, self->msg);
	nlmsg_put(self->msg, 0, 0, 0, 0, 0);
	for (size_t i = 0; i < 256; i++)
		self->samples[i] = i * 3;
	for (size_t i = 0; i < GPROF_HISTOGRAM_BUCKETS; i++)
		self->buckets[i] = 1;
}

FIXTURE_TEARDOWN(answer)
{
	nlmsg_free(self->msg);
}

static void put_histogram(struct nl_msg *msg, int attr, uint64_t count, uint32_t first,
			  const uint64_t *buckets, size_t bytes)
{
	struct nlattr *nest = nla_nest_start(msg, attr);

	nla_put_u64(msg, GPROF_A_HISTOGRAM_COUNT, count);
	nla_put_u64(msg, GPROF_A_HISTOGRAM_SUM, 1000);
	nla_put_u64(msg, GPROF_A_HISTOGRAM_LARGEST, 500);
	if (buckets) {
		nla_put_u32(msg, GPROF_A_HISTOGRAM_FIRST, first);
		nla_put(msg, GPROF_A_HISTOGRAM_BUCKETS, bytes, buckets);
	}
	nla_nest_end(msg, nest);
}

/* A full answer but for attribute @without: each number is its attribute's. */
static void put_answer(struct nl_msg *msg, const uint64_t *samples, int without)
{
	for (int i = GPROF_A_SCHED_STATS_ID; i <= GPROF_A_SCHED_STATS_MAX; i++) {
		if (i == without)
			continue;
		switch (i) {
		case GPROF_A_SCHED_STATS_DELAY:
		case GPROF_A_SCHED_STATS_ON_CPU: put_histogram(msg, i, 0, 0, NULL, 0); break;
		case GPROF_A_SCHED_STATS_SAMPLES: nla_put(msg, i, 2048, samples); break;
		case GPROF_A_SCHED_STATS_SAMPLE_HZ: nla_put_u32(msg, i, 100); break;
		case GPROF_A_SCHED_STATS_CLOCK_DOUBTFUL:
			break;
		default:
			nla_put_u64(msg, i, 1000 + i);
		}
	}
}

static int parse(struct nl_msg *msg, struct gprof_sched_stats *st, int cmd)
{
	struct nlattr *attrs[GPROF_A_SCHED_STATS_MAX + 1];

	memset(st, 0, sizeof(*st));
	if (nlmsg_parse(nlmsg_hdr(msg), 0, attrs, gprof_sched_answer_policy.max,
			gprof_sched_answer_policy.policy))
		return -EPROTO;
	return gprof_sched_answer(st, cmd, attrs);
}

#define PARSE()	parse(self->msg, &self->st, GPROF_CMD_SCHED_STATS_GET)

TEST_F(answer, every_attribute_reaches_its_member)
{
	const struct gprof_sched_stats *st = &self->st;

	put_answer(self->msg, self->samples, GPROF_A_SCHED_STATS_DELAY);
	put_histogram(self->msg, GPROF_A_SCHED_STATS_DELAY, 100, 7, self->buckets, 800);
	ASSERT_EQ(0, PARSE());
#define EXPECT_MEMBER(attr, member)	EXPECT_EQ(1000 + GPROF_A_SCHED_STATS_##attr, st->member)
	EXPECT_MEMBER(TIME_NS, time_ns);
	EXPECT_MEMBER(STARTED_NS, started_ns);
	EXPECT_MEMBER(TOTAL_TASK_EXEC, total_task_exec);
	EXPECT_MEMBER(NUM_TASK_EXEC, num_task_exec);
	EXPECT_MEMBER(TOTAL_TASK_SCHED, total_task_sched);
	EXPECT_MEMBER(NUM_TASK_SCHED, num_task_sched);
	EXPECT_MEMBER(TOTAL_TASK, total_task);
	EXPECT_MEMBER(NUM_TASK, num_task);
	EXPECT_MEMBER(TOTAL_FAULTS, total_faults);
	EXPECT_MEMBER(NUM_FAULTS, num_faults);
	EXPECT_MEMBER(TOTAL_SYS_CALLS, total_sys_calls);
	EXPECT_MEMBER(NUM_SYS_CALLS, num_sys_calls);
	EXPECT_MEMBER(MAX_PROCS, max_procs);
	EXPECT_MEMBER(NUM_PROCS, num_procs);
	EXPECT_MEMBER(TOTAL_THREAD_STARTS, total_thread_starts);
	EXPECT_MEMBER(NUM_THREADS, num_threads);
	EXPECT_MEMBER(TOTAL_SWITCHES, total_switches);
	EXPECT_MEMBER(STALL_NS, stall_ns);
	EXPECT_MEMBER(NUM_SAMPLES, num_samples);
	EXPECT_MEMBER(MISSED, missed);
	EXPECT_MEMBER(FAULTS_MISSED, faults_missed);
	EXPECT_EQS(100, st->sample_hz, 255 * 3, st->sched_delay_ns[255]);
	EXPECT_TRUES(st->has_faults, st->has_sys_calls);
	EXPECT_FALSE(st->clock_doubtful);
	EXPECT_EQS(100, st->delay.count, 1000, st->delay.sum, 500, st->delay.largest,
		   0, st->delay.buckets[6], 1, st->delay.buckets[7], 1, st->delay.buckets[106],
		   0, st->delay.buckets[107], 0, st->on_cpu.count);
}

TEST_F(answer, what_was_not_asked_for_may_be_missing)
{
	struct nlattr *attrs[GPROF_A_SCHED_STATS_MAX + 1];

	put_answer(self->msg, self->samples, 0);
	ASSERT_EQ(0, nlmsg_parse(nlmsg_hdr(self->msg), 0, attrs, GPROF_A_SCHED_STATS_MAX, NULL));
	attrs[GPROF_A_SCHED_STATS_TOTAL_FAULTS] = attrs[GPROF_A_SCHED_STATS_NUM_FAULTS] = NULL;
	memset(&self->st, 0, sizeof(self->st));
	EXPECT_EQ(0, gprof_sched_answer(&self->st, GPROF_CMD_SCHED_STATS_GET, attrs));
	EXPECT_FALSE(self->st.has_faults);
	EXPECT_TRUES(self->st.has_sys_calls, self->st.has_stall);
	attrs[GPROF_A_SCHED_STATS_STALL_NS] = NULL;
	EXPECT_EQ(0, gprof_sched_answer(&self->st, GPROF_CMD_SCHED_STATS_GET, attrs));
	EXPECT_FALSE(self->st.has_stall);
	/* But one without the other makes no sense. */
	attrs[GPROF_A_SCHED_STATS_NUM_SYS_CALLS] = NULL;
	EXPECT_EQ(-EPROTO, gprof_sched_answer(&self->st, GPROF_CMD_SCHED_STATS_GET, attrs));
}

TEST_F(answer, each_missing_attribute_is_EPROTO)
{
	for (int i = GPROF_A_SCHED_STATS_TIME_NS; i < GPROF_A_SCHED_STATS_CLOCK_DOUBTFUL; i++) {
		struct nl_msg *msg;

		if (i == GPROF_A_SCHED_STATS_STALL_NS)
			continue;	/* only where asked for */
		msg = nlmsg_alloc_size(16384);
		ASSERT_NE(NULL, msg);
		nlmsg_put(msg, 0, 0, 0, 0, 0);
		put_answer(msg, self->samples, i);
		EXPECT_EQ(-EPROTO, parse(msg, &self->st, GPROF_CMD_SCHED_STATS_GET))
			TH_LOG("without %d", i);
		nlmsg_free(msg);
	}
}

TEST_F(answer, another_command_is_EPROTO)
{
	put_answer(self->msg, self->samples, 0);
	EXPECT_EQS(0, PARSE(), -EPROTO, parse(self->msg, &self->st, GPROF_CMD_RECORDER_GET));
}

TEST_F(answer, a_doubtful_clock_is_told)
{
	put_answer(self->msg, self->samples, 0);
	nla_put_flag(self->msg, GPROF_A_SCHED_STATS_CLOCK_DOUBTFUL);
	ASSERT_EQ(0, PARSE());
	EXPECT_TRUE(self->st.clock_doubtful);
}

TEST_F(answer, attributes_of_a_newer_module_are_skipped)
{
	put_answer(self->msg, self->samples, 0);
	nla_put_u64(self->msg, GPROF_A_SCHED_STATS_MAX + 1, 1);
	nla_put_u64(self->msg, 4000, 1);
	EXPECT_EQ(0, PARSE());
}

TEST_F(answer, a_histogram_that_does_not_fit_or_add_up_is_EPROTO)
{
	static const struct { uint64_t count; uint32_t first; size_t bytes; int want; } rows[] = {
		{ 496, 0, 3968, 0 }, { 1, 495, 8, 0 }, { 0, 496, 0, 0 }, { 0, 0, 0, 0 },
		{ 495, 1, 3968, -EPROTO }, { 496, 0, 3967, -EPROTO }, { 1, 496, 8, -EPROTO },
		{ 1, UINT32_MAX, 8, -EPROTO }, { 2, 0, 8, -EPROTO }, { 0, 0, 8, -EPROTO },
		{ 1, 0, 4, -EPROTO },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct nl_msg *msg = nlmsg_alloc_size(16384);

		ASSERT_NE(NULL, msg);
		nlmsg_put(msg, 0, 0, 0, 0, 0);
		put_answer(msg, self->samples, GPROF_A_SCHED_STATS_ON_CPU);
		put_histogram(msg, GPROF_A_SCHED_STATS_ON_CPU, rows[i].count, rows[i].first,
			      self->buckets, rows[i].bytes);
		EXPECT_EQ(rows[i].want, parse(msg, &self->st, GPROF_CMD_SCHED_STATS_GET))
			TH_LOG("row %zu", i);
		nlmsg_free(msg);
	}
}

TEST_F(answer, samples_that_are_too_few_are_EPROTO)
{
	put_answer(self->msg, self->samples, GPROF_A_SCHED_STATS_SAMPLES);
	nla_put(self->msg, GPROF_A_SCHED_STATS_SAMPLES, 2040, self->samples);
	EXPECT_EQ(-EPROTO, PARSE());
}

static int parse_recorder(struct nl_msg *msg, struct gprof_recorder_info *info)
{
	struct nlattr *attrs[GPROF_A_RECORDER_MAX + 1];

	if (nlmsg_parse(nlmsg_hdr(msg), 0, attrs, gprof_recorder_answer_policy.max,
			gprof_recorder_answer_policy.policy))
		return -EPROTO;
	return gprof_recorder_answer(attrs, info);
}

TEST_F(answer, a_recorder_is_what_the_module_says)
{
	struct gprof_recorder_info info;

	nla_put_u64(self->msg, GPROF_A_RECORDER_ID, 1ULL << 40);
	nla_put_u32(self->msg, GPROF_A_RECORDER_KIND, GPROF_KIND_CPU);
	nla_put_u32(self->msg, GPROF_A_RECORDER_TARGET, GPROF_TARGET_PROCESS);
	nla_put_u32(self->msg, GPROF_A_RECORDER_TARGET_PID, 77);
	nla_put_u32(self->msg, GPROF_A_RECORDER_STATE, GPROF_RECORDER_STATE_STARTED);
	nla_put_u32(self->msg, GPROF_A_RECORDER_OWNER_PID, 78);
	nla_put_u32(self->msg, GPROF_A_RECORDER_OWNER_UID, 79);
	nla_put_string(self->msg, GPROF_A_RECORDER_OWNER_COMM, "gprofctl");
	nla_put_u64(self->msg, GPROF_A_RECORDER_BUFFER_SIZE, 4096);
	nla_put_flag(self->msg, GPROF_A_RECORDER_FLIGHT);
	nla_put_u64(self->msg, GPROF_A_RECORDER_PRODUCED, 10);
	nla_put_u64(self->msg, GPROF_A_RECORDER_READ, 7);
	nla_put_u64(self->msg, GPROF_A_RECORDER_LOST, 1);
	nla_put_u64(self->msg, GPROF_A_RECORDER_OVERWRITTEN, 2);
	ASSERT_EQ(0, parse_recorder(self->msg, &info));
	EXPECT_EQ(1ULL << 40, info.id);
	EXPECT_STREQ("cpu", info.kind);
	EXPECT_EQS(GPROF_PROCESS, info.target, 77, info.target_id, 78, info.owner_pid,
		   79, info.owner_uid);
	EXPECT_STREQ("gprofctl", info.owner);
	EXPECT_TRUES(info.started, info.flight, info.has_samples);
	EXPECT_EQS(10, info.produced, 7, info.read, 1, info.lost, 2, info.overwritten);
}

TEST_F(answer, a_recorder_without_id_or_of_no_known_target_is_EPROTO)
{
	struct gprof_recorder_info info;

	nla_put_u32(self->msg, GPROF_A_RECORDER_TARGET, GPROF_TARGET_SYSTEM);
	EXPECT_EQ(-EPROTO, parse_recorder(self->msg, &info));
	nla_put_u64(self->msg, GPROF_A_RECORDER_ID, 1);
	nla_put_u32(self->msg, GPROF_A_RECORDER_KIND, 4711);
	EXPECT_EQ(0, parse_recorder(self->msg, &info));
	EXPECT_STREQ("unknown", info.kind);
	EXPECT_FALSE(info.has_samples);
	nla_put_u32(self->msg, GPROF_A_RECORDER_TARGET, 4711);
	EXPECT_EQ(-EPROTO, parse_recorder(self->msg, &info));
}

TEST(without_a_module_the_sentence_says_so)
{
	if (!access("/dev/gprof", F_OK))
		SKIP(return, "there is a module");
	EXPECT_EQ(NULL, gprof_recorder_list_new());
	EXPECT_SAYS(gprof_error(), "gprof.ko is not loaded");
	EXPECT_ERRNO(ENOENT, gprof_sched_stats_new(&(struct gprof_sched_config){
		.sz = sizeof(struct gprof_sched_config) }));
	EXPECT_SAYS(gprof_error(), "gprof.ko is not loaded");
}

TEST(bad_configurations_are_refused_with_a_sentence)
{
	const struct { struct gprof_sched_config cfg; int err; const char *word; } rows[] = {
		{ { .sz = 4 }, EINVAL, "sz" },
		{ { .sz = sizeof(rows[0].cfg), .flags = 64 }, EINVAL, "flags" },
		{ { .sz = sizeof(rows[0].cfg), .sample_hz = 100001 }, EINVAL, "100000" },
		{ { .sz = sizeof(rows[0].cfg), .target = { GPROF_CPUS, 0, "0" } }, EOPNOTSUPP,
		  "CPUs" },
		{ { .sz = sizeof(rows[0].cfg), .target = { GPROF_PROCESS, -1, NULL } }, EINVAL,
		  "-1" },
		{ { .sz = sizeof(rows[0].cfg), .target = { GPROF_CGROUP, 0, "/nonexistent" } },
		  ENOENT, "/sys/fs/cgroup" },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		EXPECT_ERRNO(rows[i].err, gprof_sched_stats_new(&rows[i].cfg));
		EXPECT_SAYS(gprof_error(), rows[i].word);
	}
	EXPECT_EQ(NULL, gprof_sched_stats_new(NULL));
	gprof_sched_stats_free(NULL);
	gprof_recorder_list_free(NULL);
	gprof_monitor_free(NULL);
}

TEST_HARNESS_MAIN
