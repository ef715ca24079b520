/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * syscall_name.h: names of system calls on this architecture.
 */
#ifndef GPROF_SYSCALL_NAME_H
#define GPROF_SYSCALL_NAME_H

#include <stdint.h>

/** gprof_syscall_name() - name of a number, or NULL for one that is not known */
const char *gprof_syscall_name(uint64_t nr);

#endif /* GPROF_SYSCALL_NAME_H */
