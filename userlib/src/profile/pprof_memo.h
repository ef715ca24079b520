/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * pprof_memo.h: sets of labels by the bytes that they are in a pprof file.
 *
 * A million samples have a few hundred sets of labels: a set that was read once is found by its
 * bytes, and not parsed again.
 */
#ifndef GPROF_PPROF_MEMO_H
#define GPROF_PPROF_MEMO_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/table.h"

#define GPROF_MEMO_SLOTS	4096
#define GPROF_MEMO_BYTES	1024	/* longer ones are not kept */

/**
 * struct gprof_memo - a set in each slot, the latest
 * @slots: bytes in the file, and the number of their set; NULL: not used, or no memory
 * @seed: of the hash
 */
struct gprof_memo {
	struct gprof_memo_slot {
		const unsigned char *bytes;
		uint32_t len;
		uint32_t set;
	} *slots;
	uint64_t seed;
};

static inline void gprof_memo_free(struct gprof_memo *m)
{
	free(m->slots);
	m->slots = NULL;
}

/**
 * gprof_memo_slot() - where a set of these bytes is, or belongs
 *
 * Return: the slot, for gprof_memo_is() and to be set; NULL: it is not kept.
 */
static inline struct gprof_memo_slot *gprof_memo_slot(struct gprof_memo *m,
						      const unsigned char *bytes, size_t len)
{
	if (!len || len > GPROF_MEMO_BYTES)
		return NULL;
	if (!m->slots)
		m->slots = calloc(GPROF_MEMO_SLOTS, sizeof(*m->slots));
	if (!m->slots)
		return NULL;
	return &m->slots[gprof_hash_bytes(m->seed, bytes, len) % GPROF_MEMO_SLOTS];
}

static inline bool gprof_memo_is(const struct gprof_memo_slot *s, const unsigned char *bytes,
				 size_t len)
{
	return s->bytes && s->len == len && !memcmp(s->bytes, bytes, len);
}

#endif /* GPROF_PPROF_MEMO_H */
