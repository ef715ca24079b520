// SPDX-License-Identifier: GPL-2.0-only
/*
 * What push and history are made of, without a kernel: times, windows, the budget, the thread
 * that sends, and one profile of many.
 */
#include "harness.h"
#include <stdatomic.h>

#include <gprof/profile_builder.h>

#include "cli/cmd.h"
#include "agent/backoff.h"
#include "agent/budget.h"
#include "agent/item_make.h"
#include "agent/quarantine.h"
#include "agent/scheduled_window.h"
#include "agent/sender.h"
#include "store/timeparse.h"
#include "store/time_range.h"
#include "tool_run.h"
#include "lib_util.h"

#define SECOND	1000000000ULL
#define HOUR	(3600 * SECOND)
#define NOW	(1764061200 * SECOND)	/* 2025-11-25T09:00:00Z */

TEST(times_are_those_of_rfc_3339_or_before_now_or_since_1970)
{
	static const struct { const char *text; uint64_t ns; } rows[] = {
		{ "2025-11-25T09:00:00Z", NOW }, { "2025-11-25t09:00:00z", NOW },
		{ "2025-11-25 10:30:00+01:30", NOW }, { "2025-11-25T04:00:00-05:00", NOW },
		{ "2025-11-25T09:00:00.25Z", NOW + SECOND / 4 },
		{ "2025-11-25T09:00:00.000000001Z", NOW + 1 },
		{ "1764061200", NOW }, { "1764061200.5", NOW + SECOND / 2 }, { "0", 0 },
		{ "now", NOW }, { "-1h", NOW - HOUR }, { "-7d", NOW - 7 * 24 * HOUR },
		{ "-90min", NOW - 3 * HOUR / 2 }, { "-30000d", 0 },
	};
	static const char *const none[] = {
		"", "-", "x", "2025-11-25", "2025-02-30T09:00:00Z", "2025-11-25T09:00:00",
		"2025-11-25T24:00:01Z", "2025-11-25T09:00:00+1", "2025-11-25T09:00:00.Z",
		"2025-11-25T09:00:00.1234567891Z", "2025-11-25T09:00:00Zx", "1h", "+1h", "0x10",
		"1960-01-01T00:00:00Z", "99999999999999999999", "-1y", "2025-13-01T00:00:00Z",
	};
	char text[TIMEPARSE_TEXT];
	uint64_t ns;

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		EXPECT_TRUE(timeparse(rows[i].text, NOW, &ns)) TH_LOG("%s", rows[i].text);
		EXPECT_EQ(rows[i].ns, ns) TH_LOG("%s", rows[i].text);
	}
	for (size_t i = 0; i < sizeof(none) / sizeof(*none); i++) {
		EXPECT_FALSE(timeparse(none[i], NOW, &ns))
		TH_LOG("%s: %llu", none[i], (unsigned long long)ns);
	}
	EXPECT_STREQ("2025-11-25T09:00:00Z", timeparse_text(NOW, text));
}

TEST(windows_are_told_by_their_text)
{
	static const char *const none[] = {
		"", "1", "1/", "1/0:20s/h", "2/10:20s/h", "1/10:20s", "1/10:0/h", "1/10:61min/h",
		"1/10:20s/d", "1/10:20s/h=", "1/10:20s/h=a/b", "1/10:20s/h=cpu:0",
		"1/10:20s/h=trace:5", "1/9999999:1/h", "1/10:20s/hh",
	};
	struct scheduled_window s;

	ASSERT_TRUE(scheduled_window_parse("1/10:20s/h", &s));
	EXPECT_EQS(10U, s.one_in, 20 * SECOND, s.ns);
	EXPECT_STREQ("trace", s.kind);
	ASSERT_TRUE(scheduled_window_parse("1/1:1h/h=cpu:499", &s));
	EXPECT_STREQ("cpu", s.kind);
	EXPECT_EQ(499U, s.rate);
	for (size_t i = 0; i < sizeof(none) / sizeof(*none); i++) {
		EXPECT_FALSE(scheduled_window_parse(none[i], &s)) TH_LOG("%s", none[i]);
	}
}

TEST(a_fleet_spreads_over_its_windows)
{
	enum { HOSTS = 1000, HOURS = 48, TENTHS = 10 };
	unsigned int by_tenth[TENTHS] = { 0 }, sum = 0, most = 0;
	struct scheduled_window s;
	uint64_t offset, again;
	char host[32];

	ASSERT_TRUE(scheduled_window_parse("1/10:20s/h", &s));
	for (int h = 0; h < HOSTS; h++) {
		unsigned int of_host = 0;

		snprintf(host, sizeof(host), "host-%d", h);
		for (uint64_t hour = 490000; hour < 490000 + HOURS; hour++) {
			if (!scheduled_window_in_hour(&s, host, hour, &offset))
				continue;
			ASSERT_TRUE(scheduled_window_in_hour(&s, host, hour, &again));
			ASSERT_EQ(offset, again);
			ASSERT_GE(HOUR - s.ns, offset);
			by_tenth[offset * TENTHS / HOUR]++;
			of_host++;
		}
		sum += of_host;
		most = of_host > most ? of_host : most;
	}
	/* 4,800 of the 48,000: the standard deviation is 66 */
	EXPECT_LT(4800 - 330, sum);
	EXPECT_GT(4800 + 330, sum);
	EXPECT_GT(20, most);
	for (int i = 0; i < TENTHS; i++) {
		EXPECT_LT(480 - 120, by_tenth[i]);
		EXPECT_GT(480 + 120, by_tenth[i]);
	}
	offset = scheduled_window_next(&s, "host-1", NOW);
	ASSERT_LE(NOW, offset);
	EXPECT_EQ(offset, scheduled_window_next(&s, "host-1", offset));
	EXPECT_LT(offset, scheduled_window_next(&s, "host-1", offset + 1));
}

/* A sampler that costs @full_ms of a second at level 0, half as much at each level. */
static unsigned int settled(double share, double full_ms, unsigned int *changes)
{
	struct budget b = { .share = share };

	*changes = 0;
	for (int i = 0; i < 600; i++) {
		uint64_t cost = (uint64_t)(full_ms * 1e6 * 10) >> b.level;

		*changes += budget_step(&b, cost, 10 * SECOND);
	}
	return b.level;
}

TEST(rates_are_halved_until_the_budget_is_kept)
{
	struct budget b = { .level = 3 };
	unsigned int changes;

	EXPECT_EQS(0U, settled(0.005, 4.9, &changes), 0U, changes, 1U, settled(0.005, 9, &changes),
		   1U, changes, 4U, settled(0.005, 79, &changes), 4U, changes,
		   BUDGET_LEVEL_MAX, settled(0.000001, 1000, &changes),
		   0U, settled(0, 1000, &changes), 12U, budget_hz(&b, 99), 1U, budget_hz(&b, 5),
		   800U, budget_every(&b, 100), UINT32_MAX, budget_every(&b, 1U << 31));
	EXPECT_EQS(UINT32_MAX, budget_every(&b, 1ULL << 61),
		   20 * SECOND, budget_interval(&b, 10 * SECOND));
	b.level = BUDGET_LEVEL_MAX;
	EXPECT_EQS(300 * SECOND, budget_interval(&b, 10 * SECOND), HOUR, budget_interval(&b, HOUR));
	/* and it comes back */
	b = (struct budget){ .share = 0.005, .level = 2 };
	for (int i = 0; i < 60; i++)
		budget_step(&b, SECOND / 1000, 10 * SECOND);
	EXPECT_EQ(0U, b.level);
}

static bool near(uint64_t a, uint64_t b)
{
	return a - b + SECOND / 1000 < SECOND / 500;
}

TEST(an_engine_that_is_away_is_asked_again_a_quarter_sooner_or_later)
{
	static const uint64_t seconds[] = { 1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300 };

	for (unsigned int i = 0; i < sizeof(seconds) / sizeof(*seconds); i++) {
		EXPECT_EQ(seconds[i] * SECOND * 3 / 4, backoff_ns(i + 1, 0, 0));
		EXPECT_TRUE(near(seconds[i] * SECOND, backoff_ns(i + 1, 0, UINT32_MAX / 2)));
		EXPECT_TRUE(near(seconds[i] * SECOND * 5 / 4, backoff_ns(i + 1, 0, UINT32_MAX)));
	}
	EXPECT_EQ(backoff_ns(10, 0, 77), backoff_ns(UINT32_MAX, 0, 77));
	/* Not sooner than it asked for, and not all at once; but not for ever. */
	EXPECT_EQ(60 * SECOND, backoff_ns(1, 60000, 0));
	EXPECT_TRUE(near(75 * SECOND, backoff_ns(1, 60000, UINT32_MAX)));
	EXPECT_EQS(SECOND, backoff_ns(1, 1000, 0), 225 * SECOND, backoff_ns(10, 1000, 0),
		   250 * SECOND, backoff_ns(10, 250000, 0), HOUR, backoff_ns(1, UINT64_MAX, 0));
}

TEST(items_that_were_set_aside_last_are_known)
{
	struct quarantine q = { 0 };

	for (uint64_t id = 1; id <= QUARANTINE_MAX + 1; id++)
		quarantine_put(&q, id, ITEM_PROFILE, SECOND);
	EXPECT_FALSE(quarantine_is(&q, 1, SECOND));
	for (uint64_t id = 2; id <= QUARANTINE_MAX + 1; id++)
		ASSERT_TRUE(quarantine_is(&q, id, SECOND));
	EXPECT_TRUE(quarantine_is(&q, 2, 301 * SECOND - 1));
	EXPECT_FALSE(quarantine_is(&q, 2, 301 * SECOND));
	quarantine_free(&q);
}

/* ---- the thread that sends ---- */

/* An engine in this process, which answers as it is told. */
struct here {
	struct engine engine;
	_Atomic int tries, closed;
	_Atomic int in_memory;	/* tries of what was at hand, and was the item */
	_Atomic int later;	/* so many times, before it takes something */
	_Atomic int never;	/* so many that it refuses */
	_Atomic uint64_t retry_after_ms;
	_Atomic uint64_t last_id;
	_Atomic bool in_order;
	_Atomic bool warns;
	_Atomic bool numbers;	/* its words have one of each try */
	_Atomic int sleep_ms;	/* for each, unless it is given up */
	atomic_bool give_up;
};

static void say_here(const struct here *h, struct send_result *out, const char *words)
{
	snprintf(out->why, sizeof(out->why), h->numbers ? "%s: %d" : "%s", words, h->tries);
}

static void send_here(struct engine *engine, const struct item *item, const void *data, size_t size,
		      struct send_result *out)
{
	struct here *h = (struct here *)engine;

	h->tries++;
	for (int ms = 0; ms < h->sleep_ms && !h->give_up; ms += 10)
		usleep(10000);
	if (item->profile) {
		int64_t start;

		gprof_profile_time(item->profile, &start, NULL);
		h->in_memory += (uint64_t)start == item->start_ns;
	}
	out->bytes = size;
	if (h->later > 0) {
		h->later--;
		out->result = SENT_LATER;
		out->retry_after_ms = h->retry_after_ms;
		say_here(h, out, "it is away");
		return;
	}
	if (h->never > 0) {
		h->never--;
		out->result = SENT_NEVER;
		say_here(h, out, "it is no trace");
		return;
	}
	h->in_order = h->in_order && item->id > h->last_id;
	h->last_id = item->id;
	if (h->warns)
		say_here(h, out, "it warns");
	out->result = SENT_ALL;
	out->sent_samples = item->samples;
}

static void close_here(struct engine *engine)
{
	((struct here *)engine)->closed++;
}

FIXTURE(sending) {
	char path[64];
	struct store *store;
	struct here profiles, traces;
	struct sender *sender;
	int err, said;
};

FIXTURE_SETUP(sending)
{
	struct store_options o = { .dir = self->path, .keep_bytes = 1 << 30, .wait = 3 };
	int status;

	strcpy(self->path, "/tmp/gprof-fleet-XXXXXX");
	ASSERT_NE(NULL, mkdtemp(self->path));
	self->err = dup(2);
	self->said = memfd_create("said", 0);
	dup2(self->said, 2);
	self->store = store_open(&o, &status);
	ASSERT_NE(NULL, self->store);
	self->profiles.engine = (struct engine){
		.name = "profiles", .takes = 1, .send = send_here, .close = close_here,
	};
	self->traces.engine = (struct engine){
		.name = "traces", .takes = 3, .send = send_here, .close = close_here,
	};
	self->profiles.in_order = self->traces.in_order = true;
}

FIXTURE_TEARDOWN(sending)
{
	store_close(self->store);
	dup2(self->err, 2);
	lib_sh("rm -rf %s", self->path);
}

static int put_one(FIXTURE_DATA(sending) *self, enum item_form form)
{
	struct item_name n = {
		.form = form, .host = "box", .start_ns = NOW, .duration_ns = SECOND,
		.samples = form == ITEM_TRACE ? 0 : 7,
	};
	int err;

	strcpy(n.type, form == ITEM_TRACE ? "trace" : "cpu");
	err = store_put(self->store, &n, "data", 4, NULL);

	sender_wake(self->sender);
	return err;
}

static bool start(FIXTURE_DATA(sending) *self)
{
	struct engine *engines[] = { &self->profiles.engine, &self->traces.engine };
	int status;

	self->sender = sender_start(self->store, engines, 2, &self->profiles.give_up, &status);
	return self->sender;
}

/* Until @nr items have been sent, or for ten seconds. */
static bool sent(FIXTURE_DATA(sending) *self, uint64_t nr)
{
	struct store_counts c;

	for (int i = 0; i < 1000; i++) {
		store_counts(self->store, &c);
		if (c.items.sent == nr)
			return true;
		usleep(10000);
	}
	return false;
}

TEST_F(sending, each_form_goes_to_the_first_that_takes_it_in_its_order)
{
	struct sender_counts c;

	for (int i = 0; i < 20; i++)
		ASSERT_EQ(0, put_one(self, i % 4 ? ITEM_PROFILE : ITEM_TRACE));
	self->traces.never = 2;
	ASSERT_TRUE(start(self));
	EXPECT_TRUE(sent(self, 18));
	EXPECT_EQS(15, self->profiles.tries, 5, self->traces.tries);
	EXPECT_TRUES(self->profiles.in_order, self->traces.in_order);
	ASSERT_EQ(0, put_one(self, ITEM_PROFILE));
	EXPECT_TRUE(sent(self, 19));
	sender_counts(self->sender, &c);
	EXPECT_EQS(21U, c.tries, 84U, c.bytes, 0U, c.later, 2U, c.never);
	sender_stop(self->sender, false);
	EXPECT_EQS(1, self->profiles.closed, 1, self->traces.closed);
}

TEST_F(sending, an_engine_that_is_away_is_asked_again_and_holds_no_other_up)
{
	struct sender_counts c;
	char text[4096] = "";

	self->profiles.later = 1;
	ASSERT_TRUE(start(self));
	ASSERT_ZEROS(put_one(self, ITEM_PROFILE), put_one(self, ITEM_PROFILE),
		     put_one(self, ITEM_TRACE));
	EXPECT_TRUE(sent(self, 3));
	EXPECT_EQ(3, self->profiles.tries);
	EXPECT_TRUE(self->profiles.in_order);
	sender_counts(self->sender, &c);
	EXPECT_EQ(1U, c.later);
	EXPECT_LTS(0U, c.failed_ns, c.failed_ns, c.taken_ns);
	sender_stop(self->sender, true);
	EXPECT_LT(0, pread(self->said, text, sizeof(text) - 1, 0));
	EXPECT_SAYS(text, "profiles: it is away; new items wait in the store",
		    "profiles takes items again\n");
}

TEST_F(sending, an_engine_that_asks_for_time_has_it_and_is_asked_no_more_at_the_end)
{
	struct store_counts c;

	self->profiles.later = 1000;
	self->profiles.retry_after_ms = 60000;
	ASSERT_TRUE(start(self));
	for (int i = 0; i < 50; i++)
		ASSERT_EQ(0, put_one(self, ITEM_PROFILE));
	usleep(1500000);
	EXPECT_EQ(1, self->profiles.tries);
	sender_stop(self->sender, true);
	EXPECT_EQ(1, self->profiles.tries);
	store_counts(self->store, &c);
	EXPECT_EQS(50U, c.items.waiting, 350U, c.samples.waiting);
}

TEST_F(sending, what_an_engine_warns_of_is_said_once)
{
	char text[4096] = "", *first;

	self->profiles.warns = true;
	self->profiles.later = 1;
	ASSERT_TRUE(start(self));
	for (int i = 0; i < 3; i++)
		ASSERT_EQ(0, put_one(self, ITEM_PROFILE));
	EXPECT_TRUE(sent(self, 3));
	sender_stop(self->sender, true);
	EXPECT_LT(0, pread(self->said, text, sizeof(text) - 1, 0));
	first = strstr(text, "profiles: it warns\n");
	ASSERT_NE(NULL, first);
	EXPECT_LACKS(first + 20, "it warns");
	EXPECT_SAYS(text, "profiles takes items again\n");
}

/* An id of each request, or the time that a failure took: a line for each would fill a log. */
TEST_F(sending, words_with_a_number_of_each_try_are_said_once)
{
	char text[4096] = "", *first;

	self->profiles.warns = self->profiles.numbers = true;
	self->profiles.later = 2;
	ASSERT_TRUE(start(self));
	for (int i = 0; i < 20; i++)
		ASSERT_EQ(0, put_one(self, ITEM_PROFILE));
	EXPECT_TRUE(sent(self, 20));
	sender_stop(self->sender, true);
	EXPECT_LT(0, pread(self->said, text, sizeof(text) - 1, 0));
	first = strstr(text, "profiles: it is away: 1; new");
	ASSERT_NE(NULL, first);
	EXPECT_LACKS(first + 20, "it is away");
	first = strstr(text, "profiles: it warns: 3\n");
	ASSERT_NE(NULL, first);
	EXPECT_LACKS(first + 20, "it warns");
}

static double seconds_of_end(FIXTURE_DATA(sending) *self)
{
	struct timespec begin, end;

	clock_gettime(CLOCK_MONOTONIC, &begin);
	sender_stop(self->sender, true);
	clock_gettime(CLOCK_MONOTONIC, &end);
	return (double)(end.tv_sec - begin.tv_sec) + (double)(end.tv_nsec - begin.tv_nsec) / 1e9;
}

TEST_F_TIMEOUT(sending, its_end_does_not_wait_for_all, 120)
{
	struct store_counts c;

	for (int i = 0; i < 500; i++)
		ASSERT_EQ(0, put_one(self, ITEM_PROFILE));
	self->profiles.sleep_ms = 50;
	ASSERT_TRUE(start(self));
	EXPECT_GT(15, seconds_of_end(self));
	store_counts(self->store, &c);
	EXPECT_LTS(10U, c.items.sent, 10U, c.items.waiting);
	EXPECT_EQ(500U, c.items.sent + c.items.waiting);
	/* nor for one that takes long */
	self->profiles.sleep_ms = 60000;
	self->profiles.give_up = false;
	ASSERT_TRUE(start(self));
	usleep(200000);
	EXPECT_GT(15, seconds_of_end(self));
}

/* ---- push ---- */

int cmd_push(int argc, char **argv);

/* Without the token all is refused: it is not begun. What is behind it would be misuse as well. */
TEST(headers_that_cannot_be_read_are_told)
{
	static const struct {
		const char *text;	/* NULL: a directory */
		int status;
		const char *said;
	} rows[] = {
		{ NULL, STATUS_FAILED, "Is a directory" }, { "", STATUS_USAGE, "has no header" },
		{ "# Authorization: Bearer x\n\n", STATUS_USAGE, "has no header" },
		{ "Authorization: Bearer x", STATUS_USAGE, "--interval wants" },
		{ "#\nAuthorization: Bearer x\nX: y\n", STATUS_USAGE, "--interval wants" },
		{ "secret\n", STATUS_USAGE, "each line is to be \"Name: value\"" },
	};
	char file[] = "/tmp/gprof-headers-XXXXXX";
	char *args[] = { "push", "--header-file", NULL, "--interval", "never", NULL };
	int fd = mkstemp(file);
	struct ran r;

	ASSERT_LE(0, fd);
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		const char *text = rows[i].text ? rows[i].text : "";

		ASSERT_EQ(0, ftruncate(fd, 0));
		ASSERT_EQ((ssize_t)strlen(text), pwrite(fd, text, strlen(text), 0));
		args[2] = rows[i].text ? file : "/tmp";
		run(&r, cmd_push, args, -1);
		EXPECT_EQ(rows[i].status, r.status) TH_LOG("%zu", i);
		EXPECT_NE(NULL, strstr(r.err, rows[i].said)) TH_LOG("%zu: %s", i, r.err);
		EXPECT_LACKS(r.err, "secret");
	}
	close(fd);
	unlink(file);
}

/* ---- history ---- */

int cmd_history(int argc, char **argv);

static int64_t total(const char *path, int *comments)
{
	FILE *f = fopen(path, "r");
	struct gprof_profile *p = f ? gprof_profile_read(fileno(f)) : NULL;
	int64_t sum = p ? gprof_profile_total(p, 0) : -1;

	for (*comments = 0; p && gprof_profile_comment(p, *comments); ++*comments)
		;
	gprof_profile_free(p);
	if (f)
		fclose(f);
	return sum;
}

/* Of two services, @n samples of the one and twice as many of the other. */
static int put_profile(FIXTURE_DATA(sending) *self, uint64_t start_ns, int64_t n)
{
	const struct gprof_value_type type = { "samples", "count" };
	struct gprof_profile_builder_config cfg = {
		.sz = sizeof(cfg), .types = &type, .nr_types = 1, .period_type = type, .period = 1,
	};
	struct gprof_profile_builder *b = gprof_profile_builder_new(&cfg);
	static const char *const services[] = { "shop", "bank" };
	struct gprof_profile *p;

	for (size_t i = 0; i < 2; i++) {
		const struct gprof_tag tag = { .key = "service.name", .text = services[i] };
		const struct gprof_frame frame = { .function = services[i] };
		const int64_t value = n << i;

		gprof_profile_builder_add(b, &frame, 1, &tag, 1, &value);
	}
	gprof_profile_builder_time(b, (int64_t)start_ns, 10 * SECOND);
	p = gprof_profile_builder_finish(b);
	gprof_profile_builder_free(b);
	return item_put_profile(self->store, p, "cpu", "box");
}

static long resident_kib(void)
{
	long pages = 0;
	FILE *f = fopen("/proc/self/statm", "re");

	if (!f || fscanf(f, "%*d %ld", &pages) != 1)
		pages = 0;
	if (f)
		fclose(f);
	return pages * (sysconf(_SC_PAGESIZE) >> 10);
}

/* What names are made of is small, and one that is kept lies behind much that is free. */
TEST_F(sending, what_a_profile_took_is_given_back)
{
	static void *blocks[40000];
	long before, most;
	size_t i;

	before = resident_kib();
	for (i = 0; i < ARRAY_SIZE(blocks); i++) {
		blocks[i] = malloc(500);
		memset(blocks[i], 1, 500);
	}
	most = resident_kib();
	ASSERT_LT(before + 15000, most);
	for (i = 0; i + 1 < ARRAY_SIZE(blocks); i++)
		free(blocks[i]);
	ASSERT_EQ(0, put_profile(self, NOW, 1));
	EXPECT_GT(before + 5000, resident_kib())
		TH_LOG("%ld KiB, before %ld, most %ld", resident_kib(), before, most);
	free(blocks[i]);
}

/* It is read again where it waits: of many that wait, all but the newest are on the disk alone. */
TEST_F(sending, what_was_just_recorded_is_not_read_again)
{
	ASSERT_ZEROS(put_profile(self, NOW, 1), put_profile(self, NOW + SECOND, 1),
		     put_one(self, ITEM_TRACE));
	ASSERT_TRUE(start(self));
	EXPECT_TRUE(sent(self, 3));
	EXPECT_EQS(2, self->profiles.tries, 1, self->profiles.in_memory, 0, self->traces.in_memory);
	self->profiles.later = 1;
	ASSERT_EQ(0, put_profile(self, NOW + 2 * SECOND, 1));
	sender_wake(self->sender);
	EXPECT_TRUE(sent(self, 4));
	EXPECT_EQS(4, self->profiles.tries, 2, self->profiles.in_memory);
	EXPECT_TRUE(self->profiles.in_order);
	/* and one that nobody takes any more is freed */
	sender_stop(self->sender, false);
	ASSERT_EQ(0, put_profile(self, NOW + 3 * SECOND, 1));
}

TEST_F(sending, history_is_one_profile_of_a_span_of_time)
{
	char out[96], to[32], from[32];
	char *args[] = { "history", "--store", self->path, "--from", from, "--to", to, "-o", out,
			 NULL, NULL, NULL };
	struct ran r;
	int comments;

	for (uint64_t i = 0; i < 400; i++)
		ASSERT_EQ(0, put_profile(self, NOW + i * 10 * SECOND, 1));
	snprintf(out, sizeof(out), "%s/out.pb.gz", self->path);
	/* 09:10:05 to 10:00:00: the interval that began at 09:10:00 is of it */
	strcpy(from, "2025-11-25T09:10:05Z");
	strcpy(to, "2025-11-25T10:00:00Z");
	run(&r, cmd_history, args, -1);
	EXPECT_EQ(STATUS_OK, r.status) TH_LOG("%s", r.err);
	EXPECT_EQ(300 * 3, total(out, &comments));
	EXPECT_SAYS(r.err, "300 profiles, 3000.0 s");
	args[9] = "--service";
	args[10] = "bank";
	run(&r, cmd_history, args, -1);
	EXPECT_EQS(STATUS_OK, r.status, 300 * 2, total(out, &comments));
	args[10] = "none";
	run(&r, cmd_history, args, -1);
	EXPECT_EQ(STATUS_FAILED, r.status);
	EXPECT_SAYS(r.err, "no sample is of that service");
	args[9] = "--type";
	args[10] = "block";
	run(&r, cmd_history, args, -1);
	EXPECT_EQ(STATUS_FAILED, r.status);
	args[9] = NULL;
	strcpy(from, "2025-11-24T09:10:05Z");
	strcpy(to, "2025-11-25T09:00:00Z");
	run(&r, cmd_history, args, -1);
	EXPECT_EQ(STATUS_FAILED, r.status);
	EXPECT_SAYS(r.err, "it has some from 2025-11-25T09:00:00Z to " "2025-11-25T10:06:30Z");
	args[7] = "--list";
	args[8] = NULL;
	strcpy(to, "2025-11-25T09:00:30Z");
	run(&r, cmd_history, args, -1);
	EXPECT_EQ(STATUS_OK, r.status);
	EXPECT_SAYS(r.out,
		    "2025-11-25T09:00:20Z     10.000  cpu                   2" "  waits  box\n");
	EXPECT_LACKS(r.out, "09:00:30Z");
	strcpy(to, "yesterday");
	run(&r, cmd_history, args, -1);
	EXPECT_EQ(STATUS_USAGE, r.status);
}

/* @alloc bytes in this interval, and @in_use at its end. */
static int put_heap(FIXTURE_DATA(sending) *self, uint64_t start_ns, int64_t alloc, int64_t in_use)
{
	const struct gprof_value_type types[] = { { "alloc_space", "bytes" },
						  { "inuse_space", "bytes" } };
	struct gprof_profile_builder_config cfg = {
		.sz = sizeof(cfg), .types = types, .nr_types = 2,
		.period_type = { "space", "bytes" }, .period = 1,
	};
	struct gprof_profile_builder *b = gprof_profile_builder_new(&cfg);
	const struct gprof_frame frame = { .function = "f" };
	const int64_t values[] = { alloc, in_use };
	struct gprof_profile *p;

	gprof_profile_builder_add(b, &frame, 1, NULL, 0, values);
	gprof_profile_builder_time(b, (int64_t)start_ns, 10 * SECOND);
	p = gprof_profile_builder_finish(b);
	gprof_profile_builder_free(b);
	return item_put_profile(self->store, p, "heap", "box");
}

/* Each profile tells what is in use: of a span it is what its last one tells. */
TEST_F(sending, what_is_in_use_is_that_of_the_end)
{
	char out[96], bad[96];
	char *args[] = { "history", "--store", self->path, "--type", "heap", "--from",
			 "2025-11-25T09:00:00Z", "--to", "2025-11-25T10:00:00Z", "-o", out, NULL };
	struct gprof_profile *p;
	struct ran r;
	FILE *f;

	for (uint64_t i = 0; i < 40; i++)
		ASSERT_EQ(0, put_heap(self, NOW + i * 10 * SECOND, 3, 100 + (int64_t)(i == 5)));
	snprintf(out, sizeof(out), "%s/out.pb.gz", self->path);
	run(&r, cmd_history, args, -1);
	EXPECT_EQ(STATUS_OK, r.status) TH_LOG("%s", r.err);
	unlink(out);
	/* hours that are none are left out and counted: what there is is written all the same */
	for (int i = 8; i <= 10; i += 2) {
		snprintf(bad, sizeof(bad), "%s/20251125T%02d", self->path, i);
		f = fopen(bad, "w");
		ASSERT_NE(NULL, f);
		fclose(f);
	}
	run(&r, cmd_history, args, -1);
	EXPECT_EQ(STATUS_FAILED, r.status) TH_LOG("%s", r.err);
	EXPECT_SAYS(r.err, "the hour 20251125T08 cannot be read, and is left out",
		    "hours that cannot be read: 2\n");
	f = fopen(out, "r");
	p = f ? gprof_profile_read(fileno(f)) : NULL;
	ASSERT_NE(NULL, p);
	EXPECT_TOTALS(p, 40 * 3, 100);
	gprof_profile_free(p);
	fclose(f);
}

#define PROCESSES	38
#define STACKS		10	/* of each in an interval, of 20 that it has */
#define DEEP		15

/* Ten seconds of two busy CPUs at 19 samples a second each, different each time. */
static int put_busy(FIXTURE_DATA(sending) *self, uint64_t start_ns, unsigned int seed)
{
	const struct gprof_value_type types[] = {
		{ "samples", "count" }, { "cpu", "nanoseconds" },
	};
	struct gprof_profile_builder_config cfg = {
		.sz = sizeof(cfg), .types = types, .nr_types = 2, .period_type = types[1],
		.period = 10101010,
	};
	struct gprof_profile_builder *b = gprof_profile_builder_new(&cfg);
	struct gprof_profile *p;

	for (int i = 0; i < PROCESSES * STACKS; i++) {
		char functions[DEEP][32], service[32];
		struct gprof_frame frames[DEEP] = { 0 };
		struct gprof_tag tags[] = {
			{ .key = "pid", .num = 1000 + i % PROCESSES, .unit = "pid" },
			{ .key = "service.name", .text = service },
		};
		const int64_t values[] = { 1, 10101010 };
		int stack = rand_r(&seed) % (2 * STACKS);

		snprintf(service, sizeof(service), "service-%d", i % 20);
		for (int j = 0; j < DEEP; j++) {
			snprintf(functions[j], sizeof(functions[j]), "function_%d_%d", i % 20,
				 j < 5 ? stack * 5 + j : j);
			frames[j] = (struct gprof_frame){
				.function = functions[j], .file = "file.c", .mapping = "/usr/bin/x",
				.address = 0x1000 + 16 * (stack * DEEP + j), .line = j + 1,
			};
		}
		gprof_profile_builder_add(b, frames, DEEP, tags, 2, values);
	}
	gprof_profile_builder_time(b, (int64_t)start_ns, 10 * SECOND);
	p = gprof_profile_builder_finish(b);
	gprof_profile_builder_free(b);
	return item_put_profile(self->store, p, "cpu", "box");
}

/* In a guest that counts instructions (STORE_DAYS=7) it has to be done in 5 s. */
TEST_F_TIMEOUT(sending, an_hour_is_merged_out_of_many, 600)
{
	const char *text = getenv("STORE_DAYS");
	uint64_t days = text ? (uint64_t)atoi(text) : 0, items = 0;
	char *out = lib_text("%s/out.pb.gz", self->path);
	struct timespec begin, end;
	uint64_t each = days ? 10 * SECOND : 300 * SECOND;
	struct store_counts c;
	struct ran r;
	double took;
	int comments;

	for (uint64_t t = NOW - days * 24 * HOUR; t < NOW; t += each)
		ASSERT_EQ(0, put_profile(self, t, 1));
	for (uint64_t t = NOW; t < NOW + HOUR; t += each, items++)
		ASSERT_EQ(0, put_busy(self, t, (unsigned int)items + 1));
	store_counts(self->store, &c);
	clock_gettime(CLOCK_MONOTONIC, &begin);
	run(&r, cmd_history,
	    ARGV("history", "--store", self->path, "--from", "2025-11-25T09:00:00Z",
		 "--to", "2025-11-25T10:00:00Z", "-o", out), -1);
	clock_gettime(CLOCK_MONOTONIC, &end);
	EXPECT_EQS(STATUS_OK, r.status, (int64_t)items * PROCESSES * STACKS, total(out, &comments));
	took = (double)(end.tv_sec - begin.tv_sec) + (double)(end.tv_nsec - begin.tv_nsec) / 1e9;
	dup2(self->err, 2);
	TH_LOG("%llu items of %llu bytes, of which %llu are merged in %.3f s",
	       (unsigned long long)c.files, (unsigned long long)c.bytes, (unsigned long long)items,
	       took);
	if (days) {
		EXPECT_GT(5, took);
	}
}

TEST_HARNESS_MAIN
