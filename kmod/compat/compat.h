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

/* For what is filled in before it is read, in places that run often. */
#ifndef __uninitialized
#if __has_attribute(__uninitialized__)
#define __uninitialized	__attribute__((__uninitialized__))
#else
#define __uninitialized
#endif
#endif

#endif /* GPROF_COMPAT_H */
