// SPDX-License-Identifier: GPL-2.0-only
/*
 * probe: connections to the kernel's tracepoints and to breakpoints in programs, shared by
 * all recorders; filters, and the share of events that is kept.
 *
 * Contexts: thin.c, thin_bytes.c and filter.c where the event happens, NMI included; tap.c
 * and known.c context switches, forks and exits; the rest system calls.
 * May include: user and the rooms below.
 */
#include "tap.c"
#include "tap_probe.c"
#include "tap_alloc.c"
#include "tracepoint.c"
#include "user_probe.c"
#include "known.c"
#include "filter.c"
#include "thin_bytes.c"
#include "thin.c"
