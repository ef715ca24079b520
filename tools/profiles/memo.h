/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What was found out about a frame, found again by the places of its texts: a profile has
 * each text once, so that two frames of the same function have the same pointers. Valid
 * for one profile, as long as it is open.
 */
#ifndef TOOLS_PROFILES_MEMO_H
#define TOOLS_PROFILES_MEMO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/**
 * struct memo - a table of numbers; all zeroes is an empty one
 * @slots: an open hash
 * @nr_slots: a power of two, or 0
 * @nr: numbers in it
 */
struct memo {
	struct memo_slot {
		const void *a;
		const void *b;
		const void *c;
		uint32_t value;
	} *slots;
	size_t nr_slots;
	size_t nr;
};

/**
 * memo_find() - the number that is kept for a key, to be set where there was none
 * @m: table
 * @a: first text, never NULL
 * @b: second text, or NULL
 * @c: third text, or NULL
 * @found: gets whether it was there; else *return is 0
 *
 * Return: where the number is, valid until the next call.
 */
uint32_t *memo_find(struct memo *m, const void *a, const void *b, const void *c, bool *found);

void memo_free(struct memo *m);

#endif /* TOOLS_PROFILES_MEMO_H */
