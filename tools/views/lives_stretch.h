/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What threads do, told as it ends, for who follows them.
 */
#ifndef TOOLS_VIEWS_LIVES_STRETCH_H
#define TOOLS_VIEWS_LIVES_STRETCH_H

#include "lives.h"

/* lives_stack_part() - why one waits who stopped at a stack, by its number */
enum part lives_stack_part(struct lives *v, uint32_t stack);

/* lives_is_told() - is it known that the thread is there? */
bool lives_is_told(const struct life *l);

/* lives_is_made_up() - who it is about left its CPU unseen, some time before */
bool lives_is_made_up(const struct gprof_trace_event *ev);

/**
 * lives_stretch_end() - what a thread is in has ended
 * @v: all of them
 * @i: which
 * @time: when
 * @confirmed: what ends it could not have, if it had done anything else just before. So
 *	whatever it did in the gaps of the trace, it has been in this since the last of them
 */
void lives_stretch_end(struct lives *v, uint32_t i, int64_t time, bool confirmed);

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
