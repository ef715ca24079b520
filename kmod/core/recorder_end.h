/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * recorder_end: START, STOP and close, as far as they wait for others.
 */
#ifndef GPROF_RECORDER_END_H
#define GPROF_RECORDER_END_H

#include <linux/completion.h>
#include <linux/gprof.h>
#include <linux/types.h>
#include <linux/workqueue.h>

struct gprof_recorder;

/**
 * struct gprof_end - work that STOP and close leave
 * @work: does it
 * @todo: bits of it
 * @nice: of the caller
 * @stopped: the source has stopped since the last STOP, or there was none
 * @closed: nothing of the recorder is left but its memory
 * @counts: of the source when it was stopped
 * @counted: @counts are set
 */
struct gprof_end {
	struct work_struct work;
	unsigned long todo;
	int nice;
	struct completion stopped;
	struct completion closed;
	struct gprof_stats counts;
	bool counted;
};

void gprof_recorder_end_init(struct gprof_recorder *r);
int gprof_recorder_begin_source(struct gprof_recorder *r, u32 *attached, u32 *reason);
bool gprof_recorder_end_source(struct gprof_recorder *r);
bool gprof_recorder_has_ended(struct gprof_recorder *r);
int gprof_recorder_await_end(struct gprof_recorder *r);
void gprof_recorder_end_stats(struct gprof_recorder *r, struct gprof_stats *stats);
void gprof_recorder_end(struct gprof_recorder *r, bool wait);

#endif /* GPROF_RECORDER_END_H */
