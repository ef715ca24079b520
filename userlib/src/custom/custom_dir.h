/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * custom_dir.h: directories of published profiles, and their owners.
 *
 * BASE/PID/NAME, where BASE is one of a few directories of a user's own. No other user can place a
 * file there: each directory on the way belongs to the user and is closed to all others, and links
 * are not followed.
 */
#ifndef GPROF_CUSTOM_DIR_H
#define GPROF_CUSTOM_DIR_H

#include <gprof/custom.h>
#include <stdbool.h>
#include <sys/types.h>

#include "base/error.h"

/* A file's name of a profile's: each byte may take three. */
#define GPROF_CUSTOM_FILE_SIZE	(3 * GPROF_CUSTOM_NAME_MAX + 1)
#define GPROF_CUSTOM_BASES	4

/** gprof_custom_name_check() - is it a name? 0 or -EINVAL */
int gprof_custom_name_check(const char *name, struct gprof_error *e);

/** gprof_custom_file_of() - the file's name; @file has GPROF_CUSTOM_FILE_SIZE bytes */
void gprof_custom_file_of(const char *name, char *file);
/** gprof_custom_name_of() - the profile's; false: it is not that of a profile */
bool gprof_custom_name_of(const char *file, char *name);

/**
 * gprof_custom_dir_make() - the directory of the calling process
 * @e: sentence
 *
 * Return: descriptor or -errno.
 */
int gprof_custom_dir_make(struct gprof_error *e);

/**
 * gprof_custom_base_open() - the @n-th directory that a user's profiles may be below
 * @n: below GPROF_CUSTOM_BASES
 * @uid: user
 *
 * Return: descriptor, or -errno: -ENOENT: there is none; -EPERM: it is not the user's alone.
 */
int gprof_custom_base_open(unsigned int n, uid_t uid);

/** gprof_custom_pid_open() - that of a process below it; descriptor or -errno, likewise */
int gprof_custom_pid_open(int base, pid_t pid, uid_t uid);

/** gprof_custom_pid_remove() - remove the directory of a process, where it is empty */
void gprof_custom_pid_remove(int base, pid_t pid);

/**
 * gprof_custom_file_holder() - process that writes an open file
 *
 * Return: pid; 0: it has no writer any more; -1: not known.
 */
pid_t gprof_custom_file_holder(int fd);

#endif /* GPROF_CUSTOM_DIR_H */
