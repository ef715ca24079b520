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

#include "dwarf_attr.h"
#include "base/table.h"

#define DEPTH_MAX	64	/* of namespaces and classes, and of blocks */
#define RANGES_MAX	(1 << 24)	/* of ranges that are put in order */
#define LOOKS_MAX	(1 << 25)	/* of DIEs and ranges of inlined functions: some seconds */

/**
 * struct span - a range of code and its unit
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
 * @lines: it has a table of lines, that libdw has read
 */
struct unit {
	Dwarf_Off die;
	struct spans functions;
	bool indexed;
	bool lines;
};

struct gprof_dwarf {
	struct gprof_elf *elf;
	Dwarf *dw;
	struct gprof_dwarf_cost cost;
	uint64_t dies_left;	/* that may be passed yet in search of functions */
	uint64_t ranges_left;	/* ... ranges of these and of units */
	uint64_t looks_left;	/* ... in search of inlined functions */
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

/* Units and functions may share one list of ranges, and DIEs one list of siblings. */
static bool step(struct gprof_dwarf *d, uint64_t *left)
{
	if (!*left) {
		d->elf->why = GPROF_MISSING_DEBUG;
		return false;
	}
	--*left;
	return true;
}

/* Add the ranges of a DIE. */
static int add_ranges(struct gprof_dwarf *d, struct spans *s, Dwarf_Die *die, Dwarf_Off what)
{
	Dwarf_Addr base, start, end;
	ptrdiff_t off = 0;

	while ((off = dwarf_ranges(die, off, &base, &start, &end)) > 0) {
		if (!step(d, &d->ranges_left))
			return -1;
		/* 0 is where linkers put the ranges of dropped sections. */
		if (start >= end || !start)
			continue;
		if (gprof_grow_within(&d->elf->memory, &s->v, &s->cap, s->nr + 1, sizeof(*s->v)))
			return -1;
		s->v[s->nr++] = (struct span){ start, end, what };
	}
	return 0;
}

static bool covers(struct gprof_dwarf *d, Dwarf_Die *die, Dwarf_Addr pc)
{
	Dwarf_Addr base, start, end;
	ptrdiff_t off = 0;

	while ((off = dwarf_ranges(die, off, &base, &start, &end)) > 0 &&
	       step(d, &d->looks_left))
		if (pc >= start && pc < end)
			return true;
	return false;
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

struct gprof_dwarf *gprof_dwarf_open(struct gprof_elf *m)
{
	struct gprof_dwarf *d = calloc(1, sizeof(*d));
	Dwarf_CU *cu = NULL;
	Dwarf_Die die;
	uint8_t type;

	if (!d)
		return NULL;
	d->elf = m;
	d->dw = gprof_elf_dwarf(m, &d->bias);
	if (!d->dw) {
		free(d);
		return NULL;
	}
	d->bias -= m->bias;
	if (!gprof_dwarf_cost_open(&d->cost, d->dw, m->alt, &m->memory))
		goto none;
	/* Each has a byte at least. */
	d->dies_left = d->cost.main.info.nr;
	d->ranges_left = RANGES_MAX;
	d->looks_left = LOOKS_MAX;
	/* Where there is none libdw takes units of other names (".debug_info.dwo"). */
	while (d->cost.main.info.nr && !dwarf_get_units(d->dw, cu, &cu, NULL, &type, &die, NULL)) {
		/* The rest of a split unit is in a file that its skeleton names. */
		if (type != DW_UT_compile && type != DW_UT_skeleton)
			continue;
		if (gprof_grow_within(&m->memory, &d->units, &d->cap_units, d->nr_units + 1,
				      sizeof(*d->units)) ||
		    add_ranges(d, &d->spans, &die, d->nr_units))
			goto none;
		memset(&d->units[d->nr_units], 0, sizeof(*d->units));
		d->units[d->nr_units++].die = dwarf_dieoffset(&die);
	}
	sort_spans(&d->spans);
	if (d->spans.nr)
		return d;
	gprof_dwarf_close(d);
	return NULL;
none:
	m->why = GPROF_MISSING_DEBUG;
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
	gprof_dwarf_cost_close(&d->cost);
	free(d);
}

/* Functions may stand in namespaces, classes and modules. */
static int index_functions(struct gprof_dwarf *d, struct unit *u, Dwarf_Die *parent, int depth)
{
	Dwarf_Die die;

	if (depth > DEPTH_MAX || dwarf_child(parent, &die))
		return 0;
	do {
		if (!step(d, &d->dies_left))
			return -1;
		switch (dwarf_tag(&die)) {
		case DW_TAG_subprogram:
			if (add_ranges(d, &u->functions, &die, dwarf_dieoffset(&die)))
				return -1;
			__attribute__((fallthrough));	/* functions within functions */
		case DW_TAG_namespace:
		case DW_TAG_class_type:
		case DW_TAG_structure_type:
		case DW_TAG_union_type:
		case DW_TAG_module:
		case DW_TAG_lexical_block:
			if (index_functions(d, u, &die, depth + 1))
				return -1;
			break;
		default:
			break;
		}
	} while (!dwarf_siblingof(&die, &die));
	return 0;
}

/* A unit beyond its first DIE is read when it is first needed. */
static void index_unit(struct gprof_dwarf *d, struct unit *u, Dwarf_Die *unit)
{
	const char *dir;

	u->indexed = true;
	if (!gprof_dwarf_cost_unit(&d->cost, unit->cu)) {
		d->elf->why = GPROF_MISSING_DEBUG;
		return;
	}
	if (index_functions(d, u, unit, 0)) {
		d->elf->why = GPROF_MISSING_DEBUG;
		u->functions.nr = 0;
	}
	sort_spans(&u->functions);
	if (!dwarf_hasattr(unit, DW_AT_stmt_list) || !gprof_dwarf_sound(unit))
		return;
	dir = gprof_dwarf_string(&d->cost, unit, DW_AT_comp_dir);
	if (dir || !dwarf_hasattr(unit, DW_AT_comp_dir))
		u->lines = gprof_dwarf_cost_lines(&d->cost, unit, dir);
	if (!u->lines)
		d->elf->why = GPROF_MISSING_DEBUG;
}

static const char *function_name(struct gprof_dwarf *d, Dwarf_Die *die)
{
	const char *name = gprof_dwarf_string(&d->cost, die, DW_AT_linkage_name);

	if (!name)
		name = gprof_dwarf_string(&d->cost, die, DW_AT_MIPS_linkage_name);
	return name ? name : gprof_dwarf_string(&d->cost, die, DW_AT_name);
}

static void describe(struct gprof_dwarf *d, Dwarf_Die *die, struct gprof_dwarf_frame *f)
{
	f->name = function_name(d, die);
	f->start_line = gprof_dwarf_number(&d->cost, die, DW_AT_decl_line);
}

/* The inlined function in @die that covers @pc, through any blocks; false when there is none. */
static bool inlined_child(struct gprof_dwarf *d, Dwarf_Die *die, Dwarf_Addr pc, Dwarf_Die *found)
{
	Dwarf_Die scope = *die, child;
	int depth;

	for (depth = 0; depth < DEPTH_MAX; depth++) {
		bool deeper = false;

		if (dwarf_child(&scope, &child))
			return false;
		do {
			int tag = dwarf_tag(&child);

			if (!step(d, &d->looks_left))
				return false;
			if (tag != DW_TAG_inlined_subroutine && tag != DW_TAG_lexical_block &&
			    tag != DW_TAG_try_block && tag != DW_TAG_catch_block)
				continue;
			if (!covers(d, &child, pc))
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

/* The place of the call to an inlined function; not that which it has in common with others. */
static void call_site(Dwarf_Die *unit, bool lines, Dwarf_Die *inlined,
		      struct gprof_dwarf_frame *caller)
{
	int64_t file = gprof_dwarf_own_number(inlined, DW_AT_call_file);
	Dwarf_Files *files;
	size_t nr;

	caller->line = gprof_dwarf_own_number(inlined, DW_AT_call_line);
	caller->column = gprof_dwarf_own_number(inlined, DW_AT_call_column);
	caller->file = NULL;
	if (lines && !dwarf_getsrcfiles(unit, &files, &nr) && (size_t)file < nr)
		caller->file = dwarf_filesrc(files, (size_t)file, NULL, NULL);
}

static void source_line(Dwarf_Die *unit, bool lines, Dwarf_Addr pc, struct gprof_dwarf_frame *f)
{
	Dwarf_Line *line = lines ? dwarf_getsrc_die(unit, pc) : NULL;
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
	if (!u->indexed)
		index_unit(d, u, &unit);
	span = find_span(&u->functions, pc);
	if (!span || !dwarf_offdie(d->dw, span->die, &function)) {
		memset(&frames[0], 0, sizeof(frames[0]));
		source_line(&unit, u->lines, pc, &frames[0]);
		return frames[0].line ? 1 : 0;
	}

	for (inlined[0] = function; nr + 1 < DEPTH_MAX; nr++)
		if (!inlined_child(d, &inlined[nr], pc, &inlined[nr + 1]))
			break;
	/* inlined[nr] is the innermost; inlined[0] is the function itself. */
	for (i = 0; i <= nr && i < max; i++) {
		bool last = i + 1 == max;
		size_t at = last ? 0 : nr - i;
		struct gprof_dwarf_frame *f = &frames[i];

		memset(f, 0, sizeof(*f));
		describe(d, &inlined[at], f);
		if (at == nr)
			source_line(&unit, u->lines, pc, f);
		else
			call_site(&unit, u->lines, &inlined[at + 1], f);
	}
	return i;
}
