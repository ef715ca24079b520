// SPDX-License-Identifier: GPL-2.0-only
/*
 * When an engine is asked again.
 */
#include "backoff.h"

#define FIRST_NS	1000000000ULL
#define LONGEST_NS	(300 * FIRST_NS)
#define ASKED_NS	(3600 * FIRST_NS)	/* no engine has it wait for longer */

/* Some part of @ns, up to all of it. Times 2^32 it is more than 64 bits hold from 4 s on. */
static uint64_t part_of(uint64_t ns, uint32_t chance)
{
	return (ns >> 32) * chance + ((ns & UINT32_MAX) * chance >> 32);
}

uint64_t backoff_ns(unsigned int failures, uint64_t asked_ms, uint32_t chance)
{
	uint64_t ns = FIRST_NS, asked;

	for (unsigned int i = 1; i < failures && ns < LONGEST_NS; i++)
		ns *= 2;
	if (ns > LONGEST_NS)
		ns = LONGEST_NS;
	asked = asked_ms < ASKED_NS / 1000000 ? asked_ms * 1000000 : ASKED_NS;
	/* Not sooner than it asked for, and not all at that moment. */
	if (asked && asked >= ns - ns / 4)
		return asked + part_of(asked / 4, chance);
	return ns - ns / 4 + part_of(ns / 2, chance);
}
