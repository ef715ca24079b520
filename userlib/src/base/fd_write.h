/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * fd_write.h: writing to a descriptor of the caller.
 */
#ifndef GPROF_FD_WRITE_H
#define GPROF_FD_WRITE_H

#include <stdbool.h>
#include <stddef.h>

/**
 * gprof_fd_write() - write all of it
 * @fd: file, pipe or socket, blocking or not
 * @data: bytes to write
 * @len: bytes
 *
 * A pipe without a reader gives -EPIPE; no SIGPIPE reaches the program. -ECONNABORTED:
 * the work is cancelled (cancel.h).
 *
 * Return: 0 or -errno.
 */
int gprof_fd_write(int fd, const void *data, size_t len);

/**
 * gprof_fd_same() - would writing to one spoil the output of the other?
 *
 * True for one open file under two numbers, and for one regular file opened
 * twice. Two opens of /dev/null, or of a terminal, are fine.
 */
bool gprof_fd_same(int a, int b);

#endif /* GPROF_FD_WRITE_H */
