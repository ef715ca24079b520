/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Source and assembly of the hottest functions, for a page.
 */
#ifndef TOOLS_PROFILE_PAGE_SOURCES_H
#define TOOLS_PROFILE_PAGE_SOURCES_H

#include <stdio.h>

#include "calltree.h"
#include "source_lines.h"

#define PAGE_FUNCTIONS		200
#define PAGE_SOURCES_BYTES	(3 << 20)

/**
 * struct page_sources - what a page says of functions
 * @dirs: directories of sources
 * @profile: name of the profile, for advice
 * @functions: the hottest first
 * @nr: how many
 * @all: how many the profile has
 * @bytes: of all texts
 */
struct page_sources {
	struct source_dirs dirs;
	const char *profile;
	struct page_function {
		char *name;
		char *source;	/* a listing in JSON; NULL: it does not fit */
		char *code;
	} functions[PAGE_FUNCTIONS];
	size_t nr;
	size_t all;
	size_t bytes;
};

/* page_sources_collect() - read them, as long as the view has its samples; STATUS_OK or another */
int page_sources_collect(struct page_sources *s, struct view *v);

/* page_sources_write() - as a member of an object, with the numbers of @t's frames */
void page_sources_write(FILE *f, const struct page_sources *s, const struct calltree *t);

/* page_sources_report() - a sentence about what does not fit */
void page_sources_report(const struct page_sources *s);

void page_sources_free(struct page_sources *s);

#endif /* TOOLS_PROFILE_PAGE_SOURCES_H */
