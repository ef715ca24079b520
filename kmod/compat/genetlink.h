/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Generic netlink.
 *
 * GENL_MCAST_CAP_SYS_ADMIN: 6.7, and stable kernels with its backport; other stable
 * kernels have a bit of its own.
 */
#ifndef GPROF_COMPAT_GENETLINK_H
#define GPROF_COMPAT_GENETLINK_H

#include <net/genetlink.h>

#ifdef GPROF_HAVE_MCAST_CAP
#define GPROF_MCAST_SYS_ADMIN	.flags = GENL_MCAST_CAP_SYS_ADMIN
#else
#define GPROF_MCAST_SYS_ADMIN	.cap_sys_admin = 1
#endif

#endif /* GPROF_COMPAT_GENETLINK_H */
