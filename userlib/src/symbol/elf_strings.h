/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * elf_strings.h: do the strings of a file end within it?
 */
#ifndef GPROF_ELF_STRINGS_H
#define GPROF_ELF_STRINGS_H

#include <libelf.h>
#include <stdbool.h>

/**
 * gprof_elf_strings_end() - does each string table of a file end with a 0?
 *
 * libdwfl hands names out as they lie there, and checks where they begin, but not
 * that they end: without this 0 the last one goes on into other memory.
 */
bool gprof_elf_strings_end(Elf *elf);

#endif /* GPROF_ELF_STRINGS_H */
