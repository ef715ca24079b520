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

static size_t add_place(struct places *p, size_t function, const struct gprof_frame *f)
{
	struct key key = {
		function, p->addresses ? f->mapping : f->file,
		p->addresses ? f->address : (uint64_t)f->line,
	};
	size_t n = intern_add(&p->numbers, &key, sizeof(key)), each = 2 * p->nr_types;

	p->all = xgrow(p->all, n, &p->room, sizeof(*p->all));
	if (n < p->nr)
		return n;
	p->all[p->nr++] = (struct place){ .function = function, .file = key.file, .at = key.at,
					  .values = n * each };
	while (p->room_values < p->nr * each)
		p->values = xgrow(p->values, p->room_values, &p->room_values,
				  sizeof(*p->values));
	return n;
}

static struct place *place_of(struct places *p, size_t function, uint32_t frame)
{
	while (frame >= p->room_known)
		p->known = xgrow(p->known, p->room_known, &p->room_known, sizeof(*p->known));
	if (!p->known[frame])
		p->known[frame] = 1 + (uint32_t)add_place(p, function,
							  &p->view->frames->all[frame]);
	return &p->all[p->known[frame] - 1];
}

static int add_sample(void *ctx, const struct view_sample *s)
{
	struct places *p = ctx;

	functions_add(&p->functions, p->view, s, s->values[p->view->type]);
	for (size_t i = 0; i < s->nr; i++) {
		size_t n = p->functions.stack[i];
		struct place *place;
		int64_t *sums;

		if (!p->all_wanted && !function_match_is(&p->wanted, &p->functions, n))
			continue;
		place = place_of(p, n, s->frames[i]);
		sums = p->values + place->values;
		for (size_t t = 0; t < p->nr_types; t++) {
			int64_t value = s->values[p->type + t];

			if (!i)
				sums[2 * t] = view_sum(sums[2 * t], value);
			if (place->sample != p->functions.samples)
				sums[2 * t + 1] = view_sum(sums[2 * t + 1], value);
		}
		place->sample = p->functions.samples;
	}
	return 0;
}

int places_collect(struct places *p, struct view *v, const char *word, bool addresses)
{
	const struct gprof_value_type *types;
	int status;

	*p = (struct places){ .view = v, .addresses = addresses, .all_wanted = !word,
			      .type = word ? v->type : 0, .nr_types = 1 };
	if (word)
		function_match_init(&p->wanted, word, view_frames(v));
	else
		p->nr_types = gprof_profile_types(v->profile, &types);
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

size_t places_next(const struct places *p, size_t i)
{
	size_t end = i + 1;

	while (end < p->nr && p->all[end].function == p->all[i].function &&
	       p->all[end].file == p->all[i].file)
		end++;
	return end;
}

void places_free(struct places *p)
{
	functions_free(&p->functions);
	function_match_free(&p->wanted);
	intern_free(&p->numbers);
	free(p->known);
	free(p->all);
	free(p->values);
	*p = (struct places){ 0 };
}
