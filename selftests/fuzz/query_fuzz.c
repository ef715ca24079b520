// SPDX-License-Identifier: GPL-2.0-only
/*
 * query_fuzz: any bytes at all, as the path and the query of a request for profiles, and as
 * the text of GPROF. No module is there, so nothing is recorded.
 */
#include <errno.h>
#include <gprof/flags.h>
#include <gprof/http.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CHECK(x)	do { if (!(x)) { fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #x); \
				abort(); } } while (0)

static int calls;

static int look(void *ctx, const struct gprof_http_answer *a)
{
	char body[4096];
	ssize_t n = pread(a->fd, body, sizeof(body), 0);

	(void)ctx;
	calls++;
	CHECK(a->status >= 200 && a->status <= 503 && a->nr_headers >= 2);
	CHECK(n >= 0 && (uint64_t)n <= a->length);
	/* A refusal is one line, whatever stood in the request. */
	if (a->status >= 400)
		CHECK(n && memchr(body, '\n', n) == body + n - 1);
	for (size_t i = 0; i < a->nr_headers; i++)
		CHECK(!strpbrk(a->headers[i].value, "\r\n"));
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct gprof_http *h;
	char *text = malloc(size + 1), *query;

	if (!h)
		h = gprof_http_new(&(struct gprof_http_config){
			.sz = sizeof(struct gprof_http_config), .target = { .type = GPROF_SELF },
		});
	CHECK(h && text);
	memcpy(text, data, size);
	text[size] = '\0';
	gprof_flags_free(gprof_flags_parse_text(text));
	query = strchr(text, '?');
	if (query)
		*query++ = '\0';
	calls = 0;
	CHECK(!gprof_http_handler(h, &(struct gprof_http_request){
		.sz = sizeof(struct gprof_http_request), .method = "GET", .path = text,
		.query = query, .answer = look,
	}));
	CHECK(calls == 1);
	free(text);
	return 0;
}
