// SPDX-License-Identifier: GPL-2.0-only
/*
 * Flight rings of several CPUs, in ordinary memory, of which snapshots are written, as traces and
 * raw, while somebody plays the kernel that overwrites them.
 */
#include "harness.h"
#include <gprof/core.h>
#include <gprof/trace.h>
#include <gprof/trace_write.h>

#include "lib_util.h"
#include "device/raw_file.h"
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
	int raw;
	struct gprof_raw_output out;
	struct gprof_core *core;
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
		c->head.version = GPROF_ABI_VERSION;
		c->head.kind = GPROF_KIND_TRACE;
		c->head.flags = GPROF_SETUP_F_FLIGHT;
		c->head.recorder = 7;
		c->head.data_size = RING;
	}
	self->buffer = (struct gprof_buffer){ self->rings, CPUS };
	self->fd = memfd_create("trace", MFD_CLOEXEC);
	self->w = gprof_trace_writer_new(self->fd, &opts);
	ASSERT_NE(NULL, self->w);
	self->raw = memfd_create("raw", MFD_CLOEXEC);
}

FIXTURE_TEARDOWN(snapshot)
{
	gprof_ring_snapshot_free(&self->live);
	if (self->w)
		gprof_trace_writer_close(self->w);
	gprof_trace_snapshot_free(&self->s);
	gprof_core_free(self->core);
	close(self->fd);
	close(self->raw);
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
	EXPECT_LTS(0, self->s.missed, 0, self->points);
}

TEST_F(snapshot, all_that_is_missed_is_counted)
{
	self->each_ns = 10 * EACH_NS;
	expect_all(_metadata, self, 2 * RING / 8);
	EXPECT_LTS(0, self->s.missed, 0, self->points);
}

static int write_raw(void *ctx, const void *data, size_t len)
{
	const struct gprof_snapshot piece = { .data = data, .len = len };
	FIXTURE_DATA(snapshot) *self = ctx;
	const struct gprof_rec *rec;
	uint32_t size;
	size_t off = 0;

	/* All that is long is records. */
	while (len > 4096 && gprof_snapshot_next(&piece, &off, &rec, &size) > 0)
		self->points += rec->type & GPROF_REC_SHORT ? 1 : 0;
	turns(self, self->meanwhile);
	return write(self->raw, data, len) == (ssize_t)len ? 0 : -EIO;
}

/* All that the rings hold now, in the file. */
static int make_raw(FIXTURE_DATA(snapshot) *self, uint32_t flags)
{
	const struct gprof_raw_head head = {
		.flags = flags, .started_ns = START, .until_ns = self->now, .generation_ns = S,
	};
	struct gprof_raw_end end = { 0 };
	int err;

	self->out = (struct gprof_raw_output){ .write = write_raw, .ctx = self };
	err = gprof_raw_file_write(&self->out, &self->buffer, &head);
	for (unsigned int cpu = 0; cpu < CPUS; cpu++) {
		end.produced += self->cpus[cpu].written;
		end.overwritten += self->cpus[cpu].head.overwritten;
	}
	return err ? err : gprof_raw_file_end(&self->out, &end);
}

/* The trace of it, for close(), or -errno. */
static int trace_of_raw(FIXTURE_DATA(snapshot) *self)
{
	int fd = memfd_create("trace", MFD_CLOEXEC), err;

	gprof_core_free(self->core);
	self->core = gprof_core_open(self->raw);
	err = self->core ? gprof_core_trace(self->core, 0, fd) : -errno;
	if (!err)
		return lseek(fd, 0, SEEK_SET) ? -EIO : fd;
	close(fd);
	return err;
}

/*
 * The events of each CPU, to the microsecond. Where generations are cut, and states are repeated,
 * depends on how the rings are read, and so by how many ns events at the same time are apart.
 */
static uint64_t each_cpu(int fd, uint64_t *digests)
{
	struct gprof_trace *t = gprof_trace_new(fd, NULL);
	struct gprof_trace_event ev;
	uint64_t events = 0;

	while (gprof_trace_next(t, &ev) > 0) {
		if (ev.kind != GPROF_TRACE_STATE_TRANSITION || ev.proc < 0 || ev.proc >= CPUS ||
		    ev.transition.from == ev.transition.to)
			continue;
		digests[ev.proc] = 31 * digests[ev.proc] + ((uint64_t)ev.time + 500) / 1000;
		digests[ev.proc] = 31 * digests[ev.proc] + (uint64_t)ev.transition.resource.id;
		digests[ev.proc] = 31 * digests[ev.proc] + (uint64_t)ev.transition.to;
		events++;
	}
	gprof_trace_free(t);
	return events;
}

/* The records of the rings in the file make the trace that they would have made at once. */
TEST_F(snapshot, a_raw_file_is_the_same_trace)
{
	struct gprof_core_recorder r = { .sz = sizeof(r) };
	uint64_t direct[CPUS] = { 0 }, later[CPUS] = { 0 }, events;
	int fd;

	turns(self, 3 * RING / 8);
	ASSERT_EQ(0, gprof_trace_snapshot_capture(&self->s, &self->buffer, START, self->now));
	ASSERT_ZEROS(WRITE(), gprof_trace_writer_close(self->w), lseek(self->fd, 0, SEEK_SET));
	self->w = NULL;
	ASSERT_EQ(0, make_raw(self, GPROF_RAW_F_STOPPED));
	EXPECT_EQS(0, self->out.gaps, self->out.bytes, (uint64_t)lseek(self->raw, 0, SEEK_END));
	fd = trace_of_raw(self);
	ASSERT_LE(0, fd) TH_LOG("%s", gprof_error());
	ASSERT_EQ(0, gprof_core_recorder(self->core, 0, &r));
	EXPECT_EQS(1, r.flight, CPUS, r.buffers, 7, r.id,
		   self->cpus[0].written + self->cpus[1].written, r.produced);
	events = each_cpu(self->fd, direct);
	EXPECT_LT(held(&self->cpus[0]) + held(&self->cpus[1]), events);
	EXPECT_EQS(events, each_cpu(fd, later), direct[0], later[0], direct[1], later[1]);
	close(fd);
}

/* Counts that were changed are no recording's. */
TEST_F(snapshot, the_counts_of_a_raw_file_add_up)
{
	uint64_t produced;
	off_t at;

	turns(self, 100);
	ASSERT_EQ(0, make_raw(self, GPROF_RAW_F_STOPPED));
	at = lseek(self->raw, 0, SEEK_END) - (off_t)sizeof(struct gprof_raw_end);
	ASSERT_EQ(sizeof(produced), pread(self->raw, &produced, sizeof(produced), at));
	EXPECT_EQ(200, produced);
	produced++;
	ASSERT_EQ(sizeof(produced), pwrite(self->raw, &produced, sizeof(produced), at));
	EXPECT_EQ(-EBADMSG, trace_of_raw(self));
	EXPECT_NE(NULL, strstr(gprof_error(), "do not add up"));
}

static void expect_all_raw(struct __test_metadata *_metadata, FIXTURE_DATA(snapshot) *self,
			   unsigned int meanwhile, uint64_t gaps)
{
	struct gprof_trace_stats st = { .sz = sizeof(st) };
	struct gprof_trace_event ev;
	struct gprof_trace *t;
	uint64_t kept;
	int fd;

	self->each_ns = 10 * EACH_NS;
	turns(self, 3 * RING / 8);
	kept = held(&self->cpus[0]) + held(&self->cpus[1]);
	self->meanwhile = meanwhile;
	self->points = 0;
	ASSERT_EQ(0, make_raw(self, 0));
	EXPECT_LE(gaps, self->out.gaps);
	fd = trace_of_raw(self);
	ASSERT_LE(0, fd) TH_LOG("%s", gprof_error());
	t = gprof_trace_new(fd, NULL);
	while (gprof_trace_next(t, &ev) > 0)
		;
	ASSERT_EQ(0, gprof_trace_stats(t, &st));
	EXPECT_EQ(kept, self->points + st.lost);
	EXPECT_LT(0, self->points);
	EXPECT_EQ(!!gaps, !!st.lost);
	gprof_trace_free(t);
	close(fd);
}

/* The kernel overwrites most of a ring with each piece that is written, or all of it. */
TEST_F(snapshot, a_raw_file_counts_what_is_missed)
{
	expect_all_raw(_metadata, self, RING / 8 / 4, 2);
}

TEST_F(snapshot, a_raw_file_counts_all_that_is_missed)
{
	expect_all_raw(_metadata, self, 2 * RING / 8, 2);
}

TEST_F(snapshot, a_raw_file_misses_nothing_where_the_kernel_is_as_fast)
{
	expect_all_raw(_metadata, self, 20000, 0);
}

/* Cut anywhere it is refused; with any byte another one it is read to some end. */
TEST_F(snapshot, a_raw_file_of_any_bytes_does_no_harm)
{
	unsigned char *bytes;
	unsigned int read = 0;
	off_t size, i;
	int fd;

	turns(self, 40);
	ASSERT_EQ(0, make_raw(self, GPROF_RAW_F_STOPPED));
	size = lseek(self->raw, 0, SEEK_END);
	bytes = malloc((size_t)size);
	ASSERT_EQ(size, pread(self->raw, bytes, (size_t)size, 0));
	for (i = 0; i < size; i++) {
		for (unsigned int k = 0; k < 3; k++) {
			const unsigned char bits[] = { 1, 0x80, 0xff }, other = bytes[i] ^ bits[k];

			ASSERT_EQ(1, pwrite(self->raw, &other, 1, i));
			fd = trace_of_raw(self);
			read += fd >= 0;
			if (fd >= 0)
				close(fd);
		}
		ASSERT_EQ(1, pwrite(self->raw, &bytes[i], 1, i));
	}
	EXPECT_LT(0, read);
	for (i = size - 1; i >= 8; i--) {
		ASSERT_EQ(0, ftruncate(self->raw, i));
		fd = trace_of_raw(self);
		EXPECT_EQ(-EBADMSG, fd) TH_LOG("%lld of %lld bytes", (long long)i, (long long)size);
		if (fd >= 0)
			close(fd);
	}
	free(bytes);
}

TEST_HARNESS_MAIN
