// SPDX-License-Identifier: GPL-2.0-only
/*
 * kind/cpu: CPU time and events, by the kernel's timers, counters and tracepoints of perf.
 *
 * Contexts: NMI (an overflow), hard interrupts (a timer), context switches with interrupts
 * off; system calls.
 * May include: kind, sample and the rooms below.
 */
#include "source_pmu.c"
#include "source_timer.c"
#include "source_tracepoint.c"
#include "timer.c"
#include "cpu_clock.c"
#include "counter_share.c"
#include "counter_attach.c"
#include "counter.c"
