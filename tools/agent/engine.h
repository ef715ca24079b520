/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * engine: a receiver of a host's profiles and traces.
 *
 * The store keeps waiting items; an engine takes one at a time, whole or in parts that it counts,
 * and reports the result of each. An item is a file of the store: a gzipped pprof profile, or a
 * trace in Go's format.
 */
#ifndef GPROF_TOOLS_AGENT_ENGINE_H
#define GPROF_TOOLS_AGENT_ENGINE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "store/item_name.h"

struct gprof_profile;

/**
 * struct item - an item that waits to be sent
 * @form: profile or trace
 * @type: kind that recorded it, as on the command line: cpu, wall, block, mutex, heap, trace
 * @host: name of the host that was recorded
 * @start_ns: when it begins, CLOCK_REALTIME
 * @duration_ns: how long it was recorded
 * @id: of the store, unique for ever within it; the same item has the same when it is sent again
 * @samples: how many it has; 0 for a trace
 * @sent_parts: parts of it that the engine took at earlier tries, which are not sent again
 * @profile: the same, where that is in memory still, or NULL
 */
struct item {
	enum item_form form;
	const char *type;
	const char *host;
	uint64_t start_ns;
	uint64_t duration_ns;
	uint64_t id;
	uint64_t samples;
	uint32_t sent_parts;
	const struct gprof_profile *profile;
};

enum send_status {
	SENT_ALL,	/* the engine has it */
	SENT_LATER,	/* nothing is wrong with it: again, not before @retry_after_ms */
	SENT_NEVER,	/* the engine will never take it, or a part of it */
};

/**
 * struct send_result - result of a try
 * @result: of all that is left of the item
 * @sent_parts: parts that are done with in all, earlier tries and refused ones included
 * @sent_samples: samples that the engine took at this try
 * @refused_samples: samples that it refused for ever at this try
 * @unsure_samples: samples whose answer was lost at this try: they are sent again with the
 *	next, and may be there twice
 * @bytes: put on the wire at this try, headers and bodies, retries included
 * @retry_after_ms: wait that the engine asked for; 0: by the sender's backoff
 * @reached: a server answered, and not that it is not ready, or refuses this sender: for
 *	SENT_LATER this item may be the reason
 * @why: sentence for everything but SENT_ALL without refusals
 */
struct send_result {
	enum send_status result;
	uint32_t sent_parts;
	uint64_t sent_samples;
	uint64_t refused_samples;
	uint64_t unsure_samples;
	uint64_t bytes;
	uint64_t retry_after_ms;
	bool reached;
	char why[256];
};

/**
 * struct engine - one that takes profiles, traces or both
 * @name: for messages
 * @takes: forms, as bits of enum item_form
 * @parts: hash of the settings that divide an item into parts, not 0; 0: it has one part
 * @send: send the rest of an item; sleeps, while it makes progress
 * @close: end connections, free it
 */
struct engine {
	const char *name;
	unsigned int takes;
	uint32_t parts;
	void (*send)(struct engine *engine, const struct item *item, const void *data, size_t size,
		     struct send_result *out);
	void (*close)(struct engine *engine);
};

/**
 * struct engine_options - engines' options of the command line
 * @url: where to
 * @headers: "Name: value" lines to send along, tokens above all; NULL-terminated, or NULL
 * @ca_file: certificates to trust in place of the system's, or NULL
 * @timeout_ms: that a request may make no progress for
 * @give_up: when it is set a request ends; or NULL
 * @no_names: send addresses and build-ids, and let the engine symbolize
 */
struct engine_options {
	const char *url;
	const char *const *headers;
	const char *ca_file;
	uint32_t timeout_ms;
	int no_names;
	const atomic_bool *give_up;
};

/*
 * Opens an engine without connecting to it. Return: 0, or a negative errno after a sentence on
 * stderr that names the wrong option.
 */
int engine_otlp_open(struct engine **engine, const struct engine_options *options);

#endif
