/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * elf_module.h: an ELF file, opened for elfutils so that it can do no harm.
 *
 * The file belongs to the recorded user. It is read, not mapped, since truncating a mapped file
 * kills its reader by SIGBUS; separate debug files are looked up by build-id under /usr/lib/debug
 * only, and nothing is fetched from a network. All addresses are those in the file (p_vaddr), no
 * bias.
 */
#ifndef GPROF_ELF_MODULE_H
#define GPROF_ELF_MODULE_H

#include <elfutils/libdwfl.h>
#include <stdbool.h>
#include <stdint.h>

#include "mapped_file.h"
#include "base/own_fd.h"
#include "base/table.h"

/**
 * struct gprof_elf - an open ELF file
 * @elf: libelf's handle, owned by @dwfl once that has opened it
 * @dwfl: session with this one module
 * @mod: the module
 * @own: descriptor
 * @given: @elf is owned by @dwfl
 * @bias: difference of dwfl's addresses from the file's
 * @machine: EM_*
 * @path: where it lies, or NULL; borrowed
 * @pid: a process whose path that is, or 0
 * @memory: budget for objects made of it, elfutils' included
 * @debug: descriptor of its debug file, which @dwfl closes; or none
 * @why: reason why debug data was left out, or GPROF_MISSING_NOT
 * @alt: file of parts that dwz(1) took out of its DWARF, or NULL
 * @alt_elf: libelf's handle for that
 * @asks_dwarf: elfutils is asked for DWARF, and may ask for debug files
 * @has_dwarf: it has had some
 * @no_dwarf: it has none, or must not be asked
 */
struct gprof_elf {
	Elf *elf;
	Dwfl *dwfl;
	Dwfl_Module *mod;
	struct gprof_own_fd own;
	bool given;
	GElf_Addr bias;
	uint16_t machine;
	const char *path;
	uint32_t pid;
	struct gprof_budget memory;
	struct gprof_own_fd debug;
	enum gprof_missing why;
	Dwarf *alt;
	Elf *alt_elf;
	bool asks_dwarf;
	bool has_dwarf;
	bool no_dwarf;
};

/**
 * gprof_elf_open() - open by descriptor
 * @m: file, which stays where it is
 * @fd: descriptor, which stays the caller's
 * @path: to find its debug file by, which lives as long as @m; or NULL
 * @pid: a process whose path that is, or 0
 *
 * Return: 0 or -errno.
 */
int gprof_elf_open(struct gprof_elf *m, int fd, const char *path, uint32_t pid);
void gprof_elf_close(struct gprof_elf *m);

/**
 * gprof_elf_is_open() - may more of the file be read?
 *
 * Not when the program has closed it; then nothing that reads may be asked for.
 */
bool gprof_elf_is_open(const struct gprof_elf *m);

/** gprof_elf_symbols() - may elfutils be asked for symbols? GPROF_MISSING_NOT, or why not */
enum gprof_missing gprof_elf_symbols(struct gprof_elf *m);

/** gprof_elf_has_symtab() - has a file the symbols that strip(1) takes out? */
bool gprof_elf_has_symtab(Elf *elf);

/** gprof_elf_symtab() - dwfl_module_getsymtab() */
int gprof_elf_symtab(struct gprof_elf *m);

/**
 * gprof_elf_dwarf() - DWARF of the file or of its debug file
 * @m: the file
 * @bias: to add to addresses of the file
 *
 * Return: NULL where there is none, or where it would take more than there is for it.
 */
Dwarf *gprof_elf_dwarf(struct gprof_elf *m, Dwarf_Addr *bias);

#endif /* GPROF_ELF_MODULE_H */
