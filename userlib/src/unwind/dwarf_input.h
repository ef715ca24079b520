/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * dwarf_input.h: numbers as DWARF writes them, out of bytes that may end anywhere.
 */
#ifndef GPROF_DWARF_INPUT_H
#define GPROF_DWARF_INPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/**
 * struct gprof_dwarf_input - the bytes that are left
 * @p: next byte
 * @end: after the last
 * @bad: a read went beyond the end; its value is 0
 */
struct gprof_dwarf_input {
	const unsigned char *p;
	const unsigned char *end;
	bool bad;
};

static inline uint64_t gprof_dwarf_input_left(const struct gprof_dwarf_input *b)
{
	return (uint64_t)(b->end - b->p);
}

/** gprof_dwarf_input_skip() - leave out @len bytes */
static inline void gprof_dwarf_input_skip(struct gprof_dwarf_input *b, uint64_t len)
{
	if (len > gprof_dwarf_input_left(b)) {
		b->bad = true;
		b->p = b->end;
	} else {
		b->p += len;
	}
}

/** gprof_dwarf_input_get() - a number of @len bytes, 8 at most */
static inline uint64_t gprof_dwarf_input_get(struct gprof_dwarf_input *b, size_t len)
{
	uint64_t value = 0;

	if (len > gprof_dwarf_input_left(b)) {
		gprof_dwarf_input_skip(b, len);
		return 0;
	}
	memcpy(&value, b->p, len);	/* all machines with tables are little-endian */
	b->p += len;
	return value;
}

/** gprof_dwarf_input_signed() - likewise, with its sign */
static inline int64_t gprof_dwarf_input_signed(struct gprof_dwarf_input *b, size_t len)
{
	unsigned int shift = 64 - 8 * (unsigned int)len;

	return (int64_t)(gprof_dwarf_input_get(b, len) << shift) >> shift;
}

/** gprof_dwarf_input_uleb() - ULEB128, cut to 64 bits */
static inline uint64_t gprof_dwarf_input_uleb(struct gprof_dwarf_input *b)
{
	unsigned int shift = 0;
	uint64_t value = 0;
	unsigned char byte;

	do {
		byte = (unsigned char)gprof_dwarf_input_get(b, 1);
		if (shift < 64)
			value |= (uint64_t)(byte & 0x7f) << shift;
		shift += 7;
	} while (byte & 0x80);
	return value;
}

/** gprof_dwarf_input_sleb() - SLEB128 */
static inline int64_t gprof_dwarf_input_sleb(struct gprof_dwarf_input *b)
{
	unsigned int shift = 0;
	uint64_t value = 0;
	unsigned char byte;

	do {
		byte = (unsigned char)gprof_dwarf_input_get(b, 1);
		if (shift < 64)
			value |= (uint64_t)(byte & 0x7f) << shift;
		shift += 7;
	} while (byte & 0x80);
	if (shift < 64 && (byte & 0x40))
		value |= UINT64_MAX << shift;
	return (int64_t)value;
}

#endif /* GPROF_DWARF_INPUT_H */
