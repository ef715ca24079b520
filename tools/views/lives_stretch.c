// SPDX-License-Identifier: GPL-2.0-only
/*
 * What threads do, told as it ends, and what is not known of it.
 */
#include "lives_stretch.h"

#include <string.h>

#include "cli/say.h"

const char *lives_text(const struct lives *v, uint32_t number)
{
	size_t len;

	return number < v->texts.nr ? intern_key(&v->texts, number, &len) : "";
}

size_t lives_nr(const struct lives *v)
{
	return v->ids.nr;
}

const char *lives_name(const struct lives *v, uint32_t life)
{
	return life < v->ids.nr ? lives_text(v, v->all[life].name) : "";
}

/* Each stack is looked at once. */
enum part lives_stack_part(struct lives *v, uint32_t stack)
{
	struct gprof_frame frames[GPROF_TRACE_FRAMES_MAX];
	size_t nr;

	if (!stack)
		return PART_UNTOLD;
	while (stack >= v->room_parts)
		v->parts = xgrow(v->parts, v->room_parts, &v->room_parts, sizeof(*v->parts));
	if (!v->parts[stack]) {
		nr = trace_stacks_frames(&v->stacks, stack, frames);
		v->parts[stack] = (uint8_t)(part_of_stack(frames, nr) + 1);
	}
	return v->parts[stack] - 1;
}

enum part lives_why(struct lives *v, const struct life *l)
{
	enum part part = lives_stack_part(v, l->stack);

	if (l->stopped)
		return PART_STOPPED;
	if ((part == PART_OTHER || part == PART_KERNEL) && l->uninterruptible)
		return PART_UNINTERRUPTIBLE;
	if (part != PART_UNTOLD)
		return part;
	if (l->faulted && !l->call)
		return PART_FAULT;
	if (l->reclaims)
		return PART_RECLAIM;
	return l->call ? part_of_call(lives_text(v, l->call - 1), l->uninterruptible) :
			 PART_UNTOLD;
}

int64_t lives_pid(const struct lives *v, uint32_t life)
{
	const struct life *l = &v->all[life];

	return l->pid ? l->pid : LIVES_TID(l->id);
}

enum part lives_part(struct lives *v, const struct life *l)
{
	if (l->lost)
		return PART_LOST;
	switch (l->state) {
	case GPROF_TRACE_GO_RUNNING:
	case GPROF_TRACE_GO_SYSCALL:
		return PART_CPU;
	case GPROF_TRACE_GO_RUNNABLE:
		return l->throttled ? PART_THROTTLED : PART_RUNNABLE;
	default:
		return lives_why(v, l);
	}
}

/* Who was throttled may wait for a CPU besides, once its cgroup has time again. */
static void give_throttled(struct lives *v, uint32_t i, int64_t begin, int64_t end, bool goes_on)
{
	struct life *l = &v->all[i];
	int64_t again = v->unthrottled[l->queue];

	if (again > begin && again < end) {
		lives_give(v, i, PART_THROTTLED, begin, again, false);
		lives_give(v, i, PART_RUNNABLE, again, end, goes_on);
	} else {
		lives_give(v, i, PART_THROTTLED, begin, end, goes_on);
	}
	l->throttled = false;
}

static void give_known(struct lives *v, uint32_t i, int64_t begin, int64_t end, bool goes_on)
{
	enum part part = lives_part(v, &v->all[i]);

	if (part == PART_THROTTLED)
		give_throttled(v, i, begin, end, goes_on);
	else
		lives_give(v, i, part, begin, end, goes_on);
}

bool lives_is_running(const struct life *l)
{
	return !l->lost && (l->state == GPROF_TRACE_GO_RUNNING || l->state == GPROF_TRACE_GO_SYSCALL);
}

int64_t lives_known(const struct lives *v, const struct life *l)
{
	if (l->lost)
		return l->since;
	if (!lives_is_off(l))
		return GAPS_NONE;
	return l->broken ? l->broken : gaps_first(&v->gaps, l->since);
}

void lives_call_end(struct lives *v, uint32_t i, int64_t time, bool cut)
{
	struct life *l = &v->all[i];

	if (!l->call)
		return;
	if (v->use.call)
		v->use.call(v->use.ctx, v, i, l->call_since, time, cut);
	l->call = 0;
}

/*
 * What a thread did from then on is not known, so that neither is what it is in afterwards:
 * it may have run, and have come back to where it was for another reason.
 */
static void lose_reasons(struct lives *v, uint32_t i, int64_t time)
{
	struct life *l = &v->all[i];

	lives_call_end(v, i, time < l->call_since ? l->call_since : time, true);
	l->stack = 0;
	l->stopped = l->uninterruptible = l->faulted = l->reclaims = l->throttled = false;
}

void lives_stretch_broken(struct lives *v, uint32_t i, int64_t time, bool confirmed)
{
	struct life *l = &v->all[i];
	int64_t known = lives_known(v, l), again = v->gaps.end;

	if (known >= time) {
		give_known(v, i, l->since, time, false);
	} else {
		if (!confirmed || again > time || l->lost)
			again = time;
		give_known(v, i, l->since, known, true);
		lives_give(v, i, PART_LOST, known, again, false);
		lose_reasons(v, i, known);
		l->cut = true;
		give_known(v, i, again, time, false);
	}
	l->lost = false;
	l->broken = 0;
	l->since = time;
}

void lives_lose(struct lives *v, struct lives_cpu *c, int64_t time)
{
	int64_t begin = c->last ? c->last : v->any ? v->begin : time;
	struct life *l = c->life == LIVES_NONE ? NULL : &v->all[c->life];

	gaps_add(&v->gaps, begin, time);
	if (!c->lost_to)
		c->lost_from = begin;
	c->lost_to = time;
	c->had = LIVES_UNKNOWN;
	c->throttled = false;
	if (!l || l->lost)
		return;
	if (l->since > begin)
		begin = l->since;
	give_known(v, c->life, l->since, begin, true);
	lose_reasons(v, c->life, begin);
	l->since = begin;
	l->lost = true;
}

/* Does the event say that it has its CPU still? */
static bool is_there(const struct life *l, const struct gprof_trace_event *ev)
{
	return ev && ev->goroutine == l->id && !lives_is_made_up(ev) &&
	       !lives_left_for(ev, "clocks of CPUs differ");
}

void lives_found(struct lives *v, int64_t cpu, struct lives_cpu *c,
		  const struct gprof_trace_event *ev)
{
	struct life *l = c->life == LIVES_NONE ? NULL : &v->all[c->life];
	int64_t until = ev ? ev->time : v->end;

	if (l && l->lost && is_there(l, ev)) {
		/* Events of one time are told one behind the other, and so after it. */
		until = c->lost_to < l->since ? l->since : c->lost_to;
		lives_give(v, c->life, PART_LOST, l->since, until, false);
		l->since = until;
		l->lost = false;
		l->cut = true;
		c->had = c->life;
	}
	if (v->use.lost)
		v->use.lost(v->use.ctx, v, cpu, c->had, c->lost_from, until);
	c->lost_to = 0;
}

void lives_left_unseen(struct lives *v, uint32_t i, int64_t time)
{
	struct life *l = &v->all[i];
	int64_t known = l->since;
	struct lives_cpu *c;

	if (l->lost)
		return;
	c = l->cpu >= 0 && (size_t)l->cpu < v->nr_cpus ? &v->cpus[l->cpu] : NULL;
	/* The event that says so is the last there, or more than one. */
	if (c && c->before > known)
		known = c->before;
	give_known(v, i, l->since, known, true);
	lose_reasons(v, i, known);
	l->since = known;
	l->lost = true;
	if (!c || c->life != i)
		return;
	c->had = LIVES_UNKNOWN;
	if (v->use.lost)
		v->use.lost(v->use.ctx, v, l->cpu, c->had, known, time);
}
