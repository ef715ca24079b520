/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * --web.config.file in the form that Prometheus' exporters have it (exporter-toolkit): users, and
 * encryption.
 *
 *	tls_server_config:
 *	  cert_file: server.crt
 *	  key_file: server.key
 *	basic_auth_users:
 *	  alice: $2y$10$...
 *
 * Of YAML it takes the subset of such files: mappings of two levels, comments, plain and quoted
 * scalars. It refuses unknown keys: no setting that was meant to protect is left out silently.
 */
#ifndef TOOLS_WEB_CONFIG_H
#define TOOLS_WEB_CONFIG_H

#include <stdbool.h>
#include <stddef.h>

#define WEB_USERS_MAX	64

/**
 * struct web_user - a user with access
 * @name: user
 * @hash: of the password, by bcrypt
 */
struct web_user {
	char *name;
	char *hash;
};

/**
 * struct web_config - a file
 * @cert_file: certificate and its chain, PEM; NULL: no TLS
 * @key_file: its key, PEM
 * @tls13: nothing older than TLS 1.3
 * @users: users with access; none: all
 * @nr_users: number of @users
 */
struct web_config {
	char *cert_file;
	char *key_file;
	bool tls13;
	struct web_user users[WEB_USERS_MAX];
	size_t nr_users;
};

/**
 * web_config_read() - read a file
 * @c: gets it, for web_config_free(); untouched on failure
 * @path: of the file; those that it names are relative to it
 *
 * Return: NULL, or a sentence for free().
 */
char *web_config_read(struct web_config *c, const char *path);

/* web_config_parse() - likewise of a text, which is changed; @path is for sentences */
char *web_config_parse(struct web_config *c, const char *path, char *text);

void web_config_free(struct web_config *c);

/* read_small_file() - a file of at most 64 KiB, with a NUL; NULL with errno */
char *read_small_file(const char *path);

#endif /* TOOLS_WEB_CONFIG_H */
