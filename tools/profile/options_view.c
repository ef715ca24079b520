// SPDX-License-Identifier: GPL-2.0-only
/*
 * Common options of views: see options_view.h.
 */
#include "options_view.h"

#include "cli/cmd.h"

static int set_type(void *ctx, const char *value)
{
	((struct view_options *)ctx)->type = value;
	return STATUS_OK;
}

static int set_symbols(void *ctx, const char *value)
{
	(void)value;
	((struct view_options *)ctx)->symbols = true;
	return STATUS_OK;
}

const struct option_row view_options[] = {
	{ 0, "type", "TYPE", "values to show, such as samples or cpu\n(default: the profile's)",
	  set_type },
	{ 0, "no-demangle", NULL, "name C++ and Rust functions by their symbols", set_symbols },
	{ 0 },
};

static int apply_options(struct view *v, int status, struct view_options *o)
{
	if (status != STATUS_OK)
		return status;
	gprof_profile_system_names(v->profile, o->symbols);
	v->filter = &o->filter;
	return STATUS_OK;
}

int view_open_with(struct view *v, const char *file, struct view_options *o)
{
	return apply_options(v, view_open(v, file, o->type), o);
}

int view_of_with(struct view *v, struct gprof_profile *p, const char *file, struct view_options *o)
{
	return apply_options(v, view_of(v, p, file, o->type), o);
}

int view_open_diff_with(struct view *v, const char *base, const char *file, struct view_options *o)
{
	return apply_options(v, view_open_diff(v, base, file, o->type, 0), o);
}
