// SPDX-License-Identifier: GPL-2.0-only
/* Comparisons of profiles: how often chance is taken for a change, and what is said. */
#include "harness.h"
#include <fcntl.h>
#include <math.h>

#include "cli/cmd.h"
#include "profile/compare.h"
#include "tool_run.h"
#include <gprof/profile_builder.h>

/* ---- the numbers ---- */

TEST(p_is_that_of_tables_of_students_distribution)
{
	static const struct {
		double t, df, p;
	} rows[] = {
		{ 0, INFINITY, 1 }, { 1.959964, INFINITY, 0.05 }, { -3.290527, INFINITY, 0.001 },
		{ 12.706205, 1, 0.05 }, { 2.776445, 4, 0.05 }, { -8.610302, 4, 0.001 },
		{ 2.306004, 8, 0.05 }, { 1.0, 1, 0.5 },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		double p = compare_p(rows[i].t, rows[i].df);

		EXPECT_LT(fabs(p - rows[i].p), 2e-7) {
			TH_LOG("t %g, df %g: %.9g", rows[i].t, rows[i].df, p);
		}
	}
}

#define SAMPLES		50000
#define FUNCTIONS_MAX	1000
#define RUNS_MAX	10
#define COMPARISONS	1000
#define GROWN		2	/* number of the function that grows */

static double uniform(void)
{
	return (random() + 0.5) / 2147483648.0;
}

static double normal(void)
{
	return sqrt(-2 * log(uniform())) * cos(2 * M_PI * uniform());
}

/* How many samples there are where @mean are expected. */
static double poisson(double mean)
{
	double end = exp(-mean), product = 1, n = 0;

	if (mean > 50)
		return fmax(0, floor(mean + sqrt(mean) * normal() + 0.5));
	while ((product *= uniform()) > end)
		n++;
	return n;
}

/**
 * struct drawn - comparisons of a program with itself
 * @what: of them
 * @functions: how many it has, the n-th with a share as 1 / (n + 3)
 * @before: runs
 * @after: runs
 * @shares: shares are compared
 * @weights: samples of one function stand for more than those of another
 * @both: shares and values are compared, and judged together
 * @differ: a quarter of the functions differ so much from run to run, as a part of themselves
 * @grows: one function grows by so much of the total
 * @least: so many tell a difference at least, or find what grows
 * @most: at most
 */
struct drawn {
	const char *what;
	unsigned int functions, before, after;
	bool shares, weights, both;
	double differ, grows;
	unsigned int least, most;
};

static const struct drawn drawn[] = {
	{ "few functions", 20, 1, 1, true, .least = 30, .most = 70 },
	{ "many functions", 300, 1, 1, true, .least = 30, .most = 70 },
	/* Of few samples chance makes steps, and the next is further away. */
	{ "rare functions", 1000, 1, 1, true, .least = 15, .most = 70 },
	{ "values", 300, 1, 1, false, true, .least = 30, .most = 70 },
	/* Both measures of a function are much alike: fewer alarms than of two families. */
	{ "shares and values", 300, 1, 1, .both = true, .least = 20, .most = 70 },
	{ "two runs", 100, 2, 2, true, .least = 30, .most = 70 },
	{ "three runs", 100, 3, 3, true, .least = 30, .most = 70 },
	{ "runs that differ", 100, 3, 3, true, .differ = 0.05, .most = 70 },
	{ "runs that differ much", 100, 3, 3, true, .differ = 0.5, .most = 70 },
	{ "runs that differ little", 100, 5, 5, false, .differ = 0.02, .most = 70 },
	{ "growth", 300, 1, 1, true, .grows = 0.01, .least = 950, .most = COMPARISONS },
	{ "growth of runs that differ", 100, 5, 5, true, .differ = 0.05, .grows = 0.01, .least = 950,
	  .most = COMPARISONS },
};

/* Does a comparison tell a difference, or find what has grown? */
static bool tells(struct __test_metadata *_metadata, const struct drawn *d, const double *share)
{
	static double values[FUNCTIONS_MAX][RUNS_MAX], samples[FUNCTIONS_MAX][RUNS_MAX];
	static struct compare_row rows[FUNCTIONS_MAX];
	double exposure[2][RUNS_MAX] = { 0 };
	struct comparison c = {
		.nr_before = d->before, .nr_runs = d->before + d->after, .rows = rows,
		.nr = d->functions, .families = d->both ? 2 : 1,
	};
	bool any = false;

	memset(rows, 0, sizeof(rows));
	for (size_t i = 0; i < c.nr; i++) {
		rows[i].values = values[i];
		rows[i].samples = samples[i];
		for (size_t r = 0; r < c.nr_runs; r++) {
			double mean = share[i] + (i == GROWN && r >= c.nr_before ? d->grows : 0);

			if (d->differ > 0 && i % 4 == 0)
				mean *= exp(d->differ * normal());
			samples[i][r] = poisson(SAMPLES * mean);
			values[i][r] = samples[i][r] * (d->weights ? 1 + i % 3 : 1);
			exposure[0][r] += values[i][r];
		}
	}
	for (size_t r = 0; r < c.nr_runs; r++)
		exposure[1][r] = 1;
	for (int shares = 0; shares < 2; shares++) {
		if (!d->both && shares != d->shares)
			continue;
		c.shares = shares;
		c.exposure = exposure[!shares];
		compare_rows(&c);
		for (size_t i = 0; i < c.nr; i++) {
			bool told = rows[i].p < COMPARE_ALPHA;

			/* The interval of a row that is told excludes 0. */
			EXPECT_EQ(told, fabs(rows[i].after - rows[i].before) > rows[i].error);
			any |= told && (d->grows > 0 ? i == GROWN : true);
		}
	}
	return any;
}

TEST(of_1000_comparisons_30_to_70_alarm_and_growth_is_found)
{
	double share[FUNCTIONS_MAX];

	srandom(1);
	for (size_t i = 0; i < sizeof(drawn) / sizeof(drawn[0]); i++) {
		const struct drawn *d = &drawn[i];
		unsigned int nr = 0;
		double sum = 0;

		for (size_t f = 0; f < d->functions; f++)
			sum += share[f] = 1.0 / (f + 3);
		for (size_t f = 0; f < d->functions; f++)
			share[f] /= sum;
		for (unsigned int n = 0; n < COMPARISONS; n++)
			nr += tells(_metadata, d, share);
		TH_LOG("%s: %u of %u", d->what, nr, COMPARISONS);
		EXPECT_LE(d->least, nr);
		EXPECT_GE(d->most, nr);
	}
}

/* ---- the command ---- */

FIXTURE(compare) {
	char dir[64];
	struct ran r;
};

/* A profile of @samples of each function, "FUNCTION SAMPLES ...", of 10 ms each. */
static void put_profile(const char *dir, const char *name, const char *samples, bool waits)
{
	static const struct gprof_value_type cpu[] = {
		{ "samples", "count" }, { "cpu", "milliseconds" },
	}, heap[] = { { "objects", "count" }, { "space", "bytes" } };
	const struct gprof_profile_builder_config cfg = {
		.sz = sizeof(cfg), .types = waits ? heap : cpu, .nr_types = 2,
	};
	struct gprof_profile_builder *b = gprof_profile_builder_new(&cfg);
	char path[128], function[32];
	struct gprof_profile *p;
	int64_t nr;
	int used, fd;

	for (; sscanf(samples, "%31s %ld%n", function, &nr, &used) == 2; samples += used) {
		const struct gprof_frame frames[] = {
			{ .function = function, .mapping = "/bin/shop" },
			{ .function = "main", .mapping = "/bin/shop" },
		};

		gprof_profile_builder_add(b, frames, 2, NULL, 0, (int64_t[]){ nr, nr * 10 });
	}
	if (strchr(name, '.'))
		gprof_profile_builder_time(b, 0, strtol(strchr(name, '.') + 1, NULL, 10) * 1000000000L);
	if (*name == 's')
		gprof_profile_builder_comment(b, "target: the whole system");
	if (!strcmp(name, "lossy"))
		gprof_profile_builder_comment(b, "lost 7 samples: the ring was full");
	p = gprof_profile_builder_finish(b);
	snprintf(path, sizeof(path), "%s/%s", dir, name);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	gprof_profile_write(p, fd);
	gprof_profile_free(p);
	close(fd);
}

FIXTURE_SETUP(compare)
{
	strcpy(self->dir, "/tmp/gprof-compare.XXXXXX");
	ASSERT_NE(NULL, mkdtemp(self->dir));
	ASSERT_EQ(0, chdir(self->dir));
	put_profile(self->dir, "b1", "parse 1000 write 2000 wait 3000 seldom 3", false);
	put_profile(self->dir, "b2", "parse 1010 write 2010 wait 2990", false);
	put_profile(self->dir, "b3", "parse 990 write 1990 wait 3010", false);
	put_profile(self->dir, "a1", "parse 1500 write 2000 wait 2700 seldom 9", false);
	put_profile(self->dir, "a2", "parse 1510 write 1990 wait 2690", false);
	put_profile(self->dir, "a3", "parse 1490 write 2010 wait 2710", false);
	put_profile(self->dir, "b.60", "parse 1000 write 2000 wait 3000 seldom 3", false);
	put_profile(self->dir, "a.90", "parse 1500 write 2000 wait 2700 seldom 9", false);
	put_profile(self->dir, "sb.60", "parse 1000 write 2000 wait 3000", false);
	put_profile(self->dir, "sa.120", "parse 2000 write 4000 wait 6000", false);
	put_profile(self->dir, "heap", "parse 1500", true);
	put_profile(self->dir, "heap2", "parse 1200 write 150", true);
	put_profile(self->dir, "none", "", false);
	put_profile(self->dir, "lossy", "parse 4 write 4", false);
}

FIXTURE_TEARDOWN(compare)
{
	const char *p = "b1\0b2\0b3\0a1\0a2\0a3\0b.60\0a.90\0sb.60\0sa.120\0heap\0heap2\0none\0lossy\0";

	for (; *p; p += strlen(p) + 1)
		unlink(p);
	rmdir(self->dir);
}

#define DIFFER(_n, _of, _noise, _whole)								\
	_n " of " _of " functions differ, " _noise " more within noise: of 20 comparisons without\n"	\
	"a difference one shows some; change is in % of " _whole "\n"

#define BEFORE	"the total before"
#define OLD	"the old total"

#define NOISE									\
	"Noise is that of sampling only: runs of one program differ by more. With 3 runs\n"	\
	"of each side that counts too: gprofctl compare B1 B2 B3 -- A1 A2 A3\n"

/* Each line, how it ends, and all that it prints; of errors, what they say. Not compare: "diff". */
static const struct {
	const char *line;
	int status;
	const char *out;
} lines[] = {
	{ "b1 a1 --fail-above 4.5", 3,
	  "Type: cpu, per run\n"
	  "Before: 1 run, 6003 samples; after: 1 run, 6209 samples\n"
	  "  before    after   change       +-\n"
	  "  60.0 s   62.1 s   +3.43%  +-4.73%  the total\n"
	  "  10.0 s   15.0 s   +8.33%  +-2.14%  parse\n"
	  "  30.0 s   27.0 s   -5.00%  +-3.23%  wait\n"
	  DIFFER("2", "5", "3", BEFORE) NOISE
	  "Failed: parse grew by 8.33 +- 2.14% of the total before; allowed are 4.5%\n" },
	{ "b1 b1 --fail-above 0 -n 1", 0,
	  "Type: cpu, per run\n"
	  "Before: 1 run, 6003 samples; after: 1 run, 6003 samples\n"
	  "  before    after   change       +-\n"
	  "  60.0 s   60.0 s   +0.00%  +-4.55%  the total\n"
	  "  30.0 s   30.0 s   +0.00%  +-3.21%  wait  (noise)\n"
	  DIFFER("0", "5", "5", BEFORE) NOISE
	  "Passed: nothing grew by more than 0% of the total before, beyond noise\n" },
	{ "b1 b2 b3 -- a1 a2 a3 --per share --fail-above 9", 0,
	  "Type: cpu, per share\n"
	  "Before: 3 runs, 18003 samples; after: 3 runs, 18609 samples\n"
	  "  before    after   change       +-\n"
	  "  16.66%   24.18%   +7.52%  +-1.93%  parse\n"
	  "  49.99%   43.53%   -6.46%  +-2.39%  wait\n"
	  DIFFER("2", "5", "3", BEFORE)
	  "Runs differ by more than their samples explain, and are judged by that\n"
	  "Passed: nothing grew by more than 9% of the total before, beyond noise\n" },
	{ "b1 b2 -- a1 --json --fail-above 5", 3,
	  "{\"version\": 1, \"command\": \"compare\", \"data\": {\"type\": \"cpu\", \"unit\": \"milliseconds\", \"per\": \"run\", "
	  "\"runs_before\": 2, \"runs_after\": 1, "
	  "\"sampling_noise_only\": true, \"failed\": 1, \"rows\": [\n"
	  "{\"total\": true, \"before\": 60065, \"after\": 62090, "
	  "\"change_percent\": 3.37135, \"error_percent\": 4.08212, "
	  "\"p\": 0.158305, \"differs\": false, \"fails\": false},\n"
	  "{\"function\": \"parse\", \"before\": 10050, \"after\": 15000, "
	  "\"change_percent\": 8.24107, \"error_percent\": 1.7916, "
	  "\"p\": 1.61544e-31, \"differs\": true, \"fails\": true},\n"
	  "{\"function\": \"wait\", \"before\": 29950, \"after\": 27000, "
	  "\"change_percent\": -4.91135, \"error_percent\": 2.81902, "
	  "\"p\": 3.81423e-05, \"differs\": true, \"fails\": false},\n"
	  "{\"function\": \"seldom\", \"before\": 15, \"after\": 90, "
	  "\"change_percent\": 0.124865, \"error_percent\": 0.104756, "
	  "\"p\": 0.01095, \"differs\": true, \"fails\": false},\n"
	  "{\"function\": \"write\", \"before\": 20050, \"after\": 20000, "
	  "\"change_percent\": -0.0832432, \"error_percent\": 2.34436, "
	  "\"p\": 0.999998, \"differs\": false, \"fails\": false},\n"
	  "{\"function\": \"main\", \"before\": 0, \"after\": 0, "
	  "\"change_percent\": 0, "
	  "\"p\": 1, \"differs\": false, \"fails\": false}"
	  "]}, \"losses\": []}\n" },
	{ "--fail-above 1% b1 a1 -n 1 --cum", 3,
	  "Type: cpu with callees, per run\n"
	  "Before: 1 run, 6003 samples; after: 1 run, 6209 samples\n"
	  "  before    after   change       +-\n"
	  "  60.0 s   62.1 s   +3.43%  +-4.84%  the total\n"
	  "  10.0 s   15.0 s   +8.33%  +-2.19%  parse\n"
	  "1 more differ; -n N shows N\n"
	  DIFFER("2", "5", "3", BEFORE) NOISE
	  "Failed: parse grew by 8.33 +- 2.19% of the total before; allowed are 1%\n" },
	{ "lossy lossy --per share", 0,
	  "Type: cpu, per share\n"
	  "Before: 1 run, 8 samples; after: 1 run, 8 samples\n"
	  "lossy: lost 7 samples: the ring was full\n"
	  "lossy: lost 7 samples: the ring was full\n"
	  "  before    after   change       +-\n"
	  DIFFER("0", "3", "3", BEFORE) NOISE },
	{ "lossy lossy --per share --json", 0,
	  "{\"version\": 1, \"command\": \"compare\", \"data\": {\"type\": \"cpu\", \"unit\": \"share\", \"per\": \"share\", "
	  "\"runs_before\": 1, \"runs_after\": 1, "
	  "\"sampling_noise_only\": true, \"failed\": 0, \"rows\": [\n"
	  "{\"function\": \"parse\", \"before\": 0.5, \"after\": 0.5, \"change_percent\": 0, "
	  "\"error_percent\": 59.6934, \"p\": 1, \"differs\": false, \"fails\": false},\n"
	  "{\"function\": \"write\", \"before\": 0.5, \"after\": 0.5, \"change_percent\": 0, "
	  "\"error_percent\": 59.6934, \"p\": 1, \"differs\": false, \"fails\": false},\n"
	  "{\"function\": \"main\", \"before\": 0, \"after\": 0, \"change_percent\": 0, "
	  "\"p\": 1, \"differs\": false, \"fails\": false}"
	  "]}, \"losses\": [\n"
	  "{\"file\": \"lossy\", \"text\": \"lost 7 samples: the ring was full\"},\n"
	  "{\"file\": \"lossy\", \"text\": \"lost 7 samples: the ring was full\"}]}\n" },
	{ "diff b.60 a.90", 0,
	  "Type: cpu\n"
	  "Old: 60.0 s, 6003 samples, 60.0 s recorded\n"
	  "New: 62.1 s, 6209 samples, 90.0 s recorded\n"
	  "                              share        per second\n"
	  "     old      new   change       +-   change       +-\n"
	  "  60.0 s   62.1 s                    -31.05%  +-4.21%  the total\n"
	  "  10.0 s   15.0 s   +7.50%  +-2.04%   +0.00%  +-1.90%  parse\n"
	  "  30.0 s   27.0 s   -6.49%  +-2.53%  -19.99%  +-2.87%  wait\n"
	  "  20.0 s   20.0 s   -1.11%  +-2.38%  -11.11%  +-2.41%  write\n"
	  DIFFER("3", "5", "2", OLD) NOISE },
	{ "diff b1 a1 --focus parse -n 9 --cum", 0,
	  "Type: cpu with callees\n"
	  "Old: 10.0 s of 60.0 s, 1000 samples\n"
	  "New: 15.0 s of 62.1 s, 1500 samples\n"
	  "                              share             value\n"
	  "     old      new   change       +-   change       +-\n"
	  "  10.0 s   15.0 s                     +8.33%  +-2.19%  the total\n"
	  "  10.0 s   15.0 s   +7.50%  +-1.92%   +8.33%  +-2.19%  main\n"
	  "  10.0 s   15.0 s   +7.50%  +-1.92%   +8.33%  +-2.19%  parse\n"
	  DIFFER("2", "2", "0", OLD) NOISE },
	{ "diff b1 b1", 0,
	  "Type: cpu\n"
	  "Old: 60.0 s, 6003 samples\n"
	  "New: 60.0 s, 6003 samples\n"
	  "                              share             value\n"
	  "     old      new   change       +-   change       +-\n"
	  "  60.0 s   60.0 s                     +0.00%  +-4.98%  the total\n"
	  DIFFER("0", "5", "5", OLD) NOISE },
	{ "diff heap heap2", 0,
	  "Type: space\n"
	  "Old: 14.6 KiB\n"
	  "New: 13.2 KiB\n"
	  "                              share             value\n"
	  "     old      new   change       +-   change       +-\n"
	  "14.6 KiB 13.2 KiB                    -10.00%           the total\n"
	  "14.6 KiB 11.7 KiB  -11.11%           -20.00%           parse\n"
	  "       0 1.46 KiB  +11.11%           +10.00%           write\n"
	  "1 more of 3; -n N shows N\n"
	  "The profiles do not say how many samples their values are of: no interval is\n"
	  "known, and a change may be noise\n" },
	{ "diff none b1", 0,
	  "Type: cpu\n"
	  "Old: 0\n"
	  "New: 60.0 s, 6003 samples\n"
	  "     old      new\n"
	  "       0   60.0 s  the total\n"
	  "       0   30.0 s  wait\n"
	  "       0   20.0 s  write\n"
	  "       0   10.0 s  parse\n"
	  "2 more of 5; -n N shows N\n"
	  "One of the profiles has no values: there is nothing that changes are a share of\n" },
	{ "diff b.60 a.90 --ignore write|wait|parse --json", 0,
	  "{\"version\": 1, \"command\": \"diff\", \"data\": {\"type\": \"cpu\", \"unit\": \"milliseconds\", \"total\": 60030, "
	  "\"start_ns\": 0, \"duration_ns\": 150000000000, "
	  "\"comments\": [], \"by\": \"functions\", "
	  "\"unnamed\": 0, \"unnamed_percent\": 0, "
	  "\"old\": {\"total\": 60030, \"duration_ns\": 60000000000, \"samples\": 3}, "
	  "\"new\": {\"total\": 62090, \"duration_ns\": 90000000000, \"samples\": 9}, "
	  "\"intervals\": true, \"rows\": [\n"
	  "{\"name\": \"seldom\", \"mapping\": \"/bin/shop\", \"kind\": \"user\", \"inlined\": false, \"flat\": 60, \"flat_percent\": 0.09995, "
	  "\"cum\": 60, \"cum_percent\": 0.09995, "
	  "\"old\": 30, "
	  "\"new\": 90, "
	  "\"share\": {\"change_percent\": 0.0949759, \"error_percent\": 0.141267, \"p\": 0.326221}, "
	  "\"rate\": {\"change_percent\": 0.049975, \"error_percent\": 0.117364, \"p\": 0.744225}, \"differs\": false},\n"
	  "{\"name\": \"main\", \"mapping\": \"/bin/shop\", \"kind\": \"user\", \"inlined\": false, \"flat\": 0, \"flat_percent\": 0, "
	  "\"cum\": 60, \"cum_percent\": 0.09995, "
	  "\"old\": 0, "
	  "\"new\": 0, "
	  "\"share\": {\"change_percent\": 0, \"p\": 1}, "
	  "\"rate\": {\"change_percent\": 0, \"p\": 1}, \"differs\": false}]}, \"losses\": []}\n" },
	{ "b1", 2, "two profiles" },
	{ "b1 --", 2, "two profiles" },
	{ "-- b1", 2, "two profiles" },
	{ "b1 a1 a2", 2, "two profiles" },
	{ "b1 a1 -n 0", 2, "a number of rows above 0" },
	{ "b1 a1 --per hour", 2, "--per is run, second or share" },
	{ "b1 a1 --fail-above nan", 2, "per cent of the total" },
	{ "b1 a1 --fail-above 1x", 2, "per cent of the total" },
	{ "heap heap", 1, "no values of the type samples or contentions" },
	{ "b1 a1 --per second", 1, "b1 does not say how long it took" },
	{ "b1 none", 1, "none: a difference of profiles, or one without values" },
	/* The same in a second, of a host; of a command that is not known to be the same work. */
	{ "sb.60 sa.120 -n 1", 0,
	  "Type: cpu, per second\n"
	  "Before: 1 run, 6000 samples; after: 1 run, 12000 samples\n"
	  "Before took 60 s a run, after 120 s: values are per second; --per run takes\n"
	  "them as they are\n"
	  "  before    after   change       +-\n"
	  "  1.00 s   1.00 s   +0.00%  +-3.94%  the total\n"
	  "  500 ms   500 ms   +0.00%  +-2.78%  wait  (noise)\n"
	  DIFFER("0", "4", "4", BEFORE) NOISE },
	{ "sb.60 sa.120 -n 1 --per run", 0,
	  "Type: cpu, per run\n"
	  "Before: 1 run, 6000 samples; after: 1 run, 12000 samples\n"
	  "Before took 60 s a run, after 120 s; --per second or --per share does not\n"
	  "count that\n"
	  "  before    after   change       +-\n"
	  "  60.0 s    120 s  +100.0%  +-5.57%  the total\n"
	  "  30.0 s   60.0 s  +50.00%  +-3.94%  wait\n"
	  "2 more differ; -n N shows N\n"
	  DIFFER("3", "4", "1", BEFORE) NOISE },
	{ "b.60 a.90", 0,
	  "Type: cpu, per run\n"
	  "Before: 1 run, 6003 samples; after: 1 run, 6209 samples\n"
	  "Before took 60 s a run, after 90 s; --per second or --per share does not\n"
	  "count that\n"
	  "  before    after   change       +-\n"
	  "  60.0 s   62.1 s   +3.43%  +-4.73%  the total\n"
	  "  10.0 s   15.0 s   +8.33%  +-2.14%  parse\n"
	  "  30.0 s   27.0 s   -5.00%  +-3.23%  wait\n"
	  DIFFER("2", "5", "3", BEFORE) NOISE },
	{ "b1 a1 --type samples -n 2", 0,
	  "Type: samples, per run\n"
	  "Before: 1 run, 6003 samples; after: 1 run, 6209 samples\n"
	  "  before    after   change       +-\n"
	  "    6003     6209   +3.43%  +-4.73%  the total\n"
	  "    1000     1500   +8.33%  +-2.14%  parse\n"
	  "    3000     2700   -5.00%  +-3.23%  wait\n"
	  DIFFER("2", "5", "3", BEFORE) NOISE },
};

TEST_F(compare, says)
{
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		bool diff = !strncmp(lines[i].line, "diff ", 5);
		char text[128], *argv[16] = { "compare" }, *rest = text;

		snprintf(text, sizeof(text), "%s", lines[i].line);
		for (size_t n = !diff; (argv[n] = strsep(&rest, " ")); n++)
			;
		run(&self->r, diff ? cmd_diff : cmd_compare, argv, -1);
		EXPECT_EQ(lines[i].status, self->r.status) {
			TH_LOG("%s: %s", lines[i].line, self->r.err);
		}
		if (*self->r.err) {
			EXPECT_NE(NULL, strstr(self->r.err, lines[i].out));
		} else {
			EXPECT_STREQ(lines[i].out, self->r.out);
		}
	}
}

TEST_HARNESS_MAIN
