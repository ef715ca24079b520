// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * demangle.c: names of C++ and Rust as people write them.
 */
#include "demangle.h"

#include <libiberty/demangle.h>
#include <setjmp.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/table.h"

#define SYMBOL_MAX	(16 << 10)
#define NAME_MAX_BYTES	(64 << 10)

/**
 * struct text - a name in the making
 * @v: bytes
 * @nr: how many
 * @cap: room
 * @full: where to go when there are too many
 */
struct text {
	char *v;
	size_t nr;
	size_t cap;
	jmp_buf full;
};

/*
 * A demangler that is told to write on cannot be told to end: it writes in pieces of a
 * few bytes, and would go on for hours. It keeps what it needs on the stack alone, so
 * that it can be left.
 */
static void append(const char *piece, size_t len, void *ctx)
{
	struct text *t = ctx;

	if (len > NAME_MAX_BYTES || t->nr + len > NAME_MAX_BYTES ||
	    gprof_grow(&t->v, &t->cap, t->nr + len + 1, 1))
		longjmp(t->full, 1);
	memcpy(t->v + t->nr, piece, len);
	t->nr += len;
	t->v[t->nr] = '\0';
}

/*
 * @clone: where the name of a copy begins that the compiler made (".cold"), or NULL;
 * @rest: what follows @symbol
 */
static bool write_name(struct text *t, char *symbol, char *clone, const char *rest)
{
	if (setjmp(t->full))
		return false;
	/* Rust first: its older names are C++ names with a hash. */
	if (!rust_demangle_callback(symbol, DMGL_NO_OPTS, append, t) || !t->nr) {
		t->nr = 0;
		if (clone)
			*clone = '\0';
		if (!cplus_demangle_v3_callback(symbol, DMGL_NO_OPTS, append, t) || !t->nr)
			return false;
		if (clone) {
			*clone = '.';
			append(clone, strlen(clone), t);
		}
	}
	append(rest, strlen(rest), t);
	return true;
}

static bool may_be_mangled(const char *symbol)
{
	symbol += symbol[0] == '_' && symbol[1] == '_';
	return !strncmp(symbol, "_Z", 2) || !strncmp(symbol, "_R", 2) ||
	       !strncmp(symbol, "_GLOBAL_", 8);
}

char *gprof_demangle(const char *symbol)
{
	struct text t = { 0 };
	char *copy, *at;
	bool done;

	if (!may_be_mangled(symbol) || strnlen(symbol, SYMBOL_MAX + 1) > SYMBOL_MAX)
		return NULL;
	copy = strdup(symbol);
	if (!copy)
		return NULL;
	at = strchr(copy, '@');
	if (at)
		*at = '\0';
	done = write_name(&t, copy, strchr(copy, '.'), at ? symbol + (at - copy) : "");
	free(copy);
	if (!done) {
		free(t.v);
		return NULL;
	}
	return t.v;
}
