/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The names that a web server answers to. A page elsewhere whose name is made to point at this
 * machine (DNS rebinding) has a browser ask here on its behalf, under that name.
 */
#ifndef TOOLS_HTTP_HOST_H
#define TOOLS_HTTP_HOST_H

#include <stdbool.h>
#include <stddef.h>

/**
 * struct http_hosts - names of a server besides those that it has anyway
 * @names: each of a --host, an IPv6 address in brackets
 * @nr: length of @names
 * @room: for xgrow()
 */
struct http_hosts {
	const char **names;
	size_t nr;
	size_t room;
};

/* http_hosts_option() - take a --host: STATUS_OK, or STATUS_USAGE after a sentence */
int http_hosts_option(struct http_hosts *hosts, const char *name);
void http_hosts_free(struct http_hosts *hosts);

/**
 * http_host_fits() - is a request for this server?
 * @hosts: names that it was given, or NULL
 * @host: header of the request, with a port or without
 * @fd: connection
 *
 * The server has its address, localhost, and the host's names: its own, that up to the first dot,
 * and the resolver's. The resolver is asked once, when no other name fits.
 */
bool http_host_fits(const struct http_hosts *hosts, const char *host, int fd);

#endif /* TOOLS_HTTP_HOST_H */
