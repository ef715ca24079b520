/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * drain.h: the thread that empties the kernel's buffers while recording.
 */
#ifndef GPROF_DRAIN_H
#define GPROF_DRAIN_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "base/wakeup_pipe.h"
#include "profile/labels.h"
#include "stream.h"
#include "table_loader.h"

/**
 * struct gprof_drain - the thread and its streams
 * @thread: the thread, while @running
 * @streams: to read; the thread's own between start and end
 * @nr: how many
 * @wake: ends it
 * @running: was it started?
 * @lock: held while it reads
 * @labels: keeps labels of threads from the beginning on; the reader of the last sample ends it
 * @table_loader: begun; makes unwind tables of the files that come up
 * @began: when it was started, ns
 * @error: its first failure, to be read after gprof_drain_end()
 */
struct gprof_drain {
	pthread_t thread;
	struct gprof_stream *streams;
	size_t nr;
	struct gprof_wakeup_pipe wake;
	bool running;
	pthread_mutex_t lock;
	struct gprof_labels_reader labels;
	struct gprof_table_loader *table_loader;
	uint64_t began;
	struct gprof_error error;
};

/** gprof_drain_begin() - start the thread, with all signals blocked */
int gprof_drain_begin(struct gprof_drain *d, struct gprof_stream *streams, size_t nr,
		      struct gprof_table_loader *table_loader, struct gprof_error *e);

/** gprof_drain_end() - end the thread and wait for it */
void gprof_drain_end(struct gprof_drain *d);

/**
 * gprof_drain_pause() - keep the thread from reading, to look at the streams
 *
 * Nothing where it does not run.
 */
void gprof_drain_pause(struct gprof_drain *d);
void gprof_drain_resume(struct gprof_drain *d);

#endif /* GPROF_DRAIN_H */
