/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * gprof/labels.h: labels of the calling thread, in profiles that a program takes of itself.
 *
 *	const struct gprof_tag tags[] = { { .key = "customer", .text = "17" } };
 *
 *	if (gprof_labels_push(tags, 1))
 *		warnx("%s", gprof_error());
 *	work();
 *	gprof_labels_pop();
 *
 * As with Go's pprof.Do, labels nest: inner ones add to outer ones, and of one key the
 * innermost counts. The samples of profiles show them, and pprof's -tagfocus and -tags
 * select by them.
 *
 * Guarantees. The kernel knows nothing of labels: the library notes when a thread changes its own,
 * and its recorders look that up by the time and the thread of each sample. So all that runs
 * between the return of push and the call of pop has the labels, but for an interrupt's worth of
 * nanoseconds by which the kernel's clock may be off. This is so for recorders of the same
 * process, with any target; those of other processes, such as gprofctl, see no labels. In a pid or
 * time namespace of its own, where the process does not see the ids and times of the kernel's,
 * there are no labels. A thread may change its labels 262,144 times between two readings of the
 * buffers (10 a second); samples older than that have no labels, and a comment of the profile
 * counts them.
 *
 * Threads. Each thread has its own labels; a new one begins without. All functions may
 * be called at any time, but not from a signal handler. Fork. The child goes on with the
 * labels of the thread that forked. Labels of a thread end with it.
 */
#ifndef GPROF_LABELS_H
#define GPROF_LABELS_H

#include <stddef.h>
#include <gprof/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Most labels that a thread has at a time. */
#define GPROF_LABELS_MAX	32

/**
 * gprof_labels_push() - add labels to those of the calling thread, until the next pop
 * @tags: texts; copied. Control characters in them become '?'
 * @nr: how many
 *
 * Also when it fails a pop takes it back, so that the two can be paired blindly.
 *
 * Return: 0 or -errno, and the labels are as they were: EINVAL for a label that is
 * a number, or without a key, or of a key that samples have anyway (pid, tid, cpu, comm,
 * addr, cgroup); E2BIG for more than GPROF_LABELS_MAX; ENOMEM.
 */
GPROF_API int gprof_labels_push(const struct gprof_tag *tags, size_t nr);

/** gprof_labels_pop() - take the last push of the calling thread back, if there is one */
GPROF_API void gprof_labels_pop(void);

#ifdef __cplusplus
}
#endif

#endif /* GPROF_LABELS_H */
