// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * object.c: files that code was mapped from.
 */
#include "object.h"

#include <elfutils/libdwelf.h>
#include <fcntl.h>
#include <gelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/proc_maps.h"

#if defined(__aarch64__)
#define OWN_MACHINE	EM_AARCH64
#elif defined(__riscv)
#define OWN_MACHINE	EM_RISCV
#else
#define OWN_MACHINE	EM_X86_64
#endif

#define TRIES_MAX	8	/* processes whose file could not be opened, before giving up */

void gprof_objects_init(struct gprof_objects *o)
{
	memset(o, 0, sizeof(*o));
	gprof_table_init(&o->table);
	gprof_name_cache_init(&o->names);
}

static void free_object(struct gprof_object *obj)
{
	if (!obj)
		return;
	gprof_symbolizer_close(obj->symbolizer);
	gprof_python_object_free(obj->python);
	gprof_pool_put(obj->file);
	gprof_map64_free(&obj->names);
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
	gprof_name_cache_free(&o->names);
	memset(o, 0, sizeof(*o));
}

static struct gprof_object *new_object(struct gprof_objects *o, const struct gprof_file_id *id)
{
	struct gprof_object *obj = calloc(1, sizeof(*obj));

	if (!obj)
		return NULL;
	obj->id = *id;
	gprof_name_cache_of(&o->names, &obj->names);
	obj->path = strdup(id->path);
	if (!obj->path || gprof_grow(&o->v, &o->cap, o->nr + 1, sizeof(*o->v))) {
		free_object(obj);
		return NULL;
	}
	obj->id.path = obj->path;
	o->v[o->nr++] = obj;
	return obj;
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

/* State that outlives the closing of the file. */
static void read_elf(struct gprof_object *obj, int fd)
{
	GElf_Ehdr ehdr;
	const void *id;
	ssize_t len;
	Elf *elf;

	elf_version(EV_CURRENT);
	elf = elf_begin(fd, ELF_C_READ, NULL);
	if (elf && elf_kind(elf) == ELF_K_ELF) {
		read_segments(obj, elf);
		len = dwelf_elf_gnu_build_id(elf, &id);
		if (len > 0 && len <= GPROF_BUILD_ID_MAX) {
			memcpy(obj->build_id, id, (size_t)len);
			obj->build_id_len = (size_t)len;
		}
		obj->elf = obj->nr_segments;
		obj->foreign = gelf_getehdr(elf, &ehdr) && ehdr.e_machine != OWN_MACHINE;
	}
	elf_end(elf);
}

static void open_object(struct gprof_object *obj, const struct gprof_mapped_at *at)
{
	struct stat st;
	int fd;

	if (obj->tries >= TRIES_MAX)
		return;
	fd = gprof_mapped_open(&obj->id, at, &obj->why);
	if (fd < 0 || fstat(fd, &st)) {
		obj->tries++;
		if (fd >= 0)
			close(fd);
		return;
	}
	obj->at = *at;
	obj->size = (uint64_t)st.st_size;
	obj->mtime = st.st_mtim;
	read_elf(obj, fd);
	if (obj->elf) {
		obj->file = gprof_pool_add(fd, !st.st_nlink);
		return;
	}
	/* Nothing to be read here later. */
	close(fd);
	obj->why = GPROF_MISSING_ELF;
	obj->tries = TRIES_MAX;
}

/* A file that was opened may be written to, and one that was closed be another one now. */
static bool is_unchanged(const struct gprof_object *obj, int fd)
{
	struct stat st;

	if (fstat(fd, &st))
		return false;
	if ((uint64_t)st.st_size == obj->size && st.st_mtim.tv_sec == obj->mtime.tv_sec &&
	    st.st_mtim.tv_nsec == obj->mtime.tv_nsec)
		return true;
	return obj->build_id_len && gprof_same_build_id(fd, obj->build_id, obj->build_id_len);
}

int gprof_object_dup(struct gprof_object *obj)
{
	int fd = gprof_pool_dup(obj->file);

	if (fd < 0 || is_unchanged(obj, fd))
		return fd;
	close(fd);
	obj->why = GPROF_MISSING_OTHER;
	return -1;
}

struct gprof_python_object *gprof_object_python(struct gprof_object *obj)
{
	int fd;

	if (obj->python_looked)
		return obj->python;
	obj->python_looked = true;
	fd = obj->elf && !obj->foreign && obj->file ? gprof_object_dup(obj) : -1;
	if (fd >= 0) {
		obj->python = gprof_python_object_new(fd, obj->path, &obj->other_python);
		close(fd);
	}
	return obj->python;
}

/* A file that was closed to make room. */
static int reopen_object(struct gprof_object *obj)
{
	int fd = gprof_mapped_open(&obj->id, &obj->at, &obj->why), copy;

	if (fd < 0)
		return -1;
	if (!is_unchanged(obj, fd)) {
		close(fd);
		obj->why = GPROF_MISSING_OTHER;
		return -1;
	}
	copy = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	if (copy >= 0)
		gprof_pool_again(obj->file, copy);
	return fd;
}

int gprof_object_open(struct gprof_object *obj)
{
	int fd = obj->file ? gprof_object_dup(obj) : -1;

	return fd < 0 && obj->file && obj->why != GPROF_MISSING_OTHER ? reopen_object(obj) : fd;
}

static bool object_eq(const void *ctx, uint32_t index, const void *key)
{
	const struct gprof_objects *o = ctx;
	const struct gprof_file_id *id = key, *have = &o->v[index]->id;

	return have->inode == id->inode && have->dev_major == id->dev_major &&
	       have->dev_minor == id->dev_minor && have->generation == id->generation &&
	       have->known == id->known && have->size == id->size &&
	       have->mtime_ns == id->mtime_ns && have->build_id_len == id->build_id_len &&
	       !memcmp(have->build_id, id->build_id, id->build_id_len) &&
	       !strcmp(have->path, id->path);
}

static uint64_t object_hash(const struct gprof_objects *o, const struct gprof_file_id *id)
{
	uint64_t hash = gprof_hash_bytes(o->table.seed, id->path, strlen(id->path));

	hash = gprof_hash_u64(hash, id->inode);
	hash = gprof_hash_u64(hash, (uint64_t)id->dev_major << 32 | id->dev_minor);
	return gprof_hash_u64(hash, id->generation);
}

struct gprof_object *gprof_objects_get(struct gprof_objects *o, const struct gprof_file_id *id,
				       const struct gprof_mapped_at *at)
{
	uint64_t hash = object_hash(o, id);
	struct gprof_object *obj;
	uint32_t index;

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
	if (!obj->elf)
		open_object(obj, at);
	return obj;
}

static void forget_names(struct gprof_objects *o)
{
	size_t i;

	for (i = 0; i < o->nr; i++) {
		gprof_map64_free(&o->v[i]->names);
		gprof_name_cache_of(&o->names, &o->v[i]->names);
	}
	gprof_name_cache_free(&o->names);
}

int gprof_objects_keep(struct gprof_objects *o)
{
	struct gprof_table table;
	uint32_t nr = 0;
	size_t i;
	int err = 0;

	gprof_table_init(&table);
	table.seed = o->table.seed;
	for (i = 0; i < o->nr && !err; i++) {
		struct gprof_object *obj = o->v[i];

		/* which is not found by its identity */
		if (obj == o->vdso)
			nr++;
		else if (obj->needed)
			err = gprof_table_insert(&table, object_hash(o, &obj->id), nr++);
	}
	if (err) {
		gprof_table_free(&table);
		return err;
	}
	for (i = 0, nr = 0; i < o->nr; i++) {
		struct gprof_object *obj = o->v[i];

		if (!obj->needed && obj != o->vdso) {
			free_object(obj);
			continue;
		}
		obj->needed = false;
		o->v[nr++] = obj;
	}
	o->nr = nr;
	gprof_table_free(&o->table);
	o->table = table;
	if (gprof_name_cache_old(&o->names))
		forget_names(o);
	return 0;
}

struct gprof_object *gprof_objects_add(struct gprof_objects *o, const struct gprof_file_id *id, int fd)
{
	struct gprof_object *obj = new_object(o, id);
	struct stat st;

	if (!obj) {
		close(fd);
		return NULL;
	}
	read_elf(obj, fd);
	if (!fstat(fd, &st)) {
		obj->size = (uint64_t)st.st_size;
		obj->mtime = st.st_mtim;
	}
	obj->file = gprof_pool_add(fd, true);
	return obj;
}

/*
 * Our own vDSO stands for everyone's: the kernel has one image per word size,
 * and 32-bit processes are kept out by their addresses. elfutils wants a file.
 */
static int find_end(void *ctx, const struct gprof_proc_map *m)
{
	struct gprof_proc_map *wanted = ctx;

	wanted->end = m->end;
	return m->start == wanted->start;
}

struct gprof_object *gprof_objects_vdso(struct gprof_objects *o)
{
	static const struct gprof_file_id id = { .path = "[vdso]" };
	unsigned long start = getauxval(AT_SYSINFO_EHDR);
	struct gprof_proc_map vdso = { .start = start };
	size_t len;
	FILE *maps;
	int fd;

	if (o->vdso || !start)
		return o->vdso;
	maps = fopen("/proc/self/maps", "re");
	if (!maps || !gprof_proc_maps_each(maps, find_end, &vdso))
		return NULL;
	len = vdso.end - start;
	fd = memfd_create("gprof vdso", MFD_CLOEXEC);
	if (fd < 0)
		return NULL;
	if (write(fd, (const void *)start, len) != (ssize_t)len) {
		close(fd);
		return NULL;
	}
	o->vdso = gprof_objects_add(o, &id, fd);
	return o->vdso;
}

bool gprof_object_vaddr(const struct gprof_object *obj, uint64_t offset, uint64_t *vaddr)
{
	const struct gprof_segment *found = NULL;
	size_t i;

	for (i = 0; i < obj->nr_segments; i++) {
		const struct gprof_segment *s = &obj->segments[i];
		uint64_t slack = s->offset & (s->align - 1);

		/* Whole pages are mapped: the bytes before a segment in its page, too. */
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

struct gprof_symbolizer *gprof_object_symbolizer(struct gprof_object *obj)
{
	uint32_t pid;
	int fd;

	/* A file that the program has closed may still be under its number. */
	if (obj->symbolizer && !gprof_symbolizer_is_open(obj->symbolizer))
		gprof_object_done(obj);
	if (obj->symbolizer || obj->no_symbolizer || !obj->file)
		return obj->symbolizer;
	fd = gprof_object_open(obj);
	if (fd >= 0) {
		/* Where the process has ended its paths are taken for ours. */
		pid = gprof_process_alive(&obj->at.process) ? obj->at.process.pid : 0;
		obj->symbolizer = gprof_symbolizer_open(fd, obj->path, pid);
		if (!obj->symbolizer)
			obj->why = GPROF_MISSING_ELF;
		close(fd);
	}
	obj->no_symbolizer = !obj->symbolizer;
	return obj->symbolizer;
}

void gprof_object_done(struct gprof_object *obj)
{
	if (obj->symbolizer && obj->why == GPROF_MISSING_NOT)
		obj->why = gprof_symbolizer_missing(obj->symbolizer);
	if (obj->symbolizer)
		obj->has_debug = gprof_symbolizer_has_debug(obj->symbolizer);
	gprof_symbolizer_close(obj->symbolizer);
	obj->symbolizer = NULL;
}
