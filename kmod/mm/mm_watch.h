/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * mm_watch: tells subscribers which addresses a process unmaps, and when its memory ends.
 *
 * One watch serves all subscribers of an mm. A subscriber is found by its owner and the mm
 * without a lock, also in an NMI.
 */
#ifndef GPROF_MM_WATCH_H
#define GPROF_MM_WATCH_H

#include <linux/list.h>
#include <linux/types.h>

struct gprof_mm_user;
struct gprof_mm_watch;
struct mm_struct;

/**
 * struct gprof_mm_ops - events that a subscriber is told, in a task
 * @unmapped: addresses of which nothing is mapped any more; spinlocks are held; optional
 * @ended: no task runs in the memory any more, and the subscription is over; spinlocks are held
 * @gone: instead of @ended: the same without spinlocks. Frees the subscriber
 */
struct gprof_mm_ops {
	void (*unmapped)(struct gprof_mm_user *u, unsigned long start, unsigned long end);
	void (*ended)(struct gprof_mm_user *u);
	void (*gone)(struct gprof_mm_user *u);
};

/**
 * struct gprof_mm_user - a subscriber; freed under RCU
 * @hash: by @owner and @mm
 * @node: in @watch
 * @ops: events that it is told
 * @owner: number or address that tells it from other subscribers of @mm
 * @mm: memory; compared, not read
 * @watch: of @mm; NULL: the subscription is over
 */
struct gprof_mm_user {
	struct hlist_node hash;
	struct hlist_node node;
	const struct gprof_mm_ops *ops;
	unsigned long owner;
	const struct mm_struct *mm;
	struct gprof_mm_watch *watch;
};

struct gprof_mm_user *gprof_mm_find(unsigned long owner, const struct mm_struct *mm);
int gprof_mm_watch(struct gprof_mm_user *u, struct mm_struct *mm, bool wait);
bool gprof_mm_unwatch(struct gprof_mm_user *u);

int gprof_mm_watch_init(void);
void gprof_mm_watch_exit(void);

#endif /* GPROF_MM_WATCH_H */
