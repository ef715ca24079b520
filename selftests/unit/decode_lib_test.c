// SPDX-License-Identifier: GPL-2.0-only
/* Records to calls: generations, dictionaries, weights, and garbage. */
#include "harness.h"
#include "record/builder.h"
#include "device/decode.h"
#include "lib_util.h"

#define HANDLES	1000

/* Notes what the decoder calls. */
struct notes {
	struct gprof_decoded samples[64];
	size_t nr_samples;
	uint64_t again[64];	/* weight that came again, by sample */
	uint32_t stack_ids[HANDLES];
	struct gprof_stack_rec last;
	uint64_t frames[16];	/* of @last */
	uint32_t tids[HANDLES];
	uint32_t nr_stacks;
	uint32_t nr_tasks;
	char path[64];
	size_t nr_maps;
	int fail;
};

static int note_stack(void *ctx, const struct gprof_stack_rec *rec, uint32_t *handle)
{
	struct notes *n = ctx;

	n->stack_ids[n->nr_stacks] = rec->id;
	n->last = *rec;
	memcpy(n->frames, rec->frames, (rec->nr_kernel + rec->nr_user) % 17 * sizeof(n->frames[0]));
	*handle = n->nr_stacks++;
	return n->fail;
}

static int note_task(void *ctx, const struct gprof_task_rec *rec, uint32_t *handle)
{
	struct notes *n = ctx;

	n->tids[n->nr_tasks] = rec->tid;
	*handle = n->nr_tasks++;
	return n->fail;
}

static int note_sample(void *ctx, const struct gprof_decoded *s, uint32_t *handle)
{
	struct notes *n = ctx;

	*handle = n->nr_samples % 64;
	n->samples[n->nr_samples++ % 64] = *s;
	return n->fail;
}

static void note_again(void *ctx, uint32_t handle, uint64_t weight, uint64_t time)
{
	((struct notes *)ctx)->again[handle] += weight;
}

static int note_map(void *ctx, const struct gprof_map_rec *rec, const char *path)
{
	struct notes *n = ctx;

	snprintf(n->path, sizeof(n->path), "%s", path);
	n->nr_maps++;
	return n->fail;
}

static const struct gprof_decode_ops note_ops = {
	.stack = note_stack, .task = note_task, .sample = note_sample, .again = note_again,
	.map = note_map,
};

FIXTURE(decode) {
	struct gprof_decoder d;
	struct notes n;
};

FIXTURE_SETUP(decode)
{
	gprof_decoder_init(&self->d, &note_ops, &self->n);
}

FIXTURE_TEARDOWN(decode)
{
	gprof_decoder_free(&self->d);
}

static int feed(struct gprof_decoder *d, const void *rec, uint32_t size)
{
	return gprof_decoder_feed(d, rec, size);
}

static void generation(struct gprof_decoder *d, uint64_t weight)
{
	struct gprof_generation_rec g = {
		.rec = { GPROF_REC_GENERATION, 0, sizeof(g) },
		.generation = 1, .mono_ns = 1000, .real_ns = 5000, .weight = weight, .cpu = 3,
	};

	feed(d, &g, sizeof(g));
}

static void stack(struct gprof_decoder *d, uint32_t id)
{
	struct { struct gprof_stack_rec s; uint64_t frames[2]; } r = {
		.s = { .rec = { GPROF_REC_STACK, 0, sizeof(r) }, .id = id, .nr_user = 2 },
	};

	feed(d, &r, sizeof(r));
}

static void task(struct gprof_decoder *d, uint32_t tid)
{
	struct gprof_task_rec t = { .rec = { GPROF_REC_TASK, 0, sizeof(t) }, .tid = tid };

	feed(d, &t, sizeof(t));
}

static void sample(struct gprof_decoder *d, uint32_t tid, uint32_t id)
{
	struct gprof_sample_rec s = {
		.rec = { GPROF_REC_SAMPLE, 0, sizeof(s) }, .time = 77, .tid = tid, .stack = id,
	};

	feed(d, &s, sizeof(s));
}

TEST_F(decode, a_sample_gets_its_stack_its_task_and_the_weight_of_the_generation)
{
	generation(&self->d, 100);
	task(&self->d, 42);
	stack(&self->d, 7);
	stack(&self->d, 8);
	sample(&self->d, 42, 8);
	ASSERT_EQ(1, self->n.nr_samples);
	EXPECT_EQS(100, self->n.samples[0].weight, 8, self->n.stack_ids[self->n.samples[0].stack],
		   42, self->n.tids[self->n.samples[0].task], 3, self->n.samples[0].cpu,
		   77, self->n.samples[0].time, 1, self->d.counts.samples);
}

TEST_F(decode, a_new_generation_forgets_stacks_and_tasks)
{
	generation(&self->d, 100);
	task(&self->d, 42);
	stack(&self->d, 7);
	generation(&self->d, 200);
	sample(&self->d, 42, 7);
	ASSERT_EQ(1, self->n.nr_samples);
	EXPECT_EQS(GPROF_NONE, self->n.samples[0].stack, GPROF_NONE, self->n.samples[0].task,
		   200, self->n.samples[0].weight, 1, self->d.counts.orphans,
		   1, self->d.counts.samples);
}

TEST_F(decode, a_stack_without_id_is_for_the_next_sample_only)
{
	generation(&self->d, 1);
	stack(&self->d, 0);
	sample(&self->d, 1, 0);
	sample(&self->d, 1, 0);
	stack(&self->d, 0);
	task(&self->d, 2);
	sample(&self->d, 1, 0);
	ASSERT_EQ(3, self->n.nr_samples);
	EXPECT_EQS(0, self->n.samples[0].stack, GPROF_NONE, self->n.samples[1].stack,
		   GPROF_NONE, self->n.samples[2].stack);
	/* They say that they have none: nothing is missing. */
	EXPECT_EQ(0, self->d.counts.orphans);
}

#define F(flag)	GPROF_SAMPLE_REC_F_##flag
#define STATE	GPROF_TASK_BLOCKED | 3ULL << 32

/* What follows a sample, in the order in which it does. */
static const struct {
	uint32_t flags;
	size_t nr;
	uint64_t words[4];
	struct gprof_decoded want;
} followed[] = {
	{ F(WEIGHT) | F(ADDR) | F(NMI), 2, { 55, 0xdead },
	  { .weight = 55, .addr = 0xdead, .has_addr = true } },
	{ F(ADDR), 1, { 55 }, { .weight = 1, .addr = 55, .has_addr = true } },
	{ F(WEIGHT) | F(STATE), 3, { 7, STATE, 1234 },
	  { .weight = 7, .state = { .state = GPROF_TASK_BLOCKED, .cpu = 3, .since_ns = 1234 } } },
	{ F(WEIGHT) | F(ADDR) | F(VALUE), 3, { 55, 0xdead, 4096 },
	  { .weight = 55, .addr = 0xdead, .has_addr = true, .value = 4096, .has_value = true } },
	{ F(VALUE), 1, { 55 }, { .weight = 1, .value = 55, .has_value = true } },
	{ F(VALUE) | F(WAIT), 2, { 4096, GPROF_WAIT_FOR_PIPE | 77 << GPROF_WAIT_RUNNABLE_SHIFT },
	  { .weight = 1, .value = 4096, .has_value = true, .has_wait = true,
	    .wait = GPROF_WAIT_FOR_PIPE | 77 << GPROF_WAIT_RUNNABLE_SHIFT } },
	{ F(WAIT) | F(PARALLELISM), 2, { GPROF_WAIT_FOR_PIPE, 3 },
	  { .weight = 1, .wait = GPROF_WAIT_FOR_PIPE, .has_wait = true, .parallelism = 3 } },
	{ F(VALUE) | F(STATE) | F(OBJECT), 4, { 96, STATE, 0, 0xabcdef },
	  { .weight = 1, .value = 96, .has_value = true, .live = 0xabcdef,
	    .state = { .state = GPROF_TASK_BLOCKED, .cpu = 3 } } },
	{ F(PARALLELISM) | F(OWNER), 4, { 2, 77, 0x7469207364u << 24 | 0x6c6f68, 0 },
	  { .weight = 1, .parallelism = 2, .owner = { .tid = 77, .comm = "holds it" } } },
};

#define SAME(member)									\
	EXPECT_EQ(0, memcmp(&want->member, &got->member, sizeof(got->member)))		\
		TH_LOG(#member " of %zu", i)

/* With a word behind that nobody announced, too; and short by one word it is none. */
TEST_F(decode, what_follows_a_sample_is_what_its_flags_say)
{
	struct {
		struct gprof_sample_rec s;
		uint64_t extra[5];
	} r = { .s.rec = { GPROF_REC_SAMPLE } };
	size_t i, size;

	generation(&self->d, 1);
	for (i = 0; i < ARRAY_SIZE(followed); i++) {
		const struct gprof_decoded *want = &followed[i].want, *got = self->n.samples;

		r.s.rec.flags = followed[i].flags;
		memcpy(r.extra, followed[i].words, sizeof(followed[i].words));
		size = sizeof(r.s) + followed[i].nr * 8;
		for (r.s.rec.size = size; r.s.rec.size <= size + 8; r.s.rec.size += 8) {
			self->n.nr_samples = self->d.counts.nmi = 0;
			feed(&self->d, &r, r.s.rec.size);
			ASSERT_EQ(1, self->n.nr_samples) TH_LOG("%zu", i);
			EXPECT_EQ(!!(followed[i].flags & F(NMI)), self->d.counts.nmi);
			SAME(weight);
			SAME(addr);
			SAME(has_addr);
			SAME(value);
			SAME(has_value);
			SAME(wait);
			SAME(has_wait);
			SAME(parallelism);
			SAME(live);
			SAME(state);
			SAME(owner);
		}
		feed(&self->d, &r, size - 8);
		EXPECT_EQ(1, self->n.nr_samples) TH_LOG("%zu", i);
		EXPECT_EQ(i + 1, self->d.counts.malformed);
	}
	EXPECT_EQ(GPROF_WAIT_FOR_PIPE, GPROF_WAIT_FOR(followed[5].want.wait));
	EXPECT_EQ(77, GPROF_WAIT_RUNNABLE_NS(followed[5].want.wait));
}

TEST_F(decode, parallelism_is_a_number_of_cpus)
{
	static const uint64_t bad[] = { 0, 1ULL << 32, UINT64_MAX };
	struct {
		struct gprof_sample_rec s;
		uint64_t running;
	} r = { .s.rec = { GPROF_REC_SAMPLE, F(PARALLELISM), sizeof(r) } };

	generation(&self->d, 1);
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		r.running = bad[i];
		feed(&self->d, &r, sizeof(r));
		EXPECT_EQ(i + 1, self->d.counts.malformed);
	}
	EXPECT_EQ(0, self->n.nr_samples);
}

TEST_F(decode, lost_records_are_added_up)
{
	struct { struct gprof_lost_rec l; uint64_t lost[GPROF_LOST_SLOTS]; } r = {
		.l.rec = { GPROF_REC_LOST, 0, sizeof(r.l) + 4 * 8 },
		.lost = { 1, 20, 300, 4000, 50000 },
	};

	feed(&self->d, &r, r.l.rec.size);
	feed(&self->d, &r, r.l.rec.size);
	EXPECT_EQ(8642, self->d.counts.lost);
	/* one reason more than this library has a name for */
	r.l.rec.size += 8;
	feed(&self->d, &r, r.l.rec.size);
	EXPECT_EQS(62963, self->d.counts.lost, 0, self->d.counts.malformed);
	/* and none at all */
	r.l.rec.size = sizeof(r.l);
	feed(&self->d, &r, r.l.rec.size);
	EXPECT_EQ(1, self->d.counts.malformed);
}

TEST_F(decode, a_path_must_end_within_its_record)
{
	struct { struct gprof_map_rec m; char path[8]; } r = {
		.m = { .rec = { GPROF_REC_MAP, 0, sizeof(r) }, .start = 0x1000, .end = 0x2000 },
		.path = "/bin/ls",
	};

	feed(&self->d, &r, sizeof(r));
	EXPECT_EQ(1, self->n.nr_maps);
	EXPECT_STREQ("/bin/ls", self->n.path);
	memcpy(r.path, "/bin/lss", 8);
	feed(&self->d, &r, sizeof(r));
	feed(&self->d, &r, sizeof(r.m));
	memcpy(r.path, "/bin/ls", 8);
	r.m.end = r.m.start;
	feed(&self->d, &r, sizeof(r));
	EXPECT_EQS(1, self->n.nr_maps, 3, self->d.counts.malformed);
}

TEST_F(decode, what_is_said_of_a_file_must_fit_behind_its_path)
{
	struct { struct gprof_map_rec m; char path[16]; struct gprof_map_file file; } r = {
		.m = {
			.rec = { GPROF_REC_MAP, GPROF_MAP_REC_F_FILE, sizeof(r) },
			.start = 0x1000, .end = 0x2000,
		},
		.path = "/usr/bin",
		.file = { .file_size = 77, .build_id_size = GPROF_BUILD_ID_SIZE },
	};

	feed(&self->d, &r, sizeof(r));
	EXPECT_EQS(1, self->n.nr_maps, &r.file, gprof_map_file(&r.m));
	feed(&self->d, &r, sizeof(r) - 8);
	feed(&self->d, &r, sizeof(r.m) + 16);
	r.file.build_id_size++;
	feed(&self->d, &r, sizeof(r));
	EXPECT_EQS(1, self->n.nr_maps, 3, self->d.counts.malformed);
	r.m.rec.flags = 0;
	EXPECT_EQ(NULL, gprof_map_file(&r.m));
}

TEST_F(decode, more_frames_than_there_is_room_for_are_refused)
{
	struct { struct gprof_stack_rec s; uint64_t frames[2]; } r = {
		.s = {
			.rec = { GPROF_REC_STACK, 0, sizeof(r) },
			.id = 1, .nr_kernel = 1, .nr_user = 2,
		},
	};

	generation(&self->d, 1);
	feed(&self->d, &r, sizeof(r));
	r.s.nr_kernel = 0xffff;
	r.s.nr_user = 0xffff;
	feed(&self->d, &r, sizeof(r));
	EXPECT_EQS(0, self->n.nr_stacks, 2, self->d.counts.malformed);
}

struct base_rec {
	struct gprof_stack_rec s;
	uint64_t frames[4];
};

struct branch {
	struct gprof_stack_delta_rec b;
	uint64_t frames[3];
};

/* A kernel frame and three of user mode. */
static void init_base(struct base_rec *r, uint32_t id, uint32_t number)
{
	*r = (struct base_rec){
		.s = {
			.rec = { GPROF_REC_STACK, GPROF_STACK_REC_F_KERNEL_CUT,
				 sizeof(struct base_rec) },
			.id = id, .exec_map_seq = 9, .nr_kernel = 1, .nr_user = 3, .suffix = number,
			.process = { .pid = 5, .exec_id = 6, .start_ns = 7 },
		},
		.frames = { 100, 101, 102, 103 },
	};
}

static void init_branch(struct branch *r, uint32_t id, uint32_t base, uint16_t shared)
{
	*r = (struct branch){
		.b = {
			.rec = { GPROF_REC_STACK_DELTA, GPROF_STACK_REC_F_USER_CUT,
				 sizeof(struct branch) },
			.id = id, .suffix = base, .nr_kernel = 2, .nr_user = 1, .nr_shared = shared,
		},
		.frames = { 200, 201, 202 },
	};
}

TEST_F(decode, branch_ends_as_its_base_does)
{
	const uint64_t frames[] = { 200, 201, 202, 102, 103 };
	struct base_rec a, other;
	struct branch r;

	init_base(&a, 1, GPROF_STACK_SUFFIXES);
	init_base(&other, 2, 1);
	init_branch(&r, 3, GPROF_STACK_SUFFIXES, 2);
	other.frames[3] = 999;
	generation(&self->d, 1);
	feed(&self->d, &a, sizeof(a));
	feed(&self->d, &other, sizeof(other));
	feed(&self->d, &r, sizeof(r));
	sample(&self->d, 1, 3);
	EXPECT_EQS(3, self->n.nr_stacks, 2, self->n.samples[0].stack, 3, self->n.last.id,
		   GPROF_REC_STACK, self->n.last.rec.type,
		   GPROF_STACK_REC_F_USER_CUT, self->n.last.rec.flags,
		   sizeof(self->n.last) + sizeof(frames), self->n.last.rec.size,
		   9, self->n.last.exec_map_seq, 2, self->n.last.nr_kernel, 3, self->n.last.nr_user,
		   0, memcmp(&a.s.process, &self->n.last.process, sizeof(a.s.process)),
		   0, memcmp(frames, self->n.frames, sizeof(frames)));

	/* One that is for the next sample only. */
	r.b.id = 0;
	feed(&self->d, &r, sizeof(r));
	sample(&self->d, 1, 0);
	EXPECT_EQS(3, self->n.samples[1].stack, 0, self->d.counts.malformed);
}

TEST_F(decode, later_stack_with_a_number_takes_it)
{
	struct base_rec a, b;
	struct branch r;

	init_base(&a, 1, 7);
	init_base(&b, 2, 7);
	init_branch(&r, 3, 7, 3);
	b.frames[1] = 301;
	generation(&self->d, 1);
	feed(&self->d, &a, sizeof(a));
	feed(&self->d, &b, sizeof(b));
	feed(&self->d, &r, sizeof(r));
	EXPECT_EQ(301, self->n.frames[3]);
}

TEST_F(decode, branch_of_what_the_generation_has_not_said_is_refused)
{
	struct base_rec a, none;
	struct branch r;

	init_base(&a, 1, 7);
	init_base(&none, 2, GPROF_STACK_SUFFIXES + 1);
	init_branch(&r, 3, 7, 2);
	generation(&self->d, 1);
	feed(&self->d, &a, sizeof(a));
	generation(&self->d, 1);
	feed(&self->d, &r, sizeof(r));
	EXPECT_EQ(1, self->d.counts.malformed);
	/* More bases than are known: the stack itself is one all the same. */
	feed(&self->d, &none, sizeof(none));
	EXPECT_EQS(1, self->d.counts.malformed, 2, self->n.nr_stacks);
	r.b.suffix = GPROF_STACK_SUFFIXES + 1;
	feed(&self->d, &r, sizeof(r));
	r.b.suffix = 0;
	feed(&self->d, &r, sizeof(r));
	EXPECT_EQ(3, self->d.counts.malformed);
	feed(&self->d, &a, sizeof(a));
	gprof_decoder_restart(&self->d);
	r.b.suffix = 7;
	feed(&self->d, &r, sizeof(r));
	EXPECT_EQS(4, self->d.counts.malformed, 3, self->n.nr_stacks);
}

TEST_F(decode, branch_has_no_more_frames_than_are_there)
{
	struct base_rec a;
	struct branch r;

	init_base(&a, 1, 7);
	init_branch(&r, 3, 7, 4);
	generation(&self->d, 1);
	feed(&self->d, &a, sizeof(a));
	feed(&self->d, &r, sizeof(r));
	EXPECT_EQ(1, self->d.counts.malformed);
	r.b.nr_shared = 3;
	feed(&self->d, &r, sizeof(r) - 8);
	r.b.nr_kernel = 0xffff;
	r.b.nr_user = 0xffff;
	feed(&self->d, &r, sizeof(r));
	feed(&self->d, &r, 16);
	EXPECT_EQS(4, self->d.counts.malformed, 1, self->n.nr_stacks);
}

/* Of as many as the module never has a small record must not make more. */
TEST_F(decode, stacks_are_no_longer_than_the_modules)
{
	static struct {
		struct gprof_stack_rec s;
		uint64_t frames[600];
	} a;
	struct branch r;

	a.s = (struct gprof_stack_rec){
		.rec = { GPROF_REC_STACK, 0, sizeof(a) },
		.id = 1, .nr_kernel = 256, .nr_user = 257, .suffix = 7,
	};
	generation(&self->d, 1);
	feed(&self->d, &a, sizeof(a));
	EXPECT_EQS(1, self->d.counts.malformed, 0, self->n.nr_stacks);
	a.s.nr_user = 500;
	a.s.nr_kernel = 12;
	feed(&self->d, &a, sizeof(a));
	EXPECT_EQ(1, self->n.nr_stacks);
	init_branch(&r, 2, 7, 500);
	feed(&self->d, &r, sizeof(r));
	EXPECT_EQ(2, self->n.nr_stacks);
	a.s.nr_user = 512;
	a.s.nr_kernel = 0;
	feed(&self->d, &a, sizeof(a));
	EXPECT_EQ(3, self->n.nr_stacks);
	r.b.nr_shared = 510;
	feed(&self->d, &r, sizeof(r));
	EXPECT_EQS(2, self->d.counts.malformed, 3, self->n.nr_stacks);
}

TEST_F(decode, nothing_counts_before_a_generation)
{
	stack(&self->d, 1);
	task(&self->d, 1);
	sample(&self->d, 1, 1);
	EXPECT_EQS(0, self->n.nr_samples, 3, self->d.counts.malformed);
}

TEST_F(decode, short_and_unknown_records_are_passed)
{
	struct gprof_rec rec = { GPROF_REC_SHORT | 3, 0xffff, 0xffffffff };

	generation(&self->d, 1);
	EXPECT_EQ(0, feed(&self->d, &rec, 8));
	rec.type = 0x1ab;
	EXPECT_EQ(0, feed(&self->d, &rec, 8));
	EXPECT_EQS(2, self->d.counts.unknown, 0, self->d.counts.malformed);
}

static void known_sample(struct gprof_decoder *d)
{
	task(d, 42);
	stack(d, 7);
	sample(d, 42, 7);
}

static void sampled(struct gprof_decoder *d)
{
	generation(d, 100);
	known_sample(d);
}

/* Samples in a row, as they lie in a ring. */
struct row {
	struct gprof_sample_rec s[4];
};

static struct row row_of(uint32_t tid, uint32_t id)
{
	struct row r;

	memset(&r, 0, sizeof(r));
	for (int i = 0; i < 4; i++) {
		r.s[i].rec = (struct gprof_rec){ GPROF_REC_SAMPLE, GPROF_SAMPLE_REC_F_NMI,
						 sizeof(r.s[i]) };
		r.s[i].tid = tid;
		r.s[i].stack = id;
	}
	return r;
}

static size_t feed_row(struct gprof_decoder *d, const struct row *r)
{
	return gprof_decoder_feed_again(d, r->s, sizeof(r->s)) / sizeof(r->s[0]);
}

TEST_F(decode, samples_like_earlier_ones_are_taken_in_a_row)
{
	struct row r = row_of(42, 7);

	generation(&self->d, 100);
	task(&self->d, 42);
	stack(&self->d, 7);
	EXPECT_EQ(0, feed_row(&self->d, &r));
	sample(&self->d, 42, 7);
	EXPECT_EQS(4, feed_row(&self->d, &r), 1, self->n.nr_samples, 400, self->n.again[0],
		   5, self->d.counts.samples, 4, self->d.counts.nmi);
	/* not beyond what there is */
	EXPECT_EQ(0, gprof_decoder_feed_again(&self->d, r.s, sizeof(r.s[0]) - 8));
}

TEST_F(decode, row_ends_at_the_first_sample_that_is_not_like_an_earlier_one)
{
	struct row same, r;

	sampled(&self->d);
	same = row_of(42, 7);
	for (int i = 0; i < 8; i++) {
		r = same;
		switch (i) {
		case 0: r.s[2].tid += GPROF_AGAIN; break;	/* in the same place */
		case 1: r.s[2].stack += GPROF_AGAIN; break;
		case 2: r.s[2].stack = 0; break;
		case 3: r.s[2].rec.flags |= GPROF_SAMPLE_REC_F_WEIGHT; break;
		case 4: r.s[2].rec.flags |= GPROF_SAMPLE_REC_F_ADDR; break;
		case 5: r.s[2].rec.flags |= GPROF_SAMPLE_REC_F_THROTTLED; break;
		case 6: r.s[2].rec.size += 8; break;
		case 7: r.s[2].rec.type = GPROF_REC_LOST; break;
		}
		EXPECT_EQ(2, feed_row(&self->d, &r)) TH_LOG("case %d", i);
	}
}

TEST_F(decode, row_is_of_one_generation_one_name_and_one_stack)
{
	struct row r = row_of(42, 7);

	sampled(&self->d);
	generation(&self->d, 100);
	EXPECT_EQ(0, feed_row(&self->d, &r));
	known_sample(&self->d);
	EXPECT_EQ(4, feed_row(&self->d, &r));
	task(&self->d, 42);	/* another handle: renamed */
	EXPECT_EQ(0, feed_row(&self->d, &r));
	sample(&self->d, 42, 7);
	stack(&self->d, 7);
	EXPECT_EQ(0, feed_row(&self->d, &r));
	sample(&self->d, 42, 7);
	gprof_decoder_forget(&self->d);
	EXPECT_EQ(0, feed_row(&self->d, &r));
}

TEST_F(decode, sample_without_a_known_task_is_not_taken_for_one_with)
{
	struct row r = row_of(42, 7);

	generation(&self->d, 100);
	stack(&self->d, 7);
	sample(&self->d, 42, 7);
	task(&self->d, 42);
	EXPECT_EQ(0, feed_row(&self->d, &r));
}

TEST_F(decode, row_uses_up_a_stack_that_is_for_the_next_sample_only)
{
	struct row r = row_of(42, 7);

	sampled(&self->d);
	stack(&self->d, 0);
	EXPECT_EQ(4, feed_row(&self->d, &r));
	sample(&self->d, 42, 0);
	EXPECT_EQ(GPROF_NONE, self->n.samples[1].stack);
}

TEST_F(decode, what_a_callee_returns_is_passed_on)
{
	struct gprof_sample_rec s = { .rec = { GPROF_REC_SAMPLE, 0, sizeof(s) } };

	generation(&self->d, 1);
	self->n.fail = -ENOMEM;
	EXPECT_EQ(-ENOMEM, feed(&self->d, &s, sizeof(s)));
}

FIXTURE(built) {
	struct gprof_builder b;
	struct gprof_decoder d;
	struct gprof_profile *p;
};

FIXTURE_SETUP(built)
{
	ASSERT_EQ(0, gprof_builder_init(&self->b));
	gprof_decoder_init(&self->d, &gprof_builder_ops, &self->b);
}

FIXTURE_TEARDOWN(built)
{
	gprof_profile_free(self->p);
	gprof_decoder_free(&self->d);
	gprof_builder_free(&self->b);
}

#define MAKE() do {									\
	gprof_profile_free(self->p);							\
	ASSERT_EQ(0, gprof_builder_profile(&self->b, &columns, &self->p));		\
} while (0)

/*
 * Garbage: records of every type with every size up to 200 bytes, contents at
 * random, given to the real builder. Nothing may be read beyond a record (each
 * ends where its allocation ends, which ASan sees), and a profile comes out.
 */
TEST_F(built, garbage_makes_no_harm)
{
	struct gprof_columns columns = {
		.count_type = "samples", .weight_type = "cycles", .weight_unit = "count",
		.period = 1,
	};
	uint64_t rnd = 88172645463325252ULL, total = 0;

	for (uint32_t i = 0; i < 60000; i++) {
		uint32_t size = 8 + 8 * (lib_random(&rnd) % 25);
		unsigned char *mem = malloc(size);
		struct gprof_rec *rec = (void *)mem;

		for (uint32_t j = 0; j < size; j++)
			mem[j] = lib_random(&rnd) % 4 ? lib_random(&rnd) % 3 : lib_random(&rnd);
		rec->type = lib_random(&rnd) % 9;
		if (i % 50 == 0)
			rec->type = GPROF_REC_GENERATION;
		rec->size = size;
		if (rec->type == GPROF_REC_STACK && size >= sizeof(struct gprof_stack_rec) &&
		    i % 2) {
			struct gprof_stack_rec *s = (void *)mem;

			s->nr_kernel = lib_random(&rnd) % 3;
			s->nr_user = lib_random(&rnd) % 10;
			s->suffix = lib_random(&rnd) % 3;
		}
		if (rec->type == GPROF_REC_STACK_DELTA &&
		    size >= sizeof(struct gprof_stack_delta_rec)) {
			struct gprof_stack_delta_rec *b = (void *)mem;

			b->suffix = lib_random(&rnd) % 3;
			b->nr_kernel = lib_random(&rnd) % 3;
			b->nr_user = lib_random(&rnd) % 10;
			b->nr_shared = lib_random(&rnd) % 10;
		}
		/* No real process and no real file is to be looked at. */
		if (rec->type == GPROF_REC_MAP && size > sizeof(struct gprof_map_rec)) {
			((struct gprof_map_rec *)mem)->process.pid = 1 << 30;
			mem[size - 1] = 0;
		}
		ASSERT_EQ(0, gprof_decoder_feed(&self->d, rec, size));
		free(mem);
	}
	EXPECT_LTS(100, self->d.counts.samples, 100, self->d.counts.malformed);
	for (uint32_t i = 0; i < self->b.nr_counts; i++)
		total += self->b.counts[i].samples;
	EXPECT_EQ(self->d.counts.samples, total);
	MAKE();
	EXPECT_EQ((int64_t)total, gprof_profile_total(self->p, 0));
}

static void feed_with(struct gprof_decoder *d, uint16_t flags, uint32_t tid, uint64_t a, uint64_t b)
{
	struct { struct gprof_sample_rec s; uint64_t extra[2]; } r = {
		.s = { .rec = { GPROF_REC_SAMPLE, flags, sizeof(r) }, .tid = tid },
		.extra = { a, b },
	};

	feed(d, &r, sizeof(r));
}

#define PIPE(ns)	(GPROF_WAIT_FOR_PIPE | (ns) << GPROF_WAIT_RUNNABLE_SHIFT)

/* Each stands for ten, and what it was for tells it apart. */
TEST_F(built, waits_are_added_up)
{
	struct gprof_columns columns = {
		.weight_type = "contentions", .weight_unit = "count", .period = 10,
		.value_type = "delay", .value_unit = "nanoseconds", .runnable_type = "runnable",
	};

	generation(&self->d, 10);
	feed_with(&self->d, F(VALUE) | F(WAIT), 5, 7, PIPE(3));
	feed_with(&self->d, F(VALUE) | F(WAIT), 5, 100, GPROF_WAIT_FOR_SLEEP);
	feed_with(&self->d, F(VALUE) | F(WAIT), 5, 8, PIPE(4));
	EXPECT_EQ(2, self->b.nr_counts);
	MAKE();
	EXPECT_TOTALS(self->p, 30, 1150, 70);
	EXPECT_EQS(1, gprof_profile_default_type(self->p), 10, self->p->period);
	/* Nobody waits for that long. */
	feed_with(&self->d, F(VALUE) | F(WAIT), 5, UINT64_MAX / 2, GPROF_WAIT_FOR_SLEEP);
	MAKE();
	EXPECT_EQ(INT64_MAX, gprof_profile_total(self->p, 1));
}

/* A context of see_latency(). */
struct latencies {
	const struct gprof_profile *p;
	uint64_t off;		/* the most that one is off by, in thousandths */
	size_t nr;
};

static int see_latency(void *ctx, const struct gprof_frame *frames, size_t nr,
		       const int64_t *values)
{
	struct latencies *l = ctx;
	int64_t running = 0;
	double off;

	gprof_profile_label(l->p, "parallelism", &running);
	if (running < 1)
		return -EINVAL;
	off = (double)values[1] - (double)values[0] / (double)running;
	off = off < 0 ? -off : off;
	if (off * 1000 > (double)l->off)
		l->off = (uint64_t)(off * 1000);
	l->nr++;
	return 0;
}

/* However little each stands for: the sum is what it should be. */
TEST_F(built, latency_is_divided_exactly)
{
	struct gprof_columns columns = {
		.weight_type = "events", .weight_unit = "count", .period = 1, .latency = true,
	};
	struct latencies seen = { 0 };
	double want;

	generation(&self->d, 10);
	for (uint32_t tid = 1; tid <= 21000; tid++)
		feed_with(&self->d, F(WEIGHT) | F(PARALLELISM), tid, 1, 7);
	feed_with(&self->d, F(WEIGHT) | F(PARALLELISM), 1, 1000, 7);
	feed_with(&self->d, F(WEIGHT) | F(PARALLELISM), 1, 5, 1);
	EXPECT_EQ(21001, self->b.nr_counts);
	want = 22000.0 / 7 + 5;
	MAKE();
	ASSERT_EQ(0, gprof_profile_finish(self->p));
	EXPECT_EQ(22005, gprof_profile_total(self->p, 0));
	EXPECT_LE(want - 0.5, gprof_profile_total(self->p, 1));
	EXPECT_GE(want + 0.5, gprof_profile_total(self->p, 1));
	EXPECT_EQ(0, gprof_profile_default_type(self->p));
	seen.p = self->p;
	EXPECT_EQS(0, gprof_profile_each(self->p, see_latency, &seen), 21001, seen.nr);
	EXPECT_GE(1000, seen.off);
	/* More than there is room for, and more CPUs than anybody has. */
	gprof_builder_clear(&self->b);
	feed_with(&self->d, F(WEIGHT) | F(PARALLELISM), 1, UINT64_MAX, 1);
	feed_with(&self->d, F(WEIGHT) | F(PARALLELISM), 2, UINT64_MAX, UINT32_MAX);
	MAKE();
	EXPECT_EQ(INT64_MAX, gprof_profile_total(self->p, 1));
	gprof_builder_clear(&self->b);
	feed_with(&self->d, F(WEIGHT) | F(PARALLELISM), 2, UINT64_MAX, UINT32_MAX);
	MAKE();
	EXPECT_EQ(UINT64_MAX / UINT32_MAX, gprof_profile_total(self->p, 1));
}

#define SLOTS	4

struct table {
	struct gprof_object_table_head head;
	struct gprof_object_slot slots[SLOTS];
};

static struct table a_table(void)
{
	return (struct table){
		.head = {
			.version = GPROF_ABI_VERSION, .header_size = sizeof(struct gprof_object_table_head),
			.slot_size = sizeof(struct gprof_object_slot), .nr_slots = SLOTS,
			.slots_offset = offsetof(struct table, slots), .size = sizeof(struct table),
		},
	};
}

static uint64_t word(uint64_t slot, uint64_t serial)
{
	return serial << GPROF_OBJECT_SERIAL_SHIFT | GPROF_OBJECT_LIVE | slot;
}

/* Of two tasks; what is live is so of whom the table says, and of no earlier use of a slot. */
TEST_F(built, what_is_live_is_what_the_table_says)
{
	struct gprof_columns columns = {
		.weight_type = "alloc_objects", .weight_unit = "count", .period = 4096,
		.value_type = "alloc_space", .value_unit = "bytes",
		.live_weight_type = "inuse_objects", .live_value_type = "inuse_space",
		.period_type = "space", .period_unit = "bytes",
	};
	struct table table = a_table();
	const struct gprof_object_table t = { &table.head, sizeof(table) };

	ASSERT_TRUE(gprof_object_table_fits(&table.head, sizeof(table)));
	generation(&self->d, 10);
	/* Of a dump, which has no table, nothing is kept, wherever it says it is. */
	feed_with(&self->d, F(VALUE) | F(OBJECT), 5, 100, word(0xffffff, 1));
	EXPECT_EQ(0, self->b.live_samples.cap);
	gprof_builder_clear(&self->b);
	self->b.live_samples.max = SLOTS;
	feed_with(&self->d, F(VALUE) | F(OBJECT), 5, 100, word(SLOTS, 1));
	EXPECT_EQ(0, self->b.live_samples.cap);
	gprof_builder_clear(&self->b);
	feed_with(&self->d, F(VALUE) | F(OBJECT), 5, 100, word(0, 1));
	feed_with(&self->d, F(VALUE) | F(OBJECT), 5, 200, word(1, 1));
	/* The ring of another CPU, whose older samples are read later. */
	feed_with(&self->d, F(VALUE) | F(OBJECT), 6, 300, word(2, 2));
	feed_with(&self->d, F(VALUE) | F(OBJECT), 6, 700, word(2, 1));
	EXPECT_EQ(2, self->b.nr_counts);
	/* Of slot 0 it has been freed, of slot 3 the sample was lost. */
	table.slots[0] = (struct gprof_object_slot){ word(0, 1) & ~GPROF_OBJECT_LIVE, 0, 100, 10 };
	table.slots[1] = (struct gprof_object_slot){ word(1, 1), 0, 200, 10 };
	table.slots[2] = (struct gprof_object_slot){ word(2, 2), 0, 300, 10 };
	table.slots[3] = (struct gprof_object_slot){ word(3, 7), 0, 50, 3 };
	table.head.full = 11;
	table.head.unseen = 12;
	gprof_builder_mark_live(&self->b, &t);
	EXPECT_EQS(3, self->b.unknown.objects, 150, self->b.unknown.value, 11, self->b.unknown.full,
		   12, self->b.unknown.unseen);
	MAKE();
	EXPECT_TOTALS(self->p, 40, 13000, 20, 5000);
	EXPECT_EQS(3, gprof_profile_default_type(self->p), 4096, self->p->period);
	EXPECT_STREQ("space", self->p->strings.v[self->p->period_type.type]);
	/* Slot 1 is somebody else's; what was found before does not count again. */
	table.slots[1].live = word(1, 2);
	gprof_builder_mark_live(&self->b, &t);
	MAKE();
	EXPECT_EQS(10, gprof_profile_total(self->p, 2), 3000, gprof_profile_total(self->p, 3));
}

TEST(table_that_cannot_be_read_is_refused)
{
	const struct table good = a_table();
	struct table t = good;

	EXPECT_FALSE(gprof_object_table_fits(&t.head, sizeof(t) - 8));
	t.head.nr_slots++;
	EXPECT_FALSE(gprof_object_table_fits(&t.head, sizeof(t)));
	t = good;
	t.head.slots_offset = ~7ULL;
	EXPECT_FALSE(gprof_object_table_fits(&t.head, sizeof(t)));
	t = good;
	t.head.slot_size = 24;
	EXPECT_FALSE(gprof_object_table_fits(&t.head, sizeof(t)));
	t = good;
	t.head.version++;
	EXPECT_FALSE(gprof_object_table_fits(&t.head, sizeof(t)));
}

TEST_HARNESS_MAIN
