// SPDX-License-Identifier: GPL-2.0-only
/*
 * Source and assembly of the hottest functions: those that list and disasm show, with the values of
 * each type. A page is to be small: what is beyond a limit is left out, the hottest function last.
 */
#include "page_sources.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cmd.h"
#include "cli/diag.h"
#include "cli/intern.h"
#include "cli/text.h"
#include "debug_package.h"
#include "instructions.h"

#define TEXT_MAX	400	/* bytes of a row */
#define PAGE_STUBS_BYTES	(8 << 10)	/* of functions, without their pieces */

static int by_heat(const void *pa, const void *pb, void *ctx)
{
	const struct functions *fs = ctx;
	const struct function *a = &fs->all[*(const size_t *)pa];
	const struct function *b = &fs->all[*(const size_t *)pb];
	int64_t va = view_size(a->flat), vb = view_size(b->flat);

	if (va == vb) {
		va = view_size(a->cum);
		vb = view_size(b->cum);
	}
	return va != vb ? (va > vb ? -1 : 1) : strcmp(functions_name(fs, a), functions_name(fs, b));
}

/* The packages with the debug information of the functions' files, each file asked for once. */
static char **find_packages(const struct functions *fs, const size_t *order, size_t nr)
{
	const char **paths = xalloc(nr + 1, sizeof(*paths));
	char **names = xalloc(nr + 1, sizeof(*names));

	for (size_t i = 0; i < nr; i++)
		paths[i] = fs->all[order[i]].mapping;
	debug_packages(DPKG_INFO, paths, nr, names);
	free(paths);
	return names;
}

/* A list has a piece for each source, or file with instructions. */
static void begin_piece(FILE *f, const char *path)
{
	fputs(ftell(f) > 1 ? ",\n{\"path\":" : "{\"path\":", f);
	text_json(f, path);
	fputs(",\"rows\":[", f);
}

static void end_piece(FILE *f, const char *note)
{
	fputs("],\"note\":", f);
	text_json(f, note ? note : "");
	putc('}', f);
}

/* Where a cut does not split a character. */
static void put_text(FILE *f, const char *text)
{
	size_t length = strlen(text), shown = length < TEXT_MAX ? length : TEXT_MAX;
	char *cut;

	while (shown && shown < length && ((unsigned char)text[shown] & 0xc0) == 0x80)
		shown--;
	cut = xprintf("%.*s%s", (int)shown, text, shown < length ? " ..." : "");
	text_json(f, cut);
	free(cut);
}

/* [at, text, values], with neither at nor values of a symbol, and no values where all are 0. */
static void put_rows(FILE *f, const struct listing *l, bool code)
{
	for (size_t i = 0; i < l->nr; i++) {
		const struct listing_row *row = &l->rows[i];
		const int64_t *values = listing_values(l, i);

		fputs(i ? ",\n[" : "[", f);
		if (row->kind != LISTING_PLACE)
			fputs("\"\",", f);
		else
			fprintf(f, code ? "\"%" PRIx64 "\"," : "\"%" PRIu64 "\",", row->at);
		put_text(f, code && row->kind == LISTING_PLACE ? instruction_text(row) :
			    row->text ? row->text : "");
		for (size_t t = 0; row->valued && t < l->each; t++)
			fprintf(f, ",%" PRId64, values[t]);
		putc(']', f);
	}
}

/* Why there are no lines of a function. */
static char *no_lines(const struct page_sources *s, const struct function *fn, const char *package)
{
	char module[MODULE_TEXT_MAX];

	if (*fn->mapping == '/')
		return source_advice(fn->mapping, package, s->profile);
	module_text(fn->kind, fn->mapping, module);
	return xprintf("the profile has no lines of %s", *module ? module : "the function");
}

static void put_source(FILE *f, const struct page_sources *s, const struct places *p, size_t first,
		       const char *package)
{
	const struct function *fn = &p->functions.all[p->all[first].function];
	struct listing l;
	char *note = source_lines(&s->dirs, p, first, &l);

	begin_piece(f, l.path);
	if (*l.path) {
		put_rows(f, &l, false);
	} else {
		free(note);
		note = no_lines(s, fn, package);
	}
	end_piece(f, note);
	listing_free(&l);
	free(note);
}

static void put_code(FILE *f, struct places *p, size_t first)
{
	struct listing l;
	char *note = instructions(p, first, NULL, false, &l);

	begin_piece(f, l.path);
	put_rows(f, &l, true);
	end_piece(f, note);
	listing_free(&l);
	free(note);
}

/* All pieces of a function, or NULL where they do not fit. */
static char *list(struct page_sources *s, struct places *p, size_t function, const char *package)
{
	char *text = NULL;
	size_t size, i = 0;
	FILE *f = open_memstream(&text, &size);

	if (!f)
		return NULL;
	putc('[', f);
	while (i < p->nr && p->all[i].function != function)
		i++;
	for (; i < p->nr && p->all[i].function == function; i = places_next(p, i)) {
		if (p->addresses)
			put_code(f, p, i);
		else
			put_source(f, s, p, i, package);
	}
	putc(']', f);
	if (!fclose(f) && s->bytes + size <= PAGE_SOURCES_BYTES - PAGE_STUBS_BYTES) {
		s->bytes += size;
		return text;
	}
	free(text);
	return NULL;
}

static void collect(struct page_sources *s, struct places *lines, struct places *code)
{
	const struct functions *fs = &lines->functions;
	size_t *order = xalloc(fs->nr + 1, sizeof(*order));
	char **packages;

	for (size_t i = 0; i < fs->nr; i++)
		order[i] = i;
	if (fs->nr)
		qsort_r(order, fs->nr, sizeof(*order), by_heat, (void *)fs);
	s->all = fs->nr;
	s->nr = fs->nr < PAGE_FUNCTIONS ? fs->nr : PAGE_FUNCTIONS;
	places_sort(lines);
	places_sort(code);
	packages = find_packages(fs, order, s->nr);
	for (size_t i = 0; i < s->nr; i++) {
		struct page_function *one = &s->functions[i];

		progress("reading source and instructions, function %zu of %zu", i + 1, s->nr);
		one->name = xprintf("%s", functions_name(fs, &fs->all[order[i]]));
		one->source = list(s, lines, order[i], packages[i]);
		one->code = list(s, code, order[i], NULL);
		free(packages[i]);
	}
	progress_clear();
	free(packages);
	free(order);
}

int page_sources_collect(struct page_sources *s, struct view *v)
{
	struct places lines = { 0 }, code = { 0 };
	int status = places_collect(&lines, v, NULL, false);

	/* Functions have the same numbers again. */
	if (status == STATUS_OK)
		status = places_collect(&code, v, NULL, true);
	if (status == STATUS_OK)
		collect(s, &lines, &code);
	places_free(&lines);
	places_free(&code);
	return status;
}

void page_sources_write(FILE *f, const struct page_sources *s, const struct calltree *t)
{
	size_t *at = xalloc(t->nr_frames + s->nr + 1, sizeof(*at));
	struct intern names = { 0 };
	const char *comma = "";

	for (size_t i = 0; i < t->nr_frames; i++) {
		const char *function, *mapping;

		calltree_frame(t, i, &function, &mapping);
		at[intern_add(&names, function, strlen(function) + 1)] = i + 1;
	}
	fprintf(f, "\"sources\":{\"all\":%zu,\"functions\":[", s->all);
	for (size_t i = 0; i < s->nr; i++) {
		const struct page_function *one = &s->functions[i];
		size_t n = intern_add(&names, one->name, strlen(one->name) + 1);

		/* A function of which all samples have the value 0 has no frame in the tree. */
		if (!at[n])
			continue;
		fprintf(f, "%s[%zu,\n%s,\n%s]", comma, at[n] - 1, one->source ? one->source : "null",
			one->code ? one->code : "null");
		comma = ",\n";
	}
	fputs("]},\n", f);
	intern_free(&names);
	free(at);
}

void page_sources_report(const struct page_sources *s)
{
	size_t sources = 0, code = 0;

	for (size_t i = 0; i < s->nr; i++) {
		sources += !s->functions[i].source;
		code += !s->functions[i].code;
	}
	if (sources || code)
		diag("the source of %zu functions and the instructions of %zu do not fit into %d MB: "
		     "gprofctl list and disasm show them", sources, code, PAGE_SOURCES_BYTES >> 20);
}

void page_sources_free(struct page_sources *s)
{
	for (size_t i = 0; i < s->nr; i++) {
		free(s->functions[i].name);
		free(s->functions[i].source);
		free(s->functions[i].code);
	}
	s->nr = 0;
}
