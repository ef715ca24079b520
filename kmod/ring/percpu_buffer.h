/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * percpu_buffer: everything that one recorder has on one CPU.
 */
#ifndef GPROF_PERCPU_BUFFER_H
#define GPROF_PERCPU_BUFFER_H

#include "buffer.h"
#include "dictionary.h"

#include <linux/atomic.h>
#include <linux/gprof.h>

struct page;

#define GPROF_DEPTH		4	/* samples in each other: task, softirq, interrupt, NMI */
#define GPROF_UNSAID		(-1)	/* in place of an id: a record found no room in the ring */
#define GPROF_MAPS_READ		128	/* processes whose mappings are known to be read */
#define GPROF_MAPS_REQUESTS	32	/* requests to read mappings that can wait */

/**
 * struct gprof_mapped_process - a process whose mappings were asked for
 * @process: which
 * @exec_map_seq: under which stamp
 * @generation: in which generation of this CPU
 */
struct gprof_mapped_process {
	struct gprof_process process;
	u32 exec_map_seq;
	u32 generation;
};

/**
 * struct gprof_stack_suffix - callers that the generation has said, for others to end like them
 * @epoch: of the per-CPU buffer; else there is none
 * @user_frames: their id in the dictionary
 */
struct gprof_stack_suffix {
	u64 epoch;
	u32 user_frames;
};

/**
 * struct gprof_memo - ids that the last samples at a nesting depth found in the dictionary
 * @epoch: of the per-CPU buffer; all is of this one
 * @frames_version: of the last callers; 0: none
 * @user_frames: id of callers that end as those
 * @nr_end: how many of them those end with
 * @nr_own: how many those have before; the key of a stack holds them
 * @ends: these three, as in struct gprof_top
 * @suffix: number of the suffix by which the ring tells of them, 0: none
 * @nr_shared: how many of its callers end those
 * @tid: a task that the generation has named
 * @told_tid: by which id
 * @comm: its name
 * @process_version: the task was one of the process that had this; 0: none
 */
struct gprof_memo {
	u64 epoch;
	u64 frames_version;
	union {
		struct {
			u32 user_frames;
			u16 nr_end;
			u16 nr_own;
		};
		u64 ends;
	};
	u16 suffix;
	u16 nr_shared;
	u32 tid;
	u32 told_tid;
	u64 comm[2];
	u64 process_version;
};

/**
 * struct gprof_percpu_buffer - ring, dictionary and memory of one recorder on one CPU
 * @buffer: ring
 * @dictionary: stacks and tasks that the current generation has said
 * @generation: the one that @dictionary was last scrubbed for
 * @epoch: a new number for each @generation; numbers of those come again
 * @renamed: the @epoch in which a task was told by a second name
 * @unsure: the @epoch in which there was no room to say which
 * @memo: one for each nesting depth, so that nobody interrupts its use
 * @suffixes: by a hash of process and outermost caller. Each is the first there was in the
 *	generation, so that the same callers are told in one way. The outermost sample's.
 * @maps_read: cache of processes, by hash; lossy
 * @requested: process ids whose mappings shall be read, 0: free
 * @renewed: when a copy of mappings was last said to be wanting
 * @pages: pages of the ring in the order of its mapping: head, data, data again
 * @nr_pages: of @pages
 * @tail_page: the page that user space writes
 * @memory: kernel mapping of @pages
 */
struct gprof_percpu_buffer {
	struct gprof_buffer buffer;
	struct gprof_dictionary dictionary;
	u16 generation;
	u64 epoch;
	u64 renamed;
	u64 unsure;
	struct gprof_memo memo[GPROF_DEPTH];
	struct gprof_stack_suffix suffixes[GPROF_STACK_SUFFIXES];
	struct gprof_mapped_process maps_read[GPROF_MAPS_READ];
	atomic_t maps_requested[GPROF_MAPS_REQUESTS];
	u64 renewed;

	struct page **pages;
	unsigned int nr_pages;
	struct page *tail_page;
	void *memory;
};

#endif /* GPROF_PERCPU_BUFFER_H */
