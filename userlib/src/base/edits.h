/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * edits: how far two words are from each other, for "did you mean". The command is built with
 * this file pair too: it depends on nothing.
 */
#ifndef GPROF_EDITS_H
#define GPROF_EDITS_H

/* Longest word that is compared, in bytes. */
#define GPROF_EDITS_WORD_MAX	127

/*
 * How many bytes have to be changed, added, left out or swapped with their neighbour to make
 * @b of @a: the optimal string alignment distance. GPROF_EDITS_WORD_MAX + 1 where one of
 * them is longer than GPROF_EDITS_WORD_MAX.
 */
unsigned int gprof_edits(const char *a, const char *b);

#endif /* GPROF_EDITS_H */
