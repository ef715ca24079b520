// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * table.c: growing arrays and hash tables.
 */
#include "table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "large_pages.h"

int gprof_budget_charge(struct gprof_budget *b, uint64_t bytes)
{
	if (!b)
		return 0;
	if (bytes > b->max - b->used) {
		b->exceeded = true;
		return -ENOMEM;
	}
	b->used += bytes;
	return 0;
}

void gprof_budget_uncharge(struct gprof_budget *b, uint64_t bytes)
{
	if (b)
		b->used -= bytes;
}

int gprof_grow_beyond(struct gprof_budget *b, void *array, size_t *cap, size_t need, size_t size)
{
	void **p = array;
	size_t n = *cap ? *cap : 16;
	void *bigger;

	while (n < need) {
		if (n > SIZE_MAX / 2)
			return -ENOMEM;
		n *= 2;
	}
	if (n > SIZE_MAX / 2 / size)
		return -ENOMEM;
	/* Half of the rest, and half of that, for as long as it is enough. */
	if (b && (n - *cap) * size > b->max - b->used)
		n = *cap + (b->max - b->used) / 2 / size;
	if (n < need)
		n = need;
	if (gprof_budget_charge(b, (n - *cap) * size))
		return -ENOMEM;
	bigger = reallocarray(*p, n, size);
	if (!bigger) {
		gprof_budget_uncharge(b, (n - *cap) * size);
		return -ENOMEM;
	}
	*p = gprof_large_pages(bigger, n * size);
	*cap = n;
	return 0;
}

int gprof_grow(void *array, size_t *cap, size_t need, size_t size)
{
	return gprof_grow_within(NULL, array, cap, need, size);
}

uint64_t gprof_hash_bytes(uint64_t seed, const void *data, size_t len)
{
	const unsigned char *p = data;
	uint64_t h = seed ^ gprof_hash_mix(len, 0x9e3779b97f4a7c15ULL);
	uint64_t word;

	for (; len >= sizeof(word); len -= sizeof(word), p += sizeof(word)) {
		memcpy(&word, p, sizeof(word));
		h = gprof_hash_u64(h, word);
	}
	if (len) {
		word = 0;
		memcpy(&word, p, len);
		h = gprof_hash_u64(h, word);
	}
	return h;
}

static uint64_t new_seed(const void *unique)
{
	uint64_t seed;

	if (getrandom(&seed, sizeof(seed), GRND_NONBLOCK) != sizeof(seed))
		seed = (uintptr_t)unique;
	return seed;
}

void gprof_table_init(struct gprof_table *t)
{
	memset(t, 0, sizeof(*t));
	t->seed = new_seed(t);
}

void gprof_table_free(struct gprof_table *t)
{
	gprof_budget_uncharge(t->budget, t->size * sizeof(*t->slots));
	free(t->slots);
	memset(t, 0, sizeof(*t));
}

void gprof_table_clear(struct gprof_table *t)
{
	if (t->slots)
		memset(t->slots, 0, t->size * sizeof(*t->slots));
	t->used = 0;
}

static void table_put(struct gprof_table_slot *slots, size_t mask, struct gprof_table_slot slot)
{
	size_t i = slot.hash & mask;

	while (slots[i].number)
		i = (i + 1) & mask;
	slots[i] = slot;
}

int gprof_table_insert(struct gprof_table *t, uint64_t hash, uint32_t index)
{
	if (t->used >= t->size / 2) {
		size_t size = t->size ? t->size * 2 : 64;
		struct gprof_table_slot *slots;
		size_t i;

		if (gprof_budget_charge(t->budget, size * sizeof(*slots)))
			return -ENOMEM;
		slots = calloc(size, sizeof(*slots));
		if (!slots) {
			gprof_budget_uncharge(t->budget, size * sizeof(*slots));
			return -ENOMEM;
		}
		for (i = 0; i < t->size; i++)
			if (t->slots[i].number)
				table_put(slots, size - 1, t->slots[i]);
		gprof_budget_uncharge(t->budget, t->size * sizeof(*slots));
		free(t->slots);
		t->slots = slots;
		t->size = size;
	}
	table_put(t->slots, t->size - 1,
		  (struct gprof_table_slot){ .hash = (uint32_t)hash, .number = index + 1 });
	t->used++;
	return 0;
}

void gprof_map64_init(struct gprof_map64 *m)
{
	memset(m, 0, sizeof(*m));
	m->epoch = 1;
	m->seed = new_seed(m);
}

void gprof_map64_free(struct gprof_map64 *m)
{
	gprof_budget_uncharge(m->budget, m->size * sizeof(*m->slots));
	free(m->slots);
	memset(m, 0, sizeof(*m));
	m->epoch = 1;
}

void gprof_map64_clear(struct gprof_map64 *m)
{
	m->used = 0;
	if (++m->epoch)
		return;
	if (m->slots)
		memset(m->slots, 0, m->size * sizeof(*m->slots));
	m->epoch = 1;
}

/* The slot that holds @key, or the free one where it would go. */
static struct gprof_map64_slot *map_slot(const struct gprof_map64 *m, uint64_t key)
{
	size_t mask = m->size - 1;
	size_t i = gprof_hash_u64(m->seed, key) & mask;

	while (m->slots[i].epoch == m->epoch && m->slots[i].key != key)
		i = (i + 1) & mask;
	return &m->slots[i];
}

uint32_t gprof_map64_get(const struct gprof_map64 *m, uint64_t key)
{
	struct gprof_map64_slot *slot;

	if (!m->size)
		return GPROF_NONE;
	slot = map_slot(m, key);
	return slot->epoch == m->epoch ? slot->value : GPROF_NONE;
}

void gprof_map64_each(struct gprof_map64 *m, void (*each)(void *ctx, uint32_t *value), void *ctx)
{
	size_t i;

	for (i = 0; i < m->size; i++)
		if (m->slots[i].epoch == m->epoch)
			each(ctx, &m->slots[i].value);
}

static int map_grow(struct gprof_map64 *m)
{
	struct gprof_map64 bigger = *m;
	size_t i;

	bigger.size = m->size ? m->size * 2 : 64;
	if (gprof_budget_charge(m->budget, bigger.size * sizeof(*bigger.slots)))
		return -ENOMEM;
	bigger.slots = calloc(bigger.size, sizeof(*bigger.slots));
	if (!bigger.slots) {
		gprof_budget_uncharge(m->budget, bigger.size * sizeof(*bigger.slots));
		return -ENOMEM;
	}
	for (i = 0; i < m->size; i++)
		if (m->slots[i].epoch == m->epoch)
			*map_slot(&bigger, m->slots[i].key) = m->slots[i];
	gprof_budget_uncharge(m->budget, m->size * sizeof(*m->slots));
	free(m->slots);
	*m = bigger;
	return 0;
}

int gprof_map64_put(struct gprof_map64 *m, uint64_t key, uint32_t value)
{
	struct gprof_map64_slot *slot;

	if (m->used >= m->size / 2) {
		int err = map_grow(m);

		if (err)
			return err;
	}
	slot = map_slot(m, key);
	if (slot->epoch != m->epoch) {
		slot->epoch = m->epoch;
		slot->key = key;
		m->used++;
	}
	slot->value = value;
	return 0;
}

/* The overhead of malloc() beside the text. */
#define STRING_COST	24

struct text {
	const char *text;
	size_t len;
};

static bool text_eq(const void *ctx, uint32_t index, const void *key)
{
	const struct gprof_strings *s = ctx;
	const struct text *t = key;

	return !strncmp(s->v[index], t->text, t->len) && !s->v[index][t->len];
}

int gprof_strings_init(struct gprof_strings *s)
{
	memset(s, 0, sizeof(*s));
	gprof_table_init(&s->table);
	return gprof_strings_add(s, "", 0) == GPROF_NONE ? -ENOMEM : 0;
}

void gprof_strings_free(struct gprof_strings *s)
{
	size_t i;

	for (i = 0; i < s->nr; i++)
		free(s->v[i]);
	free(s->v);
	gprof_table_free(&s->table);
	memset(s, 0, sizeof(*s));
}

uint32_t gprof_strings_find(const struct gprof_strings *s, const char *text, size_t len,
			    uint64_t *hash)
{
	struct text key = { text, len };

	*hash = gprof_hash_bytes(s->table.seed, text, len);
	return gprof_table_find(&s->table, *hash, text_eq, s, &key);
}

uint32_t gprof_strings_add(struct gprof_strings *s, const char *text, size_t len)
{
	uint64_t hash;
	uint32_t index;

	len = strnlen(text, len);
	index = gprof_strings_find(s, text, len, &hash);
	return index != GPROF_NONE ? index : gprof_strings_add_new(s, text, len, hash);
}

uint32_t gprof_strings_add_new(struct gprof_strings *s, const char *text, size_t len,
			       uint64_t hash)
{
	struct text key = { text, len };
	struct gprof_budget *b = s->table.budget;
	char *copy;

	if (s->nr >= GPROF_NONE - 1 ||
	    gprof_grow_within(b, &s->v, &s->cap, s->nr + 1, sizeof(*s->v)) ||
	    gprof_budget_charge(b, key.len + STRING_COST))
		return GPROF_NONE;
	copy = strndup(text, key.len);
	if (!copy || gprof_table_insert(&s->table, hash, s->nr)) {
		gprof_budget_uncharge(b, key.len + STRING_COST);
		free(copy);
		return GPROF_NONE;
	}
	s->v[s->nr] = copy;
	return s->nr++;
}

static uint64_t string_hash(const struct gprof_strings *s, const char *text)
{
	return gprof_hash_bytes(s->table.seed, text, strlen(text));
}

int gprof_strings_keep(struct gprof_strings *s, uint32_t *numbers)
{
	struct gprof_table table = { .seed = s->table.seed, .budget = s->table.budget };
	uint32_t nr = 0;
	size_t i;
	int err = 0;

	numbers[0] = 0;
	for (i = 0; i < s->nr && !err; i++)
		if (numbers[i] != GPROF_NONE)
			err = gprof_table_insert(&table, string_hash(s, s->v[i]), nr++);
	if (err) {
		gprof_table_free(&table);
		return err;
	}
	for (i = 0, nr = 0; i < s->nr; i++) {
		if (numbers[i] == GPROF_NONE) {
			gprof_budget_uncharge(s->table.budget, strlen(s->v[i]) + STRING_COST);
			free(s->v[i]);
			continue;
		}
		s->v[nr] = s->v[i];
		numbers[i] = nr++;
	}
	s->nr = nr;
	gprof_table_free(&s->table);
	s->table = table;
	return 0;
}
