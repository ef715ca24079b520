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
 * @given: as an option, that may name none
 */
struct mmu_flags {
	unsigned int flags;
	bool processes;
	bool given;
};

/* mmu_flags_parse() - of words with commas between; a status, after a sentence */
int mmu_flags_parse(struct mmu_flags *f, const char *value);

/*
 * mmu_flags_choose() - those of the kind of trace: of a Go program as Go's viewer, of a host waits
 * for a CPU, with reclaim and interrupts where they were recorded
 */
void mmu_flags_choose(struct mmu_flags *f, const struct gprof_trace_stats *st);

/* mmu_flags_text() - causes that count, in words for people, and the flags; for free() */
char *mmu_flags_text(const struct mmu_flags *f, bool host);

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
