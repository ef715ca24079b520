// SPDX-License-Identifier: GPL-2.0-only
/* event: counters and tracepoints of perf */
#include "../source_tracepoint.c"
#include "../share.c"
#include "../attach.c"
#include "../counter.c"
