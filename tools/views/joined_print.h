/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The join of two traces as a table and as JSON.
 */
#ifndef TOOLS_VIEWS_JOINED_PRINT_H
#define TOOLS_VIEWS_JOINED_PRINT_H

#include "joined.h"

/* joined_table() - a row for each function, on stdout, and whose delays there were */
void joined_table(const struct joined *j);

/* joined_json() - likewise with stable keys, in ns, and with each interval */
void joined_json(const struct joined *j);

#endif /* TOOLS_VIEWS_JOINED_PRINT_H */
