// SPDX-License-Identifier: GPL-2.0-only
/*
 * The profiles of ten minutes as one.
 */
#include "rollup.h"

#include <string.h>

bool rollup_alike(const struct item_name *a, const struct item_name *b)
{
	return rollup_begin(a->start_ns) == rollup_begin(b->start_ns) && !strcmp(a->type, b->type) &&
	       !strcmp(a->host, b->host);
}

bool rollup_has(const struct item_name *r, const struct item_name *n)
{
	return r->form == ITEM_ROLLUP && n->form == ITEM_PROFILE && r->first_id <= n->id &&
	       n->id <= r->last_id && rollup_alike(r, n);
}
