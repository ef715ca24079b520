// SPDX-License-Identifier: GPL-2.0-only
/*
 * push_names: has the kernel's names, as the library has them for each profile.
 *
 *	push_names TIMES
 *
 * That many profiles one after the other while somebody records, the first of which reads
 * /proc/kallsyms.
 */
#include <err.h>
#include <stdlib.h>

#include "symbol/kernel_table.h"

int main(int argc, char **argv)
{
	struct gprof_kernel *kept;
	bool anew = false;

	if (argc != 2)
		errx(2, "usage: push_names TIMES");
	kept = gprof_kernel_get("/proc", "/sys", &anew);
	if (!kept)
		errx(1, "no memory");
	for (int i = atoi(argv[1]); i > 1; i--) {
		struct gprof_kernel *k;

		anew = false;
		k = gprof_kernel_get("/proc", "/sys", &anew);
		if (!k || anew)
			errx(1, "the names were read again");
		gprof_kernel_put(k);
	}
	gprof_kernel_put(kept);
	return 0;
}
