/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * gprof/version.h: version of the library.
 *
 * Until 1.0 the interface may change with the second number, and from then on with the first
 * alone; the name of the shared object (libgprof.so.0.1) has as many numbers as that takes, so
 * that a program never meets another interface than its own. Otherwise functions, values and
 * members of structs with a size are only added; each minor version has a node of the symbol map
 * (LIBGPROF_0.1) for its new symbols.
 *
 * Threads and fork. These may be used at any time.
 */
#ifndef GPROF_VERSION_H
#define GPROF_VERSION_H

#define GPROF_VERSION_MAJOR	0
#define GPROF_VERSION_MINOR	1
#define GPROF_VERSION_PATCH	0
#define GPROF_VERSION		"0.1.0"

#ifdef __cplusplus
extern "C" {
#endif

#ifndef GPROF_API
#define GPROF_API __attribute__((visibility("default")))
#endif

/**
 * gprof_version() - version of the library that the program runs with
 *
 * Which may be another than the GPROF_VERSION that it was compiled with. Any thread
 * may ask.
 *
 * Return: text such as "0.1.0".
 */
GPROF_API const char *gprof_version(void);

#ifdef __cplusplus
}
#endif

#endif /* GPROF_VERSION_H */
