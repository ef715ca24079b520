/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * later: work that a caller hands over, and does not wait for without a limit.
 */
#ifndef GPROF_LATER_H
#define GPROF_LATER_H

#include <linux/atomic.h>
#include <linux/completion.h>
#include <linux/errno.h>
#include <linux/refcount.h>
#include <linux/swait.h>
#include <linux/workqueue.h>

struct cred;
struct mem_cgroup;

/**
 * struct gprof_call - a call that may wait for grace periods; begins memory that kfree() frees
 * @run: the call; sets @err
 * @rest: the step behind it when the caller has gone on; @left: the caller has given @run up
 * @for_all: @run keeps locks of the whole host: a worker makes the call on every kernel, at the
 *	nice value 0, as a caller may get no time to run before it has given them back
 * @err: result of @run; means something once gprof_call() says that it has run
 * @work: makes the call, where a worker does
 * @refs: of the caller and of the work
 * @state: whether @run has ended, or was given up
 * @ran: @run has ended
 * @over: so has @rest
 * @cred: of the caller
 * @memcg: memory cgroup of the caller, or NULL
 * @nice: of the caller, or 0
 *
 * The maker sets @run, @rest and @for_all, and leaves the rest 0.
 */
struct gprof_call {
	int (*run)(struct gprof_call *c);
	void (*rest)(struct gprof_call *c, bool left);
	bool for_all;
	int err;
	struct work_struct work;
	refcount_t refs;
	atomic_t state;
	struct completion ran;
	struct completion over;
	const struct cred *cred;
	struct mem_cgroup *memcg;
	int nice;
};

int gprof_later_init(void);
void gprof_later_exit(void);

/**
 * gprof_swait() - wait for a condition, until a time
 * @wq: struct swait_queue_head
 * @condition: checked whenever it is woken
 * @state: of the task
 * @until: see gprof_sleep_until()
 *
 * Context: Task.
 * Return: 0; -ETIME; -ERESTARTSYS, where @state lets signals wake.
 */
#define gprof_swait(wq, condition, state, until)				\
({										\
	bool __late = false;							\
										\
	___swait_event(wq, (condition) || (__late && (__ret = -ETIME)), state, 0L, \
		       __late = gprof_sleep_until(until));			\
})

bool gprof_sleep_until(u64 when);
int gprof_complete_within(struct completion *done, unsigned int state, u64 ns);

bool gprof_later(struct work_struct *work);
int gprof_await(struct completion *done, bool interruptible);
bool gprof_call(struct gprof_call *c);
void gprof_call_put(struct gprof_call *c);

#endif /* GPROF_LATER_H */
