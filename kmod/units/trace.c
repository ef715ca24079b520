// SPDX-License-Identifier: GPL-2.0-only
/* trace: traces */
#include "../source_trace.c"
#include "../trace_probe.c"
#include "../trace_calls.c"
#include "../trace_hold.c"
#include "../trace_emit.c"
#include "../trace_stack.c"
