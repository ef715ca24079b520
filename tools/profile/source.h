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
 * @flat: of samples there
 * @cum: of samples there or in functions that are called from there
 * @sample: last one that was added to @cum
 */
struct place {
	size_t function;
	const char *file;
	uint64_t at;
	int64_t flat;
	int64_t cum;
	uint64_t sample;
};

/**
 * struct places - of the functions that are asked for
 * @functions: all functions
 * @wanted: which are asked for
 * @numbers: numbers of places
 * @all: places
 * @nr: how many
 * @room: of @all
 * @view: where
 * @addresses: instructions, not lines
 */
struct places {
	struct functions functions;
	struct function_match wanted;
	struct intern numbers;
	struct place *all;
	size_t nr;
	size_t room;
	const struct view *view;
	bool addresses;
};

/*
 * places_collect() - go through a profile for functions called @word, or like it
 *
 * Return: STATUS_OK, or another status after a sentence; places_free() in any case.
 */
int places_collect(struct places *p, struct view *v, const char *word, bool addresses);

/* places_sort() - by function, file and place */
void places_sort(struct places *p);

void places_free(struct places *p);

#endif /* TOOLS_PROFILE_SOURCE_H */
