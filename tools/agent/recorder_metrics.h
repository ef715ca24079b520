/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The recorders of this host as metrics.
 */
#ifndef TOOLS_RECORDER_METRICS_H
#define TOOLS_RECORDER_METRICS_H

#include "cli/openmetrics.h"
#include "http/http_server.h"

/*
 * recorder_openmetrics() - counts of recorders, with their owners for clients that netlink would
 * show them to; NULL, or a sentence that says why not
 */
const char *recorder_openmetrics(struct openmetrics *m, const struct http_request *rq);

#endif /* TOOLS_RECORDER_METRICS_H */
