// SPDX-License-Identifier: GPL-2.0-only
/*
 * Headers alone are read, each with its limits checked: the file may be anyone's.
 */
#include "elf_place.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/diag.h"

#define NOTES_MAX	65536

static bool read_at(int fd, void *to, size_t size, uint64_t offset)
{
	return offset < INT64_MAX && pread(fd, to, size, (off_t)offset) == (ssize_t)size;
}

/* Notes are aligned to 4 bytes; sizes are checked before they are added up. */
static void find_build_id(struct elf_place *e, const unsigned char *notes, size_t left)
{
	Elf64_Nhdr n;

	while (left >= sizeof(n)) {
		size_t name, all;

		memcpy(&n, notes, sizeof(n));
		name = ((size_t)n.n_namesz + 3) & ~(size_t)3;
		all = sizeof(n) + name + (((size_t)n.n_descsz + 3) & ~(size_t)3);
		if (all > left)
			return;
		if (n.n_type == NT_GNU_BUILD_ID && n.n_namesz == 4 &&
		    !memcmp(notes + sizeof(n), "GNU", 4) && n.n_descsz * 2 < ELF_BUILD_ID_MAX) {
			for (size_t i = 0; i < n.n_descsz; i++)
				snprintf(e->build_id + 2 * i, 3, "%02x",
					 notes[sizeof(n) + name + i]);
			return;
		}
		notes += all;
		left -= all;
	}
}

static bool read_headers(struct elf_place *e, int fd)
{
	unsigned char notes[NOTES_MAX];
	Elf64_Ehdr h;
	Elf64_Phdr p;

	if (!read_at(fd, &h, sizeof(h), 0) || memcmp(h.e_ident, ELFMAG, SELFMAG) ||
	    h.e_ident[EI_CLASS] != ELFCLASS64 || h.e_ident[EI_DATA] != ELFDATA2LSB ||
	    h.e_phentsize != sizeof(p))
		return false;
	for (size_t i = 0; i < h.e_phnum; i++) {
		if (!read_at(fd, &p, sizeof(p), h.e_phoff + i * sizeof(p)))
			return false;
		if (p.p_type == PT_LOAD && e->nr < ELF_SEGMENTS_MAX)
			e->segments[e->nr++] = (struct elf_segment){ p.p_offset, p.p_filesz,
								     p.p_vaddr };
		if (p.p_type == PT_NOTE && p.p_filesz <= NOTES_MAX && !*e->build_id &&
		    read_at(fd, notes, p.p_filesz, p.p_offset))
			find_build_id(e, notes, p.p_filesz);
	}
	return e->nr;
}

char *elf_place_read(struct elf_place *e, const char *file)
{
	int fd = open(file, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	bool good;

	*e = (struct elf_place){ 0 };
	if (fd < 0)
		return xprintf("%s cannot be read: %s", file, strerror(errno));
	good = read_headers(e, fd);
	close(fd);
	return good ? NULL : xprintf("%s is no 64-bit ELF file", file);
}

uint64_t elf_place_address(const struct elf_place *e, uint64_t offset)
{
	for (size_t i = 0; i < e->nr; i++)
		if (offset >= e->segments[i].offset &&
		    offset - e->segments[i].offset < e->segments[i].size)
			return e->segments[i].address + (offset - e->segments[i].offset);
	return UINT64_MAX;
}
