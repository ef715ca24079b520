// SPDX-License-Identifier: GPL-2.0-only
/* tracepoint: tracepoints and probes, and which of their events count */
#include "../filter.c"
#include "../thin_bytes.c"
#include "../thin.c"
#include "../tracepoint.c"
#include "../user_probe.c"
#include "../known.c"
