/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The regions and tasks that programs tell of in a trace, by type.
 */
#ifndef TOOLS_VIEWS_REGIONS_H
#define TOOLS_VIEWS_REGIONS_H

#include <stdbool.h>
#include <stdint.h>

#include <gprof/trace.h>

/**
 * regions_print() - how long they lasted, and the states of their threads meanwhile
 * @t: trace of a host or of a Go program, from its begin
 * @name: for sentences
 * @json: as JSON with stable keys
 *
 * Return: the exit status.
 */
int regions_print(struct gprof_trace *t, const char *name, bool json);

/**
 * struct region - one region
 * @thread: tid of its thread, or the number of its goroutine
 * @begin: ns, as events have it
 * @end: likewise
 */
struct region {
	int64_t thread;
	int64_t begin;
	int64_t end;
};

/**
 * regions_longest() - the longest region of a name
 * @t: as for regions_print()
 * @name: for sentences
 * @type: its name
 * @found: gets it
 *
 * Return: the exit status, other than 0 after a sentence.
 */
int regions_longest(struct gprof_trace *t, const char *name, const char *type,
		    struct region *found);

#endif /* TOOLS_VIEWS_REGIONS_H */
