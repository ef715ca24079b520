// SPDX-License-Identifier: GPL-2.0-only
/* pmu: when counters sample */
#include "../source_pmu.c"
#include "../cycles.c"
#include "../mono.c"
#include "../paranoid.c"
#include "../procfs.c"
#include "../turn.c"
