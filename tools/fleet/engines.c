// SPDX-License-Identifier: GPL-2.0-only
/*
 * The engines that there are. Each is a file of its own, engine_NAME.c, that may be left out.
 */
#include "engines.h"

#include <string.h>

#include "../cmd.h"
#include "../say.h"

#pragma weak engine_otlp_open
#pragma weak engine_put_open
#pragma weak engine_pyroscope_open
#pragma weak engine_parca_open

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
		if (!engines[i].open)
			return fail("this gprofctl was built without --%s", name);
		return engines[i].open(engine, options) ? STATUS_FAILED : STATUS_OK;
	}
	return fail("there is no engine %s", name);
}
