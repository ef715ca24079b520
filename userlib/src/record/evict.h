/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * evict.h: eviction of program runs that are over, in long recordings.
 *
 * The state of a program run, its mappings, stacks and tasks, is needed for its samples alone.
 * Once it is over, and all that the kernel told of it is read, these become samples of the
 * profile, where those of one program fall together, however often it was executed. Samples of
 * live objects are kept, as the profile will say whether they still are.
 */
#ifndef GPROF_EVICT_H
#define GPROF_EVICT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "builder.h"
#include "device/decode.h"

/* About the memory of a builder at which it looks for runs that are over. */
#define GPROF_EVICT_BYTES	(16U << 20)
/* Likewise where profiles are taken all the time, as long as it records. */
#define GPROF_EVICT_NEXT_BYTES	(1U << 20)

/**
 * struct gprof_eviction - of one builder
 * @max: bytes; more where the needed part is as large
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
 * gprof_eviction_next() - a profile was taken, and less is needed than before
 * @a: state
 */
void gprof_eviction_next(struct gprof_eviction *a);

/**
 * gprof_evict() - forget program runs that are over, where there are many
 * @a: state
 * @b: builder
 * @columns: columns of its profile
 * @live: the object table, whose samples are needed yet; without a head where there is none
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
