/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * paranoid: the administrator's setting for perf.
 */
#ifndef GPROF_PARANOID_H
#define GPROF_PARANOID_H

#include <linux/types.h>

bool gprof_perf_is_for_all(void);

#endif /* GPROF_PARANOID_H */
