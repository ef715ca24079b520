// SPDX-License-Identifier: GPL-2.0-only
/*
 * How wide what is written to may be: see terminal.h.
 */
#include "terminal.h"

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
