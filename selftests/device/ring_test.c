// SPDX-License-Identifier: GPL-2.0-only
/*
 * ring_test: produced = read + lost + overwritten, whatever the reader does. What the ring does
 * of itself, where room ends and what it gives up, is for unit/ring_*_test.
 *
 * A child burns on one CPU; the test reads its ring on another where there is
 * one. reader.c holds each record to the format.
 */
#include "harness.h"
#include "device.h"
#include "reader.h"
#include "workload.h"

#define SMALLEST	4096	/* asked for; the kernel rounds up to its smallest */

FIXTURE(ring) {
	struct gprof_cpu_params params;
	struct gprof_setup setup;
	struct device dev;
	struct reader reader;
	struct child child;
	int cpu;
};

FIXTURE_VARIANT(ring) {
	uint32_t type;
	uint64_t config;
	uint64_t period;
};

FIXTURE_VARIANT_ADD(ring, timer) {
	.type = PERF_TYPE_SOFTWARE, .config = PERF_COUNT_SW_CPU_CLOCK, .period = 100000,
};

FIXTURE_VARIANT_ADD(ring, cycles) {
	.type = PERF_TYPE_HARDWARE, .config = PERF_COUNT_HW_CPU_CYCLES, .period = 100000,
};

static void burn(void *arg, int step)
{
	if (step == 0)
		pin_to(*(int *)arg);
	else
		burn_until(UINT64_MAX);
}

FIXTURE_SETUP(ring)
{
	int refused = perf_refuses(variant->type, variant->config, true);

	SKIP_ALL_UNLESS(!refused, "perf has no such event here: %s", strerror(refused));
	perf_at_any_rate();
	self->cpu = online_cpu(0);
	if (nr_online_cpus() > 1) {
		ASSERT_LE(0, pin_to(online_cpu(1)));
	}
	ASSERT_ZEROS(child_fork(&self->child, burn, &self->cpu), child_step(&self->child));
	self->params = event_params(variant->type, variant->config, variant->period);
	self->setup = device_setup_of(GPROF_TARGET_PROCESS, self->child.pid, &self->params);
}

FIXTURE_TEARDOWN(ring)
{
	child_end(&self->child);
	reader_close(&self->reader);
}

#define BEGIN_FOR(_on_sample, _ctx)						\
	ASSERT_ZEROS(reader_record(&self->reader, &self->dev, &self->setup, _on_sample, _ctx), \
		     child_begin(&self->child))
#define BEGIN()	BEGIN_FOR(NULL, NULL)

static void expect_read(struct __test_metadata *_metadata, FIXTURE_DATA(ring) *self)
{
	EXPECT_LE(0, reader_read(&self->reader)) TH_LOG("%s", self->reader.error);
}

#define READ()	expect_read(_metadata, self)

static void read_for(struct __test_metadata *_metadata, FIXTURE_DATA(ring) *self,
		     unsigned int ms, unsigned int every_ms)
{
	uint64_t end = monotonic_ns() + ms * 1000000ULL;

	while (monotonic_ns() < end && !self->reader.error[0]) {
		sleep_ms(every_ms);
		READ();
	}
}

#define READ_FOR(_ms, _every_ms) read_for(_metadata, self, _ms, _every_ms)

/* Stops, reads the rest and returns the counts: they must add up. */
static struct gprof_stats finish(struct __test_metadata *_metadata, FIXTURE_DATA(ring) *self)
{
	struct gprof_stats st, one;
	uint64_t produced = 0;

	READER_END(&self->reader, &st);
	EXPECT_EQ(st.out_produced, st.out_nmi + st.out_irq + st.out_task);
	for (int i = 0; i < GPROF_LOST_SLOTS; i++)
		EXPECT_LE(self->reader.lost[i], st.out_lost[i]);
	EXPECT_EQS(0, self->reader.without_task, 0, self->reader.backwards);
	/* and CPU by CPU, as the head page has it too */
	for (unsigned int cpu = 0; cpu < self->dev.nr_cpus; cpu++) {
		const struct gprof_ring_head *head = self->dev.rings[cpu].head;

		if (!head)
			continue;
		EXPECT_EQS(0, device_stats(&self->dev, cpu, &one), one.out_produced, head->produced,
			   one.out_overwritten, head->overwritten);
		for (int i = 0; i < GPROF_LOST_SLOTS; i++)
			EXPECT_EQ(one.out_lost[i], head->lost[i]);
		produced += one.out_produced;
	}
	EXPECT_EQ(st.out_produced, produced);
	TH_LOG("produced=%llu read=%llu lost=%llu overwritten=%llu generations=%llu bytes=%llu",
	       ull(st.out_produced), ull(self->reader.samples), ull(device_lost(&st)),
	       ull(st.out_overwritten), ull(self->reader.generations), ull(self->reader.bytes));
	return st;
}

#define FINISH() finish(_metadata, self)

/* Waits, without reading, until a counter of the module has grown to @most. */
static bool wait_for_count(FIXTURE_DATA(ring) *self, size_t offset, uint64_t least)
{
	struct gprof_stats st;

	for (int i = 0; i < 2000; i++) {
		if (device_stats(&self->dev, GPROF_STATS_ALL_CPUS, &st))
			return false;
		if (*(uint64_t *)((char *)&st + offset) >= least)
			return true;
		sleep_ms(10);
	}
	return false;
}

#define WAIT_FOR(_member, _least)					\
	wait_for_count(self, offsetof(struct gprof_stats, _member), _least)

/* ---- stream mode ---- */

TEST_F(ring, every_sample_is_read)
{
	struct gprof_stats st;

	BEGIN();
	READ_FOR(2000, 20);
	st = FINISH();
	EXPECT_LE(200, st.out_produced);
	EXPECT_EQ(0, device_lost(&st));
	EXPECT_EQS(0, st.out_overwritten, 0, self->reader.lost_records, 0, self->reader.unknown);
}

TEST_F(ring, sample_of_a_known_stack_costs_24_bytes)
{
	BEGIN();
	READ_FOR(1000, 20);
	FINISH();
	EXPECT_LT(0, self->reader.samples);
	EXPECT_EQ(24 * self->reader.samples + 8 * self->reader.weighted, self->reader.sample_bytes);
	/* the child stands in a few stacks only */
	EXPECT_LE(self->reader.samples * 9 / 10, self->reader.known);
	EXPECT_EQ(0, self->reader.inline_stacks);
}

TEST_F(ring, smallest_ring_wraps_many_times)
{
	self->setup.buffer_size = SMALLEST;
	/* what each begins with fills the ring, however few samples a busy host lets come */
	self->setup.generation_ns = 10000000;
	BEGIN();
	for (int i = 0; i < 2000 && self->reader.wraps < 20; i++)
		READ_FOR(100, 5);
	FINISH();
	EXPECT_LE(20, self->reader.wraps);
}

TEST_F(ring, generations_follow_each_other_in_time)
{
	uint64_t begun;

	self->setup.generation_ns = 100000000;
	begun = monotonic_ns();
	BEGIN();
	READ_FOR(3000, 20);
	FINISH();
	/* each stands alone: the reader refuses a stack of another one */
	EXPECT_WITHIN(10, self->reader.generations, (monotonic_ns() - begun) / 100000000 + 1);
	EXPECT_LE(self->reader.generations, self->reader.stacks);
	EXPECT_LE(self->reader.generations, self->reader.tasks);
}

TEST_F(ring, poll_waits_until_half_full)
{
	struct pollfd pfd;
	const struct gprof_ring_head *head;

	self->setup.buffer_size = SMALLEST;
	BEGIN();
	pfd = (struct pollfd){ .fd = self->dev.fd, .events = POLLIN };
	EXPECT_EQ(1, poll(&pfd, 1, 100000));
	EXPECT_TRUE(pfd.revents & POLLIN);
	head = self->dev.rings[self->cpu].head;
	EXPECT_LE(self->dev.data_size / 2, head->head);
	EXPECT_EQ(0, device_stop(&self->dev));
	READ();
	EXPECT_EQ(0, poll(&pfd, 1, 0));
}

TEST_F(ring, nothing_is_written_after_stop)
{
	struct gprof_stats st;
	uint64_t head;

	BEGIN();
	ASSERT_TRUE(WAIT_FOR(out_produced, 100));
	st = FINISH();
	head = self->dev.rings[self->cpu].head->head;
	sleep_ms(100);
	EXPECT_EQ(head, self->dev.rings[self->cpu].head->head);
	EXPECT_TRUE(WAIT_FOR(out_produced, st.out_produced));
	EXPECT_EQ(0, device_stats(&self->dev, GPROF_STATS_ALL_CPUS, &st));
	EXPECT_EQ(self->reader.samples, st.out_produced);
}

TEST_F(ring, counts_go_on_after_stop_and_start)
{
	struct gprof_stats st;
	uint64_t before = 0;

	/* each begins one of its own, however long it may be */
	self->setup.generation_ns = 100000000000;
	BEGIN();
	for (int i = 0; i < 5; i++) {
		READ_FOR(200, 20);
		st = FINISH();
		EXPECT_LT(before, st.out_produced);
		before = st.out_produced;
		EXPECT_LT(i, self->reader.generations);
		ASSERT_EQ(0, device_start(&self->dev));
	}
	FINISH();
}

/* ---- a reader that lies ---- */

static void lie(struct __test_metadata *_metadata, FIXTURE_DATA(ring) *self,
		uint64_t (*tail)(uint64_t head, uint64_t size))
{
	struct device_ring *ring;
	struct gprof_stats st;
	uint64_t honest;

	self->setup.buffer_size = SMALLEST;
	BEGIN();
	ring = &self->dev.rings[self->cpu];
	while (ring->head->head < 3 * self->dev.data_size && !self->reader.error[0])
		READ_FOR(50, 5);
	honest = ring->tail->tail;
	ring->tail->tail = tail(ring->head->head, self->dev.data_size);
	EXPECT_TRUE(WAIT_FOR(out_lost[GPROF_LOST_BAD_TAIL], 100));
	EXPECT_EQ(0, device_stop(&self->dev));
	ASSERT_EQ(0, device_start(&self->dev));
	EXPECT_TRUE(WAIT_FOR(out_lost[GPROF_LOST_BAD_TAIL], 200));
	EXPECT_EQ(0, device_stop(&self->dev));
	ring->tail->tail = honest;
	READ();
	ASSERT_EQ(0, device_start(&self->dev));
	READ_FOR(500, 5);
	st = FINISH();
	EXPECT_LE(200, st.out_lost[GPROF_LOST_BAD_TAIL]);
	EXPECT_EQ(st.out_lost[GPROF_LOST_BAD_TAIL], self->reader.lost[GPROF_LOST_BAD_TAIL]);
	EXPECT_LE(1, self->reader.lost_records);
}

#define LYING_TAIL(_name, _tail)					\
static uint64_t _name(uint64_t head, uint64_t size)			\
{									\
	return _tail;							\
}									\
TEST_F(ring, tail_##_name##_is_counted_and_can_be_repaired)		\
{									\
	lie(_metadata, self, _name);					\
}

LYING_TAIL(ahead_of_head, head + 64 * size)
LYING_TAIL(one_ring_behind, head - size - 8)

/* ---- what a sample holds ---- */

static void count_frames(void *ctx, const struct reader_sample *s)
{
	unsigned int *most = ctx, nr = 0;

	/* a guessed caller is not counted */
	if (s->stack)
		nr = s->stack->nr_user - !!(s->stack->rec.flags & GPROF_STACK_REC_F_CALLER);
	if (nr > *most)
		*most = nr;
}

TEST_F(ring, samples_need_no_stack)
{
	self->setup.stack = 0;
	BEGIN();
	READ_FOR(500, 20);
	FINISH();
	EXPECT_LT(0, self->reader.samples);
	EXPECT_EQ(0, self->reader.stacks + self->reader.inline_stacks);
	EXPECT_EQ(24 * self->reader.samples + 8 * self->reader.weighted, self->reader.sample_bytes);
}

TEST_F(ring, instruction_alone_is_one_frame)
{
	unsigned int most = 0;

	self->setup.stack = GPROF_STACK_F_IP;
	BEGIN_FOR(count_frames, &most);
	READ_FOR(500, 20);
	FINISH();
	EXPECT_LT(0, self->reader.samples);
	EXPECT_EQ(1, most);
}

TEST_F(ring, stacks_end_at_max_frames)
{
	unsigned int most = 0;

	self->setup.max_frames = 2;
	BEGIN_FOR(count_frames, &most);
	READ_FOR(500, 20);
	FINISH();
	EXPECT_LT(0, self->reader.samples);
	EXPECT_EQ(2, most);
}

struct times {
	uint64_t first, last;
	uint32_t pid;
	uint64_t least;
	uint64_t others;
	uint64_t light;
};

static void note_times(void *ctx, const struct reader_sample *s)
{
	struct times *t = ctx;

	if (!t->first)
		t->first = s->rec->time;
	t->last = s->rec->time;
	t->others += s->rec->tid != t->pid;
	t->others += s->stack && s->stack->process.pid != t->pid;
	t->light += s->weight < t->least;
}

TEST_F(ring, samples_carry_time_task_and_weight)
{
	struct times t = { .pid = self->child.pid, .least = variant->period };
	uint64_t begun, burned, weight, count = 0;
	bool complete = false;
	struct gprof_stats st;
	int i, wait;

	begun = monotonic_ns();
	/*
	 * The last interrupt may not have come when recording stops: an emulated one is
	 * late, on a busy host by as long as that lets the guest wait. Not each time.
	 */
	for (i = 0; i < 10 && !complete; i++) {
		weight = self->reader.weight;
		burned = process_cpu_ns(self->child.pid);
		if (i) {
			ASSERT_EQ(0, device_start(&self->dev));
		} else {
			BEGIN_FOR(note_times, &t);
		}
		t.first = t.last = 0;
		READ_FOR(500, 20);
		for (wait = 0; wait < 1000 && t.last < t.first + 500000000; wait++)
			READ_FOR(20, 20);
		st = FINISH();
		burned = process_cpu_ns(self->child.pid) - burned;
		weight = self->reader.weight - weight;
		count = st.out_count - count;
		EXPECT_LE(begun, t.first);
		EXPECT_WITHIN(t.first + 500000000, t.last, monotonic_ns());
		EXPECT_EQ(0, t.others);
		/* a timer that comes late stands for more; all in all for what was burned */
		EXPECT_EQ(0, t.light);
		if (variant->type == PERF_TYPE_SOFTWARE) {
			EXPECT_LE(weight, burned + variant->period);
			complete = weight >= burned / 5;
		} else {
			EXPECT_LE(weight, count + variant->period);
			complete = weight + 5 * variant->period + count / 50 >= count;
		}
		TH_LOG("weight %llu of %llu counted, %llu ns burned", ull(weight), ull(count),
		       ull(burned));
		count = st.out_count;
	}
	EXPECT_TRUE(complete);
}

/* ---- flight mode ---- */

#define BEGIN_FLIGHT() do {							\
	self->setup.flags = GPROF_SETUP_F_FLIGHT;				\
	self->setup.buffer_size = SMALLEST;					\
	BEGIN();								\
} while (0)

TEST_F(ring, flight_wakes_its_reader_where_asked)
{
	struct pollfd pfd;

	BEGIN_FLIGHT();
	ASSERT_TRUE(WAIT_FOR(out_overwritten, 1000));
	pfd = (struct pollfd){ .fd = self->dev.fd, .events = POLLIN };
	EXPECT_EQ(0, poll(&pfd, 1, 0));
	device_close(&self->dev);
	self->setup.flags |= GPROF_SETUP_F_WAKE;
	ASSERT_EQ(0, device_record(&self->dev, &self->setup));
	pfd.fd = self->dev.fd;
	EXPECT_EQ(1, poll(&pfd, 1, 100000));
	EXPECT_TRUE(pfd.revents & POLLIN);
	EXPECT_LE(self->dev.data_size / 2, self->dev.rings[self->cpu].head->head);
}

TEST_F(ring, flight_keeps_the_newest)
{
	struct times t = { .pid = self->child.pid };
	struct gprof_stats st;
	uint64_t late;

	BEGIN_FLIGHT();
	ASSERT_TRUE(WAIT_FOR(out_overwritten, 1000));
	late = monotonic_ns();
	ASSERT_EQ(0, device_stats(&self->dev, GPROF_STATS_ALL_CPUS, &st));
	/* One may have been under way. */
	ASSERT_TRUE(WAIT_FOR(out_produced, st.out_produced + 2));
	self->reader.ctx = &t;
	self->reader.on_sample = note_times;
	st = FINISH();
	EXPECT_LTS(st.out_started_ns, t.first, late, t.last);
	EXPECT_LE(t.last, st.out_stopped_ns);
}

static void count_maps(void *ctx, const struct gprof_map_rec *map)
{
	(*(uint64_t *)ctx)++;
}

/* A snapshot names all that is in it: what the first generation said has gone with it. */
TEST_F(ring, flight_has_the_mappings_for_what_is_left)
{
	uint64_t maps = 0;

	BEGIN_FLIGHT();
	ASSERT_TRUE(WAIT_FOR(out_overwritten, 3000));
	self->reader.ctx = &maps;
	self->reader.on_map = count_maps;
	FINISH();
	EXPECT_LTS(0, self->reader.samples, 0, maps);
}

TEST_HARNESS_MAIN
