/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * notice: tells that something happened to a recorder, from any context.
 */
#ifndef GPROF_NOTICE_H
#define GPROF_NOTICE_H

#include <linux/atomic.h>
#include <linux/gprof.h>
#include <linux/irq_work.h>
#include <linux/types.h>
#include <linux/workqueue.h>

#define GPROF_NOTICES	16	/* a power of two */

/* A trigger has fired: told some dozen times a second, and nothing that STATS tells of. */
#define GPROF_NOTICE_FIRED	GPROF_NOTICE_NR

/**
 * struct gprof_notice - something that happened
 * @turn: 1 + its number once it is written; another's before
 * @what: GPROF_NOTICE_*
 * @trigger: index of the trigger that has fired
 * @trigger_what: GPROF_TRIGGER_*
 */
struct gprof_notice {
	unsigned int turn;
	u32 what;
	u32 trigger;
	u32 trigger_what;
};

/**
 * struct gprof_notices - what happened to one recorder
 * @pending: a bit for each GPROF_NOTICE_* that happened since who owns it asked
 * @next: jiffies at which each may be told again
 * @second: jiffies at which @firings began
 * @firings: told of triggers since then
 * @head: places taken, by anybody
 * @tail: places emptied, by @work
 * @untold: notices for which there was no place, or that nobody listened to, or one
 *	firing too many
 * @queue: notices from @tail to @head
 * @irq: from any context to where locks may be taken
 * @work: from there to where one may sleep
 * @wake: called by @irq: something is pending
 * @tell: called by @work, once for each notice; returns whether anybody heard of it
 */
struct gprof_notices {
	unsigned long pending;
	unsigned long next[GPROF_NOTICE_NR];
	unsigned long second;
	atomic_t firings;
	atomic_t head;
	atomic_t tail;
	atomic64_t untold;
	struct gprof_notice queue[GPROF_NOTICES];
	struct irq_work irq;
	struct work_struct work;
	void (*wake)(struct gprof_notices *n);
	bool (*tell)(struct gprof_notices *n, const struct gprof_notice *notice);
};

void gprof_notices_init(struct gprof_notices *n, void (*wake)(struct gprof_notices *n),
			bool (*tell)(struct gprof_notices *n, const struct gprof_notice *notice));
void gprof_notices_end(struct gprof_notices *n);
void gprof_notice(struct gprof_notices *n, u32 what);
void gprof_notice_fired(struct gprof_notices *n, u32 index, u32 what);
u64 gprof_notices_take(struct gprof_notices *n);

#endif /* GPROF_NOTICE_H */
