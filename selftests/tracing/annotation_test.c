// SPDX-License-Identifier: GPL-2.0-only
/* annotation_test: what programs tell by GPROF_IOC_ANNOTATE, and who may know of it. */
#include "harness.h"
#include "device.h"
#include "trace_words.h"
#include "workload.h"

#define USER		1000
#define PAGE		((size_t)sysconf(_SC_PAGESIZE))
#define HELD_MAX	1000	/* more than a buffer of 32 KiB holds */
#define FLOOD_NS	2000000000ULL
#define FLOOD_GENERATION_NS	100000000ULL
#define FLOOD_REC	512	/* bytes of a record of the flood */

FIXTURE(annotation) {
	struct gprof_trace_params params;
	struct gprof_setup setup;
	struct device dev;
	struct trace_words words;
	int fd;
	const uint32_t *wanted;
};

FIXTURE_SETUP(annotation)
{
	SKIP_ALL_UNLESS(device_has(GPROF_FEAT_ANNOTATIONS), "the module takes no annotations");
	self->params = (struct gprof_trace_params){
		.size = sizeof(self->params), .flags = GPROF_TRACE_F_ANNOTATIONS,
	};
	self->setup = device_setup_kind(GPROF_KIND_TRACE, GPROF_TARGET_PROCESS, getpid(),
					&self->params);
	self->setup.buffer_size = 65536;
	self->fd = device_open();
	ASSERT_LE(0, self->fd);
	self->wanted = mmap(NULL, PAGE, PROT_READ, MAP_SHARED, self->fd, GPROF_MMAP_ANNOTATED);
	ASSERT_NE(MAP_FAILED, (void *)self->wanted);
	ASSERT_EQ(0, *self->wanted);
}

FIXTURE_TEARDOWN(annotation)
{
	trace_words_free(&self->words);
	device_close(&self->dev);
	close(self->fd);
}

static void begin(struct __test_metadata *_metadata, FIXTURE_DATA(annotation) *self)
{
	ASSERT_EQ(0, device_record(&self->dev, &self->setup))
		TH_LOG("reason %u", self->setup.out_reason);
	ASSERT_EQ(0, trace_words_init(&self->words, &self->dev));
}

static void end(struct __test_metadata *_metadata, FIXTURE_DATA(annotation) *self)
{
	struct gprof_stats st = { 0 };

	TRACE_WORDS_END(&self->words, &self->dev, &st);
	TH_LOG("produced=%llu lost=%llu annotations=%zu", ull(st.out_produced),
	       ull(device_lost(&st)), self->words.nr_annotations);
}

#define BEGIN()	begin(_metadata, self)
#define END()	end(_metadata, self)

static struct gprof_annotate log_of(const char *name, const char *text)
{
	return (struct gprof_annotate){
		.size = sizeof(struct gprof_annotate), .what = GPROF_ANNOTATE_LOG,
		.name = (uintptr_t)name, .text = (uintptr_t)text, .name_size = strlen(name),
		.text_size = strlen(text),
	};
}

static int tell(int fd, const char *name)
{
	struct gprof_annotate a = log_of(name, "");
	int err = device_ioctl(fd, GPROF_IOC_ANNOTATE, &a);

	return err ? err : (int)a.out_recorders;
}

/* How many logs of that name there are. */
static size_t told(const struct trace_words *t, const char *name)
{
	size_t i, n = 0;

	for (i = 0; i < t->nr_annotations; i++) {
		const struct gprof_annotation_rec *rec = t->annotations[i].rec;

		n += rec->name_size == strlen(name) && !memcmp(rec->text, name, strlen(name));
	}
	return n;
}

TEST_F(annotation, it_is_as_it_was_told)
{
	struct gprof_annotate a = {
		.size = sizeof(a), .what = GPROF_ANNOTATE_TASK_BEGIN, .task = ~0ULL,
		.parent = 7, .name = (uintptr_t)"name", .name_size = 4,
	};
	const struct gprof_annotation_rec *rec;
	uint64_t before, after;

	BEGIN();
	before = monotonic_ns();
	ASSERT_EQ(0, device_ioctl(self->fd, GPROF_IOC_ANNOTATE, &a));
	EXPECT_EQ(1, a.out_recorders);
	a = log_of("category", "a\0b");
	a.text_size = 3;
	a.task = 5;
	ASSERT_EQ(0, device_ioctl(self->fd, GPROF_IOC_ANNOTATE, &a));
	after = monotonic_ns();
	/* By a recorder's own file as well. */
	ASSERT_EQ(1, tell(self->dev.fd, "once more"));
	END();
	ASSERT_EQ(3, self->words.nr_annotations);
	rec = self->words.annotations[0].rec;
	EXPECT_EQS(GPROF_ANNOTATE_TASK_BEGIN, rec->rec.flags, ~0ULL, rec->task, 7, rec->parent,
		   gettid(), rec->tid, getpid(), rec->process.pid);
	EXPECT_WITHIN(before, rec->time, after);
	EXPECT_EQS(4, rec->name_size, 0, rec->text_size, 0, memcmp(rec->text, "name", 4));
	rec = self->words.annotations[1].rec;
	EXPECT_EQS(5, rec->task, 0, memcmp(rec->text, "categorya\0b", 11));
}

TEST_F(annotation, nonsense_is_refused)
{
	static char long_name[GPROF_ANNOTATE_TEXT_MAX + 1];
	struct gprof_annotate good = log_of("name", "text"), a;
	const struct { struct gprof_annotate a; int err; uint32_t reason; } bad[] = {
		{ { .what = 0 }, -EOPNOTSUPP, GPROF_REASON_FLAGS },
		{ { .what = __GPROF_ANNOTATE_WHATS }, -EOPNOTSUPP, GPROF_REASON_FLAGS },
		{ { .what = GPROF_ANNOTATE_TASK_BEGIN }, -EINVAL, GPROF_REASON_PARAMS },
		{ { .what = GPROF_ANNOTATE_TASK_END }, -EINVAL, GPROF_REASON_PARAMS },
		{ { .what = GPROF_ANNOTATE_LOG, .parent = 1 }, -EINVAL, GPROF_REASON_PARAMS },
		{ { .what = GPROF_ANNOTATE_TASK_END, .task = 1, .name = (uintptr_t)long_name },
		  -EINVAL, GPROF_REASON_PARAMS },
		{ { .what = GPROF_ANNOTATE_REGION_END, .text = (uintptr_t)long_name,
		    .text_size = 1 }, -EINVAL, GPROF_REASON_PARAMS },
		{ { .what = GPROF_ANNOTATE_LOG, .name = (uintptr_t)long_name,
		    .name_size = GPROF_ANNOTATE_NAME_MAX + 1 }, -EINVAL, GPROF_REASON_PARAMS },
		{ { .what = GPROF_ANNOTATE_LOG, .text = (uintptr_t)long_name,
		    .text_size = GPROF_ANNOTATE_TEXT_MAX + 1 }, -EINVAL, GPROF_REASON_PARAMS },
		{ { .what = GPROF_ANNOTATE_LOG, .name = 8, .name_size = 1 }, -EFAULT,
		  GPROF_REASON_NONE },
		{ { .what = GPROF_ANNOTATE_LOG, .text = ~0ULL - 4, .text_size = 4 }, -EFAULT,
		  GPROF_REASON_NONE },
	};

	BEGIN();
	for (unsigned int i = 0; i < ARRAY_SIZE(bad); i++) {
		a = bad[i].a;
		a.size = sizeof(a);
		EXPECT_EQ(bad[i].err, device_ioctl(self->fd, GPROF_IOC_ANNOTATE, &a))
			TH_LOG("case %u", i);
		EXPECT_EQS(bad[i].reason, a.out_reason, 0, a.out_recorders);
	}
	EXPECT_EQ(0, device_ioctl(self->fd, GPROF_IOC_ANNOTATE, &good));
	END();
	EXPECT_EQ(1, self->words.nr_annotations);
}

TEST_F(annotation, the_page_says_whether_a_trace_listens)
{
	EXPECT_EQ(0, tell(self->fd, "nobody"));
	BEGIN();
	EXPECT_NE(0, *self->wanted);
	EXPECT_EQS(1, tell(self->fd, "one"), 0, device_stop(&self->dev), 0, *self->wanted,
		   0, tell(self->fd, "after"), 0, device_start(&self->dev));
	EXPECT_NE(0, *self->wanted);
	trace_words_free(&self->words);
	device_close(&self->dev);
	EXPECT_EQ(0, *self->wanted);
	/* One that does not want them is no matter. */
	self->params.flags = 0;
	BEGIN();
	EXPECT_ZEROS(*self->wanted, tell(self->fd, "unasked"));
	END();
	EXPECT_EQ(0, self->words.nr_annotations);
}

TEST_F(annotation, the_page_can_be_read_and_no_more)
{
	const off_t at = GPROF_MMAP_ANNOTATED;
	char byte;

	EXPECT_EQS(MAP_FAILED, mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, self->fd, at),
		   EPERM, errno,
		   MAP_FAILED, mmap(NULL, PAGE, PROT_READ | PROT_EXEC, MAP_SHARED, self->fd, at),
		   EPERM, errno, MAP_FAILED, mmap(NULL, PAGE, PROT_READ, MAP_PRIVATE, self->fd, at),
		   EINVAL, errno,
		   MAP_FAILED, mmap(NULL, 2 * PAGE, PROT_READ, MAP_SHARED, self->fd, at),
		   EINVAL, errno, -1, mprotect((void *)self->wanted, PAGE, PROT_READ | PROT_WRITE),
		   EACCES, errno);
	/* The rest of it tells nothing. */
	for (size_t i = 4; i < PAGE; i++) {
		byte = ((const char *)self->wanted)[i];
		ASSERT_EQ(0, byte);
	}
	/* It outlives the descriptor. */
	close(self->fd);
	EXPECT_EQ(0, *self->wanted);
	self->fd = device_open();
	BEGIN();
	EXPECT_NE(0, *self->wanted);
}

TEST_F(annotation, a_child_goes_on)
{
	BEGIN();
	EXPECT_EQS(0, IN_CHILD(!*self->wanted || tell(self->fd, "child") != 1),
		   1, tell(self->fd, "parent"));
	END();
	EXPECT_EQS(1, told(&self->words, "child"), 1, told(&self->words, "parent"));
	EXPECT_NE(self->words.annotations[0].rec->tid, self->words.annotations[1].rec->tid);
}

/* Of another process, while this one is recorded. */
TEST_F(annotation, tasks_outside_the_target_are_not_told)
{
	pid_t child = fork();

	if (!child) {
		while (!*self->wanted)
			usleep(1000);
		_exit(tell(self->fd, "stranger"));
	}
	BEGIN();
	EXPECT_EQ(0, reap(child));
	END();
	EXPECT_EQ(0, self->words.nr_annotations);
}

struct step {
	int fd;
	const uint32_t *wanted;
};

/* Of a user, whose page is theirs. */
static void as_user(void *arg, int step)
{
	static struct gprof_trace_params params;
	static struct gprof_setup setup;
	static struct device dev = { 0 };
	struct step *s = arg;
	int ok = 1;

	switch (step) {
	case 0:
		ok = !become(USER);
		s->fd = device_open();
		s->wanted = mmap(NULL, PAGE, PROT_READ, MAP_SHARED, s->fd, GPROF_MMAP_ANNOTATED);
		ok = ok && s->wanted != MAP_FAILED && !*s->wanted;
		break;
	case 1:	/* root records itself, with CAP_PERFMON */
		ok = *s->wanted && !tell(s->fd, "a user's");
		break;
	case 2:	/* and has stopped; the user records itself */
		params = (struct gprof_trace_params){
			.size = sizeof(params), .flags = GPROF_TRACE_F_ANNOTATIONS,
		};
		setup = device_setup_kind(GPROF_KIND_TRACE, GPROF_TARGET_PROCESS, getpid(),
					  &params);
		setup.buffer_size = 65536;
		ok = !*s->wanted && !device_record(&dev, &setup) && *s->wanted &&
		     tell(s->fd, "own") == 1;
		break;
	}
	if (!ok)
		_exit(1 + step);
}

TEST_F(annotation, no_user_has_others_make_calls)
{
	struct step step = { .fd = -1 };
	struct child child = { 0 };

	SKIP_UNLESS(!geteuid(), "must be root to become another");
	ASSERT_ZEROS(chmod(GPROF_DEVICE, 0666), child_fork(&child, as_user, &step));
	EXPECT_EQ(0, child_step(&child));
	BEGIN();
	EXPECT_EQ(0, child_step(&child));
	END();
	EXPECT_ZEROS(self->words.nr_annotations, *self->wanted, child_step(&child));
	/* The user records, which root's page does not tell. */
	EXPECT_ZEROS(*self->wanted, tell(self->fd, "root's"));
	EXPECT_EQ(SIGKILL, WTERMSIG(child_end(&child)));
}

/* Who annotates much leaves half of the ring to what else happens. */
TEST_F(annotation, a_full_ring_has_room_for_others)
{
	struct gprof_annotate a = log_of("flood", "so many words that say nothing at all");
	struct gprof_stats st = { 0 };

	ASSERT_LE(0, pin_to(online_cpu(0)));
	self->setup.buffer_size = 32768;
	BEGIN();
	for (unsigned int i = 0; i < HELD_MAX; i++)
		ASSERT_EQ(0, device_ioctl(self->fd, GPROF_IOC_ANNOTATE, &a));
	EXPECT_EQ(1, a.out_recorders);
	ASSERT_EQ(0, device_stats(&self->dev, GPROF_STATS_ALL_CPUS, &st));
	EXPECT_LT(0, st.out_lost[GPROF_LOST_FULL]);
	for (unsigned int i = 0; i < 10; i++)
		sleep_ms(1);
	END();
	EXPECT_LE(10, trace_words_count(&self->words, GPROF_TRACE_SWITCH, gettid()));
	EXPECT_WITHIN(32768 / 2 / 200 + 1, self->words.nr_annotations, HELD_MAX - 1);
	ASSERT_EQ(0, device_stats(&self->dev, GPROF_STATS_ALL_CPUS, &st));
	EXPECT_EQ(HELD_MAX, self->words.nr_annotations + st.out_lost[GPROF_LOST_FULL]);
}

TEST_F(annotation, a_flight_ring_keeps_the_last)
{
	unsigned int i, nr;

	ASSERT_LE(0, pin_to(online_cpu(0)));
	self->setup.buffer_size = 32768;
	self->setup.flags = GPROF_SETUP_F_FLIGHT;
	self->setup.generation_ns = FLOOD_GENERATION_NS;
	BEGIN();
	/* Where pages are larger, so is the least of buffers. */
	nr = HELD_MAX * (self->dev.data_size / 32768);
	for (i = 0; i < nr; i++)
		ASSERT_EQ(1, tell(self->fd, "many"));
	/* The next generation has room again. */
	sleep_ms(2 * FLOOD_GENERATION_NS / 1000000);
	ASSERT_EQ(1, tell(self->fd, "last"));
	END();
	EXPECT_EQ(1, told(&self->words, "last"));
	EXPECT_WITHIN(1, told(&self->words, "many"), nr - 1);
}

struct flood {
	int fd;
	bool names;
};

/* A user that says as much as it can, by annotations or by new names of its task. */
static void flood(void *arg, int step)
{
	static const char text[FLOOD_REC - sizeof(struct gprof_annotation_rec) - 8];
	struct gprof_annotate a = log_of("flooding", "");
	uint64_t end = monotonic_ns() + FLOOD_NS;
	struct flood *f = arg;

	if (!step) {
		if (become(USER))
			_exit(1);
		f->fd = device_open();
		return;
	}
	a.text = (uintptr_t)text;
	a.text_size = sizeof(text);
	for (unsigned int i = 0; monotonic_ns() < end; i++) {
		int err = f->names ? prctl(PR_SET_NAME, i % 2 ? "flood-1" : "flood-0") :
				     device_ioctl(f->fd, GPROF_IOC_ANNOTATE, &a);

		if (err || (!f->names && a.out_recorders != 1))
			_exit(2);
	}
}

/* What CPU @cpu's ring tells first. */
static uint64_t reaches_back_to(const struct trace_words *t, unsigned int cpu)
{
	for (size_t i = 0; i < t->nr; i++)
		if (t->words[i].cpu == cpu)
			return t->words[i].time;
	return UINT64_MAX;
}

static size_t names_of_flood(const struct trace_words *t)
{
	size_t i, n = 0;

	for (i = 0; i < t->nr_names; i++)
		n += !strncmp(t->names[i].rec.comm, "flood-", 6);
	return n;
}

/*
 * Root records the host, on whose CPU a user floods. What was before that is still there, and
 * of each generation the user has an eighth at most.
 */
static void outlasts_a_flood(struct __test_metadata *_metadata, FIXTURE_DATA(annotation) *self,
			     bool names)
{
	struct flood arg = { .names = names };
	struct gprof_stats st = { 0 };
	struct child child = { 0 };
	uint64_t began, generations, share;
	unsigned int cpu = online_cpu(0);
	size_t said;

	SKIP_UNLESS(!geteuid(), "must be root to become another");
	ASSERT_EQ(0, chmod(GPROF_DEVICE, 0666));
	ASSERT_LE(0, pin_to(cpu));
	ASSERT_ZEROS(child_fork(&child, flood, &arg), child_step(&child));
	self->setup.target = GPROF_TARGET_SYSTEM;
	self->setup.id = 0;
	self->setup.flags = GPROF_SETUP_F_FLIGHT;
	self->setup.generation_ns = FLOOD_GENERATION_NS;
	BEGIN();
	sleep_ms(100);
	began = monotonic_ns();
	ASSERT_EQ(0, child_begin(&child));
	while (monotonic_ns() < began + FLOOD_NS)
		sleep_ms(10);
	EXPECT_EQ(0, child_wait(&child));
	generations = (monotonic_ns() - began) / FLOOD_GENERATION_NS + 2;
	END();
	EXPECT_GT(began, reaches_back_to(&self->words, cpu))
		TH_LOG("it reaches back %lld ms of the flood's",
		       (long long)(began + FLOOD_NS - reaches_back_to(&self->words, cpu)) /
		       1000000);
	ASSERT_EQ(0, device_stats(&self->dev, GPROF_STATS_ALL_CPUS, &st));
	EXPECT_LT(1000, st.out_lost[GPROF_LOST_QUOTA]);
	said = names ? names_of_flood(&self->words) : told(&self->words, "flooding");
	share = self->dev.data_size / 64 / (names ? sizeof(struct gprof_task_rec) : FLOOD_REC);
	TH_LOG("%zu said in %llu generations, %llu lost", said, ull(generations),
	       ull(st.out_lost[GPROF_LOST_QUOTA]));
	/* Each generation has the name of the task that it finds once more. */
	EXPECT_WITHIN(share * (generations / 2), said, (share + names) * generations);
	EXPECT_EQ(SIGKILL, WTERMSIG(child_end(&child)));
}

TEST_F(annotation, a_user_does_not_wipe_a_flight_ring)
{
	outlasts_a_flood(_metadata, self, false);
}

TEST_F(annotation, nor_by_new_names)
{
	outlasts_a_flood(_metadata, self, true);
}

static int storm_fd;
static bool storm_ends;

static void *storms(void *arg)
{
	uint64_t *times = arg;

	while (!__atomic_load_n(&storm_ends, __ATOMIC_RELAXED)) {
		tell(storm_fd, "storm");
		++*times;
	}
	return NULL;
}

/* Starts and stops under load; nothing is told to one that has stopped. */
TEST_F(annotation, recorders_come_and_go_meanwhile)
{
	uint64_t times[2] = { 0 };
	pthread_t threads[2];

	storm_fd = self->fd;
	for (unsigned int i = 0; i < 2; i++)
		ASSERT_EQ(0, pthread_create(&threads[i], NULL, storms, &times[i]));
	for (unsigned int i = 0; i < 20; i++) {
		BEGIN();
		sleep_ms(2);
		END();
		trace_words_free(&self->words);
		device_close(&self->dev);
		self->words = (struct trace_words){ 0 };
	}
	__atomic_store_n(&storm_ends, true, __ATOMIC_RELAXED);
	for (unsigned int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	EXPECT_LT(20, times[0] + times[1]);
	EXPECT_EQ(0, *self->wanted);
}

TEST_HARNESS_MAIN
