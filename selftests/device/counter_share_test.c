// SPDX-License-Identifier: GPL-2.0-only
/*
 * counter_share_test: recorders that ask for the same counter have one set of events between
 * them, and nobody can tell, but by what it costs: each gets what it asked for, whoever
 * comes, goes, or wants it faster.
 *
 * The event is a signal that one sends to oneself and ignores: as many as are sent.
 */
#include <stdatomic.h>
#include "harness.h"
#include "device.h"
#include "reader.h"
#include "workload.h"

#define FAST	4
#define SLOW	40
#define MANY	64
#define TIMES	200000

struct recorder {
	struct gprof_tracepoint_params params;
	struct gprof_setup setup;
	struct device dev;
	struct reader reader;
	struct gprof_stats st;
	uint64_t *times;	/* of its samples */
	uint64_t nr_times;
};

FIXTURE(share) {
	struct recorder r[MANY];
	long long signal;
};

static void note_time(void *ctx, const struct reader_sample *s)
{
	struct recorder *r = ctx;

	if (r->times && r->nr_times < TIMES)
		r->times[r->nr_times++] = s->rec->time;
}

FIXTURE_SETUP(share)
{
	perf_at_any_rate();
	self->signal = tracepoint_id("signal", "signal_generate");
	ASSERT_LT(0, self->signal);
}

FIXTURE_TEARDOWN(share)
{
	for (int i = 0; i < MANY; i++) {
		device_close(&self->r[i].dev);
		free(self->r[i].times);
	}
}

static void send_signals(unsigned int n)
{
	while (n--)
		kill(getpid(), SIGURG);
}

static void set_up(struct __test_metadata *_metadata, struct recorder *r, long long event,
		   uint64_t period, uint32_t target, int id)
{
	r->params = (struct gprof_tracepoint_params){
		.size = sizeof(r->params), .period = period, .tracepoint = event,
	};
	r->setup = device_setup_kind(GPROF_KIND_TRACEPOINT, target, id, &r->params);
	r->setup.buffer_size = target == GPROF_TARGET_PROCESS ? 1 << 17 : 1 << 20;
	ASSERT_EQ(0, device_setup(&r->dev, &r->setup)) TH_LOG("reason %u", r->setup.out_reason);
	ASSERT_ZEROS(device_map(&r->dev), reader_init(&r->reader, &r->dev));
	r->times = calloc(TIMES, sizeof(*r->times));
	r->reader.on_sample = note_time;
	r->reader.ctx = r;
}

#define SET_UP_BOTH() do {							\
	set_up(_metadata, fast, self->signal, FAST, GPROF_TARGET_THREAD, gettid());	\
	set_up(_metadata, slow, self->signal, SLOW, GPROF_TARGET_THREAD, gettid());	\
} while (0)

/* All that was sampled is there; returns what it stands for. */
static uint64_t read_all(struct __test_metadata *_metadata, struct recorder *r)
{
	ASSERT_LE(0, reader_read(&r->reader));
	EXPECT_STREQ("", r->reader.error);
	ASSERT_EQ(0, device_stats(&r->dev, GPROF_STATS_ALL_CPUS, &r->st));
	EXPECT_EQS(0, device_lost(&r->st), r->st.out_produced, r->reader.samples);
	TH_LOG("period %llu: %llu samples stand for %llu of %llu", ull(r->params.period),
	       ull(r->reader.samples), ull(r->reader.weight), ull(r->st.out_count));
	return r->reader.weight;
}

static double root(double x)
{
	double r = x > 1 ? x : 1, last;

	do {
		last = r;
		r = (r + x / r) / 2;
	} while (r < last);
	return last;
}

/* Taken with a probability of p, each standing for 1 / p: five standard errors. */
static double noise(double events, double fast, double slow)
{
	double p = fast / slow;

	return 5 * root(events / fast * p * (1 - p)) * slow + slow;
}

static void expect_near(struct __test_metadata *_metadata, double got, double expected,
			double tolerance)
{
	EXPECT_TRUE(got >= expected - tolerance && got <= expected + tolerance)
		TH_LOG("%.0f, expected %.0f +- %.0f", got, expected, tolerance);
}

TEST_F(share, slower_gets_a_part_of_what_the_faster_gets)
{
	struct recorder *fast = &self->r[0], *slow = &self->r[1];
	const unsigned int n = 100000;
	uint64_t i, j = 0;

	/* so that the times are in order */
	ASSERT_LE(0, pin_to_some_cpu());
	SET_UP_BOTH();
	ASSERT_ZEROS(device_start(&slow->dev), device_start(&fast->dev));
	send_signals(n);
	ASSERT_ZEROS(device_stop(&fast->dev), device_stop(&slow->dev));
	expect_near(_metadata, read_all(_metadata, fast), n, FAST);
	expect_near(_metadata, read_all(_metadata, slow), n, noise(n, FAST, SLOW));
	EXPECT_EQS(n, fast->st.out_count, n, slow->st.out_count);
	/* The same events, told once: at the same time to the nanosecond. */
	for (i = 0; i < slow->nr_times; i++) {
		while (j < fast->nr_times && fast->times[j] < slow->times[i])
			j++;
		if (j == fast->nr_times || fast->times[j] != slow->times[i])
			break;
	}
	EXPECT_EQ(slow->nr_times, i);
	EXPECT_LT(n / SLOW / 2, i);
}

TEST_F(share, recorder_that_comes_and_goes_has_the_events_meanwhile)
{
	struct recorder *fast = &self->r[0], *slow = &self->r[1];
	const unsigned int n = 40000;

	SET_UP_BOTH();
	ASSERT_EQ(0, device_start(&slow->dev));
	send_signals(n + SLOW / 2);
	ASSERT_EQ(0, device_start(&fast->dev));
	send_signals(n);
	ASSERT_EQ(0, device_stop(&fast->dev));
	send_signals(n);
	ASSERT_EQ(0, device_stop(&slow->dev));
	expect_near(_metadata, read_all(_metadata, fast), n, 2 * FAST);
	expect_near(_metadata, read_all(_metadata, slow), 3 * n, noise(n, FAST, SLOW) + 2 * SLOW);
	EXPECT_EQS(n, fast->st.out_count, 3 * n + SLOW / 2, slow->st.out_count);
}

/* More often than a period of the slower ends. */
TEST_F(share, comings_and_goings_keep_no_recorder_from_samples)
{
	struct recorder *fast = &self->r[0], *slow = &self->r[1];
	const unsigned int n = 30, times = 300;

	SET_UP_BOTH();
	ASSERT_EQ(0, device_start(&slow->dev));
	for (unsigned int i = 0; i < times; i++) {
		ASSERT_EQ(0, device_start(&fast->dev));
		send_signals(n);
		ASSERT_EQ(0, device_stop(&fast->dev));
		send_signals(n);
	}
	ASSERT_EQ(0, device_stop(&slow->dev));
	expect_near(_metadata, read_all(_metadata, slow), 2 * n * times,
		    noise(2 * n * times, FAST, SLOW));
	EXPECT_EQ(2 * n * times, slow->st.out_count);
	/* Each time up to a period of the event that ran already is in the first sample. */
	expect_near(_metadata, read_all(_metadata, fast), n * times, FAST * times);
	EXPECT_EQ(n * times, fast->st.out_count);
}

/* Who comes wants less than there is: that is no reason to begin a period anew. */
TEST_F(share, slower_recorders_that_come_keep_no_other_from_samples)
{
	struct recorder *fast = &self->r[0], *slow = &self->r[1];
	const unsigned int n = FAST / 3, times = 300;

	SET_UP_BOTH();
	ASSERT_EQ(0, device_start(&fast->dev));
	for (unsigned int i = 0; i < times; i++) {
		ASSERT_EQ(0, device_start(&slow->dev));
		send_signals(n);
		ASSERT_EQ(0, device_stop(&slow->dev));
	}
	ASSERT_EQ(0, device_stop(&fast->dev));
	expect_near(_metadata, read_all(_metadata, fast), n * times, FAST);
	EXPECT_LE(n * times / FAST - 1, fast->reader.samples);
}

static void send_in_child(void *arg, int step)
{
	send_signals(1000);
}

TEST_F(share, child_from_before_start_is_not_the_newcomers)
{
	struct recorder *first = &self->r[0], *second = &self->r[1];
	struct child child;

	set_up(_metadata, first, self->signal, 1, GPROF_TARGET_PROCESS, getpid());
	set_up(_metadata, second, self->signal, 1, GPROF_TARGET_PROCESS, getpid());
	ASSERT_ZEROS(device_start(&first->dev), child_fork(&child, send_in_child, NULL),
		     device_start(&second->dev), child_step(&child));
	send_signals(500);
	ASSERT_ZEROS(device_stop(&second->dev), device_stop(&first->dev));
	child_end(&child);
	EXPECT_LE(1500, read_all(_metadata, first));
	expect_near(_metadata, read_all(_metadata, second), 500, 10);
}

TEST_F(share, those_of_cpus_share_too)
{
	struct recorder *fast = &self->r[0], *slow = &self->r[1];
	const unsigned int n = 40000;

	for (int i = 0; i < 2; i++) {
		set_up(_metadata, &self->r[i], self->signal, i ? SLOW : FAST, GPROF_TARGET_SYSTEM,
		       0);
		ASSERT_EQ(0, device_start(&self->r[i].dev));
	}
	send_signals(n);
	ASSERT_EQ(0, device_stop(&fast->dev));
	send_signals(n);
	ASSERT_EQ(0, device_stop(&slow->dev));
	/* others may send some */
	expect_near(_metadata, read_all(_metadata, fast), n, n / 50);
	expect_near(_metadata, read_all(_metadata, slow), 2 * n, noise(2 * n, FAST, SLOW) + n / 50);
}

static atomic_bool ended;

/* Or until there are as many as a buffer that nobody reads has room for. */
static void *send_until_the_end(void *sent)
{
	unsigned int *n = sent;

	while (!ended && *n < 100000) {
		send_signals(10);
		*n += 10;
	}
	return NULL;
}

static void *close_it(void *recorder)
{
	struct recorder *r = recorder;

	device_close(&r->dev);
	return NULL;
}

TEST_F(share, sixty_three_that_close_at_once_take_nothing_from_the_last)
{
	struct recorder *last = &self->r[MANY - 1];
	pthread_t sender, closers[MANY - 1];
	unsigned int sent = 0;

	for (int i = 0; i < MANY; i++) {
		set_up(_metadata, &self->r[i], self->signal, FAST << i % 4, GPROF_TARGET_PROCESS,
		       getpid());
		reader_free(&self->r[i].reader);
	}
	ASSERT_EQ(0, reader_init(&last->reader, &last->dev));
	for (int i = MANY - 1; i >= 0; i--)
		ASSERT_EQ(0, device_start(&self->r[i].dev));
	ended = false;
	ASSERT_EQ(0, pthread_create(&sender, NULL, send_until_the_end, &sent));
	sleep_ms(50);
	for (int i = 0; i < MANY - 1; i++)
		ASSERT_EQ(0, pthread_create(&closers[i], NULL, close_it, &self->r[i]));
	for (int i = 0; i < MANY - 1; i++)
		pthread_join(closers[i], NULL);
	ended = true;
	pthread_join(sender, NULL);
	ASSERT_EQ(0, device_stop(&last->dev));
	EXPECT_LT(0, sent);
	read_all(_metadata, last);
	EXPECT_EQ(sent, last->st.out_count);
	expect_near(_metadata, last->reader.weight, sent, noise(sent, FAST, FAST << 3) + MANY * 8);
	reader_free(&last->reader);
}

TEST_HARNESS_MAIN
