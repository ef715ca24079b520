// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * http_handler.c: from a request to its answer.
 *
 * The body goes into a file first, so that a late failure still has a status, and memory does not
 * grow with a trace.
 */
#include <gprof/http.h>

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/opts.h"
#include "http_exchange.h"
#include "query.h"

#define MAX_NS		((uint64_t)300 * 1000000000)
#define MAX_RECORDINGS	16
#define MAX_BYTES	((uint64_t)256 << 20)
#define MAX_MEMORY	((uint64_t)256 << 20)
#define HEADERS_MAX	8
/* Of a profile that a view is made of. */
#define SLICE_NS	((uint64_t)100000000)

#define TYPE_TEXT	"text/plain; charset=utf-8"
#define TYPE_HTML	"text/html; charset=utf-8"
#define TYPE_BINARY	"application/octet-stream"

struct gprof_http *gprof_http_new(const struct gprof_http_config *config)
{
	struct gprof_http_config cfg = { 0 };
	struct gprof_error e = { 0 };
	struct gprof_http *h;

	if (gprof_opts_copy_in(&cfg, sizeof(cfg), GPROF_SIZE_WITH(struct gprof_http_config, flight),
			       config, "gprof_http_config", &e))
		return NULL;
	h = calloc(1, sizeof(*h));
	if (h && cfg.target.name)
		h->name = strdup(cfg.target.name);
	if (!h || (cfg.target.name && !h->name)) {
		free(h);
		gprof_error_set(NULL, ENOMEM, "no memory for a handler of requests");
		return NULL;
	}
	cfg.target.name = h->name;
	if (!cfg.max_ns)
		cfg.max_ns = MAX_NS;
	if (!cfg.max_recordings)
		cfg.max_recordings = MAX_RECORDINGS;
	if (!cfg.max_bytes)
		cfg.max_bytes = MAX_BYTES;
	if (!cfg.max_memory)
		cfg.max_memory = MAX_MEMORY;
	if (!cfg.max_peer_recordings)
		cfg.max_peer_recordings = cfg.max_recordings - cfg.max_recordings / 2;
	h->cfg = cfg;
	pthread_mutex_init(&h->weighing, NULL);
	pthread_mutex_init(&h->moment, NULL);
	return h;
}

void gprof_http_free(struct gprof_http *h)
{
	if (!h)
		return;
	pthread_mutex_destroy(&h->weighing);
	pthread_mutex_destroy(&h->moment);
	free(h->name);
	free(h);
}

/* ---- the request ---- */

static int parse_seconds(struct exchange *a)
{
	uint64_t max = a->h->cfg.max_ns;
	char value[64];
	int got;

	a->ns = a->page->ns < max ? a->page->ns : max;
	if (!a->page->ns)
		return 0;
	got = gprof_exchange_value(a, "seconds", value, sizeof(value));
	if (got <= 0)
		return got;
	a->seconds = true;
	if (!gprof_seconds_parse(value, &a->ns))
		return gprof_error_set(&a->e, EINVAL, "seconds= wants a number above 0, such as 5 or "
				       "0.5, not \"%s\"", value);
	if (a->ns > max)
		return gprof_error_set(&a->e, EINVAL, "seconds=%s is too long: at most %g are recorded "
				       "here", value, (double)max / 1e9);
	return 0;
}

static int parse_debug(struct exchange *a)
{
	char value[16];
	int got = gprof_exchange_value(a, "debug", value, sizeof(value));

	if (got <= 0)
		return got;
	if (value[0] < '0' || value[0] > '9' || value[1])
		return gprof_error_set(&a->e, EINVAL, "debug= wants 0, 1 or 2, not \"%s\"", value);
	a->debug = value[0] - '0';
	if (a->debug && a->page->delta && a->seconds)
		return gprof_error_set(&a->e, EINVAL, "seconds= and debug= exclude each other: a "
				       "profile of some seconds is for programs");
	/* For a page without text debug= means nothing, as in Go. */
	if (!a->page->delta && a->page->ns)
		a->debug = 0;
	return 0;
}

static int parse_request(struct exchange *a)
{
	char value[PATH_MAX];
	const char *key;
	size_t i;

	for (i = 0; (key = gprof_record_request_nth_key(i)); i++) {
		int got = gprof_exchange_value(a, key, value, sizeof(value));

		if (got < 0)
			return got;
		if (!got)
			continue;
		if (a->h->cfg.only && gprof_record_request_is_target(key))
			return gprof_error_set(&a->e, EPERM, "%s= is not for here: one target alone is "
					       "recorded", key);
		got = gprof_record_request_set(&a->request, key, value, &a->e);
		if (got)
			return got;
	}
	return 0;
}

static int understand(struct exchange *a)
{
	int err;

	a->request.target = a->h->cfg.target;
	if (a->page->request)
		gprof_record_request_kind(&a->request, a->page->request);
	err = parse_seconds(a);
	if (!err)
		err = parse_debug(a);
	if (!err)
		err = parse_request(a);
	return err ? gprof_exchange_fail(a, err) : 0;
}

/* Room for large bodies: on a disk, if there is one, else in memory. */
static int open_body(bool large)
{
	const char *dir = secure_getenv("TMPDIR");
	int fd = -1;

	if (large) {
		if (dir)
			fd = open(dir, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
		if (fd < 0)
			fd = open("/var/tmp", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	}
	return fd < 0 ? memfd_create("gprof-http", MFD_CLOEXEC) : fd;
}

/* ---- answers ---- */

static int answer(struct exchange *a)
{
	struct gprof_http_header headers[HEADERS_MAX];
	struct gprof_http_answer ans = { .status = a->status, .headers = headers, .fd = a->fd };
	char disposition[128];
	struct stat st;
	size_t n = 0;

	if (gprof_own_fd_check(&a->body, "the answer", NULL))
		return -EBADF;
	if (fstat(a->fd, &st))
		return gprof_error_set(NULL, errno, "the answer is lost (%s)", gprof_strerror(errno));
	ans.length = (uint64_t)st.st_size;
	headers[n++] = (struct gprof_http_header){ "Content-Type", a->type };
	headers[n++] = (struct gprof_http_header){ "X-Content-Type-Options", "nosniff" };
	if (a->status >= 400)
		headers[n++] = (struct gprof_http_header){ "X-Go-Pprof", "1" };
	if (a->status == 405)
		headers[n++] = (struct gprof_http_header){ "Allow", "GET" };
	if (a->status == 503 || a->status == 429)
		headers[n++] = (struct gprof_http_header){ "Retry-After", "5" };
	if (a->location)
		headers[n++] = (struct gprof_http_header){ "Location", a->location };
	if (a->note[0])
		headers[n++] = (struct gprof_http_header){ "X-Gprof-Note", a->note };
	if (a->file[0]) {
		snprintf(disposition, sizeof(disposition), "attachment; filename=\"%s\"", a->file);
		headers[n++] = (struct gprof_http_header){ "Content-Disposition", disposition };
	}
	ans.nr_headers = n;
	return a->rq->answer(a->rq->ctx, &ans);
}

/*
 * A sentence as the whole body, in place of its contents. It may have words of the request, which
 * are not to break its line, or a terminal.
 */
static int answer_sentence(struct exchange *a)
{
	char *p;

	for (p = a->e.text; *p; p++)
		if ((unsigned char)*p < 0x20 || *p == 0x7f)
			*p = '?';
	a->type = TYPE_TEXT;
	a->file[0] = '\0';
	a->note[0] = '\0';
	if (gprof_own_fd_check(&a->body, "the answer", NULL))
		return -EBADF;
	if (ftruncate(a->fd, 0) || lseek(a->fd, 0, SEEK_SET) || dprintf(a->fd, "%s\n", a->e.text) < 0)
		return gprof_error_set(NULL, errno, "the answer is lost (%s)", gprof_strerror(errno));
	return answer(a);
}

static int put_index(struct exchange *a)
{
	int copy = fcntl(a->fd, F_DUPFD_CLOEXEC, 0);
	FILE *f = copy < 0 ? NULL : fdopen(copy, "w");

	if (!f) {
		if (copy >= 0)
			close(copy);
		return gprof_exchange_refuse(a, 503,
					     gprof_error_set(&a->e, errno,
							     "the page cannot be made (%s)",
							     gprof_strerror(errno)));
	}
	gprof_http_index(f, &a->h->cfg);
	a->type = TYPE_HTML;
	if (fclose(f))
		return gprof_exchange_refuse(a, 500,
					     gprof_error_set(&a->e, errno,
							     "the page cannot be made (%s)",
							     gprof_strerror(errno)));
	return 0;
}

static int put_cmdline(struct exchange *a)
{
	const struct gprof_target *t = &a->request.target;
	int err;

	a->type = TYPE_TEXT;
	err = gprof_http_cmdline(
		a->fd, t->type == GPROF_PROCESS || t->type == GPROF_THREAD ? t->id : 0, &a->e);
	return err ? gprof_exchange_fail(a, err) : 0;
}

static const struct gprof_http_page *find_page(struct exchange *a, const char *name)
{
	const struct gprof_http_config *cfg = &a->h->cfg;
	size_t i;

	for (i = 0; i < cfg->nr_views; i++) {
		if (strcmp(cfg->views[i].name, name))
			continue;
		a->view = &cfg->views[i];
		a->request.trace = a->view->trace;
		a->request.slice_ns = SLICE_NS;
		a->view_page = gprof_http_view_page(a->view);
		return &a->view_page;
	}
	return gprof_http_page_find(name);
}

/* Of which there may be any number, in any process: known when the request has its target. */
static int find_custom(struct exchange *a)
{
	int err = gprof_http_custom(&a->request.target, a->view_page.name, &a->e);

	if (err)
		return gprof_exchange_fail(a, err);
	a->request.kind = GPROF_REQUEST_CUSTOM;
	a->request.name = a->view_page.name;
	return 0;
}

/* The characters of a profile's name that a header allows. */
static void name_file(struct exchange *a)
{
	char *p;

	snprintf(a->file, sizeof(a->file), "%s%s", a->page->name,
		 a->page->delta && a->seconds ? "-delta" : "");
	for (p = a->file; *p; p++)
		if (*p == '"' || *p == '\\' || *p == '/' || (unsigned char)*p < 0x20 ||
		    (unsigned char)*p >= 0x7f)
			*p = '_';
}

static int handle(struct exchange *a)
{
	size_t prefix = strlen(GPROF_HTTP_PREFIX);
	const char *path = a->rq->path;
	bool custom;
	int err;

	if (strcmp(a->rq->method, "GET")) {
		gprof_error_set(&a->e, EINVAL, "profiles are here to be read: GET is all there is");
		return gprof_exchange_refuse(a, 405, -EINVAL);
	}
	if (!strncmp(path, GPROF_HTTP_PREFIX, prefix - 1) && !path[prefix - 1]) {
		a->location = GPROF_HTTP_PREFIX;
		a->status = 301;
		a->type = TYPE_TEXT;
		return 0;
	}
	if (!strcmp(path, GPROF_HTTP_PREFIX))
		return put_index(a);
	if (strncmp(path, GPROF_HTTP_PREFIX, prefix)) {
		gprof_error_set(&a->e, ENOENT, "there is no such page; " GPROF_HTTP_PREFIX
				" lists those that there are");
		return gprof_exchange_refuse(a, 404, -ENOENT);
	}
	a->page = find_page(a, path + prefix);
	custom = !a->page;
	if (custom) {
		a->view_page = gprof_http_custom_page(path + prefix);
		a->page = &a->view_page;
	}
	err = understand(a);
	if (!err && custom)
		err = find_custom(a);
	if (err)
		return err;
	if (!a->page->request)
		return put_cmdline(a);
	/* The recording in a private file, for what is made of it. */
	if (a->view)
		a->trace = open_body(true);
	if (a->trace < 0)
		return gprof_exchange_fail(a,
					   gprof_error_set(&a->e, errno, "no file for a trace (%s)",
							   gprof_strerror(errno)));
	if (a->view) {
		gprof_own_fd_adopt(&a->own_trace, a->trace);
		a->trace = a->own_trace.fd;
	}
	err = gprof_exchange_record(a);
	if (err)
		return err;
	if (a->debug) {
		a->type = TYPE_TEXT;
		return 0;
	}
	if (a->view && !a->view->trace) {
		a->type = TYPE_HTML;
		return 0;
	}
	a->type = TYPE_BINARY;
	name_file(a);
	return 0;
}

int gprof_http_handler(struct gprof_http *h, const struct gprof_http_request *request)
{
	struct gprof_http_request rq = { 0 };
	struct gprof_error e = { 0 };
	struct exchange *a;
	int err;

	err = gprof_opts_copy_in(&rq, sizeof(rq), GPROF_SIZE_WITH(struct gprof_http_request, ctx),
				 request, "gprof_http_request", &e);
	if (err)
		return err;
	if (!rq.method || !rq.path || !rq.answer)
		return gprof_error_set(NULL, EINVAL, "a request has a method, a path, and a "
				       "function for the answer");
	a = calloc(1, sizeof(*a));
	if (!a)
		return gprof_error_set(NULL, ENOMEM, "no memory for a request");
	a->h = h;
	a->rq = &rq;
	a->status = 200;
	a->fd = open_body(strstr(rq.path, "trace"));
	a->own_trace = GPROF_OWN_FD_NONE;
	a->cancel = (struct gprof_cancel){ .poll = rq.gone, .ctx = rq.ctx };
	if (a->fd < 0) {
		err = gprof_error_set(NULL, errno, "no file for an answer (%s)", gprof_strerror(errno));
		free(a);
		return err;
	}
	gprof_own_fd_adopt(&a->body, a->fd);
	a->fd = a->trace = a->body.fd;
	err = handle(a);
	if (err == -ECONNABORTED)
		gprof_error_set(NULL, ECONNABORTED, "the client went away; its recording was ended");
	else
		err = err ? answer_sentence(a) : answer(a);
	gprof_own_fd_close(&a->own_trace);
	gprof_own_fd_close(&a->body);
	free(a);
	return err;
}
