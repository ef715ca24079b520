/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * code_map.h: generated code by address, where newer code may lie over older.
 */
#ifndef GPROF_CODE_MAP_H
#define GPROF_CODE_MAP_H

#include <stddef.h>
#include <stdint.h>

#include "base/table.h"

/**
 * struct gprof_code - a generated function, or the part that newer ones have left
 * @start: address
 * @end: address after the last
 * @name: where in the text of the map's owner
 * @age: the larger, the newer; no two have the same
 */
struct gprof_code {
	uint64_t start;
	uint64_t end;
	uint32_t name;
	uint32_t age;
};

/**
 * gprof_code_settle() - leave of each function where it is the newest one
 * @v: functions, which are freed: the pieces that are left, in the order of addresses
 * @nr: how many
 * @memory: that @v is taken of, as it has room for @cap
 * @cap: that room
 *
 * Return: 0, or -ENOMEM, @v being in another order.
 */
int gprof_code_settle(struct gprof_code **v, size_t *nr, size_t *cap, struct gprof_budget *memory);

/**
 * struct gprof_code_past - functions, with those that newer ones lie over
 * @v: they, in the order of addresses
 * @reach: of each, the largest end of some up to it: as many as the lowest bit of its number,
 *	from 1, says
 * @nr: how many; 0: none lies over another
 * @looks: functions that may be looked at until no more is found
 */
struct gprof_code_past {
	struct gprof_code *v;
	uint64_t *reach;
	size_t nr;
	size_t looks;
};

/**
 * gprof_code_remember() - keep functions as they are before they are settled
 * @past: result for gprof_code_past_free(), in any case
 * @v: functions
 * @nr: how many
 * @memory: that @past is taken of
 *
 * Return: 0 or -ENOMEM.
 */
int gprof_code_remember(struct gprof_code_past *past, const struct gprof_code *v, size_t nr,
			struct gprof_budget *memory);
void gprof_code_past_free(struct gprof_code_past *past);

/**
 * gprof_code_was() - the function that lay at an address all the time
 * @past: functions
 * @addr: address
 * @made: of each function, by age, when it was made
 * @from: the newest that was made by then is meant, or the oldest of all
 * @to: until when only others of its name may have come
 *
 * Return: the newest of them; NULL: another came, or too many lie there to be looked at.
 */
const struct gprof_code *gprof_code_was(struct gprof_code_past *past, uint64_t addr,
					const uint64_t *made, uint64_t from, uint64_t to);

/** gprof_code_find() - of settled functions the one at an address, or NULL */
const struct gprof_code *gprof_code_find(const struct gprof_code *v, size_t nr, uint64_t addr);

#endif /* GPROF_CODE_MAP_H */
