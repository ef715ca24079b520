/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * debuginfod.h: debug files from servers, where the program allows it.
 */
#ifndef GPROF_SYMBOL_DEBUGINFOD_H
#define GPROF_SYMBOL_DEBUGINFOD_H

#include <stddef.h>

/** gprof_debuginfod_begin() - another profile: there is time again */
void gprof_debuginfod_begin(void);

/** gprof_debuginfod_find() - the debug file from a server; a descriptor, or -1 */
int gprof_debuginfod_find(const unsigned char *build_id, size_t len);

#endif /* GPROF_SYMBOL_DEBUGINFOD_H */
