/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Where the names of a file are to be had: the package with its debug symbols, and servers.
 */
#ifndef TOOLS_PROFILE_DEBUG_PACKAGE_H
#define TOOLS_PROFILE_DEBUG_PACKAGE_H

#include <stddef.h>

#define DPKG_INFO	"/var/lib/dpkg/info"

/**
 * debug_packages() - the packages with the debug symbols of files, as Debian calls them
 * @info: directory of dpkg's lists of files, DPKG_INFO
 * @paths: of the files; dpkg may know them with /usr before, or without
 * @nr: how many
 * @names: gets their names, for free(), or NULL for a file of no package
 */
void debug_packages(const char *info, const char *const *paths, size_t nr, char **names);

/* debuginfod_urls() - the servers of the environment, or NULL */
const char *debuginfod_urls(void);

/**
 * debug_advice() - advice to a user for the names of a file
 * @package: with its debug symbols, or NULL
 * @asked: servers were asked already
 *
 * Return: words for free().
 */
char *debug_advice(const char *package, int asked);

#endif /* TOOLS_PROFILE_DEBUG_PACKAGE_H */
