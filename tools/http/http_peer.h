/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The client at the other end of a connection: a user of this machine, or an address.
 */
#ifndef TOOLS_HTTP_PEER_H
#define TOOLS_HTTP_PEER_H

#include <stdint.h>
#include <sys/types.h>

#define HTTP_UID_UNKNOWN	((uid_t)-1)

/**
 * struct http_peer - a client
 * @id: of a client, never 0. Sockets of one user of this machine have one, with any addresses;
 *	others have that of access_peer()
 * @uid: of a user of this machine, or HTTP_UID_UNKNOWN
 */
struct http_peer {
	uint64_t id;
	uid_t uid;
};

/*
 * http_peer_of() - the client of a connected socket. The kernel tells the user of a socket of
 * this network namespace as long as its program holds it open.
 */
struct http_peer http_peer_of(int fd);

#endif /* TOOLS_HTTP_PEER_H */
