/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A timeline as a page for a browser, which needs nothing else.
 *
 * The page holds the data as JSON, in the element "data":
 *
 *	begin	CLOCK_MONOTONIC at the left, ns, as a string, for it may be beyond 2^53
 *	wall	CLOCK_REALTIME there, ns since 1970, as a string; null: the trace does not have it
 *	zone	[minutes east of Greenwich, name], of the machine that made the page
 *	span	ns; all other times are ns since @begin
 *	resolution	of the finest level
 *	parts	states of a thread: the letter a in pieces stands for the first; the
 *		letter behind the last means no state
 *	words	what a thread does in each, as gprofctl why says it; ended: as enum wait_chain_end
 *	whole	it is of all of the trace
 *	notes	sentences about gaps of the trace
 *	cpus	{cpu, ns, levels}; tracks {thread, process, first, ns, levels}: @ns is the
 *		time of each part, @first when the track begins, @levels are [resolution,
 *		pieces]; those of a process stand together. @samples, where a thread has CPU
 *		samples: ns since the one before (the first: since @begin) ":" stack "," of each
 *	sampled	one of so many samples of the trace is in the page
 *	threads	[tid, name]; the first are those of the tracks
 *	processes	[pid, name], the one that ran longest first; pid 0: the kernel's threads, or
 *		the goroutines that began with a function
 *	go	a Go program wrote the trace of itself: threads are goroutines, and CPUs Ps
 *	stacks	numbers of functions, leaf first; functions	names
 *	others	threads without a track, and their times, as above
 *
 * Pieces are one behind the other: LETTER NS, and any of: "!" (woken), ":" STACK,
 * "@" WHO, "*" COUNT where several are joined, and then STACK is of the longest; STACK counts
 * from 1, WHO from 0, all to base 10.
 */
#ifndef TOOLS_VIEWS_TIMELINE_PAGE_H
#define TOOLS_VIEWS_TIMELINE_PAGE_H

#include <stdio.h>

#include "timeline.h"

/* timeline_page() - write it; ferror(@f) tells a failure */
void timeline_page(FILE *f, struct timeline *t, const char *title);

#endif /* TOOLS_VIEWS_TIMELINE_PAGE_H */
