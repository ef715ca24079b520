/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * channel: everything that one recorder has on one CPU.
 */
#ifndef GPROF_CHANNEL_H
#define GPROF_CHANNEL_H

#include "buffer.h"
#include "dictionary.h"

#include <linux/gprof.h>

struct page;

#define GPROF_MAPS_SEEN		128	/* processes whose mappings are known to be read */
#define GPROF_MAPS_WANTED	32	/* requests to read mappings that can wait */

/**
 * struct gprof_seen_process - a process whose mappings were asked for
 * @process: which
 * @layout: under which stamp
 * @generation: in which generation of this CPU
 */
struct gprof_seen_process {
	struct gprof_process process;
	u32 layout;
	u32 generation;
};

/**
 * struct gprof_channel - ring, dictionary and memory of one recorder on one CPU
 * @buffer: ring
 * @dictionary: stacks and tasks that the current generation has said
 * @generation: the one that @dictionary was last scrubbed for
 * @seen: cache of processes, by hash; lossy
 * @wanted: process ids whose mappings shall be read, 0: free
 * @pages: pages of the ring in the order of its mapping: head, data, data again
 * @nr_pages: of @pages
 * @tail_page: the page that user space writes
 * @memory: kernel mapping of @pages
 */
struct gprof_channel {
	struct gprof_buffer buffer;
	struct gprof_dictionary dictionary;
	u16 generation;
	struct gprof_seen_process seen[GPROF_MAPS_SEEN];
	atomic_t wanted[GPROF_MAPS_WANTED];

	struct page **pages;
	unsigned int nr_pages;
	struct page *tail_page;
	void *memory;
};

#endif /* GPROF_CHANNEL_H */
