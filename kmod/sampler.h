/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * sampler: the way of samples from an event into the buffers of those who record it.
 */
#ifndef GPROF_SAMPLER_H
#define GPROF_SAMPLER_H

#include "mapping.h"
#include "stack.h"

#include <linux/percpu.h>
#include <linux/sched.h>

struct gprof_running;
struct perf_callchain_entry;
struct pt_regs;

/**
 * struct gprof_sampler - what a source needs in order to record
 * @options: what to capture of a stack; fixed after SETUP
 * @running: who is counted for samples to tell it, or NULL; fixed after SETUP
 * @channels: one per CPU, NULL for CPUs without a buffer; fixed after SETUP
 * @maps: reader of the mappings of sampled processes
 * @no_buffer: samples on CPUs without a buffer
 */
struct gprof_sampler {
	struct gprof_stack_options options;
	struct gprof_running *running;
	struct gprof_channel **channels;
	struct gprof_maps maps;
	atomic64_t no_buffer;
};

/**
 * struct gprof_capture - an event on its way to those who record it
 * @task: whose event; current, or a task that cannot go away meanwhile
 * @regs: registers of current at the event
 * @chain: call chain that the driver has walked already, or NULL
 * @time: CLOCK_MONOTONIC, or 0: now
 * @addr: data address, with GPROF_SAMPLE_REC_F_ADDR
 * @value: what was measured, with GPROF_SAMPLE_REC_F_VALUE
 * @state: how @task was, with GPROF_SAMPLE_REC_F_STATE
 * @wait: of what kind, with GPROF_SAMPLE_REC_F_WAIT
 * @live: its word in the recorder's table, with GPROF_SAMPLE_REC_F_LIVE
 * @owner: who had the lock, with GPROF_SAMPLE_REC_F_OWNER
 * @flags: GPROF_SAMPLE_REC_F_*, as far as they are the same for all
 * @without: GPROF_STACK_F_* that would tell nothing of this event, or too much
 * @depth: of nesting, which has its own memory
 * @stack: the stack, in that memory; NULL: nobody has recorded the event yet
 * @taken: with which options @stack was taken; 0: it was not
 *
 * The stack is current's: of an event of another task it is that of who caused it. Else
 * whoever makes the capture has it from gprof_capture_stack().
 */
struct gprof_capture {
	struct task_struct *task;
	struct pt_regs *regs;
	const struct perf_callchain_entry *chain;
	u64 time;
	u64 addr;
	u64 value;
	struct gprof_task_state state;
	u64 wait;
	u64 live;
	const struct gprof_lock_owner *owner;
	u16 flags;
	u16 without;
	unsigned int depth;
	struct gprof_stack *stack;
	u64 taken;
};

/**
 * gprof_capture() - there is an event, which some may want to record
 * @c: where to
 * @regs: registers of current
 * @time: CLOCK_MONOTONIC, or 0: now
 *
 * The event is current's and has no more to it than this, unless the caller sets @c->task,
 * @c->chain or @c->without; or @c->addr, @c->value, @c->wait, @c->state or @c->live with their
 * flag.
 *
 * Costs nothing yet. What is the same for all is found out by the first gprof_emit(),
 * and the stack taken anew only for who wants another part of it.
 *
 * Context: Any incl. NMI, preemption off until gprof_captured().
 */
static __always_inline void gprof_capture(struct gprof_capture *c, struct pt_regs *regs,
					  u64 time)
{
	c->task = current;
	c->regs = regs;
	c->chain = NULL;
	c->time = time;
	c->flags = 0;
	c->without = 0;
	c->stack = NULL;
}

int gprof_samplers_init(void);
void gprof_samplers_exit(void);

struct gprof_stack *gprof_scratch_take(void);
void gprof_scratch_give(void);

bool gprof_capture_stack(struct gprof_capture *c, const struct gprof_sampler *s);
void gprof_emit(struct gprof_capture *c, struct gprof_sampler *s, u64 weight);
void gprof_sampler_throttled(struct gprof_sampler *s);
void gprof_capture_end(struct gprof_capture *c);

/**
 * gprof_captured() - all who want the event have it
 * @c: capture
 */
static __always_inline void gprof_captured(struct gprof_capture *c)
{
	if (c->stack)
		gprof_capture_end(c);
}

#endif /* GPROF_SAMPLER_H */
