/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * time_range: a store's items of a span of time, and one profile of them.
 *
 * Names are the index, so only the hours that matter are read. It is read while another process
 * writes.
 */
#ifndef GPROF_TOOLS_STORE_TIME_RANGE_H
#define GPROF_TOOLS_STORE_TIME_RANGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <gprof/profile.h>

#include "store_dir.h"

/* No item is longer. */
#define ITEM_LONGEST_NS	(3600 * 1000000000ULL)

/**
 * struct time_range - a span of time
 * @dir: store
 * @from_ns: CLOCK_REALTIME
 * @to_ns: likewise; it is not of it
 * @items: in it, sorted by time
 * @nr: how many
 * @rollups: that stand for items, sorted by time: @name, and how many of its items are there still
 * @nr_rollups: how many
 * @times: set by the caller: time_range_merge() labels samples with the time of their recording
 *	(label time, from the first on), and reads a rollup only where items are gone
 * @bad: hours that could not be read, which are said
 */
struct time_range {
	const struct store_dir *dir;
	uint64_t from_ns;
	uint64_t to_ns;
	struct item_name *items;
	size_t nr;
	struct time_range_rollup {
		struct item_name name;
		size_t there;
	} *rollups;
	size_t nr_rollups;
	bool times;
	size_t bad;
};

/**
 * time_range_scan() - find items that overlap it, wholly or in part
 * @w: with @dir, @from_ns and @to_ns; for time_range_free(), also on failure
 * @type: of this type alone, or NULL
 *
 * A rollup is of it where all its ten minutes are, or where some of its items are there no more.
 *
 * Return: 0 or -errno.
 */
int time_range_scan(struct time_range *w, const char *type);
void time_range_free(struct time_range *w);

/**
 * time_range_read() - contents of an item
 * @data: gets it, for free()
 *
 * Return: 0 or -errno, as store_dir_read().
 */
int time_range_read(const struct time_range *w, const struct item_name *n, void **data,
		    size_t *size);

/**
 * time_range_next() - one recording after the other, each once
 * @i: where to look on, from 0
 * @r: likewise
 *
 * Return: an item, or a rollup of which some items are there no more; NULL at the end.
 */
const struct item_name *time_range_next(const struct time_range *w, size_t *i, size_t *r);

/**
 * time_range_profile() - one of them as a profile
 * @service: of this service alone (label service.name), or NULL
 * @p: gets it, for gprof_profile_free()
 *
 * Return: 0, -ENOMEM after a sentence, or another -errno where it cannot be read.
 */
int time_range_profile(const struct time_range *w, const struct item_name *n, const char *service,
		       struct gprof_profile **p);

/**
 * struct time_range_sum - one profile of all
 * @merged: it, for gprof_profile_free(); NULL where there is nothing
 * @used: items in it
 * @damaged: items that could not be read
 * @in_place: rollups that could not be read, in place of which items were
 * @ns: how long was recorded
 */
struct time_range_sum {
	struct gprof_profile *merged;
	size_t used;
	size_t damaged;
	size_t in_place;
	uint64_t ns;
};

/**
 * time_range_merge() - merge the profiles
 * @w: behind time_range_scan()
 * @service: of this service alone (label service.name), or NULL
 * @sum: gets it
 *
 * Rollups are read in place of their items. Memory is that of some of the profiles, and of their
 * sum. Those that are damaged are left out, with a sentence for the first. Memory in use (inuse_*)
 * is that of the last.
 *
 * Return: STATUS_OK, or STATUS_FAILED after a sentence.
 */
int time_range_merge(const struct time_range *w, const char *service, struct time_range_sum *sum);

#endif /* GPROF_TOOLS_STORE_TIME_RANGE_H */
