/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * profile_cache: profiles that were just written to a store and are in memory still, so that the
 * sender need not read them again, which is a large part of its cost.
 *
 * Of each type there is the newest: memory does not grow while an engine is away.
 */
#ifndef GPROF_TOOLS_AGENT_PROFILE_CACHE_H
#define GPROF_TOOLS_AGENT_PROFILE_CACHE_H

#include <gprof/profile.h>

#include "store/item_name.h"

#define PROFILE_CACHE_TYPES	8

/**
 * struct profile_cache - some profiles
 * @v: a profile, or NULL; the id of its item, and its type
 */
struct profile_cache {
	struct {
		struct gprof_profile *profile;
		uint64_t id;
		char type[ITEM_TYPE];
	} v[PROFILE_CACHE_TYPES];
};

/* profile_cache_put() - have one that is the item @n, in place of that of its type, or of the oldest */
void profile_cache_put(struct profile_cache *h, const struct item_name *n, struct gprof_profile *p);

/* profile_cache_get() - that of an item, for gprof_profile_free(), or NULL */
struct gprof_profile *profile_cache_get(struct profile_cache *h, uint64_t id);

void profile_cache_free(struct profile_cache *h);

#endif /* GPROF_TOOLS_AGENT_PROFILE_CACHE_H */
