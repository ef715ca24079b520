// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * rows.c: rows of a table in the making, and the table that is made of them.
 */
#include "rows.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "table_layout.h"

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
	gprof_budget_uncharge(rows->budget, rows->cap * sizeof(*rows->v) +
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

/**
 * struct numbered - a rule and how often it is a row's
 * @nr: rows
 * @id: in struct gprof_rows
 */
struct numbered {
	uint32_t nr;
	uint32_t id;
};

static int compare(const void *pa, const void *pb)
{
	const struct numbered *a = pa, *b = pb;

	if (a->nr != b->nr)
		return a->nr > b->nr ? -1 : 1;
	return a->id < b->id ? -1 : a->id > b->id;
}

/*
 * Numbers of rules, + 1, those of most rows first, which thus have one of a byte; those that
 * no row has any more have 0. Rows are those of @head; the rest of it that numbers say is set.
 */
static uint32_t *number_rules(const struct gprof_rows *rows, size_t nr,
			      struct gprof_unwind_table *head)
{
	struct numbered *by_rows = calloc(rows->nr_rules, sizeof(*by_rows));
	uint32_t *number = calloc(rows->nr_rules, sizeof(*number));
	uint32_t i;

	for (i = 0; by_rows && number && i < rows->nr_rules; i++)
		by_rows[i].id = i;
	for (i = 0; by_rows && number && i < nr; i++)
		by_rows[rows->v[i].rule].nr++;
	if (by_rows && number) {
		/* The rule before the first row. */
		by_rows[ID_NONE].nr += head->rows - (uint32_t)nr;
		qsort(by_rows, rows->nr_rules, sizeof(*by_rows), compare);
		head->rules = head->fars = 0;
		for (i = 0; i < rows->nr_rules && by_rows[i].nr; i++) {
			head->fars += i < GPROF_UNWIND_FAR ? 0 : by_rows[i].nr;
			number[by_rows[i].id] = ++head->rules;
		}
	} else {
		free(number);
		number = NULL;
	}
	free(by_rows);
	return number;
}

/**
 * struct filling - a table that is filled
 * @at: its parts
 * @data: it
 * @rows: how many there are by now
 * @fars: likewise
 */
struct filling {
	struct gprof_table_layout at;
	unsigned char *data;
	uint32_t rows;
	uint32_t fars;
};

static void put_row(struct filling *f, uint32_t place, uint32_t rule)
{
	struct gprof_unwind_far *far = (struct gprof_unwind_far *)(f->data + f->at.far);

	if (rule >= GPROF_UNWIND_FAR) {
		far[f->fars++] = (struct gprof_unwind_far){ f->rows, rule };
		rule = GPROF_UNWIND_FAR;
	}
	f->data[f->at.low + f->rows] = (uint8_t)(place % GPROF_UNWIND_GRANULE);
	f->data[f->at.rule + f->rows++] = (uint8_t)rule;
}

/* As many rows as there are by now are before a granule. */
static void put_granule(struct filling *f, uint32_t granule)
{
	uint32_t *base = (uint32_t *)(f->data + f->at.base) + granule / GPROF_UNWIND_BASE;
	uint16_t *index = (uint16_t *)(f->data + f->at.index);

	if (!(granule % GPROF_UNWIND_BASE))
		*base = f->rows;
	index[granule] = (uint16_t)(f->rows - *base);
}

static void fill(const struct gprof_rows *rows, const uint32_t *number, uint32_t first, size_t nr,
		 struct gprof_unwind_table *t, const struct gprof_table_layout *at)
{
	struct filling f = { .at = *at, .data = (unsigned char *)t };
	struct gprof_unwind_rule *rules = (struct gprof_unwind_rule *)(f.data + at->rules);
	uint32_t granule = 0;
	size_t i;

	/* The text begins with a row, be it that nothing is known. */
	if (rows->v[0].at != first) {
		put_granule(&f, granule++);
		put_row(&f, 0, number[ID_NONE] - 1);
	}
	for (i = 0; i < nr; i++) {
		uint32_t place = rows->v[i].at - first;

		while (granule <= place / GPROF_UNWIND_GRANULE)
			put_granule(&f, granule++);
		put_row(&f, place, number[rows->v[i].rule] - 1);
	}
	while (granule <= t->granules)
		put_granule(&f, granule++);
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
	struct gprof_table_layout at;
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
	/* Text from the end of the last granule on is beyond the table anyway. */
	while (rows->v[nr - 1].at - first >= (uint64_t)head.granules * GPROF_UNWIND_GRANULE)
		nr--;
	head.rows = (uint32_t)(nr + (rows->v[0].at != first));
	number = number_rules(rows, nr, &head);
	if (!number)
		return -ENOMEM;
	gprof_table_layout_of(&head, &at);
	if (at.size > GPROF_UNWIND_TABLE_MAX) {
		free(number);
		return -EFBIG;
	}
	if (!gprof_budget_charge(rows->budget, at.size)) {
		out->data = calloc(1, at.size);
		gprof_budget_uncharge(rows->budget, at.size);
	}
	if (out->data) {
		out->size = at.size;
		memcpy(out->data, &head, sizeof(head));
		fill(rows, number, first, nr, out->data, &at);
	}
	free(number);
	return out->data ? 0 : -ENOMEM;
}
