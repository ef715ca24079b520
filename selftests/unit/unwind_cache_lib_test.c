// SPDX-License-Identifier: GPL-2.0-only
/*
 * Unwind tables on disk: kept once, bounded, and of no use to whoever changes them.
 */
#include "harness.h"

#include <dirent.h>
#include <glob.h>
#include <linux/gprof.h>
#include <stdatomic.h>

#include "lib_util.h"
#include "record/table_loader.h"
#include "unwind/unwind_cache.h"

#define SMALL	16384	/* bytes of a table */

FIXTURE(cache) {
	char dir[64];		/* of the cache; what is to be read lies beside it */
	char base[64];
	struct gprof_unwind_cache *c;
	glob_t libraries;
	struct gprof_unwind_blob blob, want;
	int from;		/* where @blob came from */
};

FIXTURE_SETUP(cache)
{
	strcpy(self->base, lib_tmpdir());
	snprintf(self->dir, sizeof(self->dir), "%.50s/unwind", self->base);
	ASSERT_EQ(0, gprof_unwind_cache_open(&self->c, self->dir, NULL, 0));
	glob("/usr/lib/*-linux-gnu/lib[a-z]*.so.[0-9]", 0, NULL, &self->libraries);
}

FIXTURE_TEARDOWN(cache)
{
	gprof_unwind_blob_free(&self->blob);
	gprof_unwind_blob_free(&self->want);
	gprof_unwind_cache_close(self->c);
	globfree(&self->libraries);
	lib_sh("rm -rf %s", self->base);
}

static const unsigned char build_id[20] = { 1, 2, 3 };

/* The table by the cache, beside the one that is right. */
static bool get(FIXTURE_DATA(cache) *self, struct gprof_unwind_cache *c, const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC), err, again;

	gprof_unwind_blob_free(&self->blob);
	gprof_unwind_blob_free(&self->want);
	if (fd < 0)
		return false;
	err = gprof_unwind_cache_get(c, fd, build_id, sizeof(build_id), &self->blob,
				     &self->from);
	again = gprof_unwind_compile(fd, 0, &self->want);
	close(fd);
	return err == again && self->blob.size == self->want.size &&
	       (err || !memcmp(self->blob.data, self->want.data, self->want.size));
}

/* The kept files: how many, the bytes of all, and the name of one. */
static size_t kept(const char *dir, uint64_t *bytes, char *one)
{
	DIR *d = opendir(dir);
	struct dirent *e;
	struct stat st;
	size_t nr = 0;

	*bytes = 0;
	while (d && (e = readdir(d))) {
		if (!strcmp(e->d_name, ".") || !strcmp(e->d_name, "..") ||
		    fstatat(dirfd(d), e->d_name, &st, AT_SYMLINK_NOFOLLOW))
			continue;
		*bytes += ((uint64_t)st.st_size + 4095) & ~4095ULL;
		snprintf(one, 512, "%s/%s", dir, e->d_name);
		nr++;
	}
	if (d)
		closedir(d);
	return nr;
}

/* Was it found good? Then it is the same file, used just now. */
static bool was_used(const char *path, const struct stat *before)
{
	struct stat st;

	return !lstat(path, &st) && st.st_ino == before->st_ino && st.st_mtime > 1000000;
}

static void make_old(const char *path, struct stat *st)
{
	const struct timespec old[2] = { { .tv_sec = 1000 }, { .tv_sec = 1000 } };

	utimensat(AT_FDCWD, path, old, AT_SYMLINK_NOFOLLOW);
	lstat(path, st);
}

static const char *library(FIXTURE_DATA(cache) *self, size_t i)
{
	return i < self->libraries.gl_pathc ? self->libraries.gl_pathv[i] : NULL;
}

/* Of one case, which is a process of its own: one kept file, the bytes of all, and what it was. */
static char path[512];
static uint64_t bytes;
static struct stat st;

TEST_F(cache, a_table_is_compiled_once)
{
	ASSERT_NE(NULL, library(self, 0));
	ASSERT_TRUE(get(self, self->c, library(self, 0)));
	ASSERT_EQS(1, kept(self->dir, &bytes, path), 0, stat(path, &st));
	EXPECT_EQ(0100600, st.st_mode);
	make_old(path, &st);
	ASSERT_TRUE(get(self, self->c, library(self, 0)));
	EXPECT_TRUE(was_used(path, &st));
	EXPECT_EQ(1, kept(self->dir, &bytes, path));
	/* and not at all without a cache */
	EXPECT_TRUE(get(self, NULL, library(self, 1)));
	EXPECT_EQ(1, kept(self->dir, &bytes, path));
}

TEST_F(cache, that_a_file_has_no_table_is_kept)
{
	char file[128];

	if (!lib_have("gcc"))
		SKIP(return, "no compiler");
	ASSERT_EQ(0, lib_sh("cd %s && echo 'int v;' >v.c && gcc -shared -nostdlib -o v.so v.c && "
			    "objcopy -R .eh_frame -R .eh_frame_hdr v.so && sleep 1.1", self->base));
	snprintf(file, sizeof(file), "%.64s/v.so", self->base);
	ASSERT_TRUE(get(self, self->c, file));
	EXPECT_EQ(0, self->blob.size);
	ASSERT_EQ(1, kept(self->dir, &bytes, path));
	make_old(path, &st);
	ASSERT_TRUE(get(self, self->c, file));
	EXPECT_TRUE(was_used(path, &st));
}

TEST_F(cache, a_table_that_was_changed_is_made_anew)
{
	static unsigned char good[SMALL + 4096], bad[SMALL + 4096];
	uint64_t random = 1;
	const char *lib;
	size_t small = 0;
	ssize_t len, n;
	int fd, i;

	/* one that is soon compiled: that is done for each change */
	while ((lib = library(self, small++)) &&
	       (!get(self, NULL, lib) || self->blob.size < 1000 || self->blob.size > SMALL))
		;
	ASSERT_NE(NULL, lib);
	ASSERT_TRUE(get(self, self->c, lib));
	ASSERT_EQ(1, kept(self->dir, &bytes, path));
	fd = open(path, O_RDONLY | O_CLOEXEC);
	len = read(fd, good, sizeof(good));
	close(fd);
	ASSERT_LT(1000, len);
	for (i = 0; i < 400; i++) {
		uint64_t bit = i < 200 ? (uint64_t)i * 8 / 2 + lib_random(&random) % 8
				       : lib_random(&random) % ((uint64_t)len * 8);
		bool cut = i % 10 == 9;

		memcpy(bad, good, (size_t)len);
		bad[bit / 8] ^= (unsigned char)(1 << bit % 8);
		fd = open(path, O_WRONLY | O_TRUNC | O_CLOEXEC);
		ASSERT_LE(0, fd);
		n = cut ? (ssize_t)(bit / 8) : len;
		ASSERT_EQ(n, write(fd, bad, (size_t)n));
		close(fd);
		make_old(path, &st);
		ASSERT_TRUE(get(self, self->c, lib)) {
			TH_LOG("bit %llu", (unsigned long long)bit);
		}
		ASSERT_FALSE(was_used(path, &st)) {
			TH_LOG("bit %llu", (unsigned long long)bit);
		}
	}
	/* one byte more */
	fd = open(path, O_WRONLY | O_APPEND | O_CLOEXEC);
	EXPECT_EQ(1, write(fd, "", 1));
	close(fd);
	make_old(path, &st);
	EXPECT_TRUE(get(self, self->c, lib));
	EXPECT_FALSE(was_used(path, &st));
}

TEST_F(cache, what_others_could_have_put_there_is_not_read)
{
	static const char *const ways[] = {
		"chmod 644 $f", "chmod 660 $f", "mv $f x; ln -s x $f", "ln $f x", "rm $f; mkfifo $f",
		"rm $f; ln -s /dev/zero $f", "rm $f; mkdir $f", "rm $f; ln -s nowhere $f",
		"chown 12345 $f",
	};
	char name[512];

	ASSERT_NE(NULL, library(self, 0));
	for (size_t i = 0; i < sizeof(ways) / sizeof(*ways); i++) {
		if (strstr(ways[i], "chown") && geteuid())
			continue;
		lib_sh("rm -rf %s/*", self->dir);
		ASSERT_TRUE(get(self, self->c, library(self, 0)));
		ASSERT_EQ(1, kept(self->dir, &bytes, path));
		strcpy(name, strrchr(path, '/') + 1);
		ASSERT_EQ(0, lib_sh("cd %s && f=%s && %s", self->dir, name, ways[i]));
		make_old(path, &st);
		ASSERT_TRUE(get(self, self->c, library(self, 0)));
		EXPECT_FALSE(was_used(path, &st)) {
			TH_LOG("%s", ways[i]);
		}
	}
}

TEST_F(cache, a_directory_that_is_not_ours_alone_is_none)
{
	struct gprof_unwind_cache *c = NULL;
	char path[128];

	snprintf(path, sizeof(path), "%.64s/other", self->base);
	ASSERT_ZEROS(mkdir(path, 0700), chmod(path, 0755));
	EXPECT_EQS(-EPERM, gprof_unwind_cache_open(&c, path, self->base, 0), NULL, c);
	snprintf(path, sizeof(path), "%.64s/link", self->base);
	ASSERT_EQ(0, symlink(self->dir, path));
	EXPECT_EQ(-EPERM, gprof_unwind_cache_open(&c, path, self->base, 0));
	snprintf(path, sizeof(path), "%.64s/none/such", self->base);
	EXPECT_EQ(-ENOENT, gprof_unwind_cache_open(&c, path, self->base, 0));
	if (!geteuid()) {
		snprintf(path, sizeof(path), "%.64s/theirs", self->base);
		ASSERT_ZEROS(mkdir(path, 0700), chown(path, 12345, 12345));
		EXPECT_EQ(-EPERM, gprof_unwind_cache_open(&c, path, self->base, 0));
	}
}

/* All files here say that they have one build-id. */
TEST_F(cache, a_build_id_is_no_proof)
{
	char file[128];
	size_t small, size;

	ASSERT_NE(NULL, library(self, 1));
	ASSERT_TRUE(get(self, self->c, library(self, 0)));
	size = self->blob.size;
	ASSERT_TRUE(get(self, self->c, library(self, 1)));
	ASSERT_NE(size, self->blob.size);
	/* a table of more text than there is would be seen to be wrong */
	small = self->blob.size < size;
	EXPECT_EQ(2, kept(self->dir, &bytes, path));
	/* a file that is changed in its place: no sooner than its times can tell */
	snprintf(file, sizeof(file), "%.64s/lib.so", self->base);
	ASSERT_EQ(0, lib_sh("cat %s >%s", library(self, small), file));
	ASSERT_TRUE(get(self, self->c, file));
	EXPECT_EQ(2, kept(self->dir, &bytes, path));
	usleep(1100000);
	ASSERT_TRUE(get(self, self->c, file));
	EXPECT_EQ(3, kept(self->dir, &bytes, path));
	ASSERT_EQ(0, lib_sh("cat %s >%s", library(self, !small), file));
	ASSERT_TRUE(get(self, self->c, file));
	usleep(1100000);
	ASSERT_TRUE(get(self, self->c, file));
}

TEST_F(cache, it_takes_no_more_room_than_it_may)
{
	const uint64_t max = 150 << 10;
	struct gprof_unwind_cache *c;
	char first[512] = "";
	uint64_t most = 0;
	const char *used = NULL;
	size_t i, nr = 0;

	ASSERT_EQ(0, gprof_unwind_cache_open(&c, self->dir, NULL, max));
	for (i = 0; i < self->libraries.gl_pathc && nr < 40; i++) {
		if (stat(library(self, i), &st) || st.st_size > 512 << 10 ||
		    !get(self, c, library(self, i)))
			continue;
		nr++;
		if (!used) {
			used = library(self, i);
			ASSERT_EQ(1, kept(self->dir, &bytes, first));
		}
		/* what is used stays, whatever comes */
		ASSERT_TRUE(get(self, c, used));
		kept(self->dir, &bytes, path);
		ASSERT_LE(bytes, max);
		most = bytes > most ? bytes : most;
	}
	gprof_unwind_cache_close(c);
	ASSERT_LT(10, nr);
	EXPECT_LT(max / 2, most);
	EXPECT_EQ(0, stat(first, &st));
	/* and something had to go */
	EXPECT_GT(nr, kept(self->dir, &bytes, path));
}

TEST_F(cache, files_of_others_are_left_alone)
{
	static const char * const names[] = { "notes.txt", ".profile", "unwind", ".unwind" };

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		ASSERT_EQ(0, lib_sh("head -c %d /dev/zero >%s/%s", 2 * SMALL, self->dir, names[i]));
		snprintf(path, sizeof(path), "%s/%s", self->dir, names[i]);
		make_old(path, &st);
	}
	gprof_unwind_cache_close(self->c);
	ASSERT_EQ(0, gprof_unwind_cache_open(&self->c, self->dir, NULL, 1));
	for (size_t i = 0; i < 4 && library(self, i); i++)
		ASSERT_TRUE(get(self, self->c, library(self, i)));
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		snprintf(path, sizeof(path), "%s/%s", self->dir, names[i]);
		EXPECT_EQ(0, stat(path, &st)) TH_LOG("%s has gone", names[i]);
	}
}

TEST_F(cache, processes_share_it)
{
	int status, i, j;

	ASSERT_LT(4, self->libraries.gl_pathc);
	for (i = 0; i < 4; i++) {
		if (fork())
			continue;
		gprof_unwind_cache_close(self->c);
		if (gprof_unwind_cache_open(&self->c, self->dir, NULL, 64 << 10))
			_exit(1);
		for (j = 0; j < 15; j++)
			if (!get(self, self->c, library(self, (size_t)(i + j) % 5)))
				_exit(2);
		_exit(0);
	}
	for (i = 0; i < 4; i++) {
		ASSERT_LT(0, wait(&status));
		EXPECT_EQ(0, status);
	}
}

/* ---- root's tables, and users ---- */

#define USER	12345

/* Root's directory of caches, and a user's: all that others need to get there. */
static bool make_caches(FIXTURE_DATA(cache) *self)
{
	return !lib_sh("cd %s && chmod 755 . && rm -rf roots users && mkdir roots users && "
		       "chmod 755 roots && chown %d users", self->base, USER);
}

static struct gprof_unwind_cache *default_cache(FIXTURE_DATA(cache) *self)
{
	struct gprof_unwind_cache *c = NULL;
	char path[128];

	snprintf(path, sizeof(path), "%.64s/users", self->base);
	setenv("XDG_CACHE_HOME", path, 1);
	snprintf(path, sizeof(path), "%.64s/roots", self->base);
	gprof_unwind_cache_open(&c, NULL, path, 0);
	return c;
}

/* Where a user (0: root) gets the table of a file from; -1: it is not the right one. */
static int from_where(FIXTURE_DATA(cache) *self, uid_t user, const char *file)
{
	struct gprof_unwind_cache *c;
	int status;
	pid_t pid = fork();

	if (!pid) {
		if (user && setresuid(user, user, user))
			_exit(100);
		umask(077);
		c = default_cache(self);
		if (!c || !get(self, c, file))
			_exit(101);
		gprof_unwind_cache_close(c);
		_exit(self->from < 0 ? 102 : self->from);
	}
	return waitpid(pid, &status, 0) == pid && WIFEXITED(status) && WEXITSTATUS(status) < 100 ?
	       WEXITSTATUS(status) : -1;
}

static size_t kept_by(FIXTURE_DATA(cache) *self, const char *whose, char *one)
{
	const char *dir = lib_text("%.64s/%s/gprof/unwind", self->base, whose);

	return kept(dir, &bytes, one);
}

TEST_F(cache, roots_tables_serve_all_users)
{
	char path[512], secret[128];

	if (geteuid())
		SKIP(return, "needs root");
	ASSERT_TRUE(make_caches(self));
	ASSERT_EQ(GPROF_UNWIND_MADE, from_where(self, 0, library(self, 0)));
	ASSERT_EQ(1, kept_by(self, "roots", path));
	make_old(path, &st);
	EXPECT_EQ(0100644, st.st_mode);
	EXPECT_EQ(GPROF_UNWIND_ROOTS, from_where(self, USER, library(self, 0)));
	EXPECT_FALSE(was_used(path, &st));
	EXPECT_EQ(0, kept_by(self, "users", path));
	EXPECT_EQ(GPROF_UNWIND_OWN, from_where(self, 0, library(self, 0)));
	EXPECT_TRUE(was_used(path, &st));
	/* a table of the user's own comes first, and is not for root, nor for another user */
	EXPECT_EQ(GPROF_UNWIND_MADE, from_where(self, USER, library(self, 1)));
	EXPECT_EQ(1, kept_by(self, "users", path));
	EXPECT_EQ(GPROF_UNWIND_MADE, from_where(self, 0, library(self, 1)));
	EXPECT_EQ(GPROF_UNWIND_OWN, from_where(self, USER, library(self, 1)));
	/* what others may not read is for root alone */
	snprintf(secret, sizeof(secret), "%.64s/secret.so", self->base);
	ASSERT_EQ(0, lib_sh("cd %s && rm -rf roots/gprof && cp %s secret.so && chmod 600 secret.so && "
			    "sleep 1.1", self->base, library(self, 0)));
	ASSERT_EQS(GPROF_UNWIND_MADE, from_where(self, 0, secret), 1, kept_by(self, "roots", path),
		   0, stat(path, &st));
	EXPECT_EQ(0100600, st.st_mode);
}

/* A user believes root's directory where root alone could have written to it. */
TEST_F(cache, what_others_could_have_put_among_roots_is_not_read)
{
	static const char *const ways[] = {
		"chmod 664 $f", "chmod 646 $f", "chown 12345 $f", "ln $f x", "mv $f x; ln -s x $f",
		"rm $f; mkfifo $f", "chmod 775 .", "chmod 757 .", "chown 12345 .", "chmod 775 ..",
		"chmod 757 ..", "chown 12345 ..", "mv ../../gprof ../../g; ln -s g ../../gprof",
		"chmod 600 $f", "chmod 700 .",
	};

	if (geteuid())
		SKIP(return, "needs root");
	for (size_t i = 0; i < ARRAY_SIZE(ways); i++) {
		ASSERT_TRUE(make_caches(self));
		ASSERT_EQ(GPROF_UNWIND_MADE, from_where(self, 0, library(self, 0)));
		ASSERT_EQ(1, kept_by(self, "roots", path));
		ASSERT_EQ(GPROF_UNWIND_ROOTS, from_where(self, USER, library(self, 0)));
		ASSERT_EQ(0, lib_sh("cd %s/roots/gprof/unwind && f=%s && %s", self->base,
				    strrchr(path, '/') + 1, ways[i]));
		EXPECT_EQ(GPROF_UNWIND_MADE, from_where(self, USER, library(self, 0))) {
			TH_LOG("%s", ways[i]);
		}
		EXPECT_EQ(1, kept_by(self, "users", path));
	}
}

/* Of a build-id and a size that are those of another file, or were: root's tables too. */
TEST_F(cache, roots_table_is_of_one_file_in_one_state)
{
	char file[2][128];

	if (geteuid())
		SKIP(return, "needs root");
	ASSERT_TRUE(make_caches(self));
	for (size_t i = 0; i < 2; i++)
		snprintf(file[i], sizeof(file[i]), "%.64s/lib%zu.so", self->base, i);
	ASSERT_EQ(0, lib_sh("cd %s && cp %s lib0.so && cp lib0.so lib1.so && sleep 1.1", self->base,
			    library(self, 0)));
	ASSERT_EQ(GPROF_UNWIND_MADE, from_where(self, 0, file[0]));
	EXPECT_EQ(GPROF_UNWIND_ROOTS, from_where(self, USER, file[0]));
	EXPECT_EQ(GPROF_UNWIND_MADE, from_where(self, USER, file[1]));
	/* its size and its time stay */
	ASSERT_EQ(0, lib_sh("cd %s && touch -r lib0.so t && printf x | dd of=lib0.so bs=1 conv=notrunc "
			    "seek=$(($(stat -c %%s lib0.so) - 1)) 2>/dev/null && touch -r t lib0.so && "
			    "sleep 1.1", self->base));
	EXPECT_EQ(GPROF_UNWIND_MADE, from_where(self, USER, file[0]));
}

/* Root's directory was root's alone, and its tables. */
TEST_F(cache, an_earlier_directory_of_root_is_opened_to_others)
{
	if (geteuid())
		SKIP(return, "needs root");
	ASSERT_TRUE(make_caches(self));
	ASSERT_EQ(GPROF_UNWIND_MADE, from_where(self, 0, library(self, 0)));
	ASSERT_EQ(1, kept_by(self, "roots", path));
	ASSERT_EQ(0, lib_sh("chmod 600 %s && cd %s/roots && chmod 700 gprof gprof/unwind", path, self->base));
	ASSERT_EQ(GPROF_UNWIND_MADE, from_where(self, USER, library(self, 0)));
	ASSERT_EQ(0, lib_sh("rm -rf %s/users/gprof", self->base));
	ASSERT_EQ(GPROF_UNWIND_OWN, from_where(self, 0, library(self, 0)));
	EXPECT_EQ(GPROF_UNWIND_ROOTS, from_where(self, USER, library(self, 0)));
}

/* A user without a directory has that of root, and keeps nothing. */
TEST_F(cache, a_user_without_a_home_has_roots_tables)
{
	struct gprof_unwind_cache *c;
	const char *path = lib_text("%.64s/roots", self->base);

	if (geteuid())
		SKIP(return, "needs root");
	ASSERT_TRUE(make_caches(self));
	ASSERT_EQ(GPROF_UNWIND_MADE, from_where(self, 0, library(self, 0)));
	ASSERT_EQ(0, setresuid(-1, USER, -1));
	unsetenv("XDG_CACHE_HOME");
	unsetenv("HOME");
	EXPECT_EQ(0, gprof_unwind_cache_open(&c, NULL, path, 0));
	EXPECT_EQ(-ENOENT, gprof_unwind_cache_why(c));
	EXPECT_TRUE(get(self, c, library(self, 0)));
	EXPECT_EQ(GPROF_UNWIND_ROOTS, self->from);
	EXPECT_TRUE(get(self, c, library(self, 1)));
	EXPECT_EQ(-ENOENT, self->from);
	gprof_unwind_cache_close(c);
	EXPECT_EQ(-ENOENT, gprof_unwind_cache_open(&c, NULL, "/proc/self/fdinfo", 0));
	ASSERT_EQ(0, setresuid(-1, 0, -1));
}

/* What was used since does not go, whatever comes. */
TEST_F(cache, what_is_spared_stays)
{
	struct gprof_unwind_cache *c;
	size_t i, before, nr = 0;

	for (i = 0; i < 20 && library(self, i); i++)
		ASSERT_TRUE(get(self, self->c, library(self, i)));
	before = kept(self->dir, &bytes, path);
	ASSERT_EQ(20, before);
	usleep(20000);
	ASSERT_EQ(0, gprof_unwind_cache_open(&c, self->dir, NULL, bytes));
	gprof_unwind_cache_spare(c);
	/* half are used, the others make room */
	for (i = 0; i < 10; i++) {
		ASSERT_TRUE(get(self, c, library(self, i)));
		EXPECT_EQ(GPROF_UNWIND_OWN, self->from);
	}
	for (i = 20; library(self, i); i++) {
		ASSERT_TRUE(get(self, c, library(self, i)));
		if (self->from == GPROF_UNWIND_FULL)
			break;
		EXPECT_EQ(GPROF_UNWIND_MADE, self->from);
		nr++;
	}
	EXPECT_EQ(GPROF_UNWIND_FULL, self->from);
	EXPECT_LT(0, nr);
	EXPECT_EQ(10 + nr, kept(self->dir, &bytes, path));
	for (i = 0; i < 10; i++) {
		ASSERT_TRUE(get(self, c, library(self, i)));
		EXPECT_EQ(GPROF_UNWIND_OWN, self->from);
	}
	gprof_unwind_cache_close(c);
}

/* ---- who records ---- */

static struct gprof_unwind_blob given;
static atomic_uint times_given;

/* A module that has no tables, and of those that it gets keeps the last of a file. */
int ioctl(int fd, unsigned long request, ...)
{
	struct gprof_unwind_table_add *arg;
	va_list ap;

	va_start(ap, request);
	arg = va_arg(ap, struct gprof_unwind_table_add *);
	va_end(ap);
	if (request != GPROF_IOC_UNWIND_TABLE_ADD || !arg->table_size) {
		errno = request == GPROF_IOC_UNWIND_TABLE_ADD ? ENOENT : ENOTTY;
		return -1;
	}
	if (arg->flags & GPROF_UNWIND_TABLE_ADD_F_VDSO)
		return 0;
	gprof_unwind_blob_free(&given);
	given.data = malloc(arg->table_size);
	given.size = arg->table_size;
	memcpy(given.data, (const void *)(uintptr_t)arg->table, given.size);
	atomic_fetch_add(&times_given, 1);
	return 0;
}

/* Records a file as a user would whose caches are in @base; whether the module got its table. */
static bool record(const char *base, const char *path)
{
	struct gprof_unwind_blob want = { 0 };
	int fd = open(path, O_RDONLY | O_CLOEXEC), i;
	struct gprof_object obj = { .file = gprof_pool_add(dup(fd), false), .build_id_len = 3 };
	struct gprof_object *objs[] = { &obj };
	struct gprof_objects objects = { .v = objs, .nr = 1 };
	unsigned int before = atomic_load(&times_given);
	struct gprof_own_fd device;
	struct gprof_table_loader t;
	struct stat now;
	bool right;

	if (fstat(fd, &now))
		return false;
	obj.size = (uint64_t)now.st_size;
	obj.mtime = now.st_mtim;
	setenv("XDG_CACHE_HOME", base, 1);
	gprof_own_fd_borrow(&device, fd);
	gprof_table_loader_begin(&t, &device);
	gprof_table_loader_scan(&t, &objects);
	for (i = 0; i < 10000 && atomic_load(&times_given) == before; i++)
		usleep(1000);
	gprof_table_loader_end(&t);
	right = !gprof_unwind_compile(fd, 0, &want) && given.size == want.size &&
		!memcmp(given.data, want.data, want.size);
	gprof_unwind_blob_free(&want);
	gprof_pool_put(obj.file);
	close(fd);
	return right && atomic_load(&times_given) == before + 1;
}

/* Returns the step that went wrong. */
static int record_as_user(const char *base, const char *lib, const char *other)
{
	char dir[128], path[512];

	if (!geteuid() && setresuid(12345, 12345, 12345))
		return 1;
	snprintf(dir, sizeof(dir), "%.64s/gprof/unwind", base);
	if (!record(base, lib) || kept(dir, &bytes, path) != 1)
		return 2;
	/* what another recording has left */
	make_old(path, &st);
	if (!record(base, lib) || !was_used(path, &st))
		return 3;
	if (!record(base, other) || kept(dir, &bytes, path) != 2)
		return 4;
	/* others may write where it lies: it is of no use */
	make_old(path, &st);
	if (chmod(dir, 0777) || !record(base, other) || was_used(path, &st))
		return 5;
	/* nor is what cannot be */
	return record("/proc", lib) ? 0 : 6;
}

TEST_F(cache, recordings_compile_a_file_once)
{
	int status;

	ASSERT_NE(NULL, library(self, 1));
	ASSERT_ZEROS(chmod(self->base, 0755), geteuid() ? 0 : chown(self->base, 12345, 12345));
	if (!fork())
		_exit(record_as_user(self->base, library(self, 0), library(self, 1)));
	ASSERT_LT(0, wait(&status));
	EXPECT_EQ(0, status) {
		TH_LOG("step %d", WEXITSTATUS(status));
	}
}

TEST_HARNESS_MAIN
