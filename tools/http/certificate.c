// SPDX-License-Identifier: GPL-2.0-only
/*
 * The server's certificate. A handshake uses its certificate until it ends, so a replaced one
 * is kept for longer than handshakes may take.
 */
#include "certificate.h"

#include <errno.h>
#include <gnutls/abstract.h>
#include <gnutls/gnutls.h>
#include <gnutls/x509.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cli/diag.h"
#include "web_config.h"

#define CHAIN_MAX	8
#define KEPT_SECONDS	60

/**
 * struct certificate - with its chain and its key
 * @chain: itself, and its issuers
 * @nr: length of @chain
 * @key: private key
 * @replaced: when another took its place
 * @older: the one before
 */
struct certificate {
	gnutls_pcert_st chain[CHAIN_MAX];
	unsigned int nr;
	gnutls_privkey_t key;
	time_t replaced;
	struct certificate *older;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct certificate *used;

static time_t now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec;
}

void certificate_free(struct certificate *c)
{
	if (!c)
		return;
	for (unsigned int i = 0; i < c->nr; i++)
		gnutls_pcert_deinit(&c->chain[i]);
	if (c->key)
		gnutls_privkey_deinit(c->key);
	free(c);
}

static char *read_key(struct certificate *c, const char *path)
{
	char *text = read_small_file(path);
	gnutls_datum_t pem = { (unsigned char *)text, text ? strlen(text) : 0 };
	int err;

	if (!text)
		return xprintf("%s: %s", path, strerror(errno));
	err = gnutls_privkey_init(&c->key);
	if (!err)
		err = gnutls_privkey_import_x509_raw(c->key, &pem, GNUTLS_X509_FMT_PEM, NULL, 0);
	explicit_bzero(text, pem.size);
	free(text);
	return err ? xprintf("%s: it is no private key without a password, in PEM (%s)", path,
			     gnutls_strerror(err)) : NULL;
}

/* A key that is not the certificate's would be seen by clients alone. */
static char *check_pair(const struct certificate *c, const char *cert_file, const char *key_file)
{
	unsigned char a[64], b[64];
	size_t na = sizeof(a), nb = sizeof(b);
	gnutls_pubkey_t pub;
	char *why = NULL;

	if (gnutls_pubkey_init(&pub))
		return xprintf("no memory for a key");
	if (gnutls_pubkey_get_key_id(c->chain[0].pubkey, 0, a, &na) ||
	    gnutls_pubkey_import_privkey(pub, c->key, 0, 0) ||
	    gnutls_pubkey_get_key_id(pub, 0, b, &nb) || na != nb || memcmp(a, b, na))
		why = xprintf("%s: it is not the key of the certificate in %s", key_file, cert_file);
	gnutls_pubkey_deinit(pub);
	return why;
}

static void report_dates(const gnutls_datum_t *pem, const char *path)
{
	time_t at = time(NULL);
	gnutls_x509_crt_t crt;

	if (gnutls_x509_crt_init(&crt))
		return;
	if (!gnutls_x509_crt_import(crt, pem, GNUTLS_X509_FMT_PEM)) {
		if (gnutls_x509_crt_get_expiration_time(crt) < at)
			diag("%s: the certificate has expired; clients will refuse it", path);
		if (gnutls_x509_crt_get_activation_time(crt) > at)
			diag("%s: the certificate is not valid yet; clients will refuse it", path);
	}
	gnutls_x509_crt_deinit(crt);
}

char *certificate_read(struct certificate **out, const char *cert_file, const char *key_file)
{
	char *text = read_small_file(cert_file), *why;
	gnutls_datum_t pem = { (unsigned char *)text, text ? strlen(text) : 0 };
	struct certificate *c;
	int err;

	if (!text)
		return xprintf("%s: %s", cert_file, strerror(errno));
	c = xalloc(1, sizeof(*c));
	c->nr = CHAIN_MAX;
	err = gnutls_pcert_list_import_x509_raw(c->chain, &c->nr, &pem, GNUTLS_X509_FMT_PEM, 0);
	if (err) {
		c->nr = 0;
		why = xprintf("%s: it is no certificate in PEM, or a chain of more than %d (%s)",
			      cert_file, CHAIN_MAX, gnutls_strerror(err));
	} else {
		why = read_key(c, key_file);
	}
	if (!why)
		why = check_pair(c, cert_file, key_file);
	if (why)
		certificate_free(c);
	else
		report_dates(&pem, cert_file);
	free(text);
	if (!why)
		*out = c;
	return why;
}

void certificate_use(struct certificate *c)
{
	struct certificate **p;

	pthread_mutex_lock(&lock);
	if (used)
		used->replaced = now();
	if (c)
		c->older = used;
	for (p = c ? &c->older : &used; *p;) {
		struct certificate *old = *p;

		if (c && now() - old->replaced < KEPT_SECONDS) {
			p = &old->older;
			continue;
		}
		*p = old->older;
		certificate_free(old);
	}
	used = c;
	pthread_mutex_unlock(&lock);
}

static int give(gnutls_session_t session, const gnutls_datum_t *issuers, int nr_issuers,
		const gnutls_pk_algorithm_t *algorithms, int nr_algorithms, gnutls_pcert_st **chain,
		unsigned int *nr, gnutls_privkey_t *key)
{
	(void)session;
	(void)issuers;
	(void)nr_issuers;
	(void)algorithms;
	(void)nr_algorithms;
	pthread_mutex_lock(&lock);
	*chain = used->chain;
	*nr = used->nr;
	*key = used->key;
	pthread_mutex_unlock(&lock);
	return 0;
}

void *certificate_callback(void)
{
	return (void *)give;
}

bool certificate_versions(void *session, bool tls13)
{
	return !gnutls_priority_set_direct(session, tls13 ? "NORMAL:-VERS-ALL:+VERS-TLS1.3" :
					   CERTIFICATE_TLS, NULL);
}
