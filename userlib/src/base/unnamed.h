/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * unnamed.h: placeholders for unknown names of functions.
 *
 * The command is built with this file pair too.
 */
#ifndef GPROF_UNNAMED_H
#define GPROF_UNNAMED_H

#include <stdbool.h>

/** gprof_is_bare() - "FILE+0xADDRESS": the begin of the function alone is known */
bool gprof_is_bare(const char *name);

/** gprof_is_unnamed() - that, or "[FILE]", "[FILE: REASON]" and the like */
bool gprof_is_unnamed(const char *name);

#endif /* GPROF_UNNAMED_H */
