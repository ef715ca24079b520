// SPDX-License-Identifier: GPL-2.0-only
/*
 * The page holds the tree of calls once, and beside it what each node takes for each set
 * of labels: the script adds up those that a filter leaves.
 */
#include "page.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "../calltree.h"
#include "../cmd.h"
#include "../intern.h"
#include "../say.h"
#include "../text.h"
#include "group.h"

extern const char page_script[];
extern const char page_style[];

/* Sets of labels beyond which the finest key is given up: a page has to be small. */
#define CELLS_MAX	300000

/* The keys one filters by, the coarsest first. */
static const char *const keys[] = { "process", "cgroup", "cpu", "thread" };
#define NR_KEYS		ARRAY_SIZE(keys)

/**
 * struct cell - what a node takes of samples with one set of labels
 */
struct cell {
	uint32_t node;
	uint32_t set;
	int64_t value;
};

/**
 * struct page - what is written
 * @view: its values
 * @tree: stacks
 * @groups: texts of each key
 * @values: numbers of these texts
 * @sets: numbers of sets, of one value a key
 * @places: (node, set) to cell
 * @cells: cells
 * @nr: how many
 * @room: of @cells
 * @nr_keys: keys that are kept
 */
struct page {
	const struct view *view;
	struct calltree tree;
	struct group groups[NR_KEYS];
	struct intern values[NR_KEYS];
	struct intern sets;
	struct intern places;
	struct cell *cells;
	size_t nr;
	size_t room;
	size_t nr_keys;
};

static int add_sample(void *ctx, const struct gprof_frame *frames, size_t nr_frames,
		      const int64_t *values)
{
	struct page *p = ctx;
	int64_t value = values[p->view->type];
	uint32_t set[NR_KEYS] = { 0 }, place[2];
	size_t n;

	if (value < 0)
		p->tree.left_out++;
	if (value <= 0)
		return 0;
	place[0] = calltree_add(&p->tree, frames, nr_frames);
	if (place[0] == CALLTREE_NONE)
		return 1;
	for (size_t k = 0; k < p->nr_keys; k++) {
		const char *text = group_text(&p->groups[k], p->view->profile);

		set[k] = intern_add(&p->values[k], text, strlen(text) + 1);
	}
	place[1] = intern_add(&p->sets, set, sizeof(set));
	n = intern_add(&p->places, place, sizeof(place));
	p->cells = xgrow(p->cells, n, &p->room, sizeof(*p->cells));
	if (n == p->nr)
		p->cells[p->nr++] = (struct cell){ place[0], place[1], 0 };
	p->cells[n].value = view_sum(p->cells[n].value, value);
	/* Given up, to begin again with fewer keys. */
	return p->nr > CELLS_MAX && p->nr_keys > 1 ? 2 : 0;
}

static void empty(struct page *p)
{
	calltree_free(&p->tree);
	for (size_t k = 0; k < NR_KEYS; k++) {
		group_free(&p->groups[k]);
		intern_free(&p->values[k]);
	}
	intern_free(&p->sets);
	intern_free(&p->places);
	free(p->cells);
	*p = (struct page){ .view = p->view, .nr_keys = p->nr_keys };
}

static int collect(struct page *p)
{
	int status;

	for (p->nr_keys = NR_KEYS;; p->nr_keys--) {
		p->tree.type = p->view->type;
		for (size_t k = 0; k < p->nr_keys; k++)
			group_set(&p->groups[k], keys[k]);
		calltree_add(&p->tree, NULL, 0);
		status = view_each(p->view, add_sample, p);
		if (p->tree.nr > CALLTREE_NODES_MAX)
			return calltree_refused();
		if (p->nr <= CELLS_MAX || p->nr_keys <= 1)
			break;
		empty(p);
	}
	if (p->nr_keys < NR_KEYS)
		say("the profile is too large to be filtered by %s in the page; --comm, --pid and "
		    "--label choose before", p->nr_keys < 3 ? "thread and CPU" : "thread");
	return status;
}

static void write_numbers(FILE *f, const char *name, const struct page *p, size_t member)
{
	fprintf(f, "\"%s\":[", name);
	for (size_t i = 0; i < p->nr; i++)
		fprintf(f, "%s%" PRId64, i ? "," : "",
			member == 0 ? (int64_t)p->cells[i].node :
			member == 1 ? (int64_t)p->cells[i].set : p->cells[i].value);
	fputs("]", f);
}

static void write_labels(FILE *f, const struct page *p)
{
	size_t length;

	fputs("\"keys\":[", f);
	for (size_t k = 0; k < p->nr_keys; k++)
		fprintf(f, "%s\"%s\"", k ? "," : "", keys[k]);
	fputs("],\n\"values\":[", f);
	for (size_t k = 0; k < p->nr_keys; k++) {
		fputs(k ? ",[" : "[", f);
		for (size_t i = 0; i < p->values[k].nr; i++) {
			if (i)
				putc(',', f);
			text_json(f, intern_key(&p->values[k], i, &length));
		}
		putc(']', f);
	}
	fputs("],\n\"sets\":[", f);
	for (size_t i = 0; i < p->sets.nr; i++) {
		uint32_t set[NR_KEYS];

		memcpy(set, intern_key(&p->sets, i, &length), sizeof(set));
		fputs(i ? ",[" : "[", f);
		for (size_t k = 0; k < p->nr_keys; k++)
			fprintf(f, "%s%u", k ? "," : "", set[k]);
		putc(']', f);
	}
	fputs("],\n", f);
}

static void write_data(FILE *f, const struct page *p)
{
	const struct calltree *t = &p->tree;

	fprintf(f, "<script id=\"data\" type=\"application/json\">\n{\"total\":%" PRId64
		",\"scale\":%.0f,\"suffix\":", p->view->total, p->view->scale);
	text_json(f, p->view->suffix);
	fputs(",\n\"frames\":[", f);
	for (size_t i = 0; i < t->frames.nr; i++) {
		const char *function, *mapping;
		char module[MODULE_TEXT_MAX];
		enum frame_kind kind = calltree_frame(t, i, &function, &mapping);

		fputs(i ? ",\n[" : "[", f);
		text_json(f, function);
		putc(',', f);
		text_json(f, module_text(kind, mapping, module));
		fprintf(f, ",%d]", kind);
	}
	fputs("],\n\"parents\":[", f);
	for (size_t i = 0; i < t->nr; i++)
		fprintf(f, "%s%d", i ? "," : "", i ? (int)t->nodes[i].parent : -1);
	fputs("],\n\"nodes\":[", f);
	for (size_t i = 0; i < t->nr; i++)
		fprintf(f, "%s%u", i ? "," : "", t->nodes[i].frame);
	fputs("],\n", f);
	write_labels(f, p);
	fputs("\"samples\":{", f);
	write_numbers(f, "node", p, 0);
	fputs(",\n", f);
	write_numbers(f, "set", p, 1);
	fputs(",\n", f);
	write_numbers(f, "value", p, 2);
	fputs("}}\n</script>\n", f);
}

static void write_head(FILE *f, const struct view *v, const char *title)
{
	double seconds = view_duration(v);
	char text[VIEW_TEXT_MAX];
	const char *comment;

	fputs("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
	      "<meta name=\"viewport\" content=\"width=device-width\">\n"
	      "<link rel=\"icon\" href=\"data:,\">\n<title>", f);
	text_xml(f, title, SIZE_MAX);
	fprintf(f, "</title>\n<style>\n%s</style>\n</head>\n<body>\n<h1>", page_style);
	text_xml(f, title, SIZE_MAX);
	fputs("</h1>\n<p>", f);
	text_xml(f, v->name, 40);
	fprintf(f, ": %s", view_value_marked(v, v->total, text));
	if (seconds)
		fprintf(f, " in %.2f s", seconds);
	if (*view_time(v, text)) {
		fputs(", ", f);
		text_xml(f, text, VIEW_TEXT_MAX);
	}
	fputs("</p>\n", f);
	/* Losses and the like stand in the comments; a picture without them could mislead. */
	if (!gprof_profile_comment(v->profile, 0))
		return;
	fputs("<details><summary>About this profile</summary>\n", f);
	for (size_t i = 0; (comment = gprof_profile_comment(v->profile, i)); i++) {
		fputs("<p>", f);
		text_xml(f, comment, SIZE_MAX);
		fputs("</p>\n", f);
	}
	fputs("</details>\n", f);
}

static const char body[] =
"<div class=\"bar\">\n<span role=\"tablist\" aria-label=\"views\">\n"
"<button type=\"button\" role=\"tab\" data-mode=\"flame\">Flame graph</button>\n"
"<button type=\"button\" role=\"tab\" data-mode=\"inverted\">Inverted</button>\n"
"<button type=\"button\" role=\"tab\" data-mode=\"sandwich\">Sandwich</button>\n"
"<button type=\"button\" role=\"tab\" data-mode=\"table\">Table</button>\n</span>\n"
"<input id=\"search\" type=\"search\" placeholder=\"search (/), regexp\" aria-label=\"search\">\n"
"<span id=\"filters\"></span>\n"
"<button type=\"button\" id=\"reset\" title=\"Esc\">Reset</button>\n</div>\n"
"<div id=\"legend\"><span><i class=\"user\"></i>user</span><span><i class=\"kernel\"></i>kernel</span>"
"<span><i class=\"inlined\"></i>inlined</span><span><i class=\"match\"></i>matched</span></div>\n"
"<main>\n<div id=\"charts\"></div>\n<div id=\"table\" hidden>\n<table>\n"
"<caption hidden>functions</caption>\n<thead><tr>"
"<th data-key=\"self\" scope=\"col\"><button type=\"button\">self</button></th><th scope=\"col\">self %</th>"
"<th data-key=\"total\" scope=\"col\"><button type=\"button\">total</button></th><th scope=\"col\">total %</th>"
"<th data-key=\"name\" scope=\"col\"><button type=\"button\">function</button></th></tr></thead>\n"
"<tbody id=\"rows\"></tbody>\n</table>\n<p id=\"left\"></p>\n</div>\n</main>\n"
"<div id=\"status\"><span id=\"told\" role=\"status\" aria-live=\"polite\"></span>"
"<span id=\"matched\" aria-live=\"polite\"></span></div>\n"
"<noscript>This page needs scripts; gprofctl top and gprofctl flame do not.</noscript>\n";

int page_write(FILE *f, const struct view *view, const char *title)
{
	struct page p = { .view = view };
	int status = collect(&p);

	if (status == STATUS_OK) {
		calltree_tell(&p.tree);
		write_head(f, view, title);
		fputs(body, f);
		write_data(f, &p);
		fprintf(f, "<script>\n%s</script>\n</body>\n</html>\n", page_script);
	}
	empty(&p);
	return status;
}
