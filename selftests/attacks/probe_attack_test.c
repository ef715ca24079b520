// SPDX-License-Identifier: GPL-2.0-only
/*
 * probe_attack_test: programs that are probed, and do what no allocator does; files that are
 * probed, and do not stay what they are.
 *
 * The allocators are functions of the test, whose answers are what it likes, or a few bytes in a
 * file.
 */
#include <setjmp.h>
#include <stdatomic.h>
#include <sys/mount.h>
#include <sys/time.h>
#include "harness.h"
#include "probed.h"
#include "workload.h"

#define SIZE		12345
#define ROWS		8
#define CODE		4096
#define NOINLINE	__attribute__((noinline, noclone))

FIXTURE(attack) {
	struct probed p;
	struct gprof_alloc_function rows[ROWS];
	int code;	/* a file with one function, that returns what it is given */
	void *(*function)(size_t n);
};

/* ---- allocators ---- */

static void *volatile answer;
static jmp_buf back;
static pid_t (*volatile fork_by)(void);
static volatile pid_t pid_of_fork;

static NOINLINE void *answers(size_t n)
{
	return answer;
}

static NOINLINE void *answers_too(size_t n)
{
	return answer;
}

static NOINLINE void frees(void *p)
{
	answer = answer;
}

static NOINLINE int fills(void **where, size_t align, size_t n)
{
	return answer != NULL;
}

static NOINLINE void *jumps(size_t n)
{
	longjmp(back, 1);
}

static NOINLINE void *ends(size_t n)
{
	/* pthread_exit() unwinds, and on arm64 is lost in the kernel's page of returns. */
	syscall(SYS_exit, 0);
	__builtin_unreachable();
}

static NOINLINE void *forks(size_t n)
{
	pid_of_fork = fork_by();
	return answer;
}

/* Returns its argument. */
static const uint8_t code[] = {
#if defined(__x86_64__)
	0x48, 0x89, 0xf8, 0xc3,
#elif defined(__aarch64__)
	0x1f, 0x20, 0x03, 0xd5, 0xc0, 0x03, 0x5f, 0xd6,
#elif defined(__riscv)
	0x13, 0x00, 0x00, 0x00, 0x67, 0x80, 0x00, 0x00,
#endif
};

/* ---- */

/* A file of that length with the code at its begin, and what else there is, or nothing. */
static int code_file(const char *path, const void *rest)
{
	int fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0755);

	if (fd < 0 || ftruncate(fd, CODE) || (rest && pwrite(fd, rest, CODE, 0) != CODE) ||
	    pwrite(fd, code, sizeof(code), 0) != sizeof(code))
		return -1;
	return fd;
}

static void *map_code(int fd)
{
	return mmap(NULL, CODE, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
}

static void row(FIXTURE_DATA(attack) *self, const void *function, uint32_t role)
{
	self->rows[self->p.params.nr_functions++] = (struct gprof_alloc_function){
		.fd = self->p.exe, .role = role, .offset = probed_offset_of(function),
	};
}

static void row_of_file(FIXTURE_DATA(attack) *self, uint64_t offset)
{
	self->rows[0] = (struct gprof_alloc_function){
		.fd = self->code, .role = GPROF_ALLOC_FN_MALLOC, .offset = offset,
	};
	self->p.params.nr_functions = 1;
}

FIXTURE_SETUP(attack)
{
	ASSERT_EQ(0, probed_init(&self->p));
	self->code = code_file("/tmp/probe_attack", NULL);
	ASSERT_LE(0, self->code);
	self->function = map_code(self->code);
	ASSERT_NE(MAP_FAILED, (void *)self->function);
	self->p.params.functions = (uintptr_t)self->rows;
	row(self, answers, GPROF_ALLOC_FN_MALLOC);
	row(self, answers_too, GPROF_ALLOC_FN_CALLOC);
	row(self, frees, GPROF_ALLOC_FN_FREE);
	row(self, fills, GPROF_ALLOC_FN_POSIX_MEMALIGN);
	row(self, jumps, GPROF_ALLOC_FN_MALLOC);
	row(self, ends, GPROF_ALLOC_FN_MALLOC);
	row(self, forks, GPROF_ALLOC_FN_MALLOC);
	self->p.setup.buffer_size = 1 << 20;
	SKIP_UNLESS(device_has(GPROF_FEAT_ALLOC_PROBES), "programs cannot be probed here");
}

FIXTURE_TEARDOWN(attack)
{
	probed_free(&self->p);
	munmap((void *)self->function, CODE);
	close(self->code);
	unlink("/tmp/probe_attack");
}

static void start(struct __test_metadata *_metadata, FIXTURE_DATA(attack) *self)
{
	ASSERT_EQ(0, probed_prepare(&self->p)) TH_LOG("reason %u", self->p.setup.out_reason);
	ASSERT_EQ(0, probed_start(&self->p));
}

/* @lost is what may not be there. */
static void finish(struct __test_metadata *_metadata, FIXTURE_DATA(attack) *self, uint64_t lost)
{
	ASSERT_EQ(0, probed_stop(&self->p));
	EXPECT_STREQ("", self->p.reader.error);
	EXPECT_EQ(lost, device_lost(&self->p.st));
	EXPECT_EQ(self->p.st.out_produced, self->p.reader.samples + device_lost(&self->p.st));
}

static void expect(struct __test_metadata *_metadata, const FIXTURE_DATA(attack) *self, pid_t tid,
		   uint64_t value, uint64_t nr, uint64_t live)
{
	struct probed_sum s = probed_sum_of(&self->p, tid, value);

	EXPECT_EQ(nr, s.nr) TH_LOG("of %llu bytes", ull(value));
	EXPECT_EQ(live, s.live) TH_LOG("of %llu bytes", ull(value));
}

static bool is_clean(const FIXTURE_DATA(attack) *self, const void *function)
{
	return probed_is_clean(getpid(), function, self->p.exe, probed_offset_of(function));
}

/* ---- what is said ---- */

TEST_F(attack, whatever_an_allocator_says_is_taken_as_it_is)
{
	void *const places[] = {
		(void *)1, (void *)2, (void *)3, (void *)-1, (void *)0xffff888000000000,
		(void *)(1UL << 47), self, (void *)GPROF_OBJECT_LIVE,
	};
	const unsigned int nr = ARRAY_SIZE(places);
	void *(*volatile calls)(size_t n, size_t size) = (void *)answers_too;

	start(_metadata, self);
	for (unsigned int i = 0; i < nr; i++) {
		/* never allocated, allocated, allocated again without an end, and freed twice */
		frees(places[i]);
		answer = places[i];
		answers(SIZE);
		answers(SIZE + 1);
		if (i & 1) {
			frees(places[i]);
			frees(places[i]);
		}
	}
	answer = NULL;
	answers(SIZE);
	frees(NULL);
	answer = &self->p.st;
	answers(0);
	answers(SIZE_MAX);
	answers(1UL << 48);
	answers((1UL << 48) - 1);
	calls(1UL << 32, 1UL << 32);
	calls(SIZE_MAX, 2);
	calls(SIZE, 2);
	finish(_metadata, self, 0);
	expect(_metadata, self, gettid(), SIZE, nr, 0);
	expect(_metadata, self, gettid(), SIZE + 1, nr, nr / 2);
	expect(_metadata, self, gettid(), (1UL << 48) - 1, 1, 0);
	expect(_metadata, self, gettid(), 2 * SIZE, 1, 1);
	EXPECT_EQ(2 * nr + 2, self->p.nr);
	/* each is where something was */
	EXPECT_EQS(nr + 1, self->p.head->unseen,
		   self->p.head->added - self->p.head->removed, nr / 2 + 1, 0, self->p.head->full);
}

TEST_F(attack, place_that_cannot_be_read_is_lost)
{
	void *where = self;

	start(_metadata, self);
	answer = NULL;
	fills(&where, 8, SIZE);
	fills(NULL, 8, SIZE + 1);
	fills((void **)8, 8, SIZE + 1);
	fills((void **)-8, 8, SIZE + 1);
	fills((void **)0xffff888000000000, 8, SIZE + 1);
	answer = self;
	fills(NULL, 8, SIZE + 1);
	finish(_metadata, self, 4);
	expect(_metadata, self, gettid(), SIZE, 1, 1);
	EXPECT_EQ(1, self->p.nr);
}

/* ---- how a call ends ---- */

/* From deep down. */
static NOINLINE void leave(void)
{
	volatile char room[1024];

	room[0] = 1;
	jumps(SIZE);
	room[1] = room[0];
}

TEST_F(attack, call_that_is_left_by_a_jump_is_lost)
{
	volatile int i;

	start(_metadata, self);
	answer = self;
	for (i = 0; i < 10; i++) {
		if (!setjmp(back))
			leave();
		answers(SIZE + 1);
	}
	finish(_metadata, self, 10);
	expect(_metadata, self, gettid(), SIZE + 1, 10, 1);
	EXPECT_EQ(10, self->p.nr);
}

static void *thread_ends(void *arg)
{
	ends(SIZE);
	return arg;
}

TEST_F(attack, calls_of_threads_that_end_in_them_are_others_then)
{
	const unsigned int nr = 1500;	/* more than there is room for */
	pthread_t thread;

	start(_metadata, self);
	answer = self;
	for (unsigned int i = 0; i < nr; i++) {
		ASSERT_EQ(0, pthread_create(&thread, NULL, thread_ends, NULL));
		pthread_join(thread, NULL);
	}
	answers(SIZE + 1);
	finish(_metadata, self, nr);
	expect(_metadata, self, gettid(), SIZE + 1, 1, 1);
	EXPECT_EQ(1, self->p.nr);
}

TEST_F(attack, fork_in_a_call_returns_twice_and_is_told_once)
{
	start(_metadata, self);
	answer = self;
	fork_by = fork_bound;
	forks(SIZE);
	if (!pid_of_fork) {
		answers(SIZE + 1);
		_exit(7);
	}
	EXPECT_EQ(7, WEXITSTATUS(reap(pid_of_fork)));
	finish(_metadata, self, 0);
	expect(_metadata, self, gettid(), SIZE, 1, 1);
	expect(_metadata, self, pid_of_fork, SIZE + 1, 1, 0);
}

/* In a child that has this memory, until it executes another program. */
TEST_F(attack, vfork_between_calls_is_of_the_target)
{
	pid_t pid;

	start(_metadata, self);
	answer = self;
	answers(SIZE);
	pid = vfork();
	if (!pid) {
		answer = &self->p.nr;
		answers(SIZE + 1);
		execl("/bin/true", "true", NULL);
		_exit(9);
	}
	ASSERT_LT(0, pid);
	EXPECT_EQ(0, reap(pid));
	answer = &self->p.told;
	answers(SIZE + 2);
	finish(_metadata, self, 0);
	expect(_metadata, self, gettid(), SIZE, 1, 1);
	expect(_metadata, self, pid, SIZE + 1, 1, 1);
	expect(_metadata, self, gettid(), SIZE + 2, 1, 1);
}

static volatile sig_atomic_t handled;

static void handler(int sig)
{
	handled++;
	answers(SIZE + 1);
}

TEST_F(attack, handlers_come_at_any_time)
{
	struct sigaction sa = { .sa_handler = handler, .sa_flags = SA_RESTART | SA_ONSTACK };
	static char stack[65536];
	const stack_t alternative = { .ss_sp = stack, .ss_size = sizeof(stack) };
	struct itimerval it = { { 0, 500 }, { 0, 500 } }, none = { 0 };
	uint64_t end = monotonic_ns() + 1000000000, nr = 0;

	ASSERT_EQ(0, sigaltstack(&alternative, NULL));
	sigaction(SIGALRM, &sa, NULL);
	start(_metadata, self);
	answer = self;
	setitimer(ITIMER_REAL, &it, NULL);
	while (monotonic_ns() < end && nr < PROBED_SAMPLES_MAX / 10) {
		answers(SIZE);
		nr++;
	}
	setitimer(ITIMER_REAL, &none, NULL);
	ASSERT_EQ(0, probed_stop(&self->p));
	EXPECT_EQ(self->p.st.out_produced, self->p.reader.samples + device_lost(&self->p.st));
	/* Of one in the middle of another there is nothing. */
	EXPECT_WITHIN(nr, self->p.st.out_produced, nr + handled);
	EXPECT_EQ(1, self->p.head->added - self->p.head->removed);
}

/* ---- files ---- */

TEST_F(attack, bytes_that_are_no_code_are_refused_at_start)
{
	unsigned int refused = 0, offset;
	uint8_t bytes[CODE];
	uint64_t x = 1;

	for (offset = 0; offset < CODE; offset++)
		bytes[offset] = (x = x * 6364136223846793005ULL + 1442695040888963407ULL) >> 56;
	ASSERT_EQ(CODE, pwrite(self->code, bytes, CODE, 0));
	self->p.setup.buffer_size = 0;
	for (offset = 0; offset < 512; offset++) {
		struct gprof_start arg = { .size = sizeof(arg) };
		int err;

		row_of_file(self, offset);
		ASSERT_EQ(0, device_setup(&self->p.dev, &self->p.setup));
		err = device_ioctl(self->p.dev.fd, GPROF_IOC_START, &arg);
		EXPECT_TRUE(!err || err == -EOPNOTSUPP || err == -EINVAL)
			TH_LOG("%d at %#x", err, offset);
		EXPECT_EQ(err ? GPROF_REASON_EVENT : GPROF_REASON_NONE, arg.out_reason);
		refused += !!err;
		device_close(&self->p.dev);
		EXPECT_TRUE(probed_is_clean(getpid(), (uint8_t *)self->function + offset, self->code, offset));
	}
	EXPECT_LT(0, refused);
}

/* From a file that is mapped and was cut it takes no probe out: for log-check. */
static void say_a_leak_is_the_kernels(struct __test_metadata *_metadata)
{
	static const char line[] = "<6>gprof-vm: a probed file is cut";
	int log = open("/dev/kmsg", O_WRONLY | O_CLOEXEC);

	EXPECT_LT(0, write(log, line, sizeof(line) - 1));
	close(log);
}

TEST_F(attack, file_may_go_and_be_cut_and_written_to_while_it_is_probed)
{
	row_of_file(self, 0);
	start(_metadata, self);
	EXPECT_EQ((void *)SIZE, self->function(SIZE));
	unlink("/tmp/probe_attack");
	EXPECT_EQ((void *)(SIZE + 1), self->function(SIZE + 1));
	ASSERT_EQ(8, pwrite(self->code, "\0\0\0\0\0\0\0\0", 8, 2048));
	EXPECT_EQ((void *)(SIZE + 2), self->function(SIZE + 2));
	ASSERT_ZEROS(device_stop(&self->p.dev), probed_start(&self->p));
	EXPECT_EQ((void *)(SIZE + 3), self->function(SIZE + 3));
	ASSERT_EQ(0, ftruncate(self->code, 0));
	say_a_leak_is_the_kernels(_metadata);
	ASSERT_EQ(0, device_stop(&self->p.dev));
	EXPECT_EQ(-EINVAL, device_start(&self->p.dev));
	ASSERT_EQ(0, ftruncate(self->code, CODE));
	ASSERT_EQ(sizeof(code), pwrite(self->code, code, sizeof(code), 0));
	ASSERT_EQ(0, probed_start(&self->p));
	EXPECT_EQ((void *)(SIZE + 4), self->function(SIZE + 4));
	munmap((void *)self->function, CODE);
	self->function = map_code(self->code);
	EXPECT_EQ((void *)(SIZE + 5), self->function(SIZE + 5));
	finish(_metadata, self, 0);
	EXPECT_EQ(6, self->p.nr);
	EXPECT_TRUE(probed_is_clean(getpid(), (void *)self->function, self->code, 0));
}

static void maps_anew(void *arg, int step)
{
	FIXTURE_DATA(attack) *self = arg;
	void *(*function)(size_t n) = map_code(self->code);

	if (function(step) != (void *)(uintptr_t)step ||
	    !probed_is_clean(getpid(), (void *)function, self->code, 0))
		_exit(1);
}

TEST_F(attack, process_outside_the_target_maps_it_later_as_it_is)
{
	struct child child;

	row_of_file(self, 0);
	ASSERT_ZEROS(child_fork(&child, maps_anew, self), child_step(&child));
	start(_metadata, self);
	EXPECT_EQ(0, child_step(&child));
	self->function(SIZE);
	finish(_metadata, self, 0);
	EXPECT_EQ(0, child_step(&child));
	child_end(&child);
	EXPECT_EQ(1, self->p.nr);
}

TEST_F(attack, file_of_an_overlay_is_that_which_is_mapped)
{
	static const char options[] = "lowerdir=/tmp/pa/l,upperdir=/tmp/pa/u,workdir=/tmp/pa/w";
	void *(*function)(size_t n) = NULL;
	int mounted, fd = -1;

	mkdir("/tmp/pa", 0755);
	mkdir("/tmp/pa/l", 0755);
	mkdir("/tmp/pa/u", 0755);
	mkdir("/tmp/pa/w", 0755);
	mkdir("/tmp/pa/m", 0755);
	fd = code_file("/tmp/pa/l/f", NULL);
	close(fd);
	mounted = mount("o", "/tmp/pa/m", "overlay", 0, options);
	SKIP_UNLESS(!mounted, "no overlay can be mounted here");
	fd = open("/tmp/pa/m/f", O_RDONLY | O_CLOEXEC);
	ASSERT_LE(0, fd);
	function = map_code(fd);
	close(self->code);
	self->code = fd;
	row_of_file(self, 0);
	start(_metadata, self);
	EXPECT_EQ((void *)SIZE, function(SIZE));
	finish(_metadata, self, 0);
	EXPECT_EQ(1, self->p.nr);
	munmap((void *)function, CODE);
	umount2("/tmp/pa/m", MNT_DETACH);	/* the recorder has it still */
}

/* ---- who records ---- */

static _Atomic bool over;

static void *churn(void *arg)
{
	while (!over) {
		answers(SIZE);
		frees(answer);
		sched_yield();
	}
	return arg;
}

TEST_F(attack, recorder_that_is_killed_at_any_time_leaves_nothing)
{
	pthread_t thread;

	over = false;
	answer = self;
	ASSERT_EQ(0, pthread_create(&thread, NULL, churn, NULL));
	for (int round = 0; round < 6; round++) {
		pid_t pid = fork_bound();

		if (!pid) {
			if (probed_prepare(&self->p))
				_exit(1);
			while (!probed_start(&self->p) && !device_stop(&self->p.dev))
				;
			_exit(1);
		}
		while (is_clean(self, answers))
			sleep_ms(1);
		sleep_ms(2 * round);
		EXPECT_EQ(0, kill(pid, SIGKILL));
		waitpid(pid, NULL, 0);
		EXPECT_TRUES(is_clean(self, answers), is_clean(self, frees));
	}
	over = true;
	pthread_join(thread, NULL);
}

TEST_F(attack, many_recorders_share_a_place)
{
	enum { MANY = 16 };
	struct gprof_stats st;
	struct device devs[MANY];

	self->p.setup.buffer_size = 0;
	for (int i = 0; i < MANY; i++) {
		ASSERT_ZEROS(device_setup(&devs[i], &self->p.setup), device_start(&devs[i]));
	}
	answer = self;
	answers(SIZE);
	for (int i = 0; i < MANY; i += 2)
		ASSERT_EQ(0, device_stop(&devs[i]));
	answers(SIZE);
	EXPECT_FALSE(is_clean(self, answers));
	for (int i = 0; i < MANY; i++) {
		ASSERT_EQ(0, device_stats(&devs[i], GPROF_STATS_ALL_CPUS, &st));
		EXPECT_EQ(1 + (i & 1), st.out_produced);
		device_close(&devs[i]);
	}
	EXPECT_TRUE(is_clean(self, answers));
}

/* ---- who keeps an address space locked ---- */

#define HOGS		4
#define POPULATED	(64UL << 20)

struct locked {
	struct child hogs[HOGS];
	int code;
};

/* Maps the file, and is kept from going on while it has its address space locked, by hogs. */
static void keep_locked(void *arg, int step)
{
	const struct sched_param none = { 0 };
	const struct locked *locked = arg;

	if (!step) {
		if (pin_to(0) < 0 || map_code(locked->code) == MAP_FAILED)
			_exit(1);
		return;
	}
	if (sched_setscheduler(0, SCHED_IDLE, &none))
		_exit(2);
	for (;;) {
		void *p = mmap(NULL, POPULATED, PROT_READ | PROT_WRITE,
			       MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);

		if (p == MAP_FAILED || munmap(p, POPULATED))
			_exit(3);
	}
}

static void hog(void *arg, int step)
{
	if (!step) {
		if (pin_to(0) < 0)
			_exit(1);
		return;
	}
	burn_until(UINT64_MAX);
}

/* The longest fork of a stranger until @over. */
static uint64_t longest_fork(const atomic_bool *over)
{
	uint64_t longest = 0, began;

	while (!*over) {
		pid_t pid;

		began = monotonic_ns();
		pid = fork_bound();
		if (!pid)
			_exit(0);
		if (monotonic_ns() - began > longest)
			longest = monotonic_ns() - began;
		waitpid(pid, NULL, 0);
		sleep_ms(5);
	}
	return longest;
}

struct forker {
	atomic_bool over;
	uint64_t longest;
};

static void *forks_on(void *arg)
{
	struct forker *f = arg;

	pin_to(1);
	f->longest = longest_fork(&f->over);
	return NULL;
}

static int start_for_s(FIXTURE_DATA(attack) *self, unsigned int seconds, struct gprof_start *start)
{
	uint64_t end = monotonic_ns() + seconds * 1000000000ULL;
	int err;

	do {
		*start = (struct gprof_start){ .size = sizeof(*start) };
		err = device_ioctl(self->p.dev.fd, GPROF_IOC_START, start);
		if (!err)
			device_stop(&self->p.dev);
	} while (err != -EBUSY && monotonic_ns() < end);
	return err;
}

#define NOTICED_NS	(100 * 1000000ULL)
#define ROUNDS		3

/* Returns the longest fork of a stranger meanwhile. */
static uint64_t start_beside_forks(FIXTURE_DATA(attack) *self, struct gprof_start *start, int *err)
{
	struct forker forker = { 0 };
	pthread_t thread;

	if (pthread_create(&thread, NULL, forks_on, &forker))
		return UINT64_MAX;
	*err = start_for_s(self, 20, start);
	sleep_ms(200);
	forker.over = true;
	pthread_join(thread, NULL);
	return forker.longest;
}

/*
 * That process can take its lock between the try and the kernel's turn, though it hardly runs: not
 * in each of some rounds.
 * Any user can do all that, without the device; START waited for as long as that user liked.
 */
TEST_F(attack, process_that_keeps_its_memory_locked_is_named_and_no_fork_waits)
{
	struct locked with = { .code = self->code };
	struct forker quiet = { 0 };
	struct gprof_start start = { 0 };
	struct child locked;
	pthread_t thread;
	uint64_t longest = UINT64_MAX;
	int err = 0;

	SKIP_UNLESS(nr_online_cpus() > 1, "needs a second CPU");
	row_of_file(self, 0);
	ASSERT_EQ(0, probed_prepare(&self->p)) TH_LOG("reason %u", self->p.setup.out_reason);
	ASSERT_ZEROS(child_fork(&locked, keep_locked, &with), child_step(&locked));
	for (unsigned int i = 0; i < HOGS; i++) {
		ASSERT_ZEROS(child_fork(&with.hogs[i], hog, NULL), child_step(&with.hogs[i]));
		child_begin(&with.hogs[i]);
	}
	child_begin(&locked);
	ASSERT_LE(0, pin_to(1));

	ASSERT_EQ(0, pthread_create(&thread, NULL, forks_on, &quiet));
	sleep_ms(1000);
	quiet.over = true;
	pthread_join(thread, NULL);

	for (unsigned int i = 0; i < ROUNDS && longest > quiet.longest + NOTICED_NS; i++) {
		longest = start_beside_forks(self, &start, &err);
		TH_LOG("longest fork %llu us, alone %llu us", us_of(longest), us_of(quiet.longest));
		EXPECT_EQS(-EBUSY, err, GPROF_REASON_MAP_LOCKED, start.out_reason);
		EXPECT_EQ(locked.pid, (pid_t)start.out_attached);
	}
	EXPECT_GT(quiet.longest + NOTICED_NS, longest);
	for (unsigned int i = 0; i < HOGS; i++)
		child_end(&with.hogs[i]);
	child_end(&locked);
	/* Nothing is left of it, but what a STOP has left to be ended. */
	ASSERT_EQ(0, probed_start(&self->p));
	((void *(*)(size_t))self->function)(SIZE);
	finish(_metadata, self, 0);
	expect(_metadata, self, gettid(), SIZE, 1, 1);
}

TEST_HARNESS_MAIN
