/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * pusher: state of "gprofctl push", and its metrics.
 */
#ifndef GPROF_TOOLS_AGENT_PUSHER_H
#define GPROF_TOOLS_AGENT_PUSHER_H

#include <pthread.h>
#include <stdint.h>

#include "budget.h"
#include "continuous.h"
#include "http/http_server.h"
#include "rollup_make.h"
#include "window_recorder.h"
#include "sender.h"
#include "store.h"

/**
 * struct pusher_shown - the part of a struct pusher for metrics
 * @continuous: for its counts
 * @budget: likewise
 * @own_ns: likewise
 * @sampling_ns: likewise
 */
struct pusher_shown {
	struct continuous continuous;
	struct budget budget;
	uint64_t own_ns;
	uint64_t sampling_ns;
};

/**
 * struct pusher - all of it
 * @store: where all is kept
 * @keep_bytes: how much of it at most
 * @sender: sends, or NULL
 * @windows: records windows, or NULL
 * @rollups: of profiles that are only kept here
 * @continuous: records all the time
 * @budget: limit of their cost
 * @interval_ns: how often profiles are taken, as was asked for
 * @own_ns: CPU time of this process
 * @judged_ns: CLOCK_MONOTONIC when that was looked at last
 * @sampling_ns: CPU time of the kernel for samples, as estimated
 * @lock: protects the members below, which metrics are made of; held for short times
 * @shown: the changing members above, as they were when an interval was over
 */
struct pusher {
	struct store *store;
	uint64_t keep_bytes;
	struct sender *sender;
	struct window_recorder *windows;
	struct rollups rollups;
	struct continuous continuous;
	struct budget budget;
	uint64_t interval_ns;
	uint64_t own_ns;
	uint64_t judged_ns;
	uint64_t sampling_ns;
	pthread_mutex_t lock;
	struct pusher_shown shown;
};

/* pusher_show() - have it shown by metrics; for the thread that records */
void pusher_show(struct pusher *p);

/* pusher_routes - pages, for http_start(); their context is a struct pusher */
extern const struct http_route pusher_routes[];

#endif /* GPROF_TOOLS_AGENT_PUSHER_H */
