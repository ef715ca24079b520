/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * proc_maps.h: the mappings of a process now, by /proc/PID/maps.
 *
 * Another user's process decides on its paths, and on the number of its mappings.
 */
#ifndef GPROF_PROC_MAPS_H
#define GPROF_PROC_MAPS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/**
 * struct gprof_proc_map - a mapping
 * @start: first address
 * @end: address after the last
 * @offset: in the file
 * @inode: of the file, or 0
 * @dev_major: device of the file
 * @dev_minor: device of the file
 * @readable: its bytes may be read
 * @code: they may be executed
 * @path: as the kernel names it, "" for none; it lives as long as the line
 */
struct gprof_proc_map {
	uint64_t start;
	uint64_t end;
	uint64_t offset;
	uint64_t inode;
	unsigned int dev_major;
	unsigned int dev_minor;
	bool readable;
	bool code;
	const char *path;
};

/**
 * gprof_proc_map_parse() - take a line apart
 * @m: result
 * @line: a line, which is changed
 *
 * Return: whether it is one of maps.
 */
bool gprof_proc_map_parse(struct gprof_proc_map *m, char *line);

/**
 * gprof_proc_maps_each() - all mappings of a process
 * @f: /proc/PID/maps, opened; it is closed
 * @fn: called for each, in the order of addresses; a return other than 0 ends the walk
 * @ctx: passed on
 *
 * Return: the last return of @fn, or 0.
 */
int gprof_proc_maps_each(FILE *f, int (*fn)(void *ctx, const struct gprof_proc_map *m), void *ctx);

#endif /* GPROF_PROC_MAPS_H */
