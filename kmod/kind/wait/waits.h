/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * waits: the waits of a target's tasks while they go on, for the files of this room.
 */
#ifndef GPROF_WAITS_H
#define GPROF_WAITS_H

#include "probe/tp_mux.h"
#include "probe/subsample.h"
#include "target/target_match.h"
#include "target/task_set.h"

#include <asm/local64.h>
#include <linux/atomic.h>
#include <linux/build_bug.h>
#include <linux/cache.h>
#include <linux/cpumask.h>
#include <linux/hash.h>
#include <linux/irq_work.h>
#include <linux/percpu.h>
#include <linux/ptrace.h>
#include <linux/smp.h>

struct gprof_capture;
struct gprof_sampler;

#define GPROF_WAIT_WAYS		8
#define GPROF_WAIT_SUBS		3

/**
 * struct gprof_wait - a wait that goes on
 * @since: when it began, CLOCK_MONOTONIC, as all times here: the counter of a CPU goes on
 *	where that does not, and may be found wanting meanwhile
 * @woken: when it ended, while the task has no CPU yet; 0: it goes on
 * @addr: of the lock, where it is one
 * @switches: of the task, when it began; of another number it is another wait
 * @what: GPROF_WAIT_FOR_*, and GPROF_WAIT_LOCK_* where it is a lock
 * @unsampled: it is noted so that it is not taken for an older one
 */
struct gprof_wait {
	u64 since;
	u64 woken;
	u64 addr;
	u32 switches;
	u16 what;
	bool unsampled;
};

/**
 * struct gprof_wait_bucket - whose waits have the same hash
 * @tasks: each the task's address, with GPROF_WAIT_BUSY while its wait is being filled
 *	in; 0: free
 */
struct gprof_wait_bucket {
	atomic_long_t tasks[GPROF_WAIT_WAYS];
} ____cacheline_aligned;

#define GPROF_WAIT_BUSY		1L

/**
 * struct gprof_wait_end - the facts of a wait that are told
 * @task: whose; NULL: there is none
 * @ns: how long it lasted
 * @addr: as in struct gprof_wait
 * @wait: GPROF_WAIT_*
 * @owner: owner of the lock when it began, or NULL
 */
struct gprof_wait_end {
	struct task_struct *task;
	u64 ns;
	u64 addr;
	u64 wait;
	const struct gprof_lock_owner *owner;
};

/**
 * struct gprof_wait_cpu - the part of a CPU
 * @subsample: which waits are sampled
 * @count: waits that began here
 * @due: the wait of the task that just came, until it has an interrupt to be sampled in
 * @irq: that
 * @waits: whose this is, for @irq
 * @regs: where the task of @due was; or the task that has ended a wait is
 */
struct gprof_wait_cpu {
	struct gprof_subsample subsample;
	local64_t count;
	struct gprof_wait_end due;
	struct irq_work irq;
	struct gprof_waits *waits;
	struct pt_regs regs;
};

enum gprof_wait_phase {
	GPROF_WAITS_NONE,	/* nothing is noted */
	GPROF_WAITS_OVER,	/* nor any that begins */
	GPROF_WAITS_BEGIN,	/* all that begin, while older ones are looked for */
	GPROF_WAITS_ON,
};

/**
 * struct gprof_wait_spec - which waits, and which facts of them
 * @period: each sample stands for so many
 * @by_waker: a sample is the waker's that ended the wait
 * @locks: waits for locks of user space alone
 * @addr: and where these are
 * @in_kernel: waits for locks of the kernel alone, in place of all that
 * @owner: and their owners
 */
struct gprof_wait_spec {
	u64 period;
	bool by_waker;
	bool locks;
	bool addr;
	bool in_kernel;
	bool owner;
};

/**
 * struct gprof_waits - the waits that a recorder records
 * @whose: tasks
 * @only_cpus: the target is all that these CPUs do; NULL: it is not
 * @task_set: the processes, where it is made of tasks
 * @sampler: where samples go
 * @spec: waits that are recorded
 * @subsampled: not all are sampled
 * @subsampling: how many are, if @subsampled
 * @bits: of the number of buckets
 * @shift: of a hash, so that these are left
 * @buckets: tasks
 * @waits: and theirs, in the same order
 * @owners: owners of the locks that these are for, where that is asked for; or NULL
 * @cpus: of each CPU
 * @phase: enum gprof_wait_phase
 * @from: CLOCK_MONOTONIC at START
 * @until: at STOP, once @phase says so; 0 before
 * @unsure: somebody was looked at amid falling asleep, at START
 * @crowded: or found no room
 * @subs: of the scheduler; the last one, of those that do not ask for the waker, at START alone
 */
struct gprof_waits {
	struct gprof_target_match whose;
	const struct cpumask *only_cpus;
	struct gprof_task_set task_set;
	struct gprof_sampler *sampler;
	struct gprof_wait_spec spec;
	bool subsampled;
	struct gprof_subsampling subsampling;
	unsigned int bits;
	unsigned int shift;
	struct gprof_wait_bucket *buckets;
	struct gprof_wait *waits;
	struct gprof_lock_owner *owners;
	struct gprof_wait_cpu __percpu *cpus;
	u32 phase;
	u64 from;
	u64 until;
	bool unsure;
	bool crowded;
	struct gprof_tp_sub subs[GPROF_WAIT_SUBS];
};

/* wait_boundary.c */
void gprof_waits_scan(struct gprof_waits *w, struct task_struct *task);
void gprof_wait_wakes(void *data, struct task_struct *task);
void gprof_waits_find_begun(struct gprof_waits *w);
void gprof_waits_report_unended(struct gprof_waits *w);

/* wait_table.c */
bool gprof_wait_table_add(struct gprof_waits *w, const struct task_struct *key,
			  const struct gprof_wait *wait, const struct gprof_lock_owner *owner);
bool gprof_wait_begins(struct gprof_waits *w, struct task_struct *task, u64 since,
		       unsigned int state, bool unsampled);
bool gprof_wait_claim(struct gprof_waits *w, unsigned int at, const struct task_struct *key,
		      struct gprof_wait *wait);
bool gprof_wait_claim_of(struct gprof_waits *w, unsigned int at, struct task_struct *task,
			 struct gprof_wait *wait);
void gprof_wait_end(const struct gprof_waits *w, const struct gprof_wait *wait, u64 now,
		    struct gprof_wait_end *e);
void gprof_wait_lose(struct gprof_waits *w);
void gprof_wait_emit(struct gprof_waits *w, const struct gprof_wait_end *e,
		     struct gprof_capture *c);
void gprof_wait_report(struct gprof_waits *w, const struct gprof_wait_end *e,
		       struct task_struct *task, struct pt_regs *regs, u32 without);

/* klock_wait.c */
unsigned int gprof_wait_set_klock_subs(struct gprof_waits *w);

static inline bool gprof_waits_have(const struct gprof_waits *w, struct task_struct *task)
{
	if (w->only_cpus)
		return cpumask_test_cpu(smp_processor_id(), w->only_cpus);
	return gprof_target_matches(&w->whose, task);
}

static inline unsigned int gprof_wait_home(const struct gprof_waits *w,
					   const struct task_struct *task)
{
	return (u64)task * GOLDEN_RATIO_64 >> w->shift;
}

static inline bool gprof_wait_is_at(const struct gprof_wait_bucket *b, unsigned int way,
				    const struct task_struct *task)
{
	return unlikely(atomic_long_read(&b->tasks[way]) == (long)task);
}

/* Where few are sampled most are empty. */
static inline bool gprof_wait_none_in(const struct gprof_wait_bucket *b)
{
	const long *t = (const long *)b->tasks;

	BUILD_BUG_ON(GPROF_WAIT_WAYS != 8 || sizeof(*b->tasks) != sizeof(*t));
	/*
	 * Only the note of one task matters, which does not come or go while it is looked
	 * for; so these are plain reads, which take an instruction each.
	 */
	return !data_race(t[0] | t[1] | t[2] | t[3] | t[4] | t[5] | t[6] | t[7]);
}

/**
 * gprof_wait_at() - where the wait of a task is noted
 * @w: waits
 * @task: task
 *
 * Most tasks have none: one look at the bucket tells.
 *
 * Context: Any.
 * Return: index into @w->waits, or -1.
 */
static inline int gprof_wait_at(const struct gprof_waits *w, const struct task_struct *task)
{
	unsigned int home = gprof_wait_home(w, task);
	const struct gprof_wait_bucket *b = &w->buckets[home];
	int way;

	if (likely(gprof_wait_none_in(b)))
		return -1;
	for (way = 0; way < GPROF_WAIT_WAYS; way++)
		if (gprof_wait_is_at(b, way, task))
			return home * GPROF_WAIT_WAYS + way;
	return -1;
}

#endif /* GPROF_WAITS_H */
