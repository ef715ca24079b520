// SPDX-License-Identifier: GPL-2.0-only
/*
 * engine_otlp.c: profiles to receivers of OTLP Profiles over HTTP.
 *
 * A profile is sent as the requests that the library makes of it, which are its parts: each
 * is sent until the engine has taken or refused it, and never again. Where an answer is lost
 * it is sent again, since else it might be lost too; its profiles have the ids that they had,
 * by which a receiver can tell.
 */
#include <errno.h>
#include <gnutls/crypto.h>
#include <gprof/otlp.h>
#include <gprof/version.h>
#include <libdeflate.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cli/diag.h"
#include "engine.h"
#include "http_client.h"
#include "otlp_json.h"
#include "response_class.h"

#define PATH		"/v1development/profiles"
#define TYPE		"application/x-protobuf"
#define PROFILE_MEMORY	(256U << 20)

/**
 * struct otlp - such an engine
 * @engine: its public part
 * @http: its server
 * @no_names: of the options
 * @path: behind the URL
 */
struct otlp {
	struct engine engine;
	struct http_client *http;
	int no_names;
	const char *path;
};

/**
 * struct trip - an item on its way
 * @otlp: engine
 * @item: item
 * @out: result
 * @part: of the item that the library is at
 * @later: the rest has to wait
 */
struct trip {
	struct otlp *otlp;
	const struct item *item;
	struct send_result *out;
	uint32_t part;
	bool later;
};

static bool has_type(const struct http_client_response *a, const char *type)
{
	size_t len = strlen(type);

	return !strncasecmp(a->type, type, len) &&
	       (!a->type[len] || a->type[len] == ';' || a->type[len] == ' ');
}

/* Is it a receiver's response? Gets its contents. */
static bool read_answer(const struct http_client_response *a, struct gprof_otlp_answer *said)
{
	if (!a->size)
		return true;
	if (a->cut)
		return false;
	if (has_type(a, "application/json"))
		return otlp_json_answer(a->body, a->size, &said->rejected, said->message,
					sizeof(said->message));
	return has_type(a, TYPE) &&
	       !gprof_otlp_answer(a->body, a->size, GPROF_OTLP_TAKEN, said);
}

/* 200 says little by itself: proxies and login pages say it too. */
static enum response_class class_of_success(const struct trip *t,
					    const struct http_client_response *a, size_t profiles)
{
	const char *url = http_client_url(t->otlp->http);
	struct gprof_otlp_answer said = { .sz = sizeof(said) };
	struct send_result *out = t->out;

	if (!read_answer(a, &said)) {
		snprintf(out->why, sizeof(out->why), "%s answers %ld, but not as a receiver of OTLP "
			 "does (%.40s, %s%zu bytes): is that its address?", url, a->status,
			 a->type[0] ? a->type : "of no type", a->cut ? "more than " : "", a->size);
		return RESPONSE_UNSURE;
	}
	if (said.rejected > 0) {
		snprintf(out->why, sizeof(out->why), "%s refuses %lld of %zu profiles of a request"
			 "%s%.100s", url, (long long)said.rejected, profiles,
			 said.message[0] ? ": " : "", said.message);
		return RESPONSE_REFUSED;
	}
	if (said.message[0])
		snprintf(out->why, sizeof(out->why), "%s warns: %.100s", url, said.message);
	return RESPONSE_ACCEPTED;
}

static enum response_class judge(const struct trip *t, const struct http_client_response *a,
				 size_t profiles)
{
	struct gprof_otlp_answer said = { .sz = sizeof(said) };
	const char *words = NULL;
	enum response_class v;

	if (a->fate == HTTP_ANSWERED && a->status >= 400 && !a->cut && has_type(a, TYPE) &&
	    !gprof_otlp_answer(a->body, a->size, GPROF_OTLP_REFUSED, &said))
		words = said.message;
	v = response_class_of(a, http_client_url(t->otlp->http), words, t->out);
	return v == RESPONSE_ACCEPTED ? class_of_success(t, a, profiles) : v;
}

static int send_part(void *ctx, const struct gprof_otlp_request *r)
{
	struct trip *t = ctx;
	struct http_client_request request = {
		.method = "POST", .path = t->otlp->path, .type = TYPE,
		.data = r->data, .size = r->size, .gzip = true,
	};
	struct http_client_response answer;

	if (t->part++ < t->item->sent_parts)
		return 0;
	http_client_send(t->otlp->http, &request, &answer);
	t->out->bytes += answer.bytes;
	switch (judge(t, &answer, r->profiles)) {
	case RESPONSE_ACCEPTED:
		t->out->sent_samples += r->samples;
		break;
	case RESPONSE_REFUSED:
		/* It does not say which samples it refuses. */
		t->out->refused_samples += r->samples;
		break;
	case RESPONSE_UNSURE:
		t->out->unsure_samples += r->samples;
		t->later = true;
		return 1;
	case RESPONSE_LATER:
		t->later = true;
		return 1;
	}
	t->out->sent_parts++;
	return 0;
}

/* The same for each try, and for no other item of any host. */
static int item_id(const struct item *item, uint8_t id[GPROF_OTLP_ID_SIZE])
{
	uint8_t hash[32];
	char *name = xprintf("gprof %s %s %llu %llu", item->host, item->type,
			     (unsigned long long)item->start_ns, (unsigned long long)item->id);
	int err = gnutls_hash_fast(GNUTLS_DIG_SHA256, name, strlen(name), hash);

	free(name);
	memcpy(id, hash, GPROF_OTLP_ID_SIZE);
	return err ? -EIO : 0;
}

static struct gprof_profile *read_item(const void *data, size_t size)
{
	struct gprof_profile_opts opts = { .sz = sizeof(opts), .memory_max = PROFILE_MEMORY };
	int fd = memfd_create("item", MFD_CLOEXEC);
	struct gprof_profile *p = NULL;

	if (fd < 0)
		return NULL;
	if (write(fd, data, size) == (ssize_t)size && !lseek(fd, 0, SEEK_SET))
		p = gprof_profile_read_opts(fd, &opts);
	else
		errno = ENOMEM;
	close(fd);
	return p;
}

static void export(struct trip *t, const struct gprof_profile *p)
{
	uint8_t id[GPROF_OTLP_ID_SIZE];
	struct gprof_otlp_opts opts = {
		.sz = sizeof(opts), .host = t->item->host, .id = id,
		.flags = t->otlp->no_names ? GPROF_OTLP_NO_NAMES : 0,
	};
	struct send_result *out = t->out;
	size_t too_large = 0;
	int ret = item_id(t->item, id);

	if (!ret)
		ret = gprof_otlp_export(p, &opts, send_part, t, &too_large);
	if (t->later) {
		out->result = SENT_LATER;
		return;
	}
	if (ret == -ENOMEM || ret == -EIO) {
		out->result = SENT_LATER;
		snprintf(out->why, sizeof(out->why), "there is no memory to send a profile now");
		return;
	}
	if (ret) {
		out->result = SENT_NEVER;
		out->refused_samples += t->item->samples;
		snprintf(out->why, sizeof(out->why), "a profile cannot be sent: %.200s",
			 gprof_error());
		return;
	}
	/* Counted once: at the try that ends it. */
	if (too_large) {
		out->refused_samples += too_large;
		snprintf(out->why, sizeof(out->why), "%zu samples of a profile are too large to be "
			 "sent", too_large);
	}
	out->result = out->refused_samples ? SENT_NEVER : SENT_ALL;
}

static void otlp_send(struct engine *engine, const struct item *item, const void *data, size_t size,
		      struct send_result *out)
{
	struct trip t = { .otlp = (struct otlp *)engine, .item = item, .out = out };
	struct gprof_profile *p;

	memset(out, 0, sizeof(*out));
	out->sent_parts = item->sent_parts;
	if (item->profile) {
		export(&t, item->profile);
		return;
	}
	p = read_item(data, size);
	if (p) {
		export(&t, p);
		gprof_profile_free(p);
	} else if (errno == ENOMEM) {
		out->result = SENT_LATER;
		snprintf(out->why, sizeof(out->why), "there is no memory to send a profile now");
	} else {
		out->result = SENT_NEVER;
		out->refused_samples = item->samples;
		snprintf(out->why, sizeof(out->why), "what is to be sent cannot be read: %.200s",
			 gprof_error());
	}
}

static void otlp_close(struct engine *engine)
{
	struct otlp *otlp = (struct otlp *)engine;

	http_client_close(otlp->http);
	free(otlp);
}

/* A URL whose path ends with PATH is the whole; without, it is that of a receiver. */
static const char *path_behind(const char *url)
{
	size_t len = strcspn(url, "?#"), path = strlen(PATH);

	if (len >= path && !strncmp(url + len - path, PATH, path))
		return "";
	return len && url[len - 1] == '/' ? PATH + 1 : PATH;
}

/*
 * A hash of the settings that divide a profile into requests, and of the receiver: requests that
 * were accepted are left out at the next try, and must be the same then.
 */
static uint32_t parts_of(const struct otlp *otlp)
{
	char *text = xprintf("otlp " GPROF_VERSION " %d %s", otlp->no_names,
			     http_client_url(otlp->http));
	uint32_t sum = libdeflate_crc32(0, text, strlen(text));

	free(text);
	return sum ? sum : 1;
}

int engine_otlp_open(struct engine **engine, const struct engine_options *options)
{
	struct otlp *otlp = xalloc(1, sizeof(*otlp));
	int err = http_client_open(&otlp->http, options);

	if (err) {
		free(otlp);
		return err;
	}
	otlp->no_names = options->no_names;
	otlp->engine = (struct engine){
		.name = "otlp", .takes = 1U << ITEM_PROFILE, .parts = parts_of(otlp),
		.send = otlp_send, .close = otlp_close,
	};
	otlp->path = path_behind(options->url);
	*engine = &otlp->engine;
	return 0;
}
