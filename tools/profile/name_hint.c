// SPDX-License-Identifier: GPL-2.0-only
/*
 * Hints for naming code without names: see name_hint.h.
 */
#include "name_hint.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/unnamed.h"
#include "cli/intern.h"
#include "cli/diag.h"
#include "cli/text.h"
#include "debug_package.h"

#define SHARE_LEAST	100	/* 1 part of so many */
#define FILES_SHOWN	3

/**
 * struct nameless - files that can be found by their build-id
 * @files: their paths, and behind those others
 * @nr: how many
 * @values: values of samples in code without a name, of each
 * @lined: some code of it has lines: its debug file was there, and names no more
 */
struct nameless {
	struct intern files;
	size_t nr;
	int64_t *values;
	bool *lined;
};

/* Value of each location by itself. */
static int64_t *sum_leaves(const struct view *v, const struct frames *f)
{
	int64_t *sums = xalloc(f->nr_locations + 1, sizeof(*sums));
	struct gprof_profile_stack s;

	for (size_t i = 0; !gprof_profile_stack(v->profile, i, &s); i++)
		if (s.nr_locations) {
			int64_t *sum = &sums[s.locations[0]];

			*sum = view_sum(*sum, view_size(s.values[v->type]));
		}
	return sums;
}

static size_t number_of(struct nameless *n, const char *path)
{
	return intern_add(&n->files, path, strlen(path) + 1);
}

static void collect(struct nameless *n, struct view *v)
{
	const struct frames *f = view_frames(v);
	int64_t *sums = sum_leaves(v, f);
	struct gprof_profile_mapping m;
	char text[VIEW_NAME_MAX];

	for (size_t i = 0; !gprof_profile_mapping(v->profile, i, &m); i++)
		if (*m.build_id && m.file[0] == '/')
			number_of(n, m.file);
	n->nr = n->files.nr;
	n->values = xalloc(n->nr + 1, sizeof(*n->values));
	n->lined = xalloc(n->nr + 1, sizeof(*n->lined));
	for (size_t i = 0; i < f->nr_locations; i++) {
		const struct gprof_frame *frame = &f->all[f->first[i]];
		size_t at;

		if (!frame->line && (!sums[i] || !gprof_is_unnamed(view_function(frame, text))))
			continue;
		at = number_of(n, frame->mapping);
		if (at < n->nr && frame->line)
			n->lined[at] = true;
		else if (at < n->nr)
			n->values[at] = view_sum(n->values[at], sums[i]);
	}
	for (size_t i = 0; i < n->nr; i++)
		if (n->lined[i])
			n->values[i] = 0;
	free(sums);
}

/* The largest that was not taken yet; SIZE_MAX: there is none. */
static size_t pop_largest(struct nameless *n)
{
	size_t best = SIZE_MAX;

	for (size_t i = 0; i < n->nr; i++)
		if (n->values[i] > 0 && (best == SIZE_MAX || n->values[i] > n->values[best]))
			best = i;
	if (best != SIZE_MAX)
		n->values[best] = 0;
	return best;
}

/* "A, B and C": packages, each once, or files where there is none; for free(). */
static char *words_of(struct nameless *n)
{
	const char *paths[FILES_SHOWN];
	char *names[FILES_SHOWN], *all = NULL;
	size_t nr, at, length;

	for (nr = 0; nr < FILES_SHOWN && (at = pop_largest(n)) != SIZE_MAX; nr++)
		paths[nr] = intern_key(&n->files, at, &length);
	debug_packages(DPKG_INFO, paths, nr, names);
	for (size_t i = 0; i < nr; i++) {
		bool twice = false;
		char *more;

		for (size_t j = 0; j < i && names[i]; j++)
			twice |= names[j] && !strcmp(names[i], names[j]);
		if (twice)
			continue;
		more = names[i] ? xprintf("%s%s%s", all ? all : "", all ? ", " : "", names[i]) :
				  xprintf("%s%sdebug symbols of %s", all ? all : "", all ? ", " : "",
					  strrchr(paths[i], '/') + 1);
		free(all);
		all = more;
	}
	for (size_t i = 0; i < nr; i++)
		free(names[i]);
	return all;
}

char *name_hint(struct view *v, const char *file)
{
	const char *urls = debuginfod_urls();
	struct nameless n = { 0 };
	char *text = NULL, *words, *hint;
	int64_t all = 0;

	collect(&n, v);
	for (size_t i = 0; i < n.nr; i++)
		all = view_sum(all, n.values[i]);
	if (all && all >= view_size(v->total) / SHARE_LEAST) {
		words = words_of(&n);
		if (!strcmp(file, "-"))
			file = "FILE";
		text = urls ? xprintf("%.2f%% could have names: gprofctl symbolize %s asks %s, or install %s before",
				      view_percent(v, all), file, urls, words) :
			      xprintf("%.2f%% could have names: install %s, or set DEBUGINFOD_URLS, then gprofctl symbolize %s",
				      view_percent(v, all), words, file);
		free(words);
	}
	intern_free(&n.files);
	free(n.values);
	free(n.lined);
	hint = text ? text_safe(text) : NULL;
	free(text);
	return hint;
}
