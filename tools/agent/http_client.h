/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * http_client: one request after the other to one server, with their responses.
 *
 * No request is sent a second time by itself, on a connection that was kept neither: whether
 * the first one has arrived is for the caller to weigh. Redirects are not followed, since
 * tokens go along. Answers are cut.
 */
#ifndef GPROF_TOOLS_HTTP_CLIENT_H
#define GPROF_TOOLS_HTTP_CLIENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine.h"

struct http_client;

/**
 * struct http_client_request - a request
 * @method: POST or PUT
 * @path: behind the path of the options' URL, escaped, or ""; it may have a query too
 * @type: of the body
 * @data: body
 * @size: bytes of it
 * @gzip: compress it
 */
struct http_client_request {
	const char *method;
	const char *path;
	const char *type;
	const void *data;
	size_t size;
	bool gzip;
};

/* Outcome of a request. */
enum http_client_outcome {
	HTTP_ANSWERED,	/* there is an answer */
	HTTP_UNSENT,	/* it has not reached the server as a whole */
	HTTP_LOST,	/* it may have, but there is no answer */
};

/**
 * struct http_client_response - outcome, with the response
 * @fate: whether there is an answer
 * @status: of HTTP
 * @type: content type, "" for none, cut where it is long, and plain text; likewise
 * @body: at most HTTP_BODY_MAX bytes; the client's until the next request
 * @size: bytes of it
 * @cut: there was more
 * @redirect: where it leads, the client's, or NULL
 * @retry_after_ms: 0: not said
 * @bytes: put on the wire, heads and bodies
 * @why: sentence, unless it is answered
 */
struct http_client_response {
	enum http_client_outcome fate;
	long status;
	const char *type;
	const char *body;
	size_t size;
	bool cut;
	const char *redirect;
	uint64_t retry_after_ms;
	uint64_t bytes;
	char why[256];
};

#define HTTP_BODY_MAX	65536

/*
 * http_client_open() - for the URL, headers, certificates and timeout of @options
 *
 * Return: 0, or a negative errno after a sentence on stderr: -EINVAL, -ENOMEM, -ENOPKG without
 * libcurl.
 */
int http_client_open(struct http_client **client, const struct engine_options *options);
void http_client_close(struct http_client *client);

/* http_client_url() - where to, without user, password and query, for messages */
const char *http_client_url(const struct http_client *client);

/* http_url_shown() - likewise of an address that may be none, for free() */
char *http_url_shown(const char *url);

void http_client_send(struct http_client *client, const struct http_client_request *request,
		      struct http_client_response *answer);

#endif
