/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * pprof_plain.h: numbers of messages whose fields are in order, as in nearly all files.
 *
 * Any unusual message is left to the general code (pprof_input.h).
 */
#ifndef GPROF_PPROF_PLAIN_H
#define GPROF_PPROF_PLAIN_H

#include <endian.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* A number of up to three bytes, which most are; false for a longer one, or one without an end. */
static inline bool gprof_varint_small(const unsigned char **at, const unsigned char *end,
				      uint64_t *value)
{
	const unsigned char *p = *at;
	uint32_t v;

	if (p >= end)
		return false;
	v = *p++;
	if (v & 0x80) {
		if (p >= end)
			return false;
		v = (v & 0x7f) | (uint32_t)*p++ << 7;
		if (v & 0x4000) {
			if (p >= end || *p & 0x80)
				return false;
			v = (v & 0x3fff) | (uint32_t)*p++ << 14;
		}
	}
	*value = v;
	*at = p;
	return true;
}

/* A number of up to eight bytes, of as many that are there; false for a longer one. */
static inline bool gprof_varint_eight(const unsigned char **at, uint64_t *value)
{
	uint64_t v, stop;

	memcpy(&v, *at, sizeof(v));
	v = le64toh(v);
	stop = ~v & 0x8080808080808080ULL;
	if (!stop)
		return false;
	*at += (unsigned int)__builtin_ctzll(stop) / 8 + 1;
	/*
	 * Clears the bits behind the last byte, and closes the gaps of each seventh bit, pair by
	 * pair.
	 */
	v &= (stop ^ (stop - 1)) & 0x7f7f7f7f7f7f7f7fULL;
	v = (v & 0x007f007f007f007fULL) | (v & 0x7f007f007f007f00ULL) >> 1;
	v = (v & 0x00003fff00003fffULL) | (v & 0x3fff00003fff0000ULL) >> 2;
	*value = (v & 0x0fffffffULL) | (v & 0x0fffffff00000000ULL) >> 4;
	return true;
}

/* A number behind its tag, if that is next; false for a longer one. */
static inline bool gprof_varint_field(const unsigned char **at, const unsigned char *end,
				      unsigned int field, uint64_t *value)
{
	*value = 0;
	if (*at >= end || **at != field << 3)
		return true;
	++*at;
	return gprof_varint_small(at, end, value) ||
	       (end - *at >= 8 && gprof_varint_eight(at, value));
}

#endif /* GPROF_PPROF_PLAIN_H */
