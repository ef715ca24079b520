/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * evict.h: long recordings forget what they no longer need.
 *
 * What is known of a program run, its mappings, stacks and tasks, is needed for its samples
 * alone. Once it is over, and all that the kernel told of it is read, these become samples
 * of the profile, where those of one program fall together, however often it was executed.
 * Samples of what is live yet are kept, as the profile will say whether it is so then.
 */
#ifndef GPROF_EVICT_H
#define GPROF_EVICT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "builder.h"
#include "device/decode.h"

/* About what a builder may take until it is looked at what of it is over. */
#define GPROF_EVICT_BYTES	(16U << 20)
/* Likewise where profiles are taken all the time, as long as it records. */
#define GPROF_EVICT_NEXT_BYTES	(1U << 20)

/**
 * struct gprof_eviction - of one builder
 * @max: bytes; more where what is needed takes as much
 * @needed: bytes that were left when it was last forgotten
 * @over: program runs, by their hash, that were over when all rings were read last
 * @marked: @over says which
 * @goes_on: profiles are taken of it meanwhile
 */
struct gprof_eviction {
	size_t max;
	size_t needed;
	struct gprof_map64 over;
	bool marked;
	bool goes_on;
};

void gprof_eviction_init(struct gprof_eviction *a);
void gprof_eviction_free(struct gprof_eviction *a);

/**
 * gprof_eviction_next() - a profile was taken, and what is needed is less than before
 * @a: state
 */
void gprof_eviction_next(struct gprof_eviction *a);

/**
 * gprof_evict() - forget what is over, where there is much
 * @a: state
 * @b: builder
 * @columns: what the values of its profile are
 * @live: the kernel's table of what is live, of which samples are needed yet; without a
 *	head where there is none
 * @decoders: those that feed it
 * @nr: how many
 *
 * To be called each time that all rings were read to their end.
 *
 * Return: 0 or -ENOMEM.
 *
 * Context: A file in /proc is read for each process, at times.
 */
int gprof_evict(struct gprof_eviction *a, struct gprof_builder *b,
		const struct gprof_columns *columns, const struct gprof_object_table *live,
		struct gprof_decoder *decoders, size_t nr);

#endif /* GPROF_EVICT_H */
