// SPDX-License-Identifier: GPL-2.0-only
/* The names that snapshots get in a directory where others have been before. */
#include "harness.h"
#include <dirent.h>
#include <sys/file.h>

#include "cli/cmd.h"
#include "trace/snapshots.h"
#include "lib_util.h"

#define STAMP	"20261123T170102.123Z-request"

/* A file system where no file has two names: what it says then, or 0. */
static int no_links;

int linkat(int from_dir, const char *from, int to_dir, const char *to, int flags)
{
	if (!no_links)
		return syscall(SYS_linkat, from_dir, from, to_dir, to, flags);
	errno = no_links;
	return -1;
}

FIXTURE(dir) {
	char path[64];
	struct snapshots s;
	char name[SNAPSHOT_NAME];
};

FIXTURE_SETUP(dir)
{
	strcpy(self->path, "/tmp/gprof-snapshots-XXXXXX");
	ASSERT_NE(NULL, mkdtemp(self->path));
	self->s = (struct snapshots){ .dir = self->path, .fd = -1, .at = -1 };
	no_links = 0;
	ASSERT_EQ(STATUS_OK, snapshots_begin(&self->s));
}

FIXTURE_TEARDOWN(dir)
{
	snapshots_end(&self->s);
	lib_sh("rm -rf %s", self->path);
}

static void in(FIXTURE_DATA(dir) *self, char path[256], const char *name)
{
	snprintf(path, 256, "%s/%s", self->path, name);
}

static void plant(struct __test_metadata *_metadata, FIXTURE_DATA(dir) *self, const char *name)
{
	char path[256];
	int fd;

	in(self, path, name);
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL, 0600);
	ASSERT_LE(0, fd);
	ASSERT_EQ(7, write(fd, "planted", 7));
	close(fd);
}

/* What a file has that is called so, and no more than 15 bytes of it. */
static const char *content(FIXTURE_DATA(dir) *self, const char *name)
{
	static char text[16];
	char path[256];
	ssize_t n;
	int fd;

	in(self, path, name);
	fd = open(path, O_RDONLY | O_NOFOLLOW);
	n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
	close(fd);
	text[n < 0 ? 0 : n] = '\0';
	return text;
}

static int files(FIXTURE_DATA(dir) *self)
{
	DIR *dir = opendir(self->path);
	int n = -2;	/* . and .. */

	while (dir && readdir(dir))
		n++;
	closedir(dir);
	return n;
}

static int snapshot(FIXTURE_DATA(dir) *self)
{
	/* 2026-11-23 17:01:02.123 */
	struct timespec when = { 1795453262, 123000000 };
	int status = snapshots_open(&self->s);

	if (status != STATUS_OK)
		return status;
	if (write(self->s.fd, "whole", 5) != 5)
		return STATUS_FAILED;
	return snapshots_commit(&self->s, &when, "request", self->name);
}

static void take_all_names(struct __test_metadata *_metadata, FIXTURE_DATA(dir) *self)
{
	char name[SNAPSHOT_NAME];

	plant(_metadata, self, STAMP ".trace");
	for (int i = 2; i <= 100; i++) {
		snprintf(name, sizeof(name), STAMP "-%d.trace", i);
		plant(_metadata, self, name);
	}
	ASSERT_EQ(STATUS_OK, snapshot(self));
	EXPECT_STREQ("whole", content(self, self->name));
	EXPECT_EQ(101, files(self));
	EXPECT_STREQ("planted", content(self, STAMP ".trace"));
	for (int i = 2; i <= 100; i++) {
		snprintf(name, sizeof(name), STAMP "-%d.trace", i);
		EXPECT_STREQ("planted", content(self, name));
	}
}

static void take_three(struct __test_metadata *_metadata, FIXTURE_DATA(dir) *self)
{
	static const char *const names[] = { STAMP ".trace", STAMP "-2.trace", STAMP "-3.trace" };

	for (int i = 0; i < 3; i++) {
		ASSERT_EQ(STATUS_OK, snapshot(self));
		EXPECT_STREQS(names[i], self->name, "whole", content(self, names[i]));
		EXPECT_EQ(i + 1, files(self));
	}
}

TEST_F(dir, namesakes_are_numbered)
{
	take_three(_metadata, self);
}

TEST_F(dir, namesakes_are_numbered_where_no_file_has_two_names)
{
	no_links = EPERM;
	take_three(_metadata, self);
}

/* As one in user space says that knows nothing of them. */
TEST_F(dir, namesakes_are_numbered_on_file_systems_without_links)
{
	no_links = ENOSYS;
	take_three(_metadata, self);
}

/* By who has another view of the host's processes. */
TEST_F(dir, what_is_still_written_is_not_left_over)
{
	static const char name[] = ".snapshot-99999999-0123abcd.tmp";
	struct snapshots another = { .dir = self->path };
	char path[256];
	int fd;

	plant(_metadata, self, name);
	in(self, path, name);
	fd = open(path, O_RDONLY);
	ASSERT_LE(0, fd);
	ASSERT_EQS(0, flock(fd, LOCK_EX), STATUS_OK, snapshots_begin(&another));
	snapshots_end(&another);
	EXPECT_EQ(1, files(self));
	close(fd);
	ASSERT_EQ(STATUS_OK, snapshots_begin(&another));
	snapshots_end(&another);
	EXPECT_EQ(0, files(self));
	/* Nor is our own, to whoever looks. */
	ASSERT_EQ(STATUS_OK, snapshots_open(&self->s));
	in(self, path, self->s.temp);
	fd = open(path, O_RDONLY);
	ASSERT_LE(0, fd);
	EXPECT_EQS(-1, flock(fd, LOCK_EX | LOCK_NB), EWOULDBLOCK, errno);
	close(fd);
}

TEST_F(dir, files_with_all_earlier_names_are_in_no_way)
{
	take_all_names(_metadata, self);
}

TEST_F(dir, no_file_is_replaced_where_no_file_has_two_names)
{
	no_links = EPERM;
	take_all_names(_metadata, self);
}

/* Another name of a file of ours, which may be anything. */
TEST_F(dir, what_has_another_name_is_not_removed)
{
	char kept[256], there[256];

	plant(_metadata, self, "mine");
	in(self, kept, "mine");
	in(self, there, "20200101T000000.000Z-request.trace");
	ASSERT_EQ(0, link(kept, there));
	self->s.keep = 1;
	ASSERT_EQS(STATUS_OK, snapshot(self), STATUS_OK, snapshot(self));
	EXPECT_EQ(1, self->s.removed);
	EXPECT_STREQ("whole", content(self, self->name));
	EXPECT_EQS(0, access(there, F_OK), 3, files(self));
}

/* As from a clock that has been set back since. */
TEST_F(dir, the_one_just_written_is_not_removed)
{
	plant(_metadata, self, "99991231T235959.999Z-request.trace");
	self->s.bytes = 1;
	ASSERT_EQ(STATUS_OK, snapshot(self));
	EXPECT_STREQ("whole", content(self, self->name));
	EXPECT_EQS(1, self->s.removed, 1, files(self));
}

/* Each planted one has 7 bytes, what is written 5. */
TEST_F(dir, no_more_is_removed_than_has_to_be)
{
	static const struct {
		unsigned long long bytes;
		unsigned long keep;
		int removed;
	} rows[] = {
		{ 26, 0, 0 }, { 25, 0, 1 }, { 19, 0, 1 }, { 18, 0, 2 }, { 5, 0, 3 }, { 4, 0, 3 },
		{ 0, 4, 0 }, { 0, 3, 1 }, { 0, 1, 3 }, { 19, 2, 2 }, { 12, 3, 2 },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		char name[64], path[256];

		for (int k = 1; k <= 3; k++) {
			snprintf(name, sizeof(name), "2020010%dT000000.000Z-request.trace", k);
			plant(_metadata, self, name);
		}
		self->s.bytes = rows[i].bytes;
		self->s.keep = rows[i].keep;
		self->s.removed = 0;
		ASSERT_EQ(STATUS_OK, snapshot(self));
		EXPECT_EQ(rows[i].removed, self->s.removed)
			TH_LOG("%llu bytes, %lu", rows[i].bytes, rows[i].keep);
		for (int k = 1; k <= 4; k++) {
			snprintf(name, sizeof(name), "2020010%dT000000.000Z-request.trace", k);
			in(self, path, k == 4 ? self->name : name);
			/* The oldest are gone, and only they. */
			EXPECT_EQ(k <= rows[i].removed, !!unlink(path))
				TH_LOG("%llu bytes, %lu: %s", rows[i].bytes, rows[i].keep, path);
		}
	}
}

/* Nothing is left of what was given up. */
TEST_F(dir, a_name_in_the_way_of_a_part_is_stepped_aside)
{
	const char *path = lib_text("%s/.snapshot-%d.tmp", self->path, (int)getpid());

	ASSERT_EQS(0, mkdir(path, 0700), STATUS_OK, snapshots_open(&self->s));
	EXPECT_EQ(2, files(self));
	snapshots_discard(&self->s);
	EXPECT_EQ(1, files(self));
}

/* What a part is called is another's guess. */
TEST_F(dir, no_two_parts_are_called_alike)
{
	char first[SNAPSHOT_NAME];

	ASSERT_EQ(STATUS_OK, snapshots_open(&self->s));
	strcpy(first, self->s.temp);
	snapshots_discard(&self->s);
	ASSERT_EQ(STATUS_OK, snapshots_open(&self->s));
	EXPECT_STRNE(first, self->s.temp);
}

/* It would not be where it is told to be; nor is a part of it left. */
TEST_F(dir, a_directory_that_goes_takes_nothing_with_it)
{
	struct timespec when = { 0 };
	const char *moved = lib_text("%s-moved", self->path);

	ASSERT_EQ(STATUS_OK, snapshots_open(&self->s));
	ASSERT_ZEROS(rename(self->path, moved), mkdir(self->path, 0700));
	EXPECT_EQ(STATUS_FAILED, snapshots_commit(&self->s, &when, "request", self->name));
	EXPECT_EQ(0, files(self));
	ASSERT_ZEROS(rmdir(self->path), rename(moved, self->path));
	EXPECT_EQ(0, files(self));
}

/* From here on whoever writes to the path is led to @to. */
static void lead(struct __test_metadata *_metadata, const char *path, const char *to)
{
	const char *moved = lib_text("%s-moved", path);

	ASSERT_ZEROS(rename(path, moved), symlink(to, path));
}

static void lead_back(struct __test_metadata *_metadata, const char *path)
{
	const char *moved = lib_text("%s-moved", path);

	ASSERT_ZEROS(unlink(path), rename(moved, path));
}

/* "D" in the directory, and "V/D" there too, where it is not to go. */
FIXTURE(nested) {
	char top[64];
	char path[96];
	char other[96];
	char other_top[80];
	struct snapshots s;
	char name[SNAPSHOT_NAME];
};

FIXTURE_SETUP(nested)
{
	strcpy(self->top, "/tmp/gprof-snapshots-XXXXXX");
	ASSERT_NE(NULL, mkdtemp(self->top));
	snprintf(self->path, sizeof(self->path), "%s/P", self->top);
	ASSERT_EQ(0, mkdir(self->path, 0700));
	strcat(self->path, "/D");
	snprintf(self->other_top, sizeof(self->other_top), "%s/V", self->top);
	ASSERT_EQ(0, mkdir(self->other_top, 0700));
	snprintf(self->other, sizeof(self->other), "%s/D", self->other_top);
	no_links = 0;
	self->s = (struct snapshots){ .dir = self->path, .fd = -1, .at = -1 };
}

FIXTURE_TEARDOWN(nested)
{
	snapshots_end(&self->s);
	lib_sh("rm -rf %s", self->top);
}

static int take(struct snapshots *s, char name[SNAPSHOT_NAME])
{
	struct timespec when = { 0 };
	int status = snapshots_open(s);

	return status == STATUS_OK ? snapshots_commit(s, &when, "request", name) : status;
}

static bool is_in(const char *dir, const char *name)
{
	const char *path = lib_text("%s/%s", dir, name);

	return !access(path, F_OK);
}

TEST_F(nested, what_is_removed_is_made_again)
{
	ASSERT_EQS(STATUS_OK, snapshots_begin(&self->s), 0, rmdir(self->path),
		   STATUS_OK, take(&self->s, self->name));
	EXPECT_TRUE(is_in(self->path, self->name));
}

TEST_F(nested, no_link_that_comes_later_is_followed)
{
	ASSERT_EQS(STATUS_OK, snapshots_begin(&self->s), 0, mkdir(self->other, 0700));
	lead(_metadata, self->path, self->other);
	EXPECT_EQS(STATUS_FAILED, take(&self->s, self->name), 0, rmdir(self->other));
	/* nor is one that leads to nothing */
	EXPECT_EQ(STATUS_FAILED, take(&self->s, self->name));
	EXPECT_NE(0, access(self->other, F_OK));
	/* and for what is no directory it does not wait */
	ASSERT_ZEROS(unlink(self->path), mkfifo(self->path, 0700));
	EXPECT_EQ(STATUS_FAILED, take(&self->s, self->name));
	lead_back(_metadata, self->path);
	EXPECT_EQ(STATUS_OK, take(&self->s, self->name));
	EXPECT_TRUE(is_in(self->path, self->name));
}

TEST_F(nested, no_link_above_it_is_followed_either)
{
	const char *above = lib_text("%s/P", self->top);

	ASSERT_EQ(STATUS_OK, snapshots_begin(&self->s));
	lead(_metadata, above, "V");
	EXPECT_EQ(STATUS_FAILED, take(&self->s, self->name));
	EXPECT_NE(0, access(self->other, F_OK));
	ASSERT_EQ(0, mkdir(self->other, 0700));
	EXPECT_EQS(STATUS_FAILED, take(&self->s, self->name), 0, rmdir(self->other));
	lead_back(_metadata, above);
	EXPECT_EQ(STATUS_OK, take(&self->s, self->name));
}

TEST_F(nested, a_link_that_was_there_is_told_by_where_it_led)
{
	const char *link = lib_text("%s/L", self->top);

	ASSERT_ZEROS(mkdir(self->other, 0700), symlink("V/D", link));
	self->s.dir = link;
	ASSERT_EQ(STATUS_OK, snapshots_begin(&self->s));
	EXPECT_STREQ(self->other, self->s.path);
	/* where it leads later does not matter */
	ASSERT_EQS(0, unlink(link), 0, symlink("P", link), STATUS_OK, take(&self->s, self->name));
	EXPECT_TRUE(is_in(self->other, self->name));
}

TEST_F(nested, another_users_directory_is_not_taken_for_ours)
{
	if (geteuid())
		SKIP(return, "must be root to give a directory away");
	ASSERT_EQ(STATUS_OK, snapshots_begin(&self->s));
	ASSERT_ZEROS(mkdir(self->other, 0777), chown(self->other, 1000, 1000), rmdir(self->path),
		     rename(self->other, self->path));
	EXPECT_EQS(STATUS_FAILED, take(&self->s, self->name), 0, rmdir(self->path));
	/* what was another's from the beginning is what is meant */
	snapshots_end(&self->s);
	ASSERT_ZEROS(mkdir(self->path, 0777), chown(self->path, 1000, 1000));
	ASSERT_EQ(STATUS_OK, snapshots_begin(&self->s));
	EXPECT_EQ(STATUS_OK, take(&self->s, self->name));
	EXPECT_TRUE(is_in(self->path, self->name));
}

TEST_F(nested, another_users_link_is_not_followed)
{
	char link[128];

	if (geteuid())
		SKIP(return, "must be root to give a link away");
	ASSERT_EQ(0, mkdir(self->other, 0700));
	snprintf(link, sizeof(link), "%s/L", self->top);
	ASSERT_ZEROS(symlink("V/D", link), lchown(link, 1000, 1000));
	self->s.dir = link;
	EXPECT_EQ(STATUS_FAILED, snapshots_begin(&self->s));
	strcat(link, "/");
	snapshots_end(&self->s);
	EXPECT_EQ(STATUS_FAILED, snapshots_begin(&self->s));
}

TEST_F(nested, another_users_snapshots_do_not_count)
{
	const char *theirs = lib_text("%s/99991231T235959.999Z-request.trace", self->path);
	int fd;

	if (geteuid())
		SKIP(return, "must be root to give a file away");
	ASSERT_EQ(STATUS_OK, snapshots_begin(&self->s));
	fd = open(theirs, O_WRONLY | O_CREAT | O_EXCL, 0600);
	ASSERT_LE(0, fd);
	ASSERT_EQ(0, fchown(fd, 1000, 1000));
	close(fd);
	self->s.keep = 2;
	ASSERT_EQS(STATUS_OK, take(&self->s, self->name), STATUS_OK, take(&self->s, self->name));
	EXPECT_ZEROS(self->s.removed, access(theirs, F_OK));
}

TEST_HARNESS_MAIN
