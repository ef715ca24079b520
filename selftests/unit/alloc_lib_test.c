// SPDX-License-Identifier: GPL-2.0-only
/*
 * Every allocation fails once: an error comes out, and nothing is left behind.
 *
 * malloc() and the rest are replaced by ones that count and can fail. Files of
 * programs are left out: elfutils ends the program when it has no memory.
 */
#include "harness.h"
#include "record/builder.h"
#include "lib_util.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || !defined(__GLIBC__)
#define CAN_FAIL	false
static long fail_at, live;
#else
#define CAN_FAIL	true

extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t nr, size_t size);
extern void *__libc_realloc(void *p, size_t size);
extern void __libc_free(void *p);

/* Allocations until one fails, -1 for none; blocks that are not freed. */
static _Thread_local long fail_at = -1;
static _Thread_local long live;

static bool fails(void)
{
	if (fail_at < 0)
		return false;
	if (fail_at-- > 0)
		return false;
	errno = ENOMEM;
	return true;
}

void *malloc(size_t size)
{
	void *p = fails() ? NULL : __libc_malloc(size);

	live += !!p;
	return p;
}

void *calloc(size_t nr, size_t size)
{
	void *p = fails() ? NULL : __libc_calloc(nr, size);

	live += !!p;
	return p;
}

void *realloc(void *old, size_t size)
{
	void *p = fails() ? NULL : __libc_realloc(old, size);

	live += !old && p;
	return p;
}

void *reallocarray(void *old, size_t nr, size_t size)
{
	return realloc(old, nr * size);
}

void free(void *p)
{
	live -= !!p;
	__libc_free(p);
}
#endif

/* Run @fn with the first, the second, ... allocation failing, until none does. */
static void fail_each(struct __test_metadata *_metadata, int (*fn)(void))
{
	long n, before, after;
	int ret;

	if (!CAN_FAIL)
		SKIP(return, "the sanitizer has an allocator of its own");
	ASSERT_EQ(0, fn());
	for (n = 0;; n++) {
		before = live;
		fail_at = n;
		ret = fn();
		after = live;
		if (fail_at >= 0) {
			/* It got through without a failure. */
			fail_at = -1;
			EXPECT_EQ(0, ret);
			break;
		}
		fail_at = -1;
		ASSERT_EQ(before, after)
			TH_LOG("%ld blocks are left behind by failure %ld", after - before, n);
		ASSERT_TRUE(ret == -ENOMEM || !ret) TH_LOG("failure %ld gave %d", n, ret);
	}
	TH_LOG("%ld allocations failed", n);
	EXPECT_LT(10, n);
}

static int feed(struct gprof_decoder *d)
{
	struct gprof_generation_rec g = {
		.rec = { GPROF_REC_GENERATION, 0, sizeof(g) }, .weight = 3,
	};
	struct { struct gprof_map_rec m; char path[8]; } m = {
		.m = {
			.rec = { GPROF_REC_MAP, 3, sizeof(m) }, .process = { 1 << 29, 1, 1 },
			.exec_map_seq = 1, .start = 0x1000, .end = 0x100000,
		},
		.path = "//anon",
	};
	struct gprof_task_rec t = {
		.rec = { GPROF_REC_TASK, 0, sizeof(t) }, .process = { 1 << 29, 1, 1 },
		.comm = "task",
	};
	struct { struct gprof_stack_rec s; uint64_t frames[2]; } s = {
		.s = {
			.rec = { GPROF_REC_STACK, 0, sizeof(s) }, .exec_map_seq = 1,
			.process = { 1 << 29, 1, 1 }, .nr_user = 2,
		},
	};
	struct gprof_sample_rec a = { .rec = { GPROF_REC_SAMPLE, 0, sizeof(a) } };
	int i, err;

	err = gprof_decoder_feed(d, &g.rec, sizeof(g));
	for (i = 0; i < 200 && !err; i++) {
		t.tid = a.tid = i % 70;
		s.s.id = a.stack = i + 1;
		s.frames[0] = 0x1000 + 8 * i;
		s.frames[1] = 0x2000 + i;
		m.m.start = 0x1000;
		m.m.time = i / 10;
		m.path[5] = 'a' + i % 20;
		err = gprof_decoder_feed(d, &m.m.rec, sizeof(m));
		if (!err)
			err = gprof_decoder_feed(d, &t.rec, sizeof(t));
		if (!err)
			err = gprof_decoder_feed(d, &s.s.rec, sizeof(s));
		if (!err)
			err = gprof_decoder_feed(d, &a.rec, sizeof(a));
	}
	return err;
}

static int make_profile(struct gprof_profile **p)
{
	struct gprof_columns columns = {
		.count_type = "samples", .weight_type = "cycles", .weight_unit = "count",
	};
	struct gprof_builder b;
	struct gprof_decoder d;
	int err;

	err = gprof_builder_init(&b);
	if (err)
		return err;
	gprof_decoder_init(&d, &gprof_builder_ops, &b);
	err = feed(&d);
	if (!err)
		err = gprof_builder_profile(&b, &columns, p);
	gprof_decoder_free(&d);
	gprof_builder_free(&b);
	return err;
}

static int build(void)
{
	struct gprof_profile *p = NULL;
	int err = make_profile(&p);

	if (!err)
		err = gprof_profile_finish(p);
	gprof_profile_free(p);
	return err;
}

TEST(a_profile_in_the_making_survives)
{
	fail_each(_metadata, build);
}

static struct gprof_profile *ready;

static int write_profile(void)
{
	int fd = memfd_create("profile", MFD_CLOEXEC);
	int err = gprof_profile_write(ready, fd);

	close(fd);
	return err;
}

static int profile_fd;

static int read_profile(void)
{
	struct gprof_profile *p;
	int err = 0;

	lseek(profile_fd, 0, SEEK_SET);
	p = gprof_profile_read(profile_fd);
	if (!p)
		/* protobuf-c does not tell a want of memory from a bad file. */
		err = errno == EBADMSG ? -ENOMEM : -errno;
	gprof_profile_free(p);
	return err;
}

TEST(writing_and_reading_survive)
{
	ASSERT_ZEROS(make_profile(&ready), gprof_profile_finish(ready));
	fail_each(_metadata, write_profile);
	profile_fd = memfd_create("profile", MFD_CLOEXEC);
	ASSERT_EQ(0, gprof_profile_write(ready, profile_fd));
	fail_each(_metadata, read_profile);
	close(profile_fd);
	gprof_profile_free(ready);
}

TEST_HARNESS_MAIN
