// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * alloc_functions.c: the functions by which a process allocates and frees.
 *
 * An allocator is a file that has both malloc() and free(): the C library, one that is there
 * instead of it, or a static program. C++'s operators call malloc() where they are the C++
 * library's, and are found by that; those of an allocator do not.
 */
#include "alloc_functions.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/proc_maps.h"
#include "base/regular_file.h"
#include "symbol/function_offset.h"

#define FILES_MAX	512	/* that are looked into */

static const struct {
	const char *name;
	uint32_t role;
} functions[] = {
	{ "malloc", GPROF_ALLOC_FN_MALLOC },
	{ "valloc", GPROF_ALLOC_FN_MALLOC },
	{ "pvalloc", GPROF_ALLOC_FN_MALLOC },
	{ "calloc", GPROF_ALLOC_FN_CALLOC },
	{ "realloc", GPROF_ALLOC_FN_REALLOC },
	{ "reallocarray", GPROF_ALLOC_FN_REALLOCARRAY },
	{ "memalign", GPROF_ALLOC_FN_ALIGNED },
	{ "aligned_alloc", GPROF_ALLOC_FN_ALIGNED },
	{ "posix_memalign", GPROF_ALLOC_FN_POSIX_MEMALIGN },
	{ "free", GPROF_ALLOC_FN_FREE },
	{ "cfree", GPROF_ALLOC_FN_FREE },
	/* jemalloc */
	{ "mallocx", GPROF_ALLOC_FN_MALLOC },
	{ "rallocx", GPROF_ALLOC_FN_REALLOC },
	{ "dallocx", GPROF_ALLOC_FN_FREE },
	{ "sdallocx", GPROF_ALLOC_FN_FREE },
	/* tcmalloc */
	{ "tc_malloc", GPROF_ALLOC_FN_MALLOC },
	{ "tc_calloc", GPROF_ALLOC_FN_CALLOC },
	{ "tc_realloc", GPROF_ALLOC_FN_REALLOC },
	{ "tc_memalign", GPROF_ALLOC_FN_ALIGNED },
	{ "tc_posix_memalign", GPROF_ALLOC_FN_POSIX_MEMALIGN },
	{ "tc_free", GPROF_ALLOC_FN_FREE },
};

/* How the names of operators new, new[], delete and delete[] begin, with any further arguments. */
static const struct {
	const char *begin;
	uint32_t role;
} operators[] = {
	{ "_Znwm", GPROF_ALLOC_FN_MALLOC },
	{ "_Znam", GPROF_ALLOC_FN_MALLOC },
	{ "_ZdlPv", GPROF_ALLOC_FN_FREE },
	{ "_ZdaPv", GPROF_ALLOC_FN_FREE },
};

#define NR_OPERATORS	(sizeof(operators) / sizeof(operators[0]))
#define NR_FUNCTIONS	(sizeof(functions) / sizeof(functions[0]))
#define OPERATORS_MAX	48

struct row {
	uint64_t offset;
	uint32_t role;
};

/**
 * struct file - functions of one file
 * @rows: functions
 * @nr: how many
 * @operators: those that count where it has some of its own
 * @nr_operators: how many
 * @has_malloc: it has malloc()
 * @has_free: and free()
 * @has_own_operators: they do not call malloc()
 */
struct file {
	struct row rows[GPROF_ALLOC_FUNCTIONS_MAX];
	size_t nr;
	struct row operators[OPERATORS_MAX];
	size_t nr_operators;
	bool has_malloc;
	bool has_free;
	bool has_own_operators;
};

/* Several names of one function are one. */
static void note(struct row *rows, size_t *nr, size_t max, uint64_t offset, uint32_t role)
{
	size_t i;

	for (i = 0; i < *nr; i++)
		if (rows[i].offset == offset)
			return;
	if (*nr < max)
		rows[(*nr)++] = (struct row){ offset, role };
}

static void found(void *ctx, const char *name, uint64_t offset)
{
	struct file *f = ctx;
	size_t i;

	for (i = 0; i < NR_OPERATORS; i++)
		if (!strncmp(name, operators[i].begin, strlen(operators[i].begin)))
			note(f->operators, &f->nr_operators, OPERATORS_MAX, offset,
			     operators[i].role);
	for (i = 0; i < NR_FUNCTIONS; i++) {
		if (strcmp(name, functions[i].name))
			continue;
		note(f->rows, &f->nr, GPROF_ALLOC_FUNCTIONS_MAX, offset, functions[i].role);
		f->has_malloc |= !strcmp(name, "malloc");
		f->has_free |= !strcmp(name, "free");
		f->has_own_operators |= !strcmp(name, "mallocx") || !strcmp(name, "tc_malloc");
	}
}

static int add(struct gprof_alloc_functions *f, int fd, const struct row *rows, size_t nr)
{
	size_t i;

	for (i = 0; i < nr; i++) {
		if (f->nr == GPROF_ALLOC_FUNCTIONS_MAX)
			return -E2BIG;
		f->rows[f->nr++] = (struct gprof_alloc_function){
			.fd = fd, .role = rows[i].role, .offset = rows[i].offset,
		};
	}
	return 0;
}

/* Takes @fd. */
static int scan_file(struct gprof_alloc_functions *f, int fd, const char *path)
{
	struct file file = { .nr = 0 };
	struct gprof_own_fd *own = &f->files[f->nr_files];
	int err = gprof_functions_each(fd, path, found, &file);

	/* A file that cannot be read is skipped. */
	if (err || !file.has_malloc || !file.has_free) {
		close(fd);
		return err == -ENOMEM ? err : 0;
	}
	if (f->nr_files == GPROF_ALLOCATORS_MAX) {
		close(fd);
		return -E2BIG;
	}
	gprof_own_fd_adopt(own, fd);
	f->nr_files++;
	err = add(f, own->fd, file.rows, file.nr);
	if (!err && file.has_own_operators)
		err = add(f, own->fd, file.operators, file.nr_operators);
	return err;
}

struct visited_file {
	unsigned int dev_major;
	unsigned int dev_minor;
	uint64_t inode;
};

/**
 * struct search - through the files of a process
 * @functions: result
 * @pid: of the process
 * @visited_file: files that were looked into
 * @nr: how many
 */
struct search {
	struct gprof_alloc_functions *functions;
	int pid;
	struct visited_file visited_file[FILES_MAX];
	size_t nr;
};

/* The mapped file, even if its name leads elsewhere now; else the file of that name. */
static int open_mapped(int pid, const struct gprof_proc_map *m)
{
	char path[PATH_MAX + 64];
	struct stat st;
	int look, fd;

	snprintf(path, sizeof(path), "/proc/%d/map_files/%" PRIx64 "-%" PRIx64, pid, m->start, m->end);
	look = gprof_open_path(path, 0, &st);
	if (look < 0 && (size_t)snprintf(path, sizeof(path), "/proc/%d/root%s", pid, m->path) <
			sizeof(path))
		look = gprof_open_path(path, 0, &st);
	if (look < 0)
		return -1;
	fd = gprof_reopen(look);
	close(look);
	return fd;
}

static bool is_new(struct search *l, const struct gprof_proc_map *m)
{
	size_t i;

	for (i = 0; i < l->nr; i++)
		if (l->visited_file[i].inode == m->inode &&
		    l->visited_file[i].dev_major == m->dev_major &&
		    l->visited_file[i].dev_minor == m->dev_minor)
			return false;
	if (l->nr == FILES_MAX)
		return false;
	l->visited_file[l->nr++] = (struct visited_file){ m->dev_major, m->dev_minor, m->inode };
	return true;
}

static int on_map(void *ctx, const struct gprof_proc_map *m)
{
	struct search *l = ctx;
	int fd;

	if (!m->code || !m->inode || m->path[0] != '/' || !is_new(l, m))
		return 0;
	fd = open_mapped(l->pid, m);
	return fd < 0 ? 0 : scan_file(l->functions, fd, m->path);
}

int gprof_alloc_functions_find(struct gprof_alloc_functions *f, const struct gprof_target *target,
			       const char *what, struct gprof_error *e)
{
	int pid = target->type == GPROF_SELF ? (int)getpid() : target->id, err;
	struct search l = { .functions = f, .pid = pid };
	char path[64];
	FILE *maps;

	f->nr = f->nr_files = 0;
	if (target->type != GPROF_SELF && target->type != GPROF_PROCESS &&
	    target->type != GPROF_THREAD)
		return gprof_error_set(e, EINVAL, "%s: the functions that are probed are those of a "
				       "process; record one, or a thread", what);
	snprintf(path, sizeof(path), "/proc/%d/maps", pid);
	maps = fopen(path, "re");
	if (!maps)
		return gprof_error_set(e, errno == ENOENT ? ESRCH : errno, "%s: what process %d has "
				       "mapped cannot be read (%s); it may have ended, or is another "
				       "user's", what, pid, gprof_strerror(errno));
	err = gprof_proc_maps_each(maps, on_map, &l);
	if (err == -E2BIG)
		return gprof_error_set(e, E2BIG, "%s: process %d has more allocators than can be "
				       "probed at once", what, pid);
	if (err)
		return gprof_error_set(e, -err, "%s: no memory for the symbols of process %d", what,
				       pid);
	if (!f->nr)
		return gprof_error_set(e, ENOENT, "%s: no file of process %d has a malloc() and a "
				       "free() of 64 bits that can be found by name; a static program "
				       "must not be stripped", what, pid);
	return 0;
}

void gprof_alloc_functions_done(struct gprof_alloc_functions *f)
{
	while (f->nr_files)
		gprof_own_fd_close(&f->files[--f->nr_files]);
	f->nr = 0;
}
