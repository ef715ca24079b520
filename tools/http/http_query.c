// SPDX-License-Identifier: GPL-2.0-only
/*
 * libmicrohttpd has undone the escapes; the query is written anew.
 */
#include "http_query.h"

#include <microhttpd.h>
#include <stdio.h>
#include <string.h>

#include "cli/diag.h"

/**
 * struct query - being written
 * @text: so far
 * @room: bytes of @text
 * @size: of them used
 * @cut: there was no room for all
 */
struct query {
	char *text;
	size_t room;
	size_t size;
	bool cut;
};

static enum MHD_Result add(void *cls, enum MHD_ValueKind kind, const char *key, const char *value)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~/:,";
	struct query *q = cls;
	const char *parts[] = { q->size ? "&" : "", key, "=", value ? value : "" };

	(void)kind;
	for (size_t i = 0; i < ARRAY_SIZE(parts); i++) {
		for (const char *p = parts[i]; *p; p++) {
			bool as_is = !(i & 1) || strchr(plain, *p);

			if (q->size + 4 > q->room) {
				q->cut = true;
				return MHD_NO;
			}
			q->size += sprintf(q->text + q->size, as_is ? "%c" : "%%%02X",
					   (unsigned char)*p);
		}
	}
	return MHD_YES;
}

bool http_query_text(struct MHD_Connection *c, char *query, size_t size)
{
	struct query q = { .text = query, .room = size };
	int nr = MHD_get_connection_values(c, MHD_GET_ARGUMENT_KIND, NULL, NULL);

	query[0] = '\0';
	/* The one at which it stops is counted, too. */
	return MHD_get_connection_values(c, MHD_GET_ARGUMENT_KIND, add, &q) == nr && !q.cut;
}
