// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * dwarf_cost.c: an estimate of libdw's memory for a piece of DWARF, before it reads it.
 */
#include "dwarf_cost.h"

#include <dwarf.h>
#include <gelf.h>
#include <string.h>

#include "dwarf_headers.h"

/* Bytes of libdw's structs, hash tables and search trees, rounded up. */
#define UNIT_COST	1024
#define ABBREV_COST	96
#define ROW_COST	48	/* kept */
#define ROW_PEAK	112	/* while a table is read */
#define FILE_COST	80	/* and its name */

static struct gprof_dwarf_bytes *section_of(struct gprof_dwarf_file *f, const char *name)
{
	const struct {
		const char *name;
		struct gprof_dwarf_bytes *bytes;
	} known[] = {
		{ "debug_info", &f->info }, { "debug_types", &f->types },
		{ "debug_abbrev", &f->abbrev }, { "debug_line", &f->line },
		{ "debug_str", &f->str }, { "debug_line_str", &f->line_str },
	};
	size_t i;

	/* "".zdebug_str" is the old name of a compressed ".debug_str". */
	if (*name++ != '.')
		return NULL;
	name += *name == 'z';
	for (i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (!strcmp(name, known[i].name))
			return known[i].bytes;
	return NULL;
}

static bool ends(const struct gprof_dwarf_bytes *strings)
{
	return !strings->nr || !strings->v[strings->nr - 1];
}

/* False: libdw would read strings beyond their section, or takes bytes in another order. */
static bool find_sections(struct gprof_dwarf_file *f, Dwarf *dw)
{
	Elf *elf = dwarf_getelf(dw);
	const char *ident = elf ? elf_getident(elf, NULL) : NULL;
	Elf_Scn *scn = NULL;
	size_t names;

	if (!ident || ident[EI_DATA] != ELFDATA2LSB || elf_getshdrstrndx(elf, &names))
		return false;
	f->dw = dw;
	while ((scn = elf_nextscn(elf, scn))) {
		struct gprof_dwarf_bytes *bytes;
		const char *name;
		Elf_Data *data;
		GElf_Shdr sh;

		if (!gelf_getshdr(scn, &sh))
			return false;
		name = elf_strptr(elf, names, sh.sh_name);
		bytes = name ? section_of(f, name) : NULL;
		if (!bytes || sh.sh_type == SHT_NOBITS)
			continue;
		data = elf_rawdata(scn, NULL);	/* unpacked by libdw where it was compressed */
		if (!data || !data->d_buf || !data->d_size)
			continue;
		if (bytes->v)	/* which of them libdw took is its own affair */
			return false;
		*bytes = (struct gprof_dwarf_bytes){ data->d_buf, data->d_size };
	}
	return ends(&f->str) && ends(&f->line_str);
}

static bool pay(struct gprof_dwarf_cost *c, uint64_t nr, uint64_t each)
{
	return !gprof_budget_charge(c->memory, nr * each);
}

/* libdw keeps all abbreviations before the one that it searches for; @code 0: for all. */
static bool pay_abbrevs(struct gprof_dwarf_cost *c, const struct gprof_dwarf_file *f,
			uint64_t at, uint64_t code)
{
	uint64_t max = (c->memory->max - c->memory->used) / ABBREV_COST;

	return pay(c, gprof_dwarf_abbrevs(&f->abbrev, at, code, max), ABBREV_COST);
}

static bool pay_units(struct gprof_dwarf_cost *c, const struct gprof_dwarf_file *f,
		      const struct gprof_dwarf_bytes *section)
{
	struct gprof_dwarf_unit unit = { 0 };

	while (gprof_dwarf_next_unit(section, section == &f->types, &unit)) {
		/* Of the alternative file any unit may be asked for anything. */
		uint64_t code = f == &c->alt ? 0 : unit.code;

		if (!pay(c, 1, UNIT_COST) || !pay_abbrevs(c, f, unit.abbrev, code))
			return false;
	}
	return true;
}

bool gprof_dwarf_cost_open(struct gprof_dwarf_cost *c, Dwarf *dw, Dwarf *alt,
			   struct gprof_budget *memory)
{
	memset(c, 0, sizeof(*c));
	gprof_map64_init(&c->units);
	c->memory = memory;
	c->units.budget = memory;
	if (!find_sections(&c->main, dw) || (alt && !find_sections(&c->alt, alt)))
		return false;
	return pay_units(c, &c->main, &c->main.info) && pay_units(c, &c->main, &c->main.types) &&
	       pay_units(c, &c->alt, &c->alt.info);
}

void gprof_dwarf_cost_close(struct gprof_dwarf_cost *c)
{
	gprof_map64_free(&c->units);
}

bool gprof_dwarf_cost_unit(struct gprof_dwarf_cost *c, Dwarf_CU *cu)
{
	uint32_t known = gprof_map64_get(&c->units, (uintptr_t)cu);
	Dwarf_Off abbrev;
	Dwarf_Die die;
	bool paid;

	if (known != GPROF_NONE)
		return known;
	/* All those of the alternative file are. */
	paid = c->alt.dw && dwarf_cu_getdwarf(cu) == c->alt.dw;
	if (dwarf_cu_getdwarf(cu) == c->main.dw)
		paid = dwarf_cu_die(cu, &die, NULL, &abbrev, NULL, NULL, NULL, NULL) &&
		       pay_abbrevs(c, &c->main, abbrev, 0);
	return !gprof_map64_put(&c->units, (uintptr_t)cu, paid) && paid;
}

static size_t longest_string(const struct gprof_dwarf_bytes *strings)
{
	size_t at = 0, longest = 0;

	while (at < strings->nr) {
		size_t len = strnlen((const char *)strings->v + at, strings->nr - at);

		if (len > longest)
			longest = len;
		at += len + 1;
	}
	return longest;
}

bool gprof_dwarf_cost_lines(struct gprof_dwarf_cost *c, Dwarf_Die *unit, const char *dir)
{
	struct gprof_dwarf_rows rows;
	Dwarf_Attribute attr;
	Dwarf_Lines *lines;
	Dwarf_Word at;
	uint64_t name;
	size_t nr;

	if (!dwarf_attr(unit, DW_AT_stmt_list, &attr) || dwarf_formudata(&attr, &at) ||
	    !gprof_dwarf_rows(&c->main.line, at, &rows))
		return false;
	if (!c->longest && rows.line_str)
		c->longest = longest_string(&c->main.line_str);
	/* A name gets its directory before it, and that the unit's. */
	name = rows.longest > c->longest || !rows.line_str ? rows.longest : c->longest;
	name = 2 * name + (dir ? strlen(dir) : 0) + FILE_COST;
	if (rows.files > c->memory->max / name || !pay(c, rows.files, name) ||
	    !pay(c, rows.rows, ROW_PEAK))
		return false;
	if (dwarf_getsrclines(unit, &lines, &nr))
		nr = 0;
	gprof_budget_uncharge(c->memory, rows.rows * ROW_PEAK);
	return pay(c, nr, ROW_COST);
}
