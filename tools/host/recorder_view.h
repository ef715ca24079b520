/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The recorders of this host, for people and for programs.
 */
#ifndef TOOLS_RECORDER_VIEW_H
#define TOOLS_RECORDER_VIEW_H

#include <gprof/monitor.h>

#include "cli/openmetrics.h"
#include "http/http_server.h"

/*
 * recorder_openmetrics() - counts of recorders, with their owners for clients that netlink would
 * show them to; NULL, or a sentence that says why not
 */
const char *recorder_openmetrics(struct openmetrics *m, const struct http_request *rq);

/* recorder_line() - one line for people: kind, target and owner */
void recorder_line(FILE *f, const struct gprof_recorder_info *r);

/* recorder_json() - an object */
void recorder_json(FILE *f, const struct gprof_recorder_info *r);

#endif /* TOOLS_RECORDER_VIEW_H */
