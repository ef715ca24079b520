/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * lock_waits.h: which release of a lock is to blame for which part of a wait.
 *
 * A thread that holds a lock for long keeps all its waiters waiting, and wakes one of them. The
 * others wait on, while the lock passes from waiter to waiter, and each is woken by one that held
 * it for an instant. So a wait is divided: its time up to each release of the lock is of that
 * release. The sum of all waits stays what it was.
 */
#ifndef GPROF_LOCK_WAITS_H
#define GPROF_LOCK_WAITS_H

#include <linux/gprof.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/**
 * struct gprof_lock_wait - a wait that ended
 * @process: the process with the lock
 * @addr: address of the lock
 * @from: begin, ns
 * @to: end, ns
 * @weight: waits that it stands for
 * @count: index of the count of the stack that ended it
 * @release: a task ended it, and no timeout
 */
struct gprof_lock_wait {
	struct gprof_process process;
	uint64_t addr;
	uint64_t from;
	uint64_t to;
	uint64_t weight;
	uint32_t count;
	bool release;
};

/**
 * struct gprof_lock_waits - waits since they were divided last
 * @on: waits are divided
 * @keep_addr: the address is a label of samples too
 * @v: waits
 * @nr: how many
 * @cap: room
 */
struct gprof_lock_waits {
	bool on;
	bool keep_addr;
	struct gprof_lock_wait *v;
	size_t nr;
	size_t cap;
};

void gprof_lock_waits_free(struct gprof_lock_waits *l);

/** gprof_lock_waits_note() - a wait ended, in any order; 0 or -ENOMEM */
int gprof_lock_waits_note(struct gprof_lock_waits *l, const struct gprof_lock_wait *wait);

/**
 * gprof_lock_waits_divide() - move times of waits to earlier releases, and forget the waits
 * @l: waits
 * @move: called with a count's index, and the ns to add to it, which may be negative; the time of
 *	each wait is with its own count before
 * @ctx: for it
 *
 * A wait of which a part is of before the last call is not divided there.
 *
 * Return: 0 or -ENOMEM, nothing being moved.
 */
int gprof_lock_waits_divide(struct gprof_lock_waits *l,
			    void (*move)(void *ctx, uint32_t count, int64_t ns), void *ctx);

#endif /* GPROF_LOCK_WAITS_H */
