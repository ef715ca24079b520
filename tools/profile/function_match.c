// SPDX-License-Identifier: GPL-2.0-only
/*
 * Functions that are asked for by name: see function_match.h.
 */
#include "function_match.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cmd.h"
#include "cli/diag.h"

enum { UNKNOWN, WANTED, OTHER };

int function_match_operands(const char *subcommand, char **operands, int nr)
{
	if (nr != 2)
		return misused("%s wants a function and a profile, as in gprofctl %s main cpu.pb.gz",
			       subcommand, subcommand);
	if (!*operands[0])
		return misused("%s wants the name of a function, such as main, not \"\"",
			       subcommand);
	if (strcmp(operands[1], "-") && access(operands[1], F_OK) && !access(operands[0], F_OK))
		return misused("%s is no file; the function comes first: gprofctl %s %s %s",
			       operands[1], subcommand, operands[1], operands[0]);
	return STATUS_OK;
}

void function_match_init(struct function_match *w, const char *word, const struct frames *frames)
{
	char text[VIEW_NAME_MAX];

	*w = (struct function_match){ .word = word };
	/* "operator[]" is a name, though no regular expression. */
	w->regex = !regcomp(&w->re, word, REG_EXTENDED | REG_NOSUB);
	for (size_t i = 0; i < frames->nr && !w->exact; i++)
		w->exact = !strcmp(view_function(&frames->all[i], text), word);
}

static unsigned char match(struct function_match *w, const struct functions *fs, size_t n)
{
	const char *name;

	w->known = xgrow(w->known, n, &w->room, 1);
	if (w->known[n] != UNKNOWN)
		return w->known[n];
	name = functions_name(fs, &fs->all[n]);
	if (w->exact)
		w->known[n] = strcmp(name, w->word) ? OTHER : WANTED;
	else
		w->known[n] = w->regex && !regexec(&w->re, name, 0, NULL, 0) ? WANTED : OTHER;
	return w->known[n];
}

bool function_match_is(struct function_match *w, const struct functions *fs, size_t n)
{
	return match(w, fs, n) == WANTED;
}

static int by_cum(const void *pa, const void *pb, void *ctx)
{
	const struct functions *fs = ctx;
	const struct function *a = &fs->all[*(const size_t *)pa];
	const struct function *b = &fs->all[*(const size_t *)pb];
	int64_t va = view_size(a->cum), vb = view_size(b->cum);

	return va != vb ? (va > vb ? -1 : 1) : strcmp(functions_name(fs, a), functions_name(fs, b));
}

size_t function_match_all(struct function_match *w, struct functions *fs, size_t **found)
{
	size_t nr = 0;

	*found = xalloc(fs->nr, sizeof(**found));
	for (size_t i = 0; i < fs->nr; i++)
		if (function_match_is(w, fs, i))
			(*found)[nr++] = i;
	if (nr)
		qsort_r(*found, nr, sizeof(**found), by_cum, fs);
	else
		free(*found);
	return nr;
}

int function_match_none(const struct function_match *w)
{
	if (w->exact)
		return fail("no sample that is chosen is in %s or below it", w->word);
	return fail("no function in the profile is called \"%s\"%s", w->word,
		    w->regex ? ", or like it" : ", which is no regular expression either");
}

void function_match_free(struct function_match *w)
{
	if (w->regex)
		regfree(&w->re);
	free(w->known);
	*w = (struct function_match){ 0 };
}
