// SPDX-License-Identifier: GPL-2.0-only
/*
 * Names are compared without regard to case and to a last dot, addresses as numbers. Any
 * thread may ask.
 */
#include "http_host.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

#include "cli/cmd.h"
#include "cli/diag.h"

/* A name of DNS has 253 characters at most. */
#define NAME_SIZE	256

/**
 * struct name - a host, taken apart
 * @text: its name, without brackets, port and last dot
 * @family: of an address, or 0
 * @address: of that family
 */
struct name {
	char text[NAME_SIZE];
	int family;
	struct in6_addr address;
};

static pthread_once_t once = PTHREAD_ONCE_INIT;
static char canonical[NAME_SIZE];

static bool is_port(const char *text)
{
	return !*text || (*text == ':' && strspn(text + 1, "0123456789") == strlen(text + 1));
}

static bool parse(const char *host, struct name *n)
{
	bool brackets = *host == '[';
	size_t size;

	memset(n, 0, sizeof(*n));
	host += brackets;
	size = strcspn(host, brackets ? "]" : ":");
	if (!size || size >= sizeof(n->text) || (brackets && !host[size]) ||
	    !is_port(host + size + brackets))
		return false;
	memcpy(n->text, host, size);
	if (brackets) {
		n->family = AF_INET6;
		return inet_pton(AF_INET6, n->text, &n->address) == 1;
	}
	if (n->text[size - 1] == '.')
		n->text[size - 1] = '\0';
	if (inet_pton(AF_INET, n->text, &n->address) == 1)
		n->family = AF_INET;
	return n->text[0];
}

int http_hosts_option(struct http_hosts *hosts, const char *name)
{
	struct in6_addr address;
	struct name n;
	char *copy;

	if (inet_pton(AF_INET6, name, &address) == 1)
		copy = xprintf("[%s]", name);
	else if (parse(name, &n) && !strchr(n.text, ':') && !strchr(name, ':') &&
		 !n.text[strspn(n.text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.")])
		copy = xprintf("%s", name);
	else
		return misused("--host wants the name of a host or its address, without a port, not \"%s\"",
			       name);
	hosts->names = xgrow(hosts->names, hosts->nr, &hosts->room, sizeof(*hosts->names));
	hosts->names[hosts->nr++] = copy;
	return STATUS_OK;
}

void http_hosts_free(struct http_hosts *hosts)
{
	for (size_t i = 0; i < hosts->nr; i++)
		free((char *)hosts->names[i]);
	free(hosts->names);
}

static bool same(const struct name *a, const struct name *b)
{
	if (a->family || b->family)
		return a->family == b->family &&
		       !memcmp(&a->address, &b->address, sizeof(a->address));
	return !strcasecmp(a->text, b->text);
}

static bool is_loopback(const struct name *n)
{
	if (n->family == AF_INET)
		return *(const unsigned char *)&n->address == IN_LOOPBACKNET;
	return n->family == AF_INET6 ? IN6_IS_ADDR_LOOPBACK(&n->address) :
	       !strcasecmp(n->text, "localhost");
}

/* The address that the client connected to: the listening one, or one of all addresses. */
static bool is_where(const struct name *n, int fd)
{
	union {
		struct sockaddr any;
		struct sockaddr_in in;
		struct sockaddr_in6 in6;
	} a = { 0 };
	socklen_t size = sizeof(a);

	if (!n->family || getsockname(fd, &a.any, &size) || a.any.sa_family != n->family)
		return false;
	if (n->family == AF_INET)
		return !memcmp(&n->address, &a.in.sin_addr, sizeof(a.in.sin_addr));
	return !memcmp(&n->address, &a.in6.sin6_addr, sizeof(a.in6.sin6_addr));
}

static void query_resolver(void)
{
	const struct addrinfo hints = { .ai_socktype = SOCK_STREAM, .ai_flags = AI_CANONNAME };
	struct addrinfo *list = NULL;
	char own[NAME_SIZE] = "";

	if (gethostname(own, sizeof(own) - 1) || getaddrinfo(own, NULL, &hints, &list))
		return;
	if (list->ai_canonname && strlen(list->ai_canonname) < sizeof(canonical))
		strcpy(canonical, list->ai_canonname);
	freeaddrinfo(list);
}

static bool is_named(const struct name *n, const char *name)
{
	struct name other;

	return parse(name, &other) && same(n, &other);
}

static bool is_own(const struct name *n)
{
	char own[NAME_SIZE] = "";

	if (n->family || gethostname(own, sizeof(own) - 1))
		return false;
	if (is_named(n, own))
		return true;
	own[strcspn(own, ".")] = '\0';
	if (is_named(n, own))
		return true;
	pthread_once(&once, query_resolver);
	return is_named(n, canonical);
}

bool http_host_fits(const struct http_hosts *hosts, const char *host, int fd)
{
	struct name n;

	if (!parse(host, &n))
		return false;
	if (is_loopback(&n) || is_where(&n, fd))
		return true;
	for (size_t i = 0; hosts && i < hosts->nr; i++)
		if (is_named(&n, hosts->names[i]))
			return true;
	return is_own(&n);
}
