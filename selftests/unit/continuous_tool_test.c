// SPDX-License-Identifier: GPL-2.0-only
/*
 * What push makes of its two recorders where one of them fails. There is no kernel: the recorders
 * are the test's own, to which the linker leads (--wrap). And what metrics say of its counts.
 */
#include "harness.h"
#include <gprof/profile_builder.h>
#include <gprof/recorder.h>

#include "cli/cmd.h"
#include "agent/continuous.h"
#include "agent/pusher.h"
#include "http/http_server.h"
#include "tool_run.h"
#include "lib_util.h"

/**
 * struct recorder - one that always has a sample
 * @made: there is one now
 * @next_fails: gprof_recorder_next_profiles() does
 * @stop_fails: gprof_recorder_stop_profiles() does
 * @produced: samples
 */
struct recorder {
	bool made, next_fails, stop_fails;
	uint64_t produced;
};

/* As struct continuous has them. */
static struct recorder rated, lasting;

static struct recorder *of(struct gprof_recorder *r)
{
	return (struct recorder *)r;
}

struct gprof_recorder *__wrap_kinds_recorder(void *kinds, const struct gprof_target *target,
					     bool on_exec)
{
	const struct kinds *k = kinds;
	struct recorder *r = strcmp(k->kinds[0].kind, "heap") ? &rated : &lasting;

	(void)target;
	(void)on_exec;
	r->made = true;
	r->produced = 0;
	return (struct gprof_recorder *)r;
}

int __wrap_gprof_recorder_start_events(struct gprof_recorder *r, const int *fds, size_t nr)
{
	(void)r;
	(void)fds;
	return nr == 1 ? 0 : -1;
}

static int take(struct recorder *r, bool fails, struct gprof_profile **profiles)
{
	const struct gprof_value_type type = { "samples", "count" };
	struct gprof_profile_builder_config cfg = {
		.sz = sizeof(cfg), .types = &type, .nr_types = 1, .period_type = type, .period = 1,
	};
	const struct gprof_frame frame = { .function = "f" };
	struct gprof_profile_builder *b;
	const int64_t one = 1;

	r->produced++;
	if (fails)
		return -1;
	b = gprof_profile_builder_new(&cfg);
	gprof_profile_builder_add(b, &frame, 1, NULL, 0, &one);
	gprof_profile_builder_time(b, (int64_t)time(NULL) * 1000000000, 1000000000);
	profiles[0] = gprof_profile_builder_finish(b);
	gprof_profile_builder_free(b);
	return 0;
}

int __wrap_gprof_recorder_next_profiles(struct gprof_recorder *r, struct gprof_profile **profiles,
					size_t nr)
{
	(void)nr;
	return take(of(r), of(r)->next_fails, profiles);
}

int __wrap_gprof_recorder_stop_profiles(struct gprof_recorder *r, struct gprof_profile **profiles,
					size_t nr)
{
	(void)nr;
	return take(of(r), of(r)->stop_fails, profiles);
}

int __wrap_gprof_recorder_stats(struct gprof_recorder *r, size_t event,
				struct gprof_recorder_stats *st)
{
	(void)event;
	st->produced = of(r)->produced;
	return 0;
}

void __wrap_gprof_recorder_free(struct gprof_recorder *r)
{
	if (r)
		of(r)->made = false;
}

FIXTURE(recorders) {
	char path[64];
};

FIXTURE_SETUP(recorders)
{
	rated = lasting = (struct recorder){ 0 };
	strcpy(self->path, "/dev/shm/gprof-taken-XXXXXX");
	ASSERT_NE(NULL, mkdtemp(self->path));
}

FIXTURE_TEARDOWN(recorders)
{
	lib_sh("rm -rf %s", self->path);
}

/* Of a kind, in the store. */
static int items(FIXTURE_DATA(recorders) *self, const char *kind)
{
	char command[128], text[16] = "";
	FILE *f;

	snprintf(command, sizeof(command), "find %s -name '*_%s_*' | wc -l", self->path, kind);
	f = popen(command, "r");
	if (!f || !fgets(text, sizeof(text), f))
		return -1;
	pclose(f);
	return atoi(text);
}

TEST_F(recorders, each_is_taken_whatever_the_other_does)
{
	struct store_options o = { .dir = self->path, .keep_bytes = 1 << 30 };
	struct continuous c = { .host = "box" };
	struct budget b = { 0 };
	struct store *s;
	int status;

	s = store_open(&o, &status);
	ASSERT_NE(NULL, s);
	ASSERT_EQS(STATUS_OK, continuous_add(&c, "heap"), STATUS_OK, continuous_add(&c, "cpu"),
		   STATUS_OK, continuous_start(&c, &b));
	EXPECT_TRUE(rated.made && lasting.made);
	ASSERT_EQ(STATUS_OK, continuous_store(&c, s, CONTINUOUS_GO_ON));
	EXPECT_EQS(1, items(self, "cpu"), 1, items(self, "heap"));
	/* Another recorder counts from 0. */
	ASSERT_EQ(STATUS_OK, continuous_store(&c, s, CONTINUOUS_RENEW));
	EXPECT_EQS(2, items(self, "cpu"), 1, items(self, "heap"), STATUS_OK,
		   continuous_start(&c, &b));
	rated.next_fails = true;
	EXPECT_EQS(STATUS_FAILED, continuous_store(&c, s, CONTINUOUS_GO_ON), 2, items(self, "cpu"),
		   2, items(self, "heap"));
	rated.next_fails = false;
	lasting.next_fails = true;
	EXPECT_EQS(STATUS_FAILED, continuous_store(&c, s, CONTINUOUS_GO_ON), 3, items(self, "cpu"),
		   2, items(self, "heap"));
	rated.stop_fails = true;
	EXPECT_EQS(STATUS_FAILED, continuous_store(&c, s, CONTINUOUS_END), 3, items(self, "cpu"),
		   3, items(self, "heap"), 5U, c.produced[0], 4U, c.produced[1]);
	EXPECT_FALSE(rated.made || lasting.made);
	continuous_free(&c);
	store_close(s);
}

int cmd_push(int argc, char **argv);

/* What one has until then is kept, and so is the rest of the other. */
TEST_F(recorders, all_is_kept_when_it_cannot_go_on)
{
	struct ran r;

	rated.next_fails = true;
	run(&r, cmd_push,
	    ARGV("push", "--store", self->path, "--interval", "1s", "-e", "cpu", "-e", "heap"), -1);
	EXPECT_EQS(STATUS_FAILED, r.status, 1, items(self, "cpu"), 2, items(self, "heap"));
	EXPECT_SAYS(r.err, "samples: produced=3 stored=3 ");
}

/* Counts of a store, a sender and windows that there are not; or NULL, and there is a store. */
static const struct store_counts *made_up;

void __real_store_counts(struct store *s, struct store_counts *out);
void __wrap_store_counts(struct store *s, struct store_counts *out)
{
	if (made_up)
		*out = *made_up;
	else
		__real_store_counts(s, out);
}

void __wrap_sender_counts(struct sender *s, struct sender_counts *out)
{
	(void)s;
	*out = (struct sender_counts){
		.tries = 301, .later = 302, .never = 303, .bytes = 304,
		.failed_ns = 305000000006, .taken_ns = 306000000007,
	};
}

void __wrap_window_recorder_counts(struct window_recorder *r, struct window_recorder_counts *out)
{
	(void)r;
	*out = (struct window_recorder_counts){
		.recorded = 401, .failed = 402, .missed = 403, .cut = 404, .next_ns = 405000000006,
	};
}

/* What is said, without types and helps, which are the same each time. */
static void only_samples(char *text)
{
	char *to = text, *line, *rest = text;

	while ((line = strsep(&rest, "\n"))) {
		if (*line && *line != '#' && strncmp(line, "gprof_build_info", 16))
			to += sprintf(to, "%s\n", line);
	}
	*to = '\0';
}

TEST(each_count_is_told_under_its_name)
{
	const struct store_counts counts = {
		.items = { .produced = 101, .waited = 102, .sent = 103, .refused = 104,
			   .dropped = 105, .stored = 106, .waiting = 107 },
		.samples = { .produced = 201, .waited = 202, .sent = 203, .refused = 204,
			     .dropped = 205, .stored = 206, .waiting = 207 },
		.bytes = 208, .files = 209, .unsure = 210, .removed = 211, .damaged = 212,
		.failures = 213, .clock_steps = 214,
	};
	struct pusher p = {
		.keep_bytes = 501, .sender = (struct sender *)1, .windows = (struct window_recorder *)1,
		.interval_ns = 50200000000, .own_ns = 503000000004, .sampling_ns = 505000000006,
		.lock = PTHREAD_MUTEX_INITIALIZER,
		.continuous = {
			.kinds = { .nr = 2, .kinds = { { .kind = "cpu", .rate = 601 },
						       { .kind = "heap", .rate = 602 } } },
			.produced = { 603, 604 }, .lost = { 605, 606 }, .intervals = 607,
			.gap_ns = 608000000009,
		},
		.budget = { .share = 0.75, .level = 3, .cost_ns = 250, .elapsed_ns = 1000 },
	};
	static const char wanted[] =
		"gprof_push_produced_samples_total 201\n"
		"gprof_push_waited_samples_total 202\n"
		"gprof_push_stored_samples_total 206\n"
		"gprof_push_sent_samples_total 203\n"
		"gprof_push_refused_samples_total 204\n"
		"gprof_push_dropped_samples_total 205\n"
		"gprof_push_waiting_samples 207\n"
		"gprof_push_unsure_samples_total 210\n"
		"gprof_push_produced_items_total 101\n"
		"gprof_push_waited_items_total 102\n"
		"gprof_push_stored_items_total 106\n"
		"gprof_push_sent_items_total 103\n"
		"gprof_push_refused_items_total 104\n"
		"gprof_push_dropped_items_total 105\n"
		"gprof_push_waiting_items 107\n"
		"gprof_push_removed_items_total 211\n"
		"gprof_push_damaged_items_total 212\n"
		"gprof_push_store_failures_total 213\n"
		"gprof_push_clock_steps_total 214\n"
		"gprof_push_store_items 209\n"
		"gprof_push_store_bytes 208\n"
		"gprof_push_store_limit_bytes 501\n"
		"gprof_push_sends_total 301\n"
		"gprof_push_sends_later_total 302\n"
		"gprof_push_sends_never_total 303\n"
		"gprof_push_wire_bytes_total 304\n"
		"gprof_push_last_failure_timestamp_seconds 305.000000006\n"
		"gprof_push_last_success_timestamp_seconds 306.000000007\n"
		"gprof_push_intervals_total 607\n"
		"gprof_push_interval_seconds 100.400000000\n"
		"gprof_push_gap_seconds_total 608.000000009\n"
		"gprof_push_rate{kind=\"cpu\"} 601\n"
		"gprof_push_rate{kind=\"heap\"} 602\n"
		"gprof_push_kernel_samples_total{kind=\"cpu\"} 603\n"
		"gprof_push_kernel_samples_total{kind=\"heap\"} 604\n"
		"gprof_push_kernel_lost_samples_total{kind=\"cpu\"} 605\n"
		"gprof_push_kernel_lost_samples_total{kind=\"heap\"} 606\n"
		"gprof_push_own_cpu_seconds_total 503.000000004\n"
		"gprof_push_sampling_cpu_seconds_total 505.000000006\n"
		"gprof_push_budget_seconds 0.750000000\n"
		"gprof_push_cost_seconds 0.250000000\n"
		"gprof_push_budget_level 3\n"
		"gprof_push_windows_total 401\n"
		"gprof_push_windows_failed_total 402\n"
		"gprof_push_windows_missed_total 403\n"
		"gprof_push_windows_cut_total 404\n"
		"gprof_push_next_window_timestamp_seconds 405.000000006\n";
	struct http_request rq = { .accept = "" };
	char *text = NULL;
	size_t size;

	made_up = &counts;
	pusher_show(&p);
	rq.body = open_memstream(&text, &size);
	EXPECT_EQ(NULL, pusher_routes[0].answer(&p, &rq));
	fclose(rq.body);
	only_samples(text);
	EXPECT_STREQ(wanted, text);
	free(text);
	made_up = NULL;
}

TEST_HARNESS_MAIN
