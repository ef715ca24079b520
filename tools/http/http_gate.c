// SPDX-License-Identifier: GPL-2.0-only
/*
 * First the name of the host, then the password or token.
 */
#include "http_gate.h"

#include <microhttpd.h>
#include <string.h>
#include <strings.h>

#include "access.h"
#include "http_host.h"

/* 1, 0, or -EBUSY: too many passwords wait. */
static int has_password(const struct http_gate *g, struct MHD_Connection *c,
			const struct http_visitor *v)
{
	char *password = NULL, *user = MHD_basic_auth_get_username_password(c, &password);
	int may = 0;

	/* A hash is meant to be dear: not without users, or where a token will do. */
	if (user && password) {
		may = access_token(g->access, password);
		if (!may && access_has_users(g->access))
			may = access_password(g->access, v->peer.id, user, password);
	}
	if (password)
		explicit_bzero(password, strlen(password));
	MHD_free(user);
	MHD_free(password);
	return may;
}

static bool has_token(const struct http_gate *g, struct MHD_Connection *c)
{
	static const char bearer[] = "Bearer ";
	const char *value = MHD_lookup_connection_value(c, MHD_HEADER_KIND, "Authorization");

	return value && !strncasecmp(value, bearer, strlen(bearer)) &&
	       access_token(g->access, value + strlen(bearer));
}

/**
 * struct naming - the headers that name a host
 * @hosts: names that fit, besides those of the server
 * @fd: connection
 * @wrong: one names another host
 */
struct naming {
	const struct http_hosts *hosts;
	int fd;
	bool wrong;
};

static enum MHD_Result check_header(void *cls, enum MHD_ValueKind kind, const char *key,
				    const char *value)
{
	struct naming *n = cls;

	(void)kind;
	if (!strcasecmp(key, "Host") && !http_host_fits(n->hosts, value ? value : "", n->fd))
		n->wrong = true;
	return MHD_YES;
}

/* A browser always names the host, and never comes to a socket in the file system. */
static const char *refuse_host(const struct http_gate *g, struct MHD_Connection *c,
			       struct http_visitor *v)
{
	struct naming n = { .hosts = g->hosts, .fd = v->fd };

	if (!g->socket)
		MHD_get_connection_values(c, MHD_HEADER_KIND, check_header, &n);
	if (!n.wrong)
		return NULL;
	v->status = MHD_HTTP_MISDIRECTED_REQUEST;
	return "this server answers to its address, localhost and the names of its host: start it "
	       "with --host NAME to have it answer to another name";
}

static const char *refuse_stranger(const struct http_gate *g, struct MHD_Connection *c,
				   struct http_visitor *v)
{
	bool users = access_has_users(g->access), token = access_has_token(g->access);
	int may;

	v->trusted = g->socket || (token && has_token(g, c));
	if (v->trusted || (!v->profile && !users))
		return NULL;
	if (!users && !token) {
		v->status = MHD_HTTP_FORBIDDEN;
		return "profiles show programs of other users: start gprofctl serve with --socket, "
		       "--web.config.file or --token-file";
	}
	may = has_password(g, c, v);
	v->trusted = may > 0;
	if (v->trusted)
		return NULL;
	if (may < 0) {
		v->status = MHD_HTTP_SERVICE_UNAVAILABLE;
		return "many passwords wait to be looked at; ask again in a second";
	}
	v->status = MHD_HTTP_UNAUTHORIZED;
	return users ? "a user and a password are wanted here, and they were not right" :
		       "a token is wanted here, as Authorization: Bearer or as a password";
}

const char *http_gate_refuse(const struct http_gate *g, struct MHD_Connection *c,
			     struct http_visitor *v)
{
	const char *why = refuse_host(g, c, v);

	return why ? why : refuse_stranger(g, c, v);
}
