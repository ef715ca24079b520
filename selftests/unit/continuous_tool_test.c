// SPDX-License-Identifier: GPL-2.0-only
/*
 * What push makes of its two recorders where one of them fails. There is no kernel: the
 * recorders are the test's own, to which the linker leads (--wrap).
 */
#include "harness.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <gprof/profile_builder.h>
#include <gprof/recorder.h>

#include "cmd.h"
#include "fleet/continuous.h"
#include "tool_run.h"

/**
 * struct recorder - one that always has a sample
 * @made: there is one now
 * @next_fails: gprof_recorder_next_profiles() does
 * @stop_fails: gprof_recorder_stop_profiles() does
 * @produced: samples
 */
struct recorder {
	bool made, next_fails, stop_fails;
	uint64_t produced;
};

/* As struct continuous has them. */
static struct recorder rated, lasting;

static struct recorder *of(struct gprof_recorder *r)
{
	return (struct recorder *)r;
}

struct gprof_recorder *__wrap_kinds_recorder(void *kinds, const struct gprof_target *target,
					     bool on_exec)
{
	const struct kinds *k = kinds;
	struct recorder *r = strcmp(k->kinds[0].kind, "heap") ? &rated : &lasting;

	(void)target;
	(void)on_exec;
	r->made = true;
	return (struct gprof_recorder *)r;
}

int __wrap_gprof_recorder_start_events(struct gprof_recorder *r, const int *fds, size_t nr)
{
	(void)r;
	(void)fds;
	return nr == 1 ? 0 : -1;
}

static int take(struct recorder *r, bool fails, struct gprof_profile **profiles)
{
	const struct gprof_value_type type = { "samples", "count" };
	struct gprof_profile_builder_config cfg = {
		.sz = sizeof(cfg), .types = &type, .nr_types = 1, .period_type = type, .period = 1,
	};
	const struct gprof_frame frame = { .function = "f" };
	struct gprof_profile_builder *b;
	const int64_t one = 1;

	r->produced++;
	if (fails)
		return -1;
	b = gprof_profile_builder_new(&cfg);
	gprof_profile_builder_add(b, &frame, 1, NULL, 0, &one);
	gprof_profile_builder_time(b, (int64_t)time(NULL) * 1000000000, 1000000000);
	profiles[0] = gprof_profile_builder_finish(b);
	gprof_profile_builder_free(b);
	return 0;
}

int __wrap_gprof_recorder_next_profiles(struct gprof_recorder *r, struct gprof_profile **profiles,
					size_t nr)
{
	(void)nr;
	return take(of(r), of(r)->next_fails, profiles);
}

int __wrap_gprof_recorder_stop_profiles(struct gprof_recorder *r, struct gprof_profile **profiles,
					size_t nr)
{
	(void)nr;
	return take(of(r), of(r)->stop_fails, profiles);
}

int __wrap_gprof_recorder_stats(struct gprof_recorder *r, size_t event,
				struct gprof_recorder_stats *st)
{
	(void)event;
	st->produced = of(r)->produced;
	return 0;
}

void __wrap_gprof_recorder_free(struct gprof_recorder *r)
{
	if (r)
		of(r)->made = false;
}

FIXTURE(recorders) {
	char path[64];
};

FIXTURE_SETUP(recorders)
{
	rated = lasting = (struct recorder){ 0 };
	strcpy(self->path, "/dev/shm/gprof-taken-XXXXXX");
	ASSERT_NE(NULL, mkdtemp(self->path));
}

FIXTURE_TEARDOWN(recorders)
{
	char command[128];

	snprintf(command, sizeof(command), "rm -rf %s", self->path);
	EXPECT_EQ(0, system(command));
}

/* Of a kind, in the store. */
static int items(FIXTURE_DATA(recorders) *self, const char *kind)
{
	char command[128], text[16] = "";
	FILE *f;

	snprintf(command, sizeof(command), "find %s -name '*_%s_*' | wc -l", self->path, kind);
	f = popen(command, "r");
	if (!f || !fgets(text, sizeof(text), f))
		return -1;
	pclose(f);
	return atoi(text);
}

TEST_F(recorders, each_is_taken_whatever_the_other_does)
{
	struct store_options o = { .dir = self->path, .keep_bytes = 1 << 30 };
	struct continuous c = { .host = "box" };
	struct budget b = { 0 };
	struct store *s;
	int status;

	s = store_open(&o, &status);
	ASSERT_NE(NULL, s);
	ASSERT_EQ(STATUS_OK, continuous_add(&c, "heap"));
	ASSERT_EQ(STATUS_OK, continuous_add(&c, "cpu"));
	ASSERT_EQ(STATUS_OK, continuous_start(&c, &b));
	EXPECT_TRUE(rated.made && lasting.made);
	ASSERT_EQ(STATUS_OK, continuous_take(&c, s, CONTINUOUS_GO_ON));
	EXPECT_EQ(1, items(self, "cpu"));
	EXPECT_EQ(1, items(self, "heap"));
	rated.next_fails = true;
	EXPECT_EQ(STATUS_FAILED, continuous_take(&c, s, CONTINUOUS_GO_ON));
	EXPECT_EQ(1, items(self, "cpu"));
	EXPECT_EQ(2, items(self, "heap"));
	rated.next_fails = false;
	lasting.next_fails = true;
	EXPECT_EQ(STATUS_FAILED, continuous_take(&c, s, CONTINUOUS_GO_ON));
	EXPECT_EQ(2, items(self, "cpu"));
	EXPECT_EQ(2, items(self, "heap"));
	rated.stop_fails = true;
	EXPECT_EQ(STATUS_FAILED, continuous_take(&c, s, CONTINUOUS_END));
	EXPECT_EQ(2, items(self, "cpu"));
	EXPECT_EQ(3, items(self, "heap"));
	EXPECT_EQ(4U, c.produced[0]);
	EXPECT_EQ(4U, c.produced[1]);
	EXPECT_FALSE(rated.made || lasting.made);
	continuous_free(&c);
	store_close(s);
}

int cmd_push(int argc, char **argv);

/* What one has until then is kept, and so is the rest of the other. */
TEST_F(recorders, all_is_kept_when_it_cannot_go_on)
{
	char *args[] = { "push", "--store", self->path, "--interval", "1s", "-e", "cpu", "-e",
			 "heap", NULL };
	struct ran r;

	rated.next_fails = true;
	run(&r, cmd_push, args, -1);
	EXPECT_EQ(STATUS_FAILED, r.status);
	EXPECT_EQ(1, items(self, "cpu"));
	EXPECT_EQ(2, items(self, "heap"));
	EXPECT_NE(NULL, strstr(r.err, "samples: produced=3 stored=3 ")) {
		TH_LOG("%s", r.err);
	}
}

TEST_HARNESS_MAIN
