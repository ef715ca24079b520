// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * symbolizer.c: names and lines for addresses of one ELF file.
 */
#include "symbolizer.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "cfi.h"
#include "dwarf_lines.h"
#include "elf_module.h"
#include "frame_bounds.h"
#include "symbol.h"
#include "base/table.h"

/**
 * struct gprof_symbolizer - an open file and its symbols
 * @elf: the file
 * @symbols: functions by ELF symbol
 * @dwarf: lines, or NULL
 * @loaded: were @symbols and @dwarf read? Not when only callers were asked for
 * @bounds: of functions without symbols
 * @bounded: were they read?
 * @place: name of the last of them
 * @callers: answers of gprof_cfi_caller(), by address * 2 + pushed
 */
struct gprof_symbolizer {
	struct gprof_elf elf;
	struct gprof_symbols symbols;
	struct gprof_dwarf *dwarf;
	bool loaded;
	struct gprof_bounds bounds;
	bool bounded;
	char place[24];
	struct gprof_map64 callers;
};

struct gprof_symbolizer *gprof_symbolizer_open(int fd, const char *path, uint32_t pid)
{
	struct gprof_symbolizer *s = calloc(1, sizeof(*s));
	int err;

	if (!s)
		return NULL;
	err = gprof_elf_open(&s->elf, fd, path, pid);
	if (err) {
		free(s);
		errno = -err;
		return NULL;
	}
	gprof_map64_init(&s->callers);
	return s;
}

void gprof_symbolizer_close(struct gprof_symbolizer *s)
{
	if (!s)
		return;
	gprof_dwarf_close(s->dwarf);
	gprof_symbols_free(&s->symbols);
	gprof_bounds_free(&s->bounds);
	gprof_elf_close(&s->elf);
	gprof_map64_free(&s->callers);
	free(s);
}

bool gprof_symbolizer_is_open(const struct gprof_symbolizer *s)
{
	return gprof_elf_is_open(&s->elf);
}

/* The frame of an address with neither symbol nor line. */
static size_t bare_frame(struct gprof_symbolizer *s, uint64_t addr,
			 struct gprof_symbol_frame *frame)
{
	uint64_t start;

	if (!s->bounded)
		gprof_bounds_load(&s->bounds, s->elf.own.fd, &s->elf.memory);
	s->bounded = true;
	if (!gprof_bounds_find(&s->bounds, addr, &start))
		return 0;
	snprintf(s->place, sizeof(s->place), "+0x%" PRIx64, start);
	*frame = (struct gprof_symbol_frame){ .name = s->place };
	return 1;
}

size_t gprof_symbolizer_frames(struct gprof_symbolizer *s, uint64_t addr,
			       struct gprof_symbol_frame *frames, bool *inlines)
{
	struct gprof_dwarf_frame dwarf[GPROF_FRAMES_MAX];
	const struct gprof_symbol *symbol;
	size_t nr = 0, i;

	*inlines = false;
	if (!gprof_symbolizer_is_open(s))
		return 0;
	if (!s->loaded) {
		s->loaded = true;
		gprof_symbols_load(&s->symbols, &s->elf);
		s->dwarf = gprof_dwarf_open(&s->elf);
	}
	if (s->dwarf)
		nr = gprof_dwarf_frames(s->dwarf, addr, dwarf, GPROF_FRAMES_MAX);
	*inlines = nr > 0;
	symbol = gprof_symbols_find(&s->symbols, addr);
	/* A line outside of all functions is padding. */
	if (!symbol && (!nr || (nr == 1 && !dwarf[0].name)))
		return bare_frame(s, addr, frames);
	if (!nr) {
		frames[0] = (struct gprof_symbol_frame){ .name = symbol->name };
		return 1;
	}
	for (i = 0; i < nr; i++) {
		const char *name = dwarf[i].name;

		/* The linker's name says more: foo.cold, foo.constprop.0, a versioned alias. */
		if (i == nr - 1 && symbol)
			name = symbol->name;
		frames[i] = (struct gprof_symbol_frame){
			.name = name ? name : "[unnamed]",
			.file = dwarf[i].file,
			.line = dwarf[i].line,
			.column = dwarf[i].column,
			.start_line = dwarf[i].start_line,
		};
	}
	return nr;
}

enum gprof_missing gprof_symbolizer_missing(const struct gprof_symbolizer *s)
{
	return s->symbols.why == GPROF_MISSING_NOT ? s->elf.why : s->symbols.why;
}

bool gprof_symbolizer_has_debug(const struct gprof_symbolizer *s)
{
	return s->dwarf || s->elf.debug.fd >= 0 ||
	       (gprof_symbolizer_is_open(s) && gprof_elf_has_symtab(s->elf.elf));
}

bool gprof_symbolizer_caller(struct gprof_symbolizer *s, uint64_t pc, bool pushed)
{
	uint64_t key = pc * 2 + pushed;
	uint32_t known = gprof_map64_get(&s->callers, key);
	bool yes;

	if (known != GPROF_NONE)
		return known;
	if (!gprof_symbolizer_is_open(s))
		return false;
	yes = gprof_cfi_caller(&s->elf, pc, pushed);
	gprof_map64_put(&s->callers, key, yes);
	return yes;
}
