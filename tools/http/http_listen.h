/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Sockets to listen at.
 */
#ifndef TOOLS_HTTP_LISTEN_H
#define TOOLS_HTTP_LISTEN_H

#include <stdbool.h>

/*
 * http_listen_at() - "ADDR:PORT", "[ADDR6]:PORT" or "PORT", as http_listen() has it
 * http_listen_path() - a socket in the file system, of that mode; one that nobody listens at
 *	any more is replaced
 *
 * Return: the socket, or -1 after a sentence, with the exit status in @status.
 */
int http_listen_at(const char *address, int *status);
int http_listen_path(const char *path, unsigned int mode, int *status);

/* http_socket_url() - where it is, for free(), and whether this machine alone gets there */
char *http_socket_url(int fd, bool tls, bool *local);

#endif /* TOOLS_HTTP_LISTEN_H */
