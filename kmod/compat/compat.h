/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Included before every file of the module by Kbuild. The sources are written
 * for the newest kernel; what older ones lack is supplied here, and nothing
 * else in the tree asks which kernel this is.
 */
#ifndef GPROF_COMPAT_H
#define GPROF_COMPAT_H

#undef pr_fmt
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/version.h>

#if LINUX_VERSION_CODE < KERNEL_VERSION(5, 10, 0)
#error "gprof needs Linux 5.10 or later."
#endif

#if !IS_ENABLED(CONFIG_X86_64) && !IS_ENABLED(CONFIG_ARM64)
#error "gprof runs on amd64 (x86_64) and arm64 only."
#endif

#endif /* GPROF_COMPAT_H */
