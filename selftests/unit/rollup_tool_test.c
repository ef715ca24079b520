// SPDX-License-Identifier: GPL-2.0-only
/*
 * Rollups: what history reads in place of profiles, and what is given up for them. The clock
 * is set by the tests.
 */
#include "harness.h"
#include <dirent.h>

#include <gprof/profile_builder.h>

#include "cli/cmd.h"
#include "agent/item_make.h"
#include "store/rollup.h"
#include "agent/rollup_make.h"
#include "agent/store_hours.h"
#include "agent/store.h"
#include "store/store_dir.h"
#include "tool_run.h"
#include "lib_util.h"

#define SECOND	1000000000ULL
#define MINUTE	(60 * SECOND)
#define BEGIN	(1764061200 * SECOND)	/* 2025-11-25T09:00:00Z */
#define EACH	(10 * SECOND)

int cmd_history(int argc, char **argv);

static uint64_t now = BEGIN;

int clock_gettime(clockid_t id, struct timespec *t)
{
	uint64_t ns = id == CLOCK_REALTIME ? now : now - BEGIN + SECOND;

	if (id != CLOCK_REALTIME && id != CLOCK_BOOTTIME)
		return (int)syscall(SYS_clock_gettime, id, t);
	*t = (struct timespec){ (time_t)(ns / SECOND), (long)(ns % SECOND) };
	return 0;
}

FIXTURE(rollup) {
	char path[64], out[96], list[32];
	struct store_options o;
	struct store *s;
	struct ran r;
	int err;
};

static void reopen(struct __test_metadata *_metadata, FIXTURE_DATA(rollup) *self)
{
	int status;

	store_close(self->s);
	self->s = store_open(&self->o, &status);
	ASSERT_NE(NULL, self->s);
}

FIXTURE_SETUP(rollup)
{
	now = BEGIN;
	strcpy(self->path, "/dev/shm/gprof-rollup-XXXXXX");
	ASSERT_NE(NULL, mkdtemp(self->path));
	snprintf(self->out, sizeof(self->out), "%s/out.pb.gz", self->path);
	self->o = (struct store_options){ .dir = self->path, .keep_bytes = 1 << 30 };
	self->err = dup(2);
	reopen(_metadata, self);
}

FIXTURE_TEARDOWN(rollup)
{
	store_close(self->s);
	dup2(self->err, 2);
	lib_sh("rm -rf %s", self->path);
}

/* @a samples of one function, and @b, which is in use, of another. */
static int put(FIXTURE_DATA(rollup) *self, const char *kind, const char *host, int64_t a, int64_t b)
{
	const struct gprof_value_type types[] = { { "samples", "count" }, { "inuse_space", "bytes" } };
	struct gprof_profile_builder_config cfg = {
		.sz = sizeof(cfg), .types = types, .nr_types = 2, .period_type = types[0], .period = 1,
	};
	struct gprof_profile_builder *builder = gprof_profile_builder_new(&cfg);
	const struct gprof_tag tag = { .key = "service.name", .text = a % 2 ? "odd" : "even" };
	const struct gprof_frame frames[] = { { .function = "f" }, { .function = "g" } };
	struct gprof_profile *p;

	for (size_t i = 0; i < 2; i++) {
		const int64_t values[] = { i ? 0 : a, i ? b : 0 };

		gprof_profile_builder_add(builder, &frames[i], 1, &tag, 1, values);
	}
	gprof_profile_builder_time(builder, (int64_t)now, EACH);
	p = gprof_profile_builder_finish(builder);
	gprof_profile_builder_free(builder);
	return item_put_profile(self->s, p, kind, host);
}

/* @nr profiles of 1, 2, ... samples, from now on; the last of which has its number in use. */
static void fill(struct __test_metadata *_metadata, FIXTURE_DATA(rollup) *self, int nr)
{
	for (int i = 1; i <= nr; i++, now += EACH)
		ASSERT_EQ(0, put(self, "cpu", "box", i, i));
}

#define SUM(n)	((int64_t)(n) * ((n) + 1) / 2)

struct told {
	int64_t samples;
	int64_t in_use;
	int profiles;
	double seconds;
};

/* What history makes of a span, or -1 samples where it fails. */
static struct told history(FIXTURE_DATA(rollup) *self, const char *from, const char *to,
			   const char *service)
{
	char *args[] = { "history", "--store", self->path, "--from", (char *)from, "--to", (char *)to,
			 "-o", self->out, service ? "--service" : NULL, (char *)service, NULL };
	struct told told = { .samples = -1 };
	struct gprof_profile *p;
	const char *at;
	int fd;

	unlink(self->out);
	run(&self->r, cmd_history, args, -1);
	fd = open(self->out, O_RDONLY);
	if (self->r.status != STATUS_OK || fd < 0)
		return told;
	p = gprof_profile_read(fd);
	told.samples = gprof_profile_total(p, 0);
	told.in_use = gprof_profile_total(p, 1);
	at = strstr(self->r.err, "out.pb.gz: ");
	if (!at || sscanf(at, "out.pb.gz: %d profiles, %lf s", &told.profiles, &told.seconds) != 2)
		told.profiles = -1;
	gprof_profile_free(p);
	close(fd);
	return told;
}

/* Calls @fn with the path of each file of an hour that has @part in its name; how many. */
static int each(FIXTURE_DATA(rollup) *self, const char *part, void (*fn)(const char *path))
{
	char dir[96], path[512];
	struct dirent *entry;
	int nr = 0;
	DIR *d;

	snprintf(dir, sizeof(dir), "%s/20251125T09", self->path);
	d = opendir(dir);
	while (d && (entry = readdir(d))) {
		if (!strstr(entry->d_name, part) || entry->d_name[0] == '.')
			continue;
		nr++;
		snprintf(path, sizeof(path), "%s/%s", dir, entry->d_name);
		if (fn)
			fn(path);
	}
	if (d)
		closedir(d);
	return nr;
}

#define ROLLED	".rollup.pb.gz"
#define ITEM	"_k0.0_"

static void erase(const char *path)
{
	if (unlink(path))
		perror(path);
}

static void erase_all_but_the_first(const char *path)
{
	if (!strstr(path, "/01764061200"))
		erase(path);
}

static void flip_a_bit(const char *path)
{
	int fd = open(path, O_RDWR);
	char c;

	if (pread(fd, &c, 1, 30) != 1)
		perror(path);
	c ^= 4;
	if (pwrite(fd, &c, 1, 30) != 1)
		perror(path);
	close(fd);
}

static const char *const whole[] = { "2025-11-25T09:00:00Z", "2025-11-25T10:00:00Z" };

#define EXPECT_TOLD(t, s, u, n)						\
	do {								\
		EXPECT_EQ(s, (t).samples) {				\
			TH_LOG("%s", self->r.err);			\
		}							\
		EXPECT_EQ(u, (t).in_use);				\
		EXPECT_EQ(n, (t).profiles);				\
		EXPECT_EQ((n) * 10.0, (t).seconds);			\
	} while (0)

TEST_F(rollup, history_is_the_same_of_profiles_and_of_their_sums)
{
	struct told t;

	fill(_metadata, self, 180);
	t = history(self, whole[0], whole[1], NULL);
	EXPECT_TOLD(t, SUM(180), 180, 180);
	for (int i = 0; i < 3; i++)
		rollup_make(self->s, self->path, BEGIN + (uint64_t)i * ROLLUP_NS + 5);
	EXPECT_EQ(3, each(self, ROLLED, NULL));
	/* each once */
	rollup_make(self->s, self->path, BEGIN);
	EXPECT_EQ(3, each(self, ROLLED, NULL));
	t = history(self, whole[0], whole[1], NULL);
	EXPECT_TOLD(t, SUM(180), 180, 180);
	EXPECT_EQ(SUM(180) / 2 + 45, history(self, whole[0], whole[1], "even").samples);
	/* of two the ends are no whole ones */
	t = history(self, "2025-11-25T09:05:00Z", "2025-11-25T09:25:00Z", NULL);
	EXPECT_TOLD(t, SUM(150) - SUM(30), 150, 120);
	t = history(self, "2025-11-25T09:05:05Z", "2025-11-25T09:09:55Z", NULL);
	EXPECT_TOLD(t, SUM(60) - SUM(30), 60, 30);
	/* with sums alone it is the sums that are read */
	EXPECT_EQ(180, each(self, ITEM, erase));
	t = history(self, whole[0], whole[1], NULL);
	EXPECT_TOLD(t, SUM(180), 180, 180);
	/* and what begins within one is as long as it is */
	t = history(self, "2025-11-25T09:05:00Z", "2025-11-25T09:10:01Z", NULL);
	EXPECT_TOLD(t, SUM(120), 120, 120);
	t = history(self, "2025-11-25T09:10:00Z", "2025-11-25T09:20:00Z", NULL);
	EXPECT_TOLD(t, SUM(120) - SUM(60), 120, 60);
	EXPECT_EQ(-1, history(self, "2025-11-25T09:30:00Z", whole[1], NULL).samples);
	EXPECT_SAYS(self->r.err,
		    "it has some from 2025-11-25T09:00:00Z to " "2025-11-25T09:20:00Z");
}

static char *again;

static void put_again(const char *path)
{
	again = strdup(strrchr(path, '/') + 1);
}

TEST_F(rollup, what_comes_later_is_read_beside_it)
{
	struct item_name n;
	struct told t;

	fill(_metadata, self, 60);
	rollup_make(self->s, self->path, BEGIN);
	/* of the same ten minutes, of the same kind of another host, and another kind */
	now = BEGIN + 5 * MINUTE;
	ASSERT_ZEROS(put(self, "cpu", "box", 1000, 7), put(self, "cpu", "box2", 2000, 8),
		     put(self, "heap", "box", 4000, 9));
	t = history(self, whole[0], whole[1], NULL);
	EXPECT_TOLD(t, SUM(60) + 3000, 60, 62);
	/* another of what one is of already counts for nothing */
	EXPECT_EQ(1, each(self, ROLLED, put_again));
	ASSERT_NE(NULL, again);
	ASSERT_TRUE(item_name_parse(&n, again));
	ASSERT_EQ(0, store_put_rollup(self->s, &n, "no profile", 10));
	EXPECT_EQ(2, each(self, ROLLED, NULL));
	t = history(self, whole[0], whole[1], NULL);
	EXPECT_TOLD(t, SUM(60) + 3000, 60, 62);
	EXPECT_LACKS(self->r.err, "left out");
	free(again);
	/* with few of what it has left: nothing twice, nothing missing */
	t = history(self, "2025-11-25T09:00:00Z", "2025-11-25T09:01:00Z", NULL);
	EXPECT_TOLD(t, SUM(6), 6, 6);
}

TEST_F(rollup, each_kind_and_host_has_its_own)
{
	static const char *const kinds[] = { "cpu", "heap", "cpu" }, *const hosts[] = { "a", "a", "b" };

	for (int i = 0; i < 30; i++, now += EACH)
		ASSERT_EQ(0, put(self, kinds[i % 3], hosts[i % 3], i, 1));
	/* of one alone there is none */
	ASSERT_EQ(0, put(self, "block", "a", 5, 1));
	rollup_make(self->s, self->path, BEGIN);
	EXPECT_EQS(3, each(self, ROLLED, NULL), 1, each(self, "_heap_", NULL) - 10,
		   31, each(self, ITEM, erase),
		   435 - 145, history(self, whole[0], whole[1], NULL).samples,
		   20, history(self, whole[0], whole[1], NULL).profiles);
}

TEST_F(rollup, one_that_is_damaged_is_no_loss)
{
	struct told t;

	fill(_metadata, self, 120);
	rollup_make(self->s, self->path, BEGIN);
	rollup_make(self->s, self->path, BEGIN + ROLLUP_NS);
	EXPECT_EQ(2, each(self, ROLLED, flip_a_bit));
	t = history(self, whole[0], whole[1], NULL);
	EXPECT_TOLD(t, SUM(120), 120, 120);
	EXPECT_SAYS(self->r.err,
		    "it is damaged; 60 of its 60 profiles are " "there still, and are read; others are counted\n");
	EXPECT_LACKS(self->r.err, "profiles that are left out");
	/* what is there no more is: the seventh */
	EXPECT_EQ(1, each(self, "01764061260", erase));
	t = history(self, whole[0], whole[1], NULL);
	EXPECT_TOLD(t, SUM(120) - 7, 120, 119);
	EXPECT_SAYS(self->r.err, "profiles that are left out: 1\n");
}

TEST_F(rollup, none_is_made_of_what_is_damaged_or_waits)
{
	fill(_metadata, self, 60);
	EXPECT_EQ(1, each(self, "01764061260", flip_a_bit));
	rollup_make(self->s, self->path, BEGIN);
	EXPECT_EQ(0, each(self, ROLLED, NULL));
	self->o.wait = 1U << ITEM_PROFILE;
	reopen(_metadata, self);
	fill(_metadata, self, 60);
	rollup_make(self->s, self->path, BEGIN + ROLLUP_NS);
	EXPECT_EQS(0, each(self, ROLLED, NULL), 60, each(self, "_w0.0_", NULL));
}

/* Ten minutes that are over are made one, and what that takes is paid bit by bit. */
TEST_F(rollup, they_are_made_as_time_goes_on)
{
	struct rollups r = { .store = self->s, .dir = self->path };
	uint64_t took = 0, paid = 0, one;
	struct store_counts c;

	now += 9 * MINUTE;
	for (int i = 0; i < 90; i++, now += EACH) {
		ASSERT_EQ(0, put(self, "cpu", "box", 1, 1));
		one = rollups_step(&r, now);
		EXPECT_EQ(i == 6 || i == 66, one != 0) TH_LOG("%d", i);
		took += one;
		one = rollups_pay(&r, EACH);
		EXPECT_GE(r.last_ns / 60 + 1, one);
		paid += one;
	}
	EXPECT_EQ(took, paid + r.owed_ns);
	EXPECT_LT(0U, paid);
	EXPECT_EQ(2, each(self, ROLLED, NULL));
	/* they count as no item, but take room */
	store_counts(self->s, &c);
	EXPECT_EQS(90U, c.items.produced, 90U, c.items.stored, 92U, c.files, 92 * 4096U, c.bytes);
	reopen(_metadata, self);
	store_counts(self->s, &c);
	EXPECT_EQ(92U, c.files);
	r.store = NULL;
	now += 10 * MINUTE;
	EXPECT_EQ(0U, rollups_step(&r, now));
}

/* What is long ago is known by ten minutes then. */
TEST_F(rollup, what_one_has_gives_way_first)
{
	struct store_counts c;
	struct list l = { 0 };
	struct told t;

	fill(_metadata, self, 240);
	/* of the first ten minutes there is none, and one is damaged */
	for (int i = 1; i < 4; i++) {
		rollup_make(self->s, self->path, BEGIN + (uint64_t)i * ROLLUP_NS);
		if (i == 1)
			EXPECT_EQ(1, each(self, ROLLED, flip_a_bit));
	}
	self->o.keep_bytes = (240 - 40) * 4096;
	reopen(_metadata, self);
	/* nor does it matter how often an hour was looked at */
	for (int i = 0; i < 100; i++)
		ASSERT_EQ(0, store_list_hour(self->s, &self->s->hours[0], &l));
	EXPECT_EQS(243U, l.nr, 243U, self->s->hours[0].files, 3U, self->s->hours[0].rollups);
	free(l.v);
	ASSERT_EQ(0, put(self, "cpu", "box", 241, 241));
	store_counts(self->s, &c);
	EXPECT_EQS(1U, c.damaged, 241U, c.removed + (uint64_t)each(self, ITEM, NULL));
	EXPECT_GE(c.removed, 42U);
	EXPECT_LE(c.removed, 60U);
	EXPECT_EQ(2, each(self, ROLLED, NULL));
	/* whatever has gone, all is there */
	t = history(self, whole[0], whole[1], NULL);
	EXPECT_TOLD(t, SUM(241), 241, 241);
	/* without room for others these go too */
	self->o.keep_bytes = 20 * 4096;
	reopen(_metadata, self);
	for (int i = 0; i < 30; i++, now += EACH)
		ASSERT_EQ(0, put(self, "cpu", "box", 1, 1));
	EXPECT_EQ(0, each(self, ROLLED, NULL));
	store_counts(self->s, &c);
	EXPECT_GE(20 * 4096U, c.bytes);
}

static void compare(FIXTURE_DATA(rollup) *self, const char *words)
{
	char text[256], *argv[32] = { "compare", self->path }, *rest = text;

	snprintf(text, sizeof(text), "%s", words);
	for (size_t n = 2; (argv[n] = strsep(&rest, " ")); n++)
		;
	run(&self->r, cmd_compare, argv, -1);
}

#define AN_HOUR_LATER	"--from 2025-11-25T10:00:00Z --to 2025-11-25T10:10:00Z --ago 1h --type samples"

/* Each recording is a run, and a rollup is one where its profiles are gone. */
TEST_F(rollup, two_spans_of_a_store_are_compared)
{
	char said[160];

	for (int i = 0; i < 60; i++, now += EACH)
		ASSERT_EQ(0, put(self, "cpu", "box", 100, 7));
	now = BEGIN + 60 * MINUTE;
	for (int i = 0; i < 60; i++, now += EACH)
		ASSERT_EQ(0, put(self, "cpu", "box", 150, 7));
	compare(self, AN_HOUR_LATER " --json --fail-above 40");
	EXPECT_EQ(STATUS_GREW, self->r.status) TH_LOG("%s", self->r.err);
	EXPECT_SAYS(self->r.out, "\"per\": \"second\", \"runs_before\": 60, \"runs_after\": 60, "
		    "\"sampling_noise_only\": false, \"failed\": 2");
	EXPECT_SAYS(self->r.out, "{\"function\": \"f\", \"before\": 10, \"after\": 15, "
		    "\"change_percent\": 50,");
	rollup_make(self->s, self->path, BEGIN);
	EXPECT_EQ(60, each(self, ITEM, erase_all_but_the_first));
	compare(self, AN_HOUR_LATER);
	EXPECT_EQ(STATUS_OK, self->r.status) TH_LOG("%s", self->r.err);
	EXPECT_SAYS(self->r.out, "Before: 1 run, 6000 samples; after: 60 runs, 9000 samples\n");
	snprintf(said, sizeof(said), "%s: 1 recording from 2025-11-25T09:00:00Z to "
		 "2025-11-25T09:10:00Z; sums of ten minutes: 1\n", self->path);
	EXPECT_SAYS(self->r.out, said);
	EXPECT_SAYS(self->r.out, " +50.00% ");
	compare(self, AN_HOUR_LATER " --per share --service even --fail-above 0");
	EXPECT_EQ(STATUS_OK, self->r.status) TH_LOG("%s", self->r.err);
	EXPECT_SAYS(self->r.out, "Passed");
	compare(self, AN_HOUR_LATER " --service odd");
	EXPECT_EQ(STATUS_FAILED, self->r.status);
	EXPECT_SAYS(self->r.err, "no recording before has values of what is to be compared");
	compare(self, AN_HOUR_LATER " --kind block");
	EXPECT_EQ(STATUS_FAILED, self->r.status);
	EXPECT_SAYS(self->r.err, "has no block profile");
	compare(self, "--ago 1h --kind trace");
	EXPECT_EQ(STATUS_USAGE, self->r.status);
	compare(self, "--from 2025-11-25T10:00:00Z");
	EXPECT_EQ(STATUS_USAGE, self->r.status);
	EXPECT_SAYS(self->r.err, "--ago");
	/* one that cannot be read costs itself alone */
	now = BEGIN + MINUTE;
	ASSERT_EQ(0, put(self, "cpu", "box", 100, 7));
	EXPECT_EQ(1, each(self, ROLLED, flip_a_bit));
	compare(self, AN_HOUR_LATER);
	EXPECT_EQ(STATUS_OK, self->r.status);
	EXPECT_SAYS(self->r.err, "is left out: it is damaged; others are counted");
	EXPECT_SAYS(self->r.out, "Before: 1 run, 100 samples; after: 60 runs",
		    "to 2025-11-25T09:10:00Z; left out, as they cannot be read: 1\n");
}

/* As one profile, of the span and the service. */
TEST_F(rollup, a_span_of_a_store_is_a_page)
{
	/* each begins a little later than the one before ended */
	for (int i = 1; i <= 6; i++, now += EACH + SECOND / 300)
		ASSERT_EQ(0, put(self, "cpu", "box", i, i));
	RUN_OK(cmd_view, ARGV("view", "--store", self->path, "--from", (char *)whole[0], "--to",
			      "2025-11-25T09:00:30Z", "--type", "samples", "-o", "-"));
	EXPECT_SAYS(self->r.err, ": 3 recordings, 30.0 s\n");
	EXPECT_SAYS(self->r.out, "\"name\":\"samples\",\"total\":6,", "\"name\":\"inuse_space\",\"total\":3,",
		    "[\"0\",\"10000000000\",\"20000000000\"]", "\"columns\":[[1,2,3,0");
	RUN_TELLS(STATUS_USAGE, "about the recordings of --store", cmd_view,
		  ARGV("view", "--kind", "cpu", self->out));
	RUN_TELLS(STATUS_USAGE, "leaves nothing for", cmd_view,
		  ARGV("view", "--store", self->path, self->out));
	RUN_TELLS(STATUS_FAILED, "it has some from 2025-11-25T09:00:00Z", cmd_view,
		  ARGV("view", "--store", self->path, "--from", "0", "--to", "2025-11-25T08:00:00Z"));
}

/* Nothing else is one, and no bit of a name can be another. */
TEST(its_name_is_all_that_is_known_of_it)
{
	struct item_name n = {
		.form = ITEM_ROLLUP, .type = "cpu", .host = "box.example", .start_ns = BEGIN,
		.duration_ns = 600 * SECOND, .id = 1000, .samples = 7, .items = 60, .first_id = 3,
		.last_id = 999,
	}, same, other;
	char text[ITEM_NAME], flipped[ITEM_NAME];

	n.sum = item_sum(&n, "data", 4);
	item_name_text(&n, text);
	EXPECT_STREQ("01764061200000000000_600000000000_cpu_7_00000000000003e8_", strndup(text, 57));
	ASSERT_TRUE(item_name_parse(&same, text)) TH_LOG("%s", text);
	EXPECT_EQ(0, memcmp(&n, &same, sizeof(n)));
	for (size_t bit = 0; bit < strlen(text) * 8; bit++) {
		strcpy(flipped, text);
		flipped[bit / 8] ^= (char)(1 << bit % 8);
		if (item_name_parse(&other, flipped))
			EXPECT_NE(other.sum, item_sum(&other, "data", 4)) TH_LOG("%s", flipped);
	}
	/* of nothing, out of order, and of what comes after it */
	for (int i = 0; i < 3; i++) {
		other = n;
		*(i == 0 ? &other.first_id : i == 1 ? &other.last_id : &other.id) = i ? 2 : 1001;
		item_name_text(&other, text);
		EXPECT_FALSE(item_name_parse(&same, text));
	}
	other = n;
	other.items = 0;
	item_name_text(&other, text);
	EXPECT_FALSE(item_name_parse(&same, text));
}

TEST_HARNESS_MAIN
