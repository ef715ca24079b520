/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * harness.h: the kernel's kselftest_harness.h, and what all tests here add to it.
 */
#ifndef GPROF_TEST_HARNESS_H
#define GPROF_TEST_HARNESS_H

#include <string.h>
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
