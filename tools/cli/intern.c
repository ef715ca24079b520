// SPDX-License-Identifier: GPL-2.0-only
/*
 * An open hash of entries, whose keys lie one behind the other in a pool.
 */
#include "intern.h"

#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "diag.h"

/* Seeded, for keys come from files: an attacker cannot choose them to collide. */
static uint64_t seed;

static uint64_t mix(uint64_t h, uint64_t word)
{
	unsigned __int128 m = (unsigned __int128)(h ^ word ^ 0x9e3779b97f4a7c15) *
			      (seed | 1);

	return (uint64_t)m ^ (uint64_t)(m >> 64);
}

uint64_t intern_seed(void)
{
	while (!seed)
		if (getrandom(&seed, sizeof(seed), GRND_NONBLOCK) != sizeof(seed))
			seed = (uintptr_t)&seed;
	return seed;
}

static uint64_t hash_of(const void *key, size_t length)
{
	const unsigned char *p = key;
	uint64_t word, h;

	h = mix(intern_seed(), length);
	for (; length >= sizeof(word); length -= sizeof(word), p += sizeof(word)) {
		memcpy(&word, p, sizeof(word));
		h = mix(h, word);
	}
	word = 0;
	memcpy(&word, p, length);
	return mix(h, word);
}

static void insert(struct intern *t, size_t entry)
{
	size_t i = t->entries[entry].hash;

	while (t->slots[i & (t->nr_slots - 1)])
		i++;
	t->slots[i & (t->nr_slots - 1)] = entry + 1;
}

static void rehash(struct intern *t)
{
	free(t->slots);
	t->nr_slots = t->nr_slots ? t->nr_slots * 2 : 64;
	t->slots = xalloc(t->nr_slots, sizeof(*t->slots));
	for (size_t i = 0; i < t->nr; i++)
		insert(t, i);
}

static size_t store(struct intern *t, const void *key, size_t length)
{
	size_t offset = t->pool_used;

	/* Keys are small and many: xgrow() doubles, so this ends after a few rounds. */
	while (t->pool_size - t->pool_used < length)
		t->pool = xgrow(t->pool, t->pool_size, &t->pool_size, 1);
	if (length)
		memcpy(t->pool + offset, key, length);
	t->pool_used += length;
	return offset;
}

size_t intern_add(struct intern *t, const void *key, size_t length)
{
	uint64_t h = hash_of(key, length);
	uint32_t found;

	/* At most half full. */
	if (t->nr * 2 >= t->nr_slots)
		rehash(t);
	for (size_t i = h; (found = t->slots[i & (t->nr_slots - 1)]); i++) {
		const struct intern_entry *e = &t->entries[found - 1];

		if (e->hash == h && e->length == length &&
		    (!length || !memcmp(t->pool + e->offset, key, length)))
			return found - 1;
	}
	t->entries = xgrow(t->entries, t->nr, &t->room, sizeof(*t->entries));
	t->entries[t->nr] = (struct intern_entry){ h, store(t, key, length), length };
	insert(t, t->nr);
	return t->nr++;
}

const void *intern_key(const struct intern *t, size_t i, size_t *length)
{
	*length = t->entries[i].length;
	return t->pool + t->entries[i].offset;
}

void intern_free(struct intern *t)
{
	free(t->slots);
	free(t->entries);
	free(t->pool);
	*t = (struct intern){ 0 };
}
