/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * file_pool.h: open files that the whole library shares.
 *
 * Several events may record at once, each with files of its own to name, in a
 * program that has other use for descriptors. So there is one bound for all of
 * them, one descriptor for a file that several have, and when the bound is reached
 * the file that was unused for longest is closed, rather one that can be opened
 * again. Any thread may call any function.
 */
#ifndef GPROF_FILE_POOL_H
#define GPROF_FILE_POOL_H

#include <stdbool.h>
#include <stddef.h>

struct gprof_pool_file;

/**
 * gprof_pool_add() - share an open file
 * @fd: descriptor, the pool's from now on
 * @pinned: cannot be opened again: is closed last
 *
 * Return: file for gprof_pool_put(); NULL without memory, @fd being closed.
 */
struct gprof_pool_file *gprof_pool_add(int fd, bool pinned);

/** gprof_pool_again() - a file that had been closed was opened again; takes @fd */
void gprof_pool_again(struct gprof_pool_file *f, int fd);

/** gprof_pool_dup() - a descriptor of the caller's own; -1 when it was closed */
int gprof_pool_dup(struct gprof_pool_file *f);

/** gprof_pool_put() - give a file back; NULL is fine */
void gprof_pool_put(struct gprof_pool_file *f);

/** gprof_pool_open() - descriptors that the pool holds */
size_t gprof_pool_open(void);

/** gprof_pool_limit() - hold no more than @max; 0: by the process' limit */
void gprof_pool_limit(size_t max);

#endif /* GPROF_FILE_POOL_H */
