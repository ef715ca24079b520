// SPDX-License-Identifier: GPL-2.0-only
/*
 * sched_calls: counts system calls, and page faults of user code.
 *
 * Both cost every task of the host something at each call or fault, so that
 * they are attached for those recorders alone that asked for them.
 *
 * sys_enter has no counterpart in a task that dies in the call, and sys_exit
 * none in one that was in a call at START; a bit for each task id tells.
 *
 * The tracepoint of page faults exists on amd64 only and does not tell their
 * end, so that a return probe stands on what handles them on both.
 */
#include "compat/sched.h"
#include "sched.h"
#include "tracepoint.h"

#include <linux/gprof.h>
#include <linux/kprobes.h>
#include <linux/mm.h>
#include <linux/percpu.h>
#include <linux/ptrace.h>

static void call_entered(void *data, struct pt_regs *regs, long id)
{
	struct gprof_sched *s = data;

	preempt_disable_notrace();
	if (gprof_sched_member(s, current)) {
		set_bit(current->pid, s->in_call);
		this_cpu_inc(s->counters->calls);
	}
	preempt_enable_notrace();
}

static void call_left(void *data)
{
	struct gprof_sched *s = data;

	/* Most are not of the scope: a write would cost them all. */
	if (test_bit(current->pid, s->in_call))
		clear_bit(current->pid, s->in_call);
}

static void call_returned(void *data, struct pt_regs *regs, long ret)
{
	call_left(data);
}

static void died(GPROF_EXIT_ARGS)
{
	call_left(data);
}

struct probe {
	const char *name;
	void *probe;
};

static const struct probe probes[] = {
	{ "sys_exit", call_returned },
	{ "sched_process_exit", died },
	{ "sys_enter", call_entered },
};

static void detach_calls(struct gprof_sched *s, unsigned int nr)
{
	while (nr--)
		gprof_tracepoint_detach(probes[nr].name, probes[nr].probe, s);
}

static int attach_calls(struct gprof_sched *s)
{
	unsigned int i;
	int err;

	for (i = 0; i < ARRAY_SIZE(probes); i++) {
		err = gprof_tracepoint_attach(probes[i].name, probes[i].probe, s);
		if (err) {
			detach_calls(s, i);
			return err;
		}
	}
	return 0;
}

#ifdef CONFIG_KRETPROBES
/* handle_mm_fault(vma, address, flags, regs), on behalf of user code? */
static int fault_entered(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	struct gprof_sched *s = container_of(gprof_kretprobe_of(ri), struct gprof_sched,
					     fault_probe);

	if (!(regs_get_kernel_argument(regs, 2) & FAULT_FLAG_USER) ||
	    !gprof_sched_member(s, current))
		return 1;
	this_cpu_inc(s->counters->faults_entered);
	return 0;
}

static int fault_left(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	struct gprof_sched *s = container_of(gprof_kretprobe_of(ri), struct gprof_sched,
					     fault_probe);

	this_cpu_inc(s->counters->faults_left);
	/* As the kernel counts them: not those that must be tried again. */
	if (!(regs_return_value(regs) & (__force unsigned int)(VM_FAULT_ERROR | VM_FAULT_RETRY)))
		this_cpu_inc(s->counters->faults);
	return 0;
}

static int attach_faults(struct gprof_sched *s)
{
	s->fault_probe = (struct kretprobe){
		.kp.symbol_name = "handle_mm_fault",
		.entry_handler = fault_entered,
		.handler = fault_left,
		/* Faults sleep for I/O; so many may do so at once. */
		.maxactive = 64 * num_possible_cpus(),
	};
	return register_kretprobe(&s->fault_probe);
}

static void detach_faults(struct gprof_sched *s)
{
	unregister_kretprobe(&s->fault_probe);
}
#else
static int attach_faults(struct gprof_sched *s)
{
	return -EOPNOTSUPP;
}

static void detach_faults(struct gprof_sched *s)
{
}
#endif

/**
 * gprof_sched_can_count() - does this kernel have what is asked for?
 * @flags: GPROF_SCHED_F_*
 */
bool gprof_sched_can_count(u32 flags)
{
	if (flags & GPROF_SCHED_F_SYSCALLS && !IS_ENABLED(CONFIG_HAVE_SYSCALL_TRACEPOINTS))
		return false;
	return !(flags & GPROF_SCHED_F_FAULTS) || IS_ENABLED(CONFIG_KRETPROBES);
}

/**
 * gprof_sched_attach_calls() - begin to count what was asked for
 * @s: statistics
 *
 * Context: Task.
 * Return: 0 or a negative errno; nothing is attached then.
 */
int gprof_sched_attach_calls(struct gprof_sched *s)
{
	int err = 0;

	if (s->flags & GPROF_SCHED_F_SYSCALLS)
		err = attach_calls(s);
	if (!err && s->flags & GPROF_SCHED_F_FAULTS) {
		err = attach_faults(s);
		if (err && s->flags & GPROF_SCHED_F_SYSCALLS)
			detach_calls(s, ARRAY_SIZE(probes));
	}
	return err;
}

/**
 * gprof_sched_detach_calls() - end it
 * @s: statistics
 *
 * Context: Task.
 */
void gprof_sched_detach_calls(struct gprof_sched *s)
{
	if (s->flags & GPROF_SCHED_F_FAULTS)
		detach_faults(s);
	if (s->flags & GPROF_SCHED_F_SYSCALLS)
		detach_calls(s, ARRAY_SIZE(probes));
}
