// SPDX-License-Identifier: GPL-2.0-only
/*
 * task_test: kind task tells of each task what it does, and nothing that it does not.
 *
 * The victims wait in functions of their own, by system calls that they make themselves,
 * so that their stacks are known to the last frame.
 */
#include <gprof/task.h>
#include <linux/futex.h>
#include <stdatomic.h>
#include "harness.h"
#include "device.h"
#include "reader.h"
#include "workload.h"

#define KEPT __attribute__((noinline, noclone, noipa))

static long call(long nr, long a, long b, long c, long d)
{
#if defined(__x86_64__)
	register long r10 asm("r10") = d;
	long ret;

	asm volatile("syscall" : "=a" (ret) : "a" (nr), "D" (a), "S" (b), "d" (c), "r" (r10)
		     : "rcx", "r11", "memory");
	return ret;
#elif defined(__riscv)
	register long a7 asm("a7") = nr;
	register long a0 asm("a0") = a;
	register long a1 asm("a1") = b;
	register long a2 asm("a2") = c;
	register long a3 asm("a3") = d;

	asm volatile("ecall" : "+r" (a0) : "r" (a7), "r" (a1), "r" (a2), "r" (a3) : "memory");
	return a0;
#else
	register long x8 asm("x8") = nr;
	register long x0 asm("x0") = a;
	register long x1 asm("x1") = b;
	register long x2 asm("x2") = c;
	register long x3 asm("x3") = d;

	asm volatile("svc 0" : "+r" (x0) : "r" (x8), "r" (x1), "r" (x2), "r" (x3) : "memory");
	return x0;
#endif
}

/* ---- where victims wait ---- */

static int empty_pipe[2];
static int never;

KEPT static void park_in_read(void)
{
	char c;

	call(__NR_read, empty_pipe[0], (long)&c, 1, 0);
	asm volatile("");
}

KEPT static void park_in_futex(void)
{
	call(__NR_futex, (long)&never, FUTEX_WAIT_PRIVATE, 0, 0);
	asm volatile("");
}

KEPT static void park_in_sleep(void)
{
	struct timespec ts = { .tv_sec = 1000 };

	call(__NR_nanosleep, (long)&ts, 0, 0, 0);
	asm volatile("");
}

KEPT static void park_in_pause(void)
{
	call(__NR_ppoll, 0, 0, 0, 0);
	asm volatile("");
}

static void (*const parks[])(void) = { park_in_read, park_in_futex, park_in_sleep, park_in_pause };
static const char *const park_names[] = {
	"park_in_read", "park_in_futex", "park_in_sleep", "park_in_pause",
};

#define NR_PARKS	4

KEPT static void through_a(void (*park)(void))
{
	park();
	asm volatile("");
}

KEPT static void through_b(void (*park)(void))
{
	through_a(park);
	asm volatile("");
}

static void *park_thread(void *arg)
{
	through_b(arg);
	return NULL;
}

/* ---- what a snapshot says ---- */

/**
 * struct seen - counts of a snapshot
 * @p: the snapshot
 * @pid: whose tasks count
 * @tasks: tasks of that process
 * @parked: by function
 * @right: those with the two callers behind the function, and no others of these
 * @sleeping: labelled so
 * @kernel: tasks with kernel frames
 * @min_since: the smallest of parked tasks
 * @max_since: and the largest
 * @burning: tasks in burn() that run, or wait for a CPU
 * @torn: stacks of which halves are of different times
 * @whole: stacks of ping-pong that are not
 * @restless: without a stack for having moved
 * @dead: tasks labelled so
 */
struct seen {
	const struct gprof_profile *p;
	pid_t pid;
	int tasks, parked[NR_PARKS], right, sleeping, kernel;
	int64_t min_since, max_since;
	int burning, torn, whole, restless, dead;
};

static bool has(const struct gprof_frame *frames, size_t nr, const char *name)
{
	for (size_t i = 0; i < nr; i++)
		if (!strcmp(frames[i].function, name))
			return true;
	return false;
}

static size_t user_frames(const struct gprof_frame *frames, size_t nr)
{
	size_t i = 0;

	while (i < nr && frames[i].address >> 63)
		i++;
	return i;
}

static int see(void *ctx, const struct gprof_frame *frames, size_t nr, const int64_t *values)
{
	struct seen *s = ctx;
	const char *state = gprof_profile_label(s->p, "state", NULL);
	size_t first = user_frames(frames, nr), i;
	int64_t pid = 0, since = 0;
	bool a, b;

	gprof_profile_label(s->p, "pid", &pid);
	if (pid != s->pid)
		return 0;
	s->tasks += (int)values[0];
	s->kernel += first > 0;
	s->dead += !strcmp(state, "dead");
	s->restless += !strcmp(state, "restless");
	for (i = 0; i < NR_PARKS && first < nr; i++) {
		if (strcmp(frames[first].function, park_names[i]))
			continue;
		s->parked[i]++;
		s->sleeping += !strcmp(state, "sleeping");
		s->right += first + 3 < nr && !strcmp(frames[first + 1].function, "through_a") &&
			    !strcmp(frames[first + 2].function, "through_b") &&
			    !strcmp(frames[first + 3].function, "park_thread");
		gprof_profile_label(s->p, "since", &since);
		if (!s->min_since || since < s->min_since)
			s->min_since = since;
		if (since > s->max_since)
			s->max_since = since;
	}
	s->burning += has(frames, nr, "burn") &&
		      (!strcmp(state, "running") || !strcmp(state, "runnable"));
	a = has(frames, nr, "ping_a1") || has(frames, nr, "ping_a2");
	b = has(frames, nr, "ping_b1") || has(frames, nr, "ping_b2");
	if (a || b) {
		bool whole = a != b && (!a || (has(frames, nr, "ping_a1") && has(frames, nr, "ping_a2"))) &&
			     (!b || (has(frames, nr, "ping_b1") && has(frames, nr, "ping_b2")));

		s->whole += whole;
		/*
		 * An interrupted task may be about to call the next, or have come back from it;
		 * or be in the first instructions of a function, which has no frame yet.
		 */
		s->torn += (a && b) || (!whole && !strcmp(state, "sleeping"));
	}
	return 0;
}

static int look(struct seen *s, const struct gprof_task_config *cfg, pid_t pid)
{
	struct gprof_profile *p = gprof_task_snapshot(cfg);

	memset(s, 0, sizeof(*s));
	if (!p)
		return -errno;
	s->p = p;
	s->pid = pid;
	gprof_profile_each(p, see, s);
	gprof_profile_free(p);
	return 0;
}

/* ---- victims ---- */

FIXTURE(task) {
	struct gprof_task_config cfg;
	struct seen seen;
	pid_t pid;
	int ready[2];
};

/* Makes a process with @nr threads, each parked; returns when all of them are. */
static int park(FIXTURE_DATA(task) *self, int nr)
{
	char byte;

	if (pipe(self->ready) || pipe(empty_pipe))
		return -errno;
	self->pid = fork_bound();
	if (!self->pid) {
		pthread_attr_t attr;

		pthread_attr_init(&attr);
		pthread_attr_setstacksize(&attr, 65536);
		for (int i = 0; i < nr; i++) {
			pthread_t thread;

			if (pthread_create(&thread, &attr, park_thread, parks[i % NR_PARKS]))
				_exit(1);
		}
		if (write(self->ready[1], "", 1) != 1)
			_exit(1);
		for (;;)
			pause();
	}
	if (self->pid < 0 || read(self->ready[0], &byte, 1) != 1)
		return -ECHILD;
	self->cfg.target = (struct gprof_target){ .type = GPROF_PROCESS, .id = self->pid };
	/* The last that was made sleeps as soon as it has had a CPU; so do those before. */
	for (int tries = 0; tries < 600 && !task_is(self->pid, "S"); tries++)
		sleep_ms(100);
	sleep_ms(500);
	return 0;
}

FIXTURE_SETUP(task)
{
	self->cfg = (struct gprof_task_config){
		.sz = sizeof(self->cfg), .target = { .type = GPROF_SELF }, .kernel_frames = true,
	};
}

FIXTURE_TEARDOWN(task)
{
	if (self->pid > 0) {
		kill(self->pid, SIGKILL);
		waitpid(self->pid, NULL, 0);
	}
}

#define LOOK(_pid)	ASSERT_EQ(0, look(&self->seen, &self->cfg, _pid)) TH_LOG("%s", gprof_error())

TEST_F(task, a_thousand_parked_tasks_are_told_exactly)
{
	ASSERT_EQ(0, park(self, 1000));
	LOOK(self->pid);
	/* and the one that made them */
	EXPECT_EQ(1001, self->seen.tasks);
	for (int i = 0; i < NR_PARKS; i++)
		EXPECT_EQ(250, self->seen.parked[i]);
	EXPECT_EQS(1000, self->seen.sleeping, 1000, self->seen.right, 1001, self->seen.kernel,
		   0, self->seen.restless);
}

TEST_F(task, small_rings_lose_nothing_while_they_are_read)
{
	ASSERT_EQ(0, park(self, 400));
	self->cfg.buffer_bytes = 4096;
	LOOK(self->pid);
	EXPECT_EQS(401, self->seen.tasks, 400, self->seen.right);
}

TEST_F(task, time_in_a_state_is_what_has_passed)
{
	uint64_t before = monotonic_ns(), parked;

	SKIP_UNLESS(kernel_has_sched_info(), "this kernel does not note when a task came and went");
	ASSERT_EQ(0, park(self, 40));
	parked = monotonic_ns();
	sleep_ms(1000);
	LOOK(self->pid);
	EXPECT_LE(1000000000, self->seen.min_since);
	EXPECT_GE((int64_t)(monotonic_ns() - before), self->seen.max_since);
	EXPECT_LT(before, parked);
}

TEST_F(task, user_frames_alone_are_told_when_asked_for)
{
	ASSERT_EQ(0, park(self, 40));
	self->cfg.kernel_frames = false;
	LOOK(self->pid);
	EXPECT_EQS(40, self->seen.right, 0, self->seen.kernel);
}

TEST_F(task, whole_host_has_them_among_all)
{
	pid_t pid;

	ASSERT_EQ(0, park(self, 40));
	pid = self->pid;
	self->cfg.target = (struct gprof_target){ .type = GPROF_SYSTEM };
	LOOK(pid);
	EXPECT_EQS(41, self->seen.tasks, 40, self->seen.right);
	/* a thread of the kernel, which has its number in every kernel */
	LOOK(2);
	EXPECT_EQS(1, self->seen.tasks, 1, self->seen.kernel);
}

TEST_F(task, one_thread_is_one_task)
{
	ASSERT_EQ(0, park(self, 8));
	self->cfg.target = (struct gprof_target){ .type = GPROF_THREAD, .id = self->pid };
	LOOK(self->pid);
	EXPECT_EQS(1, self->seen.tasks, 0, self->seen.right);
}

/* ---- tasks that run ---- */

static int burners;
static bool burnt;

/* Reads no clock: the vDSO's stack is not always one that can be walked. */
KEPT static void burn(void)
{
	while (!__atomic_load_n(&burnt, __ATOMIC_ACQUIRE))
		;
}

static void *burn_thread(void *arg)
{
	__atomic_fetch_add(&burners, 1, __ATOMIC_RELEASE);
	burn();
	return NULL;
}

TEST_F(task, a_running_task_has_its_place)
{
	pthread_t threads[4];
	int i, burning = 0;

	for (i = 0; i < 4; i++)
		ASSERT_EQ(0, pthread_create(&threads[i], NULL, burn_thread, NULL));
	while (__atomic_load_n(&burners, __ATOMIC_ACQUIRE) < 4)
		sleep_ms(1);
	self->cfg.kernel_frames = false;
	for (i = 0; i < 5; i++) {
		LOOK(getpid());
		burning += self->seen.burning;
	}
	__atomic_store_n(&burnt, true, __ATOMIC_RELEASE);
	for (i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	/* All four, each time, but for one that was about to begin. */
	EXPECT_LE(19, burning);
}

static int ball;

KEPT static void hit(int from, int to)
{
	while (__atomic_load_n(&ball, __ATOMIC_ACQUIRE) != from)
		call(__NR_futex, (long)&ball, FUTEX_WAIT_PRIVATE, to, 0);
	__atomic_store_n(&ball, to, __ATOMIC_RELEASE);
	call(__NR_futex, (long)&ball, FUTEX_WAKE_PRIVATE, 1, 0);
}

#define PING(_name, _next)						\
KEPT static void _name(int from, int to)				\
{									\
	_next(from, to);						\
	asm volatile("");						\
}

PING(ping_a2, hit)
PING(ping_a1, ping_a2)
PING(ping_b2, hit)
PING(ping_b1, ping_b2)

static void *ping_thread(void *arg)
{
	int from = arg != NULL, to = !from;

	for (;;) {
		ping_a1(from, to);
		ping_b1(from, to);
	}
	return NULL;
}

TEST_F(task, no_stack_is_a_mixture_of_two)
{
	uint64_t end = monotonic_ns() + 20000000000ULL;
	int i, whole = 0, torn = 0;
	pthread_t thread;

	ASSERT_EQ(0, pthread_create(&thread, NULL, ping_thread, NULL));
	ASSERT_EQ(0, pthread_create(&thread, NULL, ping_thread, &ball));
	/* Naming those of the kernel anew each time takes most of it. */
	self->cfg.kernel_frames = false;
	for (i = 0; i < 100 && monotonic_ns() < end; i++) {
		LOOK(getpid());
		whole += self->seen.whole;
		torn += self->seen.torn;
	}
	EXPECT_LT(i, whole);
	EXPECT_EQ(0, torn) TH_LOG("%d torn, %d whole", torn, whole);
	_exit(_metadata->passed ? 0 : 1);
}

/* ---- ends ---- */

TEST_F(task, dead_task_is_told_as_one)
{
	siginfo_t info;

	self->pid = fork_bound();
	if (!self->pid)
		_exit(0);
	ASSERT_EQ(0, waitid(P_PID, self->pid, &info, WEXITED | WNOWAIT));
	self->cfg.target = (struct gprof_target){ .type = GPROF_SYSTEM };
	LOOK(self->pid);
	EXPECT_EQS(1, self->seen.tasks, 1, self->seen.dead);
}

TEST_F(task, target_that_is_gone_is_ESRCH)
{
	pid_t pid = fork_bound();

	if (!pid)
		_exit(0);
	waitpid(pid, NULL, 0);
	self->cfg.target = (struct gprof_target){ .type = GPROF_PROCESS, .id = pid };
	EXPECT_EQ(-ESRCH, look(&self->seen, &self->cfg, pid));
}

TEST_F(task, users_see_their_own_tasks_in_user_mode_alone)
{
	pid_t pid, user;

	ASSERT_ZEROS(chmod(GPROF_DEVICE, 0666), park(self, 8));
	pid = self->pid;
	/* Who has become another user could not end those who are parked. */
	user = fork();
	ASSERT_LE(0, user);
	if (user) {
		EXPECT_EQ(0, reap(user));
		return;
	}
	ASSERT_EQ(0, become(1000));
	EXPECT_EQ(-EPERM, look(&self->seen, &self->cfg, pid));
	self->cfg.kernel_frames = false;
	EXPECT_EQ(-EPERM, look(&self->seen, &self->cfg, pid));
	self->cfg.target = (struct gprof_target){ .type = GPROF_SYSTEM };
	EXPECT_EQ(-EPERM, look(&self->seen, &self->cfg, pid));
	self->cfg.target = (struct gprof_target){ .type = GPROF_SELF };
	LOOK(getpid());
	EXPECT_LE(1, self->seen.tasks);
	EXPECT_EQ(0, self->seen.kernel);
	self->cfg.kernel_frames = true;
	EXPECT_EQ(-EPERM, look(&self->seen, &self->cfg, getpid()));
	_exit(_metadata->passed ? 0 : 1);
}

/* ---- past the library ---- */

TEST_F(task, unread_samples_are_lost_and_counted)
{
	struct gprof_task_params params = { .size = sizeof(params) };
	struct device dev = { .fd = device_open() };
	struct gprof_setup setup;
	struct reader reader;
	struct gprof_stats st;

	ASSERT_LE(0, dev.fd);
	ASSERT_EQ(0, park(self, 1600));
	setup = device_setup_kind(GPROF_KIND_TASK, GPROF_TARGET_PROCESS, self->pid, &params);
	setup.buffer_size = 4096;
	ASSERT_ZEROS(device_record(&dev, &setup), device_stop(&dev), reader_init(&reader, &dev));
	EXPECT_LT(0, reader_read(&reader));
	EXPECT_STREQ("", reader.error);
	ASSERT_EQ(0, device_stats(&dev, GPROF_STATS_ALL_CPUS, &st));
	EXPECT_EQ(1601, st.out_produced);
	EXPECT_LT(0, device_lost(&st));
	EXPECT_EQ(st.out_produced, reader.samples + device_lost(&st));
	reader_close(&reader);
}

struct starting {
	struct device *dev;
	_Atomic bool done;
	int err;
};

static void *start_tasks(void *arg)
{
	struct starting *s = arg;

	s->err = device_start(s->dev);
	s->done = true;
	return NULL;
}

/* A third of a second, in which nobody takes what has filled the ring. */
TEST_F(task, a_late_reader_loses_nothing)
{
	struct gprof_task_params params = { .size = sizeof(params) };
	struct device dev = { .fd = device_open() };
	struct starting start = { .dev = &dev };
	struct gprof_setup setup;
	struct reader reader;
	struct gprof_stats st;
	pthread_t thread;

	ASSERT_LE(0, dev.fd);
	ASSERT_EQ(0, park(self, 1600));
	setup = device_setup_kind(GPROF_KIND_TASK, GPROF_TARGET_PROCESS, self->pid, &params);
	setup.buffer_size = 4096;
	ASSERT_ZEROS(device_setup(&dev, &setup), device_map(&dev), reader_init(&reader, &dev),
		     pthread_create(&thread, NULL, start_tasks, &start));
	sleep_ms(333);
	EXPECT_FALSE(start.done);
	while (!start.done) {
		ASSERT_LE(0, reader_read(&reader));
		sleep_ms(1);
	}
	pthread_join(thread, NULL);
	ASSERT_ZEROS(start.err, device_stop(&dev));
	ASSERT_LE(0, reader_read(&reader));
	EXPECT_STREQ("", reader.error);
	ASSERT_EQ(0, device_stats(&dev, GPROF_STATS_ALL_CPUS, &st));
	EXPECT_EQS(0, device_lost(&st), 1601, reader.samples);
	reader_close(&reader);
}

TEST_F(task, setup_takes_no_nonsense)
{
	struct gprof_task_params params = { .size = sizeof(params), .flags = 1 };
	struct gprof_setup setup = device_setup_of(GPROF_TARGET_THREAD, gettid(), &params);
	int fd = device_open();

	ASSERT_LE(0, fd);
	setup.kind = GPROF_KIND_TASK;
	EXPECT_EQS(-EOPNOTSUPP, device_ioctl(fd, GPROF_IOC_SETUP, &setup),
		   GPROF_REASON_PARAMS, setup.out_reason);
	params.flags = 0;
	setup.flags = GPROF_SETUP_F_ON_EXEC;
	EXPECT_EQS(-EOPNOTSUPP, device_ioctl(fd, GPROF_IOC_SETUP, &setup),
		   GPROF_REASON_FLAGS, setup.out_reason);
	setup.flags = 0;
	EXPECT_EQ(0, device_ioctl(fd, GPROF_IOC_SETUP, &setup));
	close(fd);
}

/* ---- for people ---- */

static char *text_of(const struct gprof_task_config *cfg, enum gprof_task_format format)
{
	struct gprof_profile *p = gprof_task_snapshot(cfg);
	int fd = memfd_create("text", MFD_CLOEXEC);
	char *text = NULL;
	off_t size;

	if (p && !gprof_task_write(p, fd, format)) {
		size = lseek(fd, 0, SEEK_END);
		text = calloc((size_t)size + 1, 1);
		if (text && pread(fd, text, (size_t)size, 0) != size)
			text[0] = '\0';
	}
	gprof_profile_free(p);
	close(fd);
	return text;
}

TEST_F(task, traceback_has_each_waiter_and_text_their_number)
{
	char *text, *at, *line_at, line[64];
	int heads = 0;

	ASSERT_EQ(0, park(self, 12));
	text = text_of(&self->cfg, GPROF_TASK_FORMAT_TRACEBACK);
	ASSERT_NE(NULL, text);
	snprintf(line, sizeof(line), "\ntask %d [sleeping, ", self->pid + 1);
	EXPECT_NE(NULL, strstr(text, line)) TH_LOG("%s", text);
	snprintf(line, sizeof(line), "(process %d)\n", self->pid);
	EXPECT_NE(NULL, strstr(text, line));
	EXPECT_NE(NULL, strstr(text, "pipe_read]: task_test")) TH_LOG("%s", text);
	/* three threads wait in each place: said of each, with one stack, a frame in a line */
	for (line_at = text; (at = strstr(line_at, "pipe_read]: task_test")); line_at = at + 1)
		heads++;
	EXPECT_EQ(3, heads);
	at = strstr(text, "    park_in_read  ");
	EXPECT_NE(NULL, at);
	EXPECT_EQ(NULL, at ? strstr(at + 1, "    park_in_read  ") : text);
	at = at ? strchr(at, '\n') : NULL;
	EXPECT_EQ(at, strstr(text, "\n    through_a  "));
	free(text);
	text = text_of(&self->cfg, GPROF_TASK_FORMAT_TEXT);
	ASSERT_NE(NULL, text);
	EXPECT_EQ(text, strstr(text, "# "));
	EXPECT_NE(NULL, strstr(text, "\n# samples: produced=13 read=13 lost=0 overwritten=0\n"));
	EXPECT_NE(NULL, strstr(text, "\n\ntask profile: total 13\n\n3 @ 0x")) TH_LOG("%s", text);
	free(text);
}

TEST_HARNESS_MAIN
