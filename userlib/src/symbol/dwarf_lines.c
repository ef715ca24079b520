// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * dwarf_lines.c: source lines and inlined functions, where DWARF tells.
 *
 * dwfl_module_addrdie() finds a unit through .debug_aranges alone, which clang
 * does not write, and dwarf_getscopes() walks the whole unit for each address.
 * So the ranges of units are indexed here, and those of a unit's functions when
 * the unit is first looked into.
 */
#include "dwarf_lines.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/table.h"

#define DEPTH_MAX	64	/* of namespaces and classes, and of blocks */

/**
 * struct span - a range of code and what it belongs to
 * @start: first address
 * @end: address after the last
 * @die: offset of the unit's or the function's DIE
 */
struct span {
	uint64_t start;
	uint64_t end;
	Dwarf_Off die;
};

struct spans {
	struct span *v;
	size_t nr;
	size_t cap;
};

/**
 * struct unit - a compilation unit
 * @die: offset of its DIE
 * @functions: its functions, once looked into
 * @indexed: was it?
 */
struct unit {
	Dwarf_Off die;
	struct spans functions;
	bool indexed;
};

struct gprof_dwarf {
	Dwarf *dw;
	Dwarf_Addr bias;	/* of DWARF's addresses against those of the file */
	struct unit *units;
	size_t nr_units;
	size_t cap_units;
	struct spans spans;	/* of units; @die is the unit's index */
};

static int by_start(const void *a, const void *b)
{
	const struct span *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	/* The wider one first, so that the narrower is found first going back. */
	return x->end == y->end ? 0 : x->end > y->end ? -1 : 1;
}

/* Add the ranges of a DIE. */
static int add_ranges(struct spans *s, Dwarf_Die *die, Dwarf_Off what)
{
	Dwarf_Addr base, start, end;
	ptrdiff_t off = 0;

	while ((off = dwarf_ranges(die, off, &base, &start, &end)) > 0) {
		/* 0 is where linkers put the ranges of what they dropped. */
		if (start >= end || !start)
			continue;
		if (gprof_grow(&s->v, &s->cap, s->nr + 1, sizeof(*s->v)))
			return -1;
		s->v[s->nr++] = (struct span){ start, end, what };
	}
	return 0;
}

static const struct span *find_span(const struct spans *s, uint64_t addr)
{
	size_t lo = 0, hi = s->nr, back;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (s->v[mid].start <= addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	/* Spans may lie in one another (nested functions), but rarely and not deep. */
	for (back = 0; back < 16 && lo; back++, lo--)
		if (addr < s->v[lo - 1].end)
			return &s->v[lo - 1];
	return NULL;
}

static void sort_spans(struct spans *s)
{
	if (s->nr)
		qsort(s->v, s->nr, sizeof(*s->v), by_start);
}

/*
 * libdw takes it for granted that the last string of a section ends. A file
 * whose does not is damaged, or made to do harm.
 */
static bool strings_end(Dwarf *dw)
{
	Elf *elf = dwarf_getelf(dw);
	Elf_Scn *scn = NULL;
	size_t shstrndx;

	if (!elf || elf_getshdrstrndx(elf, &shstrndx))
		return false;
	while ((scn = elf_nextscn(elf, scn))) {
		const char *name;
		Elf_Data *data;
		GElf_Shdr sh;

		if (!gelf_getshdr(scn, &sh))
			return false;
		name = elf_strptr(elf, shstrndx, sh.sh_name);
		if (!name || (strcmp(name, ".debug_str") && strcmp(name, ".debug_line_str")))
			continue;
		data = elf_rawdata(scn, NULL);	/* unpacked by libdw where it was compressed */
		if (data && data->d_size && ((const char *)data->d_buf)[data->d_size - 1])
			return false;
	}
	return true;
}

struct gprof_dwarf *gprof_dwarf_open(struct gprof_elf *m)
{
	struct gprof_dwarf *d = calloc(1, sizeof(*d));
	Dwarf_CU *cu = NULL;
	Dwarf_Die die;
	uint8_t type;

	if (!d)
		return NULL;
	d->dw = dwfl_module_getdwarf(m->mod, &d->bias);
	if (!d->dw || !strings_end(d->dw))
		goto none;
	d->bias -= m->bias;
	while (!dwarf_get_units(d->dw, cu, &cu, NULL, &type, &die, NULL)) {
		if (type != DW_UT_compile && type != DW_UT_skeleton)
			continue;
		if (gprof_grow(&d->units, &d->cap_units, d->nr_units + 1, sizeof(*d->units)) ||
		    add_ranges(&d->spans, &die, d->nr_units))
			goto none;
		memset(&d->units[d->nr_units], 0, sizeof(*d->units));
		d->units[d->nr_units++].die = dwarf_dieoffset(&die);
	}
	sort_spans(&d->spans);
	if (d->spans.nr)
		return d;
none:
	gprof_dwarf_close(d);
	return NULL;
}

void gprof_dwarf_close(struct gprof_dwarf *d)
{
	size_t i;

	if (!d)
		return;
	for (i = 0; i < d->nr_units; i++)
		free(d->units[i].functions.v);
	free(d->units);
	free(d->spans.v);
	free(d);
}

/* Functions may stand in namespaces, classes and modules. */
static int index_functions(struct unit *u, Dwarf_Die *parent, int depth)
{
	Dwarf_Die die;

	if (depth > DEPTH_MAX || dwarf_child(parent, &die))
		return 0;
	do {
		switch (dwarf_tag(&die)) {
		case DW_TAG_subprogram:
			if (add_ranges(&u->functions, &die, dwarf_dieoffset(&die)))
				return -1;
			__attribute__((fallthrough));	/* functions within functions */
		case DW_TAG_namespace:
		case DW_TAG_class_type:
		case DW_TAG_structure_type:
		case DW_TAG_union_type:
		case DW_TAG_module:
		case DW_TAG_lexical_block:
			if (index_functions(u, &die, depth + 1))
				return -1;
			break;
		default:
			break;
		}
	} while (!dwarf_siblingof(&die, &die));
	return 0;
}

static const char *string_attr(Dwarf_Die *die, unsigned int name)
{
	Dwarf_Attribute attr;

	return dwarf_attr_integrate(die, name, &attr) ? dwarf_formstring(&attr) : NULL;
}

static int64_t number_attr(Dwarf_Die *die, unsigned int name)
{
	Dwarf_Attribute attr;
	Dwarf_Word value;

	/* Not integrated: the call's place is the inlined instance's own. */
	if (!dwarf_attr(die, name, &attr) || dwarf_formudata(&attr, &value) || value > INT32_MAX)
		return 0;
	return (int64_t)value;
}

static const char *function_name(Dwarf_Die *die)
{
	const char *name = string_attr(die, DW_AT_linkage_name);

	if (!name)
		name = string_attr(die, DW_AT_MIPS_linkage_name);
	return name ? name : string_attr(die, DW_AT_name);
}

static void describe(Dwarf_Die *die, struct gprof_dwarf_frame *f)
{
	int line;

	f->name = function_name(die);
	f->start_line = dwarf_decl_line(die, &line) ? 0 : line;
}

/* The inlined function in @die that covers @pc, through any blocks; false when there is none. */
static bool inlined_child(Dwarf_Die *die, Dwarf_Addr pc, Dwarf_Die *found)
{
	Dwarf_Die scope = *die, child;
	int depth;

	for (depth = 0; depth < DEPTH_MAX; depth++) {
		bool deeper = false;

		if (dwarf_child(&scope, &child))
			return false;
		do {
			int tag = dwarf_tag(&child);

			if (tag != DW_TAG_inlined_subroutine && tag != DW_TAG_lexical_block &&
			    tag != DW_TAG_try_block && tag != DW_TAG_catch_block)
				continue;
			if (dwarf_haspc(&child, pc) != 1)
				continue;
			if (tag == DW_TAG_inlined_subroutine) {
				*found = child;
				return true;
			}
			scope = child;
			deeper = true;
			break;
		} while (!dwarf_siblingof(&child, &child));
		if (!deeper)
			return false;
	}
	return false;
}

/* The place of the call to an inlined function. */
static void call_site(Dwarf_Die *unit, Dwarf_Die *inlined, struct gprof_dwarf_frame *caller)
{
	int64_t file = number_attr(inlined, DW_AT_call_file);
	Dwarf_Files *files;
	size_t nr;

	caller->line = number_attr(inlined, DW_AT_call_line);
	caller->column = number_attr(inlined, DW_AT_call_column);
	caller->file = NULL;
	if (file >= 0 && !dwarf_getsrcfiles(unit, &files, &nr) && (size_t)file < nr)
		caller->file = dwarf_filesrc(files, (size_t)file, NULL, NULL);
}

static void source_line(Dwarf_Die *unit, Dwarf_Addr pc, struct gprof_dwarf_frame *f)
{
	Dwarf_Line *line = dwarf_getsrc_die(unit, pc);
	int n;

	if (!line)
		return;
	f->file = dwarf_linesrc(line, NULL, NULL);
	if (!dwarf_lineno(line, &n))
		f->line = n;
	if (!dwarf_linecol(line, &n))
		f->column = n;
}

size_t gprof_dwarf_frames(struct gprof_dwarf *d, uint64_t addr,
			  struct gprof_dwarf_frame *frames, size_t max)
{
	Dwarf_Addr pc = addr - d->bias;
	const struct span *span = find_span(&d->spans, pc);
	Dwarf_Die inlined[DEPTH_MAX];
	Dwarf_Die unit, function;
	struct unit *u;
	size_t nr = 0, i;

	if (!span)
		return 0;
	u = &d->units[span->die];
	if (!dwarf_offdie(d->dw, u->die, &unit))
		return 0;
	/* What a split unit has beyond its skeleton is used where it is found. */
	if (dwarf_tag(&unit) == DW_TAG_skeleton_unit) {
		Dwarf_Die split;

		if (!dwarf_cu_info(unit.cu, NULL, NULL, NULL, &split, NULL, NULL, NULL) && split.cu)
			unit = split;
	}
	if (!u->indexed) {
		u->indexed = true;
		if (index_functions(u, &unit, 0))
			u->functions.nr = 0;
		sort_spans(&u->functions);
	}
	span = find_span(&u->functions, pc);
	if (!span || !dwarf_offdie(dwarf_cu_getdwarf(unit.cu), span->die, &function)) {
		memset(&frames[0], 0, sizeof(frames[0]));
		source_line(&unit, pc, &frames[0]);
		return frames[0].line ? 1 : 0;
	}

	for (inlined[0] = function; nr + 1 < DEPTH_MAX; nr++)
		if (!inlined_child(&inlined[nr], pc, &inlined[nr + 1]))
			break;
	/* inlined[nr] is the innermost; inlined[0] is the function itself. */
	for (i = 0; i <= nr && i < max; i++) {
		bool last = i + 1 == max;
		size_t at = last ? 0 : nr - i;
		struct gprof_dwarf_frame *f = &frames[i];

		memset(f, 0, sizeof(*f));
		describe(&inlined[at], f);
		if (at == nr)
			source_line(&unit, pc, f);
		else
			call_site(&unit, &inlined[at + 1], f);
	}
	return i;
}
