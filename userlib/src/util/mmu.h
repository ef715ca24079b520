/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * mmu.h: the functions that questions about windows are asked of.
 */
#ifndef GPROF_MMU_H
#define GPROF_MMU_H

#include "sliding_window.h"

/**
 * struct gprof_mmu - utilization functions, ready to be asked
 * @series: those with a duration
 * @nr: how many
 */
struct gprof_mmu {
	struct gprof_series *series;
	size_t nr;
};

/** gprof_mmu_window() - put a window of @length, or all of it, at the begin of a series */
void gprof_mmu_window(struct gprof_sliding_window *w, const struct gprof_series *s, int64_t length);

/** gprof_mmu_lowest() - worst window of those series that are longer than @longer */
double gprof_mmu_lowest(const struct gprof_mmu *m, int64_t window, uint64_t longer);

#endif /* GPROF_MMU_H */
