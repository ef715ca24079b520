// SPDX-License-Identifier: GPL-2.0-only
/*
 * Profiles that were just written to a store.
 */
#include "profile_cache.h"

#include <string.h>

void profile_cache_put(struct profile_cache *h, const struct item_name *n, struct gprof_profile *p)
{
	size_t at = 0;

	for (size_t i = 0; i < PROFILE_CACHE_TYPES; i++) {
		if (h->v[i].profile && !strcmp(h->v[i].type, n->type)) {
			at = i;
			break;
		}
		/* An empty place has an id of 0. */
		if (h->v[i].id < h->v[at].id)
			at = i;
	}
	gprof_profile_free(h->v[at].profile);
	h->v[at].profile = p;
	h->v[at].id = n->id;
	memcpy(h->v[at].type, n->type, sizeof(h->v[at].type));
}

struct gprof_profile *profile_cache_get(struct profile_cache *h, uint64_t id)
{
	for (size_t i = 0; i < PROFILE_CACHE_TYPES; i++) {
		struct gprof_profile *p = h->v[i].profile;

		if (!p || h->v[i].id != id)
			continue;
		h->v[i].profile = NULL;
		h->v[i].id = 0;
		return p;
	}
	return NULL;
}

void profile_cache_free(struct profile_cache *h)
{
	for (size_t i = 0; i < PROFILE_CACHE_TYPES; i++)
		gprof_profile_free(h->v[i].profile);
	memset(h, 0, sizeof(*h));
}
