// SPDX-License-Identifier: GPL-2.0-only
/* Labels of threads: which there were when, and in samples. */
#include "harness.h"
#include <gprof/labels.h>
#include <malloc.h>

#include "record/builder.h"
#include "profile/labels.h"
#include "lib_util.h"

static int take(void *ctx, const char *text)
{
	char *to = ctx;

	for (; *text; text++)
		*to++ = *text == GPROF_LABELS_SEP ? '=' : *text == GPROF_LABELS_END ? ';' : *text;
	*to = '\0';
	return 0;
}

/* "key=text;..." of a thread, "" for none, "?" where it is forgotten. */
static const char *at_of(pid_t tid, uint64_t time)
{
	static _Thread_local char text[4096];
	int ret;

	text[0] = '\0';
	ret = gprof_labels_at(tid, time, take, text);
	return ret == -ENODATA ? "?" : ret ? "an error" : text;
}

static pid_t self_tid(void)
{
	return (pid_t)syscall(SYS_gettid);
}

static const char *at(uint64_t time)
{
	return at_of(self_tid(), time);
}

static int push(const char *key, const char *text)
{
	const struct gprof_tag tag = { .key = key, .text = text };

	return gprof_labels_push(&tag, 1);
}

/* A time at which nothing changes. */
static uint64_t moment(void)
{
	uint64_t now, begin = gprof_labels_now();

	while ((now = gprof_labels_now()) == begin)
		;
	begin = now;
	while (gprof_labels_now() == begin)
		;
	return now;
}

FIXTURE(labels) {
	struct gprof_labels_reader r;
};

FIXTURE_SETUP(labels)
{
	memset(&self->r, 0, sizeof(self->r));
	gprof_labels_begin(&self->r);
}

FIXTURE_TEARDOWN(labels)
{
	gprof_labels_end(&self->r);
}

TEST_F(labels, nest_and_are_restored)
{
	const struct gprof_tag two[] = { { .key = "z", .text = "1" }, { .key = "a", .text = "2" } };
	uint64_t t[8];

	gprof_labels_pop();
	EXPECT_FALSE(gprof_labels_used());
	t[0] = moment();
	EXPECT_EQ(0, gprof_labels_push(two, 2));
	EXPECT_TRUE(gprof_labels_used());
	t[1] = moment();
	EXPECT_EQ(0, push("z", "inner"));
	t[2] = moment();
	EXPECT_EQ(0, push("m", "x\1y\2"));
	t[3] = moment();
	gprof_labels_pop();
	t[4] = moment();
	gprof_labels_pop();
	t[5] = moment();
	gprof_labels_pop();
	t[6] = moment();
	gprof_labels_pop();
	EXPECT_STREQS("", at(t[0]), "a=2;z=1;", at(t[1]), "a=2;z=inner;", at(t[2]),
		      "a=2;m=x?y?;z=inner;", at(t[3]), "a=2;z=inner;", at(t[4]),
		      "a=2;z=1;", at(t[5]), "", at(t[6]), "", at_of(1, t[1]));
}

TEST_F(labels, a_push_that_fails_is_taken_back_as_well)
{
	static const char *const taken[] = {
		"pid", "tid", "cpu", "comm", "addr", "cgroup", "process.executable.name",
	};
	const struct gprof_tag number = { .key = "n", .num = 5 };
	char key[16];

	for (size_t i = 0; i < sizeof(taken) / sizeof(taken[0]); i++) {
		EXPECT_EQ(-EINVAL, push(taken[i], "1")) TH_LOG("%s", taken[i]);
		gprof_labels_pop();
	}
	EXPECT_EQS(-EINVAL, gprof_labels_push(&number, 1), 0, push("a", "1"),
		   -EINVAL, push("pid", "1"));
	EXPECT_SAYS(gprof_error(), "another key");
	EXPECT_EQ(-EINVAL, push("", "1"));
	EXPECT_STREQ("a=1;", at(moment()));
	gprof_labels_pop();
	gprof_labels_pop();
	EXPECT_STREQ("a=1;", at(moment()));
	gprof_labels_pop();
	EXPECT_STREQ("", at(moment()));
	EXPECT_EQ(0, push("b", "1"));
	gprof_labels_pop();
	gprof_labels_pop();
	EXPECT_STREQ("", at(moment()));

	for (int i = 0; i < GPROF_LABELS_MAX; i++) {
		snprintf(key, sizeof(key), "k%d", i);
		EXPECT_EQ(0, push(key, "v"));
	}
	EXPECT_EQS(0, push("k7", "again"), -E2BIG, push("more", "v"));
	for (int i = 0; i < GPROF_LABELS_MAX + 2; i++)
		gprof_labels_pop();
	EXPECT_STREQ("", at(moment()));
}

struct thread {
	pid_t tid;
	uint64_t during;
};

static void *thread_with_labels(void *arg)
{
	struct thread *t = arg;

	t->tid = self_tid();
	push("thread", "other");
	t->during = moment();
	return NULL;
}

TEST_F(labels, are_of_one_thread_and_end_with_it)
{
	struct thread t;
	pthread_t thread;
	uint64_t after;

	EXPECT_EQ(0, push("thread", "main"));
	ASSERT_EQ(0, pthread_create(&thread, NULL, thread_with_labels, &t));
	pthread_join(thread, NULL);
	after = moment();
	EXPECT_STREQS("thread=main;", at(t.during), "thread=other;", at_of(t.tid, t.during),
		      "", at_of(t.tid, after));
	/* who reads no longer asks for that: the thread's are freed with the last reader */
	gprof_labels_end(&self->r);
	EXPECT_STREQS("", at_of(t.tid, t.during), "thread=main;", at(moment()));
}

TEST_F(labels, a_child_goes_on_with_those_of_its_thread)
{
	struct thread t;
	pthread_t thread;
	pid_t pid;

	ASSERT_EQ(0, pthread_create(&thread, NULL, thread_with_labels, &t));
	pthread_join(thread, NULL);
	EXPECT_EQ(0, push("a", "1"));
	pid = fork();
	if (!pid) {
		struct gprof_labels_reader r = { 0 };
		bool bad = strcmp(at(moment()), "a=1;") || *at_of(t.tid, t.during) ||
			  *at_of(getppid(), moment());

		gprof_labels_begin(&r);
		bad |= push("b", "2") || strcmp(at(moment()), "a=1;b=2;");
		gprof_labels_pop();
		gprof_labels_pop();
		bad |= *at(moment());
		gprof_labels_end(&r);
		_exit(bad);
	}
	EXPECT_EQ(0, reap(pid));
	EXPECT_STREQ("a=1;", at(moment()));
}

TEST_F(labels, only_what_is_asked_for_is_kept)
{
	size_t before, i;
	uint64_t first, middle = 0;

	EXPECT_EQ(0, push("outer", "1"));
	first = moment();
	for (i = 0; i < 300000; i++) {
		ASSERT_EQ(0, push("i", "x"));
		if (i == 250000)
			middle = gprof_labels_now();
		gprof_labels_pop();
	}
	/* so many changes are not kept, and it is said that they are not */
	EXPECT_STREQS("?", at(first), "i=x;outer=1;", at(middle));
	before = mallinfo2().uordblks;
	gprof_labels_read(&self->r, gprof_labels_now());
	for (i = 0; i < 300000; i++) {
		ASSERT_EQ(0, push("i", "x"));
		gprof_labels_pop();
		if (!(i % 100))
			gprof_labels_read(&self->r, gprof_labels_now());
	}
	EXPECT_GT(before + 10000, mallinfo2().uordblks);
	EXPECT_STREQ("outer=1;", at(moment()));
	gprof_labels_end(&self->r);
	EXPECT_EQ(0, push("i", "y"));
	EXPECT_STREQ("i=y;outer=1;", at(moment()));
}

/* ---- in samples ---- */

static void feed_task(struct gprof_decoder *d, uint32_t pid, uint64_t start_ns)
{
	struct gprof_task_rec t = {
		.rec = { GPROF_REC_TASK, 0, sizeof(t) }, .process = { pid, 1, start_ns },
		.tid = (uint32_t)self_tid(), .comm = "labelled",
	};

	gprof_decoder_feed(d, &t.rec, sizeof(t));
}

static void feed_sample(struct gprof_decoder *d, uint64_t time)
{
	struct gprof_sample_rec s = {
		.rec = { GPROF_REC_SAMPLE, 0, sizeof(s) },
		.tid = (uint32_t)self_tid(), .stack = 5, .time = time,
	};

	if (!gprof_decoder_feed_again(d, &s, sizeof(s)))
		gprof_decoder_feed(d, &s.rec, sizeof(s));
}

struct sums {
	struct gprof_profile *p;
	int64_t with[3];
	int64_t without;
};

static int add_up(void *ctx, const struct gprof_frame *frames, size_t nr, const int64_t *values)
{
	struct sums *s = ctx;
	const char *text = gprof_profile_label(s->p, "step", NULL);

	if (text)
		s->with[text[0] - '0'] += values[0];
	else
		s->without += values[0];
	return 0;
}

TEST_F(labels, of_a_time_are_those_of_its_samples)
{
	const struct gprof_columns columns = {
		.count_type = "samples", .weight_type = "cpu", .weight_unit = "nanoseconds", .period = 1,
	};
	struct gprof_generation_rec g = { .rec = { GPROF_REC_GENERATION, 0, sizeof(g) },
					  .weight = 1 };
	struct { struct gprof_stack_rec s; uint64_t frame; } stack = {
		.s = { .rec = { GPROF_REC_STACK, 0, sizeof(stack) }, .id = 5, .nr_user = 1 },
		.frame = 0x1000,
	};
	uint64_t own = lib_start_ns(getpid()), t[3];

	t[0] = moment();
	push("step", "1");
	t[1] = moment();
	push("step", "2");
	t[2] = moment();
	/* ourselves; a process that has our pid in another namespace; another pid */
	for (int whose = 0; whose < 3; whose++) {
		struct sums s = { 0 };
		struct gprof_builder b;
		struct gprof_decoder d;

		ASSERT_EQ(0, gprof_builder_init(&b));
		gprof_decoder_init(&d, &gprof_builder_ops, &b);
		gprof_decoder_feed(&d, &g.rec, sizeof(g));
		feed_task(&d, (uint32_t)getpid() + (whose == 2), own + (whose == 1) * 1000000000);
		gprof_decoder_feed(&d, &stack.s.rec, sizeof(stack));
		for (int i = 0; i < 12; i++)
			feed_sample(&d, t[i % 3]);
		ASSERT_ZEROS(gprof_builder_profile(&b, &columns, &s.p), gprof_profile_finish(s.p));
		EXPECT_EQS(0, gprof_profile_each(s.p, add_up, &s), whose ? 12 : 4, s.without,
			   whose ? 0 : 4, s.with[1], whose ? 0 : 4, s.with[2]);
		gprof_profile_free(s.p);
		gprof_decoder_free(&d);
		gprof_builder_free(&b);
	}
}

TEST_HARNESS_MAIN
