// SPDX-License-Identifier: GPL-2.0-only
/*
 * Access of clients: passwords and a token.
 *
 * Checking a hash by bcrypt takes a tenth of a second on purpose. So it is done by one thread at a
 * time, lest guessing takes all CPUs, and a right password is cached, as a keyed hash: a scraper
 * asks a hundred times a second. Waiting clients have their turn in the order of coming, and of
 * one address few may wait: an attacker's guesses do not block other clients.
 */
#include "access.h"

#include <crypt.h>
#include <errno.h>
#include <gnutls/crypto.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "certificate.h"
#include "cli/cmd.h"
#include "cli/diag.h"
#include "web_config.h"

#define KEY_SIZE	32
#define MAC_SIZE	32
#define TOKEN_MIN	16
#define WAITERS_MAX	16	/* for their turn to be hashed */
#define PEER_WAITERS_MAX	2	/* of one address */

/**
 * struct access - passwords and token
 * @lock: of all below
 * @moved: @turn has
 * @turn: check under way; one at a time
 * @tickets: turns that were given out
 * @waiters: addresses of the clients that have their turn or wait for it
 * @nr_waiters: number of @waiters
 * @web_config: path, or NULL
 * @token_file: path, or NULL
 * @web: contents of the first
 * @token: contents of the second, or NULL
 * @cert: certificate, or NULL
 * @key: random, for @known
 * @known: of each user, the password that was right last
 * @is_known: there is one
 */
struct access {
	pthread_mutex_t lock;
	pthread_cond_t moved;
	unsigned long turn;
	unsigned long tickets;
	uint64_t waiters[WAITERS_MAX];
	size_t nr_waiters;
	const char *web_config;
	const char *token_file;
	struct web_config web;
	char *token;
	struct certificate *cert;
	unsigned char key[KEY_SIZE];
	unsigned char known[WEB_USERS_MAX][MAC_SIZE];
	bool is_known[WEB_USERS_MAX];
};

/* Takes the same time for any common prefix. */
static bool same(const void *pa, const void *pb, size_t n)
{
	const volatile unsigned char *a = pa, *b = pb;
	unsigned char diff = 0;

	for (size_t i = 0; i < n; i++)
		diff |= a[i] ^ b[i];
	return !diff;
}

static bool mac(const struct access *a, const char *text, unsigned char out[MAC_SIZE])
{
	return !gnutls_hmac_fast(GNUTLS_MAC_SHA256, a->key, KEY_SIZE, text, strlen(text), out);
}

static char *read_token(const char *path, char **token)
{
	char *text = read_small_file(path);

	if (!text)
		return xprintf("%s: %s", path, strerror(errno));
	text[strcspn(text, "\r\n")] = '\0';
	if (strlen(text) < TOKEN_MIN) {
		free(text);
		return xprintf("%s: its first line is the token, of %d characters at least", path,
			       TOKEN_MIN);
	}
	*token = text;
	return NULL;
}

/* A sentence, or NULL; @web and @token are then for the caller. */
static char *read_files(const struct access *a, struct web_config *web, char **token,
			struct certificate **cert)
{
	char *why = NULL;

	if (a->web_config)
		why = web_config_read(web, a->web_config);
	if (!why && web->cert_file)
		why = certificate_read(cert, web->cert_file, web->key_file);
	if (!why && a->token_file)
		why = read_token(a->token_file, token);
	if (!why)
		return NULL;
	web_config_free(web);
	certificate_free(*cert);
	return why;
}

struct access *access_new(const char *web_config, const char *token_file, int *status)
{
	struct access *a = xalloc(1, sizeof(*a));
	char *why;

	*a = (struct access){
		.lock = PTHREAD_MUTEX_INITIALIZER,
		.moved = PTHREAD_COND_INITIALIZER,
		.web_config = web_config,
		.token_file = token_file,
	};
	if (gnutls_rnd(GNUTLS_RND_KEY, a->key, sizeof(a->key)))
		why = xprintf("there are no random numbers");
	else
		why = read_files(a, &a->web, &a->token, &a->cert);
	if (!why) {
		if (a->cert)
			certificate_use(a->cert);
		return a;
	}
	*status = fail("%s", why);
	free(why);
	free(a);
	return NULL;
}

void access_free(struct access *a)
{
	if (!a)
		return;
	web_config_free(&a->web);
	certificate_use(NULL);
	free(a->token);
	free(a);
}

static size_t find_user(const struct web_config *web, const char *user)
{
	size_t i;

	for (i = 0; i < web->nr_users; i++)
		if (!strcmp(web->users[i].name, user))
			break;
	return i;
}

/* A password that was right for a hash stays right for it. With the lock held. */
static void replace_users(struct access *a, struct web_config *web)
{
	unsigned char known[WEB_USERS_MAX][MAC_SIZE] = { 0 };
	bool is_known[WEB_USERS_MAX] = { 0 };

	for (size_t i = 0; i < web->nr_users; i++) {
		size_t old = find_user(&a->web, web->users[i].name);

		if (old == a->web.nr_users || strcmp(a->web.users[old].hash, web->users[i].hash))
			continue;
		memcpy(known[i], a->known[old], MAC_SIZE);
		is_known[i] = a->is_known[old];
	}
	web_config_free(&a->web);
	a->web = *web;
	memcpy(a->known, known, sizeof(known));
	memcpy(a->is_known, is_known, sizeof(is_known));
}

void access_reload(struct access *a)
{
	struct web_config web = { 0 };
	struct certificate *cert = NULL;
	char *token = NULL, *why = read_files(a, &web, &token, &cert);

	if (!why && !web.cert_file != !a->web.cert_file) {
		why = xprintf("%s: whether there is TLS is settled when the server starts: restart it",
			      a->web_config);
		certificate_free(cert);
	} else if (!why && (!web.nr_users != !a->web.nr_users)) {
		why = xprintf("%s: whether passwords are asked for is settled when the server starts: "
			      "restart it", a->web_config);
		certificate_free(cert);
	}
	if (why) {
		diag("%s; passwords and token are as they were", why);
		free(why);
		web_config_free(&web);
		free(token);
		return;
	}
	if (cert)
		certificate_use(cert);
	pthread_mutex_lock(&a->lock);
	replace_users(a, &web);
	free(a->token);
	a->token = token;
	pthread_mutex_unlock(&a->lock);
	diag("passwords and token were read again");
}

bool access_has_users(struct access *a)
{
	bool has;

	if (!a)
		return false;
	pthread_mutex_lock(&a->lock);
	has = a->web.nr_users;
	pthread_mutex_unlock(&a->lock);
	return has;
}

bool access_has_token(struct access *a)
{
	return a && a->token_file;
}

bool access_tls(struct access *a)
{
	bool tls;

	if (!a)
		return false;
	pthread_mutex_lock(&a->lock);
	tls = a->web.cert_file;
	pthread_mutex_unlock(&a->lock);
	return tls;
}

bool access_tls13(struct access *a)
{
	bool tls13;

	pthread_mutex_lock(&a->lock);
	tls13 = a->web.tls13;
	pthread_mutex_unlock(&a->lock);
	return tls13;
}

static bool hash_fits(const char *hash, const char *password)
{
	struct crypt_data *data = xalloc(1, sizeof(*data));
	const char *got = crypt_r(password, hash, data);
	bool fits = got && strlen(got) == strlen(hash) && same(got, hash, strlen(hash));

	explicit_bzero(data, sizeof(*data));
	free(data);
	return fits;
}

/* "$2y$10$...": each 1 more doubles the time. */
static int cost_of(const char *hash)
{
	return atoi(hash + 4);
}

/* The dearest hash: a wrong password takes as long as that one. */
static const char *dearest_hash(const struct access *a)
{
	const char *dearest = a->web.users[0].hash;

	for (size_t i = 1; i < a->web.nr_users; i++)
		if (cost_of(a->web.users[i].hash) > cost_of(dearest))
			dearest = a->web.users[i].hash;
	return dearest;
}

/*
 * An unknown user takes a hash of cost D. A user with a lower cost C takes, when the password is
 * wrong, 2^C, and then 2^C + 2^(C+1) ... 2^(D-1): the same sum.
 */
static void equalize_time(const char *hash, int dearest, const char *password)
{
	char *dearer = xprintf("%s", hash);

	for (int cost = cost_of(hash); cost < dearest; cost++) {
		dearer[4] = '0' + cost / 10;
		dearer[5] = '0' + cost % 10;
		hash_fits(dearer, password);
	}
	free(dearer);
}

/**
 * struct check - a password that is to be hashed
 * @hash: its user's, or the dearest
 * @dearest: cost of that
 * @there: there is such a user
 * @peer: client
 * @ticket: for a turn
 */
struct check {
	char *hash;
	int dearest;
	bool there;
	uint64_t peer;
	unsigned long ticket;
};

static bool may_wait(const struct access *a, uint64_t peer)
{
	unsigned int n = 0;

	for (size_t i = 0; i < a->nr_waiters; i++)
		n += a->waiters[i] == peer;
	return a->nr_waiters < WAITERS_MAX && n < PEER_WAITERS_MAX;
}

/* A cached result, without a wait; else 0, and a check, or -EBUSY. Locked. */
static int look_up(struct access *a, const char *user, const unsigned char now[MAC_SIZE],
		   struct check *c)
{
	size_t i = find_user(&a->web, user);

	c->there = i < a->web.nr_users;
	if (c->there && a->is_known[i] && same(a->known[i], now, MAC_SIZE))
		return 1;
	if (!a->web.nr_users)
		return 0;
	if (!may_wait(a, c->peer))
		return -EBUSY;
	a->waiters[a->nr_waiters++] = c->peer;
	c->ticket = a->tickets++;
	c->dearest = cost_of(dearest_hash(a));
	c->hash = xprintf("%s", c->there ? a->web.users[i].hash : dearest_hash(a));
	return 0;
}

/* With the lock held, but not while it is hashed. */
static bool check(struct access *a, struct check *c, const char *password)
{
	bool fits;

	while (c->ticket != a->turn)
		pthread_cond_wait(&a->moved, &a->lock);
	pthread_mutex_unlock(&a->lock);
	fits = hash_fits(c->hash, password) && c->there;
	if (!fits && c->there)
		equalize_time(c->hash, c->dearest, password);
	pthread_mutex_lock(&a->lock);
	a->turn++;
	pthread_cond_broadcast(&a->moved);
	for (size_t i = 0; i < a->nr_waiters; i++) {
		if (a->waiters[i] != c->peer)
			continue;
		a->waiters[i] = a->waiters[--a->nr_waiters];
		break;
	}
	return fits;
}

int access_password(struct access *a, uint64_t peer, const char *user, const char *password)
{
	struct check c = { .peer = peer };
	unsigned char now[MAC_SIZE];
	size_t i;
	int ret;

	if (!mac(a, password, now))
		return 0;
	pthread_mutex_lock(&a->lock);
	ret = look_up(a, user, now, &c);
	if (c.hash) {
		ret = check(a, &c, password);
		/* The files may have been read again meanwhile. */
		i = find_user(&a->web, user);
		ret = ret && i < a->web.nr_users && !strcmp(a->web.users[i].hash, c.hash);
		if (ret) {
			memcpy(a->known[i], now, MAC_SIZE);
			a->is_known[i] = true;
		}
	}
	pthread_mutex_unlock(&a->lock);
	free(c.hash);
	return ret;
}

/*
 * Of IPv6 a host has as many addresses as it likes, but one network, of 64 bits. A socket of
 * both kinds has those of IPv4 within one of IPv6.
 */
static uint64_t peer_of_6(const struct in6_addr *a)
{
	uint64_t peer = 0;

	if (IN6_IS_ADDR_V4MAPPED(a))
		memcpy(&peer, &a->s6_addr[12], 4);
	else
		memcpy(&peer, a, 8);
	return peer;
}

uint64_t access_peer(const struct sockaddr *from)
{
	uint64_t peer = 0;

	if (from && from->sa_family == AF_INET)
		memcpy(&peer, &((const struct sockaddr_in *)from)->sin_addr, 4);
	else if (from && from->sa_family == AF_INET6)
		peer = peer_of_6(&((const struct sockaddr_in6 *)from)->sin6_addr);
	return peer;
}

bool access_token(struct access *a, const char *token)
{
	unsigned char want[MAC_SIZE], got[MAC_SIZE];
	bool fits;

	pthread_mutex_lock(&a->lock);
	fits = a->token && mac(a, a->token, want) && mac(a, token, got) && same(want, got, MAC_SIZE);
	pthread_mutex_unlock(&a->lock);
	return fits;
}
