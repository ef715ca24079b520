// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * mapped_file.c: from a mapping to the file that was mapped, or the reason why not.
 */
#include "mapped_file.h"

#include <elfutils/libdwelf.h>
#include <errno.h>
#include <fcntl.h>
#include <libelf.h>
#include <linux/fs.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/regular_file.h"

const char *gprof_missing_text(enum gprof_missing why)
{
	switch (why) {
	case GPROF_MISSING_GONE:
		return "file is gone";
	case GPROF_MISSING_DENIED:
		return "no access to the file";
	case GPROF_MISSING_OTHER:
		return "another file has its name";
	case GPROF_MISSING_HIDDEN:
		return "its process is hidden";
	case GPROF_MISSING_ELF:
		return "not a sound ELF file";
	case GPROF_MISSING_PACKED:
		return "packed symbols beyond 64 MiB";
	case GPROF_MISSING_MEMORY:
		return "no memory for its symbols";
	case GPROF_MISSING_DEBUG:
		return "debug data unsound or too large";
	default:
		return "";
	}
}

bool gprof_process_start(uint32_t pid, uint64_t *ticks)
{
	char path[32], text[1024];
	const char *p;
	size_t len;
	FILE *f;
	int i;

	snprintf(path, sizeof(path), "/proc/%u/stat", pid);
	f = fopen(path, "re");
	if (!f)
		return false;
	len = fread(text, 1, sizeof(text) - 1, f);
	fclose(f);
	text[len] = '\0';
	/* The name in parentheses may hold anything; the start is 20 fields behind it. */
	p = strrchr(text, ')');
	for (i = 0; p && i < 20; i++)
		p = strchr(p + 1, ' ');
	if (p)
		*ticks = strtoull(p, NULL, 10);
	return p;
}

/* Not after the pid was reused, nor where /proc is that of another pid namespace. */
bool gprof_process_alive(const struct gprof_process *id)
{
	long hz = sysconf(_SC_CLK_TCK);
	uint64_t ticks;

	return id->pid && hz > 0 && gprof_process_start(id->pid, &ticks) &&
	       id->start_ns / (1000000000ULL / (uint64_t)hz) == ticks;
}

/* Is there a process of which /proc (hidepid) tells us nothing? */
static bool is_hidden(uint32_t pid)
{
	char path[32];

	snprintf(path, sizeof(path), "/proc/%u/stat", pid);
	return pid && access(path, R_OK) && (!kill((pid_t)pid, 0) || errno == EPERM);
}

static bool same_inode(const struct stat *st, const struct gprof_file_id *id)
{
	return st->st_ino == id->inode && major(st->st_dev) == id->dev_major &&
	       minor(st->st_dev) == id->dev_minor;
}

static bool same_state(const struct stat *st, const struct gprof_file_id *id)
{
	return (uint64_t)st->st_size == id->size &&
	       (uint64_t)st->st_mtim.tv_sec * 1000000000 + (uint64_t)st->st_mtim.tv_nsec ==
	       id->mtime_ns;
}

/*
 * Could it be, as far as one knows without opening it? @mapped: it is the mapped file, or the file
 * of that name: overlayfs names the copy of a file that another one was mapped of.
 */
static bool may_be(const struct stat *st, const struct gprof_file_id *id, bool mapped)
{
	if (same_inode(st, id) || (mapped && !id->known))
		return true;
	if (!id->known)
		return false;
	if (mapped && id->build_id_len)
		return (uint64_t)st->st_size == id->size;
	/* Another file may claim the same build-id. */
	return (mapped || id->build_id_len) && same_state(st, id);
}

bool gprof_same_build_id(int fd, const unsigned char *build_id, size_t len)
{
	bool same = false;
	const void *bytes;
	Elf *elf;

	elf_version(EV_CURRENT);
	elf = elf_begin(fd, ELF_C_READ, NULL);
	if (elf && elf_kind(elf) == ELF_K_ELF &&
	    dwelf_elf_gnu_build_id(elf, &bytes) == (ssize_t)len)
		same = !memcmp(bytes, build_id, len);
	elf_end(elf);
	return same;
}

/* Is it? A number may have been given to a new file, and a file be written to. */
static bool is_it(int fd, const struct stat *st, const struct gprof_file_id *id, bool mapped)
{
	unsigned int generation;

	if (id->build_id_len)
		return gprof_same_build_id(fd, id->build_id, id->build_id_len);
	if (mapped && !id->known)
		return true;
	if (id->generation && !ioctl(fd, FS_IOC_GETVERSION, &generation) && generation)
		/* That of a file stays when it is written to. */
		return generation == id->generation ? !id->known || same_state(st, id)
						    : mapped && same_state(st, id);
	return !id->known || same_state(st, id);
}

/* Opens a regular file that passes for the one that was mapped. */
static int try_open(const char *path, int follow, const struct gprof_file_id *id, bool mapped,
		    enum gprof_missing *why)
{
	enum gprof_missing got = GPROF_MISSING_OTHER;
	struct stat st;
	int look = gprof_open_path(path, follow, &st), fd = -1;

	if (look < 0 && errno != ENXIO) {
		got = errno == EACCES || errno == EPERM ? GPROF_MISSING_DENIED : GPROF_MISSING_GONE;
	} else if (look >= 0 && may_be(&st, id, mapped)) {
		fd = gprof_reopen(look);
		if (fd < 0) {
			got = GPROF_MISSING_DENIED;
		} else if (fstat(fd, &st) || !is_it(fd, &st, id, mapped)) {
			close(fd);
			fd = -1;
		}
	}
	if (look >= 0)
		close(look);
	if (fd < 0 && got > *why)
		*why = got;
	return fd;
}

/* Has the file that a process executes the name of the mapped one? */
static bool is_exe(const char *exe, const struct gprof_file_id *id)
{
	static const char deleted[] = " (deleted)";
	size_t len = strlen(id->path);
	char text[4200];
	ssize_t n = readlink(exe, text, sizeof(text) - 1);

	if (n < 0 || (size_t)n < len || memcmp(text, id->path, len))
		return false;
	text[n] = '\0';
	return !text[len] || !strcmp(text + len, deleted);
}

static int open_of_process(const struct gprof_file_id *id, const struct gprof_mapped_at *at,
			   enum gprof_missing *why)
{
	enum gprof_missing exe = GPROF_MISSING_NOT;
	uint32_t pid = at->process.pid;
	char path[4200];
	int fd;

	/* Even if its name leads elsewhere now; wants privilege. */
	snprintf(path, sizeof(path), "/proc/%u/map_files/%llx-%llx", pid,
		 (unsigned long long)at->start, (unsigned long long)at->end);
	fd = try_open(path, 0, id, true, why);
	if (fd < 0) {
		/* Wants none. Mostly another file than a library, which tells nothing. */
		snprintf(path, sizeof(path), "/proc/%u/exe", pid);
		fd = try_open(path, 0, id, is_exe(path, id), &exe);
	}
	if (fd < 0 && id->path[0] == '/') {
		snprintf(path, sizeof(path), "/proc/%u/root%s", pid, id->path);
		fd = try_open(path, O_NOFOLLOW, id, id->any, why);
	}
	return fd;
}

int gprof_mapped_open(const struct gprof_file_id *id, const struct gprof_mapped_at *at,
		      enum gprof_missing *why)
{
	int fd = -1;

	*why = is_hidden(at->process.pid) ? GPROF_MISSING_HIDDEN : GPROF_MISSING_NOT;
	if (gprof_process_alive(&at->process)) {
		fd = open_of_process(id, at, why);
		/* Another process may have got the id since: then it was not its mapping. */
		if (fd >= 0 && !id->known && !gprof_process_alive(&at->process)) {
			close(fd);
			fd = -1;
		}
	}
	/* The kernel's paths are whole: no link leads to the file. */
	if (fd < 0 && id->path[0] == '/')
		fd = try_open(id->path, O_NOFOLLOW, id, false, why);
	if (fd >= 0)
		*why = GPROF_MISSING_NOT;
	else if (*why == GPROF_MISSING_NOT)
		*why = GPROF_MISSING_GONE;
	return fd;
}
