/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The timeline of a trace: states of each CPU and each thread over time, in as much detail as a
 * page has room for, however long the trace is.
 *
 * Memory is that of struct thread_spans, of at most TIMELINE_PIECES_MAX pieces, and of at most
 * TIMELINE_SAMPLES_MAX CPU samples: whenever there are more pieces, all tracks are told at twice the
 * resolution from then on, and of samples each second one is left out, at random.
 */
#ifndef TOOLS_VIEWS_TIMELINE_H
#define TOOLS_VIEWS_TIMELINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "thread_spans.h"
#include "pieces.h"

#define TIMELINE_PIECES_MAX	(1536U << 10)
#define TIMELINE_SAMPLES_MAX	(256U << 10)
/* Threads with a track of their own; of the others the time is told. */
#define TIMELINE_TRACKS_MAX	2000
/* Largest exact integer of JavaScript. */
#define TIMELINE_SPAN_MAX	(1LL << 53)

/**
 * struct track - a CPU or a thread
 * @pieces: to draw
 * @ns: how long it did each
 * @left_out: it has no track, as others did more
 */
struct track {
	struct pieces pieces;
	int64_t ns[NR_THREAD_STATES];
	bool left_out;
};

/* A CPU, and its thread: @thread has it, THREAD_NONE, or THREAD_UNKNOWN. */
struct timeline_cpu {
	struct track track;
	uint32_t thread;
	int64_t since;
	bool known;
};

/**
 * struct timeline_range - range of a trace to draw
 * @from: ns; of CLOCK_MONOTONIC, or since the trace began
 * @to: likewise; 0: its end
 * @from_offset: @from is since the trace began
 * @to_offset: likewise
 */
struct timeline_range {
	int64_t from;
	int64_t to;
	bool from_offset;
	bool to_offset;
};

/* A CPU sample of a thread, and the number of where it was. */
struct timeline_sample {
	int64_t time;
	uint32_t thread;
	uint32_t stack;
};

/**
 * struct timeline - all tracks
 * @thread_spans: of the threads; its texts and stacks are those of the pieces
 * @range: to draw
 * @threads: by index of the life
 * @nr_threads: how many
 * @room_threads: of @threads
 * @cpus: by number
 * @nr_cpus: how many
 * @room_cpus: of @cpus
 * @samples: in the order of the trace
 * @nr_samples: how many
 * @room_samples: of @samples
 * @halvings: how often each second one was left out
 * @resolution: of all tracks, ns
 * @nr: pieces that there is room for in all tracks
 * @begin: of the range, ns of CLOCK_MONOTONIC
 * @end: of it
 * @bounded: these are known
 */
struct timeline {
	struct thread_spans thread_spans;
	struct timeline_range range;
	struct track *threads;
	size_t nr_threads;
	size_t room_threads;
	struct timeline_cpu *cpus;
	size_t nr_cpus;
	size_t room_cpus;
	struct timeline_sample *samples;
	size_t nr_samples;
	size_t room_samples;
	unsigned int halvings;
	int64_t resolution;
	size_t nr;
	int64_t begin;
	int64_t end;
	bool bounded;
};

/**
 * timeline_read() - read a trace of the host
 * @t: all zeroes but for @range
 * @file: path, "-" for stdin
 *
 * Return: STATUS_OK, or another status after a sentence. For timeline_free() in any case.
 */
int timeline_read(struct timeline *t, const char *file);

/* timeline_demand() - a thread's time on a CPU or waiting for one, ns */
int64_t timeline_demand(const struct track *track);

void timeline_free(struct timeline *t);

#endif /* TOOLS_VIEWS_TIMELINE_H */
