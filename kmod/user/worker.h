/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * worker: work that is done for a user, in a thread that is no better than they are.
 *
 * Work that a recorder needs done outside of samples must cost its owner, not the host:
 * a worker of the kernel's queues would run before everybody. So each user that has
 * work items has one thread, at the nice value of the caller and never below 0, which
 * takes a small share of one CPU and lets the rest wait.
 */
#ifndef GPROF_WORKER_H
#define GPROF_WORKER_H

#include <linux/irq_work.h>
#include <linux/list.h>
#include <linux/minmax.h>
#include <linux/time64.h>
#include <linux/types.h>

struct gprof_worker;

/* How long one may have saved for, in time. */
#define GPROF_CPU_BUDGET_SAVED_NS	NSEC_PER_SEC

/**
 * struct gprof_cpu_budget - a share of one CPU, of which a second's worth can be saved
 * @settled: when all that was spent will have been earned; 0: nothing was
 */
struct gprof_cpu_budget {
	u64 settled;
};

/**
 * gprof_cpu_budget_due() - when may it be spent from again?
 * @a: allowance
 *
 * Return: a time of ktime_get_mono_fast_ns(), which may have passed.
 */
static inline u64 gprof_cpu_budget_due(const struct gprof_cpu_budget *a)
{
	return a->settled > GPROF_CPU_BUDGET_SAVED_NS ? a->settled - GPROF_CPU_BUDGET_SAVED_NS : 0;
}

/**
 * gprof_cpu_budget_spend() - take time from it, which may leave a debt
 * @a: allowance
 * @now: time
 * @ns: how much
 * @share: it grows by a second in so many
 */
static inline void gprof_cpu_budget_spend(struct gprof_cpu_budget *a, u64 now, u64 ns,
					  unsigned int share)
{
	a->settled = max(a->settled, now) + ns * share;
}

/**
 * struct gprof_work - something to be done now and then for a recorder
 * @run: does it; told whether somebody waits for it, which is when all must be done that
 *	can be at once, and the rest given up. Returns the time when there will be
 *	more to do, or U64_MAX
 * @urgent: it is short, and runs first, also in the middle of another work item of the user, and
 *	however much the user has spent
 * @worker: the thread that does it
 * @node: in the worker's list
 * @irq: calls it from contexts in which no task can be woken
 * @due: when to run it next
 * @called: to be run now
 * @cut: the run that is under way, and the next, shall end at once
 * @asked: how often somebody has begun to wait
 * @answered: value that @asked had when the last run began
 */
struct gprof_work {
	u64 (*run)(struct gprof_work *work, bool awaited);
	bool urgent;
	struct gprof_worker *worker;
	struct list_head node;
	struct irq_work irq;
	u64 due;
	int called;
	bool cut;
	u64 asked;
	u64 answered;
};

int gprof_work_init(struct gprof_work *work, u64 (*run)(struct gprof_work *work, bool awaited),
		    bool privileged);
void gprof_work_destroy(struct gprof_work *work);
void gprof_work_call(struct gprof_work *work);
void gprof_work_raise(struct gprof_work *work);
void gprof_work_yield(struct gprof_work *work);
bool gprof_work_finish(struct gprof_work *work, u64 ns);
bool gprof_work_resume(struct gprof_work *work);

u64 gprof_work_due(const struct gprof_work *work);
void gprof_work_begin(struct gprof_work *work);
bool gprof_work_overspent(const struct gprof_work *work);
u64 gprof_work_end(struct gprof_work *work);

#endif /* GPROF_WORKER_H */
