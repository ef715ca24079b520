// SPDX-License-Identifier: GPL-2.0-only
/*
 * Sentences, the progress line, suggestions, and memory that must be there.
 */
#include "diag.h"

#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/edit_distance.h"
#include "cmd.h"
#include "program.h"
#include "text.h"

/* Longest word that is worth comparing with others. */
#define NEAREST_WORD_MAX	32

static bool progress_shown;

/* Names of a stranger's profile or trace do not steer the terminal. */
static void vdiag(const char *fmt, va_list ap)
{
	char *text = vxprintf(fmt, ap), *safe = text_safe(text);

	progress_clear();
	fprintf(stderr, "%s: %s\n", program_name, safe);
	free(safe);
	free(text);
}

void diag(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vdiag(fmt, ap);
	va_end(ap);
}

int fail(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vdiag(fmt, ap);
	va_end(ap);
	return STATUS_FAILED;
}

int misused(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vdiag(fmt, ap);
	va_end(ap);
	return STATUS_USAGE;
}

int progress_enabled(void)
{
	return isatty(STDERR_FILENO);
}

void progress(const char *fmt, ...)
{
	va_list ap;

	if (!progress_enabled())
		return;
	fputs("\r\033[K", stderr);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fflush(stderr);
	progress_shown = true;
}

void progress_clear(void)
{
	if (!progress_shown)
		return;
	fputs("\r\033[K", stderr);
	fflush(stderr);
	progress_shown = false;
}

const char *nearest(const char *word, const char *(*nth)(const void *ctx, size_t i),
		    const void *ctx)
{
	size_t length = strlen(word);
	/* A third of the word may be wrong: "tpo" is top, "cat" is not cpu. */
	unsigned int best = length / 3 + 1;
	const char *found = NULL;
	const char *name;

	if (!length || length > NEAREST_WORD_MAX)
		return NULL;
	for (size_t i = 0; (name = nth(ctx, i)); i++) {
		size_t n = strlen(name);
		unsigned int d;

		if (n > NEAREST_WORD_MAX)
			continue;
		/* The beginning of a word means that word. */
		if (n > length && !strncmp(word, name, length))
			d = 0;
		else
			d = gprof_edit_distance(word, name);
		if (d < best) {
			best = d;
			found = name;
		}
	}
	return found;
}

/* stdio forgets why an earlier write failed. */
static bool reader_gone(void)
{
	struct pollfd fd = { .fd = STDOUT_FILENO };

	return poll(&fd, 1, 0) > 0 && fd.revents & (POLLERR | POLLHUP);
}

int finish_stdout(void)
{
	int error = 0;

	if (fflush(stdout))
		error = errno;
	else if (ferror(stdout))
		error = EIO;
	/* The reader has closed the pipe, as head does: that needs no message. */
	if (error && reader_gone())
		return STATUS_FAILED;
	if (error)
		return fail("the output could not be written: %s", strerror(error));
	return STATUS_OK;
}
