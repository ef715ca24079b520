// SPDX-License-Identifier: GPL-2.0-only
/*
 * kind/trace: every switch, wakeup and system call in order, and the triggers that look for
 * something in them.
 *
 * Contexts: context switches and wakeups under the lock of a run queue, hard interrupts,
 * system calls; triggers are looked after in the thread of the recorder's user.
 * May include: kind/cpu, kind, sample and the rooms below.
 */
#include "source_trace.c"
#include "trace_probe.c"
#include "trace_calls.c"
#include "trace_min_duration.c"
#include "trace_emit.c"
#include "trace_stack.c"
#include "trigger.c"
#include "trigger_probe.c"
#include "trigger_tracepoint.c"
#include "trigger_wait.c"
#include "trigger_scan.c"
#include "trigger_fire.c"
