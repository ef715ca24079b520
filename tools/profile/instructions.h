/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The instructions of a function, with values. objdump reads them, of the file that was recorded
 * and no other.
 */
#ifndef TOOLS_PROFILE_INSTRUCTIONS_H
#define TOOLS_PROFILE_INSTRUCTIONS_H

#include "listing.h"
#include "source.h"

/**
 * instructions() - instructions around those with values
 * @p: sorted addresses; those of the function and file are changed
 * @first: number of the first of a function and file
 * @object: the file to read, or NULL: that of the profile
 * @source: with lines of the source between, and jumps
 * @l: gets the rows; listing_free() in any case
 *
 * Return: NULL, or a sentence for free(): why they are not to be had.
 */
char *instructions(struct places *p, size_t first, const char *object, bool source,
		   struct listing *l);

/* instruction_text() - the part of a row behind the address */
const char *instruction_text(const struct listing_row *row);

#endif /* TOOLS_PROFILE_INSTRUCTIONS_H */
