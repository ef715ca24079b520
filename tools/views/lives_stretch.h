/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What threads do, told as it ends, for who follows them.
 */
#ifndef TOOLS_VIEWS_LIVES_STRETCH_H
#define TOOLS_VIEWS_LIVES_STRETCH_H

#include <string.h>

#include "lives.h"

/* lives_stack_part() - why one waits who stopped at a stack, by its number */
enum part lives_stack_part(struct lives *v, uint32_t stack);

/* lives_is_told() - is it known that the thread is there? */
static inline bool lives_is_told(const struct life *l)
{
	return l->state != GPROF_TRACE_GO_UNDETERMINED && l->state != GPROF_TRACE_GO_NOT_EXIST;
}

/* lives_left_for() - somebody left a CPU for this reason */
static inline bool lives_left_for(const struct gprof_trace_event *ev, const char *reason)
{
	return ev->kind == GPROF_TRACE_STATE_TRANSITION &&
	       ev->transition.from == GPROF_TRACE_GO_RUNNING &&
	       ev->transition.reason.s[0] == reason[0] && !strcmp(ev->transition.reason.s, reason);
}

/* lives_is_made_up() - who it is about left its CPU unseen, some time before */
static inline bool lives_is_made_up(const struct gprof_trace_event *ev)
{
	return lives_left_for(ev, "lost events");
}

/* lives_is_off() - is it told that it has no CPU? */
static inline bool lives_is_off(const struct life *l)
{
	return l->state == GPROF_TRACE_GO_RUNNABLE || l->state == GPROF_TRACE_GO_WAITING;
}

/* lives_why() - why a thread waits that does */
enum part lives_why(struct lives *v, const struct life *l);

/* lives_give() - tell whoever asked of a stretch of a thread */
static inline void lives_give(struct lives *v, uint32_t i, enum part part, int64_t begin,
			      int64_t end, bool goes_on)
{
	const struct life *l = &v->all[i];
	const bool ready = part == PART_RUNNABLE || part == PART_THROTTLED;
	const bool woken = l->woken && part != PART_LOST && (ready || !goes_on);
	const struct stretch s = {
		.life = i, .part = part, .begin = begin, .end = end,
		.stack = part == PART_CPU || part == PART_LOST ? 0 : l->stack, .woken = woken,
		.waker = woken ? l->waker : LIVES_NONE, .cut = l->cut, .goes_on = goes_on,
	};

	if (v->use.stretch && end > begin)
		v->use.stretch(v->use.ctx, v, &s);
}

/* lives_stretch_broken() - lives_stretch_end(), whatever the thread is in */
void lives_stretch_broken(struct lives *v, uint32_t i, int64_t time, bool confirmed);

/**
 * lives_stretch_end() - what a thread is in has ended
 * @v: all of them
 * @i: which
 * @time: when
 * @confirmed: what ends it could not have, if it had done anything else just before. So
 *	whatever it did in the gaps of the trace, it has been in this since the last of them
 */
static inline __attribute__((always_inline)) void
lives_stretch_end(struct lives *v, uint32_t i, int64_t time, bool confirmed)
{
	struct life *l = &v->all[i];
	enum part part = PART_CPU;

	if (!lives_is_told(l))
		return;
	if (l->lost || l->throttled || l->broken || (lives_is_off(l) && v->gaps.end > l->since)) {
		lives_stretch_broken(v, i, time, confirmed);
		return;
	}
	if (lives_is_off(l))
		part = l->state == GPROF_TRACE_GO_RUNNABLE ? PART_RUNNABLE : lives_why(v, l);
	lives_give(v, i, part, l->since, time, false);
	l->since = time;
}

/*
 * lives_lose() - events of a CPU are missing, from the last that there is of it up to @time:
 * who has it may have left
 */
void lives_lose(struct lives *v, struct lives_cpu *c, int64_t time);

/* lives_found() - and that has ended with what is seen there now; NULL: with the trace */
void lives_found(struct lives *v, int64_t cpu, struct lives_cpu *c,
		 const struct gprof_trace_event *ev);

/*
 * lives_left_unseen() - a thread has left its CPU by @time, some time after it was seen
 * there last
 */
void lives_left_unseen(struct lives *v, uint32_t i, int64_t time);

/* lives_call_end() - the system call that a thread is in, if any, has ended, or is @cut off */
void lives_call_end(struct lives *v, uint32_t i, int64_t time, bool cut);

#endif /* TOOLS_VIEWS_LIVES_STRETCH_H */
