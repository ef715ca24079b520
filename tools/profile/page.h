/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A profile as a page for a browser: one file that needs nothing else.
 */
#ifndef TOOLS_PROFILE_PAGE_H
#define TOOLS_PROFILE_PAGE_H

#include <stdio.h>

#include "view.h"

struct page_sources;

/*
 * page_write() - write the page; errors of @f stay in it
 * @sources: of the hottest functions, which it collects; or NULL
 *
 * Return: STATUS_OK, or STATUS_FAILED after a sentence.
 */
int page_write(FILE *f, struct view *view, const char *title,
	       struct page_sources *sources);

/* page_write_live() - a page without data, which asks "debug/pprof/view" beside it for pages */
void page_write_live(FILE *f, const char *title);

#endif /* TOOLS_PROFILE_PAGE_H */
