// SPDX-License-Identifier: GPL-2.0-only
/*
 * engine_raw.c: pprof as it is, in JSON, to Pyroscope's push.v1.PusherService/Push and to
 * Parca's /profiles/writeraw.
 *
 * Both want labels of a series and the file in base64; where they put them differs. There is one
 * series for a host, named like the ones that the engines scrape themselves: an item is one part,
 * sent whole, with the same id at each try for engines that compare ids.
 */
#include <errno.h>
#include <gnutls/crypto.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/diag.h"
#include "engine.h"
#include "http_client.h"
#include "response_class.h"

/**
 * struct form - of one of the two
 * @name: of the engine
 * @path: behind the URL
 * @open: from the beginning to the labels
 * @between: from the labels to the sample
 * @id: text before the sample's id, or NULL: it has none
 * @close: behind the sample
 * @host: label of the host
 */
struct form {
	const char *name;
	const char *path;
	const char *open;
	const char *between;
	const char *id;
	const char *close;
	const char *host;
};

static const struct form pyroscope = {
	"pyroscope", "/push.v1.PusherService/Push", "{\"series\":[{\"labels\":[",
	"],\"samples\":[{", "\"ID\":", "}]}]}", "service_name",
};

static const struct form parca = {
	"parca", "/profiles/writeraw", "{\"series\":[{\"labels\":{\"labels\":[",
	"]},\"samples\":[{", NULL, "}]}]}", "node",
};

/**
 * struct raw - such an engine
 * @engine: its public part
 * @form: which of the two
 * @http: its server
 * @path: behind the URL
 */
struct raw {
	struct engine engine;
	const struct form *form;
	struct http_client *http;
	const char *path;
};

/* The engines' names of scraped profiles; others have the name of their kind. */
static const char *series_name(const char *type)
{
	static const char *const names[][2] = { { "cpu", "process_cpu" }, { "heap", "memory" } };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(names); i++)
		if (!strcmp(type, names[i][0]))
			return names[i][1];
	return type;
}

static void put_text(FILE *f, const char *text)
{
	fputc('"', f);
	for (; *text; text++) {
		unsigned char c = (unsigned char)*text;

		/* Names of hosts and kinds are ASCII, and JSON is UTF-8. */
		if (c < ' ' || c >= 0x7f)
			fputc('?', f);
		else if (c == '"' || c == '\\')
			fprintf(f, "\\%c", c);
		else
			fputc(c, f);
	}
	fputc('"', f);
}

static void put_label(FILE *f, const char *name, const char *value, const char *end)
{
	fprintf(f, "{\"name\":\"%s\",\"value\":", name);
	put_text(f, value);
	fprintf(f, "}%s", end);
}

static void put_base64(FILE *f, const void *data, size_t size)
{
	static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
				     "0123456789+/";
	const unsigned char *p = data;
	size_t i;

	for (i = 0; i < size; i += 3) {
		size_t left = size - i;
		unsigned int v = (unsigned int)p[i] << 16;

		if (left > 1)
			v |= (unsigned int)p[i + 1] << 8;
		if (left > 2)
			v |= p[i + 2];
		putc_unlocked(digits[v >> 18], f);
		putc_unlocked(digits[v >> 12 & 63], f);
		putc_unlocked(left > 1 ? digits[v >> 6 & 63] : '=', f);
		putc_unlocked(left > 2 ? digits[v & 63] : '=', f);
	}
}

/* A UUID that is the item's at each try. */
static void put_id(FILE *f, const struct item *item)
{
	unsigned char h[32] = { 0 };
	char *name = xprintf("gprof %s %s %llu %llu", item->host, item->type,
			     (unsigned long long)item->start_ns, (unsigned long long)item->id);
	size_t i;

	gnutls_hash_fast(GNUTLS_DIG_SHA256, name, strlen(name), h);
	free(name);
	h[6] = (h[6] & 0x0f) | 0x80;
	h[8] = (h[8] & 0x3f) | 0x80;
	fputc('"', f);
	for (i = 0; i < 16; i++)
		fprintf(f, "%s%02x", i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "", h[i]);
	fputs("\",", f);
}

static char *body_of(const struct form *form, const struct item *item, const void *data,
		     size_t size, size_t *len)
{
	char *body = NULL;
	FILE *f = open_memstream(&body, len);

	if (!f)
		return NULL;
	fputs(form->open, f);
	put_label(f, "__name__", series_name(item->type), ",");
	put_label(f, form->host, item->host, ",");
	put_label(f, "job", "gprof", "");
	fputs(form->between, f);
	if (form->id) {
		fputs(form->id, f);
		put_id(f, item);
	}
	fputs("\"rawProfile\":\"", f);
	put_base64(f, data, size);
	fprintf(f, "\"%s", form->close);
	if (fclose(f)) {
		free(body);
		return NULL;
	}
	return body;
}

static void raw_send(struct engine *engine, const struct item *item, const void *data, size_t size,
		     struct send_result *out)
{
	struct raw *raw = (struct raw *)engine;
	struct http_client_request request = { .method = "POST",
					       .path = raw->path,
					       .type = "application/json" };
	struct http_client_response answer;
	char *body = body_of(raw->form, item, data, size, &request.size);

	memset(out, 0, sizeof(*out));
	out->sent_parts = item->sent_parts;
	if (!body) {
		out->result = SENT_LATER;
		snprintf(out->why, sizeof(out->why), "there is no memory to send a profile now");
		return;
	}
	request.data = body;
	http_client_send(raw->http, &request, &answer);
	free(body);
	response_class_of_item(&answer, http_client_url(raw->http), item, false, out);
}

static void raw_close(struct engine *engine)
{
	struct raw *raw = (struct raw *)engine;

	http_client_close(raw->http);
	free(raw);
}

static int raw_open(struct engine **engine, const struct engine_options *options,
		    const struct form *form)
{
	struct raw *raw = xalloc(1, sizeof(*raw));
	size_t len;
	int err = http_client_open(&raw->http, options);

	if (err) {
		free(raw);
		return err;
	}
	len = strcspn(options->url, "?#");
	raw->engine = (struct engine){
		.name = form->name, .takes = 1U << ITEM_PROFILE, .send = raw_send,
		.close = raw_close,
	};
	raw->form = form;
	raw->path = form->path + (len && options->url[len - 1] == '/');
	*engine = &raw->engine;
	return 0;
}

int engine_pyroscope_open(struct engine **engine, const struct engine_options *options)
{
	return raw_open(engine, options, &pyroscope);
}

int engine_parca_open(struct engine **engine, const struct engine_options *options)
{
	return raw_open(engine, options, &parca);
}
