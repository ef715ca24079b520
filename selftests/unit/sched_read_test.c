// SPDX-License-Identifier: GPL-2.0-only
/*
 * sched_read_test: what the CPUs counted, added up while they go on: each total is of
 * what was since START, and none goes back, whatever comes between two looks.
 *
 * shim_point() stands at each look, so that what a CPU does meanwhile comes there.
 */
#include "harness.h"
#include "shim/summing.h"
#include "../../kmod/kind/sched/sched_read.c"

/* So old is the machine, and so long is it since START. */
#define AGE		(1000 * 1000000000ULL)
#define SINCE_START	5000000000ULL

struct gprof_clock gprof_clock = { .mult = 1ULL << 32, .hz = 1000000000 };
u64 shim_cycles;

bool gprof_sched_matches_now(const struct gprof_sched *s, struct task_struct *task)
{
	return true;
}

void gprof_sched_population(struct gprof_sched *s, struct gprof_sched_reading *r)
{
}

u64 gprof_sched_faults_missed(const struct gprof_sched *s)
{
	return 0;
}

static struct gprof_target target;
static struct gprof_sched sched;

FIXTURE(read) {
	struct gprof_sched *s;
	struct gprof_sched_counters *c;
	struct gprof_sched_reading r;
};

FIXTURE_SETUP(read)
{
	shim_nmi = NULL;
	shim_cycles = AGE;
	sched = (struct gprof_sched){ .flags = GPROF_SCHED_F_STALL, .whose.target = &target };
	sched.counters = calloc(SHIM_CPUS, sizeof(*sched.counters));
	sched.waits = calloc(1, sizeof(*sched.waits));
	ASSERT_NE(NULL, sched.counters);
	ASSERT_NE(NULL, sched.waits);
	self->s = &sched;
	self->c = sched.counters;
}

FIXTURE_TEARDOWN(read)
{
	shim_nmi = NULL;
	free(sched.counters);
	free(sched.waits);
}

static void start(FIXTURE_DATA(read) *self)
{
	sched.started_cycles = shim_cycles;
	sched.started_ns = shim_cycles;
	memset(&sched.final, 0, sizeof(sched.final));
	gprof_sched_begin(&sched);
	sched.state = GPROF_SCHED_COUNTS;
	shim_cycles += SINCE_START;
}

/* Something of everything, on each CPU; all of it other numbers. */
static void count(FIXTURE_DATA(read) *self, u64 times)
{
	for (int cpu = 0; cpu < SHIM_CPUS; cpu++) {
		struct gprof_sched_counters *c = &self->c[cpu];

		gprof_count(&c->missed, 1 * times);
		gprof_count(&c->to_idle, 2 * times);
		gprof_count(&c->left_idle, 3 * times);
		gprof_count(&c->created, 4 * times);
		gprof_count(&c->calls, 5 * times);
		gprof_count(&c->faults, 6 * times);
		gprof_count(&c->stall, 7 * times);
		gprof_histogram_add(&c->delay, 1000 * times);
		gprof_count(&c->sched, 1);
		gprof_histogram_add(&c->on_cpu, 2000 * times);
	}
}

TEST_F(read, totals_are_of_all_cpus_since_start)
{
	const struct gprof_sched_totals *t = &self->r.totals;

	count(self, 100);
	for (int again = 0; again < 2; again++) {
		start(self);
		ASSERT_TRUE(gprof_sched_read(self->s, &self->r));
		EXPECT_EQS(0, t->sched, 0, t->missed, 0, t->to_idle, 0, t->left_idle, 0, t->created,
			   0, t->calls, 0, t->faults, 0, t->stall, 0, t->delay.sum, 0, t->delay.max,
			   0, t->on_cpu.sum, 0, t->on_cpu.max);
		count(self, 10);
		ASSERT_TRUE(gprof_sched_read(self->s, &self->r));
		EXPECT_EQS(2 + 20, t->sched, 20, t->missed, 40, t->to_idle, 60, t->left_idle,
			   80, t->created, 100, t->calls, 120, t->faults, 140, t->stall,
			   20000, t->delay.sum, 10000, t->delay.max, 40000, t->on_cpu.sum,
			   20000, t->on_cpu.max);
	}
}

TEST_F(read, a_stall_that_goes_on_is_in_the_sum)
{
	start(self);
	gprof_count(&self->c[0].stall, -shim_cycles);
	shim_cycles += 3000;
	ASSERT_TRUE(gprof_sched_read(self->s, &self->r));
	EXPECT_EQ(3000, self->r.totals.stall);
	/* It ends on another CPU than that on which it began. */
	shim_cycles += 2000;
	gprof_count(&self->c[1].stall, shim_cycles);
	shim_cycles += 1000;
	ASSERT_TRUE(gprof_sched_read(self->s, &self->r));
	EXPECT_EQ(5000, self->r.totals.stall);
}

/* Of which CPU is the stall looked at now? It counts from 0 at each sum. */
static int looks;

/*
 * What comes between the looks at one CPU and at the other: a stall begins on the one that
 * was looked at, and ends on the one that is next, each time anew.
 */
static void toggle(void)
{
	struct gprof_sched_counters *c = sched.counters;

	shim_cycles++;
	looks++;
	c[0].stall -= shim_cycles;
	c[1].stall += shim_cycles;
	shim_cycles++;
}

TEST_F(read, the_stall_does_not_go_back_where_no_look_is_consistent)
{
	struct gprof_sched_totals *t = &self->r.totals;
	u64 before;

	start(self);
	gprof_count(&self->c[0].stall, 4000000000ULL);
	ASSERT_TRUE(gprof_sched_read(self->s, &self->r));
	before = t->stall;
	EXPECT_EQ(4000000000ULL, before);
	looks = 0;
	shim_nmi = toggle;
	ASSERT_TRUE(gprof_sched_read(self->s, &self->r));
	shim_nmi = NULL;
	/* else it was not looked at often enough for this to show anything */
	EXPECT_LES(STALL_TRIES, looks, before, t->stall);
	EXPECT_GE(before + looks * 2, t->stall);
	ASSERT_TRUE(gprof_sched_read(self->s, &self->r));
	EXPECT_LE(before, t->stall);
	EXPECT_GE(before + looks * 2, t->stall);
}

TEST_F(read, nothing_is_read_before_start_and_what_was_at_stop_after_it)
{
	EXPECT_FALSE(gprof_sched_read(self->s, &self->r));
	start(self);
	count(self, 10);
	gprof_sched_since_start(self->s, &sched.final);
	sched.state = GPROF_SCHED_STANDS;
	count(self, 10);
	ASSERT_TRUE(gprof_sched_read(self->s, &self->r));
	EXPECT_EQ(80, self->r.totals.created);
}

TEST_HARNESS_MAIN
