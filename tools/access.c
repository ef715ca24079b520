// SPDX-License-Identifier: GPL-2.0-only
/*
 * Who may ask.
 *
 * Checking a hash by bcrypt takes a tenth of a second on purpose. So it is done by one
 * thread at a time, lest guessing takes all CPUs, and what was right is remembered, as a
 * keyed hash: a scraper asks a hundred times a second.
 */
#include "access.h"

#include <crypt.h>
#include <errno.h>
#include <gnutls/crypto.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "certificate.h"
#include "cmd.h"
#include "say.h"
#include "web_config.h"

#define KEY_SIZE	32
#define MAC_SIZE	32
#define TOKEN_MIN	16
#define WAITERS_MAX	8	/* for their turn to be hashed */

/**
 * struct access - who may ask
 * @lock: of all below
 * @slow: held while a password is hashed
 * @waiters: of those who hold it or wait for it
 * @web_config: path, or NULL
 * @token_file: path, or NULL
 * @web: what the first says
 * @token: what the second says, or NULL
 * @cert: certificate, or NULL
 * @key: random, for @known
 * @known: of each user, the password that was right last
 * @is_known: there is one
 */
struct access {
	pthread_mutex_t lock;
	pthread_mutex_t slow;
	unsigned int waiters;
	const char *web_config;
	const char *token_file;
	struct web_config web;
	char *token;
	struct certificate *cert;
	unsigned char key[KEY_SIZE];
	unsigned char known[WEB_USERS_MAX][MAC_SIZE];
	bool is_known[WEB_USERS_MAX];
};

/* Takes as long whatever they have in common. */
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
		.slow = PTHREAD_MUTEX_INITIALIZER,
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
		say("%s; who may ask is as it was", why);
		free(why);
		web_config_free(&web);
		free(token);
		return;
	}
	if (cert)
		certificate_use(cert);
	pthread_mutex_lock(&a->lock);
	web_config_free(&a->web);
	a->web = web;
	free(a->token);
	a->token = token;
	memset(a->is_known, 0, sizeof(a->is_known));
	pthread_mutex_unlock(&a->lock);
	say("who may ask was read again");
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

static size_t find_user(const struct access *a, const char *user)
{
	size_t i;

	for (i = 0; i < a->web.nr_users; i++)
		if (!strcmp(a->web.users[i].name, user))
			break;
	return i;
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

/* The dearest hash: who asks in the name of one who is not there waits as long. */
static const char *nobodys_hash(const struct access *a)
{
	const char *dearest = a->web.users[0].hash;

	/* "$2y$10$...", whose number is how dear it is */
	for (size_t i = 1; i < a->web.nr_users; i++)
		if (strncmp(a->web.users[i].hash + 4, dearest + 4, 2) > 0)
			dearest = a->web.users[i].hash;
	return dearest;
}

/* What is already known; else 0, and what is to be hashed, or -EBUSY. With the lock held. */
static int look_up(struct access *a, const char *user, const unsigned char now[MAC_SIZE],
		   char **hash, bool *there)
{
	size_t i = find_user(a, user);

	*there = i < a->web.nr_users;
	if (*there && a->is_known[i] && same(a->known[i], now, MAC_SIZE))
		return 1;
	if (!a->web.nr_users)
		return 0;
	if (a->waiters == WAITERS_MAX)
		return -EBUSY;
	a->waiters++;
	*hash = xprintf("%s", *there ? a->web.users[i].hash : nobodys_hash(a));
	return 0;
}

int access_password(struct access *a, const char *user, const char *password)
{
	unsigned char now[MAC_SIZE];
	char *hash = NULL;
	bool fits, there;
	size_t i;
	int ret;

	if (!mac(a, password, now))
		return 0;
	pthread_mutex_lock(&a->lock);
	ret = look_up(a, user, now, &hash, &there);
	pthread_mutex_unlock(&a->lock);
	if (!hash)
		return ret;
	pthread_mutex_lock(&a->slow);
	fits = hash_fits(hash, password) && there;
	pthread_mutex_unlock(&a->slow);
	pthread_mutex_lock(&a->lock);
	a->waiters--;
	/* Who may ask may have been read again meanwhile. */
	i = find_user(a, user);
	fits = fits && i < a->web.nr_users && !strcmp(a->web.users[i].hash, hash);
	if (fits) {
		memcpy(a->known[i], now, MAC_SIZE);
		a->is_known[i] = true;
	}
	pthread_mutex_unlock(&a->lock);
	free(hash);
	return fits;
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
