/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * recorder: one open file of /dev/gprof.
 */
#ifndef GPROF_RECORDER_H
#define GPROF_RECORDER_H

#include "recorder_state.h"

#include <linux/poll.h>

struct gprof_info;
struct gprof_rate;
struct gprof_self_stack;
struct gprof_setup;
struct gprof_start;
struct gprof_stats;
struct gprof_stop;
struct gprof_trigger;
struct gprof_trigger_event;
struct gprof_unwind_table_add;
struct vm_area_struct;

struct gprof_recorder *gprof_recorder_new(void);
void gprof_recorder_close(struct gprof_recorder *r);

void gprof_recorder_info(struct gprof_info *info);
int gprof_recorder_setup(struct gprof_recorder *r, struct gprof_setup *setup,
			 const struct gprof_source_ops *source, const void *params,
			 const unsigned long *cpus);
int gprof_recorder_start(struct gprof_recorder *r, struct gprof_start *start);
int gprof_recorder_stop(struct gprof_recorder *r, struct gprof_stop *stop);
int gprof_recorder_rate(struct gprof_recorder *r, struct gprof_rate *rate);
int gprof_recorder_trigger(struct gprof_recorder *r, struct gprof_trigger *trigger,
			   const char *name);
int gprof_recorder_trigger_read(struct gprof_recorder *r, struct gprof_trigger_event *fired);
int gprof_recorder_unwind_table_add(struct gprof_recorder *r, struct gprof_unwind_table_add *table);
int gprof_recorder_self_stack(struct gprof_recorder *r, struct gprof_self_stack *arg);
int gprof_recorder_stats(struct gprof_recorder *r, struct gprof_stats *stats);
int gprof_recorder_mmap(struct gprof_recorder *r, struct vm_area_struct *vma);
__poll_t gprof_recorder_poll(struct gprof_recorder *r, struct file *file, poll_table *wait);

void gprof_recorder_samples(struct gprof_recorder *r, struct gprof_stats *st);

#endif /* GPROF_RECORDER_H */
