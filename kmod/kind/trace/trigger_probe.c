// SPDX-License-Identifier: GPL-2.0-only
/*
 * trigger_probe: system calls, reclaim, interrupts and signals.
 *
 * Each is attached where a trigger asks for it: all but signals slow down every task of
 * the host. The probe of an end is attached first: then a beginning has one.
 */
#include "clock/cycles.h"
#include "compat/trace.h"
#include "probe/tracepoint.h"
#include "task/process.h"
#include "triggers.h"

#include <linux/compat.h>
#include <linux/kernel.h>
#include <linux/preempt.h>
#include <linux/sched/signal.h>
#include <linux/tracepoint.h>

struct irqaction;

/* ---- system calls ---- */

static bool has_call_trigger(const struct gprof_triggers *g, long number)
{
	unsigned int i;

	for (i = 0; i < g->nr; i++) {
		if (g->rules[i].what == GPROF_TRIGGER_SYSCALL &&
		    (g->rules[i].number == GPROF_TRIGGER_ANY || g->rules[i].number == number))
			return true;
	}
	return false;
}

/* Numbers of 32-bit programs are others, by which none is asked for. */
static void trigger_call_entered(void *data, struct pt_regs *regs, long number)
{
	if (in_compat_syscall())
		number = GPROF_TRIGGER_ANY;
	if (has_call_trigger(data, number))
		gprof_pending_op_begins(data, GPROF_PENDING_SYSCALL, number);
}

static void trigger_call_left(void *data, struct pt_regs *regs, long ret)
{
	gprof_pending_op_ends(data, GPROF_PENDING_SYSCALL);
}

/* ---- signals ---- */

/* Has nobody told of this process? Threads that end at the same time all see no other. */
static bool is_first_of_group(struct gprof_triggers *g)
{
	const struct task_struct *leader = current->group_leader;
	s64 key = leader->start_boottime ^ (s64)current->tgid << 40;
	atomic64_t *place = &g->dead_groups[current->tgid & (GPROF_DEAD_GROUPS - 1)];

	return atomic64_xchg(place, key) != key;
}

/* As wait() has it: of a process the signal that ended it, not always its last thread's. */
static int signal_of(const struct gprof_triggers *g)
{
	const struct signal_struct *s = current->signal;
	bool all = !g->trace->whose.thread && s->flags & SIGNAL_GROUP_EXIT;

	return (all ? s->group_exit_code : current->exit_code) & 0x7f;
}

/* Of a process the last thread: a kill is of all of it. */
static void trigger_exited(void *data, struct task_struct *task)
{
	struct gprof_triggers *g = data;
	int sig = signal_of(g);
	unsigned int i;

	if (!sig || !gprof_trace_has(g->trace, current))
		return;
	if (!g->trace->whose.thread &&
	    (atomic_read(&current->signal->live) || !is_first_of_group(g)))
		return;
	for (i = 0; i < g->nr; i++) {
		struct gprof_trigger_rule *r = &g->rules[i];

		if (r->what == GPROF_TRIGGER_SIGNAL &&
		    (r->number == GPROF_TRIGGER_ANY || r->number == sig))
			gprof_trigger_fire(r, current, 0, sig, 0);
	}
}

/* ---- interrupts and reclaim ---- */

static void begin_on_cpu(u64 *since)
{
	*since = gprof_cycles();
}

static void end_on_cpu(struct gprof_triggers *g, u32 what, u64 *since, s32 number)
{
	u64 then = *since;

	*since = 0;
	if (then && gprof_trace_has(g->trace, current))
		gprof_trigger_lasted(g, what, current, 0,
				     gprof_since(gprof_cycles_ns(gprof_cycles() - then)), number);
}

static void trigger_irq_entered(void *data, int irq, struct irqaction *action)
{
	struct gprof_triggers *g = data;

	preempt_disable_notrace();
	begin_on_cpu(&this_cpu_ptr(g->cpus)->irq);
	preempt_enable_notrace();
}

static void trigger_irq_left(void *data, int irq, struct irqaction *action, int ret)
{
	struct gprof_triggers *g = data;

	preempt_disable_notrace();
	end_on_cpu(g, GPROF_TRIGGER_IRQ, &this_cpu_ptr(g->cpus)->irq, irq);
	preempt_enable_notrace();
}

#ifdef CONFIG_X86_64
static void trigger_vector_entered(void *data, int vector)
{
	trigger_irq_entered(data, vector, NULL);
}

static void trigger_vector_left(void *data, int vector)
{
	trigger_irq_left(data, -vector, NULL, 0);
}
#endif

static void trigger_softirq_entered(void *data, unsigned int number)
{
	struct gprof_triggers *g = data;

	preempt_disable_notrace();
	begin_on_cpu(&this_cpu_ptr(g->cpus)->softirq);
	preempt_enable_notrace();
}

static void trigger_softirq_left(void *data, unsigned int number)
{
	struct gprof_triggers *g = data;

	preempt_disable_notrace();
	end_on_cpu(g, GPROF_TRIGGER_SOFTIRQ, &this_cpu_ptr(g->cpus)->softirq, number);
	preempt_enable_notrace();
}

static void trigger_reclaim_began(GPROF_RECLAIM_BEGIN_ARGS)
{
	preempt_disable_notrace();
	gprof_pending_op_begins(data, GPROF_PENDING_RECLAIM, GPROF_TRIGGER_ANY);
	preempt_enable_notrace();
}

static void trigger_reclaim_ended(GPROF_RECLAIM_END_ARGS)
{
	preempt_disable_notrace();
	gprof_pending_op_ends(data, GPROF_PENDING_RECLAIM);
	preempt_enable_notrace();
}

/* Those that a kernel does not have it has no events for either. */
static const struct {
	u32 what;
	const char *name;
	void *probe;
} trigger_probes[] = {
	{ GPROF_TRIGGER_IRQ, "irq_handler_exit", trigger_irq_left },
	{ GPROF_TRIGGER_IRQ, "irq_handler_entry", trigger_irq_entered },
#ifdef CONFIG_X86_64
	{ GPROF_TRIGGER_IRQ, "local_timer_exit", trigger_vector_left },
	{ GPROF_TRIGGER_IRQ, "local_timer_entry", trigger_vector_entered },
	{ GPROF_TRIGGER_IRQ, "reschedule_exit", trigger_vector_left },
	{ GPROF_TRIGGER_IRQ, "reschedule_entry", trigger_vector_entered },
	{ GPROF_TRIGGER_IRQ, "call_function_exit", trigger_vector_left },
	{ GPROF_TRIGGER_IRQ, "call_function_entry", trigger_vector_entered },
	{ GPROF_TRIGGER_IRQ, "call_function_single_exit", trigger_vector_left },
	{ GPROF_TRIGGER_IRQ, "call_function_single_entry", trigger_vector_entered },
	{ GPROF_TRIGGER_IRQ, "irq_work_exit", trigger_vector_left },
	{ GPROF_TRIGGER_IRQ, "irq_work_entry", trigger_vector_entered },
#endif
	{ GPROF_TRIGGER_SOFTIRQ, "softirq_exit", trigger_softirq_left },
	{ GPROF_TRIGGER_SOFTIRQ, "softirq_entry", trigger_softirq_entered },
	{ GPROF_TRIGGER_RECLAIM, "mm_vmscan_direct_reclaim_end", trigger_reclaim_ended },
	{ GPROF_TRIGGER_RECLAIM, "mm_vmscan_direct_reclaim_begin", trigger_reclaim_began },
	{ GPROF_TRIGGER_RECLAIM, "mm_vmscan_memcg_reclaim_end", trigger_reclaim_ended },
	{ GPROF_TRIGGER_RECLAIM, "mm_vmscan_memcg_reclaim_begin", trigger_reclaim_began },
};

/**
 * gprof_trigger_can() - does this kernel tell the events of a trigger?
 * @what: GPROF_TRIGGER_*
 *
 * Context: Task.
 */
bool gprof_trigger_can(u32 what)
{
	switch (what) {
	case GPROF_TRIGGER_SYSCALL:
		return gprof_trace_can(GPROF_TRACE_F_SYSCALLS);
	case GPROF_TRIGGER_IRQ:
	case GPROF_TRIGGER_SOFTIRQ:
		return gprof_trace_can(GPROF_TRACE_F_IRQS);
	case GPROF_TRIGGER_RECLAIM:
		return gprof_trace_can(GPROF_TRACE_F_RECLAIM);
	}
	return true;
}

/**
 * gprof_trigger_set_subs() - which tracepoints but the scheduler's are of use
 * @g: triggers
 *
 * Context: Task.
 */
void gprof_trigger_set_subs(struct gprof_triggers *g)
{
	g->subs[GPROF_TRIGGER_SUB_SYS_EXIT].tp = GPROF_TP_SYS_EXIT;
	g->subs[GPROF_TRIGGER_SUB_SYS_EXIT].on_call = trigger_call_left;
	g->subs[GPROF_TRIGGER_SUB_SYS_ENTER].tp = GPROF_TP_SYS_ENTER;
	g->subs[GPROF_TRIGGER_SUB_SYS_ENTER].on_call = trigger_call_entered;
	g->subs[GPROF_TRIGGER_SUB_EXIT].tp = GPROF_TP_EXIT;
	g->subs[GPROF_TRIGGER_SUB_EXIT].on_task = trigger_exited;
	if (gprof_triggers_want(g, GPROF_TRIGGER_SYSCALL))
		g->joined |= 1U << GPROF_TRIGGER_SUB_SYS_EXIT | 1U << GPROF_TRIGGER_SUB_SYS_ENTER;
	if (gprof_triggers_want(g, GPROF_TRIGGER_SIGNAL))
		g->joined |= 1U << GPROF_TRIGGER_SUB_EXIT;
}

/**
 * gprof_trigger_detach() - end it; no call is under way when it returns
 * @g: triggers
 *
 * Context: Task.
 */
void gprof_trigger_detach(struct gprof_triggers *g)
{
	bool any = g->attached || g->reached;

	while (g->reached)
		gprof_trigger_unreach(&g->rules[--g->reached]);
	while (g->attached) {
		g->attached--;
		if (gprof_triggers_want(g, trigger_probes[g->attached].what))
			gprof_tracepoint_detach_nowait(trigger_probes[g->attached].name,
						       trigger_probes[g->attached].probe, g);
	}
	if (any)
		tracepoint_synchronize_unregister();
}

/**
 * gprof_trigger_attach() - attach to events that are not tracepoints
 * @g: triggers
 *
 * Context: Task.
 * Return: 0 or a negative errno; gprof_trigger_detach() is due then too.
 */
int gprof_trigger_attach(struct gprof_triggers *g)
{
	int err;

	for (; g->attached < ARRAY_SIZE(trigger_probes); g->attached++) {
		if (!gprof_triggers_want(g, trigger_probes[g->attached].what))
			continue;
		err = gprof_tracepoint_attach(trigger_probes[g->attached].name,
					      trigger_probes[g->attached].probe, g);
		if (err && err != -ENOENT)
			return err;
	}
	for (; g->reached < g->nr; g->reached++) {
		err = gprof_trigger_reach(&g->rules[g->reached]);
		if (err)
			return err;
	}
	return 0;
}
