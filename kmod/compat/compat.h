/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Kbuild includes this before every file of the module. The sources are written
 * for the newest kernel; this folder supplies functions that older kernels lack, and no
 * other file of the module asks for the kernel's version.
 */
#ifndef GPROF_COMPAT_H
#define GPROF_COMPAT_H

#undef pr_fmt
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

/* For variables that are filled in before they are read, in code that runs often. */
#ifndef __uninitialized
#if __has_attribute(__uninitialized__)
#define __uninitialized	__attribute__((__uninitialized__))
#else
#define __uninitialized
#endif
#endif

#endif /* GPROF_COMPAT_H */
