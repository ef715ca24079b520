/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * http_page.h: which pages there are, and those that need no recording.
 */
#ifndef GPROF_HTTP_PAGE_H
#define GPROF_HTTP_PAGE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <gprof/http.h>

#include "base/error.h"

/**
 * struct gprof_http_page - a page below /debug/pprof/
 * @name: in the path, and of the file that a browser makes of it
 * @request: kind of gprof_record_request_kind(); NULL: cmdline
 * @ns: how long it is recorded unless seconds= says so; 0: of one moment
 * @delta: seconds= asks for a difference, which is called so, and has no text
 * @title: for people
 */
struct gprof_http_page {
	const char *name;
	const char *request;
	uint64_t ns;
	bool delta;
	const char *title;
};

/** gprof_http_page_find() - by its name, or NULL */
const struct gprof_http_page *gprof_http_page_find(const char *name);

/** gprof_http_view_page() - the page of a view, by the kind of its recording */
struct gprof_http_page gprof_http_view_page(const struct gprof_http_view *v);

/** gprof_http_custom_page() - the page of a profile that a program publishes */
struct gprof_http_page gprof_http_custom_page(const char *name);

/**
 * gprof_http_custom() - is there a profile of that name?
 * @t: the caller itself, or a process
 * @name: name
 * @e: sentence
 *
 * Return: 0, or -errno: -ENOENT when there is none, or @t is no process.
 */
int gprof_http_custom(const struct gprof_target *t, const char *name, struct gprof_error *e);

/** gprof_http_index() - the page that lists the others */
void gprof_http_index(FILE *f, const struct gprof_http_config *cfg);

/** gprof_http_cmdline() - the command line of a process, 0 for our own; 0 or -errno */
int gprof_http_cmdline(int fd, int pid, struct gprof_error *e);

#endif /* GPROF_HTTP_PAGE_H */
