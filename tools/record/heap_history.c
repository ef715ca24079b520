// SPDX-License-Identifier: GPL-2.0-only
#include "heap_history.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cli/cmd.h"
#include "cli/diag.h"
#include "cli/human.h"
#include "cli/output.h"
#include "cli/text.h"

#define WIDTH	960
#define HEIGHT	360
#define LEFT	92
#define RIGHT	(WIDTH - 36)
#define TOP	84
#define BOTTOM	(HEIGHT - 58)
#define TICKS	6

static const char style[] =
	"svg { --paper: #fff; --ink: #333; --strong: #111; --grid: #dcdcdc; --area: #b9d3e6;"
	" --line: #12355b }\n"
	"@media (prefers-color-scheme: dark) { svg { --paper: #16181d; --ink: #c9ccd1;"
	" --strong: #f2f2f2; --grid: #33373f; --area: #27445f; --line: #8fc1ec } }\n"
	"text { font-family: 'DejaVu Sans', Verdana, sans-serif; font-size: 13px; fill: var(--ink) }\n"
	".title { font-size: 20px; font-weight: bold; fill: var(--strong) }\n"
	".grid { stroke: var(--grid); stroke-width: 1 }\n"
	".axis { stroke: var(--ink); stroke-width: 1; fill: none }\n"
	".area { fill: var(--area); stroke: none }\n"
	".line { fill: none; stroke: var(--line); stroke-width: 1.5; stroke-linejoin: round }\n"
	".mark { fill: var(--paper); stroke: var(--line); stroke-width: 2 }\n"
	".halo { paint-order: stroke; stroke: var(--paper); stroke-width: 4px; fill: var(--line) }\n"
	".hit { fill: transparent }\n";

/**
 * struct scale - what the picture's edges are
 * @ns: the right one
 * @bytes: the upper one
 */
struct scale {
	double ns;
	double bytes;
};

static double x_of(const struct scale *s, double ns)
{
	return LEFT + (RIGHT - LEFT) * ns / s->ns;
}

static double y_of(const struct scale *s, double bytes)
{
	return BOTTOM - (BOTTOM - TOP) * bytes / s->bytes;
}

/* The least 1, 2 or 5 times @unit and a power of 10 that gives at most so many ticks. */
static double tick_of(double whole, double unit)
{
	static const double factors[] = { 1, 2, 5 };

	for (double power = unit;; power *= 10)
		for (size_t i = 0; i < ARRAY_SIZE(factors); i++)
			if (whole <= TICKS * power * factors[i])
				return power * factors[i];
}

static void draw_axes(FILE *f, const struct scale *s)
{
	double unit = 1, tick;
	char text[HUMAN_MAX];

	while (unit * 1024 <= s->bytes)
		unit *= 1024;
	tick = tick_of(s->bytes, unit / 1000);
	for (double bytes = 0; bytes <= s->bytes; bytes += tick)
		fprintf(f, "<path class=\"grid\" d=\"M%d %.1fH%d\"/>\n"
			"<text x=\"%d\" y=\"%.1f\" text-anchor=\"end\">%s</text>\n", LEFT,
			y_of(s, bytes), RIGHT, LEFT - 10, y_of(s, bytes) + 4.5,
			human(bytes, "bytes", text));
	tick = tick_of(s->ns, 1);
	for (double ns = 0; ns <= s->ns; ns += tick)
		fprintf(f, "<path class=\"axis\" d=\"M%.1f %dv6\"/>\n"
			"<text x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">%s</text>\n", x_of(s, ns),
			BOTTOM, x_of(s, ns), BOTTOM + 22, human_ns((int64_t)ns, text));
	fprintf(f, "<text x=\"%d\" y=\"%d\" text-anchor=\"middle\">time after the start</text>\n"
		"<path class=\"axis\" d=\"M%d %dV%dH%d\"/>\n", (LEFT + RIGHT) / 2, HEIGHT - 12, LEFT,
		TOP, BOTTOM, RIGHT);
}

/* Each step is flat, at the most that was in use in it. */
static void draw_curve(FILE *f, const struct scale *s, const struct gprof_memory_history *m)
{
	for (int area = 1; area >= 0; area--) {
		fprintf(f, "<path class=\"%s\" d=\"M%.1f %.1f", area ? "area" : "line", x_of(s, 0),
			y_of(s, area ? 0 : m->steps[0]));
		for (size_t i = 0; i < m->nr_steps; i++)
			fprintf(f, "V%.1fH%.1f", y_of(s, m->steps[i]),
				x_of(s, (i + 1.0) * m->step_ns));
		fprintf(f, area ? "V%.1fZ\"/>\n" : "\"/>\n", y_of(s, 0));
	}
	for (size_t i = 0; i < m->nr_steps; i++) {
		char when[HUMAN_MAX], bytes[HUMAN_MAX];

		fprintf(f, "<rect class=\"hit\" x=\"%.1f\" y=\"%d\" width=\"%.2f\" height=\"%d\">"
			"<title>%s: %s</title></rect>\n", x_of(s, (double)i * m->step_ns), TOP,
			x_of(s, m->step_ns) - LEFT, BOTTOM - TOP,
			human_ns((int64_t)(i * m->step_ns), when),
			human(m->steps[i], "bytes", bytes));
	}
}

static void draw_peak(FILE *f, const struct scale *s, const struct gprof_memory_history *m)
{
	double x = x_of(s, m->peak_ns), y = y_of(s, m->peak_bytes);
	char bytes[HUMAN_MAX], when[HUMAN_MAX];
	bool left = x > RIGHT - 220;

	fprintf(f, "<circle class=\"mark\" cx=\"%.1f\" cy=\"%.1f\" r=\"4.5\"/>\n"
		"<text class=\"halo\" x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">peak: %s after %s"
		"</text>\n", x, y, left ? x - 10 : x + 10, y - 8, left ? "end" : "start",
		human(m->peak_bytes, "bytes", bytes), human_ns((int64_t)m->peak_ns, when));
}

static void draw(FILE *f, const char *file, const struct gprof_memory_history *m)
{
	const struct scale s = {
		.ns = (double)m->nr_steps * m->step_ns,
		.bytes = m->peak_bytes ? 1.08 * m->peak_bytes : 1,
	};
	char end[HUMAN_MAX];

	fprintf(f, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
		"<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" "
		"viewBox=\"0 0 %d %d\" role=\"img\">\n<title>Memory in use over time: ", WIDTH,
		HEIGHT, WIDTH, HEIGHT);
	text_xml(f, file, SIZE_MAX);
	fprintf(f, "</title>\n<style>\n%s</style>\n"
		"<rect width=\"100%%\" height=\"100%%\" style=\"fill: var(--paper)\"/>\n"
		"<text class=\"title\" x=\"%d\" y=\"36\">Memory in use over time: ", style, LEFT);
	text_xml(f, file, 60);
	fprintf(f, "</text>\n<text x=\"%d\" y=\"60\">%s at the end; %.3g %% of %" PRIu64
		" objects lived less than 1 ms</text>\n", LEFT, human(m->end_bytes, "bytes", end),
		100.0 * m->temporary_objects / m->objects, m->objects);
	draw_axes(f, &s);
	draw_curve(f, &s, m);
	draw_peak(f, &s, m);
	fputs("</svg>\n", f);
}

static int write_svg(const char *svg, const char *file, const struct gprof_memory_history *m)
{
	struct output out = { 0 };
	int status = output_open(&out, svg);
	FILE *f;

	if (status != STATUS_OK)
		return status;
	f = output_stream(&out);
	if (f)
		draw(f, file, m);
	if (!f || ferror(f) | fclose(f)) {
		status = fail("%s could not be written: %s", svg, strerror(errno));
		output_discard(&out);
		return status;
	}
	status = output_commit(&out);
	if (status == STATUS_OK)
		diag("%s: the memory in use over time, a picture for a browser", svg);
	return status;
}

int heap_history(struct gprof_recorder *r, const char *file, const char *svg, int64_t grown_since)
{
	struct gprof_memory_history m = { .sz = sizeof(m) };
	char peak[HUMAN_MAX], when[HUMAN_MAX], end[HUMAN_MAX], since[HUMAN_MAX];

	int err = gprof_recorder_memory(r, 0, &m);

	/* An older module has none. */
	if (err == -EINVAL && !svg && !grown_since)
		return STATUS_OK;
	if (err)
		return fail("%s", gprof_error());
	if (grown_since && !m.grown)
		diag("the recording ended before %s had passed, so nothing has grown since then; "
		     "give --grown-since less", human_ns(grown_since, since));
	if (!m.nr_steps || !m.objects)
		return svg ? fail("no allocation was sampled, so there is nothing to draw in %s", svg) :
		       STATUS_OK;
	diag("most memory in use: %s in %" PRIu64 " objects, %s after the start (top --type "
	     "peak_space %s); %s at the end; %.3g %% of %" PRIu64 " objects lived less than 1 ms",
	     human(m.peak_bytes, "bytes", peak), m.peak_objects,
	     human_ns((int64_t)m.peak_ns, when), file, human(m.end_bytes, "bytes", end),
	     100.0 * m.temporary_objects / m.objects, m.objects);
	if (m.guessed)
		diag("the ends of %" PRIu64 " sampled objects are not exact in time, as samples were "
		     "lost", m.guessed);
	return svg ? write_svg(svg, file, &m) : STATUS_OK;
}
