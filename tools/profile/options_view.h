/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Common options of views: the type of values, the style of function names, and the profile
 * itself.
 */
#ifndef TOOLS_PROFILE_OPTIONS_VIEW_H
#define TOOLS_PROFILE_OPTIONS_VIEW_H

#include <stdbool.h>

#include "cli/options.h"
#include "sample_filter.h"
#include "view.h"

/**
 * struct view_options - the command line
 * @type: --type
 * @symbols: --no-demangle
 * @filter: chosen samples
 */
struct view_options {
	const char *type;
	bool symbols;
	struct sample_filter filter;
};

/* For struct option_table; its ctx is a struct view_options. */
extern const struct option_row view_options[];

/* view_open_with() - view_open(), as the options have it; sample_filter_free() is the caller's */
int view_open_with(struct view *v, const char *file, struct view_options *o);
/* view_of_with() - likewise view_of() */
int view_of_with(struct view *v, struct gprof_profile *p, const char *file, struct view_options *o);
/* view_open_diff_with() - likewise view_open_diff() */
int view_open_diff_with(struct view *v, const char *base, const char *file,
			struct view_options *o);

#endif /* TOOLS_PROFILE_OPTIONS_VIEW_H */
