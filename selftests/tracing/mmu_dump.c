// SPDX-License-Identifier: GPL-2.0-only
/*
 * mmu_dump: what libgprof says of the utilization in a trace, in lines that mmu_go prints too.
 *
 * 	mmu_dump trace FILE FLAGS...	of a trace, for each set of flags
 * 	mmu_dump kernel			writes the trace of helpers/kernel_trace.h
 */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <gprof/trace.h>
#include <gprof/utilization.h>

#include "kernel_trace.h"

#define SETS_MAX	64

static const double quantiles[] = { 0, .001, .01, .05, .45, .88, 1 };

#define NR_QUANTILES	(sizeof(quantiles) / sizeof(quantiles[0]))

static void __attribute__((noreturn)) die(const char *what, const char *why)
{
	fprintf(stderr, "mmu_dump: %s: %s\n", what, why);
	exit(1);
}

static int64_t length(const struct gprof_util_function *f)
{
	return f->nr ? f->changes[f->nr - 1].time - f->changes[0].time : 0;
}

/* FNV-1a of times and utilizations, byte by byte. */
static uint64_t hash(const struct gprof_util_function *f)
{
	uint64_t h = 0xcbf29ce484222325;

	for (size_t i = 0; i < f->nr; i++) {
		unsigned char b[16];

		memcpy(b, &f->changes[i].time, 8);
		memcpy(b + 8, &f->changes[i].util, 8);
		for (size_t j = 0; j < sizeof(b); j++)
			h = (h ^ b[j]) * 0x100000001b3;
	}
	return h;
}

static void print_functions(const struct gprof_util_function *f, size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		printf("function %zu changes %zu hash %016llx\n", i, f[i].nr,
		       (unsigned long long)hash(&f[i]));
}

/* Only of these are Go's quantiles exact: see mmu_go. */
static bool exact(const struct gprof_util_function *f, size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		for (size_t j = 0; j < f[i].nr; j++)
			if (f[i].changes[j].util * 0x1p20 != (uint64_t)(f[i].changes[j].util * 0x1p20))
				return false;
	return true;
}

static void print_window(const struct gprof_mmu *m, int64_t window, bool with_quantiles)
{
	double util[NR_QUANTILES];
	struct gprof_util_window worst;

	printf("mmu %lld %.17g\n", (long long)window, gprof_mmu_at(m, window));
	if (gprof_mmu_quantiles(m, window, quantiles, NR_QUANTILES, util))
		die("quantiles", strerror(errno));
	for (size_t i = 0; with_quantiles && i < NR_QUANTILES; i++)
		printf("quantile %lld %.17g %.17g\n", (long long)window, quantiles[i], util[i]);
	if (gprof_mmu_worst(m, window, &worst, 1) == 1)
		printf("worst %lld %.17g\n", (long long)window, worst.util);
}

static void print_curves(const struct gprof_util_function *f, size_t nr)
{
	static const int64_t steps[] = { 1, 2, 5 };
	struct gprof_mmu *m = gprof_mmu_new(f, nr);
	int64_t longest = 0, w;

	if (!m)
		die("functions", strerror(errno));
	for (size_t i = 0; i < nr; i++)
		if (length(&f[i]) > longest)
			longest = length(&f[i]);
	for (w = 1000; w < longest; w *= 10)
		for (size_t i = 0; i < 3; i++)
			if (w * steps[i] < longest)
				print_window(m, w * steps[i], exact(f, nr));
	print_window(m, longest, exact(f, nr));
	print_window(m, longest + 1, exact(f, nr));
	gprof_mmu_free(m);
}

static void dump_trace(const char *file, char **flags, int nr)
{
	struct gprof_utilization *u[SETS_MAX];
	const struct gprof_util_function *f;
	int fd = open(file, O_RDONLY | O_CLOEXEC), i, ret;
	struct gprof_trace *t = fd < 0 ? NULL : gprof_trace_new(fd, NULL);
	struct gprof_trace_event ev;
	size_t nr_functions;

	if (!t)
		die(file, fd < 0 ? strerror(errno) : gprof_error());
	if (nr > SETS_MAX)
		die("flags", "too many sets");
	for (i = 0; i < nr; i++) {
		u[i] = gprof_utilization_new((unsigned int)atoi(flags[i]));
		if (!u[i])
			die(flags[i], strerror(errno));
	}
	while ((ret = gprof_trace_next(t, &ev)) > 0)
		for (i = 0; i < nr; i++)
			if (gprof_utilization_add(u[i], &ev))
				die(file, strerror(errno));
	if (ret)
		die(file, gprof_error());
	for (i = 0; i < nr; i++) {
		if (gprof_utilization_finish(u[i], &f, &nr_functions))
			die(file, strerror(errno));
		printf("flags %s\n", flags[i]);
		print_functions(f, nr_functions);
		print_curves(f, nr_functions);
		gprof_utilization_free(u[i]);
	}
	gprof_trace_free(t);
	close(fd);
}

static void write_kernel_trace(void)
{
	struct kernel_trace t;

	kernel_trace_make(&t);
	if (fwrite(t.bytes, 1, t.nr, stdout) != t.nr || fflush(stdout))
		die("stdout", strerror(errno));
}

int main(int argc, char **argv)
{
	if (argc >= 3 && !strcmp(argv[1], "trace"))
		dump_trace(argv[2], argv + 3, argc - 3);
	else if (argc == 2 && !strcmp(argv[1], "kernel"))
		write_kernel_trace();
	else
		die("usage", "mmu_dump trace FILE FLAGS... | kernel");
	return 0;
}
