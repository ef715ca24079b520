// SPDX-License-Identifier: GPL-2.0-only
/*
 * symbols_load: one page fault in each function of libraries.
 *
 *	symbols_load LIBRARY...		each compiled from symbols_many.c
 *
 * With an event for each fault, every function is sampled once, at an address of its own.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <sys/mman.h>

#define PAGE	4096
#define PAGES	512

int main(int argc, char **argv)
{
	char *pages = mmap(NULL, PAGES * PAGE, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	unsigned int i, used = 0;

	/* A fault for each page, not for a huge one. */
	if (pages == MAP_FAILED || madvise(pages, PAGES * PAGE, MADV_NOHUGEPAGE))
		return 1;
	for (int lib = 1; lib < argc; lib++) {
		void *so = dlopen(argv[lib], RTLD_NOW);
		void (*const *functions)(char *p) = so ? dlsym(so, "functions") : NULL;
		const unsigned int *nr = so ? dlsym(so, "nr_functions") : NULL;

		if (!functions || !nr) {
			fprintf(stderr, "%s\n", dlerror());
			return 1;
		}
		for (i = 0; i < *nr; i++) {
			functions[i](pages + used * PAGE);
			used = (used + 1) % PAGES;
			if (!used)
				madvise(pages, PAGES * PAGE, MADV_DONTNEED);
		}
	}
	return 0;
}
