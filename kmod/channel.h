/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * channel: everything that one recorder has on one CPU.
 */
#ifndef GPROF_CHANNEL_H
#define GPROF_CHANNEL_H

#include "buffer.h"
#include "dictionary.h"

#include <linux/atomic.h>
#include <linux/gprof.h>

struct page;

#define GPROF_DEPTH		4	/* samples in each other: task, softirq, interrupt, NMI */
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

#define GPROF_CALLERS_MET	512	/* a power of two */
#define GPROF_LEAVES		256	/* a power of two */
#define GPROF_LEAF_FRAMES	2

/**
 * struct gprof_leaf - the id of a stack of which the callers leave few frames
 * @epoch: of the channel; 0: free
 * @key: of the stack in the dictionary, padded with 0
 * @id: its id
 */
struct gprof_leaf {
	u64 epoch;
	u64 key[2 + GPROF_LEAF_FRAMES];
	u32 id;
};

/**
 * struct gprof_memo - what the last samples at a nesting depth found in the dictionary
 * @epoch: of the channel; all is of this one
 * @callers_version: 0: none
 * @callers: id of the callers that had @callers_version
 * @tid: a task that the generation has named
 * @comm: its name
 * @process_version: the task was one of the process that had this; 0: none
 */
struct gprof_memo {
	u64 epoch;
	u64 callers_version;
	u32 callers;
	u32 tid;
	u64 comm[2];
	u64 process_version;
};

/**
 * struct gprof_channel - ring, dictionary and memory of one recorder on one CPU
 * @buffer: ring
 * @dictionary: stacks and tasks that the current generation has said
 * @generation: the one that @dictionary was last scrubbed for
 * @epoch: a new number for each @generation; numbers of those come again
 * @memo: one for each nesting depth, so that nobody interrupts its use
 * @met: ids of callers, by a hash of the nearest; 0: none. Forgets at will, and is
 *	the outermost sample's.
 * @leaves: by a hash of leaf and callers. As @met.
 * @seen: cache of processes, by hash; lossy
 * @wanted: process ids whose mappings shall be read, 0: free
 * @renewed: when a copy of mappings was last said to be wanting
 * @pages: pages of the ring in the order of its mapping: head, data, data again
 * @nr_pages: of @pages
 * @tail_page: the page that user space writes
 * @memory: kernel mapping of @pages
 */
struct gprof_channel {
	struct gprof_buffer buffer;
	struct gprof_dictionary dictionary;
	u16 generation;
	u64 epoch;
	struct gprof_memo memo[GPROF_DEPTH];
	u32 met[GPROF_CALLERS_MET];
	struct gprof_leaf leaves[GPROF_LEAVES];
	struct gprof_seen_process seen[GPROF_MAPS_SEEN];
	atomic_t wanted[GPROF_MAPS_WANTED];
	u64 renewed;

	struct page **pages;
	unsigned int nr_pages;
	struct page *tail_page;
	void *memory;
};

#endif /* GPROF_CHANNEL_H */
