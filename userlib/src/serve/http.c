// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * http.c: from a request to its answer.
 *
 * Whatever there is to say goes into a file first, so that what fails late is still answered
 * with a status, and memory does not grow with a trace. The thread of the caller waits, and
 * looks ten times a second whether there is still somebody to wait for. Nothing is shared
 * between requests but the number of recordings.
 */
#include <gprof/http.h>

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/gprof.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/opts.h"
#include "base/own_fd.h"
#include "http_page.h"
#include "query.h"
#include "wish.h"

#define MAX_NS		((uint64_t)300 * 1000000000)
#define MAX_RECORDINGS	16
#define MAX_BYTES	((uint64_t)256 << 20)
#define TICK_NS		((uint64_t)100000000)
#define HEADERS_MAX	8

#define TYPE_TEXT	"text/plain; charset=utf-8"
#define TYPE_HTML	"text/html; charset=utf-8"
#define TYPE_BINARY	"application/octet-stream"

/**
 * struct gprof_http - what may be asked for
 * @cfg: with the defaults filled in
 * @name: of its target
 * @busy: recordings under way
 */
struct gprof_http {
	struct gprof_http_config cfg;
	char *name;
	atomic_uint busy;
};

/**
 * struct ask - a request on its way to an answer
 * @h: handler
 * @rq: request
 * @page: which, or NULL
 * @view: it is made of a trace, or NULL
 * @view_page: of @view
 * @wish: what it comes to
 * @ns: how long
 * @seconds: they were asked for
 * @debug: 0 is binary
 * @fd: the body
 * @body: @fd, as long as it is that
 * @trace: where a trace is recorded: @fd, or of a view a file besides
 * @status: of the answer
 * @type: of its content
 * @file: name for Content-Disposition, or ""
 * @note: what whoever asked should know, or ""
 * @location: elsewhere, or NULL
 * @e: what went wrong
 */
struct ask {
	struct gprof_http *h;
	const struct gprof_http_request *rq;
	const struct gprof_http_page *page;
	const struct gprof_http_view *view;
	struct gprof_http_page view_page;
	struct gprof_wish wish;
	uint64_t ns;
	bool seconds;
	int debug;
	int fd;
	struct gprof_own_fd body;
	int trace;
	unsigned int status;
	const char *type;
	char file[64];
	char note[128];
	const char *location;
	struct gprof_error e;
};

struct gprof_http *gprof_http_new(const struct gprof_http_config *config)
{
	struct gprof_http_config cfg = { 0 };
	struct gprof_error e = { 0 };
	struct gprof_http *h;

	if (gprof_opts_take(&cfg, sizeof(cfg), GPROF_SIZE_WITH(struct gprof_http_config, flight),
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
	h->cfg = cfg;
	return h;
}

void gprof_http_free(struct gprof_http *h)
{
	if (!h)
		return;
	free(h->name);
	free(h);
}

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000ULL + (uint64_t)ts.tv_nsec;
}

/* ---- what was asked for ---- */

static unsigned int status_of(int err)
{
	switch (err < 0 ? -err : err) {
	case EINVAL:
	case ERANGE:
	case E2BIG:
	case EEXIST:
	case ENAMETOOLONG:
	case ENOTDIR:
	case EDOM:
		return 400;
	case EPERM:
	case EACCES:
		return 403;
	case ENOENT:
	case ESRCH:
	case ENODEV:
		return 404;
	case EOPNOTSUPP:
	case ENOSYS:
		return 501;
	case EAGAIN:
	case EBUSY:
	case ENOMEM:
	case ENXIO:
	case EMFILE:
	case ENFILE:
	case ENOBUFS:
	case EUSERS:
		return 503;
	default:
		return 500;
	}
}

static int refuse(struct ask *a, unsigned int status, int err)
{
	a->status = status;
	return err;
}

/* A value of the query; 1, 0 when it is not there, -EINVAL. */
static int value_of(struct ask *a, const char *key, char *value, size_t size)
{
	return gprof_query_get(a->rq->query, key, value, size, &a->e);
}

static int take_seconds(struct ask *a)
{
	uint64_t max = a->h->cfg.max_ns;
	char value[64];
	int got;

	a->ns = a->page->ns < max ? a->page->ns : max;
	if (!a->page->ns)
		return 0;
	got = value_of(a, "seconds", value, sizeof(value));
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

static int take_debug(struct ask *a)
{
	char value[16];
	int got = value_of(a, "debug", value, sizeof(value));

	if (got <= 0)
		return got;
	if (value[0] < '0' || value[0] > '9' || value[1])
		return gprof_error_set(&a->e, EINVAL, "debug= wants 0, 1 or 2, not \"%s\"", value);
	a->debug = value[0] - '0';
	if (a->debug && a->page->delta && a->seconds)
		return gprof_error_set(&a->e, EINVAL, "seconds= and debug= exclude each other: a "
				       "profile of some seconds is for programs");
	/* Of what has no text, debug= means nothing, as in Go. */
	if (!a->page->delta && a->page->ns)
		a->debug = 0;
	return 0;
}

static int take_wish(struct ask *a)
{
	char value[PATH_MAX];
	const char *key;
	size_t i;

	for (i = 0; (key = gprof_wish_nth_key(i)); i++) {
		int got = value_of(a, key, value, sizeof(value));

		if (got < 0)
			return got;
		if (!got)
			continue;
		if (a->h->cfg.only && gprof_wish_chooses(key))
			return gprof_error_set(&a->e, EPERM, "%s= is not for here: one target alone is "
					       "recorded", key);
		got = gprof_wish_set(&a->wish, key, value, &a->e);
		if (got)
			return got;
	}
	return 0;
}

static int understand(struct ask *a)
{
	int err;

	a->wish.target = a->h->cfg.target;
	if (a->page->wish)
		gprof_wish_kind(&a->wish, a->page->wish);
	err = take_seconds(a);
	if (!err)
		err = take_debug(a);
	if (!err)
		err = take_wish(a);
	return err ? refuse(a, status_of(err), err) : 0;
}

/* ---- recording ---- */

/* Room for what may be large: on a disk, if there is one, else in memory. */
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

static bool gone(const struct ask *a)
{
	return a->rq->gone && a->rq->gone(a->rq->ctx);
}

/* Until the time is over, the target is gone, or the file is full. */
static int wait_for(struct ask *a)
{
	struct pollfd p = { .fd = -1, .events = POLLIN };
	uint64_t until = now_ns() + a->ns, now;
	struct stat st;
	int err = 0;

	if (a->wish.target.type == GPROF_PROCESS)
		p.fd = (int)syscall(SYS_pidfd_open, a->wish.target.id, 0);
	while (!err && (now = now_ns()) < until) {
		uint64_t left = until - now;

		if (poll(&p, 1, (int)(((left < TICK_NS ? left : TICK_NS) + 999999) / 1000000)) > 0)
			break;
		if (gone(a))
			err = -ECONNABORTED;
		if (a->wish.kind == GPROF_WISH_TRACE && !fstat(a->trace, &st) &&
		    (uint64_t)st.st_size > a->h->cfg.max_bytes) {
			snprintf(a->note, sizeof(a->note), "the trace ends early: it has more than %"
				 PRIu64 " MiB", a->h->cfg.max_bytes >> 20);
			break;
		}
	}
	if (p.fd >= 0)
		close(p.fd);
	return err;
}

static int record(struct ask *a)
{
	struct gprof_recording rec;
	char title[64];
	int err = gprof_recording_begin(&rec, &a->wish, a->trace);

	if (err)
		return err;
	err = wait_for(a);
	if (err) {
		gprof_recording_drop(&rec);
		return err;
	}
	snprintf(title, sizeof(title), "%s profile", a->page->name);
	return gprof_recording_end(&rec, a->trace, a->debug ? title : NULL);
}

/* A trace in a file that nobody else sees, and a profile of that. */
static int view(struct ask *a)
{
	char why[sizeof(a->e.text)] = "";
	struct gprof_own_fd trace;
	int fd = open_body(true), err;

	if (fd < 0)
		return gprof_error_set(&a->e, errno, "no file for a trace (%s)",
				       gprof_strerror(errno));
	gprof_own_fd_take(&trace, fd);
	a->trace = trace.fd;
	err = record(a);
	if (!err)
		err = gprof_own_fd_check(&trace, "the trace", &a->e);
	if (!err && lseek(a->trace, 0, SEEK_SET))
		err = -errno;
	if (!err) {
		err = a->view->make(a->view->ctx, a->rq, a->trace, a->fd, why, sizeof(why));
		if (err)
			gprof_error_set(&a->e, -err, "%s", why[0] ? why : gprof_strerror(-err));
	}
	gprof_own_fd_close(&trace);
	return err;
}

static int fly(struct ask *a)
{
	struct gprof_flight_snapshot snap = { .sz = sizeof(snap) };

	if (!a->h->cfg.flight)
		return gprof_error_set(&a->e, ESRCH, "no flight recorder runs here: gprofctl serve "
				       "--flight starts one");
	if (a->wish.chosen)
		return gprof_error_set(&a->e, EINVAL, "%s= says whom to record, but the flight recorder "
				       "has its target already", a->wish.chosen);
	return gprof_flight_snapshot(a->h->cfg.flight, a->fd, &snap);
}

/* What failed below has left its sentence with the thread. */
static int with_sentence(struct ask *a, int err)
{
	if (err && err != -ECONNABORTED && !a->e.text[0])
		snprintf(a->e.text, sizeof(a->e.text), "%s",
			 gprof_error()[0] ? gprof_error() : gprof_strerror(-err));
	return err;
}

static int make(struct ask *a)
{
	char value[16];
	int flight = 0;

	if (a->wish.kind == GPROF_WISH_TRACE && !a->view) {
		flight = value_of(a, "flight", value, sizeof(value));
		if (flight > 0)
			flight = strcmp(value, "0") != 0;
	}
	if (flight < 0)
		return flight;
	if (flight)
		return with_sentence(a, fly(a));
	if (a->wish.kind == GPROF_WISH_TASK)
		return with_sentence(a, gprof_wish_snapshot(&a->wish, a->fd, a->debug));
	return with_sentence(a, a->view ? view(a) : record(a));
}

/* As many at once as are allowed, and no more. */
static int take_turn(struct ask *a)
{
	int err;

	if (atomic_fetch_add(&a->h->busy, 1) >= a->h->cfg.max_recordings) {
		atomic_fetch_sub(&a->h->busy, 1);
		gprof_error_set(&a->e, EBUSY, "%u recordings are under way, which is all that are allowed "
				"at once; come back later", a->h->cfg.max_recordings);
		return refuse(a, 503, -EBUSY);
	}
	err = make(a);
	atomic_fetch_sub(&a->h->busy, 1);
	/* No module is not a page that there is not. */
	if (err == -ENOENT && access(GPROF_DEVICE, F_OK))
		return refuse(a, 503, err);
	return err ? refuse(a, status_of(err), err) : 0;
}

/* ---- answers ---- */

static int answer(struct ask *a)
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
	if (a->status == 503)
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
 * A sentence as the whole body, in place of what there is. It may have words of the request,
 * which are not to break its line, or a terminal.
 */
static int answer_sentence(struct ask *a)
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

static int put_index(struct ask *a)
{
	int copy = fcntl(a->fd, F_DUPFD_CLOEXEC, 0);
	FILE *f = copy < 0 ? NULL : fdopen(copy, "w");

	if (!f) {
		if (copy >= 0)
			close(copy);
		return refuse(a, 503, gprof_error_set(&a->e, errno, "the page cannot be made (%s)",
						      gprof_strerror(errno)));
	}
	gprof_http_index(f, &a->h->cfg);
	a->type = TYPE_HTML;
	if (fclose(f))
		return refuse(a, 500, gprof_error_set(&a->e, errno, "the page cannot be made (%s)",
						      gprof_strerror(errno)));
	return 0;
}

static int put_cmdline(struct ask *a)
{
	const struct gprof_target *t = &a->wish.target;
	int err;

	a->type = TYPE_TEXT;
	err = gprof_http_cmdline(a->fd, t->type == GPROF_PROCESS || t->type == GPROF_THREAD ? t->id : 0,
				 &a->e);
	return err ? refuse(a, status_of(err), err) : 0;
}

static const struct gprof_http_page *find_page(struct ask *a, const char *name)
{
	const struct gprof_http_config *cfg = &a->h->cfg;
	size_t i;

	for (i = 0; i < cfg->nr_views; i++) {
		if (strcmp(cfg->views[i].name, name))
			continue;
		a->view = &cfg->views[i];
		a->wish.trace = a->view->trace;
		a->view_page = gprof_http_view_page(a->view);
		return &a->view_page;
	}
	return gprof_http_page_find(name);
}

static int handle(struct ask *a)
{
	size_t prefix = strlen(GPROF_HTTP_PREFIX);
	const char *path = a->rq->path;
	int err;

	if (strcmp(a->rq->method, "GET")) {
		gprof_error_set(&a->e, EINVAL, "profiles are here to be read: GET is all there is");
		return refuse(a, 405, -EINVAL);
	}
	if (!strncmp(path, GPROF_HTTP_PREFIX, prefix - 1) && !path[prefix - 1]) {
		a->location = GPROF_HTTP_PREFIX;
		a->status = 301;
		a->type = TYPE_TEXT;
		return 0;
	}
	if (!strcmp(path, GPROF_HTTP_PREFIX))
		return put_index(a);
	a->page = strncmp(path, GPROF_HTTP_PREFIX, prefix) ? NULL : find_page(a, path + prefix);
	if (!a->page) {
		gprof_error_set(&a->e, ENOENT, "there is no such profile; " GPROF_HTTP_PREFIX
				" lists those that there are");
		return refuse(a, 404, -ENOENT);
	}
	err = understand(a);
	if (err)
		return err;
	if (!a->page->wish)
		return put_cmdline(a);
	err = take_turn(a);
	if (err)
		return err;
	if (a->debug) {
		a->type = TYPE_TEXT;
		return 0;
	}
	a->type = TYPE_BINARY;
	snprintf(a->file, sizeof(a->file), "%s%s", a->page->name,
		 a->page->delta && a->seconds ? "-delta" : "");
	return 0;
}

int gprof_http_handler(struct gprof_http *h, const struct gprof_http_request *request)
{
	struct gprof_http_request rq = { 0 };
	struct gprof_error e = { 0 };
	struct ask *a;
	int err;

	err = gprof_opts_take(&rq, sizeof(rq), GPROF_SIZE_WITH(struct gprof_http_request, ctx), request,
			      "gprof_http_request", &e);
	if (err)
		return err;
	if (!rq.method || !rq.path || !rq.answer)
		return gprof_error_set(NULL, EINVAL, "a request has a method, a path, and somebody for "
				       "the answer");
	a = calloc(1, sizeof(*a));
	if (!a)
		return gprof_error_set(NULL, ENOMEM, "no memory for a request");
	a->h = h;
	a->rq = &rq;
	a->status = 200;
	a->fd = open_body(strstr(rq.path, "trace"));
	a->trace = a->fd;
	if (a->fd < 0) {
		err = gprof_error_set(NULL, errno, "no file for an answer (%s)", gprof_strerror(errno));
		free(a);
		return err;
	}
	gprof_own_fd_take(&a->body, a->fd);
	a->fd = a->trace = a->body.fd;
	err = handle(a);
	if (err == -ECONNABORTED)
		gprof_error_set(NULL, ECONNABORTED, "the client went away; its recording was ended");
	else
		err = err ? answer_sentence(a) : answer(a);
	gprof_own_fd_close(&a->body);
	free(a);
	return err;
}
