/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * table_loader.h: gives the module the unwind tables of the files that are recorded.
 *
 * A thread of its own compiles the table of a file, or takes the one that an earlier
 * recording has left on disk, one file after the other. Before a recording these are the
 * files that the target has mapped by then; the recording waits some time for them, and more
 * threads work at them, one on each CPU. Beside it a file is known once its mapping was read;
 * the one thread then runs less eagerly than the program that is recorded, and stacks through
 * the file are complete from then on.
 */
#ifndef GPROF_TABLE_LOADER_H
#define GPROF_TABLE_LOADER_H

#include <gprof/recorder.h>
#include <linux/gprof.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/own_fd.h"
#include "symbol/object.h"

#define GPROF_TABLE_LOADER_WAITING	64	/* files, each of which is open */
#define GPROF_TABLE_LOADER_THREADS	4

/**
 * struct gprof_table_loader_file - a file that waits
 * @own: it
 * @build_id: its build-id
 * @build_id_len: bytes of that
 * @python: its interpreter; its size is 0: it has none
 */
struct gprof_table_loader_file {
	struct gprof_own_fd own;
	unsigned char build_id[GPROF_BUILD_ID_MAX];
	size_t build_id_len;
	struct gprof_python python;
};

/**
 * struct gprof_table_loader - the threads and their work
 * @device: recorder that takes tables; NULL: none does
 * @running: was the first thread started?
 * @threads: that, and those that work while a start waits
 * @nr_threads: how many
 * @lock: protects the members below
 * @more: there is work, or the end
 * @idle: there is no work any more
 * @end: no more
 * @end_ns: CLOCK_MONOTONIC from which on the file that is worked at is given up, once @end is set
 * @interrupted: the user has waited no longer
 * @preparing: a start waits
 * @busy: files that are being worked at
 * @done: files that were worked at
 * @eager: as many are worked at before the first thread is nice: those that a start has waited for
 * @nr: files that wait
 * @files: they, the thread's to close once taken
 * @other_python: version of an interpreter that is not known, among the files; 0: none
 */
struct gprof_table_loader {
	const struct gprof_own_fd *device;
	bool running;
	pthread_t threads[GPROF_TABLE_LOADER_THREADS];
	size_t nr_threads;
	pthread_mutex_t lock;
	pthread_cond_t more;
	pthread_cond_t idle;
	bool end;
	uint64_t end_ns;
	bool interrupted;
	bool preparing;
	size_t busy;
	size_t done;
	size_t eager;
	size_t nr;
	struct gprof_table_loader_file files[GPROF_TABLE_LOADER_WAITING];
	uint32_t other_python;
};

/**
 * gprof_table_loader_begin() - start the thread
 * @t: memory
 * @device: recorder that was set up with GPROF_STACK_F_TABLES, or NULL: do nothing
 *
 * Without a thread stacks are as they are without tables, and say so.
 */
void gprof_table_loader_begin(struct gprof_table_loader *t, const struct gprof_own_fd *device);

/**
 * gprof_table_loader_prepare() - make the tables of a target's mapped files, and wait for them
 * @t: begun
 * @target: target
 * @how: for how long, and the progress function
 *
 * Missing tables are made beside the recording.
 */
void gprof_table_loader_prepare(struct gprof_table_loader *t, const struct gprof_target *target,
				const struct gprof_prepare *how);

/** gprof_table_loader_scan() - take the files that it does not know of; false: there was no room for all */
bool gprof_table_loader_scan(struct gprof_table_loader *t, struct gprof_objects *objects);

/** gprof_table_loader_end() - cancel the files that are queued */
void gprof_table_loader_end(struct gprof_table_loader *t);

#endif /* GPROF_TABLE_LOADER_H */
