// SPDX-License-Identifier: GPL-2.0-only
/*
 * The engines that there are, by name.
 */
#include "engines.h"

#include <string.h>

#include "cli/cmd.h"
#include "cli/diag.h"

static const struct {
	const char *name;
	int (*open)(struct engine **engine, const struct engine_options *options);
} engines[] = {
	{ "otlp", engine_otlp_open },
	{ "put", engine_put_open },
	{ "pyroscope", engine_pyroscope_open },
	{ "parca", engine_parca_open },
};

int engines_open(const char *name, struct engine **engine, const struct engine_options *options)
{
	for (size_t i = 0; i < ARRAY_SIZE(engines); i++) {
		if (strcmp(engines[i].name, name))
			continue;
		return engines[i].open(engine, options) ? STATUS_FAILED : STATUS_OK;
	}
	return fail("there is no engine %s", name);
}
