/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Functions with those that call them and those that they call.
 */
#ifndef TOOLS_PROFILE_PEEK_H
#define TOOLS_PROFILE_PEEK_H

#include <stdbool.h>

#include "cli/intern.h"
#include "functions.h"
#include "view.h"
#include "function_match.h"

/**
 * struct peek_call - one function calls another
 * @from: number of the caller
 * @to: of its callees
 * @value: of the samples in which it does
 * @sample: the last of them: once each, however often it is in the stack
 */
struct peek_call {
	size_t from;
	size_t to;
	int64_t value;
	uint64_t sample;
};

/**
 * struct peek - calls of some functions
 * @functions: all functions
 * @wanted: which are looked for
 * @edges: numbers of calls
 * @calls: calls to and from these
 * @nr: how many
 * @room_calls: of @calls
 * @view: where
 */
struct peek {
	struct functions functions;
	struct function_match wanted;
	struct intern edges;
	struct peek_call *calls;
	size_t nr;
	size_t room_calls;
	const struct view *view;
};

/*
 * peek_collect() - go through a profile for the functions called @word, or like it
 *
 * Return: STATUS_OK, or another status after a sentence; peek_free() in any case.
 */
int peek_collect(struct peek *p, struct view *v, const char *word);

void peek_free(struct peek *p);

#endif /* TOOLS_PROFILE_PEEK_H */
