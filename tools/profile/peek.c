// SPDX-License-Identifier: GPL-2.0-only
/*
 * Calls are counted as go tool pprof counts them: a pair once in a sample, and of a
 * function that calls itself none.
 */
#include "peek.h"

#include <stdlib.h>
#include "cli/diag.h"

static void add_call(struct peek *p, size_t from, size_t to, int64_t value)
{
	uint32_t edge[] = { from, to };
	size_t n;
	struct peek_call *call;

	if (from == to || (!function_match_is(&p->wanted, &p->functions, from) &&
			   !function_match_is(&p->wanted, &p->functions, to)))
		return;
	n = intern_add(&p->edges, edge, sizeof(edge));
	p->calls = xgrow(p->calls, n, &p->room_calls, sizeof(*p->calls));
	call = &p->calls[n];
	if (n == p->nr)
		*call = (struct peek_call){ .from = from, .to = to };
	p->nr = n == p->nr ? n + 1 : p->nr;
	if (call->sample == p->functions.samples)
		return;
	call->sample = p->functions.samples;
	call->value = view_sum(call->value, value);
}

static int add_sample(void *ctx, const struct view_sample *s)
{
	struct peek *p = ctx;
	int64_t value = s->values[p->view->type];
	size_t caller, callee = 0;

	functions_add(&p->functions, p->view, s, value);
	for (size_t i = 0; i < s->nr; i++) {
		caller = p->functions.stack[i];
		if (i)
			add_call(p, caller, callee, value);
		callee = caller;
	}
	return 0;
}

int peek_collect(struct peek *p, struct view *v, const char *word)
{
	int status;

	*p = (struct peek){ .view = v };
	function_match_init(&p->wanted, word, view_frames(v));
	status = view_each(v, add_sample, p);
	functions_finish(&p->functions);
	return status;
}

void peek_free(struct peek *p)
{
	functions_free(&p->functions);
	intern_free(&p->edges);
	function_match_free(&p->wanted);
	free(p->calls);
	*p = (struct peek){ 0 };
}
