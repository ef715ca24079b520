/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * table_check.h: is it an unwind table, from the first byte to the last, and which rule has a
 * byte of the file? By another reader than the module's.
 */
#ifndef GPROF_TABLE_CHECK_H
#define GPROF_TABLE_CHECK_H

#include <elf.h>
#include <errno.h>
#include <stdbool.h>

#include "unwind/table_layout.h"

static inline bool table_check_head(const struct gprof_unwind_table *t)
{
	return t->magic == GPROF_UNWIND_MAGIC && t->version == GPROF_UNWIND_VERSION &&
	       (t->machine == EM_X86_64 || t->machine == EM_AARCH64) &&
	       !(t->start % GPROF_UNWIND_GRANULE) && t->granules && t->rows && t->rules &&
	       t->rules <= GPROF_UNWIND_RULES_MAX && t->fars <= t->rows &&
	       t->start <= INT64_MAX - (uint64_t)t->granules * GPROF_UNWIND_GRANULE;
}

static inline bool table_check_rule(const struct gprof_unwind_rule *r, uint16_t machine)
{
	unsigned int reg = GPROF_UNWIND_REG(r->how), ra = GPROF_UNWIND_RA(r->how);
	bool x86 = machine == EM_X86_64;

	switch (r->kind) {
	case GPROF_UNWIND_CFA_NONE:
	case GPROF_UNWIND_CFA_END:
	case GPROF_UNWIND_CFA_SIGNAL:
	case GPROF_UNWIND_CFA_UNKNOWN:
		return !r->how && !r->cfa && !r->fp && !r->ra;
	case GPROF_UNWIND_CFA_PLT:
		return x86 && !r->how && r->cfa >= 0 && r->cfa < 16 && !r->fp && !r->ra;
	case GPROF_UNWIND_CFA_SP:
	case GPROF_UNWIND_CFA_FP:
		break;
	case GPROF_UNWIND_CFA_REG:
		if (ra == GPROF_UNWIND_RA_REG)
			return false;
		break;
	case GPROF_UNWIND_CFA_DEREF:
		if (ra == GPROF_UNWIND_RA_REG || reg > 1)
			return false;
		break;
	default:
		return false;
	}
	return ra != GPROF_UNWIND_RA_UNKNOWN && (!x86 || ra != GPROF_UNWIND_RA_LR);
}

/* Rows before a granule. */
static inline uint64_t table_rows_before(const unsigned char *p,
					 const struct gprof_table_layout *at,
					     uint32_t granule)
{
	const uint32_t *base = (const uint32_t *)(p + at->base);
	const uint16_t *index = (const uint16_t *)(p + at->index);

	return (uint64_t)base[granule / GPROF_UNWIND_BASE] + index[granule];
}

/* Rows of each granule in their order, and the first one at the first byte. */
static inline bool table_check_rows(const struct gprof_unwind_table *t, const unsigned char *p,
		       const struct gprof_table_layout *at)
{
	const uint8_t *low = p + at->low;
	uint64_t row = 0, first, end;
	uint32_t granule;

	if (table_rows_before(p, at, 0) || low[0] || !table_rows_before(p, at, 1))
		return false;
	for (granule = 0; granule < t->granules; granule++) {
		end = table_rows_before(p, at, granule + 1);
		if (end < row || end > t->rows)
			return false;
		for (first = row; row < end; row++)
			if (row > first && low[row] <= low[row - 1])
				return false;
	}
	return row == t->rows;
}

/* Each row has a rule that is there, and one alone. */
static inline bool table_check_rule_numbers(const struct gprof_unwind_table *t,
					    const unsigned char *p,
					    const struct gprof_table_layout *at)
{
	const struct gprof_unwind_far *far = (const struct gprof_unwind_far *)(p + at->far);
	const uint8_t *rule = p + at->rule;
	uint32_t row, n = 0;

	for (row = 0; row < t->rows; row++) {
		if (rule[row] != GPROF_UNWIND_FAR) {
			if (rule[row] >= t->rules)
				return false;
			continue;
		}
		if (n == t->fars || far[n].row != row || far[n].rule >= t->rules)
			return false;
		n++;
	}
	return n == t->fars;
}

static inline int table_check(const void *data, size_t size)
{
	const unsigned char *p = data;
	const struct gprof_unwind_table *t = data;
	const struct gprof_unwind_rule *rules;
	struct gprof_table_layout at;
	uint32_t i;

	if (size < sizeof(*t) || size > GPROF_UNWIND_TABLE_MAX || !table_check_head(t))
		return -EINVAL;
	gprof_table_layout_of(t, &at);
	if (size != at.size || !table_check_rows(t, p, &at) || !table_check_rule_numbers(t, p, &at))
		return -EINVAL;
	rules = (const struct gprof_unwind_rule *)(p + at.rules);
	for (i = 0; i < t->rules; i++)
		if (!table_check_rule(&rules[i], t->machine))
			return -EINVAL;
	return 0;
}

static inline uint32_t table_far_rule(const struct gprof_unwind_far *far, uint32_t nr, uint32_t row)
{
	uint32_t lo = 0;

	while (lo + 1 < nr) {
		uint32_t mid = lo + (nr - lo) / 2;

		if (far[mid].row <= row)
			lo = mid;
		else
			nr = mid;
	}
	return far[lo].rule;
}

static inline const struct gprof_unwind_rule *table_find(const void *data, uint64_t offset)
{
	const unsigned char *p = data;
	const struct gprof_unwind_table *t = data;
	struct gprof_table_layout at;
	uint64_t place = offset - t->start;
	uint32_t granule = (uint32_t)(place / GPROF_UNWIND_GRANULE), lo, hi, rule;

	if (offset < t->start || place / GPROF_UNWIND_GRANULE >= t->granules)
		return NULL;
	gprof_table_layout_of(t, &at);
	lo = (uint32_t)table_rows_before(p, &at, granule);
	hi = (uint32_t)table_rows_before(p, &at, granule + 1);
	/* How many rows begin at or before the byte. */
	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (p[at.low + mid] <= place % GPROF_UNWIND_GRANULE)
			lo = mid + 1;
		else
			hi = mid;
	}
	rule = p[at.rule + lo - 1];
	if (rule == GPROF_UNWIND_FAR)
		rule = table_far_rule((const struct gprof_unwind_far *)(p + at.far), t->fars, lo - 1);
	return (const struct gprof_unwind_rule *)(p + at.rules) + rule;
}

#endif /* GPROF_TABLE_CHECK_H */
