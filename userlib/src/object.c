// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * object.c: files that code was mapped from.
 */
#include "object.h"

#include <elfutils/libdwelf.h>
#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <linux/fs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#define OPEN_MAX_FILES	512	/* descriptors held, and at most a quarter of RLIMIT_NOFILE */
#define TRIES_MAX	8	/* processes whose file could not be opened, before giving up */

void gprof_objects_init(struct gprof_objects *o)
{
	struct rlimit lim;

	memset(o, 0, sizeof(*o));
	gprof_table_init(&o->table);
	o->open_max = OPEN_MAX_FILES;
	if (!getrlimit(RLIMIT_NOFILE, &lim) && lim.rlim_cur / 4 < o->open_max)
		o->open_max = lim.rlim_cur / 4;
	if (o->open_max < 4)
		o->open_max = 4;
}

static void free_object(struct gprof_object *obj)
{
	if (!obj)
		return;
	gprof_symbolizer_close(obj->symbolizer);
	if (obj->fd >= 0)
		close(obj->fd);
	free(obj->segments);
	free(obj->path);
	free(obj);
}

void gprof_objects_free(struct gprof_objects *o)
{
	size_t i;

	for (i = 0; i < o->nr; i++)
		free_object(o->v[i]);
	free(o->v);
	gprof_table_free(&o->table);
	memset(o, 0, sizeof(*o));
}

static struct gprof_object *new_object(struct gprof_objects *o, const struct gprof_file_id *id)
{
	struct gprof_object *obj = calloc(1, sizeof(*obj));

	if (!obj)
		return NULL;
	obj->fd = -1;
	obj->id = *id;
	obj->path = strdup(id->path);
	if (!obj->path || gprof_grow(&o->v, &o->cap, o->nr + 1, sizeof(*o->v))) {
		free_object(obj);
		return NULL;
	}
	obj->id.path = obj->path;
	o->v[o->nr++] = obj;
	return obj;
}

/*
 * Is this the file that was mapped? The device may differ (btrfs, overlayfs),
 * the inode number may carry the layer in its upper half (overlayfs, xino), and
 * a number may have been given to a new file, which its generation shows on the
 * file systems that tell it.
 */
static bool same_file(int fd, const struct gprof_file_id *id)
{
	unsigned int generation;
	struct stat st;

	if (fstat(fd, &st) || !S_ISREG(st.st_mode))
		return false;
	if (st.st_ino != id->inode &&
	    (id->inode >> 32 || (uint32_t)st.st_ino != id->inode || !(st.st_ino >> 56)))
		return false;
	if (id->generation && !ioctl(fd, FS_IOC_GETVERSION, &generation) && generation &&
	    generation != id->generation)
		return false;
	return true;
}

static int try_open(const char *path, const struct gprof_file_id *id)
{
	/* Not blocking: a path may by now be a pipe or a device. */
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);

	if (fd >= 0 && !same_file(fd, id)) {
		close(fd);
		return -1;
	}
	return fd;
}

static int find_file(const struct gprof_file_id *id, uint32_t pid, uint64_t start, uint64_t end)
{
	char path[4200];
	int fd = -1;

	if (id->path[0] == '/') {
		fd = try_open(id->path, id);
		if (fd < 0 && pid) {
			snprintf(path, sizeof(path), "/proc/%u/root%s", pid, id->path);
			fd = try_open(path, id);
		}
	}
	if (fd < 0 && pid) {
		/* Deleted, a memfd, or not reachable by name; needs privilege. */
		snprintf(path, sizeof(path), "/proc/%u/map_files/%llx-%llx", pid,
			 (unsigned long long)start, (unsigned long long)end);
		fd = try_open(path, id);
	}
	if (fd < 0 && pid) {
		/* Needs none: the program itself, though it was deleted. */
		snprintf(path, sizeof(path), "/proc/%u/exe", pid);
		fd = try_open(path, id);
	}
	return fd;
}

static void read_segments(struct gprof_object *obj, Elf *elf)
{
	size_t nr, i;

	if (elf_getphdrnum(elf, &nr) || !nr || nr > 1024)
		return;
	obj->segments = calloc(nr, sizeof(*obj->segments));
	if (!obj->segments)
		return;
	for (i = 0; i < nr; i++) {
		struct gprof_segment *s = &obj->segments[obj->nr_segments];
		GElf_Phdr ph;

		if (!gelf_getphdr(elf, (int)i, &ph) || ph.p_type != PT_LOAD || !ph.p_filesz)
			continue;
		s->offset = ph.p_offset;
		s->filesz = ph.p_filesz;
		s->vaddr = ph.p_vaddr;
		s->align = ph.p_align > 1 && ph.p_align <= 1 << 21 ? ph.p_align : 4096;
		s->exec = ph.p_flags & PF_X;
		obj->nr_segments++;
	}
}

/* What must be known even after the file has been closed. */
static void read_elf(struct gprof_object *obj)
{
	const void *id;
	ssize_t len;
	Elf *elf;

	elf_version(EV_CURRENT);
	elf = elf_begin(obj->fd, ELF_C_READ, NULL);
	if (elf && elf_kind(elf) == ELF_K_ELF) {
		read_segments(obj, elf);
		len = dwelf_elf_gnu_build_id(elf, &id);
		if (len > 0 && len <= GPROF_BUILD_ID_MAX) {
			memcpy(obj->build_id, id, (size_t)len);
			obj->build_id_len = (size_t)len;
		}
		obj->elf = obj->nr_segments;
	}
	elf_end(elf);
}

/* Close the file that was unused for longest, rather one that can be opened again. */
static void make_room(struct gprof_objects *o)
{
	struct gprof_object *victim = NULL;
	size_t i;

	if (o->open < o->open_max)
		return;
	for (i = 0; i < o->nr; i++) {
		struct gprof_object *obj = o->v[i];

		if (obj->fd < 0 || obj == o->vdso)
			continue;
		if (!victim || victim->pinned > obj->pinned ||
		    (victim->pinned == obj->pinned && victim->used > obj->used))
			victim = obj;
	}
	if (!victim)
		return;
	close(victim->fd);
	victim->fd = -1;
	o->open--;
}

static void open_object(struct gprof_objects *o, struct gprof_object *obj, uint32_t pid,
			uint64_t start, uint64_t end)
{
	struct stat st;

	if (obj->tries >= TRIES_MAX)
		return;
	make_room(o);
	obj->fd = find_file(&obj->id, pid, start, end);
	if (obj->fd < 0 || fstat(obj->fd, &st)) {
		obj->tries++;
		return;
	}
	o->open++;
	obj->pinned = !st.st_nlink;
	obj->size = (uint64_t)st.st_size;
	obj->mtime = st.st_mtim;
	read_elf(obj);
	if (obj->elf)
		return;
	/* Nothing to be read here later. */
	close(obj->fd);
	obj->fd = -1;
	o->open--;
	obj->tries = TRIES_MAX;
}

/* A file that was closed to make room: is what lies there now still the same? */
static void reopen_object(struct gprof_objects *o, struct gprof_object *obj)
{
	struct stat st;

	make_room(o);
	obj->fd = find_file(&obj->id, 0, 0, 0);
	if (obj->fd < 0)
		return;
	if (!fstat(obj->fd, &st) && (uint64_t)st.st_size == obj->size &&
	    st.st_mtim.tv_sec == obj->mtime.tv_sec && st.st_mtim.tv_nsec == obj->mtime.tv_nsec) {
		o->open++;
		return;
	}
	close(obj->fd);
	obj->fd = -1;
}

static bool object_eq(const void *ctx, uint32_t index, const void *key)
{
	const struct gprof_objects *o = ctx;
	const struct gprof_file_id *id = key, *have = &o->v[index]->id;

	return have->inode == id->inode && have->dev_major == id->dev_major &&
	       have->dev_minor == id->dev_minor && have->generation == id->generation &&
	       !strcmp(have->path, id->path);
}

struct gprof_object *gprof_objects_get(struct gprof_objects *o, const struct gprof_file_id *id,
				       uint32_t pid, uint64_t start, uint64_t end)
{
	uint64_t hash = gprof_hash_bytes(o->table.seed, id->path, strlen(id->path));
	struct gprof_object *obj;
	uint32_t index;

	hash = gprof_hash_u64(hash, id->inode);
	hash = gprof_hash_u64(hash, (uint64_t)id->dev_major << 32 | id->dev_minor);
	hash = gprof_hash_u64(hash, id->generation);
	index = gprof_table_find(&o->table, hash, object_eq, o, id);
	if (index != GPROF_NONE) {
		obj = o->v[index];
	} else {
		obj = new_object(o, id);
		if (!obj)
			return NULL;
		if (gprof_table_insert(&o->table, hash, (uint32_t)o->nr - 1)) {
			o->nr--;
			free_object(obj);
			return NULL;
		}
	}
	obj->used = ++o->clock;
	if (!obj->elf)
		open_object(o, obj, pid, start, end);
	return obj;
}

/*
 * Our own vDSO stands for everyone's: the kernel has one image per word size,
 * and 32-bit processes are kept out by their addresses. elfutils wants a file.
 */
struct gprof_object *gprof_objects_vdso(struct gprof_objects *o)
{
	static const struct gprof_file_id id = { .path = "[vdso]" };
	unsigned long start = getauxval(AT_SYSINFO_EHDR);
	unsigned long lo, hi;
	char line[512];
	size_t len = 0;
	FILE *maps;
	int fd;

	if (o->vdso || !start)
		return o->vdso;
	maps = fopen("/proc/self/maps", "re");
	if (!maps)
		return NULL;
	while (fgets(line, sizeof(line), maps))
		if (sscanf(line, "%lx-%lx", &lo, &hi) == 2 && lo == start)
			len = hi - lo;
	fclose(maps);
	fd = len ? memfd_create("gprof vdso", MFD_CLOEXEC) : -1;
	if (fd < 0)
		return NULL;
	if (write(fd, (const void *)start, len) != (ssize_t)len) {
		close(fd);
		return NULL;
	}
	o->vdso = new_object(o, &id);
	if (!o->vdso) {
		close(fd);
		return NULL;
	}
	o->vdso->fd = fd;
	o->vdso->pinned = true;
	o->open++;
	read_elf(o->vdso);
	return o->vdso;
}

bool gprof_object_vaddr(const struct gprof_object *obj, uint64_t offset, uint64_t *vaddr)
{
	const struct gprof_segment *found = NULL;
	size_t i;

	for (i = 0; i < obj->nr_segments; i++) {
		const struct gprof_segment *s = &obj->segments[i];
		uint64_t slack = s->offset & (s->align - 1);

		/* Whole pages are mapped: what lies before a segment in its page, too. */
		if (offset < s->offset - slack || offset - (s->offset - slack) >= s->filesz + slack)
			continue;
		if (!found || (s->exec && !found->exec) ||
		    (s->exec == found->exec && offset >= s->offset))
			found = s;
	}
	if (!found)
		return false;
	*vaddr = found->vaddr + (offset - found->offset);
	return true;
}

struct gprof_symbolizer *gprof_object_symbolizer(struct gprof_objects *o,
						 struct gprof_object *obj)
{
	if (obj->symbolizer || obj->no_symbolizer || !obj->elf)
		return obj->symbolizer;
	if (obj->fd < 0)
		reopen_object(o, obj);
	if (obj->fd >= 0)
		obj->symbolizer = gprof_symbolizer_open(obj->fd);
	obj->no_symbolizer = !obj->symbolizer;
	return obj->symbolizer;
}

void gprof_object_done(struct gprof_object *obj)
{
	gprof_symbolizer_close(obj->symbolizer);
	obj->symbolizer = NULL;
}
