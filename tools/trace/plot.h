/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A curve of utilization over the length of windows, as an SVG picture.
 */
#ifndef TOOLS_PLOT_H
#define TOOLS_PLOT_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/**
 * struct plot - curves to draw
 * @title: in large letters
 * @subtitle: below it
 * @windows: lengths in ns, ascending, at least 2
 * @nr: how many
 * @mmu: minimum utilization for each, 0 to 1
 * @q: quantiles, ascending; each gives a band above the one before it
 * @nr_q: how many, at most PLOT_BANDS_MAX
 * @util: for each quantile @nr utilizations, one row after the other
 * @marks: lengths to be marked on the curve, ns
 * @marks_mmu: minimum utilization for each
 * @nr_marks: how many
 */
struct plot {
	const char *title;
	const char *subtitle;
	const int64_t *windows;
	size_t nr;
	const double *mmu;
	const double *q;
	size_t nr_q;
	const double *util;
	const int64_t *marks;
	const double *marks_mmu;
	size_t nr_marks;
};

#define PLOT_BANDS_MAX	6

/* plot_write() - write the picture; ferror(@f) tells a failure */
void plot_write(FILE *f, const struct plot *p);

#endif /* TOOLS_PLOT_H */
