/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * elf_packed.h: how large the packed symbol table of an ELF file is when unpacked.
 */
#ifndef GPROF_ELF_PACKED_H
#define GPROF_ELF_PACKED_H

#include <libelf.h>
#include <stdbool.h>
#include <stddef.h>

/* What a .gnu_debugdata may unpack to, and its dictionary; real ones have some MiB. */
#define GPROF_PACKED_MAX	(64 << 20)

/**
 * gprof_xz_fits() - does an xz stream unpack to GPROF_PACKED_MAX at most?
 * @data: the stream
 * @len: its bytes
 *
 * Nothing is unpacked. The sizes in the headers of blocks and in the index may lie, but
 * each chunk of LZMA2 says what it unpacks to, and a decoder makes no more of it.
 *
 * Return: false also where the stream is damaged.
 */
bool gprof_xz_fits(const unsigned char *data, size_t len);

/**
 * gprof_elf_packed_fits() - may elfutils unpack the .gnu_debugdata of a file?
 * @elf: the file; gprof_elf_strings_end() has found its strings sound
 *
 * Return: true also where there is none.
 */
bool gprof_elf_packed_fits(Elf *elf);

#endif
