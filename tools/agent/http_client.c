// SPDX-License-Identifier: GPL-2.0-only
/*
 * http_client.c: one request after the other to one server, by libcurl.
 */
#include "http_client.h"

#include <errno.h>
#include <gprof/version.h>
#include <isa-l/igzip_lib.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/diag.h"
#include "curl_library.h"

/* The next one is 2 % smaller, for 60 % more instructions. */
#define PACKER_LEVEL	2
#define PACKER_ROOM	ISAL_DEF_LVL2_DEFAULT
#define PACKED_LEAST	65536
#define PROTOCOLS	"http,https"
#define HEADER_MAX	8192
#define TYPE_MAX	64
#define TIMEOUT_MS	10000
/* Of a request, bytes a second: slower than the first for the timeout is no progress, ... */
#define SLOWEST		1024
/* ... and with less than the second in all a server holds it up on purpose. */
#define SLOW		8192
/* Bytes in the kernels' buffers of a connection are not seen: so many, at this speed. */
#define HELD		(4UL << 20)
#define HELD_SPEED	65536
/* The longest delay that a server may ask for: beyond this the sender's own delay applies. */
#define RETRY_MAX_MS	(3600 * 1000ULL)

/* Compresses bodies: ISA-L's state, and the buffer for its level. */
struct packer {
	struct isal_zstream z;
	uint8_t room[PACKER_ROOM];
};

/**
 * struct http_client - a server, and a request to it
 * @handle: libcurl's, with the connection that it keeps; NULL after one that broke
 * @url: as it was given
 * @shown: for messages
 * @given: headers of the options
 * @ca_file: of the options, or NULL
 * @timeout_ms: of the options
 * @give_up: of the options
 * @packer: compresses bodies; NULL before the first
 * @packed: compressed body
 * @cap_packed: room in it
 * @data: body of this request
 * @size: bytes of it
 * @sent: of them, handed to libcurl
 * @body: of the answer
 * @nr_body: bytes of it
 * @cut: there was more
 * @type: of it
 * @bytes: on the wire
 * @body_bytes: of them, of the body
 * @error: libcurl's words
 */
struct http_client {
	CURL *handle;
	char *url;
	char *shown;
	struct curl_slist *given;
	char *ca_file;
	long timeout_ms;
	const atomic_bool *give_up;
	struct packer *packer;
	char *packed;
	size_t cap_packed;
	const char *data;
	size_t size;
	size_t sent;
	char *body;
	size_t nr_body;
	bool cut;
	char type[TYPE_MAX];
	uint64_t bytes;
	uint64_t body_bytes;
	char error[CURL_ERROR_SIZE];
};

/* The same for all, once one is open. */
static const struct curl_library *curl;

static size_t append_body(char *data, size_t one, size_t nr, void *ctx)
{
	struct http_client *c = ctx;
	size_t room = HTTP_BODY_MAX - c->nr_body;

	(void)one;
	if (nr > room) {
		c->cut = true;
		memcpy(c->body + c->nr_body, data, room);
		c->nr_body += room;
		return 0;
	}
	memcpy(c->body + c->nr_body, data, nr);
	c->nr_body += nr;
	return nr;
}

/* There is no way back: libcurl would send it again when a connection that it kept breaks. */
static size_t give_body(char *to, size_t one, size_t nr, void *ctx)
{
	struct http_client *c = ctx;
	size_t left = c->size - c->sent;

	(void)one;
	if (nr > left)
		nr = left;
	memcpy(to, c->data + c->sent, nr);
	c->sent += nr;
	return nr;
}

static int count_bytes(CURL *handle, curl_infotype type, char *data, size_t size, void *ctx)
{
	struct http_client *c = ctx;

	(void)handle;
	(void)data;
	if (type == CURLINFO_HEADER_OUT || type == CURLINFO_DATA_OUT)
		c->bytes += size;
	if (type == CURLINFO_DATA_OUT)
		c->body_bytes += size;
	return 0;
}

static int on_progress(void *ctx, curl_off_t all_down, curl_off_t down, curl_off_t all_up,
		       curl_off_t up)
{
	const struct http_client *c = ctx;

	(void)all_down;
	(void)down;
	(void)all_up;
	(void)up;
	return c->give_up && *c->give_up;
}

/* A name, a colon, and no end of a line that would begin another header. */
static bool is_header(const char *line)
{
	static const char token[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
				    "0123456789!#$%&'*+-.^_`|~";
	size_t name = strspn(line, token), i;

	if (!name || line[name] != ':' || strlen(line) > HEADER_MAX)
		return false;
	for (i = name; line[i]; i++)
		if (((unsigned char)line[i] < ' ' && line[i] != '\t') || line[i] == 0x7f)
			return false;
	return true;
}

static int add_headers(struct http_client *c, const char *const *headers)
{
	struct curl_slist *more;

	for (; headers && *headers; headers++) {
		if (!is_header(*headers)) {
			/* It may be a token. */
			diag("a header is to be \"Name: value\" on one line, and the one that begins "
			     "with \"%.8s\" is not",
			     *headers);
			return -EINVAL;
		}
		more = curl->slist_append(c->given, *headers);
		if (!more)
			return -ENOMEM;
		c->given = more;
	}
	return 0;
}

/* The address is in messages often; a token never is. */
static char *without_secrets(CURLU *parts)
{
	static const CURLUPart secret[] = { CURLUPART_USER, CURLUPART_PASSWORD, CURLUPART_OPTIONS,
					    CURLUPART_QUERY, CURLUPART_FRAGMENT };
	char *url = NULL, *copy = NULL;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(secret); i++)
		curl->url_set(parts, secret[i], NULL, 0);
	if (!curl->url_get(parts, CURLUPART_URL, &url, 0))
		copy = strndup(url, 120);
	curl->free(url);
	return copy;
}

/* Text before an @ may be a password, and text behind a ? a token. */
char *http_url_shown(const char *url)
{
	const char *at = strrchr(url, '@');
	size_t end = strcspn(url, "?#");

	if (at && at > url + end)
		return xprintf("(an address with an @ behind its ?)");
	return at ? xprintf("...%.*s", (int)(url + end - at), at) :
		    xprintf("%.*s", (int)end, url);
}

static int set_url(struct http_client *c, const char *url)
{
	CURLU *parts = curl->url();
	char *scheme = NULL, *shown;
	int err = 0;

	if (!parts)
		return -ENOMEM;
	if (!url || curl->url_set(parts, CURLUPART_URL, url, 0) ||
	    curl->url_get(parts, CURLUPART_SCHEME, &scheme, 0) ||
	    (strcmp(scheme, "http") && strcmp(scheme, "https"))) {
		shown = http_url_shown(url ? url : "");
		diag("profiles are sent to an address that begins with http:// or https://, and what "
		     "was given is none: %s",
		     shown);
		free(shown);
		err = -EINVAL;
	} else {
		c->url = strdup(url);
		c->shown = without_secrets(parts);
		err = c->url && c->shown ? 0 : -ENOMEM;
	}
	curl->free(scheme);
	curl->url_cleanup(parts);
	return err;
}

/* After a failure libcurl's own state is one that is not meant for another request. */
static int set_up(struct http_client *c)
{
	CURL *handle = c->handle ? c->handle : curl->easy_init();
	int err = 0;

	if (c->handle || !handle)
		return handle ? 0 : -ENOMEM;
	err |= curl->easy_setopt(handle, CURLOPT_PROTOCOLS_STR, PROTOCOLS);
	err |= curl->easy_setopt(handle, CURLOPT_NOSIGNAL, 1L);
	err |= curl->easy_setopt(handle, CURLOPT_FOLLOWLOCATION, 0L);
	err |= curl->easy_setopt(handle, CURLOPT_CONNECTTIMEOUT_MS, c->timeout_ms);
	err |= curl->easy_setopt(handle, CURLOPT_LOW_SPEED_LIMIT, (long)SLOWEST);
	err |= curl->easy_setopt(handle, CURLOPT_NOPROGRESS, 0L);
	err |= curl->easy_setopt(handle, CURLOPT_XFERINFOFUNCTION, on_progress);
	err |= curl->easy_setopt(handle, CURLOPT_XFERINFODATA, c);
	err |= curl->easy_setopt(handle, CURLOPT_USERAGENT, "gprofctl/" GPROF_VERSION);
	err |= curl->easy_setopt(handle, CURLOPT_WRITEFUNCTION, append_body);
	err |= curl->easy_setopt(handle, CURLOPT_WRITEDATA, c);
	err |= curl->easy_setopt(handle, CURLOPT_READFUNCTION, give_body);
	err |= curl->easy_setopt(handle, CURLOPT_READDATA, c);
	err |= curl->easy_setopt(handle, CURLOPT_ERRORBUFFER, c->error);
	err |= curl->easy_setopt(handle, CURLOPT_DEBUGFUNCTION, count_bytes);
	err |= curl->easy_setopt(handle, CURLOPT_DEBUGDATA, c);
	err |= curl->easy_setopt(handle, CURLOPT_VERBOSE, 1L);
	if (c->ca_file)
		err |= curl->easy_setopt(handle, CURLOPT_CAINFO, c->ca_file);
	if (err) {
		curl->easy_cleanup(handle);
		return -ENOMEM;
	}
	c->handle = handle;
	return 0;
}

int http_client_open(struct http_client **client, const struct engine_options *options)
{
	struct http_client *c = calloc(1, sizeof(*c));
	int err = -ENOMEM;

	if (!c)
		goto failed;
	curl = curl_library();
	err = curl ? 0 : -ENOPKG;
	if (!err)
		err = set_url(c, options->url);
	if (!err)
		err = add_headers(c, options->headers);
	if (err)
		goto failed;
	err = -ENOMEM;
	c->body = malloc(HTTP_BODY_MAX);
	c->give_up = options->give_up;
	c->timeout_ms = options->timeout_ms ? (long)options->timeout_ms : TIMEOUT_MS;
	c->ca_file = options->ca_file ? strdup(options->ca_file) : NULL;
	if (c->body && (c->ca_file || !options->ca_file))
		err = set_up(c);
	if (!err) {
		*client = c;
		return 0;
	}
failed:
	if (err == -ENOMEM)
		diag("no memory for sending profiles");
	http_client_close(c);
	return err;
}

void http_client_close(struct http_client *client)
{
	if (!client)
		return;
	if (client->handle)
		curl->easy_cleanup(client->handle);
	if (client->given)
		curl->slist_free_all(client->given);
	free(client->ca_file);
	free(client->packer);
	free(client->packed);
	free(client->body);
	free(client->url);
	free(client->shown);
	free(client);
}

const char *http_client_url(const struct http_client *client)
{
	return client->shown;
}

/* Room for more of the compressed body, of which there are @nr bytes. */
static bool grow_packed(struct http_client *c, size_t nr)
{
	size_t cap = c->cap_packed ? c->cap_packed * 2 : PACKED_LEAST;
	char *more = nr < c->cap_packed ? c->packed : realloc(c->packed, cap);

	if (!more)
		return false;
	c->cap_packed = nr < c->cap_packed ? c->cap_packed : cap;
	c->packed = more;
	return true;
}

static int compress_body(struct http_client *c, const void *data, size_t size)
{
	struct isal_zstream *z;
	size_t nr = 0;

	/* It counts bytes in 32 bits. */
	if (!c->packer)
		c->packer = malloc(sizeof(*c->packer));
	if (!c->packer || size > INT32_MAX)
		return -ENOMEM;
	z = &c->packer->z;
	isal_deflate_init(z);
	z->gzip_flag = IGZIP_GZIP;
	z->level = PACKER_LEVEL;
	z->level_buf = c->packer->room;
	z->level_buf_size = sizeof(c->packer->room);
	z->next_in = (uint8_t *)(uintptr_t)data;
	z->avail_in = (uint32_t)size;
	z->end_of_stream = 1;
	do {
		if (!grow_packed(c, nr))
			return -ENOMEM;
		z->next_out = (uint8_t *)c->packed + nr;
		z->avail_out = (uint32_t)(c->cap_packed - nr);
		if (isal_deflate(z))
			return -EIO;
		nr = c->cap_packed - z->avail_out;
	} while (z->internal_state.state != ZSTATE_END);
	c->data = c->packed;
	c->size = nr;
	return 0;
}

/* Those of the options come last: they take precedence. */
static struct curl_slist *headers_of(const struct http_client *c,
				     const struct http_client_request *r)
{
	const char *own[] = { NULL, "Expect:", r->gzip ? "Content-Encoding: gzip" : NULL };
	struct curl_slist *list = NULL, *more, *h;
	char type[128];
	size_t i;

	snprintf(type, sizeof(type), "Content-Type: %s", r->type);
	own[0] = type;
	for (i = 0; i < ARRAY_SIZE(own); i++) {
		more = own[i] ? curl->slist_append(list, own[i]) : list;
		if (!more)
			goto no_memory;
		list = more;
	}
	for (h = c->given; h; h = h->next) {
		more = curl->slist_append(list, h->data);
		if (!more)
			goto no_memory;
		list = more;
	}
	return list;
no_memory:
	curl->slist_free_all(list);
	return NULL;
}

/* Words of a stranger, for a terminal or a log. */
static void make_plain(char *text)
{
	for (; *text; text++)
		if (*text < ' ' || *text > '~')
			*text = '?';
}

static void lost(const struct http_client *c, CURLcode code, struct http_client_response *a)
{
	const char *words = c->error[0] ? c->error : curl->easy_strerror(code);

	/* It would have sent it again. */
	if (code == CURLE_SEND_FAIL_REWIND)
		words = "the connection broke";

	a->fate = c->size && c->body_bytes >= c->size ? HTTP_LOST : HTTP_UNSENT;
	snprintf(a->why, sizeof(a->why), a->fate == HTTP_LOST ?
		 "%s has got all of a request but did not answer: %.100s" :
		 "cannot send to %s: %.100s", c->shown, words);
	/* A certificate, of which they may tell, is a stranger's. */
	make_plain(a->why);
}

static void fill_response(struct http_client *c, CURLcode code, struct http_client_response *a)
{
	curl_off_t wait = 0;
	char *text = NULL;

	a->bytes = c->bytes;
	if (c->handle)
		curl->easy_getinfo(c->handle, CURLINFO_RESPONSE_CODE, &a->status);
	/* A truncated response is a response. */
	if (!a->status || (code && !c->cut)) {
		lost(c, code, a);
		return;
	}
	a->fate = HTTP_ANSWERED;
	a->body = c->body;
	a->size = c->nr_body;
	a->cut = c->cut;
	curl->easy_getinfo(c->handle, CURLINFO_CONTENT_TYPE, &text);
	snprintf(c->type, sizeof(c->type), "%s", text ? text : "");
	make_plain(c->type);
	a->type = c->type;
	text = NULL;
	curl->easy_getinfo(c->handle, CURLINFO_REDIRECT_URL, &text);
	a->redirect = text;
	curl->easy_getinfo(c->handle, CURLINFO_RETRY_AFTER, &wait);
	if (wait > 0)
		a->retry_after_ms = (uint64_t)wait > RETRY_MAX_MS / 1000 ? RETRY_MAX_MS :
									   (uint64_t)wait * 1000;
}

/* The path goes before a query, and a fragment is dropped. */
static char *whole_url(const char *url, const char *path)
{
	size_t head = strcspn(url, "?#"), all = head + strcspn(url + head, "#");
	const char *query = url + head;
	int len = (int)(all - head);

	/* Of two queries the second goes on. */
	if (len && strchr(path, '?'))
		return xprintf("%.*s%s&%.*s", (int)head, url, path, len - 1, query + 1);
	return xprintf("%.*s%s%.*s", (int)head, url, path, len, query);
}

static CURLcode perform(struct http_client *c, const struct http_client_request *r)
{
	struct curl_slist *headers = headers_of(c, r);
	char *url = whole_url(c->url, r->path);
	CURLcode code = CURLE_OUT_OF_MEMORY;
	bool put = !strcmp(r->method, "PUT");
	size_t held;

	if (headers) {
		curl->easy_setopt(c->handle, CURLOPT_URL, url);
		curl->easy_setopt(c->handle, CURLOPT_TIMEOUT_MS,
				  c->timeout_ms + (long)(c->size * 1000 / SLOW));
		held = c->size < HELD ? c->size : HELD;
		curl->easy_setopt(c->handle, CURLOPT_LOW_SPEED_TIME,
				  (c->timeout_ms + 999) / 1000 + (long)(held / HELD_SPEED));
		curl->easy_setopt(c->handle, CURLOPT_HTTPHEADER, headers);
		curl->easy_setopt(c->handle, put ? CURLOPT_UPLOAD : CURLOPT_POST, 1L);
		curl->easy_setopt(c->handle, put ? CURLOPT_INFILESIZE_LARGE :
						CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)c->size);
		code = curl->easy_perform(c->handle);
		curl->easy_setopt(c->handle, CURLOPT_HTTPHEADER, NULL);
	}
	curl->slist_free_all(headers);
	free(url);
	return code;
}

void http_client_send(struct http_client *client, const struct http_client_request *request,
		      struct http_client_response *answer)
{
	struct http_client *c = client;
	CURLcode code = CURLE_OUT_OF_MEMORY;

	memset(answer, 0, sizeof(*answer));
	c->data = request->data;
	c->size = request->size;
	c->sent = c->nr_body = 0;
	c->bytes = c->body_bytes = 0;
	c->cut = false;
	c->error[0] = '\0';
	if (!set_up(c) &&
	    (!request->gzip || !compress_body(c, request->data, request->size)))
		code = perform(c, request);
	fill_response(c, code, answer);
	if (answer->fate != HTTP_ANSWERED && c->handle) {
		curl->easy_cleanup(c->handle);
		c->handle = NULL;
	}
}
