/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Admission of connections, and their time limits: a thread that takes connections as long as
 * there is room for them, and hangs up those that take too much time. One that trickles bytes does
 * nothing that the web server's own timeout sees, which is of silence; nor does one that reads its
 * answer drop by drop, which is kept for it as long: so each piece of it has its time, and not the
 * whole, which may be large.
 *
 * Where all places are taken and a client waits, in the kernel's queue, connections make room that
 * have been there for a moment without a request.
 *
 * One peer has a quarter of the places. One more connection of a peer takes the place of the
 * peer's oldest that has been there for a moment and not asked; where there is none, it is
 * refused with 429.
 */
#ifndef TOOLS_HTTP_GUARD_H
#define TOOLS_HTTP_GUARD_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "http_peer.h"

#define HTTP_CLIENTS_MAX	64
#define HTTP_PEER_CLIENTS_MAX	(HTTP_CLIENTS_MAX / 4)
/* So much of an answer is to be taken within so long. */
#define HTTP_PIECE_BYTES	(512 * 1024)
#define HTTP_PIECE_SECONDS	10

/**
 * struct http_connection - a connection
 * @fd: its socket, which is open as long as it is in the list
 * @peer: the client
 * @gone: it was hung up, and counts for its peer no more
 * @since_ns: when it came, CLOCK_MONOTONIC
 * @asked: it has asked for something
 * @deadline_ns: when it is hung up, CLOCK_MONOTONIC; 0: never
 * @answered: it has an answer to take
 * @taken: of that, when its time began anew
 * @next: of the list
 */
struct http_connection {
	int fd;
	struct http_peer peer;
	bool gone;
	uint64_t since_ns;
	bool asked;
	uint64_t deadline_ns;
	bool answered;
	uint64_t taken;
	struct http_connection *next;
};

/**
 * struct http_guard - the connections of a server
 * @lock: of all below but for @socket, @tls, @wake and @thread
 * @change: one more, or one less
 * @clients: list, the latest first
 * @nr: length of @clients
 * @added: how many have been in it
 * @socket: that listens
 * @tls: it speaks TLS; a refusal has no words then
 * @wake: to end the thread
 * @admit: passes a connection to the server, which owns the descriptor then; 0 or -1
 * @ctx: for it
 * @thread: that looks
 * @running: it does
 */
struct http_guard {
	pthread_mutex_t lock;
	pthread_cond_t change;
	struct http_connection *clients;
	unsigned int nr;
	unsigned long added;
	int socket;
	bool tls;
	int wake;
	int (*admit)(void *ctx, int fd);
	void *ctx;
	pthread_t thread;
	bool running;
};

/*
 * http_guard_begin() - take connections from now on: @socket, @tls, @admit and @ctx are set; 0
 * or -errno
 * http_guard_end() - take no more; those that there are stay
 */
int http_guard_begin(struct http_guard *g);
void http_guard_end(struct http_guard *g);

/* http_guard_add() - a connection is served, or NULL. http_guard_remove() - no longer */
struct http_connection *http_guard_add(struct http_guard *g, int fd);
void http_guard_remove(struct http_guard *g, struct http_connection *c);

/* http_guard_request() - it has asked for something, and is hung up after so many seconds; 0: not */
void http_guard_request(struct http_guard *g, struct http_connection *c, uint64_t seconds);

/* http_guard_answered() - its answer is there: from now on each piece of it has its time */
void http_guard_answered(struct http_guard *g, struct http_connection *c);

/* http_guard_progress() - it has taken so many bytes of its answer, all in all */
void http_guard_progress(struct http_guard *g, struct http_connection *c, uint64_t bytes);

/* http_guard_tired() - it took nothing for so long that the web server hangs up */
void http_guard_tired(struct http_guard *g, struct http_connection *c);

/* http_guard_next() - it was answered, and has so many seconds to ask for more */
void http_guard_next(struct http_guard *g, struct http_connection *c, uint64_t seconds);

#endif /* TOOLS_HTTP_GUARD_H */
