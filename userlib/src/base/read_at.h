/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * read_at.h: bytes of a file, all of them or none.
 */
#ifndef GPROF_READ_AT_H
#define GPROF_READ_AT_H

#include <stddef.h>
#include <stdint.h>

/**
 * gprof_read_at() - read from an offset of a file
 * @fd: file
 * @to: for @len bytes; undefined where it fails
 * @len: how many
 * @offset: of the first
 *
 * Return: 0, -ENODATA when the file ends before them, or pread()'s -errno.
 */
int gprof_read_at(int fd, void *to, size_t len, uint64_t offset);

#endif /* GPROF_READ_AT_H */
