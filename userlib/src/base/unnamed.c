// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * unnamed.c: placeholders for unknown names of functions.
 */
#include "unnamed.h"

#include <stddef.h>
#include <string.h>

bool gprof_is_bare(const char *name)
{
	const char *plus = strrchr(name, '+');
	size_t digits = plus && !strncmp(plus, "+0x", 3) ? strspn(plus + 3, "0123456789abcdef") : 0;

	/* The headers of a file take more than its first 100 bytes: no function begins there. */
	return digits >= 3 && !plus[3 + digits];
}

bool gprof_is_unnamed(const char *name)
{
	return gprof_is_bare(name) || (name[0] == '[' && strcmp(name, "[no stack]"));
}
