// SPDX-License-Identifier: GPL-2.0-only
/*
 * trace_stack: the stack of an event, as a sample behind its word.
 *
 * It is taken, told and counted as a sample is, by the sampler: it has the same
 * dictionary, names its task and has the mappings read. Its time is that of the word, so
 * that no generation is cut between them but by bytes.
 */
#include "sample/sampler.h"
#include "trace.h"
#include "unwind/stack.h"

#include <linux/gprof.h>
#include <linux/perf_event.h>

/**
 * gprof_trace_stack() - tell current's stack, of the event that was written just now
 * @t: trace
 * @c: this CPU's
 * @now: the event's time
 * @regs: where it begins, or NULL: at the module's caller
 *
 * Whether current may be recorded has been asked.
 *
 * Context: Any but NMI, interrupts off.
 */
noinline void gprof_trace_stack(struct gprof_trace *t, struct gprof_trace_cpu *c, u64 now,
				struct pt_regs *regs)
{
	struct gprof_capture capture __uninitialized;

	/* A word that was lost has no stack. */
	if (unlikely(c->followed == GPROF_TRACE_DESYNC))
		return;
	if (!regs) {
		regs = &c->regs;
		perf_fetch_caller_regs(regs);
		gprof_arch_caller_regs(regs);
	}
	gprof_capture(&capture, regs, t->min_ns ? 0 : now);
	capture.flags = GPROF_SAMPLE_REC_F_EVENT;
	/* A held event is told with its own time; its walk begins now. */
	if (t->min_ns && gprof_capture_begin(&capture))
		capture.time = now;
	/* It stands for nothing; a weight of its own would be told. */
	gprof_emit(&capture, t->sampler, c->buffer->weight);
	gprof_captured(&capture);
}
