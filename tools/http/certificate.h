/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The server's certificate, which may be renewed while it serves.
 */
#ifndef TOOLS_CERTIFICATE_H
#define TOOLS_CERTIFICATE_H

#include <stdbool.h>

struct certificate;

/**
 * certificate_read() - read a certificate and its key
 * @c: gets it, for certificate_use() or certificate_free()
 * @cert_file: PEM, with its chain
 * @key_file: PEM, not encrypted
 *
 * One that has expired, or is not valid yet, is told, and is used: clients will refuse it.
 *
 * Return: NULL, or a sentence for free().
 */
char *certificate_read(struct certificate **c, const char *cert_file, const char *key_file);
void certificate_free(struct certificate *c);

/*
 * certificate_use() - use it for new connections; the process has one. NULL: none, when there are
 * no new connections any more
 */
void certificate_use(struct certificate *c);

/* certificate_callback() - for MHD_OPTION_HTTPS_CERT_CALLBACK */
void *certificate_callback(void);

/* Protocols: TLS 1.2 and 1.3, as GnuTLS writes it. */
#define CERTIFICATE_TLS	"NORMAL:-VERS-ALL:+VERS-TLS1.3:+VERS-TLS1.2"

/*
 * certificate_versions() - of a session of GnuTLS, before its handshake: that, or 1.3 alone.
 * False: it is as it was
 */
bool certificate_versions(void *session, bool tls13);

#endif /* TOOLS_CERTIFICATE_H */
