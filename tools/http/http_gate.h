/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The look at a request before any page is made: is it for this server, and may its client ask?
 */
#ifndef TOOLS_HTTP_GATE_H
#define TOOLS_HTTP_GATE_H

#include <stdbool.h>

#include "http_peer.h"

struct MHD_Connection;
struct access;
struct http_hosts;

/**
 * struct http_gate - conditions for clients
 * @socket: it listens at a socket in the file system, whose mode limits access
 * @access: access at an address, or NULL: all clients, without profiles
 * @hosts: names besides its own, or NULL
 */
struct http_gate {
	bool socket;
	struct access *access;
	const struct http_hosts *hosts;
};

/**
 * struct http_visitor - a client that asks for something
 * @fd: its connection
 * @peer: the client
 * @profile: it asks for a profile
 * @trusted: gets whether it has opened the socket, or has a password or token
 * @status: of HTTP, set where it is refused
 */
struct http_visitor {
	int fd;
	struct http_peer peer;
	bool profile;
	bool trusted;
	unsigned int status;
};

/* http_gate_refuse() - a sentence for a request that is refused, with @status set, or NULL */
const char *http_gate_refuse(const struct http_gate *g, struct MHD_Connection *c,
			     struct http_visitor *v);

#endif /* TOOLS_HTTP_GATE_H */
