// SPDX-License-Identifier: GPL-2.0-only
/*
 * MMU, worst windows and quantiles of utilization functions, against an oracle
 * that looks at every window and sums up everything anew, in wider numbers.
 */
#include "harness.h"
#include <math.h>

#include <gprof/utilization.h>

#include "lib_util.h"

#undef TEST_TIMEOUT_DEFAULT
#define TEST_TIMEOUT_DEFAULT	240

#define SECOND		1000000000LL
#define CHANGES_MAX	400
#define ALLOWED		1e-9

/* 113 bits on every machine. */
__extension__ typedef __float128 wide;

/* Room for some functions. */
struct made {
	struct gprof_util_change changes[4][CHANGES_MAX];
	struct gprof_util_function functions[4];
	size_t nr;
};

/* The test of Go's own MMU: full and none in turns, a second each. */
static const struct gprof_util_change teeth[] = {
	{ 0, 1 }, { 1 * SECOND, 0 }, { 2 * SECOND, 1 },
	{ 3 * SECOND, 0 }, { 4 * SECOND, 1 }, { 5 * SECOND, 0 },
};

static const struct gprof_util_function teeth_function = { teeth, 6, -1 };

static wide integral(const struct gprof_util_function *f, int64_t from, int64_t to)
{
	wide sum = 0;

	for (size_t i = 0; i + 1 < f->nr; i++) {
		int64_t begin = f->changes[i].time, end = f->changes[i + 1].time;

		if (begin < from)
			begin = from;
		if (end > to)
			end = to;
		if (begin < end)
			sum += (wide)f->changes[i].util * (end - begin);
	}
	return sum;
}

static int64_t length_of(const struct gprof_util_function *f)
{
	return f->nr ? f->changes[f->nr - 1].time - f->changes[0].time : 0;
}

static wide mean(const struct gprof_util_function *f, int64_t time, int64_t window)
{
	return integral(f, time, time + window) / window;
}

static int compare_times(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

/* Begins of a window at which one of its edges meets a change; returns how many. */
static size_t bends(const struct gprof_util_function *f, int64_t window, int64_t *times)
{
	int64_t first = f->changes[0].time, last = f->changes[f->nr - 1].time - window;
	size_t i, nr = 0, unique = 0;

	for (i = 0; i < f->nr; i++) {
		if (f->changes[i].time <= last)
			times[nr++] = f->changes[i].time;
		if (f->changes[i].time - window >= first)
			times[nr++] = f->changes[i].time - window;
	}
	qsort(times, nr, sizeof(*times), compare_times);
	for (i = 0; i < nr; i++)
		if (!unique || times[i] != times[unique - 1])
			times[unique++] = times[i];
	return unique;
}

static double oracle_mmu(const struct made *m, int64_t window)
{
	int64_t times[2 * CHANGES_MAX];
	wide mmu = 1;
	size_t i, j, nr;

	for (i = 0; i < m->nr; i++) {
		const struct gprof_util_function *f = &m->functions[i];
		int64_t length = length_of(f) < window ? length_of(f) : window;

		if (!length)
			continue;
		nr = bends(f, length, times);
		for (j = 0; j < nr; j++)
			if (mean(f, times[j], length) < mmu)
				mmu = mean(f, times[j], length);
	}
	return mmu;
}

struct oracle_piece {
	wide low;
	wide high;
	wide duration;
};

struct oracle {
	struct oracle_piece pieces[4 * 2 * CHANGES_MAX];
	size_t nr;
	wide ends[2 * 4 * 2 * CHANGES_MAX];
	size_t nr_ends;
	wide total;
};

static int compare_wide(const void *a, const void *b)
{
	wide x = *(const wide *)a, y = *(const wide *)b;

	return (x > y) - (x < y);
}

static void oracle_init(struct oracle *o, const struct made *m, int64_t window)
{
	int64_t times[2 * CHANGES_MAX];
	size_t i, j, nr;

	o->nr = o->nr_ends = 0;
	o->total = 0;
	for (i = 0; i < m->nr; i++) {
		const struct gprof_util_function *f = &m->functions[i];

		if (length_of(f) <= window)
			continue;
		nr = bends(f, window, times);
		for (j = 0; j + 1 < nr; j++) {
			wide a = mean(f, times[j], window), b = mean(f, times[j + 1], window);

			o->pieces[o->nr++] = (struct oracle_piece){
				a < b ? a : b, a < b ? b : a, times[j + 1] - times[j],
			};
			o->ends[o->nr_ends++] = a;
			o->ends[o->nr_ends++] = b;
			o->total += times[j + 1] - times[j];
		}
	}
	qsort(o->ends, o->nr_ends, sizeof(*o->ends), compare_wide);
}

/* Duration of windows below @x, or with @at also of those at it. */
static wide oracle_mass(const struct oracle *o, wide x, bool at)
{
	wide sum = 0;

	for (size_t i = 0; i < o->nr; i++) {
		const struct oracle_piece *p = &o->pieces[i];

		if (p->high < x || (at && p->high == x))
			sum += p->duration;
		else if (p->low < x)
			sum += p->duration * (x - p->low) / (p->high - p->low);
	}
	return sum;
}

static double oracle_quantile(const struct oracle *o, double q)
{
	wide wanted = o->total * q, below, before;
	size_t low = 0, high = o->nr_ends - 1;

	/* The lowest end at which there is enough; it lies in the piece before that. */
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (oracle_mass(o, o->ends[middle], true) >= wanted)
			high = middle;
		else
			low = middle + 1;
	}
	before = oracle_mass(o, o->ends[low], false);
	if (!low || before < wanted)
		return o->ends[low];
	below = oracle_mass(o, o->ends[low - 1], true);
	return o->ends[low - 1] +
	       (o->ends[low] - o->ends[low - 1]) * (wanted - below) / (before - below);
}

/*
 * One or some functions: of up to 16 processors, whose number need not be a power of
 * two, with changes from 1 ns apart to a quarter of an hour, at any time.
 */
static void make(struct made *m, uint64_t *seed)
{
	static const int64_t distances[] = { 3, 1000, 100000, SECOND, 1000 * SECOND };

	m->nr = lib_random(seed) % 3 ? 1 : 1 + lib_random(seed) % 4;
	for (size_t i = 0; i < m->nr; i++) {
		size_t nr = 2 + lib_random(seed) % (lib_random(seed) % 2 ? 20 : CHANGES_MAX - 2);
		unsigned int procs = 1 + lib_random(seed) % 16;
		int64_t far = distances[lib_random(seed) % 5];
		int64_t time = (int64_t)(lib_random(seed) % 1000) * SECOND - 500 * SECOND;

		for (size_t j = 0; j < nr; j++) {
			double taken = (double)(lib_random(seed) % (procs + 1)) / procs;

			/* Mostly the program runs undisturbed. */
			if (lib_random(seed) % 4 == 0)
				taken = 0;
			m->changes[i][j] = (struct gprof_util_change){ time, 1 - taken };
			time += 1 + (int64_t)(lib_random(seed) % (uint64_t)far);
			if (lib_random(seed) % 50 == 0)
				time += (int64_t)(lib_random(seed) % (uint64_t)(100 * far));
		}
		m->changes[i][nr - 1].util = 0;
		m->functions[i] = (struct gprof_util_function){ m->changes[i], nr, (int64_t)i };
	}
}

static int64_t longest(const struct made *m)
{
	int64_t length = 0;

	for (size_t i = 0; i < m->nr; i++)
		if (length_of(&m->functions[i]) > length)
			length = length_of(&m->functions[i]);
	return length;
}

/* From 1 us, or less in short ones, to more than the whole. */
static int64_t next_window(const struct made *m, int64_t window, uint64_t *seed)
{
	int64_t whole = longest(m);

	if (!window)
		return whole < 2000 ? 1 : 1000;
	if (window > whole)
		return 0;
	if (window == whole)
		return whole + 1;
	window += 1 + window * (int64_t)(lib_random(seed) % 1000) / 400;
	return window < whole ? window : whole;
}

TEST(mmu_of_teeth_is_as_in_Gos_own_test)
{
	static const struct { int64_t window; double mmu; int nr_worst; double worst; } want[] = {
		{ 0, 0, 0, 0 }, { SECOND / 1000, 0, 2, 0 }, { SECOND, 0, 2, 0 },
		{ 2 * SECOND, 0.5, 2, 0.5 }, { 3 * SECOND, 1 / 3.0, 1, 1 / 3.0 },
		{ 4 * SECOND, 0.5, 1, 0.5 }, { 5 * SECOND, 3 / 5.0, 1, 3 / 5.0 },
		{ 6 * SECOND, 3 / 5.0, 1, 3 / 5.0 },
	};
	struct gprof_mmu *m = gprof_mmu_new(&teeth_function, 1);

	ASSERT_NE(NULL, m);
	for (size_t i = 0; i < sizeof(want) / sizeof(want[0]); i++) {
		struct gprof_util_window worst[2];
		int j, nr = gprof_mmu_worst(m, want[i].window, worst, 2);

		EXPECT_EQS(want[i].mmu, gprof_mmu_at(m, want[i].window), want[i].nr_worst, nr);
		for (j = 0; j < nr; j++)
			EXPECT_EQ(want[i].worst, worst[j].util);
	}
	gprof_mmu_free(m);
}

TEST(mmu_of_random_functions_is_that_of_the_oracle)
{
	uint64_t seed = 88172645463325252;
	struct made *made = malloc(sizeof(*made));
	unsigned int i, nr = 0, above = 0;

	for (i = 0; i < 400; i++) {
		struct gprof_mmu *m;
		int64_t window = 0;

		make(made, &seed);
		m = gprof_mmu_new(made->functions, made->nr);
		ASSERT_NE(NULL, m);
		while ((window = next_window(made, window, &seed))) {
			double want = oracle_mmu(made, window), got = gprof_mmu_at(m, window);

			ASSERT_TRUE(fabs(want - got) <= ALLOWED)
				TH_LOG("function %u, window %lld: %.17g, but the oracle says %.17g",
				       i, (long long)window, got, want);
			nr++;
			above += want > 0 && want < 1;
		}
		gprof_mmu_free(m);
	}
	TH_LOG("%u windows, MMU neither 0 nor 1 in %u", nr, above);
	ASSERT_GT(above, nr / 4);
	free(made);
}

TEST(quantiles_of_random_functions_are_those_of_the_oracle)
{
	static const double q[] = { 0, 1 - .999, 1 - .99, .05, .5, .75, .999, 1 };
	uint64_t seed = 88172645463325252;
	struct made *made = malloc(sizeof(*made));
	struct oracle *o = malloc(sizeof(*o));
	unsigned int i, j, nr = 0;

	for (i = 0; i < 300; i++) {
		struct gprof_mmu *m;
		int64_t window = 0;

		make(made, &seed);
		m = gprof_mmu_new(made->functions, made->nr);
		ASSERT_NE(NULL, m);
		while ((window = next_window(made, window, &seed))) {
			double got[8], mmu = gprof_mmu_at(m, window);

			ASSERT_EQ(0, gprof_mmu_quantiles(m, window, q, 8, got));
			oracle_init(o, made, window);
			for (j = 0; j < 8; j++) {
				double want = o->nr ? oracle_quantile(o, q[j]) : mmu;

				ASSERT_TRUE(fabs(want - got[j]) <= ALLOWED)
					TH_LOG("function %u, window %lld, quantile %g: %.17g, but the oracle says %.17g",
					       i, (long long)window, q[j], got[j], want);
				nr++;
			}
			if (made->nr == 1)
				ASSERT_TRUE(got[0] == mmu);
		}
		gprof_mmu_free(m);
	}
	TH_LOG("%u quantiles", nr);
	free(o);
	free(made);
}

TEST(a_quantile_on_a_gap_is_on_its_lower_side)
{
	uint64_t seed = 88172645463325252;
	const double half = 0.5, all = 1;

	/* Half of all windows are of the first function, and below all of the second. */
	for (int i = 0; i < 200; i++) {
		struct gprof_util_change c[2][50];
		const struct gprof_util_function f[] = { { c[0], 50, 0 }, { c[1], 50, 1 } };
		struct gprof_mmu *m = NULL, *first = NULL;
		double low, high;

		for (int j = 0; j < 50; j++) {
			int64_t time = j ? c[0][j - 1].time + 1 + (int64_t)(lib_random(&seed) % 9999) : 0;

			c[0][j] = (struct gprof_util_change){ time, (lib_random(&seed) % 100) / 300.0 };
			c[1][j] = (struct gprof_util_change){ time, 1 - c[0][j].util };
		}
		m = gprof_mmu_new(f, 2);
		first = gprof_mmu_new(f, 1);
		ASSERT_NE(NULL, m);
		ASSERT_NE(NULL, first);
		ASSERT_EQ(0, gprof_mmu_quantiles(m, 1000 + i, &half, 1, &low));
		ASSERT_EQ(0, gprof_mmu_quantiles(first, 1000 + i, &all, 1, &high));
		EXPECT_TRUE(fabs(low - high) <= ALLOWED)
			TH_LOG("%d: %.17g, but the first function goes up to %.17g", i, low, high);
		gprof_mmu_free(m);
		gprof_mmu_free(first);
	}
}
TEST_HARNESS_MAIN
