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

#endif /* GPROF_VERSION_H */
