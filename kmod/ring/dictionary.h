/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * dictionary: keys that a generation has already told, on one CPU.
 *
 * Maps keys (arrays of 64-bit words: a stack, a task's name) to ids. Exact:
 * keys are compared, a hash alone is never trusted. Compiles in user space too.
 */
#ifndef GPROF_DICTIONARY_H
#define GPROF_DICTIONARY_H

#include "u64_array.h"

#include <asm/local64.h>
#include <linux/compiler.h>
#include <linux/types.h>

/**
 * struct gprof_dictionary - memory of a dictionary
 * @slots: hash table, a power of two of words
 * @nr_slots: how many
 * @arena: keys
 * @nr_words: words in @arena, below 2^24
 * @used: generation (16 bits) and words used in @arena (48 bits)
 * @scrubbed: slot at which the next scrub begins; outermost producer
 *
 * Written by the owning CPU only.
 */
struct gprof_dictionary {
	local64_t *slots;
	u32 nr_slots;
	u64 *arena;
	u32 nr_words;
	local64_t used;
	u32 scrubbed;
};

/**
 * struct gprof_lookup - a key that was looked up
 * @id: its id; 0: unknown, and the dictionary is full
 * @known: the id was there already
 * @slot: where the id goes when it was not
 * @old: content of the slot
 * @new: content that it will have
 */
struct gprof_lookup {
	u32 id;
	bool known;
	u32 slot;
	u64 old;
	u64 new;
};

void gprof_dictionary_lookup(struct gprof_dictionary *d, u16 generation, const u64 *key, u32 words,
			     struct gprof_lookup *l);
bool gprof_dictionary_commit(struct gprof_dictionary *d, const struct gprof_lookup *l);
void gprof_dictionary_scrub(struct gprof_dictionary *d, u16 generation);

/* For the functions below. */
#define GPROF_DICT_GENERATION	48	/* from this bit on */
#define GPROF_DICT_PLACE	24
#define GPROF_DICT_FIELD	((1ULL << 24) - 1)

static inline u16 gprof_dict_generation(u64 slot)
{
	return slot >> GPROF_DICT_GENERATION;
}

static inline u32 gprof_dict_place(u64 slot)
{
	return slot >> GPROF_DICT_PLACE & GPROF_DICT_FIELD;
}

/**
 * gprof_dictionary_key() - the key that an id stands for
 * @d: dictionary
 * @id: one that was found or committed in the current generation
 *
 * Context: A producer of the CPU's buffer.
 */
static inline const u64 *gprof_dictionary_key(const struct gprof_dictionary *d, u32 id)
{
	return d->arena + id + 1;
}

/**
 * gprof_dictionary_find() - the id of a short key, where it is in the first place looked at
 * @d: dictionary
 * @generation: as gprof_buffer_begin() returned it
 * @key: words of the key
 * @words: how many; only keys of 3 to 6 words are found
 *
 * Most stacks are as short, most are there: this does without a call and without loops.
 *
 * Context: A producer of the CPU's buffer.
 * Return: its id, or 0: ask gprof_dictionary_lookup().
 */
static __always_inline u32 gprof_dictionary_find(const struct gprof_dictionary *d,
						 u16 generation, const u64 *key, u32 words)
{
	const u64 *stored;
	u64 hash, slot;
	u32 place;

	if (words - 3 > 3)
		return 0;
	hash = gprof_u64_hash(gprof_u64_hash(gprof_u64_hash(words, key[0]), key[1]), key[2]);
	if (words > 3) {
		hash = gprof_u64_hash(hash, key[3]);
		if (words > 4) {
			hash = gprof_u64_hash(hash, key[4]);
			if (words > 5)
				hash = gprof_u64_hash(hash, key[5]);
		}
	}
	slot = local64_read(&d->slots[gprof_u64_array_hashed(hash) & (d->nr_slots - 1)]);
	if (gprof_dict_generation(slot) != generation)
		return 0;
	/* Where there is no key the first word is 0. */
	place = gprof_dict_place(slot);
	stored = d->arena + place;
	if (stored[3] != key[2] || stored[0] != words || stored[1] != key[0] ||
	    stored[2] != key[1])
		return 0;
	if (words > 3 && stored[4] != key[3])
		return 0;
	if (unlikely(words > 4) && (stored[5] != key[4] || (words > 5 && stored[6] != key[5])))
		return 0;
	return place;
}

#endif /* GPROF_DICTIONARY_H */
