/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * tp_sub: a subscriber to a tracepoint of the kernel.
 */
#ifndef GPROF_TP_SUB_H
#define GPROF_TP_SUB_H

#include <linux/list.h>
#include <linux/percpu-defs.h>
#include <linux/ptrace.h>
#include <linux/types.h>

struct gprof_tp_mux;
struct task_struct;

enum gprof_tp_id {
	/* Called with interrupts off; by far the most often. */
	GPROF_TP_SWITCH,     /* on_switch: under the lock of the run queue */
	GPROF_TP_WAKEUP,     /* on_task: likewise */
	GPROF_TP_WAKEUP_NEW, /* on_task: likewise */
	GPROF_TP_WAKING,     /* on_task: under the task's lock; not yet on a queue */
	/* Called with preemption off. */
	GPROF_TP_NEWTASK,    /* on_task: in the parent, before the child runs */
	GPROF_TP_FORK,	     /* on_task: likewise, when the child has all it inherits */
	GPROF_TP_EXEC,	     /* on_exec: current */
	GPROF_TP_EXIT,	     /* on_task: current */
	GPROF_TP_FREE,	     /* on_task: nobody runs as it any more */
	GPROF_TP_MIGRATE,    /* on_migrate: interrupts off, under the task's lock */
	GPROF_TP_RENAME,     /* on_rename: likewise, but for interrupts */
	GPROF_TP_SYS_ENTER,  /* on_call */
	GPROF_TP_SYS_EXIT,   /* on_call */
	GPROF_TP_LOCK_BEGIN, /* on_lock: current begins to wait for a lock, in any context */
	GPROF_TP_LOCK_END,   /* on_lock: likewise, and has it, or has given up */
	GPROF_TP_IDLE,	     /* on_idle: this CPU begins or ceases to sleep, in the idle task */
	/* In any context. */
	GPROF_TP_KMALLOC,	   /* on_alloc: current, or its interrupt, gets an object */
	GPROF_TP_KMALLOC_NODE,	   /* on_alloc: likewise; older kernels */
	GPROF_TP_CACHE_ALLOC,	   /* on_alloc: likewise, of a slab cache */
	GPROF_TP_CACHE_ALLOC_NODE, /* on_alloc: likewise; older kernels */
	GPROF_TP_PAGE_ALLOC,	   /* on_alloc: likewise, pages: the struct of the first */
	GPROF_TP_KFREE,		   /* on_free: an object is going to be free */
	GPROF_TP_CACHE_FREE,	   /* on_free: likewise; but see compat/alloc.h */
	GPROF_TP_PAGE_FREE,	   /* on_free: pages are */
	GPROF_NR_TPS,
};

/**
 * struct gprof_tp_sub - a subscriber that wants to be called
 * @tp: by this tracepoint
 * @on_switch: @prev gives the CPU to @next; @state is @prev's, as far as it is known
 * @on_task: something happens to a task
 * @on_exec: current has executed a program; it had the id @old_pid before
 * @on_migrate: a task gets another CPU
 * @on_rename: a task gets another name
 * @on_call: current begins or ends a system call: its number or its result
 * @on_lock: current begins or ends a wait for a lock of the kernel: LCB_F_* or an errno
 * @on_idle: this CPU is about to sleep, or does not any more, for any cause
 * @on_alloc: memory was allocated, of so many bytes; or NULL was, in vain. @tp is the
 *	tracepoint's own
 * @on_free: memory is going to be freed
 * @data: the first argument; the object behind it outlives the subscriber
 * @tracked_only: nothing but events of known tasks (tracked.h) is of interest, at a switch of
 *	one of the two; a subscriber that is alone with allocations hears of all nevertheless
 * @wants_regs: gprof_switch_regs is of interest; only together with @tracked_only
 * @node: in the tracepoint's list; read under RCU
 * @left: the grace period that was under way when it left
 * @has_left: @left means something
 *
 * The maker sets @tp, the function that belongs to it, @data, @tracked_only and
 * @wants_regs, and leaves the rest 0.
 */
struct gprof_tp_sub {
	enum gprof_tp_id tp;
	union {
		void (*on_switch)(void *data, bool preempt, struct task_struct *prev,
				  struct task_struct *next, unsigned int state);
		void (*on_task)(void *data, struct task_struct *task);
		void (*on_exec)(void *data, struct task_struct *task, pid_t old_pid);
		void (*on_migrate)(void *data, struct task_struct *task, int to);
		void (*on_rename)(void *data, struct task_struct *task, const char *comm);
		void (*on_call)(void *data, struct pt_regs *regs, long number);
		void (*on_lock)(void *data, void *lock, unsigned int flags);
		void (*on_idle)(void *data, bool sleeps);
		void (*on_alloc)(void *data, const void *what, size_t bytes,
				 const struct gprof_tp_mux *tp);
		void (*on_free)(void *data, const void *what, const struct gprof_tp_mux *tp);
	};
	void *data;
	bool tracked_only;
	bool wants_regs;
	struct hlist_node node;
	unsigned long left;
	bool has_left;
};

/*
 * As perf_fetch_caller_regs() has it: where the kernel came from when it switched.
 * Only for subscribers with @wants_regs, while on_switch runs.
 */
DECLARE_PER_CPU(struct pt_regs, gprof_switch_regs);

#endif /* GPROF_TP_SUB_H */
