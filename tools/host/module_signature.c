// SPDX-License-Identifier: GPL-2.0-only
/* Reads signatures of modules, without a check, which the kernel does. */
#include "module_signature.h"

#include <gnutls/gnutls.h>
#include <gnutls/pkcs7.h>
#include <gnutls/x509.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

static const char magic[] = "~Module signature appended~\n";

#define MAGIC_SIZE	(sizeof(magic) - 1)
#define TRAILER_SIZE	12	/* struct module_signature of the kernel */
#define TYPE_AT		2	/* kind of the signature */
#define TYPE_PKCS7	2
#define LENGTH_AT	8	/* its size, the first byte first */

static void copy_bytes(unsigned char *to, size_t *to_size, const gnutls_datum_t *from)
{
	/* A serial number may have a zero in front, lest it be negative. */
	const unsigned char *data = from->data;
	size_t size = from->size;

	while (size > 1 && !*data) {
		data++;
		size--;
	}
	*to_size = size <= KEY_ID_MAX ? size : 0;
	memcpy(to, data, *to_size);
}

static void common_name(const gnutls_datum_t *dn, char *name, size_t size)
{
	name[0] = '\0';
	if (!dn->data ||
	    gnutls_x509_rdn_get_by_oid(dn, GNUTLS_OID_X520_COMMON_NAME, 0, 0, name, &size) < 0)
		name[0] = '\0';
}

static int read_message(const void *data, size_t size, struct module_signature *sig)
{
	gnutls_datum_t der = { .data = (unsigned char *)data, .size = size };
	gnutls_pkcs7_signature_info_st info;
	gnutls_pkcs7_t message;
	int ret = -1;

	if (gnutls_pkcs7_init(&message) < 0)
		return -1;
	if (gnutls_pkcs7_import(message, &der, GNUTLS_X509_FMT_DER) < 0 ||
	    gnutls_pkcs7_get_signature_info(message, 0, &info) < 0)
		goto out;
	common_name(&info.issuer_dn, sig->signer, sizeof(sig->signer));
	copy_bytes(sig->serial, &sig->serial_size, &info.signer_serial);
	copy_bytes(sig->key_id, &sig->key_id_size, &info.issuer_keyid);
	gnutls_pkcs7_signature_info_deinit(&info);
	ret = 1;
out:
	gnutls_pkcs7_deinit(message);
	return ret;
}

int module_signature_read(const void *data, size_t size, struct module_signature *sig)
{
	const unsigned char *end = (const unsigned char *)data + size, *trailer;
	size_t length;

	memset(sig, 0, sizeof(*sig));
	if (size < MAGIC_SIZE || memcmp(end - MAGIC_SIZE, magic, MAGIC_SIZE))
		return 0;
	if (size < MAGIC_SIZE + TRAILER_SIZE)
		return -1;
	trailer = end - MAGIC_SIZE - TRAILER_SIZE;
	length = (size_t)trailer[LENGTH_AT] << 24 | trailer[LENGTH_AT + 1] << 16 |
		 trailer[LENGTH_AT + 2] << 8 | trailer[LENGTH_AT + 3];
	if (trailer[TYPE_AT] != TYPE_PKCS7 || length > size - MAGIC_SIZE - TRAILER_SIZE)
		return -1;
	return read_message(trailer - length, length, sig);
}

bool certificate_names_read(const char *path, struct certificate_names *cert)
{
	gnutls_datum_t der = { 0 }, serial;
	unsigned char bytes[KEY_ID_MAX];
	size_t size = sizeof(cert->name);
	gnutls_x509_crt_t crt;
	bool ok = false;

	memset(cert, 0, sizeof(*cert));
	if (gnutls_load_file(path, &der) < 0)
		return false;
	if (gnutls_x509_crt_init(&crt) < 0)
		goto out_file;
	if (gnutls_x509_crt_import(crt, &der, GNUTLS_X509_FMT_DER) < 0 &&
	    gnutls_x509_crt_import(crt, &der, GNUTLS_X509_FMT_PEM) < 0)
		goto out;
	if (gnutls_x509_crt_get_dn_by_oid(crt, GNUTLS_OID_X520_COMMON_NAME, 0, 0, cert->name,
					  &size) < 0)
		cert->name[0] = '\0';
	size = sizeof(bytes);
	if (gnutls_x509_crt_get_serial(crt, bytes, &size) < 0)
		goto out;
	serial.data = bytes;
	serial.size = size;
	copy_bytes(cert->serial, &cert->serial_size, &serial);
	/* The kernel has the serial number where there is no such extension. */
	size = sizeof(bytes);
	if (gnutls_x509_crt_get_subject_key_id(crt, bytes, &size, NULL) < 0) {
		size = cert->serial_size;
		memcpy(bytes, cert->serial, size);
	}
	for (size_t i = 0; i < size; i++)
		sprintf(cert->key_id + 2 * i, "%02x", bytes[i]);
	ok = true;
out:
	gnutls_x509_crt_deinit(crt);
out_file:
	gnutls_free(der.data);
	return ok;
}

bool module_signature_is_of(const struct module_signature *sig,
			    const struct certificate_names *cert)
{
	char id[2 * KEY_ID_MAX + 1] = "";

	if (sig->serial_size)
		return sig->serial_size == cert->serial_size &&
		       !memcmp(sig->serial, cert->serial, sig->serial_size);
	for (size_t i = 0; i < sig->key_id_size; i++)
		sprintf(id + 2 * i, "%02x", sig->key_id[i]);
	return *id && !strcmp(id, cert->key_id);
}
