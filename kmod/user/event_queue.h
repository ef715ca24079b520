/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * event_queue: events of a recorder, for poll(), GPROF_IOC_TRIGGER_READ and netlink.
 */
#ifndef GPROF_EVENT_QUEUE_H
#define GPROF_EVENT_QUEUE_H

#include "worker.h"

#include <linux/atomic.h>
#include <linux/gprof.h>
#include <linux/types.h>
#include <linux/wait.h>

struct pid;
struct task_struct;

/* An event of STATS is an event of the same number. */
enum gprof_event_type {
	GPROF_EVENT_LOST = GPROF_STATS_EVENT_LOST,
	GPROF_EVENT_TARGET_GONE = GPROF_STATS_EVENT_TARGET_GONE,
	GPROF_EVENT_TRIGGER = GPROF_STATS_EVENT_NR,
	GPROF_EVENT_STARTED,
	GPROF_EVENT_STOPPED,
	GPROF_EVENT_READABLE, /* of a ring, for poll() alone */
};

/**
 * struct gprof_event - something that happened; a place in the queue where it has data
 * @turn: 1 + its number once it is written; another's before
 * @type: GPROF_EVENT_*
 * @what: TRIGGER_READ: GPROF_TRIGGER_*; @told.index is the trigger
 * @tid: the task, by all its numbers; a reference is held. Or NULL
 * @tgid: its process, likewise
 * @suppressed: count of the trigger, which lasts as long as this; or NULL
 * @told: the rest, as GPROF_IOC_TRIGGER_READ tells it; ids are not in it
 */
struct gprof_event {
	unsigned int turn;
	enum gprof_event_type type;
	u32 what;
	struct pid *tid;
	struct pid *tgid;
	const atomic64_t *suppressed;
	struct gprof_trigger_event told;
};

/**
 * struct gprof_event_queue - events of one recorder
 * @wait: readers in poll()
 * @work: the owner's thread wakes them, and announces
 * @raised: bit of each GPROF_EVENT_* that @work has to tell
 * @pending: bit of each event since STATS was asked
 * @next: jiffies at which each event may be raised again
 * @second: jiffies at which @announced began
 * @announced: trigger events announced since then
 * @head: places taken, by anybody
 * @tail: places emptied, by GPROF_IOC_TRIGGER_READ
 * @heard: places announced
 * @dropped: events that were not announced: no listener, or one trigger event too many
 * @fired: of all triggers since the start
 * @suppressed: likewise
 * @untracked: see struct gprof_trigger_event
 * @places: trigger events from @tail, or @heard, to @head; NULL before the recorder is set up
 */
struct gprof_event_queue {
	wait_queue_head_t wait;
	struct gprof_work work;
	unsigned long raised;
	unsigned long pending;
	unsigned long next[GPROF_STATS_EVENT_NR];
	unsigned long second;
	atomic_t announced;
	atomic_t head;
	atomic_t tail;
	atomic_t heard;
	atomic64_t dropped;
	atomic64_t fired;
	atomic64_t suppressed;
	atomic64_t untracked;
	struct gprof_event *places;
};

u64 gprof_events_bytes(void);
int gprof_events_init(struct gprof_event_queue *q, bool privileged);
bool gprof_events_flush(struct gprof_event_queue *q);
void gprof_events_destroy(struct gprof_event_queue *q);
void gprof_events_clear(struct gprof_event_queue *q);

void gprof_event_raise(struct gprof_event_queue *q, enum gprof_event_type type);
void gprof_event_of(struct gprof_event *e, struct task_struct *task, u32 what, u32 index);
struct gprof_event *gprof_event_claim(struct gprof_event_queue *q);
void gprof_event_publish(struct gprof_event_queue *q, struct gprof_event *e);
int gprof_event_request(struct gprof_event_queue *q);

bool gprof_events_pending(const struct gprof_event_queue *q);
u64 gprof_events_stats(struct gprof_event_queue *q);
int gprof_event_pop(struct gprof_event_queue *q, struct gprof_trigger_event *fired);

bool gprof_event_announce(struct gprof_event_queue *q, const struct gprof_event *e);
void gprof_events_announce_by(bool (*announce)(struct gprof_event_queue *q,
					       const struct gprof_event *e));

#endif /* GPROF_EVENT_QUEUE_H */
