// SPDX-License-Identifier: GPL-2.0-only
/*
 * kinds_test: recorders of any kinds, made by name, on a live kernel: many of them on one
 * target, which must not see each other.
 */
#include <linux/futex.h>
#include <linux/userfaultfd.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include "harness.h"
#include "device.h"
#include "record.h"
#include "workload.h"

#define MANY	64
#define NAPS	60
#define LOCKS	20
#define MS	1000000ULL

/* What is recorded by each, in turn; the rates are those that take all, and others. */
static const struct { const char *kind; uint64_t rate; } rows[] = {
	{ "block", 1 }, { "cpu", 97 }, { "mutex", 1 }, { "block-waker", 1 },
	{ "mutex-waiter", 1 }, { "cpu", 1000 }, { "block", 2 }, { "cpu", 250 },
	{ "mutex", 3 }, { "block-waker", 5 }, { "mutex-waiter", 2 }, { "block", 10 },
};

#define ROWS	(ARRAY_SIZE(rows))

FIXTURE(kinds) {
	struct gprof_recorder *r[MANY];
	struct gprof_profile *p[MANY];
	struct child child;
};

FIXTURE_SETUP(kinds) { }

FIXTURE_TEARDOWN(kinds)
{
	for (int i = 0; i < MANY; i++) {
		gprof_profile_free(self->p[i]);
		gprof_recorder_free(self->r[i]);
	}
	child_end(&self->child);
}

static void *is_let_go(void *arg)
{
	int *word = arg, i;

	for (i = 0; i < LOCKS; i++) {
		while (__atomic_load_n(word, __ATOMIC_SEQ_CST) <= i)
			syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, i, NULL, NULL, 0);
	}
	return NULL;
}

/* Naps, waits for a lock, burns; with all that is left of it over when the step is. */
static void does_all(void *arg, int step)
{
	static int word;
	pthread_t waiter;

	if (pthread_create(&waiter, NULL, is_let_go, &word))
		_exit(1);
	for (int i = 0; i < LOCKS; i++) {
		sleep_ms(2);
		__atomic_add_fetch(&word, 1, __ATOMIC_SEQ_CST);
		syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
	}
	pthread_join(waiter, NULL);
	for (int i = 0; i < NAPS; i++)
		sleep_ms(1);
	burn_ns(300 * MS);
}

static int64_t stop_one(struct __test_metadata *_metadata, struct gprof_recorder *r,
			struct gprof_profile **p)
{
	struct gprof_recorder_stats st = { .sz = sizeof(st) };

	/* It holds the numbers of the ledger to each other. */
	EXPECT_EQ(0, gprof_recorder_stop_profiles(r, p, 1)) TH_LOG("%s", gprof_error());
	EXPECT_EQ(0, gprof_recorder_stats(r, 0, &st));
	EXPECT_EQS(st.produced, st.read + st.lost + st.overwritten, 0, st.lost);
	return *p ? gprof_profile_total(*p, 0) : -1;
}

TEST_F(kinds, sixty_four_of_mixed_kinds_and_rates_have_the_same_target)
{
	/* What those of each kind have told that sample all: of its first row. */
	int64_t counts[MANY], all[ROWS], cpu = 0;
	unsigned int i, j, row;

	ASSERT_EQ(0, child_fork(&self->child, does_all, NULL));
	/* It waits to be told, and that is a wait of all recorders. */
	child_asleep(&self->child);
	sleep_ms(50);
	for (i = 0; i < MANY; i++) {
		const struct gprof_kind_config kind = {
			.kind = rows[i % ROWS].kind, .rate = rows[i % ROWS].rate,
			.flags = GPROF_RECORD_KERNEL,
		};
		const struct gprof_recorder_config cfg = {
			.sz = sizeof(cfg), .target = { GPROF_PROCESS, self->child.pid },
			.kinds = &kind, .nr_kinds = 1, .buffer_bytes = 1 << 16,
		};

		self->r[i] = gprof_recorder_new(&cfg);
		ASSERT_NE(NULL, self->r[i]) TH_LOG("%s: %s", kind.kind, gprof_error());
		ASSERT_EQ(0, gprof_recorder_start_events(self->r[i], NULL, 1))
			TH_LOG("%s: %s", kind.kind, gprof_error());
	}
	ASSERT_EQ(0, child_step(&self->child));
	/* It waits again, and nothing else happens while they leave. */
	child_asleep(&self->child);
	sleep_ms(50);
	for (i = 0; i < MANY; i++)
		counts[i] = stop_one(_metadata, self->r[i], &self->p[i]);
	for (i = 0; i < ROWS; i++) {
		for (j = 0; strcmp(rows[j].kind, rows[i].kind); j++)
			;
		all[i] = counts[j];
		if (!strcmp(rows[i].kind, "cpu") && rows[i].rate == 1000)
			cpu = gprof_profile_total(self->p[i], 1);
	}
	/* Half of them at least; some are over before they begin, where the host is busy. */
	EXPECT_LES((NAPS + LOCKS) / 2, all[0], 1, all[2], 100 * MS, (uint64_t)cpu);
	for (i = 0; i < MANY; i++) {
		int64_t rate = rows[row = i % ROWS].rate, d;

		if (!strcmp(rows[row].kind, "cpu")) {
			/* Each has a schedule of its own, exact to a period of each thread. */
			d = gprof_profile_total(self->p[i], 1) - cpu;
			EXPECT_GE(2 * (1000000000 / rate + 1000000) + cpu / 20, d < 0 ? -d : d);
			continue;
		}
		TH_LOG("%s:%d %lld of %lld", rows[row].kind, (int)rate, (long long)counts[i],
		       (long long)all[row]);
		/* Where nothing is left to chance they have seen the same. */
		d = counts[i] - all[row];
		if (rate == 1)
			EXPECT_EQ(0, d);
		/* Else it stands for all of them, to six standard deviations. */
		EXPECT_EQ(0, counts[i] % rate);
		EXPECT_GE(36 * all[row] * (rate - 1), d * d);
	}
}

/* ---- what the kernel allocates ---- */

#define MESSAGES	100
#define TEXT		100
#define MESSAGE		(48 + TEXT)	/* struct msg_msg before it */

static void exchanges(void *arg, int step)
{
	struct { long type; char text[TEXT]; } m = { .type = 1 };
	int q = *(int *)arg, i;

	for (i = 0; !step && i < MESSAGES; i++)
		if (msgsnd(q, &m, TEXT, IPC_NOWAIT))
			_exit(1);
	for (i = 0; step && i < MESSAGES - 10; i++)
		if (msgrcv(q, &m, TEXT, 0, IPC_NOWAIT) != TEXT)
			_exit(1);
}

struct sought {
	const char *function;
	size_t type;
	int64_t sum;
};

/* Of its own the slab allocator has sheaves, since 6.18, and the owners of a new slab's objects. */
static bool is_of_allocator(const char *function)
{
	return strstr(function, "sheaf") || strstr(function, "__pcs_") ||
	       !strcmp(function, "___slab_alloc");
}

static int seek(void *ctx, const struct gprof_frame *frames, size_t nr, const int64_t *values)
{
	struct sought *s = ctx;
	bool found = false;

	for (size_t i = 0; i < nr; i++) {
		if (is_of_allocator(frames[i].function))
			return 0;
		found |= !strcmp(frames[i].function, s->function);
	}
	if (found)
		s->sum += values[s->type];
	return 0;
}

/* The sum of a value over the stacks that lead through a function. */
static int64_t through(const struct gprof_profile *p, const char *function, size_t type)
{
	struct sought s = { .function = function, .type = type };

	return gprof_profile_each(p, seek, &s) ? -1 : s.sum;
}

/* The first columns sum up to the messages that were sent. */
#define EXPECT_SENT(_p, ...) do {						\
	const int64_t _sums[] = { __VA_ARGS__ };				\
										\
	for (size_t _i = 0; _i < ARRAY_SIZE(_sums); _i++) {			\
		EXPECT_EQ(_sums[_i], through(_p, "do_msgsnd", _i))		\
			TH_LOG("column %zu", _i);				\
	}									\
} while (0)

TEST_F(kinds, live_allocations_are_those_that_were_not_freed)
{
	const struct gprof_kind_config kinds[] = {
		{ .kind = "heap", .rate = 1, .flags = GPROF_RECORD_KERNEL },
		{ .kind = "alloc", .rate = 1, .flags = GPROF_RECORD_KERNEL },
	};
	struct gprof_recorder_config cfg = {
		.sz = sizeof(cfg), .kinds = kinds, .nr_kinds = 2, .buffer_bytes = 4 << 20,
	};
	struct gprof_recorder_stats st = { .sz = sizeof(st) };
	int q = msgget(IPC_PRIVATE, 0600);

	SKIP_UNLESS(device_has(GPROF_FEAT_OBJECTS), "no ends of allocations are told here");
	ASSERT_LE(0, q);
	ASSERT_EQ(0, child_fork(&self->child, exchanges, &q));
	cfg.target = (struct gprof_target){ GPROF_PROCESS, self->child.pid };
	self->r[0] = gprof_recorder_new(&cfg);
	ASSERT_NE(NULL, self->r[0]) TH_LOG("%s", gprof_error());
	ASSERT_EQ(0, gprof_recorder_start_events(self->r[0], NULL, 2)) TH_LOG("%s", gprof_error());
	ASSERT_ZEROS(child_step(&self->child), child_step(&self->child));
	ASSERT_EQ(0, gprof_recorder_stop_profiles(self->r[0], self->p, 2))
		TH_LOG("%s", gprof_error());
	msgctl(q, IPC_RMID, NULL);
	ASSERT_EQ(0, gprof_recorder_stats(self->r[0], 0, &st));
	EXPECT_EQS(0, st.lost, 0, st.live_full + st.live_lost + st.live_unseen);
	/* alloc_objects, alloc_space, inuse_objects, inuse_space */
	EXPECT_EQ(3, gprof_profile_default_type(self->p[0]));
	EXPECT_SENT(self->p[0], MESSAGES, MESSAGES * MESSAGE, 10, 10 * MESSAGE);
	EXPECT_SENT(self->p[1], MESSAGES, MESSAGES * MESSAGE);
	EXPECT_EQ(1, gprof_profile_default_type(self->p[1]));
}

/* ---- profiles of a recording that goes on ---- */

#define NEXT_STEPS	6

TEST_F(kinds, profiles_that_follow_each_other_have_each_sample_once)
{
	const struct gprof_kind_config kinds[] = {
		{ .kind = "block", .rate = 1 }, { .kind = "cpu", .rate = 500 },
	};
	struct gprof_recorder_config cfg = {
		.sz = sizeof(cfg), .kinds = kinds, .nr_kinds = 2, .service_names = true,
	};
	int64_t sum[2] = { 0 }, begin, duration, end = 0;
	struct gprof_recorder_stats st = { .sz = sizeof(st) };

	ASSERT_EQ(0, child_fork(&self->child, does_all, NULL));
	cfg.target = (struct gprof_target){ GPROF_PROCESS, self->child.pid };
	for (int i = 0; i < 2; i++) {
		self->r[i] = gprof_recorder_new(&cfg);
		ASSERT_NE(NULL, self->r[i]) TH_LOG("%s", gprof_error());
		ASSERT_EQ(0, gprof_recorder_start_events(self->r[i], NULL, 2));
	}
	for (int i = 0; i <= NEXT_STEPS; i++) {
		ASSERT_EQ(0, child_step(&self->child));
		/* That it waits again is a wait of both. */
		child_asleep(&self->child);
		ASSERT_EQ(0, i < NEXT_STEPS ?
			     gprof_recorder_next_profiles(self->r[0], self->p, 2) :
			     gprof_recorder_stop_profiles(self->r[0], self->p, 2))
			TH_LOG("%s", gprof_error());
		for (int j = 0; j < 2; j++) {
			EXPECT_LT(0, gprof_profile_total(self->p[j], 0));
			sum[j] += gprof_profile_total(self->p[j], 0);
			gprof_profile_time(self->p[j], &begin, &duration);
			EXPECT_LT(0, duration);
			/* of one clock read twice: they adjoin but for what sets it */
			if (!j && end) {
				EXPECT_GT(1000000, llabs(begin - end));
			}
			end = j ? end : begin + duration;
			gprof_profile_free(self->p[j]);
			self->p[j] = NULL;
		}
	}
	EXPECT_EQ(0, gprof_recorder_stats(self->r[0], 0, &st));
	EXPECT_EQS(sum[0], st.read, st.produced, st.read + st.lost);
	ASSERT_EQ(0, gprof_recorder_stop_profiles(self->r[1], self->p, 2));
	EXPECT_ZEROS(gprof_recorder_stats(self->r[1], 0, &st), st.lost);
	EXPECT_EQ(gprof_profile_total(self->p[0], 0), sum[0]);
	/* two timers, which do not tick at once */
	EXPECT_GE(NEXT_STEPS + 3, llabs(gprof_profile_total(self->p[1], 0) - sum[1]))
		TH_LOG("%lld, %lld", (long long)gprof_profile_total(self->p[1], 0),
		       (long long)sum[1]);
}

TEST_F(kinds, what_is_live_is_told_again_by_the_next_profile)
{
	const struct gprof_kind_config kind = {
		.kind = "heap", .rate = 1, .flags = GPROF_RECORD_KERNEL,
	};
	struct gprof_recorder_config cfg = {
		.sz = sizeof(cfg), .kinds = &kind, .nr_kinds = 1, .buffer_bytes = 4 << 20,
	};
	int q = msgget(IPC_PRIVATE, 0600);

	SKIP_UNLESS(device_has(GPROF_FEAT_OBJECTS), "no ends of allocations are told here");
	ASSERT_LE(0, q);
	ASSERT_EQ(0, child_fork(&self->child, exchanges, &q));
	cfg.target = (struct gprof_target){ GPROF_PROCESS, self->child.pid };
	self->r[0] = gprof_recorder_new(&cfg);
	ASSERT_NE(NULL, self->r[0]);
	ASSERT_ZEROS(gprof_recorder_start_events(self->r[0], NULL, 1), child_step(&self->child),
		     child_step(&self->child),
		     gprof_recorder_next_profiles(self->r[0], self->p, 1));
	EXPECT_SENT(self->p[0], MESSAGES, MESSAGES * MESSAGE, 10, 10 * MESSAGE);
	gprof_profile_free(self->p[0]);
	self->p[0] = NULL;
	ASSERT_EQ(0, gprof_recorder_stop_profiles(self->r[0], self->p, 1));
	EXPECT_SENT(self->p[0], 0, 0, 10, 10 * MESSAGE);
	msgctl(q, IPC_RMID, NULL);
}

/* ---- locks of the kernel ---- */

/* Who holds one while it waits for a page that comes when the test says so. */
struct holder {
	int pipe[2];
	int faults;
	char *page;
	_Atomic int tid, holder;
	uint64_t around;
};

static bool has_late_page(struct holder *h)
{
	struct uffdio_api api = { .api = UFFD_API };
	struct uffdio_register reg = { .mode = UFFDIO_REGISTER_MODE_MISSING };
	long size = sysconf(_SC_PAGESIZE);

	h->faults = syscall(SYS_userfaultfd, O_CLOEXEC);
	if (h->faults < 0 || ioctl(h->faults, UFFDIO_API, &api))
		return false;
	h->page = private_memory(size);
	reg.range.start = (uintptr_t)h->page;
	reg.range.len = size;
	return !ioctl(h->faults, UFFDIO_REGISTER, &reg);
}

/* write() has the pipe's mutex while it reads what is to be written. */
static void *writes_late_page(void *arg)
{
	struct holder *h = arg;

	h->holder = gettid();
	prctl(PR_SET_NAME, "holds it");
	return (void *)write(h->pipe[1], h->page, 1);
}

static void *writes_behind(void *arg)
{
	struct holder *h = arg;
	uint64_t from = monotonic_ns();
	ssize_t n;

	h->tid = gettid();
	n = write(h->pipe[1], "", 1);
	h->around = monotonic_ns() - from;
	return (void *)n;
}

struct lock_waits {
	struct gprof_profile *p;
	int tid;
	int64_t nr;
	int64_t ns;
	int64_t of_others;	/* that cannot be */
	int64_t owner;
	bool owner_named;
	bool in_write;
};

static int count_lock_waits(void *ctx, const struct gprof_frame *frames, size_t nr,
			    const int64_t *values)
{
	const char *lock = gprof_profile_label(((struct lock_waits *)ctx)->p, "lock", NULL);
	struct lock_waits *w = ctx;
	int64_t tid = 0;

	gprof_profile_label(w->p, "tid", &tid);
	w->of_others += !lock || strncmp(lock, "kernel ", 7);
	/* With PREEMPT_RT each mutex is one. */
	if (tid != w->tid || !lock ||
	    (strcmp(lock, "kernel mutex") && strcmp(lock, "kernel rt_mutex")))
		return 0;
	w->nr += values[0];
	w->ns += values[1];
	gprof_profile_label(w->p, "owner", &w->owner);
	w->owner_named = !strcmp(gprof_profile_label(w->p, "owner_comm", NULL) ? : "", "holds it");
	for (size_t i = 0; i < nr; i++)
		w->in_write |= !!strstr(frames[i].function, "pipe_write");
	return 0;
}

TEST_F(kinds, wait_for_a_lock_of_the_kernel_has_its_waiter)
{
	const struct gprof_kind_config kind = {
		.kind = "kernel-lock",
		.flags = GPROF_RECORD_KERNEL | GPROF_RECORD_ADDR | GPROF_RECORD_OWNER,
	};
	const struct gprof_recorder_config cfg = {
		.sz = sizeof(cfg), .target = { GPROF_SELF }, .kinds = &kind, .nr_kinds = 1,
	};
	struct uffdio_zeropage zero = { .range.len = sysconf(_SC_PAGESIZE) };
	struct lock_waits got = { 0 };
	struct holder h = { 0 };
	pthread_t holder, waiter;
	uint64_t from, held;

	errno = 0;
	self->r[0] = gprof_recorder_new(&cfg);
	if (!device_has(GPROF_FEAT_KERNEL_LOCKS)) {
		ASSERT_EQS(NULL, self->r[0], EOPNOTSUPP, errno);
		SKIP(return, "this kernel does not tell: %s", gprof_error());
	}
	ASSERT_NE(NULL, self->r[0]) TH_LOG("%s", gprof_error());
	ASSERT_EQ(0, pipe(h.pipe));
	SKIP_UNLESS(has_late_page(&h), "no userfaultfd here");
	ASSERT_EQ(0, pthread_create(&holder, NULL, writes_late_page, &h));
	sleep_ms(50);
	ASSERT_EQ(0, gprof_recorder_start_events(self->r[0], NULL, 1));
	ASSERT_EQ(0, pthread_create(&waiter, NULL, writes_behind, &h));
	while (!h.tid || !task_is(h.tid, "SD"))
		sched_yield();
	from = monotonic_ns();
	sleep_ms(100);
	held = monotonic_ns() - from;
	zero.range.start = (uintptr_t)h.page;
	EXPECT_EQ(0, ioctl(h.faults, UFFDIO_ZEROPAGE, &zero));
	pthread_join(holder, NULL);
	pthread_join(waiter, NULL);
	stop_one(_metadata, self->r[0], &self->p[0]);
	got.p = self->p[0];
	got.tid = h.tid;
	ASSERT_EQ(0, gprof_profile_each(got.p, count_lock_waits, &got));
	TH_LOG("%lld us, of %llu to %llu", (long long)got.ns / 1000, us_of(held),
	       us_of(h.around));
	EXPECT_WITHIN(held - held / 1000, (uint64_t)got.ns, h.around);
	EXPECT_EQS(1, got.nr, 0, got.of_others, h.holder, got.owner);
	EXPECT_TRUES(got.in_write, got.owner_named);
}

/* ---- filters ---- */

/* What it sends to itself is ignored, and told all the same. */
static void send_to(int sig, unsigned int times)
{
	while (times--)
		syscall(SYS_tgkill, getpid(), gettid(), sig);
}

/* ---- a lock that one thread holds for long ---- */

#define ROUNDS		10
#define WAITERS		3
#define HELD_MS		20

static pthread_mutex_t held = PTHREAD_MUTEX_INITIALIZER;
static int turn, passed;

static int now_of(int *word)
{
	return __atomic_load_n(word, __ATOMIC_SEQ_CST);
}

static void *holds_shortly(void *arg)
{
	for (int i = 1; i <= ROUNDS; i++) {
		while (now_of(&turn) < i)
			sleep_ms(1);
		pthread_mutex_lock(&held);
		pthread_mutex_unlock(&held);
		__atomic_add_fetch(&passed, 1, __ATOMIC_SEQ_CST);
	}
	return arg;
}

static __attribute__((noinline)) void holds_long(int round)
{
	pthread_mutex_lock(&held);
	__atomic_store_n(&turn, round, __ATOMIC_SEQ_CST);
	sleep_ms(HELD_MS);
	pthread_mutex_unlock(&held);
	while (now_of(&passed) < round * WAITERS)
		sleep_ms(1);
}

static void has_a_long_holder(void *arg, int step)
{
	pthread_t waiters[WAITERS];

	for (int i = 0; i < WAITERS; i++)
		if (pthread_create(&waiters[i], NULL, holds_shortly, NULL))
			_exit(1);
	for (int round = 1; round <= ROUNDS; round++)
		holds_long(round);
	for (int i = 0; i < WAITERS; i++)
		pthread_join(waiters[i], NULL);
}

/* It wakes one waiter, which wakes the next: all of them have waited for it. */
TEST_F(kinds, a_long_holder_has_the_time_of_all_its_waiters)
{
	const struct gprof_kind_config kinds[] = { { .kind = "mutex" }, { .kind = "mutex-waiter" } };
	const struct gprof_recorder_config cfg = {
		.sz = sizeof(cfg), .kinds = kinds, .nr_kinds = ARRAY_SIZE(kinds),
	};
	struct gprof_recorder_config of_child = cfg;
	int64_t by_long, by_short, released, waited;

	ASSERT_EQ(0, child_fork(&self->child, has_a_long_holder, NULL));
	of_child.target = (struct gprof_target){ GPROF_PROCESS, self->child.pid };
	self->r[0] = gprof_recorder_new(&of_child);
	ASSERT_NE(NULL, self->r[0]) TH_LOG("%s", gprof_error());
	ASSERT_EQ(0, gprof_recorder_start_events(self->r[0], NULL, ARRAY_SIZE(kinds)));
	ASSERT_EQ(0, child_step(&self->child));
	child_asleep(&self->child);
	ASSERT_EQ(0, gprof_recorder_stop_profiles(self->r[0], self->p, ARRAY_SIZE(kinds)));
	by_long = through(self->p[0], "holds_long", 1);
	by_short = through(self->p[0], "holds_shortly", 1);
	released = gprof_profile_total(self->p[0], 1);
	waited = gprof_profile_total(self->p[1], 1);
	TH_LOG("%lld by the holder, %lld by the waiters, %lld of %lld in all", (long long)by_long,
	       (long long)by_short, (long long)released, (long long)waited);
	/* A waiter may come a millisecond or two late, or the host may be busy. */
	EXPECT_LT(ROUNDS * (HELD_MS - 5) * (int64_t)MS * 2, by_long);
	EXPECT_GT(by_long / 10, by_short);
	/* Each ns of a wait is told once; the recorders read the clock one after the other. */
	EXPECT_GE(waited / 20, released > waited ? released - waited : waited - released);
	EXPECT_EQ(gprof_profile_total(self->p[0], 0), gprof_profile_total(self->p[1], 0));
}

TEST_F(kinds, filter_lets_through_what_it_says)
{
	static const struct { const char *filter; int64_t passes; } cases[] = {
		{ NULL, 35 }, { "sig == 10", 10 }, { "sig != 0xa", 25 },
		{ "sig == 10 || sig == 23", 15 }, { "!(sig==10)&&sig<20", 20 },
		{ "sig & 2", 15 }, { "sig >= 12 && sig <= 22", 20 }, { "sig > 12", 5 },
		{ "sig <= 12", 30 }, { "sig < 12", 10 }, { "sig >= 23", 5 }, { "sig > 23", 0 },
		{ "sig == 10 && sig == 12 || sig == 23", 5 },
		{ "sig == 23 && (sig == 12 || sig == 23)", 5 },
		{ "!!(sig == 12 || !(sig != 10))", 30 },
		{ "code == -6", 35 }, { "code < -5 && code > -7", 35 }, { "code >= 0", 0 },
		{ "comm == \"kinds_test\"", 35 }, { "comm == 'kinds_tes'", 0 },
		{ "comm != 'kinds_test'", 0 }, { "comm ~ 'kinds*'", 35 }, { "comm ~ '*s_t*'", 35 },
		{ "comm ~ 'k?nds_[a-t]est'", 35 }, { "comm ~ 'kinds_[!a-t]est'", 0 },
		{ "comm ~ '*x*'", 0 }, { "COMM == 'kinds_test' && CPU < 4096", 35 },
		{ "common_pid == 1", 0 },
	};
	struct gprof_tracepoint_config cfg = {
		.sz = sizeof(cfg), .target = { GPROF_SELF }, .event = "signal:signal_generate",
		.buffer_bytes = 1 << 16,
	};

	tracepoint_id("signal", "signal_generate");
	signal(SIGUSR1, SIG_IGN);
	signal(SIGUSR2, SIG_IGN);
	/* All at once: each has the same counter, and a filter of its own. */
	for (unsigned int i = 0; i < ARRAY_SIZE(cases); i++) {
		cfg.filter = cases[i].filter;
		self->r[i] = gprof_tracepoint_recorder_new(&cfg);
		ASSERT_NE(NULL, self->r[i]) TH_LOG("%s", gprof_error());
		ASSERT_EQ(0, gprof_recorder_start_events(self->r[i], NULL, 1));
	}
	send_to(SIGUSR1, 10);
	send_to(SIGUSR2, 20);
	send_to(SIGURG, 5);
	for (unsigned int i = 0; i < ARRAY_SIZE(cases); i++) {
		EXPECT_EQ(cases[i].passes, stop_one(_metadata, self->r[i], &self->p[i]))
			TH_LOG("%s", cases[i].filter ?: "none");
	}
}

TEST_F(kinds, one_in_so_many_of_what_passes_stands_for_all)
{
	struct gprof_tracepoint_config cfg = {
		.sz = sizeof(cfg), .target = { GPROF_SELF }, .event = "signal:signal_generate",
		.filter = "sig == 10", .period = 10,
	};
	int64_t got;

	tracepoint_id("signal", "signal_generate");
	signal(SIGUSR1, SIG_IGN);
	self->r[0] = gprof_tracepoint_recorder_new(&cfg);
	ASSERT_NE(NULL, self->r[0]);
	ASSERT_EQ(0, gprof_recorder_start_events(self->r[0], NULL, 1));
	send_to(SIGUSR1, 4000);
	send_to(SIGURG, 4000);
	got = stop_one(_metadata, self->r[0], &self->p[0]);
	/* to six standard deviations of 190 */
	EXPECT_EQ(0, got % 10);
	EXPECT_WITHIN(4000 - 6 * 190, got, 4000 + 6 * 190);
}

TEST_F(kinds, filter_that_does_not_parse_is_told_with_the_place)
{
	static const struct { const char *filter, *word; } cases[] = {
		{ "", "at character 1, its end" }, { "sig", "at character 4, its end" },
		{ "sig = 10", "at character 5, \"= 10\"" },
		{ "sig == ten", "at character 8, \"ten\": wants a number" },
		{ "sig == 10 &&", "at character 13, its end" },
		{ "sig == 10 && foo == 1", "at character 14, \"foo == 1\"" },
		{ "(sig == 10", "at character 1, \"(sig == 10\": the parenthesis" },
		{ "sig == 10)", "at character 10, \")\"" },
		{ "comm == kinds", "at character 9, \"kinds\": text stands" },
		{ "comm == 'kinds", "at character 9, \"'kinds\": the quote" },
		{ "comm < 'kinds'", "at character 6" }, { "sig ~ 'x'", "at character 5" },
		{ "sig == 'x'", "at character 8" }, { "sig == 10x", "at character 8" },
		{ "sig == 99999999999999999999", "at character 8" },
	};
	struct gprof_tracepoint_config cfg = {
		.sz = sizeof(cfg), .target = { GPROF_SELF }, .event = "signal:signal_generate",
	};

	tracepoint_id("signal", "signal_generate");
	for (unsigned int i = 0; i < ARRAY_SIZE(cases); i++) {
		cfg.filter = cases[i].filter;
		EXPECT_ERRNO(EINVAL, gprof_tracepoint_recorder_new(&cfg));
		EXPECT_NE(NULL, strstr(gprof_error(), cases[i].word))
			TH_LOG("%s: %s", cases[i].filter, gprof_error());
	}
	cfg.event = "page-faults";
	cfg.filter = "sig == 1";
	EXPECT_ERRNO(EINVAL, gprof_tracepoint_recorder_new(&cfg));
}

TEST_HARNESS_MAIN
