// SPDX-License-Identifier: GPL-2.0-only
/*
 * trace_emit: the words and records besides the usual word.
 *
 * An event may need, in front of it, the running task and its name, and the name of the task
 * that it is about. All of them are reserved together, so that either all are in the ring or
 * none. An event that did not get its place leaves the ring out of step: the next event that
 * does names the running task again.
 */
#include "trace_emit.h"
#include "clock/clock.h"
#include "compat/preempt.h"
#include "sample/sampler.h"
#include "task/process.h"

#include <linux/cred.h>
#include <linux/irqflags.h>
#include <linux/sched/task_stack.h>
#include <linux/string.h>
#include <linux/uidgid.h>
#include <linux/user_namespace.h>

static bool is_named(struct gprof_trace_cpu *c, const struct task_struct *task)
{
	return !task->pid || *gprof_trace_name(c, task->pid) == gprof_trace_name_key(c, task->pid);
}

static void *write_task(const struct gprof_trace *t, struct gprof_trace_cpu *c,
			struct gprof_task_rec *rec, struct task_struct *task, const char *comm)
{
	rec->rec.type = GPROF_REC_TASK;
	rec->rec.flags = GPROF_TASK_REC_F_UID;
	rec->rec.size = sizeof(*rec);
	gprof_process_of(&rec->process, task);
	rec->process.pid = gprof_pid_in(t->pid_ns, rec->process.pid);
	rec->tid = gprof_pid_in(t->pid_ns, task->pid);
	rec->uid = from_kuid(&init_user_ns, task_uid(task));
	/* Not get_task_comm(): no lock here. A name that is just being changed may be mixed. */
	strscpy_pad(rec->comm, comm ?: task->comm, sizeof(rec->comm));
	*gprof_trace_name(c, task->pid) = gprof_trace_name_key(c, task->pid);
	return rec + 1;
}

/* Names of another generation are of no use. */
static void enter_generation(struct gprof_trace_cpu *c, u16 generation)
{
	if (!c->epoch || generation != c->generation) {
		c->generation = generation;
		c->epoch++;
		memset(c->told, 0, sizeof(c->told));
		c->told_all = 0;
	}
}

/* Events that a task makes at will: an annotation, or a new name but that of a program. */
static bool is_user_event(const struct gprof_trace_event *e)
{
	return e->note || (e->rename && !e->word && !current->in_execve);
}

static u32 user_event_size(const struct gprof_trace_event *e)
{
	return e->note ? e->note->rec.size : sizeof(struct gprof_task_rec);
}

static u32 *quota_of_user(struct gprof_trace_cpu *c)
{
	return &c->told[__kuid_val(current_uid()) & (GPROF_TRACE_USERS - 1)];
}

/*
 * Of a ring that gives up its oldest, a user that says much would wipe the other events:
 * it has an eighth of a generation, and all users half of one, for a user may have many ids.
 * A generation that is about to begin has room for any first event.
 */
static bool within_quota(struct gprof_trace_cpu *c, u64 now, const struct gprof_trace_event *e)
{
	struct gprof_buffer *b = c->buffer;
	u64 word = local64_read(&b->word), size = b->size / GPROF_FLIGHT_PARTS;
	u32 said = user_event_size(e);

	if (said > size / 8)
		return false;
	if (gprof_word_generation(word) != c->generation || gprof_buffer_cut_due(b, word, now))
		return true;
	return *quota_of_user(c) + said <= size / 8 && c->told_all + said <= size / 2;
}

/*
 * The first loss of a generation is told where it was. The others wait for that of the next:
 * a record for each would take more room than the event that is left out.
 */
static noinline void lose_over_quota(struct gprof_trace_cpu *c)
{
	local64_inc(&c->buffer->produced);
	if (c->refused == c->epoch) {
		gprof_buffer_lose_unreported(c->buffer, GPROF_LOST_QUOTA);
		return;
	}
	c->refused = c->epoch;
	gprof_buffer_lose(c->buffer, GPROF_LOST_QUOTA);
	gprof_trace_desync(c);
}

/* Of a ring that somebody reads, a user that annotates much leaves half to other events. */
static bool may_note(const struct gprof_buffer *b, const struct gprof_annotation_rec *note)
{
	return gprof_buffer_room(b) >= b->size / 2 + note->rec.size;
}

static void write_note(const struct gprof_trace *t, struct gprof_annotation_rec *place,
		       struct gprof_annotation_rec *note, u64 time)
{
	note->time = time;
	memcpy(place, note, note->rec.size);
	/* Other recorders hear of @note too. */
	place->process.pid = gprof_pid_in(t->pid_ns, note->process.pid);
	place->tid = gprof_pid_in(t->pid_ns, note->tid);
}

/*
 * Between gprof_buffer_begin() and _end(). @irq: how the event was counted. @again: RUNNING even
 * where a reader knows. Nothing is lost where there is no event.
 */
static void write_all(struct gprof_trace *t, struct gprof_trace_cpu *c, u64 now,
		      const struct gprof_trace_event *e, bool irq, bool again)
{
	struct gprof_buffer *b = c->buffer;
	u16 generation = gprof_word_generation(local64_read(&b->word));
	u64 since = (gprof_buffer_time(b, now) - b->generation_start) / GPROF_TRACE_TIME_UNIT;
	u64 time = since << GPROF_TRACE_TIME_SHIFT;
	bool running = again || c->followed != generation;
	bool current_named, other_named, member;
	bool sample = e->word || e->note;
	u32 size = 0, id = 0;
	u64 *place;

	enter_generation(c, generation);
	member = running && gprof_trace_has(t, current);
	if (member) {
		id = gprof_pid_in(t->pid_ns, current->pid);
		/* Its parent may reap it just now. */
		member = id || !current->pid;
	}
	current_named = !running || !member || e->named == current || is_named(c, current);
	other_named = !e->named || !(e->rename || !is_named(c, e->named));
	size += current_named ? 0 : sizeof(struct gprof_task_rec);
	size += running ? sizeof(u64) : 0;
	size += other_named ? 0 : sizeof(struct gprof_task_rec);
	size += e->word ? sizeof(u64) : 0;
	size += e->has_operand ? sizeof(u64) : 0;
	size += e->note ? e->note->rec.size : 0;
	if (!size)
		return;

	/* A generation that could not be cut goes on for longer than a word can tell. */
	if (unlikely(since > U32_MAX || (e->note && !may_note(b, e->note)))) {
		if (sample)
			gprof_buffer_lose(b, GPROF_LOST_FULL);
		place = NULL;
	} else {
		place = gprof_buffer_reserve(b, size, sample ? 1 : 0);
		if (!place)
			gprof_buffer_uncount(b, sample && irq ? GPROF_SAMPLE_REC_F_IRQ : 0);
	}
	if (!place) {
		gprof_trace_desync(c);
		return;
	}
	if (!current_named)
		place = write_task(t, c, (void *)place, current, NULL);
	/* In front of RUNNING, which may be about the same task. */
	if (!other_named)
		place = write_task(t, c, (void *)place, e->named, e->comm);
	if (running) {
		*place++ = time | gprof_trace_word(GPROF_TRACE_RUNNING,
						   member ? 0 : GPROF_TRACE_NOT_TARGET, id);
		/* A switch has noted already the task that comes. */
		if (!gprof_trace_is_switch(e->word)) {
			c->running = member ? current : NULL;
			c->running_id = id;
		}
		c->followed = generation;
	}
	if (e->word)
		*place++ = time | e->word;
	if (e->has_operand)
		*place++ = e->operand << GPROF_TRACE_OPERAND_SHIFT |
			   gprof_trace_word(GPROF_TRACE_OPERAND, 0, 0);
	if (e->note)
		write_note(t, (void *)place, e->note, gprof_buffer_time(b, now));
	if (b->flight && is_user_event(e)) {
		*quota_of_user(c) += user_event_size(e);
		c->told_all += user_event_size(e);
	}
}

/**
 * gprof_trace_emit_slowly() - for gprof_trace_emit(), when there is more to do than to write it
 * @t: trace
 * @now: as gprof_trace_emit() got it
 * @word: likewise
 * @named: likewise
 *
 * Context: Any but NMI, interrupts off.
 */
noinline void gprof_trace_emit_slowly(struct gprof_trace *t, u64 now, u32 word,
				      struct task_struct *named)
{
	struct gprof_trace_event e = { .word = word, .named = named };
	struct gprof_trace_cpu *c = this_cpu_ptr(t->cpus);

	gprof_buffer_begin(c->buffer, now);
	write_all(t, c, now, &e, gprof_trace_in_irq(), false);
	/* Words alone are put only where a reader knows the running task. */
	if (c->followed != GPROF_TRACE_DESYNC)
		gprof_buffer_prefetch(c->buffer);
	gprof_buffer_end(c->buffer);
}

/**
 * gprof_trace_no_buffer() - an event on a CPU without a ring
 * @t: trace
 *
 * Context: Any.
 */
noinline void gprof_trace_no_buffer(struct gprof_trace *t)
{
	atomic64_inc(&t->sampler->no_buffer);
}

static void write_counted(struct gprof_trace *t, struct gprof_trace_cpu *c, u64 now,
			  const struct gprof_trace_event *e, bool irq)
{
	struct gprof_buffer *b = c->buffer;

	if (e->word || e->note) {
		local64_inc(&b->produced);
		if (irq)
			local64_inc(&b->irq);
	}
	gprof_buffer_begin(b, now);
	write_all(t, c, now, e, irq, false);
	gprof_buffer_end(b);
	if (unlikely(t->stacks & e->stack))
		gprof_trace_stack(t, c, now, e->regs);
}

/* All else that is written comes behind the held words, which began before it. */
static void release(struct gprof_trace *t, struct gprof_trace_cpu *c)
{
	u32 nr = c->nr_deferred, i;

	/* First, so that a word that is written here does not come here again. */
	c->nr_deferred = 0;
	for (i = 0; i < nr; i++) {
		const struct gprof_trace_deferred *h = &c->deferred[i];
		struct gprof_trace_event e = { .word = h->word, .stack = h->stack };

		if (h->stack == GPROF_TRACE_STACKS_SYSCALLS)
			e.regs = task_pt_regs(current);
		write_counted(t, c, h->time, &e, h->irq);
	}
}

/**
 * gprof_trace_release() - write the words that are held on this CPU
 * @t: trace
 *
 * Context: Any but NMI, interrupts off.
 */
void gprof_trace_release(struct gprof_trace *t)
{
	struct gprof_trace_cpu *c = this_cpu_ptr(t->cpus);

	if (unlikely(c->nr_deferred))
		release(t, c);
}

/**
 * gprof_trace_write() - write an event of any kind
 * @t: trace
 * @e: event
 *
 * Context: Any but NMI.
 */
void gprof_trace_write(struct gprof_trace *t, const struct gprof_trace_event *e)
{
	struct gprof_trace_cpu *c;
	unsigned long flags;

	local_irq_save(flags);
	c = this_cpu_ptr(t->cpus);
	if (likely(c->buffer)) {
		if (is_user_event(e) && c->buffer->flight &&
		    !within_quota(c, gprof_clock_ns(), e)) {
			lose_over_quota(c);
			goto out;
		}
		if (unlikely(c->nr_deferred))
			release(t, c);
		write_counted(t, c, gprof_clock_ns(), e, gprof_trace_in_irq());
	} else if (e->word || e->note) {
		gprof_trace_no_buffer(t);
	}
out:
	local_irq_restore(flags);
}

/**
 * gprof_trace_emit_running() - tell the task that runs on this CPU
 * @t: trace
 * @again: though nobody has lost sight of it
 *
 * Context: Any but NMI.
 */
void gprof_trace_emit_running(struct gprof_trace *t, bool again)
{
	const struct gprof_trace_event none = { };
	struct gprof_trace_cpu *c;
	unsigned long flags;
	u64 now;

	local_irq_save(flags);
	c = this_cpu_ptr(t->cpus);
	if (c->buffer) {
		if (unlikely(c->nr_deferred))
			release(t, c);
		now = gprof_clock_ns();
		gprof_buffer_begin(c->buffer, now);
		write_all(t, c, now, &none, false, again);
		gprof_buffer_end(c->buffer);
	}
	local_irq_restore(flags);
}

/**
 * gprof_trace_mark() - say in the ring of this CPU that a trigger fires
 * @t: trace
 * @fired: index, time and duration
 * @tid: whose, in the initial pid namespace, as all ids within the module are
 * @flags: GPROF_TRIGGER_EVENT_F_*
 *
 * Context: Any but NMI, interrupts off.
 * Return: whether there was room.
 */
bool gprof_trace_mark(struct gprof_trace *t, const struct gprof_trigger_event *fired, pid_t tid,
		      u32 flags)
{
	struct gprof_buffer *b = this_cpu_ptr(t->cpus)->buffer;
	struct gprof_trigger_rec *rec;

	if (!b)
		return false;
	gprof_trace_release(t);
	gprof_buffer_begin(b, fired->time);
	rec = gprof_buffer_reserve(b, sizeof(*rec), 0);
	if (rec) {
		rec->rec.type = GPROF_REC_TRIGGER;
		rec->rec.flags = flags;
		rec->rec.size = sizeof(*rec);
		rec->time = gprof_buffer_time(b, fired->time);
		rec->duration_ns = fired->duration_ns;
		rec->index = fired->index;
		rec->tid = gprof_pid_in(t->pid_ns, tid);
	}
	gprof_buffer_end(b);
	return rec;
}
