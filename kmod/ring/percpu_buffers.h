/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * percpu_buffers: the per-CPU buffers of one recorder, one for each CPU that is present.
 *
 * An array with a place for each possible CPU; NULL where there is none, and everywhere
 * for a kind without buffers.
 */
#ifndef GPROF_PERCPU_BUFFERS_H
#define GPROF_PERCPU_BUFFERS_H

#include <linux/types.h>

struct gprof_percpu_buffer;
struct gprof_event_queue;
struct gprof_setup;
struct gprof_stats;

struct gprof_percpu_buffer **gprof_percpu_buffers_new(u64 data_size,
						      struct gprof_event_queue *events);
void gprof_percpu_buffers_free(struct gprof_percpu_buffer **buffers);

void gprof_percpu_buffers_init(struct gprof_percpu_buffer **buffers,
			       const struct gprof_setup *setup, u64 weight);
void gprof_percpu_buffers_name(struct gprof_percpu_buffer **buffers, u64 id);
void gprof_percpu_buffers_begin(struct gprof_percpu_buffer **buffers);
void gprof_percpu_buffers_close(struct gprof_percpu_buffer **buffers);
bool gprof_percpu_buffers_readable(struct gprof_percpu_buffer **buffers);
void gprof_percpu_buffer_add(const struct gprof_percpu_buffer *ch, struct gprof_stats *st);
void gprof_percpu_buffers_add(struct gprof_percpu_buffer **buffers, struct gprof_stats *st);

#endif /* GPROF_PERCPU_BUFFERS_H */
