/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Where the bytes of an ELF file are by its own addresses, and which file it is.
 */
#ifndef TOOLS_PROFILE_ELF_PLACE_H
#define TOOLS_PROFILE_ELF_PLACE_H

#include <stddef.h>
#include <stdint.h>

#define ELF_SEGMENTS_MAX	64
#define ELF_BUILD_ID_MAX	65	/* hexadecimal, with its end */

/**
 * struct elf_place - segments of a file
 * @segments: loaded ones: offset in the file, size there, address
 * @nr: how many
 * @build_id: in hexadecimal, or ""
 */
struct elf_place {
	struct elf_segment {
		uint64_t offset;
		uint64_t size;
		uint64_t address;
	} segments[ELF_SEGMENTS_MAX];
	size_t nr;
	char build_id[ELF_BUILD_ID_MAX];
};

/* elf_place_read() - NULL, or a sentence for free(); 64-bit little-endian files */
char *elf_place_read(struct elf_place *e, const char *file);

/* elf_place_address() - the file's own address of a byte of it, or UINT64_MAX */
uint64_t elf_place_address(const struct elf_place *e, uint64_t offset);

#endif /* TOOLS_PROFILE_ELF_PLACE_H */
