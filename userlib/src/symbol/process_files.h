/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * process_files.h: which files, and names of mappings, address spaces need yet.
 *
 * A host that builds software, or runs scripts that are programs of their own, maps other
 * files all the time.
 */
#ifndef GPROF_PROCESS_FILES_H
#define GPROF_PROCESS_FILES_H

#include "process.h"

/**
 * gprof_spaces_keep_files() - forget files and names that no address space has any more
 * @s: address spaces; files that are needed beside theirs have @needed set
 *
 * Return: 0 or -ENOMEM, all that is needed being there.
 */
int gprof_spaces_keep_files(struct gprof_spaces *s);

#endif /* GPROF_PROCESS_FILES_H */
