/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * generated.h: names of code that a process generates, as it writes them down.
 *
 * A jitdump, of which it has a page mapped for execution, or /tmp/perf-PID.map.
 */
#ifndef GPROF_GENERATED_H
#define GPROF_GENERATED_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "jitdump.h"
#include "mapped_file.h"
#include "perf_map.h"

/**
 * struct gprof_generated - generated code of one program run
 * @jitdump: from its jitdump, which knows lines too
 * @perf_map: from its map
 * @read: it was looked for, for this profile
 * @reading: which time that was, of all
 */
struct gprof_generated {
	struct gprof_jitdump jitdump;
	struct gprof_perf_map perf_map;
	bool read;
	uint32_t reading;
};

/**
 * gprof_generated_read() - read the process' files so far
 * @g: generated code; unchanged where nothing is found
 * @process: program run
 * @uid: its user; files of others but root are not believed
 * @dump: the jitdump that it has mapped, or NULL
 * @at: where
 */
void gprof_generated_read(struct gprof_generated *g, const struct gprof_process *process, uid_t uid,
			  const struct gprof_file_id *dump, const struct gprof_mapped_at *at);
void gprof_generated_free(struct gprof_generated *g);

/**
 * gprof_generated_find() - the function that was at an address
 * @g: generated code
 * @addr: address
 * @from: when it was there, CLOCK_MONOTONIC; 0: the newest one is meant
 * @to: until when
 * @code: result
 *
 * A perf map has no times: of its entries the newest counts.
 *
 * Return: is anything known of that address?
 */
bool gprof_generated_find(struct gprof_generated *g, uint64_t addr, uint64_t from,
			  uint64_t to, struct gprof_jit_code *code);

#endif /* GPROF_GENERATED_H */
