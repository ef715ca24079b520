/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The join of two traces as a table and as JSON.
 */
#ifndef TOOLS_VIEWS_JOIN_OUTPUT_H
#define TOOLS_VIEWS_JOIN_OUTPUT_H

#include "join_model.h"

/* join_table() - a row for each function, on stdout, and delays */
void join_table(const struct join_model *j);

/* join_json() - likewise, in ns, and with each interval; @lost: events of the trace @kernel */
void join_json(const struct join_model *m, const char *kernel, uint64_t lost);

#endif /* TOOLS_VIEWS_JOIN_OUTPUT_H */
