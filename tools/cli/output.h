/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Output files: opened before the work begins, in place only when all of it
 * succeeded. A failed run leaves an older file as it was, and no new one; but for one
 * whose beginning is of use, which is kept in its place.
 */
#ifndef TOOLS_OUTPUT_H
#define TOOLS_OUTPUT_H

#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>

/**
 * struct output - a file that is being written
 * @name: as the user wrote it; "-" is stdout
 * @fd: where to write
 * @path: where it will stand, symbolic links followed; NULL when it is written
 *	directly (a pipe, a device, stdout)
 * @temp: name that it has until then
 * @keep_old: a file that is there already is kept as FILE~
 * @next: of the open outputs
 */
struct output {
	const char *name;
	int fd;
	char *path;
	char *temp;
	bool keep_old;
	struct output *next;
};

/**
 * output_open() - open an output
 * @o: gets filled
 * @name: path or "-"
 *
 * Return: STATUS_OK, or STATUS_FAILED after a sentence.
 */
int output_open(struct output *o, const char *name);
/* output_open_text() - likewise, for text that a terminal may show */
int output_open_text(struct output *o, const char *name);

/*
 * output_stream() - likewise for stdio; the output itself is closed by its commit. NULL with errno
 */
FILE *output_stream(const struct output *o);

/* output_same() - do two open outputs end in the same place? */
bool output_same(const struct output *a, const struct output *b);

/* output_commit() - put the file in place; STATUS_OK, or STATUS_FAILED after a sentence */
int output_commit(struct output *o);

/**
 * output_place() - report the place of a file, and the subcommand to view it
 * @file: its name; there is no message for other than a regular file
 * @what: its contents, such as "9 samples, "
 * @first: subcommand that opens it
 * @second: another
 */
void output_place(const char *file, const char *what, const char *first, const char *second);

/* output_temporary() - a file of which output_place() says nothing, for it does not stay */
void output_temporary(const char *file);

/**
 * output_keep() - put only the beginning of a file in place, for a write failed
 * @o: output
 * @bytes: of it
 *
 * Output that is written directly cannot be cut, and is given up.
 *
 * Return: STATUS_OK, or STATUS_FAILED, not always after a sentence.
 */
int output_keep(struct output *o, off_t bytes);

/* output_discard() - give it up; nothing happens when it is not open */
void output_discard(struct output *o);

/* output_discard_all() - give up all open ones; safe in a signal handler */
void output_discard_all(void);

#endif /* TOOLS_OUTPUT_H */
