/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Messages beside the output of a program: sentences on stderr.
 */
#ifndef TOOLS_DIAG_H
#define TOOLS_DIAG_H

#include <stddef.h>

#include "memory.h"

/* diag() - print "PROGRAM: SENTENCE" on stderr, clearing a progress line first */
void diag(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* fail() - diag(), and return STATUS_FAILED */
int fail(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* misused() - diag(), and return STATUS_USAGE */
int misused(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/*
 * progress() - show a line that the next one overwrites, on a terminal only
 * progress_enabled() - is stderr a terminal?
 * progress_clear() - take the line away
 */
void progress(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
int progress_enabled(void);
void progress_clear(void);

/*
 * nearest() - the candidate that a mistyped word most likely meant
 * @word: the typed word
 * @nth: returns the i-th candidate, NULL after the last
 * @ctx: passed to @nth
 *
 * Return: a candidate, or NULL when none is near.
 */
const char *nearest(const char *word, const char *(*nth)(const void *ctx, size_t i),
		    const void *ctx);

/*
 * finish_stdout() - flush stdout: STATUS_OK, or STATUS_FAILED with a sentence, but
 * without one where the reader of a pipe has closed it
 */
int finish_stdout(void);

#ifndef ARRAY_SIZE
#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))
#endif

#endif /* TOOLS_DIAG_H */
