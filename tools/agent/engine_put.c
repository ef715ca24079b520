// SPDX-License-Identifier: GPL-2.0-only
/*
 * engine_put.c: items as objects of a store: each is PUT to an address of its own.
 *
 * An address is made of the item, the same for each try, so that an item that is sent twice is
 * there once.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cli/diag.h"
#include "engine.h"
#include "http_client.h"
#include "response_class.h"

#define DEFAULT_PATH	"{host}/{type}/{time}-{id}.{ext}"

/**
 * struct put - such a store
 * @engine: its public part
 * @http: its server
 * @path: behind the URL, with places to fill in
 */
struct put {
	struct engine engine;
	struct http_client *http;
	char *path;
};

/* The word that {@name} stands for, for free(), or NULL when there is no such. */
static char *word_for(const struct item *item, const char *name, size_t len)
{
	const char *ext = item->form == ITEM_TRACE ? "trace" : "pb.gz";
	time_t start = (time_t)(item->start_ns / 1000000000);
	char text[32] = "0";
	struct tm tm;

	if (len == 4 && !strncmp(name, "host", len))
		return http_client_escape(item->host);
	if (len == 4 && !strncmp(name, "type", len))
		return http_client_escape(item->type);
	if (len == 2 && !strncmp(name, "id", len))
		return xprintf("%llu", (unsigned long long)item->id);
	if (len == 3 && !strncmp(name, "ext", len))
		return strdup(ext);
	if (len == 4 && !strncmp(name, "time", len)) {
		if (gmtime_r(&start, &tm))
			strftime(text, sizeof(text), "%Y%m%dT%H%M%SZ", &tm);
		return strdup(text);
	}
	return NULL;
}

/* The path of an item, for free(). NULL: without memory, or for an unknown name in {}. */
static char *fill(const struct put *put, const struct item *item)
{
	const char *at = put->path, *open, *close;
	char *path = xprintf("%s", ""), *more, *word;

	while ((open = strchr(at, '{'))) {
		close = strchr(open, '}');
		word = close ? word_for(item, open + 1, (size_t)(close - open - 1)) : NULL;
		if (!word) {
			free(path);
			return NULL;
		}
		more = xprintf("%s%.*s%s", path, (int)(open - at), at, word);
		free(path);
		free(word);
		path = more;
		at = close + 1;
	}
	more = xprintf("%s%s", path, at);
	free(path);
	return more;
}

static void put_send(struct engine *engine, const struct item *item, const void *data, size_t size,
		     struct send_result *out)
{
	struct put *put = (struct put *)engine;
	struct http_client_request request = { .method = "PUT", .data = data, .size = size };
	struct http_client_response answer;
	char *path = fill(put, item);

	memset(out, 0, sizeof(*out));
	out->sent_parts = item->sent_parts;
	if (!path) {
		out->result = SENT_LATER;
		snprintf(out->why, sizeof(out->why), "there is no memory to send a profile now");
		return;
	}
	request.path = path;
	request.type = item->form == ITEM_TRACE ? "application/octet-stream" : "application/gzip";
	http_client_send(put->http, &request, &answer);
	free(path);
	/* Again, at the same address: it is there once. */
	response_class_of_item(&answer, http_client_url(put->http), item, true, out);
}

static void put_close(struct engine *engine)
{
	struct put *put = (struct put *)engine;

	http_client_close(put->http);
	free(put->path);
	free(put);
}

/*
 * The URL up to where something is to be filled in, and the rest as the path. Where that is in
 * the query, it is that of the query.
 */
static int split(struct put *put, const struct engine_options *options)
{
	const char *url = options->url ? options->url : "", *open = strchr(url, '{');
	const char *scheme = strstr(url, "://");
	size_t path = strcspn(url, "?#"), end = open ? (size_t)(open - url) : path;
	struct engine_options base = *options;
	struct item item = { .type = "cpu", .host = "host" };
	char *head, *probe, *shown;
	int err;

	/* The server's address does not depend on names of hosts. */
	if (open && scheme && !memchr(scheme + 3, '/', (size_t)(open - scheme - 3))) {
		shown = http_url_shown(url);
		diag("%s: only what is behind the name of the server can be filled in", shown);
		free(shown);
		return -EINVAL;
	}
	if (open && end > path)
		end = path;
	head = xprintf("%.*s", (int)end, url);
	put->path = open ? xprintf("%s", url + end) :
			   xprintf("%s%s%s", end && url[end - 1] == '/' ? "" : "/", DEFAULT_PATH,
				   url + end);
	base.url = head;
	err = http_client_open(&put->http, &base);
	free(head);
	if (err)
		return err;
	probe = fill(put, &item);
	if (!probe) {
		shown = http_url_shown(url);
		diag("%s: what can be filled in is {host}, {type}, {time}, {id} and {ext}", shown);
		free(shown);
	}
	free(probe);
	return probe ? 0 : -EINVAL;
}

int engine_put_open(struct engine **engine, const struct engine_options *options)
{
	struct put *put = xalloc(1, sizeof(*put));

	put->engine = (struct engine){
		.name = "put", .takes = 1U << ITEM_PROFILE | 1U << ITEM_TRACE, .send = put_send,
		.close = put_close,
	};
	if (split(put, options)) {
		put_close(&put->engine);
		return -EINVAL;
	}
	*engine = &put->engine;
	return 0;
}
