// SPDX-License-Identifier: GPL-2.0-only
/*
 * fuzz_test: calls of every kind, in random order, from several threads on shared
 * recorders, with and without privilege; then the ledger.
 *
 * GPROF_FUZZ_CALLS, GPROF_FUZZ_SECONDS and GPROF_FUZZ_SEED say how many calls, how
 * long at most, and which. Each thread draws from its own generator, so the same seed
 * gives each thread the same wishes; how threads meet is the kernel's choice.
 */
#include "harness.h"
#include "fuzz.h"
#include "remains.h"
#include "workload.h"

/* On the slowest kernel, with the time that is asked for on top. */
#undef TEST_TIMEOUT_DEFAULT
#define TEST_TIMEOUT_DEFAULT	(7 * 24 * 3600)

#define USER		1000
#define QUICK_CALLS	20000
#define QUICK_SECONDS	20
#define PAST_CALLS	4000

/*
 * Seeds under which something once went wrong, and what. They are run again with
 * both privileges, before anything new is tried.
 */
static const struct { uint64_t seed; const char *what; } past[] = {
	{ 1, "the first that was run: nothing went wrong" },
};

static uint64_t number_of(const char *variable, uint64_t otherwise)
{
	const char *text = getenv(variable);

	return text && *text ? strtoull(text, NULL, 0) : otherwise;
}

FIXTURE(fuzz) {
	char before[16];
};

FIXTURE_VARIANT(fuzz) {
	uid_t user;
};

FIXTURE_VARIANT_ADD(fuzz, with_privilege) { .user = 0 };
FIXTURE_VARIANT_ADD(fuzz, without_privilege) { .user = USER };

FIXTURE_SETUP(fuzz)
{
	SKIP_ALL_UNLESS(!geteuid(), "must be root to become another");
	ASSERT_EQ(0, file_read(ALLOWANCE, self->before, sizeof(self->before)));
	if (variant->user) {
		ASSERT_EQ(0, file_write(ALLOWANCE, "0"));
	}
}

FIXTURE_TEARDOWN(fuzz)
{
	if (self->before[0])
		file_write(ALLOWANCE, self->before);
}

/* In a child that is the user: does @fn, and passes what it says on. */
static long as_user(uid_t user, long (*fn)(void *arg), void *arg)
{
	long said = -EPIPE;
	int pipes[2], status;
	pid_t pid;

	if (pipe(pipes))
		return -errno;
	pid = fork();
	if (!pid) {
		/* room for the recorders; a limit of its own would be raised by privilege */
		struct rlimit limit = { 32 << 20, RLIM_INFINITY };

		if (user && (setrlimit(RLIMIT_MEMLOCK, &limit) || become(user)))
			_exit(1);
		said = fn(arg);
		_exit(write(pipes[1], &said, sizeof(said)) != sizeof(said));
	}
	close(pipes[1]);
	if (read(pipes[0], &said, sizeof(said)) != sizeof(said))
		said = -EPIPE;
	close(pipes[0]);
	if (waitpid(pid, &status, 0) != pid || status)
		return -ECHILD;
	return said;
}

static long least(void *arg)
{
	return least_memlock();
}

static long run(void *arg)
{
	struct fuzz *f = arg;

	fuzz_run(f);
	return f->error[0] ? -EBADMSG : 0;
}

static void fuzz_once(struct __test_metadata *_metadata, const FIXTURE_VARIANT(fuzz) *variant,
		      uint64_t seed, uint64_t calls, uint64_t seconds)
{
	uint64_t recorders = open_recorders();
	long references = module_references();
	long before = 0, ret;
	struct fuzz *f = fuzz_new(seed, calls, seconds);

	ASSERT_NE(NULL, f);
	if (variant->user) {
		before = as_user(variant->user, least, NULL);
		ASSERT_LT(0, before);
	}
	ret = as_user(variant->user, run, f);
	TH_LOG("seed %llu: %llu calls, %llu refused, %llu set up, %llu started, %llu samples (%llu "
	       "beside an interpreter) and %llu events read, %llu statistics, %llu ledgers",
	       ull(seed), ull(f->calls), ull(f->refused), ull(f->set_up), ull(f->started),
	       ull(f->samples), ull(f->interpreters), ull(f->events), ull(f->told),
	       ull(f->ledgers));
	EXPECT_EQ(0, ret) TH_LOG("GPROF_FUZZ_SEED=%llu: %s", ull(seed), f->error);
	/* what does nothing finds nothing */
	EXPECT_LTS(0, f->set_up, 0, f->started, 0, f->refused);
	if (calls >= QUICK_CALLS) {
		EXPECT_LT(0, f->told);
	}
	EXPECT_LT(0, f->ledgers);
	EXPECT_TRUE(recorders_become(recorders));
	for (int i = 0; i < 100 && module_references() != references; i++)
		sleep_ms(20);
	EXPECT_EQ(references, module_references());
	if (variant->user) {
		EXPECT_EQ(before, as_user(variant->user, least, NULL));
	}
	fuzz_free(f);
}

TEST_F(fuzz, past_failures_stay_mended)
{
	if (!self->before[0])
		return;
	for (unsigned int i = 0; i < ARRAY_SIZE(past); i++) {
		TH_LOG("%s", past[i].what);
		fuzz_once(_metadata, variant, past[i].seed, PAST_CALLS, QUICK_SECONDS);
	}
}

TEST_F(fuzz, calls_in_any_order_leave_ledger_balanced_and_nothing_behind)
{
	uint64_t calls = number_of("GPROF_FUZZ_CALLS", 0);
	uint64_t seconds = number_of("GPROF_FUZZ_SECONDS", 0);
	uint64_t seed = number_of("GPROF_FUZZ_SEED", 0);

	if (!self->before[0])
		return;
	if (!calls && !seconds) {
		calls = QUICK_CALLS;
		seconds = QUICK_SECONDS;
	}
	/* the calls are those of both variants together */
	calls = (calls + 1) / 2;
	seconds = (seconds + 1) / 2;
	if (!seed)
		seed = monotonic_ns();
	fuzz_once(_metadata, variant, seed, calls, seconds);
}

TEST_HARNESS_MAIN
