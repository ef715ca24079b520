/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * builder.h: from decoded records to a profile.
 *
 * While recording: stacks, tasks and samples, each once, with counts; mappings,
 * whose files are opened at once. After it: addresses become locations with
 * names (resolve.h), and samples become those of a profile. Those of programs that
 * are over may do so before (evict.h), and wait for their names there.
 */
#ifndef GPROF_BUILDER_H
#define GPROF_BUILDER_H

#include <stdbool.h>
#include <stdint.h>

#include "aggregate.h"
#include "device/decode.h"
#include "profile/profile.h"

/**
 * struct gprof_columns - columns of a recorder's values
 * @count_type: name of the column that counts samples, or NULL for none
 * @weight_type: name of the column of weights
 * @weight_unit: its unit
 * @period: of the source
 * @main_pid: process whose program is the main one; 0: that with most samples
 * @value_type: name of the column of measured values, or NULL for none; where there is one it is
 *	the default
 * @value_unit: its unit
 * @live_weight_type: name of the column of the live part of @weight_type, or NULL for none
 * @live_value_type: likewise of @value_type; then the default
 * @over_time: columns of the peak of these two, and of objects that live shortly
 * @grown_since_ns: ... and of what they grew by since then, ns after the start; then the default
 * @period_type: type of the period; NULL: @weight_type
 * @period_unit: its unit
 * @by_release: waits for locks are charged to the releases of the lock (lock_waits.h), by the
 *	address that samples have, which is a label of theirs where @addr says so
 * @runnable_type: name of the column of the time from the end of a wait until the task ran, in
 *	nanoseconds, or NULL for none
 * @latency: a column "latency", of the weight divided by how many tasks of the target
 *	ran, in its unit; samples tell that
 */
struct gprof_columns {
	const char *count_type;
	const char *weight_type;
	const char *weight_unit;
	uint64_t period;
	const char *live_weight_type;
	const char *live_value_type;
	const char *period_type;
	const char *period_unit;
	uint32_t main_pid;
	const char *value_type;
	const char *value_unit;
	const char *runnable_type;
	bool latency;
	bool by_release;
	bool addr;
	bool over_time;
	uint64_t grown_since_ns;
};

int gprof_builder_init(struct gprof_builder *b);
void gprof_builder_free(struct gprof_builder *b);

/** gprof_builder_bytes() - its memory, about, beside the profile that is begun */
size_t gprof_builder_bytes(const struct gprof_builder *b);

/** gprof_builder_clear() - forget the samples, not the parts that later ones may refer to */
void gprof_builder_clear(struct gprof_builder *b);

/**
 * gprof_builder_next() - begin the next profile of a recording that goes on
 * @b: builder of which a profile was just made, behind gprof_builder_mark_live()
 *
 * Samples are forgotten, but for those of live objects, which are in the next profile too. They
 * have other numbers then.
 *
 * Return: 0 or -ENOMEM, all being left as it was.
 */
int gprof_builder_next(struct gprof_builder *b);

/**
 * gprof_builder_settle() - have samples in the profile, and no longer in @b->counts
 * @b: builder without instants and without live samples
 * @columns: columns of the values, each time the same
 * @settled: which ones, by their index; those that are not, for want of memory, are unset
 *
 * Before there are more samples, gprof_builder_renumbered() is to be called.
 *
 * Return: 0 or -ENOMEM.
 */
int gprof_builder_settle(struct gprof_builder *b, const struct gprof_columns *columns,
			 bool *settled);

/**
 * gprof_builder_profile() - make a profile of the samples
 * @b: builder
 * @columns: columns of the values
 * @p: result for gprof_profile_free(); caller adds comments and times, and
 *	finishes it
 *
 * Settled samples are in the first profile that is made.
 *
 * Return: 0 or -ENOMEM.
 */
int gprof_builder_profile(struct gprof_builder *b, const struct gprof_columns *columns,
			  struct gprof_profile **p);

#endif /* GPROF_BUILDER_H */
