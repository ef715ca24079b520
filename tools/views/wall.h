/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The wall view: where the time of each thread went, all of it.
 */
#ifndef TOOLS_VIEWS_WALL_H
#define TOOLS_VIEWS_WALL_H

#include <stdbool.h>
#include <stddef.h>

/**
 * wall_table() - print the states of each thread, in parts that add up to its time
 * @file: a trace of the host
 * @json: with stable keys, in ns
 * @most: rows at most, 0 for all
 *
 * Return: the exit status.
 */
int wall_table(const char *file, bool json, size_t most);

/* wall_profile() - write it as a profile, with the stacks; the exit status */
int wall_profile(const char *file, const char *output);

#endif /* TOOLS_VIEWS_WALL_H */
