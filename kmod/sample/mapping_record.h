/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * mapping_record: MAP records, and their way from the owner's thread into a ring.
 */
#ifndef GPROF_MAPPING_RECORD_H
#define GPROF_MAPPING_RECORD_H

#include <linux/kernel.h>
#include <linux/gprof.h>
#include <linux/limits.h>
#include <linux/types.h>

struct gprof_percpu_buffer;
struct vm_area_struct;

/* As much as the longest record takes. */
#define GPROF_MAP_RECORDS							\
	(sizeof(struct gprof_map_rec) + ALIGN(PATH_MAX, 8) + sizeof(struct gprof_map_file))

/**
 * struct gprof_map_writer - records of the mappings of one process
 * @buffers: the recorder's, by CPU
 * @cpu: of the ring
 * @process: the process
 * @time: of the reading
 * @exec_map_seq: stamp of the mappings
 * @flags: of the next record
 * @used: bytes of @records
 * @records: in a row, and in no ring yet
 * @path: room for the path of a file
 */
struct gprof_map_writer {
	struct gprof_percpu_buffer **buffers;
	unsigned int cpu;
	struct gprof_process process;
	u64 time;
	u32 exec_map_seq;
	u16 flags;
	u32 used;
	u8 records[GPROF_MAP_RECORDS] __aligned(8);
	char path[PATH_MAX];
};

void gprof_map_begin(struct gprof_map_writer *w, u32 exec_map_seq);
bool gprof_map_write(struct gprof_map_writer *w, struct vm_area_struct *vma, bool last);
bool gprof_map_flush(struct gprof_map_writer *w);
void gprof_map_call(struct gprof_map_writer *w);

#endif /* GPROF_MAPPING_RECORD_H */
