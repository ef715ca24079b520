/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Digits of numbers, of which a view writes millions: printf() takes as long for one as all
 * that was done for it before.
 */
#ifndef TOOLS_DIGITS_H
#define TOOLS_DIGITS_H

#include <stdint.h>

/* More than any number has, to the base of ten or more, with its sign. */
#define DIGITS_MAX	24

/* digits_before() - write a number so that it ends before @end; returns where it begins */
static inline char *digits_before(char *end, uint64_t v, unsigned int base)
{
	do {
		*--end = "0123456789abcdefghijklmnopqrstuvwxyz"[v % base];
		v /= base;
	} while (v);
	return end;
}

/* digits_signed() - likewise to the base of ten, of a number that may be below 0 */
static inline char *digits_signed(char *end, int64_t v)
{
	char *begin = digits_before(end, v < 0 ? -(uint64_t)v : (uint64_t)v, 10);

	if (v < 0)
		*--begin = '-';
	return begin;
}

#endif /* TOOLS_DIGITS_H */
