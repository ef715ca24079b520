// SPDX-License-Identifier: GPL-2.0-only
/*
 * A thread for each connection, of which there are few: a recording may take long, and holds up
 * only its own client.
 *
 * The main thread opens and closes; all between is the threads'. Pages of the table are made
 * by one at a time, whole in memory; profiles come in a file.
 */
#include "http_server.h"

#include <errno.h>
#include <fcntl.h>
#include <gprof/http.h>
#include <microhttpd.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "access.h"
#include "certificate.h"
#include "cli/cmd.h"
#include "cli/diag.h"
#include "cli/text.h"
#include "http_body.h"
#include "http_gate.h"
#include "http_guard.h"
#include "http_listen.h"
#include "http_query.h"

/* A scraper asks for one page at a time; many clients at once are a mistake. */
#define CONNECTION_BYTES	(32 * 1024)
#define QUERY_MAX		4096
/* Of silence; and for all of a request, however it trickles. */
#define IDLE_SECONDS		10
/* Until there is an answer, unless it is recorded. */
#define ANSWER_SECONDS		30

#define TYPE_TEXT		"text/plain; charset=utf-8"
#define TYPE_HTML		"text/html; charset=utf-8"

/* Held by the thread that makes a page of a table, one in all servers. */
static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;

/**
 * struct http_server - a server
 * @socket: that listens
 * @path: of it in the file system, or NULL
 * @dev: of the socket file
 * @ino: likewise
 * @daemon: libmicrohttpd's, NULL until it is started
 * @routes: table
 * @ctx: for its functions
 * @gate: conditions for clients
 * @tls: it is encrypted
 * @profiles: or NULL
 * @guard: admits clients, and hangs up slow ones
 * @closing: recordings give up
 * @url: where it is
 * @local: a loopback address, or a path
 */
struct http_server {
	int socket;
	char *path;
	dev_t dev;
	ino_t ino;
	struct MHD_Daemon *daemon;
	const struct http_route *routes;
	void *ctx;
	struct http_gate gate;
	bool tls;
	struct gprof_http *profiles;
	struct http_guard guard;
	atomic_bool closing;
	char *url;
	bool local;
};

/**
 * struct page - an answer in the making
 * @status: of HTTP
 * @type: of its content
 * @profile: go tool pprof asks, and shows the text that is marked for it
 * @trusted: the client has opened the socket, or has a password or token
 * @text: content, from a memory stream
 * @size: of it
 */
struct page {
	unsigned int status;
	const char *type;
	bool profile;
	bool trusted;
	char *text;
	size_t size;
};

/* ---- connections ---- */

static struct http_connection *client_of(struct MHD_Connection *c)
{
	const union MHD_ConnectionInfo *info =
		MHD_get_connection_info(c, MHD_CONNECTION_INFO_SOCKET_CONTEXT);

	return info ? info->socket_context : NULL;
}

static int socket_of(struct MHD_Connection *c)
{
	const union MHD_ConnectionInfo *info =
		MHD_get_connection_info(c, MHD_CONNECTION_INFO_CONNECTION_FD);

	return info ? info->connect_fd : -1;
}

/* Without memory for the client's record it is unknown. */
static struct http_peer peer_of(struct MHD_Connection *c)
{
	const struct http_connection *client = client_of(c);

	return client ? client->peer : (struct http_peer){ .id = 1, .uid = HTTP_UID_UNKNOWN };
}

/* Before the handshake: the certificate may have been read again since the start. */
static void choose_tls(struct http_server *h, struct MHD_Connection *c)
{
	const union MHD_ConnectionInfo *info =
		MHD_get_connection_info(c, MHD_CONNECTION_INFO_GNUTLS_SESSION);

	if (!info || !info->tls_session ||
	    !certificate_versions(info->tls_session, access_tls13(h->gate.access)))
		shutdown(socket_of(c), SHUT_RDWR);
}

static void on_connection(void *cls, struct MHD_Connection *c, void **context,
			  enum MHD_ConnectionNotificationCode code)
{
	struct http_server *h = cls;

	if (code == MHD_CONNECTION_NOTIFY_STARTED) {
		if (h->tls)
			choose_tls(h, c);
		*context = http_guard_add(&h->guard, socket_of(c));
		http_guard_next(&h->guard, *context, IDLE_SECONDS);
	} else if (*context) {
		http_guard_remove(&h->guard, *context);
		*context = NULL;
	}
}

/* The next request of the connection has its time, too. */
static void on_completed(void *cls, struct MHD_Connection *c, void **state,
			 enum MHD_RequestTerminationCode code)
{
	struct http_server *h = cls;

	(void)state;
	if (code == MHD_REQUEST_TERMINATED_TIMEOUT_REACHED)
		http_guard_tired(&h->guard, client_of(c));
	http_guard_next(&h->guard, client_of(c), IDLE_SECONDS);
}

static enum MHD_Result queue(struct http_server *h, struct MHD_Connection *c, unsigned int status,
			     struct MHD_Response *r)
{
	http_guard_answered(&h->guard, client_of(c));
	return MHD_queue_response(c, status, r);
}

/* ---- pages of the table ---- */

static enum MHD_Result send_page(struct http_server *h, struct MHD_Connection *c, struct page *p)
{
	struct MHD_Response *r;
	enum MHD_Result ret = MHD_NO;

	r = http_body_text(&h->guard, client_of(c), p->text, p->size);
	if (!r)
		return MHD_NO;
	/* Pages are of now, and a browser shall not guess their type. */
	if (MHD_add_response_header(r, "Content-Type", p->type) &&
	    MHD_add_response_header(r, "Cache-Control", "no-store") &&
	    MHD_add_response_header(r, "X-Content-Type-Options", "nosniff") &&
	    (!p->profile || MHD_add_response_header(r, "X-Go-Pprof", "1")) &&
	    (p->status != MHD_HTTP_UNAUTHORIZED ||
	     MHD_add_response_header(r, "WWW-Authenticate", "Basic realm=\"gprof\"")) &&
	    (p->status != MHD_HTTP_METHOD_NOT_ALLOWED ||
	     MHD_add_response_header(r, "Allow", "GET, HEAD")))
		ret = queue(h, c, p->status, r);
	MHD_destroy_response(r);
	return ret;
}

static void put_index(const struct http_server *h, FILE *f)
{
	fputs("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
	      "<meta name=\"viewport\" content=\"width=device-width\">\n<title>gprof</title>\n"
	      "<style>\nbody { font: 16px/1.5 sans-serif; margin: 2em auto; max-width: 45em; "
	      "padding: 0 1em; color: #222 }\ndt { font-family: monospace; font-size: 110% }\n"
	      "dd { margin: 0 0 1em 0 }\na { color: #0550ae }\n"
	      "@media (prefers-color-scheme: dark) {\nbody { background: #16181c; color: #ddd }\n"
	      "a { color: #79b8ff } }\n</style>\n</head>\n<body>\n<h1>gprof</h1>\n"
	      "<p>What <code>gprofctl serve</code> shows of this machine:</p>\n<dl>\n", f);
	for (const struct http_route *r = h->routes; r->path; r++) {
		fputs("<dt><a href=\"", f);
		text_xml(f, r->path, SIZE_MAX);
		fputs("\">", f);
		text_xml(f, r->path, SIZE_MAX);
		fputs("</a></dt>\n<dd>", f);
		text_xml(f, r->title, SIZE_MAX);
		fputs("</dd>\n", f);
	}
	if (h->profiles)
		fputs("<dt><a href=\"/debug/pprof/\">/debug/pprof/</a></dt>\n"
		      "<dd>profiles and traces, recorded when asked for</dd>\n", f);
	fputs("</dl>\n</body>\n</html>\n", f);
}

static const struct http_route *find(const struct http_server *h, const char *path)
{
	for (const struct http_route *r = h->routes; r->path; r++)
		if (!strcmp(r->path, path))
			return r;
	return NULL;
}

/* Fills the page; returns a sentence when it cannot. */
static const char *make_page(struct http_server *h, struct MHD_Connection *c, const char *path,
			     FILE *body, struct page *p)
{
	const struct http_route *route = find(h, path);
	struct http_request rq = {
		.body = body,
		.trusted = p->trusted,
		.uid = peer_of(c).uid,
	};
	const char *why;

	if (!route && !strcmp(path, "/")) {
		p->type = TYPE_HTML;
		put_index(h, body);
		return NULL;
	}
	if (!route) {
		p->status = MHD_HTTP_NOT_FOUND;
		return "there is no such page; / lists those that there are";
	}
	rq.type = route->type;
	rq.accept = MHD_lookup_connection_value(c, MHD_HEADER_KIND, "Accept");
	if (!rq.accept)
		rq.accept = "";
	pthread_mutex_lock(&turn);
	why = route->answer(h->ctx, &rq);
	pthread_mutex_unlock(&turn);
	p->type = rq.type;
	if (why)
		p->status = MHD_HTTP_SERVICE_UNAVAILABLE;
	return why;
}

/* A sentence as the whole page, in place of the output so far. */
static FILE *start_over(FILE *body, struct page *p)
{
	fclose(body);
	free(p->text);
	p->text = NULL;
	return open_memstream(&p->text, &p->size);
}

static enum MHD_Result answer_page(struct http_server *h, struct MHD_Connection *c,
				   const char *path, struct page *p, const char *why)
{
	FILE *body = open_memstream(&p->text, &p->size);
	bool bad;

	if (!body)
		return MHD_NO;
	if (!why)
		why = make_page(h, c, path, body, p);
	if (why) {
		p->type = TYPE_TEXT;
		body = start_over(body, p);
		if (!body)
			return MHD_NO;
		fprintf(body, "%s\n", why);
	}
	/* Without memory for all of it there is no answer rather than half of one. */
	bad = ferror(body);
	if (fclose(body) || bad) {
		free(p->text);
		return MHD_NO;
	}
	return send_page(h, c, p);
}

/* ---- profiles ---- */

/**
 * struct visit - the client of a profile
 * @h: server
 * @c: connection
 * @queued: an answer is on its way
 * @query: as it was sent
 */
struct visit {
	struct http_server *h;
	struct MHD_Connection *c;
	bool queued;
	char query[QUERY_MAX];
};

static bool is_gone(void *ctx)
{
	struct visit *v = ctx;
	struct pollfd p = { .fd = socket_of(v->c), .events = POLLRDHUP };

	return v->h->closing || (poll(&p, 1, 0) > 0 && p.revents & (POLLRDHUP | POLLHUP | POLLERR));
}

static int send_profile(void *ctx, const struct gprof_http_answer *a)
{
	struct visit *v = ctx;
	int fd = fcntl(a->fd, F_DUPFD_CLOEXEC, 0);
	struct MHD_Response *r = fd < 0 ? NULL :
		http_body_file(&v->h->guard, client_of(v->c), fd, a->length);
	bool ok = r;

	if (!r)
		return -ENOMEM;
	for (size_t i = 0; ok && i < a->nr_headers; i++)
		ok = MHD_add_response_header(r, a->headers[i].name, a->headers[i].value);
	ok = ok && MHD_add_response_header(r, "Cache-Control", "no-store");
	v->queued = ok && queue(v->h, v->c, a->status, r);
	MHD_destroy_response(r);
	return v->queued ? 0 : -ENOMEM;
}

static enum MHD_Result answer_profile(struct http_server *h, struct MHD_Connection *c,
				      const char *method, const char *path)
{
	struct visit v = { .h = h, .c = c };
	struct page p = { .status = MHD_HTTP_URI_TOO_LONG, .profile = true };
	const struct gprof_http_request rq = {
		.sz = sizeof(rq),
		.method = method,
		.path = path,
		.query = v.query,
		.gone = is_gone,
		.answer = send_profile,
		.ctx = &v,
		.peer = peer_of(c).id,
	};
	enum MHD_Result ret;

	if (!http_query_text(c, v.query, sizeof(v.query)))
		return answer_page(h, c, path, &p, "the query is too long");
	/* A recording is no silence. */
	http_guard_request(&h->guard, client_of(c), 0);
	MHD_set_connection_option(c, MHD_CONNECTION_OPTION_TIMEOUT, 0U);
	gprof_http_handler(h->profiles, &rq);
	ret = v.queued ? MHD_YES : MHD_NO;
	MHD_set_connection_option(c, MHD_CONNECTION_OPTION_TIMEOUT, (unsigned int)IDLE_SECONDS);
	return ret;
}

/* ---- requests ---- */

static enum MHD_Result answer(void *cls, struct MHD_Connection *c, const char *url,
			      const char *method, const char *version, const char *upload,
			      size_t *upload_size, void **state)
{
	struct page p = { .status = MHD_HTTP_OK, .type = TYPE_TEXT };
	struct http_visitor v = { .fd = socket_of(c), .peer = peer_of(c) };
	struct http_server *h = cls;
	const char *why;

	(void)version;
	(void)upload;
	(void)upload_size;
	(void)state;
	/* From here on it is for us that it waits: for its turn, or for its password. */
	http_guard_request(&h->guard, client_of(c), ANSWER_SECONDS);
	p.profile = h->profiles && !strncmp(url, GPROF_HTTP_PREFIX, strlen(GPROF_HTTP_PREFIX) - 1);
	v.profile = p.profile;
	why = http_gate_refuse(&h->gate, c, &v);
	p.trusted = v.trusted;
	if (why)
		p.status = v.status;
	if (!why && p.profile)
		return answer_profile(h, c, method, url);
	if (!why && strcmp(method, "GET") && strcmp(method, "HEAD")) {
		p.status = MHD_HTTP_METHOD_NOT_ALLOWED;
		why = "pages are here to be read: GET and HEAD are all there is";
	}
	return answer_page(h, c, url, &p, why);
}

/* A path with a NUL in it is not the path up to there; no route is "". */
static size_t unescape(void *cls, struct MHD_Connection *c, char *s)
{
	size_t n = MHD_http_unescape(s);

	(void)cls;
	(void)c;
	if (strlen(s) == n)
		return n;
	*s = '\0';
	return 0;
}

static struct http_server *new (int fd)
{
	struct http_server *h = xalloc(1, sizeof(*h));

	h->socket = fd;
		return h;
}

struct http_server *http_listen(const char *address, int *status)
{
	struct http_server *h;
	int fd = http_listen_at(address, status);

	if (fd < 0)
		return NULL;
	h = new(fd);
	h->url = http_socket_url(fd, false, &h->local);
	if (h->url)
		return h;
	*status = fail("%s: %s", address, strerror(errno));
	http_close(h);
	return NULL;
}

struct http_server *http_listen_socket(const char *path, unsigned int mode, int *status)
{
	int fd = http_listen_path(path, mode, status);
	struct http_server *h;
	struct stat st;

	if (fd < 0)
		return NULL;
	h = new(fd);
	h->path = xprintf("%s", path);
	h->gate.socket = true;
	if (!lstat(path, &st)) {
		h->dev = st.st_dev;
		h->ino = st.st_ino;
	}
	h->url = xprintf("unix:%s", path);
	h->local = true;
	return h;
}

void http_protect(struct http_server *h, struct access *access)
{
	h->gate.access = access;
	if (!access_tls(access) || h->path)
		return;
	free(h->url);
	h->url = http_socket_url(h->socket, true, &h->local);
}

void http_answer_to(struct http_server *h, const struct http_hosts *hosts)
{
	h->gate.hosts = hosts;
}

void http_serve_profiles(struct http_server *h, struct gprof_http *profiles)
{
	h->profiles = profiles;
}

/* The descriptor is libmicrohttpd's in any case. */
static int admit(void *ctx, int fd)
{
	struct http_server *h = ctx;
	struct sockaddr_storage from = { 0 };
	socklen_t size = sizeof(from);

	getpeername(fd, (struct sockaddr *)&from, &size);
	return MHD_add_connection(h->daemon, fd, (struct sockaddr *)&from, size) == MHD_YES ? 0 :
											      -1;
}

int http_start(struct http_server *h, const struct http_route *routes, void *ctx)
{
	bool tls = !h->path && access_tls(h->gate.access);
	const struct MHD_OptionItem encrypted[] = {
		{ MHD_OPTION_HTTPS_CERT_CALLBACK, 0, certificate_callback() },
		{ MHD_OPTION_HTTPS_PRIORITIES, 0, (void *)CERTIFICATE_TLS },
		{ MHD_OPTION_END, 0, NULL },
	}, plain[] = { { MHD_OPTION_END, 0, NULL } };
	int err;

	h->tls = tls;
	h->routes = routes;
	h->ctx = ctx;
	h->daemon = MHD_start_daemon(
		MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_THREAD_PER_CONNECTION | MHD_USE_POLL |
			MHD_USE_NO_LISTEN_SOCKET | MHD_USE_ITC | (tls ? MHD_USE_TLS : 0),
		0, NULL, NULL, answer, h, MHD_OPTION_CONNECTION_LIMIT, 2 * HTTP_CLIENTS_MAX,
		MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)CONNECTION_BYTES,
		MHD_OPTION_CONNECTION_TIMEOUT, IDLE_SECONDS, MHD_OPTION_UNESCAPE_CALLBACK, unescape,
		NULL, MHD_OPTION_STRICT_FOR_CLIENT, 1, MHD_OPTION_NOTIFY_CONNECTION, on_connection,
		h, MHD_OPTION_NOTIFY_COMPLETED, on_completed, h, MHD_OPTION_ARRAY,
		tls ? encrypted : plain, MHD_OPTION_END);
	if (!h->daemon)
		return fail("%s: the web server cannot be started: %s", h->url, strerror(errno));
	h->guard.socket = h->socket;
	h->guard.tls = tls;
	h->guard.admit = admit;
	h->guard.ctx = h;
	err = http_guard_begin(&h->guard);
	return err ? fail("%s: no thread for the web server: %s", h->url, strerror(-err)) : STATUS_OK;
}

const char *http_url(const struct http_server *h)
{
	return h->url;
}

bool http_is_local(const struct http_server *h)
{
	return h->local;
}

/* Something else may have taken its place. */
static bool is_ours(const struct http_server *h)
{
	struct stat st;

	return !lstat(h->path, &st) && st.st_dev == h->dev && st.st_ino == h->ino;
}

void http_close(struct http_server *h)
{
	if (!h)
		return;
	h->closing = true;
	http_guard_end(&h->guard);
	if (h->daemon)
		MHD_stop_daemon(h->daemon);
	if (h->socket >= 0)
		close(h->socket);
	if (h->path && is_ours(h))
		unlink(h->path);
	free(h->path);
	free(h->url);
	free(h);
}
