/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * trace_facts.h: facts: gprof's own records in a trace beside the events of Go's format.
 *
 * Facts lie in strings of the string table that no event names: every reader of Go's, from
 * 1.22 on, takes such a string and shows it nowhere. An experimental batch with a number of
 * ours is no such place: Go 1.25 and later look the number up in an array of their own, and
 * panic. The first traces of gprof have each fact in a batch of experiment
 * GPROF_TRACE_EXPERIMENT, and are read as well.
 *
 * Such a string begins with GPROF_TRACE_FACTS, whose first byte is 0, as no name has it, and
 * goes on with { later length fact }*: varints, of which the first is how many units of the
 * trace's clock after the time of its batch the fact holds. A fact is a letter, and varints:
 *
 *	'V' 2					once: gprof wrote this, in this way; 1: a task
 *						within a system call is said to run
 *	'R' groups stacks kernel ns of	once, where known: options of the recording: points,
 *						their stacks, the kernel's part (1), shortest length,
 *						target: some CPUs (1), the whole host (2)
 *	'L' cpu n				n events of the CPU were lost before this
 *	'F' cpu kHz				the CPU goes at that frequency from now on
 *	'T' cpu 1 queue				a cgroup has used up its time on the CPU
 *	'T' cpu 0 queue				one has got some more, from this CPU; the same
 *						number is of the same one on the same CPU,
 *						and 0 is not known
 *	'G' { goroutine pid }*n			they are threads of that process; one of which
 *						nothing is said is the first of its own
 *	'C' mono sec nsec			once a generation, before Go 1.25: CLOCK_MONOTONIC
 *						in ns, and CLOCK_REALTIME at that instant
 *	'P' period { length bytes }*2		once, where there are CPU samples: weight of one,
 *						the name of the event, and its unit
 *	'I' { generation offset bytes time }*n	an index, at the end: where each begins,
 *						bytes of it, first time in units
 */
#ifndef GPROF_TRACE_FACTS_H
#define GPROF_TRACE_FACTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <gprof/trace.h>

#include "trace_bytes.h"
#include "trace_wire.h"

#define GPROF_TRACE_FACTS	"\0gprof"	/* and the 0 behind it */
/* Units of a trace's clock, as Go's on Linux, in ns. */
#define GPROF_TRACE_UNIT_NS	64
#define GPROF_TRACE_OF_CPUS	1
#define GPROF_TRACE_OF_HOST	2
/* Bytes of a fact. A string holds one for sure. */
#define GPROF_TRACE_FACT_MAX	1000

/**
 * struct gprof_trace_facts - facts of a generation that is being written
 * @waiting: { later length fact }*
 * @begin: time that they are relative to, in units; of the first one
 */
struct gprof_trace_facts {
	struct gprof_trace_bytes waiting;
	uint64_t begin;
};

/** gprof_trace_facts_add() - add a fact of @time, in units, and empty @fact; 0, -E2BIG or -ENOMEM */
int gprof_trace_facts_add(struct gprof_trace_facts *f, uint64_t time,
			  struct gprof_trace_bytes *fact);
/** gprof_trace_facts_add_numbers() - likewise one of numbers alone */
int gprof_trace_facts_add_numbers(struct gprof_trace_facts *f, uint64_t time, unsigned char kind,
				  const uint64_t *numbers, size_t nr);

/**
 * gprof_trace_facts_write() - the batches of strings that hold the facts
 * @f: facts; none are left
 * @out: where to
 * @generation: of which
 * @string: number of the first string; of the one after the last
 *
 * Return: 0 or -ENOMEM.
 */
int gprof_trace_facts_write(struct gprof_trace_facts *f, struct gprof_trace_bytes *out,
			    uint64_t generation, uint64_t *string);

void gprof_trace_facts_free(struct gprof_trace_facts *f);

/** gprof_trace_facts_are() - does a string hold facts? */
static inline bool gprof_trace_facts_are(const struct gprof_trace_text *text)
{
	return !text->s[0] && text->len >= sizeof(GPROF_TRACE_FACTS) &&
	       !memcmp(text->s, GPROF_TRACE_FACTS, sizeof(GPROF_TRACE_FACTS));
}

/**
 * gprof_trace_facts_next() - the fact at @p, which lies before @end
 * @later: as above
 * @len: bytes of it
 *
 * Return: the fact, behind which the next one begins, or NULL where it does not fit.
 */
const unsigned char *gprof_trace_facts_next(const unsigned char *p, const unsigned char *end,
					    uint64_t *later, uint64_t *len);

/**
 * struct gprof_trace_reported - facts about a trace as a whole
 * @gprof_version: gprof wrote it, in this way; 0: it is another's
 * @lost: events that were lost
 * @sample_period: period of CPU samples; 0: not known
 * @sample_type: name of that
 * @sample_unit: its unit
 * @recorded: the trace has the options of its recording: the four below
 * @groups: of points
 * @stacks: that they have
 * @kernel_frames: not 0: with the kernel's part
 * @min_duration_ns: shorter intervals were left out
 * @has_clock: @clock is set, without its @time; by a fact since this was cleared
 * @clock: an instant on two clocks
 */
struct gprof_trace_reported {
	uint64_t gprof_version;
	uint64_t lost;
	uint64_t sample_period;
	char sample_type[GPROF_TRACE_SAMPLE_TEXT];
	char sample_unit[GPROF_TRACE_SAMPLE_TEXT];
	bool recorded;
	uint64_t groups;
	uint64_t stacks;
	uint64_t kernel_frames;
	uint64_t min_duration_ns;
	uint64_t target;
	bool has_clock;
	struct gprof_trace_clock clock;
};

/** gprof_trace_reported_read() - a fact, of any kind; false where it ends within a number */
bool gprof_trace_reported_read(struct gprof_trace_reported *t, const unsigned char *p,
			       const unsigned char *end);

#endif /* GPROF_TRACE_FACTS_H */
