/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The query of a request, which libmicrohttpd hands out in pieces, as one text again.
 */
#ifndef TOOLS_HTTP_QUERY_H
#define TOOLS_HTTP_QUERY_H

#include <stdbool.h>
#include <stddef.h>

struct MHD_Connection;

/* http_query_text() - write all of it to @query, of @size bytes; false: it does not fit */
bool http_query_text(struct MHD_Connection *c, char *query, size_t size);

#endif /* TOOLS_HTTP_QUERY_H */
