/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * memory_share.h: a limit on the memory for one input file.
 */
#ifndef GPROF_MEMORY_SHARE_H
#define GPROF_MEMORY_SHARE_H

#include <stdint.h>

/**
 * gprof_memory_limit() - the smallest memory.max of a cgroup and those above it
 * @root: where cgroup2 is mounted
 * @path: of the cgroup, as /proc/PID/cgroup says it; ".." leads nowhere
 *
 * Return: bytes, UINT64_MAX where there is no limit.
 */
uint64_t gprof_memory_limit(const char *root, const char *path);

/**
 * gprof_memory_share() - @most, or less within a limit of the cgroup
 * @most: bytes that may be taken where there is none
 *
 * A quarter of the limit: a copy of a file, its unpacked contents and the object that is made of
 * them are in memory at a time, and the program needs the rest.
 */
uint64_t gprof_memory_share(uint64_t most);

#endif
