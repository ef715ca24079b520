// SPDX-License-Identifier: GPL-2.0-only
/* trigger: when a flight recorder stops */
#include "../trigger.c"
#include "../trigger_probe.c"
#include "../trigger_tracepoint.c"
#include "../trigger_wait.c"
#include "../trigger_look.c"
#include "../trigger_fire.c"
