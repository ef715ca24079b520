/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * raw_file.h: the rings of a flight recorder at one instant, as a file.
 *
 * The head; the head page of each ring, as the kernel's struct gprof_ring_head; then parts, each with
 * records of one ring, which begin with a generation, behind those of the part before, in any order
 * of the rings; and a part of ring GPROF_RAW_END, with the counts. Numbers are little-endian.
 */
#ifndef GPROF_RAW_FILE_H
#define GPROF_RAW_FILE_H

#include <linux/gprof.h>
#include <stdbool.h>
#include <stdint.h>

#include "buffer.h"

#define GPROF_RAW_MAGIC		"gprofraw"
#define GPROF_RAW_VERSION	1
#define GPROF_RAW_END		UINT32_MAX
#define GPROF_RAW_TEXT		64

#define GPROF_RAW_F_KERNEL_FRAMES	(1U << 0)
#define GPROF_RAW_F_STOPPED		(1U << 1)	/* nothing was written meanwhile */
#define GPROF_RAW_F_CPUS_ONLY		(1U << 2)	/* the target was CPUs */
#define GPROF_RAW_F_WHOLE_HOST		(1U << 3)	/* it was the whole host */

/**
 * struct gprof_raw_head - begin of the file
 * @magic: GPROF_RAW_MAGIC
 * @version: GPROF_RAW_VERSION
 * @head_size: of this struct
 * @ring_size: of each ring's head
 * @rings: how many
 * @machine: EM_* of the ELF files here: numbers of system calls, registers
 * @flags: GPROF_RAW_F_*
 * @started_ns: when it was, CLOCK_MONOTONIC
 * @from_ns: what is older was not asked for
 * @until_ns: the instant
 * @generation_ns: as in struct gprof_trace_config, like the next three
 * @min_duration_ns: likewise
 * @groups: likewise
 * @stacks: likewise
 * @sample_period: of CPU samples, or 0
 * @sample_type: of their values
 * @sample_unit: likewise
 */
struct gprof_raw_head {
	char magic[8];
	uint32_t version;
	uint32_t head_size;
	uint32_t ring_size;
	uint32_t rings;
	uint32_t machine;
	uint32_t flags;
	uint64_t started_ns;
	uint64_t from_ns;
	uint64_t until_ns;
	uint64_t generation_ns;
	uint64_t min_duration_ns;
	uint32_t groups;
	uint32_t stacks;
	uint64_t sample_period;
	char sample_type[GPROF_RAW_TEXT];
	char sample_unit[GPROF_RAW_TEXT];
};

/**
 * struct gprof_raw_part - head of a part
 * @ring: which, or GPROF_RAW_END
 * @zero: 0
 * @pos: position of its first record in the ring
 * @bytes: of records behind it, a multiple of 8; 0 where the kernel has overwritten all the rest
 * @before: see gprof_ring_snapshot_next()
 */
struct gprof_raw_part {
	uint32_t ring;
	uint32_t zero;
	uint64_t pos;
	uint64_t bytes;
	uint64_t before;
};

/**
 * struct gprof_raw_end - counts of the recorder, when all was written
 * @produced: events
 * @lost: of these
 * @overwritten: likewise
 */
struct gprof_raw_end {
	uint64_t produced;
	uint64_t lost;
	uint64_t overwritten;
};

/**
 * struct gprof_raw_output - where it goes
 * @write: 0 or -errno
 * @ctx: for it
 * @bytes: that were written
 * @gaps: places where the kernel overwrote records before they could be copied
 */
struct gprof_raw_output {
	int (*write)(void *ctx, const void *data, size_t len);
	void *ctx;
	uint64_t bytes;
	uint64_t gaps;
};

/** gprof_raw_machine() - of this library; 0: unknown */
uint32_t gprof_raw_machine(void);

/**
 * gprof_raw_file_write() - write all but the last part
 * @o: where to
 * @flight: rings of a recorder in flight mode
 * @head: all but @magic to @machine are filled in; its @until_ns is now
 *
 * Return: 0 or -errno, as gprof_trace_snapshot_capture(), or of the writing.
 */
int gprof_raw_file_write(struct gprof_raw_output *o, const struct gprof_buffer *flight,
			 const struct gprof_raw_head *head);

/** gprof_raw_file_end() - write the last part, with these counts; 0 or -errno */
int gprof_raw_file_end(struct gprof_raw_output *o, const struct gprof_raw_end *end);

#endif /* GPROF_RAW_FILE_H */
