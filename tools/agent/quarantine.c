// SPDX-License-Identifier: GPL-2.0-only
/*
 * Items that are let be for a while.
 */
#include "quarantine.h"

#include <stdlib.h>
#include <string.h>

#include "cli/diag.h"

#define FIRST_NS	(300 * 1000000000ULL)
#define DOUBLINGS	4	/* to 80 minutes */

static size_t find(const struct quarantine *a, uint64_t id)
{
	size_t i = 0;

	while (i < a->nr && a->v[i].id != id)
		i++;
	return i;
}

/* The place of one that is there, or of a new one. */
static size_t place(struct quarantine *a, uint64_t id, enum item_form form)
{
	size_t i = find(a, id);

	if (i < a->nr)
		return i;
	if (a->nr == QUARANTINE_MAX)
		quarantine_forget(a, a->v[0].id);
	a->v = xgrow(a->v, a->nr, &a->room, sizeof(*a->v));
	i = a->nr++;
	memset(&a->v[i], 0, sizeof(*a->v));
	a->v[i].id = id;
	a->v[i].form = form;
	a->v[i].doubt = true;
	return i;
}

void quarantine_tried(struct quarantine *a, uint64_t id, enum item_form form, uint64_t now_ns)
{
	size_t i = place(a, id, form);
	unsigned int more = 0;

	if (++a->v[i].tries < QUARANTINE_TRIES)
		return;
	if (!a->v[i].doubt)
		more = a->v[i].tries - QUARANTINE_TRIES;
	a->v[i].until_ns = now_ns + (FIRST_NS << (more < DOUBLINGS ? more : DOUBLINGS));
}

void quarantine_put(struct quarantine *a, uint64_t id, enum item_form form, uint64_t now_ns)
{
	size_t i = place(a, id, form);

	a->v[i].doubt = false;
	if (a->v[i].tries < QUARANTINE_TRIES - 1)
		a->v[i].tries = QUARANTINE_TRIES - 1;
	quarantine_tried(a, id, form, now_ns);
}

bool quarantine_accepted(struct quarantine *a, enum item_form form)
{
	bool any = false;

	for (size_t i = 0; i < a->nr; i++) {
		if (a->v[i].form != form || !a->v[i].doubt)
			continue;
		any |= a->v[i].until_ns != 0;
		a->v[i].doubt = false;
		a->v[i].tries = 0;
		a->v[i].until_ns = 0;
	}
	return any;
}

bool quarantine_is(const struct quarantine *a, uint64_t id, uint64_t now_ns)
{
	size_t i = find(a, id);

	return i < a->nr && now_ns < a->v[i].until_ns;
}

void quarantine_forget(struct quarantine *a, uint64_t id)
{
	size_t i = find(a, id);

	if (i == a->nr)
		return;
	a->nr--;
	memmove(&a->v[i], &a->v[i + 1], (a->nr - i) * sizeof(*a->v));
}

void quarantine_free(struct quarantine *a)
{
	free(a->v);
	*a = (struct quarantine){ 0 };
}
