// SPDX-License-Identifier: GPL-2.0-only
/*
 * dictionary: an open-addressed table of one-word slots over an arena of keys.
 *
 * slot:  generation (16 bits) | place of the key in the arena (24) | hash (24)
 * arena: number of words, then the key
 *
 * A slot whose generation is not the current one is free; so a new generation
 * costs nothing. Generations are told apart by 16 bits; slots that would
 * survive for 65536 generations are scrubbed away, a part at each cut.
 *
 * Nesting. A new key goes through look_up, which copies it into the arena,
 * then the caller writes the record that defines the id, then commit, which
 * makes it known by one compare-exchange. An NMI in between does not see it
 * and defines the same key under another id, which is as true. A place in the
 * arena belongs to the producer that moved @used over it.
 *
 * The reservation word of buffer.c guarantees that all of this happens within
 * one generation.
 */
#include "dictionary.h"

#include <linux/bitops.h>
#include <linux/compiler.h>

#define PROBES		8	/* slots tried before the table counts as full */
#define SCRUB_PARTS	256

#define GENERATION	48	/* of a slot, from this bit on */
#define PLACE		24
#define FIELD		((1ULL << 24) - 1)
#define USED_MASK	((1ULL << GENERATION) - 1)

static u16 generation_of(u64 slot)
{
	return slot >> GENERATION;
}

static u32 place_in(u64 slot)
{
	return slot >> PLACE & FIELD;
}

static u64 hash_tag(u64 hash)
{
	return hash >> 32 & FIELD;
}

/* Does the place hold this key? */
static __always_inline bool holds(const struct gprof_dictionary *d, u32 place, const u64 *key,
				  u32 words)
{
	const u64 *stored = d->arena + place;

	return stored[0] == words && gprof_u64_array_same(stored + 1, key, words);
}

/* The place of @words words below @end, or 0. Place 0 is never used: it marks free slots. */
static u32 allocate_entry(struct gprof_dictionary *d, u16 generation, u32 words, u64 end)
{
	u64 old, used;

	do {
		old = local64_read(&d->used);
		used = generation_of(old) == generation ? old & USED_MASK : 0;
		if (!used)
			used = 1;
		if (used + words > end)
			return 0;
	} while ((u64)local64_cmpxchg(&d->used, old,
				      (u64)generation << GENERATION | (used + words)) != old);
	return used;
}

/**
 * gprof_dictionary_spare() - an id that no key has
 * @d: dictionary
 * @generation: as gprof_buffer_begin() returned it
 *
 * For a stack that finds no place, or whose callers find none. When the arena is used up these
 * numbers go on.
 *
 * Context: A producer of the CPU's buffer.
 */
u32 gprof_dictionary_spare(struct gprof_dictionary *d, u16 generation)
{
	return allocate_entry(d, generation, 1, ~0U);
}

/* The id of a key, or 0; then @l has the slot where it goes, @d->nr_slots where there is none. */
static __always_inline u32 find_key(const struct gprof_dictionary *d, u16 generation,
				    const u64 *key, u32 words, u64 hash, struct gprof_lookup *l)
{
	u64 tag = hash_tag(hash);
	u32 i;

	for (i = 0; i < PROBES; i++) {
		u32 n = (hash + i) & (d->nr_slots - 1);
		u64 slot = local64_read(&d->slots[n]);
		u32 place = place_in(slot);

		if (generation_of(slot) != generation || !place) {
			l->slot = n;
			l->old = slot;
			return 0;
		}
		if ((slot & FIELD) == tag && holds(d, place, key, words))
			return place;
	}
	l->slot = d->nr_slots;
	return 0;
}

/**
 * gprof_dictionary_find() - find a key
 * @d: dictionary
 * @generation: as gprof_buffer_begin() returned it
 * @key: words of the key
 * @words: how many
 *
 * Context: A producer of the CPU's buffer.
 * Return: its id, or 0.
 */
u32 gprof_dictionary_find(const struct gprof_dictionary *d, u16 generation, const u64 *key,
			  u32 words)
{
	struct gprof_lookup l;

	return find_key(d, generation, key, words, gprof_u64_array_hash(key, words), &l);
}

/**
 * gprof_dictionary_lookup() - find a key, or prepare to add it
 * @d: dictionary
 * @generation: as gprof_buffer_begin() returned it
 * @key: words of the key
 * @words: how many
 * @l: result. When not @l->known and @l->id is not 0, the caller defines the id
 *	in the buffer and then calls gprof_dictionary_commit(); an id that could
 *	not be defined is left alone and its place in the arena is wasted until
 *	the next generation.
 *
 * Context: A producer of the CPU's buffer.
 */
void gprof_dictionary_lookup(struct gprof_dictionary *d, u16 generation, const u64 *key, u32 words,
			     struct gprof_lookup *l)
{
	u64 hash = gprof_u64_array_hash(key, words);

	l->id = find_key(d, generation, key, words, hash, l);
	l->known = l->id;
	if (l->known || l->slot == d->nr_slots)
		return;
	l->id = allocate_entry(d, generation, words + 1, d->nr_words);
	if (!l->id)
		return;
	d->arena[l->id] = words;
	gprof_u64_array_copy(d->arena + l->id + 1, key, words);
	l->new = (u64)generation << GENERATION | (u64)l->id << PLACE | hash_tag(hash);
}

/**
 * gprof_dictionary_commit() - make an id known that the buffer now defines
 * @d: dictionary
 * @l: result of gprof_dictionary_lookup()
 *
 * When an NMI took the slot meanwhile, the key stays unknown and gets another
 * id next time.
 *
 * Context: As gprof_dictionary_lookup(), the same producer.
 * Return: whether it is known now.
 */
bool gprof_dictionary_commit(struct gprof_dictionary *d, const struct gprof_lookup *l)
{
	barrier();	/* the key is in the arena before an interrupt can find it */
	return (u64)local64_cmpxchg(&d->slots[l->slot], l->old, l->new) == l->old;
}

/**
 * gprof_dictionary_scrub() - free slots that outlived their generation by far
 * @d: dictionary
 * @generation: the current generation
 *
 * To be called once per generation.
 *
 * Context: Outermost producer.
 */
void gprof_dictionary_scrub(struct gprof_dictionary *d, u16 generation)
{
	u32 part = d->nr_slots / SCRUB_PARTS ?: 1;

	while (part--) {
		local64_t *slot = &d->slots[d->scrubbed];
		u64 old = local64_read(slot);

		/* Fails when an NMI just took the slot, which makes it young. */
		if (old && generation_of(old) != generation)
			local64_cmpxchg(slot, old, 0);
		d->scrubbed = (d->scrubbed + 1) & (d->nr_slots - 1);
	}
}
