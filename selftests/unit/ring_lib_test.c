// SPDX-License-Identifier: GPL-2.0-only
/* The reader of rings, on rings in ordinary memory. */
#include "harness.h"
#include <stdatomic.h>

#include "device/buffer.h"
#include "device/ring_snapshot.h"
#include "lib_util.h"

#define RING_SIZE	4096

/* A ring as the kernel maps it: its data twice in a row. */
struct ring {
	struct gprof_ring_head *head;
	struct gprof_ring_tail tail;
	unsigned char *data;
	struct gprof_ring r;
};

static bool ring_init(struct ring *g)
{
	memset(g, 0, sizeof(*g));
	g->head = calloc(1, sizeof(*g->head));
	g->data = lib_ring(RING_SIZE);
	g->r = (struct gprof_ring){
		.head = g->head, .tail = &g->tail, .data = g->data, .size = RING_SIZE,
	};
	return g->head && g->data;
}

static void ring_free(struct ring *g)
{
	munmap(g->data, 2 * RING_SIZE);
	free(g->head);
}

/* What the kernel does: fill, then publish. */
static void put(struct ring *g, uint16_t type, uint32_t size, uint64_t value)
{
	uint64_t head = g->head->head;
	struct gprof_rec *rec = (void *)(g->data + head % RING_SIZE);
	uint64_t *words = (void *)rec;

	for (uint32_t i = 1; i < size / 8; i++)
		words[i] = value;
	rec->type = type;
	rec->flags = 0;
	if (!(type & GPROF_REC_SHORT))
		rec->size = size;
	else
		words[0] = (words[0] & 0xffff) | value << 32;
	__atomic_store_n(&g->head->head, head + size, __ATOMIC_RELEASE);
}

FIXTURE(ring) {
	struct ring g;
	const struct gprof_rec *rec;
	uint32_t size;
};

FIXTURE_SETUP(ring)
{
	ASSERT_TRUE(ring_init(&self->g));
}

FIXTURE_TEARDOWN(ring)
{
	ring_free(&self->g);
}

TEST_F(ring, an_empty_ring_gives_nothing)
{
	EXPECT_EQ(0, gprof_ring_peek(&self->g.r, &self->rec, &self->size));
	EXPECT_EQ(0, gprof_ring_peek(&self->g.r, &self->rec, &self->size));
}

TEST_F(ring, records_come_in_order_and_are_peeked_at_until_passed)
{
	put(&self->g, 5, 24, 7);
	put(&self->g, 6, 8, 0);
	ASSERT_EQ(1, gprof_ring_peek(&self->g.r, &self->rec, &self->size));
	ASSERT_EQ(1, gprof_ring_peek(&self->g.r, &self->rec, &self->size));
	EXPECT_EQS(5, self->rec->type, 24, self->size, 7, ((const uint64_t *)self->rec)[1]);
	gprof_ring_advance(&self->g.r, self->size);
	ASSERT_EQ(1, gprof_ring_peek(&self->g.r, &self->rec, &self->size));
	EXPECT_EQ(6, self->rec->type);
	gprof_ring_advance(&self->g.r, self->size);
	EXPECT_EQ(0, gprof_ring_peek(&self->g.r, &self->rec, &self->size));
}

TEST_F(ring, the_kernel_gets_room_back_only_when_told)
{
	put(&self->g, 5, 24, 7);
	ASSERT_EQ(1, gprof_ring_peek(&self->g.r, &self->rec, &self->size));
	gprof_ring_advance(&self->g.r, self->size);
	EXPECT_EQ(0, self->g.tail.tail);
	gprof_ring_release(&self->g.r);
	EXPECT_EQ(24, self->g.tail.tail);
}

TEST_F(ring, records_cross_the_end_in_one_piece)
{
	uint64_t i, j, n = 0;

	/* 40 does not divide 4096: every offset is met. */
	for (i = 0; i < 1000; i++) {
		put(&self->g, 5, 40, i);
		ASSERT_EQS(1, gprof_ring_peek(&self->g.r, &self->rec, &self->size), 40, self->size);
		for (j = 1; j < 5; j++)
			ASSERT_EQ(i, ((const uint64_t *)self->rec)[j]);
		n += self->g.r.pos % RING_SIZE + 40 > RING_SIZE;
		gprof_ring_advance(&self->g.r, self->size);
	}
	EXPECT_NE(0, n);
}

TEST_F(ring, short_records_have_one_word)
{
	put(&self->g, GPROF_REC_SHORT | 1, 8, 0xffffffff);
	put(&self->g, 5, 16, 3);
	ASSERT_EQ(1, gprof_ring_peek(&self->g.r, &self->rec, &self->size));
	EXPECT_EQ(8, self->size);
	gprof_ring_advance(&self->g.r, self->size);
	ASSERT_EQ(1, gprof_ring_peek(&self->g.r, &self->rec, &self->size));
	EXPECT_EQ(5, self->rec->type);
}

TEST_F(ring, unknown_types_are_passed_by_their_size)
{
	put(&self->g, 0x1ff, 48, 1);
	put(&self->g, 5, 16, 3);
	ASSERT_EQ(1, gprof_ring_peek(&self->g.r, &self->rec, &self->size));
	EXPECT_EQ(48, self->size);
	gprof_ring_advance(&self->g.r, self->size);
	ASSERT_EQ(1, gprof_ring_peek(&self->g.r, &self->rec, &self->size));
	EXPECT_EQ(5, self->rec->type);
}

TEST_F(ring, a_lying_size_is_a_corrupt_ring)
{
	static const uint32_t lies[] = { 0, 1, 7, 12, 32, 4096, 0x80000000, UINT32_MAX };

	for (size_t i = 0; i < sizeof(lies) / sizeof(lies[0]); i++) {
		struct ring g;

		ASSERT_TRUE(ring_init(&g));
		put(&g, 5, 24, 0);
		((struct gprof_rec *)g.data)->size = lies[i];
		EXPECT_EQ(-EBADMSG, gprof_ring_peek(&g.r, &self->rec, &self->size))
			TH_LOG("size %u", lies[i]);
		/* It stays so, though the record were mended. */
		((struct gprof_rec *)g.data)->size = 24;
		EXPECT_EQ(-EBADMSG, gprof_ring_peek(&g.r, &self->rec, &self->size));
		ring_free(&g);
	}
}

TEST_F(ring, a_lying_head_is_a_corrupt_ring)
{
	static const uint64_t lies[] = { 4, 4097, 4104, UINT64_MAX, UINT64_MAX - 7 };

	for (size_t i = 0; i < sizeof(lies) / sizeof(lies[0]); i++) {
		struct ring g;

		/* The records are good: the head alone is wrong. */
		ASSERT_TRUE(ring_init(&g));
		while (g.head->head < RING_SIZE)
			put(&g, 5, 16, 0);
		g.head->head = lies[i];
		EXPECT_EQ(-EBADMSG, gprof_ring_peek(&g.r, &self->rec, &self->size))
			TH_LOG("head %llx", (unsigned long long)lies[i]);
		ring_free(&g);
	}
}

TEST_F(ring, a_full_ring_is_read_to_the_end)
{
	int n = 0;

	while (self->g.head->head < RING_SIZE)
		put(&self->g, 5, 16, 0);
	while (gprof_ring_peek(&self->g.r, &self->rec, &self->size) > 0) {
		gprof_ring_advance(&self->g.r, self->size);
		n++;
	}
	EXPECT_EQS(RING_SIZE / 16, n, 0, self->g.r.err);
}

/*
 * A writer in another thread, which waits for the reader as the kernel does: it
 * never writes over what was not released.
 */
static void *stream_writer(void *arg)
{
	struct ring *g = arg;

	for (uint64_t i = 0; i < 200000; i++) {
		uint32_t size = 16 + 8 * (i % 7);

		while (g->head->head + size -
		       __atomic_load_n(&g->tail.tail, __ATOMIC_ACQUIRE) > RING_SIZE)
			sched_yield();
		put(g, 5, size, i);
	}
	return NULL;
}

TEST_F(ring, a_writer_and_a_reader_lose_nothing)
{
	uint64_t i = 0, j;
	pthread_t thread;

	ASSERT_EQ(0, pthread_create(&thread, NULL, stream_writer, &self->g));
	while (i < 200000) {
		int ret = gprof_ring_peek(&self->g.r, &self->rec, &self->size);

		ASSERT_LE(0, ret);
		if (!ret) {
			gprof_ring_release(&self->g.r);
			sched_yield();
			continue;
		}
		ASSERT_EQ(16 + 8 * (i % 7), self->size);
		for (j = 1; j < self->size / 8; j++)
			ASSERT_EQ(i, ((const uint64_t *)self->rec)[j]);
		gprof_ring_advance(&self->g.r, self->size);
		if (i++ % 3 == 0)
			gprof_ring_release(&self->g.r);
	}
	pthread_join(thread, NULL);
}

/* Flight mode: generations of 5 records; the oldest is given up before it is written over. */
#define FLIGHT_REC	40

struct flight {
	struct ring *g;
	atomic_bool stop;
	uint64_t written;
};

static void flight_put(struct ring *g, uint64_t i)
{
	uint64_t head = g->head->head, oldest = g->head->oldest;
	uint64_t *words = (void *)(g->data + head % RING_SIZE), j;
	struct gprof_rec rec = { i % 5 ? GPROF_REC_SAMPLE : GPROF_REC_GENERATION, 0, FLIGHT_REC };
	uint64_t first;

	while (head + FLIGHT_REC - oldest > RING_SIZE)
		oldest += 5 * FLIGHT_REC;
	__atomic_store_n(&g->head->oldest, oldest, __ATOMIC_RELAXED);
	__atomic_thread_fence(__ATOMIC_RELEASE);	/* E */
	memcpy(&first, &rec, sizeof(first));
	__atomic_store_n(&words[0], first, __ATOMIC_RELAXED);
	for (j = 1; j < FLIGHT_REC / 8; j++)
		__atomic_store_n(&words[j], i, __ATOMIC_RELAXED);
	__atomic_store_n(&g->head->head, head + FLIGHT_REC, __ATOMIC_RELEASE);
}

static void *flight_writer(void *arg)
{
	struct flight *f = arg;
	uint64_t i, pause = 1;

	for (i = f->written; !atomic_load(&f->stop); i++) {
		flight_put(f->g, i);
		if (i % 64 == 0 && lib_random(&pause) % 8 == 0)
			usleep(50);
	}
	f->written = i;
	return NULL;
}

/* What the ring holds: here it is one piece. Was a part overwritten before it was copied? */
static int snapshot(const struct gprof_ring *r, struct gprof_snapshot *snap, bool *gap)
{
	struct gprof_ring_snapshot live;
	uint64_t before = GPROF_RING_SNAPSHOT_ADJOINS;
	int ret = gprof_ring_snapshot_begin(&live, r);

	memset(snap, 0, sizeof(*snap));
	if (!ret)
		ret = gprof_ring_snapshot_next(&live, snap, &before);
	gprof_ring_snapshot_free(&live);
	*gap = before != GPROF_RING_SNAPSHOT_ADJOINS;
	return ret;
}

TEST_F(ring, a_snapshot_begins_with_a_generation_and_has_all_of_it)
{
	struct gprof_snapshot snap;
	size_t off = 0, n = 0;
	bool gap;

	for (uint64_t i = 0; i < 333; i++)
		flight_put(&self->g, i);
	ASSERT_EQ(0, snapshot(&self->g.r, &snap, &gap));
	EXPECT_FALSE(gap);
	EXPECT_EQS(self->g.head->oldest, snap.pos, self->g.head->head, snap.pos + snap.len);
	while (gprof_snapshot_next(&snap, &off, &self->rec, &self->size) > 0) {
		if (!n)
			EXPECT_EQ(GPROF_REC_GENERATION, self->rec->type);
		EXPECT_EQ(snap.pos / FLIGHT_REC + n, ((const uint64_t *)self->rec)[1]);
		n++;
	}
	EXPECT_EQ(snap.len, off);
	EXPECT_LT(90, n);
	gprof_snapshot_free(&snap);
}

/* How many pages of this memory are there? */
static size_t pages_of(const void *memory, size_t len)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE), nr = 0, i;
	uintptr_t from = ((uintptr_t)memory + page - 1) / page * page;
	unsigned char there[4096];

	len = len / page * page;
	if (mincore((void *)from, len, there))
		return SIZE_MAX;
	for (i = 0; i < len / page; i++)
		nr += there[i] & 1;
	return nr;
}

TEST_F(ring, what_was_read_of_a_copy_takes_no_memory)
{
	const size_t mib = 1 << 20, begins = 40, page = (size_t)sysconf(_SC_PAGESIZE);
	struct gprof_snapshot snap = { .len = 4 * mib - begins, .memory = malloc(4 * mib) };
	size_t i;

	ASSERT_NE(NULL, snap.memory);
	memset(snap.memory, 7, 4 * mib);
	snap.data = snap.memory + begins;
	gprof_snapshot_used(&snap, mib - 8);
	EXPECT_LE(mib / page - 1, pages_of(snap.memory, mib));	/* too little for a call */
	gprof_snapshot_used(&snap, 2 * mib + 24);
	EXPECT_GE(1, pages_of(snap.memory, 2 * mib));
	for (i = 2 * mib + 24; i < snap.len && snap.data[i] == 7; i++)
		;
	EXPECT_EQ(snap.len, i);
	gprof_snapshot_free(&snap);
	gprof_snapshot_used(&snap, mib);	/* a copy of nothing has none to give */
}

TEST_F(ring, a_snapshot_of_nothing_is_empty)
{
	struct gprof_snapshot snap;
	size_t off = 0;
	bool gap;

	ASSERT_EQ(0, snapshot(&self->g.r, &snap, &gap));
	EXPECT_FALSE(gap);
	EXPECT_ZEROS(snap.len, gprof_snapshot_next(&snap, &off, &self->rec, &self->size));
	gprof_snapshot_free(&snap);
}

TEST_F(ring, a_snapshot_holds_no_torn_record_while_a_writer_overruns_it)
{
	struct flight f = { .g = &self->g };
	size_t taken = 0, records = 0, gaps = 0;
	time_t end = time(NULL) + 10;
	uint64_t seen_pos = 0;
	pthread_t thread;

	for (f.written = 0; f.written < 200; f.written++)
		flight_put(&self->g, f.written);
	ASSERT_EQ(0, pthread_create(&thread, NULL, flight_writer, &f));
	/* Until the race was met often enough, on a busy machine too. */
	for (int i = 0; i < 2000 || (gaps < 5 && time(NULL) < end); i++) {
		struct gprof_snapshot snap;
		size_t off = 0, n = 0, j;
		bool gap;
		int ret = snapshot(&self->g.r, &snap, &gap);

		ASSERT_EQ(0, ret);
		gaps += gap;
		/* All that there was at the instant may be gone. */
		if (!snap.len)
			continue;
		ASSERT_LE(seen_pos, snap.pos);
		seen_pos = snap.pos;
		while ((ret = gprof_snapshot_next(&snap, &off, &self->rec, &self->size)) > 0) {
			const uint64_t *words = (const uint64_t *)self->rec;

			ASSERT_EQ(FLIGHT_REC, self->size);
			if (!n)
				ASSERT_EQ(GPROF_REC_GENERATION, self->rec->type);
			for (j = 1; j < FLIGHT_REC / 8; j++)
				ASSERT_EQ(snap.pos / FLIGHT_REC + n, words[j]);
			n++;
		}
		ASSERT_EQ(0, ret);
		records += n;
		taken++;
		gprof_snapshot_free(&snap);
	}
	atomic_store(&f.stop, true);
	pthread_join(thread, NULL);
	TH_LOG("%zu snapshots, %zu records, %zu gaps", taken, records, gaps);
	EXPECT_LT(100, taken);
	EXPECT_NE(0, gaps);
}

TEST_F(ring, a_snapshot_of_a_lying_head_page_is_refused)
{
	struct gprof_snapshot snap;
	bool gap;

	self->g.head->head = 80;
	self->g.head->oldest = 120;
	EXPECT_EQ(-EBADMSG, snapshot(&self->g.r, &snap, &gap));
	self->g.head->oldest = 4;
	EXPECT_EQ(-EBADMSG, snapshot(&self->g.r, &snap, &gap));
	/* More than there can be. */
	self->g.head->oldest = 0;
	self->g.head->head = 16 * RING_SIZE;
	EXPECT_EQ(-EBADMSG, snapshot(&self->g.r, &snap, &gap));
}

TEST_HARNESS_MAIN
