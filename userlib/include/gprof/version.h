/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * gprof/version.h: version of the library.
 *
 * Until 1.0 the interfaces may change with the second number.
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
