// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * unwind_cache.c: unwind tables on disk.
 *
 * A kept table is a head and the table. It is written under a name of its own and then
 * renamed, so a name leads to a whole file or to none.
 */
#include "unwind_cache.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/own_fd.h"
#include "base/table.h"
#include "table_layout.h"

#define MAGIC		0x43575547	/* "GUWC" */
#define COMPILER	5		/* to be changed when the same file gives another table */
#define BUILD_ID_MAX	32
#define SUFFIX		".unwind"	/* of all files of ours, and of no others */
#define NAME_SIZE	(2 * BUILD_ID_MAX + 40 + sizeof(SUFFIX))
#define SEED		0x9a7c15d6e8feb866ULL
#define CACHES		"/var/cache"	/* root's */
#define STALE		3600		/* seconds after which no process writes a file any more */

/**
 * struct head - of a kept table
 * @magic: MAGIC
 * @compiler: COMPILER
 * @sum: of all that follows, against disks; against people it is of no use
 * @size: bytes of the table; 0: the file has none
 * @dev: device of the file that it is of
 * @ino: its inode
 * @file_size: its size
 * @mtime: when it was written to, in nanoseconds
 * @ctime: when anything about it was changed, which its owner cannot choose
 * @build_id: its build-id
 * @build_id_len: bytes of that
 */
struct head {
	uint32_t magic;
	uint32_t compiler;
	uint64_t sum;
	uint64_t size;
	uint64_t dev;
	uint64_t ino;
	uint64_t file_size;
	uint64_t mtime;
	uint64_t ctime;
	unsigned char build_id[BUILD_ID_MAX];
	uint64_t build_id_len;
};

/**
 * struct shelf - a directory of tables
 * @dir: it, or none
 * @others: permissions that neither it nor a table may have
 * @roots: root's, which a user reads
 */
struct shelf {
	struct gprof_own_fd dir;
	mode_t others;
	bool roots;
};

/**
 * struct gprof_unwind_cache - the cache
 * @own: the caller's tables, or none
 * @roots: those of root, for a user; or none
 * @why: -errno where there is no @own
 * @serves: @own is for all users
 * @max: bytes that @own may take
 * @room: bytes that may be added before the next look at how many there are
 * @spare: tables that were used since then stay
 * @writes: files that were begun, for their names
 */
struct gprof_unwind_cache {
	struct shelf own;
	struct shelf roots;
	int why;
	bool serves;
	uint64_t max;
	atomic_llong room;
	struct timespec spare;
	atomic_uint writes;
};

static uint64_t sum_of(const struct head *h, const void *table)
{
	size_t at = offsetof(struct head, size);

	return gprof_hash_bytes(gprof_hash_bytes(SEED, (const char *)h + at, sizeof(*h) - at),
				table, h->size);
}

static uint64_t nanoseconds(const struct timespec *t)
{
	return (uint64_t)t->tv_sec * 1000000000 + (uint64_t)t->tv_nsec;
}

/*
 * The head of a kept table of this file, but for sum and size, and its permissions; false: none is
 * kept.
 */
static bool head_of(int fd, const void *build_id, size_t len, struct head *h, mode_t *mode)
{
	struct timespec now;
	struct stat st;

	if (len > BUILD_ID_MAX || fstat(fd, &st) || clock_gettime(CLOCK_REALTIME, &now))
		return false;
	*mode = st.st_mode & S_IROTH ? 0644 : 0600;
	memset(h, 0, sizeof(*h));
	h->magic = MAGIC;
	h->compiler = COMPILER;
	h->dev = st.st_dev;
	h->ino = st.st_ino;
	h->file_size = (uint64_t)st.st_size;
	h->mtime = nanoseconds(&st.st_mtim);
	h->ctime = nanoseconds(&st.st_ctim);
	if (len)
		memcpy(h->build_id, build_id, len);
	h->build_id_len = len;
	/* The kernel's clock for files ticks: a newer file may change and have the same time. */
	return h->ctime + 1000000000 < nanoseconds(&now);
}

static void name_of(const struct head *h, char *name)
{
	uint64_t i;
	int n = 0;

	for (i = 0; i < h->build_id_len; i++)
		n += sprintf(name + n, "%02x", h->build_id[i]);
	sprintf(name + n, "%s%llx-%llx" SUFFIX, n ? "-" : "", (unsigned long long)h->dev,
		(unsigned long long)h->ino);
}

/* Its owner alone has the permissions @others. */
static bool belongs_to(const struct stat *st, uid_t owner, mode_t type, mode_t others)
{
	return (st->st_mode & S_IFMT) == type && st->st_uid == owner && !(st->st_mode & others);
}

static bool read_all(int fd, void *to, size_t len)
{
	unsigned char *p = to;

	while (len) {
		ssize_t n = read(fd, p, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		p += n;
		len -= (size_t)n;
	}
	return true;
}

static bool write_all(int fd, const void *from, size_t len)
{
	const unsigned char *p = from;

	while (len) {
		ssize_t n = write(fd, p, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		p += n;
		len -= (size_t)n;
	}
	return true;
}

/* Of the machine of the file, and within it. The kernel checks the rest. */
static bool fits(const struct gprof_unwind_blob *b, int fd, uint64_t file_size)
{
	const struct gprof_unwind_table *t = b->data;
	unsigned char ident[20];	/* e_ident, e_type, e_machine */

	return b->size >= sizeof(*t) && pread(fd, ident, sizeof(ident), 0) == sizeof(ident) &&
	       t->machine == (ident[18] | ident[19] << 8) && t->start < file_size &&
	       ((uint64_t)t->granules - 1) * GPROF_UNWIND_GRANULE < file_size - t->start;
}

/*
 * The kept table; 0, -ENODATA as it was kept, or -ENOENT: none that is valid. One for all users
 * that an earlier version has kept gets its permissions.
 */
static int open_entry(const struct shelf *s, const char *name, int fd, const struct head *want,
		      mode_t mode, struct gprof_unwind_blob *out)
{
	uid_t owner = s->roots ? 0 : geteuid();
	struct stat st;
	struct head h;
	bool good;
	int kept;

	*out = (struct gprof_unwind_blob){ NULL, 0 };
	if (!gprof_own_fd_is(&s->dir))
		return -ENOENT;
	kept = openat(s->dir.fd, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (kept < 0)
		return -ENOENT;
	good = !fstat(kept, &st) && belongs_to(&st, owner, S_IFREG, s->others) && st.st_nlink == 1 &&
	       st.st_size >= (off_t)sizeof(h) &&
	       st.st_size - (off_t)sizeof(h) <= (off_t)GPROF_UNWIND_TABLE_MAX &&
	       read_all(kept, &h, sizeof(h)) && h.size == (uint64_t)st.st_size - sizeof(h) &&
	       h.magic == want->magic && h.compiler == want->compiler &&
	       !memcmp(&h.dev, &want->dev, sizeof(h) - offsetof(struct head, dev));
	if (good && h.size) {
		out->data = malloc(h.size);
		out->size = h.size;
		good = out->data && read_all(kept, out->data, h.size) &&
		       sum_of(&h, out->data) == h.sum &&
		       fits(out, fd, want->file_size);
	} else if (good) {
		good = sum_of(&h, "") == h.sum;
	}
	/* So that those which are used are not the oldest. */
	if (good && !s->roots) {
		futimens(kept, NULL);
		if ((st.st_mode & 0777) != mode)
			fchmod(kept, mode);
	} else if (!good) {
		gprof_unwind_blob_free(out);
	}
	close(kept);
	return !good ? -ENOENT : out->data ? 0 : -ENODATA;
}

struct entry {
	char name[NAME_SIZE];
	struct timespec used;
	uint64_t size;
};

static int by_use(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;

	if (x->used.tv_sec != y->used.tv_sec)
		return x->used.tv_sec < y->used.tv_sec ? -1 : 1;
	return x->used.tv_nsec < y->used.tv_nsec ? -1 : x->used.tv_nsec > y->used.tv_nsec;
}

/* A name of this library's files: other files in the directory are left alone. */
static bool named_by_us(const char *name)
{
	size_t len = strlen(name);

	return len >= sizeof(SUFFIX) && len < NAME_SIZE &&
	       !strcmp(name + len - strlen(SUFFIX), SUFFIX);
}

static bool is_spared(const struct gprof_unwind_cache *c, const struct timespec *used)
{
	return c->spare.tv_sec && (used->tv_sec > c->spare.tv_sec ||
				   (used->tv_sec == c->spare.tv_sec &&
				    used->tv_nsec >= c->spare.tv_nsec));
}

/* Bytes on disk of a file of @size. */
static uint64_t on_disk(uint64_t size)
{
	return (size + 4095) & ~4095ULL;
}

/*
 * Take away the oldest until @more bytes fit; false: they do not. Files of other processes are
 * seen by the next listing. To look for each table is slow where there are thousands: a process
 * adds up to an eighth of the free room before it looks again.
 */
static bool make_room(struct gprof_unwind_cache *c, uint64_t more)
{
	struct entry *entries = NULL;
	size_t nr = 0, cap = 0, i;
	time_t now = time(NULL);
	uint64_t used = more;
	struct dirent *d;
	DIR *dir;
	int fd;

	if (atomic_fetch_sub(&c->room, (long long)more) >= (long long)more)
		return true;
	fd = openat(c->own.dir.fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	dir = fd < 0 ? NULL : fdopendir(fd);
	if (!dir) {
		if (fd >= 0)
			close(fd);
		return false;
	}
	while ((d = readdir(dir))) {
		struct stat st;

		if (!named_by_us(d->d_name) ||
		    fstatat(fd, d->d_name, &st, AT_SYMLINK_NOFOLLOW) || S_ISDIR(st.st_mode))
			continue;
		/* One that was never finished. */
		if (d->d_name[0] == '.' && st.st_mtim.tv_sec + STALE < now) {
			unlinkat(fd, d->d_name, 0);
			continue;
		}
		used += on_disk((uint64_t)st.st_size);
		if (d->d_name[0] == '.' || is_spared(c, &st.st_mtim))
			continue;
		if (gprof_grow(&entries, &cap, nr + 1, sizeof(*entries)))
			break;
		strcpy(entries[nr].name, d->d_name);
		entries[nr].used = st.st_mtim;
		entries[nr++].size = on_disk((uint64_t)st.st_size);
	}
	if (used > c->max && nr)
		qsort(entries, nr, sizeof(*entries), by_use);
	for (i = 0; i < nr && used > c->max; i++)
		if (!unlinkat(fd, entries[i].name, 0) || errno == ENOENT)
			used -= entries[i].size;
	free(entries);
	closedir(dir);
	atomic_store(&c->room, used < c->max ? (long long)((c->max - used) / 8) : 0);
	return used <= c->max;
}

/* enum gprof_unwind_from, or -errno. */
static int keep(struct gprof_unwind_cache *c, const char *name, struct head *h, mode_t mode,
		const struct gprof_unwind_blob *b)
{
	unsigned int turn = atomic_fetch_add(&c->writes, 1);
	const void *table = b->data ? b->data : "";
	char temporary[64];
	int err = 0, fd;

	h->size = b->size;
	h->sum = sum_of(h, table);
	if (!make_room(c, gprof_unwind_cache_bytes(b)))
		return GPROF_UNWIND_FULL;
	snprintf(temporary, sizeof(temporary), ".%d-%u-%llx" SUFFIX, getpid(), turn,
		 (unsigned long long)time(NULL));
	fd = openat(c->own.dir.fd, temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
		    0600);
	if (fd < 0)
		return -errno;
	/* The umask does not count, and a table is not visible before it is whole. */
	errno = EIO;
	if (!write_all(fd, h, sizeof(*h)) || !write_all(fd, table, b->size) || fchmod(fd, mode))
		err = -errno;
	if ((close(fd) || renameat(c->own.dir.fd, temporary, c->own.dir.fd, name)) && !err)
		err = -errno;
	if (err)
		unlinkat(c->own.dir.fd, temporary, 0);
	return err ? err : GPROF_UNWIND_MADE;
}

uint64_t gprof_unwind_cache_bytes(const struct gprof_unwind_blob *b)
{
	return on_disk(sizeof(struct head) + b->size);
}

int gprof_unwind_cache_get(struct gprof_unwind_cache *c, int fd, const void *build_id, size_t len,
			   struct gprof_unwind_blob *out, int *from)
{
	mode_t mode, again_mode;
	struct head head, again;
	char name[NAME_SIZE];
	int unasked, err;

	from = from ? from : &unasked;
	if (!c || !head_of(fd, build_id, len, &head, &mode)) {
		*from = c ? GPROF_UNWIND_YOUNG : -ENOENT;
		return gprof_unwind_compile(fd, 0, out);
	}
	if (!c->serves)
		mode = 0600;
	name_of(&head, name);
	*from = GPROF_UNWIND_OWN;
	err = open_entry(&c->own, name, fd, &head, mode, out);
	if (err == -ENOENT) {
		*from = GPROF_UNWIND_ROOTS;
		err = open_entry(&c->roots, name, fd, &head, mode, out);
	}
	if (err != -ENOENT)
		return err;
	err = gprof_unwind_compile(fd, 0, out);
	if (err && err != -ENODATA)
		return err;
	/* Not of a file that was changed meanwhile. */
	if (!head_of(fd, build_id, len, &again, &again_mode) || memcmp(&head, &again, sizeof(head)))
		*from = GPROF_UNWIND_YOUNG;
	else if (!gprof_own_fd_is(&c->own.dir))
		*from = c->why ? c->why : -EBADF;
	else
		*from = keep(c, name, &head, mode, out);
	return err;
}

/*
 * Open it without following links; -errno. Our own directory is made where it is missing; with
 * @mode, that of an earlier version gets that.
 */
static int open_dir(int parent, const char *name, const struct shelf *s, mode_t mode)
{
	uid_t owner = s->roots ? 0 : geteuid();
	struct stat st;
	int fd;

	if (!s->roots && mkdirat(parent, name, 0700) && errno != EEXIST)
		return -errno;
	fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return errno == ELOOP || errno == ENOTDIR ? -EPERM : -errno;
	if (!fstat(fd, &st) && belongs_to(&st, owner, S_IFDIR, s->others)) {
		if (!s->roots && mode && (st.st_mode & 0777) != mode)
			fchmod(fd, mode);
		return fd;
	}
	close(fd);
	return -EPERM;
}

/* The user's directory of caches; false: there is none. */
static bool user_caches(char *path, size_t size, bool *home)
{
	const char *dir = secure_getenv("XDG_CACHE_HOME");

	*home = !dir || dir[0] != '/';
	if (*home)
		dir = secure_getenv("HOME");
	return dir && dir[0] == '/' &&
	       snprintf(path, size, *home ? "%s/.cache" : "%s", dir) < (int)size;
}

/* -errno. */
static int open_user_caches(void)
{
	char path[4096];
	bool home;
	int fd;

	if (!user_caches(path, sizeof(path), &home))
		return -ENOENT;
	if (home && mkdir(path, 0700) && errno != EEXIST)
		return -errno;
	fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

static int open_root_caches(const char *caches)
{
	int fd = open(caches ? caches : CACHES, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

bool gprof_unwind_cache_dir(char *path, size_t size)
{
	static const char below[] = "/gprof/unwind";
	bool home;

	if (!geteuid())
		return snprintf(path, size, CACHES "%s", below) < (int)size;
	if (!user_caches(path, size, &home) || strlen(path) + sizeof(below) > size)
		return false;
	strcat(path, below);
	return true;
}

/* gprof/unwind in a directory of caches, which is closed. */
static int open_shelf(struct shelf *s, int caches, mode_t mode)
{
	const struct shelf parent = { .others = 022, .roots = s->roots };
	int ours, fd;

	if (caches < 0)
		return caches;
	ours = open_dir(caches, "gprof", &parent, mode);
	close(caches);
	if (ours < 0)
		return ours;
	fd = open_dir(ours, "unwind", s, mode);
	close(ours);
	if (fd < 0)
		return fd;
	gprof_own_fd_adopt(&s->dir, fd);
	return 0;
}

int gprof_unwind_cache_open(struct gprof_unwind_cache **out, const char *dir, const char *caches,
			    uint64_t max)
{
	struct gprof_unwind_cache *c = calloc(1, sizeof(*c));
	bool root = !geteuid();
	int fd;

	*out = NULL;
	if (!c)
		return -ENOMEM;
	c->own = (struct shelf){ .dir = GPROF_OWN_FD_NONE, .others = 077 };
	c->roots = (struct shelf){ .dir = GPROF_OWN_FD_NONE, .others = 022, .roots = true };
	c->max = max ? max : GPROF_UNWIND_CACHE_MAX;
	if (dir) {
		fd = open_dir(AT_FDCWD, dir, &c->own, 0);
		c->why = fd < 0 ? fd : 0;
		gprof_own_fd_adopt(&c->own.dir, fd);
	} else if (root) {
		c->serves = true;
		c->own.others = 022;
		c->why = open_shelf(&c->own, open_root_caches(caches), 0755);
	} else {
		c->why = open_shelf(&c->own, open_user_caches(), 0);
	}
	if (!root)
		open_shelf(&c->roots, open_root_caches(caches), 0);
	if (c->why && c->roots.dir.fd < 0) {
		int err = c->why;

		free(c);
		return err;
	}
	*out = c;
	return 0;
}

int gprof_unwind_cache_why(const struct gprof_unwind_cache *c)
{
	return c->why;
}

void gprof_unwind_cache_spare(struct gprof_unwind_cache *c)
{
	/* By the clock of files, which the other is ahead of. */
	clock_gettime(CLOCK_REALTIME_COARSE, &c->spare);
}

void gprof_unwind_cache_close(struct gprof_unwind_cache *c)
{
	if (!c)
		return;
	gprof_own_fd_close(&c->own.dir);
	gprof_own_fd_close(&c->roots.dir);
	free(c);
}
