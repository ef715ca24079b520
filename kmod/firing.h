/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * firing: triggers of one recorder that have fired, until somebody takes them.
 */
#ifndef GPROF_FIRING_H
#define GPROF_FIRING_H

#include <linux/atomic.h>
#include <linux/gprof.h>
#include <linux/types.h>

struct gprof_notices;
struct pid;
struct task_struct;

/**
 * struct gprof_firing - one of them
 * @turn: 1 + its number once it is written; another's before
 * @what: GPROF_TRIGGER_*
 * @tid: the task, by all its numbers; a reference is held. Or NULL
 * @tgid: its process, likewise
 * @suppressed: count of the trigger, which lasts as long as this; or NULL
 * @told: the rest, as it is told; ids are not in it
 */
struct gprof_firing {
	unsigned int turn;
	u32 what;
	struct pid *tid;
	struct pid *tgid;
	const atomic64_t *suppressed;
	struct gprof_fired told;
};

/**
 * struct gprof_firings - those that wait
 * @head: places taken, by anybody
 * @tail: places emptied, by one at a time
 * @fired: of all triggers since the start
 * @suppressed: likewise
 * @unwatched: see struct gprof_fired
 * @notices: where it is told at once that there is one
 * @queue: firings from @tail to @head; NULL before the recorder is set up
 */
struct gprof_firings {
	atomic_t head;
	atomic_t tail;
	atomic64_t fired;
	atomic64_t suppressed;
	atomic64_t unwatched;
	struct gprof_notices *notices;
	struct gprof_firing *queue;
};

u64 gprof_firings_bytes(void);
int gprof_firings_init(struct gprof_firings *f, struct gprof_notices *notices);
void gprof_firings_destroy(struct gprof_firings *f);
void gprof_firing_of(struct gprof_firing *one, struct task_struct *task, u32 what, u32 index);
int gprof_firing_request(struct gprof_firings *f);
struct gprof_firing *gprof_firing_claim(struct gprof_firings *f);
void gprof_firing_publish(struct gprof_firings *f, struct gprof_firing *one);
bool gprof_firings_wait(const struct gprof_firings *f);
int gprof_firing_take(struct gprof_firings *f, struct gprof_fired *fired);
void gprof_firings_clear(struct gprof_firings *f);

#endif /* GPROF_FIRING_H */
