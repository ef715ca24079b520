/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Access of clients: passwords and a token, read from files, and read again on request.
 *
 * Any thread may call; a new reading replaces the old one in one step, and only when it succeeds.
 */
#ifndef TOOLS_ACCESS_H
#define TOOLS_ACCESS_H

#include <stdbool.h>
#include <stdint.h>

struct access;
struct sockaddr;

/**
 * access_new() - read the files
 * @web_config: --web.config.file, or NULL
 * @token_file: with a token in its first line, or NULL
 * @status: gets the exit status on failure
 *
 * Return: for access_free(), or NULL after a sentence.
 */
struct access *access_new(const char *web_config, const char *token_file, int *status);
void access_free(struct access *a);

/*
 * access_reload() - read them again; a file that cannot be read is reported, and its contents stay
 * as before
 */
void access_reload(struct access *a);

/* access_has_users() - is a password asked for, for all pages? access_has_token() - a token? */
bool access_has_users(struct access *a);
bool access_has_token(struct access *a);

/* access_tls() - does the configuration ask for TLS? access_tls13() - of 1.3 at least? */
bool access_tls(struct access *a);
bool access_tls13(struct access *a);

/* access_peer() - an address as a number, to count guesses */
uint64_t access_peer(const struct sockaddr *from);

/**
 * access_password() - is that the password of that user?
 * @a: passwords and token
 * @peer: client
 * @user: name
 * @password: the password
 *
 * One that was right before is answered at once, as long as the user's hash is the same. Else it
 * takes as long as its hash, and when it is wrong as the dearest hash there is, whether the user
 * is there or not; one at a time, in the order of coming. Few may wait, and of each @peer fewer,
 * since guesses on all connections would keep all others out.
 *
 * Return: 1 or 0, or -EBUSY: too many wait.
 */
int access_password(struct access *a, uint64_t peer, const char *user, const char *password);

/* access_token() - is that the token? */
bool access_token(struct access *a, const char *token);

#endif /* TOOLS_ACCESS_H */
