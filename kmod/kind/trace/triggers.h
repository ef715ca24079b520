/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * triggers: those of one trace and the states that go on, for the files of this room.
 */
#ifndef GPROF_TRIGGERS_H
#define GPROF_TRIGGERS_H

#include "compat/sched.h"
#include "probe/tp_mux.h"
#include "trace.h"
#include "user/worker.h"

#include <linux/atomic.h>
#include <linux/build_bug.h>
#include <linux/gprof.h>
#include <linux/hash.h>
#include <linux/mutex.h>
#include <linux/percpu-defs.h>
#include <linux/types.h>

struct gprof_charge;
struct gprof_counters;
struct gprof_event_queue;
struct gprof_filter;
struct trace_event_file;

/* States that last; in the order of GPROF_TRIGGER_*. */
enum gprof_pending_op_kind {
	GPROF_PENDING_DELAY,
	GPROF_PENDING_OFF_CPU,
	GPROF_PENDING_BLOCKED,
	GPROF_PENDING_SYSCALL,
	GPROF_PENDING_RECLAIM,
	GPROF_PENDING_NR,
};

/* The kernel's tracepoints that triggers join; the trace itself passes on the events of its own. */
enum gprof_trigger_sub {
	GPROF_TRIGGER_SUB_SYS_EXIT,
	GPROF_TRIGGER_SUB_SYS_ENTER,
	GPROF_TRIGGER_SUB_EXIT,
	/* These of no use while no switch is seen. */
	GPROF_TRIGGER_SUB_WAKEUP,
	GPROF_TRIGGER_SUB_WAKEUP_NEW,
	GPROF_TRIGGER_SUBS,
};

#define GPROF_TRIGGER_SUBS_FOLLOW	GPROF_TRIGGER_SUB_WAKEUP

#define GPROF_DEAD_GROUPS	16	/* a power of two */

/**
 * struct gprof_pending_op - the states of one task that last
 * @task: struct task_struct, 0: free; at and behind the place of gprof_pending_op_home()
 * @since: by GPROF_PENDING_*: when it began; 0: it does not last. See gprof_since(). That of
 *	GPROF_PENDING_OFF_CPU stays while the task runs, and says why it left (SINCE_WHY): of a
 *	task that would have gone on, and of a blocked one, there is no other
 * @number: of the system call
 *
 * Written where the task runs, or under the lock of its run queue where it does not;
 * the work item that looks for states that go on sets the bits of triggers.
 */
struct gprof_pending_op {
	atomic_long_t task;
	u64 since[GPROF_PENDING_NR];
	s32 number;
} __aligned(64);

/**
 * struct gprof_trigger_rule - a trigger
 * @all: of the same recorder
 * @what: GPROF_TRIGGER_*
 * @index: the number it goes by
 * @number: see struct gprof_trigger
 * @threshold_ns: likewise
 * @interval_ns: likewise
 * @own: signal_struct of the process that set it, where the target is the host or CPUs; is not
 *	looked into
 * @next: when it may fire again
 * @fired: how often it has
 * @suppressed: how often it would have
 * @file: the kernel's trace event, which it holds; or NULL
 * @filter: which of its hits are meant, or NULL: each
 * @counters: of it, where there is a filter
 */
struct gprof_trigger_rule {
	struct gprof_triggers *all;
	u32 what;
	u32 index;
	s32 number;
	u64 threshold_ns;
	u64 interval_ns;
	const void *own;
	atomic64_t next;
	atomic64_t fired;
	atomic64_t suppressed;
	struct trace_event_file *file;
	struct gprof_filter *filter;
	struct gprof_counters *counters;
};

/**
 * struct gprof_trigger_cpu - the states of one CPU that last
 * @irq: gprof_cycles() when the interrupt came that it is in; 0: none
 * @softirq: likewise
 *
 * Used by the owning CPU only, with preemption off, in that context.
 */
struct gprof_trigger_cpu {
	u64 irq;
	u64 softirq;
};

/**
 * struct gprof_triggers - those of one trace
 * @trace: whose tasks, and in which rings
 * @events: where they fire
 * @charge: pays for the memory
 * @rules: triggers
 * @nr: how many
 * @wanted: bit of each GPROF_TRIGGER_* of which there is one
 * @least: by GPROF_PENDING_*: a state that lasts as long may be a trigger's; S64_MAX: none is
 * @soonest: a task off the CPU for less has fired none: one that waits for a CPU is off it
 * @pending_ops: by task
 * @bits: as many as two to the power of these
 * @shift: the part of a hash that is left by this says where
 * @cpus: of each CPU
 * @subs: by GPROF_TRIGGER_SUB_*
 * @joined: bit of each of @subs
 * @attached: how many of the probes of trigger_probe.c are, those not asked for included
 * @reached: how many of @rules have their tracepoint, those that want none included
 * @dead_groups: processes of which it was told that a signal ended them, lossy
 * @scan: looks for states that go on
 * @scans: it was made, and switches are to be passed on
 * @follows: every switch is told from now on, the last one of each task too
 * @scanning: protects @started against it
 * @started: the tracepoints are joined
 */
struct gprof_triggers {
	struct gprof_trace *trace;
	struct gprof_event_queue *events;
	struct gprof_charge *charge;
	struct gprof_trigger_rule rules[GPROF_TRIGGERS_MAX];
	unsigned int nr;
	u32 wanted;
	s64 least[GPROF_PENDING_NR];
	s64 soonest;
	struct gprof_pending_op *pending_ops;
	unsigned int bits;
	unsigned int shift;
	struct gprof_trigger_cpu __percpu *cpus;
	struct gprof_tp_sub subs[GPROF_TRIGGER_SUBS];
	u32 joined;
	unsigned int attached;
	unsigned int reached;
	atomic64_t dead_groups[GPROF_DEAD_GROUPS];
	struct gprof_work scan;
	bool scans;
	bool follows;
	struct mutex scanning;		/* protects started */
	bool started;
};

/*
 * A time in nanoseconds, below it those triggers that have fired for the state that began then,
 * and below these why a task left its CPU, GPROF_TRACE_PREV_*: all that must change at once where
 * the end of a wait meets the look that finds it going on. Only differences mean something, of
 * less than 26 days.
 */
#define GPROF_SINCE_WHY		0xfULL
#define GPROF_SINCE_FIRED_SHIFT	4
#define GPROF_SINCE_SHIFT	(GPROF_SINCE_FIRED_SHIFT + GPROF_TRIGGERS_MAX)
#define GPROF_SINCE_TIME	(~0ULL << GPROF_SINCE_SHIFT)

static __always_inline u64 gprof_since(u64 ns)
{
	return ns << GPROF_SINCE_SHIFT;
}

static __always_inline u64 gprof_since_fired(u32 index)
{
	return 1ULL << (GPROF_SINCE_FIRED_SHIFT + index);
}

/* From @since to @now, still shifted. */
static __always_inline s64 gprof_since_duration(u64 since, u64 now)
{
	return (now & GPROF_SINCE_TIME) - (since & GPROF_SINCE_TIME);
}

static __always_inline unsigned long gprof_pending_op_home(const struct gprof_triggers *g,
							   const struct task_struct *task)
{
	return ((u64)(unsigned long)task * GOLDEN_RATIO_64) >> g->shift;
}

static inline bool gprof_triggers_want(const struct gprof_triggers *g, u32 what)
{
	return g->wanted & 1U << what;
}

/*
 * Threads of the kernel and of the recording process sleep while there is nothing to do: on a whole
 * host they would fire for that all the time.
 */
static inline bool gprof_trigger_spares(const struct gprof_trigger_rule *r,
					const struct task_struct *task)
{
	return r->what == GPROF_TRIGGER_OFF_CPU &&
	       (task->flags & PF_KTHREAD || (r->own && READ_ONCE(task->signal) == r->own));
}

/* trigger_probe.c */
bool gprof_trigger_can(u32 what);
void gprof_trigger_set_subs(struct gprof_triggers *g);
int gprof_trigger_attach(struct gprof_triggers *g);
void gprof_trigger_detach(struct gprof_triggers *g);

/* trigger_tracepoint.c */
int gprof_trigger_find(struct gprof_trigger_rule *r, const struct gprof_trigger *t,
		       const char *name, u32 *reason);
void gprof_trigger_lose(struct gprof_trigger_rule *r);
int gprof_trigger_reach(struct gprof_trigger_rule *r);
void gprof_trigger_unreach(struct gprof_trigger_rule *r);

/* trigger_wait.c */
int gprof_pending_op_init(struct gprof_triggers *g);
void gprof_pending_op_destroy(struct gprof_triggers *g);
void gprof_pending_op_clear(struct gprof_triggers *g);
void gprof_pending_op_set_subs(struct gprof_triggers *g);
void gprof_pending_op_switch(struct gprof_triggers *g, struct gprof_trace_cpu *c,
			     struct task_struct *prev, struct task_struct *next, u32 why);
void gprof_pending_op_dies(struct gprof_triggers *g, struct task_struct *task);
void gprof_pending_op_forget(struct gprof_triggers *g);
void gprof_pending_op_begins(struct gprof_triggers *g, enum gprof_pending_op_kind kind, s32 number);
void gprof_pending_op_ends(struct gprof_triggers *g, enum gprof_pending_op_kind kind);

/* trigger_scan.c */
bool gprof_pending_op_has_other(const struct gprof_triggers *g, struct task_struct *task);
u64 gprof_pending_op_scan(struct gprof_work *e, bool awaited);

static __always_inline struct task_struct *gprof_pending_op_task_at(const struct gprof_triggers *g,
								    unsigned int at)
{
	return (struct task_struct *)atomic_long_read(&g->pending_ops[at].task);
}

static inline bool gprof_waits_since_it_left(u64 off)
{
	u64 why = off & GPROF_SINCE_WHY;

	return off && (why == GPROF_TRACE_PREV_PREEMPTED || why == GPROF_TRACE_PREV_YIELDED);
}

static inline bool gprof_blocked_since_it_left(u64 off)
{
	return (off & GPROF_SINCE_WHY) == GPROF_TRACE_PREV_BLOCKED;
}

/* Since when does a task that left at @off wait for a CPU? 0: it does not. */
static inline u64 gprof_pending_op_waits_since(const struct gprof_pending_op *l, u64 off)
{
	return gprof_waits_since_it_left(off) ? off : READ_ONCE(l->since[GPROF_PENDING_DELAY]);
}

static inline bool gprof_pending_op_is_long(const struct gprof_triggers *g,
					    enum gprof_pending_op_kind kind, u64 since, u64 now)
{
	return since && gprof_since_duration(since, now) >= g->least[kind];
}

static __always_inline struct gprof_pending_op *
gprof_pending_op_home_of(const struct gprof_triggers *g, const struct task_struct *task)
{
	return &g->pending_ops[gprof_pending_op_home(g, task)];
}

static __always_inline bool gprof_pending_op_is_of(const struct gprof_pending_op *l,
						   const struct task_struct *task)
{
	/* Another writer at the same time neither finds nor leaves this task there. */
	return data_race(l->task.counter) == (long)task;
}

/**
 * gprof_pending_op_switch_quick() - a switch that is as most are, and fires nothing
 * @c: this CPU's
 * @prev: gives the CPU to
 * @next: comes
 * @since: now, and why @prev leaves, which is not for good
 *
 * Both have their place where it was last found. The time when @next had left stays there: nobody
 * looks at a task that runs. One look tells of both waits, and perhaps wrongly. Counted in
 * instructions.
 *
 * Context: Under the lock of the run queue.
 * Return: whether it was; otherwise gprof_pending_op_switch() is to be called.
 */
static __always_inline bool gprof_pending_op_switch_quick(struct gprof_trace_cpu *c,
							  struct task_struct *prev,
							  struct task_struct *next, u64 since)
{
	struct gprof_pending_op *from = c->places[(u8)prev->pid];
	struct gprof_pending_op *to = c->places[(u8)next->pid];

	BUILD_BUG_ON(GPROF_TRACE_PLACES != U8_MAX + 1);
	if (unlikely(!gprof_pending_op_is_of(from, prev)) ||
	    unlikely(!gprof_pending_op_is_of(to, next)))
		return false;
	WRITE_ONCE(from->since[GPROF_PENDING_OFF_CPU], since);
	/* A bit that is set meanwhile is no matter. */
	if (unlikely((s64)(since - data_race(to->since[GPROF_PENDING_OFF_CPU])) >= c->soonest))
		return false;
	WRITE_ONCE(to->since[GPROF_PENDING_DELAY], 0);
	return true;
}

/* trigger_fire.c */
void gprof_trigger_suppress(struct gprof_trigger_rule *r);
void gprof_trigger_fire(struct gprof_trigger_rule *r, struct task_struct *task, u64 ns,
			s32 number, u32 flags);
void gprof_trigger_lasted(struct gprof_triggers *g, u32 what, struct task_struct *task,
			  u64 since, u64 now, s32 number);

#endif /* GPROF_TRIGGERS_H */
