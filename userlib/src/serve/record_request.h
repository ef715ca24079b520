/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * record_request.h: a request for a recording, from words of a URL, of a command line, of an
 * environment variable. One way from all of them to a recorder.
 */
#ifndef GPROF_RECORD_REQUEST_H
#define GPROF_RECORD_REQUEST_H

#include <gprof/recorder.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/own_fd.h"
#include "counters.h"

struct gprof_trace_config;
struct gprof_trace_recorder;

enum gprof_record_request_kind {
	GPROF_REQUEST_CPU,
	GPROF_REQUEST_KIND, /* of gprof_recorder_new(), by its name */
	GPROF_REQUEST_TRACE,
	GPROF_REQUEST_TASK,   /* of one moment */
	GPROF_REQUEST_CUSTOM, /* likewise, a program's custom profile */
	GPROF_REQUEST_COUNT,  /* counted without samples; @event is a list */
};

/**
 * struct gprof_record_request - a request for a recording
 * @kind: how it is recorded
 * @word: its name in a request
 * @name: of GPROF_REQUEST_KIND, as gprof_recorder_new() has it; of GPROF_REQUEST_CUSTOM
 * @target: tasks or CPUs
 * @chosen: the key that said so, or NULL
 * @target_name: of @target, where it has one
 * @event: "" is the timer
 * @period: events per sample; 0: a preset
 * @hz: of the timer; 0: 100
 * @slice_ns: of GPROF_REQUEST_CPU: as struct gprof_cpu_config has it; 0: none
 * @every: of GPROF_REQUEST_KIND; 0: its default
 * @probes: of GPROF_REQUEST_KIND: by probes of the functions that programs allocate by
 * @trace: of GPROF_REQUEST_TRACE: its configuration, but for the target; NULL: its default
 */
struct gprof_record_request {
	enum gprof_record_request_kind kind;
	const char *word;
	const char *name;
	struct gprof_target target;
	const char *chosen;
	char target_name[PATH_MAX];
	char event[256];
	uint64_t period;
	uint64_t hz;
	uint64_t slice_ns;
	uint64_t every;
	bool probes;
	const struct gprof_trace_config *trace;
};

/**
 * gprof_record_request_kind() - by its word: cpu, block, mutex, trace, ...; is it one?
 * alloc and heap are the program's own memory, kernel-alloc and kernel-heap the kernel's.
 */
bool gprof_record_request_kind(struct gprof_record_request *w, const char *word);

/** gprof_record_request_nth_key() - the keys that gprof_record_request_set() knows; NULL after the last */
const char *gprof_record_request_nth_key(size_t i);

/** gprof_record_request_is_target() - is it a key of a target? */
bool gprof_record_request_is_target(const char *key);

/**
 * gprof_record_request_set() - take one word
 * @w: wish
 * @key: one of those of gprof_record_request_nth_key()
 * @value: of it
 * @e: sentence
 *
 * Return: 0 or -errno; -ENOENT for an unknown key, -ESRCH when no process has that name.
 */
int gprof_record_request_set(struct gprof_record_request *w, const char *key, const char *value,
			     struct gprof_error *e);

/**
 * struct gprof_recording - a request under way
 * @r: recorder, or NULL
 * @t: trace recorder, or NULL
 * @counters: likewise
 * @out: the file that was given at the beginning
 */
struct gprof_recording {
	struct gprof_recorder *r;
	struct gprof_trace_recorder *t;
	struct gprof_counters counters;
	struct gprof_own_fd out;
};

/*
 * gprof_recording_make() - make a recorder, of the kernel too where that is permitted; 0 or
 * -errno with gprof_error()
 *
 * Of several, all are made first: preparing takes of the memory that a user may lock, which the
 * buffers of the rest would lack. And all are prepared before the first starts, which would record
 * the preparation.
 */
int gprof_recording_make(struct gprof_recording *rec, const struct gprof_record_request *w);

/* gprof_recording_prepare() - likewise; as gprof_recorder_prepare() */
int gprof_recording_prepare(struct gprof_recording *rec);

/* gprof_recording_start() - likewise; a trace is written to @fd meanwhile */
int gprof_recording_start(struct gprof_recording *rec, const struct gprof_record_request *w,
			  int fd);

/* gprof_recording_end() - stop, and write to @fd; @text: as text, with that as the title */
int gprof_recording_end(struct gprof_recording *rec, int fd, const char *text);

/* gprof_recording_drop() - end it, if there is one, and write nothing */
void gprof_recording_drop(struct gprof_recording *rec);

/* gprof_recording_bytes() - its memory so far, about */
uint64_t gprof_recording_bytes(const struct gprof_recording *rec);

/*
 * gprof_record_request_snapshot() - of GPROF_REQUEST_TASK, GPROF_REQUEST_CUSTOM: write it to
 * @fd; @debug: 0 pprof, 1, 2 text
 */
int gprof_record_request_snapshot(const struct gprof_record_request *w, int fd, int debug);

#endif /* GPROF_RECORD_REQUEST_H */
