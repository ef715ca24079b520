/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * perf_map.h: names of generated code, from /tmp/perf-PID.map.
 *
 * Lines of "START SIZE NAME", numbers in hexadecimal. The file is written by
 * the process that is being recorded (Java, Node, Mono, ...), or by anyone.
 */
#ifndef GPROF_PERF_MAP_H
#define GPROF_PERF_MAP_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

#include "code_map.h"

/**
 * struct gprof_perf_map - generated functions in the order of addresses
 * @v: the functions
 * @nr: how many
 * @text: the file, cut into names
 */
struct gprof_perf_map {
	struct gprof_code *v;
	size_t nr;
	char *text;
};

/**
 * gprof_perf_map_read() - read a map
 * @m: result for gprof_perf_map_free()
 * @path: file
 * @uid: its owner must be this user or root
 * @since: an older file is that of an earlier process with the pid
 *
 * Return: 0, -ENOENT, -EPERM (another user's file), -ESTALE (too old), -EFBIG (it would take more
 * than 64 MiB), -ENOMEM, ...
 */
int gprof_perf_map_read(struct gprof_perf_map *m, const char *path, uid_t uid, time_t since);
void gprof_perf_map_free(struct gprof_perf_map *m);

/** gprof_perf_map_find() - the function at an address, the newest one; or NULL */
const char *gprof_perf_map_find(const struct gprof_perf_map *m, uint64_t addr);

#endif /* GPROF_PERF_MAP_H */
