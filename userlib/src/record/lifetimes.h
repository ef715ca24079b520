/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * lifetimes.h: when sampled objects began and ended, and so the memory in use over time.
 *
 * Samples tell of begins; ends are in the object table, or in the sample of the next object of
 * the slot. Both become changes, which are applied in the order of their times: that gives the
 * memory in use at each moment, its peak, and the part of each count in it.
 */
#ifndef GPROF_LIFETIMES_H
#define GPROF_LIFETIMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "device/decode.h"
#include "device/object_table.h"
#include "profile/profile.h"

#define GPROF_LIFETIMES_STEPS	512
#define GPROF_LIFETIMES_STEP_NS	1000000ULL	/* at the begin; it doubles */
#define GPROF_SHORT_LIFE_NS	1000000ULL

/**
 * struct gprof_sampled_object - a sampled object
 * @live: word of its slot
 * @time: begin, ns
 * @ended_before: end of the object that had the slot before; 0: unknown
 * @value: bytes that it stands for
 * @weight: objects that it stands for
 * @count: index of its count
 * @open: its end is not known; of the newest object of a slot
 * @overtaken: the slot has another object already, whose sample was not read
 */
struct gprof_sampled_object {
	uint64_t live;
	uint64_t time;
	uint64_t ended_before;
	uint64_t value;
	uint64_t weight;
	uint32_t count;
	bool open;
	bool overtaken;
};

/**
 * struct gprof_object_change - an object begins or ends
 * @time: ns
 * @value: bytes
 * @weight: objects
 * @count: index of the count
 * @end: it ends
 * @brief: it ends within GPROF_SHORT_LIFE_NS
 */
struct gprof_object_change {
	uint64_t time;
	uint64_t value;
	uint64_t weight;
	uint32_t count;
	bool end;
	bool brief;
};

/**
 * struct gprof_in_use - the part of a count
 * @value: bytes in use now
 * @weight: objects in use now
 * @peak_value: bytes at the peak, if @changed is behind it; else @value is
 * @peak_weight: objects, likewise
 * @changed: number of its last change
 * @marked_value: bytes that were in use at the mark
 * @marked_weight: objects, likewise
 * @brief: objects that lived for less than GPROF_SHORT_LIFE_NS
 */
struct gprof_in_use {
	uint64_t value;
	uint64_t weight;
	uint64_t peak_value;
	uint64_t peak_weight;
	uint64_t marked_value;
	uint64_t marked_weight;
	uint64_t changed;
	uint64_t brief;
};

/**
 * struct gprof_lifetimes - those of a builder's samples
 * @on: they are wanted
 * @fresh: samples since the last update
 * @newest: of each slot that was used, its newest object
 * @by_slot: index in that of each slot
 * @changes: those that are not applied
 * @parts: by count
 * @change: number of the last change that was applied
 * @peak_change: ... of the one that made the peak
 * @now: all bytes in use, after the last change
 * @now_weight: all objects
 * @peak: the most bytes in use at one moment
 * @peak_weight: objects in use at that moment
 * @peak_ns: that moment; 0: there was none
 * @mark_ns: moment after which growth is asked for, from @from_ns on; 0: none
 * @marked: it has come
 * @from_ns: begin of the first step; 0: none yet
 * @step_ns: length of a step
 * @steps: the most bytes in use in each step
 * @nr_steps: how many there are
 * @begun: objects that began
 * @brief: ... and lived for less than GPROF_SHORT_LIFE_NS
 * @guessed: objects whose end lies between two known times
 * @updated_ns: the last update
 */
struct gprof_lifetimes {
	bool on;
	GPROF_ARRAY(struct gprof_sampled_object, fresh);
	GPROF_ARRAY(struct gprof_sampled_object, newest);
	struct gprof_map64 by_slot;
	GPROF_ARRAY(struct gprof_object_change, changes);
	GPROF_ARRAY(struct gprof_in_use, parts);
	uint64_t change;
	uint64_t peak_change;
	uint64_t now;
	uint64_t now_weight;
	uint64_t peak;
	uint64_t peak_weight;
	uint64_t peak_ns;
	uint64_t mark_ns;
	bool marked;
	uint64_t from_ns;
	uint64_t step_ns;
	uint64_t steps[GPROF_LIFETIMES_STEPS];
	size_t nr_steps;
	uint64_t begun;
	uint64_t brief;
	uint64_t guessed;
	uint64_t updated_ns;
};

/** gprof_lifetimes_init() - none; @on: they are wanted, with a mark @mark_ns after the begin, or 0 */
void gprof_lifetimes_init(struct gprof_lifetimes *l, bool on, uint64_t mark_ns);

/** gprof_lifetimes_note() - a sample of an object; @value and @weight as of a count; 0 or -ENOMEM */
int gprof_lifetimes_note(struct gprof_lifetimes *l, const struct gprof_decoded *s, uint64_t value,
			 uint32_t count);

/**
 * gprof_lifetimes_update() - find ends, and apply changes
 * @l: lifetimes
 * @t: table, which the kernel may be changing
 * @now: of this update, ns; all samples of before were noted
 * @until: changes up to here are known, ns
 *
 * Return: 0 or -ENOMEM.
 */
int gprof_lifetimes_update(struct gprof_lifetimes *l, const struct gprof_object_table *t,
			 uint64_t now, uint64_t until);

/** gprof_lifetimes_part() - that of a count, with its part of the peak; all 0: it has none */
struct gprof_in_use gprof_lifetimes_part(const struct gprof_lifetimes *l, uint32_t count);

/**
 * gprof_lifetimes_renumber() - counts have other numbers, and the peak begins anew
 * @l: lifetimes of which all changes were applied
 * @numbers: by the number before; GPROF_NONE: nothing of that count is live
 * @nr: how many
 *
 * Return: 0 or -ENOMEM, all being left as it was.
 */
int gprof_lifetimes_renumber(struct gprof_lifetimes *l, const uint32_t *numbers, size_t nr);

void gprof_lifetimes_free(struct gprof_lifetimes *l);

#endif /* GPROF_LIFETIMES_H */
