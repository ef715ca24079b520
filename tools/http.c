// SPDX-License-Identifier: GPL-2.0-only
/*
 * One thread, which never waits for a client: an answer is made whole in memory
 * and written as the client takes it.
 *
 * The main thread opens and closes; all between is the server's thread alone.
 */
#include "http.h"

#include <arpa/inet.h>
#include <errno.h>
#include <microhttpd.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "cmd.h"
#include "say.h"
#include "text.h"

/* A scraper asks for one page at a time; many clients at once are a mistake. */
#define CONNECTIONS_MAX		64
#define CONNECTION_BYTES	(32 * 1024)
#define IDLE_SECONDS		10

#define TYPE_TEXT		"text/plain; charset=utf-8"
#define TYPE_HTML		"text/html; charset=utf-8"

/**
 * struct http - a server
 * @socket: that listens, -1 once it is the daemon's
 * @daemon: libmicrohttpd's, NULL until it is started
 * @routes: table
 * @ctx: for its functions
 * @url: where it is
 * @local: a loopback address
 */
struct http {
	int socket;
	struct MHD_Daemon *daemon;
	const struct http_route *routes;
	void *ctx;
	char *url;
	bool local;
};

/**
 * struct page - an answer in the making
 * @status: of HTTP
 * @type: of its content
 * @text: content, from a memory stream
 * @size: of it
 */
struct page {
	unsigned int status;
	const char *type;
	char *text;
	size_t size;
};

static enum MHD_Result send_page(struct MHD_Connection *c, struct page *p)
{
	struct MHD_Response *r;
	enum MHD_Result ret = MHD_NO;

	r = MHD_create_response_from_buffer(p->size, p->text, MHD_RESPMEM_MUST_FREE);
	if (!r) {
		free(p->text);
		return MHD_NO;
	}
	/* What is shown is of now, and a browser shall not guess what it is. */
	if (MHD_add_response_header(r, "Content-Type", p->type) &&
	    MHD_add_response_header(r, "Cache-Control", "no-store") &&
	    MHD_add_response_header(r, "X-Content-Type-Options", "nosniff") &&
	    (p->status != MHD_HTTP_METHOD_NOT_ALLOWED ||
	     MHD_add_response_header(r, "Allow", "GET, HEAD")))
		ret = MHD_queue_response(c, p->status, r);
	MHD_destroy_response(r);
	return ret;
}

static void put_index(const struct http *h, FILE *f)
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
	fputs("</dl>\n</body>\n</html>\n", f);
}

static const struct http_route *find(const struct http *h, const char *path)
{
	for (const struct http_route *r = h->routes; r->path; r++)
		if (!strcmp(r->path, path))
			return r;
	return NULL;
}

/* Fills the page; returns a sentence when it cannot. */
static const char *make_page(struct http *h, struct MHD_Connection *c, const char *path,
			     FILE *body, struct page *p)
{
	const struct http_route *route = find(h, path);
	struct http_request rq = { .body = body };
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
	why = route->answer(h->ctx, &rq);
	p->type = rq.type;
	if (why)
		p->status = MHD_HTTP_SERVICE_UNAVAILABLE;
	return why;
}

/* A sentence as the whole page, in place of what was written so far. */
static FILE *start_over(FILE *body, struct page *p)
{
	fclose(body);
	free(p->text);
	p->text = NULL;
	return open_memstream(&p->text, &p->size);
}

static enum MHD_Result answer(void *cls, struct MHD_Connection *c, const char *url,
			      const char *method, const char *version, const char *upload,
			      size_t *upload_size, void **state)
{
	struct page p = { .status = MHD_HTTP_OK, .type = TYPE_TEXT };
	const char *why = NULL;
	FILE *body;
	bool bad;

	(void)version;
	(void)upload;
	(void)upload_size;
	(void)state;
	body = open_memstream(&p.text, &p.size);
	if (!body)
		return MHD_NO;
	if (strcmp(method, "GET") && strcmp(method, "HEAD")) {
		p.status = MHD_HTTP_METHOD_NOT_ALLOWED;
		why = "pages are here to be read: GET and HEAD are all there is";
	} else {
		why = make_page(cls, c, url, body, &p);
	}
	if (why) {
		p.type = TYPE_TEXT;
		body = start_over(body, &p);
		if (!body)
			return MHD_NO;
		fprintf(body, "%s\n", why);
	}
	/* Without memory for all of it there is no answer rather than half of one. */
	bad = ferror(body);
	if (fclose(body) || bad) {
		free(p.text);
		return MHD_NO;
	}
	return send_page(c, &p);
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

/* Cuts "ADDR:PORT" in two; false when it is neither that nor a port. */
static bool split(char *text, const char **host, const char **port)
{
	char *colon = strrchr(text, ':'), *end;

	*host = "127.0.0.1";
	*port = text;
	if (colon) {
		*colon = '\0';
		*port = colon + 1;
		*host = text;
		if (*text == '[') {
			end = strchr(text, ']');
			if (!end || end[1])
				return false;
			*end = '\0';
			*host = text + 1;
		} else if (strchr(text, ':')) {
			/* An IPv6 address without brackets: where does the port begin? */
			return false;
		}
	}
	return **host && **port && strspn(*port, "0123456789") == strlen(*port) &&
	       strlen(*port) <= 5 && atoi(*port) <= 65535;
}

static int refuse(const char *address, int error, int *status)
{
	*status = STATUS_FAILED;
	switch (error) {
	case EADDRINUSE:
		say("%s: another program listens there already; choose another port, or 0 for any "
		    "that is free", address);
		break;
	case EADDRNOTAVAIL:
		say("%s: this machine has no such address; 127.0.0.1 is this machine alone, "
		    "0.0.0.0 all its addresses", address);
		break;
	case EACCES:
	case EPERM:
		say("%s: no permission to listen there; ports below 1024 need root", address);
		break;
	default:
		say("%s: cannot listen there: %s", address, strerror(error));
	}
	return -1;
}

static int listen_at(const char *address, int *status)
{
	const struct addrinfo hints = { .ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICSERV };
	struct addrinfo *list = NULL;
	const char *host, *port;
	char *text = xprintf("%s", address);
	int fd = -1, one = 1, error;

	*status = STATUS_USAGE;
	if (!split(text, &host, &port)) {
		say("\"%s\" is no address to listen at; give ADDR:PORT such as 127.0.0.1:9747, "
		    "[::1]:9747, or a port alone", address);
		goto out;
	}
	error = getaddrinfo(host, port, &hints, &list);
	if (error) {
		say("%s: no such address: %s", address, gai_strerror(error));
		goto out;
	}
	fd = socket(list->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0) {
		refuse(address, errno, status);
		goto out;
	}
	/* Connections of an earlier run that are being buried shall not be in the way. */
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (list->ai_family == AF_INET6)
		setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &one, sizeof(one));
	if (bind(fd, list->ai_addr, list->ai_addrlen) || listen(fd, CONNECTIONS_MAX)) {
		error = errno;
		close(fd);
		fd = refuse(address, error, status);
	}
out:
	if (list)
		freeaddrinfo(list);
	free(text);
	return fd;
}

/* With port 0 only the socket knows where it is. */
static bool name_socket(struct http *h)
{
	union {
		struct sockaddr any;
		struct sockaddr_in in;
		struct sockaddr_in6 in6;
	} a;
	socklen_t size = sizeof(a);
	char text[INET6_ADDRSTRLEN];

	if (getsockname(h->socket, &a.any, &size))
		return false;
	if (a.any.sa_family == AF_INET6) {
		h->local = IN6_IS_ADDR_LOOPBACK(&a.in6.sin6_addr);
		inet_ntop(AF_INET6, &a.in6.sin6_addr, text, sizeof(text));
		h->url = xprintf("http://[%s]:%u/", text, ntohs(a.in6.sin6_port));
	} else {
		h->local = ntohl(a.in.sin_addr.s_addr) >> 24 == IN_LOOPBACKNET;
		inet_ntop(AF_INET, &a.in.sin_addr, text, sizeof(text));
		h->url = xprintf("http://%s:%u/", text, ntohs(a.in.sin_port));
	}
	return true;
}

struct http *http_listen(const char *address, int *status)
{
	struct http *h;
	int fd = listen_at(address, status);

	if (fd < 0)
		return NULL;
	h = xalloc(1, sizeof(*h));
	h->socket = fd;
	if (name_socket(h))
		return h;
	*status = fail("%s: %s", address, strerror(errno));
	http_close(h);
	return NULL;
}

int http_start(struct http *h, const struct http_route *routes, void *ctx)
{
	h->routes = routes;
	h->ctx = ctx;
	h->daemon = MHD_start_daemon(MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_POLL, 0,
				     NULL, NULL, answer, h,
				     MHD_OPTION_LISTEN_SOCKET, h->socket,
				     MHD_OPTION_CONNECTION_LIMIT, CONNECTIONS_MAX,
				     MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)CONNECTION_BYTES,
				     MHD_OPTION_CONNECTION_TIMEOUT, IDLE_SECONDS,
				     MHD_OPTION_UNESCAPE_CALLBACK, unescape, NULL,
				     MHD_OPTION_STRICT_FOR_CLIENT, 1,
				     MHD_OPTION_END);
	if (!h->daemon)
		return fail("%s: the web server cannot be started: %s", h->url, strerror(errno));
	/* It closes the socket, too. */
	h->socket = -1;
	return STATUS_OK;
}

const char *http_url(const struct http *h)
{
	return h->url;
}

bool http_is_local(const struct http *h)
{
	return h->local;
}

void http_close(struct http *h)
{
	if (!h)
		return;
	if (h->daemon)
		MHD_stop_daemon(h->daemon);
	if (h->socket >= 0)
		close(h->socket);
	free(h->url);
	free(h);
}
