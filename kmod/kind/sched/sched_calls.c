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
 * end, so that a return probe stands on the function that handles them on both.
 */
#include "compat/sched.h"
#include "probe/tp_mux.h"
#include "sched.h"

#include <linux/cpumask.h>
#include <linux/gprof.h>
#include <linux/kprobes.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/mutex.h>
#include <linux/percpu.h>
#include <linux/ptrace.h>
#include <linux/string.h>

static void call_entered(void *data, struct pt_regs *regs, long id)
{
	struct gprof_sched *s = data;

	if (gprof_sched_matches(s, current)) {
		set_bit(current->pid, s->in_call);
		this_cpu_inc(s->counters->calls);
	}
}

static void call_left(void *data, struct task_struct *task)
{
	struct gprof_sched *s = data;

	/* Most are not of the task set: a write would cost them all. */
	if (test_bit(task->pid, s->in_call))
		clear_bit(task->pid, s->in_call);
}

static void call_returned(void *data, struct pt_regs *regs, long ret)
{
	call_left(data, current);
}

static int attach_calls(struct gprof_sched *s)
{
	const struct gprof_tp_sub users[] = {
		{ .tp = GPROF_TP_SYS_EXIT, .on_call = call_returned, .data = s },
		{ .tp = GPROF_TP_EXIT, .on_task = call_left, .data = s },
		{ .tp = GPROF_TP_SYS_ENTER, .on_call = call_entered, .data = s },
	};

	static_assert(ARRAY_SIZE(users) == GPROF_SCHED_CALL_SUBS);
	memcpy(s->call_subs, users, sizeof(users));
	return gprof_tp_subscribe_all(s->call_subs, GPROF_SCHED_CALL_SUBS);
}

static void detach_calls(struct gprof_sched *s)
{
	gprof_tp_unsubscribe_all(s->call_subs, GPROF_SCHED_CALL_SUBS);
}

#ifdef CONFIG_KRETPROBES
/* handle_mm_fault(vma, address, flags, regs), on behalf of user code? */
static int fault_entered(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	struct gprof_sched *s = container_of(gprof_kretprobe_of(ri), struct gprof_sched,
					     fault_probe);

	if (!(regs_get_kernel_argument(regs, 2) & FAULT_FLAG_USER) ||
	    !gprof_sched_matches(s, current))
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

/* Not each architecture lets this function be probed. Tried once. */
static bool can_probe_faults(void)
{
	static struct kretprobe trial = {
		.kp.symbol_name = "handle_mm_fault",
		.kp.flags = KPROBE_FLAG_DISABLED,
		.handler = fault_left,
		.maxactive = 1,
	};
	static DEFINE_MUTEX(mutex);	/* protects the variables below */
	static bool tried, can;
	bool found;

	mutex_lock(&mutex);
	if (!tried) {
		can = !register_kretprobe(&trial);
		if (can)
			unregister_kretprobe(&trial);
		tried = true;
	}
	found = can;
	mutex_unlock(&mutex);
	return found;
}

/*
 * How many faults may be under way at once, which sleep for I/O. From 6.7 on every possible
 * CPU has a queue with room for all of them: 64 for each CPU were 128 MiB where there may
 * be 512.
 */
static unsigned int faults_at_once(void)
{
	return min(64 * num_possible_cpus(), max(4096U, num_possible_cpus()));
}

static int attach_faults(struct gprof_sched *s)
{
	s->fault_probe = (struct kretprobe){
		.kp.symbol_name = "handle_mm_fault",
		.entry_handler = fault_entered,
		.handler = fault_left,
		.maxactive = faults_at_once(),
	};
	return register_kretprobe(&s->fault_probe);
}

static void detach_faults(struct gprof_sched *s)
{
	unregister_kretprobe(&s->fault_probe);
}

static u64 faults_missed(const struct gprof_sched *s)
{
	return (unsigned int)READ_ONCE(s->fault_probe.nmissed) +
	       READ_ONCE(s->fault_probe.kp.nmissed);
}
#else
static bool can_probe_faults(void)
{
	return false;
}

static int attach_faults(struct gprof_sched *s)
{
	return -EOPNOTSUPP;
}

static void detach_faults(struct gprof_sched *s)
{
}

static u64 faults_missed(const struct gprof_sched *s)
{
	return 0;
}
#endif

/**
 * gprof_sched_can_count() - does this kernel have the events that are asked for?
 * @flags: GPROF_SCHED_F_*, or 0: anything at all?
 *
 * Context: Task.
 */
bool gprof_sched_can_count(u32 flags)
{
	if (!gprof_tp_exists(GPROF_TP_SWITCH) || !gprof_tp_exists(GPROF_TP_WAKEUP) ||
	    !gprof_tp_exists(GPROF_TP_WAKEUP_NEW) || !gprof_tp_exists(GPROF_TP_NEWTASK))
		return false;
	if (flags & GPROF_SCHED_F_SYSCALLS &&
	    !(gprof_tp_exists(GPROF_TP_SYS_ENTER) && gprof_tp_exists(GPROF_TP_SYS_EXIT)))
		return false;
	return !(flags & GPROF_SCHED_F_FAULTS) || can_probe_faults();
}

/**
 * gprof_sched_attach_calls() - begin to count the events that were asked for
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
			detach_calls(s);
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
		detach_calls(s);
}

/**
 * gprof_sched_faults_missed() - page faults since START for which there was no room
 * @s: statistics that were attached
 *
 * Of any task: whose they were is asked behind that.
 *
 * Context: Task.
 */
u64 gprof_sched_faults_missed(const struct gprof_sched *s)
{
	return s->flags & GPROF_SCHED_F_FAULTS ? faults_missed(s) : 0;
}
