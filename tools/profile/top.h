/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The functions of a profile as a table: of gprofctl top, and of diff.
 */
#ifndef TOOLS_PROFILE_TOP_H
#define TOOLS_PROFILE_TOP_H

#include <stdbool.h>

#include "cli/json.h"
#include "cli/options.h"
#include "functions.h"
#include "sample_filter.h"
#include "view.h"

/**
 * struct top - the table
 * @view: the view
 * @functions: rows
 * @cum: --cum
 * @type: --type
 * @full_names: --full-names
 * @symbols: --no-demangle
 * @filter: chosen samples, and --by
 * @limit: -n, 0 when absent
 * @ratio: --ratio
 * @verbose: -v
 * @json: --json
 */
struct top {
	struct view view;
	struct functions functions;
	bool cum;
	bool full_names;
	bool symbols;
	const char *type;
	struct sample_filter filter;
	unsigned long long limit;
	const char *ratio;
	bool verbose;
	bool json;
};

/* For struct option_table; its ctx is a struct top. */
extern const struct option_row top_rows[];

/* top_collect() - the rows of an open view, in order; STATUS_OK, or another after a sentence */
int top_collect(struct top *t);

/* top_print() - for people; @file: the profile, NULL: of two */
void top_print(struct top *t, const char *file);

/* top_comments() - what the profile says of its recording, without what all say but for -v */
void top_comments(const struct top *t);

/**
 * top_json() - for programs
 * @t: table
 * @command: gprofctl's
 * @file: the profile, NULL: of two
 * @head: adds members to the whole, or NULL
 * @row: adds members to a row, or NULL
 * @ctx: passed on
 */
void top_json(const struct top *t, const char *command, const char *file,
	      void (*head)(struct json *j, void *ctx),
	      void (*row)(struct json *j, void *ctx, const char *name), void *ctx);

void top_free(struct top *t);

#endif /* TOOLS_PROFILE_TOP_H */
