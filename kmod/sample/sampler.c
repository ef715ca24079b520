// SPDX-License-Identifier: GPL-2.0-only
/*
 * sampler: capture once, then for each recorder intern and write.
 *
 * The event (capture.h) is the same for all recorders. Each has its own ring, dictionary and
 * memory of the records that it has written.
 *
 * A sample is up to three records. Where one does not fit the others are not written, and the
 * sample is lost; a name or a stack that stands there already is known from then on.
 *
 *	[TASK]	when this generation has not yet named the task (comm_cache.c)
 *	[STACK]	when this generation has not yet said the stack; or [STACK_DELTA], which tells
 *		the difference from one that it has said (stack_intern.c)
 *	SAMPLE	24 bytes, 8 for each of weight, address, value, wait, parallelism and the
 *		live word, 24 for a lock's owner, 16 for a task's state
 *
 * (buffer.c adds a LOST record in front when it owes one.)
 */
#include "sampler.h"
#include "stack_intern.h"
#include "compat/mm.h"
#include "comm_cache.h"
#include "target/oncpu.h"

#include <linux/bitops.h>
#include <linux/build_bug.h>
#include <linux/gprof.h>
#include <linux/processor.h>
#include <linux/ptrace.h>
#include <linux/sched.h>
#include <linux/string.h>

/* A sample needs the first two lines of a ring alone. */
static_assert(offsetof(struct gprof_percpu_buffer, buffer.produced) == 64);
static_assert(offsetof(struct gprof_percpu_buffer, buffer.first) == 128);

static inline void count(struct gprof_buffer *b, u16 context)
{
	local64_inc(&b->produced);
	if (context & GPROF_SAMPLE_REC_F_IRQ)
		local64_inc(&b->irq);
	else if (context & GPROF_SAMPLE_REC_F_NMI)
		local64_inc(&b->nmi);
}

/* The parts of a sample that differ between the recorders of one event. */
struct sample {
	u64 time;
	u64 weight;
	u32 parallelism;
	u16 flags;
};

#define EXTRA	(GPROF_SAMPLE_REC_F_WEIGHT | GPROF_SAMPLE_REC_F_ADDR |	\
		 GPROF_SAMPLE_REC_F_VALUE | GPROF_SAMPLE_REC_F_WAIT |	\
		 GPROF_SAMPLE_REC_F_PARALLELISM | GPROF_SAMPLE_REC_F_OBJECT |	\
		 GPROF_SAMPLE_REC_F_ENDED)

static_assert(sizeof(struct gprof_sample_rec) == 24);

#define MORE	(EXTRA | GPROF_SAMPLE_REC_F_OWNER | GPROF_SAMPLE_REC_F_STATE)

static noinline u32 size_with_more(u16 flags)
{
	u32 size = sizeof(struct gprof_sample_rec) + hweight16(flags & EXTRA) * sizeof(u64);

	if (flags & GPROF_SAMPLE_REC_F_OWNER)
		size += sizeof(struct gprof_lock_owner);
	if (flags & GPROF_SAMPLE_REC_F_STATE)
		size += sizeof(struct gprof_task_state);
	return size;
}

static void write_sample(struct gprof_sample_rec *rec, const struct gprof_capture *c,
			 struct sample smp, u32 tid, u32 stack, u32 size)
{
	u64 *extra = (u64 *)(rec + 1);

	rec->rec.type = GPROF_REC_SAMPLE;
	rec->rec.flags = smp.flags;
	rec->rec.size = size;
	rec->time = smp.time;
	rec->tid = tid;
	rec->stack = stack;
	if (likely(size == sizeof(*rec)))
		return;
	if (smp.flags & GPROF_SAMPLE_REC_F_WEIGHT)
		*extra++ = smp.weight;
	if (smp.flags & GPROF_SAMPLE_REC_F_ADDR)
		*extra++ = c->addr;
	if (smp.flags & GPROF_SAMPLE_REC_F_VALUE)
		*extra++ = c->value;
	if (smp.flags & GPROF_SAMPLE_REC_F_WAIT)
		*extra++ = c->wait;
	if (smp.flags & GPROF_SAMPLE_REC_F_PARALLELISM)
		*extra++ = smp.parallelism;
	if (smp.flags & GPROF_SAMPLE_REC_F_OWNER) {
		memcpy(extra, c->owner, sizeof(*c->owner));
		extra += sizeof(*c->owner) / sizeof(*extra);
	}
	if (smp.flags & GPROF_SAMPLE_REC_F_STATE) {
		memcpy(extra, &c->state, sizeof(c->state));
		extra += sizeof(c->state) / sizeof(*extra);
	}
	if (smp.flags & GPROF_SAMPLE_REC_F_OBJECT)
		*extra++ = c->object;
	if (smp.flags & GPROF_SAMPLE_REC_F_ENDED)
		*extra = c->ended;
}

static void new_generation(struct gprof_percpu_buffer *ch, u16 generation)
{
	ch->generation = generation;
	ch->epoch++;
	gprof_dictionary_scrub(&ch->dictionary, generation);
}

static void forget(struct gprof_percpu_buffer *ch, struct gprof_memo *memo)
{
	memo->epoch = ch->epoch;
	memo->frames_version = 0;
	memo->process_version = 0;
}

static void record(struct gprof_sampler *s, struct gprof_percpu_buffer *ch,
		   const struct gprof_capture *c, struct gprof_stack *stack, struct sample smp)
{
	struct gprof_memo *memo = &ch->memo[c->depth];
	struct gprof_sample_rec *rec;
	u16 generation;
	s64 tid, id;
	u32 size;

	generation = gprof_buffer_begin(&ch->buffer, smp.time);
	smp.time = gprof_buffer_time(&ch->buffer, smp.time);
	if (unlikely(generation != ch->generation))
		new_generation(ch, generation);
	if (unlikely(memo->epoch != ch->epoch))
		forget(ch, memo);
	tid = gprof_comm_cache_tell(ch, memo, c->task, s->pid_ns, &stack->user_frames);
	if (unlikely(tid == GPROF_UNSAID))
		goto no_place;
	id = gprof_stack_intern(ch, memo, stack, s->pid_ns, &s->maps);
	if (unlikely(id == GPROF_UNSAID))
		goto no_place;
	size = unlikely(smp.flags & MORE) ? size_with_more(smp.flags) : sizeof(*rec);
	rec = gprof_buffer_reserve(&ch->buffer, size, 1);
	if (unlikely(!rec))
		goto no_place;
	write_sample(rec, c, smp, tid, id, size);
	gprof_buffer_end(&ch->buffer);
	return;

no_place:
	gprof_buffer_uncount(&ch->buffer, smp.flags);
	gprof_buffer_end(&ch->buffer);
}

/* Interrupts are nested too deep. */
static noinline void lose_nested(struct gprof_percpu_buffer *ch)
{
	count(&ch->buffer, gprof_context_flags());
	gprof_buffer_lose(&ch->buffer, GPROF_LOST_NESTED);
}

/**
 * gprof_capture_stack() - have memory for a stack that the caller takes
 * @c: capture, which has it as @c->stack then; @c->flags are set
 * @s: the only one that is to record it
 *
 * Context: As gprof_emit().
 * Return: false: interrupts are nested too deep; the event is lost, and counted so.
 */
bool gprof_capture_stack(struct gprof_capture *c, const struct gprof_sampler *s)
{
	struct gprof_percpu_buffer *ch = s->buffers[smp_processor_id()];

	if (!gprof_capture_begin(c)) {
		if (ch)
			lose_nested(ch);
		return false;
	}
	c->taken = s->options.word;
	return true;
}

/**
 * gprof_emit() - record an event
 * @c: capture of it
 * @s: sampler of the recorder
 * @weight: how many events it stands for
 *
 * Context: Any incl. NMI, preemption off. No lock, no allocation.
 */
void gprof_emit(struct gprof_capture *c, struct gprof_sampler *s, u64 weight)
{
	struct gprof_percpu_buffer *ch = s->buffers[smp_processor_id()];
	struct gprof_stack_options options;
	struct gprof_stack *stack;
	struct sample smp;

	if (unlikely(!ch)) {
		atomic64_inc(&s->no_buffer);
		return;
	}
	if (!c->stack && unlikely(!gprof_capture_begin(c))) {
		lose_nested(ch);
		return;
	}
	smp.flags = c->flags;
	smp.time = c->time;
	smp.weight = weight;
	if (unlikely(s->oncpu)) {
		smp.parallelism = gprof_oncpu_count(s->oncpu);
		/* START or STOP is under way. */
		if (!smp.parallelism)
			return;
		smp.flags |= GPROF_SAMPLE_REC_F_PARALLELISM;
	}
	count(&ch->buffer, smp.flags);
	if (unlikely(smp.flags & GPROF_SAMPLE_REC_F_THROTTLED))
		local64_inc(&ch->buffer.throttled);
	if (unlikely(weight != ch->buffer.weight))
		smp.flags |= GPROF_SAMPLE_REC_F_WEIGHT;
	/* A skid may bring an address of the kernel to a recorder that may not see it. */
	if (unlikely(smp.flags & GPROF_SAMPLE_REC_F_ADDR && !s->options.kernel &&
		     c->addr >= TASK_SIZE_MAX))
		smp.flags &= ~GPROF_SAMPLE_REC_F_ADDR;
	options = s->options;
	options.flags &= ~c->without;
	stack = c->stack;
	if (c->taken != options.word) {
		stack = gprof_capture_unwind(c, &options);
		if (unlikely(stack->wants_mm_tables))
			gprof_maps_renew(&s->maps, ch, current->tgid, smp.time);
	}
	record(s, ch, c, stack, smp);
}

/**
 * gprof_sampler_throttled() - the source was stopped, at an event that is not recorded
 * @s: sampler of the recorder
 *
 * Context: As gprof_emit().
 */
void gprof_sampler_throttled(struct gprof_sampler *s)
{
	struct gprof_percpu_buffer *ch = s->buffers[smp_processor_id()];

	if (ch)
		local64_inc(&ch->buffer.throttled);
}
