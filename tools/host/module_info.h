/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The module that modprobe would load, as modinfo reads its file.
 */
#ifndef TOOLS_MODULE_INFO_H
#define TOOLS_MODULE_INFO_H

#include <stdbool.h>

#define SIGNER_MAX	128
#define SERIAL_MAX	128

/**
 * struct module_info - what modinfo prints
 * @file: its path, to be freed; NULL: none is installed for this kernel
 * @readable: the file could be read
 * @is_signed: it has a signature, good or not, which the kernel checks
 * @signer: common name of the issuer of the key's certificate, which for a machine's own key is
 *	its own name; may be empty
 * @serial: of that certificate, as hexadecimal digits with a colon after each two; may be empty
 */
struct module_info {
	char *file;
	bool readable;
	bool is_signed;
	char signer[SIGNER_MAX];
	char serial[SERIAL_MAX];
};

void module_info_read(struct module_info *info);

#endif /* TOOLS_MODULE_INFO_H */
