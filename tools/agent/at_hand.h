/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * at_hand: profiles that were just written to a store and are in memory still, so that who
 * sends them need not read them again, which is a large part of what sending takes.
 *
 * Of each type there is the newest: memory does not grow while an engine is away.
 */
#ifndef GPROF_TOOLS_FLEET_AT_HAND_H
#define GPROF_TOOLS_FLEET_AT_HAND_H

#include <gprof/profile.h>

#include "item_name.h"

#define AT_HAND_TYPES	8

/**
 * struct at_hand - some profiles
 * @v: a profile, or NULL; the id of its item, and its type
 */
struct at_hand {
	struct {
		struct gprof_profile *profile;
		uint64_t id;
		char type[ITEM_TYPE];
	} v[AT_HAND_TYPES];
};

/* at_hand_put() - have one that is the item @n, in place of that of its type, or of the oldest */
void at_hand_put(struct at_hand *h, const struct item_name *n, struct gprof_profile *p);

/* at_hand_take() - that of an item, for gprof_profile_free(), or NULL */
struct gprof_profile *at_hand_take(struct at_hand *h, uint64_t id);

void at_hand_free(struct at_hand *h);

#endif /* GPROF_TOOLS_FLEET_AT_HAND_H */
