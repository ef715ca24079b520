// SPDX-License-Identifier: GPL-2.0-only
/*
 * Missing parts of a trace of the host, for readers of its views.
 */
#include "thread_spans.h"

#include <inttypes.h>
#include <stdlib.h>

#include <gprof/trace_record.h>

#include "cli/cmd.h"
#include "cli/diag.h"
#include "trace_source.h"

static bool has_calls(const struct thread_spans *v)
{
	const struct gprof_trace_stats *r = &v->recorded;

	return r->recorded ? r->groups & GPROF_TRACE_GROUP_SYSCALLS : v->seen.calls;
}

/* A trace without its configuration may lack kinds of events. */
static const char *how(const struct thread_spans *v)
{
	return v->recorded.recorded ? "was recorded without" : "has nothing of";
}

char *thread_spans_missing(const struct thread_spans *v, const char *file)
{
	const struct gprof_trace_stats *r = &v->recorded;
	bool blocked = r->recorded && r->stacks & GPROF_TRACE_STACK_BLOCKED;
	bool reasons = v->seen.reasons || v->seen.stacks || (blocked && r->kernel_frames);
	bool calls = has_calls(v);

	if (v->go)
		return xprintf("a Go program wrote %s of itself: its threads are goroutines, and its "
			       "CPUs are Ps. Switches of OS threads are not in it; gprofctl trace records "
			       "them, and gprofctl read --join puts both together", file);
	if (reasons)
		return NULL;
	if (blocked)
		return xprintf("%s was recorded with --stacks, but without the kernel's part of them, "
			       "so that waits have %s; gprofctl trace --stacks --kernel (with "
			       "CAP_PERFMON) records it", file,
			       calls ? "the reasons of system calls alone" : "no reason");
	if (!calls)
		return xprintf("%s %s --stacks and --syscalls, so that waits have no reason; gprofctl "
			       "trace --stacks --syscalls records them", file, how(v));
	return xprintf("%s %s --stacks, so that the reasons of waits are those of system calls, as "
		       "far as they began in the trace; gprofctl trace --stacks (with CAP_PERFMON) "
		       "records more", file, how(v));
}

void thread_spans_report(const struct thread_spans *v, const char *file)
{
	char *missing = thread_spans_missing(v, trace_source_told(file));

	if (missing)
		diag("%s", missing);
	free(missing);
}

int thread_spans_report_none(const char *file)
{
	return fail("%s has no event of a thread", trace_source_told(file));
}

int thread_spans_report_calls(const struct thread_spans *v, const char *file, const char *what)
{
	if (!has_calls(v))
		return fail("%s %s --syscalls, so that there are no %s; gprofctl trace --syscalls "
			    "records system calls",
			    file, how(v), what);
	if (v->recorded.min_duration_ns)
		diag("%s has system calls of at least %" PRIu64 " ns alone, and so have %s", file,
		     (uint64_t)v->recorded.min_duration_ns, what);
	return STATUS_OK;
}
