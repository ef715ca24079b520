/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * trace: events of tasks and CPUs, a word for each.
 *
 *	trace_probe.c	the scheduler's events
 *	trace_calls.c	system calls, interrupts and so on, where asked for
 *	trace_min_duration.c	those that do not last are left out, where asked for
 *	trace_emit.c	writes them down
 *	trace_stack.c	and their stacks
 *
 * Everything is written with interrupts off, so that no producer of a ring interrupts
 * another: the order of events is the same in the ring and in time.
 */
#ifndef GPROF_TRACE_H
#define GPROF_TRACE_H

#include "compat/preempt.h"
#include "probe/tp_mux.h"
#include "ring/annotate.h"
#include "ring/buffer.h"
#include "target/target_match.h"
#include "target/task_set.h"
#include "task/pid.h"

#include <linux/compiler.h>
#include <linux/cpumask.h>
#include <linux/gprof.h>
#include <linux/kprobes.h>
#include <linux/percpu.h>
#include <linux/ptrace.h>
#include <linux/sched.h>
#include <linux/siphash.h>
#include <linux/timekeeping.h>

struct gprof_charge;
struct gprof_event_queue;
struct gprof_pending_op;
struct gprof_sampler;
struct gprof_triggers;

#define GPROF_TRACE_NAMED	1024	/* a power of two */
#define GPROF_TRACE_PLACES	256	/* so that a byte of an id says which */
#define GPROF_TRACE_DESYNC	U32_MAX
#define GPROF_TRACE_NUMBER_MAX	(BIT(GPROF_TRACE_TIME_SHIFT - GPROF_TRACE_TID_SHIFT) - 1)
#define GPROF_TRACE_KPROBES	3
#define GPROF_TRACE_SUBS	7
#define GPROF_TRACE_DEFERRED	8	/* a call, reclaim, compaction, and interrupts on top */
#define GPROF_TRACE_USERS	16	/* a power of two */

/**
 * struct gprof_trace_deferred - a call that has begun, and is told if it lasts
 * @time: when
 * @word: gprof_trace_word()
 * @stack: GPROF_TRACE_STACKS_*, or 0
 * @irq: in an interrupt
 */
struct gprof_trace_deferred {
	u64 time;
	u32 word;
	u32 stack;
	bool irq;
};

/**
 * struct gprof_trace_cpu - one CPU's memory of the words that it has written
 * @buffer: its ring, or NULL
 * @followed: the generation in which a reader knows the running task; GPROF_TRACE_DESYNC: none
 * @running: the task that runs, as the ring says, or NULL: a task outside the target. To be
 *	compared, not looked at; and not by its id, which an exec elsewhere may take from a
 *	leader that ends
 * @running_id: its id in the recorder's pid namespace; not kept for the initial one
 * @generation: for which @epoch was made
 * @epoch: a new number for each generation; numbers of those come again
 * @nr_deferred: how many of @deferred there are
 * @deferred: begins of the running task and of interrupts on top, the outermost first
 * @regs: memory for the registers of a task that is about to have its stack taken
 * @named: by the lower bits of a task's id: epoch and id of one that has a TASK record
 * @places: likewise: where its waits are noted; see trigger_wait.c
 * @soonest: likewise: see gprof_pending_op_switch_quick()
 * @told: by the lower bits of a user's id: bytes that it has said in @epoch; flight mode
 * @told_all: bytes that all have
 * @refused: the @epoch in which it was told that more was lost
 * @waking: task that was woken here last, to be compared; beside triggers on waits
 * @waking_at: when
 *
 * Used by the owning CPU only, without interrupts.
 */
struct gprof_trace_cpu {
	struct gprof_buffer *buffer;
	u32 followed;
	u32 running_id;
	const struct task_struct *running;
	u16 generation;
	u64 epoch;
	u32 nr_deferred;
	struct gprof_trace_deferred deferred[GPROF_TRACE_DEFERRED];
	struct pt_regs regs;
	u64 named[GPROF_TRACE_NAMED];
	u32 told[GPROF_TRACE_USERS];
	u32 told_all;
	u64 refused;
	const struct task_struct *waking;
	u64 waking_at;
	s64 soonest;
	struct gprof_pending_op *places[GPROF_TRACE_PLACES];
};

/**
 * struct gprof_trace - the trace of one recorder
 * @cpus: of each CPU
 * @only_cpus: the target is all that these CPUs do; NULL: it is not
 * @pid_ns: as in struct gprof_sampler; tasks without an id in it are tasks outside the target
 * @whose: tasks
 * @flags: GPROF_TRACE_F_*
 * @stacks: GPROF_TRACE_STACKS_*
 * @min_ns: a call that lasts less is not told; 0: all are
 * @cpu: state of gprof_source_cpu, where there are CPU samples, or NULL
 * @task_set: the processes, where it is made of tasks
 * @sampler: has the rings
 * @charge: pays for @triggers
 * @events: where they fire
 * @triggers: or NULL
 * @notes: hears of annotations, where they are asked for
 * @subs: of the scheduler
 * @on_switch: called by a switch when all held words are written; @min_ns alone
 * @on_waking: and a waking
 * @queues: secret by which queues of cgroups are numbered
 * @kprobes: of events without a tracepoint
 */
struct gprof_trace {
	struct gprof_trace_cpu __percpu *cpus;
	const struct cpumask *only_cpus;
	struct pid_namespace *pid_ns;
	struct gprof_target_match whose;
	u32 flags;
	u32 stacks;
	u64 min_ns;
	void *cpu;
	struct gprof_task_set task_set;
	struct gprof_sampler *sampler;
	struct gprof_charge *charge;
	struct gprof_event_queue *events;
	struct gprof_triggers *triggers;
	struct gprof_notes notes;
	struct gprof_tp_sub subs[GPROF_TRACE_SUBS];
	void (*on_switch)(void *data, bool preempt, struct task_struct *prev,
			  struct task_struct *next, unsigned int state);
	void (*on_waking)(void *data, struct task_struct *task);
#ifdef CONFIG_KPROBES
	siphash_key_t queues;
	struct kprobe kprobes[GPROF_TRACE_KPROBES];
#endif
};

/* Has it an id by which the ring can tell of it? The idle task has, 0. */
static __always_inline bool gprof_trace_can_name(const struct gprof_trace *t,
						 const struct task_struct *task)
{
	return likely(!t->pid_ns) || !task->pid || gprof_pid_in(t->pid_ns, task->pid);
}

/**
 * gprof_trace_has() - are a task's events on this CPU of the target?
 * @t: trace
 * @task: as for gprof_target_matches()
 *
 * Context: Any but NMI, preemption off.
 */
static __always_inline bool gprof_trace_has(const struct gprof_trace *t, struct task_struct *task)
{
	if (!gprof_trace_can_name(t, task))
		return false;
	if (t->only_cpus)
		return cpumask_test_cpu(smp_processor_id(), t->only_cpus);
	return gprof_target_matches(&t->whose, task);
}

static __always_inline u32 gprof_trace_word(u32 what, u32 arg, u32 number)
{
	return arg | what << GPROF_TRACE_ARG_BITS | GPROF_REC_SHORT |
	       number << GPROF_TRACE_TID_SHIFT;
}

/* From here on no reader knows the running task, until it is said again. */
static __always_inline void gprof_trace_desync(struct gprof_trace_cpu *c)
{
	c->followed = GPROF_TRACE_DESYNC;
	if (likely(c->buffer))
		gprof_buffer_look_no_further(c->buffer);
}

/* Hard or soft: one look, where both are told in one word. */
static __always_inline bool gprof_trace_serves_irq(void)
{
#ifdef CONFIG_PREEMPT_RT
	return in_hardirq() || in_serving_softirq();
#else
	return preempt_count() & (HARDIRQ_MASK | SOFTIRQ_OFFSET);
#endif
}

/* A probe on an instruction looks like an NMI, though it is whose instruction it is. */
static inline bool gprof_trace_in_irq(void)
{
	return !in_nmi() && gprof_trace_serves_irq();
}

static __always_inline u32 gprof_trace_what(u32 word)
{
	return word >> GPROF_TRACE_ARG_BITS & 0x1f;
}

static __always_inline bool gprof_trace_is_switch(u32 word)
{
	u32 what = gprof_trace_what(word);

	return what == GPROF_TRACE_SWITCH || (what & ~3U) == GPROF_TRACE_WAIT;
}

static __always_inline u64 *gprof_trace_name(struct gprof_trace_cpu *c, u32 tid)
{
	return &c->named[tid & (GPROF_TRACE_NAMED - 1)];
}

static __always_inline u64 gprof_trace_name_key(const struct gprof_trace_cpu *c, u32 tid)
{
	return c->epoch << 22 | tid;
}

/**
 * struct gprof_trace_event - an event that is not the usual word
 * @word: gprof_trace_word(), 0: nothing but @named, or @note
 * @has_operand: @operand follows
 * @rename: @named gets a record even where it has one
 * @operand: 54 bits
 * @stack: GPROF_TRACE_STACKS_*: has one where that is asked for; 0: none
 * @regs: where it begins; NULL: here
 * @named: task that needs a name, or NULL
 * @comm: that name, NULL: @named->comm
 * @note: an annotation, whose time is filled in, or NULL; without @word
 */
struct gprof_trace_event {
	u32 word;
	bool has_operand;
	bool rename;
	u64 operand;
	u32 stack;
	struct pt_regs *regs;
	struct task_struct *named;
	const char *comm;
	struct gprof_annotation_rec *note;
};

void gprof_trace_begins(struct gprof_trace *t, const struct gprof_trace_event *e);
void gprof_trace_ends(struct gprof_trace *t, const struct gprof_trace_event *e, u32 begin);
void gprof_trace_stack(struct gprof_trace *t, struct gprof_trace_cpu *c, u64 now,
		       struct pt_regs *regs);

bool gprof_trace_can(u32 flags);
int gprof_trace_attach(struct gprof_trace *t);
void gprof_trace_detach(struct gprof_trace *t);
int gprof_trace_attach_calls(struct gprof_trace *t);
void gprof_trace_detach_calls(struct gprof_trace *t);

#endif /* GPROF_TRACE_H */
