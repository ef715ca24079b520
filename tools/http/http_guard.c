// SPDX-License-Identifier: GPL-2.0-only
/*
 * Admission of connections, and their time limits. Shutting down its socket ends a client's
 * thread.
 */
#include "http_guard.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/thread.h"

#define NS		1000000000ULL
#define LOOK_MSEC	1000
#define FULL_MSEC	50
/* A new client is about to send a request: two round trips and a handshake. */
#define PATIENCE_NS	(NS / 4)
/* For a connection to be served, before the next is taken. */
#define ADMIT_NS	(NS / 50)
/* Of a request that is refused unread. */
#define PIECES_MAX	8

/* The kernel does not keep the rest of a response either. */
static void drop_rest(struct http_connection *c)
{
	const struct linger none = { .l_onoff = 1 };

	if (c->answered)
		setsockopt(c->fd, SOL_SOCKET, SO_LINGER, &none, sizeof(none));
}

static void hang_up(struct http_connection *c)
{
	drop_rest(c);
	shutdown(c->fd, SHUT_RDWR);
	c->deadline_ns = 0;
	c->asked = true;
	c->gone = true;
}

static bool somebody_waits(const struct http_guard *g)
{
	struct pollfd p = { .fd = g->socket, .events = POLLIN };

	return poll(&p, 1, 0) > 0;
}

/* Is there room? With the lock held. */
static bool has_room(struct http_guard *g)
{
	bool room = g->nr < HTTP_CLIENTS_MAX, wanted = !room && somebody_waits(g);
	uint64_t now = now_ns();

	for (struct http_connection *c = g->clients; c; c = c->next)
		if ((c->deadline_ns && now >= c->deadline_ns) ||
		    (wanted && !c->asked && now - c->since_ns > PATIENCE_NS))
			hang_up(c);
	return room;
}

/* Has the peer room for one more, or can it make some? */
static bool has_place(struct http_guard *g, uint64_t peer)
{
	struct http_connection *oldest = NULL;
	uint64_t now = now_ns();
	unsigned int n = 0;

	pthread_mutex_lock(&g->lock);
	/* The latest come first. */
	for (struct http_connection *c = g->clients; c; c = c->next) {
		if (c->peer.id != peer || c->gone)
			continue;
		n++;
		if (!c->asked && now - c->since_ns > PATIENCE_NS)
			oldest = c;
	}
	if (n >= HTTP_PEER_CLIENTS_MAX && oldest)
		hang_up(oldest);
	pthread_mutex_unlock(&g->lock);
	return n < HTTP_PEER_CLIENTS_MAX || oldest;
}

/* Without a thread, and without waiting: the answer fits the socket's buffer. */
static void refuse(const struct http_guard *g, int fd)
{
	static const char answer[] =
		"HTTP/1.1 429 Too Many Requests\r\nContent-Type: text/plain; charset=utf-8\r\n"
		"Cache-Control: no-store\r\nX-Go-Pprof: 1\r\nRetry-After: 5\r\nConnection: close\r\n\r\n"
		"one client has a quarter of all connections at most, and this one has them: come "
		"back when one of them has ended\n";
	char request[4096];

	/* Unread bytes would turn the end into a reset, which drops the response. */
	for (int i = 0; i < PIECES_MAX; i++)
		if (recv(fd, request, sizeof(request), MSG_DONTWAIT) < (ssize_t)sizeof(request))
			break;
	if (!g->tls)
		send(fd, answer, sizeof(answer) - 1, MSG_DONTWAIT | MSG_NOSIGNAL);
	shutdown(fd, SHUT_WR);
	close(fd);
}

/* How many there are is known once it is served, which takes the server a moment. */
static void admit(struct http_guard *g, int fd)
{
	uint64_t until = now_ns() + ADMIT_NS;
	const struct timespec ts = { .tv_sec = until / NS, .tv_nsec = until % NS };
	unsigned long before;

	pthread_mutex_lock(&g->lock);
	before = g->added;
	pthread_mutex_unlock(&g->lock);
	if (g->admit(g->ctx, fd))
		return;
	pthread_mutex_lock(&g->lock);
	while (g->running && g->added == before &&
	       pthread_cond_timedwait(&g->change, &g->lock, &ts) != ETIMEDOUT)
		;
	pthread_mutex_unlock(&g->lock);
}

static void *work(void *ctx)
{
	struct http_guard *g = ctx;
	struct pollfd fds[2] = { { .fd = g->wake, .events = POLLIN }, { .events = POLLIN } };
	bool running, room;
	int fd;

	for (;;) {
		pthread_mutex_lock(&g->lock);
		running = g->running;
		room = has_room(g);
		pthread_mutex_unlock(&g->lock);
		if (!running)
			return NULL;
		fds[1].fd = room ? g->socket : -1;
		if (poll(fds, 2, room ? LOOK_MSEC : FULL_MSEC) <= 0 || !room || !fds[1].revents)
			continue;
		fd = accept4(g->socket, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
		if (fd >= 0 && !has_place(g, http_peer_of(fd).id))
			refuse(g, fd);
		else if (fd >= 0)
			admit(g, fd);
		else if (errno != EAGAIN && errno != EINTR && errno != ECONNABORTED)
			poll(fds, 1, FULL_MSEC);	/* no descriptors, say */
	}
}

int http_guard_begin(struct http_guard *g)
{
	pthread_condattr_t attr;
	int err;

	g->wake = eventfd(0, EFD_CLOEXEC);
	if (g->wake < 0)
		return -errno;
	pthread_mutex_init(&g->lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&g->change, &attr);
	pthread_condattr_destroy(&attr);
	g->running = true;
	err = gprof_thread_start(&g->thread, work, g, "http-guard");
	if (err) {
		g->running = false;
		close(g->wake);
	}
	return -err;
}

void http_guard_end(struct http_guard *g)
{
	if (!g->running)
		return;
	pthread_mutex_lock(&g->lock);
	g->running = false;
	pthread_cond_signal(&g->change);
	pthread_mutex_unlock(&g->lock);
	eventfd_write(g->wake, 1);
	pthread_join(g->thread, NULL);
	close(g->wake);
}

struct http_connection *http_guard_add(struct http_guard *g, int fd)
{
	struct http_connection *c = calloc(1, sizeof(*c));

	if (!c)
		return NULL;
	c->fd = fd;
	c->peer = http_peer_of(fd);
	c->since_ns = now_ns();
	pthread_mutex_lock(&g->lock);
	c->next = g->clients;
	g->clients = c;
	g->nr++;
	g->added++;
	pthread_cond_signal(&g->change);
	pthread_mutex_unlock(&g->lock);
	return c;
}

void http_guard_remove(struct http_guard *g, struct http_connection *c)
{
	pthread_mutex_lock(&g->lock);
	for (struct http_connection **p = &g->clients; *p; p = &(*p)->next) {
		if (*p == c) {
			*p = c->next;
			g->nr--;
			break;
		}
	}
	pthread_cond_signal(&g->change);
	pthread_mutex_unlock(&g->lock);
	free(c);
}

static void set(struct http_guard *g, struct http_connection *c, bool asked, uint64_t seconds)
{
	if (!c)
		return;
	pthread_mutex_lock(&g->lock);
	c->asked = asked;
	c->answered = false;
	c->since_ns = now_ns();
	c->deadline_ns = seconds ? c->since_ns + seconds * NS : 0;
	pthread_mutex_unlock(&g->lock);
}

void http_guard_request(struct http_guard *g, struct http_connection *c, uint64_t seconds)
{
	set(g, c, true, seconds);
}

static void give_time(struct http_guard *g, struct http_connection *c, uint64_t taken)
{
	pthread_mutex_lock(&g->lock);
	c->answered = true;
	c->taken = taken;
	c->deadline_ns = now_ns() + HTTP_PIECE_SECONDS * NS;
	pthread_mutex_unlock(&g->lock);
}

void http_guard_answered(struct http_guard *g, struct http_connection *c)
{
	if (c)
		give_time(g, c, 0);
}

void http_guard_progress(struct http_guard *g, struct http_connection *c, uint64_t bytes)
{
	if (c && bytes - c->taken >= HTTP_PIECE_BYTES)
		give_time(g, c, bytes);
}

void http_guard_tired(struct http_guard *g, struct http_connection *c)
{
	if (!c)
		return;
	pthread_mutex_lock(&g->lock);
	drop_rest(c);
	pthread_mutex_unlock(&g->lock);
}

void http_guard_next(struct http_guard *g, struct http_connection *c, uint64_t seconds)
{
	set(g, c, false, seconds);
}
