// SPDX-License-Identifier: GPL-2.0-only
/*
 * An open hash of pointers. They are those of our own memory, which no file chooses.
 */
#include "memo.h"

#include <stdlib.h>

#include "../say.h"

static size_t hash_of(const void *a, const void *b, const void *c)
{
	uint64_t h = (uintptr_t)a * 0x9e3779b97f4a7c15 + (uintptr_t)b;

	h = (h ^ h >> 29 ^ (uintptr_t)c) * 0xbf58476d1ce4e5b9;
	return h ^ h >> 32;
}

static struct memo_slot *slot_of(const struct memo *m, const void *a, const void *b,
				 const void *c)
{
	for (size_t i = hash_of(a, b, c);; i++) {
		struct memo_slot *s = &m->slots[i & (m->nr_slots - 1)];

		if (!s->a || (s->a == a && s->b == b && s->c == c))
			return s;
	}
}

static void grow(struct memo *m)
{
	struct memo_slot *old = m->slots;
	size_t nr = m->nr_slots;

	m->nr_slots = nr ? nr * 2 : 256;
	m->slots = xalloc(m->nr_slots, sizeof(*m->slots));
	for (size_t i = 0; i < nr; i++)
		if (old[i].a)
			*slot_of(m, old[i].a, old[i].b, old[i].c) = old[i];
	free(old);
}

uint32_t *memo_find(struct memo *m, const void *a, const void *b, const void *c, bool *found)
{
	struct memo_slot *s;

	/* At most half full. */
	if (m->nr * 2 >= m->nr_slots)
		grow(m);
	s = slot_of(m, a, b, c);
	*found = s->a;
	if (!s->a) {
		*s = (struct memo_slot){ a, b, c, 0 };
		m->nr++;
	}
	return &s->value;
}

void memo_free(struct memo *m)
{
	free(m->slots);
	*m = (struct memo){ 0 };
}
