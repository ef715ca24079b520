/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * address_samples.h: samples by stack, and the mappings of their addresses.
 */
#ifndef GPROF_ADDRESS_SAMPLES_H
#define GPROF_ADDRESS_SAMPLES_H

#include <linux/gprof.h>
#include <stddef.h>
#include <stdint.h>

#include "base/table.h"
#include "device/decode.h"
#include "device/stacks.h"

/**
 * struct gprof_address_map - an executable mapping of a program run
 * @process: the program run
 * @unmapped: how often code had been unmapped there; while this is the same, nothing of it was
 *	replaced
 * @start: first address
 * @end: address after the last
 * @offset: file offset of @start
 * @path: number of the path in the texts
 * @build_id: number of the build-id in the texts, in hexadecimal
 */
struct gprof_address_map {
	struct gprof_process process;
	uint64_t unmapped;
	uint64_t start;
	uint64_t end;
	uint64_t offset;
	uint32_t path;
	uint32_t build_id;
};

/** struct gprof_address_count - samples of a stack, and the events that they stand for */
struct gprof_address_count {
	uint64_t samples;
	uint64_t weight;
};

/**
 * struct gprof_address_order - a mapping, in the order of processes, times and addresses
 * @reach: the largest end of it and those before it of that process and time
 * @map: its index
 */
struct gprof_address_order {
	uint64_t reach;
	uint32_t map;
};

/**
 * struct gprof_address_samples - samples by stack
 * @stacks: each once
 * @counts: by number of the stack
 * @nr_counts: as many as stacks
 * @cap_counts: room
 * @none: samples without a stack
 * @maps: each once, in the order in which they came
 * @nr_maps: how many
 * @cap_maps: room
 * @maps_table: finds them
 * @order: all of them, sorted
 * @cap_order: room
 * @texts: paths and build-ids; later all texts of the profile
 */
struct gprof_address_samples {
	struct gprof_stacks stacks;
	struct gprof_address_count *counts;
	size_t nr_counts;
	size_t cap_counts;
	struct gprof_address_count none;
	struct gprof_address_map *maps;
	size_t nr_maps;
	size_t cap_maps;
	struct gprof_table maps_table;
	struct gprof_address_order *order;
	size_t cap_order;
	struct gprof_strings texts;
};

/** gprof_address_ops - functions for a decoder; its context is the samples */
extern const struct gprof_decode_ops gprof_address_ops;

/** gprof_address_samples_init() - none yet; 0 or -ENOMEM; gprof_address_samples_free() in any case */
int gprof_address_samples_init(struct gprof_address_samples *s);
void gprof_address_samples_free(struct gprof_address_samples *s);

/** gprof_address_maps_sort() - before gprof_address_map_of(), when all are there; 0 or -ENOMEM */
int gprof_address_maps_sort(struct gprof_address_samples *s);

/**
 * gprof_address_map_of() - index of the mapping of a stack's user address, or GPROF_NONE
 *
 * Where there are several readings of one mapping it is one with a build-id.
 */
uint32_t gprof_address_map_of(const struct gprof_address_samples *s,
			      const struct gprof_stack *stack, uint64_t addr);

#endif /* GPROF_ADDRESS_SAMPLES_H */
