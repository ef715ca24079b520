// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * A program that shows its own profiles to who may open its socket:
 *
 *	cc serve_self.c $(pkg-config --cflags --libs libgprof libmicrohttpd) -o serve_self
 *	./serve_self /tmp/self.sock &
 *	curl --unix-socket /tmp/self.sock 'http://x/debug/pprof/profile?seconds=5' -o cpu.pb.gz
 *
 * It works, and ends, with its standard input. Which server it is, is of no account to the
 * library: this one is libmicrohttpd, with a thread for each connection.
 */
#define _GNU_SOURCE	/* POLLRDHUP */
#include <errno.h>
#include <fcntl.h>
#include <gprof/http.h>
#include <microhttpd.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

/* A request, and its query put together again. */
struct visit {
	struct MHD_Connection *connection;
	int queued;
	int unfit;
	char query[1024];
};

static enum MHD_Result add_argument(void *ctx, enum MHD_ValueKind kind, const char *key,
				    const char *value)
{
	struct visit *v = ctx;
	size_t n = strlen(v->query);

	(void)kind;
	if (!value)
		value = "";
	/* Those of profiles have nothing to escape. What has is refused, rather than left out. */
	if (strpbrk(key, "&%+=") || strpbrk(value, "&%+") ||
	    n + strlen(key) + strlen(value) + 3 > sizeof(v->query))
		v->unfit = 1;
	else
		sprintf(v->query + n, "%s%s=%s", n ? "&" : "", key, value);
	return MHD_YES;
}

static bool is_gone(void *ctx)
{
	const struct visit *v = ctx;
	const union MHD_ConnectionInfo *info =
		MHD_get_connection_info(v->connection, MHD_CONNECTION_INFO_CONNECTION_FD);
	struct pollfd p = { .fd = info->connect_fd, .events = POLLRDHUP };

	return poll(&p, 1, 0) > 0;
}

static int send_answer(void *ctx, const struct gprof_http_answer *a)
{
	struct visit *v = ctx;
	int fd = fcntl(a->fd, F_DUPFD_CLOEXEC, 0);
	struct MHD_Response *r = fd < 0 ? NULL : MHD_create_response_from_fd(a->length, fd);

	if (!r) {
		if (fd >= 0)
			close(fd);
		return -ENOMEM;
	}
	for (size_t i = 0; i < a->nr_headers; i++)
		MHD_add_response_header(r, a->headers[i].name, a->headers[i].value);
	v->queued = MHD_queue_response(v->connection, a->status, r) == MHD_YES;
	MHD_destroy_response(r);
	return 0;
}

static void refuse(struct visit *v)
{
	static char text[] = "an argument is too long, or has one of & % + in it\n";
	struct MHD_Response *r =
		MHD_create_response_from_buffer(sizeof(text) - 1, text, MHD_RESPMEM_PERSISTENT);

	if (!r)
		return;
	v->queued = MHD_queue_response(v->connection, MHD_HTTP_BAD_REQUEST, r) == MHD_YES;
	MHD_destroy_response(r);
}

static enum MHD_Result answer(void *ctx, struct MHD_Connection *connection, const char *path,
			      const char *method, const char *version, const char *upload,
			      size_t *upload_size, void **state)
{
	struct visit v = { .connection = connection };
	const struct gprof_http_request rq = {
		.sz = sizeof(rq), .method = method, .path = path, .query = v.query,
		.gone = is_gone, .answer = send_answer, .ctx = &v,
	};

	(void)version;
	(void)upload;
	(void)upload_size;
	(void)state;
	MHD_get_connection_values(connection, MHD_GET_ARGUMENT_KIND, add_argument, &v);
	if (v.unfit)
		refuse(&v);
	else
		gprof_http_handler(ctx, &rq);
	return v.queued ? MHD_YES : MHD_NO;
}

static int listen_at(const char *path)
{
	struct sockaddr_un un = { .sun_family = AF_UNIX };
	int fd, failed;
	mode_t mask;

	if (strlen(path) >= sizeof(un.sun_path)) {
		errno = ENAMETOOLONG;
		return -1;
	}
	strcpy(un.sun_path, path);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -1;
	/* The user's alone from the first moment on. No other thread makes files yet. */
	mask = umask(0177);
	failed = bind(fd, (struct sockaddr *)&un, sizeof(un));
	umask(mask);
	if (!failed && !listen(fd, 16))
		return fd;
	failed = errno;
	close(fd);
	errno = failed;
	return -1;
}

static unsigned int count_primes(unsigned int below)
{
	unsigned int nr = 0;

	for (unsigned int n = 2; n < below; n++) {
		unsigned int d = 2;

		while (d * d <= n && n % d)
			d++;
		nr += d * d > n;
	}
	return nr;
}

int main(int argc, char **argv)
{
	const char *path = argc > 1 ? argv[1] : "serve_self.sock";
	const struct gprof_http_config cfg = {
		.sz = sizeof(cfg), .target = { .type = GPROF_SELF }, .only = true,
	};
	struct gprof_http *h = gprof_http_new(&cfg);
	struct pollfd in = { .fd = STDIN_FILENO, .events = POLLIN };
	struct MHD_Daemon *daemon;
	int fd = listen_at(path);

	if (!h || fd < 0) {
		fprintf(stderr, "not serving: %s\n", h ? strerror(errno) : gprof_error());
		return 1;
	}
	daemon = MHD_start_daemon(MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_THREAD_PER_CONNECTION |
				  MHD_USE_POLL, 0, NULL, NULL, answer, h,
				  MHD_OPTION_LISTEN_SOCKET, fd, MHD_OPTION_CONNECTION_LIMIT, 32,
				  MHD_OPTION_END);
	while (daemon && poll(&in, 1, 0) == 0)
		count_primes(100000);
	if (daemon)
		MHD_stop_daemon(daemon);
	unlink(path);
	gprof_http_free(h);
	return daemon ? 0 : 1;
}
