/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * draw.h: random wishes that a seed repeats (splitmix64: Steele, Lea, Flood,
 * "Fast Splittable Pseudorandom Number Generators", OOPSLA 2014).
 */
#ifndef GPROF_TEST_DRAW_H
#define GPROF_TEST_DRAW_H

#include <stdbool.h>
#include <stdint.h>

struct draw {
	uint64_t state;
};

static inline uint64_t draw(struct draw *d)
{
	uint64_t z = (d->state += 0x9E3779B97F4A7C15ULL);

	z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9ULL;
	z = (z ^ z >> 27) * 0x94D049BB133111EBULL;
	return z ^ z >> 31;
}

/* 0 to n - 1 */
static inline uint64_t below(struct draw *d, uint64_t n)
{
	return draw(d) % n;
}

static inline bool one_in(struct draw *d, unsigned int n)
{
	return !below(d, n);
}

#define ONE_OF(_d, ...) ({						\
	const uint64_t _all[] = { __VA_ARGS__ };			\
	_all[below(_d, sizeof(_all) / sizeof(_all[0]))];		\
})

#endif
