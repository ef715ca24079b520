/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * go_table.h: functions of Go programs, from the table that their own tracebacks use.
 *
 * It is there in stripped programs too. Its form is that of Go 1.16, 1.18 and 1.20,
 * which later releases have kept, with words of 64 bits.
 */
#ifndef GPROF_GO_TABLE_H
#define GPROF_GO_TABLE_H

#include <libelf.h>
#include <stdint.h>

/** typedef gprof_go_function_fn - takes a function, whose name lives as long as the file */
typedef int gprof_go_function_fn(void *ctx, uint64_t start, uint64_t end, const char *name);

/** gprof_go_functions() - all functions of a file; 0, or what @fn returned if not that */
int gprof_go_functions(Elf *elf, gprof_go_function_fn *fn, void *ctx);

#endif /* GPROF_GO_TABLE_H */
