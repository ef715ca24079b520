/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * labels.h: which labels a thread of this process had, when.
 */
#ifndef GPROF_LABELS_DATA_H
#define GPROF_LABELS_DATA_H

#include <gprof/labels.h>
#include <linux/gprof.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* A set of labels as one text: KEY SEP TEXT END for each, in the order of keys. */
#define GPROF_LABELS_SEP	'\1'
#define GPROF_LABELS_END	'\2'

/**
 * struct gprof_labels_reader - a reader of past labels
 * @since: times before this one are of no interest any more
 * @next: of all readers
 * @reading: is it among them?
 */
struct gprof_labels_reader {
	uint64_t since;
	struct gprof_labels_reader *next;
	bool reading;
};

/** gprof_labels_begin() - keep the labels from now on */
void gprof_labels_begin(struct gprof_labels_reader *r);
/** gprof_labels_read() - labels before @time are not needed any more */
void gprof_labels_read(struct gprof_labels_reader *r, uint64_t time);
void gprof_labels_end(struct gprof_labels_reader *r);

/** gprof_labels_now() - time, by the clock of samples */
uint64_t gprof_labels_now(void);

/**
 * gprof_labels_used() - has any thread ever had labels?
 *
 * A reader that sees a labelled sample is told so.
 */
bool gprof_labels_used(void);

/** gprof_labels_own() - is this the calling process, whose labels are known? */
bool gprof_labels_own(const struct gprof_process *id);

/**
 * gprof_labels_at() - the labels of a thread of this process at a time
 * @tid: thread
 * @time: CLOCK_MONOTONIC
 * @take: gets them as a text, while no thread can change its own
 * @ctx: passed on
 *
 * Return: the return of @take; 0 without a call where there were none, -ENODATA where they are
 * forgotten.
 */
int gprof_labels_at(pid_t tid, uint64_t time, int (*take)(void *ctx, const char *text), void *ctx);

#endif /* GPROF_LABELS_DATA_H */
