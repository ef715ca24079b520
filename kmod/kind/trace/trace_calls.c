// SPDX-License-Identifier: GPL-2.0-only
/*
 * trace_calls: system calls, interrupts, page faults, reclaim, frequency and throttling.
 *
 * All of them cost every task of the host something, so that they are attached for those
 * recorders alone that asked for them.
 *
 * A probe on a function of the kernel finds events that have no tracepoint:
 * user page faults (amd64 has one, arm64 none), and cgroups that have used up their time.
 * Whether that function is there to be probed is known when it has been tried.
 */
#include "compat/trace.h"
#include "probe/tracepoint.h"
#include "trace.h"
#include "trace_emit.h"

#include <linux/compat.h>
#include <linux/err.h>
#include <linux/kernel.h>
#include <linux/mm.h>
#include <linux/mutex.h>
#include <linux/ptrace.h>
#include <linux/random.h>
#include <linux/sched/task_stack.h>
#include <linux/siphash.h>

struct irqaction;

/* About current. */
static void begins(struct gprof_trace *t, const struct gprof_trace_event *e)
{
	preempt_disable_notrace();
	if (gprof_trace_has(t, current))
		gprof_trace_begins(t, e);
	preempt_enable_notrace();
}

static void begins_word(struct gprof_trace *t, u32 what, u32 arg, u32 number)
{
	struct gprof_trace_event e = { .word = gprof_trace_word(what, arg, number) };

	begins(t, &e);
}

/* Each end's type is that of its begin and 1. */
static void ends(struct gprof_trace *t, u32 begin, u32 arg, u32 number)
{
	struct gprof_trace_event e = { .word = gprof_trace_word(begin + 1, arg, number) };

	preempt_disable_notrace();
	if (gprof_trace_has(t, current))
		gprof_trace_ends(t, &e, begin);
	preempt_enable_notrace();
}

static_assert(GPROF_TRACE_SYSCALL_EXIT == GPROF_TRACE_SYSCALL_ENTER + 1);
static_assert(GPROF_TRACE_IRQ_EXIT == GPROF_TRACE_IRQ_ENTER + 1);
static_assert(GPROF_TRACE_SOFTIRQ_EXIT == GPROF_TRACE_SOFTIRQ_ENTER + 1);
static_assert(GPROF_TRACE_RECLAIM_END == GPROF_TRACE_RECLAIM_BEGIN + 1);
static_assert(GPROF_TRACE_COMPACT_END == GPROF_TRACE_COMPACT_BEGIN + 1);

static void call_entered(void *data, struct pt_regs *regs, long id)
{
	struct gprof_trace_event e = {
		.word = gprof_trace_word(GPROF_TRACE_SYSCALL_ENTER, in_compat_syscall(), id),
		.stack = GPROF_TRACE_STACKS_SYSCALLS,
		.regs = regs,
	};

	begins(data, &e);
}

static void call_left(void *data, struct pt_regs *regs, long ret)
{
	ends(data, GPROF_TRACE_SYSCALL_ENTER, 0, IS_ERR_VALUE(ret) ? -ret : 0);
}

static void irq_entered(void *data, int irq, struct irqaction *action)
{
	begins_word(data, GPROF_TRACE_IRQ_ENTER, 0, irq);
}

static void irq_left(void *data, int irq, struct irqaction *action, int ret)
{
	ends(data, GPROF_TRACE_IRQ_ENTER, 0, irq);
}

#ifdef CONFIG_X86_64
static void vector_entered(void *data, int vector)
{
	begins_word(data, GPROF_TRACE_IRQ_ENTER, 1, vector);
}

static void vector_left(void *data, int vector)
{
	ends(data, GPROF_TRACE_IRQ_ENTER, 1, vector);
}
#endif

static void softirq_entered(void *data, unsigned int nr)
{
	begins_word(data, GPROF_TRACE_SOFTIRQ_ENTER, 0, nr);
}

static void softirq_left(void *data, unsigned int nr)
{
	ends(data, GPROF_TRACE_SOFTIRQ_ENTER, 0, nr);
}

/* Direct reclaim, or compaction. */
static void reclaim_begins(struct gprof_trace *t, u32 what, u32 arg)
{
	struct gprof_trace_event e = {
		.word = gprof_trace_word(what, arg, 0),
		.stack = GPROF_TRACE_STACKS_RECLAIM,
	};

	begins(t, &e);
}

static void reclaim_began(GPROF_RECLAIM_BEGIN_ARGS)
{
	reclaim_begins(data, GPROF_TRACE_RECLAIM_BEGIN, 0);
}

static void reclaim_ended(GPROF_RECLAIM_END_ARGS)
{
	ends(data, GPROF_TRACE_RECLAIM_BEGIN, 0, 0);
}

static void cgroup_reclaim_began(GPROF_RECLAIM_BEGIN_ARGS)
{
	reclaim_begins(data, GPROF_TRACE_RECLAIM_BEGIN, 1);
}

static void cgroup_reclaim_ended(GPROF_RECLAIM_END_ARGS)
{
	ends(data, GPROF_TRACE_RECLAIM_BEGIN, 1, 0);
}

static void compaction_began(GPROF_COMPACT_BEGIN_ARGS)
{
	reclaim_begins(data, GPROF_TRACE_COMPACT_BEGIN, 0);
}

static void compaction_ended(GPROF_COMPACT_END_ARGS)
{
	ends(data, GPROF_TRACE_COMPACT_BEGIN, 0, 0);
}

/* Of any CPU, told by any. */
static void frequency(void *data, unsigned int khz, unsigned int cpu)
{
	struct gprof_trace *t = data;
	struct gprof_trace_event e = {
		.word = gprof_trace_word(GPROF_TRACE_FREQ, 0, cpu),
		.has_operand = true,
		.operand = khz,
	};

	if (!t->only_cpus || (cpu < nr_cpu_ids && cpumask_test_cpu(cpu, t->only_cpus)))
		gprof_trace_write(t, &e);
}

struct probe {
	u32 flag;
	const char *name;
	void *probe;
};

/*
 * Those that a kernel does not have it has no events for either. The probe of an end is
 * attached first and detached last: each beginning has an end.
 */
static const struct probe probes[] = {
	{ GPROF_TRACE_F_SYSCALLS, "sys_exit", call_left },
	{ GPROF_TRACE_F_SYSCALLS, "sys_enter", call_entered },
	{ GPROF_TRACE_F_IRQS, "irq_handler_exit", irq_left },
	{ GPROF_TRACE_F_IRQS, "irq_handler_entry", irq_entered },
	{ GPROF_TRACE_F_IRQS, "softirq_exit", softirq_left },
	{ GPROF_TRACE_F_IRQS, "softirq_entry", softirq_entered },
#ifdef CONFIG_X86_64
	/* Those of the CPU itself are not interrupts with a number. */
	{ GPROF_TRACE_F_IRQS, "local_timer_exit", vector_left },
	{ GPROF_TRACE_F_IRQS, "local_timer_entry", vector_entered },
	{ GPROF_TRACE_F_IRQS, "reschedule_exit", vector_left },
	{ GPROF_TRACE_F_IRQS, "reschedule_entry", vector_entered },
	{ GPROF_TRACE_F_IRQS, "call_function_exit", vector_left },
	{ GPROF_TRACE_F_IRQS, "call_function_entry", vector_entered },
	{ GPROF_TRACE_F_IRQS, "call_function_single_exit", vector_left },
	{ GPROF_TRACE_F_IRQS, "call_function_single_entry", vector_entered },
	{ GPROF_TRACE_F_IRQS, "irq_work_exit", vector_left },
	{ GPROF_TRACE_F_IRQS, "irq_work_entry", vector_entered },
	{ GPROF_TRACE_F_IRQS, "x86_platform_ipi_exit", vector_left },
	{ GPROF_TRACE_F_IRQS, "x86_platform_ipi_entry", vector_entered },
	{ GPROF_TRACE_F_IRQS, "threshold_apic_exit", vector_left },
	{ GPROF_TRACE_F_IRQS, "threshold_apic_entry", vector_entered },
	{ GPROF_TRACE_F_IRQS, "deferred_error_apic_exit", vector_left },
	{ GPROF_TRACE_F_IRQS, "deferred_error_apic_entry", vector_entered },
	{ GPROF_TRACE_F_IRQS, "thermal_apic_exit", vector_left },
	{ GPROF_TRACE_F_IRQS, "thermal_apic_entry", vector_entered },
	{ GPROF_TRACE_F_IRQS, "error_apic_exit", vector_left },
	{ GPROF_TRACE_F_IRQS, "error_apic_entry", vector_entered },
	{ GPROF_TRACE_F_IRQS, "spurious_apic_exit", vector_left },
	{ GPROF_TRACE_F_IRQS, "spurious_apic_entry", vector_entered },
#endif
	{ GPROF_TRACE_F_RECLAIM, "mm_vmscan_direct_reclaim_end", reclaim_ended },
	{ GPROF_TRACE_F_RECLAIM, "mm_vmscan_direct_reclaim_begin", reclaim_began },
	{ GPROF_TRACE_F_RECLAIM, "mm_vmscan_memcg_reclaim_end", cgroup_reclaim_ended },
	{ GPROF_TRACE_F_RECLAIM, "mm_vmscan_memcg_reclaim_begin", cgroup_reclaim_began },
	{ GPROF_TRACE_F_RECLAIM, "mm_compaction_end", compaction_ended },
	{ GPROF_TRACE_F_RECLAIM, "mm_compaction_begin", compaction_began },
	{ GPROF_TRACE_F_FREQ, "cpu_frequency", frequency },
};

static void detach_probes(struct gprof_trace *t, unsigned int nr)
{
	while (nr--) {
		if (t->flags & probes[nr].flag)
			gprof_tracepoint_detach_nowait(probes[nr].name, probes[nr].probe, t);
	}
}

static int attach_probes(struct gprof_trace *t)
{
	unsigned int i;
	int err;

	for (i = 0; i < ARRAY_SIZE(probes); i++) {
		if (!(t->flags & probes[i].flag))
			continue;
		err = gprof_tracepoint_attach(probes[i].name, probes[i].probe, t);
		if (err && err != -ENOENT) {
			detach_probes(t, i);
			return err;
		}
	}
	return 0;
}

static void __maybe_unused write_event(struct gprof_trace *t, const struct gprof_trace_event *e)
{
	preempt_disable_notrace();
	if (gprof_trace_has(t, current))
		gprof_trace_write(t, e);
	preempt_enable_notrace();
}

#ifdef CONFIG_KPROBES
/* handle_mm_fault(vma, address, flags, regs), on behalf of user code? */
static int faulted(struct kprobe *kp, struct pt_regs *regs)
{
	struct gprof_trace *t = container_of(kp, struct gprof_trace, kprobes[0]);
	unsigned long flags = regs_get_kernel_argument(regs, 2);
	u32 arg = (flags & FAULT_FLAG_WRITE ? GPROF_TRACE_FAULT_WRITE : 0) |
		  (flags & FAULT_FLAG_INSTRUCTION ? GPROF_TRACE_FAULT_EXEC : 0) |
		  (flags & FAULT_FLAG_TRIED ? GPROF_TRACE_FAULT_AGAIN : 0);
	struct gprof_trace_event e = {
		.word = gprof_trace_word(GPROF_TRACE_FAULT, arg, 0),
		.has_operand = true,
		.operand = regs_get_kernel_argument(regs, 1) >> 12,
		.stack = GPROF_TRACE_STACKS_FAULTS,
		.regs = task_pt_regs(current),
	};

	if (flags & FAULT_FLAG_USER)
		write_event(t, &e);
	return 0;
}

/*
 * The queue of a cgroup on a CPU, by a number that tells nothing of where it is. Two may
 * have the same, of four million.
 */
static void write_queue(struct gprof_trace *t, u32 what, struct pt_regs *regs)
{
	u64 hash = siphash_1u64(regs_get_kernel_argument(regs, 0), &t->queues);
	u32 number = (u32)hash & GPROF_TRACE_NUMBER_MAX;
	struct gprof_trace_event e = { .word = gprof_trace_word(what, 0, number ?: 1) };

	write_event(t, &e);
}

static int throttled(struct kprobe *kp, struct pt_regs *regs)
{
	write_queue(container_of(kp, struct gprof_trace, kprobes[1]), GPROF_TRACE_THROTTLE, regs);
	return 0;
}

static int unthrottled(struct kprobe *kp, struct pt_regs *regs)
{
	write_queue(container_of(kp, struct gprof_trace, kprobes[2]), GPROF_TRACE_UNTHROTTLE, regs);
	return 0;
}

static const struct {
	u32 flag;
	const char *symbol;
	kprobe_pre_handler_t handler;
} functions[GPROF_TRACE_KPROBES] = {
	{ GPROF_TRACE_F_FAULTS, "handle_mm_fault", faulted },
	{ GPROF_TRACE_F_THROTTLE, "throttle_cfs_rq", throttled },
	{ GPROF_TRACE_F_THROTTLE, "unthrottle_cfs_rq", unthrottled },
};

static void detach_functions(struct gprof_trace *t, unsigned int nr)
{
	while (nr--) {
		if (t->flags & functions[nr].flag)
			unregister_kprobe(&t->kprobes[nr]);
	}
}

static int attach_functions(struct gprof_trace *t)
{
	unsigned int i;
	int err;

	get_random_bytes(&t->queues, sizeof(t->queues));
	for (i = 0; i < ARRAY_SIZE(functions); i++) {
		if (!(t->flags & functions[i].flag))
			continue;
		t->kprobes[i] = (struct kprobe){
			.symbol_name = functions[i].symbol,
			.pre_handler = functions[i].handler,
		};
		err = register_kprobe(&t->kprobes[i]);
		if (err) {
			detach_functions(t, i);
			return err;
		}
	}
	return 0;
}

static bool can_probe(const char *symbol)
{
	struct kprobe kp = { .symbol_name = symbol, .flags = KPROBE_FLAG_DISABLED };

	if (register_kprobe(&kp))
		return false;
	unregister_kprobe(&kp);
	return true;
}

/* Tried once; a caller may ask for INFO often. */
static bool has_functions(u32 flags)
{
	static DEFINE_MUTEX(mutex);	/* protects the variables below */
	static u32 there;
	static bool tried;
	unsigned int i;
	u32 found;

	mutex_lock(&mutex);
	if (!tried) {
		there = GPROF_TRACE_F_FAULTS | GPROF_TRACE_F_THROTTLE;
		for (i = 0; i < ARRAY_SIZE(functions); i++) {
			if (!can_probe(functions[i].symbol))
				there &= ~functions[i].flag;
		}
		tried = true;
	}
	found = there;
	mutex_unlock(&mutex);
	return !(flags & ~found);
}
#else
static int attach_functions(struct gprof_trace *t)
{
	return 0;
}

static void detach_functions(struct gprof_trace *t, unsigned int nr)
{
}

static bool has_functions(u32 flags)
{
	return !flags;
}
#endif

/**
 * gprof_trace_can() - does this kernel have the events that are asked for?
 * @flags: GPROF_TRACE_F_*
 *
 * Context: Task.
 */
bool gprof_trace_can(u32 flags)
{
	u32 functions = flags & (GPROF_TRACE_F_FAULTS | GPROF_TRACE_F_THROTTLE);

	if (flags & GPROF_TRACE_F_SYSCALLS && !gprof_tracepoint_exists("sys_enter"))
		return false;
	if (flags & GPROF_TRACE_F_IRQS && !gprof_tracepoint_exists("irq_handler_entry"))
		return false;
	if (flags & GPROF_TRACE_F_RECLAIM &&
	    !gprof_tracepoint_exists("mm_vmscan_direct_reclaim_begin"))
		return false;
	if (flags & GPROF_TRACE_F_FREQ && !gprof_tracepoint_exists("cpu_frequency"))
		return false;
	return !functions || has_functions(functions);
}

/**
 * gprof_trace_attach_calls() - begin to record the events that were asked for
 * @t: trace
 *
 * Context: Task.
 * Return: 0 or a negative errno; nothing is attached then.
 */
int gprof_trace_attach_calls(struct gprof_trace *t)
{
	int err = attach_probes(t);

	if (err)
		return err;
	err = attach_functions(t);
	if (err)
		detach_probes(t, ARRAY_SIZE(probes));
	return err;
}

/**
 * gprof_trace_detach_calls() - end it, though calls of tracepoints may still be under way
 * @t: trace
 *
 * Context: Task.
 */
void gprof_trace_detach_calls(struct gprof_trace *t)
{
	detach_functions(t, GPROF_TRACE_KPROBES);
	detach_probes(t, ARRAY_SIZE(probes));
}
