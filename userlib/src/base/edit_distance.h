/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * edit_distance: how far two words are from each other, for "did you mean". The command is
 * built with this file pair too: it depends on nothing.
 */
#ifndef GPROF_EDIT_DISTANCE_H
#define GPROF_EDIT_DISTANCE_H

/* Longest word that is compared, in bytes. */
#define GPROF_EDIT_DISTANCE_WORD_MAX	127

/*
 * How many bytes have to be changed, added, left out or swapped with their neighbour to make
 * @b of @a: the optimal string alignment distance. GPROF_EDIT_DISTANCE_WORD_MAX + 1 where one of
 * them is longer than GPROF_EDIT_DISTANCE_WORD_MAX.
 */
unsigned int gprof_edit_distance(const char *a, const char *b);

#endif /* GPROF_EDIT_DISTANCE_H */
