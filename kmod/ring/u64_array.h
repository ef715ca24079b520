/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * u64_array: arrays of a few 64-bit words: compare, copy, hash.
 *
 * memcmp() looks at bytes on some kernels, memcpy() may be an instruction that takes
 * long to begin, and both are calls. By fours, which saves half of the instructions.
 */
#ifndef GPROF_U64_ARRAY_H
#define GPROF_U64_ARRAY_H

#include <linux/compiler.h>
#include <linux/hash.h>
#include <linux/types.h>

static __always_inline bool gprof_u64_array_same(const u64 *a, const u64 *b, size_t words)
{
	for (; words >= 4; words -= 4, a += 4, b += 4) {
		if (a[0] != b[0] || a[1] != b[1] || a[2] != b[2] || a[3] != b[3])
			return false;
	}
	for (; words; words--) {
		if (*a++ != *b++)
			return false;
	}
	return true;
}

/* Returns the end of the copy. Were nothing hidden, the compiler would call memcpy(). */
static __always_inline u64 *gprof_u64_array_copy(u64 *to, const u64 *from, size_t words)
{
	for (; words >= 4; words -= 4, to += 4, from += 4) {
		to[0] = from[0];
		to[1] = from[1];
		to[2] = from[2];
		to[3] = from[3];
		OPTIMIZER_HIDE_VAR(to);
	}
	for (; words; words--) {
		*to++ = *from++;
		OPTIMIZER_HIDE_VAR(to);
	}
	return to;
}

static __always_inline u64 gprof_u64_hash(u64 h, u64 word)
{
	return (h ^ word) * GOLDEN_RATIO_64;
}

/* The last step, when all words are in. */
static __always_inline u64 gprof_u64_array_hashed(u64 h)
{
	return h ^ h >> 32;
}

/* Neighbours in memory or code differ in low bits, which go far. */
static __always_inline u64 gprof_u64_array_hash(const u64 *words, size_t nr)
{
	u64 h = nr;

	for (; nr >= 4; nr -= 4, words += 4) {
		h = gprof_u64_hash(h, words[0]);
		h = gprof_u64_hash(h, words[1]);
		h = gprof_u64_hash(h, words[2]);
		h = gprof_u64_hash(h, words[3]);
	}
	for (; nr; nr--)
		h = gprof_u64_hash(h, *words++);
	return gprof_u64_array_hashed(h);
}

#endif /* GPROF_U64_ARRAY_H */
