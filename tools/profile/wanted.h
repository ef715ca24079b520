/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Functions that are asked for by name: those called exactly that, or else those whose
 * names match it as a regular expression.
 */
#ifndef TOOLS_PROFILES_WANTED_H
#define TOOLS_PROFILES_WANTED_H

#include <regex.h>
#include <stdbool.h>
#include <stddef.h>

#include "functions.h"

/**
 * struct wanted - what is asked for
 * @word: what was typed
 * @re: the same as a regular expression
 * @regex: it is one
 * @exact: a function is called exactly that
 * @known: what is known of each function
 * @room: of @known
 */
struct wanted {
	const char *word;
	regex_t re;
	bool regex;
	bool exact;
	unsigned char *known;
	size_t room;
};

/**
 * wanted_operands() - are there a function and a profile?
 * @subcommand: that wants them
 * @operands: what was typed
 * @nr: how many
 *
 * Return: STATUS_OK, or STATUS_USAGE after a sentence.
 */
int wanted_operands(const char *subcommand, char **operands, int nr);

/* wanted_init() - @frames: all that there are, for one of them may be called exactly so */
void wanted_init(struct wanted *w, const char *word, const struct frames *frames);

/* wanted_is() - is the n-th function asked for? */
bool wanted_is(struct wanted *w, const struct functions *fs, size_t n);

/*
 * wanted_all() - when all functions are known: those that are asked for, the largest first
 *
 * Return: how many; @found is to be freed where there are any.
 */
size_t wanted_all(struct wanted *w, struct functions *fs, size_t **found);

/* wanted_none() - say that there are none; returns STATUS_FAILED */
int wanted_none(const struct wanted *w);

void wanted_free(struct wanted *w);

#endif /* TOOLS_PROFILES_WANTED_H */
