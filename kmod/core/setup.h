/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * setup: the checks of the argument of GPROF_IOC_SETUP that all kinds have.
 */
#ifndef GPROF_SETUP_H
#define GPROF_SETUP_H

#include <linux/types.h>

struct gprof_request;
struct gprof_setup;
struct gprof_source_ops;

int gprof_setup_check(struct gprof_setup *setup, const struct gprof_source_ops *source);
u64 gprof_setup_data_size(const struct gprof_setup *setup, const struct gprof_source_ops *source,
			  const struct gprof_request *req);

#endif /* GPROF_SETUP_H */
