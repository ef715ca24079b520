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
#include "layout.h"

#define MAGIC		0x43575547	/* "GUWC" */
#define COMPILER	3		/* to be changed when the same file gives another table */
#define BUILD_ID_MAX	32
#define SUFFIX		".unwind"	/* of all files of ours, and of no others */
#define NAME_SIZE	(2 * BUILD_ID_MAX + 40 + sizeof(SUFFIX))
#define SEED		0x9a7c15d6e8feb866ULL
#define STALE		3600		/* seconds after which nobody writes a file any more */

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
 * struct gprof_unwind_cache - the cache
 * @dir: directory
 * @max: bytes that it may take
 * @writes: files that were begun, for their names
 */
struct gprof_unwind_cache {
	struct gprof_own_fd dir;
	uint64_t max;
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

/* What a kept table of this file begins with, but for sum and size; false: none is kept. */
static bool head_of(int fd, const void *build_id, size_t len, struct head *h)
{
	struct timespec now;
	struct stat st;

	if (len > BUILD_ID_MAX || fstat(fd, &st) || clock_gettime(CLOCK_REALTIME, &now))
		return false;
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
	/* The kernel's clock for files ticks: what is newer may change and have the same time. */
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

/* Nobody else may do with it what @others says. */
static bool is_ours(const struct stat *st, mode_t type, mode_t others)
{
	return (st->st_mode & S_IFMT) == type && st->st_uid == geteuid() &&
	       !(st->st_mode & others);
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

/* Of the machine of the file, and within it. */
static bool fits(const struct gprof_unwind_blob *b, int fd, uint64_t file_size)
{
	const struct gprof_unwind_table *t = b->data;
	unsigned char ident[20];	/* e_ident, e_type, e_machine */

	return pread(fd, ident, sizeof(ident), 0) == sizeof(ident) &&
	       t->machine == (ident[18] | ident[19] << 8) && t->start < file_size &&
	       ((uint64_t)t->granules - 1) * GPROF_UNWIND_GRANULE < file_size - t->start;
}

/* The kept table; 0, -ENODATA as it was kept, or -ENOENT: none that is any good. */
static int look(const struct gprof_unwind_cache *c, const char *name, int fd,
		const struct head *want, struct gprof_unwind_blob *out)
{
	int kept = openat(c->dir.fd, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	struct stat st;
	struct head h;
	bool good;

	*out = (struct gprof_unwind_blob){ NULL, 0 };
	if (kept < 0)
		return -ENOENT;
	good = !fstat(kept, &st) && is_ours(&st, S_IFREG, 077) && st.st_nlink == 1 &&
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
		       !gprof_layout_check(out->data, out->size) &&
		       fits(out, fd, want->file_size);
	} else if (good) {
		good = sum_of(&h, "") == h.sum;
	}
	/* So that those which are used are not the oldest. */
	if (good)
		futimens(kept, NULL);
	else
		gprof_unwind_blob_free(out);
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

/* A name that we may have given: what others keep in the directory is theirs. */
static bool named_by_us(const char *name)
{
	size_t len = strlen(name);

	return len >= sizeof(SUFFIX) && len < NAME_SIZE &&
	       !strcmp(name + len - strlen(SUFFIX), SUFFIX);
}

/*
 * Take away the oldest until @more bytes fit; false: they do not. What others add meanwhile
 * is seen by whoever comes next.
 */
static bool make_room(const struct gprof_unwind_cache *c, uint64_t more)
{
	struct entry *entries = NULL;
	size_t nr = 0, cap = 0, i;
	time_t now = time(NULL);
	uint64_t used = more;
	struct dirent *d;
	int fd = openat(c->dir.fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);

	if (!dir) {
		if (fd >= 0)
			close(fd);
		return false;
	}
	while ((d = readdir(dir))) {
		struct stat st;

		if (!named_by_us(d->d_name) ||
		    fstatat(c->dir.fd, d->d_name, &st, AT_SYMLINK_NOFOLLOW) || S_ISDIR(st.st_mode))
			continue;
		/* One that was never finished. */
		if (d->d_name[0] == '.' && st.st_mtim.tv_sec + STALE < now) {
			unlinkat(c->dir.fd, d->d_name, 0);
			continue;
		}
		/* What a file takes on disk, as far as one can know. */
		used += ((uint64_t)st.st_size + 4095) & ~4095ULL;
		if (d->d_name[0] == '.')
			continue;
		if (gprof_grow(&entries, &cap, nr + 1, sizeof(*entries)))
			break;
		strcpy(entries[nr].name, d->d_name);
		entries[nr].used = st.st_mtim;
		entries[nr++].size = ((uint64_t)st.st_size + 4095) & ~4095ULL;
	}
	if (used > c->max && nr)
		qsort(entries, nr, sizeof(*entries), by_use);
	for (i = 0; i < nr && used > c->max; i++)
		if (!unlinkat(c->dir.fd, entries[i].name, 0) || errno == ENOENT)
			used -= entries[i].size;
	free(entries);
	closedir(dir);
	return used <= c->max;
}

static void keep(struct gprof_unwind_cache *c, const char *name, struct head *h,
		 const struct gprof_unwind_blob *b)
{
	unsigned int turn = atomic_fetch_add(&c->writes, 1);
	const void *table = b->data ? b->data : "";
	char temporary[64];
	bool good;
	int fd;

	h->size = b->size;
	h->sum = sum_of(h, table);
	if (!make_room(c, (sizeof(*h) + b->size + 4095) & ~4095ULL))
		return;
	snprintf(temporary, sizeof(temporary), ".%d-%u-%llx" SUFFIX, getpid(), turn,
		 (unsigned long long)time(NULL));
	fd = openat(c->dir.fd, temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return;
	good = write_all(fd, h, sizeof(*h)) && write_all(fd, table, b->size);
	if (close(fd) || !good || renameat(c->dir.fd, temporary, c->dir.fd, name))
		unlinkat(c->dir.fd, temporary, 0);
}

int gprof_unwind_cache_get(struct gprof_unwind_cache *c, int fd, const void *build_id, size_t len,
			   struct gprof_unwind_blob *out)
{
	struct head head, again;
	char name[NAME_SIZE];
	bool kept = c && gprof_own_fd_is(&c->dir) && head_of(fd, build_id, len, &head);
	int err;

	if (kept) {
		name_of(&head, name);
		err = look(c, name, fd, &head, out);
		if (err != -ENOENT)
			return err;
	}
	err = gprof_unwind_compile(fd, 0, out);
	/* Not of a file that was changed meanwhile. */
	if (kept && (!err || err == -ENODATA) && head_of(fd, build_id, len, &again) &&
	    !memcmp(&head, &again, sizeof(head)) && gprof_own_fd_is(&c->dir))
		keep(c, name, &head, out);
	return err;
}

/* Make it, if there is none, and open it without following links; -errno. */
static int open_dir(int parent, const char *name, mode_t others)
{
	struct stat st;
	int fd;

	if (mkdirat(parent, name, 0700) && errno != EEXIST)
		return -errno;
	fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return errno == ELOOP || errno == ENOTDIR ? -EPERM : -errno;
	if (!fstat(fd, &st) && is_ours(&st, S_IFDIR, others))
		return fd;
	close(fd);
	return -EPERM;
}

/* The user's directory of caches; -errno. */
static int open_caches(void)
{
	const char *dir = geteuid() ? secure_getenv("XDG_CACHE_HOME") : "/var/cache";
	char path[4096];
	int fd;

	if (!dir || dir[0] != '/') {
		dir = secure_getenv("HOME");
		if (!dir || dir[0] != '/' ||
		    snprintf(path, sizeof(path), "%s/.cache", dir) >= (int)sizeof(path))
			return -ENOENT;
		if (mkdir(path, 0700) && errno != EEXIST)
			return -errno;
		dir = path;
	}
	fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

static int open_default(void)
{
	int caches = open_caches(), ours, fd;

	if (caches < 0)
		return caches;
	ours = open_dir(caches, "gprof", 022);
	close(caches);
	if (ours < 0)
		return ours;
	fd = open_dir(ours, "unwind", 077);
	close(ours);
	return fd;
}

int gprof_unwind_cache_open(struct gprof_unwind_cache **out, const char *dir, uint64_t max)
{
	struct gprof_unwind_cache *c = calloc(1, sizeof(*c));
	int fd;

	*out = NULL;
	if (!c)
		return -ENOMEM;
	fd = dir ? open_dir(AT_FDCWD, dir, 077) : open_default();
	if (fd < 0) {
		free(c);
		return fd;
	}
	gprof_own_fd_take(&c->dir, fd);
	c->max = max ? max : GPROF_UNWIND_CACHE_MAX;
	*out = c;
	return 0;
}

void gprof_unwind_cache_close(struct gprof_unwind_cache *c)
{
	if (!c)
		return;
	gprof_own_fd_close(&c->dir);
	free(c);
}
