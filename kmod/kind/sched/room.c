// SPDX-License-Identifier: GPL-2.0-only
/*
 * kind/sched: statistics of the scheduler: delays, states, histograms.
 *
 * Contexts: context switches and wakeups under the lock of a run queue; system calls.
 * May include: kind, target and the rooms below; it takes no samples.
 */
#include "source_sched.c"
#include "sched_read.c"
#include "sched_probe.c"
#include "sched_calls.c"
#include "sched_tasks.c"
