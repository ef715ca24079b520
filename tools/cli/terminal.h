/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The width of the terminal that output goes to, and words within that.
 */
#ifndef TOOLS_TERMINAL_H
#define TOOLS_TERMINAL_H

#include <stddef.h>
#include <stdio.h>

#define TERMINAL_COLUMNS	80	/* of one that does not say */

/* terminal_columns() - columns of the terminal that @f is, or 0: it is none */
size_t terminal_columns(FILE *f);

/* terminal_paged() - stdout leads to a pager on a terminal of so many columns */
void terminal_paged(size_t columns);

enum terminal_color { TERMINAL_PLAIN, TERMINAL_BOLD, TERMINAL_BAD, TERMINAL_GOOD };

/* terminal_color() - the characters that switch to it; "" where @f takes none, or NO_COLOR is set */
const char *terminal_color(FILE *f, enum terminal_color color);
/* terminal_heat() - the colour of a share, as perf has it: from 5 % on bad, from 0.5 % on good */
enum terminal_color terminal_heat(double percent);

/* terminal_help() - columns for texts: those of the terminal within reason, or 80 */
size_t terminal_help(FILE *f);

/**
 * terminal_wrap() - write words so that no line is wider than @columns
 * @f: where to
 * @text: lines of a paragraph are joined; an empty line ends one, and a line that begins with a
 *	space stays as it is
 * @at: column that the first line begins at
 * @indent: column of the others
 * @columns: of a line; a word that is wider stands alone
 */
void terminal_wrap(FILE *f, const char *text, size_t at, size_t indent, size_t columns);

/*
 * terminal_example() - write a line with an example: "  command   # comment"; where it is
 * too wide the comment comes first, in a line of its own
 */
void terminal_example(FILE *f, const char *line, size_t length, size_t columns);

#endif /* TOOLS_TERMINAL_H */
