// SPDX-License-Identifier: GPL-2.0-only
/*
 * truth_check: holds profiles of the truth programs to what these do.
 *
 *	truth_check PROGRAM shares POINTS FILE...	each share is within POINTS of the truth
 *	truth_check PROGRAM ranks FILE...		the order of the functions is right
 *	truth_check PROGRAM stacks FILE...		every stack is complete down to main
 *	truth_check PROGRAM agree PERCENT FILE...	over FILEs, no function's share varies more
 *	truth_check PROGRAM most PERCENT FILE...	the functions have so much of the total
 *	truth_check PROGRAM measured POINTS TEXT FILE	each share is within POINTS of what the
 *						program printed in TEXT
 *	truth_check PROGRAM quiet POINTS TEXT		what it printed is within POINTS of the truth
 *	truth_check PROGRAM show FILE...		what is in it
 *
 * PROGRAM is serial or threads. Shares are parts of what the ten functions have
 * together, in the column that the profile shows by default.
 */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <gprof/profile.h>

#define NR	10
#define MOST_FILES	16

struct program {
	const char *name;
	const char *functions[NR];
	double shares[NR];		/* percent */
	const char *callers[3];		/* of each function, inner first */
};

#define PART(_n)	((_n) * 100.0 / 55)

static const struct program programs[] = {
	{
		.name = "serial",
		.functions = {
			"A_expect_1_82", "B_expect_3_64", "C_expect_5_46", "D_expect_7_27",
			"E_expect_9_09", "F_expect_10_91", "G_expect_12_73", "H_expect_14_55",
			"I_expect_16_36", "J_expect_18_18",
		},
		.shares = {
			PART(1), PART(2), PART(3), PART(4), PART(5), PART(6), PART(7), PART(8),
			PART(9), PART(10),
		},
		.callers = { "level2", "level1", "main" },
	}, {
		.name = "threads",
		.functions = { "f1", "f2", "f3", "f4", "f5", "f6", "f7", "f8", "f9", "f10" },
		.shares = { 10, 10, 10, 10, 10, 10, 10, 10, 10, 10 },
		.callers = { "level2", "level1", "thread" },
	},
};

struct profile {
	const char *path;
	const struct program *program;
	size_t type;
	int64_t flat[NR];
	int64_t inside;		/* sum of @flat */
	int64_t total;
	uint64_t samples;	/* stacks that differ, not samples */
	uint64_t incomplete;
};

static int function_of(const struct program *program, const char *name)
{
	for (int i = 0; i < NR; i++)
		if (!strcmp(program->functions[i], name))
			return i;
	return -1;
}

static void complain(struct profile *p, const struct gprof_frame *frames, size_t nr,
		     int64_t value)
{
	p->incomplete++;
	if (p->incomplete > 10)
		return;
	printf("%s: %lld with the stack", p->path, (long long)value);
	for (size_t i = 0; i < nr; i++)
		printf(" %s", frames[i].function);
	printf("\n");
}

static int each(void *ctx, const struct gprof_frame *frames, size_t nr, const int64_t *values)
{
	struct profile *p = ctx;
	int64_t value = values[p->type];
	int n;

	p->samples++;
	p->total += value;
	n = nr ? function_of(p->program, frames[0].function) : -1;
	if (n < 0) {
		/* a function of ours in the middle, or its caller alone: a leaf is missing */
		for (size_t i = 0; i < nr; i++) {
			if (function_of(p->program, frames[i].function) >= 0) {
				complain(p, frames, nr, value);
				break;
			}
		}
		return 0;
	}
	p->flat[n] += value;
	p->inside += value;
	for (size_t i = 0; i < 3; i++) {
		if (i + 1 >= nr || strcmp(frames[i + 1].function, p->program->callers[i])) {
			complain(p, frames, nr, value);
			break;
		}
	}
	return 0;
}

static void load(struct profile *p, const struct program *program, const char *path)
{
	struct gprof_profile *profile;
	int fd = open(path, O_RDONLY);

	*p = (struct profile){ .path = path, .program = program };
	profile = fd < 0 ? NULL : gprof_profile_read(fd);
	if (!profile) {
		fprintf(stderr, "%s: %s %s\n", path, strerror(errno), gprof_error());
		exit(2);
	}
	close(fd);
	p->type = gprof_profile_default_type(profile);
	gprof_profile_each(profile, each, p);
	if (p->total != gprof_profile_total(profile, p->type)) {
		printf("%s: samples sum up to %lld, the total is %lld\n", path,
		       (long long)p->total, (long long)gprof_profile_total(profile, p->type));
		exit(1);
	}
	gprof_profile_free(profile);
	if (!p->inside) {
		printf("%s: none of the functions is in it\n", path);
		exit(1);
	}
}

static double share(const struct profile *p, int i)
{
	return 100.0 * p->flat[i] / p->inside;
}

/* What the program itself found that its functions took, percent. */
static void load_measured(const struct program *program, const char *path, double *measured)
{
	unsigned long long ns;
	double sum = 0;
	char name[64];
	FILE *f = fopen(path, "r");
	int i, nr = 0;

	while (f && fscanf(f, "%63s %llu", name, &ns) == 2) {
		i = function_of(program, name);
		if (i < 0)
			continue;
		measured[i] = ns;
		sum += ns;
		nr++;
	}
	if (f)
		fclose(f);
	if (nr != NR || !sum) {
		fprintf(stderr, "%s: not the output of truth_%s\n", path, program->name);
		exit(2);
	}
	for (i = 0; i < NR; i++)
		measured[i] *= 100 / sum;
}

static bool check_measured(const struct profile *p, const double *measured, double points)
{
	double off, worst = 0;

	for (int i = 0; i < NR; i++) {
		off = fabs(share(p, i) - measured[i]);
		if (off > worst)
			worst = off;
		if (off > points)
			printf("%s has %.3f %%, and measured itself %.3f %%\n",
			       p->program->functions[i], share(p, i), measured[i]);
	}
	printf("worst share is off by %.3f points, allowed are %.3f\n", worst, points);
	return worst <= points;
}

static bool check_quiet(const struct program *program, const double *measured, double points)
{
	for (int i = 0; i < NR; i++)
		if (fabs(measured[i] - program->shares[i]) > points)
			return false;
	return true;
}

static void show(const struct profile *p)
{
	printf("%s: %.2f %% of %lld in the ten functions, %llu stacks incomplete\n", p->path,
	       100.0 * p->inside / p->total, (long long)p->total,
	       (unsigned long long)p->incomplete);
	for (int i = 0; i < NR; i++)
		printf("  %-16s %14lld  %6.3f %%  %+7.3f\n", p->program->functions[i],
		       (long long)p->flat[i], share(p, i), share(p, i) - p->program->shares[i]);
}

static bool check_shares(const struct profile *p, int nr, double points)
{
	double off, worst = 0;

	for (int n = 0; n < nr; n++) {
		for (int i = 0; i < NR; i++) {
			off = fabs(share(&p[n], i) - p->program->shares[i]);
			if (off > worst)
				worst = off;
		}
	}
	printf("worst share is off by %.3f points, allowed are %.3f\n", worst, points);
	return worst <= points;
}

static bool check_ranks(const struct profile *p, int nr)
{
	bool right = true;

	for (int n = 0; n < nr; n++)
		for (int i = 0; i < NR; i++)
			for (int j = 0; j < NR; j++)
				if (p->program->shares[i] < p->program->shares[j] &&
				    p[n].flat[i] >= p[n].flat[j]) {
					printf("%s: %s is not below %s\n", p[n].path,
					       p->program->functions[i], p->program->functions[j]);
					right = false;
				}
	return right;
}

static bool check_stacks(const struct profile *p, int nr)
{
	bool right = true;

	for (int n = 0; n < nr; n++)
		right &= !p[n].incomplete;
	return right;
}

static bool check_agreement(const struct profile *p, int nr, double percent)
{
	double mean, square, variation, worst = 0;

	for (int i = 0; i < NR; i++) {
		mean = square = 0;
		for (int n = 0; n < nr; n++)
			mean += share(&p[n], i) / nr;
		for (int n = 0; n < nr; n++)
			square += (share(&p[n], i) - mean) * (share(&p[n], i) - mean);
		variation = nr > 1 ? 100 * sqrt(square / (nr - 1)) / mean : 0;
		if (variation > worst)
			worst = variation;
	}
	printf("worst coefficient of variation over %d runs is %.3f %%, allowed is %.3f %%\n", nr,
	       worst, percent);
	return nr > 1 && worst <= percent;
}

static bool check_most(const struct profile *p, int nr, double percent)
{
	double least = 100;

	for (int n = 0; n < nr; n++)
		if (100.0 * p[n].inside / p[n].total < least)
			least = 100.0 * p[n].inside / p[n].total;
	printf("at least %.2f %% of a profile are in the ten functions, asked for were %.2f %%\n",
	       least, percent);
	return least >= percent;
}

static int usage(void)
{
	fprintf(stderr, "usage: truth_check serial|threads CHECK [LIMIT] [TEXT] FILE...\n");
	return 2;
}

int main(int argc, char **argv)
{
	static struct profile p[MOST_FILES];
	const struct program *program = NULL;
	const char *check;
	double limit = 0, measured[NR];
	bool right = true;
	int i, at = 3, nr;

	if (argc < 4)
		return usage();
	for (i = 0; i < 2; i++)
		if (!strcmp(argv[1], programs[i].name))
			program = &programs[i];
	check = argv[2];
	if (strcmp(check, "ranks") && strcmp(check, "stacks") && strcmp(check, "show"))
		limit = strtod(argv[at++], NULL);
	if (!program || at >= argc)
		return usage();
	if (!strcmp(check, "quiet") || !strcmp(check, "measured"))
		load_measured(program, argv[at++], measured);
	if (!strcmp(check, "quiet"))
		return !check_quiet(program, measured, limit);
	nr = argc - at;
	if (nr < 1 || nr > MOST_FILES)
		return usage();
	for (i = 0; i < nr; i++)
		load(&p[i], program, argv[at + i]);
	if (!strcmp(check, "shares"))
		right = check_shares(p, nr, limit);
	else if (!strcmp(check, "ranks"))
		right = check_ranks(p, nr);
	else if (!strcmp(check, "stacks"))
		right = check_stacks(p, nr);
	else if (!strcmp(check, "agree"))
		right = check_agreement(p, nr, limit);
	else if (!strcmp(check, "measured"))
		right = check_measured(&p[0], measured, limit);
	else if (!strcmp(check, "most"))
		right = check_most(p, nr, limit);
	else if (strcmp(check, "show"))
		return usage();
	if (!right || !strcmp(check, "show"))
		for (i = 0; i < nr; i++)
			show(&p[i]);
	return !right;
}
