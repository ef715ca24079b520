// SPDX-License-Identifier: GPL-2.0-only
/*
 * sampler: capture once, then for each recorder intern and write.
 *
 * The event (capture.h) is the same for all recorders. Each has its own ring, dictionary and
 * memory of the records that it has written.
 *
 * A sample is up to four records that are reserved together, so that either
 * all of them are in the buffer or none:
 *
 *	[TASK]	when this generation has not yet named the task
 *	[STACK]	when this generation has not yet said the stack; or [STACK_DELTA], which tells
 *		the difference from one that it has said
 *	SAMPLE	24 bytes, 8 for each of weight, address, value, wait, parallelism and the
 *		live word, 24 for a lock's owner, 16 for a task's state
 *
 * (buffer.c adds a LOST record in front when it owes one.)
 */
#include "sampler.h"
#include "stack_suffix.h"
#include "compat/mm.h"
#include "comm_cache.h"
#include "ring/u64_array.h"
#include "target/oncpu.h"
#include "task/pid.h"

#include <linux/bitops.h>
#include <linux/build_bug.h>
#include <linux/gprof.h>
#include <linux/hash.h>
#include <linux/overflow.h>
#include <linux/processor.h>
#include <linux/ptrace.h>
#include <linux/sched.h>
#include <linux/string.h>

/* A sample needs the first two lines of a ring alone. */
static_assert(offsetof(struct gprof_percpu_buffer, buffer.produced) == 64);
static_assert(offsetof(struct gprof_percpu_buffer, buffer.first) == 128);

static __always_inline void count(struct gprof_buffer *b, u16 context)
{
	local64_inc(&b->produced);
	if (context & GPROF_SAMPLE_REC_F_IRQ)
		local64_inc(&b->irq);
	else if (context & GPROF_SAMPLE_REC_F_NMI)
		local64_inc(&b->nmi);
}

/*
 * By which id and frames the dictionary knows callers that are not the last sample's.
 * False: it is full. No record defines that id.
 */
static noinline bool place_frames(struct gprof_percpu_buffer *ch, struct gprof_memo *memo,
				  u16 generation, const struct gprof_user_frames *user_frames)
{
	u32 shared = 0, suffix = 0, own = 0, id;

	if (memo == ch->memo)
		suffix = gprof_stack_suffix_find(ch, user_frames, &shared);
	if (suffix && user_frames->nr - shared <= GPROF_OWN_FRAMES) {
		id = ch->suffixes[suffix - 1].user_frames;
		own = user_frames->nr - shared;
	} else {
		struct gprof_lookup l;

		gprof_dictionary_lookup(&ch->dictionary, generation, (const u64 *)user_frames,
					gprof_user_frames_words(user_frames), &l);
		if (!l.id)
			return false;
		if (!l.known)
			gprof_dictionary_commit(&ch->dictionary, &l);
		id = l.id;
	}
	memo->frames_version = user_frames->version;
	memo->user_frames = id;
	memo->nr_end = user_frames->nr - own;
	memo->nr_own = own;
	memo->suffix = suffix;
	memo->nr_shared = shared;
	return true;
}

/*
 * The id of the stack, when this generation has said it and it is easy to find. Else 0:
 * find_or_add_stack() looks well, or adds it.
 */
static __always_inline u32 cached_stack_id(struct gprof_percpu_buffer *ch, struct gprof_memo *memo,
					   u16 generation, struct gprof_stack *stack)
{
	struct gprof_top *top = &stack->top;
	u32 words;

	if (memo->frames_version != stack->user_frames.version &&
	    !place_frames(ch, memo, generation, &stack->user_frames))
		return 0;
	top->ends = memo->ends;
	words = 2 + top->nr_kernel + top->nr_user;
	if (unlikely(memo->nr_own)) {
		gprof_u64_array_copy((u64 *)top + words, stack->user_frames.frames, memo->nr_own);
		words += memo->nr_own;
	}
	return gprof_dictionary_find(&ch->dictionary, generation, (const u64 *)top, words);
}

/* For a stack that cached_stack_id() did not know. */
static void find_or_add_stack(struct gprof_percpu_buffer *ch, const struct gprof_memo *memo,
			      u16 generation, const struct gprof_stack *stack,
			      struct gprof_lookup *l)
{
	l->id = 0;
	l->known = false;
	if (memo->frames_version == stack->user_frames.version)
		gprof_dictionary_lookup(&ch->dictionary, generation, (const u64 *)&stack->top,
					gprof_top_words(&stack->top), l);
	/* else the dictionary is full: the stack is written inline */
}

/* How a stack is told. */
struct telling {
	u32 id;
	u32 suffix;	/* as a branch of this one */
	u32 shared;	/* with which it has so many frames in common */
	u32 number;	/* whole, and others shall be told by this number */
};

static u32 stack_size(const struct gprof_stack *stack, const struct telling *t)
{
	u32 frames = stack->top.nr_kernel + stack->top.nr_user + stack->user_frames.nr - t->shared;

	if (t->suffix)
		return struct_size((struct gprof_stack_delta_rec *)NULL, frames, frames);
	return struct_size((struct gprof_stack_rec *)NULL, frames, frames);
}

static void *write_frames(u64 *to, const struct gprof_stack *stack, u32 shared)
{
	to = gprof_u64_array_copy(to, stack->top.frames, stack->top.nr_kernel + stack->top.nr_user);
	return gprof_u64_array_copy(to, stack->user_frames.frames, stack->user_frames.nr - shared);
}

static void *write_stack_delta(struct gprof_stack_delta_rec *rec, const struct gprof_stack *stack,
			       const struct telling *t)
{
	rec->rec.type = GPROF_REC_STACK_DELTA;
	rec->rec.flags = stack->top.flags;
	rec->rec.size = stack_size(stack, t);
	rec->id = t->id;
	rec->suffix = t->suffix;
	rec->nr_kernel = stack->top.nr_kernel;
	rec->nr_user = stack->top.nr_user + stack->user_frames.nr - t->shared;
	rec->nr_shared = t->shared;
	rec->__reserved = 0;
	return write_frames(rec->frames, stack, t->shared);
}

static void *write_stack(struct gprof_stack_rec *rec, const struct gprof_stack *stack,
			 const struct telling *t, struct pid_namespace *ns)
{
	rec->rec.type = GPROF_REC_STACK;
	rec->rec.flags = stack->top.flags;
	rec->rec.size = stack_size(stack, t);
	rec->id = t->id;
	rec->exec_map_seq = stack->user_frames.exec_map_seq;
	rec->nr_kernel = stack->top.nr_kernel;
	rec->nr_user = stack->top.nr_user + stack->user_frames.nr;
	rec->suffix = t->number;
	rec->process = stack->user_frames.process;
	rec->process.pid = gprof_pid_in(ns, rec->process.pid);
	return write_frames(rec->frames, stack, 0);
}

/* @id: that the stack gets, or 0. */
static struct telling choose_stack_form(const struct gprof_percpu_buffer *ch,
					const struct gprof_memo *memo,
					const struct gprof_user_frames *user_frames, u32 id)
{
	struct telling t = { .id = id };

	if (memo->frames_version != user_frames->version)
		return t;
	t.suffix = memo->suffix;
	t.shared = memo->nr_shared;
	if (!t.suffix && memo == ch->memo)
		t.number = gprof_stack_suffix_free(ch, user_frames);
	return t;
}

static void remember_suffix(struct gprof_percpu_buffer *ch, struct gprof_memo *memo,
			    const struct gprof_user_frames *user_frames, u32 number)
{
	gprof_stack_suffix_use(ch, number, memo->user_frames);
	memo->suffix = number;
	memo->nr_shared = user_frames->nr;
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
		 GPROF_SAMPLE_REC_F_PARALLELISM | GPROF_SAMPLE_REC_F_OBJECT)

static_assert(sizeof(struct gprof_sample_rec) == 24);

static __always_inline u32 sample_size(u16 flags)
{
	u32 size = sizeof(struct gprof_sample_rec);

	if (unlikely(flags & EXTRA))
		size += hweight16(flags & EXTRA) * sizeof(u64);
	if (unlikely(flags & GPROF_SAMPLE_REC_F_OWNER))
		size += sizeof(struct gprof_lock_owner);
	if (unlikely(flags & GPROF_SAMPLE_REC_F_STATE))
		size += sizeof(struct gprof_task_state);
	return size;
}

/* @size: as sample_size() says; where that is known, nothing is asked again */
static __always_inline void write_sample(struct gprof_sample_rec *rec,
					 const struct gprof_capture *c, struct sample smp,
					 u32 tid, u32 stack, u32 size)
{
	u64 *extra = (u64 *)(rec + 1);

	rec->rec.type = GPROF_REC_SAMPLE;
	rec->rec.flags = smp.flags;
	rec->rec.size = size;
	rec->time = smp.time;
	rec->tid = tid;
	rec->stack = stack;
	if (size == sizeof(*rec))
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
		*extra = c->object;
}

/* With all that has to be said before the sample. */
static noinline void write_records(struct gprof_sampler *s, struct gprof_percpu_buffer *ch,
				   struct gprof_memo *memo, const struct gprof_capture *c,
				   const struct gprof_stack *stack, struct sample smp,
				   u16 generation)
{
	struct gprof_lookup known = { .known = true };
	struct task_struct *whose = c->task;
	struct telling telling = {};
	struct gprof_comm_cache comm = {};
	u32 tid = memo->told_tid, size;
	void *place;

	if (whose != current || !gprof_comm_cache_known(memo, &stack->user_frames)) {
		gprof_comm_cache_lookup(ch, generation, whose, s->pid_ns, &comm);
		tid = comm.key.tid;
	}
	size = sample_size(smp.flags) + (comm.tell ? sizeof(struct gprof_task_rec) : 0);
	if (stack->top.nr_kernel + stack->top.nr_user) {
		find_or_add_stack(ch, memo, generation, stack, &known);
		if (!known.known) {
			telling = choose_stack_form(ch, memo, &stack->user_frames, known.id);
			size += stack_size(stack, &telling);
		}
	}

	place = gprof_buffer_reserve(&ch->buffer, size, 1);
	if (!place) {
		gprof_buffer_uncount(&ch->buffer, smp.flags);
		return;
	}
	if (comm.tell)
		place = gprof_comm_cache_write(place, &comm);
	if (!known.known)
		place = telling.suffix ? write_stack_delta(place, stack, &telling) :
				       write_stack(place, stack, &telling, s->pid_ns);
	write_sample(place, c, smp, tid, known.id, sample_size(smp.flags));

	if (gprof_comm_cache_has(ch, generation, &comm) && whose == current)
		gprof_comm_cache_remember(ch, memo, &stack->user_frames, &comm);
	if (known.known)
		return;
	if (known.id)
		gprof_dictionary_commit(&ch->dictionary, &known);
	if (telling.number)
		remember_suffix(ch, memo, &stack->user_frames, telling.number);
	if (stack->user_frames.exec_map_seq)
		gprof_maps_request(&s->maps, ch, &stack->user_frames.process,
				   stack->user_frames.exec_map_seq, generation);
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

static __always_inline void write_cached(struct gprof_percpu_buffer *ch,
					 const struct gprof_capture *c, struct sample smp, u32 tid,
					 u32 stack, u32 size)
{
	void *place = gprof_buffer_reserve(&ch->buffer, size, 1);

	if (likely(place))
		write_sample(place, c, smp, tid, stack, size);
	else
		gprof_buffer_uncount(&ch->buffer, smp.flags);
}

static __always_inline void record(struct gprof_sampler *s, struct gprof_percpu_buffer *ch,
				   const struct gprof_capture *c, struct gprof_stack *stack,
				   struct sample smp)
{
	struct gprof_memo *memo = &ch->memo[c->depth];
	u16 generation;
	u32 known;

	/* Else the compiler finds it anew at each use. */
	OPTIMIZER_HIDE_VAR(memo);
	generation = gprof_buffer_begin(&ch->buffer, smp.time);
	smp.time = gprof_buffer_time(&ch->buffer, smp.time);
	if (unlikely(generation != ch->generation))
		new_generation(ch, generation);
	if (unlikely(memo->epoch != ch->epoch))
		forget(ch, memo);
	known = cached_stack_id(ch, memo, generation, stack);
	if (likely(known && c->task == current &&
		   gprof_comm_cache_known(memo, &stack->user_frames))) {
		if (likely(!(smp.flags & (EXTRA | GPROF_SAMPLE_REC_F_OWNER |
					  GPROF_SAMPLE_REC_F_STATE))))
			write_cached(ch, c, smp, memo->told_tid, known,
				     sizeof(struct gprof_sample_rec));
		else
			write_cached(ch, c, smp, memo->told_tid, known, sample_size(smp.flags));
	} else {
		write_records(s, ch, memo, c, stack, smp, generation);
	}
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
