// SPDX-License-Identifier: GPL-2.0-only
/*
 * Times with their units, such as 1.5ms, read and written.
 */
#include "duration.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "diag.h"

static const struct {
	const char *name;
	int64_t ns;
} units[] = {
	{ "", 1000000000 }, { "ns", 1 }, { "us", 1000 }, { "µs", 1000 }, { "ms", 1000000 },
	{ "s", 1000000000 }, { "min", 60 * 1000000000LL }, { "h", 3600 * 1000000000LL },
	{ "d", 24 * 3600 * 1000000000LL },
};

bool duration_parse(const char *text, int64_t *ns)
{
	char *end;
	double value;

	/* strtod() also takes signs, spaces, hexadecimal numbers, words. */
	if (strspn(text, "0123456789.") == 0 || text[1] == 'x' || text[1] == 'X')
		return false;
	value = strtod(text, &end);
	if (end == text)
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(units); i++) {
		if (strcmp(end, units[i].name) || value * units[i].ns >= 0x1p62)
			continue;
		*ns = (int64_t)(value * units[i].ns + 0.5);
		return true;
	}
	return false;
}

const char *duration_text(int64_t ns, char text[DURATION_TEXT])
{
	static const char *const names[] = { "ns", "us", "ms", "s" };
	double value = ns;
	size_t i;

	for (i = 0; i < 3 && value >= 999.95; i++)
		value /= 1000;
	if (value < 999.95)
		snprintf(text, DURATION_TEXT, "%.4g %s", value, names[i]);
	else if (value < 999.95 * 60)
		snprintf(text, DURATION_TEXT, "%.4g min", value / 60);
	else
		snprintf(text, DURATION_TEXT, "%.*g h", value < 999.95 * 3600 ? 4 : 7, value / 3600);
	return text;
}
