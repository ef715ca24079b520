/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * table.h: growing arrays and hash tables, the containers of the library.
 *
 * A struct gprof_table finds elements that live in an array of the caller: it
 * holds indexes, the caller compares. A struct gprof_map64 maps numbers to
 * numbers and is emptied in constant time. Both hash with a random seed, since
 * keys may come from a hostile file.
 */
#ifndef GPROF_TABLE_H
#define GPROF_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define GPROF_NONE	UINT32_MAX

/**
 * struct gprof_budget - memory that something read from a stranger may take
 * @used: bytes taken
 * @max: how many may be
 * @exceeded: more were asked for, and refused as if there were none
 */
struct gprof_budget {
	uint64_t used;
	uint64_t max;
	bool exceeded;
};

/** gprof_budget_charge() - take @bytes of it (NULL: there is no limit); 0 or -ENOMEM */
int gprof_budget_charge(struct gprof_budget *b, uint64_t bytes);
void gprof_budget_uncharge(struct gprof_budget *b, uint64_t bytes);

/**
 * gprof_grow() - make room in an array
 * @array: pointer to the array's pointer
 * @cap: its capacity in elements
 * @need: elements that it must hold
 * @size: bytes of an element
 *
 * Return: 0 or -ENOMEM, the array being untouched.
 */
int gprof_grow(void *array, size_t *cap, size_t need, size_t size);

/** gprof_grow_beyond() - gprof_grow_within() where @need is more than @cap */
int gprof_grow_beyond(struct gprof_budget *b, void *array, size_t *cap, size_t need, size_t size);

/** gprof_grow_within() - likewise, of a budget; by less where the rest of it asks so */
static inline int gprof_grow_within(struct gprof_budget *b, void *array, size_t *cap,
				    size_t need, size_t size)
{
	return need <= *cap ? 0 : gprof_grow_beyond(b, array, cap, need, size);
}

/** gprof_sum() - @a + @b, or the largest or smallest number where that does not fit */
static inline int64_t gprof_sum(int64_t a, int64_t b)
{
	int64_t sum;

	if (!__builtin_add_overflow(a, b, &sum))
		return sum;
	return b < 0 ? INT64_MIN : INT64_MAX;
}

uint64_t gprof_hash_bytes(uint64_t seed, const void *data, size_t len);

static inline uint64_t gprof_hash_mix(uint64_t a, uint64_t b)
{
	unsigned __int128 m = (unsigned __int128)a * b;

	return (uint64_t)m ^ (uint64_t)(m >> 64);
}

static inline uint64_t gprof_hash_u64(uint64_t seed, uint64_t value)
{
	return gprof_hash_mix(seed ^ value ^ 0x9e3779b97f4a7c15ULL, 0xd6e8feb86659fd93ULL);
}

/* Half of the hash is enough: it says where the slot is, and the caller compares. */
struct gprof_table_slot {
	uint32_t hash;
	uint32_t number;	/* index + 1; 0: free */
};

/**
 * struct gprof_table - finds elements by their contents
 * @slots: hash and index of an element
 * @size: slots, a power of two, or 0
 * @used: slots in use
 * @seed: for the hash functions
 * @budget: that the slots are taken of, or NULL
 */
struct gprof_table {
	struct gprof_table_slot *slots;
	size_t size;
	size_t used;
	uint64_t seed;
	struct gprof_budget *budget;
};

typedef bool (*gprof_table_eq)(const void *ctx, uint32_t index, const void *key);

void gprof_table_init(struct gprof_table *t);
void gprof_table_free(struct gprof_table *t);
void gprof_table_clear(struct gprof_table *t);

/**
 * gprof_table_find() - index of the element that @eq accepts, or GPROF_NONE
 *
 * Here, so that it asks an @eq of where it is called without a call.
 */
static inline uint32_t gprof_table_find(const struct gprof_table *t, uint64_t hash,
					gprof_table_eq eq, const void *ctx, const void *key)
{
	size_t mask = t->size - 1;
	size_t i;

	hash = (uint32_t)hash;
	if (!t->size)
		return GPROF_NONE;
	for (i = hash & mask; t->slots[i].number; i = (i + 1) & mask)
		if (t->slots[i].hash == hash && eq(ctx, t->slots[i].number - 1, key))
			return t->slots[i].number - 1;
	return GPROF_NONE;
}

/** gprof_table_insert() - add an element that is not there; 0 or -ENOMEM */
int gprof_table_insert(struct gprof_table *t, uint64_t hash, uint32_t index);

struct gprof_map64_slot {
	uint64_t key;
	uint32_t value;
	uint32_t epoch;
};

/**
 * struct gprof_map64 - numbers to numbers
 * @slots: those whose epoch is not @epoch are free
 * @size: slots, a power of two, or 0
 * @used: slots in use
 * @epoch: counts the times that the map was emptied
 * @seed: for the hash
 * @budget: that the slots are taken of, or NULL
 */
struct gprof_map64 {
	struct gprof_map64_slot *slots;
	size_t size;
	size_t used;
	uint32_t epoch;
	uint64_t seed;
	struct gprof_budget *budget;
};

void gprof_map64_init(struct gprof_map64 *m);
void gprof_map64_free(struct gprof_map64 *m);
void gprof_map64_clear(struct gprof_map64 *m);
/** gprof_map64_get() - the value of a key, or GPROF_NONE */
uint32_t gprof_map64_get(const struct gprof_map64 *m, uint64_t key);
/** gprof_map64_each() - show each value, which may be changed, and its key stays */
void gprof_map64_each(struct gprof_map64 *m, void (*each)(void *ctx, uint32_t *value), void *ctx);
/** gprof_map64_put() - set the value of a key; 0 or -ENOMEM */
int gprof_map64_put(struct gprof_map64 *m, uint64_t key, uint32_t value);

/**
 * struct gprof_strings - strings, each once; number 0 is ""
 * @v: the strings
 * @nr: how many
 * @cap: room in @v
 * @table: finds them; its budget is that of all the rest too
 */
struct gprof_strings {
	char **v;
	size_t nr;
	size_t cap;
	struct gprof_table table;
};

/** gprof_strings_init() - empty but for ""; 0 or -ENOMEM */
int gprof_strings_init(struct gprof_strings *s);
void gprof_strings_free(struct gprof_strings *s);
/** gprof_strings_add() - number of a string, or GPROF_NONE without memory */
uint32_t gprof_strings_add(struct gprof_strings *s, const char *text, size_t len);

/** gprof_strings_find() - number of a string of @len bytes that are not 0, or GPROF_NONE; and its hash */
uint32_t gprof_strings_find(const struct gprof_strings *s, const char *text, size_t len,
			    uint64_t *hash);
/** gprof_strings_add_new() - add a new string; its number, or GPROF_NONE without memory */
uint32_t gprof_strings_add_new(struct gprof_strings *s, const char *text, size_t len,
			       uint64_t hash);

/**
 * gprof_strings_keep() - forget strings, so that the others have new numbers
 * @s: strings
 * @numbers: of each: GPROF_NONE: forget it; else gets its new number; "" is kept as number 0
 *
 * Return: 0 or -ENOMEM, all being left as it was.
 */
int gprof_strings_keep(struct gprof_strings *s, uint32_t *numbers);

#endif /* GPROF_TABLE_H */
