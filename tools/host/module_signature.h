/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The signer of a kernel module, as the kernel reads it: behind the module stand a message of
 * PKCS#7 without certificates, its length, and a magic text.
 */
#ifndef TOOLS_MODULE_SIGNATURE_H
#define TOOLS_MODULE_SIGNATURE_H

#include <stdbool.h>
#include <stddef.h>

#define SIGNER_MAX	128
#define KEY_ID_MAX	64

/**
 * struct module_signature - contents of the message
 * @signer: common name of the issuer of the key's certificate, which for a machine's own key is
 *	its own name; may be empty
 * @serial: of that certificate
 * @serial_size: bytes of it, 0 where the message names the key instead
 * @key_id: of the key
 * @key_id_size: bytes of it, 0 where the message names the certificate instead
 */
struct module_signature {
	char signer[SIGNER_MAX];
	unsigned char serial[KEY_ID_MAX];
	size_t serial_size;
	unsigned char key_id[KEY_ID_MAX];
	size_t key_id_size;
};

/**
 * struct certificate_names - identity of a certificate in signatures and keys
 * @name: common name
 * @serial: as in struct module_signature
 * @key_id: by which the kernel lists it, in hexadecimal digits
 */
struct certificate_names {
	char name[SIGNER_MAX];
	unsigned char serial[KEY_ID_MAX];
	size_t serial_size;
	char key_id[2 * KEY_ID_MAX + 1];
};

/*
 * 1: @sig is set; 0: the module is not signed; -1: something is there that is no
 * signature. @data is the module as it is when it is not compressed.
 */
int module_signature_read(const void *data, size_t size, struct module_signature *sig);

/* Of the file, in DER; false where there is none that can be read. */
bool certificate_names_read(const char *path, struct certificate_names *cert);

/* Was it made with the key of that certificate? */
bool module_signature_is_of(const struct module_signature *sig,
			    const struct certificate_names *cert);

#endif /* TOOLS_MODULE_SIGNATURE_H */
