// SPDX-License-Identifier: GPL-2.0-only
#include "human.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "diag.h"

#define EXACT_MAX	9999	/* of a count */
#define THREE_DIGITS	0.9995	/* of a unit are written as 1.00 of it */

/**
 * struct step - one unit of a kind
 * @from: least value that is written in it
 * @size: of it; both in the smallest unit
 * @name: as written
 */
struct step {
	double from;
	double size;
	const char *name;
};

static const struct step times[] = {
	{ 36000e9, 3600e9, " h" }, { 600e9, 60e9, " min" }, { 1e9, 1e9, " s" }, { 1e6, 1e6, " ms" },
	{ 1e3, 1e3, " us" }, { 0, 1, " ns" },
};
static const struct step sizes[] = {
	{ 0x1p40, 0x1p40, " TiB" }, { 0x1p30, 0x1p30, " GiB" }, { 0x1p20, 0x1p20, " MiB" },
	{ 0x1p10, 0x1p10, " KiB" }, { 0, 1, " B" },
};
static const struct step counts[] = {
	{ 1e12, 1e12, " T" }, { 1e9, 1e9, " G" }, { 1e6, 1e6, " M" }, { EXACT_MAX + 1, 1e3, " k" },
	{ 0, 1, "" },
};

static const struct unit {
	const char *name;
	double size;
	const struct step *steps;
} units[] = {
	{ "nanoseconds", 1, times }, { "microseconds", 1e3, times }, { "milliseconds", 1e6, times },
	{ "seconds", 1e9, times }, { "bytes", 1, sizes },
};

static struct unit unit_of(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(units); i++)
		if (!strcmp(name, units[i].name))
			return units[i];
	return (struct unit){ name, 1, counts };
}

/* 999.6 ms are 1.00 s. */
static double least(const struct step *s)
{
	return s->from == s->size ? THREE_DIGITS * s->from : s->from;
}

static const char *in_steps(double value, const struct step *s, char text[HUMAN_MAX])
{
	double size = fabs(value);
	int digits = 0;

	while (size < least(s))
		s++;
	size /= s->size;
	if (s->from && size < 99.95)
		digits = size < 9.995 ? 2 : 1;
	snprintf(text, HUMAN_MAX, "%.*f%s", digits, value / s->size, value != 0 ? s->name : "");
	return text;
}

const char *human(double value, const char *unit, char text[HUMAN_MAX])
{
	struct unit u = unit_of(unit);

	return in_steps(value * u.size, u.steps, text);
}

const char *human_ns(int64_t ns, char text[HUMAN_MAX])
{
	return in_steps((double)ns, times, text);
}

void human_json(FILE *f, const char *unit)
{
	struct unit u = unit_of(unit);
	const struct step *s = u.steps;

	for (fputs("[", f); s->from; s++)
		fprintf(f, "[%.9g,%.9g,\"%s\"],", least(s) / u.size, s->size / u.size, s->name);
	fprintf(f, "[0,%.9g,\"%s\"]]", s->size / u.size, s->name);
}
