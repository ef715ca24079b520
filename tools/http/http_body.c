// SPDX-License-Identifier: GPL-2.0-only
/*
 * libmicrohttpd asks for more when the last bytes are on their way: so their number is known.
 */
#include "http_body.h"

#include <errno.h>
#include <microhttpd.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "http_guard.h"

#define BLOCK_BYTES	(64 * 1024)

/**
 * struct body - body of a response
 * @guard: is told how much was taken
 * @client: receiver
 * @text: content, or NULL
 * @fd: that has it then
 */
struct body {
	struct http_guard *guard;
	struct http_connection *client;
	char *text;
	int fd;
};

static ssize_t more(void *cls, uint64_t pos, char *buf, size_t max)
{
	struct body *b = cls;
	ssize_t n;

	http_guard_progress(b->guard, b->client, pos);
	if (b->text) {
		memcpy(buf, b->text + pos, max);
		return max;
	}
	do {
		n = pread(b->fd, buf, max, pos);
	} while (n < 0 && errno == EINTR);
	return n > 0 ? n : MHD_CONTENT_READER_END_WITH_ERROR;
}

static void release(void *cls)
{
	struct body *b = cls;

	free(b->text);
	if (b->fd >= 0)
		close(b->fd);
	free(b);
}

static struct MHD_Response *make(const struct body *content, uint64_t size)
{
	struct body *b = malloc(sizeof(*b));
	struct MHD_Response *r = NULL;

	if (b) {
		*b = *content;
		r = MHD_create_response_from_callback(size, BLOCK_BYTES, more, b, release);
	}
	if (r)
		return r;
	free(b);
	free(content->text);
	if (content->fd >= 0)
		close(content->fd);
	return NULL;
}

struct MHD_Response *http_body_text(struct http_guard *g, struct http_connection *c, char *text,
				    uint64_t size)
{
	return make(&(struct body){ g, c, text, -1 }, size);
}

struct MHD_Response *http_body_file(struct http_guard *g, struct http_connection *c, int fd,
				    uint64_t size)
{
	return make(&(struct body){ g, c, NULL, fd }, size);
}
