// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * tables.c: makes unwind tables before there is a recording.
 */
#include <gprof/tables.h>

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"
#include "base/opts.h"
#include "base/regular_file.h"
#include "target_files.h"
#include "unwind/unwind_cache.h"

#define YOUNG_MS	1100	/* after which a file has a timestamp of its own */
#define WAIT_MS		50

static const char no_code[] = "it has no code of this machine";
static const char broken[] = "it is a broken ELF file";

/* A file that was worked at. */
struct done {
	dev_t dev;
	ino_t ino;
};

/**
 * struct maker - a call
 * @opts: the caller's options
 * @made: result
 * @objects: files of code
 * @cache: where tables are kept
 * @done: files that were worked at
 * @nr_done: how many
 * @cap_done: room in @done
 * @seen: finds them
 */
struct maker {
	struct gprof_tables_opts opts;
	struct gprof_tables_made made;
	struct gprof_objects objects;
	struct gprof_unwind_cache *cache;
	struct done *done;
	size_t nr_done;
	size_t cap_done;
	struct gprof_table seen;
};

static void failed(struct maker *m, const char *file, const char *why)
{
	m->made.failed++;
	if (m->opts.failed)
		m->opts.failed(m->opts.ctx, file, why);
}

/* Whether to go on. */
static bool report_progress(const struct maker *m, size_t done, size_t all)
{
	return !m->opts.progress || !m->opts.progress(m->opts.ctx, done, all);
}

/* ---- which files ---- */

/* Are the program headers in the file? */
static bool is_whole(const Elf64_Ehdr *e, const struct stat *st)
{
	uint64_t size = (uint64_t)st->st_size;

	return e->e_phoff <= size && (uint64_t)e->e_phnum * e->e_phentsize <= size - e->e_phoff;
}

/* The segment that is code of this machine; NULL: none is. */
static const struct gprof_segment *code_of(const struct gprof_object *obj)
{
	size_t i;

	for (i = 0; i < obj->nr_segments && !obj->foreign; i++)
		if (obj->segments[i].exec)
			return &obj->segments[i];
	return NULL;
}

/* A file that was found; @asked: it was given by name. */
static int add_file(struct maker *m, const char *path, bool asked)
{
	const struct gprof_mapped_at nowhere = { 0 };
	struct gprof_file_id id = { .path = path };
	int look, fd = -1, err = 0;
	struct gprof_object *obj;
	struct stat st;
	Elf64_Ehdr e;

	look = gprof_open_path(path, O_NOFOLLOW, &st);
	if (look >= 0) {
		fd = gprof_reopen(look);
		err = fd < 0 ? errno : 0;
		close(look);
	}
	if (fd < 0) {
		/* A pipe, a device: no file of code. */
		if (err || asked)
			failed(m, path, err ? gprof_strerror(err) : no_code);
		return 0;
	}
	err = pread(fd, &e, sizeof(e), 0) == sizeof(e) && !memcmp(e.e_ident, ELFMAG, SELFMAG) &&
	      e.e_ident[EI_CLASS] == ELFCLASS64 && e.e_ident[EI_DATA] == ELFDATA2LSB &&
	      (e.e_type == ET_EXEC || e.e_type == ET_DYN) ? 0 : -ENOEXEC;
	close(fd);
	if (err) {
		if (asked)
			failed(m, path, no_code);
		return 0;
	}
	id.inode = st.st_ino;
	id.dev_major = major(st.st_dev);
	id.dev_minor = minor(st.st_dev);
	obj = gprof_objects_get(&m->objects, &id, &nowhere);
	if (!obj)
		return -ENOMEM;
	if (!code_of(obj)) {
		if (!is_whole(&e, &st))
			failed(m, path, broken);
		else if (asked)
			failed(m, path, no_code);
	}
	return 0;
}

static int by_name(const FTSENT **a, const FTSENT **b)
{
	return strcmp((*a)->fts_name, (*b)->fts_name);
}

/* -ECANCELED: progress was the end. */
static int add_path(struct maker *m, char *path)
{
	char *paths[] = { path, NULL };
	FTS *fts = fts_open(paths, FTS_PHYSICAL | FTS_XDEV | FTS_NOCHDIR, by_name);
	FTSENT *e;
	int err = fts ? 0 : -ENOMEM;

	while (!err && (errno = 0, e = fts_read(fts))) {
		bool asked = e->fts_level == FTS_ROOTLEVEL;

		switch (e->fts_info) {
		case FTS_F:
		case FTS_DEFAULT:
			err = add_file(m, e->fts_accpath, asked);
			break;
		case FTS_DNR:
		case FTS_ERR:
		case FTS_NS:
			failed(m, e->fts_path, gprof_strerror(e->fts_errno));
			break;
		case FTS_D:
			if (!report_progress(m, m->objects.nr, 0))
				err = -ECANCELED;
		}
	}
	if (fts && !err && errno)
		err = -errno;
	if (fts)
		fts_close(fts);
	return err;
}

static int add_paths(struct maker *m)
{
	size_t i;
	int err = 0;

	for (i = 0; i < m->opts.nr_paths && !err; i++) {
		char *real = realpath(m->opts.paths[i], NULL);

		if (!real)
			return gprof_error_set(NULL, errno, "%s: %s", m->opts.paths[i],
					       gprof_strerror(errno));
		err = add_path(m, real);
		free(real);
	}
	return err;
}

/* ---- their tables ---- */

static bool done_eq(const void *ctx, uint32_t index, const void *key)
{
	const struct maker *m = ctx;
	const struct done *a = &m->done[index], *b = key;

	return a->dev == b->dev && a->ino == b->ino;
}

/* Files have several names, and paths from several roots; 1: it is the first time, or -ENOMEM. */
static int is_first(struct maker *m, const struct stat *st)
{
	struct done d = { st->st_dev, st->st_ino };
	uint64_t hash = gprof_hash_u64(gprof_hash_u64(m->seen.seed, d.dev), d.ino);

	if (gprof_table_find(&m->seen, hash, done_eq, m, &d) != GPROF_NONE)
		return 0;
	if (gprof_grow(&m->done, &m->cap_done, m->nr_done + 1, sizeof(*m->done)))
		return -ENOMEM;
	m->done[m->nr_done] = d;
	return gprof_table_insert(&m->seen, hash, (uint32_t)m->nr_done++) ? -ENOMEM : 1;
}

/* A table of a file that has just been written would not be kept; whether to go on. */
static bool wait_old(const struct maker *m, const struct stat *st, size_t i)
{
	const struct timespec some = { .tv_nsec = WAIT_MS * 1000000L };
	struct timespec now;
	int64_t ms;

	for (;;) {
		clock_gettime(CLOCK_REALTIME, &now);
		ms = (now.tv_sec - st->st_ctim.tv_sec) * 1000LL +
		     (now.tv_nsec - st->st_ctim.tv_nsec) / 1000000;
		if (ms < 0 || ms > YOUNG_MS)
			return true;
		if (!report_progress(m, i, m->objects.nr))
			return false;
		nanosleep(&some, NULL);
	}
}

/* Adds one to the count that it belongs to; 0, or -errno after which there is no more. */
static int count(struct maker *m, const char *path, const struct gprof_unwind_blob *blob, int err,
		 int from)
{
	uint64_t *counts[] = {
		[GPROF_UNWIND_MADE] = &m->made.made, [GPROF_UNWIND_OWN] = &m->made.there,
		[GPROF_UNWIND_ROOTS] = &m->made.shared,
	};

	if (err && err != -ENODATA) {
		failed(m, path, err == -ENOEXEC ? broken : err == -EFBIG ?
		       "it has more code than a table is for" : gprof_strerror(-err));
		return 0;
	}
	if (from < 0)
		return from;
	if (from == GPROF_UNWIND_FULL) {
		m->made.full = true;
		return -ECANCELED;
	}
	if (from == GPROF_UNWIND_YOUNG) {
		failed(m, path, "it is changed meanwhile");
		return 0;
	}
	++*(err ? &m->made.frameless : counts[from]);
	if (from != GPROF_UNWIND_ROOTS)
		m->made.bytes += gprof_unwind_cache_bytes(blob);
	return 0;
}

/* Likewise. */
static int make(struct maker *m, struct gprof_object *obj, size_t i)
{
	const struct gprof_segment *code = code_of(obj);
	struct gprof_unwind_blob blob = { 0 };
	int fd, err, from = 0;
	struct stat st;

	/* A file without code has been reported, or needs no report. */
	if (obj->elf ? !code : obj->why == GPROF_MISSING_ELF)
		return 0;
	if (code && (code->offset > obj->size || code->filesz > obj->size - code->offset)) {
		failed(m, obj->path, broken);
		return 0;
	}
	fd = gprof_object_open(obj);
	if (fd < 0) {
		failed(m, obj->path, gprof_missing_text(obj->why));
		return 0;
	}
	err = fstat(fd, &st) ? -errno : is_first(m, &st);
	if (err == 1) {
		if (wait_old(m, &st, i)) {
			err = gprof_unwind_cache_get(m->cache, fd, obj->build_id,
						     obj->build_id_len, &blob, &from);
			err = count(m, obj->path, &blob, err, from);
		} else {
			err = -ECANCELED;
		}
	}
	close(fd);
	gprof_unwind_blob_free(&blob);
	return err;
}

static void count_rest(struct maker *m, size_t i)
{
	for (; i < m->objects.nr; i++)
		m->made.left += code_of(m->objects.v[i]) != NULL;
}

static int make_all(struct maker *m)
{
	size_t i;
	int err = 0;

	gprof_unwind_cache_spare(m->cache);
	for (i = 0; i < m->objects.nr && !err; i++) {
		err = report_progress(m, i, m->objects.nr) ? make(m, m->objects.v[i], i) :
							     -ECANCELED;
		if (err) {
			count_rest(m, i);
			break;
		}
	}
	return err;
}

static int open_cache(struct maker *m)
{
	bool has_dir = gprof_unwind_cache_dir(m->made.dir, sizeof(m->made.dir));
	int err = gprof_unwind_cache_open(&m->cache, NULL, NULL, 0);

	if (!err)
		err = gprof_unwind_cache_why(m->cache);
	if (err == -ENOENT && !has_dir)
		return gprof_error_set(NULL, -err, "there is no place for unwind tables: HOME is not set");
	if (err == -EPERM)
		return gprof_error_set(NULL, -err, "%s is not used for unwind tables: it, or what it is in, "
				       "belongs to another user, or others may write to it; change that, or "
				       "remove it", m->made.dir);
	return err ? gprof_error_set(NULL, -err, "unwind tables cannot be kept in %s: %s", m->made.dir,
				     gprof_strerror(-err)) : 0;
}

static int run(struct maker *m)
{
	static const struct gprof_target all = { .type = GPROF_SYSTEM };
	int err = open_cache(m);

	if (err)
		return err;
	if (m->opts.paths)
		err = add_paths(m);
	else
		err = gprof_target_files(&all, &m->objects);
	if (err == -ENOMEM)
		return gprof_error_set(NULL, -err, "no memory for the list of files");
	if (err)
		return err;
	err = make_all(m);
	if (err && err != -ECANCELED)
		return gprof_error_set(NULL, -err, "unwind tables cannot be kept in %s: %s",
				       m->made.dir, gprof_strerror(-err));
	return err;
}

static int give(const struct gprof_tables_made *made, struct gprof_tables_made *out)
{
	return !out ? 0 :
		      gprof_opts_copy_out(out, made, sizeof(*made),
					  GPROF_SIZE_WITH(struct gprof_tables_made, dir),
					  "gprof_tables_made", NULL);
}

int gprof_tables_make(const struct gprof_tables_opts *opts, struct gprof_tables_made *out)
{
	struct maker *m = calloc(1, sizeof(*m));
	struct gprof_tables_made *made;
	int err;

	if (!m)
		return gprof_error_set(NULL, ENOMEM, "no memory to make unwind tables");
	made = &m->made;
	made->limit = GPROF_UNWIND_CACHE_MAX;
	err = opts ? gprof_opts_copy_in(&m->opts, sizeof(m->opts),
					GPROF_SIZE_WITH(struct gprof_tables_opts, ctx), opts,
					"gprof_tables_opts", NULL) :
		     0;
	if (!err)
		err = give(made, out);
	if (err)
		goto out;
	gprof_objects_init(&m->objects);
	gprof_table_init(&m->seen);
	err = run(m);
	gprof_unwind_cache_close(m->cache);
	gprof_objects_free(&m->objects);
	gprof_table_free(&m->seen);
	free(m->done);
	if (err == -ECANCELED)
		err = 0;
	made->files = made->made + made->there + made->shared + made->frameless + made->failed +
		      made->left;
	give(made, out);
out:
	free(m);
	return err;
}
