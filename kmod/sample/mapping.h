/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * mapping: which files the addresses of sampled processes belong to.
 *
 * A process may be gone before user space could read its /proc/PID/maps. So the
 * first new stack of a process in a generation asks for its mappings, and the
 * owner's thread writes them into the buffer as MAP records, usually within the
 * same millisecond.
 *
 * How often mappings change, how many they are, and for how long they are locked is
 * up to the sampled process. So each process has an allowance, a reading ends at the first
 * record that does not fit and when it has cost too much, and no lock of the process is
 * waited for. Mappings that are not read in the end are counted.
 */
#ifndef GPROF_MAPPING_H
#define GPROF_MAPPING_H

#include "ring/percpu_buffer.h"
#include "user/worker.h"

#include <linux/atomic.h>

struct cred;
struct gprof_charge;
struct gprof_maps_memory;
struct gprof_table_set;
struct pid_namespace;

/**
 * struct gprof_maps - reader of mappings of one recorder
 * @buffers: the recorder's per-CPU buffers, by CPU
 * @pid_ns: in which records have ids; NULL: the initial pid namespace
 * @owner: on whose behalf; a process that this one may not trace is not read
 * @table_set: where copies of the mappings go too, or NULL
 * @work: reads the mappings
 * @memory: the work item's
 * @missed: processes whose mappings were not read
 */
struct gprof_maps {
	struct gprof_percpu_buffer **buffers;
	struct pid_namespace *pid_ns;
	const struct cred *owner;
	struct gprof_table_set *table_set;
	struct gprof_work work;
	struct gprof_maps_memory *memory;
	atomic64_t missed;
};

u64 gprof_maps_bytes(void);
int gprof_maps_init(struct gprof_maps *m, struct gprof_percpu_buffer **buffers,
		    struct pid_namespace *pid_ns, const struct cred *owner, bool privileged,
		    struct gprof_table_set *table_set, struct gprof_charge *charge);
bool gprof_maps_flush(struct gprof_maps *m);
void gprof_maps_destroy(struct gprof_maps *m);

void gprof_maps_expect(struct gprof_maps *m, struct gprof_percpu_buffer *ch);
void gprof_maps_request(struct gprof_maps *m, struct gprof_percpu_buffer *ch,
			const struct gprof_process *process, u32 exec_map_seq, u16 generation);
void gprof_maps_renew(struct gprof_maps *m, struct gprof_percpu_buffer *ch, u32 pid, u64 now);

#endif /* GPROF_MAPPING_H */
