// SPDX-License-Identifier: GPL-2.0-only
/*
 * The width of the terminal that output goes to: see terminal.h.
 */
#include "terminal.h"

#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

size_t terminal_columns(FILE *f)
{
	struct winsize size;

	if (!isatty(fileno(f)))
		return 0;
	if (ioctl(fileno(f), TIOCGWINSZ, &size) || !size.ws_col)
		return TERMINAL_COLUMNS;
	return size.ws_col;
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
