// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * custom_keys.c: a hash table from which things are taken again.
 *
 * Linear probing. A removal leaves no mark: the entries behind it move up.
 */
#include "custom_keys.h"

#include <errno.h>
#include <stdlib.h>

#include "base/table.h"

#define SIZE_MIN	64

void gprof_custom_keys_init(struct gprof_custom_keys *k)
{
	struct gprof_table seeded;

	gprof_table_init(&seeded);
	*k = (struct gprof_custom_keys){ .seed = seeded.seed };
	gprof_table_free(&seeded);
}

void gprof_custom_keys_free(struct gprof_custom_keys *k)
{
	free(k->v);
	k->v = NULL;
	k->size = 0;
	k->nr = 0;
}

static size_t place_of(const struct gprof_custom_keys *k, uint64_t key)
{
	return gprof_hash_u64(k->seed, key) & (k->size - 1);
}

/* Where it is, or would be; there is a slot that is free. */
static size_t find(const struct gprof_custom_keys *k, uint64_t key)
{
	size_t i = place_of(k, key);

	while (k->v[i].used && k->v[i].key != key)
		i = (i + 1) & (k->size - 1);
	return i;
}

bool gprof_custom_keys_has(const struct gprof_custom_keys *k, uint64_t key)
{
	return k->size && k->v[find(k, key)].used;
}

void gprof_custom_keys_put(struct gprof_custom_keys *k, uint64_t key, uint32_t stack)
{
	k->v[find(k, key)] = (struct gprof_custom_key){ key, stack, true };
	k->nr++;
}

int gprof_custom_keys_room(struct gprof_custom_keys *k)
{
	struct gprof_custom_keys old = *k;
	size_t i;

	/* Three of four at most. */
	if (k->nr + 1 <= k->size / 4 * 3)
		return 0;
	k->size = old.size ? 2 * old.size : SIZE_MIN;
	k->v = calloc(k->size, sizeof(*k->v));
	if (!k->v) {
		*k = old;
		return -ENOMEM;
	}
	k->nr = 0;
	for (i = 0; i < old.size; i++)
		if (old.v[i].used)
			gprof_custom_keys_put(k, old.v[i].key, old.v[i].stack);
	free(old.v);
	return 0;
}

bool gprof_custom_keys_remove(struct gprof_custom_keys *k, uint64_t key, uint32_t *stack)
{
	size_t mask = k->size - 1, gap, i;

	if (!k->size)
		return false;
	gap = find(k, key);
	if (!k->v[gap].used)
		return false;
	*stack = k->v[gap].stack;
	for (i = (gap + 1) & mask; k->v[i].used; i = (i + 1) & mask) {
		/* It may move where its own place is not behind the gap. */
		if (((i - place_of(k, k->v[i].key)) & mask) >= ((i - gap) & mask)) {
			k->v[gap] = k->v[i];
			gap = i;
		}
	}
	k->v[gap].used = false;
	k->nr--;
	return true;
}
