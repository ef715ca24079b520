/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef GPROF_BUILD_ID_H
#define GPROF_BUILD_ID_H

#include <linux/fs.h>
#include <linux/types.h>

int gprof_build_id(struct file *file, u8 *id, u32 max);

#endif /* GPROF_BUILD_ID_H */
