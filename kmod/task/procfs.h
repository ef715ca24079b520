/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * procfs: facts that the kernel tells in files of /proc and exports no function for.
 */
#ifndef GPROF_PROCFS_H
#define GPROF_PROCFS_H

#include <linux/types.h>

struct cred;

int gprof_procfs_init(void);
void gprof_procfs_exit(void);

ssize_t gprof_procfs_read(const char *name, const struct cred *as, char *text, size_t size);

#endif /* GPROF_PROCFS_H */
