// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * version.c: version of the library.
 */
#include <gprof/version.h>

const char *gprof_version(void)
{
	return GPROF_VERSION;
}
