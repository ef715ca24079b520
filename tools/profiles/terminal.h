/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How wide what is written to may be.
 */
#ifndef TOOLS_PROFILES_TERMINAL_H
#define TOOLS_PROFILES_TERMINAL_H

#include <stddef.h>
#include <stdio.h>

#define TERMINAL_COLUMNS	80	/* of one that does not say */

/* terminal_columns() - columns of the terminal that @f is, or 0: it is none */
size_t terminal_columns(FILE *f);

#endif /* TOOLS_PROFILES_TERMINAL_H */
