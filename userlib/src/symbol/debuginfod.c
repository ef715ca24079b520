// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * debuginfod.c: debug files from servers, where the program allows it.
 *
 * libdebuginfod brings an HTTP client with it, which is nothing for every program that
 * links this library: it is loaded when it is allowed.
 */
#include "debuginfod.h"

#include <dlfcn.h>
#include <errno.h>
#include <gprof/debuginfod.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/opts.h"

#define LIMIT_DEFAULT_MS	30000
#define BUILD_ID_MAX		64
#define NS_PER_MS		1000000ULL

struct debuginfod_client;

/**
 * struct library - functions of libdebuginfod.so.1 (elfutils, debuginfod.h)
 * @begin: makes a client
 * @end: frees it
 * @find: fetches a debug file, or finds it in the cache; a descriptor or -errno
 * @on_progress: called while it waits; a return other than 0 gives up
 * @set_data: sets the context of that
 * @data: asks for it
 */
struct library {
	struct debuginfod_client *(*begin)(void);
	void (*end)(struct debuginfod_client *client);
	int (*find)(struct debuginfod_client *client, const unsigned char *build_id, int len,
		    char **path);
	void (*on_progress)(struct debuginfod_client *client,
			    int (*fn)(struct debuginfod_client *client, long a, long b));
	void (*set_data)(struct debuginfod_client *client, void *data);
	void *(*data)(struct debuginfod_client *client);
};

/*
 * Protects all that follows. It is not held while a server is waited for, nor while the
 * program is told: other threads go on, and the program may forbid it then.
 */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct library library;
static bool loaded, allowed;
static struct gprof_debuginfod_opts options;
static uint64_t spent_ns;	/* for this profile */

/**
 * struct fetching - a file that is asked for
 * @build_id: in hexadecimal
 * @options: as they were when it began
 * @end_ns: when there is no time any more, CLOCK_MONOTONIC
 * @over: there is none
 */
struct fetching {
	char build_id[2 * BUILD_ID_MAX + 1];
	struct gprof_debuginfod_opts options;
	uint64_t end_ns;
	bool over;
};

static uint64_t limit_ns(void)
{
	return (options.time_limit_ms ? options.time_limit_ms : LIMIT_DEFAULT_MS) * NS_PER_MS;
}

/* The library stays: other threads may be in it. */
static bool load(void)
{
	void *so = loaded ? NULL : dlopen("libdebuginfod.so.1", RTLD_NOW | RTLD_LOCAL);
	const struct {
		const char *name;
		void *function;
	} wanted[] = {
		{ "debuginfod_begin", &library.begin },
		{ "debuginfod_end", &library.end },
		{ "debuginfod_find_debuginfo", &library.find },
		{ "debuginfod_set_progressfn", &library.on_progress },
		{ "debuginfod_set_user_data", &library.set_data },
		{ "debuginfod_get_user_data", &library.data },
	};
	size_t i;

	if (!so)
		return loaded;
	for (i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++) {
		void *found = dlsym(so, wanted[i].name);

		if (!found) {
			dlclose(so);
			return false;
		}
		*(void **)wanted[i].function = found;
	}
	loaded = true;
	return true;
}

int gprof_debuginfod_allow(const struct gprof_debuginfod_opts *opts)
{
	const char *urls = secure_getenv("DEBUGINFOD_URLS");
	struct gprof_debuginfod_opts o = { 0 };
	int ret = opts ? gprof_opts_copy_in(&o, sizeof(o),
					    GPROF_SIZE_WITH(struct gprof_debuginfod_opts, ctx),
					    opts, "gprof_debuginfod_opts", NULL) :
			 0;

	if (ret)
		return ret;
	if (!urls || !urls[0])
		return gprof_error_set(NULL, ENOENT, "DEBUGINFOD_URLS names no server to ask for "
				       "debug files; it may be https://debuginfod.elfutils.org");
	pthread_mutex_lock(&lock);
	allowed = load();
	options = o;
	ret = allowed ? 0 : gprof_error_set(NULL, ENOPKG, "there is no libdebuginfod.so.1 to ask "
					    "servers with (Debian has it in libdebuginfod1)");
	pthread_mutex_unlock(&lock);
	return ret;
}

void gprof_debuginfod_forbid(void)
{
	pthread_mutex_lock(&lock);
	allowed = false;
	pthread_mutex_unlock(&lock);
}

void gprof_debuginfod_begin(void)
{
	pthread_mutex_lock(&lock);
	spent_ns = 0;
	pthread_mutex_unlock(&lock);
}

static bool is_forbidden(void)
{
	bool forbidden;

	pthread_mutex_lock(&lock);
	forbidden = !allowed;
	pthread_mutex_unlock(&lock);
	return forbidden;
}

static int on_progress(struct debuginfod_client *client, long done, long total)
{
	struct fetching *f = library.data(client);

	f->over |= now_ns() > f->end_ns || is_forbidden();
	if (!f->over && f->options.progress)
		f->over = f->options.progress(f->options.ctx, f->build_id,
					      done > 0 ? (uint64_t)done : 0,
					      total > 0 ? (uint64_t)total : 0);
	return f->over;
}

static int fetch(struct fetching *f, const unsigned char *build_id, size_t len)
{
	struct debuginfod_client *client = library.begin();
	size_t i;
	int fd;

	if (!client)
		return -1;
	for (i = 0; i < len; i++)
		sprintf(f->build_id + 2 * i, "%02x", build_id[i]);
	library.set_data(client, f);
	library.on_progress(client, on_progress);
	fd = library.find(client, build_id, (int)len, NULL);
	library.end(client);
	return fd < 0 ? -1 : fd;
}

int gprof_debuginfod_find(const unsigned char *build_id, size_t len)
{
	struct fetching f = { .end_ns = 0 };
	uint64_t began;
	int fd;

	if (!len || len > BUILD_ID_MAX)
		return -1;
	pthread_mutex_lock(&lock);
	began = now_ns();
	if (allowed && spent_ns < limit_ns()) {
		f.options = options;
		f.end_ns = began + limit_ns() - spent_ns;
	}
	pthread_mutex_unlock(&lock);
	if (!f.end_ns)
		return -1;
	fd = fetch(&f, build_id, len);
	pthread_mutex_lock(&lock);
	/* A server that was given up once is not waited for again. */
	spent_ns = f.over ? limit_ns() : spent_ns + (now_ns() - began);
	pthread_mutex_unlock(&lock);
	return fd;
}
