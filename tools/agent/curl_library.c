// SPDX-License-Identifier: GPL-2.0-only
/*
 * curl_library.c: libcurl, opened when something is to be sent.
 */
#include "curl_library.h"

#include <dlfcn.h>
#include <stdbool.h>

#include "cli/diag.h"

/* Debian's with GnuTLS; where there is one alone, that. */
static void *open_any(void)
{
	void *so = dlopen("libcurl-gnutls.so.4", RTLD_NOW | RTLD_LOCAL);

	return so ? so : dlopen("libcurl.so.4", RTLD_NOW | RTLD_LOCAL);
}

const struct curl_library *curl_library(void)
{
	static struct curl_library library;
	static bool loaded;
#define CURL_WANTED(name)	{ "curl_" #name, &library.name },
	const struct {
		const char *name;
		void *function;
	} wanted[] = { CURL_FUNCTIONS(CURL_WANTED) };
#undef CURL_WANTED
	void *so = loaded ? NULL : open_any();
	size_t i;

	if (loaded)
		return &library;
	for (i = 0; so && i < ARRAY_SIZE(wanted); i++) {
		void *found = dlsym(so, wanted[i].name);

		if (!found)
			break;
		*(void **)wanted[i].function = found;
	}
	if (!so || i < ARRAY_SIZE(wanted) || library.global_init(CURL_GLOBAL_DEFAULT)) {
		diag("to send profiles needs libcurl, which is not here, or cannot be used: "
		     "apt-get install libcurl3-gnutls");
		return NULL;
	}
	loaded = true;
	return &library;
}
