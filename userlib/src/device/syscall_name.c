// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * syscall_name.c: names of system calls, from the kernel's headers.
 */
#include "syscall_name.h"

#include <stddef.h>
#include <sys/syscall.h>

static const char *const names[] = {
#include "syscall_names.h"
};

const char *gprof_syscall_name(uint64_t nr)
{
	return nr < sizeof(names) / sizeof(*names) ? names[nr] : NULL;
}
