// SPDX-License-Identifier: GPL-2.0-only
/*
 * Values of places in a function: see source.h.
 */
#include "source.h"

#include <stdlib.h>
#include <string.h>

#include "cli/diag.h"

/* Texts of one profile are there once: their places tell them apart. */
struct key {
	uint64_t function;
	const char *file;
	uint64_t at;
};

static struct place *place_of(struct places *p, size_t function, const struct gprof_frame *f)
{
	struct key key = {
		function, p->addresses ? f->mapping : f->file,
		p->addresses ? f->address : (uint64_t)f->line,
	};
	size_t n = intern_add(&p->numbers, &key, sizeof(key));

	p->all = xgrow(p->all, n, &p->room, sizeof(*p->all));
	if (n == p->nr)
		p->all[p->nr++] = (struct place){ .function = function, .file = key.file,
						  .at = key.at };
	return &p->all[n];
}

static int add_sample(void *ctx, const struct view_sample *s)
{
	struct places *p = ctx;
	int64_t value = s->values[p->view->type];

	functions_add(&p->functions, p->view, s, value);
	for (size_t i = 0; i < s->nr; i++) {
		size_t n = p->functions.stack[i];
		struct place *place;

		if (!function_match_is(&p->wanted, &p->functions, n))
			continue;
		place = place_of(p, n, &p->view->frames->all[s->frames[i]]);
		if (!i)
			place->flat = view_sum(place->flat, value);
		if (place->sample != p->functions.samples)
			place->cum = view_sum(place->cum, value);
		place->sample = p->functions.samples;
	}
	return 0;
}

int places_collect(struct places *p, struct view *v, const char *word, bool addresses)
{
	int status;

	*p = (struct places){ .view = v, .addresses = addresses };
	function_match_init(&p->wanted, word, view_frames(v));
	status = view_each(v, add_sample, p);
	functions_finish(&p->functions);
	return status;
}

static int compare(const void *pa, const void *pb)
{
	const struct place *a = pa, *b = pb;
	int order;

	if (a->function != b->function)
		return a->function < b->function ? -1 : 1;
	order = a->file == b->file ? 0 : strcmp(a->file, b->file);
	return order ? order : a->at < b->at ? -1 : a->at > b->at;
}

void places_sort(struct places *p)
{
	if (p->nr)
		qsort(p->all, p->nr, sizeof(*p->all), compare);
}

void places_free(struct places *p)
{
	functions_free(&p->functions);
	function_match_free(&p->wanted);
	intern_free(&p->numbers);
	free(p->all);
	*p = (struct places){ 0 };
}
