/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * gprof/http.h: profiles over HTTP, by the conventions of Go's net/http/pprof, for any server.
 *
 *	struct gprof_http_config cfg = {
 *		.sz = sizeof(cfg), .target = { .type = GPROF_SELF }, .only = true,
 *	};
 *	struct gprof_http *h = gprof_http_new(&cfg);
 *	struct gprof_http_request rq = {
 *		.sz = sizeof(rq), .method = "GET", .path = "/debug/pprof/profile",
 *		.query = "seconds=5&event=cycles",
 *	};
 *
 *	rq.answer = NULL;	// the server's function that sends it
 *	if (!h || gprof_http_handler(h, &rq))
 *		errx(1, "%s", gprof_error());
 *	gprof_http_free(h);
 *
 * It has no connections: a server passes a request, and gets a status, headers, and a descriptor
 * with the body. It does not listen and checks no password: profiles show the programs of other
 * users, and the server decides on access.
 *
 *   /debug/pprof/		a list of these, for people
 *   /debug/pprof/profile		CPU time, or event= of a counter every period=; 30 s
 *   /debug/pprof/trace an execution trace; 1 s, flight=1: contents of a flight recorder
 *   /debug/pprof/block, mutex where tasks wait, where locks are released; 10 s
 *   /debug/pprof/allocs, heap	allocations of programs, and those not freed; 10 s
 *   /debug/pprof/kernel-allocs, kernel-heap	those of the kernel for them; 10 s
 *   /debug/pprof/task, goroutine	state and stack of all tasks now
 *   /debug/pprof/cmdline		the command line, with NULs between the words
 *   /debug/pprof/NAME		the custom profile (gprof/custom.h) that the process publishes
 *
 * seconds= says how long, fractions too. Target: pid=, tid=, cgroup= (below /sys/fs/cgroup), cpu=
 * (a list), comm= (the one process of that name), else the target of the configuration. allocs and
 * heap are of programs that have loaded libgprof-heap.so, by LD_PRELOAD or a link; where none has
 * they are answered by 501, and probes=1 with pid= does without it, by uprobes. hz= is the rate of
 * the timer; every= as the option --every of gprofctl. debug=1 is text, debug=2 of tasks one by
 * one; gc= means nothing. Of a key that is repeated the first counts; others are not looked at.
 *
 * Threads. Requests may be handled by many threads at once, each in the thread that calls.
 * Fork. As for gprof/recorder.h: a child makes a handler of its own.
 */
#ifndef GPROF_HTTP_H
#define GPROF_HTTP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <gprof/flight.h>
#include <gprof/recorder.h>
#include <gprof/trace_record.h>

#ifdef __cplusplus
extern "C" {
#endif

struct gprof_http;

/* Where the pages are. */
#define GPROF_HTTP_PREFIX	"/debug/pprof/"

struct gprof_http_request;

/**
 * struct gprof_http_view - a page that is made of a recording; closed
 * @name: of the page, beneath GPROF_HTTP_PREFIX
 * @title: a line about it, as it stands in HTML
 * @trace: configuration of its trace of 10 s; the target is that of the request. NULL: it is made
 *	of a CPU profile of 5 s, with slices of time, and is HTML
 * @make: reads the trace or profile from descriptor @trace, a regular file, from its beginning, and
 *	writes a profile, or HTML, to @fd. 0 or -errno, and then a sentence in @why, which has @size
 *	bytes; -ECONNABORTED when the client of @rq went away meanwhile
 * @ctx: for @make
 */
struct gprof_http_view {
	const char *name;
	const char *title;
	const struct gprof_trace_config *trace;
	int (*make)(void *ctx, const struct gprof_http_request *rq, int trace, int fd, char *why,
		    size_t size);
	void *ctx;
};

/**
 * struct gprof_http_config - limits and defaults of requests
 * @sz: sizeof(struct gprof_http_config)
 * @target: target of requests that name none; copied
 * @only: no other target: pid= and its like are refused (403)
 * @max_ns: the longest recording; 0: 300 s. A request for more is refused (400)
 * @max_recordings: recordings at once; 0: 16. Further requests get 503
 * @max_bytes: a trace ends early when it has so many; 0: 256 MiB
 * @flight: started flight recorder for flight=1, or NULL; it must live for as long
 * @views: pages besides; they must live for as long
 * @nr_views: number of @views
 * @max_memory: limit of the memory of one recording's stacks and samples, about, while it records,
 *	and its profile as much again, before it fails (503); all at once may take four times that;
 *	0: 256 MiB
 * @max_peer_recordings: recordings at once for one peer, as the request names it; 0: half of
 *	@max_recordings, at least one. Further requests get 429
 */
struct gprof_http_config {
	size_t sz;
	struct gprof_target target;
	bool only;
	uint64_t max_ns;
	unsigned int max_recordings;
	uint64_t max_bytes;
	struct gprof_flight *flight;
	const struct gprof_http_view *views;
	size_t nr_views;
	uint64_t max_memory;
	unsigned int max_peer_recordings;
};

/** gprof_http_new() - make a handler for gprof_http_free(), or NULL with errno */
GPROF_API struct gprof_http *gprof_http_new(const struct gprof_http_config *cfg);

/** gprof_http_free() - free it; no request may be under way; NULL is fine */
GPROF_API void gprof_http_free(struct gprof_http *h);

/** struct gprof_http_header - a header of an answer; closed */
struct gprof_http_header {
	const char *name;
	const char *value;
};

/**
 * struct gprof_http_answer - a response; made by the library
 * @status: of HTTP, 200 or an error
 * @headers: all that are needed but for those of the connection and Content-Length
 * @nr_headers: number of @headers
 * @fd: regular file with the body, from offset 0 on; dup() it to keep it
 * @length: of the body, in bytes
 */
struct gprof_http_answer {
	unsigned int status;
	const struct gprof_http_header *headers;
	size_t nr_headers;
	int fd;
	uint64_t length;
};

/**
 * struct gprof_http_request - a request
 * @sz: sizeof(struct gprof_http_request)
 * @method: such as "GET"
 * @path: the part before "?", with its escapes undone
 * @query: the part behind "?", with its escapes, or NULL
 * @gone: has the client gone away? Asked ten times a second while it is recorded, and while
 *	an answer is made of that, which ends then without one. NULL: it stays
 * @answer: gets the response, once, before gprof_http_handler() returns; its pointers are valid
 *	until it returns 0 or -errno
 * @ctx: for both
 * @peer: tells the client from others, by a user or an address, say; 0: not known, without a share
 *	of its own
 */
struct gprof_http_request {
	size_t sz;
	const char *method;
	const char *path;
	const char *query;
	bool (*gone)(void *ctx);
	int (*answer)(void *ctx, const struct gprof_http_answer *answer);
	void *ctx;
	uint64_t peer;
};

/**
 * gprof_http_handler() - carry out a request, and pass on the response
 * @h: from gprof_http_new()
 * @rq: request
 *
 * Takes as long as the recording. An error of the request, or of recording, is a response, too: a
 * status and a sentence, with the header X-Go-Pprof, by which go tool pprof knows that there is
 * one. 400: the request makes no sense; 403: it is not permitted; 404: there is no such page,
 * event, process or group; 405: not GET; 429: too many at once of one peer; 501: this kernel
 * cannot; 503: too many at once, or not now; 500: it failed.
 *
 * Return: the return of @answer; -ECONNABORTED when the client went away; -ENOMEM or another
 * -errno when there was no answer to give.
 */
GPROF_API int gprof_http_handler(struct gprof_http *h, const struct gprof_http_request *rq);

#ifdef __cplusplus
}
#endif

#endif /* GPROF_HTTP_H */
