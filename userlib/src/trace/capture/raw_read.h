/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * raw_read.h: the file that gprof_raw_flight_snapshot() writes.
 */
#ifndef GPROF_RAW_READ_H
#define GPROF_RAW_READ_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "device/buffer.h"
#include "device/raw_file.h"

/**
 * struct gprof_raw_place - a part in the file
 * @part: its head
 * @at: where its records begin
 */
struct gprof_raw_place {
	struct gprof_raw_part part;
	uint64_t at;
};

/**
 * struct gprof_raw_read - the file
 * @head: begin
 * @end: counts
 * @rings: heads of the rings, of one recorder of traces, by CPU
 * @parts: those of one ring in the order of its records
 * @nr: how many
 */
struct gprof_raw_read {
	struct gprof_raw_head head;
	struct gprof_raw_end end;
	struct gprof_ring_head *rings;
	struct gprof_raw_place *parts;
	size_t nr;
};

/** gprof_raw_is() - does it begin as one? */
bool gprof_raw_is(int fd);

/**
 * gprof_raw_read_open() - look through a file
 * @r: result for gprof_raw_read_free(), also after a failure
 * @fd: it, of any bytes
 * @e: sentence
 *
 * Return: 0 or -errno.
 */
int gprof_raw_read_open(struct gprof_raw_read *r, int fd, struct gprof_error *e);

/**
 * gprof_raw_read_ring() - read the records of a ring
 * @r: file
 * @fd: it
 * @ring: which
 * @copy: result for gprof_snapshot_free(); a LOST record stands where the kernel has overwritten
 *	records before they were copied
 *
 * Return: 0, -ENOMEM, -EBADMSG or -EIO.
 */
int gprof_raw_read_ring(const struct gprof_raw_read *r, int fd, uint32_t ring,
			struct gprof_snapshot *copy);
void gprof_raw_read_free(struct gprof_raw_read *r);

#endif /* GPROF_RAW_READ_H */
