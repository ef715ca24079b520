// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * edit_distance.c: by dynamic programming, with three rows of the table at a time.
 */
#include "edit_distance.h"

#include <string.h>

static unsigned int least(unsigned int a, unsigned int b)
{
	return a < b ? a : b;
}

unsigned int gprof_edit_distance(const char *a, const char *b)
{
	/* Of a's bytes up to the i-th, i - 1st and i - 2nd. */
	unsigned int rows[3][GPROF_EDIT_DISTANCE_WORD_MAX + 1];
	unsigned int *row = rows[0], *above = rows[1], *higher = rows[2];
	size_t na = strlen(a), nb = strlen(b);

	if (na > GPROF_EDIT_DISTANCE_WORD_MAX || nb > GPROF_EDIT_DISTANCE_WORD_MAX)
		return GPROF_EDIT_DISTANCE_WORD_MAX + 1;
	for (size_t j = 0; j <= nb; j++)
		row[j] = j;
	for (size_t i = 1; i <= na; i++) {
		unsigned int *free = higher;

		higher = above;
		above = row;
		row = free;
		row[0] = i;
		for (size_t j = 1; j <= nb; j++) {
			row[j] = least(above[j], row[j - 1]) + 1;
			row[j] = least(row[j], above[j - 1] + (a[i - 1] != b[j - 1]));
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
				row[j] = least(row[j], higher[j - 2] + 1);
		}
	}
	return row[nb];
}
