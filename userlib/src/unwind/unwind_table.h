/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * unwind_table.h: compiles the unwind table of a file's text.
 *
 * The rules for exceptions and debuggers in .eh_frame or .debug_frame become the table by which
 * the module unwinds (linux/gprof_unwind.h). Files of amd64 and arm64 are compiled on either. The
 * file is not trusted: for any bytes, time is linear in its size and memory within the limit, and
 * the result is a sound table.
 */
#ifndef GPROF_UNWIND_TABLE_H
#define GPROF_UNWIND_TABLE_H

#include <stddef.h>
#include <stdint.h>

#include "rows.h"

/* Limit of a compilation's memory: a browser's library takes a quarter. */
#define GPROF_UNWIND_MEMORY	(256ULL << 20)

/**
 * gprof_unwind_compile() - compile the table of a file
 * @fd: it, which stays the caller's and where it was
 * @memory: bytes that may be taken; 0: GPROF_UNWIND_MEMORY
 * @out: the table, to be given to gprof_unwind_blob_free(); empty on error
 *
 * From any thread; nothing is kept.
 *
 * Return: 0; -ENODATA: the file tells nothing of its frames; -ENOEXEC: no ELF file of these
 * machines, or none that can be; -EFBIG: more text than a table is for; -ENOMEM; or -errno of
 * reading.
 */
int gprof_unwind_compile(int fd, uint64_t memory, struct gprof_unwind_blob *out);

/** gprof_unwind_compile_memory() - likewise, of a file that is in memory */
int gprof_unwind_compile_memory(const void *file, size_t size, uint64_t memory,
				struct gprof_unwind_blob *out);

/**
 * gprof_unwind_compile_vdso() - likewise, of the vDSO of this process, which all have
 * @out: the table; offsets count from the beginning of its mapping
 *
 * Return: as above; -ENOENT: there is no vDSO.
 */
int gprof_unwind_compile_vdso(struct gprof_unwind_blob *out);

void gprof_unwind_blob_free(struct gprof_unwind_blob *blob);

#endif /* GPROF_UNWIND_TABLE_H */
