// SPDX-License-Identifier: GPL-2.0-only
/*
 * sampler: capture, intern, write.
 *
 * A sample is up to four records that are reserved together, so that either
 * all of them are in the buffer or none:
 *
 *	[TASK]	when this generation has not yet named the task
 *	[STACK]	when this generation has not yet said the stack
 *	SAMPLE	24 bytes
 *
 * (buffer.c adds a LOST record in front when it owes one.)
 *
 * Scratch memory for the stack is per CPU and nesting depth: task, softirq,
 * interrupt and NMI may each be in the middle of a sample.
 */
#include "sampler.h"
#include "compat/preempt.h"

#include <linux/build_bug.h>
#include <linux/gprof.h>
#include <linux/overflow.h>
#include <linux/processor.h>
#include <linux/ptrace.h>
#include <linux/sched.h>
#include <linux/string.h>
#include <linux/timekeeping.h>

#define DEPTH	4

struct task_key {
	struct gprof_process process;
	u32 tid;
	u32 __zero;
	char comm[TASK_COMM_LEN];
};

struct scratch {
	unsigned int depth;
	struct gprof_stack stack[DEPTH];
};

static struct scratch __percpu *scratches;

/**
 * gprof_samplers_init() - allocate the scratch memory
 *
 * Context: Task.
 * Return: 0 or -ENOMEM.
 */
int gprof_samplers_init(void)
{
	BUILD_BUG_ON(sizeof(struct gprof_sample_rec) != 24);
	BUILD_BUG_ON(offsetof(struct gprof_stack, frames) != 32);
	BUILD_BUG_ON(sizeof(struct task_key) != 40);	/* no holes: compared as words */
	scratches = alloc_percpu(struct scratch);
	return scratches ? 0 : -ENOMEM;
}

/**
 * gprof_samplers_exit() - free the scratch memory
 *
 * Context: Task; no recorder exists any more.
 */
void gprof_samplers_exit(void)
{
	free_percpu(scratches);
}

static void count_context(struct gprof_buffer *b, u16 *flags)
{
	local64_inc(&b->produced);
	if (in_nmi()) {
		local64_inc(&b->nmi);
		*flags |= GPROF_SAMPLE_REC_F_NMI;
	} else if (in_hardirq() || in_serving_softirq()) {
		local64_inc(&b->irq);
		*flags |= GPROF_SAMPLE_REC_F_IRQ;
	} else {
		local64_inc(&b->task);
	}
}

static void look_up_task(struct gprof_channel *ch, u16 generation,
			 const struct gprof_process *process, struct task_key *key,
			 struct gprof_lookup *l)
{
	key->process = *process;
	key->tid = current->pid;
	key->__zero = 0;
	/* Not get_task_comm(): no lock here. A name that is just being changed may be mixed. */
	memcpy(key->comm, current->comm, TASK_COMM_LEN);
	key->comm[TASK_COMM_LEN - 1] = 0;
	gprof_dictionary_look_up(&ch->dictionary, generation, (u64 *)key,
				 sizeof(*key) / sizeof(u64), l);
}

static u32 stack_words(const struct gprof_stack *stack)
{
	return offsetof(struct gprof_stack, frames) / sizeof(u64) + stack->nr_kernel +
	       stack->nr_user;
}

static void *write_task(struct gprof_task_rec *rec, const struct task_key *key)
{
	rec->rec.type = GPROF_REC_TASK;
	rec->rec.flags = 0;
	rec->rec.size = sizeof(*rec);
	rec->process = key->process;
	rec->tid = key->tid;
	rec->__reserved = 0;
	memcpy(rec->comm, key->comm, TASK_COMM_LEN);
	return rec + 1;
}

static void *write_stack(struct gprof_stack_rec *rec, const struct gprof_stack *stack, u32 id)
{
	u32 frames = stack->nr_kernel + stack->nr_user;

	rec->rec.type = GPROF_REC_STACK;
	rec->rec.flags = stack->flags;
	rec->rec.size = struct_size(rec, frames, frames);
	rec->id = id;
	rec->layout = stack->layout;
	rec->nr_kernel = stack->nr_kernel;
	rec->nr_user = stack->nr_user;
	rec->__reserved = 0;
	rec->process = stack->process;
	memcpy(rec->frames, stack->frames, frames * sizeof(u64));
	return &rec->frames[frames];
}

struct sample {
	u64 time;
	u64 weight;
	u64 addr;
	u32 stack;
	u16 flags;
};

static u32 sample_size(const struct sample *smp)
{
	return sizeof(struct gprof_sample_rec) +
	       (smp->flags & GPROF_SAMPLE_REC_F_WEIGHT ? sizeof(u64) : 0) +
	       (smp->flags & GPROF_SAMPLE_REC_F_ADDR ? sizeof(u64) : 0);
}

static void write_sample(struct gprof_sample_rec *rec, const struct sample *smp)
{
	u64 *extra = (u64 *)(rec + 1);

	rec->rec.type = GPROF_REC_SAMPLE;
	rec->rec.flags = smp->flags;
	rec->rec.size = sample_size(smp);
	rec->time = smp->time;
	rec->tid = current->pid;
	rec->stack = smp->stack;
	if (smp->flags & GPROF_SAMPLE_REC_F_WEIGHT)
		*extra++ = smp->weight;
	if (smp->flags & GPROF_SAMPLE_REC_F_ADDR)
		*extra = smp->addr;
}

static void write_records(struct gprof_sampler *s, struct gprof_channel *ch, u16 generation,
			  const struct gprof_stack *stack, struct sample *smp)
{
	bool has_stack = stack->nr_kernel + stack->nr_user;
	struct gprof_lookup task, known = { .known = true };
	struct task_key key;
	void *place;
	u32 size;

	look_up_task(ch, generation, &stack->process, &key, &task);
	size = sample_size(smp) + (task.known ? 0 : sizeof(struct gprof_task_rec));
	if (has_stack) {
		gprof_dictionary_look_up(&ch->dictionary, generation, (const u64 *)stack,
					 stack_words(stack), &known);
		if (!known.known)
			size += struct_size((struct gprof_stack_rec *)NULL, frames,
					    stack->nr_kernel + stack->nr_user);
	}

	place = gprof_buffer_reserve(&ch->buffer, size, 1);
	if (!place)
		return;
	if (!task.known)
		place = write_task(place, &key);
	if (!known.known)
		place = write_stack(place, stack, known.id);
	smp->stack = known.id;
	write_sample(place, smp);

	if (!task.known && task.id)
		gprof_dictionary_commit(&ch->dictionary, &task);
	if (known.known)
		return;
	if (known.id)
		gprof_dictionary_commit(&ch->dictionary, &known);
	if (stack->nr_user)
		gprof_maps_want(&s->maps, ch, &stack->process, stack->layout, generation);
}

/**
 * gprof_sampler_sample() - record one event of the current task
 * @s: sampler
 * @e: event
 *
 * Context: Any incl. NMI, preemption off. No lock, no allocation.
 */
void gprof_sampler_sample(struct gprof_sampler *s, const struct gprof_event *e)
{
	struct gprof_channel *ch = s->channels[smp_processor_id()];
	struct scratch *scratch = this_cpu_ptr(scratches);
	struct sample smp = {
		.time = ktime_get_mono_fast_ns(),
		.weight = e->weight,
		.addr = e->addr,
	};
	struct gprof_stack *stack;
	u16 generation;

	if (!ch) {
		atomic64_inc(&s->no_buffer);
		return;
	}
	count_context(&ch->buffer, &smp.flags);
	if (e->throttled) {
		local64_inc(&ch->buffer.throttled);
		smp.flags |= GPROF_SAMPLE_REC_F_THROTTLED;
	}
	if (scratch->depth == DEPTH) {
		gprof_buffer_lose(&ch->buffer, GPROF_LOST_NESTED);
		return;
	}
	stack = &scratch->stack[scratch->depth++];
	barrier();	/* an interrupt from here on takes the next one */

	if (!user_mode(e->regs))
		smp.flags |= GPROF_SAMPLE_REC_F_KERNEL;
	if (e->weight != ch->buffer.weight)
		smp.flags |= GPROF_SAMPLE_REC_F_WEIGHT;
	/* A skid may bring an address of the kernel to who may not see it. */
	if (!s->options.kernel && e->addr >= TASK_SIZE_MAX)
		smp.addr = 0;
	if (smp.addr)
		smp.flags |= GPROF_SAMPLE_REC_F_ADDR;
	gprof_stack_capture(stack, &s->options, e->regs, e->chain);
	gprof_process_of(&stack->process, current);
	stack->layout = stack->nr_user ? (u32)READ_ONCE(current->mm->exec_vm) : 0;
	stack->__zero = 0;

	generation = gprof_buffer_begin(&ch->buffer, smp.time);
	if (generation != ch->generation) {
		ch->generation = generation;
		gprof_dictionary_scrub(&ch->dictionary, generation);
	}
	write_records(s, ch, generation, stack, &smp);
	gprof_buffer_end(&ch->buffer);

	barrier();	/* done with the stack before an interrupt may reuse it */
	scratch->depth--;
}
