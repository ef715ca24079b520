/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Values with units for people, the same ones in all tables: 2.01 s, 12.4 MiB, 1.31 G.
 */
#ifndef TOOLS_HUMAN_H
#define TOOLS_HUMAN_H

#include <stdint.h>
#include <stdio.h>

#define HUMAN_MAX	32

/**
 * human() - a value in three digits, with its unit
 * @value: of @unit
 * @unit: as pprof files name it: "nanoseconds" to "seconds", "bytes"; any other is a count, exact
 *	up to 9999
 * @text: gets it
 *
 * Return: @text.
 */
const char *human(double value, const char *unit, char text[HUMAN_MAX]);
/* human_ns() - likewise of a time in ns */
const char *human_ns(int64_t ns, char text[HUMAN_MAX]);
/*
 * human_json() - write the steps of @unit for a page's script: the least value, the size and the
 * name of each unit, largest first
 */
void human_json(FILE *f, const char *unit);

#endif /* TOOLS_HUMAN_H */
