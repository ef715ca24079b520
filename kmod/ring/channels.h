/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * channels: the channels of one recorder, one for each CPU that is present.
 *
 * An array with a place for each possible CPU; NULL where there is none, and everywhere
 * for a kind without buffers.
 */
#ifndef GPROF_CHANNELS_H
#define GPROF_CHANNELS_H

#include <linux/types.h>

struct gprof_channel;
struct gprof_event_queue;
struct gprof_setup;
struct gprof_stats;

struct gprof_channel **gprof_channels_new(u64 data_size, struct gprof_event_queue *events);
void gprof_channels_free(struct gprof_channel **channels);

void gprof_channels_init(struct gprof_channel **channels, const struct gprof_setup *setup,
			 u64 weight);
void gprof_channels_name(struct gprof_channel **channels, u64 id);
void gprof_channels_begin(struct gprof_channel **channels);
void gprof_channels_close(struct gprof_channel **channels);
bool gprof_channels_readable(struct gprof_channel **channels);
void gprof_channel_add(const struct gprof_channel *ch, struct gprof_stats *st);
void gprof_channels_add(struct gprof_channel **channels, struct gprof_stats *st);

#endif /* GPROF_CHANNELS_H */
