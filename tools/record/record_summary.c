// SPDX-License-Identifier: GPL-2.0-only
/*
 * Summary of a recording: facts that a reader of the profile needs before trusting it.
 */
#include "record_summary.h"

#include <inttypes.h>
#include <stdio.h>

#include "cli/diag.h"

static double percent(uint64_t part, uint64_t whole)
{
	return whole ? 100.0 * part / whole : 0;
}

static void report_none(const struct gprof_recorder_stats *st, const struct record_words *words)
{
	if (!st->count)
		diag("%s: no sample was taken: %s", st->event, words->none);
	else
		diag("%s: no sample was taken: the target counted %" PRIu64 ", %sless than one "
		     "period; %s takes samples",
		     st->event, st->count, words->open ? words->open : "", words->more);
}

/* For each reason, with its own remedy. */
static void report_lost(const struct gprof_recorder_stats *st, const struct record_words *words)
{
	uint64_t other = st->lost - st->lost_full - st->lost_nested - st->lost_no_buffer -
			 st->lost_waits;
	const struct {
		uint64_t nr;
		const char *why;
		const char *help;
	} losses[] = {
		{ st->lost_full,
		  "as the buffer was full; a larger --buffer avoids it, or ", words->fewer },
		{ st->lost_nested,
		  "as interrupts were nested deeper than there is memory for", "" },
		{ st->lost_no_buffer,
		  "on a CPU that came, or of a process that was forked, for which there was no "
		  "memory yet", "" },
		{ st->lost_waits,
		  "as too many tasks waited at once, or were gone before their stacks could be "
		  "taken", "" },
		{ other, "for a reason that the profile tells", "" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(losses); i++)
		if (losses[i].nr)
			diag("%s: %" PRIu64 " of %" PRIu64 " samples (%.3g %%) were lost, %s%s",
			     st->event, losses[i].nr, st->produced,
			     percent(losses[i].nr, st->produced), losses[i].why, losses[i].help);
}

/* Facts that a reader of the profile needs before trusting it. */
static void report_event(const struct gprof_recorder_stats *st, const struct record_words *words)
{
	if (!st->produced)
		report_none(st, words);
	report_lost(st, words);
	if (st->overwritten)
		diag("%s: %" PRIu64 " of %" PRIu64 " samples were overwritten by newer ones",
		     st->event, st->overwritten, st->produced);
	if (st->throttled)
		diag("%s: the kernel paused the counter %" PRIu64 " times for interrupting too "
		     "often, so busy times are undercounted; %s avoids it",
		     st->event, st->throttled, words->fewer);
	/* Starting and stopping the clocks themselves leaves a difference too. */
	if (st->time_running_ns < st->time_enabled_ns - st->time_enabled_ns / 200)
		diag("%s: the CPU has too few counters and shared them out: this event was counted "
		     "%.1f %% of the time",
		     st->event, percent(st->time_running_ns, st->time_enabled_ns));
	if (st->tables_refused)
		diag("%s: stacks were walked by frame pointers alone: unwind tables did not fit "
		     "into the memory that you may lock (ulimit -l)",
		     st->event);
	if (st->other_python)
		diag("%s: Python %" PRIu64 ".%" PRIu64
		     " is not supported by --python, which knows 3.11 and "
		     "3.13: its functions are in the stacks where it runs as python3 -X perf, which "
		     "writes perf maps",
		     st->event, st->other_python >> 8, st->other_python & 0xff);
	if (st->live_full)
		diag("%s: %" PRIu64 " samples are not among the live ones, as there were too many at once "
		     "(%s helps), or of processes of more than 4096 mappings, whose end is not told",
		     st->event, st->live_full, words->fewer);
	if (st->live_lost)
		diag("%s: %" PRIu64
		     " objects are live that are not in the profile, as their samples "
		     "were lost or not read",
		     st->event, st->live_lost);
	if (st->live_unseen)
		diag("%s: up to %" PRIu64
		     " objects may be told as live that are not, as the kernel "
		     "did not tell of their ends",
		     st->event, st->live_unseen);
	if (st->maps_lost)
		diag("%s: %" PRIu64 " times the mappings of a process did not fit into the buffer; "
		     "frames may have no names",
		     st->event, st->maps_lost);
}

/* Stable: programs read it. */
static void report_counts(const struct gprof_recorder_stats *st, bool named)
{
	progress_clear();
	if (named)
		fprintf(stderr, "event=%s ", st->event);
	fprintf(stderr, "produced=%" PRIu64 " read=%" PRIu64 " lost=%" PRIu64
		" overwritten=%" PRIu64 " throttled=%" PRIu64 " nmi=%" PRIu64 " irq=%" PRIu64
		" task=%" PRIu64 "\n",
		st->produced, st->read, st->lost, st->overwritten, st->throttled, st->nmi, st->irq,
		st->task);
}

void record_summary(const struct gprof_recorder_stats *st, size_t nr,
		    const struct record_words *words, bool verbose)
{
	bool counts = verbose;

	for (size_t i = 0; i < nr; i++) {
		report_event(&st[i], words);
		counts |= st[i].read != st[i].produced;
	}
	for (size_t i = 0; i < nr; i++) {
		if (st[i].stacks &&
		    (verbose || st[i].stacks_complete < st[i].stacks - st[i].stacks / 100))
			diag("%s: %s", st[i].event, st[i].stacks_text);
	}
	for (size_t i = 0; i < nr && counts; i++)
		report_counts(&st[i], nr > 1);
}
