// SPDX-License-Identifier: GPL-2.0-only
/* table: tables to walk by */
#include "../tables.c"
#include "../python.c"
