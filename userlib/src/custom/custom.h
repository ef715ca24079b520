/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * custom.h: the profiles of this process.
 */
#ifndef GPROF_CUSTOM_PRIVATE_H
#define GPROF_CUSTOM_PRIVATE_H

#include <gprof/custom.h>

#include "base/error.h"

/** gprof_custom_own() - gprof_custom_profile() by name; it may be freed meanwhile */
struct gprof_profile *gprof_custom_own(const char *name, struct gprof_error *e);

/** gprof_custom_show() - show those that are published, as gprof_custom_each() */
int gprof_custom_show(int (*each)(void *ctx, const struct gprof_custom_info *info), void *ctx);

#endif /* GPROF_CUSTOM_PRIVATE_H */
