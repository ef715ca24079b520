/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * live_samples.h: samples of objects in the object table.
 */
#ifndef GPROF_LIVE_SAMPLES_H
#define GPROF_LIVE_SAMPLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/table.h"
#include "device/object_table.h"

/**
 * struct gprof_live_sample - the newest sample that names a slot of the table
 * @live: the word by which it does; 0: none
 * @count: index of its count
 */
struct gprof_live_sample {
	uint64_t live;
	uint32_t count;
};

/**
 * struct gprof_live_samples - those of all slots, as many as there are in the table
 * @v: by slot
 * @nr: how many
 * @cap: room
 * @max: slots of the table; 0: there is none, and nothing is noted
 */
struct gprof_live_samples {
	struct gprof_live_sample *v;
	size_t nr;
	size_t cap;
	size_t max;
};

/**
 * struct gprof_live_unsampled - live objects without a sample
 * @objects: how many, by their weights
 * @value: of them
 * @full: samples that had no slot, for the table was full
 * @unseen: ends that the kernel did not tell
 */
struct gprof_live_unsampled {
	uint64_t objects;
	uint64_t value;
	uint64_t full;
	uint64_t unseen;
};

/** gprof_live_samples_note() - a sample names a slot, of the table or of none; 0 or -ENOMEM */
int gprof_live_samples_note(struct gprof_live_samples *l, uint64_t live, uint32_t count);

/**
 * gprof_live_samples_scan() - find the live ones
 * @l: samples; all of before this look, but for lost ones
 * @t: table
 * @add: called for each that is
 * @ctx: for @add
 * @unknown: gets live objects that are none of them
 */
void gprof_live_samples_scan(const struct gprof_live_samples *l, const struct gprof_object_table *t,
			     void (*add)(void *ctx, uint32_t count,
					 const struct gprof_object_slot *slot),
			     void *ctx, struct gprof_live_unsampled *unknown);

/**
 * gprof_live_samples_needed() - which counts have something live
 * @l: samples
 * @t: table, or one without a head: all that it might hold is live
 * @needed: by the number of a count, unset; those are set
 *
 * A freed object is never live again: the word of its slot does not come back.
 */
void gprof_live_samples_needed(const struct gprof_live_samples *l,
			       const struct gprof_object_table *t, bool *needed);

/**
 * gprof_live_samples_renumber() - counts have other numbers
 * @l: samples
 * @numbers: by the number before; GPROF_NONE: nothing of that count is live
 */
void gprof_live_samples_renumber(struct gprof_live_samples *l, const uint32_t *numbers);

void gprof_live_samples_free(struct gprof_live_samples *l);

#endif /* GPROF_LIVE_SAMPLES_H */
