/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * custom_layout.h: a published profile, as it lies in its file.
 *
 * One process writes, others read; their libraries need not be of one version. The file is a
 * head of one page, and behind it slots, each of which is a stack. It only grows.
 *
 * The writer changes one slot at a time, and has numbers odd meanwhile:
 *
 *	changes = odd, seq = odd	|	read seq, changes
 *	write barrier		A	|	read barrier		D
 *	count, nr, flags, frames	|	copy the slot
 *	write barrier		B	|	read barrier		C
 *	seq = even, changes = even	|	read seq, changes: even, and as they were?
 *
 * A pairs with C, B with D. A slot with the same even number twice has not changed between; the
 * same number of changes of the whole says that all slots are of one instant.
 */
#ifndef GPROF_CUSTOM_LAYOUT_H
#define GPROF_CUSTOM_LAYOUT_H

#include <gprof/custom.h>
#include <stdint.h>

#define GPROF_CUSTOM_MAGIC	0x6d6f747375637067ULL	/* "gpcustom" */
#define GPROF_CUSTOM_VERSION	1
#define GPROF_CUSTOM_HEAD	4096	/* bytes before the first slot */

/**
 * struct gprof_custom_head - the beginning of the file
 * @magic: GPROF_CUSTOM_MAGIC
 * @version: GPROF_CUSTOM_VERSION
 * @slot_size: sizeof(struct gprof_custom_slot)
 * @nr_slots: how many there are; grows, and before the new ones change for the first time
 * @__reserved: 0
 * @changes: counts twice each change; odd while there is one
 * @added: sum of all counts
 * @since_ns: since when there is the profile, CLOCK_REALTIME
 */
struct gprof_custom_head {
	uint64_t magic;
	uint32_t version;
	uint32_t slot_size;
	uint32_t nr_slots;
	uint32_t __reserved;
	uint64_t changes;
	uint64_t added;
	int64_t since_ns;
};

/**
 * struct gprof_custom_slot - a stack
 * @seq: counts twice each change; odd while there is one
 * @count: how many were added with it; 0: the rest says nothing
 * @nr: frames
 * @flags: GPROF_STACK_REC_F_* and GPROF_STACK_END_* of the walk
 * @frames: return addresses, of the innermost caller first
 */
struct gprof_custom_slot {
	uint64_t seq;
	uint64_t count;
	uint32_t nr;
	uint32_t flags;
	uint64_t frames[GPROF_CUSTOM_FRAMES_MAX];
};

#endif /* GPROF_CUSTOM_LAYOUT_H */
