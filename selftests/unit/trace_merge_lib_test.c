// SPDX-License-Identifier: GPL-2.0-only
/* Rings of several CPUs, in ordinary memory, read into one trace. */
#include "harness.h"
#include <gprof/trace.h>

#include "lib_util.h"
#include "trace/convert/trace_merge.h"
#include "trace/convert/trace_users.h"

#define CPUS	2
#define START	1000000000ULL
#define S	1000000000ULL
#define MS	1000000ULL

static uint64_t clock_ns;

static uint64_t now(void)
{
	return clock_ns;
}

/* Points as their generation was written. */
struct seen {
	uint64_t points[64];
	uint64_t first[64];
	uint64_t last[64];
	size_t nr;
	bool disordered;
};

FIXTURE(merge) {
	struct gprof_ring_head heads[CPUS];
	struct gprof_ring_tail tails[CPUS];
	unsigned char *data[CPUS];
	uint64_t size;
	uint64_t generation[CPUS];
	struct gprof_ring rings[CPUS];
	struct gprof_buffer buffer;
	struct gprof_trace_merge m;
	struct seen seen;
	int fd;
};

static int on_generation(void *ctx, uint64_t nr, const struct gprof_trace_point *p, size_t n)
{
	struct seen *s = ctx;

	if (s->nr == 64)
		return 0;
	s->points[s->nr] = n;
	s->first[s->nr] = p[0].time;
	s->last[s->nr] = p[n - 1].time;
	for (size_t i = 1; i < n; i++)
		s->disordered |= p[i].time < p[i - 1].time;
	s->disordered |= s->nr && s->last[s->nr - 1] > p[0].time;
	s->nr++;
	return 0;
}

static bool lend(FIXTURE_DATA(merge) *self, int cpu)
{
	self->data[cpu] = lib_ring(self->size);
	self->rings[cpu] = (struct gprof_ring){
		.head = &self->heads[cpu], .tail = &self->tails[cpu], .data = self->data[cpu],
		.size = self->size, .cpu = (uint32_t)cpu,
	};
	return self->data[cpu];
}

static void put(FIXTURE_DATA(merge) *self, int cpu, const void *rec, size_t size)
{
	uint64_t head = self->heads[cpu].head;

	memcpy(self->data[cpu] + head % self->size, rec, size);
	__atomic_store_n(&self->heads[cpu].head, head + size, __ATOMIC_RELEASE);
}

static void word(FIXTURE_DATA(merge) *self, int cpu, unsigned int type, unsigned int arg,
		 uint64_t number, uint64_t time)
{
	uint64_t w, since = time - self->generation[cpu];

	if (!self->generation[cpu] || since / 64 > UINT32_MAX) {
		struct gprof_generation_rec g = {
			.rec = { GPROF_REC_GENERATION, 0, sizeof(g) }, .generation = 1,
			.mono_ns = time, .real_ns = 1, .weight = 1, .cpu = cpu,
		};

		put(self, cpu, &g, sizeof(g));
		self->generation[cpu] = time;
		since = 0;
	}
	w = arg | type << GPROF_TRACE_ARG_BITS | GPROF_REC_SHORT |
	    number << GPROF_TRACE_TID_SHIFT | since / 64 << GPROF_TRACE_TIME_SHIFT;
	put(self, cpu, &w, sizeof(w));
}

/* Two tasks of each CPU take turns. */
static void turn(FIXTURE_DATA(merge) *self, int cpu, unsigned int nr, uint64_t time)
{
	word(self, cpu, GPROF_TRACE_SWITCH, GPROF_TRACE_PREV_PREEMPTED, 10 + 2 * cpu + nr % 2, time);
}

FIXTURE_SETUP(merge)
{
	struct gprof_trace_writer_opts opts = {
		.sz = sizeof(opts), .generation = on_generation, .ctx = &self->seen,
	};

	self->size = 1 << 20;
	for (int cpu = 0; cpu < CPUS; cpu++)
		ASSERT_TRUE(lend(self, cpu));
	self->buffer = (struct gprof_buffer){ self->rings, CPUS };
	self->fd = memfd_create("trace", MFD_CLOEXEC);
	ASSERT_EQ(0, gprof_trace_merge_init(&self->m, &self->buffer, S));
	self->m.writer = gprof_trace_writer_new(self->fd, &opts);
	ASSERT_NE(NULL, self->m.writer);
	clock_ns = START;
	gprof_trace_merge_begin(&self->m, NULL, START);
	for (int cpu = 0; cpu < CPUS; cpu++)
		word(self, cpu, GPROF_TRACE_RUNNING, 0, 11 + 2 * cpu, START);
}

FIXTURE_TEARDOWN(merge)
{
	gprof_trace_writer_close(self->m.writer);
	gprof_trace_merge_free(&self->m);
	for (int cpu = 0; cpu < CPUS; cpu++)
		munmap(self->data[cpu], 2 * self->size);
	close(self->fd);
}

static uint64_t stat_of(FIXTURE_DATA(merge) *self, size_t offset)
{
	struct gprof_trace_writer_stats st = { .sz = sizeof(st) };

	gprof_trace_writer_stats(self->m.writer, &st);
	return *(uint64_t *)((char *)&st + offset);
}

#define STAT(field)	stat_of(self, offsetof(struct gprof_trace_writer_stats, field))

TEST_F(merge, generations_are_cut_at_the_same_instant_for_all)
{
	for (unsigned int i = 0; i < 40; i++) {
		clock_ns = START + (i + 1) * 100 * MS;
		turn(self, 0, i, clock_ns - 60 * MS);
		turn(self, 1, i, clock_ns - 30 * MS);
		ASSERT_EQ(0, gprof_trace_merge_read(&self->m, now, false));
	}
	/* Half a second after its end, and no sooner. */
	EXPECT_EQS(3, self->seen.nr, 22, self->seen.points[0], 20, self->seen.points[1]);
	EXPECT_LE(START + 2 * S, self->seen.first[2]);
	EXPECT_GT(START + 3 * S, self->seen.last[2]);
	ASSERT_EQ(0, gprof_trace_merge_read(&self->m, now, true));
	EXPECT_FALSE(self->seen.disordered);
	EXPECT_ZEROS(STAT(disordered), STAT(repaired));
}

/* One that has much to tell does not take the others' past away. */
TEST_F(merge, the_ring_that_is_behind_is_read_first)
{
	for (unsigned int i = 0; i < 120000; i++)
		turn(self, 0, i, START + i * 50000ULL);
	for (unsigned int i = 0; i < 6; i++)
		turn(self, 1, i, START + i * S + MS);
	clock_ns = START + 6 * S;
	ASSERT_EQ(0, gprof_trace_merge_read(&self->m, now, true));
	EXPECT_ZEROS(STAT(disordered), STAT(repaired));
	EXPECT_FALSE(self->seen.disordered);
	ASSERT_LE(5, self->seen.nr);
	EXPECT_EQS(20000 + 3, self->seen.points[0], 20001, self->seen.points[1]);
	/* One generation of it is held, not all of them. */
	EXPECT_GE(4ULL << 20, STAT(memory_peak));
}

/* Eight million events in a quarter of a second want no more memory than a few. */
TEST_F(merge, memory_is_bounded_within_a_generation)
{
	for (unsigned int i = 0; i < 4000000; i++) {
		for (unsigned int cpu = 0; cpu < CPUS; cpu++)
			turn(self, cpu, i, START + i * 64 + 64);
		if (i % 100000)
			continue;
		clock_ns = START + i * 64 + 128;
		ASSERT_ZEROS(gprof_trace_merge_read(&self->m, now, false), ftruncate(self->fd, 0));
	}
	clock_ns += 128;
	ASSERT_EQ(0, gprof_trace_merge_read(&self->m, now, true));
	EXPECT_EQ(self->heads[0].head, self->tails[0].tail);
	EXPECT_GE(32ULL << 20, STAT(memory_peak));
	EXPECT_LT(20, STAT(generations));
	EXPECT_EQ(0, STAT(repaired));
	TH_LOG("%llu bytes, %llu generations", (unsigned long long)STAT(memory_peak),
	       (unsigned long long)STAT(generations));
}

TEST_F(merge, what_comes_late_is_counted)
{
	clock_ns = START + 2 * S;
	turn(self, 0, 0, START + MS);
	ASSERT_EQ(0, gprof_trace_merge_read(&self->m, now, false));
	EXPECT_EQ(1, self->seen.nr);
	turn(self, 1, 0, START + MS);
	ASSERT_EQ(0, gprof_trace_merge_read(&self->m, now, true));
	EXPECT_EQS(1, STAT(disordered), 0, STAT(repaired));
}

TEST_F(merge, losses_are_told_to_the_last)
{
	uint64_t rec[2] = { 0, 3 };
	struct gprof_rec head = { GPROF_REC_LOST, 0, sizeof(rec) };

	memcpy(rec, &head, sizeof(head));
	turn(self, 0, 0, START + MS);
	put(self, 0, rec, sizeof(rec));
	clock_ns = START + 2 * S;
	ASSERT_ZEROS(gprof_trace_merge_read(&self->m, now, true),
		     gprof_trace_merge_lost(&self->m, 0, 8), gprof_trace_merge_lost(&self->m, 0, 8),
		     gprof_trace_merge_lost(&self->m, 1, 0),
		     gprof_trace_writer_cut(self->m.writer, START + 9 * S, NULL));
	EXPECT_EQ(8, STAT(lost));
	/* Up to the end nothing is known. */
	EXPECT_EQ(START + 2 * S, self->seen.last[self->seen.nr - 1]);
}

TEST_F(merge, garbage_ends_a_ring_and_no_other)
{
	uint64_t zero = 0;

	put(self, 0, &zero, sizeof(zero));
	turn(self, 1, 0, START + MS);
	clock_ns = START + 2 * S;
	EXPECT_EQ(-EBADMSG, gprof_trace_merge_read(&self->m, now, false));
	EXPECT_EQS(1, self->m.cpus[1].k.samples, self->heads[1].head, self->tails[1].tail);
}

static void name(FIXTURE_DATA(merge) *self, int cpu, uint32_t tid, const char *comm)
{
	struct gprof_task_rec rec = { .rec = { GPROF_REC_TASK, 0, sizeof(rec) }, .tid = tid };

	strcpy(rec.comm, comm);
	put(self, cpu, &rec, sizeof(rec));
}

/* "GENERATION NAME " of each time that the task is named, but where it is called as before. */
static void read_names(int fd, int64_t tid, char *text)
{
	struct gprof_trace_stats st = { .sz = sizeof(st) };
	struct gprof_trace_frame frame;
	struct gprof_trace_event ev;
	struct gprof_trace *t;
	char last[64] = "";

	*text = '\0';
	lseek(fd, 0, SEEK_SET);
	t = gprof_trace_new(fd, NULL);
	while (t && gprof_trace_next(t, &ev) > 0) {
		char one[64];

		gprof_trace_stats(t, &st);
		if (ev.kind != GPROF_TRACE_STATE_TRANSITION ||
		    ev.transition.resource.kind != GPROF_TRACE_RESOURCE_GOROUTINE ||
		    ev.transition.resource.id != tid ||
		    gprof_trace_stack(t, ev.transition.stack, &frame, 1) != 1)
			continue;
		snprintf(one, sizeof(one), "%d %.32s ", (int)st.generations, frame.function.s);
		if (strcmp(one, last))
			strcat(text, one);
		strcpy(last, one);
	}
	gprof_trace_free(t);
}

/* The last name of each generation counts, in whatever order rings are read. */
TEST_F(merge, a_task_is_called_as_it_was_last)
{
	char text[256];

	for (unsigned int i = 0; i < 50; i++) {
		uint64_t at = START + (i + 1) * 100 * MS;

		clock_ns = at;
		turn(self, 0, i, at - 60 * MS);
		turn(self, 1, i, at - 30 * MS);
		/* Late in the first, and sooner in the next ones. */
		if (i == 8)
			name(self, 0, 10, "first");
		if (i == 12)
			name(self, 0, 10, "second");
		if (i == 21)
			name(self, 1, 10, "third");
		/* Of one time of reading, CPU 0's ring is read first. */
		if (i == 35) {
			name(self, 1, 10, "before");
			turn(self, 0, i + 1, at - 20 * MS);
			name(self, 0, 10, "last");
		}
		ASSERT_EQ(0, gprof_trace_merge_read(&self->m, now, false));
	}
	ASSERT_EQ(0, gprof_trace_merge_read(&self->m, now, true));
	gprof_trace_writer_cut(self->m.writer, START + 9 * S, NULL);
	read_names(self->fd, 10, text);
	/* A generation is written half a second after its end. */
	EXPECT_STREQ("1 second 2 third 3 third 4 last 5 last ", text);
}

static void user_of(struct gprof_trace_users *u, uint32_t tid, uint32_t uid, bool known)
{
	const struct gprof_task_rec rec = {
		.rec = { GPROF_REC_TASK, known ? GPROF_TASK_REC_F_UID : 0, sizeof(rec) },
		.tid = tid, .uid = uid,
	};

	gprof_trace_users_name(u, &rec);
}

/* An event is of the task that it is about; of who comes or is woken where there is no other. */
TEST(events_are_of_the_user_of_their_task)
{
	const struct gprof_trace_point points[] = {
		{ .type = GPROF_TRACE_POINT_SWITCH, .tid = 7, .other = 8 },
		{ .type = GPROF_TRACE_POINT_SWITCH, .tid = 0, .other = 8 },
		{ .type = GPROF_TRACE_POINT_SWITCH, .tid = GPROF_TRACE_NO_TID, .other = 8 },
		{ .type = GPROF_TRACE_POINT_WAKING, .tid = 7, .other = 8 },
		{ .type = GPROF_TRACE_POINT_WAKING, .tid = GPROF_TRACE_NO_TID, .other = 9 },
		{ .type = GPROF_TRACE_POINT_WAKING, .tid = GPROF_TRACE_NO_TID, .other = 9 },
		{ .type = GPROF_TRACE_POINT_ENTER, .tid = 7, .other = 9 },
		{ .type = GPROF_TRACE_POINT_ENTER, .tid = 7 },
		{ .type = GPROF_TRACE_POINT_ENTER, .tid = 10 },
		{ .type = GPROF_TRACE_POINT_ENTER, .tid = 11 },
		/* no events */
		{ .type = GPROF_TRACE_POINT_RUNNING, .other = 7 },
		{ .type = GPROF_TRACE_POINT_LOST, .tid = GPROF_TRACE_NO_TID, .arg = 100 },
	};
	struct gprof_trace_users u;

	gprof_trace_users_init(&u);
	EXPECT_EQ(NULL, gprof_trace_users_most(&u));
	user_of(&u, 7, 1000, true);
	user_of(&u, 8, 1001, true);
	user_of(&u, 9, 0, true);
	user_of(&u, 10, 1000, true);
	user_of(&u, 11, 5, false);
	EXPECT_EQ(NULL, gprof_trace_users_most(&u));
	gprof_trace_users_count(&u, points, ARRAY_SIZE(points));
	EXPECT_EQ(10, u.events);
	ASSERT_EQ(3, u.nr);
	EXPECT_EQS(1000, u.v[0].uid, 5, u.v[0].events, 1001, u.v[1].uid, 2, u.v[1].events,
		   0, u.v[2].uid, 2, u.v[2].events, 1000, gprof_trace_users_most(&u)->uid);
	/* whose user it is may change */
	user_of(&u, 7, 1001, true);
	gprof_trace_users_count(&u, points + 6, 2);
	gprof_trace_users_count(&u, points, 2);
	EXPECT_EQS(6, u.v[1].events, 1001, gprof_trace_users_most(&u)->uid);
	gprof_trace_users_free(&u);
}

TEST_HARNESS_MAIN
