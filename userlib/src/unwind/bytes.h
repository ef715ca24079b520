/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * bytes.h: numbers as DWARF writes them, out of bytes that may end anywhere.
 */
#ifndef GPROF_BYTES_H
#define GPROF_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/**
 * struct gprof_bytes - what is left to read
 * @p: next byte
 * @end: after the last
 * @bad: more was wanted than there is; what was read then is 0
 */
struct gprof_bytes {
	const unsigned char *p;
	const unsigned char *end;
	bool bad;
};

static inline uint64_t gprof_bytes_left(const struct gprof_bytes *b)
{
	return (uint64_t)(b->end - b->p);
}

/** gprof_bytes_skip() - leave out @len bytes */
static inline void gprof_bytes_skip(struct gprof_bytes *b, uint64_t len)
{
	if (len > gprof_bytes_left(b)) {
		b->bad = true;
		b->p = b->end;
	} else {
		b->p += len;
	}
}

/** gprof_bytes_get() - a number of @len bytes, 8 at most */
static inline uint64_t gprof_bytes_get(struct gprof_bytes *b, size_t len)
{
	uint64_t value = 0;

	if (len > gprof_bytes_left(b)) {
		gprof_bytes_skip(b, len);
		return 0;
	}
	memcpy(&value, b->p, len);	/* all machines that there are tables for are little-endian */
	b->p += len;
	return value;
}

/** gprof_bytes_signed() - likewise, with its sign */
static inline int64_t gprof_bytes_signed(struct gprof_bytes *b, size_t len)
{
	unsigned int shift = 64 - 8 * (unsigned int)len;

	return (int64_t)(gprof_bytes_get(b, len) << shift) >> shift;
}

/** gprof_bytes_uleb() - ULEB128; what does not fit 64 bits is cut */
static inline uint64_t gprof_bytes_uleb(struct gprof_bytes *b)
{
	unsigned int shift = 0;
	uint64_t value = 0;
	unsigned char byte;

	do {
		byte = (unsigned char)gprof_bytes_get(b, 1);
		if (shift < 64)
			value |= (uint64_t)(byte & 0x7f) << shift;
		shift += 7;
	} while (byte & 0x80);
	return value;
}

/** gprof_bytes_sleb() - SLEB128 */
static inline int64_t gprof_bytes_sleb(struct gprof_bytes *b)
{
	unsigned int shift = 0;
	uint64_t value = 0;
	unsigned char byte;

	do {
		byte = (unsigned char)gprof_bytes_get(b, 1);
		if (shift < 64)
			value |= (uint64_t)(byte & 0x7f) << shift;
		shift += 7;
	} while (byte & 0x80);
	if (shift < 64 && (byte & 0x40))
		value |= UINT64_MAX << shift;
	return (int64_t)value;
}

#endif /* GPROF_BYTES_H */
