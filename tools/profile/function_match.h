/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Functions that are asked for by name: those called exactly that, or else those whose
 * names match it as a regular expression.
 */
#ifndef TOOLS_PROFILE_FUNCTION_MATCH_H
#define TOOLS_PROFILE_FUNCTION_MATCH_H

#include <regex.h>
#include <stdbool.h>
#include <stddef.h>

#include "functions.h"

/**
 * struct function_match - functions by name
 * @word: the typed word
 * @re: the same as a regular expression
 * @regex: it is one
 * @exact: a function is called exactly that
 * @known: cached result for each function
 * @room: of @known
 */
struct function_match {
	const char *word;
	regex_t re;
	bool regex;
	bool exact;
	unsigned char *known;
	size_t room;
};

/**
 * function_match_operands() - are there a function and a profile?
 * @subcommand: that wants them
 * @operands: the operands
 * @nr: how many
 *
 * Return: STATUS_OK, or STATUS_USAGE after a sentence.
 */
int function_match_operands(const char *subcommand, char **operands, int nr);

/* function_match_init() - @frames: all that there are, for one of them may be called exactly so */
void function_match_init(struct function_match *w, const char *word, const struct frames *frames);

/* function_match_is() - is the n-th function asked for? */
bool function_match_is(struct function_match *w, const struct functions *fs, size_t n);

/*
 * function_match_all() - when all functions are known: those that are asked for, the largest first
 *
 * Return: how many; @found is to be freed where there are any.
 */
size_t function_match_all(struct function_match *w, struct functions *fs, size_t **found);

/* function_match_none() - say that there are none; returns STATUS_FAILED */
int function_match_none(const struct function_match *w);

void function_match_free(struct function_match *w);

#endif /* TOOLS_PROFILE_FUNCTION_MATCH_H */
