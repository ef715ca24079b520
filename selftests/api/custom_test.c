// SPDX-License-Identifier: GPL-2.0-only
/*
 * custom_test: custom profiles of libgprof on a live kernel: what is in them, who may read them,
 * and what a file may hold that says it is one.
 *
 * Counts are exact: nothing is sampled. Who adds are functions whose names the profile is to have.
 */
#include <gprof/custom.h>
#include <limits.h>
#include "harness.h"
#include "device.h"
#include "record.h"
#include "workload.h"

#define NAME	"test.things"

/* Who adds: the function itself is the leaf. Of two that are the same there would be one. */
__attribute__((noinline, noclone)) static int add_here(struct gprof_custom *p, const void *key)
{
	int err = gprof_custom_add(p, key, 0);

	__asm__ volatile("# here");
	return err;
}

__attribute__((noinline, noclone)) static int add_there(struct gprof_custom *p, const void *key)
{
	int err = gprof_custom_add(p, key, 0);

	__asm__ volatile("# there");
	return err;
}

/* Each depth is a stack of its own. */
__attribute__((noinline, noclone)) static int add_deep(struct gprof_custom *p, const void *key,
						       unsigned int depth, unsigned int skip)
{
	int err = depth ? add_deep(p, key, depth - 1, skip) : gprof_custom_add(p, key, skip);

	__asm__ volatile("");
	return err;
}

static const void *key_of(unsigned long n)
{
	return (const void *)(uintptr_t)(n * 16 + 16);
}

static struct gprof_custom *make(const char *name)
{
	struct gprof_custom_config cfg = { .sz = sizeof(cfg), .name = name };

	return gprof_custom_new(&cfg);
}

/* ---- what a profile says ---- */

struct seen {
	const char *name;
	int64_t here, all;
	unsigned int frames, of_name;
	char path[512];
};

/* Of samples that have the name in their stack: how many, and where. */
static int see(void *ctx, const struct gprof_frame *frames, size_t nr, const int64_t *values)
{
	struct seen *s = ctx;
	unsigned int with = 0;

	for (size_t i = 0; i < nr; i++)
		with += !strcmp(frames[i].function, s->name);
	s->all += values[0];
	if (!with)
		return 0;
	s->here += values[0];
	s->of_name = with;
	s->frames = nr;
	s->path[0] = '\0';
	for (size_t i = 0; i < nr && strlen(s->path) < 400; i++)
		snprintf(s->path + strlen(s->path), sizeof(s->path) - strlen(s->path), " %s",
			 frames[i].function);
	return 0;
}

static struct seen seen_of(const struct gprof_profile *p, const char *name)
{
	struct seen s = { .name = name };

	gprof_profile_each(p, see, &s);
	return s;
}

FIXTURE(custom) {
	struct gprof_custom *c;
	struct gprof_profile *p;
};

FIXTURE_SETUP(custom)
{
	self->c = make(NAME);
	ASSERT_NE(NULL, self->c) TH_LOG("%s", gprof_error());
}

FIXTURE_TEARDOWN(custom)
{
	gprof_profile_free(self->p);
	gprof_custom_free(self->c);
}

#define TAKE() do {								\
	gprof_profile_free(self->p);						\
	self->p = gprof_custom_profile(self->c);				\
	ASSERT_NE(NULL, self->p)						\
		TH_LOG("%s", gprof_error());					\
} while (0)

#define EXPECT_HERE(_name, _nr) do {						\
	struct seen _s = seen_of(self->p, _name);				\
	EXPECT_EQ(_nr, _s.here)							\
		TH_LOG("%s:%s", _name, _s.path);				\
} while (0)

TEST_F(custom, what_is_there_and_not_what_was)
{
	const struct gprof_value_type *types;
	unsigned long i;

	for (i = 0; i < 1000; i++)
		ASSERT_EQ(0, add_here(self->c, key_of(i)));
	for (; i < 1500; i++)
		ASSERT_EQ(0, add_there(self->c, key_of(i)));
	TAKE();
	EXPECT_EQ(1, gprof_profile_types(self->p, &types));
	EXPECT_STREQS(NAME, types[0].type, "count", types[0].unit);
	EXPECT_EQ(1500, gprof_profile_total(self->p, 0));
	EXPECT_HERE("add_here", 1000);
	EXPECT_HERE("add_there", 500);
	for (i = 0; i < 1500; i += 3)
		ASSERT_EQ(0, gprof_custom_remove(self->c, key_of(i)));
	EXPECT_EQ(1000, gprof_custom_count(self->c));
	TAKE();
	EXPECT_EQ(1000, gprof_profile_total(self->p, 0));
	EXPECT_HERE("add_here", 666);
	EXPECT_HERE("add_there", 334);
	for (i = 0; i < 1500; i++)
		gprof_custom_remove(self->c, key_of(i));
	TAKE();
	EXPECT_ZEROS(gprof_profile_total(self->p, 0), gprof_custom_count(self->c));
}

TEST_F(custom, the_stack_begins_with_the_caller_and_leads_to_main)
{
	struct seen s;

	ASSERT_EQ(0, add_deep(self->c, key_of(1), 9, 0));
	TAKE();
	s = seen_of(self->p, "add_deep");
	TH_LOG("%s", s.path);
	EXPECT_EQS(10, s.of_name, 0, strncmp(s.path, " add_deep", 9));
	EXPECT_SAYS(s.path, " main");
	EXPECT_LACKS(s.path, "gprof_custom");
}

TEST_F(custom, callers_are_skipped)
{
	struct seen s;

	for (unsigned int skip = 1; skip < 10; skip++) {
		ASSERT_EQ(0, add_deep(self->c, key_of(1), 9, skip));
		TAKE();
		s = seen_of(self->p, "add_deep");
		EXPECT_EQ(10 - skip, s.of_name) TH_LOG("%s", s.path);
		ASSERT_EQ(0, gprof_custom_remove(self->c, key_of(1)));
	}
	/* all of it */
	ASSERT_EQ(0, add_deep(self->c, key_of(1), 9, 1000));
	ASSERT_EQ(0, add_deep(self->c, key_of(2), 9, UINT_MAX));
	TAKE();
	EXPECT_EQ(2, gprof_profile_total(self->p, 0));
	EXPECT_HERE("[no stack]", 2);
}

TEST_F(custom, a_stack_that_is_too_deep_is_cut_and_says_so)
{
	const char *text;
	bool told = false;
	struct seen s;

	ASSERT_EQ(0, add_deep(self->c, key_of(1), 500, 0));
	TAKE();
	s = seen_of(self->p, "add_deep");
	EXPECT_EQ(GPROF_CUSTOM_FRAMES_MAX, s.of_name);
	for (size_t i = 0; (text = gprof_profile_comment(self->p, i)); i++)
		told |= strstr(text, "1 stacks were cut") != NULL;
	EXPECT_TRUE(told);
}

TEST_F(custom, twice_is_EEXIST_and_what_is_not_there_ENOENT)
{
	ASSERT_EQ(0, add_here(self->c, key_of(1)));
	EXPECT_EQ(-EEXIST, add_there(self->c, key_of(1)));
	EXPECT_SAYS(gprof_error(), "already");
	EXPECT_EQ(1, gprof_custom_count(self->c));
	EXPECT_EQ(-ENOENT, gprof_custom_remove(self->c, key_of(2)));
	ASSERT_EQ(0, gprof_custom_remove(self->c, key_of(1)));
	EXPECT_EQ(-ENOENT, gprof_custom_remove(self->c, key_of(1)));
	/* any address is one */
	ASSERT_ZEROS(add_here(self->c, NULL), add_here(self->c, (void *)UINTPTR_MAX));
	EXPECT_EQS(-EEXIST, add_here(self->c, NULL), 2, gprof_custom_count(self->c));
}

TEST_F(custom, names_are_of_one_profile_each)
{
	static const char long_name[] =
		"0123456789012345678901234567890123456789012345678901234567890123456789012345678901";
	struct gprof_custom_config cfg = { .sz = sizeof(cfg), .name = NAME };
	struct gprof_custom *other;

	EXPECT_EQ(self->c, gprof_custom_lookup(NAME));
	EXPECT_ERRNO(EEXIST, gprof_custom_new(&cfg));
	EXPECT_ERRNO(ENOENT, gprof_custom_lookup("test.others"));
	other = make("example.com/\xc3\xa4 ..%/../things");
	ASSERT_NE(NULL, other);
	gprof_custom_free(other);
	EXPECT_ERRNO(EINVAL, make(""));
	EXPECT_ERRNO(EINVAL, make(NULL));
	EXPECT_ERRNO(EINVAL, make("two\nlines"));
	EXPECT_ERRNO(EINVAL, make(long_name));
	other = make(long_name + 1);
	EXPECT_EQ(NULL, other);
	other = make(long_name + 2);
	ASSERT_NE(NULL, other);
	gprof_custom_free(other);
}

TEST_F(custom, no_more_than_was_agreed_on)
{
	struct gprof_custom_config cfg = {
		.sz = sizeof(cfg), .name = "test.few", .added_max = 100, .stacks_max = 10,
	};
	struct gprof_custom *few = gprof_custom_new(&cfg);
	unsigned long i;

	ASSERT_NE(NULL, few);
	for (i = 0; i < 100; i++)
		ASSERT_EQ(0, add_here(few, key_of(i)));
	EXPECT_EQ(-ENOMEM, add_here(few, key_of(i)));
	EXPECT_SAYS(gprof_error(), "added_max");
	EXPECT_EQ(100, gprof_custom_count(few));
	for (i = 0; i < 100; i++)
		ASSERT_EQ(0, gprof_custom_remove(few, key_of(i)));
	for (i = 0; i < 10; i++)
		ASSERT_EQ(0, add_deep(few, key_of(i), i, 0));
	EXPECT_EQ(-ENOMEM, add_deep(few, key_of(i), i, 0));
	EXPECT_SAYS(gprof_error(), "stacks_max");
	/* what is free is used again, by any */
	for (i = 0; i < 1000; i++) {
		ASSERT_EQ(0, gprof_custom_remove(few, key_of(i)));
		ASSERT_EQ(0, add_deep(few, key_of(i + 10), (i + 10) % 50, 0));
	}
	EXPECT_EQ(10, gprof_custom_count(few));
	self->p = gprof_custom_profile(few);
	ASSERT_NE(NULL, self->p);
	EXPECT_EQ(10, gprof_profile_total(self->p, 0));
	gprof_custom_free(few);
	cfg.added_max = GPROF_CUSTOM_ADDED_MAX + 1UL;
	EXPECT_ERRNO(EINVAL, gprof_custom_new(&cfg));
	cfg.added_max = 0;
	cfg.stacks_max = SIZE_MAX;
	EXPECT_ERRNO(EINVAL, gprof_custom_new(&cfg));
}

/* A child closes all that is open, and opens others of the same numbers. */
TEST_F(custom, what_is_closed_is_told_and_no_other_file_is_taken_for_it)
{
	int i;
	pid_t pid = fork();

	if (!pid) {
		for (i = 3; i < 1024; i++)
			close(i);
		/* the library's are the first from 700 on */
		for (i = 700; i < 764; i++)
			if (dup2(open("/dev/null", O_RDWR | O_CLOEXEC), i) != i)
				_exit(1);
		if (add_here(self->c, key_of(1)) != -EBADF || !strstr(gprof_error(), "has closed"))
			_exit(2);
		_exit(gprof_custom_count(self->c) ? 3 : 0);
	}
	EXPECT_EQ(0, reap(pid));
}

/* ---- threads, fork ---- */

static void *read_own(void *arg)
{
	const bool *stop = arg;

	while (!__atomic_load_n(stop, __ATOMIC_RELAXED))
		gprof_profile_free(gprof_custom_read(getpid(), "test.brief"));
	return NULL;
}

/* By name, it is there or not; nobody has what is freed. */
TEST_F(custom, it_may_be_freed_while_it_is_read_by_name)
{
	bool stop = false;
	pthread_t t;

	ASSERT_EQ(0, pthread_create(&t, NULL, read_own, &stop));
	for (int i = 0; i < 300; i++) {
		struct gprof_custom *c = make("test.brief");

		ASSERT_NE(NULL, c);
		ASSERT_EQ(0, add_here(c, key_of(1)));
		gprof_custom_free(c);
	}
	__atomic_store_n(&stop, true, __ATOMIC_RELAXED);
	pthread_join(t, NULL);
}

#define THREADS	8
#define ROUNDS	3000

struct worker {
	struct gprof_custom *c;
	unsigned long first;
	unsigned int failed;
};

/* Adds and removes; one of four stays. */
static void *work(void *arg)
{
	struct worker *w = arg;
	unsigned long i;

	for (i = 0; i < ROUNDS; i++) {
		w->failed += add_deep(w->c, key_of(w->first + i), i % 16, 0) != 0;
		if (i % 4)
			w->failed += gprof_custom_remove(w->c, key_of(w->first + i)) != 0;
	}
	return NULL;
}

TEST_F(custom, threads_lose_nothing)
{
	struct worker w[THREADS];
	pthread_t t[THREADS];

	for (unsigned int i = 0; i < THREADS; i++) {
		w[i] = (struct worker){ self->c, i * 100000UL, 0 };
		ASSERT_EQ(0, pthread_create(&t[i], NULL, work, &w[i]));
	}
	for (unsigned int i = 0; i < THREADS; i++) {
		pthread_join(t[i], NULL);
		EXPECT_EQ(0, w[i].failed);
	}
	EXPECT_EQ(THREADS * ROUNDS / 4, gprof_custom_count(self->c));
	TAKE();
	EXPECT_EQ(THREADS * ROUNDS / 4, gprof_profile_total(self->p, 0));
	EXPECT_HERE("add_deep", THREADS * ROUNDS / 4);
}

static int ignore(void *ctx, const struct gprof_custom_info *info)
{
	*(unsigned int *)ctx += !!info;
	return 0;
}

TEST_F(custom, a_child_has_a_copy_that_no_reader_sees)
{
	unsigned int shown = 0;
	unsigned long i;
	int status;
	pid_t pid;

	for (i = 0; i < 10; i++)
		ASSERT_EQ(0, add_here(self->c, key_of(i)));
	pid = fork_bound();
	if (!pid) {
		struct gprof_profile *p;
		int bad = gprof_custom_count(self->c) != 10;

		for (i = 10; i < 15; i++)
			bad |= add_there(self->c, key_of(i)) != 0;
		bad |= gprof_custom_remove(self->c, key_of(0)) != 0;
		p = gprof_custom_profile(self->c);
		bad |= !p || gprof_profile_total(p, 0) != 14 || seen_of(p, "add_there").here != 5;
		bad |= gprof_custom_each(getpid(), ignore, &shown) || shown;
		exit(bad);
	}
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_EQS(0, status, 10, gprof_custom_count(self->c));
	TAKE();
	EXPECT_EQ(10, gprof_profile_total(self->p, 0));
	/* the child's exit has not taken away what the parent publishes */
	EXPECT_EQS(0, gprof_custom_each(getpid(), ignore, &shown), 1, shown);
}

/* This process has not opened it. */
TEST(without_the_device_there_is_a_sentence)
{
	struct stat st;
	int status;
	pid_t pid;

	SKIP_UNLESS(!geteuid(), "must be root to become another");
	ASSERT_ZEROS(stat(GPROF_DEVICE, &st), chmod(GPROF_DEVICE, 0600));
	pid = fork_bound();
	if (!pid) {
		if (become(1000))
			_exit(2);
		_exit(make(NAME) || errno != EACCES || !strstr(gprof_error(), GPROF_DEVICE));
	}
	waitpid(pid, &status, 0);
	EXPECT_ZEROS(chmod(GPROF_DEVICE, st.st_mode & 07777), status);
}

TEST_HARNESS_MAIN
