/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * trigger: events that a trace looks out for, and tells at once.
 *
 *	trigger.c	which there are
 *	trigger_probe.c	system calls, reclaim, interrupts, signals
 *	trigger_tracepoint.c	tracepoints, with filters
 *	trigger_wait.c	waits of tasks, and how long they last
 *	trigger_scan.c	looks for states that go on
 *	trigger_fire.c	fires
 *
 * A state that lasts (a wait, a system call, reclaim) is remembered by task, with the time when
 * it began. It fires when it ends, or when it is seen to go on; once in either case.
 */
#ifndef GPROF_TRIGGER_H
#define GPROF_TRIGGER_H

#include "triggers.h"

struct gprof_triggers *gprof_triggers_new(struct gprof_trace *t, struct gprof_event_queue *events,
					  struct gprof_charge *charge);
int gprof_triggers_add(struct gprof_triggers *g, struct gprof_trigger *trigger, const char *name);
int gprof_triggers_start(struct gprof_triggers *g);
int gprof_triggers_follow(struct gprof_triggers *g);
void gprof_triggers_unfollow(struct gprof_triggers *g);
void gprof_triggers_stop(struct gprof_triggers *g);
void gprof_triggers_destroy(struct gprof_triggers *g);

#endif /* GPROF_TRIGGER_H */
