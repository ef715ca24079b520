// SPDX-License-Identifier: GPL-2.0-only
/*
 * Rows of a listing: see listing.h.
 */
#include "listing.h"

#include <stdlib.h>
#include <string.h>

#include "cli/diag.h"
#include "view.h"

void listing_add(struct listing *l, enum listing_kind kind, uint64_t at, const char *text,
		 size_t length)
{
	struct listing_row *row;

	l->rows = xgrow(l->rows, l->nr, &l->room, sizeof(*l->rows));
	while (l->room_values < (l->nr + 1) * l->each)
		l->values = xgrow(l->values, l->room_values, &l->room_values, sizeof(*l->values));
	row = &l->rows[l->nr];
	*row = (struct listing_row){ .kind = kind, .at = at };
	if (text)
		row->text = xprintf("%.*s", (int)length, text);
	memset(l->values + l->nr * l->each, 0, l->each * sizeof(*l->values));
	l->nr++;
}

void listing_sum(struct listing *l, size_t row, const int64_t *values)
{
	int64_t *sums = l->values + row * l->each;

	l->rows[row].valued = true;
	for (size_t i = 0; i < l->each; i++)
		sums[i] = view_sum(sums[i], values[i]);
}

void listing_cut(struct listing *l, size_t nr)
{
	while (l->nr > nr)
		free(l->rows[--l->nr].text);
}

void listing_free(struct listing *l)
{
	listing_cut(l, 0);
	free(l->rows);
	free(l->values);
	*l = (struct listing){ 0 };
}
