// SPDX-License-Identifier: GPL-2.0-only
/*
 * burner: a program to be recorded. Burns CPU time, with page faults where it is "+MS", then
 * may become another program.
 *
 * Usage: burner [+]MS [PROGRAM ARGS...]
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>
#include "workload.h"

#define PAGES	64

static void fault_ns(uint64_t ns)
{
	uint64_t end = thread_cpu_ns() + ns;
	long page = sysconf(_SC_PAGESIZE);
	volatile char *p = mmap(NULL, PAGES * page, PROT_READ | PROT_WRITE,
				MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	while (p != MAP_FAILED && thread_cpu_ns() < end) {
		for (int i = 0; i < PAGES; i++)
			p[i * page] = 1;
		madvise((void *)p, PAGES * page, MADV_DONTNEED);
	}
}

int main(int argc, char **argv)
{
	if (argc < 2) {
		fprintf(stderr, "usage: %s [+]MS [PROGRAM ARGS...]\n", argv[0]);
		return 2;
	}
	(*argv[1] == '+' ? fault_ns : burn_ns)(strtoull(argv[1], NULL, 10) * 1000000);
	if (argc == 2)
		return 0;
	execv(argv[2], argv + 2);
	perror(argv[2]);
	return 1;
}
