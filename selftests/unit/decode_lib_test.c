// SPDX-License-Identifier: GPL-2.0-only
/*
 * Records to calls: generations, dictionaries, weights, and garbage.
 */
#include <kselftest_harness.h>

#include "builder.h"
#include "decode.h"
#include "lib_util.h"

#define HANDLES	1000

/* Notes what the decoder calls. */
struct notes {
	struct gprof_decoded samples[64];
	size_t nr_samples;
	uint32_t stack_ids[HANDLES];
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

static int note_sample(void *ctx, const struct gprof_decoded *s)
{
	struct notes *n = ctx;

	n->samples[n->nr_samples++ % 64] = *s;
	return n->fail;
}

static int note_map(void *ctx, const struct gprof_map_rec *rec, const char *path)
{
	struct notes *n = ctx;

	snprintf(n->path, sizeof(n->path), "%s", path);
	n->nr_maps++;
	return n->fail;
}

static const struct gprof_decode_ops note_ops = {
	.stack = note_stack,
	.task = note_task,
	.sample = note_sample,
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
		.generation = 1,
		.mono_ns = 1000,
		.real_ns = 5000,
		.weight = weight,
		.cpu = 3,
	};

	feed(d, &g, sizeof(g));
}

static void stack(struct gprof_decoder *d, uint32_t id)
{
	struct {
		struct gprof_stack_rec s;
		uint64_t frames[2];
	} r = {
		.s = {
			.rec = { GPROF_REC_STACK, 0, sizeof(r) },
			.id = id,
			.nr_user = 2,
		},
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
		.rec = { GPROF_REC_SAMPLE, 0, sizeof(s) },
		.time = 77,
		.tid = tid,
		.stack = id,
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
	EXPECT_EQ(100, self->n.samples[0].weight);
	EXPECT_EQ(8, self->n.stack_ids[self->n.samples[0].stack]);
	EXPECT_EQ(42, self->n.tids[self->n.samples[0].task]);
	EXPECT_EQ(3, self->n.samples[0].cpu);
	EXPECT_EQ(77, self->n.samples[0].time);
	EXPECT_EQ(1, self->d.counts.samples);
}

TEST_F(decode, a_new_generation_forgets_stacks_and_tasks)
{
	generation(&self->d, 100);
	task(&self->d, 42);
	stack(&self->d, 7);
	generation(&self->d, 200);
	sample(&self->d, 42, 7);
	ASSERT_EQ(1, self->n.nr_samples);
	EXPECT_EQ(GPROF_NONE, self->n.samples[0].stack);
	EXPECT_EQ(GPROF_NONE, self->n.samples[0].task);
	EXPECT_EQ(200, self->n.samples[0].weight);
	EXPECT_EQ(1, self->d.counts.orphans);
	EXPECT_EQ(1, self->d.counts.samples);
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
	EXPECT_EQ(0, self->n.samples[0].stack);
	EXPECT_EQ(GPROF_NONE, self->n.samples[1].stack);
	EXPECT_EQ(GPROF_NONE, self->n.samples[2].stack);
	/* They say that they have none: nothing is missing. */
	EXPECT_EQ(0, self->d.counts.orphans);
}

TEST_F(decode, weight_and_address_come_in_this_order)
{
	struct {
		struct gprof_sample_rec s;
		uint64_t extra[2];
	} r = {
		.s.rec = { GPROF_REC_SAMPLE, GPROF_SAMPLE_REC_F_WEIGHT | GPROF_SAMPLE_REC_F_ADDR |
			   GPROF_SAMPLE_REC_F_NMI, sizeof(r) },
		.extra = { 55, 0xdead },
	};

	generation(&self->d, 1);
	feed(&self->d, &r, sizeof(r));
	r.s.rec.flags = GPROF_SAMPLE_REC_F_ADDR;
	feed(&self->d, &r, sizeof(r));
	ASSERT_EQ(2, self->n.nr_samples);
	EXPECT_EQ(55, self->n.samples[0].weight);
	EXPECT_EQ(0xdead, self->n.samples[0].addr);
	EXPECT_TRUE(self->n.samples[0].has_addr);
	EXPECT_EQ(1, self->n.samples[1].weight);
	EXPECT_EQ(55, self->n.samples[1].addr);
	EXPECT_EQ(1, self->d.counts.nmi);
	/* Both flags, but room for one word. */
	r.s.rec.flags |= GPROF_SAMPLE_REC_F_WEIGHT;
	feed(&self->d, &r, sizeof(r.s) + 8);
	EXPECT_EQ(2, self->n.nr_samples);
	EXPECT_EQ(1, self->d.counts.malformed);
}

TEST_F(decode, lost_records_are_added_up)
{
	struct gprof_lost_rec l = {
		.rec = { GPROF_REC_LOST, 0, sizeof(l) },
		.lost = { 1, 20, 300, 4000 },
	};

	feed(&self->d, &l, sizeof(l));
	feed(&self->d, &l, sizeof(l));
	EXPECT_EQ(8642, self->d.counts.lost);
}

TEST_F(decode, a_path_must_end_within_its_record)
{
	struct {
		struct gprof_map_rec m;
		char path[8];
	} r = {
		.m = {
			.rec = { GPROF_REC_MAP, 0, sizeof(r) },
			.start = 0x1000,
			.end = 0x2000,
		},
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
	EXPECT_EQ(1, self->n.nr_maps);
	EXPECT_EQ(3, self->d.counts.malformed);
}

TEST_F(decode, more_frames_than_there_is_room_for_are_refused)
{
	struct {
		struct gprof_stack_rec s;
		uint64_t frames[2];
	} r = {
		.s = {
			.rec = { GPROF_REC_STACK, 0, sizeof(r) },
			.id = 1,
			.nr_kernel = 1,
			.nr_user = 2,
		},
	};

	generation(&self->d, 1);
	feed(&self->d, &r, sizeof(r));
	r.s.nr_kernel = 0xffff;
	r.s.nr_user = 0xffff;
	feed(&self->d, &r, sizeof(r));
	EXPECT_EQ(0, self->n.nr_stacks);
	EXPECT_EQ(2, self->d.counts.malformed);
}

TEST_F(decode, nothing_counts_before_a_generation)
{
	stack(&self->d, 1);
	task(&self->d, 1);
	sample(&self->d, 1, 1);
	EXPECT_EQ(0, self->n.nr_samples);
	EXPECT_EQ(3, self->d.counts.malformed);
}

TEST_F(decode, short_and_unknown_records_are_passed)
{
	struct gprof_rec rec = { GPROF_REC_SHORT | 3, 0xffff, 0xffffffff };

	generation(&self->d, 1);
	EXPECT_EQ(0, feed(&self->d, &rec, 8));
	rec.type = 0x1ab;
	EXPECT_EQ(0, feed(&self->d, &rec, 8));
	EXPECT_EQ(2, self->d.counts.unknown);
	EXPECT_EQ(0, self->d.counts.malformed);
}

TEST_F(decode, what_a_callee_returns_is_passed_on)
{
	struct gprof_sample_rec s = { .rec = { GPROF_REC_SAMPLE, 0, sizeof(s) } };

	generation(&self->d, 1);
	self->n.fail = -ENOMEM;
	EXPECT_EQ(-ENOMEM, feed(&self->d, &s, sizeof(s)));
}

/*
 * Garbage: records of every type with every size up to 200 bytes, contents at
 * random, given to the real builder. Nothing may be read beyond a record (each
 * ends where its allocation ends, which ASan sees), and a profile comes out.
 */
TEST(garbage_makes_no_harm)
{
	struct gprof_columns columns = {
		.count_type = "samples",
		.weight_type = "cycles",
		.weight_unit = "count",
		.period = 1,
	};
	uint64_t rnd = 88172645463325252ULL, total = 0;
	struct gprof_profile *p = NULL;
	struct gprof_builder b;
	struct gprof_decoder d;
	uint32_t i, j;

	ASSERT_EQ(0, gprof_builder_init(&b));
	gprof_decoder_init(&d, &gprof_builder_ops, &b);
	for (i = 0; i < 60000; i++) {
		uint32_t size = 8 + 8 * (lib_random(&rnd) % 25);
		unsigned char *mem = malloc(size);
		struct gprof_rec *rec = (void *)mem;

		for (j = 0; j < size; j++)
			mem[j] = lib_random(&rnd) % 4 ? lib_random(&rnd) % 3 : lib_random(&rnd);
		rec->type = lib_random(&rnd) % 8;
		if (i % 50 == 0)
			rec->type = GPROF_REC_GENERATION;
		rec->size = size;
		if (rec->type == GPROF_REC_STACK && size >= sizeof(struct gprof_stack_rec) &&
		    i % 2) {
			struct gprof_stack_rec *s = (void *)mem;

			s->nr_kernel = lib_random(&rnd) % 3;
			s->nr_user = lib_random(&rnd) % 10;
		}
		/* No real process and no real file is to be looked at. */
		if (rec->type == GPROF_REC_MAP && size > sizeof(struct gprof_map_rec)) {
			((struct gprof_map_rec *)mem)->process.pid = 1 << 30;
			mem[size - 1] = 0;
		}
		ASSERT_EQ(0, gprof_decoder_feed(&d, rec, size));
		free(mem);
	}
	EXPECT_LT(100, d.counts.samples);
	EXPECT_LT(100, d.counts.malformed);
	for (i = 0; i < b.nr_counts; i++)
		total += b.counts[i].samples;
	EXPECT_EQ(d.counts.samples, total);
	ASSERT_EQ(0, gprof_builder_profile(&b, &columns, &p));
	EXPECT_EQ((int64_t)total, gprof_profile_total(p, 0));
	gprof_profile_free(p);
	gprof_decoder_free(&d);
	gprof_builder_free(&b);
}

TEST_HARNESS_MAIN
