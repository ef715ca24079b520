/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * curl_library: libcurl, opened on the first request: what sends nothing would else load it, and the
 * twenty libraries that it needs, too.
 */
#ifndef GPROF_TOOLS_CURL_LIBRARY_H
#define GPROF_TOOLS_CURL_LIBRARY_H

#define CURL_DISABLE_TYPECHECK	/* its macros want functions that are linked */
#include <curl/curl.h>

#define CURL_FUNCTIONS(F)							\
	F(easy_cleanup) F(easy_getinfo) F(easy_init) F(easy_perform)	\
	F(easy_setopt) F(easy_strerror) F(free) F(global_init) F(slist_append)		\
	F(slist_free_all) F(url) F(url_cleanup) F(url_get) F(url_set)

/**
 * struct curl_library - its functions, by their names without curl_
 */
struct curl_library {
#define CURL_MEMBER(name)	__typeof__(curl_##name) *name;
	CURL_FUNCTIONS(CURL_MEMBER)
#undef CURL_MEMBER
};

/*
 * curl_library() - open it, once; not by two threads at a time
 *
 * Return: its functions, or NULL after a sentence.
 */
const struct curl_library *curl_library(void);

#endif
