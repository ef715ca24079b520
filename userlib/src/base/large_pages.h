/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * large_pages.h: large arrays in pages of 2 MiB where the kernel has them. Page by page, a
 * profile of a million samples takes a fifth of its reader's time. The command is built with
 * this too: it depends on nothing.
 */
#ifndef GPROF_LARGE_PAGES_H
#define GPROF_LARGE_PAGES_H

#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

/* Of a smaller array, most of whose last page is never used, that would be too much. */
#define GPROF_LARGE_ARRAY	((size_t)32 << 20)

/*
 * gprof_large_pages() - of @p, an array of malloc() that has @size bytes from now on; returns it
 *
 * Advice for the whole mapping that it may be: two kinds in one are not moved by mremap(), but
 * copied by realloc().
 */
static inline void *gprof_large_pages(void *p, size_t size)
{
	uintptr_t page = (uintptr_t)getpagesize(), in = (uintptr_t)p & (page - 1);
	int error = errno;

	/* Nothing is wrong where it is not taken. */
	if (p && size >= GPROF_LARGE_ARRAY)
		madvise((char *)p - in, (in + size + page - 1) & -page, MADV_HUGEPAGE);
	errno = error;
	return p;
}

#endif /* GPROF_LARGE_PAGES_H */
