/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * continuous: profiles of the whole host all the time, interval after interval.
 *
 * The recorder goes on while profiles are taken of it; only where rates change is it made anew,
 * and the time until it records again is counted. Kinds with live objects have a recorder of their
 * own, and keep their rate: a new one would miss the older objects.
 */
#ifndef GPROF_TOOLS_AGENT_CONTINUOUS_H
#define GPROF_TOOLS_AGENT_CONTINUOUS_H

#include <stdbool.h>
#include <stdint.h>

#include "budget.h"
#include "record/kinds.h"
#include "store.h"

/**
 * struct continuous - kinds and their recorders
 * @kinds: kinds, with the rates of now; first those whose rates change
 * @nr_rated: how many of them these are
 * @rates: those that were asked for
 * @host: from item_host()
 * @r: records these, and the others; or NULL
 * @before: counts of each when the last profile was taken
 * @produced: samples that the kernel took, by kind, since the beginning
 * @lost: ... and that were lost
 * @intervals: how many profiles there were of each
 * @gap_ns: time that is in no profile
 * @stopped_ns: CLOCK_MONOTONIC when it was stopped to be made anew; 0: it was not
 */
struct continuous {
	struct kinds kinds;
	size_t nr_rated;
	uint64_t rates[KINDS_MAX];
	char host[ITEM_HOST];
	struct gprof_recorder *r[2];
	struct gprof_recorder_stats before[KINDS_MAX];
	uint64_t produced[KINDS_MAX];
	uint64_t lost[KINDS_MAX];
	uint64_t intervals;
	uint64_t gap_ns;
	uint64_t stopped_ns;
};

/* Next step after a profile was taken. */
enum continuous_then {
	CONTINUOUS_GO_ON,	/* it goes on */
	CONTINUOUS_RENEW,	/* of kinds with a rate; it ends, for continuous_start() */
	CONTINUOUS_END,		/* all ends */
};

/**
 * continuous_add() - record one more kind
 * @spec: "KIND" or "KIND:RATE"; ""wall" is cpu and block
 *
 * Return: STATUS_OK, or another status after a sentence.
 */
int continuous_add(struct continuous *c, const char *spec);

/* continuous_start() - start all stopped recorders, with the rates of @b; STATUS_OK, or another */
int continuous_start(struct continuous *c, const struct budget *b);

/**
 * continuous_store() - put the profiles so far into a store
 * @c: started
 * @s: store
 * @then: next step
 *
 * Return: STATUS_OK, or STATUS_FAILED after a sentence, when it cannot go on: the finished
 * profiles are in the store then, and CONTINUOUS_END takes the rest.
 */
int continuous_store(struct continuous *c, struct store *s, enum continuous_then then);

/* continuous_cost() - ns of CPU time that the samples of the last interval took the kernel */
uint64_t continuous_cost(const struct continuous *c, const uint64_t produced_before[KINDS_MAX]);

void continuous_free(struct continuous *c);

#endif /* GPROF_TOOLS_AGENT_CONTINUOUS_H */
