/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Rings of a program's recorders in its core dump.
 */
#ifndef TOOLS_CORE_DUMP_H
#define TOOLS_CORE_DUMP_H

#include <stdbool.h>
#include <stdint.h>

/**
 * core_dump() - list the recorders of a core dump or a raw snapshot, or write the contents of one
 * @name: of the file, for sentences
 * @fd: file
 * @id: of the recorder; 0: the only one
 * @out: where to write it, or NULL to list all
 * @json: the list is for programs
 *
 * Return: STATUS_OK, or another status after a sentence.
 */
int core_dump(const char *name, int fd, uint64_t id, const char *out, bool json);

/**
 * core_dump_trace() - make a trace of a raw snapshot in memory
 * @name: of the file, for sentences
 * @fd: file; of the trace afterwards
 *
 * Return: STATUS_OK, or another status after a sentence.
 */
int core_dump_trace(const char *name, int *fd);

#endif /* TOOLS_CORE_DUMP_H */
