/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Keys to numbers: the first key gets 0, the next new one 1, and so on.
 */
#ifndef TOOLS_INTERN_H
#define TOOLS_INTERN_H

#include <stddef.h>
#include <stdint.h>

/**
 * struct intern - a table of keys; all zeroes is an empty one
 * @slots: open hash of entry numbers + 1, 0 is free
 * @nr_slots: a power of two
 * @entries: where each key is, and its hash
 * @nr: number of keys
 * @room: of @entries
 * @pool: bytes of the keys
 * @pool_used: bytes in use
 * @pool_size: bytes there are
 */
struct intern {
	uint32_t *slots;
	size_t nr_slots;
	struct intern_entry {
		uint64_t hash;
		size_t offset;
		size_t length;
	} *entries;
	size_t nr;
	size_t room;
	char *pool;
	size_t pool_used;
	size_t pool_size;
};

/* intern_add() - number of a key, which is added when it is new */
size_t intern_add(struct intern *t, const void *key, size_t length);

/* intern_key() - a key by its number; valid until the next intern_add() */
const void *intern_key(const struct intern *t, size_t i, size_t *length);

void intern_free(struct intern *t);

/* intern_seed() - a secret random number for hashes */
uint64_t intern_seed(void);

#endif /* TOOLS_INTERN_H */
