// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * found_file.c: the file of a build-id, long after it was mapped, and where its code lay.
 */
#include "found_file.h"

#include <elfutils/libdwelf.h>
#include <errno.h>
#include <gelf.h>
#include <string.h>
#include <unistd.h>

#include "base/regular_file.h"
#include "elf_module.h"

#define PAGE_LEAST	4096U
#define PAGE_MOST	65536U	/* of arm64 */

/* Debug files keep the headers of sections that they do not have. */
static bool has_code(Elf *elf)
{
	Elf_Scn *scn = NULL;
	GElf_Shdr sh;

	while ((scn = elf_nextscn(elf, scn)))
		if (gelf_getshdr(scn, &sh) && sh.sh_flags & SHF_EXECINSTR &&
		    sh.sh_type != SHT_NOBITS)
			return true;
	return false;
}

static bool has_dwarf(Elf *elf)
{
	Elf_Scn *scn = NULL;
	size_t names;
	GElf_Shdr sh;

	while (!elf_getshdrstrndx(elf, &names) && (scn = elf_nextscn(elf, scn))) {
		const char *name = gelf_getshdr(scn, &sh) ? elf_strptr(elf, names, sh.sh_name) : NULL;

		if (name && strstr(name, "debug_info"))
			return true;
	}
	return false;
}

/* Opens a regular file; -1 with errno. */
static int open_file(const char *path)
{
	struct stat st;
	int look = gprof_open_path(path, 0, &st), fd, err;

	if (look < 0)
		return -1;
	fd = gprof_reopen(look);
	err = errno;
	close(look);
	errno = err;
	return fd;
}

int gprof_given_file_read(struct gprof_given_file *f, const char *path)
{
	int fd = open_file(path);
	const void *id;
	ssize_t len;
	Elf *elf;

	*f = (struct gprof_given_file){ .path = path };
	if (fd < 0)
		return -errno;
	elf_version(EV_CURRENT);
	elf = elf_begin(fd, ELF_C_READ, NULL);
	if (elf && elf_kind(elf) == ELF_K_ELF) {
		len = dwelf_elf_gnu_build_id(elf, &id);
		if (len > 0 && len <= GPROF_BUILD_ID_MAX) {
			memcpy(f->build_id, id, (size_t)len);
			f->build_id_len = (size_t)len;
		}
		f->code = has_code(elf);
		f->symbols = gprof_elf_has_symtab(elf) || has_dwarf(elf);
	}
	elf_end(elf);
	close(fd);
	return f->build_id_len ? 0 : -ENOEXEC;
}

/* Of a debug file alone. */
static void find_code(struct gprof_found_file *f, int fd)
{
	size_t nr = 0, found = 0, i;
	GElf_Phdr ph;
	Elf *elf;

	elf_version(EV_CURRENT);
	elf = elf_begin(fd, ELF_C_READ, NULL);
	if (elf && elf_kind(elf) == ELF_K_ELF && elf_getphdrnum(elf, &nr))
		nr = 0;
	for (i = 0; i < nr; i++) {
		if (!gelf_getphdr(elf, (int)i, &ph) || ph.p_type != PT_LOAD || !(ph.p_flags & PF_X))
			continue;
		f->apart |= !ph.p_filesz;
		f->code = ph.p_vaddr;
		f->code_size = ph.p_memsz;
		found++;
	}
	if (found != 1)
		f->code_size = 0;
	elf_end(elf);
}

/* Takes @fd. */
static int adopt(struct gprof_found_file *f, struct gprof_objects *o,
		 const struct gprof_lost_file *lost, int fd)
{
	const struct gprof_file_id id = { .path = lost->path };

	find_code(f, fd);
	f->object = gprof_objects_add(o, &id, fd);
	return f->object ? 0 : -ENOMEM;
}

int gprof_found_file_code(struct gprof_found_file *f, struct gprof_objects *o,
			  const struct gprof_lost_file *lost,
			  const struct gprof_debug_places *places, bool *other)
{
	int fd = -1;
	size_t i;

	*f = (struct gprof_found_file){ .object = NULL };
	*other = false;
	for (i = 0; places && i < places->nr_files && fd < 0; i++) {
		const struct gprof_given_file *g = &places->files[i];

		if (g->code && g->build_id_len == lost->build_id_len &&
		    !memcmp(g->build_id, lost->build_id, lost->build_id_len))
			fd = open_file(g->path);
		if (fd >= 0 && !gprof_same_build_id(fd, lost->build_id, lost->build_id_len)) {
			close(fd);
			fd = -1;
		}
	}
	if (fd < 0 && lost->path[0] == '/') {
		fd = open_file(lost->path);
		*other = fd >= 0 && !gprof_same_build_id(fd, lost->build_id, lost->build_id_len);
	}
	if (*other) {
		close(fd);
		fd = -1;
	}
	return fd < 0 ? 0 : adopt(f, o, lost, fd);
}

int gprof_found_file_debug(struct gprof_found_file *f, struct gprof_objects *o,
			   const struct gprof_lost_file *lost)
{
	const struct gprof_debug_request wanted = {
		.build_id = lost->build_id, .build_id_len = lost->build_id_len,
	};
	int fd = gprof_debug_file(&wanted);

	*f = (struct gprof_found_file){ .object = NULL };
	return fd < 0 ? 0 : adopt(f, o, lost, fd);
}

/* Does the mapping hold the one segment of code, and nothing else, with pages of this size? */
static bool is_code(const struct gprof_found_file *f, uint64_t size, uint64_t page)
{
	uint64_t head = f->code & (page - 1);

	return f->code_size < UINT64_MAX - 2 * page &&
	       ((head + f->code_size + page - 1) & ~(page - 1)) == size;
}

bool gprof_found_file_vaddr(const struct gprof_found_file *f, uint64_t start, uint64_t limit,
			    uint64_t offset, uint64_t address, uint64_t *vaddr)
{
	uint64_t page;

	if (address < start || address >= limit)
		return false;
	if (!f->apart)
		return gprof_object_vaddr(f->object, address - start + offset, vaddr);
	for (page = PAGE_LEAST; f->code_size && page <= PAGE_MOST; page *= 4)
		if (is_code(f, limit - start, page)) {
			*vaddr = (f->code & ~(page - 1)) + (address - start);
			return true;
		}
	return false;
}
