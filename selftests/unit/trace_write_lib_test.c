// SPDX-License-Identifier: GPL-2.0-only
/*
 * Traces that the library writes, taken by its reader: of a simulated host whose
 * truth is known, and of points without any sense.
 *
 * With GPROF_TRACES=DIR they are left there too, for other readers.
 */
#include "harness.h"
#include <gprof/trace.h>
#include <gprof/trace_write.h>

#include <linux/gprof.h>

#include "lib_util.h"
#include "trace/read/trace_wire.h"
#include "trace/write/trace_write.h"

#define CPUS	4
#define TASKS	40

/* What a reader finds in a trace. */
struct found {
	uint64_t starts;
	uint64_t creates;
	uint64_t regions;
	uint64_t samples;
	uint64_t named;
	int64_t ran[TASKS + 1];
	uint64_t experimental;
	uint64_t generations;
	uint64_t facts[128];		/* by their letter */
	uint64_t processes;
	uint64_t indexed;
	uint64_t index[4 * 64];
	char why[256];
};

static int take_fact(void *ctx, const struct gprof_trace_batch *batch)
{
	const unsigned char *p = batch->data + 1, *end = batch->data + batch->len;
	struct found *f = ctx;
	uint64_t number = 0;

	if (batch->experiment != GPROF_TRACE_EXPERIMENT || !batch->len)
		return -EINVAL;
	f->facts[batch->data[0] & 127]++;
	while (p && p < end) {
		p = gprof_varint(p, end, &number);
		if (batch->data[0] == 'I' && f->indexed < ARRAY_SIZE(f->index))
			f->index[f->indexed++] = number;
		f->processes += batch->data[0] == 'G';
	}
	return p ? 0 : -EINVAL;
}

static int read_back(int fd, struct found *f)
{
	const struct gprof_trace_opts o = { .sz = sizeof(o), .batch = take_fact, .ctx = f };
	struct gprof_trace_stats st = { .sz = sizeof(st) };
	int64_t since[TASKS + 1] = { 0 };
	struct gprof_trace_frame frame;
	struct gprof_trace_event ev;
	struct gprof_trace *t;
	int ret;

	memset(f, 0, sizeof(*f));
	lseek(fd, 0, SEEK_SET);
	t = gprof_trace_new(fd, &o);
	if (!t)
		return -errno;
	while ((ret = gprof_trace_next(t, &ev)) > 0) {
		int64_t id = ev.transition.resource.id;

		f->regions += ev.kind == GPROF_TRACE_REGION_BEGIN;
		f->samples += ev.kind == GPROF_TRACE_STACK_SAMPLE;
		if (ev.kind != GPROF_TRACE_STATE_TRANSITION ||
		    ev.transition.resource.kind != GPROF_TRACE_RESOURCE_GOROUTINE)
			continue;
		if (ev.transition.from == GPROF_TRACE_GO_NOT_EXIST)
			f->creates++;
		if (gprof_trace_stack(t, ev.transition.stack, &frame, 1) &&
		    !strncmp(frame.function.s, "task", 4))
			f->named++;
		if (ev.transition.from == GPROF_TRACE_GO_RUNNABLE &&
		    ev.transition.to == GPROF_TRACE_GO_RUNNING)
			f->starts++;
		/* A task in a system call has its CPU as well. */
		if (id < 1 || id > TASKS || ev.transition.from == ev.transition.to ||
		    ev.transition.from == GPROF_TRACE_GO_SYSCALL ||
		    ev.transition.to == GPROF_TRACE_GO_SYSCALL)
			continue;
		if (ev.transition.to == GPROF_TRACE_GO_RUNNING)
			since[id] = ev.time;
		else if (ev.transition.from == GPROF_TRACE_GO_RUNNING)
			f->ran[id] += ev.time - since[id];
	}
	snprintf(f->why, sizeof(f->why), "%s", gprof_error());
	gprof_trace_stats(t, &st);
	f->experimental = st.experimental;
	f->generations = st.generations;
	gprof_trace_free(t);
	return ret;
}

/* The truth of a simulated host. */
struct sim {
	uint64_t random;
	uint64_t now;
	uint32_t on[CPUS];
	enum { FREE, READY, ON, ASLEEP } state[TASKS + 1];
	uint64_t since[TASKS + 1];
	int64_t ran[TASKS + 1];
	int64_t periods[TASKS + 1];
	uint64_t starts;
	uint64_t forks;
	unsigned int loss;	/* one in so many points is lost; 0: none */
	uint64_t skew;		/* of the CPUs' clocks */
	bool reuse;
};

static uint64_t below(struct sim *s, uint64_t n)
{
	return lib_random(&s->random) % n;
}

static int tell(struct sim *s, struct gprof_trace_writer *w, uint32_t cpu, unsigned int type,
		unsigned int why, uint32_t tid, uint32_t other)
{
	struct gprof_trace_point p = {
		.time = s->now + cpu * s->skew, .cpu = cpu, .type = (uint16_t)type,
		.why = (uint16_t)why, .tid = tid, .other = other, .arg = 42,
	};

	if (s->loss && !below(s, s->loss)) {
		p.type = GPROF_TRACE_POINT_LOST;
		p.arg = 1;
	}
	return gprof_trace_writer_add(w, &p);
}

static uint32_t pick(struct sim *s, int state)
{
	uint32_t first = 1 + (uint32_t)below(s, TASKS), i;

	for (i = 0; i < TASKS; i++) {
		uint32_t tid = 1 + (first + i) % TASKS;

		if ((int)s->state[tid] == state)
			return tid;
	}
	return 0;
}

static int step(struct sim *s, struct gprof_trace_writer *w)
{
	uint32_t cpu = (uint32_t)below(s, CPUS), prev = s->on[cpu], tid;
	int why, err = 0;

	s->now += 64 * (1 + below(s, 400));
	switch (below(s, 8)) {
	case 0:
	case 1:
		tid = pick(s, ASLEEP);
		if (!tid)
			return 0;
		s->state[tid] = READY;
		return tell(s, w, cpu, GPROF_TRACE_POINT_WAKING, 0,
			    below(s, 2) ? GPROF_TRACE_NO_TID : prev, tid);
	case 2:
		tid = pick(s, FREE);
		if (!tid || !prev || (!s->reuse && s->forks >= TASKS / 2))
			return 0;
		s->state[tid] = READY;
		s->forks++;
		return tell(s, w, cpu, GPROF_TRACE_POINT_FORK, 0, prev, tid);
	case 3:
		if (!prev)
			return 0;
		err = tell(s, w, cpu, GPROF_TRACE_POINT_ENTER, 0, prev, 0);
		s->now += 640;
		return err ? err : tell(s, w, cpu, GPROF_TRACE_POINT_LEAVE, 0, prev, 0);
	}
	tid = pick(s, READY);
	if (!tid && !prev)
		return 0;
	why = (int)below(s, s->reuse ? GPROF_TRACE_NR_WHYS : GPROF_TRACE_WHY_DEAD);
	if (prev) {
		s->ran[prev] += (int64_t)(s->now - s->since[prev]);
		s->state[prev] = why == GPROF_TRACE_WHY_PREEMPTED ? READY :
				 why == GPROF_TRACE_WHY_DEAD ? FREE : ASLEEP;
	}
	if (tid) {
		s->state[tid] = ON;
		s->since[tid] = s->now;
		s->starts++;
		s->periods[tid]++;
	}
	s->on[cpu] = tid;
	return tell(s, w, cpu, GPROF_TRACE_POINT_SWITCH, (unsigned int)why, prev, tid);
}

static int simulate(struct sim *s, int fd, unsigned int version, unsigned int steps,
		    unsigned int generations, struct gprof_trace_writer_stats *st)
{
	struct gprof_trace_writer_opts o = { .sz = sizeof(o), .version = version, .index = true };
	struct gprof_trace_writer *w = gprof_trace_writer_new(fd, &o);
	char name[16];
	int err = 0;

	if (!w)
		return -errno;
	s->now = 1ULL << 40;
	for (unsigned int i = 1; i <= TASKS; i++) {
		snprintf(name, sizeof(name), "task%u", i);
		gprof_trace_writer_name(w, i, name);
		if (i <= TASKS / 2)
			s->state[i] = i % 2 ? READY : ASLEEP;
	}
	for (unsigned int i = 0; i < steps && !err; i++) {
		err = step(s, w);
		if (!err && i % (steps / generations) == steps / generations - 1)
			err = gprof_trace_writer_cut(w, s->now + 1, NULL);
	}
	for (unsigned int i = 0; i < CPUS && !err; i++) {
		s->now += 64;
		if (!s->on[i])
			continue;
		s->ran[s->on[i]] += (int64_t)(s->now - s->since[s->on[i]]);
		err = tell(s, w, i, GPROF_TRACE_POINT_SWITCH, GPROF_TRACE_WHY_SLEEPS, s->on[i], 0);
	}
	if (!err)
		err = gprof_trace_writer_cut(w, s->now + 1000000000, NULL);
	st->sz = sizeof(*st);
	gprof_trace_writer_stats(w, st);
	return gprof_trace_writer_close(w) ?: err;
}

static const unsigned int versions[] = { 22, 23, 25, 26 };

/* The index has each generation: where it begins, how long it is, when its first event was. */
static bool index_is_right(int fd, unsigned int version, const struct found *f)
{
	uint64_t end = 16;

	if (f->indexed != 4 * f->generations || f->facts['I'] != 1)
		return false;
	for (uint64_t i = 0; i < f->generations; i++) {
		const uint64_t *x = &f->index[4 * i];
		unsigned char head[40];
		const unsigned char *p = head + 1, *stop = head + sizeof(head);
		uint64_t generation = 0, thread, time = 0;

		/* From 1.26 on a byte is between them. */
		if (x[0] != i + 1 || x[1] != end + (i && version >= 26) ||
		    pread(fd, head, sizeof(head), (off_t)x[1]) != sizeof(head) || head[0] != 1)
			return false;
		p = gprof_varint(p, stop, &generation);
		p = p ? gprof_varint(p, stop, &thread) : NULL;
		p = p ? gprof_varint(p, stop, &time) : NULL;
		if (!p || generation != i + 1 || time < x[3])
			return false;
		end = x[1] + x[2];
	}
	/* It is behind the last of them. */
	return end < (uint64_t)lseek(fd, 0, SEEK_END);
}

TEST(a_whole_host_is_told_truly)
{
	for (size_t v = 0; v < ARRAY_SIZE(versions); v++) {
		struct gprof_trace_writer_stats st;
		struct sim s = { .random = 7 + v };
		int fd = lib_trace_file();
		struct found f;

		ASSERT_EQ(0, simulate(&s, fd, versions[v], 20000, v ? 20 : 1, &st));
		ASSERT_EQ(0, read_back(fd, &f)) TH_LOG("%s", f.why);
		EXPECT_EQS(s.starts, f.starts, s.forks, st.forks, 0, st.repaired, 0, st.lost,
			   0, st.disordered);
		EXPECT_LTS(0, f.regions, 0, f.named);
		/* No version of Go takes an experiment of ours. */
		EXPECT_EQS(0, f.experimental, 1, f.facts['V']);
		EXPECT_TRUE(index_is_right(fd, versions[v], &f));
		for (int i = 1; i <= TASKS; i++) {
			/*
			 * The reader has each event 1 ns after the one before: up to 6 are
			 * of one instant, and 16 where a generation begins.
			 */
			EXPECT_LE(llabs(s.ran[i] - f.ran[i]),
				  6 * s.periods[i] + 16 * (int64_t)st.generations)
				TH_LOG("task %d", i);
		}
		TH_LOG("1.%u: %llu bytes, %llu points, %llu events: %.2f bytes an event", versions[v],
		       (unsigned long long)st.bytes, (unsigned long long)st.points,
		       (unsigned long long)st.events, (double)st.bytes / (double)st.events);
		EXPECT_LE(st.bytes * 10, st.events * 65);
		close(fd);
	}
}

TEST(losses_skew_and_reuse_never_break_a_trace)
{
	for (unsigned int i = 0; i < 40; i++) {
		struct gprof_trace_writer_stats st;
		struct sim s = {
			.random = 1000 + i, .loss = i % 4 ? 2 + i : 0,
			.skew = i % 3 * 5000, .reuse = i % 2,
		};
		int fd = lib_trace_file();
		struct found f;

		ASSERT_EQ(0, simulate(&s, fd, versions[i % 4], 4000, 1 + i % 7, &st));
		ASSERT_EQ(0, read_back(fd, &f)) TH_LOG("%u: %s", i, f.why);
		if (s.loss) {
			EXPECT_LTS(0, st.lost, 0, st.repaired);
		}
		if (s.reuse)
			EXPECT_LT(0, st.reused);
		close(fd);
	}
}

/* Of programs that say whatever comes to their minds. */
static int random_note(struct gprof_trace_writer *w, uint64_t *random, uint64_t *id)
{
	union {
		struct gprof_annotation_rec rec;
		char bytes[sizeof(struct gprof_annotation_rec) + 8];
	} a = {
		.rec = {
			.rec = {
				GPROF_REC_ANNOTATION,
				1 + lib_random(random) % (__GPROF_ANNOTATE_WHATS - 1), sizeof(a),
			},
			.process = { .pid = 1 + lib_random(random) % 2 },
			.tid = 1, .name_size = 1, .text_size = 4, .task = lib_random(random) % 2,
			.parent = lib_random(random) % 4,
		},
	};

	/* Each number of a task has to be one for these. */
	if (a.rec.rec.flags == GPROF_ANNOTATE_TASK_BEGIN || a.rec.rec.flags == GPROF_ANNOTATE_TASK_END)
		a.rec.task++;
	memcpy(a.bytes + sizeof(a.rec), "atext", 5);
	a.bytes[sizeof(a.rec)] += lib_random(random) % 3;
	return gprof_trace_writer_note(w, &a.rec, id);
}

TEST(points_without_sense_give_a_valid_trace)
{
	const char *rounds = getenv("GPROF_ROUNDS");
	unsigned int nr = rounds ? (unsigned int)atoi(rounds) : 100;

	for (unsigned int i = 0; i < nr; i++) {
		struct gprof_trace_writer_opts o = { .sz = sizeof(o), .version = versions[i % 4] };
		struct gprof_trace_frame frame = { .pc = 1, .function = { "f", 1 }, .file = { "", 0 } };
		uint64_t random = 0x9e3779b9 + i, time = 1000000, stack = 0;
		int fd = lib_trace_file();
		struct gprof_trace_writer *w = gprof_trace_writer_new(fd, &o);
		struct found f;

		ASSERT_NE(NULL, w);
		for (int k = 0; k < 2000; k++) {
			struct gprof_trace_point p = {
				.cpu = lib_random(&random) % 5,
				.type = 1 + lib_random(&random) % (GPROF_TRACE_NR_POINTS - 1),
				.why = lib_random(&random) % GPROF_TRACE_NR_WHYS,
				.tid = lib_random(&random) % 9, .other = lib_random(&random) % 8,
				.arg = lib_random(&random) % 3,
			};

			time += lib_random(&random) % 3000;
			p.time = time - lib_random(&random) % 9000;
			if (p.tid == 8)
				p.tid = GPROF_TRACE_NO_TID;
			if (lib_random(&random) % 4 == 0) {
				frame.line = lib_random(&random) % 50;
				ASSERT_EQ(0, gprof_trace_writer_stack(w, &frame, 1, &stack));
				p.stack = stack;
			}
			if (lib_random(&random) % 4 == 0)
				p.type = GPROF_TRACE_POINT_ANNOTATION;
			if (p.type == GPROF_TRACE_POINT_ANNOTATION) {
				ASSERT_EQ(0, random_note(w, &random, &p.arg));
			}
			ASSERT_EQ(0, gprof_trace_writer_add(w, &p));
			if (lib_random(&random) % 500 == 0) {
				ASSERT_EQ(0, gprof_trace_writer_cut(w, time - 4000, NULL));
			}
			if (lib_random(&random) % 100 == 0) {
				ASSERT_EQ(0, gprof_trace_writer_name(w, 1 + k % 7, "task"));
			}
		}
		ASSERT_EQ(0, gprof_trace_writer_close(w));
		ASSERT_EQ(0, read_back(fd, &f)) TH_LOG("%u: %s", i, f.why);
		close(fd);
	}
}

struct order {
	uint64_t time;
	uint64_t arg;
	unsigned int points;
	bool wrong;
};

static int sees_order(void *ctx, uint64_t generation, const struct gprof_trace_point *p, size_t nr)
{
	struct order *o = ctx;

	(void)generation;
	for (size_t i = 0; i < nr; i++, o->points++) {
		o->wrong |= p[i].time < o->time || (p[i].time == o->time && p[i].arg <= o->arg);
		o->time = p[i].time;
		o->arg = p[i].arg;
	}
	return 0;
}

/* By time, and those of one time as they came: of one CPU after the other, of some or of many. */
TEST(points_are_in_order)
{
	uint64_t random = 7;

	for (unsigned int i = 0; i < 200; i++) {
		struct order o = { 0 };
		struct gprof_trace_writer_opts opts = {
			.sz = sizeof(opts), .generation = sees_order, .ctx = &o,
		};
		int fd = lib_trace_file();
		struct gprof_trace_writer *w = gprof_trace_writer_new(fd, &opts);
		unsigned int cpus = 1 + i % 7, run = 1 + i % 40;
		uint64_t times[7] = { 0 };

		ASSERT_NE(NULL, w);
		for (uint64_t k = 0; k < 1000; k++) {
			struct gprof_trace_point p = {
				.type = GPROF_TRACE_POINT_SAMPLE, .tid = 1, .arg = 1 + k,
				.cpu = k / run % cpus,
			};

			times[p.cpu] += lib_random(&random) % 3;
			p.time = 1000 + times[p.cpu];
			ASSERT_EQ(0, gprof_trace_writer_add(w, &p));
			if (k % 300 == 299) {
				ASSERT_EQ(0, gprof_trace_writer_cut(w, 1000, NULL));
			}
		}
		ASSERT_EQ(0, gprof_trace_writer_close(w));
		EXPECT_EQ(1000, o.points);
		EXPECT_FALSE(o.wrong) TH_LOG("%u CPUs, %u points in turn", cpus, run);
		close(fd);
	}
}

/* Many cuts take of one piece, and what they leave is there whole behind the next. */
TEST(points_that_a_cut_leaves_are_of_the_next)
{
	struct order o = { 0 };
	struct gprof_trace_writer_opts opts = {
		.sz = sizeof(opts), .generation = sees_order, .ctx = &o,
	};
	int fd = lib_trace_file();
	struct gprof_trace_writer *w = gprof_trace_writer_new(fd, &opts);

	ASSERT_NE(NULL, w);
	for (uint64_t k = 1; k <= 20000; k++) {
		struct gprof_trace_point p = {
			.time = k * 1000, .type = GPROF_TRACE_POINT_SAMPLE, .tid = 1, .arg = k,
		};

		ASSERT_EQ(0, gprof_trace_writer_add(w, &p));
		for (uint64_t i = 1; k % 1000 == 0 && i < 8; i++)
			ASSERT_EQ(0, gprof_trace_writer_cut(w, (k - 1000 + i * 100) * 1000, NULL));
	}
	ASSERT_EQ(0, gprof_trace_writer_close(w));
	EXPECT_EQ(20000, o.points);
	EXPECT_FALSE(o.wrong);
	close(fd);
}

#define CUTS	5

static void file_limit(rlim_t bytes)
{
	struct rlimit limit;

	getrlimit(RLIMIT_FSIZE, &limit);
	limit.rlim_cur = bytes;
	setrlimit(RLIMIT_FSIZE, &limit);
}

/* A trace of some generations; how many were cut, and what is whole of it without an end. */
static int write_some(struct gprof_trace_writer *w, unsigned int *cut,
		      struct gprof_trace_whole *whole)
{
	uint64_t time = 1000000;
	int err = 0, end;

	for (*cut = 0; *cut < CUTS; ++*cut) {
		for (uint32_t k = 0; k < 6 && !err; k++) {
			struct gprof_trace_point p = {
				.time = time += 64, .type = GPROF_TRACE_POINT_SWITCH,
				.cpu = k % 2, .tid = k / 2 + k % 2 * 9,
				.other = k / 2 + 1 + k % 2 * 9, .why = GPROF_TRACE_WHY_SLEEPS,
			};

			err = gprof_trace_writer_add(w, &p);
		}
		if (!err)
			err = gprof_trace_writer_cut(w, ++time, NULL);
		if (err)
			break;
	}
	*whole = gprof_trace_writer_whole(w);
	end = gprof_trace_writer_close(w);
	return err ? err : end;
}

/* Whichever byte it is that cannot be written any more. */
TEST(what_was_written_before_a_failure_is_a_trace)
{
	signal(SIGXFSZ, SIG_IGN);
	for (unsigned int i = 0; i < 8; i++) {
		struct gprof_trace_writer_opts o = {
			.sz = sizeof(o), .version = versions[i % 4], .index = i / 4,
		};
		bool ends = o.version >= 26;
		int err = -EFBIG;

		for (unsigned int limit = 0; err; limit++) {
			int fd = memfd_create("trace", MFD_CLOEXEC);
			struct gprof_trace_writer *w = gprof_trace_writer_new(fd, &o);
			struct gprof_trace_whole whole;
			unsigned int cut;
			struct found f;

			ASSERT_NE(NULL, w);
			ASSERT_GT(4096, limit);
			file_limit(limit);
			err = write_some(w, &cut, &whole);
			file_limit(RLIM_INFINITY);
			if (err) {
				ASSERT_EQ(-EFBIG, err);
				/* What ends a generation is written with the next. */
				ASSERT_GE(cut, whole.generations);
				ASSERT_LE(cut, whole.generations + ends);
				ASSERT_GE(limit, whole.bytes);
				ASSERT_EQ(0, ftruncate(fd, (off_t)whole.bytes));
			}
			if (!err || whole.generations) {
				ASSERT_EQ(0, read_back(fd, &f)) TH_LOG("limit %u: %s", limit, f.why);
				ASSERT_EQ(err ? whole.generations : CUTS, f.generations);
			}
			close(fd);
		}
	}
}

/* The longest has a thousand times the points of the shortest. */
TEST(memory_is_that_of_a_generation)
{
	static const unsigned int generations[] = { 1, 20, 1000 };
	uint64_t peak[3];

	for (int i = 0; i < 3; i++) {
		struct gprof_trace_writer_stats st;
		struct sim s = { .random = 5, .reuse = true };
		int fd = lib_trace_file();
		struct found f;

		ASSERT_EQ(0, simulate(&s, fd, 23, 300 * generations[i], generations[i], &st));
		ASSERT_EQ(0, read_back(fd, &f)) TH_LOG("%s", f.why);
		peak[i] = st.memory_peak;
		close(fd);
	}
	/* Arrays grow to twice their size, and generations differ a little. */
	EXPECT_LE(peak[1], 2 * peak[0]);
	EXPECT_EQ(peak[1], peak[2]);
}

#define MANY	20000

/* Of names, stacks and processes no batch has so many bytes: whatever is next goes into another. */
TEST(names_of_a_generation_go_into_as_many_batches_as_they_need)
{
	const struct gprof_trace_writer_opts o = { .sz = sizeof(o) };
	struct gprof_trace_point p = { .time = 64, .type = GPROF_TRACE_POINT_SWITCH, .other = 1 };
	uint64_t samples = 0, others = 0;
	struct gprof_trace_frame seen[2];
	struct gprof_trace_event ev;
	struct gprof_trace_writer *w;
	struct gprof_trace *t;
	int fd = lib_trace_file();
	struct found f;
	char text[64];

	w = gprof_trace_writer_new(fd, &o);
	ASSERT_NE(NULL, w);
	ASSERT_EQ(0, gprof_trace_writer_add(w, &p));
	for (uint32_t i = 0; i < MANY; i++) {
		const struct gprof_trace_frame frames[] = {
			{ .pc = 2 * i + 1, .function = { text, 40 }, .file = { "file.c", 6 } },
			{ .pc = 1, .function = { "main", 4 }, .file = { "", 0 }, .line = i },
		};

		snprintf(text, sizeof(text), "function_of_forty_characters_each_%06u", i);
		p = (struct gprof_trace_point){
			.time = 64 * (i + 2), .type = GPROF_TRACE_POINT_SAMPLE, .tid = 1,
		};
		ASSERT_EQ(0, gprof_trace_writer_stack(w, frames, 2, &p.stack));
		ASSERT_EQ(0, gprof_trace_writer_add(w, &p));
		/* Each tells of itself, so that it is of the generation. */
		ASSERT_EQ(0, gprof_trace_writer_process(w, 1000000 + i, 500000 + i));
		p = (struct gprof_trace_point){
			.time = 64 * (i + 2), .type = GPROF_TRACE_POINT_WAKING, .tid = 1, .cpu = 1,
			.other = 1000000 + i,
		};
		ASSERT_EQ(0, gprof_trace_writer_add(w, &p));
	}
	ASSERT_EQ(0, gprof_trace_writer_close(w));
	ASSERT_EQ(0, read_back(fd, &f)) TH_LOG("%s", f.why);
	EXPECT_EQS(1, f.generations, MANY, f.samples, 2 * MANY, f.processes);
	lseek(fd, 0, SEEK_SET);
	t = gprof_trace_new(fd, NULL);
	while (gprof_trace_next(t, &ev) > 0) {
		if (ev.kind != GPROF_TRACE_STACK_SAMPLE)
			continue;
		snprintf(text, sizeof(text), "function_of_forty_characters_each_%06u",
			 (unsigned int)samples);
		if (gprof_trace_stack(t, ev.stack, seen, 2) != 2 ||
		    strcmp(seen[0].function.s, text) || strcmp(seen[0].file.s, "file.c") ||
		    strcmp(seen[1].function.s, "main") || seen[1].line != samples)
			others++;
		samples++;
	}
	EXPECT_EQS(MANY, samples, 0, others);
	gprof_trace_free(t);
	close(fd);
}

static const char *trigger_name(void *ctx, uint32_t index)
{
	return index == 1 ? ctx : NULL;
}

/* The next log of a trace, its times and by whom. */
static bool next_log(struct gprof_trace *t, struct gprof_trace_event *ev)
{
	int ret;

	while ((ret = gprof_trace_next(t, ev)) > 0)
		if (ev->kind == GPROF_TRACE_LOG)
			return true;
	return false;
}

/*
 * Where a task runs it has the log, whomever it is about; where none does nobody's has,
 * also in a later generation, and neither tasks nor time are made up of that.
 */
TEST(a_trigger_that_fired_is_a_log)
{
	const struct gprof_trace_writer_opts o = {
		.sz = sizeof(o), .trigger = trigger_name, .ctx = "delay",
	};
	struct gprof_trace_writer_stats st = { .sz = sizeof(st) };
	struct gprof_trace_point p = { .cpu = 1, .type = GPROF_TRACE_POINT_SWITCH, .other = 7 };
	struct gprof_trace_event ev;
	struct gprof_trace *t;
	int64_t nobody;
	int fd = lib_trace_file();
	struct gprof_trace_writer *w = gprof_trace_writer_new(fd, &o);

	ASSERT_NE(NULL, w);
	ASSERT_EQ(0, gprof_trace_writer_name(w, 8, "sleeper"));
	p.time = 64000;
	ASSERT_EQ(0, gprof_trace_writer_add(w, &p));
	p = (struct gprof_trace_point){
		.time = 128000, .cpu = 1, .type = GPROF_TRACE_POINT_FIRED, .why = 1, .tid = 7,
		.other = 8, .arg = 1234567,
	};
	ASSERT_EQ(0, gprof_trace_writer_add(w, &p));
	for (int i = 0; i < 2; i++) {
		p.time += 64000;
		p.cpu = 0;
		p.tid = 0;
		p.why = 255;
		p.arg = 5000 | GPROF_TRACE_GOES_ON;
		ASSERT_EQ(0, gprof_trace_writer_add(w, &p));
		ASSERT_EQ(0, gprof_trace_writer_cut(w, p.time + 64, NULL));
	}
	p.why = 256;
	EXPECT_EQ(-EINVAL, gprof_trace_writer_add(w, &p));
	gprof_trace_writer_stats(w, &st);
	ASSERT_EQ(0, gprof_trace_writer_close(w));
	EXPECT_EQS(1, st.tasks, 0, st.repaired);

	lseek(fd, 0, SEEK_SET);
	t = gprof_trace_new(fd, NULL);
	ASSERT_NE(NULL, t);
	ASSERT_TRUE(next_log(t, &ev)) TH_LOG("%s", gprof_error());
	EXPECT_EQ(7, ev.goroutine);
	EXPECT_STREQ("trigger delay", ev.log.category.s);
	EXPECT_STREQ("sleeper (tid 8): 1.234 ms", ev.log.message.s);
	ASSERT_TRUE(next_log(t, &ev)) TH_LOG("%s", gprof_error());
	nobody = ev.goroutine;
	EXPECT_LE(GPROF_TRACE_TIDS, nobody);
	EXPECT_EQ(0, ev.proc);
	EXPECT_STREQ("trigger 255", ev.log.category.s);
	EXPECT_STREQ("sleeper (tid 8): 0.005 ms, and on", ev.log.message.s);
	ASSERT_TRUE(next_log(t, &ev)) TH_LOG("%s", gprof_error());
	EXPECT_EQ(nobody, ev.goroutine);
	EXPECT_FALSE(next_log(t, &ev));
	gprof_trace_free(t);
	close(fd);
}

/* In Go's own event, or before that in a fact; unless the points are of another time. */
TEST(a_generation_has_the_clocks_of_its_recording)
{
	static const unsigned int forms[] = { 22, 23, 25, 26, 23 };
	const struct gprof_trace_clock clock = { .mono = 128007, .sec = 1700000000, .nsec = 42 };
	const struct gprof_trace_point p = { .time = 64000, .type = GPROF_TRACE_POINT_SWITCH, .other = 7 };

	for (size_t i = 0; i < ARRAY_SIZE(forms); i++) {
		const struct gprof_trace_writer_opts o = { .sz = sizeof(o), .version = forms[i] };
		int fd = lib_trace_file();
		struct gprof_trace_writer *w = gprof_trace_writer_new(fd, &o);
		struct gprof_trace_event ev = { 0 };
		bool past = i == ARRAY_SIZE(forms) - 1;
		struct gprof_trace *t;

		ASSERT_NE(NULL, w);
		if (past)
			gprof_trace_writer_of_another_time(w);
		ASSERT_ZEROS(gprof_trace_writer_add(w, &p),
			     gprof_trace_writer_cut(w, 64064, &clock), gprof_trace_writer_close(w));
		lseek(fd, 0, SEEK_SET);
		t = gprof_trace_new(fd, NULL);
		ASSERT_EQ(1, gprof_trace_next(t, &ev));
		EXPECT_EQS(GPROF_TRACE_SYNC, ev.kind, !past, ev.sync.has_clock);
		if (!past)
			EXPECT_EQS(128000, ev.sync.clock.time, 128007, ev.sync.clock.mono,
				   1700000000, ev.sync.clock.sec, 42, ev.sync.clock.nsec);
		gprof_trace_free(t);
		close(fd);
	}
}

TEST(what_cannot_be_is_refused)
{
	struct gprof_trace_writer_opts o = { .sz = sizeof(o), .version = 24 };
	struct gprof_trace_point p = { .type = GPROF_TRACE_POINT_SWITCH, .cpu = GPROF_TRACE_CPUS };
	struct gprof_trace_writer *w;
	int fd = lib_trace_file();
	struct found f;

	EXPECT_ERRNO(EINVAL, gprof_trace_writer_new(fd, &o));
	w = gprof_trace_writer_new(fd, NULL);
	ASSERT_NE(NULL, w);
	EXPECT_EQ(-EINVAL, gprof_trace_writer_add(w, &p));
	p.cpu = 0;
	p.stack = 1;
	EXPECT_EQ(-EINVAL, gprof_trace_writer_add(w, &p));
	p.stack = 0;
	p.other = GPROF_TRACE_TIDS;
	EXPECT_EQ(-EINVAL, gprof_trace_writer_add(w, &p));
	p.other = 0;
	p.time = 1ULL << 62;
	EXPECT_EQS(-EINVAL, gprof_trace_writer_add(w, &p), 0, gprof_trace_writer_close(w));
	/* A trace of nothing is one. */
	EXPECT_EQ(0, read_back(fd, &f)) TH_LOG("%s", f.why);
	close(fd);
}

TEST(what_the_program_has_under_the_number_is_not_written_to)
{
	const struct gprof_trace_writer_opts o = { .sz = sizeof(o) };
	int fd = lib_trace_file(), other = lib_trace_file();
	struct gprof_trace_writer *w = gprof_trace_writer_new(fd, &o);

	struct gprof_trace_whole whole;
	unsigned int cut;

	ASSERT_NE(NULL, w);
	ASSERT_EQ(fd, dup2(other, fd));
	EXPECT_EQS(-EBADF, write_some(w, &cut, &whole), 0, lseek(other, 0, SEEK_END));
	close(fd);
	close(other);
}

TEST_HARNESS_MAIN
