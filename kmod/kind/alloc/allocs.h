/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * allocs: the allocations that a recorder records, for the files of this room.
 */
#ifndef GPROF_ALLOCS_H
#define GPROF_ALLOCS_H

#include "probe/tp_mux.h"
#include "probe/byte_sample.h"
#include "sample/capture.h"
#include "target/target_match.h"
#include "target/task_set.h"

#include <asm/local64.h>
#include <linux/cpumask.h>
#include <linux/kprobes.h>
#include <linux/list.h>
#include <linux/percpu.h>
#include <linux/preempt.h>
#include <linux/spinlock.h>

struct gprof_alloc_probes;
struct gprof_object_table;
struct gprof_sampler;
struct pt_regs;

#define GPROF_ALLOC_SUBS	8
#define GPROF_ALLOC_KPROBES	3

/**
 * struct gprof_alloc_cpu - the part of a CPU
 * @byte_sample: which allocations are sampled
 */
struct gprof_alloc_cpu {
	struct gprof_byte_sample byte_sample;
};

/**
 * struct gprof_alloc_kprobe - a probe of a function that frees without telling
 * @kp: probe
 * @allocs: their user
 */
struct gprof_alloc_kprobe {
	struct kprobe kp;
	struct gprof_allocs *allocs;
};

/**
 * struct gprof_allocs - the allocations that a recorder records
 * @whose: tasks
 * @only_cpus: the target is all that these CPUs do; NULL: it is not
 * @only_tasks: allocations of interrupts are not the target's
 * @on: between START and STOP
 * @cpus: of each CPU
 * @objects: those that were sampled and not freed, or NULL
 * @sampler: where samples go
 * @period: of so many bytes one is sampled
 * @task_set: the processes, where the target is made of tasks
 * @from_ns: CLOCK_MONOTONIC at the last START
 * @until_ns: at the last STOP; 0: it is on
 * @subs: of the allocators
 * @nr_subs: how many of them
 * @kprobes: of functions that free without telling
 * @nr_kprobes: how many of them
 * @user_reported: programs make the allocations themselves; there are neither tracepoints nor
 *	kprobes
 * @probes: with @user_reported, by which it is known; NULL: programs tell
 * @node: with @user_reported, among those that listen
 * @ends: with @user_reported, serializes changes of @objects
 * @owners: with @user_reported, of each slot of @objects the address space that it is of, 0:
 *	unknown; NULL: allocations of an address space at its end stay live
 * @groups: with @owners, of each GPROF_ALLOC_GROUP slots a bit of every address space that
 *	has one among them, and maybe bits of some that had
 */
struct gprof_allocs {
	struct gprof_target_match whose;
	const struct cpumask *only_cpus;
	bool only_tasks;
	bool on;
	struct gprof_alloc_cpu __percpu *cpus;
	struct gprof_object_table *objects;
	struct gprof_sampler *sampler;
	u64 period;
	struct gprof_task_set task_set;
	u64 from_ns;
	u64 until_ns;
	struct gprof_tp_sub subs[GPROF_ALLOC_SUBS];
	unsigned int nr_subs;
	struct gprof_alloc_kprobe kprobes[GPROF_ALLOC_KPROBES];
	unsigned int nr_kprobes;
	bool user_reported;
	struct gprof_alloc_probes *probes;
	struct list_head node;
	raw_spinlock_t ends;		/* protects keys against two tasks with one address */
	u32 *owners;
	u64 *groups;
};

/* Slots whose owners are looked for together. */
#define GPROF_ALLOC_GROUP	64

/* Of current. */
static inline bool gprof_allocs_are_targets(const struct gprof_allocs *a)
{
	if (a->only_cpus)
		return cpumask_test_cpu(smp_processor_id(), a->only_cpus);
	return !a->only_tasks || (in_task() && gprof_target_matches(&a->whose, current));
}

/* Of an object that has got a slot. */
static inline u16 gprof_object_flags(const struct gprof_capture *c)
{
	return GPROF_SAMPLE_REC_F_OBJECT | (c->ended ? GPROF_SAMPLE_REC_F_ENDED : 0);
}

/* alloc_page.c */
bool gprof_pages_are_part(struct pt_regs *regs);

#endif /* GPROF_ALLOCS_H */
