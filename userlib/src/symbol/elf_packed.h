/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * elf_packed.h: how large the packed symbol table of an ELF file is when unpacked, and
 * whether it is sound.
 */
#ifndef GPROF_ELF_PACKED_H
#define GPROF_ELF_PACKED_H

#include <libelf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Limit on an unpacked .gnu_debugdata, and its dictionary; real ones have some MiB. */
#define GPROF_PACKED_MAX	(64 << 20)

/**
 * enum gprof_packed - may it be unpacked?
 * @GPROF_PACKED_SOUND: yes, or there is none
 * @GPROF_PACKED_LARGE: it comes to more than GPROF_PACKED_MAX
 * @GPROF_PACKED_DAMAGED: it is no symbol table by xz
 * @GPROF_PACKED_UNKNOWN: there was no memory to look
 */
enum gprof_packed {
	GPROF_PACKED_SOUND,
	GPROF_PACKED_LARGE,
	GPROF_PACKED_DAMAGED,
	GPROF_PACKED_UNKNOWN,
};

/**
 * gprof_xz_probe() - unpacked size of an xz stream
 * @data: the stream
 * @len: its bytes
 * @total: result where it is sound: bytes
 *
 * Nothing is unpacked. The sizes in the headers of blocks and in the index may lie, but each chunk
 * of LZMA2 has its unpacked size, and a decoder makes no more of it.
 */
enum gprof_packed gprof_xz_probe(const unsigned char *data, size_t len, uint64_t *total);

/**
 * gprof_elf_packed() - may elfutils unpack the .gnu_debugdata and symbol tables of a file?
 * @elf: the file; gprof_elf_strings_end() has found its strings sound
 *
 * The unpacked .gnu_debugdata is a file too, whose strings must end.
 */
enum gprof_packed gprof_elf_packed(Elf *elf);

/**
 * gprof_elf_inflated() - bytes that the compressed sections of a file say to come to
 * @elf: the file
 * @all: those with debug data too, and not only symbol tables
 */
uint64_t gprof_elf_inflated(Elf *elf, bool all);

#endif
