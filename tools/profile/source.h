/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Values of places in a function: lines of its source, or instructions.
 */
#ifndef TOOLS_PROFILE_SOURCE_H
#define TOOLS_PROFILE_SOURCE_H

#include <stdint.h>

#include "cli/intern.h"
#include "functions.h"
#include "view.h"
#include "function_match.h"

/**
 * struct place - a line, or an instruction
 * @function: number of its function
 * @file: source file, or the file that is mapped
 * @at: line, or address
 * @values: where its values begin: of each type flat (of samples there) and cum (of samples there or
 *	in functions that are called from there)
 * @sample: last one that was added to cum
 */
struct place {
	size_t function;
	const char *file;
	uint64_t at;
	size_t values;
	uint64_t sample;
};

/**
 * struct places - of the functions that are asked for
 * @functions: all functions
 * @wanted: which are asked for
 * @all_wanted: all are
 * @numbers: numbers of places
 * @known: number + 1 of the place of each frame, or 0
 * @room_known: of @known
 * @all: places
 * @nr: how many
 * @room: of @all
 * @type: first type of the values
 * @nr_types: how many types
 * @values: of all places
 * @room_values: of @values
 * @view: where
 * @addresses: instructions, not lines
 */
struct places {
	struct functions functions;
	struct function_match wanted;
	bool all_wanted;
	struct intern numbers;
	uint32_t *known;
	size_t room_known;
	struct place *all;
	size_t nr;
	size_t room;
	size_t type;
	size_t nr_types;
	int64_t *values;
	size_t room_values;
	const struct view *view;
	bool addresses;
};

/*
 * places_collect() - go through a profile for functions called @word, or like it, with values of
 *	the view's type; NULL: for all functions, with values of each type
 *
 * Return: STATUS_OK, or another status after a sentence; places_free() in any case.
 */
int places_collect(struct places *p, struct view *v, const char *word, bool addresses);

/* places_sort() - by function, file and place */
void places_sort(struct places *p);

/* places_next() - of sorted ones, the first of another function or file than those at @i */
size_t places_next(const struct places *p, size_t i);

void places_free(struct places *p);

#endif /* TOOLS_PROFILE_SOURCE_H */
