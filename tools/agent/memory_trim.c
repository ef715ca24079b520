// SPDX-License-Identifier: GPL-2.0-only
/*
 * Memory that is not used between two profiles is the host's.
 */
#include "memory_trim.h"

#include <malloc.h>

#define LARGE	(128 << 10)	/* bytes: the C library's first value */

/*
 * By default it keeps freed memory once a block as large was freed, and each thread has a heap of
 * its own.
 */
void memory_trim_init(void)
{
#ifdef M_MMAP_THRESHOLD
	mallopt(M_MMAP_THRESHOLD, LARGE);
#endif
#ifdef M_ARENA_MAX
	mallopt(M_ARENA_MAX, 1);
#endif
}

/* Small freed blocks lie between live ones, and go back by the page. */
void memory_trim(void)
{
#ifdef M_TRIM_THRESHOLD
	malloc_trim(0);
#endif
}
