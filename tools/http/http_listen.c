// SPDX-License-Identifier: GPL-2.0-only
/*
 * Sockets to listen at: an address and a port, or a path.
 */
#include "http_listen.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "cli/cmd.h"
#include "cli/diag.h"

/* Clients shall wait for a place in turn, rather than try again with ever longer pauses. */
#define BACKLOG		1024
/* A silent client takes no place before that. */
#define SILENT_SECONDS	10

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
		diag("%s: another program listens there already; choose another port, or 0 for any "
		     "that is free",
		     address);
		break;
	case EADDRNOTAVAIL:
		diag("%s: this machine has no such address; 127.0.0.1 is this machine alone, "
		     "0.0.0.0 all its addresses",
		     address);
		break;
	case EACCES:
	case EPERM:
		diag("%s: no permission to listen there; ports below 1024 need root", address);
		break;
	default:
		diag("%s: cannot listen there: %s", address, strerror(error));
	}
	return -1;
}

int http_listen_at(const char *address, int *status)
{
	const struct addrinfo hints = { .ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICSERV };
	struct addrinfo *list = NULL;
	const char *host, *port;
	char *text = xprintf("%s", address);
	int fd = -1, one = 1, silent = SILENT_SECONDS, error;

	*status = STATUS_USAGE;
	if (!split(text, &host, &port)) {
		diag("\"%s\" is no address to listen at; give ADDR:PORT such as 127.0.0.1:9747, "
		     "[::1]:9747, or a port alone",
		     address);
		goto out;
	}
	error = getaddrinfo(host, port, &hints, &list);
	if (error) {
		diag("%s: no such address: %s", address, gai_strerror(error));
		goto out;
	}
	fd = socket(list->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0) {
		refuse(address, errno, status);
		goto out;
	}
	/* Connections of an earlier run that are being buried shall not be in the way. */
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	setsockopt(fd, IPPROTO_TCP, TCP_DEFER_ACCEPT, &silent, sizeof(silent));
	if (list->ai_family == AF_INET6)
		setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &one, sizeof(one));
	if (bind(fd, list->ai_addr, list->ai_addrlen) || listen(fd, BACKLOG)) {
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

/* A socket without a listener is in the way of a new one. */
static bool is_left_over(const char *path, const struct sockaddr_un *un)
{
	struct stat st;
	bool left;
	int fd;

	if (lstat(path, &st) || !S_ISSOCK(st.st_mode))
		return false;
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	left = fd >= 0 && connect(fd, (const struct sockaddr *)un, sizeof(*un)) &&
	       errno == ECONNREFUSED;
	if (fd >= 0)
		close(fd);
	return left;
}

int http_listen_path(const char *path, unsigned int mode, int *status)
{
	struct sockaddr_un un = { .sun_family = AF_UNIX };
	struct stat st;
	mode_t mask;
	int fd, err;

	*status = STATUS_USAGE;
	if (!*path || strlen(path) >= sizeof(un.sun_path)) {
		diag("\"%s\" is no path for a socket, which has 1 to %zu bytes", path,
		     sizeof(un.sun_path) - 1);
		return -1;
	}
	strcpy(un.sun_path, path);
	*status = STATUS_FAILED;
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return refuse(path, errno, status);
	if (is_left_over(path, &un))
		unlink(path);
	/* It is never open to other users. */
	mask = umask(0777 & ~mode);
	err = bind(fd, (struct sockaddr *)&un, sizeof(un)) ? errno : 0;
	umask(mask);
	if (!err && listen(fd, BACKLOG)) {
		err = errno;
		unlink(path);
	}
	if (!err)
		return fd;
	close(fd);
	if (err == EACCES || err == EPERM) {
		diag("%s: no permission to make a socket there", path);
		return -1;
	}
	if (err == EADDRINUSE) {
		diag(lstat(path, &st) || S_ISSOCK(st.st_mode) ?
			     "%s: another program listens there already; choose another path" :
			     "%s: there is a file, which is no socket; choose another path",
		     path);
		return -1;
	}
	return refuse(path, err, status);
}

/* With port 0 only the socket knows where it is. */
char *http_socket_url(int fd, bool tls, bool *local)
{
	union {
		struct sockaddr any;
		struct sockaddr_in in;
		struct sockaddr_in6 in6;
	} a;
	socklen_t size = sizeof(a);
	char text[INET6_ADDRSTRLEN];

	if (getsockname(fd, &a.any, &size))
		return NULL;
	if (a.any.sa_family == AF_INET6) {
		*local = IN6_IS_ADDR_LOOPBACK(&a.in6.sin6_addr);
		inet_ntop(AF_INET6, &a.in6.sin6_addr, text, sizeof(text));
		return xprintf("http%s://[%s]:%u/", tls ? "s" : "", text, ntohs(a.in6.sin6_port));
	}
	*local = ntohl(a.in.sin_addr.s_addr) >> 24 == IN_LOOPBACKNET;
	inet_ntop(AF_INET, &a.in.sin_addr, text, sizeof(text));
	return xprintf("http%s://%s:%u/", tls ? "s" : "", text, ntohs(a.in.sin_port));
}

