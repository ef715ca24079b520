/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * wait: the waits of a target's tasks, and how they become samples.
 *
 *	wait.c		from switch-out to wake-up, and to the sample
 *	wait_boundary.c	those under way at START and at STOP
 *	wait_table.c	the table of those that go on, and the sample of one
 *	klock_wait.c	waits for locks of the kernel, which tells of them itself
 *
 * Whether a wait is sampled is decided when it begins, when nobody can know how long it
 * will last; only of those that are there is a note, until they end.
 */
#ifndef GPROF_WAIT_H
#define GPROF_WAIT_H

#include "waits.h"

struct gprof_request;
struct gprof_stats;

u64 gprof_waits_bytes(const struct gprof_request *req);
u64 gprof_waits_owner_bytes(const struct gprof_request *req);
int gprof_waits_setup(struct gprof_request *req, const struct gprof_wait_spec *spec,
		      void **state);

/* These four fit struct gprof_source_ops, whose state is then struct gprof_waits. */
int gprof_waits_start(void *state, u32 *attached);
void gprof_waits_last(void *state);
void gprof_waits_stop(void *state);
void gprof_waits_stats(void *state, struct gprof_stats *stats);
void gprof_waits_destroy(void *state);

#endif /* GPROF_WAIT_H */
