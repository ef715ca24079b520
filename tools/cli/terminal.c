// SPDX-License-Identifier: GPL-2.0-only
/*
 * The width of the terminal that output goes to: see terminal.h.
 */
#include "terminal.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define HOT_PERCENT	5
#define WARM_PERCENT	0.5

static size_t paged_columns;

void terminal_paged(size_t columns)
{
	paged_columns = columns;
}

size_t terminal_columns(FILE *f)
{
	struct winsize size;

	if (f == stdout && paged_columns)
		return paged_columns;
	if (!isatty(fileno(f)))
		return 0;
	if (ioctl(fileno(f), TIOCGWINSZ, &size) || !size.ws_col)
		return TERMINAL_COLUMNS;
	return size.ws_col;
}

const char *terminal_color(FILE *f, enum terminal_color color)
{
	static const char *const codes[] = {
		[TERMINAL_PLAIN] = "\033[m", [TERMINAL_BOLD] = "\033[1m",
		[TERMINAL_BAD] = "\033[31m", [TERMINAL_GOOD] = "\033[32m",
	};
	const char *kind = getenv("TERM"), *none = getenv("NO_COLOR");

	return terminal_columns(f) && (!none || !*none) && kind && *kind &&
	       strcmp(kind, "dumb") ?
	       codes[color] : "";
}

enum terminal_color terminal_heat(double percent)
{
	return percent >= HOT_PERCENT ? TERMINAL_BAD : percent >= WARM_PERCENT ? TERMINAL_GOOD :
	       TERMINAL_PLAIN;
}

#define HELP_LEAST	40
#define HELP_MOST	80

size_t terminal_help(FILE *f)
{
	size_t columns = terminal_columns(f);

	if (!columns || columns > HELP_MOST)
		return HELP_MOST;
	return columns < HELP_LEAST ? HELP_LEAST : columns;
}

void terminal_wrap(FILE *f, const char *text, size_t at, size_t indent, size_t columns)
{
	size_t used = at;

	while (*text) {
		size_t length = strcspn(text, " \n"), gap = used > at || used > indent;

		if (used + (used > indent) + length > columns && used > indent) {
			fprintf(f, "\n%*s", (int)indent, "");
			used = at = indent;
			gap = 0;
		}
		if (gap && used > indent && used != at) {
			putc(' ', f);
			used++;
		}
		fwrite(text, 1, length, f);
		used += length;
		text += length;
		if (*text == ' ') {
			text += strspn(text, " ");
			continue;
		}
		/* An empty line ends a paragraph; an indented line is no part of one. */
		if (text[0] == '\n' && (text[1] == '\n' || text[1] == ' ')) {
			size_t verbatim = text[1] == '\n' ? 2 : 1;

			fwrite(text, 1, verbatim, f);
			text += verbatim;
			while (*text == ' ') {
				length = strcspn(text, "\n");
				fprintf(f, "%.*s\n", (int)length, text);
				text += length + (text[length] == '\n');
			}
			if (*text == '\n') {
				putc('\n', f);
				text++;
			}
			fprintf(f, "%*s", (int)indent, "");
			used = at = indent;
		} else if (*text == '\n') {
			text++;
		}
	}
	putc('\n', f);
}

void terminal_example(FILE *f, const char *line, size_t length, size_t columns)
{
	size_t comment;

	for (comment = 0; comment < length; comment++)
		if (comment > 1 && line[comment] == '#' && line[comment - 1] == ' ' &&
		    line[comment - 2] == ' ')
			break;
	if (length > columns && comment < length) {
		fprintf(f, "  %.*s\n", (int)(length - comment), line + comment);
		length = comment;
	}
	while (length && line[length - 1] == ' ')
		length--;
	while (length > columns) {
		size_t cut = columns - 2;

		while (cut > 8 && line[cut] != ' ')
			cut--;
		if (cut == 8)
			break;
		fprintf(f, "%.*s \\\n      ", (int)cut, line);
		line += cut + 1;
		length -= cut + 1;
		columns = columns > 46 ? columns - 6 : columns;
	}
	fprintf(f, "%.*s\n", (int)length, line);
}
