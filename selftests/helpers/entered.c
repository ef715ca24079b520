// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which functions a program enters: linked into what is compiled with -finstrument-functions
 * (../vm/reach), it adds a line "FILE OFFSET" to the file that $GPROF_ENTERED names when a
 * function is entered first, FILE being the program or library of which it is. At once, since
 * a program may be killed; by the kernel's own calls, since a test may stand in for others.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define PLAIN	__attribute__((no_instrument_function))
#define TEXT_MAX	(16UL << 20)

extern const char __ehdr_start[] __attribute__((visibility("hidden")));

static atomic_char entered[TEXT_MAX / 4];

PLAIN static void tell(unsigned long offset)
{
	const char *path = getenv("GPROF_ENTERED");
	char name[256], line[300];
	Dl_info info;
	long fd, len;

	if (!path || !dladdr(__ehdr_start, &info) || !info.dli_fname)
		return;
	/* what a program calls itself says little */
	len = strstr(info.dli_fname, ".so") ? 0 : readlink("/proc/self/exe", name, sizeof(name) - 1);
	if (len > 0)
		name[len] = '\0';
	len = snprintf(line, sizeof(line), "%s %#lx\n", basename(len > 0 ? name : info.dli_fname),
		       offset);
	fd = syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_APPEND | O_CLOEXEC, 0);
	if (fd < 0)
		return;
	syscall(SYS_write, fd, line, len);
	syscall(SYS_close, fd);
}

PLAIN void __cyg_profile_func_enter(void *function, void *from);
PLAIN void __cyg_profile_func_exit(void *function, void *from);

void __cyg_profile_func_enter(void *function, void *from)
{
	unsigned long offset = (const char *)function - __ehdr_start;
	int err = errno;

	/* one of a signal handler in the midst of it is told twice */
	if (offset < TEXT_MAX && !atomic_exchange(&entered[offset / 4], 1)) {
		tell(offset);
		errno = err;
	}
}

void __cyg_profile_func_exit(void *function, void *from)
{
}
