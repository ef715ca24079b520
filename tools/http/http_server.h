/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A small web server for statistics and profiles: GET and HEAD of the paths in a table, and
 * profiles below /debug/pprof/, on libmicrohttpd.
 *
 * Errors are responses, not log lines: an unknown path (404), another method (405), a request that
 * is too long (414, 431, by the library), a page that cannot be made now (503), a client without
 * access (401, 403), another host's name (421), one client's many connections (429). A client that
 * goes away, trickles or does not read costs a connection for some seconds, no more.
 *
 * Profiles show other users' programs. They are for users that may open the socket in the file
 * system, and elsewhere for clients with a password or a token; at the machine's own address, too.
 */
#ifndef TOOLS_HTTP_SERVER_H
#define TOOLS_HTTP_SERVER_H

#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>

/**
 * struct http_request - a request that is being answered
 * @accept: types that the client takes, "" when it does not say
 * @type: content type of the answer; the route's unless changed
 * @body: the answer is written here
 * @trusted: the client has opened the socket in the file system, or has a password or token
 * @uid: the client's on this machine, or HTTP_UID_UNKNOWN
 */
struct http_request {
	const char *accept;
	const char *type;
	FILE *body;
	bool trusted;
	uid_t uid;
};

/**
 * struct http_route - a path
 * @path: such as "/metrics"
 * @title: one line for the index page
 * @type: content type of the answer
 * @answer: writes it; runs on a thread of the server's, one request at a time.
 *	Returns NULL, or a sentence that says why it could not.
 */
struct http_route {
	const char *path;
	const char *title;
	const char *type;
	const char *(*answer)(void *ctx, struct http_request *rq);
};

struct http_server;
struct access;
struct gprof_http;
struct http_hosts;

/**
 * http_listen() - take an address; clients wait until http_start()
 * @address: "ADDR:PORT", "[ADDR6]:PORT" or "PORT" alone, which is 127.0.0.1;
 *	port 0 is any that is free
 * @status: gets the exit status on failure
 *
 * Return: server for http_close(), or NULL after a sentence.
 */
struct http_server *http_listen(const char *address, int *status);

/**
 * http_listen_socket() - take a socket in the file system, in place of an address
 * @path: where; it is removed by http_close()
 * @mode: permissions
 * @status: gets the exit status on failure
 *
 * Return: as http_listen().
 */
struct http_server *http_listen_socket(const char *path, unsigned int mode, int *status);

/*
 * http_protect() - set passwords and token; for an address, before http_start()
 * http_serve_profiles() - serve these too
 * http_answer_to() - names besides its own, which stay the caller's; before http_start()
 */
void http_protect(struct http_server *h, struct access *access);
void http_answer_to(struct http_server *h, const struct http_hosts *hosts);
void http_serve_profiles(struct http_server *h, struct gprof_http *profiles);

/**
 * http_start() - answer from now on
 * @h: from http_listen()
 * @routes: ends with a route without path; "/" is made by the server
 * @ctx: for their functions
 *
 * Its threads take over the caller's signal mask. Each connection has one.
 *
 * Return: STATUS_OK, or STATUS_FAILED after a sentence.
 */
int http_start(struct http_server *h, const struct http_route *routes, void *ctx);

/* http_url() - where it is, such as http://127.0.0.1:9747/ */
const char *http_url(const struct http_server *h);

/* http_is_local() - does it listen to this machine alone? */
bool http_is_local(const struct http_server *h);

/* http_close() - answer no more; requests under way are given up; NULL is fine */
void http_close(struct http_server *h);

/*
 * http_accepts() - how much a client wants a content type, by its Accept header
 * @accept: header, "" when there is none
 * @type: such as "text/plain"
 * @version: of the type, NULL for any
 *
 * Return: 0 (not at all) to 1000; a named type goes before wildcards.
 */
int http_accepts(const char *accept, const char *type, const char *version);

#endif /* TOOLS_HTTP_SERVER_H */
