// SPDX-License-Identifier: GPL-2.0-only
#include "module_info.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/diag.h"

/* It belongs to the package of modprobe; users may have no sbin in their PATH. */
#define MODINFO	"/sbin/modinfo -0 gprof 2>/dev/null"

/* Lines are "filename:   VALUE" and "KEY=VALUE". */
static const char *value_of(const char *line, const char *key)
{
	size_t length = strlen(key);

	if (strncmp(line, key, length) || !line[length] || !strchr(":=", line[length]))
		return NULL;
	line += length + 1;
	return line + strspn(line, " ");
}

void module_info_read(struct module_info *info)
{
	FILE *f = popen(MODINFO, "re");
	const char *value;
	char *line = NULL;
	size_t room = 0;

	*info = (struct module_info){ 0 };
	while (f && getdelim(&line, &room, '\0', f) > 0) {
		value = value_of(line, "filename");
		if (value && !info->file)
			info->file = xprintf("%s", value);
		if (value_of(line, "sig_id"))
			info->is_signed = true;
		value = value_of(line, "signer");
		if (value)
			snprintf(info->signer, sizeof(info->signer), "%s", value);
		value = value_of(line, "sig_key");
		if (value)
			snprintf(info->serial, sizeof(info->serial), "%s", value);
	}
	free(line);
	info->readable = f && !pclose(f);
}
