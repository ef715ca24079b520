// SPDX-License-Identifier: GPL-2.0-only
/*
 * burner: a program to be recorded. Burns CPU time, then may become another
 * program.
 *
 * Usage: burner MS [PROGRAM ARGS...]
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include "workload.h"

int main(int argc, char **argv)
{
	if (argc < 2) {
		fprintf(stderr, "usage: %s MS [PROGRAM ARGS...]\n", argv[0]);
		return 2;
	}
	burn_ns(strtoull(argv[1], NULL, 10) * 1000000);
	if (argc == 2)
		return 0;
	execv(argv[2], argv + 2);
	perror(argv[2]);
	return 1;
}
