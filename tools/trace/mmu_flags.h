/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Options of gprofctl mmu --flags: time that counts as taken, and its functions.
 */
#ifndef TOOLS_MMU_FLAGS_H
#define TOOLS_MMU_FLAGS_H

#include <stdbool.h>

#include <gprof/trace.h>
#include <gprof/utilization.h>

/**
 * struct mmu_flags - --flags
 * @flags: GPROF_UTIL_*
 * @processes: groups are processes; else all tasks are one
 */
struct mmu_flags {
	unsigned int flags;
	bool processes;
};

/* Defaults, as Go's. */
#define MMU_FLAGS_DEFAULT	(GPROF_UTIL_STW | GPROF_UTIL_BACKGROUND | GPROF_UTIL_ASSIST)

/* mmu_flags_parse() - of words with commas between; a status, after a sentence */
int mmu_flags_parse(struct mmu_flags *f, const char *value);

/* mmu_flags_text() - causes that count, as words; for free() */
char *mmu_flags_text(const struct mmu_flags *f);

/* mmu_flags_whose() - kind of the functions, such as "task"; NULL: one for all */
const char *mmu_flags_whose(const struct mmu_flags *f);

/**
 * mmu_flags_check() - does a trace have the events for it?
 * @st: of the trace, after its first event
 * @file: its name
 *
 * Return: STATUS_OK, after sentences on missing events, or another status after one.
 */
int mmu_flags_check(const struct mmu_flags *f, const struct gprof_trace_stats *st,
		    const char *file);

#endif /* TOOLS_MMU_FLAGS_H */
