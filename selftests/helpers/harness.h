/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * harness.h: the kernel's kselftest_harness.h, the C library's headers that tests ask for,
 * and what all tests here add to it.
 */
#ifndef GPROF_TEST_HARNESS_H
#define GPROF_TEST_HARNESS_H

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <kselftest_harness.h>

/* Emulated and instrumented kernels are slow; the default of 30 s is for real ones. */
#undef TEST_TIMEOUT_DEFAULT
#define TEST_TIMEOUT_DEFAULT	240

/*
 * Leave out a test for want of a capability. SKIP() alone would turn a check
 * that failed before it into a pass.
 */
#define SKIP_UNLESS(_have, _fmt, ...) do {				\
	if (!(_have) && _metadata->passed)				\
		SKIP(return, _fmt, ##__VA_ARGS__);			\
	else if (!(_have))						\
		return;							\
} while (0)

/*
 * Leave out all tests of a fixture, in its setup: nothing is torn down. Before Linux 6.9 the harness
 * goes on to the test after a skip.
 */
#ifdef XFAIL
#define SKIP_ALL_UNLESS	SKIP_UNLESS
#else
#define SKIP_ALL_UNLESS(_have, _fmt, ...) do {				\
	if (!(_have))							\
		SKIP(_exit(255), _fmt, ##__VA_ARGS__);			\
} while (0)
#endif

/* EXPECT_EQ() of each pair, and its like: what is expected, what is seen, and so on. */
#define EXPECT_EQS(...)		EACH_PAIR(EXPECT_EQ, __VA_ARGS__)
#define EXPECT_LES(...)		EACH_PAIR(EXPECT_LE, __VA_ARGS__)
#define EXPECT_LTS(...)		EACH_PAIR(EXPECT_LT, __VA_ARGS__)
#define EXPECT_STREQS(...)	EACH_PAIR(EXPECT_STREQ, __VA_ARGS__)
#define ASSERT_EQS(...)		EACH_PAIR(ASSERT_EQ, __VA_ARGS__)
/* From @least to @most, both of them too. */
#define EXPECT_WITHIN(least, seen, most)	EXPECT_LES(least, seen, seen, most)
#define EACH_PAIR(op, ...)	do { PAIRS(op, __VA_ARGS__); } while (0)
#define PAIRS(op, ...)								\
	NTH_PAIR(__VA_ARGS__, PAIR12, , PAIR11, , PAIR10, , PAIR9, , PAIR8, , PAIR7, , PAIR6, , \
		 PAIR5, , PAIR4, , PAIR3, , PAIR2, , PAIR1, )(op, __VA_ARGS__)
#define NTH_PAIR(a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13, a14, a15, a16, a17, a18, \
		 a19, a20, a21, a22, a23, a24, nth, ...) nth
#define PAIR1(op, a, b)		op(a, b)
#define PAIR2(op, a, b, ...)	op(a, b); PAIR1(op, __VA_ARGS__)
#define PAIR3(op, a, b, ...)	op(a, b); PAIR2(op, __VA_ARGS__)
#define PAIR4(op, a, b, ...)	op(a, b); PAIR3(op, __VA_ARGS__)
#define PAIR5(op, a, b, ...)	op(a, b); PAIR4(op, __VA_ARGS__)
#define PAIR6(op, a, b, ...)	op(a, b); PAIR5(op, __VA_ARGS__)
#define PAIR7(op, a, b, ...)	op(a, b); PAIR6(op, __VA_ARGS__)
#define PAIR8(op, a, b, ...)	op(a, b); PAIR7(op, __VA_ARGS__)
#define PAIR9(op, a, b, ...)	op(a, b); PAIR8(op, __VA_ARGS__)
#define PAIR10(op, a, b, ...)	op(a, b); PAIR9(op, __VA_ARGS__)
#define PAIR11(op, a, b, ...)	op(a, b); PAIR10(op, __VA_ARGS__)
#define PAIR12(op, a, b, ...)	op(a, b); PAIR11(op, __VA_ARGS__)

/* Each of these texts is in @text; none of them is. */
#define EXPECT_SAYS(text, ...)	EACH_TEXT(EXPECT_NE, text, __VA_ARGS__)
#define EXPECT_LACKS(text, ...)	EACH_TEXT(EXPECT_EQ, text, __VA_ARGS__)
#define EACH_TEXT(op, text, ...) do {							\
	const char *const _texts[] = { __VA_ARGS__, NULL }, *_in = text;		\
	for (size_t _i = 0; _texts[_i]; _i++) {						\
		op(NULL, strstr(_in, _texts[_i])) TH_LOG("\"%s\": %s", _texts[_i], _in);	\
	}										\
} while (0)

/* The sums of a profile's first columns. */
#define EXPECT_TOTALS(profile, ...) do {						\
	const int64_t _totals[] = { __VA_ARGS__ };					\
	for (size_t _i = 0; _i < ARRAY_SIZE(_totals); _i++) {				\
		EXPECT_EQ(_totals[_i], gprof_profile_total(profile, _i))		\
			TH_LOG("column %zu", _i);					\
	}										\
} while (0)

/* The call gives NULL, and errno is @err. */
#define EXPECT_ERRNO(err, call) do {							\
	errno = 0;									\
	EXPECT_EQ(NULL, call);								\
	EXPECT_EQ(err, errno);								\
} while (0)

/* Each of up to eight is 0, in their order; or none is. */
#define ASSERT_ZEROS(...)	EACH_ZERO(ASSERT_EQ, __VA_ARGS__)
#define EXPECT_ZEROS(...)	EACH_ZERO(EXPECT_EQ, __VA_ARGS__)
#define ASSERT_TRUES(...)	EACH_ZERO(ASSERT_NE, __VA_ARGS__)
#define EXPECT_TRUES(...)	EACH_ZERO(EXPECT_NE, __VA_ARGS__)
#define EACH_ZERO(op, ...) do {							\
	NTH_ZERO(__VA_ARGS__, ZERO8, ZERO7, ZERO6, ZERO5, ZERO4, ZERO3, ZERO2, ZERO1)	\
		(op, __VA_ARGS__);							\
} while (0)
#define NTH_ZERO(a1, a2, a3, a4, a5, a6, a7, a8, nth, ...) nth
#define ZERO1(op, a)		op(0, a)
#define ZERO2(op, a, ...)	op(0, a); ZERO1(op, __VA_ARGS__)
#define ZERO3(op, a, ...)	op(0, a); ZERO2(op, __VA_ARGS__)
#define ZERO4(op, a, ...)	op(0, a); ZERO3(op, __VA_ARGS__)
#define ZERO5(op, a, ...)	op(0, a); ZERO4(op, __VA_ARGS__)
#define ZERO6(op, a, ...)	op(0, a); ZERO5(op, __VA_ARGS__)
#define ZERO7(op, a, ...)	op(0, a); ZERO6(op, __VA_ARGS__)
#define ZERO8(op, a, ...)	op(0, a); ZERO7(op, __VA_ARGS__)

/* For TH_LOG(): what has 64 bits, and a time in ns as less of them. */
static inline unsigned long long ull(uint64_t n)
{
	return n;
}

static inline unsigned long long us_of(uint64_t ns)
{
	return ns / 1000;
}

static inline unsigned long long ms_of(uint64_t ns)
{
	return ns / 1000000;
}

/* How a child has ended: its wait status, or -1. */
static inline int reap(pid_t pid)
{
	int status;

	return waitpid(pid, &status, 0) == pid ? status : -1;
}

/* How a child has ended that evaluates @status, and ends with it. */
#define IN_CHILD(status) ({								\
	pid_t _pid = fork();								\
											\
	if (!_pid)									\
		_exit(status);								\
	reap(_pid);									\
})

/*
 * "-t CASE" runs that case alone, as the harness itself does from Linux 6.4 on: by the name that
 * the source has, or the one that the results have, with its fixture before.
 */
static int run_case(int argc, char **argv)
{
	struct __fixture_metadata *f;
	struct __test_metadata *t, *next, **end;
	int n = 0;

	if (argc != 3 || strcmp(argv[1], "-t"))
		return test_harness_run(argc, argv);
	for (f = __fixture_list; f; f = f->next) {
		const char *name = argv[2];
		size_t len = strlen(f->name);

		if (!strncmp(name, f->name, len) && name[len] == '.')
			name += len + 1;
		end = &f->tests;
		for (t = f->tests; t; t = next) {
			next = t->next;
			if (strcmp(t->name, name))
				continue;
			*end = t;
			end = &t->next;
			n++;
		}
		*end = NULL;
	}
	if (!n) {
		fprintf(stderr, "%s has no case %s\n", argv[0], argv[2]);
		return KSFT_FAIL;
	}
	return test_harness_run(1, argv);
}

#define test_harness_run	run_case

#endif
