// SPDX-License-Identifier: GPL-2.0-only
/*
 * block_test: waits of tasks, each once, with how long it lasted, what it was for, where
 * the task stood, and who ended it; those for locks also by themselves.
 *
 * What is expected is bounded by what the tasks see themselves: a wait is not shorter than
 * what was asked for, and together with the time until the task ran again not longer
 * than the call around it.
 */
#include <linux/futex.h>
#include <linux/userfaultfd.h>
#include <math.h>
#include <stdatomic.h>
#include "harness.h"
#include "device.h"
#include "reader.h"
#include "trace_words.h"
#include "workload.h"

#define MS	1000000ULL
#define RECORDERS	4
#define WAITS_MAX	20000
#define FRAMES		24

/*
 * What a wait may be shorter than what was asked for, which begins when the call sets its timer,
 * or somebody has looked: before the CPU is given away. An emulated one may stand still there.
 * Where time is a count of instructions (GPROF_EXACT) that is not long.
 */
static uint64_t drift(uint64_t ns)
{
	return ns / (getenv("GPROF_EXACT") ? 1000 : 50);
}

/* A sample, as far as it is of interest. */
struct told {
	uint32_t tid;
	uint32_t pid;		/* of the stack */
	uint16_t nr_kernel;
	uint16_t nr_user;
	uint64_t leaf;		/* of the user's half */
	uint64_t kernel[FRAMES];	/* the first of the kernel's half */
	uint64_t time;
	uint64_t ns;
	uint64_t runnable;
	uint64_t weight;
	uint64_t addr;
	unsigned int what;
	unsigned int ended;
	unsigned int lock;
};

struct recorder {
	union {
		struct gprof_block_params params;
		struct gprof_mutex_params mutex;
	};
	unsigned int kind;	/* GPROF_KIND_*; 0: BLOCK */
	uint32_t stack;		/* GPROF_STACK_F_* besides those of the user */
	struct gprof_setup setup;
	struct device dev;
	struct reader reader;
	struct gprof_stats st;
	struct told *told;
	unsigned int nr;
};

FIXTURE(block) {
	struct recorder r[RECORDERS];
	struct child child;
};

static void note(void *ctx, const struct reader_sample *s)
{
	struct recorder *r = ctx;
	struct told *t = &r->told[r->nr];
	const struct gprof_stack_rec *stack = s->stack;

	if (r->nr == WAITS_MAX)
		return;
	r->nr++;
	*t = (struct told){
		.tid = s->rec->tid, .time = s->rec->time, .ns = s->value,
		.runnable = GPROF_WAIT_RUNNABLE_NS(s->wait), .weight = s->weight,
		.what = GPROF_WAIT_FOR(s->wait), .ended = GPROF_WAIT_ENDED(s->wait),
		.lock = GPROF_WAIT_LOCK(s->wait), .addr = s->addr,
	};
	if (!stack)
		return;
	t->pid = stack->process.pid;
	t->nr_kernel = stack->nr_kernel;
	t->nr_user = stack->nr_user;
	if (stack->nr_user)
		t->leaf = stack->frames[stack->nr_kernel];
	for (unsigned int i = 0; i < FRAMES && i < stack->nr_kernel; i++)
		t->kernel[i] = stack->frames[i];
}

FIXTURE_SETUP(block) { }

static void forget(struct recorder *r)
{
	reader_free(&r->reader);
	device_close(&r->dev);
	free(r->told);
	*r = (struct recorder){ 0 };
}

FIXTURE_TEARDOWN(block)
{
	for (int i = 0; i < RECORDERS; i++)
		forget(&self->r[i]);
	child_end(&self->child);
}

static void set_up(struct __test_metadata *_metadata, struct recorder *r, uint64_t period,
		   uint32_t flags, uint32_t target, int id)
{
	r->params = (struct gprof_block_params){
		.size = sizeof(r->params), .period = period, .flags = flags,
	};
	r->setup = device_setup_kind(r->kind ?: GPROF_KIND_BLOCK, target, id, &r->params);
	r->setup.stack |= r->stack;
	r->setup.buffer_size = 1 << 19;
	ASSERT_EQ(0, device_setup(&r->dev, &r->setup)) TH_LOG("reason %u", r->setup.out_reason);
	ASSERT_ZEROS(device_map(&r->dev), reader_init(&r->reader, &r->dev));
	r->told = calloc(WAITS_MAX, sizeof(*r->told));
	ASSERT_NE(NULL, r->told);
	r->reader.on_sample = note;
	r->reader.ctx = r;
}

static void start(struct __test_metadata *_metadata, struct recorder *r)
{
	ASSERT_EQ(0, device_start(&r->dev));
}

/* Stops, reads all, and holds the numbers of the ledger to each other. */
static void stop(struct __test_metadata *_metadata, struct recorder *r)
{
	READER_END(&r->reader, &r->st);
	EXPECT_EQS(0, r->reader.unknown, 0, r->reader.without_task);
	EXPECT_EQ(0, device_lost(&r->st))
		TH_LOG("lost: full %llu, wait %llu", ull(r->st.out_lost[0]),
		       ull(r->st.out_lost[GPROF_LOST_WAIT]));
	EXPECT_EQ(r->st.out_produced, r->st.out_task + r->st.out_irq);
}

static void record(struct __test_metadata *_metadata, struct recorder *r, uint64_t period,
		   uint32_t flags)
{
	set_up(_metadata, r, period, flags, GPROF_TARGET_PROCESS, getpid());
	start(_metadata, r);
}

/* What was told of a task, for @what (or anything: -1). */
struct sum {
	unsigned int nr;
	uint64_t ns, runnable;
	unsigned int no_stack;
	const struct told *last;
};

static struct sum sum_of(const struct recorder *r, pid_t tid, int what)
{
	struct sum s = { 0 };

	for (unsigned int i = 0; i < r->nr; i++) {
		const struct told *t = &r->told[i];

		if (t->tid != (uint32_t)tid || (what >= 0 && t->what != (unsigned int)what))
			continue;
		s.nr++;
		s.ns += t->ns;
		s.runnable += t->runnable;
		s.no_stack += !t->nr_user;
		s.last = t;
	}
	return s;
}

/* ---- waiting, each in its own way, so many times for so long ---- */

static atomic_bool go;
static int go_word;

static void lets_go_of(int *word)
{
	__atomic_store_n(word, 1, __ATOMIC_SEQ_CST);
	syscall(SYS_futex, word, FUTEX_WAKE, 1 << 30, NULL, NULL, 0);
}

static void waits_for_its_word(void *arg, int step)
{
	while (!__atomic_load_n((int *)arg, __ATOMIC_SEQ_CST))
		syscall(SYS_futex, arg, FUTEX_WAIT, 0, NULL, NULL, 0);
}

struct waiter;

struct way {
	const char *name;
	unsigned int what;
	/* Makes what is waited for; false: not here. */
	bool (*prepare)(struct waiter *w);
	/* Waits until it is ended, or for ns where it ends itself. */
	bool (*wait)(struct waiter *w);
	/* Ends the wait; NULL: it ends itself. */
	bool (*end)(struct waiter *w);
	/* The call that it waits in, where it may sleep in others before; 0: it does not. */
	long call;
};

struct waiter {
	const struct way *way;
	pthread_t thread;
	_Atomic pid_t tid;
	unsigned int times;
	_Atomic unsigned int over;	/* of these */
	uint64_t ns;
	int fd[2];
	int word;
	char *page;
	_Atomic pid_t child;
	uint64_t asked;		/* at least, by the clock */
	uint64_t around;	/* at most */
	bool failed;
};

static bool sleeps(struct waiter *w)
{
	struct timespec t = { w->ns / 1000000000, w->ns % 1000000000 };

	return !syscall(SYS_nanosleep, &t, NULL);
}

static bool make_pipe(struct waiter *w)
{
	return !pipe(w->fd);
}

static bool make_pair(struct waiter *w)
{
	return !socketpair(AF_UNIX, SOCK_STREAM, 0, w->fd);
}

static bool reads(struct waiter *w)
{
	char byte;

	return read(w->fd[0], &byte, 1) == 1;
}

static bool receives(struct waiter *w)
{
	char byte;

	return recv(w->fd[0], &byte, 1, 0) == 1;
}

static bool polls(struct waiter *w)
{
	struct pollfd p = { .fd = w->fd[0], .events = POLLIN };

	return poll(&p, 1, -1) == 1 && reads(w);
}

static bool writes(struct waiter *w)
{
	return write(w->fd[1], "", 1) == 1;
}

static bool waits_for_word(struct waiter *w)
{
	while (!__atomic_load_n(&w->word, __ATOMIC_SEQ_CST))
		syscall(SYS_futex, &w->word, FUTEX_WAIT_PRIVATE, 0, NULL, NULL, 0);
	__atomic_store_n(&w->word, 0, __ATOMIC_SEQ_CST);
	return true;
}

static bool wakes_word(struct waiter *w)
{
	__atomic_store_n(&w->word, 1, __ATOMIC_SEQ_CST);
	return syscall(SYS_futex, &w->word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0) == 1;
}

/* A page that comes when the test says so. */
static bool make_page(struct waiter *w)
{
	struct uffdio_api api = { .api = UFFD_API };
	struct uffdio_register reg = { .mode = UFFDIO_REGISTER_MODE_MISSING };
	long size = sysconf(_SC_PAGESIZE);

	w->fd[0] = syscall(SYS_userfaultfd, O_CLOEXEC);
	if (w->fd[0] < 0 || ioctl(w->fd[0], UFFDIO_API, &api))
		return false;
	w->page = private_memory(size);
	reg.range.start = (uintptr_t)w->page;
	reg.range.len = size;
	return !ioctl(w->fd[0], UFFDIO_REGISTER, &reg);
}

static bool touches(struct waiter *w)
{
	*(volatile char *)w->page = 1;
	return !madvise(w->page, sysconf(_SC_PAGESIZE), MADV_DONTNEED);
}

static bool gives_page(struct waiter *w)
{
	struct uffdio_zeropage zero = {
		.range = { .start = (uintptr_t)w->page, .len = sysconf(_SC_PAGESIZE) },
	};

	return !ioctl(w->fd[0], UFFDIO_ZEROPAGE, &zero);
}

static bool waits_for_child(struct waiter *w)
{
	pid_t pid = fork_bound();
	char byte;

	if (!pid) {
		if (read(w->fd[0], &byte, 1) != 1)
			_exit(1);
		_exit(0);
	}
	return pid > 0 && waitpid(pid, NULL, 0) == pid;
}

static sigset_t block_signal(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	return set;
}

static bool waits_for_signal(struct waiter *w)
{
	sigset_t set = block_signal();

	return sigwaitinfo(&set, NULL) == SIGUSR1;
}

static bool sends_signal(struct waiter *w)
{
	return !syscall(SYS_tgkill, getpid(), w->tid, SIGUSR1);
}

static const struct way ways[] = {
	{ "sleep", GPROF_WAIT_FOR_SLEEP, NULL, sleeps, NULL },
	{ "pipe", GPROF_WAIT_FOR_PIPE, make_pipe, reads, writes },
	{ "socket, by recv", GPROF_WAIT_FOR_SOCKET, make_pair, receives, writes },
	{ "socket, by read", GPROF_WAIT_FOR_SOCKET, make_pair, reads, writes },
	{ "poll", GPROF_WAIT_FOR_POLL, make_pipe, polls, writes },
	{ "futex", GPROF_WAIT_FOR_FUTEX, NULL, waits_for_word, wakes_word },
	{ "fault", GPROF_WAIT_FOR_FAULT, make_page, touches, gives_page },
	{ "signal", GPROF_WAIT_FOR_SIGNAL, NULL, waits_for_signal, sends_signal },
	{ "child", GPROF_WAIT_FOR_CHILD, make_pipe, waits_for_child, writes, SYS_wait4 },
};

/* It sleeps, and has for a while. */
static void until_asleep(pid_t tid)
{
	while (!task_is(tid, "SD"))
		sched_yield();
}

/* It sleeps where it is to; to fork takes long on a busy host, and sleeps too. */
static void until_waiting(struct waiter *w)
{
	char path[64], text[256];

	until_asleep(w->tid);
	snprintf(path, sizeof(path), "/proc/self/task/%d/syscall", w->tid);
	while (w->way->call && !file_read(path, text, sizeof(text)) &&
	       strtol(text, NULL, 10) != w->way->call)
		sched_yield();
}

static void *run(void *arg)
{
	struct waiter *w = arg;

	w->tid = gettid();
	while (!go)
		syscall(SYS_futex, &go_word, FUTEX_WAIT_PRIVATE, 0, NULL, NULL, 0);
	for (unsigned int i = 0; i < w->times; i++) {
		uint64_t from = monotonic_ns();

		w->failed |= !w->way->wait(w);
		w->around += monotonic_ns() - from;
		w->over++;
	}
	return NULL;
}

static bool begin(struct waiter *w, const struct way *way, unsigned int times, uint64_t ns)
{
	*w = (struct waiter){ .way = way, .times = times, .ns = ns };
	if (way->prepare && !way->prepare(w))
		return false;
	if (pthread_create(&w->thread, NULL, run, w))
		return false;
	while (!w->tid)
		sched_yield();
	return true;
}

/* A thread that begins waits until it is let go. */
static void hold_back(void)
{
	go = false;
	go_word = 0;
}

static void let_go(void)
{
	go = true;
	__atomic_store_n(&go_word, 1, __ATOMIC_SEQ_CST);
	syscall(SYS_futex, &go_word, FUTEX_WAKE_PRIVATE, 1 << 30, NULL, NULL, 0);
}

/* Ends each of its waits after so long. */
static void serve(struct waiter *w)
{
	for (unsigned int i = 0; w->way->end && i < w->times; i++) {
		uint64_t from;

		until_waiting(w);
		from = monotonic_ns();
		sleep_ms(w->ns / MS);
		w->asked += monotonic_ns() - from;
		w->failed |= !w->way->end(w);
		/* A wait is over before the next is looked for. */
		while (w->over <= i)
			sched_yield();
	}
	if (!w->way->end)
		w->asked = w->ns * w->times;
	pthread_join(w->thread, NULL);
	if (w->fd[0] > 0)
		close(w->fd[0]);
	if (w->fd[1] > 0)
		close(w->fd[1]);
}

/* ---- how long, what for, where ---- */

TEST_F(block, three_sleepers_have_what_they_slept)
{
	struct recorder *r = &self->r[0];
	struct waiter w[3];

	hold_back();
	for (unsigned int i = 0; i < 3; i++)
		ASSERT_TRUE(begin(&w[i], &ways[0], 20, (i + 1) * 10 * MS));
	record(_metadata, r, 1, 0);
	let_go();
	for (unsigned int i = 0; i < 3; i++)
		serve(&w[i]);
	stop(_metadata, r);
	for (unsigned int i = 0; i < 3; i++) {
		struct sum s = sum_of(r, w[i].tid, GPROF_WAIT_FOR_SLEEP);

		TH_LOG("%u ms: slept %llu us in %u, waited for a CPU %llu us, of %llu us",
		       (i + 1) * 10, us_of(s.ns), s.nr, us_of(s.runnable), us_of(w[i].around));
		EXPECT_EQS(w[i].times, s.nr, 0, s.no_stack);
		EXPECT_LE(w[i].asked - drift(w[i].asked), s.ns);
		EXPECT_GE(w[i].around, s.ns + s.runnable);
		/* What is left out is the call itself, which takes long on a busy host. */
		if (getenv("GPROF_EXACT"))
			EXPECT_LE(w[i].around * 9 / 10, s.ns + s.runnable);
	}
}

TEST_F(block, each_wait_is_told_what_it_was_for)
{
	block_signal();
	for (unsigned int i = 0; i < ARRAY_SIZE(ways); i++) {
		struct recorder *r = &self->r[0];
		unsigned int wanted, others;
		struct sum s, all;
		struct waiter w;

		hold_back();
		if (!begin(&w, &ways[i], 5, 10 * MS)) {
			TH_LOG("%s: not here", ways[i].name);
			EXPECT_EQ(GPROF_WAIT_FOR_FAULT, ways[i].what);
			continue;
		}
		record(_metadata, r, 1, 0);
		let_go();
		serve(&w);
		stop(_metadata, r);
		s = sum_of(r, w.tid, ways[i].what);
		all = sum_of(r, w.tid, -1);
		TH_LOG("%s: %u of %u waits, %llu us of %llu to %llu", ways[i].name, s.nr, all.nr,
		       us_of(s.ns), us_of(w.asked), us_of(w.around));
		EXPECT_FALSE(w.failed);
		/* Amid a fault of another page it may wait for who changes the mappings. */
		others = ways[i].what == GPROF_WAIT_FOR_FAULT ? 2 : 0;
		/* And that of the word that let it go. */
		wanted = 5 + (ways[i].what == GPROF_WAIT_FOR_FUTEX);
		EXPECT_TRUE(s.nr >= wanted && s.nr <= wanted + others)
			TH_LOG("%s; the last was for %u", ways[i].name,
			       all.last ? all.last->what : 0);
		EXPECT_EQ(0, s.no_stack);
		EXPECT_LE(w.asked - drift(w.asked), s.ns) TH_LOG("%s", ways[i].name);
		if (ways[i].what != GPROF_WAIT_FOR_FUTEX)
			EXPECT_GE(w.around, s.ns + s.runnable) TH_LOG("%s", ways[i].name);
		forget(r);
	}
}

/* In the words of its switches, with no stack and no call recorded. */
TEST_F(block, a_trace_tells_what_each_wait_was_for)
{
	block_signal();
	for (unsigned int i = 0; i < ARRAY_SIZE(ways); i++) {
		struct gprof_trace_params params = {
			.size = sizeof(params), .flags = GPROF_TRACE_F_REASONS,
		};
		struct gprof_setup setup = device_setup_kind(GPROF_KIND_TRACE, GPROF_TARGET_PROCESS,
							     getpid(), &params);
		unsigned int nr = 0, others = 0, untold = 0;
		struct trace_words words;
		struct gprof_stats st;
		struct device dev;
		struct waiter w;

		hold_back();
		if (!begin(&w, &ways[i], 5, 10 * MS)) {
			EXPECT_EQ(GPROF_WAIT_FOR_FAULT, ways[i].what) TH_LOG("%s", ways[i].name);
			continue;
		}
		setup.buffer_size = 1 << 19;
		ASSERT_EQ(0, device_record(&dev, &setup)) TH_LOG("reason %u", setup.out_reason);
		ASSERT_EQ(0, trace_words_init(&words, &dev));
		let_go();
		serve(&w);
		TRACE_WORDS_END(&words, &dev, &st);
		for (size_t j = 0; j < words.nr; j++) {
			const struct trace_word *at = &words.words[j];
			unsigned int state = at->arg & ~GPROF_TRACE_NOT_TARGET;

			if (at->what != GPROF_TRACE_SWITCH || at->running != (uint32_t)w.tid ||
			    (state != GPROF_TRACE_PREV_SLEEPS && state != GPROF_TRACE_PREV_BLOCKED))
				continue;
			untold += !at->reason;
			nr += at->reason == 1 + ways[i].what;
			/* A fork and a fault may wait for others too. */
			others += at->reason != 1 + ways[i].what &&
				  state == GPROF_TRACE_PREV_SLEEPS;
		}
		TH_LOG("%s: %u, and %u for others", ways[i].name, nr, others);
		EXPECT_FALSE(w.failed);
		EXPECT_EQ(0, untold);
		EXPECT_LE(5, nr) TH_LOG("%s", ways[i].name);
		/* The word that let it go. */
		EXPECT_GE(1, others) TH_LOG("%s", ways[i].name);
		trace_words_free(&words);
		device_close(&dev);
	}
}

struct burner {
	pid_t sleeper;
	uint64_t ns;
};

/* Once it sleeps: before, it would keep it from that. */
static void *burn(void *arg)
{
	const struct sched_param p = { .sched_priority = 10 };
	struct burner *b = arg;

	pin_to(online_cpu(0));
	sched_setscheduler(0, SCHED_FIFO, &p);
	while (!go || !task_is(b->sleeper, "S"))
		sleep_ms(1);
	burn_until(monotonic_ns() + b->ns);
	return NULL;
}

/* What the kernel itself has counted of this task's waiting for a CPU */
static uint64_t run_delay(void)
{
	unsigned long long ran = 0, waited = 0;
	char text[128];

	if (file_read("/proc/thread-self/schedstat", text, sizeof(text)) < 0 ||
	    sscanf(text, "%llu %llu", &ran, &waited) != 2)
		return 0;
	return waited;
}

/* The timer ends its sleep, but the CPU is another's, for longer. */
TEST_F(block, waiting_for_a_cpu_is_told_apart)
{
	struct recorder *r = &self->r[0];
	struct burner burner = { .sleeper = gettid(), .ns = 700 * MS };
	struct timespec t = { 0, 200 * MS };
	uint64_t before, from, around, beside, waited = 0;
	pthread_t other;
	struct sum s;
	cpu_set_t all;

	/* There a thread ends the sleep, and gets no CPU for that either. */
	SKIP_UNLESS(file_number("/sys/kernel/realtime") != 1, "an RT kernel");
	SKIP_UNLESS(kernel_has_sched_info(), "this kernel does not say how long a task waited");
	sched_getaffinity(0, sizeof(all), &all);
	ASSERT_LE(0, pin_to(online_cpu(0)));
	/* A timer of an emulator may be as late as the burner is long. */
	for (unsigned int tries = 0; waited < 200 * MS && tries < 5; tries++) {
		forget(r);
		go = false;
		ASSERT_EQ(0, pthread_create(&other, NULL, burn, &burner));
		record(_metadata, r, 1, 0);
		go = true;
		before = monotonic_ns();
		waited = run_delay();
		from = monotonic_ns();
		ASSERT_EQ(0, syscall(SYS_nanosleep, &t, NULL));
		around = monotonic_ns() - from;
		waited = run_delay() - waited;
		beside = monotonic_ns() - before - around;
		stop(_metadata, r);
		pthread_join(other, NULL);
	}
	sched_setaffinity(0, sizeof(all), &all);
	s = sum_of(r, gettid(), GPROF_WAIT_FOR_SLEEP);
	TH_LOG("%u waits: %llu us, %llu us for a CPU, of %llu us", s.nr, us_of(s.ns),
	       us_of(s.runnable), us_of(around));
	ASSERT_EQ(1, s.nr);
	EXPECT_LE(200 * MS - drift(200 * MS), s.ns);
	EXPECT_WITHIN(200 * MS, s.runnable, waited + 10 * MS);
	/* The kernel's count has also what who looks for the sleep kept it waiting before. */
	EXPECT_GE(s.runnable + beside + 10 * MS, waited);
	EXPECT_GE(around, s.ns + s.runnable);
}

/* ---- the window ---- */

TEST_F(block, waits_of_before_count_from_start_and_those_that_go_on_until_stop)
{
	struct recorder *r = &self->r[0];
	struct waiter before, after, through;
	uint64_t window, ended;
	struct sum s;

	go = true;
	go_word = 1;
	ASSERT_TRUES(begin(&before, &ways[1], 1, 0), begin(&through, &ways[1], 1, 0));
	until_asleep(before.tid);
	until_asleep(through.tid);
	sleep_ms(100);
	record(_metadata, r, 1, 0);
	sleep_ms(50);
	ASSERT_TRUE(before.way->end(&before));
	pthread_join(before.thread, NULL);
	/* After it: its CPU was told to wake it, and may have come to it late. */
	ended = monotonic_ns();
	ASSERT_TRUE(begin(&after, &ways[1], 1, 0));
	until_asleep(after.tid);
	sleep_ms(70);
	stop(_metadata, r);
	sleep_ms(100);
	ASSERT_TRUES(after.way->end(&after), through.way->end(&through));
	pthread_join(after.thread, NULL);
	pthread_join(through.thread, NULL);
	window = r->st.out_stopped_ns - r->st.out_started_ns;

	s = sum_of(r, before.tid, GPROF_WAIT_FOR_PIPE);
	TH_LOG("before: %u, %llu us, ended by %llu", s.nr, us_of(s.ns),
	       us_of(ended - r->st.out_started_ns));
	EXPECT_EQS(1, s.nr, 0, s.no_stack);
	EXPECT_WITHIN(50 * MS - drift(50 * MS), s.ns,
		      ended - r->st.out_started_ns + drift(50 * MS));

	s = sum_of(r, after.tid, GPROF_WAIT_FOR_PIPE);
	TH_LOG("after: %u, %llu us", s.nr, us_of(s.ns));
	EXPECT_EQ(1, s.nr);
	EXPECT_WITHIN(70 * MS - drift(70 * MS), s.ns, window);
	ASSERT_NE(NULL, s.last);
	EXPECT_EQ(GPROF_WAIT_ENDED_NOT, s.last->ended);
	/* this process', which calls STOP */
	EXPECT_EQ(0, s.no_stack);

	s = sum_of(r, through.tid, GPROF_WAIT_FOR_PIPE);
	TH_LOG("through: %u, %llu us of %llu", s.nr, us_of(s.ns), us_of(window));
	/* By one clock. */
	EXPECT_EQS(1, s.nr, window, s.ns, 0, s.no_stack);
}

struct rester {
	pid_t tid;
	volatile bool rested;
};

static void *rest_and_sleep(void *arg)
{
	struct rester *n = arg;

	n->tid = gettid();
	for (int i = 0; i < 20; i++)
		sleep_ms(2);
	n->rested = true;
	sleep_ms(300);
	return NULL;
}

/* Of a wait that goes on nothing is of those before it. */
TEST_F(block, a_wait_that_goes_on_is_not_woken_as_the_one_before)
{
	struct recorder *r = &self->r[0];
	struct rester n = { 0 };
	unsigned int i, nr = 0;
	pthread_t thread;

	record(_metadata, r, 1, 0);
	ASSERT_EQ(0, pthread_create(&thread, NULL, rest_and_sleep, &n));
	while (!n.rested)
		sleep_ms(1);
	until_asleep(n.tid);
	sleep_ms(100);
	stop(_metadata, r);
	pthread_join(thread, NULL);
	/* Who calls STOP tells it, in the ring of any CPU. */
	for (i = 0; i < r->nr; i++) {
		const struct told *t = &r->told[i];

		if (t->tid != (uint32_t)n.tid || t->ended != GPROF_WAIT_ENDED_NOT)
			continue;
		nr++;
		EXPECT_WITHIN(100 * MS - drift(100 * MS), t->ns, 300 * MS + drift(300 * MS));
	}
	EXPECT_EQ(1, nr);
	EXPECT_LE(2, sum_of(r, n.tid, GPROF_WAIT_FOR_SLEEP).nr);
}

TEST_F(block, started_again_it_knows_nothing_of_before)
{
	struct recorder *r = &self->r[0];
	struct waiter w;
	uint64_t sum = 0, windows = 0;

	go = true;
	go_word = 1;
	ASSERT_TRUE(begin(&w, &ways[1], 1, 0));
	until_asleep(w.tid);
	set_up(_metadata, r, 1, 0, GPROF_TARGET_THREAD, w.tid);
	for (unsigned int i = 0; i < 5; i++) {
		start(_metadata, r);
		sleep_ms(10);
		stop(_metadata, r);
		windows += r->st.out_stopped_ns - r->st.out_started_ns;
	}
	ASSERT_EQ(5, r->nr);
	for (unsigned int i = 0; i < r->nr; i++)
		sum += r->told[i].ns;
	EXPECT_EQS(windows, sum, 5, r->st.out_count);
	ASSERT_TRUE(w.way->end(&w));
	pthread_join(w.thread, NULL);
}

#define IDLERS	1000
#define NAPPERS	16

/* One that sleeps until a time, again and again. */
struct napper {
	pthread_t thread;
	_Atomic pid_t tid;
	uint64_t until;
	bool slept;
	_Atomic unsigned int turn, done;
	atomic_bool ends;
};

/* How often this thread has gone to sleep. */
static long sleeps_so_far(void)
{
	struct rusage used;

	getrusage(RUSAGE_THREAD, &used);
	return used.ru_nvcsw;
}

static void *idles(void *arg)
{
	waits_for_its_word(arg, 0);
	return NULL;
}

static int idle_word;

/* NULL: there are not as many. */
static pthread_t *begin_idlers(unsigned int nr)
{
	pthread_t *idlers = calloc(nr, sizeof(*idlers));
	pthread_attr_t small;

	idle_word = 0;
	pthread_attr_init(&small);
	pthread_attr_setstacksize(&small, 1 << 16);
	for (unsigned int i = 0; i < nr; i++)
		if (pthread_create(&idlers[i], &small, idles, &idle_word))
			return NULL;
	return idlers;
}

static void end_idlers(pthread_t *idlers, unsigned int nr)
{
	lets_go_of(&idle_word);
	for (unsigned int i = 0; i < nr; i++)
		pthread_join(idlers[i], NULL);
	free(idlers);
}

static void *naps_until(void *arg)
{
	struct napper *n = arg;

	n->tid = gettid();
	for (unsigned int turn = 1; ; turn++) {
		struct timespec t;
		long before;

		while (n->turn < turn)
			syscall(SYS_futex, &n->turn, FUTEX_WAIT_PRIVATE, turn - 1, NULL, NULL, 0);
		if (n->ends)
			return NULL;
		t.tv_sec = n->until / 1000000000;
		t.tv_nsec = n->until % 1000000000;
		before = sleeps_so_far();
		syscall(SYS_clock_nanosleep, CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL);
		n->slept = sleeps_so_far() > before;
		n->done = turn;
	}
}

static void next_turn(struct napper *n)
{
	n->turn++;
	syscall(SYS_futex, &n->turn, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

/* Threads that START comes to last, having many to look at, wake while it does. */
TEST_F(block, waits_that_end_while_start_looks_for_them_are_told)
{
	struct recorder *r = &self->r[0];
	struct napper nappers[NAPPERS] = { 0 };
	unsigned int i, turn, after = 0, missed = 0, twice = 0;
	pthread_t *idlers = begin_idlers(IDLERS);
	uint64_t now, start_ns = 0;

	ASSERT_NE(NULL, idlers);
	for (i = 0; i < NAPPERS; i++)
		ASSERT_EQ(0, pthread_create(&nappers[i].thread, NULL, naps_until, &nappers[i]));
	set_up(_metadata, r, 1, 0, GPROF_TARGET_PROCESS, getpid());
	/* A busy host may come to START when all have woken. */
	for (turn = 1; turn <= 40 || (after <= 30 && turn <= 400); turn++) {
		/* Over twice as long as the last START took. */
		now = monotonic_ns() + 40 * MS;
		for (i = 0; i < NAPPERS; i++) {
			nappers[i].until = now + i * 2 * start_ns / NAPPERS;
			next_turn(&nappers[i]);
		}
		while (monotonic_ns() < now)
			sleep_ms(1);
		r->nr = 0;
		start_ns = monotonic_ns();
		start(_metadata, r);
		start_ns = monotonic_ns() - start_ns;
		for (i = 0; i < NAPPERS; i++)
			while (nappers[i].done < turn)
				sleep_ms(1);
		stop(_metadata, r);
		for (i = 0; i < NAPPERS; i++) {
			unsigned int nr = sum_of(r, nappers[i].tid, GPROF_WAIT_FOR_SLEEP).nr;
			bool within = nappers[i].until > r->st.out_started_ns;

			/* Who was late to fall asleep has not slept, or did within. */
			after += within;
			missed += within && nappers[i].slept && !nr;
			twice += nr > 1;
		}
		/* Each is counted when it is found, or begins. */
		EXPECT_EQ(r->reader.samples, r->st.out_count);
	}
	for (i = 0; i < NAPPERS; i++) {
		nappers[i].ends = true;
		next_turn(&nappers[i]);
		pthread_join(nappers[i].thread, NULL);
	}
	end_idlers(idlers, IDLERS);
	TH_LOG("%u naps ended after START, of which %u were not told; it took %llu us", after,
	       missed, us_of(start_ns));
	EXPECT_LT(30, after);
	EXPECT_EQS(0, missed, 0, twice);
}

/* There is room for the waits of as many as there were at SETUP, and some; others are lost. */
TEST_F(block, more_waits_than_there_is_room_for_are_lost_and_counted)
{
	const unsigned int nr = 3000;
	struct recorder *r = &self->r[0];
	unsigned int i, told = 0;
	pthread_t *idlers;

	set_up(_metadata, r, 1, 0, GPROF_TARGET_PROCESS, getpid());
	idlers = begin_idlers(nr);
	ASSERT_NE(NULL, idlers);
	sleep_ms(200);
	start(_metadata, r);
	ASSERT_EQ(0, device_stop(&r->dev));
	ASSERT_LE(0, reader_read(&r->reader));
	ASSERT_EQ(0, device_stats(&r->dev, GPROF_STATS_ALL_CPUS, &r->st));
	for (i = 0; i < r->nr; i++)
		told += r->told[i].what == GPROF_WAIT_FOR_FUTEX;
	TH_LOG("%u of %llu told, %llu lost for want of a place", told, ull(r->st.out_count),
	       ull(r->st.out_lost[GPROF_LOST_WAIT]));
	EXPECT_LTS(0, r->st.out_lost[GPROF_LOST_WAIT], nr / 2, told);
	EXPECT_EQ(r->st.out_count, r->reader.samples + device_lost(&r->st));
	end_idlers(idlers, nr);
}

/* One that is to run at once, now and then, and how late it was. */
struct urgent {
	atomic_bool ends;
	_Atomic uint64_t late_ns;
};

static void *runs_urgently(void *arg)
{
	const struct sched_param first = { .sched_priority = 1 };
	const struct timespec pause = { 0, 100000 };
	struct urgent *u = arg;

	if (pin_to(online_cpu(0)) || sched_setscheduler(0, SCHED_FIFO, &first))
		u->ends = true;
	while (!u->ends) {
		uint64_t ns = monotonic_ns();

		nanosleep(&pause, NULL);
		ns = monotonic_ns() - ns;
		if (ns > u->late_ns)
			u->late_ns = ns;
	}
	return NULL;
}

/* Now and then, not for as long as it works. */
TEST_F(block, start_lets_others_run_while_it_looks_at_many_tasks)
{
	const unsigned int nr = 3000;
	struct recorder *r = &self->r[0];
	struct urgent urgent = { 0 };
	pthread_t *idlers, thread;
	uint64_t works, late;

	SKIP_UNLESS(getenv("GPROF_ICOUNT"), "a host takes its time too");
	idlers = begin_idlers(nr);
	ASSERT_NE(NULL, idlers);
	ASSERT_ZEROS(pin_to(online_cpu(0)), pthread_create(&thread, NULL, runs_urgently, &urgent));
	set_up(_metadata, r, 1, 0, GPROF_TARGET_SYSTEM, 0);
	sleep_ms(10);
	works = thread_cpu_ns();
	urgent.late_ns = 0;
	start(_metadata, r);
	late = urgent.late_ns;
	works = thread_cpu_ns() - works;
	ASSERT_EQ(0, device_stop(&r->dev));
	TH_LOG("START works for %llu us, another is %llu late", us_of(works), us_of(late));
	EXPECT_LT(late, works / 2);
	EXPECT_FALSE(urgent.ends);
	urgent.ends = true;
	pthread_join(thread, NULL);
	end_idlers(idlers, nr);
}

/* ---- who ended it ---- */

/* An interrupt, but a softirq on RT kernels. */
static bool by_timer(const struct told *t)
{
	return t->ended == GPROF_WAIT_ENDED_BY_IRQ || t->ended == GPROF_WAIT_ENDED_BY_SOFTIRQ;
}

TEST_F(block, waker_is_told)
{
	struct recorder *r = &self->r[0], *own = &self->r[1];
	const struct told *culprit = NULL;
	unsigned int i, by_irq = 0, by_task = 0;
	struct waiter w, s;
	uint64_t total = 0;

	hold_back();
	ASSERT_TRUES(begin(&w, &ways[5], 10, 10 * MS), begin(&s, &ways[0], 10, 10 * MS));
	set_up(_metadata, own, 1, 0, GPROF_TARGET_PROCESS, getpid());
	record(_metadata, r, 1, GPROF_BLOCK_F_WAKER);
	start(_metadata, own);
	let_go();
	serve(&w);
	serve(&s);
	stop(_metadata, own);
	stop(_metadata, r);
	for (i = 0; i < r->nr; i++) {
		const struct told *t = &r->told[i];

		by_irq += by_timer(t) && t->what == GPROF_WAIT_FOR_SLEEP && !t->tid && !t->nr_user;
		if (t->what != GPROF_WAIT_FOR_FUTEX || t->ended != GPROF_WAIT_ENDED_BY_TASK)
			continue;
		if (t->tid == (uint32_t)gettid() && t->pid == (uint32_t)getpid() && t->nr_user) {
			by_task++;
			total += t->ns;
			culprit = t;
		}
	}
	TH_LOG("%u by this thread, %llu us of %llu; %u by an interrupt", by_task, us_of(total),
	       us_of(w.asked), by_irq);
	/* And that of the word that let it go. */
	EXPECT_WITHIN(10, by_task, 12);
	EXPECT_LE(w.asked - drift(w.asked), total);
	/* nanosleep of s, and of this thread in serve() */
	EXPECT_LE(20, by_irq);
	ASSERT_NE(NULL, culprit);
	EXPECT_EQ(0, culprit->runnable);
	EXPECT_EQ(10, sum_of(own, w.tid, GPROF_WAIT_FOR_FUTEX).nr -
		      !!(sum_of(own, w.tid, GPROF_WAIT_FOR_FUTEX).nr > 10));
}

static void *burns(void *arg)
{
	while (!*(volatile bool *)arg)
		;
	return NULL;
}

/* Whose CPU it came on has nothing to do with it, and may be anybody's. */
TEST_F(block, interrupt_that_ends_a_wait_has_no_user_frames)
{
	struct recorder *r = &self->r[0];
	unsigned int i, by_irq = 0, of_kernel = 0, of_user = 0;
	bool done = false;
	pthread_t other;
	cpu_set_t all;

	sched_getaffinity(0, sizeof(all), &all);
	ASSERT_LE(0, pin_to(online_cpu(0)));
	ASSERT_EQ(0, pthread_create(&other, NULL, burns, &done));
	r->stack = GPROF_STACK_F_KERNEL;
	record(_metadata, r, 1, GPROF_BLOCK_F_WAKER);
	for (i = 0; i < 20; i++)
		sleep_ms(10);
	stop(_metadata, r);
	*(volatile bool *)&done = true;
	pthread_join(other, NULL);
	sched_setaffinity(0, sizeof(all), &all);
	for (i = 0; i < r->nr; i++) {
		const struct told *t = &r->told[i];

		by_irq += by_timer(t) && t->what == GPROF_WAIT_FOR_SLEEP;
		of_kernel += by_timer(t) && t->nr_kernel;
		of_user += by_timer(t) && t->nr_user;
	}
	TH_LOG("%u by an interrupt, %u with the kernel's frames", by_irq, of_kernel);
	EXPECT_LE(20, by_irq);
	EXPECT_EQS(by_irq, of_kernel, 0, of_user);
}

static void wake_word_of(void *arg, int step)
{
	/* Who wakes a task that has not left its CPU yet is not known. */
	sleep_ms(10);
	lets_go_of(arg);
}

/* Own waits may be told, but not what others do, nor where the kernel is. */
TEST_F(block, owner_without_privilege_sees_neither_others_nor_the_kernel)
{
	struct recorder *r = &self->r[0], *waker = &self->r[1];
	int *word = shared_memory(4096);
	/* Memory is another matter; before 5.16 users have little of it. */
	const struct rlimit enough = { 64 << 20, 64 << 20 };
	unsigned int i, strangers = 0, others = 0, kernel = 0;
	struct sum s;

	ASSERT_NE(MAP_FAILED, word);
	/* a child of root's: not the target's, as it was there before */
	ASSERT_ZEROS(child_fork(&self->child, wake_word_of, word),
		     setrlimit(RLIMIT_MEMLOCK, &enough), become(1234));
	record(_metadata, r, 1, 0);
	set_up(_metadata, waker, 1, GPROF_BLOCK_F_WAKER, GPROF_TARGET_PROCESS, getpid());
	start(_metadata, waker);
	for (i = 0; i < 5; i++) {
		*(volatile int *)word = 0;
		ASSERT_EQ(0, child_begin(&self->child));
		while (!*(volatile int *)word)
			syscall(SYS_futex, word, FUTEX_WAIT, 0, NULL, NULL, 0);
		ASSERT_EQ(0, child_wait(&self->child));
	}
	sleep_ms(5);
	stop(_metadata, waker);
	stop(_metadata, r);
	for (i = 0; i < waker->nr; i++) {
		const struct told *t = &waker->told[i];

		strangers += t->ended == GPROF_WAIT_ENDED_BY_NOT_TARGET && !t->tid;
		others += t->tid && t->tid != (uint32_t)getpid();
		kernel += t->nr_kernel;
	}
	for (i = 0; i < r->nr; i++)
		kernel += r->told[i].nr_kernel;
	s = sum_of(r, getpid(), GPROF_WAIT_FOR_SLEEP);
	EXPECT_EQS(1, s.nr, 0, s.no_stack, 0, others, 0, kernel);
	EXPECT_LE(1, strangers + !sum_of(r, getpid(), GPROF_WAIT_FOR_FUTEX).nr);
}

/* ---- how many ---- */

/* So short that there are many, though some are over before they have begun. */
#define NAP_NS	100000

static void *naps(void *arg)
{
	for (unsigned int i = 0; i < *(unsigned int *)arg; i++) {
		struct timespec t = { 0, NAP_NS };

		syscall(SYS_nanosleep, &t, NULL);
	}
	return NULL;
}

/* What a wait counts for here: one that the host made long would outweigh all others. */
#define COUNTED_NS	(10 * NAP_NS)

#define RUNS	200

/*
 * Of all runs: the waits that there were and those of them that were taken; what samples
 * stand for less what there was, and its variance.
 */
struct thinned {
	unsigned int waits, taken;
	double off[2];
	double variance[2];
};

/* 100 naps, told to all recorders; each of the runs draws for itself. */
static void take_naps(struct __test_metadata *_metadata, FIXTURE_DATA(block) *self,
		      const uint64_t *periods, struct thinned *sums)
{
	unsigned int n = 100, i, j, k;
	double all[2] = { 0 }, square[2] = { 0 };
	uint64_t before = self->r[0].st.out_count;

	for (i = 0; i < RECORDERS; i++)
		start(_metadata, &self->r[i]);
	naps(&n);
	for (i = 0; i < RECORDERS; i++) {
		self->r[RECORDERS - 1 - i].nr = 0;
		stop(_metadata, &self->r[RECORDERS - 1 - i]);
	}
	for (i = 0; i < RECORDERS; i++) {
		double sum[2] = { 0 };

		for (j = 0; j < self->r[i].nr; j++) {
			const struct told *t = &self->r[i].told[j];
			double ns = t->ns < COUNTED_NS ? t->ns : COUNTED_NS;

			/* not those between one START, or STOP, and another */
			if (t->what != GPROF_WAIT_FOR_SLEEP)
				continue;
			EXPECT_EQ(periods[i], t->weight);
			sum[0] += t->weight;
			sum[1] += t->weight * ns;
			sums[i].taken++;
			if (i)
				continue;
			square[0]++;
			square[1] += ns * ns;
		}
		for (k = 0; k < 2; k++) {
			if (!i)
				all[k] = sum[k];
			sums[i].off[k] += sum[k] - all[k];
			/* each is taken with a chance of 1 / period, whatever becomes of others */
			sums[i].variance[k] += square[k] * (periods[i] - 1);
		}
		sums[i].waits += square[0];
	}
	/* A timer may be faster than its sleeper. */
	EXPECT_WITHIN(n / 2, (unsigned int)all[0], n);
	EXPECT_EQ(self->r[0].nr, self->r[0].st.out_count - before);
}

/* How likely it is that of @n no more than @k are taken, or no fewer: whichever is less so. */
static double as_far_off(unsigned int n, unsigned int k, double p)
{
	double at_most = 0, at_least = 0;

	for (unsigned int i = 0; i <= n; i++) {
		double is = exp(lgamma(n + 1) - lgamma(i + 1) - lgamma(n - i + 1) +
				i * log(p) + (n - i) * log1p(-p));

		at_most += i <= k ? is : 0;
		at_least += i >= k ? is : 0;
	}
	return at_most < at_least ? at_most : at_least;
}

/*
 * With all of them counted too, what the samples of 200 runs stand for is what there was, as far
 * as chance allows: the kernel's own, which has no seed that could be set. There is one verdict.
 * How many are taken has a known distribution, of which by chance alone one time in 30000
 * something fails here; how far the mean is off is told too, in standard errors.
 *
 * Time is held to that only where it is a count of instructions: elsewhere to be chosen
 * takes the emulator so long that the nap, which begins before it, is over later. Its
 * distribution is not known, but near to a normal one: five standard errors.
 */
TEST_F(block, some_of_them_stand_for_all)
{
	static const uint64_t periods[RECORDERS] = { 1, 2, 10, 1000 };
	struct thinned sums[RECORDERS] = { 0 };
	const unsigned int values = getenv("GPROF_EXACT") ? 2 : 1;

	SKIP_UNLESS(timers_are_fine(), "each of %u sleeps lasts to a tick here", RUNS * 100);
	for (unsigned int i = 0; i < RECORDERS; i++)
		set_up(_metadata, &self->r[i], periods[i], 0, GPROF_TARGET_THREAD, getpid());
	for (unsigned int run = 0; run < RUNS; run++)
		take_naps(_metadata, self, periods, sums);
	for (unsigned int i = 1; i < RECORDERS; i++) {
		const struct thinned *t = &sums[i];
		double chance = as_far_off(t->waits, t->taken, 1.0 / periods[i]);

		for (unsigned int k = 0; k < 2; k++) {
			TH_LOG("1 of %llu: the mean is off by %.3f %s, %.2f standard errors",
			       ull(periods[i]), t->off[k] / RUNS, k ? "ns" : "waits",
			       t->off[k] / sqrt(t->variance[k]));
			EXPECT_LT(0, t->variance[k]);
			if (k < values)
				EXPECT_GE(25 * t->variance[k], t->off[k] * t->off[k]);
		}
		TH_LOG("%u of %u were taken: %g", t->taken, t->waits, chance);
		EXPECT_LE(5e-6, chance);
	}
}

/* ---- whom ---- */

static void sleeps_in_child(void *arg, int step)
{
	for (unsigned int i = 0; i < 20; i++)
		sleep_ms(2);
}

TEST_F(block, child_that_is_forked_later_belongs)
{
	struct recorder *r = &self->r[0];

	record(_metadata, r, 1, 0);
	ASSERT_ZEROS(child_fork(&self->child, sleeps_in_child, NULL), child_step(&self->child));
	stop(_metadata, r);
	EXPECT_EQ(20, sum_of(r, self->child.pid, GPROF_WAIT_FOR_SLEEP).nr);
}

static void until_in_futex(pid_t tid);

TEST_F(block, wait_is_of_the_cgroup_that_it_began_in)
{
	struct recorder *r = &self->r[0];
	int *word = shared_memory(4096);
	char path[2][MEMORY_CGROUP_PATH];
	struct sum s;
	int fd;

	SKIP_UNLESS(!geteuid(), "needs root");
	SKIP_UNLESS(kernel_has_cgroups(), "this kernel has no cgroups");
	ASSERT_ZEROS(cgroup_make(path[0], "from"), cgroup_make(path[1], "to"),
		     child_fork(&self->child, waits_for_its_word, word),
		     memory_cgroup_enter(path[0], self->child.pid));
	fd = open(path[0], O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	ASSERT_LE(0, fd);
	record(_metadata, r, 1, 0);
	set_up(_metadata, &self->r[1], 1, 0, GPROF_TARGET_CGROUP, fd);
	start(_metadata, &self->r[1]);
	ASSERT_EQ(0, child_begin(&self->child));
	until_in_futex(self->child.pid);
	ASSERT_EQ(0, memory_cgroup_enter(path[1], self->child.pid));
	lets_go_of(word);
	ASSERT_EQ(0, child_wait(&self->child));
	stop(_metadata, &self->r[1]);
	stop(_metadata, r);
	s = sum_of(&self->r[1], self->child.pid, GPROF_WAIT_FOR_FUTEX);
	EXPECT_EQS(1, s.nr, 0, s.no_stack, self->r[1].st.out_count, self->r[1].reader.samples);
	close(fd);
	child_end(&self->child);
	rmdir(path[0]);
	rmdir(path[1]);
}

TEST_F(block, system_has_waits_of_the_kernel_with_its_frames)
{
	struct recorder *r = &self->r[0];
	unsigned int i, kernel = 0, frames = 0, own, n = 0;

	r->stack = GPROF_STACK_F_KERNEL;
	set_up(_metadata, r, 1, 0, GPROF_TARGET_SYSTEM, 0);
	start(_metadata, r);
	/* On a busy host a nap may be over before its sleeper has left the CPU. */
	for (i = 0; i < 50; i++) {
		long before = sleeps_so_far();

		sleep_ms(2);
		n += sleeps_so_far() > before;
	}
	stop(_metadata, r);
	own = sum_of(r, gettid(), GPROF_WAIT_FOR_SLEEP).nr;
	for (i = 0; i < r->nr; i++) {
		kernel += r->told[i].what == GPROF_WAIT_FOR_KERNEL;
		if (r->told[i].tid == (uint32_t)gettid() && r->told[i].what == GPROF_WAIT_FOR_SLEEP)
			frames += r->told[i].nr_kernel > 3 && r->told[i].nr_user;
	}
	TH_LOG("%u of ours, %u of the kernel, of %u", own, kernel, r->nr);
	EXPECT_LT(25, n);
	EXPECT_EQS(n, own, n, frames);
	EXPECT_LT(0, kernel);
}

/* Is a frame what /proc/PID/stack calls "[<0>] name+0xoffset/0xsize"? Names may be several's. */
static bool is_called(uint64_t frame, const char *line)
{
	char name[128], symbol[128], type, rest[256];
	unsigned long offset, addr;
	bool found = false;
	FILE *f;

	if (sscanf(line, "[<%*[^>]>] %127[^+]+0x%lx", name, &offset) != 2)
		return false;
	f = fopen("/proc/kallsyms", "re");
	while (f && !found && fgets(rest, sizeof(rest), f))
		/* What a link by clang adds to a name the kernel leaves out. */
		found = sscanf(rest, "%lx %c %127s", &addr, &type, symbol) == 3 &&
			!strncmp(symbol, name, strlen(name)) &&
			(!symbol[strlen(name)] || !strncmp(symbol + strlen(name), ".llvm.", 6)) &&
			addr + offset == frame;
	if (f)
		fclose(f);
	return found;
}

/* Do the frames end as the kernel's own account of the stack does? */
static bool end_alike(const struct told *t, char *stack)
{
	char *lines[FRAMES], *line;
	unsigned int nr = 0, i;

	for (line = strtok(stack, "\n"); line && nr < FRAMES; line = strtok(NULL, "\n"))
		lines[nr++] = line;
	if (!nr || nr > t->nr_kernel || t->nr_kernel > FRAMES)
		return false;
	for (i = 1; i <= nr; i++)
		if (!is_called(t->kernel[t->nr_kernel - i], lines[nr - i]))
			return false;
	return true;
}

/* How many waits on the pipe it tells of @tid; all have the kernel frames of the first. */
static unsigned int have_one_stack(struct __test_metadata *_metadata, const struct recorder *r,
				   pid_t tid, const struct told **first)
{
	unsigned int i, nr = 0;

	for (i = 0; i < r->nr; i++) {
		const struct told *t = &r->told[i];

		if (t->tid != (uint32_t)tid || t->what != GPROF_WAIT_FOR_PIPE ||
		    t->ended != GPROF_WAIT_ENDED_BY_TASK * !!(r->params.flags & GPROF_BLOCK_F_WAKER))
			continue;
		if (!nr++)
			*first = t;
		EXPECT_EQ((*first)->nr_kernel, t->nr_kernel);
		EXPECT_EQ(0, memcmp((*first)->kernel, t->kernel, sizeof(t->kernel)));
	}
	return nr;
}

/* The first is walked by the kernel's unwinder, and the others as that was seen to do it. */
TEST_F(block, kernel_frames_are_those_that_the_kernel_tells)
{
	struct recorder *waits = &self->r[0], *wakes = &self->r[1];
	const struct told *first = NULL;
	char path[64], stack[4096];
	struct waiter w;

	SKIP_UNLESS(!geteuid(), "needs root");
	ASSERT_TRUE(begin(&w, &ways[1], 20, MS));
	for (unsigned int i = 0; i < 2; i++) {
		self->r[i].stack = GPROF_STACK_F_KERNEL;
		record(_metadata, &self->r[i], 1, i ? GPROF_BLOCK_F_WAKER : 0);
	}
	let_go();
	until_waiting(&w);
	sleep_ms(5);
	snprintf(path, sizeof(path), "/proc/self/task/%d/stack", w.tid);
	ASSERT_EQ(0, file_read(path, stack, sizeof(stack)));
	serve(&w);
	stop(_metadata, wakes);
	stop(_metadata, waits);
	EXPECT_LE(15, have_one_stack(_metadata, waits, w.tid, &first));
	ASSERT_NE(NULL, first);
	TH_LOG("%u frames; the kernel says:\n%s", first->nr_kernel, stack);
#ifdef __x86_64__
	EXPECT_TRUE(end_alike(first, stack));
#endif
	EXPECT_LE(15, have_one_stack(_metadata, wakes, gettid(), &first));
	EXPECT_LE(6, first->nr_kernel);
}

/* ---- locks ---- */

/* Both parameters have the same members so far. */
static void record_locks(struct __test_metadata *_metadata, struct recorder *r, uint32_t flags)
{
	r->kind = GPROF_KIND_MUTEX;
	record(_metadata, r, 1, flags);
}

struct held {
	int word;
	_Atomic unsigned int ready;
	_Atomic uint64_t around;
	int op;
};

static void *waits_for_release(void *arg)
{
	struct held *h = arg;
	uint64_t from;

	h->ready++;
	from = monotonic_ns();
	while (!__atomic_load_n(&h->word, __ATOMIC_SEQ_CST))
		syscall(SYS_futex, &h->word, h->op, 0, NULL, NULL, FUTEX_BITSET_MATCH_ANY);
	h->around += monotonic_ns() - from;
	return NULL;
}

/* All of them wait in the kernel. */
static bool all_asleep(unsigned int n)
{
	char path[64];
	pid_t tid = gettid(), other;
	unsigned int asleep = 0;

	for (other = tid + 1; other < tid + 1000; other++) {
		snprintf(path, sizeof(path), "/proc/self/task/%d", other);
		if (!access(path, F_OK))
			asleep += task_is(other, "SD");
	}
	return asleep == n;
}

__attribute__((noinline, noclone)) static void releases(struct held *h)
{
	__atomic_store_n(&h->word, 1, __ATOMIC_SEQ_CST);
	syscall(SYS_futex, &h->word, FUTEX_WAKE_PRIVATE, 1 << 30, NULL, NULL, 0);
}

TEST_F(block, release_has_the_waits_of_all_that_waited_for_it)
{
	struct recorder *release = &self->r[0], *waiter = &self->r[1];
	static const unsigned int many[] = { 1, 2, 5, 16 };
	unsigned int i, j, n, first = 0, waits, all = 0;
	uint64_t from, held;

	record_locks(_metadata, release, GPROF_MUTEX_F_ADDR);
	record_locks(_metadata, waiter, GPROF_MUTEX_F_WAITER);
	for (i = 0; i < ARRAY_SIZE(many); i++) {
		struct held h = { .op = FUTEX_WAIT_PRIVATE };
		pthread_t threads[16];
		uint64_t ns = 0;

		n = many[i];
		for (j = 0; j < n; j++)
			ASSERT_EQ(0, pthread_create(&threads[j], NULL, waits_for_release, &h));
		while (h.ready < n || !all_asleep(n))
			sched_yield();
		from = monotonic_ns();
		sleep_ms(30);
		held = monotonic_ns() - from;
		releases(&h);
		for (j = 0; j < n; j++)
			pthread_join(threads[j], NULL);
		ASSERT_LE(0, reader_read(&release->reader));
		for (waits = 0, j = first; j < release->nr; j++) {
			const struct told *t = &release->told[j];

			/* not what is waited for in pthread_join() */
			if (t->addr != (uintptr_t)&h.word)
				continue;
			EXPECT_LT(0, t->nr_user);
			EXPECT_EQS(gettid(), t->tid, getpid(), t->pid,
				   GPROF_WAIT_ENDED_BY_TASK, t->ended,
				   GPROF_WAIT_LOCK_PLAIN, t->lock, GPROF_WAIT_FOR_FUTEX, t->what);
			ns += t->ns;
			waits++;
		}
		TH_LOG("%u waiters: %u waits, %llu us of %llu to %llu", n, waits, us_of(ns),
		       ull(n) * held / 1000, us_of(h.around));
		EXPECT_EQ(n, waits);
		EXPECT_WITHIN(n * held - drift(n * held), ns, h.around);
		first = release->nr;
		all += n;
	}
	stop(_metadata, waiter);
	stop(_metadata, release);
	/* Each wait once in both. */
	EXPECT_EQ(release->nr, waiter->nr);
	for (i = n = 0; i < waiter->nr; i++)
		n += waiter->told[i].tid != (uint32_t)gettid() && waiter->told[i].nr_user;
	EXPECT_EQ(all, n);
}

static void *takes_pi(void *arg)
{
	struct held *h = arg;

	h->ready++;
	syscall(SYS_futex, &h->word, FUTEX_LOCK_PI, 0, NULL, NULL, 0);
	syscall(SYS_futex, &h->word, FUTEX_UNLOCK_PI, 0, NULL, NULL, 0);
	return NULL;
}

TEST_F(block, conditions_and_pi_locks_are_told_apart)
{
	struct recorder *r = &self->r[0];
	struct held condition = { .op = FUTEX_WAIT_BITSET_PRIVATE }, pi = { .word = gettid() };
	unsigned int i, conditions = 0, pis = 0, irqs = 0;
	struct timespec t = { 0, 20 * MS };
	pthread_t a, b;
	int word = 0;

	record_locks(_metadata, r, GPROF_MUTEX_F_ADDR);
	ASSERT_EQ(0, pthread_create(&a, NULL, waits_for_release, &condition));
	ASSERT_EQ(0, pthread_create(&b, NULL, takes_pi, &pi));
	while (!condition.ready || !pi.ready || !all_asleep(2))
		sched_yield();
	sleep_ms(10);
	releases(&condition);
	EXPECT_EQ(0, syscall(SYS_futex, &pi.word, FUTEX_UNLOCK_PI, 0, NULL, NULL, 0));
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	/* nobody releases it */
	EXPECT_EQ(-1, syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, &t, NULL, 0));
	stop(_metadata, r);
	for (i = 0; i < r->nr; i++) {
		const struct told *w = &r->told[i];

		/* nothing else that was waited for meanwhile */
		EXPECT_EQ(GPROF_WAIT_FOR_FUTEX, w->what);
		conditions += w->addr == (uintptr_t)&condition.word &&
			      w->lock == GPROF_WAIT_LOCK_CONDITION && w->tid == (uint32_t)gettid();
		pis += w->addr == (uintptr_t)&pi.word && w->lock == GPROF_WAIT_LOCK_PI &&
		       w->tid == (uint32_t)gettid() && w->ns >= 9 * MS;
		irqs += w->addr == (uintptr_t)&word && by_timer(w) &&
			!w->tid && !w->nr_user && w->ns >= 19 * MS;
	}
	EXPECT_EQS(1, conditions, 1, pis, 1, irqs);
}

static void waits_for_ever(void *arg, int step)
{
	syscall(SYS_futex, arg, FUTEX_WAIT, 0, NULL, NULL, 0);
}

TEST_F(block, waiter_that_is_killed_is_told_once)
{
	struct recorder *r = &self->r[0];
	int *word = shared_memory(4096);
	unsigned int i, told = 0;

	record_locks(_metadata, r, GPROF_MUTEX_F_ADDR);
	ASSERT_ZEROS(child_fork(&self->child, waits_for_ever, word), child_begin(&self->child));
	sleep_ms(50);
	child_end(&self->child);
	stop(_metadata, r);
	for (i = 0; i < r->nr; i++)
		told += r->told[i].addr == (uintptr_t)word &&
			r->told[i].tid == (uint32_t)gettid() &&
			r->told[i].ended == GPROF_WAIT_ENDED_BY_TASK;
	EXPECT_EQS(1, told, r->nr, r->st.out_count);
}

/* A futex call in memory that goes, or is not there. */
struct lost_word {
	int *word;
	int op;
	_Atomic pid_t tid;
	long ret;
	int err;
};

static void *waits_once(void *arg)
{
	struct lost_word *l = arg;

	l->tid = gettid();
	l->ret = syscall(SYS_futex, l->word, l->op, 0, NULL, NULL, 0);
	l->err = l->ret ? errno : 0;
	return NULL;
}

static void until_in_futex(pid_t tid)
{
	char path[64], text[256];

	snprintf(path, sizeof(path), "/proc/%d/syscall", tid);
	/* "running", and no number, while it does not sleep */
	while (file_read(path, text, sizeof(text)) || strtol(text, NULL, 10) != SYS_futex ||
	       !strncmp(text, "running", 7))
		sched_yield();
}

/* Until it sleeps in a function of the kernel whose name has that in it. */
static void until_it_sleeps_in(pid_t tid, const char *where)
{
	char path[64], text[256];

	snprintf(path, sizeof(path), "/proc/%d/wchan", tid);
	while (file_read(path, text, sizeof(text)) || !strstr(text, where))
		sched_yield();
}

static void does_nothing(int sig)
{
}

TEST_F(block, futex_whose_memory_is_unmapped_is_told_once)
{
	struct recorder *r = &self->r[0];
	/* By its address alone; by its page, which nobody finds any more; and none at all. */
	struct lost_word lost[] = {
		{ .op = FUTEX_WAIT_PRIVATE }, { .op = FUTEX_WAIT }, { .op = FUTEX_WAIT },
	};
	const unsigned int nr = ARRAY_SIZE(lost);
	struct sigaction quiet = { .sa_handler = does_nothing };
	long size = sysconf(_SC_PAGESIZE), woken;
	unsigned int i, j, told;
	pthread_t thread;
	uint64_t slept;

	sigaction(SIGUSR1, &quiet, NULL);
	for (i = 0; i < nr; i++) {
		lost[i].word = shared_memory(size);
	}
	record_locks(_metadata, r, GPROF_MUTEX_F_ADDR);
	for (i = 0; i < nr; i++) {
		struct lost_word *l = &lost[i];

		if (i == nr - 1)
			munmap(l->word, size);
		ASSERT_EQ(0, pthread_create(&thread, NULL, waits_once, l));
		if (i < nr - 1) {
			while (!l->tid)
				sched_yield();
			until_in_futex(l->tid);
			slept = monotonic_ns();
			ASSERT_EQ(0, munmap(l->word, size));
			sleep_ms(20);
			slept = monotonic_ns() - slept;
			woken = syscall(SYS_futex, l->word, l->op + 1, 1, NULL, NULL, 0);
			EXPECT_EQ(i ? -1 : 1, woken);
			if (woken != 1)
				EXPECT_EQ(0, syscall(SYS_tgkill, getpid(), l->tid, SIGUSR1));
		}
		pthread_join(thread, NULL);
		EXPECT_EQS(i ? -1 : 0, l->ret, !i ? 0 : i == 1 ? EINTR : EFAULT, l->err);
		ASSERT_LE(0, reader_read(&r->reader));
		for (told = 0, j = 0; j < r->nr; j++) {
			const struct told *t = &r->told[j];

			if (t->addr != (uintptr_t)l->word)
				continue;
			told++;
			EXPECT_LE(slept, t->ns);
			EXPECT_EQS(GPROF_WAIT_ENDED_BY_TASK, t->ended, gettid(), t->tid);
		}
		EXPECT_EQ(i < nr - 1, told);
	}
	stop(_metadata, r);
	EXPECT_EQ(r->nr, r->st.out_count);
}

/* ---- what is no wait for a lock, amid one ---- */

static void until_frozen(const char *path, bool frozen)
{
	char file[MEMORY_CGROUP_PATH + 16], text[256];

	snprintf(file, sizeof(file), "%s/cgroup.events", path);
	while (!file_read(file, text, sizeof(text)) &&
	       !strstr(text, frozen ? "frozen 1" : "frozen 0"))
		sched_yield();
}

/* Both kinds of a child that waits for a word. */
static void record_child(struct __test_metadata *_metadata, FIXTURE_DATA(block) *self, pid_t pid)
{
	set_up(_metadata, &self->r[0], 1, 0, GPROF_TARGET_PROCESS, pid);
	self->r[1].kind = GPROF_KIND_MUTEX;
	set_up(_metadata, &self->r[1], 1, GPROF_MUTEX_F_WAITER, GPROF_TARGET_PROCESS, pid);
	start(_metadata, &self->r[0]);
	start(_metadata, &self->r[1]);
}

TEST_F(block, frozen_task_waits_for_no_lock)
{
	int *word = shared_memory(4096);
	struct sum stopped, futex, lock;
	char path[MEMORY_CGROUP_PATH];
	uint64_t waited, froze;

	SKIP_UNLESS(!geteuid(), "needs root");
	SKIP_UNLESS(kernel_has_cgroups(), "this kernel has no cgroups");
	ASSERT_EQ(0, cgroup_make(path, "frozen"));
	ASSERT_EQ(0, child_fork(&self->child, waits_for_its_word, word));
	ASSERT_EQ(0, memory_cgroup_enter(path, self->child.pid));
	record_child(_metadata, self, self->child.pid);
	waited = monotonic_ns();
	ASSERT_EQ(0, child_begin(&self->child));
	until_in_futex(self->child.pid);
	sleep_ms(20);
	ASSERT_EQ(0, cgroup_write(path, "cgroup.freeze", "1"));
	until_frozen(path, true);
	froze = monotonic_ns();
	sleep_ms(200);
	froze = monotonic_ns() - froze;
	ASSERT_EQ(0, cgroup_write(path, "cgroup.freeze", "0"));
	until_frozen(path, false);
	/* The call is begun anew, as soon as there is a CPU for it. */
	until_it_sleeps_in(self->child.pid, "futex");
	sleep_ms(20);
	lets_go_of(word);
	ASSERT_EQ(0, child_wait(&self->child));
	waited = monotonic_ns() - waited;
	stop(_metadata, &self->r[1]);
	stop(_metadata, &self->r[0]);
	stopped = sum_of(&self->r[0], self->child.pid, GPROF_WAIT_FOR_STOPPED);
	futex = sum_of(&self->r[0], self->child.pid, GPROF_WAIT_FOR_FUTEX);
	lock = sum_of(&self->r[1], self->child.pid, GPROF_WAIT_FOR_FUTEX);
	TH_LOG("%u stops: %llu us of %llu; %u locks: %llu us", stopped.nr, us_of(stopped.ns),
	       us_of(froze), lock.nr, us_of(lock.ns));
	EXPECT_LES(1, stopped.nr, froze - drift(froze), stopped.ns);
	/* Before and after. */
	EXPECT_EQS(2, lock.nr, 2, futex.nr);
	EXPECT_WITHIN(40 * MS - drift(40 * MS), lock.ns, waited - froze + drift(froze));
	child_end(&self->child);
	rmdir(path);
}

#define CORE_PATTERN	"/proc/sys/kernel/core_pattern"

/* More than a pipe has room for. */
static char much[1 << 20];

static void waits_for_ever_with_much(void *arg, int step)
{
	memset(much, 1, sizeof(much));
	signal(SIGABRT, SIG_DFL);
	waits_for_ever(arg, step);
}

TEST_F(block, task_that_writes_a_core_file_waits_for_no_lock)
{
	int *word = shared_memory(4096);
	char pattern[256] = "", *end;
	uint64_t waited, dumped;
	struct sum lock, other;

	SKIP_UNLESS(!geteuid(), "needs root");
	SKIP_UNLESS(!access(CORE_PATTERN, F_OK), "this kernel writes no core files");
	ASSERT_EQ(0, file_read(CORE_PATTERN, pattern, sizeof(pattern)));
	ASSERT_EQ(0, file_write(CORE_PATTERN, "|/bin/sleep 0.5"));
	end = strchr(pattern, '\n');
	if (end)
		*end = 0;
	ASSERT_EQ(0, child_fork(&self->child, waits_for_ever_with_much, word));
	record_child(_metadata, self, self->child.pid);
	waited = monotonic_ns();
	ASSERT_EQ(0, child_begin(&self->child));
	until_in_futex(self->child.pid);
	sleep_ms(20);
	dumped = monotonic_ns();
	waited = dumped - waited;
	EXPECT_EQ(0, kill(self->child.pid, SIGABRT));
	EXPECT_EQ(self->child.pid, waitpid(self->child.pid, NULL, 0));
	dumped = monotonic_ns() - dumped;
	EXPECT_EQ(0, file_write(CORE_PATTERN, pattern));
	stop(_metadata, &self->r[1]);
	stop(_metadata, &self->r[0]);
	lock = sum_of(&self->r[1], self->child.pid, -1);
	other = sum_of(&self->r[0], self->child.pid, GPROF_WAIT_FOR_OTHER);
	TH_LOG("%u locks: %llu us of %llu; else %llu us of %llu", lock.nr, us_of(lock.ns),
	       us_of(waited), us_of(other.ns), us_of(dumped));
	EXPECT_EQ(1, lock.nr);
	/* And until the signal came. */
	EXPECT_GE(waited + 100 * MS, lock.ns);
	EXPECT_LE(300 * MS, other.ns);
	self->child.pid = 0;
}

struct rally {
	int turn;
	unsigned int nr;
};

static void *returns(void *arg)
{
	struct rally *r = arg;

	pin_to(online_cpu(nr_online_cpus() - 1));
	for (unsigned int i = 0; i < r->nr; i++) {
		while (__atomic_load_n(&r->turn, __ATOMIC_SEQ_CST) != 1)
			syscall(SYS_futex, &r->turn, FUTEX_WAIT_PRIVATE, 0, NULL, NULL, 0);
		__atomic_store_n(&r->turn, 0, __ATOMIC_SEQ_CST);
		syscall(SYS_futex, &r->turn, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
	}
	return NULL;
}

/* Even where the waker has come before they had given up their CPU. */
TEST_F(block, shortest_waits_for_locks_are_told_too)
{
	struct recorder *all = &self->r[0], *locks = &self->r[1];
	struct rally rally = { .nr = 1500 };
	unsigned int i, futexes = 0;
	pthread_t other;
	cpu_set_t cpus;

	sched_getaffinity(0, sizeof(cpus), &cpus);
	pin_to(online_cpu(0));
	locks->kind = GPROF_KIND_MUTEX;
	set_up(_metadata, locks, 1, GPROF_MUTEX_F_WAITER, GPROF_TARGET_PROCESS, getpid());
	record(_metadata, all, 1, 0);
	start(_metadata, locks);
	ASSERT_EQ(0, pthread_create(&other, NULL, returns, &rally));
	for (i = 0; i < rally.nr; i++) {
		__atomic_store_n(&rally.turn, 1, __ATOMIC_SEQ_CST);
		syscall(SYS_futex, &rally.turn, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
		while (__atomic_load_n(&rally.turn, __ATOMIC_SEQ_CST) != 0)
			syscall(SYS_futex, &rally.turn, FUTEX_WAIT_PRIVATE, 1, NULL, NULL, 0);
	}
	pthread_join(other, NULL);
	stop(_metadata, locks);
	stop(_metadata, all);
	sched_setaffinity(0, sizeof(cpus), &cpus);
	for (i = 0; i < all->nr; i++)
		futexes += all->told[i].what == GPROF_WAIT_FOR_FUTEX;
	TH_LOG("%u waits in futex calls, %u of them for locks", futexes, locks->nr);
	EXPECT_LT(100, futexes);
	EXPECT_EQ(futexes, locks->nr);
}

/* ---- locks of the kernel ---- */

#define CONSOLES	"/sys/class/tty/console/active"
#define SCREEN		"/dev/vcs"

/* The list is behind a mutex since 6.2, so that one reader of it waits for none; the screen not. */
static void *looks_at_consoles(void *arg)
{
	static atomic_uint readers;
	const char *path = readers++ & 1 ? SCREEN : CONSOLES;
	const uint64_t *until = arg;
	char text[256];

	while (monotonic_ns() < *until)
		file_read(path, text, sizeof(text));
	return NULL;
}

/* That of the console is one: who reads which there are, or what is on one, has it for a while. */
TEST_F(block, semaphore_of_the_kernel_is_told_as_one)
{
	struct recorder *r = &self->r[0];
	unsigned int i, semaphores = 0, tries;
	uint64_t until;

	SKIP_UNLESS(!geteuid() && !access(CONSOLES, R_OK), "needs root");
	SKIP_UNLESS(device_has(GPROF_FEAT_KERNEL_LOCKS), "no locks are told");
	r->kind = GPROF_KIND_MUTEX;
	set_up(_metadata, r, 1, GPROF_MUTEX_F_WAITER | GPROF_MUTEX_F_KERNEL, GPROF_TARGET_PROCESS,
	       getpid());
	for (tries = 0; !semaphores && tries < 10; tries++) {
		start(_metadata, r);
		until = monotonic_ns() + 500 * MS;
		ASSERT_EQ(0, run_threads(4, looks_at_consoles, &until));
		stop(_metadata, r);
		for (i = 0; i < r->nr; i++)
			semaphores += r->told[i].lock == GPROF_WAIT_LOCK_SEMAPHORE;
	}
	TH_LOG("%u of %u waits", semaphores, r->nr);
	/* Where there is one CPU, who has it gives it back before anybody else runs. */
	SKIP_UNLESS(semaphores || (nr_online_cpus() > 1 && !access(SCREEN, R_OK)),
		    "nobody had to wait for one");
	EXPECT_LT(0, semaphores);
}

TEST_F(block, what_cannot_be_is_refused)
{
	struct recorder *r = &self->r[0];
	static const struct {
		uint64_t period;
		uint32_t flags;
		int err;
		uint32_t reason;
	} wrong[] = {
		{ 0, 0, -EINVAL, GPROF_REASON_PERIOD },
		{ GPROF_PERIOD_MAX + 1, 0, -EINVAL, GPROF_REASON_PERIOD },
		{ 1, __GPROF_BLOCK_F_ALL + 1, -EOPNOTSUPP, GPROF_REASON_FLAGS },
	};

	for (unsigned int i = 0; i < ARRAY_SIZE(wrong); i++) {
		r->params = (struct gprof_block_params){
			.size = sizeof(r->params), .period = wrong[i].period, .flags = wrong[i].flags,
		};
		r->setup = device_setup_kind(GPROF_KIND_BLOCK, GPROF_TARGET_PROCESS, getpid(),
					     &r->params);
		EXPECT_EQ(wrong[i].err, device_setup(&r->dev, &r->setup));
		EXPECT_EQ(wrong[i].reason, r->setup.out_reason);
	}
}

TEST_HARNESS_MAIN
