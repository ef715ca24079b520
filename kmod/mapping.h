/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * mapping: which files the addresses of sampled processes belong to.
 *
 * A process may be gone before user space could read its /proc/PID/maps. So the
 * first new stack of a process in a generation asks for its mappings, and a
 * worker writes them into the buffer as MAP records, usually within the same
 * millisecond.
 */
#ifndef GPROF_MAPPING_H
#define GPROF_MAPPING_H

#include "channel.h"

#include <linux/atomic.h>
#include <linux/irq_work.h>
#include <linux/workqueue.h>

struct cred;

/**
 * struct gprof_maps - reader of mappings of one recorder
 * @channels: the recorder's channels, by CPU
 * @owner: on whose behalf; a process that this one may not trace is not read
 * @irq_work: gets from an NMI to where work can be queued
 * @work: reads the mappings
 * @path: memory for a path; worker only
 * @missed: processes that were gone when the worker came
 */
struct gprof_maps {
	struct gprof_channel **channels;
	const struct cred *owner;
	struct irq_work irq_work;
	struct work_struct work;
	char *path;
	atomic64_t missed;
};

int gprof_maps_init(struct gprof_maps *m, struct gprof_channel **channels,
		    const struct cred *owner);
void gprof_maps_flush(struct gprof_maps *m);
void gprof_maps_destroy(struct gprof_maps *m);

void gprof_maps_want(struct gprof_maps *m, struct gprof_channel *ch,
		     const struct gprof_process *process, u32 layout, u16 generation);

#endif /* GPROF_MAPPING_H */
