/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * sample_labels.h: labels of a sample.
 */
#ifndef GPROF_SAMPLE_LABELS_H
#define GPROF_SAMPLE_LABELS_H

#include <stddef.h>
#include <stdint.h>

#include "aggregate.h"
#include "profile/labels.h"

#define GPROF_SAMPLE_KEYS	18
#define GPROF_SAMPLE_LABELS_MAX	(GPROF_SAMPLE_KEYS + GPROF_LABELS_MAX + GPROF_DESCRIPTION_MAX + 1)

/** gprof_clamp() - a count, as far as int64_t of pprof can hold it */
static inline int64_t gprof_clamp(uint64_t n)
{
	return n > INT64_MAX ? INT64_MAX : (int64_t)n;
}

/** gprof_sample_keys() - numbers of the keys' names in a profile; 0 or -ENOMEM */
int gprof_sample_keys(struct gprof_profile *p, uint32_t keys[GPROF_SAMPLE_KEYS]);

/**
 * gprof_sample_labels() - labels of a sample
 * @b: builder, whose profile has begun
 * @c: sample
 * @keys: as gprof_sample_keys() gave them
 * @labels: room for GPROF_SAMPLE_LABELS_MAX
 * @nr: how many there are then
 *
 * pid, tid, cpu, comm; time, where there are slices of it; process.executable.name and ppid where they are known; addr, parallelism and owner
 * where they were asked for, the reason of a wait, "stack" of one with guessed frames, those of
 * the thread, and those of the process.
 *
 * Return: 0 or -ENOMEM.
 */
int gprof_sample_labels(struct gprof_builder *b, const struct gprof_count *c,
			const uint32_t keys[GPROF_SAMPLE_KEYS], struct gprof_label *labels,
			size_t *nr);

#endif /* GPROF_SAMPLE_LABELS_H */
