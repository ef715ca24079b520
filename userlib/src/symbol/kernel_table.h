/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * kernel_table.h: the kernel's names, which all profiles of a process share.
 *
 * To read them takes as long as all the rest of a profile of some seconds. Those of the
 * kernel itself and of its modules are the same as long as its modules are, which is looked
 * at for each profile; others', as of BPF programs, change without a word.
 */
#ifndef GPROF_KERNEL_TABLE_H
#define GPROF_KERNEL_TABLE_H

#include <stdbool.h>

#include "kernel_symbol.h"

/**
 * gprof_kernel_get() - the kernel's names as they are now
 * @proc: "/proc", or a test's imitation, the same for all
 * @sys: "/sys", likewise
 * @anew: read them though its modules are the same; set when they were read
 *
 * Return: for gprof_kernel_put(), or NULL without memory.
 */
struct gprof_kernel *gprof_kernel_get(const char *proc, const char *sys, bool *anew);
void gprof_kernel_put(struct gprof_kernel *k);

#endif /* GPROF_KERNEL_TABLE_H */
