// SPDX-License-Identifier: GPL-2.0-only
/* sched: statistics of the scheduler */
#include "../netlink_sched.c"
#include "../source_sched.c"
#include "../sched_read.c"
#include "../sched_probe.c"
#include "../sched_calls.c"
#include "../sched_scope.c"
