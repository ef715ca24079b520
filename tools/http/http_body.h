/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The body of an answer, whose client is seen to take it.
 */
#ifndef TOOLS_HTTP_BODY_H
#define TOOLS_HTTP_BODY_H

#include <stdint.h>

struct MHD_Response;
struct http_connection;
struct http_guard;

/*
 * http_body_text() - of memory. http_body_file() - of a file, from its beginning on
 *
 * Each is an answer of @size bytes, or NULL; @text is freed and @fd closed with it, or now. A
 * file that has less is no whole answer: the connection is closed, which the client sees.
 */
struct MHD_Response *http_body_text(struct http_guard *g, struct http_connection *c, char *text,
				    uint64_t size);
struct MHD_Response *http_body_file(struct http_guard *g, struct http_connection *c, int fd,
				    uint64_t size);

#endif /* TOOLS_HTTP_BODY_H */
