// SPDX-License-Identifier: GPL-2.0-only
/*
 * Frees the state of ended threads, in a trace that has no end.
 */
#include "thread_spans.h"

#include <stdlib.h>
#include <string.h>

#include "cli/diag.h"

static bool is_over(const struct thread *l)
{
	return l->state == GPROF_TRACE_GO_NOT_EXIST || l->state == GPROF_TRACE_GO_UNDETERMINED;
}

/* A stack that is still needed, by its number among those that are kept. */
static uint32_t keep_stack(struct trace_stacks *to, const struct trace_stacks *from,
			   uint32_t number)
{
	return (uint32_t)trace_stacks_copy(to, from, number);
}

static uint32_t keep_text(struct intern *to, const struct intern *from, uint32_t number)
{
	size_t len;
	const void *key = number < from->nr ? intern_key(from, number, &len) : NULL;

	return key ? (uint32_t)intern_add(to, key, len) : 0;
}

static uint32_t keep_life(const uint32_t *numbers, size_t nr, uint32_t thread)
{
	return thread < nr ? numbers[thread] : THREAD_NONE;
}

/* Gaps are forgotten below. */
static int64_t broken_at(const struct thread_spans *v, const struct thread *l)
{
	int64_t known = l->lost ? TRACE_GAPS_NONE : thread_span_known_until(v, l);

	return known == TRACE_GAPS_NONE ? 0 : known;
}

void thread_spans_forget(struct thread_spans *v,
			 void (*moved)(void *ctx, uint32_t from, uint32_t to), void *ctx)
{
	uint32_t *numbers = xalloc(v->ids.nr, sizeof(*numbers));
	struct trace_stacks stacks = { 0 };
	struct intern ids = { 0 }, texts = { 0 };
	size_t old = v->ids.nr, nr = 0;

	for (size_t i = 0; i < old; i++) {
		const struct thread l = v->all[i];

		numbers[i] = THREAD_NONE;
		if (is_over(&l))
			continue;
		numbers[i] = (uint32_t)intern_add(&ids, &l.id, sizeof(l.id));
		if (moved)
			moved(ctx, (uint32_t)i, numbers[i]);
		v->all[nr] = l;
		v->all[nr].broken = broken_at(v, &l);
		v->all[nr].name = keep_text(&texts, &v->texts, l.name);
		v->all[nr].call = l.call ? keep_text(&texts, &v->texts, l.call - 1) + 1 : 0;
		v->all[nr].stack = keep_stack(&stacks, &v->stacks, l.stack);
		v->all[nr].call_stack = keep_stack(&stacks, &v->stacks, l.call_stack);
		v->all[nr++].waker_stack = keep_stack(&stacks, &v->stacks, l.waker_stack);
	}
	for (size_t i = 0; i < nr; i++)
		v->all[i].waker = keep_life(numbers, old, v->all[i].waker);
	for (size_t i = 0; i < v->nr_cpus; i++) {
		struct thread_spans_cpu *c = &v->cpus[i];

		c->thread = keep_life(numbers, old, c->thread);
		if (c->had < old)
			c->had = numbers[c->had] == THREAD_NONE ? THREAD_UNKNOWN : numbers[c->had];
	}
	trace_stacks_free(&v->stacks);
	intern_free(&v->texts);
	intern_free(&v->ids);
	v->stacks = stacks;
	v->texts = texts;
	v->ids = ids;
	trace_gaps_forget(&v->gaps);
	memset(v->recent, 0, sizeof(v->recent));
	if (v->room_stack_states)
		memset(v->stack_states, 0, v->room_stack_states * sizeof(*v->stack_states));
	free(numbers);
}
