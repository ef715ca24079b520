/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A piece of a function, line by line with values: of a source, or instructions.
 */
#ifndef TOOLS_PROFILE_LISTING_H
#define TOOLS_PROFILE_LISTING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* LISTING_PLACE: a line or an instruction, with values; others have none */
enum listing_kind { LISTING_PLACE, LISTING_SYMBOL, LISTING_SOURCE };

/**
 * struct listing_row - a row
 * @kind: place; symbol that the next instructions are of; line of source before an instruction
 * @valued: the profile has samples there, or below it
 * @at: number of the line, or address
 * @text: text without its newline, with the address of an instruction; NULL: not known
 */
struct listing_row {
	enum listing_kind kind;
	bool valued;
	uint64_t at;
	char *text;
};

/**
 * struct listing - rows
 * @path: source, or file with the instructions; of the profile or the command line
 * @rows: rows
 * @nr: how many
 * @room: of @rows
 * @each: values of a row: flat and cum of each type
 * @values: @each for each row
 * @room_values: of @values
 */
struct listing {
	const char *path;
	struct listing_row *rows;
	size_t nr;
	size_t room;
	size_t each;
	int64_t *values;
	size_t room_values;
};

/*
 * listing_add() - one more row, without values
 * @text: or NULL; its first @length bytes
 */
void listing_add(struct listing *l, enum listing_kind kind, uint64_t at, const char *text,
		 size_t length);

/* listing_sum() - add values to those of a row */
void listing_sum(struct listing *l, size_t row, const int64_t *values);

/* listing_cut() - forget all rows from number @nr on */
void listing_cut(struct listing *l, size_t nr);

static inline const int64_t *listing_values(const struct listing *l, size_t row)
{
	return l->values + row * l->each;
}

void listing_free(struct listing *l);

#endif /* TOOLS_PROFILE_LISTING_H */
