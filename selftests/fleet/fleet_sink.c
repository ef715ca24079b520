// SPDX-License-Identifier: GPL-2.0-only
/*
 * fleet_sink: a server that keeps what it is sent, and answers as the path says.
 *
 *	fleet_sink [-c CERT -k KEY] [-n] DIR
 *
 * With -n the kernel holds some 100 KB of a connection at most. Prints its port, and serves until
 * it is killed. A request that came whole is in DIR/NUMBER, with "METHOD PATH" and the headers
 * that matter in DIR/NUMBER.head, both there at once. Paths:
 *
 *	/ok/...			200, nothing
 *	/rubbish/...		200, a page
 *	/type/...		200, of a type in bytes of all kinds
 *	/json/...		200, {"partialSuccess":{}}
 *	/json/none/...		200, likewise with a count of 0
 *	/json/two/...		200, likewise with a count of 2, and words
 *	/json/bad/...		200, likewise with something else too
 *	/slow/...		200, after having read 100 KB a second
 *	/partial/...		200, two profiles refused
 *	/warn/...		200, with words
 *	/huge/...		200, without end
 *	/redirect/...		307 to /ok/elsewhere
 *	/never/...		no answer, ever
 *	/lost/...		closed in place of an answer
 *	/half/...		closed in the middle of the request
 *	/first/STATUS/...	STATUS once, with Retry-After: 7, then 200
 *	/second/STATUS/...	200, STATUS once, then 200
 *	/status/STATUS/...	STATUS with words in bytes of all kinds
 *	/page/STATUS/...	STATUS with a page
 *	/message/STATUS/...	STATUS with words in a google.rpc.Status
 */
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <microhttpd.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define BODY_MAX	(64U << 20)

/* On its way in. */
struct request {
	char *body;	/* so far */
	size_t len;	/* bytes of it */
};

static const char *dir;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned int received, first, second;

static void put_file(const char *name, const char *ext, const void *data, size_t len)
{
	char path[512], tmp[520];
	int fd;

	snprintf(path, sizeof(path), "%s/%s%s", dir, name, ext);
	snprintf(tmp, sizeof(tmp), "%s.tmp", path);
	fd = open(tmp, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	if (fd < 0 || write(fd, data, len) != (ssize_t)len || close(fd) || rename(tmp, path))
		err(1, "%s", path);
}

/* Text in the making. */
struct text {
	char *v;
	size_t size, *len;
};

static enum MHD_Result put_argument(void *ctx, enum MHD_ValueKind kind, const char *key,
				    const char *value)
{
	struct text *t = ctx;

	(void)kind;
	*t->len += (size_t)snprintf(t->v + *t->len, t->size - *t->len, "%c%s=%s",
				    strchr(t->v, '?') ? '&' : '?', key, value ? value : "");
	return MHD_YES;
}

static void keep(struct MHD_Connection *c, const char *method, const char *url,
		 const struct request *r)
{
	static const char *const shown[] = { "Content-Type", "Content-Encoding", "Authorization",
					     "User-Agent" };
	char head[2048], name[32];
	size_t i, len;

	len = (size_t)snprintf(head, sizeof(head), "%s %s", method, url);
	MHD_get_connection_values(c, MHD_GET_ARGUMENT_KIND, put_argument,
				  &(struct text){ head, sizeof(head), &len });
	len += (size_t)snprintf(head + len, sizeof(head) - len, "\n");
	for (i = 0; i < 4 && len < sizeof(head); i++) {
		const char *v = MHD_lookup_connection_value(c, MHD_HEADER_KIND, shown[i]);

		if (v)
			len += (size_t)snprintf(head + len, sizeof(head) - len, "%s: %s\n",
						shown[i], v);
	}
	pthread_mutex_lock(&lock);
	snprintf(name, sizeof(name), "%06u", received++);
	put_file(name, ".head", head, strlen(head));
	put_file(name, "", r->body ? r->body : "", r->len);
	pthread_mutex_unlock(&lock);
}

static enum MHD_Result answer(struct MHD_Connection *c, unsigned int status, const char *type,
			      const void *data, size_t len, const char *header, const char *value)
{
	struct MHD_Response *r = MHD_create_response_from_buffer(len, (void *)data,
								 MHD_RESPMEM_MUST_COPY);
	enum MHD_Result ret;

	MHD_add_response_header(r, "Content-Type", type);
	if (header)
		MHD_add_response_header(r, header, value);
	ret = MHD_queue_response(c, status, r);
	MHD_destroy_response(r);
	return ret;
}

static ssize_t without_end(void *ctx, uint64_t pos, char *to, size_t max)
{
	(void)ctx;
	(void)pos;
	memset(to, 'x', max);
	return (ssize_t)max;
}

static void hang_up(struct MHD_Connection *c)
{
	const union MHD_ConnectionInfo *info =
		MHD_get_connection_info(c, MHD_CONNECTION_INFO_CONNECTION_FD);

	shutdown(info->connect_fd, SHUT_RDWR);
}

static bool is(const char *url, const char *path)
{
	return !strncmp(url, path, strlen(path));
}

static enum MHD_Result answer_words(struct MHD_Connection *c, const char *url)
{
	static const char all[] = "no\033[31m such \x80\xff thing\nsecond line";
	static const char message[] = "\x08\x03\x12\x09""too\nmany!";
	unsigned int status = (unsigned int)atoi(strchr(url + 1, '/') + 1);

	if (is(url, "/message/"))
		return answer(c, status, "application/x-protobuf", message, sizeof(message) - 1,
			      NULL, NULL);
	if (is(url, "/page/"))
		return answer(c, status, "text/html; charset=utf-8", "<h1>no TLS</h1>", 15, NULL, NULL);
	return answer(c, status, "text/plain", all, sizeof(all) - 1, "Retry-After", "9");
}

static enum MHD_Result answer_as(struct MHD_Connection *c, const char *url)
{
	static const char pb[] = "application/x-protobuf";
	static const char partial[] = "\x0a\x07\x08\x02\x12\x03""bad";
	static const char none[] = "{ \"partialSuccess\": {\"rejectedProfiles\":\"0\", "
				   "\"errorMessage\":\"\" } }\n";
	static const char two[] = "{\"partial_success\":{\"error_message\":\"b\\\"ad\","
				  "\"rejected_profiles\":2}}";
	static const char bad[] = "{\"partialSuccess\":{\"rejectedProfiles\":\"0\"},\"x\":1}";
	static const char warn[] = "\x0a\x06\x12\x04""slow";
	struct MHD_Response *r;
	enum MHD_Result ret;

	if (is(url, "/rubbish/"))
		return answer(c, 200, "text/html", "<html>Log in</html>", 19, NULL, NULL);
	if (is(url, "/type/"))
		return answer(c, 200, "\033[31m\x80/x\a", "abc", 3, NULL, NULL);
	if (is(url, "/json/none/"))
		return answer(c, 200, "application/json", none, sizeof(none) - 1, NULL, NULL);
	if (is(url, "/json/two/"))
		return answer(c, 200, "application/json", two, sizeof(two) - 1, NULL, NULL);
	if (is(url, "/json/bad/"))
		return answer(c, 200, "application/json", bad, sizeof(bad) - 1, NULL, NULL);
	if (is(url, "/json/"))
		return answer(c, 200, "application/json; charset=utf-8",
			      "{\"partialSuccess\": {}}\n", 23, NULL, NULL);
	if (is(url, "/partial/"))
		return answer(c, 200, pb, partial, sizeof(partial) - 1, NULL, NULL);
	if (is(url, "/warn/"))
		return answer(c, 200, pb, warn, sizeof(warn) - 1, NULL, NULL);
	if (is(url, "/redirect/"))
		return answer(c, 307, "text/plain", "", 0, "Location", "/ok/elsewhere?secret=1");
	if (is(url, "/status/") || is(url, "/message/") || is(url, "/page/"))
		return answer_words(c, url);
	if (is(url, "/first/") && !first++)
		return answer(c, (unsigned int)atoi(url + 7), "text/plain", "wait", 4,
			      "Retry-After", "7");
	if (is(url, "/second/") && second++ == 1)
		return answer(c, (unsigned int)atoi(url + 8), "text/plain", "wait", 4, NULL, NULL);
	if (is(url, "/huge/")) {
		r = MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, 65536, without_end, NULL,
						      NULL);
		MHD_add_response_header(r, "Content-Type", pb);
		ret = MHD_queue_response(c, 200, r);
		MHD_destroy_response(r);
		return ret;
	}
	if (is(url, "/never/"))
		sleep(3600);
	if (is(url, "/lost/")) {
		hang_up(c);
		return MHD_NO;
	}
	return answer(c, 200, pb, "", 0, NULL, NULL);
}

static enum MHD_Result handle(void *ctx, struct MHD_Connection *c, const char *url,
			      const char *method, const char *version, const char *data,
			      size_t *size, void **state)
{
	struct request *r = *state;

	(void)ctx;
	(void)version;
	if (!r) {
		*state = calloc(1, sizeof(*r));
		return *state ? MHD_YES : MHD_NO;
	}
	if (!*size) {
		keep(c, method, url, r);
		return answer_as(c, url);
	}
	if (is(url, "/slow/"))
		usleep((useconds_t)*size * 10);
	if (is(url, "/half/")) {
		hang_up(c);
		return MHD_NO;
	}
	if (r->len + *size > BODY_MAX)
		return MHD_NO;
	r->body = realloc(r->body, r->len + *size);
	memcpy(r->body + r->len, data, *size);
	r->len += *size;
	*size = 0;
	return MHD_YES;
}

static void done(void *ctx, struct MHD_Connection *c, void **state,
		 enum MHD_RequestTerminationCode how)
{
	struct request *r = *state;

	(void)ctx;
	(void)c;
	(void)how;
	if (r)
		free(r->body);
	free(r);
	*state = NULL;
}

static char *contents(const char *file)
{
	char *text = calloc(1, 65536);
	int fd = open(file, O_RDONLY | O_CLOEXEC);

	if (!text || fd < 0 || read(fd, text, 65535) < 0)
		err(1, "%s", file);
	close(fd);
	return text;
}

/* Connections have the listener's sizes; a sender's buffer grows with its segments. */
static void make_narrow(int fd)
{
	int bytes = 4096, segment = 536;

	if (setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &bytes, sizeof(bytes)) ||
	    setsockopt(fd, IPPROTO_TCP, TCP_MAXSEG, &segment, sizeof(segment)))
		err(1, "a narrow connection");
}

int main(int argc, char **argv)
{
	unsigned int flags = MHD_USE_THREAD_PER_CONNECTION | MHD_USE_INTERNAL_POLLING_THREAD;
	const char *cert = NULL, *key = NULL;
	const union MHD_DaemonInfo *info;
	struct sockaddr_in at = { .sin_family = AF_INET,
				  .sin_addr = { htonl(INADDR_LOOPBACK) } };
	struct MHD_Daemon *daemon;
	bool narrow = false;
	int opt;

	while ((opt = getopt(argc, argv, "c:k:n")) != -1) {
		if (opt == 'c')
			cert = contents(optarg);
		else if (opt == 'n')
			narrow = true;
		else if (opt == 'k')
			key = contents(optarg);
		else
			return 2;
	}
	if (argc - optind != 1)
		errx(2, "DIR");
	dir = argv[optind];
	if (cert)
		flags |= MHD_USE_TLS;
	daemon = MHD_start_daemon(flags, 0, NULL, NULL, handle, NULL,
				  MHD_OPTION_SOCK_ADDR, &at,
				  MHD_OPTION_NOTIFY_COMPLETED, done, NULL,
				  cert ? MHD_OPTION_HTTPS_MEM_CERT : MHD_OPTION_END, cert,
				  MHD_OPTION_HTTPS_MEM_KEY, key, MHD_OPTION_END);
	if (!daemon)
		errx(1, "no server");
	if (narrow)
		make_narrow(MHD_get_daemon_info(daemon, MHD_DAEMON_INFO_LISTEN_FD)->listen_fd);
	info = MHD_get_daemon_info(daemon, MHD_DAEMON_INFO_BIND_PORT);
	printf("%u\n", info->port);
	fflush(stdout);
	pause();
	return 0;
}
