// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * rows.c: rows of a table in the making, and the table that is made of them.
 */
#include "rows.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "layout.h"

/* These two have numbers of their own, so that there always are some. */
#define ID_NONE		0
#define ID_UNKNOWN	1

static uint64_t as_number(struct gprof_unwind_rule rule)
{
	uint64_t key;

	memcpy(&key, &rule, sizeof(key));
	return key;
}

static int add_rule(struct gprof_rows *rows, struct gprof_unwind_rule rule, uint32_t *id)
{
	*id = gprof_map64_get(&rows->ids, as_number(rule));
	if (*id != GPROF_NONE)
		return 0;
	if (rows->nr_rules == GPROF_UNWIND_RULES_MAX) {
		*id = ID_UNKNOWN;
		return 0;
	}
	if (gprof_grow_within(rows->budget, &rows->rules, &rows->cap_rules, rows->nr_rules + 1,
			      sizeof(*rows->rules)) ||
	    gprof_map64_put(&rows->ids, as_number(rule), (uint32_t)rows->nr_rules))
		return -ENOMEM;
	*id = (uint32_t)rows->nr_rules;
	rows->rules[rows->nr_rules++] = rule;
	return 0;
}

int gprof_rows_init(struct gprof_rows *rows, struct gprof_budget *budget)
{
	static const struct gprof_unwind_rule first[] = {
		[ID_NONE] = { .kind = GPROF_UNWIND_CFA_NONE },
		[ID_UNKNOWN] = { .kind = GPROF_UNWIND_CFA_UNKNOWN },
	};
	uint32_t id;

	memset(rows, 0, sizeof(*rows));
	rows->budget = budget;
	gprof_map64_init(&rows->ids);
	rows->ids.budget = budget;
	return add_rule(rows, first[ID_NONE], &id) || add_rule(rows, first[ID_UNKNOWN], &id) ?
	       -ENOMEM : 0;
}

void gprof_rows_free(struct gprof_rows *rows)
{
	gprof_budget_give(rows->budget, rows->cap * sizeof(*rows->v) +
					rows->cap_rules * sizeof(*rows->rules));
	free(rows->v);
	free(rows->rules);
	gprof_map64_free(&rows->ids);
	memset(rows, 0, sizeof(*rows));
}

int gprof_rows_add(struct gprof_rows *rows, uint32_t at, struct gprof_unwind_rule rule)
{
	uint32_t id;

	if (add_rule(rows, rule, &id))
		return -ENOMEM;
	if (rows->nr && rows->v[rows->nr - 1].at == at)
		rows->nr--;
	if (rows->nr ? rows->v[rows->nr - 1].rule == id : id == ID_NONE)
		return 0;
	if (gprof_grow_within(rows->budget, &rows->v, &rows->cap, rows->nr + 1, sizeof(*rows->v)))
		return -ENOMEM;
	rows->v[rows->nr++] = (struct gprof_row){ .at = at, .rule = id };
	return 0;
}

void gprof_rows_cut(struct gprof_rows *rows, uint32_t at)
{
	while (rows->nr && rows->v[rows->nr - 1].at >= at)
		rows->nr--;
}

struct gprof_unwind_rule gprof_rows_last(const struct gprof_rows *rows)
{
	return rows->rules[rows->nr ? rows->v[rows->nr - 1].rule : ID_NONE];
}

/* Numbers of rules in the order of their first row; those that no row has any more go. */
static uint32_t *number_rules(const struct gprof_rows *rows, uint32_t *nr)
{
	uint32_t *number = calloc(rows->nr_rules, sizeof(*number));
	size_t i;

	if (!number)
		return NULL;
	*nr = 0;
	number[ID_NONE] = ++*nr;	/* what is before the first row */
	for (i = 0; i < rows->nr; i++)
		if (!number[rows->v[i].rule])
			number[rows->v[i].rule] = ++*nr;
	return number;
}

static void fill(const struct gprof_rows *rows, const uint32_t *number, uint32_t first,
		 size_t nr, struct gprof_unwind_table *t, const struct gprof_layout *at)
{
	unsigned char *data = (unsigned char *)t;
	uint32_t *index = (uint32_t *)(data + at->index);
	uint8_t *low = data + at->low;
	uint16_t *rule = (uint16_t *)(data + at->rule);
	struct gprof_unwind_rule *rules = (struct gprof_unwind_rule *)(data + at->rules);
	uint32_t granule = 0, n = 0;
	size_t i;

	/* The text begins with a row, be it that nothing is known. */
	if (rows->v[0].at != first) {
		low[n] = 0;
		rule[n++] = (uint16_t)(number[ID_NONE] - 1);
		granule = 1;
	}
	for (i = 0; i < nr; i++) {
		uint32_t place = rows->v[i].at - first;

		for (; granule <= place / GPROF_UNWIND_GRANULE; granule++)
			index[granule] = n;
		low[n] = (uint8_t)(place % GPROF_UNWIND_GRANULE);
		rule[n++] = (uint16_t)(number[rows->v[i].rule] - 1);
	}
	for (; granule <= t->granules; granule++)
		index[granule] = n;
	for (i = 0; i < rows->nr_rules; i++)
		if (number[i])
			rules[number[i] - 1] = rows->rules[i];
}

int gprof_rows_pack(const struct gprof_rows *rows, uint16_t machine, uint64_t base, uint32_t end,
		    struct gprof_unwind_blob *out)
{
	struct gprof_unwind_table head = {
		.magic = GPROF_UNWIND_MAGIC, .version = GPROF_UNWIND_VERSION, .machine = machine,
	};
	struct gprof_layout at;
	uint32_t first, *number;
	size_t nr = rows->nr;

	*out = (struct gprof_unwind_blob){ NULL, 0 };
	if (nr && rows->v[nr - 1].rule == ID_NONE)
		end = rows->v[nr - 1].at;
	if (!nr || rows->v[0].at >= end)
		return -ENODATA;
	first = rows->v[0].at / GPROF_UNWIND_GRANULE * GPROF_UNWIND_GRANULE;
	head.start = base + first;
	head.granules = (end - first - 1) / GPROF_UNWIND_GRANULE + 1;
	/* What is from the end of the last granule on is beyond the table anyway. */
	while (rows->v[nr - 1].at - first >= (uint64_t)head.granules * GPROF_UNWIND_GRANULE)
		nr--;
	head.rows = (uint32_t)(nr + (rows->v[0].at != first));
	number = number_rules(rows, &head.rules);
	if (!number)
		return -ENOMEM;
	gprof_layout_of(&head, &at);
	if (at.size > GPROF_UNWIND_TABLE_MAX) {
		free(number);
		return -EFBIG;
	}
	if (!gprof_budget_take(rows->budget, at.size)) {
		out->data = calloc(1, at.size);
		gprof_budget_give(rows->budget, at.size);
	}
	if (out->data) {
		out->size = at.size;
		memcpy(out->data, &head, sizeof(head));
		fill(rows, number, first, nr, out->data, &at);
	}
	free(number);
	return out->data ? 0 : -ENOMEM;
}
