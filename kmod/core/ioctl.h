/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * ioctl: arguments in and out.
 */
#ifndef GPROF_IOCTL_H
#define GPROF_IOCTL_H

struct gprof_recorder;

long gprof_ioctl(struct gprof_recorder *r, unsigned int cmd, void __user *arg);

#endif /* GPROF_IOCTL_H */
