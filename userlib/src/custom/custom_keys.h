/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * custom_keys.h: which stack each thing was added with; things come and go.
 */
#ifndef GPROF_CUSTOM_KEYS_H
#define GPROF_CUSTOM_KEYS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct gprof_custom_key {
	uint64_t key;
	uint32_t stack;
	bool used;
};

/**
 * struct gprof_custom_keys - things
 * @v: slots; one that is taken stands at its place, or behind it without a gap
 * @size: how many, a power of two, or 0
 * @nr: of these are taken
 * @seed: for the hash
 */
struct gprof_custom_keys {
	struct gprof_custom_key *v;
	size_t size;
	size_t nr;
	uint64_t seed;
};

void gprof_custom_keys_init(struct gprof_custom_keys *k);
void gprof_custom_keys_free(struct gprof_custom_keys *k);

/** gprof_custom_keys_has() - is it there? */
bool gprof_custom_keys_has(const struct gprof_custom_keys *k, uint64_t key);

/** gprof_custom_keys_room() - have room for one more; 0 or -ENOMEM */
int gprof_custom_keys_room(struct gprof_custom_keys *k);

/** gprof_custom_keys_put() - add one that is not there; there is room */
void gprof_custom_keys_put(struct gprof_custom_keys *k, uint64_t key, uint32_t stack);

/** gprof_custom_keys_remove() - take one away; false: it is not there */
bool gprof_custom_keys_remove(struct gprof_custom_keys *k, uint64_t key, uint32_t *stack);

#endif /* GPROF_CUSTOM_KEYS_H */
