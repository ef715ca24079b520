// SPDX-License-Identifier: GPL-2.0-only
/*
 * The file holds the picture twice: drawn, so that any viewer shows it, and as
 * data, from which flame.js draws a part anew on zoom. Thus a frame that is
 * too narrow to be drawn now is not lost.
 *
 * The root is at the top, so that a deep profile opens at its beginning.
 */
#include "flame.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/digits.h"
#include "cli/diag.h"
#include "cli/text.h"
#include "flame_assets.h"

#define WIDTH		1200
#define MARGIN		10
#define TOP		86
#define ROW		18
#define LINE		16
/* Width of a character: 12 px DejaVu Sans Mono; flame.js measures that of the font in use. */
#define COLUMN		7.23
#define NARROWEST	0.3
/* Narrow boxes are drawn as one, but not so wide that zooming into it gains nothing. */
#define WIDEST_REST	80
/* Frames drawn in the file; a wider limit than NARROWEST holds where there are more. */
#define DRAWN_MAX	10000
#define DOUBLINGS_MAX	12	/* from NARROWEST to WIDTH */
#define TONES		4
#define COMMENTS_MAX	12

/**
 * struct flame - the picture
 * @f: file
 * @tree: to draw
 * @view: its values
 * @at: value left of the next node of each depth
 * @narrowest: frames narrower than this are not drawn, px
 * @culled: how many these are
 * @height: of the picture, px
 */
struct flame {
	FILE *f;
	const struct calltree *tree;
	const struct view *view;
	int64_t at[CALLTREE_DEPTH_MAX + 2];
	double narrowest;
	uint64_t culled;
	unsigned int height;
};

static double width_of(const struct flame *fl, int64_t value)
{
	int64_t total = fl->tree->nodes[0].total;

	return total ? (double)(WIDTH - 2 * MARGIN) * value / total : 0;
}

/* Where a node begins that comes after all before it; those below it may be left out. */
static int64_t place(struct flame *fl, uint32_t i)
{
	const struct call_node *n = &fl->tree->nodes[i];
	int64_t start = fl->at[n->depth];

	fl->at[n->depth] = view_sum(start, n->total);
	fl->at[n->depth + 1] = start;
	return start;
}

/* How often NARROWEST has to be doubled until it is above a width. */
static size_t doublings(double width)
{
	int n = width < NARROWEST ? 0 : ilogb(width / NARROWEST) + 1;

	return n < DOUBLINGS_MAX ? n : DOUBLINGS_MAX;
}

static void choose_narrowest(struct flame *fl)
{
	uint64_t narrower[DOUBLINGS_MAX + 1] = { 0 };
	size_t i = 0;

	for (size_t n = 1; n < fl->tree->nr; n++)
		narrower[doublings(width_of(fl, fl->tree->nodes[n].total))]++;
	fl->narrowest = NARROWEST;
	fl->culled = narrower[0];
	while (fl->tree->nr - fl->culled > DRAWN_MAX && fl->narrowest < WIDTH) {
		fl->narrowest *= 2;
		fl->culled += narrower[++i];
	}
}

/* The same name has the same shade everywhere. */
static unsigned int tone_of(const char *function)
{
	unsigned int h = 0;

	while (*function)
		h = h * 31 + (unsigned char)*function++;
	return (h >> 4) % TONES;
}

static void write_label(struct flame *fl, const char *function, double x, double y, double width)
{
	size_t columns = width > 6 ? (width - 6) / COLUMN : 0;

	if (columns < 3)
		return;
	fprintf(fl->f, "<text x=\"%.2f\" y=\"%.0f\">", x + 3, y + ROW - 5);
	if (text_columns(function) <= columns) {
		text_xml(fl->f, function, columns);
	} else {
		text_xml(fl->f, function, columns - 2);
		fputs("..", fl->f);
	}
	fputs("</text>", fl->f);
}

static void open_box(struct flame *fl, int64_t start, int64_t value, uint32_t depth,
		     const char *class)
{
	double width = width_of(fl, value);

	fprintf(fl->f, "<g><rect class=\"%s\" x=\"%.2f\" y=\"%u\" width=\"%.2f\" height=\"%d\" "
		"rx=\"1\"/>", class, MARGIN + width_of(fl, start), TOP + depth * ROW,
		width > 2 ? width - 0.6 : width, ROW - 1);
}

/* More is red, less is blue, the larger the darker; the sign in the label says it without. */
static const char *diff_class(const struct calltree *t, uint32_t i)
{
	static const char *const more[] = { "g0", "g1", "g2", "g3" }, *const less[] = { "l0", "l1", "l2", "l3" };
	int64_t base = t->base[i], now = t->nodes[i].total - base;
	int64_t larger = now > base ? now : base, change = now - base;
	size_t tone;

	if (!larger || view_size(change) < larger / 20)
		return "a";
	tone = view_size(change) < larger / 4 ? 0 : view_size(change) < larger / 2 ? 1 :
	       view_size(change) < larger / 4 * 3 ? 2 : 3;
	return change > 0 ? more[tone] : less[tone];
}

static void write_change(struct flame *fl, uint32_t i)
{
	int64_t all = fl->tree->base[0], base = fl->tree->base[i];
	char text[VIEW_TEXT_MAX];
	int64_t now = fl->tree->nodes[i].total - base;

	fprintf(fl->f, ": %s", view_value(fl->view, base, text));
	fprintf(fl->f, " before, %s now", view_value(fl->view, now, text));
	if (base)
		fprintf(fl->f, ", %+.2f%%", 100.0 * (now - base) / base);
	if (all)
		fprintf(fl->f, "; %+.2f%% of all before", 100.0 * (now - base) / all);
}

static void write_diff_node(struct flame *fl, uint32_t i, int64_t start)
{
	const struct call_node *n = &fl->tree->nodes[i];
	const char *function, *mapping, *class = i ? diff_class(fl->tree, i) : "a";
	char *label;

	calltree_frame(fl->tree, n->frame, &function, &mapping);
	label = xprintf("%s%s", *class == 'g' ? "+ " : *class == 'l' ? "- " : "", function);
	open_box(fl, start, n->total, n->depth, class);
	write_label(fl, label, MARGIN + width_of(fl, start), TOP + n->depth * ROW,
		    width_of(fl, n->total));
	fputs("<title>", fl->f);
	text_xml(fl->f, function, SIZE_MAX);
	write_change(fl, i);
	fputs("</title></g>\n", fl->f);
	free(label);
}

static void write_node(struct flame *fl, uint32_t i, int64_t start)
{
	const struct call_node *n = &fl->tree->nodes[i];
	const char *function, *mapping;
	enum frame_kind kind = calltree_frame(fl->tree, n->frame, &function, &mapping);
	char class[] = { i ? "ukij"[kind] : 'a', i ? '0' + tone_of(function) : '\0', '\0' };
	char text[VIEW_TEXT_MAX];

	open_box(fl, start, n->total, n->depth, class);
	write_label(fl, function, MARGIN + width_of(fl, start), TOP + n->depth * ROW,
		    width_of(fl, n->total));
	fputs("<title>", fl->f);
	text_xml(fl->f, function, SIZE_MAX);
	if (*mapping) {
		fputs(" [", fl->f);
		text_xml(fl->f, mapping, SIZE_MAX);
		putc(']', fl->f);
	}
	fprintf(fl->f, ": %s, %.2f%%</title></g>\n", view_value(fl->view, n->total, text),
		view_percent(fl->view, n->total));
}

/**
 * struct rest - siblings too narrow to be drawn, as one box: a gap would look
 *	like time of the caller itself
 * @nr: how many
 * @parent: of all of them
 * @depth: of all of them
 * @start: value left of the first
 * @value: of all together
 */
struct rest {
	unsigned int nr;
	uint32_t parent;
	uint32_t depth;
	int64_t start;
	int64_t value;
};

static void write_rest(struct flame *fl, struct rest *r)
{
	char text[VIEW_TEXT_MAX];

	if (r->nr && width_of(fl, r->value) >= NARROWEST) {
		open_box(fl, r->start, r->value, r->depth, "r");
		fprintf(fl->f, "<title>%u functions: %s, %.2f%%</title></g>\n", r->nr,
			view_value(fl->view, r->value, text), view_percent(fl->view, r->value));
	}
	r->nr = 0;
}

static void add_rest(struct flame *fl, struct rest *r, uint32_t i, int64_t start)
{
	const struct call_node *n = &fl->tree->nodes[i];

	if (r->nr && (r->parent != n->parent || width_of(fl, r->value) >= WIDEST_REST))
		write_rest(fl, r);
	if (!r->nr)
		*r = (struct rest){ 0, n->parent, n->depth, start, 0 };
	r->nr++;
	r->value = view_sum(r->value, n->total);
}

static void write_frames(struct flame *fl)
{
	const struct calltree *t = fl->tree;
	struct rest rest = { 0 };
	uint32_t i = 0;

	fputs("<g id=\"frames\">\n", fl->f);
	while (i < t->nr) {
		int64_t start = place(fl, i);

		if (i && width_of(fl, t->nodes[i].total) < fl->narrowest) {
			add_rest(fl, &rest, i, start);
			i = t->nodes[i].end;
		} else {
			write_rest(fl, &rest);
			if (t->diff)
				write_diff_node(fl, i, start);
			else
				write_node(fl, i, start);
			i++;
		}
	}
	write_rest(fl, &rest);
	fputs("</g>\n", fl->f);
}

/* A mark, and a number to the base of 36. */
static void write_base36(FILE *f, char mark, uint64_t v)
{
	char text[DIGITS_MAX], *end = text + sizeof(text), *begin = digits_before(end, v, 36);

	*--begin = mark;
	fwrite_unlocked(begin, 1, (size_t)(end - begin), f);
}

/* A node's own part of the base. */
static int64_t own_base(const struct calltree *t, uint32_t i)
{
	int64_t own = t->base[i];

	for (uint32_t c = i + 1; c < t->nodes[i].end; c = t->nodes[c].end)
		own -= t->base[c];
	return own > 0 ? own : 0;
}

/* node := "(" frame [":" value [":" base]] node* ")", as flame.js reads it */
static void write_tree(struct flame *fl)
{
	const struct calltree *t = fl->tree;
	uint32_t open = 0;

	for (uint32_t i = 0; i < t->nr; i++) {
		const struct call_node *n = &t->nodes[i];

		for (; i && open > n->depth - 1; open--)
			putc_unlocked(')', fl->f);
		open = n->depth;
		write_base36(fl->f, '(', n->frame);
		if (n->self)
			write_base36(fl->f, ':', n->self);
		if (n->self && t->diff)
			write_base36(fl->f, ':', own_base(t, i));
	}
	for (open++; open; open--)
		putc(')', fl->f);
}

static void write_data(struct flame *fl, const char *hint)
{
	const struct calltree *t = fl->tree;

	fprintf(fl->f, "<script id=\"data\" type=\"application/json\"><![CDATA[\n"
		"{\"width\":%d,\"margin\":%d,\"top\":%d,\"row\":%d,\"column\":%.2f,\"height\":%u,",
		WIDTH, MARGIN, TOP, ROW, COLUMN, fl->height);
	fprintf(fl->f, "\"narrowest\":%.1f,\"widestRest\":%d,\"drawnMax\":%d,\"units\":",
		NARROWEST, WIDEST_REST, DRAWN_MAX);
	human_json(fl->f, fl->view->unit);
	fprintf(fl->f, ",\"diff\":%s", t->diff ? "true" : "false");
	fputs(",\"hint\":", fl->f);
	text_json(fl->f, hint);
	fputs(",\n\"frames\":[", fl->f);
	for (size_t i = 0; i < t->nr_frames; i++) {
		const char *function, *mapping;
		enum frame_kind kind = calltree_frame(t, i, &function, &mapping);

		fputs(i ? ",\n[" : "[", fl->f);
		text_json(fl->f, function);
		putc(',', fl->f);
		text_json(fl->f, mapping);
		fprintf(fl->f, ",%d,%u]", kind, tone_of(function));
	}
	fputs("],\n\"tree\":\"", fl->f);
	write_tree(fl);
	fputs("\"}\n]]></script>\n", fl->f);
}

static void write_legend(struct flame *fl, double y)
{
	static const char *const changes[] = { "+ more", "- less", "the same" };
	static const char *const classes[] = { "u1", "k1", "i1", "j1", "g2", "l2", "a" };
	const char *const *names = fl->tree->diff ? changes : frame_kinds;
	size_t nr = fl->tree->diff ? ARRAY_SIZE(changes) : FRAME_KINDS;
	double x = MARGIN;

	for (size_t i = 0; i < nr; i++) {
		fprintf(fl->f, "<rect class=\"%s\" x=\"%.0f\" y=\"%.0f\" width=\"12\" "
			"height=\"12\"/>", classes[fl->tree->diff ? FRAME_KINDS + i : i], x, y - 10);
		fprintf(fl->f, "<text class=\"note\" x=\"%.0f\" y=\"%.0f\">%s</text>\n", x + 18, y,
			names[i]);
		x += 18 + COLUMN * (strlen(names[i]) + 3);
	}
	fprintf(fl->f, "<text id=\"culled\" class=\"note\" x=\"%.0f\" y=\"%.0f\">", x + COLUMN, y);
	if (fl->culled)
		fprintf(fl->f, "%" PRIu64 " frames narrower than %.1f px not drawn, "
			"grey stands for them", fl->culled, fl->narrowest);
	fputs("</text>\n", fl->f);
}

static void write_header(struct flame *fl, const char *title, const char *hint)
{
	char text[VIEW_TEXT_MAX];
	double seconds = view_duration(fl->view);

	fprintf(fl->f, "<text class=\"head\" x=\"%d\" y=\"26\">", MARGIN);
	text_xml(fl->f, title, 80);
	fprintf(fl->f, "</text>\n<text class=\"note\" x=\"%d\" y=\"%d\">", MARGIN, 26 + LINE + 2);
	text_xml(fl->f, fl->view->name, 40);
	if (fl->tree->diff)
		write_change(fl, 0);
	else
		fprintf(fl->f, ": %s",
			view_value(fl->view, fl->tree->nodes[0].total, text));
	if (seconds && !fl->tree->diff)
		fprintf(fl->f, " in %s", human(seconds, "seconds", text));
	if (*view_time(fl->view, text)) {
		fputs(", ", fl->f);
		text_xml(fl->f, text, VIEW_TEXT_MAX);
	}
	fputs("</text>\n", fl->f);
	write_legend(fl, 26 + 2 * LINE + 4);
	fprintf(fl->f, "<text id=\"details\" x=\"%d\" y=\"%d\">", MARGIN, TOP - 6);
	text_xml(fl->f, hint, SIZE_MAX);
	fprintf(fl->f, "</text>\n<text id=\"matched\" x=\"%d\" y=\"49\"></text>\n", WIDTH - MARGIN);
}

/* Losses and the like stand in the comments; a picture without them could mislead. */
static void write_comments(struct flame *fl)
{
	double y = TOP + (fl->tree->depth + 1.0) * ROW + LINE + 4;
	const char *comment;

	for (size_t i = 0; i < COMMENTS_MAX; i++) {
		comment = gprof_profile_comment(fl->view->profile, i);
		if (!comment)
			return;
		fprintf(fl->f, "<text class=\"note\" x=\"%d\" y=\"%.0f\">", MARGIN, y);
		text_xml(fl->f, comment, (WIDTH - 2 * MARGIN) / COLUMN);
		fputs("</text>\n", fl->f);
		y += LINE;
	}
}

static void draw(FILE *f, const struct calltree *tree, const struct view *view, const char *title,
		 bool within)
{
	static const char hint[] = "click a frame to zoom in, Ctrl-F to search, Esc for the whole";
	struct flame fl = { .f = f, .tree = tree, .view = view };
	unsigned int comments = 0;

	while (comments < COMMENTS_MAX && gprof_profile_comment(view->profile, comments))
		comments++;
	fl.height = TOP + (tree->depth + 1) * ROW + comments * LINE + 2 * MARGIN;
	choose_narrowest(&fl);
	if (!within)
		fputs("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n", f);
	fprintf(f, "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%u\" "
		"viewBox=\"0 0 %d %u\">\n<title>", WIDTH, fl.height, WIDTH, fl.height);
	text_xml(f, title, SIZE_MAX);
	fprintf(f, "</title>\n<style><![CDATA[\n%s]]></style>\n"
		"<rect class=\"paper\" width=\"%d\" height=\"%u\"/>\n", flame_style, WIDTH,
		fl.height);
	write_frames(&fl);
	write_comments(&fl);
	/* Drawn last: flame.js keeps it in sight, above the scrolled boxes. */
	fprintf(f, "<g id=\"bar\">\n<rect class=\"paper\" width=\"%d\" height=\"%d\"/>\n", WIDTH,
		TOP - 2);
	write_header(&fl, title, hint);
	fputs("</g>\n", f);
	write_data(&fl, hint);
	fprintf(f, "<script><![CDATA[\n%s]]></script>\n</svg>\n", flame_script);
}

void flame_write(FILE *f, const struct calltree *tree, const struct view *view, const char *title)
{
	draw(f, tree, view, title, false);
}

void flame_write_page(FILE *f, const struct calltree *tree, const struct view *view,
		      const char *title)
{
	fputs("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
	      /* Names in a profile are not trusted: a browser may not fetch them. */
	      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
	      "script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:\">\n"
	      "<meta name=\"viewport\" content=\"width=device-width\">\n"
	      "<link rel=\"icon\" href=\"data:,\">\n<title>", f);
	text_xml(f, title, SIZE_MAX);
	fputs("</title>\n<style>\nbody { margin: 0; background: #ffffff; }\n"
	      "@media (prefers-color-scheme: dark) { body { background: #16181d; } }\n"
	      "</style>\n</head>\n<body>\n", f);
	draw(f, tree, view, title, true);
	fputs("</body>\n</html>\n", f);
}
