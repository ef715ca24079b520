/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * dictionary: keys that a generation has already told, on one CPU.
 *
 * Maps keys (arrays of 64-bit words: a stack, a task's name) to ids. Exact:
 * keys are compared, a hash alone is never trusted. Compiles in user space too.
 */
#ifndef GPROF_DICTIONARY_H
#define GPROF_DICTIONARY_H

#include <asm/local64.h>
#include <linux/compiler.h>
#include <linux/hash.h>
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

u32 gprof_dictionary_find(const struct gprof_dictionary *d, u16 generation, const u64 *key,
			  u32 words);
void gprof_dictionary_lookup(struct gprof_dictionary *d, u16 generation, const u64 *key, u32 words,
			     struct gprof_lookup *l);
u32 gprof_dictionary_spare(struct gprof_dictionary *d, u16 generation);
bool gprof_dictionary_commit(struct gprof_dictionary *d, const struct gprof_lookup *l);
void gprof_dictionary_scrub(struct gprof_dictionary *d, u16 generation);

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

/*
 * memcmp() looks at bytes on some kernels, memcpy() may be an instruction that takes
 * long to begin, and both are calls: too much for a few words.
 */
static __always_inline bool gprof_u64_array_same(const u64 *a, const u64 *b, size_t words)
{
	while (words--) {
		if (a[words] != b[words])
			return false;
	}
	return true;
}

/* Returns the end of the copy. Were nothing hidden, the compiler would call memcpy(). */
static __always_inline u64 *gprof_u64_array_copy(u64 *to, const u64 *from, size_t words)
{
	for (; words; words--) {
		*to++ = *from++;
		OPTIMIZER_HIDE_VAR(to);
	}
	return to;
}

/* Neighbours in memory or code differ in low bits, which go far. */
static __always_inline u64 gprof_u64_array_hash(const u64 *words, size_t nr)
{
	u64 h = nr;

	for (; nr; nr--)
		h = (h ^ *words++) * GOLDEN_RATIO_64;
	return h ^ h >> 32;
}

#endif /* GPROF_DICTIONARY_H */
