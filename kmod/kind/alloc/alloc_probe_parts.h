/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * alloc_probe_parts: the parts that alloc_probe.c and alloc_probe_life.c share.
 */
#ifndef GPROF_ALLOC_PROBE_PARTS_H
#define GPROF_ALLOC_PROBE_PARTS_H

#include "probe/tp_mux.h"
#include "probe/user_probe.h"

#include <linux/refcount.h>
#include <linux/spinlock.h>
#include <linux/srcu.h>
#include <linux/types.h>
#include <linux/wait.h>
#include <linux/workqueue.h>

#define GPROF_CALLS_BITS	10	/* of how many tasks may be in a call at once */

struct gprof_alloc_probes;
struct gprof_allocs;

/**
 * struct gprof_alloc_fn - a probed function
 * @probe: the probe
 * @role: GPROF_ALLOC_FN_*
 * @all: all of them
 */
struct gprof_alloc_fn {
	struct gprof_user_probe probe;
	u32 role;
	struct gprof_alloc_probes *all;
};

/**
 * struct gprof_alloc_call - that a task is in a call
 * @task: whose; NULL: nobody's. The rest is the task's alone
 * @function: called
 * @sp: stack pointer at the call
 * @bytes: asked for
 * @weight: for how many it stands; 0: it is not sampled
 * @where: of the pointer that is set, for functions that return none
 * @ended: it has ended something that was live
 */
struct gprof_alloc_call {
	struct task_struct *task;
	const struct gprof_alloc_fn *function;
	unsigned long sp;
	u64 bytes;
	u64 weight;
	unsigned long where;
	bool ended;
};

/**
 * struct gprof_alloc_probes - functions of allocators
 * @allocs: the user of the probes; read under SRCU, in gprof_alloc_task_ends() under RCU.
 *	NULL: it has gone
 * @exit: where tasks end
 * @calls: those under way
 * @refs: of the recorder, and of the work while @busy
 * @work: sets them, or ends them
 * @changed: waits for the end of @busy
 * @lock: protects the rest but the functions
 * @busy: the work is under way; all above but @allocs are its
 * @wanted: they are to be set
 * @err: why they are not
 * @pid: process that keeps its address space locked, in the initial pid namespace
 * @waited_for: address space that the work waits for, which has a reference meanwhile, or NULL
 * @holder: its lock's word for its owner when START looked last
 * @since: time, in ns, since when the work has waited, or that holder has had the lock
 * @step: time, in ns, since when it has been at its present step
 * @frees: frees are of interest too
 * @nr: how many functions
 * @functions: them
 */
struct gprof_alloc_probes {
	struct gprof_allocs *allocs;
	struct gprof_tp_sub exit;
	struct gprof_alloc_call *calls;
	refcount_t refs;
	struct work_struct work;
	wait_queue_head_t changed;
	spinlock_t lock;		/* protects the members that follow but the functions */
	bool busy;
	bool wanted;
	int err;
	u32 pid;
	struct mm_struct *waited_for;
	unsigned long holder;
	u64 since;
	u64 step;
	bool frees;
	unsigned int nr;
	struct gprof_alloc_fn functions[];
};

extern struct srcu_struct gprof_probes_srcu;
extern const struct gprof_user_probe_ops gprof_alloc_probe_ops;

void gprof_alloc_task_ends(void *data, struct task_struct *task);

#endif /* GPROF_ALLOC_PROBE_PARTS_H */
