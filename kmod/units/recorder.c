// SPDX-License-Identifier: GPL-2.0-only
/* recorder: recorders, and what they may be of */
#include "../recorder.c"
#include "../recorder_end.c"
#include "../registry.c"
#include "../recorder_parts.c"
#include "../setup.c"
#include "../channels.c"
#include "../source.c"
#include "../source_cpu.c"
