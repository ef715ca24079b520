// SPDX-License-Identifier: GPL-2.0-only
/*
 * user_probe_test: what programs allocate themselves, by probes of the functions that they
 * call for it.
 *
 * The test records itself, which is static, so that the functions are in its own file; sizes
 * are such as nobody else asks for.
 */
#include <linux/perf_event.h>
#include <malloc.h>
#include <stdatomic.h>
#include "harness.h"
#include "probed.h"
#include "workload.h"

#define ROWS		8
#define SIZE		12345

FIXTURE(user_probe) {
	struct probed p;
	struct gprof_alloc_function rows[GPROF_ALLOC_FUNCTIONS_MAX + 1];
};

static void *volatile kept;	/* nothing is left out by the compiler */

FIXTURE_SETUP(user_probe)
{
	const struct { const void *at; uint32_t role; } functions[ROWS] = {
		{ malloc, GPROF_ALLOC_FN_MALLOC }, { calloc, GPROF_ALLOC_FN_CALLOC },
		{ realloc, GPROF_ALLOC_FN_REALLOC }, { reallocarray, GPROF_ALLOC_FN_REALLOCARRAY },
		{ aligned_alloc, GPROF_ALLOC_FN_ALIGNED },
		{ posix_memalign, GPROF_ALLOC_FN_POSIX_MEMALIGN }, { free, GPROF_ALLOC_FN_FREE },
		{ valloc, GPROF_ALLOC_FN_MALLOC },
	};

	ASSERT_EQ(0, probed_init(&self->p));
	for (int i = 0; i < ROWS; i++) {
		self->rows[i] = (struct gprof_alloc_function){
			.fd = self->p.exe, .role = functions[i].role,
			.offset = probed_offset_of(functions[i].at),
		};
		ASSERT_NE(0, self->rows[i].offset);
	}
	self->p.params.functions = (uintptr_t)self->rows;
	self->p.params.nr_functions = ROWS;
	SKIP_ALL_UNLESS(device_has(GPROF_FEAT_ALLOC_PROBES), "programs cannot be probed here");
}

FIXTURE_TEARDOWN(user_probe)
{
	probed_free(&self->p);
}

static void start(struct __test_metadata *_metadata, FIXTURE_DATA(user_probe) *self)
{
	ASSERT_EQ(0, probed_prepare(&self->p)) TH_LOG("reason %u", self->p.setup.out_reason);
	ASSERT_EQ(0, probed_start(&self->p));
}

static void finish(struct __test_metadata *_metadata, FIXTURE_DATA(user_probe) *self)
{
	ASSERT_EQ(0, probed_stop(&self->p));
	EXPECT_STREQ("", self->p.reader.error);
	EXPECT_EQ(0, device_lost(&self->p.st));
	EXPECT_EQ(self->p.st.out_produced, self->p.reader.samples + device_lost(&self->p.st));
}

static void expect(struct __test_metadata *_metadata, const FIXTURE_DATA(user_probe) *self,
		   pid_t tid, uint64_t value, uint64_t nr, uint64_t live)
{
	struct probed_sum s = probed_sum_of(&self->p, tid, value);

	EXPECT_EQ(nr, s.nr) TH_LOG("of %llu bytes", ull(value));
	EXPECT_EQ(nr, s.weight);
	EXPECT_EQ(live, s.live) TH_LOG("of %llu bytes", ull(value));
	EXPECT_EQ(0, s.without_user);
}

/* Of a process, by its memory. */
static bool is_clean(const FIXTURE_DATA(user_probe) *self, pid_t pid, const void *function)
{
	return probed_is_clean(pid, function, self->p.exe, probed_offset_of(function));
}

/* ---- what is told ---- */

TEST_F(user_probe, each_call_is_told_once_and_is_live_until_it_is_freed)
{
	void *p[100], *q;

	start(_metadata, self);
	for (int i = 0; i < 100; i++)
		p[i] = malloc(SIZE);
	for (int i = 0; i < 30; i++)
		free(p[i]);
	kept = calloc(7, 1111);
	ASSERT_EQ(0, posix_memalign(&q, 256, SIZE + 1));
	kept = q;
	kept = aligned_alloc(64, 64 * 203);
	free(kept);
	kept = valloc(SIZE + 2);
	kept = reallocarray(NULL, 3, 1237);
	finish(_metadata, self);
	expect(_metadata, self, gettid(), SIZE, 100, 70);
	expect(_metadata, self, gettid(), 7777, 1, 1);
	expect(_metadata, self, gettid(), SIZE + 1, 1, 1);
	expect(_metadata, self, gettid(), 64 * 203, 1, 0);
	expect(_metadata, self, gettid(), SIZE + 2, 1, 1);
	expect(_metadata, self, gettid(), 3 * 1237, 1, 1);
	EXPECT_EQS(0, self->p.head->full, 0, self->p.head->unseen);
}

TEST_F(user_probe, what_is_resized_is_freed_and_what_cannot_be_is_not)
{
	volatile size_t most = PTRDIFF_MAX;	/* the compiler warns of what it knows */
	void *p = NULL;

	start(_metadata, self);
	for (size_t n = 1001; n <= 100001; n += 1000)
		p = realloc(p, n);
	EXPECT_EQ(NULL, kept = realloc(p, most / 2));
	EXPECT_EQ(NULL, kept = malloc(most));
	EXPECT_EQ(NULL, kept = calloc(most, 5));
	finish(_metadata, self);
	for (size_t n = 1001; n < 100001; n += 1000)
		expect(_metadata, self, gettid(), n, 1, 0);
	expect(_metadata, self, gettid(), 100001, 1, 1);
	EXPECT_EQ(0, probed_sum_of(&self->p, 0, PTRDIFF_MAX / 2).nr);
	EXPECT_EQS(0, self->p.head->unseen, 0, self->p.head->full);
}

/* Only its return shows that it has failed; what it was to move is no longer followed. */
TEST_F(user_probe, what_could_have_been_resized_is_counted_where_it_is_not)
{
	volatile size_t much = (1UL << 47) + (1UL << 46);	/* more than an address space has */
	void *p;

	start(_metadata, self);
	p = malloc(SIZE);
	kept = realloc(p, much);
	EXPECT_EQ(NULL, kept);
	finish(_metadata, self);
	expect(_metadata, self, gettid(), SIZE, 1, 0);
	EXPECT_EQS(0, probed_sum_of(&self->p, 0, much).nr, 1, self->p.head->full);
}

TEST_F(user_probe, kind_alloc_tells_the_same_and_no_end)
{
	self->p.setup.kind = GPROF_KIND_ALLOC;
	start(_metadata, self);
	for (int i = 0; i < 50; i++) {
		kept = malloc(SIZE);
		free(kept);
	}
	EXPECT_TRUE(is_clean(self, getpid(), free));
	EXPECT_FALSE(is_clean(self, getpid(), malloc));
	finish(_metadata, self);
	expect(_metadata, self, gettid(), SIZE, 50, 0);
}

static __attribute__((noinline, noclone)) void *here(void)
{
	void *p = malloc(SIZE);

	kept = p;
	return p;
}

TEST_F(user_probe, stack_begins_in_the_call)
{
	start(_metadata, self);
	for (unsigned int i = 0; i < 5; i++)
		here();
	finish(_metadata, self);
	expect(_metadata, self, gettid(), SIZE, 5, 5);
	for (unsigned int i = 0; i < self->p.nr; i++) {
		if (self->p.told[i].value != SIZE)
			continue;
		EXPECT_WITHIN((uintptr_t)here + 1, self->p.told[i].leaf, (uintptr_t)here + 63);
	}
}

static void *allocate(void *arg)
{
	void *p[50];

	for (int round = 0; round < 20; round++) {
		for (int i = 0; i < 50; i++)
			p[i] = malloc(SIZE);
		for (int i = 0; i < 50; i++)
			free(p[i]);
	}
	return malloc(SIZE);
}

TEST_F(user_probe, threads_are_told_apart_and_free_what_is_anothers)
{
	pthread_t threads[4];
	void *left[4];

	start(_metadata, self);
	for (int i = 0; i < 4; i++)
		ASSERT_EQ(0, pthread_create(&threads[i], NULL, allocate, NULL));
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], &left[i]);
	for (int i = 0; i < 3; i++)
		free(left[i]);
	finish(_metadata, self);
	expect(_metadata, self, 0, SIZE, 4 * 1001, 1);
	EXPECT_EQ(0, self->p.head->unseen);
}

TEST_F(user_probe, thread_alone)
{
	pthread_t thread;

	self->p.setup.target = GPROF_TARGET_THREAD;
	self->p.setup.id = gettid();
	start(_metadata, self);
	ASSERT_EQ(0, pthread_create(&thread, NULL, allocate, NULL));
	pthread_join(thread, NULL);
	kept = malloc(SIZE + 1);
	finish(_metadata, self);
	expect(_metadata, self, gettid(), SIZE + 1, 1, 1);
	EXPECT_EQ(0, probed_sum_of(&self->p, 0, SIZE).nr);
}

TEST_F(user_probe, child_has_its_own_and_frees_nothing_of_its_parents)
{
	int i;
	void *p[20];
	pid_t pid;

	start(_metadata, self);
	for (i = 0; i < 20; i++)
		p[i] = malloc(SIZE);
	pid = fork_bound();
	ASSERT_LE(0, pid);
	if (!pid) {
		for (i = 0; i < 20; i++)
			free(p[i]);
		for (i = 0; i < 10; i++)
			p[i] = malloc(SIZE + 1);
		for (i = 0; i < 4; i++)
			free(p[i]);
		_exit(0);
	}
	EXPECT_EQ(0, reap(pid));
	finish(_metadata, self);
	expect(_metadata, self, gettid(), SIZE, 20, 20);
	/* Its memory is gone with it. */
	expect(_metadata, self, pid, SIZE + 1, 10, 0);
	EXPECT_EQ(0, self->p.head->unseen);
}

TEST_F(user_probe, sampled_bytes_stand_for_all)
{
	const unsigned int nr = 8000;
	double p, sigma;
	struct probed_sum s;

	self->p.params.period = 65536;
	start(_metadata, self);
	for (unsigned int i = 0; i < nr; i++) {
		kept = malloc(SIZE);
		free(kept);
	}
	finish(_metadata, self);
	s = probed_sum_of(&self->p, gettid(), SIZE);
	/* p = 1 - (1 - 1/65536)^12345 = 0.1717; of the sum of weights: nr (1 - p) / p */
	p = 0.1717;
	sigma = nr * (1 - p) / p;
	EXPECT_LT(((double)s.weight - nr) * ((double)s.weight - nr), 16 * sigma)
		TH_LOG("%llu samples stand for %llu of %u", ull(s.nr), ull(s.weight), nr);
	EXPECT_LT(s.nr, nr / 4);
	EXPECT_EQ(0, s.live);
}

/* ---- whose code ---- */

static void allocates(void *arg, int step)
{
	for (int i = 0; i < 10; i++)
		kept = malloc(SIZE);
}

TEST_F(user_probe, code_outside_the_target_stays_as_it_is)
{
	struct child child;

	/* It maps the same file, and is not of the target, being from before. */
	ASSERT_ZEROS(child_fork(&child, allocates, NULL), child_step(&child));
	start(_metadata, self);
	EXPECT_ZEROS(is_clean(self, getpid(), malloc), is_clean(self, getpid(), free));
	EXPECT_TRUES(is_clean(self, child.pid, malloc), is_clean(self, child.pid, free));
	ASSERT_EQ(0, child_step(&child));
	kept = malloc(SIZE);
	finish(_metadata, self);
	EXPECT_TRUES(is_clean(self, getpid(), malloc), is_clean(self, getpid(), free));
	child_end(&child);
	expect(_metadata, self, 0, SIZE, 1, 1);
}

static _Atomic bool over;

static void *churn(void *arg)
{
	uint64_t *nr = arg;

	while (!over) {
		void *p = malloc(SIZE);

		kept = p;
		p = realloc(p, SIZE + 1);
		free(p);
		++*nr;
	}
	return NULL;
}

#define SLOWED_BY	120

/*
 * Who meets a breakpoint takes long to ask whether it is one of the kernel's, and may be
 * overtaken there: perf's probes stand at the question, each of which looks at the stack.
 * Returns how many; nobody takes what they say.
 */
static int slow_down(int fds[SLOWED_BY])
{
	struct perf_event_attr attr = {
		.type = file_number("/sys/bus/event_source/devices/kprobe/type"),
		.size = sizeof(attr), .sample_period = 1,
		.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_CALLCHAIN,
		.kprobe_func = (uintptr_t)"uprobe_pre_sstep_notifier",
	};
	int i;

	for (i = 0; i < SLOWED_BY; i++) {
		fds[i] = syscall(SYS_perf_event_open, &attr, -1, i % 2, -1, PERF_FLAG_FD_CLOEXEC);
		if (fds[i] < 0)
			break;
	}
	return i;
}

TEST_F(user_probe, stop_comes_amid_calls)
{
	int fds[SLOWED_BY], nr = slow_down(fds);
	uint64_t done[3] = { 0 };
	pthread_t threads[3];
	struct probed_sum s, t;
	uint64_t live;
	int i, err, tries;

	over = false;
	for (i = 0; i < 3; i++)
		ASSERT_EQ(0, pthread_create(&threads[i], NULL, churn, &done[i]));
	start(_metadata, self);
	/* Often: who meets a breakpoint while it is taken away dies of it, if none is held. */
	for (i = 0; i < 60; i++) {
		sleep_ms(1 + i % 5);
		ASSERT_EQ(0, device_stop(&self->p.dev));
		EXPECT_TRUE(is_clean(self, getpid(), malloc));
		ASSERT_LE(0, reader_read(&self->p.reader));
		/* START forgets what was live. Those that call may have the lock for long here. */
		self->p.nr = 0;
		for (err = tries = 0; !tries || (err == -EBUSY && tries < 20); tries++)
			err = probed_start(&self->p);
		ASSERT_EQ(0, err);
	}
	sleep_ms(20);
	ASSERT_EQ(0, probed_stop(&self->p));
	over = true;
	for (i = 0; i < 3; i++) {
		pthread_join(threads[i], NULL);
		EXPECT_LT(0, done[i]);
	}
	s = probed_sum_of(&self->p, 0, SIZE);
	t = probed_sum_of(&self->p, 0, SIZE + 1);
	EXPECT_LT(2, s.nr);
	/* Of each thread one may be amid of it; and what is lost has no record. */
	live = self->p.head->added - self->p.head->removed;
	EXPECT_LES(live, 3, s.live + t.live, live,
		   live, s.live + t.live + device_lost(&self->p.st));
	while (nr)
		close(fds[--nr]);
}

TEST_F(user_probe, closed_while_it_records)
{
	start(_metadata, self);
	kept = malloc(SIZE);
	EXPECT_FALSE(is_clean(self, getpid(), malloc));
	munmap((void *)self->p.head, self->p.head_size);
	self->p.head = NULL;
	reader_close(&self->p.reader);
	EXPECT_TRUES(is_clean(self, getpid(), malloc), is_clean(self, getpid(), free));
	kept = malloc(SIZE);
}

/* ---- what is refused ---- */

static int refused(FIXTURE_DATA(user_probe) *self, uint32_t *reason)
{
	struct device dev;
	int err = device_setup(&dev, &self->p.setup);

	*reason = self->p.setup.out_reason;
	if (!err)
		device_close(&dev);
	return err;
}

/* Once the statements have spoilt a row or the rest, which is as it was then. */
#define EXPECT_REFUSED(_errno, _reason, ...) do {				\
	const struct probed kept_p = self->p;					\
	const struct gprof_alloc_function first = self->rows[0], last = self->rows[ROWS - 1]; \
	uint32_t reason;							\
										\
	__VA_ARGS__;								\
	EXPECT_EQ(-_errno, refused(self, &reason)) TH_LOG("%s", #__VA_ARGS__);	\
	EXPECT_EQ(GPROF_REASON_##_reason, reason) TH_LOG("%s", #__VA_ARGS__);	\
	self->p.setup = kept_p.setup;						\
	self->p.params = kept_p.params;						\
	self->rows[0] = first;							\
	self->rows[ROWS - 1] = last;						\
} while (0)

TEST_F(user_probe, rows_are_checked)
{
	static char data[] = "no code";	/* the linker may put constants to code */
	int pipes[2], written, dir;

	ASSERT_EQ(0, pipe2(pipes, O_CLOEXEC));
	written = open("/dev/null", O_WRONLY | O_CLOEXEC);
	dir = open("/", O_RDONLY | O_CLOEXEC);
	self->p.setup.buffer_size = 0;
	EXPECT_REFUSED(EINVAL, PARAMS, self->rows[0].role = 0);
	EXPECT_REFUSED(EINVAL, PARAMS, self->rows[0].role = GPROF_ALLOC_FN_LAST + 1);
	EXPECT_REFUSED(EINVAL, FILE, self->rows[0].fd = -1);
	EXPECT_REFUSED(EINVAL, FILE, self->rows[0].fd = pipes[0]);
	EXPECT_REFUSED(EINVAL, FILE, self->rows[0].fd = written);
	EXPECT_REFUSED(EINVAL, FILE, self->rows[0].fd = dir);
	EXPECT_REFUSED(EINVAL, FILE, self->rows[0].offset = 1ULL << 40);
	EXPECT_REFUSED(EINVAL, FILE, self->rows[0].offset = ~0ULL);
	EXPECT_REFUSED(EINVAL, FILE, self->rows[0].offset = probed_offset_of(data));
	EXPECT_REFUSED(EINVAL, FILE, self->rows[ROWS - 1].fd = 12345);
	EXPECT_REFUSED(0, NONE, self->rows[ROWS - 1].fd = 12345;
		       self->p.params.nr_functions = ROWS - 1);
	EXPECT_REFUSED(EINVAL, PARAMS, self->p.params.nr_functions = 0);
	EXPECT_REFUSED(EINVAL, PARAMS, self->p.params.nr_functions = GPROF_ALLOC_FUNCTIONS_MAX + 1);
	EXPECT_REFUSED(EINVAL, PARAMS, self->p.params.nr_functions = ~0U);
	EXPECT_REFUSED(EFAULT, PARAMS, self->p.params.functions = 8);
	EXPECT_REFUSED(EINVAL, PARAMS, self->p.params.__reserved2 = 1);
	EXPECT_REFUSED(EINVAL, PARAMS, self->p.params.flags = GPROF_ALLOC_F_PROGRAM);
	EXPECT_TRUE(is_clean(self, getpid(), malloc));
	close(pipes[0]);
	close(pipes[1]);
	close(written);
	close(dir);
}

TEST_F(user_probe, what_cannot_be_is_refused)
{
	self->p.setup.buffer_size = 0;
	EXPECT_REFUSED(EINVAL, FLAGS, self->p.params.flags |= GPROF_ALLOC_F_PROGRAM);
	EXPECT_REFUSED(EINVAL, FLAGS, self->p.params.flags |= GPROF_ALLOC_F_SLAB);
	EXPECT_REFUSED(EINVAL, FLAGS, self->p.params.flags |= GPROF_ALLOC_F_KEEP);
	EXPECT_REFUSED(EOPNOTSUPP, TARGET, self->p.setup.flags = GPROF_SETUP_F_ON_EXEC);
	EXPECT_REFUSED(EOPNOTSUPP, TARGET,
		       self->p.setup.target = GPROF_TARGET_SYSTEM; self->p.setup.id = 0);
}

TEST_F(user_probe, needs_the_capability)
{
	SKIP_UNLESS(!geteuid(), "must be root to become another");
	ASSERT_EQ(0, become(1000));
	self->p.setup.buffer_size = 0;
	EXPECT_REFUSED(EPERM, SLOWS_DENIED);
	EXPECT_REFUSED(EPERM, SLOWS_DENIED, self->p.setup.kind = GPROF_KIND_ALLOC);
	EXPECT_TRUE(is_clean(self, getpid(), malloc));
}

TEST_HARNESS_MAIN
