/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * description.h: description of a process: its parent, its cgroup, and the context that it publishes
 * (OpenTelemetry's process context, OTEP 4719: service.name and the like).
 */
#ifndef GPROF_DESCRIPTION_H
#define GPROF_DESCRIPTION_H

#include <linux/gprof.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Labels that a description has at most. */
#define GPROF_DESCRIPTION_MAX	8

/**
 * struct gprof_description - of one program run
 * @cgroup: path in the hierarchy of cgroup v2, or NULL
 * @comm: name of the process, or NULL
 * @context: its published context, as labels.h writes a set, or NULL
 * @ppid: its parent's id when it was first seen, or 0
 * @uid: user of the process
 * @uid_known: is @uid known?
 * @next_ns: when it is looked for again, CLOCK_MONOTONIC
 * @wait_ns: how long that was to be waited for
 */
struct gprof_description {
	char *cgroup;
	char *comm;
	char *context;
	uint32_t ppid;
	uid_t uid;
	bool uid_known;
	uint64_t next_ns;
	uint64_t wait_ns;
};

/**
 * struct gprof_described_run - identity of a described program run
 * @process: its id
 * @mapped: is this one of its executable mappings?
 * @ctx: passed on
 */
struct gprof_described_run {
	const struct gprof_process *process;
	bool (*mapped)(void *ctx, uint64_t start, uint64_t end, uint64_t offset);
	void *ctx;
};

/**
 * gprof_describe() - look, unless that was done a moment ago
 * @d: description; unchanged where the process is gone, or another one
 * @run: the program run
 * @last: it is the last time; look in any case
 *
 * A program may publish its context some time after its begin: so it is read again, at ever longer
 * intervals.
 *
 * Context: Files of others are read, their memory too: takes 0.1 ms, more with thousands
 * of mappings.
 */
void gprof_describe(struct gprof_description *d, const struct gprof_described_run *run, bool last);
void gprof_description_free(struct gprof_description *d);

#endif /* GPROF_DESCRIPTION_H */
