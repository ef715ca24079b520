/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Pages of gprofctl serve that are made of a recording, by the command that makes the same of a file:
 * so they are the same, and a recording's memory is not the server's.
 */
#ifndef TOOLS_SERVE_VIEW_H
#define TOOLS_SERVE_VIEW_H

#include <stddef.h>

#include <gprof/http.h>

/* serve_views() - the pages; @nr: gets how many */
const struct gprof_http_view *serve_views(size_t *nr);

#endif /* TOOLS_SERVE_VIEW_H */
