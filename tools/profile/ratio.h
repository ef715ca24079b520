/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * gprofctl top --ratio: the ratio of two profiles.
 */
#ifndef TOOLS_RATIO_H
#define TOOLS_RATIO_H

#include <stdbool.h>

/**
 * struct ratio_opts - a table of ratios
 * @type: value type of both, NULL for the default of each
 * @cum: of functions with all that they call
 * @limit: rows, 0: all but small ones
 * @full_names: do not shorten names
 * @json: for programs
 */
struct ratio_opts {
	const char *type;
	bool cum;
	unsigned long long limit;
	bool full_names;
	bool json;
};

/* ratio() - of "A/B"; exit status, after a sentence where it is not STATUS_OK */
int ratio(const char *files, const struct ratio_opts *o);

/* ratio_split() - where "A/B" is cut in two: the slash behind a regular file, or NULL */
const char *ratio_split(const char *files);

#endif /* TOOLS_RATIO_H */
