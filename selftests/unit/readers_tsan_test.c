// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the library hands out as const is read by several threads at a time. Built
 * with ThreadSanitizer, the library's part of it too.
 */
#include "harness.h"
#include <gprof/utilization.h>

#include "lib_util.h"
#include "profile/profile.h"

#define THREADS	4
#define SAMPLES	200

/* Samples with names and without, and with a label that tells which it is. */
static struct gprof_profile *make_profile(void)
{
	struct gprof_profile *p = gprof_profile_new();
	struct gprof_function f = { .name = gprof_profile_text(p, "named") };
	struct gprof_line line = { .function = gprof_profile_function(p, &f) };
	uint32_t stack[2];
	int64_t i;

	gprof_profile_add_column(p, "events", "count");
	stack[0] = gprof_profile_add_location(p, 0, 1);
	gprof_profile_set_lines(p, stack[0], &line, 1);
	for (i = 0; i < SAMPLES; i++) {
		struct gprof_label label = { .key = gprof_profile_text(p, "tid"), .num = i };

		stack[1] = gprof_profile_add_location(p, 0, 0x1000 + i);
		gprof_profile_add_sample(p, stack, 2, &label, 1, &i);
	}
	gprof_profile_finish(p);
	return p;
}

struct reader {
	pthread_t thread;
	const struct gprof_profile *p;
	const struct gprof_mmu *m;
	int64_t at;
	int wrong;
};

static int look(void *ctx, const struct gprof_frame *frames, size_t nr, const int64_t *values)
{
	struct reader *r = ctx;
	int64_t tid = -1;

	r->wrong += nr != 2 || !gprof_profile_label(r->p, "tid", &tid) || tid != values[0] ||
		    tid != r->at++ || strtoull(frames[1].function, NULL, 16) != 0x1000u + tid;
	/* Let another thread be at another sample. */
	if (!(tid % 16))
		sched_yield();
	return 0;
}

static void *read_all(void *ctx)
{
	struct reader *r = ctx;
	int i, fd = open("/dev/null", O_WRONLY | O_CLOEXEC);

	for (i = 0; i < 20; i++) {
		r->at = 0;
		r->wrong += gprof_profile_each(r->p, look, r) || r->at != SAMPLES;
		r->wrong += gprof_profile_total(r->p, 0) != SAMPLES * (SAMPLES - 1) / 2;
		r->wrong += gprof_mmu_at(r->m, 10) != 0;
	}
	r->wrong += gprof_profile_write(r->p, fd) != 0;
	close(fd);
	return NULL;
}

TEST(const_objects_are_read_by_several_threads)
{
	static const struct gprof_util_change changes[] = { { 0, 1 }, { 100, 0 }, { 200, 1 }, { 300, 0 } };
	const struct gprof_util_function function = { changes, 4, -1 };
	struct gprof_profile *p = make_profile();
	struct gprof_mmu *m = gprof_mmu_new(&function, 1);
	struct reader r[THREADS];

	ASSERT_NE(NULL, m);
	for (int i = 0; i < THREADS; i++) {
		r[i] = (struct reader){ .p = p, .m = m };
		ASSERT_EQ(0, pthread_create(&r[i].thread, NULL, read_all, &r[i]));
	}
	for (int i = 0; i < THREADS; i++) {
		pthread_join(r[i].thread, NULL);
		EXPECT_EQ(0, r[i].wrong);
	}
	gprof_mmu_free(m);
	gprof_profile_free(p);
}

TEST_HARNESS_MAIN
