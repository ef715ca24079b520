// SPDX-License-Identifier: GPL-2.0-only
/*
 * The page holds the tree of calls once, and beside it the values of each node for each set of
 * labels, of each type: the script adds up those that a filter leaves.
 */
#include "page.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "calltree.h"
#include "cli/cmd.h"
#include "cli/digits.h"
#include "cli/intern.h"
#include "cli/diag.h"
#include "cli/text.h"
#include "group.h"
#include "page_sources.h"

extern const char page_script[];
extern const char page_style[];

/* Sets of labels beyond which the finest key is given up: a page has to be small. */
#define CELLS_MAX	300000

/*
 * The keys one filters by, the coarsest first: as the page calls them, and as group_set() does. Time
 * is one where samples have it.
 */
static const char *const keys[][2] = {
	{ "process", "process" }, { "cgroup", "cgroup" }, { "time", "label=time" }, { "cpu", "cpu" },
	{ "thread", "thread" },
};
#define NR_KEYS		ARRAY_SIZE(keys)
#define KEY_TIME	2

/**
 * struct cell - a node's values of samples with one set of labels
 * @node: path of the tree
 * @set: of labels: as in the profile, then as in the page
 * @value: of a sample: its value, or of several types the number of its row of values, from 1
 */
struct cell {
	uint32_t node;
	uint32_t set;
	int64_t value;
};

/**
 * struct process - a process of the page, in the order of their texts
 * @pid: its id, or 0
 * @ppid: its parent's, or 0
 */
struct process {
	int64_t pid;
	int64_t ppid;
};

/**
 * struct rows - values, one for each type
 * @v: row after row
 * @nr: rows
 * @room: of @v
 */
struct rows {
	int64_t *v;
	size_t nr;
	size_t room;
};

/**
 * struct page - state of writing
 * @view: its values
 * @tree: stacks
 * @groups: texts of each key
 * @sets: numbers of sets, of one text a key
 * @known: number + 1 of the set of each of the profile's sets, or 0
 * @room_known: of @known
 * @processes: of the first key's texts, each once
 * @room_processes: of @processes
 * @parents: a parent is known of one of them
 * @types: of the profile's values
 * @nr_types: how many
 * @totals: of each
 * @sampled: values of samples, where there are several types
 * @added: values of cells
 * @samples: a cell for each sample, in the order of nodes
 * @nr_samples: how many
 * @room_samples: of @samples
 * @cells: cells
 * @nr: how many
 * @room: of @cells
 * @keys: their names
 * @nr_keys: how many are kept
 * @sources: of functions, or NULL
 */
struct page {
	struct view *view;
	struct calltree tree;
	struct group groups[NR_KEYS];
	struct intern sets;
	uint32_t *known;
	size_t room_known;
	struct process *processes;
	size_t room_processes;
	bool parents;
	const struct gprof_value_type *types;
	size_t nr_types;
	int64_t *totals;
	struct rows sampled;
	struct rows added;
	struct cell *samples;
	size_t nr_samples;
	size_t room_samples;
	struct cell *cells;
	size_t nr;
	size_t room;
	const char *keys[NR_KEYS];
	size_t nr_keys;
	struct page_sources *sources;
};

static int64_t *add_row(struct page *p, struct rows *r)
{
	while (r->room < (r->nr + 1) * p->nr_types)
		r->v = xmore(r->v, r->room, &r->room, sizeof(*r->v));
	return r->v + r->nr++ * p->nr_types;
}

/* A sample that is nothing of one type may be something of another. */
static int64_t weigh(void *ctx, const int64_t *values)
{
	struct page *p = ctx;
	bool any = false;
	int64_t *row;

	for (size_t i = 0; i < p->nr_types; i++)
		any |= values[i] > 0;
	if (!any)
		return 0;
	row = add_row(p, &p->sampled);
	for (size_t i = 0; i < p->nr_types; i++)
		row[i] = values[i] > 0 ? values[i] : 0;
	return (int64_t)p->sampled.nr;
}

static int add_sample(void *ctx, uint32_t node, uint32_t labels, int64_t value)
{
	struct page *p = ctx;

	p->samples = xmore(p->samples, p->nr_samples, &p->room_samples, sizeof(*p->samples));
	p->samples[p->nr_samples++] = (struct cell){ node, labels, value };
	return 0;
}

static void sort_samples(struct page *p)
{
	struct cell *sorted = xraw(p->nr_samples, sizeof(*sorted));
	size_t *at = xalloc(p->tree.nr_paths + 1, sizeof(*at));

	for (size_t i = 0; i < p->nr_samples; i++)
		at[p->samples[i].node + 1]++;
	for (size_t i = 0; i < p->tree.nr_paths; i++)
		at[i + 1] += at[i];
	for (size_t i = 0; i < p->nr_samples; i++)
		sorted[at[p->samples[i].node]++] = p->samples[i];
	free(at);
	free(p->samples);
	p->samples = sorted;
}

/* Of samples before a parent was known, and of those after. */
static void note_process(struct page *p, uint32_t text, uint32_t labels)
{
	struct process *one;

	while (text >= p->room_processes)
		p->processes = xgrow(p->processes, p->room_processes, &p->room_processes,
				     sizeof(*p->processes));
	one = &p->processes[text];
	gprof_profile_label_of(p->view->profile, labels, "pid", &one->pid);
	if (gprof_profile_label_of(p->view->profile, labels, "ppid", &one->ppid))
		p->parents = true;
}

/* The page's set for the kept keys of the profile's labels. */
static uint32_t set_of(struct page *p, uint32_t labels)
{
	uint32_t set[NR_KEYS] = { 0 };

	while (labels >= p->room_known)
		p->known = xgrow(p->known, p->room_known, &p->room_known, sizeof(*p->known));
	if (p->known[labels])
		return p->known[labels] - 1;
	for (size_t k = 0; k < p->nr_keys; k++)
		set[k] = group_text(&p->groups[k], p->view->profile, labels);
	note_process(p, set[0], labels);
	p->known[labels] = intern_add(&p->sets, set, sizeof(set)) + 1;
	return p->known[labels] - 1;
}

static void forget_sets(struct page *p)
{
	intern_free(&p->sets);
	free(p->known);
	p->known = NULL;
	p->room_known = 0;
}

/**
 * struct latest - where a set was met last
 * @node: node + 1
 * @cell: its cell there
 */
struct latest {
	uint32_t node;
	size_t cell;
};

/* Whether they are no more than a page holds, or there is no key left to do without. */
static bool make_cells(struct page *p)
{
	struct latest *latest = NULL;
	size_t room = 0;

	p->nr = p->added.nr = 0;
	for (size_t i = 0; i < p->nr_samples && (p->nr <= CELLS_MAX || p->nr_keys == 1); i++) {
		const struct cell *s = &p->samples[i];
		uint32_t set = set_of(p, s->set);
		const int64_t *values = &s->value;
		int64_t *sums;

		while (set >= room)
			latest = xgrow(latest, room, &room, sizeof(*latest));
		p->cells = xmore(p->cells, p->nr, &p->room, sizeof(*p->cells));
		if (latest[set].node != s->node + 1) {
			latest[set] = (struct latest){ s->node + 1, p->nr };
			p->cells[p->nr++] = (struct cell){ s->node, set, 0 };
			memset(add_row(p, &p->added), 0, p->nr_types * sizeof(*sums));
		}
		if (p->nr_types > 1)
			values = p->sampled.v + (s->value - 1) * p->nr_types;
		sums = p->added.v + latest[set].cell * p->nr_types;
		for (size_t t = 0; t < p->nr_types; t++)
			sums[t] = view_sum(sums[t], values[t]);
	}
	free(latest);
	return p->nr <= CELLS_MAX || p->nr_keys == 1;
}

static bool has_time(const struct page *p)
{
	uint32_t most = 0;
	int64_t time;

	for (size_t i = 0; i < p->nr_samples; i++)
		if (p->samples[i].set > most)
			most = p->samples[i].set;
	for (uint32_t labels = 0; p->nr_samples && labels <= most; labels++) {
		const char *text = gprof_profile_label_of(p->view->profile, labels, "time", &time);

		if (text && !*text)
			return true;
	}
	return false;
}

static void leave_time_out(struct page *p)
{
	group_free(&p->groups[KEY_TIME]);
	p->nr_keys--;
	for (size_t k = KEY_TIME; k < p->nr_keys; k++) {
		p->groups[k] = p->groups[k + 1];
		p->keys[k] = p->keys[k + 1];
	}
	p->groups[p->nr_keys] = (struct group){ 0 };
}

static void choose_keys(struct page *p)
{
	char left_out[64] = "", *to = left_out;
	size_t nr;

	if (!has_time(p))
		leave_time_out(p);
	for (nr = p->nr_keys; !make_cells(p); p->nr_keys--)
		forget_sets(p);
	for (size_t k = nr; k > p->nr_keys; k--)
		to += sprintf(to, "%s%s", k == nr ? "" : k - 1 > p->nr_keys ? ", " : " and ",
			      p->keys[k - 1]);
	if (*left_out)
		diag("the profile is too large to be filtered by %s in the page; --comm, --pid and "
		     "--label choose before", left_out);
}

static void empty(struct page *p)
{
	calltree_free(&p->tree);
	for (size_t k = 0; k < NR_KEYS; k++)
		group_free(&p->groups[k]);
	forget_sets(p);
	free(p->processes);
	free(p->totals);
	free(p->sampled.v);
	free(p->added.v);
	free(p->samples);
	free(p->cells);
}

static int collect(struct page *p)
{
	int status;

	/* Names and totals are of all samples, which are gone then. */
	p->nr_types = gprof_profile_types(p->view->profile, &p->types);
	p->totals = xraw(p->nr_types, sizeof(*p->totals));
	for (size_t i = 0; i < p->nr_types; i++)
		p->totals[i] = gprof_profile_whole(p->view->profile, i);
	for (size_t k = 0; k < NR_KEYS; k++, p->nr_keys++) {
		p->keys[k] = keys[k][0];
		group_set(&p->groups[k], keys[k][1]);
		group_name(&p->groups[k], p->view->profile);
	}
	status = p->sources ? page_sources_collect(p->sources, p->view) : STATUS_OK;
	if (status != STATUS_OK)
		return status;
	status = calltree_collect(&p->tree, p->view, false, p->nr_types > 1 ? weigh : NULL,
				  add_sample, p);
	if (status != STATUS_OK)
		return status;
	calltree_collected(&p->tree);
	sort_samples(p);
	choose_keys(p);
	return STATUS_OK;
}

/* The i-th of many. */
static void put_number(FILE *f, size_t i, int64_t v)
{
	char text[DIGITS_MAX], *end = text + sizeof(text), *begin = digits_signed(end, v);

	if (i)
		*--begin = ',';
	fwrite_unlocked(begin, 1, (size_t)(end - begin), f);
}

static void write_samples(FILE *f, const struct page *p)
{
	fputs("\"samples\":{\"node\":[", f);
	for (size_t i = 0; i < p->nr; i++)
		put_number(f, i, p->cells[i].node);
	fputs("],\n\"set\":[", f);
	for (size_t i = 0; i < p->nr; i++)
		put_number(f, i, p->cells[i].set);
	fputs("],\n\"columns\":[", f);
	for (size_t t = 0; t < p->nr_types; t++) {
		fputs(t ? ",\n[" : "[", f);
		for (size_t i = 0; i < p->nr; i++)
			put_number(f, i, p->added.v[i * p->nr_types + t]);
		putc(']', f);
	}
	fputs("]}", f);
}

static void write_types(FILE *f, const struct page *p)
{
	fprintf(f, "\"type\":%zu,\n\"types\":[", p->view->type);
	for (size_t t = 0; t < p->nr_types; t++) {
		fputs(t ? ",\n{\"name\":" : "{\"name\":", f);
		text_json(f, p->types[t].type);
		fprintf(f, ",\"total\":%" PRId64 ",\"units\":", p->totals[t]);
		human_json(f, p->types[t].unit);
		putc('}', f);
	}
	fputs("],\n", f);
}

static void write_labels(FILE *f, const struct page *p)
{
	size_t length;

	fputs("\"keys\":[", f);
	for (size_t k = 0; k < p->nr_keys; k++)
		fprintf(f, "%s\"%s\"", k ? "," : "", p->keys[k]);
	fputs("],\n\"values\":[", f);
	for (size_t k = 0; k < p->nr_keys; k++) {
		fputs(k ? ",[" : "[", f);
		for (size_t i = 0; i < p->groups[k].nr; i++) {
			if (i)
				putc(',', f);
			text_json(f, p->groups[k].texts[i]);
		}
		putc(']', f);
	}
	fputs("],\n\"processes\":[", f);
	for (size_t i = 0; p->parents && i < p->groups[0].nr; i++)
		fprintf(f, "%s[%" PRId64 ",%" PRId64 "]", i ? "," : "", p->processes[i].pid,
			p->processes[i].ppid);
	fputs("],\n\"sets\":[", f);
	for (size_t i = 0; i < p->sets.nr; i++) {
		uint32_t set[NR_KEYS];

		memcpy(set, intern_key(&p->sets, i, &length), sizeof(set));
		fputs(i ? ",[" : "[", f);
		for (size_t k = 0; k < p->nr_keys; k++)
			fprintf(f, "%s%u", k ? "," : "", set[k]);
		putc(']', f);
	}
	fputs("],\n\"timeUnits\":", f);
	human_json(f, "nanoseconds");
	fputs(",\n", f);
}

static void write_data(FILE *f, const struct page *p)
{
	const struct calltree *t = &p->tree;

	fputs("<script id=\"data\" type=\"application/json\">\n{", f);
	write_types(f, p);
	fputs("\"frames\":[", f);
	for (size_t i = 0; i < t->nr_frames; i++) {
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
	for (size_t i = 0; i < t->nr_paths; i++)
		put_number(f, i, i ? (int64_t)t->paths[i].parent : -1);
	fputs("],\n\"nodes\":[", f);
	for (size_t i = 0; i < t->nr_paths; i++)
		put_number(f, i, t->paths[i].frame);
	fputs("],\n", f);
	if (p->sources)
		page_sources_write(f, p->sources, t);
	write_labels(f, p);
	write_samples(f, p);
	fputs("}\n</script>\n", f);
}

/* No page asks anything of any network; a live one asks the agent that served it. */
static void write_top(FILE *f, const char *title, const char *sources)
{
	fprintf(f, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
		"<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
		"script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:%s\">\n"
		"<meta name=\"viewport\" content=\"width=device-width\">\n"
		"<link rel=\"icon\" href=\"data:,\">\n<title>", sources);
	text_xml(f, title, SIZE_MAX);
	fprintf(f, "</title>\n<style>\n%s</style>\n</head>\n<body>\n<h1 id=\"title\">", page_style);
	text_xml(f, title, SIZE_MAX);
	fputs("</h1>\n", f);
}

static void write_head(FILE *f, const struct view *v, const char *title)
{
	double seconds = view_duration(v);
	char text[VIEW_TEXT_MAX];
	const char *comment;

	write_top(f, title, "");
	fputs("<p id=\"head\"><span id=\"whole\">", f);
	text_xml(f, v->name, 40);
	fprintf(f, ": %s</span>", view_value(v, v->total, text));
	if (seconds)
		fprintf(f, " in %s", human(seconds, "seconds", text));
	if (*view_time(v, text)) {
		fputs(", ", f);
		text_xml(f, text, VIEW_TEXT_MAX);
	}
	fputs("</p>\n<details id=\"about\"", f);
	/* Losses and the like stand in the comments; a picture without them could mislead. */
	fputs(gprof_profile_comment(v->profile, 0) ? ">" : " hidden>", f);
	fputs("<summary>About this profile</summary>\n", f);
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
"<button type=\"button\" role=\"tab\" data-mode=\"table\">Table</button>\n"
"<button type=\"button\" role=\"tab\" data-mode=\"processes\" hidden>Processes</button>\n</span>\n"
"<input id=\"search\" type=\"search\" placeholder=\"search (/), regexp\" aria-label=\"search\">\n"
"<span id=\"filters\"></span>\n"
"<button type=\"button\" id=\"reset\" title=\"Esc\">Reset</button>\n"
"<button type=\"button\" id=\"help\" aria-label=\"keys\">?</button>\n</div>\n"
"<dialog id=\"keys\" aria-label=\"keys\">\n<form method=\"dialog\"><button>Close</button></form>\n<dl>\n"
"<dt>1 2 3 4 5</dt><dd>flame graph, inverted, sandwich, table, processes</dd>\n"
"<dt>\xe2\x86\x91 \xe2\x86\x93</dt><dd>to the caller, to the largest callee; in a table, one row up or down</dd>\n"
"<dt>\xe2\x86\x90 \xe2\x86\x92</dt><dd>to the neighbours</dd>\n"
"<dt>Enter</dt><dd>zoom; in the table, callers and callees of the function; of the processes, take one with all below</dd>\n"
"<dt>s</dt><dd>callers and callees of the function (sandwich)</dd>\n"
"<dt>/</dt><dd>search, a regular expression</dd>\n"
"<dt>v</dt><dd>the next of the values, where the profile has several</dd>\n"
"<dt>b</dt><dd>to the strip of time, where there is one: arrows move the span, with Shift its end</dd>\n"
"<dt>o</dt><dd>source of the function beside the graph, where the page has sources</dd>\n"
"<dt>a</dt><dd>its assembly, and its source again</dd>\n"
"<dt>Esc</dt><dd>leave the search or a list; in a graph, show the whole again</dd>\n"
"<dt>Tab</dt><dd>to the next control</dd>\n"
"<dt>?</dt><dd>this list</dd>\n</dl>\n</dialog>\n"
"<div id=\"legend\"><span><i class=\"user\"></i>user</span><span><i class=\"kernel\"></i>kernel</span>"
"<span><i class=\"inlined\"></i>inlined</span>"
"<span><i class=\"runtime\"></i>runtime (interpreted or generated code)</span><span><i class=\"match\"></i>matched</span></div>\n"
"<div id=\"time\"></div>\n<main>\n<div id=\"charts\"></div>\n<div id=\"table\" hidden>\n<table>\n"
"<caption hidden>functions</caption>\n<thead><tr>"
"<th data-key=\"self\" scope=\"col\"><button type=\"button\">self</button></th><th scope=\"col\">self %</th>"
"<th data-key=\"total\" scope=\"col\"><button type=\"button\">total</button></th><th scope=\"col\">total %</th>"
"<th data-key=\"name\" scope=\"col\"><button type=\"button\">function</button></th></tr></thead>\n"
"<tbody id=\"rows\"></tbody>\n</table>\n<p id=\"left\"></p>\n</div>\n"
"<div id=\"processes\" hidden>\n<table>\n<caption hidden>processes</caption>\n<thead><tr>"
"<th scope=\"col\">own</th><th scope=\"col\">own %</th><th scope=\"col\">and below</th>"
"<th scope=\"col\">and below %</th><th scope=\"col\">process</th></tr></thead>\n"
"<tbody id=\"tree\"></tbody>\n</table>\n</div>\n"
"<div id=\"listing\" role=\"region\" aria-label=\"source and assembly\" tabindex=\"0\" hidden></div>\n</main>\n"
"<div id=\"status\"><span id=\"told\" role=\"status\" aria-live=\"polite\"></span>"
"<span id=\"matched\" aria-live=\"polite\"></span></div>\n"
"<noscript>This page needs scripts; gprofctl top and gprofctl flame do not.</noscript>\n";

int page_write(FILE *f, struct view *view, const char *title, struct page_sources *sources)
{
	struct page p = { .view = view, .sources = sources };
	int status = collect(&p);

	if (status == STATUS_OK) {
		calltree_report(&p.tree);
		if (sources)
			page_sources_report(sources);
		write_head(f, view, title);
		fputs(body, f);
		write_data(f, &p);
		fprintf(f, "<script>\n%s</script>\n</body>\n</html>\n", page_script);
	}
	empty(&p);
	return status;
}

void page_write_live(FILE *f, const char *title)
{
	write_top(f, title, "; connect-src 'self'");
	fputs("<p><button type=\"button\" id=\"pause\" aria-pressed=\"false\">Pause</button> "
	      "<span id=\"live\" role=\"status\"></span></p>\n<p id=\"head\"></p>\n"
	      "<details id=\"about\" hidden></details>\n", f);
	fprintf(f, "%s<script>\n%s</script>\n</body>\n</html>\n", body, page_script);
}
