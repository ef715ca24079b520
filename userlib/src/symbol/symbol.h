/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * symbol.h: functions of an ELF file by address.
 *
 * From .symtab of the file or of its separate debug file, else from .dynsym and
 * .gnu_debugdata; entries of the procedure linkage table are called NAME@plt.
 */
#ifndef GPROF_SYMBOL_H
#define GPROF_SYMBOL_H

#include <stddef.h>
#include <stdint.h>

#include "elf_module.h"
#include "mapped_file.h"
#include "base/table.h"

/**
 * struct gprof_symbol - a function
 * @start: address
 * @end: address after the last
 * @name: name, borrowed from the file or from @made of the table
 * @outer: index + 1 of the symbol around this one, or 0
 */
struct gprof_symbol {
	uint64_t start;
	uint64_t end;
	const char *name;
	uint32_t outer;
};

/**
 * struct gprof_symbols - functions in the order of addresses
 * @v: the functions
 * @nr: how many
 * @cap: room in @v
 * @made: names that are not those of the file
 * @nr_made: how many
 * @cap_made: room in @made
 * @texts: budget for the texts of @made
 * @memory: budget for @v, while it grows: that of the file
 * @looked: bytes in which ends of names were looked for
 * @why: why those that the file has were not read, or GPROF_MISSING_NOT
 */
struct gprof_symbols {
	struct gprof_symbol *v;
	size_t nr;
	size_t cap;
	char **made;
	size_t nr_made;
	size_t cap_made;
	struct gprof_budget texts;
	struct gprof_budget *memory;
	uint64_t looked;
	enum gprof_missing why;
};

/** gprof_symbols_load() - read all; 0 or -ENOMEM; a file without symbols gives none */
int gprof_symbols_load(struct gprof_symbols *s, struct gprof_elf *m);
void gprof_symbols_free(struct gprof_symbols *s);

/** gprof_symbols_find() - the function at an address, or NULL */
const struct gprof_symbol *gprof_symbols_find(const struct gprof_symbols *s, uint64_t addr);

#endif /* GPROF_SYMBOL_H */
