/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * dev: the file /dev/gprof.
 */
#ifndef GPROF_DEV_H
#define GPROF_DEV_H

int gprof_dev_init(void);
void gprof_dev_exit(void);

#endif /* GPROF_DEV_H */
