// SPDX-License-Identifier: GPL-2.0-only
/*
 * Both axes are logarithmic. The utilization may well be 0, which such an axis
 * does not have: below 1 % it goes on evenly down to 0.
 */
#include "plot.h"

#include <math.h>
#include <string.h>

#include "cli/duration.h"
#include "cli/diag.h"
#include "cli/text.h"

#define WIDTH		960
#define HEIGHT		560
#define LEFT		92
#define RIGHT		(WIDTH - 36)
#define TOP		118
#define BOTTOM		(HEIGHT - 66)
/* Where the axis becomes even, and its share of the height. */
#define EVEN		0.01
#define EVEN_SHARE	0.14

/* From the worst windows to less bad ones; distinct for colour-blind users too. */
static const char *const shades[PLOT_BANDS_MAX] = {
	"#b2182b", "#e08060", "#f7c4a8", "#dfe9f2", "#b9d3e6", "#8fb8d6",
};

static const char style[] =
	"text { font-family: 'DejaVu Sans', Verdana, sans-serif; font-size: 13px; fill: #333 }\n"
	".title { font-size: 20px; font-weight: bold; fill: #111 }\n"
	".subtitle { fill: #555 }\n"
	".grid { stroke: #dcdcdc; stroke-width: 1 }\n"
	".fine { stroke: #f0f0f0; stroke-width: 1 }\n"
	".axis { stroke: #333; stroke-width: 1; fill: none }\n"
	".mmu { stroke: #12355b; stroke-width: 2.5; stroke-linejoin: round; fill: none }\n"
	".mark { fill: #fff; stroke: #12355b; stroke-width: 2 }\n"
	".halo { paint-order: stroke; stroke: #fff; stroke-width: 4px; fill: #12355b }\n"
	".hit { fill: transparent }\n";

static double x_of(const struct plot *p, int64_t window)
{
	double first = log10(p->windows[0]), last = log10(p->windows[p->nr - 1]);

	return LEFT + (RIGHT - LEFT) * (log10(window) - first) / (last - first);
}

static double y_of(double util)
{
	double height;

	if (util < EVEN)
		height = EVEN_SHARE * util / EVEN;
	else
		height = EVEN_SHARE + (1 - EVEN_SHARE) * (1 - log10(util) / log10(EVEN));
	return BOTTOM - (BOTTOM - TOP) * height;
}

static void write_percent(FILE *f, double share)
{
	fprintf(f, "%.4g %%", 100 * share);
}

static void draw_time_axis(FILE *f, const struct plot *p)
{
	int64_t first = p->windows[0], last = p->windows[p->nr - 1];
	char text[DURATION_TEXT];

	for (int64_t decade = 1; decade <= last && decade <= INT64_MAX / 10; decade *= 10) {
		for (int i = 1; i < 10; i++) {
			double x;

			if (decade > INT64_MAX / 10 || decade * i < first || decade * i > last)
				continue;
			x = x_of(p, decade * i);
			fprintf(f, "<path class=\"%s\" d=\"M%.1f %dV%d\"/>\n", i == 1 ? "grid" : "fine",
				x, TOP, BOTTOM);
			if (i == 1)
				fprintf(f, "<path class=\"axis\" d=\"M%.1f %dv6\"/>\n"
					"<text x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">%s</text>\n",
					x, BOTTOM, x, BOTTOM + 22, duration_text(decade, text));
		}
	}
	fprintf(f, "<text x=\"%d\" y=\"%d\" text-anchor=\"middle\">length of the window</text>\n",
		(LEFT + RIGHT) / 2, HEIGHT - 18);
}

static void draw_util_axis(FILE *f)
{
	static const double ticks[] = { 0, .01, .02, .05, .1, .2, .5, 1 };

	for (size_t i = 0; i < ARRAY_SIZE(ticks); i++) {
		double y = y_of(ticks[i]);

		fprintf(f, "<path class=\"grid\" d=\"M%d %.1fH%d\"/>\n"
			"<path class=\"axis\" d=\"M%d %.1fh-6\"/>\n"
			"<text x=\"%d\" y=\"%.1f\" text-anchor=\"end\">",
			LEFT, y, RIGHT, LEFT, y, LEFT - 10, y + 4.5);
		write_percent(f, ticks[i]);
		fputs("</text>\n", f);
	}
	fprintf(f, "<text transform=\"translate(22 %d) rotate(-90)\" text-anchor=\"middle\">"
		"utilization (below 1 %% an even scale)</text>\n", (TOP + BOTTOM) / 2);
}

/* From the quantile below, or the MMU, up to this one, and back. */
static void draw_bands(FILE *f, const struct plot *p)
{
	for (size_t b = 0; b < p->nr_q; b++) {
		const double *above = p->util + b * p->nr;
		const double *below = b ? above - p->nr : p->mmu;

		fprintf(f, "<path fill=\"%s\" d=\"", shades[b]);
		for (size_t i = 0; i < p->nr; i++)
			fprintf(f, "%c%.1f %.1f", i ? 'L' : 'M', x_of(p, p->windows[i]),
				y_of(above[i]));
		for (size_t i = p->nr; i--;)
			fprintf(f, "L%.1f %.1f", x_of(p, p->windows[i]), y_of(below[i]));
		fputs("Z\"/>\n", f);
	}
}

static void draw_mmu(FILE *f, const struct plot *p)
{
	fputs("<path class=\"mmu\" d=\"", f);
	for (size_t i = 0; i < p->nr; i++)
		fprintf(f, "%c%.1f %.1f", i ? 'L' : 'M', x_of(p, p->windows[i]), y_of(p->mmu[i]));
	fputs("\"/>\n", f);
}

/* Tooltip of each point. */
static void draw_hits(FILE *f, const struct plot *p)
{
	char text[DURATION_TEXT];

	for (size_t i = 0; i < p->nr; i++) {
		fprintf(f, "<circle class=\"hit\" cx=\"%.1f\" cy=\"%.1f\" r=\"7\"><title>%s: MMU ",
			x_of(p, p->windows[i]), y_of(p->mmu[i]),
			duration_text(p->windows[i], text));
		write_percent(f, p->mmu[i]);
		for (size_t b = 0; b < p->nr_q; b++) {
			fputs("; worst ", f);
			write_percent(f, p->q[b]);
			fputs(" up to ", f);
			write_percent(f, p->util[b * p->nr + i]);
		}
		fputs("</title></circle>\n", f);
	}
}

static void draw_marks(FILE *f, const struct plot *p)
{
	for (size_t i = 0; i < p->nr_marks; i++) {
		char text[DURATION_TEXT];
		double x, y;

		if (p->marks[i] < p->windows[0] || p->marks[i] > p->windows[p->nr - 1])
			continue;
		x = x_of(p, p->marks[i]);
		y = y_of(p->marks_mmu[i]);
		/* The curve goes up to the right: below it there is room. */
		fprintf(f, "<circle class=\"mark\" cx=\"%.1f\" cy=\"%.1f\" r=\"4.5\"/>\n"
			"<text class=\"halo\" x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">%s: ", x, y,
			x > RIGHT - 120 ? RIGHT : x + 10, y > BOTTOM - 24 ? y - 10 : y + 18,
			x > RIGHT - 120 ? "end" : "start", duration_text(p->marks[i], text));
		write_percent(f, p->marks_mmu[i]);
		fputs("</text>\n", f);
	}
}

static void draw_legend(FILE *f, const struct plot *p)
{
	/* Room for long words, or for many bands. */
	const char *what = p->nr_q <= 3 ? " of windows" : "";
	double x = LEFT;

	fprintf(f, "<path class=\"mmu\" d=\"M%.0f %dh26\"/>\n<text x=\"%.0f\" y=\"%d\">"
		"worst of all (MMU)</text>\n", x, TOP - 22, x + 33, TOP - 17);
	x += 196;
	for (size_t b = 0; b < p->nr_q; b++) {
		fprintf(f, "<rect x=\"%.0f\" y=\"%d\" width=\"20\" height=\"13\" fill=\"%s\"/>\n"
			"<text x=\"%.0f\" y=\"%d\">%s ", x, TOP - 28, shades[b], x + 27, TOP - 17,
			"worst");
		write_percent(f, p->q[b]);
		fprintf(f, "%s</text>\n", what);
		x += p->nr_q <= 3 ? 200 : 106;
	}
}

void plot_write(FILE *f, const struct plot *p)
{
	fprintf(f, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
		
		"<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" "
		"viewBox=\"0 0 %d %d\" role=\"img\">\n<title>", WIDTH, HEIGHT, WIDTH, HEIGHT);
	text_xml(f, p->title, SIZE_MAX);
	fprintf(f, "</title>\n<style>\n%s</style>\n"
		"<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n"
		"<text class=\"title\" x=\"%d\" y=\"36\">", style, LEFT);
	text_xml(f, p->title, 76);
	fprintf(f, "</text>\n<text class=\"subtitle\" x=\"%d\" y=\"60\">", LEFT);
	text_xml(f, p->subtitle, 110);
	fputs("</text>\n", f);
	draw_time_axis(f, p);
	draw_util_axis(f);
	draw_bands(f, p);
	draw_mmu(f, p);
	fprintf(f, "<path class=\"axis\" d=\"M%d %dV%dH%d\"/>\n", LEFT, TOP, BOTTOM, RIGHT);
	draw_legend(f, p);
	draw_hits(f, p);
	draw_marks(f, p);
	fputs("</svg>\n", f);
}
