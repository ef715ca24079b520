// SPDX-License-Identifier: GPL-2.0-only
/*
 * probe: connections to the kernel's tracepoints and to breakpoints in programs, shared by
 * all recorders; filters, and the share of events that is kept.
 *
 * Contexts: subsample.c, byte_sample.c and filter.c where the event happens, NMI included; tp_mux.c
 * and tracked.c context switches, forks and exits; the rest system calls.
 * May include: user and the rooms below.
 */
#include "tp_mux.c"
#include "tp_mux_probe.c"
#include "tp_mux_alloc.c"
#include "tracepoint.c"
#include "user_probe.c"
#include "tracked.c"
#include "filter.c"
#include "byte_sample.c"
#include "subsample.c"
