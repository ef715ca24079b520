// SPDX-License-Identifier: GPL-2.0-only
/*
 * Flight rings of several CPUs, in ordinary memory, of which snapshots are written while
 * somebody plays the kernel that overwrites them.
 */
#include "harness.h"
#include <gprof/trace_write.h>

#include "lib_util.h"
#include "trace/capture/trace_snapshot.h"

#define CPUS		2
#define RING		(8ULL << 20)
#define PARTS		8
#define HELD		64	/* more generations than a ring holds */
#define START		1000000000ULL
#define EACH_NS		1000ULL
#define S		1000000000ULL

/* A ring, and what its kernel knows. */
struct cpu {
	struct gprof_ring_head head;
	unsigned char *data;
	uint64_t starts[HELD];	/* of generation N % HELD: its position */
	uint64_t samples[HELD];	/* likewise, how many samples it has */
	uint64_t number;	/* of the current generation */
	uint64_t first;	/* of the oldest */
	uint64_t begun;
	uint64_t written;	/* samples in all */
};

FIXTURE(snapshot) {
	struct cpu cpus[CPUS];
	struct gprof_ring rings[CPUS];
	struct gprof_buffer buffer;
	struct gprof_trace_snapshot s;
	struct gprof_trace_writer *w;
	struct gprof_ring_snapshot live;
	uint64_t now;
	uint64_t each_ns;	/* between two samples of a CPU */
	uint64_t points;
	uint64_t lost;
	unsigned int meanwhile;	/* samples that each CPU writes at each cut */
	unsigned int cuts;	/* up to this many; 0: all */
	int fd;
};

static void give_up(struct cpu *c)
{
	__atomic_store_n(&c->head.oldest, c->starts[(c->first + 1) % HELD], __ATOMIC_RELEASE);
	c->head.overwritten += c->samples[c->first % HELD];
	c->first++;
}

/* What the module publishes with each record. */
static void publish(struct cpu *c, uint64_t head)
{
	c->head.produced = c->written;
	__atomic_store_n(&c->head.head, head, __ATOMIC_RELEASE);
}

static void put(struct cpu *c, const void *rec, size_t size)
{
	while (c->head.head + size - c->starts[c->first % HELD] > RING)
		give_up(c);
	memcpy(c->data + c->head.head % RING, rec, size);
	publish(c, c->head.head + size);
}

static void cut(struct cpu *c, uint32_t cpu, uint64_t time)
{
	struct gprof_generation_rec g = {
		.rec = { GPROF_REC_GENERATION, 0, sizeof(g) }, .generation = c->number + 1,
		.mono_ns = time, .real_ns = 1, .weight = 1, .cpu = cpu,
	};

	/* The ring may have to be emptied for it: of an older one. */
	while (c->number && c->head.head + sizeof(g) - c->starts[c->first % HELD] > RING)
		give_up(c);
	c->number++;
	c->starts[c->number % HELD] = c->head.head;
	c->samples[c->number % HELD] = 0;
	c->begun = time;
	if (c->number == 1)
		c->first = 1;
	put(c, &g, sizeof(g));
}

/* Two tasks take turns. */
static void turn(struct cpu *c, uint32_t cpu, uint64_t time)
{
	uint64_t w;

	if (!c->number || c->head.head - c->starts[c->number % HELD] >= RING / PARTS)
		cut(c, cpu, time);
	w = GPROF_TRACE_PREV_PREEMPTED | GPROF_TRACE_SWITCH << GPROF_TRACE_ARG_BITS |
	    GPROF_REC_SHORT | (10 + 2 * cpu + c->written % 2) << GPROF_TRACE_TID_SHIFT |
	    (time - c->begun) / 64 << GPROF_TRACE_TIME_SHIFT;
	c->samples[c->number % HELD]++;
	c->written++;
	put(c, &w, sizeof(w));
}

static void turns(FIXTURE_DATA(snapshot) *self, uint64_t nr)
{
	for (; nr; nr--) {
		self->now += self->each_ns;
		for (uint32_t cpu = 0; cpu < CPUS; cpu++)
			turn(&self->cpus[cpu], cpu, self->now);
	}
}

static uint64_t held(const struct cpu *c)
{
	return c->written - c->head.overwritten;
}

/* The kernel does not wait for who writes a snapshot. */
static int on_generation(void *ctx, uint64_t nr, const struct gprof_trace_point *p, size_t n)
{
	FIXTURE_DATA(snapshot) *self = ctx;

	(void)nr;
	for (size_t i = 0; i < n; i++) {
		self->points += p[i].type == GPROF_TRACE_POINT_SWITCH;
		self->lost += p[i].type == GPROF_TRACE_POINT_LOST ? p[i].arg : 0;
	}
	turns(self, self->meanwhile);
	if (self->cuts && !--self->cuts)
		self->meanwhile = 0;
	return 0;
}

FIXTURE_SETUP(snapshot)
{
	struct gprof_trace_writer_opts opts = {
		.sz = sizeof(opts), .generation = on_generation, .ctx = self,
	};

	self->now = START;
	self->each_ns = EACH_NS;
	for (uint32_t cpu = 0; cpu < CPUS; cpu++) {
		struct cpu *c = &self->cpus[cpu];

		c->data = lib_ring(RING);
		ASSERT_NE(NULL, c->data);
		self->rings[cpu] = (struct gprof_ring){
			.head = &c->head, .data = c->data, .size = RING, .cpu = cpu,
		};
	}
	self->buffer = (struct gprof_buffer){ self->rings, CPUS };
	self->fd = memfd_create("trace", MFD_CLOEXEC);
	self->w = gprof_trace_writer_new(self->fd, &opts);
	ASSERT_NE(NULL, self->w);
}

FIXTURE_TEARDOWN(snapshot)
{
	gprof_ring_snapshot_free(&self->live);
	if (self->w)
		gprof_trace_writer_close(self->w);
	gprof_trace_snapshot_free(&self->s);
	close(self->fd);
}

/* All that the ring holds, in order, in pieces of about a generation. */
TEST_F(snapshot, pieces_are_whole_and_follow_each_other)
{
	struct gprof_snapshot copy = { 0 };
	uint64_t before, pos, bytes = 0;
	unsigned int pieces = 0;

	turns(self, 3 * RING / 8);
	ASSERT_EQ(0, gprof_ring_snapshot_begin(&self->live, &self->rings[0]));
	pos = self->live.pos;
	EXPECT_EQ(self->cpus[0].head.oldest, pos);
	for (;;) {
		ASSERT_EQ(0, gprof_ring_snapshot_next(&self->live, &copy, &before));
		if (!copy.len)
			break;
		EXPECT_EQS(GPROF_RING_SNAPSHOT_ADJOINS, before, pos, copy.pos);
		EXPECT_EQ(GPROF_REC_GENERATION, ((const struct gprof_rec *)copy.data)->type);
		EXPECT_EQ(0, memcmp(copy.data, self->cpus[0].data + pos % RING, copy.len));
		EXPECT_GE(RING / PARTS + 4096, copy.len);
		pos += copy.len;
		bytes += copy.len;
		pieces++;
		gprof_snapshot_free(&copy);
	}
	EXPECT_EQ(self->cpus[0].head.head, pos);
	EXPECT_EQ(self->cpus[0].head.head - self->cpus[0].head.oldest, bytes);
	EXPECT_LE(PARTS - 1, pieces);
}

/* What the kernel is about to come to, and no more, is copied before its turn. */
TEST_F(snapshot, what_is_in_danger_is_copied)
{
	struct gprof_ring_bounds b;
	struct gprof_snapshot copy = { 0 };
	uint64_t before;

	turns(self, RING / 8 / 2);
	ASSERT_EQ(0, gprof_ring_snapshot_begin(&self->live, &self->rings[0]));
	ASSERT_EQ(0, gprof_ring_snapshot_rescue(&self->live));
	EXPECT_EQ(NULL, self->live.first);
	/* Often enough for it to know how fast the kernel is. */
	while (!self->live.first && self->cpus[0].head.head < RING) {
		turns(self, 512);
		ASSERT_EQ(0, gprof_ring_snapshot_rescue(&self->live));
	}
	EXPECT_NE(NULL, self->live.first);
	EXPECT_LE(RING - (1 << 20) - 8192, self->cpus[0].head.head);
	EXPECT_EQ(self->live.first, self->live.last);
	EXPECT_LT(self->live.pos, self->live.end);
	/* The kernel takes its place; the copy is what was there. */
	while (!self->cpus[0].head.oldest)
		turns(self, 1);
	ASSERT_EQ(0, gprof_ring_snapshot_next(&self->live, &copy, &before));
	EXPECT_EQS(0, copy.pos, GPROF_RING_SNAPSHOT_ADJOINS, before);
	gprof_snapshot_free(&copy);
	ASSERT_EQ(0, gprof_ring_bounds(&self->rings[0], &b));
	EXPECT_EQ(b.oldest, self->live.pos);
}

#define WRITE() ({									\
	uint64_t _samples;								\
											\
	gprof_trace_snapshot_write(&self->s, self->w, NULL, S, &_samples);		\
})

static void expect_all(struct __test_metadata *_metadata, FIXTURE_DATA(snapshot) *self,
		       unsigned int meanwhile)
{
	uint64_t kept;

	turns(self, 3 * RING / 8);
	kept = held(&self->cpus[0]) + held(&self->cpus[1]);
	ASSERT_EQ(0, gprof_trace_snapshot_capture(&self->s, &self->buffer, START, self->now));
	self->meanwhile = meanwhile;
	ASSERT_ZEROS(WRITE(), gprof_trace_writer_close(self->w));
	self->w = NULL;
	EXPECT_EQS(kept, self->points + self->s.missed, self->lost, self->s.missed);
}

/* A cut is at most 131,072 events of both: the kernel is as fast as the writer, or twice so. */
TEST_F(snapshot, nothing_is_missed_while_the_kernel_keeps_pace)
{
	expect_all(_metadata, self, 65536);
	EXPECT_EQ(0, self->s.missed);
}

TEST_F(snapshot, nothing_is_missed_where_the_kernel_is_faster)
{
	expect_all(_metadata, self, 100000);
	EXPECT_EQ(0, self->s.missed);
}

/* It was as fast all the time: that is known before it is seen. */
TEST_F(snapshot, nothing_is_missed_before_the_second_look)
{
	self->cuts = 1;
	expect_all(_metadata, self, RING / 8 / 4);
	EXPECT_EQ(0, self->s.missed);
}

/*
 * Most of a ring between two looks at it, which took long before: what is missing is counted,
 * and told in the trace.
 */
TEST_F(snapshot, what_is_missed_is_counted)
{
	self->each_ns = 10 * EACH_NS;
	self->cuts = 1;
	expect_all(_metadata, self, RING / 8 / 2);
	EXPECT_LT(0, self->s.missed);
	EXPECT_LT(0, self->points);
}

TEST_F(snapshot, all_that_is_missed_is_counted)
{
	self->each_ns = 10 * EACH_NS;
	expect_all(_metadata, self, 2 * RING / 8);
	EXPECT_LT(0, self->s.missed);
	EXPECT_LT(0, self->points);
}

TEST_HARNESS_MAIN
