/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * dictionary: what a generation has already said, on one CPU.
 *
 * Maps keys (arrays of 64-bit words: a stack, a task's name) to ids. Exact:
 * keys are compared, a hash alone is never trusted. Compiles in user space too.
 */
#ifndef GPROF_DICTIONARY_H
#define GPROF_DICTIONARY_H

#include <asm/local64.h>
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
 * @old: what was there
 * @new: what will be there
 */
struct gprof_lookup {
	u32 id;
	bool known;
	u32 slot;
	u64 old;
	u64 new;
};

bool gprof_dictionary_is(const struct gprof_dictionary *d, u32 id, const u64 *key, u32 words);
u32 gprof_dictionary_find(const struct gprof_dictionary *d, u16 generation, const u64 *key,
			  u32 words);
void gprof_dictionary_look_up(struct gprof_dictionary *d, u16 generation, const u64 *key,
			      u32 words, struct gprof_lookup *l);
void gprof_dictionary_commit(struct gprof_dictionary *d, const struct gprof_lookup *l);
void gprof_dictionary_scrub(struct gprof_dictionary *d, u16 generation);

#endif /* GPROF_DICTIONARY_H */
