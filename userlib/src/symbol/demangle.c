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
#include "base/thread.h"

#define SYMBOL_MAX	(16 << 10)
#define NAME_MAX_BYTES	(64 << 10)

/*
 * libiberty limits symbols to 1 KiB, so that it needs little stack, or not at all: longer ones
 * need about 1 KiB of stack for each byte, on a thread of their own.
 */
#define PLAIN_MAX	1024
#define STACK_BYTES	(48UL << 20)

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
 * A demangler that writes on cannot be stopped: it writes in pieces of a few bytes, and would go
 * on for hours. It keeps its state on the stack alone, so that a jump can leave it.
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
 * @rest: text behind @symbol
 * @how: DMGL_* for C++
 */
static bool write_name(struct text *t, char *symbol, char *clone, const char *rest, int how)
{
	if (setjmp(t->full))
		return false;
	/*
	 * Rust first: its older names are C++ names with a hash. Always with its limit of depth:
	 * one of its names may refer to itself, and ends by nothing else. A reference of C++'s
	 * leads to a part that was read before.
	 */
	if (!rust_demangle_callback(symbol, DMGL_NO_OPTS, append, t) || !t->nr) {
		t->nr = 0;
		if (clone)
			*clone = '\0';
		if (!cplus_demangle_v3_callback(symbol, how, append, t) || !t->nr)
			return false;
		if (clone) {
			*clone = '.';
			append(clone, strlen(clone), t);
		}
	}
	append(rest, strlen(rest), t);
	return true;
}

/**
 * struct job - work on a thread of its own
 * @t: as of write_name()
 * @symbol: likewise
 * @clone: likewise
 * @rest: likewise
 * @done: its return
 */
struct job {
	struct text *t;
	char *symbol;
	char *clone;
	const char *rest;
	bool done;
};

static void *run(void *arg)
{
	struct job *j = arg;

	j->done = write_name(j->t, j->symbol, j->clone, j->rest, DMGL_NO_RECURSE_LIMIT);
	return NULL;
}

static bool write_long_name(struct text *t, char *symbol, char *clone, const char *rest)
{
	struct job j = { t, symbol, clone, rest, false };
	pthread_t thread;

	if (gprof_thread_start_deep(&thread, run, &j, "gprof-names", STACK_BYTES))
		return false;
	pthread_join(thread, NULL);
	return j.done;
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
	const char *rest;
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
	rest = at ? symbol + (at - copy) : "";
	if (strlen(copy) <= PLAIN_MAX)
		done = write_name(&t, copy, strchr(copy, '.'), rest, DMGL_NO_OPTS);
	else
		done = write_long_name(&t, copy, strchr(copy, '.'), rest);
	free(copy);
	if (!done) {
		free(t.v);
		return NULL;
	}
	return t.v;
}
