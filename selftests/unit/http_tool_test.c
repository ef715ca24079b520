// SPDX-License-Identifier: GPL-2.0-only
/* The web server, with clients that do not behave. */
#include "harness.h"
#include <arpa/inet.h>
#include <dirent.h>
#include <gprof/http.h>
#include <netinet/in.h>
#include <sys/fsuid.h>
#include <sys/un.h>

#include "base/clock.h"
#include "cli/cmd.h"
#include "http/http_server.h"
#include "http/http_guard.h"
#include "http/http_host.h"
#include "lib_util.h"

#define LARGE	(8 << 20)

static const char *answer_small(void *ctx, struct http_request *rq)
{
	fprintf(rq->body, "accept=%s ctx=%s\n", rq->accept, (const char *)ctx);
	return NULL;
}

static const char *answer_large(void *ctx, struct http_request *rq)
{
	(void)ctx;
	for (int i = 0; i < LARGE / 16; i++)
		fputs("0123456789abcde\n", rq->body);
	return NULL;
}

static const char *answer_broken(void *ctx, struct http_request *rq)
{
	(void)ctx;
	fputs("half of it", rq->body);
	return "the module is gone; load it";
}

static const char *answer_typed(void *ctx, struct http_request *rq)
{
	(void)ctx;
	rq->type = "application/x-other";
	fputs("{}", rq->body);
	return NULL;
}

static const char *answer_slow(void *ctx, struct http_request *rq)
{
	(void)ctx;
	usleep(500000);
	fputs("at last\n", rq->body);
	return NULL;
}

static const struct http_route routes[] = {
	{ "/slow", "a page that takes its time", "text/plain", answer_slow },
	{ "/small", "a <small> page", "text/plain", answer_small },
	{ "/large", "a large page", "text/plain", answer_large },
	{ "/broken", "a page that fails", "text/plain", answer_broken },
	{ "/typed", "another type", "text/plain", answer_typed }, { 0 },
};

#define NOBODY	65534	/* a user */

static long msec(void);

FIXTURE(http) {
	struct http_server *h;
	int port;
	char got[65536];
};

static int port_of(const char *url)
{
	return atoi(strrchr(url, ':') + 1);
}

FIXTURE_SETUP(http)
{
	int status;

	self->h = http_listen("127.0.0.1:0", &status);
	ASSERT_NE(NULL, self->h);
	ASSERT_EQ(STATUS_OK, http_start(self->h, routes, "me"));
	self->port = port_of(http_url(self->h));
	ASSERT_LT(0, self->port);
}

FIXTURE_TEARDOWN(http)
{
	http_close(self->h);
}

static int dial(int port)
{
	struct sockaddr_in in = {
		.sin_family = AF_INET, .sin_port = htons(port),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd >= 0 && connect(fd, (struct sockaddr *)&in, sizeof(in))) {
		close(fd);
		return -1;
	}
	return fd;
}

static bool put(int fd, const char *text)
{
	size_t n = strlen(text);

	return send(fd, text, n, MSG_NOSIGNAL) == (ssize_t)n;
}

/* Reads until the other side closes or 20 s are over; bytes, or -1. */
static long slurp(int fd, char *buf, size_t size)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };
	char rest[65536];
	long all = 0;

	for (;;) {
		bool room = (size_t)all + 1 < size;
		ssize_t n;

		if (poll(&p, 1, 20000) <= 0)
			return -1;
		n = recv(fd, room ? buf + all : rest, room ? size - 1 - all : sizeof(rest), 0);
		if (n < 0)
			return -1;
		if (!n)
			break;
		all += n;
		if (room)
			buf[all] = '\0';
	}
	return all;
}

static long ask(int port, const char *request, char *buf, size_t size)
{
	int fd = dial(port);
	long n = -1;

	buf[0] = '\0';
	if (fd < 0)
		return -1;
	if (put(fd, request))
		n = slurp(fd, buf, size);
	close(fd);
	return n;
}

/* From 127.0.0.N. */
static long ask_from(int n, int port, const char *request, char *buf, size_t size)
{
	struct sockaddr_in in = {
		.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK + n),
	};
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	long got = -1;

	if (fd < 0)
		return -1;
	if (!bind(fd, (struct sockaddr *)&in, sizeof(in))) {
		in.sin_port = htons(port);
		in.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
		if (!connect(fd, (struct sockaddr *)&in, sizeof(in)) && put(fd, request))
			got = slurp(fd, buf, size);
	}
	close(fd);
	return got;
}

#define ASK(request)	ask(self->port, request, self->got, sizeof(self->got))
#define GET(path)	ASK("GET " path " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
#define EXPECT_HAS(...)	EXPECT_SAYS(self->got, __VA_ARGS__)
#define EXPECT_STATUS(status)						\
	EXPECT_EQ(0, strncmp(self->got, "HTTP/1.1 " status, 12)) { TH_LOG("%s", self->got); }
#define GETS(path, status) do {						\
	ASSERT_LT(0, GET(path));					\
	EXPECT_STATUS(status);						\
} while (0)

TEST_F(http, a_page_comes_with_its_type_and_is_not_kept)
{
	ASSERT_LT(0, ASK("GET /small?a=b HTTP/1.1\r\nHost: localhost\r\nAccept: text/x\r\n"
			 "Connection: close\r\n\r\n"));
	EXPECT_STATUS("200");
	EXPECT_HAS("\r\nContent-Type: text/plain\r\n", "\r\nCache-Control: no-store\r\n",
		   "\r\n\r\naccept=text/x ctx=me\n");
}

TEST_F(http, a_page_may_change_its_type)
{
	ASSERT_LT(0, GET("/typed"));
	EXPECT_HAS("\r\nContent-Type: application/x-other\r\n");
}

/* A page of another site, whose name is made to point here, has the browser ask for that name. */
TEST_F(http, other_names_than_the_hosts_are_421)
{
	static const struct { const char *host, *status; } rows[] = {
		{ "127.0.0.1", "200" }, { "127.0.0.1:9747", "200" }, { "localhost", "200" },
		{ "LocalHost:1", "200" }, { "localhost.", "200" }, { "[::1]:9747", "200" },
		{ "%s", "200" }, { "%s:9747", "200" }, { "%s.:9747", "200" },
		{ "proxy.example", "200" }, { "PROXY.example.:80", "200" }, { "192.0.2.7:80", "200" },
		{ "[2001:db8:0::7]", "200" },
		{ "evil.example", "421" }, { "evil.example:9747", "421" }, { "x", "421" },
		{ "localhost.evil.example", "421" }, { "127.0.0.1.evil.example", "421" },
		{ "xproxy.example", "421" }, { "proxy.example.x", "421" }, { "192.0.2.8", "421" },
		{ "[2001:db8::8]", "421" }, { "127.0.0.1:x", "421" }, { "[::1", "421" },
		{ "localhost:80:80", "421" }, { "user@localhost", "421" }, { "", "421" }, { ".", "421" },
		{ "localhost\r\nHost: evil.example", "421" },
		{ "evil.example\r\nHost: localhost", "421" },
	};
	struct http_hosts hosts = { 0 };
	char own[256] = "", host[512], request[1024];
	int status;

	http_close(self->h);
	self->h = http_listen("127.0.0.1:0", &status);
	ASSERT_NE(NULL, self->h);
	self->port = port_of(http_url(self->h));
	EXPECT_EQ(STATUS_OK, http_hosts_option(&hosts, "proxy.example"));
	EXPECT_EQ(STATUS_OK, http_hosts_option(&hosts, "192.0.2.7"));
	EXPECT_EQ(STATUS_OK, http_hosts_option(&hosts, "2001:db8::7"));
	http_answer_to(self->h, &hosts);
	ASSERT_EQ(STATUS_OK, http_start(self->h, routes, "me"));
	ASSERT_EQ(0, gethostname(own, sizeof(own) - 1));
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		snprintf(host, sizeof(host), rows[i].host, own);
		snprintf(request, sizeof(request), "GET /small HTTP/1.1\r\nHost: %s\r\n\r\n", host);
		EXPECT_LT(0, ASK(request));
		EXPECT_EQ(0, strncmp(self->got + strlen("HTTP/1.1 "), rows[i].status, 3))
			TH_LOG("\"%s\": %s", host, self->got);
		EXPECT_EQ(!strcmp(rows[i].status, "421"), strstr(self->got, "--host NAME") != NULL);
		EXPECT_EQ(!strcmp(rows[i].status, "200"), strstr(self->got, "ctx=me") != NULL);
	}
	/* Whatever is no browser may leave it out. */
	ASSERT_LT(0, ASK("GET /small HTTP/1.0\r\n\r\n"));
	EXPECT_EQ(0, strncmp(self->got + strlen("HTTP/1.1 "), "200", 3));
	http_close(self->h);
	self->h = NULL;
	http_hosts_free(&hosts);
}

TEST(a_host_is_a_name_or_an_address)
{
	static const char *const bad[] = {
		"", ".", "a:80", "a b", "http://a/", "a/", "*", "[::1]:80", "a\n", "1.2.3.4:80", "::g",
	};
	struct http_hosts hosts = { 0 };

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		EXPECT_EQ(STATUS_USAGE, http_hosts_option(&hosts, bad[i])) TH_LOG("\"%s\"", bad[i]);
	}
	EXPECT_EQ(0, hosts.nr);
}

TEST_F(http, head_is_get_without_the_page)
{
	char *end;

	ASSERT_LT(0, ASK("HEAD /small HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"));
	EXPECT_STATUS("200");
	EXPECT_HAS("\r\nContent-Length: 15\r\n");
	end = strstr(self->got, "\r\n\r\n");
	ASSERT_NE(NULL, end);
	EXPECT_STREQ("", end + 4);
}

TEST_F(http, the_index_lists_every_page)
{
	GETS("/", "200");
	EXPECT_HAS("<a href=\"/small\">", "a &lt;small&gt; page", "<a href=\"/typed\">");
}

TEST_F(http, unknown_paths_are_404)
{
	GETS("/smal", "404");
	EXPECT_HAS("there is no such page");
	GETS("/small/", "404");
	GETS("/../../etc/passwd", "404");
	GETS("/%73mall%00", "404");
}

TEST_F(http, other_methods_are_405_and_say_which_are_not)
{
	ASSERT_LT(0, ASK("POST /small HTTP/1.1\r\nHost: localhost\r\nContent-Length: 3\r\n"
			 "Connection: close\r\n\r\nabc"));
	EXPECT_STATUS("405");
	EXPECT_HAS("\r\nAllow: GET, HEAD\r\n");
	ASSERT_LT(0, ASK("DELETE /nothing HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"));
	EXPECT_STATUS("405");
}

TEST_F(http, what_cannot_be_told_now_is_503_with_the_reason_alone)
{
	GETS("/broken", "503");
	EXPECT_HAS("\r\n\r\nthe module is gone; load it\n");
	EXPECT_LACKS(self->got, "half");
}

TEST_F(http, a_request_that_is_too_long_is_refused)
{
	char *long_one = malloc(1 << 20);
	int fd = dial(self->port);

	ASSERT_NE(NULL, long_one);
	ASSERT_LE(0, fd);
	memset(long_one, 'a', 1 << 20);
	memcpy(long_one, "GET /", 5);
	/* The server may hang up before it has read all. */
	send(fd, long_one, 1 << 20, MSG_NOSIGNAL | MSG_DONTWAIT);
	self->got[0] = '\0';
	slurp(fd, self->got, sizeof(self->got));
	close(fd);
	free(long_one);
	EXPECT_STATUS("414");
	GETS("/small", "200");
}

/* As libmicrohttpd has it; nothing of a page is in its answer. */
TEST_F(http, what_is_no_http_is_refused)
{
	static char headers[40000] = "GET /small HTTP/1.1\r\nHost: localhost\r\nX: ";
	static const struct { const char *request, *status; } rows[] = {
		{ "\x16\x03\x01\x02\r\n\r\n", NULL },	/* TLS: hung up without a word */
		{ "GET /small HTTP/1.1\r\n\r\n", "400" },
		{ "GET /small\r\n", "400" },		/* HTTP/0.9 */
		{ "GET /small HTTP/0.9\r\n\r\n", "505" },
		{ "GET /small HTTP/2.0\r\nHost: localhost\r\n\r\n", "505" },
		{ "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "505" },
		{ "GET /small HTTP/1.1\r\nHost: localhost\r\nContent-Length: -1\r\n\r\n", "400" },
		{ "GET /small HTTP/1.1\r\nHost: localhost\r\nContent-Length: x\r\n\r\n", "400" },
		{ headers, "431" },
	};

	memset(headers + strlen(headers), 'a', sizeof(headers) - 1 - strlen(headers));
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		EXPECT_LE(0, ASK(rows[i].request));
		if (!rows[i].status) {
			EXPECT_STREQ("", self->got);
			continue;
		}
		EXPECT_EQ(0, strncmp(self->got + strlen("HTTP/1.1 "), rows[i].status, 3))
			TH_LOG("row %zu: %s", i, self->got);
		EXPECT_LACKS(self->got, "accept=");
	}
	GETS("/small", "200");
}

/* A connection is for one request: what follows it is for another. */
TEST_F(http, what_follows_a_request_is_not_answered)
{
	ASSERT_LT(0, ASK("GET /small HTTP/1.1\r\nHost: localhost\r\n\r\nGET /typed HTTP/1.1\r\nHost: localhost\r\n\r\n"));
	EXPECT_STATUS("200");
	EXPECT_HAS("\r\nConnection: close\r\n", "accept=");
	EXPECT_LACKS(self->got, "x-other");
}

TEST_F(http, a_large_page_arrives_whole)
{
	long n = GET("/large");

	EXPECT_STATUS("200");
	EXPECT_LT(LARGE, n);
}

static int open_files(void)
{
	DIR *d = opendir("/proc/self/fd");
	int n = 0;

	while (d && readdir(d))
		n++;
	closedir(d);
	return n;
}

TEST_F(http, clients_that_disconnect_leave_nothing)
{
	static const char *const parts[] = {
		"", "GET", "GET /large HTTP/1.1\r\n", "GET /large HTTP/1.1\r\nHost: localhost\r\n\r\n",
	};
	struct linger hard = { .l_onoff = 1 };
	int before = open_files(), tries;

	for (int i = 0; i < 200; i++) {
		int fd = dial(self->port);

		ASSERT_LE(0, fd);
		put(fd, parts[i % 4]);
		/* Every other one hangs up with a reset. */
		if (i & 4)
			setsockopt(fd, SOL_SOCKET, SO_LINGER, &hard, sizeof(hard));
		close(fd);
	}
	for (tries = 0; open_files() > before && tries < 100; tries++)
		usleep(100000);
	EXPECT_EQ(before, open_files());
	GETS("/small", "200");
}

TEST_F(http, a_client_that_does_not_read_holds_up_no_other)
{
	int slow = dial(self->port);

	ASSERT_LE(0, slow);
	ASSERT_TRUE(put(slow, "GET /large HTTP/1.1\r\nHost: localhost\r\n\r\n"));
	usleep(100000);
	GETS("/small", "200");
	close(slow);
}

/* Reads so many bytes at each of so many times a second; for how long it could, in ms. */
struct reader {
	int port;
	size_t bytes;
	long all;
	long msec;
};

static int dial_small(int port);

static void *read_slowly(void *ctx)
{
	struct reader *r = ctx;
	int fd = dial_small(r->port);
	long since = msec();
	struct pollfd p = { .fd = fd };
	char buf[65536];
	ssize_t n = 0;

	if (fd < 0 || !put(fd, "GET /large HTTP/1.1\r\nHost: localhost\r\n\r\n"))
		return NULL;
	do {
		usleep(100000);
		n = recv(fd, buf, r->bytes, 0);
		r->all += n > 0 ? n : 0;
	} while (n > 0 && !poll(&p, 1, 0) && msec() - since < 60000);
	r->msec = msec() - since;
	close(fd);
	return NULL;
}

/* What is kept for who takes it drop by drop is not kept for hours; who takes more gets all. */
TEST_F_TIMEOUT(http, a_client_that_hardly_reads_is_hung_up, 80)
{
	struct reader drop = { .port = self->port, .bytes = 2048 };
	struct reader sip = { .port = self->port, .bytes = 65536 };
	pthread_t threads[2];

	ASSERT_EQ(0, pthread_create(&threads[0], NULL, read_slowly, &drop));
	ASSERT_EQ(0, pthread_create(&threads[1], NULL, read_slowly, &sip));
	pthread_join(threads[0], NULL);
	pthread_join(threads[1], NULL);
	printf("# %ld bytes in %ld ms, %ld in %ld ms\n", drop.all, drop.msec, sip.all, sip.msec);
	EXPECT_LT(8000, drop.msec);
	EXPECT_GT(45000, drop.msec);
	EXPECT_GT(LARGE, drop.all);
	EXPECT_LT(LARGE, sip.all);
}

TEST_F(http, idle_connections_are_closed_so_that_new_ones_get_in)
{
	int fds[80];

	for (int i = 0; i < 80; i++) {
		fds[i] = dial(self->port);
		ASSERT_LE(0, fds[i]);
	}
	/* The server has taken as many as it takes; the next waits its turn. */
	GETS("/small", "200");
	for (int i = 0; i < 80; i++)
		close(fds[i]);
}

/* Without waiting for the server to take it. */
static int dial_only(int port)
{
	struct sockaddr_in in = {
		.sin_family = AF_INET, .sin_port = htons(port),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	if (fd >= 0 && connect(fd, (struct sockaddr *)&in, sizeof(in)) && errno != EINPROGRESS) {
		close(fd);
		return -1;
	}
	return fd;
}

/* With little room for what it does not read. */
static int dial_small(int port)
{
	struct sockaddr_in in = {
		.sin_family = AF_INET, .sin_port = htons(port),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), room = 65536;

	setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &room, sizeof(room));
	if (fd >= 0 && connect(fd, (struct sockaddr *)&in, sizeof(in))) {
		close(fd);
		return -1;
	}
	return fd;
}

static long of_status(const char *key)
{
	FILE *f = fopen("/proc/self/status", "r");
	char line[256];
	long n = -1;

	while (f && n < 0 && fgets(line, sizeof(line), f))
		if (!strncmp(line, key, strlen(key)))
			n = atol(line + strlen(key));
	if (f)
		fclose(f);
	return n;
}

static long msec(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

#define CROWD	1000

/*
 * Those of one user who ask and wait have a quarter of the places; the next of that user is told
 * so at once, and another user is answered.
 */
TEST_F(http, one_client_has_a_quarter_of_the_places)
{
	int fds[HTTP_PEER_CLIENTS_MAX], i;
	long since;

	if (geteuid())
		SKIP(return, "a client of another user needs root");
	setfsuid(NOBODY);
	for (i = 0; i < HTTP_PEER_CLIENTS_MAX; i++) {
		fds[i] = dial(self->port);
		ASSERT_LE(0, fds[i]);
		ASSERT_TRUE(put(fds[i], "GET /slow HTTP/1.1\r\nHost: localhost\r\n\r\n"));
	}
	/* From whatever address: it is the same user. */
	since = msec();
	for (i = 1; i < 4; i++) {
		ASSERT_LT(0, ask_from(i, self->port, "GET /small HTTP/1.1\r\nHost: localhost\r\n\r\n",
				      self->got, sizeof(self->got)));
		EXPECT_STATUS("429");
		EXPECT_HAS("\r\nRetry-After: ", "come back when one of them has ended\n");
	}
	setfsuid(0);
	/* A page that waits for no turn, while the others' take half a second each. */
	GETS("/", "200");
	EXPECT_GT(3000, msec() - since);
	for (i = 0; i < HTTP_PEER_CLIENTS_MAX; i++) {
		long n = slurp(fds[i], self->got, sizeof(self->got));

		EXPECT_LT(0, n);
		EXPECT_STATUS("200");
		close(fds[i]);
	}
}

/* Those that say nothing for long make room for the next of the same user. */
TEST_F(http, a_client_that_trickles_makes_room_for_its_own_user)
{
	int fds[HTTP_PEER_CLIENTS_MAX];

	for (int i = 0; i < HTTP_PEER_CLIENTS_MAX; i++) {
		fds[i] = dial(self->port);
		ASSERT_LE(0, fds[i]);
		ASSERT_TRUE(put(fds[i], "GET /small HTTP/1.1\r\n"));
	}
	usleep(500000);
	GETS("/small", "200");
	for (int i = 0; i < HTTP_PEER_CLIENTS_MAX; i++)
		close(fds[i]);
}

/*
 * Ten thousand of another user, a thousand of them at any time, half of which begin to say
 * something: whoever asks is answered meanwhile, and what they took is given back.
 */
TEST_F_TIMEOUT(http, ten_thousand_silent_clients_keep_no_client_out, 120)
{
	long before, most = 0, longest = 0;
	struct rlimit files;
	int fds[CROWD];

	if (geteuid())
		SKIP(return, "a crowd of another user needs root");
	ASSERT_EQ(0, getrlimit(RLIMIT_NOFILE, &files));
	if (files.rlim_max < 2 * CROWD)
		SKIP(return, "no more than %lu files", (unsigned long)files.rlim_max);
	files.rlim_cur = 2 * CROWD;
	ASSERT_EQ(0, setrlimit(RLIMIT_NOFILE, &files));
	ASSERT_LT(0, GET("/small"));
	before = of_status("VmRSS:");
	for (int i = 0; i < 10 * CROWD; i++) {
		int *fd = &fds[i % CROWD];
		long since = msec(), took;

		if (i >= CROWD)
			close(*fd);
		setfsuid(NOBODY);
		*fd = dial_only(self->port);
		setfsuid(0);
		ASSERT_LE(0, *fd);
		if (i % 2)
			put(*fd, "GET /small HTTP/1.1\r\n");
		if ((i + 1) % (3 * CROWD))
			continue;
		GETS("/small", "200");
		took = msec() - since;
		longest = took > longest ? took : longest;
		most = of_status("Threads:") > most ? of_status("Threads:") : most;
	}
	printf("# %ld ms, %ld threads, %ld kB\n", longest, most, of_status("VmRSS:") - before);
	for (int i = 0; i < CROWD; i++)
		close(fds[i]);
	EXPECT_LT(longest, 6000);
	/* As many as there are places, and those that are on their way out. */
	EXPECT_LTS(most, 140, of_status("VmRSS:") - before, 8192);
}

/* It is for the server that it waits. */
TEST_F(http, a_client_with_a_request_makes_no_room_for_others)
{
	int slow = dial(self->port), fds[100];

	ASSERT_LE(0, slow);
	ASSERT_TRUE(put(slow, "GET /slow HTTP/1.1\r\nHost: localhost\r\n\r\n"));
	for (int i = 0; i < 100; i++) {
		/* The oldest of its user, and its patience is over: it has asked. */
		if (i == HTTP_PEER_CLIENTS_MAX)
			usleep(300000);
		fds[i] = dial(self->port);
		ASSERT_LE(0, fds[i]);
		put(fds[i], "GET /small HTTP/1.1\r\n");
	}
	EXPECT_LT(0, slurp(slow, self->got, sizeof(self->got)));
	EXPECT_STATUS("200");
	EXPECT_HAS("at last");
	close(slow);
	for (int i = 0; i < 100; i++)
		close(fds[i]);
}

/* A client that takes its answer has as long as that takes; one that takes none has a time. */
TEST(each_piece_of_an_answer_that_is_taken_gives_time)
{
	struct http_guard g = { .socket = -1 };
	struct http_connection *c;
	uint64_t before, first;
	int fds[2];

	ASSERT_EQS(0, socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0, http_guard_begin(&g));
	c = http_guard_add(&g, fds[0]);
	ASSERT_NE(NULL, c);
	http_guard_request(&g, c, 1000);
	EXPECT_TRUES(c->asked, !c->answered);
	before = now_ns();
	http_guard_answered(&g, c);
	first = c->deadline_ns;
	EXPECT_TRUE(c->answered);
	EXPECT_LES(before + HTTP_PIECE_SECONDS * 1000000000ULL, first,
		   first, now_ns() + HTTP_PIECE_SECONDS * 1000000000ULL);
	usleep(2000);
	http_guard_progress(&g, c, HTTP_PIECE_BYTES - 1);
	EXPECT_EQ(first, c->deadline_ns);
	http_guard_progress(&g, c, HTTP_PIECE_BYTES);
	EXPECT_LT(first, c->deadline_ns);
	first = c->deadline_ns;
	usleep(2000);
	http_guard_progress(&g, c, 2 * HTTP_PIECE_BYTES - 1);
	EXPECT_EQ(first, c->deadline_ns);
	EXPECT_FALSE(c->gone);
	http_guard_remove(&g, c);
	EXPECT_EQ(0, g.nr);
	http_guard_end(&g);
	close(fds[0]);
	close(fds[1]);
}

TEST_F(http, closing_gives_up_what_is_under_way)
{
	int fd = dial(self->port);

	ASSERT_LE(0, fd);
	ASSERT_TRUE(put(fd, "GET /large HTTP/1.1\r\nHost: localhost\r\n\r\n"));
	usleep(50000);
	http_close(self->h);
	self->h = NULL;
	close(fd);
	EXPECT_GT(0, dial(self->port));
}

TEST_F(http, a_port_in_use_is_an_error)
{
	const char *address = lib_text("127.0.0.1:%d", self->port);
	int status = 0;

	EXPECT_EQS(NULL, http_listen(address, &status), STATUS_FAILED, status);
}

/* Profiles at a socket in the file system, which are for who may open it. */
TEST(a_query_that_is_too_long_is_not_cut)
{
	static const char head[] = "GET /debug/pprof/cmdline?x=", tail[] = "&pid=",
			  rest[] = " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
	char path[] = "/tmp/http.XXXXXX", request[8192], got[8192];
	struct gprof_http *profiles = gprof_http_new(&(struct gprof_http_config){
		.sz = sizeof(struct gprof_http_config), .target = { .type = GPROF_SELF },
	});
	struct sockaddr_un un = { .sun_family = AF_UNIX };
	int status, nr_ok = 0, nr_long = 0;
	struct http_server *h;

	ASSERT_NE(NULL, profiles);
	close(mkstemp(path));
	unlink(path);
	strcpy(un.sun_path, path);
	h = http_listen_socket(path, 0600, &status);
	ASSERT_NE(NULL, h);
	http_serve_profiles(h, profiles);
	ASSERT_EQ(STATUS_OK, http_start(h, routes, "me"));
	/* Around the limit, each place at which the number may be cut. */
	for (int pad = 4050; pad < 4110; pad++) {
		int fd = socket(AF_UNIX, SOCK_STREAM, 0);
		size_t n = sprintf(request, "%s", head);

		memset(request + n, 'a', pad);
		sprintf(request + n + pad, "%s%d%s", tail, getpid(), rest);
		ASSERT_EQ(0, connect(fd, (struct sockaddr *)&un, sizeof(un)));
		ASSERT_TRUE(put(fd, request));
		ASSERT_LT(0, slurp(fd, got, sizeof(got)));
		close(fd);
		nr_ok += !strncmp(got, "HTTP/1.1 200", 12);
		nr_long += !strncmp(got, "HTTP/1.1 414", 12);
		EXPECT_EQ(NULL, strstr(got, "HTTP/1.1 404")) TH_LOG("pad %d: %s", pad, got);
		/* Once it was too long it does not fit again. */
		EXPECT_EQ(pad - 4050 + 1, nr_ok + nr_long);
		EXPECT_TRUE(!nr_long || strncmp(got, "HTTP/1.1 200", 12));
	}
	EXPECT_LTS(0, nr_ok, 0, nr_long);
	http_close(h);
	gprof_http_free(profiles);
}

/* At an address nobody says who may ask; what is for all is for all. */
TEST(profiles_at_an_address_are_refused_without_access_rules)
{
	struct gprof_http *profiles = gprof_http_new(&(struct gprof_http_config){
		.sz = sizeof(struct gprof_http_config), .target = { .type = GPROF_SELF },
	});
	static const struct { const char *path, *status; } rows[] = {
		{ "/debug/pprof/cmdline", "403" }, { "/debug/pprof/", "403" },
		{ "/debug/pprof", "403" }, { "/%64ebug/pprof/cmdline", "403" }, { "/small", "200" },
	};
	char request[256], got[8192];
	struct http_server *h;
	int status;

	ASSERT_NE(NULL, profiles);
	h = http_listen("127.0.0.1:0", &status);
	ASSERT_NE(NULL, h);
	http_serve_profiles(h, profiles);
	ASSERT_EQ(STATUS_OK, http_start(h, routes, "me"));
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		snprintf(request, sizeof(request), "GET %s HTTP/1.1\r\nHost: localhost\r\n\r\n",
			 rows[i].path);
		ASSERT_LT(0, ask(port_of(http_url(h)), request, got, sizeof(got)));
		EXPECT_EQ(0, strncmp(got + strlen("HTTP/1.1 "), rows[i].status, 3))
			TH_LOG("%s: %s", rows[i].path, got);
		EXPECT_LACKS(got, "http_tool_test");
	}
	http_close(h);
	gprof_http_free(profiles);
}

TEST(addresses_that_are_none_are_misuse)
{
	static const char *const bad[] = {
		"", ":", ":80", "127.0.0.1:", "127.0.0.1:http", "127.0.0.1:65536", "1.2.3.4.5:1",
		"::1:80", "[::1", "[::1]", "[::1]80", "[]:80", "x y:80", "80 ", "-1",
		"127.0.0.1:99999999999",
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		int status = 0;

		EXPECT_EQ(NULL, http_listen(bad[i], &status)) TH_LOG("\"%s\"", bad[i]);
		EXPECT_EQ(STATUS_USAGE, status) TH_LOG("\"%s\"", bad[i]);
	}
}

TEST(a_port_alone_is_this_machine_alone)
{
	int status;
	struct http_server *h = http_listen("0", &status);

	ASSERT_NE(NULL, h);
	EXPECT_EQ(0, strncmp(http_url(h), "http://127.0.0.1:", 17));
	EXPECT_TRUE(http_is_local(h));
	http_close(h);
	h = http_listen("0.0.0.0:0", &status);
	ASSERT_NE(NULL, h);
	EXPECT_FALSE(http_is_local(h));
	http_close(h);
}

TEST(ipv6_is_listened_to)
{
	int status;
	struct http_server *h;
	int fd = socket(AF_INET6, SOCK_STREAM, 0);

	if (fd < 0)
		SKIP(return, "no IPv6 here");
	close(fd);
	h = http_listen("[::1]:0", &status);
	if (!h)
		SKIP(return, "no IPv6 address here");
	EXPECT_EQ(0, strncmp(http_url(h), "http://[::1]:", 13));
	EXPECT_TRUE(http_is_local(h));
	http_close(h);
}

TEST(an_address_of_another_machine_is_refused)
{
	int status = 0;

	EXPECT_EQS(NULL, http_listen("192.0.2.1:0", &status), STATUS_FAILED, status);
}

#define OM "application/openmetrics-text"

TEST(accept_headers_are_weighed)
{
	static const struct { const char *accept, *type, *version; int want; } rows[] = {
		{ "", OM, "1.0.0", 1000 }, { " ", OM, "1.0.0", 1000 }, { OM, OM, "1.0.0", 1000 },
		{ "APPLICATION/OpenMetrics-Text", OM, NULL, 1000 }, { "text/plain", OM, NULL, 0 },
		{ "*/*", OM, NULL, 1000 },
		{ "*/*;q=0.1", OM, NULL, 100 },
		{ "application/*;q=0.25", OM, NULL, 250 },
		{ "appl/*", OM, NULL, 0 },
		{ OM ";version=0.0.1", OM, "1.0.0", 0 },
		{ OM "; version=\"1.0.0\" ; q=0.5", OM, "1.0.0", 500 },
		{ OM ";q=0, */*", OM, NULL, 0 },
		{ "text/html, */*;q=0.8", "text/plain", NULL, 800 },
		{ "text/*;q=0.3,text/plain;q=0.7,*/*", "text/plain", NULL, 700 },
		/* What Prometheus 2.42 says. */
		{ OM ";version=1.0.0," OM ";version=0.0.1;q=0.75,"
		  "text/plain;version=0.0.4;q=0.5,*/*;q=0.1", OM, "1.0.0", 1000 },
		{ OM ";version=1.0.0," OM ";version=0.0.1;q=0.75,"
		  "text/plain;version=0.0.4;q=0.5,*/*;q=0.1", "text/plain", "0.0.4", 500 },
		/* Nonsense does no harm. */
		{ ",,;;q=,=", OM, NULL, 0 }, { OM ";q=7", OM, NULL, 1000 },
		{ OM ";q=-1", OM, NULL, 1000 }, { OM ";q=0.12345", OM, NULL, 1000 },
		{ OM ";x=\"a,b;q=0\";q=0.5", OM, NULL, 500 }, { OM ";x=\"a", OM, NULL, 1000 },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		EXPECT_EQ(rows[i].want, http_accepts(rows[i].accept, rows[i].type, rows[i].version))
			TH_LOG("row %zu: \"%s\"", i, rows[i].accept);
	}
}

TEST_HARNESS_MAIN
