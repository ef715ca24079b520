// SPDX-License-Identifier: GPL-2.0-only
/*
 * The module's ring under NMIs: kmod/ring/buffer.c and kmod/ring/dictionary.c as they are,
 * in user space. Built twice: plainly, and under ThreadSanitizer (ring_tsan),
 * which sees a data race between producer and reader where a barrier lacks.
 *
 * NMIs are real signals to the producing thread, and calls at every place where
 * the code touches what an NMI could touch.
 */
#include "ring_test_core.h"

#include "harness.h"

/* Signals come by the clock and the limit is real time: a busy host needs more. */
#undef TEST_TIMEOUT_DEFAULT
#define TEST_TIMEOUT_DEFAULT	180

#ifdef __SANITIZE_THREAD__
#define ROUNDS	20000
#else
#define ROUNDS	100000
#endif

static struct core core;	/* too large for a stack */
static struct core_check check;

static void on_signal(int sig)
{
	if (core.depth < CORE_DEPTH)
		core_produce(&core);
}

/* Signals every @us, nested in each other. */
static timer_t nmi_timer(int sig, long us)
{
	struct sigaction sa = { .sa_handler = on_signal, .sa_flags = SA_NODEFER | SA_RESTART };
	struct itimerspec t = { { 0, us * 1000 }, { 0, us * 1000 } };
	struct sigevent ev = { .sigev_notify = SIGEV_THREAD_ID, .sigev_signo = sig };
	timer_t timer;

	ev._sigev_un._tid = syscall(SYS_gettid);
	sigaction(sig, &sa, NULL);
	if (timer_create(CLOCK_MONOTONIC, &ev, &timer) || timer_settime(timer, 0, &t, NULL))
		abort();
	return timer;
}

static int producing, rounds;

/* A CPU: takes samples, interrupted by two sources of signals and by shim_point(). */
static void *produce(void *arg)
{
	timer_t slow, fast;

	core_run_on(&core);
	slow = nmi_timer(SIGUSR1, 97);
	fast = nmi_timer(SIGUSR2, 31);
	for (int i = 0; i < rounds; i++)
		core_produce(&core);
	timer_delete(fast);
	timer_delete(slow);
	core_run_on(NULL);
	__atomic_store_n(&producing, 0, __ATOMIC_RELEASE);
	return NULL;
}

static pthread_t start_cpu(int n)
{
	pthread_t cpu;

	rounds = n;
	__atomic_store_n(&producing, 1, __ATOMIC_RELAXED);
	if (pthread_create(&cpu, NULL, produce, NULL))
		abort();
	return cpu;
}

static u64 read_up(u64 pos)
{
	u64 head = __atomic_load_n(&core.b.head->head, __ATOMIC_ACQUIRE);	/* C */

	pos = core_check_records(&check, core.b.data, core.b.size, pos, head);
	__atomic_store_n(&core.b.tail->tail, pos, __ATOMIC_RELEASE);		/* D */
	return pos;
}

static u64 lost_so_far(void)
{
	u64 lost = 0;

	for (int i = 0; i < GPROF_LOST_NR; i++)
		lost += __atomic_load_n(&core.b.lost[i].a, __ATOMIC_RELAXED);
	return lost;
}

static unsigned int words;	/* of struct core */

/* @late: a reader that reads when something has been lost again, and not before. */
static void stream(u64 size, int n, unsigned int nmi_per_64k, bool late)
{
	u64 pos = 0, lost = 0, now;
	pthread_t cpu;

	core_init(&core, size, false, size + nmi_per_64k, nmi_per_64k);
	core.words = words;
	core_check_start(&check);
	cpu = start_cpu(n);
	while (__atomic_load_n(&producing, __ATOMIC_ACQUIRE) && !check.error) {
		now = lost_so_far();
		if (late && now == lost) {
			sched_yield();
			continue;
		}
		lost = now;
		pos = read_up(pos);
	}
	pthread_join(cpu, NULL);
	read_up(pos);
}

TEST(every_sample_that_is_read_is_whole)
{
	stream(1 << 20, ROUNDS, 500, false);
	EXPECT_STREQ("", check.error ?: "");
	EXPECT_TRUE(core_balances(&core, &check));
	EXPECT_LT(0, check.samples);
}

TEST(full_ring_loses_and_tells_exactly)
{
	u64 unreported = 0;

	stream(GPROF_BUFFER_MIN, ROUNDS, 500, true);
	EXPECT_STREQ("", check.error ?: "");
	EXPECT_TRUE(core_balances(&core, &check));
	for (int i = 0; i < GPROF_LOST_NR; i++)
		unreported += local64_read(&core.b.unreported[i]);
	EXPECT_LTS(0, lost_so_far(), 1, check.told);
	EXPECT_EQ(lost_so_far(), check.lost + unreported);
}

TEST(nmis_at_every_step_leave_nothing_torn)
{
	stream(GPROF_BUFFER_MIN, ROUNDS / 50, 8000, false);
	EXPECT_STREQ("", check.error ?: "");
	EXPECT_TRUE(core_balances(&core, &check));
	EXPECT_LT(0, core.behind);
	EXPECT_EQ(0, core.early);
}

/* Where half of what is written looks at nothing but the word, if it can. */
TEST(words_are_whole_lost_and_told_as_others)
{
	const struct { u64 size; unsigned int rounds, nmi_per_64k; bool late; } runs[] = {
		{ 1 << 20, ROUNDS, 500, false }, { GPROF_BUFFER_MIN, ROUNDS, 500, true },
		{ GPROF_BUFFER_MIN, ROUNDS / 50, 8000, false },
	};

	words = 2;
	for (unsigned int i = 0; i < sizeof(runs) / sizeof(*runs); i++) {
		u64 unreported = 0;

		stream(runs[i].size, runs[i].rounds, runs[i].nmi_per_64k, runs[i].late);
		EXPECT_STREQ("", check.error ?: "");
		EXPECT_TRUE(core_balances(&core, &check));
		for (unsigned int reason = 0; reason < GPROF_LOST_NR; reason++)
			unreported += local64_read(&core.b.unreported[reason]);
		EXPECT_EQ(lost_so_far(), check.lost + unreported);
		EXPECT_LT(100, core.put);
		EXPECT_GT(check.samples, core.put);
	}
	words = 0;
}

TEST(impossible_tails_are_losses_and_no_more)
{
	static const u64 tails[] = { 8, 1ULL << 40, ~0ULL, 3, -(u64)GPROF_BUFFER_MIN - 8 };

	for (unsigned int i = 0; i < sizeof(tails) / sizeof(*tails); i++) {
		core_init(&core, GPROF_BUFFER_MIN, false, i, 0);
		core_check_start(&check);
		core.b.tail->tail = tails[i];
		core_produce(&core);
		EXPECT_EQ(0, core.b.head->head);
		core.b.tail->tail = 0;
		core_produce(&core);
		core_check_records(&check, core.b.data, core.b.size, 0, core.b.head->head);
		EXPECT_STREQ("", check.error ?: "");
		EXPECT_TRUE(core_balances(&core, &check));
		EXPECT_EQ(1, check.samples);
	}
}

/* One record for a row of losses, and no more room taken by what has been told. */
TEST(losses_in_a_row_are_told_once)
{
	core_init(&core, 1 << 20, false, 7, 0);
	core_check_start(&check);
	core.b.tail->tail = 8;
	for (unsigned int i = 0; i < 3; i++)
		core_produce(&core);
	core.b.tail->tail = 0;
	for (unsigned int i = 0; i < 100; i++)
		core_produce(&core);
	core_check_records(&check, core.b.data, core.b.size, 0, core.b.head->head);
	EXPECT_STREQ("", check.error ?: "");
	EXPECT_EQS(100, check.samples, 3, check.lost, 1, check.told);
}

TEST(flight_ring_accounts_for_every_sample)
{
	for (unsigned int seed = 0; seed < 8; seed++) {
		core_init(&core, GPROF_BUFFER_MIN, true, seed, 4000);
		core.words = seed % 3;
		core_check_start(&check);
		core_run_on(&core);
		for (int i = 0; i < ROUNDS / 8; i++)
			core_produce(&core);
		core_run_on(NULL);
		core_check_records(&check, core.b.data, core.b.size, core.b.head->oldest,
				   core.b.head->head);
		EXPECT_STREQ("", check.error ?: "");
		EXPECT_TRUE(core_balances(&core, &check));
		EXPECT_LT(0, local64_read(&core.b.overwritten));
		EXPECT_LE(3, check.generations);
	}
}

#ifndef __SANITIZE_THREAD__
/* A copy that may be overwritten under way is a race by design, told by oldest. */
TEST(flight_ring_is_copied_while_it_records)
{
	static char copy[GPROF_BUFFER_MIN];
	u64 good = 0, snapshots = 0;
	pthread_t cpu;

	core_init(&core, GPROF_BUFFER_MIN, true, 99, 500);
	cpu = start_cpu(ROUNDS);
	while (__atomic_load_n(&producing, __ATOMIC_ACQUIRE)) {
		u64 head = __atomic_load_n(&core.b.head->head, __ATOMIC_ACQUIRE), oldest;

		memcpy(copy, core.b.data, sizeof(copy));
		__atomic_thread_fence(__ATOMIC_ACQUIRE);			/* F */
		oldest = __atomic_load_n(&core.b.head->oldest, __ATOMIC_RELAXED);
		if (oldest >= head)
			continue;
		core_check_start(&check);
		/* Twice in a row for records that wrap: data is a copy of one round. */
		{
			static char twice[2 * GPROF_BUFFER_MIN];

			memcpy(twice, copy, sizeof(copy));
			memcpy(twice + sizeof(copy), copy, sizeof(copy));
			core_check_records(&check, twice, sizeof(copy), oldest, head);
		}
		ASSERT_STREQ("", check.error ?: "");
		good += check.samples;
		snapshots++;
	}
	pthread_join(cpu, NULL);
	EXPECT_LTS(10, snapshots, 1000, good);
}
#endif

TEST_HARNESS_MAIN
