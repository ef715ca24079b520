/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The lines of a function's source, with values.
 */
#ifndef TOOLS_PROFILE_SOURCE_LINES_H
#define TOOLS_PROFILE_SOURCE_LINES_H

#include "listing.h"
#include "source.h"

/**
 * struct source_dirs - directories below which sources are looked for, too
 * @all: directories
 * @nr: how many
 */
struct source_dirs {
	const char *all[8];
	size_t nr;
};

/* source_dirs_add() - of an option; STATUS_OK, or STATUS_USAGE after a sentence */
int source_dirs_add(struct source_dirs *d, const char *directory);

/**
 * source_lines() - lines from a few before the first with a value to a few behind the last
 * @d: directories
 * @p: sorted lines
 * @first: number of the first of a function and file
 * @l: gets the rows; without a source those with values, without text; listing_free() in any case
 *
 * Return: NULL, or a sentence for free(): why the lines are not to be had, or may be others.
 */
char *source_lines(const struct source_dirs *d, const struct places *p, size_t first,
		   struct listing *l);

/**
 * source_advice() - why a profile has no lines of a file
 * @mapping: program or library
 * @package: with its debug information, or NULL
 * @profile: name of the profile, for the command that adds lines to it
 *
 * Return: a sentence for free().
 */
char *source_advice(const char *mapping, const char *package, const char *profile);

#endif /* TOOLS_PROFILE_SOURCE_LINES_H */
