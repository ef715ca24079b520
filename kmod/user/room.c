// SPDX-License-Identifier: GPL-2.0-only
/*
 * user: shared by the recorders of one user: a thread, charged memory, turns to change the
 * kernel's text, rights, and the queue of events.
 *
 * Contexts: event_queue.c and worker.c are told in any, NMI included; the rest runs in system
 * calls and in the user's thread.
 * May include: clock, arch, task.
 */
#include "event_queue.c"
#include "worker.c"
#include "memlock.c"
#include "turn.c"
#include "paranoid.c"
#include "later.c"
