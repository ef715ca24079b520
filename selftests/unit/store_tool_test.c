// SPDX-License-Identifier: GPL-2.0-only
/*
 * The store of a host's profiles: what it keeps, and what becomes of it on bad disks, with bad
 * clocks, and when its process ends at any instant.
 */
#include "harness.h"
#include <dirent.h>
#include <stdatomic.h>

#include "cli/cmd.h"
#include "agent/quarantine.h"
#include "agent/store.h"
#include "store/store_dir.h"
#include "lib_util.h"

#define SECOND	1000000000ULL
#define HOUR	(3600 * SECOND)
#define BEGIN	(1764000000 * SECOND)
#define MUCH	(1U << 30)

/* A wall clock that is set, and a disk of which the n-th operation fails. */
static int64_t clock_set_by;
static uint64_t clock_boot;
static int fail_at, fail_with, operations;
static atomic_bool held;	/* no operation ends */

int clock_gettime(clockid_t id, struct timespec *t)
{
	int ret = (int)syscall(SYS_clock_gettime, id, t);
	uint64_t ns;

	if (ret || (id != CLOCK_REALTIME && id != CLOCK_BOOTTIME))
		return ret;
	ns = clock_boot + (id == CLOCK_REALTIME ? BEGIN + (uint64_t)clock_set_by : 0);
	*t = (struct timespec){ (time_t)(ns / SECOND), (long)(ns % SECOND) };
	return 0;
}

static int fails(void)
{
	if (++operations != fail_at)
		return 0;
	errno = fail_with;
	return -1;
}

/* The n-th operation from here on. */
static void fail(int n, int err)
{
	operations = 0;
	fail_at = n;
	fail_with = err;
}

int renameat(int from_dir, const char *from, int to_dir, const char *to)
{
	return fails() ? -1 : (int)syscall(SYS_renameat2, from_dir, from, to_dir, to, 0);
}

int fsync(int fd)
{
	/* That takes time, and is for a power that fails. */
	(void)fd;
	while (atomic_load(&held))
		usleep(1000);
	return fails();
}

ssize_t write(int fd, const void *data, size_t size)
{
	return fd > 2 && fails() ? -1 : syscall(SYS_write, fd, data, size);
}

int mkdirat(int dir, const char *path, mode_t mode)
{
	return fails() ? -1 : (int)syscall(SYS_mkdirat, dir, path, mode);
}

/* Messages, counts and answers of the store; each case has a process of its own. */
static char text[4096];
static struct store_counts c;
static struct store_next next;
static uint64_t samples;

FIXTURE(store) {
	char path[64];
	struct store *s;
	struct store_options o;
	int said;
	int err;
};

static void shut(FIXTURE_DATA(store) *self)
{
	store_close(self->s);
	self->s = NULL;
}

static void reopen(struct __test_metadata *_metadata, FIXTURE_DATA(store) *self)
{
	int status;

	store_close(self->s);
	self->s = store_open(&self->o, &status);
	ASSERT_NE(NULL, self->s);
}

FIXTURE_SETUP(store)
{
	clock_set_by = 0;
	clock_boot = SECOND;
	fail_at = operations = 0;
	/* Each item is synced, some thousands of times: not to a disk that others use. */
	strcpy(self->path, "/dev/shm/gprof-store-XXXXXX");
	ASSERT_NE(NULL, mkdtemp(self->path));
	self->o = (struct store_options){
		.dir = self->path, .keep_bytes = MUCH, .wait = 1U << ITEM_PROFILE,
	};
	self->err = dup(2);
	self->said = memfd_create("said", 0);
	dup2(self->said, 2);
	reopen(_metadata, self);
}

static void remove_all(FIXTURE_DATA(store) *self)
{
	lib_sh("rm -rf %s", self->path);
}

FIXTURE_TEARDOWN(store)
{
	store_close(self->s);
	dup2(self->err, 2);
	remove_all(self);
}

/* Lines on stderr, since the last time. */
static int lines(FIXTURE_DATA(store) *self)
{
	ssize_t n = pread(self->said, text, sizeof(text) - 1, 0);
	int nr = 0;

	text[n > 0 ? n : 0] = '\0';
	for (char *at = text; *at; at++)
		nr += *at == '\n';
	if (ftruncate(self->said, 0))
		perror("ftruncate");
	lseek(self->said, 0, SEEK_SET);
	return nr;
}

static int put_at(FIXTURE_DATA(store) *self, uint64_t start, uint64_t samples, size_t size)
{
	struct item_name n = {
		.form = ITEM_PROFILE, .type = "cpu", .host = "box.example",
		.start_ns = start, .duration_ns = 10 * SECOND, .samples = samples,
	};
	char *data = malloc(size + 1);
	int err;

	for (size_t i = 0; i < size; i++)
		data[i] = (char)(i * 7 + samples);
	err = store_put(self->s, &n, data, size, NULL);
	free(data);
	return err;
}

static int put(FIXTURE_DATA(store) *self, uint64_t samples)
{
	clock_boot += 10 * SECOND;
	return put_at(self, BEGIN + (uint64_t)clock_set_by + clock_boot, samples, 100);
}

/* Nothing is produced that nothing becomes of. */
static bool adds_up(FIXTURE_DATA(store) *self)
{
	const struct store_tally *t = &c.samples;

	store_counts(self->s, &c);
	for (; t; t = t == &c.samples ? &c.items : NULL)
		if (t->produced + t->waited !=
		    t->sent + t->waiting + t->dropped + t->refused + t->stored)
			return false;
	return true;
}

static bool answer(FIXTURE_DATA(store) *self, enum send_status result, uint32_t parts,
		   uint64_t sent, uint64_t refused)
{
	struct send_result out = {
		.result = result, .sent_parts = parts, .sent_samples = sent,
		.refused_samples = refused,
	};

	if (!store_next(self->s, ~0U, &next))
		return false;
	samples = next.name.samples;
	store_answer(self->s, &next, &out);
	return true;
}

/* Calls @fn with the path of each item. */
static int each_file(FIXTURE_DATA(store) *self, int (*fn)(void *ctx, const char *path), void *ctx)
{
	char (*hours)[HOUR_NAME], path[512];
	struct store_dir d = { 0 };
	int nr_files = 0;
	ssize_t nr;

	if (store_dir_open(&d, self->path) != STATUS_OK)
		return -1;
	nr = store_dir_hours(&d, &hours);
	for (ssize_t i = 0; i < nr; i++) {
		struct dirent *entry;
		DIR *dir;

		snprintf(path, sizeof(path), "%s/%s", self->path, hours[i]);
		dir = opendir(path);
		while (dir && (entry = readdir(dir))) {
			if (entry->d_name[0] == '.')
				continue;
			snprintf(path, sizeof(path), "%s/%s/%s", self->path, hours[i],
				 entry->d_name);
			nr_files++;
			if (fn && fn(ctx, path))
				break;
		}
		if (dir)
			closedir(dir);
	}
	free(hours);
	store_dir_close(&d);
	return nr_files;
}

#define COUNTS(...) do {						\
	EXPECT_TRUE(adds_up(self));					\
	EXPECT_EQS(__VA_ARGS__);					\
} while (0)

/* The next item has so many; all of it is sent; one line with these words was written. */
#define NEXT(_samples) do {						\
	ASSERT_TRUE(store_next(self->s, ~0U, &next));			\
	EXPECT_EQ(_samples, next.name.samples);				\
} while (0)

#define SENDS(_samples) do {						\
	ASSERT_TRUE(answer(self, SENT_ALL, 1, _samples, 0));		\
	EXPECT_EQ(_samples, samples);					\
} while (0)

#define TOLD(...) do {							\
	EXPECT_EQ(1, lines(self));					\
	EXPECT_SAYS(text, __VA_ARGS__);					\
} while (0)

#define PUTS(_nr, _samples) do {					\
	for (int _n = 0; _n < (_nr); _n++)				\
		ASSERT_EQ(0, put(self, _samples));			\
} while (0)

TEST_F(store, gives_back_what_was_put_in_the_oldest_first)
{
	for (uint64_t i = 1; i <= 3; i++)
		ASSERT_EQ(0, put(self, i));
	for (uint64_t i = 1; i <= 3; i++) {
		const struct send_result all = { .result = SENT_ALL, .sent_samples = i };

		NEXT(i);
		ASSERT_EQ(100U, next.size);
		for (size_t j = 0; j < next.size; j++)
			ASSERT_EQ((char)(j * 7 + i), ((char *)next.data)[j]);
		EXPECT_STREQ("box.example", next.name.host);
		store_answer(self->s, &next, &all);
	}
	EXPECT_FALSE(store_next(self->s, ~0U, &next));
	COUNTS(6U, c.samples.sent, 3U, c.items.sent);
	/* and they are kept */
	EXPECT_EQS(3U, c.files, 3 * 4096U, c.bytes, 3, each_file(self, NULL, NULL));
}

TEST_F(store, goes_on_where_another_process_ended)
{
	ASSERT_ZEROS(put(self, 10), put(self, 20));
	ASSERT_TRUE(answer(self, SENT_LATER, 2, 3, 1));
	EXPECT_EQ(10U, samples);
	COUNTS(26U, c.samples.waiting);
	reopen(_metadata, self);
	COUNTS(26U, c.samples.waited, 0U, c.unsure);
	ASSERT_TRUE(store_next(self->s, ~0U, &next));
	EXPECT_EQS(10U, next.name.samples, 2U, next.name.parts, 4U, next.name.taken);
	free(next.data);
	/* killed before there was an answer */
	lines(self);
	reopen(_metadata, self);
	TOLD("6 samples were being sent");
	COUNTS(6U, c.unsure, 26U, c.samples.waiting);
	/* an engine that says nonsense is believed no further than there are samples */
	ASSERT_TRUE(answer(self, SENT_ALL, 9, UINT64_MAX, UINT64_MAX));
	ASSERT_TRUE(answer(self, SENT_NEVER, 0, 5, 0));
	EXPECT_EQ(20U, samples);
	COUNTS(11U, c.samples.sent, 15U, c.samples.refused, 0U, c.samples.waiting);
	EXPECT_FALSE(store_next(self->s, ~0U, &next));
}

TEST_F(store, keeps_items_without_an_engine)
{
	self->o.wait = 1U << ITEM_TRACE;
	reopen(_metadata, self);
	ASSERT_EQ(0, put(self, 10));
	EXPECT_FALSE(store_next(self->s, ~0U, &next));
	COUNTS(10U, c.samples.stored);
}

TEST_F(store, has_one_writer)
{
	int status, fds[2];
	struct store *s;
	char pid[32];
	pid_t child;

	shut(self);
	ASSERT_EQ(0, pipe(fds));
	child = fork();
	if (!child) {
		s = store_open(&self->o, &status);
		status = s && syscall(SYS_write, fds[1], "", 1) == 1;
		pause();
	}
	ASSERT_EQ(1, read(fds[0], text, 1));
	EXPECT_EQS(NULL, store_open(&self->o, &status), STATUS_FAILED, status, 1, lines(self));
	snprintf(pid, sizeof(pid), "process %d writes", (int)child);
	EXPECT_SAYS(text, pid);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	reopen(_metadata, self);
}

TEST_F(store, is_private_to_its_owner)
{
	char link[80], path[128], hour[HOUR_NAME];
	struct store_options o = self->o;
	int status;

	ASSERT_EQ(0, chmod(self->path, 0755));
	shut(self);
	EXPECT_EQ(NULL, store_open(&o, &status));
	TOLD("mode 0755");
	ASSERT_EQ(0, chmod(self->path, 0700));
	snprintf(link, sizeof(link), "%s.link", self->path);
	ASSERT_EQ(0, symlink(self->path, link));
	o.dir = link;
	EXPECT_EQS(NULL, store_open(&o, &status), 1, lines(self));
	unlink(link);
	/* an hour that leads elsewhere */
	reopen(_metadata, self);
	hour_name(BEGIN + clock_boot + 10 * SECOND, hour);
	snprintf(path, sizeof(path), "%s/%s", self->path, hour);
	ASSERT_EQ(0, symlink("/tmp", path));
	EXPECT_NE(0, put(self, 1));
	COUNTS(1U, c.samples.dropped);
}

TEST_F(store, gives_up_the_oldest_for_the_newest)
{
	self->o.keep_bytes = 100 * 4096;
	reopen(_metadata, self);
	for (int i = 0; i < 1000; i++) {
		ASSERT_EQ(0, put(self, 1));
		ASSERT_TRUE(adds_up(self));
		ASSERT_GE(100 * 4096U, c.bytes);
	}
	EXPECT_LE(97U, c.files);
	EXPECT_EQ(1000 - c.files, c.samples.dropped);
	EXPECT_EQ(c.files, (uint64_t)each_file(self, NULL, NULL));
	ASSERT_TRUE(answer(self, SENT_ALL, 1, 1, 0));
	/* one that no room can be made for */
	EXPECT_EQ(-EFBIG, put_at(self, BEGIN + clock_boot, 5, 101 * 4096));
	EXPECT_TRUE(adds_up(self));
	EXPECT_LE(97U, c.files);
}

TEST_F(store, gives_up_what_is_left_of_what_was_sent_in_part)
{
	self->o.keep_bytes = 2 * 4096;
	reopen(_metadata, self);
	ASSERT_EQ(0, put(self, 10));
	ASSERT_TRUE(answer(self, SENT_LATER, 2, 3, 1));
	ASSERT_ZEROS(put(self, 1), put(self, 1));
	EXPECT_TRUE(adds_up(self));
	COUNTS(3U, c.samples.sent, 1U, c.samples.refused, 7U, c.samples.dropped,
	       1U, c.samples.waiting);
}

TEST_F(store, gives_up_what_is_too_old)
{
	self->o.keep_ns = 2 * HOUR;
	self->o.wait = 0;
	reopen(_metadata, self);
	PUTS(360 * 4, 1);
	EXPECT_TRUE(adds_up(self));
	EXPECT_LE(719U, c.files);
	EXPECT_GE(733U, c.files);
	EXPECT_EQ(1440U - c.files, c.removed);
	/* and in a process that has not seen it */
	clock_boot += HOUR;
	reopen(_metadata, self);
	ASSERT_EQ(0, put(self, 1));
	EXPECT_TRUE(adds_up(self));
	EXPECT_LE(358U, c.files);
	EXPECT_GE(362U, c.files);
}

TEST_F(store, is_none_the_worse_for_a_clock_that_is_set)
{
	self->o.keep_ns = 2 * HOUR;
	reopen(_metadata, self);
	lines(self);
	PUTS(10, 1);
	/* a year forward: what was just recorded is not a year old */
	clock_set_by = 365 * 24 * (int64_t)HOUR;
	PUTS(10, 1);
	COUNTS(20U, c.files, 1U, c.clock_steps);
	TOLD("forward by 31536000 s");
	/* and two back */
	clock_set_by = -365 * 24 * (int64_t)HOUR;
	PUTS(10, 1);
	COUNTS(30U, c.files, 2U, c.clock_steps);
	EXPECT_EQ(0, lines(self));
	/* but all of it gets too old */
	PUTS(720 + 20, 1);
	EXPECT_TRUE(adds_up(self));
	EXPECT_GE(733U, c.files);
}

TEST_F(store, loses_no_more_than_the_item_whose_write_fails)
{
	static const int errors[] = { ENOSPC, EROFS, EIO };
	int kept = 0;

	for (int at = 1; at <= 12; at++) {
		for (size_t i = 0; i < 3; i++) {
			int err;

			lines(self);
			fail(at, errors[i]);
			/* an hour each, so that directories are made too */
			clock_boot += HOUR;
			err = put(self, 1);
			fail_at = 0;
			ASSERT_TRUE(err == 0 || err == -errors[i]);
			kept += !err;
			ASSERT_TRUE(adds_up(self));
			ASSERT_EQS(c.files, (uint64_t)kept, kept, each_file(self, NULL, NULL));
			EXPECT_EQ(!!err, lines(self));
			for (int well = 0; well < 16; well++, kept++) {
				EXPECT_EQ(0, lines(self));
				ASSERT_EQ(0, put(self, 1));
			}
			EXPECT_EQ(!!err, lines(self));
		}
	}
	EXPECT_LT(36, kept);
	EXPECT_LE(6U * 3, c.failures + 3);
	/* said once, however long it lasts */
	for (int i = 0; i < 10; i++) {
		fail(1, ENOSPC);
		clock_boot += HOUR;
		EXPECT_EQ(-ENOSPC, put(self, 1));
	}
	fail_at = 0;
	EXPECT_EQ(1, lines(self));
	reopen(_metadata, self);
	COUNTS(c.samples.waited, (uint64_t)kept);
}

TEST_F(store, sends_nothing_twice_where_the_disk_takes_no_answer)
{
	struct send_result all = { .result = SENT_ALL, .sent_samples = 1 };

	ASSERT_ZEROS(put(self, 1), put(self, 2));
	fail(1, EROFS);
	/* not noted that it is sent: it is not */
	EXPECT_FALSE(store_next(self->s, ~0U, &next));
	fail_at = 0;
	NEXT(1U);
	fail(1, EROFS);
	store_answer(self->s, &next, &all);
	for (int i = 0; i < 3; i++) {
		fail(1, EROFS);
		EXPECT_FALSE(store_next(self->s, ~0U, &next));
	}
	fail_at = 0;
	NEXT(2U);
	all.sent_samples = 2;
	store_answer(self->s, &next, &all);
	EXPECT_FALSE(store_next(self->s, ~0U, &next));
	COUNTS(3U, c.samples.sent);
	reopen(_metadata, self);
	EXPECT_FALSE(store_next(self->s, ~0U, &next));
}

TEST_F(store, counts_files_that_may_not_grow)
{
	struct rlimit old, small = { 50, 50 };

	signal(SIGXFSZ, SIG_IGN);
	ASSERT_EQ(0, getrlimit(RLIMIT_FSIZE, &old));
	small.rlim_max = old.rlim_max;
	ASSERT_EQ(0, setrlimit(RLIMIT_FSIZE, &small));
	EXPECT_EQ(-EFBIG, put(self, 1));
	ASSERT_EQ(0, setrlimit(RLIMIT_FSIZE, &old));
	EXPECT_EQ(0, put(self, 1));
	COUNTS(1U, c.samples.dropped);
	EXPECT_EQ(1, each_file(self, NULL, NULL));
}

TEST_F(store, begins_anew_where_it_has_vanished)
{
	ASSERT_EQ(0, put(self, 5));
	lines(self);
	remove_all(self);
	ASSERT_EQ(0, put(self, 3));
	COUNTS(5U, c.samples.dropped, 3U, c.samples.waiting);
	EXPECT_EQ(1, each_file(self, NULL, NULL));
	PUTS(15, 0);
	EXPECT_EQ(2, lines(self));
	/* its place is taken by what is none */
	remove_all(self);
	EXPECT_EQ(0, symlink("/tmp", self->path));
	for (int i = 0; i < 5; i++)
		EXPECT_NE(0, put(self, 1));
	EXPECT_EQ(1, lines(self));
	COUNTS(10U, c.samples.dropped, 3U, c.samples.waiting);
	unlink(self->path);
	EXPECT_EQ(0, put(self, 1));
	COUNTS(13U, c.samples.dropped, 1U, c.samples.waiting);
}

/* A disk that goes, while something of it is sent, and comes back. */
TEST_F(store, is_gone_on_with_where_it_comes_back)
{
	struct send_result later = { .result = SENT_LATER }, all = { .result = SENT_ALL };
	const char *away = lib_text("%s.away", self->path);

	ASSERT_ZEROS(put(self, 5), put(self, 7));
	ASSERT_TRUE(store_next(self->s, ~0U, &next));
	ASSERT_ZEROS(rename(self->path, away), symlink("/nowhere", self->path));
	EXPECT_NE(0, put(self, 2));
	COUNTS(12U, c.samples.waiting);
	store_answer(self->s, &next, &all);
	COUNTS(5U, c.samples.sent);
	ASSERT_ZEROS(unlink(self->path), rename(away, self->path));
	/* it is known that the first has been sent */
	NEXT(7U);
	store_answer(self->s, &next, &later);
	COUNTS(2U, c.samples.dropped, 7U, c.samples.waiting, 0U, c.unsure);
	/* another is begun meanwhile */
	ASSERT_TRUE(store_next(self->s, ~0U, &next));
	ASSERT_EQ(0, rename(self->path, away));
	EXPECT_EQ(0, put(self, 3));
	store_answer(self->s, &next, &all);
	COUNTS(3U, c.samples.waiting);
	remove_all(self);
	ASSERT_ZEROS(rename(away, self->path), put(self, 4));
	COUNTS(11U, c.samples.waiting, 3U, c.files);
	SENDS(7U);
	SENDS(4U);
	EXPECT_FALSE(store_next(self->s, ~0U, &next));
	COUNTS(0U, c.samples.waiting);
	lines(self);
}

static void hour_path(FIXTURE_DATA(store) *self, char path[128])
{
	char hour[HOUR_NAME];

	hour_name(BEGIN + clock_boot, hour);
	snprintf(path, 128, "%s/%s", self->path, hour);
}

static int remove_one(void *ctx, const char *path)
{
	(void)ctx;
	return !unlink(path);
}

TEST_F(store, goes_on_where_others_remove_of_it)
{
	char path[128], command[160];

	ASSERT_EQ(0, put(self, 5));
	hour_path(self, path);
	clock_boot += 2 * HOUR;
	ASSERT_EQ(0, put(self, 7));
	snprintf(command, sizeof(command), "rm -r %s", path);
	ASSERT_EQ(0, system(command));
	SENDS(7U);
	COUNTS(5U, c.samples.dropped, 1U, c.items.dropped, 0U, c.samples.waiting, 1U, c.files,
		   4096U, c.bytes);
	/* one of two, in whatever order */
	clock_boot += 2 * HOUR;
	ASSERT_ZEROS(put(self, 3), put(self, 3));
	hour_path(self, path);
	snprintf(command, sizeof(command), "rm $(ls -d %s/*w0.0* | head -n 1)", path);
	ASSERT_EQ(0, system(command));
	ASSERT_TRUE(answer(self, SENT_ALL, 1, 3, 0));
	EXPECT_FALSE(answer(self, SENT_ALL, 1, 3, 0));
	COUNTS(8U, c.samples.dropped, 2U, c.files);
	/* and room is made where nothing is left to be removed */
	self->o.keep_bytes = 4 * 4096;
	reopen(_metadata, self);
	clock_boot += 2 * HOUR;
	ASSERT_ZEROS(put(self, 1), put(self, 1));
	while (each_file(self, remove_one, NULL))
		;
	PUTS(20, 1);
	EXPECT_TRUE(adds_up(self));
	EXPECT_GE(4U, c.files);
	EXPECT_EQ(c.files, (uint64_t)each_file(self, NULL, NULL));
}

TEST_F(store, makes_room_behind_what_is_being_sent)
{
	struct send_result all = { .result = SENT_ALL };

	self->o.keep_bytes = 4 * 4096;
	reopen(_metadata, self);
	ASSERT_EQ(0, put(self, 1));
	clock_boot += 2 * HOUR;
	PUTS(3, 1);
	ASSERT_TRUE(store_next(self->s, ~0U, &next));
	PUTS(5, 1);
	store_answer(self->s, &next, &all);
	COUNTS(1U, c.samples.sent, 0U, c.failures);
}

TEST_F(store, an_hour_that_is_none_is_in_nobodys_way)
{
	char path[128];

	self->o.keep_bytes = 4 * 4096;
	ASSERT_EQ(0, put(self, 1));
	clock_boot += 2 * HOUR;
	hour_path(self, path);
	ASSERT_NE(-1, close(creat(path, 0600)));
	clock_boot += 2 * HOUR;
	lines(self);
	reopen(_metadata, self);
	EXPECT_EQ(1, lines(self));
	PUTS(9, 2);
	SENDS(2U);
	COUNTS(1U, c.failures);
	/* one that turns into that */
	hour_path(self, path);
	clock_boot += 2 * HOUR;
	ASSERT_EQ(0, put(self, 3));
	snprintf(text, sizeof(text), "rm -r %s && touch %s", path, path);
	ASSERT_EQ(0, system(text));
	for (int i = 0; i < 6 && samples != 3; i++)
		answer(self, SENT_ALL, 1, 3, 0);
	EXPECT_EQ(3U, samples);
	for (int i = 0; i < 9; i++)
		put(self, 2);
	EXPECT_EQ(0, put(self, 2));
	EXPECT_TRUE(adds_up(self));
}

static int into_directory(void *ctx, const char *path)
{
	return !unlink(path) && !mkdir(path, 0700);
}

TEST_F(store, a_directory_of_that_name_keeps_no_room_from_being_made)
{
	self->o.keep_bytes = 4 * 4096;
	reopen(_metadata, self);
	ASSERT_EQS(0, put(self, 1), 1, each_file(self, into_directory, NULL));
	PUTS(9, 2);
	COUNTS(0U, c.failures);
	EXPECT_GE(4 * 4096U, c.bytes);
	EXPECT_EQ(0, lines(self));
}

TEST_F(store, no_items_number_is_the_last_one_there_is)
{
	struct item_name n = { .start_ns = BEGIN, .type = "cpu", .host = "h" }, read;
	char name[ITEM_NAME];

	n.id = INT64_MAX;
	item_name_text(&n, name);
	EXPECT_TRUE(item_name_parse(&read, name));
	n.id++;
	item_name_text(&n, name);
	EXPECT_FALSE(item_name_parse(&read, name));
}

/* Those behind it are sent, and it is tried again later on. */
TEST_F(store, what_its_engine_cannot_take_is_let_be_for_a_while)
{
	struct send_result no = { .result = SENT_LATER, .reached = true },
			   all = { .result = SENT_ALL };
	int tries = 0;

	ASSERT_EQ(0, put(self, 5));
	PUTS(3, 7);
	for (int i = 0; i < 100 && store_next(self->s, ~0U, &next); i++) {
		tries += next.name.samples == 5;
		store_answer(self->s, &next, next.name.samples == 5 ? &no : &all);
	}
	/* four times, and four more when it is known that others are taken */
	EXPECT_EQ(8, tries);
	COUNTS(21U, c.samples.sent, 5U, c.samples.waiting);
	clock_boot += 301 * SECOND;
	NEXT(5U);
	store_answer(self->s, &next, &no);
	clock_boot += 301 * SECOND;
	EXPECT_FALSE(store_next(self->s, ~0U, &next));
	/* where the engine is away it is no item's fault */
	no.reached = false;
	ASSERT_EQ(0, put(self, 9));
	for (int i = 0; i < 100; i++) {
		ASSERT_TRUE(store_next(self->s, ~0U, &next));
		ASSERT_EQ(9U, next.name.samples);
		store_answer(self->s, &next, &no);
	}
}

/* Something between that answers for an engine which is away says that it is there. */
TEST_F(store, an_outage_is_no_items_fault)
{
	struct send_result no = { .result = SENT_LATER, .reached = true },
			   all = { .result = SENT_ALL };
	struct item_name trace = {
		.form = ITEM_TRACE, .type = "trace", .host = "box.example",
		.start_ns = BEGIN + SECOND, .duration_ns = SECOND,
	};
	static const uint64_t order[] = { 9, 5, 7, 11 };

	self->o.wait = 1U << ITEM_PROFILE | 1U << ITEM_TRACE;
	reopen(_metadata, self);
	for (uint64_t samples = 5; samples <= 11; samples += 2)
		ASSERT_EQ(0, put(self, samples));
	ASSERT_EQ(0, store_put(self->s, &trace, "data", 4, NULL));
	for (int i = 0; i < 2 * QUARANTINE_TRIES; i++) {
		ASSERT_TRUE(store_next(self->s, 1U << ITEM_PROFILE, &next));
		EXPECT_EQ(i < QUARANTINE_TRIES ? 5U : 7U, next.name.samples);
		store_answer(self->s, &next, &no);
	}
	/* traces are another engine's */
	ASSERT_TRUE(store_next(self->s, 1U << ITEM_TRACE, &next));
	store_answer(self->s, &next, &all);
	/* it is back: the oldest come at once, behind the one that has shown it */
	for (size_t i = 0; i < sizeof(order) / sizeof(*order); i++) {
		ASSERT_TRUE(store_next(self->s, 1U << ITEM_PROFILE, &next));
		EXPECT_EQ(order[i], next.name.samples);
		store_answer(self->s, &next, &all);
	}
	COUNTS(0U, c.items.waiting);
}

static int make_link(void *ctx, const char *path)
{
	(void)ctx;
	return !unlink(path) && !symlink("nowhere", path);
}

TEST_F(store, unreadable_item_holds_up_no_other)
{
	ASSERT_EQ(0, put(self, 5));
	each_file(self, make_link, NULL);
	ASSERT_EQ(0, put(self, 7));
	/* the disk may not be well: again, some time later */
	EXPECT_FALSE(answer(self, SENT_ALL, 1, 7, 0));
	SENDS(7U);
	COUNTS(5U, c.samples.waiting);
}

/* Its requests are others, and so is what was taken of them. */
TEST_F(store, parts_are_those_of_one_engine)
{
	self->o.parts[ITEM_PROFILE] = 0x1234;
	reopen(_metadata, self);
	ASSERT_EQ(0, put(self, 10));
	ASSERT_TRUE(answer(self, SENT_LATER, 2, 3, 1));
	reopen(_metadata, self);
	COUNTS(6U, c.samples.waiting, 0U, c.unsure);
	ASSERT_TRUE(store_next(self->s, ~0U, &next));
	EXPECT_EQ(2U, next.name.parts);
	store_answer(self->s, &next,
		     &(struct send_result){ .result = SENT_LATER, .sent_parts = 2 });
	lines(self);
	self->o.parts[ITEM_PROFILE] = 0x12345678;
	reopen(_metadata, self);
	EXPECT_EQ(1, lines(self));
	COUNTS(10U, c.samples.waiting, 4U, c.unsure);
	ASSERT_TRUE(store_next(self->s, ~0U, &next));
	EXPECT_EQS(0U, next.name.parts, 0U, next.name.taken);
	store_answer(self->s, &next, &(struct send_result){
		.result = SENT_LATER, .sent_parts = 1, .sent_samples = 6,
	});
	reopen(_metadata, self);
	COUNTS(4U, c.samples.waiting, 0U, c.unsure);
	ASSERT_TRUE(answer(self, SENT_ALL, 1, 4, 0));
	COUNTS(0U, c.samples.waiting);
}

static void *put_in_thread(void *arg)
{
	return (void *)(intptr_t)put(arg, 1);
}

TEST_F(store, counts_wait_for_no_disk)
{
	pthread_t thread;
	void *ret;

	ASSERT_EQ(0, put(self, 1));
	atomic_store(&held, true);
	ASSERT_EQ(0, pthread_create(&thread, NULL, put_in_thread, self));
	usleep(100000);
	alarm(5);
	store_counts(self->s, &c);
	alarm(0);
	EXPECT_EQ(1U, c.items.produced);
	atomic_store(&held, false);
	ASSERT_EQ(0, pthread_join(thread, &ret));
	EXPECT_EQ(NULL, ret);
	COUNTS(2U, c.items.produced);
}

/* A bit of a file. */
struct bit {
	size_t at;
	size_t size;
};

static int flip(void *ctx, const char *path)
{
	struct bit *b = ctx;
	int fd = open(path, O_RDWR);
	unsigned char byte;
	struct stat st;

	fstat(fd, &st);
	b->size = (size_t)st.st_size * 8;
	if (pread(fd, &byte, 1, (off_t)(b->at / 8)) == 1) {
		byte ^= (unsigned char)(1 << b->at % 8);
		if (pwrite(fd, &byte, 1, (off_t)(b->at / 8)) != 1)
			perror(path);
	}
	close(fd);
	return 1;
}

TEST_F_TIMEOUT(store, sees_each_bit_that_flips, 300)
{
	struct bit bit = { 0 };

	do {
		remove_all(self);
		shut(self);
		reopen(_metadata, self);
		ASSERT_EQ(0, put_at(self, BEGIN + clock_boot, 7, 32));
		clock_boot += 2 * HOUR;
		/* of the first hour */
		each_file(self, flip, &bit);
		ASSERT_EQ(0, put_at(self, BEGIN + clock_boot, 9, 32));
		ASSERT_TRUE(answer(self, SENT_ALL, 1, 9, 0));
		ASSERT_EQ(9U, samples);
		ASSERT_TRUE(adds_up(self));
		ASSERT_EQS(7U, c.samples.dropped, 1U, c.damaged, 1U, c.files);
	} while (++bit.at < bit.size);
	EXPECT_EQ(32 * 8U, bit.at);
}

/* To the hour before, as its name tells; it stays where it is. */
static int rename_an_hour(void *ctx, const char *path)
{
	char to[512];
	struct item_name n;

	strcpy(to, path);
	if (!item_name_parse(&n, strrchr(to, '/') + 1))
		return -1;
	n.start_ns -= (uint64_t)HOUR;
	item_name_text(&n, strrchr(to, '/') + 1);
	if (rename(path, to))
		perror(to);
	return 1;
}

TEST_F(store, an_item_of_another_hour_is_damaged)
{
	ASSERT_EQS(0, put(self, 7), 1, each_file(self, rename_an_hour, NULL));
	reopen(_metadata, self);
	COUNTS(1U, c.damaged, 0U, c.items.waiting);
	EXPECT_EQ(0, each_file(self, NULL, NULL));
	EXPECT_FALSE(answer(self, SENT_ALL, 1, 7, 0));
}

/* Likewise of a name, up to the state that it ends with. */
static int rename_bit(void *ctx, const char *path)
{
	struct bit *b = ctx;
	char to[512], *name, *end;

	strcpy(to, path);
	name = strrchr(to, '/') + 1;
	end = strstr(to, "_w0.0_");
	b->size = (size_t)(end - name) * 8;
	name[b->at / 8] ^= (char)(1 << b->at % 8);
	if (name[b->at / 8] && name[b->at / 8] != '/' && rename(path, to))
		perror(to);
	return 1;
}

TEST_F_TIMEOUT(store, sees_each_bit_that_flips_in_a_name, 300)
{
	struct bit bit = { 0 };

	self->o.keep_bytes = 4 * 4096;
	do {
		remove_all(self);
		shut(self);
		reopen(_metadata, self);
		ASSERT_EQ(0, put_at(self, BEGIN + clock_boot, 7, 32));
		each_file(self, rename_bit, &bit);
		reopen(_metadata, self);
		/* no item, or not what was written */
		if (answer(self, SENT_ALL, 1, 7, 0))
			ASSERT_EQ(7U, samples);
		ASSERT_TRUES(adds_up(self), c.samples.sent == 0 || c.samples.sent == 7);
		/* and it is in nobody's way, as it is sent or room is made */
		ASSERT_EQ(0, put(self, 9));
		samples = 7;
		for (int i = 0; i < 3 && samples != 9; i++)
			answer(self, SENT_ALL, 1, 9, 0);
		ASSERT_EQ(9U, samples);
		PUTS(8, 1);
		ASSERT_TRUE(adds_up(self));
	} while (++bit.at < bit.size);
}

/* ---- ends at any instant ---- */

struct shared {
	volatile uint64_t put;
	volatile uint64_t sent;
	volatile uint64_t done;
};

/* Puts items in, and sends each other of them, until it is killed. */
static void be_killed(FIXTURE_DATA(store) *self, struct shared *shared, unsigned int seed)
{
	int status;
	struct store *s = store_open(&self->o, &status);

	self->s = s;
	while (s) {
		struct send_result out = { .result = rand_r(&seed) % 2 ? SENT_ALL : SENT_LATER };

		if (!put_at(self, BEGIN + clock_boot, 1, 1000))
			shared->put++;
		clock_boot += SECOND;
		if (store_next(s, ~0U, &next)) {
			store_answer(s, &next, &out);
			if (out.result == SENT_ALL)
				shared->sent++;
		}
	}
	_exit(1);
}

TEST_F_TIMEOUT(store, outlives_a_writer_that_is_killed_at_any_instant, 300)
{
	struct shared *shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE,
				     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	const char *times = getenv("KILLS");
	int kills = times ? atoi(times) : 100;
	struct store_counts all = { 0 };
	unsigned int seed = 1;
	uint64_t put, sent;

	ASSERT_NE(MAP_FAILED, shared);
	shut(self);
	self->o.keep_bytes = MUCH;
	for (int i = 0; i < kills; i++) {
		struct timespec instant = { 0, rand_r(&seed) % 10000000 };
		uint64_t before = shared->put;
		pid_t child;

		clock_boot += 100 * SECOND;
		child = fork();
		if (!child)
			be_killed(self, shared, (unsigned int)i);
		/* each other of them while it begins */
		while (i % 2 && shared->put == before)
			sched_yield();
		nanosleep(&instant, NULL);
		kill(child, SIGKILL);
		waitpid(child, NULL, 0);
		lines(self);
		reopen(_metadata, self);
		ASSERT_TRUE(adds_up(self));
		all.unsure += c.unsure;
		all.damaged += c.damaged;
		/* One that was put, or sent, and not yet told of. */
		put = shared->put;
		sent = shared->sent;
		ASSERT_LE(put, c.files + all.removed);
		ASSERT_GE(put + 1, c.files + all.removed);
		ASSERT_GE(put + 1 - sent, c.samples.waiting);
		ASSERT_LE(put - sent, c.samples.waiting + 1);
		shared->put = c.files;
		shared->sent = c.files - c.samples.waiting;
		shut(self);
	}
	reopen(_metadata, self);
	/* each file is what was written */
	while (answer(self, SENT_ALL, 1, 1, 0))
		;
	ASSERT_TRUE(adds_up(self));
	EXPECT_EQS(0U, c.damaged, 0U, c.samples.waiting);
	dup2(self->err, 2);
	TH_LOG("%d kills, %llu items, %llu of them sent by then, %llu unsure", kills,
	       (unsigned long long)c.files, (unsigned long long)shared->sent,
	       (unsigned long long)all.unsure);
	EXPECT_LE((uint64_t)kills / 2, c.files);
	munmap(shared, sizeof(*shared));
}

TEST_HARNESS_MAIN
