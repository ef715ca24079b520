/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * recorder_state: the parts of a recorder, its state, and its pins.
 */
#ifndef GPROF_RECORDER_STATE_H
#define GPROF_RECORDER_STATE_H

#include "registry.h"
#include "sample/sampler.h"
#include "target/target.h"
#include "user/event_queue.h"
#include "user/memlock.h"

#include <linux/completion.h>
#include <linux/gprof.h>
#include <linux/mutex.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>

struct gprof_annotated;
struct gprof_object_table;
struct gprof_source_ops;
struct gprof_table_set;

enum gprof_recorder_state {
	GPROF_NEW,	/* opened */
	GPROF_READY,	/* set up, or stopped */
	GPROF_STARTED,
	GPROF_CLOSED,	/* its file is; seen by the holder of a reference */
};

/**
 * struct gprof_phase - the members of a recorder that START and STOP change
 * @started: it records
 * @started_ns: last START
 * @stopped_ns: last STOP
 */
struct gprof_phase {
	bool started;
	u64 started_ns;
	u64 stopped_ns;
};

/**
 * struct gprof_end - work that STOP and close leave
 * @work: does it
 * @todo: bits of it
 * @nice: of the caller
 * @stopped: the source has stopped since the last STOP, or there was none
 * @closed: nothing of the recorder is left but its memory
 * @counts: of the source when it was stopped
 * @counted: @counts are set
 */
struct gprof_end {
	struct work_struct work;
	unsigned long todo;
	int nice;
	struct completion stopped;
	struct completion closed;
	struct gprof_stats counts;
	bool counted;
};

/**
 * struct gprof_recorder - a recorder
 * @entry: in the registry, from SETUP on
 * @lock: serializes the calls, and is held for as long as they take, over grace
 *	periods too; outermost lock of the module, never taken in mmap(), for the
 *	sake of queries, or while user memory other than a filter is touched
 * @state_lock: held for some loads and stores; innermost. A raw one: STOP takes it, and on
 *	PREEMPT_RT the holder of another could be preempted, and is bound to its CPU then
 * @pins: queries that use a recorder that is set up; it is not taken apart until they end.
 *	Protected by @state_lock
 * @state: written under @lock and @state_lock, read under either
 * @source: the source that records; set by SETUP
 * @source_state: the source's own
 * @target: the tasks that it records
 * @sampler: the way into the buffers
 * @table_set: those that its stacks are walked by, or NULL; fixed by SETUP
 * @objects: its table of things that last, or NULL; fixed by SETUP
 * @annotated: its user's page, or NULL; see annotate.c
 * @data_size: bytes of data of each CPU's buffer; 0: no buffers
 * @flight: the buffers are overwritten
 * @charge: memory charged
 * @events: to be told; its wait queue is also for the last pin
 * @end: work that STOP and close leave
 * @started_ns: last START, as @state
 * @stopped_ns: last STOP, as @state
 */
struct gprof_recorder {
	struct gprof_entry entry;
	struct mutex lock;		/* serializes calls */
	raw_spinlock_t state_lock;	/* protects members that others see */
	unsigned int pins;
	enum gprof_recorder_state state;
	const struct gprof_source_ops *source;
	void *source_state;
	struct gprof_target target;
	struct gprof_sampler sampler;
	struct gprof_table_set *table_set;
	struct gprof_object_table *objects;
	struct gprof_annotated *annotated;
	u64 data_size;
	bool flight;
	struct gprof_charge charge;
	struct gprof_event_queue events;
	struct gprof_end end;
	u64 started_ns;
	u64 stopped_ns;
};

void gprof_recorder_set_state(struct gprof_recorder *r, enum gprof_recorder_state state);
bool gprof_recorder_pin(struct gprof_recorder *r, struct gprof_phase *phase);
void gprof_recorder_unpin(struct gprof_recorder *r);
void gprof_recorder_wait_unpinned(struct gprof_recorder *r);
void gprof_recorder_count_up(void);
void gprof_recorder_count_down(void);
u32 gprof_recorder_count(void);

#endif /* GPROF_RECORDER_STATE_H */
