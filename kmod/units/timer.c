// SPDX-License-Identifier: GPL-2.0-only
/* timer: when the timer samples */
#include "../source_timer.c"
#include "../timer.c"
#include "../cpu_clock.c"
