// SPDX-License-Identifier: GPL-2.0-only
/*
 * core: requests of programs, and the recorders that serve them.
 *
 * A recorder is set up, started, stopped and closed here, by ioctl or by netlink. The rooms
 * below do the recording.
 *
 * Contexts: system calls and netlink; the end of a recorder also in its user's thread.
 * May include: every room below, of the kinds kind/source.h; netlink_sched.c and ioctl.c
 * also the headers of the kind whose requests they answer.
 */
#include "dev.c"
#include "ioctl.c"
#include "netlink.c"
#include "netlink_recorder.c"
#include "netlink_sched.c"
#include "recorder.c"
#include "recorder_end.c"
#include "recorder_state.c"
#include "registry.c"
#include "recorder_parts.c"
#include "setup.c"
